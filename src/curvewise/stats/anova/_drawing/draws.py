"""When draws are as large as what was observed, and p is within a level.

Draws that are the same as the observed lines but for rounding are ties, and count. There
are two rules. `least` is for statistics of whole lines, of which `rounding` knows how far
it may put them apart: few numbers, and sums of squares to judge it by. `as_large` is for F
at each step by itself: thousands of them, and how far rounding goes depends on F alone.
"""

import numpy as np

from curvewise.stats._sample import Floats

# What the rounding of scores, and that of variances which are nearly 0, make of a tie.
_TIE, _DIGITS = 1e-9, 1e-12


def least(observed: Floats, rounding: Floats | float) -> Floats:
    r"""Return from where on values are at least the observed ones, or tied with them.

    :math:`(v - r) / (1 + r)`: statistics are ratios of what is between algorithms to what
    is within, and r is how far rounding may have put off both, in units of the latter.
    """
    return np.asarray((observed - rounding) / (1 + rounding))


def exceeding(values: Floats, observed: float, rounding: float) -> int:
    """Return how many values are at least the observed one, ties counted."""
    return int(np.count_nonzero(values >= least(np.asarray(observed), rounding)))


def as_large(f: Floats) -> Floats:
    r"""Return from where on a drawn F counts as being as large as an observed one.

    .. math:: \frac{F}{1 + 10^{-9} + 10^{-12} F} - 10^{-12}

    The variance of a draw is a difference of sums of squares: the larger F, the smaller a
    part of them is left, and the fewer of its digits are right. What is beyond all digits
    is a tie too.

    Examples
    --------
    >>> (np.array([0.1 + 0.2]) >= as_large(np.array([0.3 + 1e-15]))).tolist()
    [True]
    >>> as_large(np.array([4.0, np.inf])).round(6).tolist()
    [4.0, 1000000000000.0]
    """
    known = np.where(np.isinf(f), 0.0, f)
    low = np.where(np.isinf(f), 1 / _DIGITS, known / (1 + _TIE + _DIGITS * known))
    return low - _DIGITS


def larger(f: float) -> float:
    """Return the F from which on `as_large` is above a critical one.

    Examples
    --------
    >>> more = larger(4.0)
    >>> more > 4, round(float(as_large(np.array(more))), 12)
    (True, 4.0)
    """
    f += _DIGITS
    # Finite even where flips alone leave lines without any noise.
    return f * (1 + _TIE) / max(1 - _DIGITS * f, _DIGITS)


def is_within(p: float, level: float) -> bool:
    """Whether p is at most the level, safe against rounding."""
    return p <= level * (1 + 1e-12)
