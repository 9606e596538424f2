"""Quantiles of F-beta: a Gauss quadrature in closed form, and a root that is bracketed."""

import math

import numpy as np
from scipy import special

from curvewise.stats._sample import Floats
from curvewise.stats.counts._given import blocks

FEWEST_NODES = 12
NUMBERS = 1 << 18  # held at once in the quadrature; more would leave the cache
STEPS = 100  # bisection alone needs no more; Newton takes about five


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
    for _ in range(STEPS):
        z = np.clip(z, lowest, highest)
        at = z[:, None] - log_w
        share = special.expit(-at)  # 1 / (1 + u)
        if is_above:
            own = special.betainc(shape_b, shape_a, share)
        else:
            own = special.betainc(shape_a, shape_b, special.expit(at))
        # The density of log U, from logarithms that cannot overflow.
        log_density = shape_a * at - (shape_a + shape_b) * np.logaddexp(0.0, at) - norm
        mass = np.maximum((weights * own).sum(1), 1e-300)
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
    return max(math.ceil(10.4 / math.log(rho)), FEWEST_NODES)
