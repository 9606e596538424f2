"""From counts to intervals: what all rates share, and quantiles by the million."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from curvewise.errors import CurvewiseError
from curvewise.stats.interval import percent
from curvewise.stats.validation import Floats, bad_value, checked_confidence, is_number

__all__ = [
    "CountIntervals",
]


Prior: TypeAlias = Literal["uniform", "jeffreys", "paper"] | float


@dataclass(frozen=True, slots=True, eq=False)
class CountIntervals:
    """Intervals, one for each matrix; ``low, high = intervals`` takes the ends.

    Parameters
    ----------
    lower, upper : ndarray, shape (...)
        The ends, in the shape of the counts; plain numbers for one matrix.
    value : ndarray, shape (...)
        The rate that was observed; 0/0 counts as the worst value, as in
        `curvewise.metrics`.
    estimand : str
        The unknown number that each is meant to contain.
    guarantee : str
        How surely it does, under which assumptions.
    confidence : float
    undefined : int
        For how many matrices the rate is 0/0, so that the interval is the prior's.
    outside : int
        How many observed rates lie just outside of their interval, as rates of 0 or 1 do:
        the prior holds exactly 0 and 1 to be impossible.
    monte_carlo_error : float
        Largest standard error that chance left in the ends; 0 where nothing was left to
        chance.

    Examples
    --------
    >>> from curvewise.stats.counts import f1_interval
    >>> low, high = f1_interval(tp=40, fp=12, fn=9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.690 to 0.864
    """

    lower: Floats
    upper: Floats
    value: Floats
    estimand: str
    guarantee: str
    confidence: float
    undefined: int = 0
    outside: int = 0
    monte_carlo_error: float = 0.0

    @property
    def half_width(self) -> Floats:
        """Half of the length of each."""
        return np.asarray((self.upper - self.lower) / 2)[()]

    def covers(self, rate: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each contains a rate.

        >>> from curvewise.stats.counts import recall_interval
        >>> recall_interval(tp=[9, 90], fn=[1, 10]).covers(0.8).tolist()
        [True, False]
        """
        x = np.asarray(rate, dtype=np.float64)
        return np.asarray((self.lower <= x) & (x <= self.upper))

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.lower, self.upper))

    def __str__(self) -> str:
        if np.ndim(self.lower) == 0:
            return f"{self.value:.4g} [{self.lower:.4g}, {self.upper:.4g}]"
        return (
            f"{np.size(self.lower):,} intervals of {self.estimand}, "
            f"{self.confidence:g} each"
        )


# --- From counts to intervals, block by block: what all rates of a matrix share --------


# Of a block of counts, what is added to each cell, and a tail: the two ends.
Ends: TypeAlias = Callable[..., tuple[Floats, Floats]]
# Of a block of counts: numerator and denominator of the rate that was observed.
Parts: TypeAlias = Callable[..., tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate of confusion counts: how it is observed, and where its posterior ends."""

    estimand: str
    parts: Parts
    ends: Ends
    worst: float = 0.0


def intervals(
    rate: Rate, counts: dict[str, ArrayLike], prior: Prior, confidence: float
) -> CountIntervals:
    """Return the intervals of a rate; only its answer is as large as the counts."""
    level, added = checked_confidence(confidence), checked_prior(prior)
    arrays = checked_counts(**counts)
    shape, size = arrays[0].shape, arrays[0].size
    lower, upper, value = np.empty(size), np.empty(size), np.empty(size)
    undefined = outside = 0
    for part in blocks(size):
        # Arrays may be broadcast: .flat copies a block of them, reshape would copy all.
        cells = [array.flat[part] for array in arrays]
        low, high = rate.ends(*cells, added, (1 - level) / 2)
        numerator, denominator = rate.parts(*cells)
        ratio, is_silent = (
            _observed(numerator, denominator, rate.worst),
            denominator == 0,
        )
        undefined += int(is_silent.sum())
        outside += int((((ratio < low) | (ratio > high)) & ~is_silent).sum())
        lower[part], upper[part], value[part] = low, high, ratio
    return CountIntervals(
        lower=lower.reshape(shape)[()],
        upper=upper.reshape(shape)[()],
        value=value.reshape(shape)[()],
        estimand=rate.estimand,
        guarantee=guarantee(prior, added, level),
        confidence=level,
        undefined=undefined,
        outside=outside,
    )


def _observed(numerator: Floats, denominator: Floats, undefined: float) -> Floats:
    """Return rates, and `undefined` for 0/0."""
    out: Floats = np.full(denominator.shape, undefined)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def guarantee(prior: Prior, added: float, confidence: float) -> str:
    """Return what an interval from a posterior promises."""
    name = f"{prior} prior" if isinstance(prior, str) else "prior"
    return (
        f"about {percent(confidence)}: posterior probability, equal tails, for test "
        f"examples drawn independently ({name}, {added:g} added to every cell)"
    )


# --------------------------------------------------------------------------------------
# Both ends of beta distributions, by the million: twice as fast as inverting each.
#
# scipy's ``betaincinv`` evaluates the distribution about three times. A good first guess
# and a step of fourth order take one evaluation; where the guess is not good, the inverse
# is asked after all.


_SMALLEST = (
    5.0  # a and b for which the guess is good, and Stirling's series exact to 2e-8
)
_WORST_GUESS = 0.004  # standard deviations; the step leaves less than 1e-9 of one
_FARTHEST = 1e-4  # tail for which the guess is good


def beta_ends(a: Floats, b: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return what `tail` of Be(a, b) is below, and what as much is above.

    Both are good to 1e-9 of the standard deviation.
    """
    is_large = np.minimum(a, b) >= _SMALLEST
    if tail >= _FARTHEST and is_large.all():
        return _two_ends(a, b, tail)
    low, high = np.empty_like(a), np.empty_like(a)
    is_large &= tail >= _FARTHEST
    low[is_large], high[is_large] = _two_ends(a[is_large], b[is_large], tail)
    rest = ~is_large
    low[rest] = special.betaincinv(a[rest], b[rest], tail)
    high[rest] = special.betainccinv(a[rest], b[rest], tail)
    return low, high


def _two_ends(a: Floats, b: Floats, tail: float) -> tuple[Floats, Floats]:
    log_ratio, norm = np.log(a / b), _log_beta(a, b)
    low, _ = _lower_end(a, b, tail, log_ratio, norm)
    # What is above an end of Be(a, b) is below one of Be(b, a).
    _, high = _lower_end(b, a, tail, -log_ratio, norm)
    return low, high


def _lower_end(
    a: Floats, b: Floats, tail: float, log_ratio: Floats, norm: Floats
) -> tuple[Floats, Floats]:
    """Return the quantile of a share x, found on the scale of its logit, and 1 - x."""
    guess = log_ratio + first_guess(a, b, float(special.ndtri(tail)))
    odds = np.exp(-guess)
    x = 1 / (1 + odds)
    log_x = np.log(x)
    # The density of the logit is exp(log_density); its logarithm has these derivatives.
    log_density = (a + b) * log_x - b * guess - norm
    gap = (special.betainc(a, b, x) - tail) * np.exp(-log_density)
    first = a - (a + b) * x
    second = -(a + b) * x * x * odds
    third = second * (1 - 2 * x)
    # Coefficients of the distribution's Taylor series, and that series turned round.
    c2 = first / 2
    c3 = (first * first + second) / 6
    c4 = ((first * first + 3 * second) * first + third) / 24
    series = gap * ((5 * c2 * c2 - 5 * c3) * c2 + c4)
    step = gap * (1 + gap * (c2 + gap * ((2 * c2 * c2 - c3) + series)))
    odds *= np.exp(step)
    x = 1 / (1 + odds)
    other = x * odds
    # The variance of the logit is about 1/a + 1/b.
    is_bad = ~(gap * gap * a * b < _WORST_GUESS**2 * (a + b))
    if is_bad.any():
        x[is_bad] = special.betaincinv(a[is_bad], b[is_bad], tail)
        other[is_bad] = special.betainccinv(b[is_bad], a[is_bad], tail)
    return x, other


def first_guess(a: Floats, b: Floats, z: float) -> Floats:
    """Return the logit of a quantile less log(a/b); z is that of the normal distribution.

    Abramowitz and Stegun (1964), 26.5.22.
    """
    u, v = 1 / (2 * a - 1), 1 / (2 * b - 1)
    inverse = (u + v) / 2
    lift = (z * z - 3) / 6
    root = np.sqrt(inverse + lift * inverse * inverse)
    return np.asarray(2 * (z * root + (v - u) * (lift + 5 / 6 - 2 / 3 * inverse)))


def _log_beta(a: Floats, b: Floats) -> Floats:
    """Return log B(a, b) by Stirling's series, to 2e-8 where both are at least 5."""
    n = a + b
    return np.asarray(
        (a - 0.5) * np.log(a / n)
        + b * np.log(b / n)
        - 0.5 * np.log(b / (2 * np.pi))
        + _rest(a)
        + _rest(b)
        - _rest(n)
    )


def _rest(a: Floats) -> Floats:
    inverse = 1 / a
    square = inverse * inverse
    return np.asarray(inverse * (1 / 12 - square * (1 / 360 - square / 1260)))


# --------------------------------------------------------------------------------------
# Quantiles of F-beta: a Gauss quadrature in closed form, and a root that is bracketed.


_FEWEST_NODES = 12
NUMBERS = 1 << 18  # held at once in the quadrature; more would leave the cache
_STEPS = 100  # bisection alone needs no more; Newton takes about five


def f_beta_ends(
    tp: Floats, fp: Floats, fn: Floats, square: float, tail: float
) -> tuple[Floats, Floats]:
    """Return both ends; tp, fp and fn are those of the Dirichlet, the prior added.

    F-beta falls with T = U w(s), w(s) = 1 + (beta^2 - 1) s. P(T > t) is an average over s
    of the tail of a beta prime.
    """
    count = _nodes(square)
    low, high = np.empty(len(tp)), np.empty(len(tp))
    for part in blocks(len(tp), max(NUMBERS // count**2, 1)):
        a, b = fp[part] + fn[part], tp[part]
        s, weights = jacobi_rule(fn[part], fp[part], count)
        log_w = np.log1p((square - 1) * s)
        for out, is_above in ((low, True), (high, False)):
            log_t = _log_root(a, b, log_w, weights, tail, is_above)
            out[part] = (1 + square) / (1 + square + np.exp(log_t))
    return low, high


def jacobi_rule(p: Floats, q: Floats, count: int) -> tuple[Floats, Floats]:
    """Return nodes and weights that average over Be(p, q), shape (matrix, node).

    Golub and Welsch (1969): nodes are the eigenvalues of the tridiagonal matrix of the
    recurrence of Jacobi polynomials. Exact for polynomials up to degree 2 count - 1.
    """
    p, q = p[:, None], q[:, None]
    k = np.arange(1, count, dtype=np.float64)
    # On [-1, 1], with weight (1 - x)^(q - 1) (1 + x)^(p - 1).
    total = p + q - 2
    first = (p - q) / (p + q)
    middle = total * (p - q) / ((2 * k + total) * (2 * k + total + 2))
    diagonal = np.concatenate([first, middle], axis=1)
    # k = 1 apart: there k + total and 2 k + total - 1 are the same, and may both be 0.
    one = 4 * p * q / ((p + q) ** 2 * (p + q + 1))
    m = k[1:]
    rest = (
        (4 * m * (m + p - 1) * (m + q - 1) * (m + total))
        / (2 * m + total) ** 2
        / ((2 * m + total + 1) * (2 * m + total - 1))
    )
    beside = np.sqrt(np.concatenate([one, rest], axis=1))
    matrix = np.zeros((len(p), count, count))
    at = np.arange(count)
    matrix[:, at, at] = diagonal
    matrix[:, at[1:], at[:-1]] = beside  # eigh reads the lower half
    nodes, vectors = np.linalg.eigh(matrix)
    return np.clip((nodes + 1) / 2, 0.0, 1.0), vectors[:, 0, :] ** 2


def _log_root(
    a: Floats, b: Floats, log_w: Floats, weights: Floats, tail: float, is_above: bool
) -> Floats:
    """Return log t with P(T > t) = tail, or with P(T < t) = tail.

    Newton on the logarithm of the tail, which is nearly linear; what leaves the bracket
    is halved instead.
    """
    log_u = _log_beta_prime(a, b, tail, is_above)
    # U w lies between U times the least w and U times the largest.
    lowest, highest = log_u + log_w.min(1), log_u + log_w.max(1)
    norm, log_tail = special.betaln(a, b)[:, None], math.log(tail)
    shape_a, shape_b = a[:, None], b[:, None]
    sign = -1.0 if is_above else 1.0  # of the slope
    z = log_u + np.log((weights * np.exp(log_w)).sum(1))
    for _ in range(_STEPS):
        z = np.clip(z, lowest, highest)
        at = z[:, None] - log_w
        share = special.expit(-at)  # 1 / (1 + u)
        if is_above:
            chances = special.betainc(shape_b, shape_a, share)
        else:
            chances = special.betainc(shape_a, shape_b, special.expit(at))
        # The density of log U, from logarithms that cannot overflow.
        log_density = shape_a * at - (shape_a + shape_b) * np.logaddexp(0.0, at) - norm
        mass = np.maximum((weights * chances).sum(1), 1e-300)
        slope = sign * (weights * np.exp(log_density)).sum(1) / mass
        gap = np.log(mass) - log_tail
        is_low = gap * sign < 0  # the root is above z
        lowest = np.where(is_low, z, lowest)
        highest = np.where(is_low, highest, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = z - gap / slope
        is_fine = (step >= lowest) & (step <= highest)
        new = np.where(is_fine, step, (lowest + highest) / 2)
        moved = np.abs(new - z)
        z = new
        if (moved <= 1e-13 * np.maximum(np.abs(z), 1)).all():
            break
    return np.asarray(z)


def _log_beta_prime(a: Floats, b: Floats, tail: float, is_above: bool) -> Floats:
    """Return the logarithm of the quantile of BetaPrime(a, b)."""
    if is_above:
        share = special.betaincinv(b, a, tail)  # 1 / (1 + u), small where u is large
        return np.asarray(np.log1p(-share) - np.log(share))
    share = special.betaincinv(a, b, tail)
    return np.asarray(np.log(share) - np.log1p(-share))


def _nodes(square: float) -> int:
    """Return how many nodes leave an error below 1e-9.

    w(s) vanishes outside of [0, 1], at distance d, and the error of n nodes falls as
    rho^(-2n), where rho is the sum of the half axes of the ellipse through that point.
    """
    d = 1 / (max(square, 1 / square) - 1)
    rho = 1 + 2 * d + 2 * math.sqrt(d + d**2)
    return max(math.ceil(10.4 / math.log(rho)), _FEWEST_NODES)


# --------------------------------------------------------------------------------------
# What intervals of counts are given: counts, a prior, and in which blocks they go.


PRIORS = {"uniform": 1.0, "jeffreys": 0.5, "paper": 1.0}
_BLOCK = 1 << 15  # matrices at a time: what is computed between stays in the cache
LARGEST = 1e15  # a count; beyond, adding the prior changes nothing


def checked_prior(prior: Any) -> float:
    """Return how many examples the prior adds to every cell; refuse what is none."""
    if isinstance(prior, str) and prior in PRIORS:
        return PRIORS[prior]
    if not is_number(prior) or not 0 < prior <= LARGEST:
        raise bad_value(
            "prior",
            prior,
            f"Pass one of {', '.join(PRIORS)}, or a number above 0: how many examples it "
            f"adds to every cell.",
        )
    return float(prior)


def checked_counts(**counts: ArrayLike) -> list[Floats]:
    """Return counts as arrays of one shape; refuse what cannot be counts.

    Fractions are counts, too: those of matrices that were averaged or predicted.
    """
    arrays = [_numbers(name, value) for name, value in counts.items()]
    for name, array in zip(counts, arrays, strict=True):
        bad = ~((array >= 0) & (array <= LARGEST))
        if bad.any():
            wrong = array[bad].flat[0]
            raise CurvewiseError(
                f"{bad.sum():,} of {array.size:,} in {name} are no counts, the first is "
                f"{wrong:g}. Pass numbers from 0 to {LARGEST:g}.",
                argument=name,
                value=wrong,
            )
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(
            f"{name} {array.shape}" for name, array in zip(counts, arrays, strict=True)
        )
        raise CurvewiseError(
            f"Counts have shapes that do not fit: {shapes}. Pass one of each for every "
            f"matrix, or one for all.",
            argument=" and ".join(counts),
        ) from None


def checked_matrices(counts: ArrayLike) -> Floats:
    """Return confusion matrices, shape (..., class, class); refuse what is none."""
    array = _numbers("counts", counts)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2:
        raise CurvewiseError(
            f"counts have shape {array.shape}. Pass (..., K, K) with K >= 2: rows are "
            f"true classes, columns what they were called.",
            argument="counts",
            value=counts,
        )
    checked_counts(counts=array)
    return array


def _numbers(name: str, value: ArrayLike) -> Floats:
    if not isinstance(value, np.ma.MaskedArray):
        try:
            raw = np.asarray(value)
            if raw.dtype.kind in "iuf" or (raw.dtype.kind == "O" and raw.size):
                return raw.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError):
            pass
    raise CurvewiseError(
        f"{name} are no numbers. Pass counts, one or an array of them.",
        argument=name,
        value=value,
    )


def blocks(size: int, block: int = _BLOCK) -> Iterator[slice]:
    """Return slices that cover `size` places, `block` of them at a time."""
    for start in range(0, size, block):
        yield slice(start, min(start + block, size))
