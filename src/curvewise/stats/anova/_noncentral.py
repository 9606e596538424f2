"""Which effects make a statistic what it was: noncentral t and F, turned round."""

import math

import numpy as np


def of_t(t: float, df: float, confidence: float) -> tuple[float, float]:
    r"""Return between which noncentralities Student's t is as observed.

    .. math:: P(T_f(\delta) \le t) = E\, \Phi\bigl(t \sqrt{\chi^2_f / f} - \delta\bigr) =
       \tfrac{1 + c}{2} \text{ and } \tfrac{1 - c}{2}

    Parameters
    ----------
    t : float
    df : float
    confidence : float

    Notes
    -----
    The expectation is a sum over equidistant normal scores of :math:`\chi^2`, which
    converges faster than any power and, other than series for the noncentral t, has no
    trouble with a large t.

    Examples
    --------
    >>> [round(end, 4) for end in of_t(2.0, 8, 0.95)]
    [-0.2331, 4.1349]
    """
    from scipy.special import chdtri, ndtr

    asked = math.copysign(min(abs(t), 400.0), t)  # beyond, all is proportional to t
    scores = np.linspace(-8.5, 8.5, 201 + int(10 * abs(asked)))
    weights = np.exp(-(scores**2) / 2)
    weights /= weights.sum()
    middle = asked * np.sqrt(chdtri(df, ndtr(-scores)) / df)

    def limit(share: float) -> float:
        low, high = float(middle.min()) - 12, float(middle.max()) + 12
        for _ in range(200):  # halving: 200 times is more than digits there are
            half = (low + high) / 2
            if not low < half < high:
                break
            above = float(weights @ ndtr(middle - half)) > share
            low, high = (half, high) if above else (low, half)
        return (low + high) / 2 * (t / asked if asked else 1.0)

    return limit((1 + confidence) / 2), limit((1 - confidence) / 2)


def of_f(
    f: float, first: float, second: float, confidence: float
) -> tuple[float, float]:
    """Return between which noncentralities, each over `first`, F is as observed.

    `first` and `second` are its degrees of freedom.
    """
    from scipy.special import ncfdtr

    asked = min(f, 1e5)  # beyond, the noncentrality is proportional to F

    def limit(share: float) -> float:
        low, high = 0.0, 4.0
        if ncfdtr(first, second, 0.0, asked) <= share:
            return 0.0
        while ncfdtr(first, second, first * high, asked) > share:
            low, high = high, 4 * high
        for _ in range(60):
            half = (low + high) / 2
            above = ncfdtr(first, second, first * half, asked) > share
            low, high = (half, high) if above else (low, half)
        return (low + high) / 2 * (f / asked if asked else 1.0)

    return limit((1 + confidence) / 2), limit((1 - confidence) / 2)
