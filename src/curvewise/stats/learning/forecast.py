"""What every question needs to know of a fitted curve: the distribution of its error."""

from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from curvewise.stats._sample import Floats

__all__ = ["Forecast"]


@runtime_checkable
class Forecast(Protocol):
    """A learning curve with what is known, and not known, of its mean error at any size.

    A `PowerLaw` and an `Extrapolation` are forecasts, and so is whatever else has these
    three. One that has quantiles beyond the levels .005 and .995 says so in ``levels``;
    one that knows an ``asymptote`` has quantiles at infinite size too.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> law = fit_power_law([25, 50, 100], [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> isinstance(law, Forecast)
    True
    """

    @property
    def sizes(self) -> Floats:
        """The training-set sizes that were tried, in increasing order."""

    @property
    def means(self) -> Floats:
        """The mean error at each of them."""

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the mean error at sizes n, shape (p, n)."""
