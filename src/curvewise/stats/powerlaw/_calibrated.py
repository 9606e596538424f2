"""The fit whose intervals hold: a mixture over exponents, with a noise of its own."""

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.powerlaw._data import (
    PENALTY,
    THEORY,
    Fitted,
    Observed,
    Terms,
    gammas_for,
    parameters_of,
)
from curvewise.stats.powerlaw._lines import Lines, fit_lines
from curvewise.stats.powerlaw._mixture import Mixture
from curvewise.stats.powerlaw._paper import noise_slope

# How noise falls from the smallest to the largest size: as n^-k between them.
_FALLS = np.linspace(0.0, 1.0, 11)
# An exponent is known better than the grid is fine if its standard deviation is below
# this many steps. A finer grid then reaches some ten steps to both sides; so many times.
_SHARP, _FINER, _ROUNDS = 0.7, 10, 4
# What is left of a sum of squares is rounding below this share of it.
_ROUNDING = 1e-22


def fit_calibrated(seen: Observed, terms: Terms, floor: float | None) -> Fitted:
    """Return curves with efficient weights, and a mixture of t over the exponents."""
    if floor is None:
        shape = noise_shape(seen, terms)
        return _fit(seen, terms, shape, None)
    slope = noise_slope(seen, floor)
    return _fit(seen, terms, floor + slope[:, None] / seen.sizes, (floor, slope))


def noise_shape(seen: Observed, terms: Terms) -> Floats:
    r"""Return how noisy a run is at each size, up to a factor, shape (curve, size).

    .. math:: v_i(k) = r + (1 - r) n_S / n_i, \quad v_1 / v_S = (n_S / n_1)^k

    k is the mean of k under :math:`L(k)^{1 + \nu_w / 4}`, L the restricted likelihood of
    the curve, made linear in its exponent, and :math:`\nu_w` the degrees of freedom
    between runs of one size. Where runs are repeated this is close to the most likely k;
    where none is, the residuals alone say little, and k stays near 1/2.

    The power was chosen by simulation. At 1, uneven designs with few runs of the largest
    size are covered .97 of the time and more; the most likely k alone covers .90 where
    noise does not fall with size, or where each size has one run.
    """
    middle = np.broadcast_to(_shape(seen, 0.5), seen.means.shape)
    gamma = _fit(seen, terms, middle, None).gamma
    x = seen.scaled ** gamma[:, None]
    powers = [x**j for j in range(parameters_of(terms))]
    if terms in ("power", "full"):
        powers.append(x * np.log(seen.scaled))
    design = np.stack(powers, axis=-1)
    log = np.stack([_restricted(seen, _shape(seen, k), design) for k in _FALLS])
    weight = np.exp((log - log.max(axis=0)) * (1 + seen.freedom_within / 4))
    k = (weight * _FALLS[:, None]).sum(axis=0) / weight.sum(axis=0)
    return _shape(seen, k[:, None])


def _restricted(seen: Observed, noise: Floats, design: Floats) -> Floats:
    """Return the log restricted likelihood of a shape of the noise, shape (curve,)."""
    root = np.sqrt(seen.counts / noise)
    q, r = np.linalg.qr(root[..., None] * design)
    y = root * seen.means
    inside = np.einsum("csp,cs->cp", q, y)
    rest = ((y - np.einsum("csp,cp->cs", q, inside)) ** 2).sum(axis=1)
    rest += (seen.squares / noise).sum(axis=1)
    rest = np.maximum(rest, _ROUNDING * (y**2).sum(axis=1) + 1e-290)
    left = np.maximum(seen.known - design.shape[-1], 0.0)
    volume = np.abs(np.einsum("cpp->cp", r)).clip(1e-290).prod(axis=1)
    log = -left / 2 * np.log(rest) - np.log(volume.clip(1e-290))
    log -= 0.5 * ((1 + seen.freedom) * np.log(noise)).sum(axis=1)
    return np.asarray(np.where(left > 0, log, 0.0))


def _shape(seen: Observed, k: Floats | float) -> Floats:
    span = 1 / seen.scaled[0]
    share = (span - span ** np.asarray(k)) / (span - 1)
    return np.asarray(share + (1 - share) / seen.scaled)


def _fit(
    seen: Observed,
    terms: Terms,
    noise: Floats,
    known: tuple[float, Floats] | None,
) -> Fitted:
    gammas, parameters = gammas_for(terms, "calibrated"), parameters_of(terms)
    is_free = known is None
    lines = fit_lines(seen.scaled, seen.means, seen.counts / noise, gammas, parameters)
    log = _log_weights(lines, seen, noise) if is_free else _log_known(lines)
    every = np.broadcast_to(gammas, log.shape).copy()
    parts = (every, log, lines.cost, lines.theta, lines.inverse)
    if len(gammas) > 1:
        _look_closer(seen, noise, is_free, parts)
    every, log, cost, theta, inverse = parts
    best = log.argmax(axis=1)
    row = np.arange(len(best))
    weight = np.exp(log - log[row, best][:, None])
    squares = (seen.squares / noise).sum(axis=1) if is_free else np.zeros(len(best))
    total = cost + squares[:, None]
    if is_free:
        freedom = np.maximum(seen.known - parameters, 1.0)
        scale = total / freedom[:, None]
    else:
        within = seen.freedom_within
        freedom = np.where(within > 0, within, np.inf)
        scale = np.ones_like(total)
    if seen.shift is not None:
        inverse[..., 0, 0] += seen.shift[:, None] / np.where(scale > 0, scale, 1.0)
    weight = weight / weight.sum(axis=1, keepdims=True)
    largest = float(seen.sizes[-1])
    mixture = Mixture(every, weight, theta, inverse, total, scale, freedom, largest)
    tau = scale[row, best]
    if known is None:
        # The shape of the noise is 1 at the largest size, floor + slope / n elsewhere.
        steep = (noise[:, 0] - 1) / (1 / seen.scaled[0] - 1)
        floor = np.maximum(1 - steep, 0.0) * tau
        slope = steep * tau * largest
    else:
        floor, slope = np.full(len(best), known[0]), known[1]
    unit = np.where(tau > 0, tau, 1.0)
    return Fitted(
        every[row, best],
        cost[row, best] / unit,
        theta[row, best],
        floor,
        slope,
        seen.counts / noise / unit[:, None],
        mixture,
    )


def _look_closer(
    seen: Observed, noise: Floats, is_free: bool, parts: tuple[Floats, ...]
) -> None:
    """Put finer grids around exponents that are known better than the grid is fine.

    In place, in the exponents, weights, costs, theta and inverses of `parts`. Curves
    with the same best exponent share a grid.
    """
    every, log = parts[:2]
    row, points = np.arange(len(log)), every.shape[1]
    low, high = every[0, 0], every[0, -1]
    step = every[0, 1] - low
    is_sharp = np.full(len(log), True)
    for _ in range(_ROUNDS):
        is_sharp &= _deviation(every, log) < _SHARP * step
        best = every[row, log.argmax(axis=1)]
        step /= _FINER
        for gamma in np.unique(best[is_sharp]):
            rows = is_sharp & (best == gamma)
            first = np.clip(gamma - points // 2 * step, low, high - (points - 1) * step)
            finer = np.round(first + step * np.arange(points), 10)
            part, v = seen[rows], noise[rows]
            w, parameters = part.counts / v, parts[3].shape[-1]
            lines = fit_lines(part.scaled, part.means, w, finer, parameters)
            again = _log_weights(lines, part, v) if is_free else _log_known(lines)
            found = (finer, again, lines.cost, lines.theta, lines.inverse)
            for old, new in zip(parts, found, strict=True):
                old[rows] = new


def _deviation(gammas: Floats, log: Floats) -> Floats:
    """Return the standard deviation of the exponents, shape (curve,)."""
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = (weight * gammas).sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt((weight * (gammas - mean) ** 2).sum(axis=1)))


def _log_known(lines: Lines) -> Floats:
    """Return how likely each exponent is where the noise is known."""
    return np.asarray(-0.5 * (lines.cost + PENALTY * np.abs(lines.gammas - THEORY)))


def _log_weights(lines: Lines, seen: Observed, noise: Floats) -> Floats:
    """Return the log of how likely each exponent is, shape (curve, shape).

    alpha, eta and the size of the noise are integrated out; the penalty of Hoiem et al.
    is a Laplace prior on the exponent.
    """
    parameters = lines.theta.shape[-1]
    left = seen.known - parameters
    w = seen.counts / noise
    least = _ROUNDING * (w * seen.means**2).sum(axis=1) + 1e-290
    rest = lines.cost + (seen.squares / noise).sum(axis=1)[:, None]
    log = -left[:, None] / 2 * np.log(np.maximum(rest, least[:, None]))
    log -= 0.5 * np.log(lines.spread)
    log -= 0.5 * ((1 + seen.freedom) * np.log(noise)).sum(axis=1)[:, None]
    # With no freedom left some exponent fits exactly, which proves nothing.
    log = np.where((left > 1)[:, None] | (len(lines.gammas) == 1), log, 0.0)
    return np.asarray(log - PENALTY / 2 * np.abs(lines.gammas - THEORY))
