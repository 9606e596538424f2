"""The radius of a band that holds at all numbers of trials at once."""

import functools
import math

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import checked_size

_A = 0.85  # the paper's choice; the constant C below is made for it


def half_width(n: int, confidence: float, start: int) -> float:
    r"""Return :math:`A\sqrt{(\ln(1 + \ln(n/m)) + C)/n}`, for all n from m = start on.

    Raises
    ------
    CurvewiseError
        If there are fewer trials than `start`.
    """
    m = checked_size(start, "start")
    if n < m:
        raise CurvewiseError(
            f"An anytime band that starts at {m} trials says nothing about {n}. Pass a "
            f"smaller start, chosen before you look."
        )
    c = constant(1 - confidence)
    return min(1.0, _A * math.sqrt((math.log1p(math.log(n / m)) + c) / n))


@functools.cache
def constant(delta: float) -> float:
    """Return the smallest C for which the band misses with probability delta at most."""
    from scipy.optimize import brentq

    return float(
        brentq(lambda c: _log_miss(c) - math.log(delta), 0.5, 2000, xtol=1e-10)
    )


def _log_miss(c: float) -> float:
    r"""Return the logarithm of the bound on a miss, least over its free parameter eta.

    .. math:: 4 e^{-\gamma^2 C}\Bigl(1 + \frac{1}{(\gamma^2 - 1)\ln\eta}\Bigr), \quad
       \gamma = \sqrt{\frac 2 \eta}\Bigl(A - \sqrt{\frac{2(\eta - 1)}{C}}\Bigr) > 1
    """
    from scipy.optimize import brentq, minimize_scalar

    def gamma(eta: float) -> float:
        return math.sqrt(2 / eta) * (_A - math.sqrt(2 * (eta - 1) / c))

    def bound(eta: float) -> float:
        square = gamma(eta) ** 2
        return math.log(4 * (1 + 1 / ((square - 1) * math.log(eta)))) - square * c

    largest = brentq(lambda eta: gamma(eta) - 1, 1, 2)
    found = minimize_scalar(
        bound,
        bounds=(1, largest),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(found.fun)
