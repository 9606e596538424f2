"""How much two power laws differ: in error, in data-reliance, in exponent."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curvewise._text import percent, shown, step
from curvewise.errors import CurvewiseError
from curvewise.stats import _words as words
from curvewise.stats._curve.runs import checked_one_size
from curvewise.stats._sample import Floats, checked_confidence
from curvewise.stats.interval import Interval
from curvewise.stats.learning._predictive import (
    checked_correlation,
    difference_quantiles,
    levels_of,
    refuse_other_units,
    scored,
)

if TYPE_CHECKING:
    from curvewise.stats.powerlaw import PowerLaw

__all__ = ["SummaryDifference", "compare_summaries"]


@dataclass(frozen=True, slots=True, eq=False)
class SummaryDifference:
    """How much larger the error, data-reliance and exponent of one power law are.

    Parameters
    ----------
    n : float
        The size that error and data-reliance are of.
    error, reliance, exponent : Interval
        Of the first less the second.
    confidence : float
        Of each.
    correlation : float
        Of the noise of the two that was assumed.
    """

    n: float
    error: Interval
    reliance: Interval
    exponent: Interval
    confidence: float
    correlation: float

    def rows(self) -> list[dict[str, float | str]]:
        """Return a row for each of the three."""
        parts = {
            "error": self.error,
            "data-reliance": self.reliance,
            "exponent": self.exponent,
        }
        return [
            {"of": name, "difference": i.value, "lower": i.lower, "upper": i.upper}
            for name, i in parts.items()
        ]

    def __str__(self) -> str:
        def told(what: str, i: Interval, less: str, more: str) -> str:
            if i.lower <= 0 <= i.upper:
                return f"its {what} may be the same ({_range(i)})"
            word = more if i.value > 0 else less
            return f"its {what} is {word} by {shown(abs(i.value))} ({_range(i)})"

        return (
            f"The first, against the second at {step(self.n)} examples: "
            f"{told('error', self.error, 'lower', 'higher')}; "
            f"{told('data-reliance', self.reliance, 'lower', 'higher')}; "
            f"{told('exponent', self.exponent, 'steeper', 'flatter')}; each at "
            f"{percent(self.confidence)} confidence."
        )


def compare_summaries(
    a: "PowerLaw",
    b: "PowerLaw",
    *,
    n: float | None = None,
    confidence: float = 0.95,
    correlation: float = 0.0,
) -> SummaryDifference:
    r"""Return how much two power laws differ in error, data-reliance and exponent.

    .. math:: e_N^a - e_N^b, \qquad \beta_N^a - \beta_N^b, \qquad \gamma^a - \gamma^b

    with intervals from the distributions of the two, joined by a Gaussian copula.

    Parameters
    ----------
    a, b : PowerLaw
        Fitted, in the same unit.
    n : float, optional
        N; the largest size that was tried with both if left out.
    confidence : float
        Of each interval alone.
    correlation : float
        Of the noise of the two where their runs share seeds: see `shared_noise`.

    Returns
    -------
    SummaryDifference

    Notes
    -----
    The characteristics e_N and beta_N are those of Hoiem et al. [1]_, who print them
    without intervals.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis
       of Deep Networks." ICML 2021.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> sizes = [25, 50, 100]
    >>> a = fit_power_law(sizes, [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> b = fit_power_law(sizes, [[0.6, 0.62], [0.51, 0.5], [0.44, 0.43]])
    >>> found = compare_summaries(a, b)
    >>> bool(-0.15 < found.error.lower < found.error.value < -0.09)
    True
    """
    for name, law in (("a", a), ("b", b)):
        if not hasattr(law, "reliance_quantile"):
            raise CurvewiseError(
                f"{name} is {type(law).__name__}. Pass what `fit_power_law` returned."
            )
    refuse_other_units(a, b)
    level = checked_confidence(confidence)
    rho = checked_correlation(correlation)
    largest = min(float(a.sizes[-1]), float(b.sizes[-1]))
    size = largest if n is None else checked_one_size(n, "n")
    at = np.array([size])
    how = (
        f"about {words.percent(level)}, for independent runs"
        if rho == 0
        else f"about {words.percent(level)}, for noise with correlation {rho:.2g}"
    )

    def interval(
        what: str, quantile: Callable[[Any, Floats], Floats], *, smooth: bool = True
    ) -> Interval:
        one = scored(lambda p: quantile(a, p), levels_of(a), smooth)
        other = scored(lambda p: quantile(b, p), levels_of(b), smooth)
        p = np.array([(1 - level) / 2, 0.5, (1 + level) / 2])
        low, middle, high = difference_quantiles(one, other, p, rho)[:, 0]
        return Interval(float(low), float(high), what, how, float(middle))

    return SummaryDifference(
        size,
        interval(
            f"the difference of the errors at {size:g}", lambda x, p: x.quantile(p, at)
        ),
        interval(
            f"the difference of the data-reliances at {size:g}",
            lambda x, p: x.reliance_quantile(p, at),
        ),
        # Exponents are on a grid, and so step up.
        interval("the difference of the exponents", _exponents, smooth=False),
        level,
        rho,
    )


def _exponents(law: Any, p: Floats) -> Floats:
    return np.reshape(law.exponent_quantile(p), (-1, 1))


def _range(i: Interval) -> str:
    low, high = (shown(x) if math.isfinite(x) else str(x) for x in (i.lower, i.upper))
    return f"{low} to {high}"
