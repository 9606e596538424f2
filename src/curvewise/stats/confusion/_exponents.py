"""What each exponent of a power law weighs, given counts that are not independent."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._data import CountTable
from curvewise.stats.confusion._logistic import Basis, Logistic, fit_logistic
from curvewise.stats.confusion._noise import Noise

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
    part = _fitted(table.take(sharp), fine)
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
