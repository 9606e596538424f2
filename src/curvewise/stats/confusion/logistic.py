"""Power laws on logits: fits for every curve, exponent and class, and their weights."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from curvewise.stats.confusion.data import CountTable, subset
from curvewise.stats.confusion.noise import Noise
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


def basis_of(sizes: Floats, is_there: Floats, gammas: Floats) -> Basis:
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
    """Logistic fits of every curve, exponent and class.

    Parameters
    ----------
    basis : Basis
        What slopes are of.
    theta : ndarray, shape (curve, gamma, class, 2)
        Level and slope.
    log_likelihood : ndarray, shape (curve, gamma)
        Summed over classes, less its value where every rate is as it was seen.
    inverse : ndarray, shape (curve, gamma, class, 2, 2)
        The inverse of minus the Hessian.
    """

    basis: Basis
    theta: Floats
    log_likelihood: Floats
    inverse: Floats

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
        at, seen = self.basis(sizes)[:, :, None], self.basis(of)[:, :, None]
        h = self.inverse
        level = h[..., 0, 0, None] + h[..., 0, 1, None] * at
        slope = h[..., 0, 1, None] + h[..., 1, 1, None] * at
        return np.asarray(level[..., None] + slope[..., None] * seen[..., None, :])


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
    basis = basis_of(sizes, (total.sum(-1) > 0) * 1.0, gammas)
    curves, _, classes = right.shape
    shape = (curves, classes, gammas.shape[-1])  # exponents last: the long inner loop
    theta, inverse = np.empty((2, *shape)), np.empty((3, *shape))
    value = np.empty(shape)
    for own in _blocks(curves, shape[2] * classes):
        x = np.moveaxis(subset(basis, own)(sizes[own]), -1, 0)[:, :, None]
        wins = np.moveaxis(right[own], 1, 0)[..., None]
        tries = np.moveaxis(total[own], 1, 0)[..., None]
        theta[:, own], inverse[:, own], value[own] = _newton(
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
    seen = (wins + 0.5) / (tries + 1.0)
    start = tries * seen * (1 - seen)
    shape = np.broadcast_shapes(x.shape, wins.shape)
    logit, rate, weight, work = (np.empty(shape) for _ in range(4))
    moments = _moments(np.broadcast_to(start, shape), x, work)
    response = np.broadcast_to(start * np.log(seen / (1 - seen)), shape)
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


# --------------------------------------------------------------------------------------
# What each exponent of a power law weighs, given counts that are not independent.


GAMMAS = np.arange(-30, 21) / 20
# The prior, exp(-3 |g + 1/2|): theory's exponent, with a mean distance of a third. It is
# not multiplied with the data, as a penalty of the paper's kind on one validation set is:
# where counts say more, it says nothing.
TAU, THEORY = 3.0, -0.5
# An exponent known better than this many steps asks for a finer grid; so many times.
_SHARP, _ROUNDS = 1.2, 3
_REACH = 6.0  # standard deviations


@dataclass(frozen=True, slots=True, eq=False)
class Exponents:
    """Fits of every exponent on a grid, and their weights.

    Parameters
    ----------
    logistic : Logistic
        The fits.
    weights : ndarray, shape (curve, gamma)
        They sum to 1.
    inflation : ndarray, shape (curve,)
        How many answers tell as much about the exponent as one independent one.
    """

    logistic: Logistic
    weights: Floats
    inflation: Floats

    @property
    def gammas(self) -> Floats:
        """The exponents, shape (curve, gamma)."""
        return self.logistic.basis.gammas

    @property
    def best(self) -> NDArray[np.int64]:
        """Which exponent weighs most, shape (curve,)."""
        return np.asarray(self.weights.argmax(-1))

    def chosen(self, u: Floats) -> NDArray[np.int64]:
        """Return which exponent each draw takes, shape (curve, draw).

        The smallest one whose cumulated weight exceeds u.
        """
        upto = np.minimum(np.cumsum(self.weights, axis=-1)[:, :-1], 1.0)
        order = np.argsort(u, kind="stable")
        # All curves share u: how many draws lie below each step is one search.
        edge = np.searchsorted(u[order], upto)
        steps = np.zeros((len(upto), len(u) + 1), dtype=np.int64)
        np.add.at(steps, (np.arange(len(upto))[:, None], edge), 1)
        out = np.empty((len(upto), len(u)), dtype=np.int64)
        out[:, order] = np.cumsum(steps, axis=-1)[:, :-1]
        return out


def weigh_exponents(table: CountTable, noise: Noise) -> Exponents:
    r"""Return fits of exponents from -1.5 to 1 and what each weighs.

    .. math:: w(\gamma) \propto \exp\{L(\gamma) / \lambda - 3 |\gamma + 1/2|\}

    L is the likelihood as if answers were independent, and :math:`\lambda` what it
    exaggerates: the variance of its slope in :math:`\gamma` over what that would be. With
    data by which an exponent is known better than the grid is fine, the grid is refined
    around it.

    References
    ----------
    .. [1] C. Varin, N. Reid, D. Firth. "An overview of composite likelihood methods."
       Statistica Sinica 2011. Section 2.3.
    """
    gammas = np.broadcast_to(GAMMAS, (len(table), len(GAMMAS)))
    logistic = _fitted(table, gammas)
    inflation = np.ones(len(table))
    for _ in range(2):
        # The slope is looked at where the weights end up.
        found = Exponents(logistic, _weights(logistic, inflation), inflation)
        inflation = _inflation(table, noise, found)
    found = Exponents(logistic, _weights(logistic, inflation), inflation)
    for _ in range(_ROUNDS):
        mean = (found.weights * found.gammas).sum(-1)
        away = (found.gammas - mean[:, None]) ** 2
        sd = np.sqrt((found.weights * away).sum(-1))
        step = found.gammas[:, 1] - found.gammas[:, 0]
        sharp = np.flatnonzero(sd < _SHARP * step)
        if len(sharp) == 0:
            break
        found = _refined(
            table, found, sharp, mean[sharp], np.maximum(sd, step / 2)[sharp]
        )
    return found


def _fitted(table: CountTable, gammas: Floats) -> Logistic:
    return fit_logistic(table.sizes, table.right, table.total, gammas, is_firth=True)


def _weights(logistic: Logistic, inflation: Floats) -> Floats:
    log = logistic.log_likelihood / inflation[:, None]
    log = log - TAU * np.abs(logistic.basis.gammas - THEORY)
    weight = np.exp(log - log.max(-1, keepdims=True))
    return np.asarray(weight / weight.sum(-1, keepdims=True))


def _refined(
    table: CountTable,
    found: Exponents,
    sharp: NDArray[np.int64],
    mean: Floats,
    sd: Floats,
) -> Exponents:
    """Return exponents with a finer grid for those curves that are known so well."""
    low = np.maximum(mean - _REACH * sd, GAMMAS[0])
    high = np.minimum(mean + _REACH * sd, GAMMAS[-1])
    fine = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, len(GAMMAS))
    part = _fitted(subset(table, sharp), fine)
    old, new = found.logistic, part.basis
    basis = Basis(
        _with(old.basis.gammas, sharp, new.gammas),
        old.basis.middle,
        _with(old.basis.mean, sharp, new.mean),
        _with(old.basis.scale, sharp, new.scale),
    )
    logistic = Logistic(
        basis,
        _with(old.theta, sharp, part.theta),
        _with(old.log_likelihood, sharp, part.log_likelihood),
        _with(old.inverse, sharp, part.inverse),
    )
    weights = _weights(logistic, found.inflation)
    return replace(found, logistic=logistic, weights=weights)


def _with(array: Floats, rows: NDArray[np.int64], values: Floats) -> Floats:
    out = np.array(array)
    out[rows] = values
    return out


def _inflation(table: CountTable, noise: Noise, found: Exponents) -> Floats:
    """Return by how much the likelihood exaggerates what is known of the exponent.

    At least 1: correlated noise of sizes cancels where they are compared, but how much
    does is itself estimated.
    """
    curves, best = np.arange(len(table)), found.best
    logistic = found.logistic
    x = logistic.basis(table.sizes)
    last = x.shape[1] - 1
    at = x[curves, best][..., None]
    # How the clock moves with the exponent; what level and slope can do is no news.
    moved = x[curves, np.minimum(best + 1, last)] - x[curves, np.maximum(best - 1, 0)]
    way = moved[..., None] * logistic.theta[curves, best, :, 1][:, None]
    rate = expit(logistic.logits(table.sizes)[curves, best])
    weight = table.total * np.maximum(rate * (1 - rate), 1e-12)
    a, b, c = weight.sum(1), (weight * at).sum(1), (weight * at**2).sum(1)
    u, v = (weight * way).sum(1), (weight * way * at).sum(1)
    by = np.maximum(a * c - b * b, 1e-12 * a * c + 1e-290)
    level, slope = (c * u - b * v) / by, (a * v - b * u) / by
    way = way - level[:, None] - slope[:, None] * at
    claimed = (weight * way**2).sum((1, 2))
    across = way.swapaxes(1, 2)[..., None]
    tested = (across * (noise.testing @ across)).sum((1, 2, 3))
    apart = (across[..., 0] ** 2 * noise.alone).sum((1, 2))
    tested = np.where(noise.is_blind, np.maximum(tested, apart), tested)
    scale = table.total * np.sqrt(noise.rates * (1 - noise.rates))
    scale = scale / np.sqrt(table.sizes * np.maximum(table.runs, 1.0))[..., None]
    trained = np.einsum("bkc,bcd,bkd->b", way * scale, noise.omega, way * scale)
    is_seen = claimed > 1e-12
    ratio = (tested + trained) / np.where(is_seen, claimed, 1.0)
    return np.clip(np.where(is_seen, ratio, 1.0), 1.0, 100.0)
