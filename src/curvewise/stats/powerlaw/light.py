"""The light fit: a straight line in n^-1/2 through the largest sizes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import Unit, checked_sizes
from curvewise.stats.powerlaw._data import Method
from curvewise.stats.powerlaw.curve import PowerLaw
from curvewise.stats.powerlaw.fit import fit_power_law

__all__ = ["light_fit"]


def light_fit(
    sizes: ArrayLike,
    errors: Any,
    *,
    largest: int = 3,
    method: Method = "calibrated",
    unit: Unit = "fraction",
    size: float | None = None,
) -> PowerLaw:
    r"""Return the power law with exponent -1/2 through the largest sizes.

    .. math:: e(n) = \alpha + \eta n^{-1/2}, \qquad e_N = \alpha + \eta N^{-1/2}, \qquad
       \beta_N = \eta N^{-1/2}

    What Hoiem et al. [1]_ advise where few models can be trained. Over the 42 curves of
    their Table 3, its e_N at 400 examples differs from that of the full fit by 0.42
    percentage points and beta_N by 0.95 (root mean square); 0.16 and 0.92 after two rows
    whose columns are swapped in print.

    Parameters
    ----------
    sizes, errors, method, unit, size
        As in `fit_power_law`.
    largest : int
        How many of the largest sizes to use.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for
       Analysis of Deep Networks." ICML 2021.

    Examples
    --------
    >>> law = light_fit([25, 100, 400, 1600], [0.9, 0.3, 0.2, 0.15])
    >>> law.gamma, round(law.alpha, 6), round(law.beta_N, 6)
    (-0.5, 0.1, 0.05)
    """
    n = checked_sizes(sizes)
    is_whole = isinstance(largest, int | np.integer) and not isinstance(largest, bool)
    if not is_whole or largest < 2:
        raise CurvewiseError(
            f"largest is {largest!r}. Pass how many sizes, at least 2.",
            argument="largest",
            value=largest,
        )
    if len(n) < largest:
        raise CurvewiseError(
            f"There are {len(n)} sizes, and the light fit is through the {largest} "
            f"largest. Train on more, such as a half and a quarter of the data."
        )
    parts = list(errors)
    if len(parts) == len(n):
        kept = np.sort(np.argsort(n, kind="stable")[-largest:])
        n, parts = n[kept], [parts[i] for i in kept]
    return fit_power_law(n, parts, terms="linear", method=method, unit=unit, size=size)
