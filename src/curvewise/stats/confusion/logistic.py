"""Logistic regressions on powers of the size, for every curve, exponent and class."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curvewise.stats.confusion.data import subset
from curvewise.stats.validation import Floats

# A block of fits: each of its arrays, sizes x fits, stays in the second cache.
_FITS_AT_ONCE = 6_000
_STEPS, _TOLERANCE = 60, 1e-9
_LONGEST_STEP = 4.0  # of a logit: Newton's method overshoots from far away
_TINY = (
    1e-4  # examples: a prior that keeps likelihoods finite, and changes nothing else
)
_EDGE = 30.0  # logits beyond are 0 and 1 in every digit that matters


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    r"""The clock of power laws: a standardised Box-Cox transform of sizes.

    .. math:: x = ((n / n_0)^g - 1) / g, \quad \log(n / n_0) \text{ at } g = 0

    less its mean over a curve's sizes, in units of its standard deviation. It spans, with
    a constant, the same curves as :math:`n^g`, and has no hole at g = 0.
    """

    gammas: Floats
    middle: Floats
    mean: Floats
    scale: Floats

    def __call__(self, sizes: Floats) -> Floats:
        """Return x of sizes (curve, size), shape (curve, gamma, size)."""
        raw = _box_cox(np.log(sizes / self.middle[:, None]), self.gammas)
        return np.asarray((raw - self.mean[..., None]) / self.scale[..., None])


def _basis_of(sizes: Floats, is_there: Floats, gammas: Floats) -> Basis:
    """Return the clock of curves; `is_there` is 0 where sizes (curve, size) are padding.

    Exponents are (gamma,), or (curve, gamma).
    """
    count = is_there.sum(-1)
    log = np.where(is_there > 0, np.log(sizes), 0.0)
    middle = np.exp(log.sum(-1) / count)
    gammas = np.broadcast_to(gammas, (len(sizes), gammas.shape[-1]))
    raw = _box_cox(np.log(sizes / middle[:, None]), gammas)
    weight = (is_there / count[:, None])[:, None, :]
    mean = (raw * weight).sum(-1)
    scale = np.sqrt(((raw - mean[..., None]) ** 2 * weight).sum(-1))
    return Basis(gammas, middle, mean, np.where(scale > 0, scale, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """Logistic fits of every curve, exponent and class."""

    basis: Basis
    theta: Floats  # (curve, gamma, class, 2): level and slope
    # Summed over classes, less its value where every rate is as it was seen.
    log_likelihood: Floats  # (curve, gamma)
    inverse: Floats  # (curve, gamma, class, 2, 2): of minus the Hessian

    def logits(self, sizes: Floats) -> Floats:
        """Return logits at sizes (curve, asked), shape (curve, gamma, asked, class)."""
        x = self.basis(sizes)[..., None]
        level, slope = self.theta[:, :, None, :, 0], self.theta[:, :, None, :, 1]
        return np.clip(level + slope * x, -_EDGE, _EDGE)

    def influence(self, sizes: Floats, of: Floats) -> Floats:
        r"""Return what one more right answer at a size does to the logits asked for.

        .. math:: I_k(n) = (1, x(n)) \, H^{-1} \, (1, x_k)^\top

        `sizes` are (curve, asked), `of` (curve, size), and what comes out
        (curve, gamma, class, asked, size).
        """
        at, x = self.basis(sizes)[:, :, None], self.basis(of)[:, :, None]
        h = self.inverse
        level = h[..., 0, 0, None] + h[..., 0, 1, None] * at
        slope = h[..., 0, 1, None] + h[..., 1, 1, None] * at
        return np.asarray(level[..., None] + slope[..., None] * x[..., None, :])


def fit_logistic(
    sizes: Floats, right: Floats, total: Floats, gammas: Floats, *, is_firth: bool
) -> Logistic:
    r"""Return logistic regressions of right answers on every power of the size.

    .. math:: \operatorname{logit} \Pi_c(n) = \alpha_c + \eta_c n^g

    Newton's method from the logits that were seen, for every exponent at once. With
    `is_firth`, half the log determinant of the information is added (Jeffreys' prior), as
    Firth does against bias; else a prior worth a ten-thousandth of an example. With either
    an optimum is finite where all answers are right, or all wrong.

    References
    ----------
    .. [1] D. Firth. "Bias reduction of maximum likelihood estimates." Biometrika 1993.
    """
    basis = _basis_of(sizes, (total.sum(-1) > 0) * 1.0, gammas)
    curves, _, classes = right.shape
    shape = (curves, classes, gammas.shape[-1])  # exponents last: the long inner loop
    theta, inverse = np.empty((2, *shape)), np.empty((3, *shape))
    value = np.empty(shape)
    for block in _blocks(curves, shape[2] * classes):
        x = np.moveaxis(subset(basis, block)(sizes[block]), -1, 0)[:, :, None]
        wins = np.moveaxis(right[block], 1, 0)[..., None]
        tries = np.moveaxis(total[block], 1, 0)[..., None]
        theta[:, block], inverse[:, block], value[block] = _newton(
            np.ascontiguousarray(x), wins, tries, is_firth
        )
    level, cross, slope = inverse.swapaxes(-1, -2)
    matrix = np.stack([level, cross, cross, slope], axis=-1)
    return Logistic(
        basis,
        np.moveaxis(theta.swapaxes(-1, -2), 0, -1),
        value.sum(1),
        matrix.reshape(*matrix.shape[:-1], 2, 2),
    )


def _newton(
    x: Floats, wins: Floats, tries: Floats, is_firth: bool
) -> tuple[Floats, Floats, Floats]:
    """Return parameters, inverse information and log-likelihood of one block of fits.

    Sizes come first: sums over them then are sums of whole arrays. Four arrays are
    written over and over, for new ones would have to be fetched from the system.
    """
    if not is_firth:
        is_there = tries > 0
        wins, tries = wins + _TINY / 2 * is_there, tries + _TINY * is_there
    share = (wins + 0.5) / (tries + 1.0)
    start = tries * share * (1 - share)
    shape = np.broadcast_shapes(x.shape, wins.shape)
    logit, rate, weight, work = (np.empty(shape) for _ in range(4))
    moments = _moments(np.broadcast_to(start, shape), x, work)
    response = np.broadcast_to(start * np.log(share / (1 - share)), shape)
    theta = _solve(moments, response, x, work)
    for _ in range(_STEPS):
        _line(theta, x, logit)
        np.clip(logit, -_EDGE, _EDGE, out=logit)
        np.exp(np.negative(logit, out=rate), out=rate)
        np.reciprocal(np.add(rate, 1.0, out=rate), out=rate)
        np.multiply(tries, rate, out=work)
        np.multiply(work, np.subtract(1.0, rate, out=weight), out=weight)
        residual = np.subtract(wins, work, out=work)
        moments = _moments(weight, x, None)
        if is_firth:
            level, cross, slope = _inverse(moments)
            hat = weight * (level + x * (2 * cross + x * slope))
            residual += (0.5 - rate) * hat
        step = _solve(moments, residual, x, None)
        longest = np.abs(_line(step, x, work), out=work).max(0)
        theta += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < _TOLERANCE:
            break
    # n log(1 + e^z) - y z, against rates as they were seen: no cancelling of big numbers.
    loss = tries * (logit - np.log(rate)) - wins * logit
    least = tries * _entropy(wins / np.where(tries > 0, tries, 1.0))
    value = -least.sum(0) - loss.sum(0)
    return theta, np.stack(_inverse(moments)), np.asarray(value)


def _entropy(rate: Floats) -> Floats:
    """Return p log p + q log q, 0 at both ends."""
    p = np.clip(rate, 1e-300, 1.0)
    q = np.clip(1 - rate, 1e-300, 1.0)
    return np.asarray(rate * np.log(p) + (1 - rate) * np.log(q))


def _line(theta: Floats, x: Floats, out: Floats) -> Floats:
    np.multiply(theta[1], x, out=out)
    out += theta[0]
    return out


def _moments(
    weight: Floats, x: Floats, work: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Return the sums of w, w x and w x^2 over sizes."""
    tilted = np.multiply(weight, x, out=work)
    first = tilted.sum(0)
    return weight.sum(0), first, np.multiply(tilted, x, out=tilted).sum(0)


def _solve(
    moments: tuple[Floats, Floats, Floats],
    residual: Floats,
    x: Floats,
    work: Floats | None,
) -> Floats:
    """Return the step of Newton's method: level and slope."""
    level, cross, slope = _inverse(moments)
    u, v = residual.sum(0), np.multiply(residual, x, out=work).sum(0)
    return np.stack([level * u + cross * v, cross * u + slope * v])


def _inverse(moments: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats, Floats]:
    """Return the inverse of [[a, b], [b, c]]; almost singular ones are held apart."""
    a, b, c = moments
    least = 1e-12 * (a + c) + 1e-290
    a, c = a + least, c + least
    by = a * c - b * b
    return c / by, -b / by, a / by


def _box_cox(log: Floats, gammas: Floats) -> Floats:
    """Return (t^g - 1) / g of log t (curve, size), shape (curve, gamma, size)."""
    scaled = gammas[..., None] * log[:, None, :]
    is_zero = np.abs(gammas[..., None]) < 1e-9
    by = np.where(is_zero, 1.0, gammas[..., None])
    return np.asarray(np.where(is_zero, log[:, None, :], np.expm1(scaled) / by))


def _blocks(curves: int, fits: int) -> Iterator[slice]:
    step = max(1, _FITS_AT_ONCE // fits)
    for begin in range(0, curves, step):
        yield slice(begin, min(begin + step, curves))
