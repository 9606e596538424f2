"""The two ways to fit power laws: calibrated, and that of Hoiem et al. (2021)."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.stats.curves import fit_grid
from curvewise.stats.powerlaw.mixture import Mixture, columns
from curvewise.stats.validation import Floats

Method: TypeAlias = Literal["calibrated", "paper"]
METHODS = ("calibrated", "paper")
Weights: TypeAlias = Literal["efficient", "per_size", "equal"]
WEIGHTS = ("efficient", "per_size", "equal")
Terms: TypeAlias = Literal["power", "linear", "quadratic", "full"]
TERMS = ("power", "linear", "quadratic", "full")

# Constants of Hoiem et al. (2021). The floor is in percent^2 there: 0.02e-4 of a
# fraction. Left at 0.02 among fractions it would drown all errors, and the exponent
# would silently be -0.5. The penalty is on a sum of squares in units of the noise, which
# has no unit.
PAPER_FLOOR = 0.02e-4
PENALTY = 5.0
THEORY = -0.5


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Curves on common sizes."""

    sizes: Floats  # (size,), increasing
    means: Floats  # (curve, size)
    counts: Floats  # of runs, (curve, size)
    squares: Floats  # of the runs around their mean, (curve, size)
    freedom: Floats  # of the squares: runs less 1, 0 where they are not known
    # (curve,): the variance of what all means of a curve share; in none of the squares.
    shift: Floats | None = None

    @property
    def scaled(self) -> Floats:
        """Sizes in units of the largest: their powers neither overflow nor vanish."""
        return np.asarray(self.sizes / self.sizes[-1])

    @property
    def freedom_within(self) -> Floats:
        """Degrees of freedom between runs of one size, shape (curve,)."""
        return np.asarray(self.freedom.sum(axis=1))

    @property
    def known(self) -> Floats:
        """How many numbers speak of each curve, shape (curve,)."""
        return len(self.sizes) + self.freedom_within

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> "Observed":
        return Observed(
            sizes=self.sizes,
            means=self.means[rows],
            counts=self.counts[rows],
            squares=self.squares[rows],
            freedom=self.freedom[rows],
            shift=None if self.shift is None else self.shift[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Fitted curves."""

    gamma: Floats  # (curve,), the best
    cost: Floats  # (curve,), squares of the means around it, in units of their noise
    theta: Floats  # (curve, parameter): alpha, eta (, delta) on scaled sizes
    floor: Floats  # (curve,): the variance of a run is floor + slope / n
    slope: Floats  # (curve,)
    weights: Floats  # of the means, (curve, size)
    mixture: Mixture


def gammas_for(terms: Terms, method: Method) -> Floats:
    """Return the exponents that are tried."""
    if terms in ("linear", "quadratic"):
        return np.array([THEORY])
    # Theory knows (-1, 0), and so does the paper; some real curves fall faster.
    steepest = 99 if method == "paper" else 200
    return np.arange(-steepest, 0) / 100


def parameters_of(terms: Terms) -> int:
    """Return how many parameters there are beside the exponent."""
    return 3 if terms in ("quadratic", "full") else 2


# --------------------------------------------------------------------------------------
# Weighted fits of alpha + eta x (+ delta x^2), x = (n/N)^gamma, for every exponent.


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The best line of every curve at every exponent."""

    gammas: Floats  # (shape,)
    cost: Floats  # (curve, shape), weighted squares that are left
    theta: Floats  # (curve, shape, parameter), on scaled sizes
    inverse: Floats  # (A' W A)^-1, (curve, shape, parameter, parameter)
    # |A' W A| after A was moved and scaled to mean 0 and length 1, (curve, shape): how
    # much of the weight speaks of the line, whatever the unit of x.
    spread: Floats


def fit_lines(
    sizes: Floats, means: Floats, weights: Floats, gammas: Floats, parameters: int
) -> Lines:
    """Return the weighted least-squares lines; sizes are divided by N already."""
    a = columns(sizes, gammas, parameters)
    if parameters == 2:
        return _fit_two(a[..., 1], means, weights, gammas)
    return _fit_many(a, means, weights, gammas)


def _fit_two(x: Floats, means: Floats, weights: Floats, gammas: Floats) -> Lines:
    fit = fit_grid(x, means, weights)
    total = weights.sum(axis=1, keepdims=True)
    middle = x.mean(axis=1)
    away = x - middle[:, None]
    length = (away**2).sum(axis=1)
    shift = (weights @ away.T) / total
    sxx = weights @ (away**2).T - total * shift**2
    mean = middle + shift
    inverse = np.empty((*sxx.shape, 2, 2))
    inverse[..., 0, 0] = 1 / total + mean**2 / sxx
    inverse[..., 0, 1] = inverse[..., 1, 0] = -mean / sxx
    inverse[..., 1, 1] = 1 / sxx
    theta = np.stack([fit.asymptote, fit.amplitude], axis=-1)
    return Lines(
        gammas=gammas,
        cost=fit.cost,
        theta=theta,
        inverse=inverse,
        spread=total * sxx / length,
    )


def _fit_many(a: Floats, means: Floats, weights: Floats, gammas: Floats) -> Lines:
    """Return lines with a curved term, from polynomials that are nearly orthogonal."""
    x = a[..., 1]
    middle = x.mean(axis=1, keepdims=True)
    scale = x.std(axis=1, keepdims=True)
    z = (x - middle) / scale
    design = np.stack([np.ones_like(z), z, z**2 - (z**2).mean(1, keepdims=True)], -1)
    normal = np.einsum("cs,gsi,gsj->cgij", weights, design, design)
    right = np.einsum("cs,gsi->cgi", weights * means, design)
    inverse = np.linalg.inv(normal)
    local = np.einsum("cgij,cgj->cgi", inverse, right)
    rest = means[:, None, :] - np.einsum("cgi,gsi->cgs", local, design)
    cost = (weights[:, None, :] * rest**2).sum(axis=-1)
    # 1, z, z^2 - c back in powers of x.
    m, s, c = middle[:, 0], scale[:, 0], (z**2).mean(axis=1)
    back = np.zeros((len(x), 3, 3))
    back[:, 0] = np.stack([np.ones_like(m), -m / s, m**2 / s**2 - c], axis=-1)
    back[:, 1, 1], back[:, 1, 2] = 1 / s, -2 * m / s**2
    back[:, 2, 2] = 1 / s**2
    theta = np.einsum("gij,cgj->cgi", back, local)
    inverse = back @ inverse @ back.swapaxes(-1, -2)
    even = np.linalg.det(np.einsum("gsi,gsj->gij", design, design))
    return Lines(
        gammas=gammas,
        cost=cost,
        theta=theta,
        inverse=inverse,
        spread=np.linalg.det(normal) / even,
    )


# --------------------------------------------------------------------------------------
# The fit whose intervals hold: a mixture over exponents, with a noise of its own.


# How noise falls from the smallest to the largest size: as n^-k between them.
_FALLS = np.linspace(0.0, 1.0, 11)
# An exponent is known better than the grid is fine if its standard deviation is below
# this many steps. A finer grid then reaches some ten steps to both sides; so many times.
_SHARP, _FINER, _ROUNDS = 0.7, 10, 4
# What is left of a sum of squares is rounding below this share of it.
_ROUNDING = 1e-22


def fit_calibrated(observed: Observed, terms: Terms, floor: float | None) -> Fitted:
    """Return curves with efficient weights, and a mixture of t over the exponents."""
    if floor is None:
        shape = noise_shape(observed, terms)
        return _fit(observed, terms, shape, None)
    slope = noise_slope(observed, floor)
    return _fit(
        observed, terms, floor + slope[:, None] / observed.sizes, (floor, slope)
    )


def noise_shape(observed: Observed, terms: Terms) -> Floats:
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
    middle = np.broadcast_to(_shape(observed, 0.5), observed.means.shape)
    gamma = _fit(observed, terms, middle, None).gamma
    x = observed.scaled ** gamma[:, None]
    powers = [x**j for j in range(parameters_of(terms))]
    if terms in ("power", "full"):
        powers.append(x * np.log(observed.scaled))
    design = np.stack(powers, axis=-1)
    log = np.stack([_restricted(observed, _shape(observed, k), design) for k in _FALLS])
    weight = np.exp((log - log.max(axis=0)) * (1 + observed.freedom_within / 4))
    k = (weight * _FALLS[:, None]).sum(axis=0) / weight.sum(axis=0)
    return _shape(observed, k[:, None])


def _restricted(observed: Observed, noise: Floats, design: Floats) -> Floats:
    """Return the log restricted likelihood of a shape of the noise, shape (curve,)."""
    root = np.sqrt(observed.counts / noise)
    q, r = np.linalg.qr(root[..., None] * design)
    y = root * observed.means
    inside = np.einsum("csp,cs->cp", q, y)
    rest = ((y - np.einsum("csp,cp->cs", q, inside)) ** 2).sum(axis=1)
    rest += (observed.squares / noise).sum(axis=1)
    rest = np.maximum(rest, _ROUNDING * (y**2).sum(axis=1) + 1e-290)
    freedom = np.maximum(observed.known - design.shape[-1], 0.0)
    volume = np.abs(np.einsum("cpp->cp", r)).clip(1e-290).prod(axis=1)
    log = -freedom / 2 * np.log(rest) - np.log(volume.clip(1e-290))
    log -= 0.5 * ((1 + observed.freedom) * np.log(noise)).sum(axis=1)
    return np.asarray(np.where(freedom > 0, log, 0.0))


def _shape(observed: Observed, k: Floats | float) -> Floats:
    span = 1 / observed.scaled[0]
    share = (span - span ** np.asarray(k)) / (span - 1)
    return np.asarray(share + (1 - share) / observed.scaled)


def _fit(
    observed: Observed,
    terms: Terms,
    noise: Floats,
    noise_law: tuple[float, Floats] | None,
) -> Fitted:
    gammas, parameters = gammas_for(terms, "calibrated"), parameters_of(terms)
    is_free = noise_law is None
    lines = fit_lines(
        observed.scaled, observed.means, observed.counts / noise, gammas, parameters
    )
    log = _log_weights(lines, observed, noise) if is_free else _log_known(lines)
    every = np.broadcast_to(gammas, log.shape).copy()
    parts = (every, log, lines.cost, lines.theta, lines.inverse)
    if len(gammas) > 1:
        _look_closer(observed, noise, is_free, parts)
    every, log, cost, theta, inverse = parts
    best = log.argmax(axis=1)
    row = np.arange(len(best))
    weight = np.exp(log - log[row, best][:, None])
    squares = (observed.squares / noise).sum(axis=1) if is_free else np.zeros(len(best))
    total = cost + squares[:, None]
    if is_free:
        freedom = np.maximum(observed.known - parameters, 1.0)
        scale = total / freedom[:, None]
    else:
        within = observed.freedom_within
        freedom = np.where(within > 0, within, np.inf)
        scale = np.ones_like(total)
    if observed.shift is not None:
        inverse[..., 0, 0] += observed.shift[:, None] / np.where(scale > 0, scale, 1.0)
    weight = weight / weight.sum(axis=1, keepdims=True)
    largest = float(observed.sizes[-1])
    mixture = Mixture(
        gammas=every,
        weights=weight,
        theta=theta,
        inverse=inverse,
        squares=total,
        scale=scale,
        freedom=freedom,
        unit_size=largest,
    )
    tau = scale[row, best]
    if noise_law is None:
        # The shape of the noise is 1 at the largest size, floor + slope / n elsewhere.
        steep = (noise[:, 0] - 1) / (1 / observed.scaled[0] - 1)
        floor = np.maximum(1 - steep, 0.0) * tau
        slope = steep * tau * largest
    else:
        floor, slope = np.full(len(best), noise_law[0]), noise_law[1]
    unit = np.where(tau > 0, tau, 1.0)
    return Fitted(
        gamma=every[row, best],
        cost=cost[row, best] / unit,
        theta=theta[row, best],
        floor=floor,
        slope=slope,
        weights=observed.counts / noise / unit[:, None],
        mixture=mixture,
    )


def _look_closer(
    observed: Observed, noise: Floats, is_free: bool, parts: tuple[Floats, ...]
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
            part, v = observed[rows], noise[rows]
            w, parameters = part.counts / v, parts[3].shape[-1]
            lines = fit_lines(part.scaled, part.means, w, finer, parameters)
            again = _log_weights(lines, part, v) if is_free else _log_known(lines)
            finest = (finer, again, lines.cost, lines.theta, lines.inverse)
            for old, new in zip(parts, finest, strict=True):
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


def _log_weights(lines: Lines, observed: Observed, noise: Floats) -> Floats:
    """Return the log of how likely each exponent is, shape (curve, shape).

    alpha, eta and the size of the noise are integrated out; the penalty of Hoiem et al.
    is a Laplace prior on the exponent.
    """
    parameters = lines.theta.shape[-1]
    left = observed.known - parameters
    w = observed.counts / noise
    least = _ROUNDING * (w * observed.means**2).sum(axis=1) + 1e-290
    rest = lines.cost + (observed.squares / noise).sum(axis=1)[:, None]
    log = -left[:, None] / 2 * np.log(np.maximum(rest, least[:, None]))
    log -= 0.5 * np.log(lines.spread)
    log -= 0.5 * ((1 + observed.freedom) * np.log(noise)).sum(axis=1)[:, None]
    # With no freedom left some exponent fits exactly, which proves nothing.
    log = np.where((left > 1)[:, None] | (len(lines.gammas) == 1), log, 0.0)
    return np.asarray(log - PENALTY / 2 * np.abs(lines.gammas - THEORY))


# --- The fit of Hoiem et al. (2021), to the letter -------------------------------------


def fit_paper(
    observed: Observed, terms: Terms, weights: Weights, floor: float | None
) -> Fitted:
    """Return curves with the noise, the weights, the penalty and the band of the paper.

    Notes
    -----
    Eq. 2 prints n for n_i and the text 0.5 for -0.5; both are slips. The covariance
    M Sigma M' takes the exponent for known, which is why the band is too narrow.
    """
    low = PAPER_FLOOR if floor is None else floor
    slope = noise_slope(observed, low)
    noise = low + slope[:, None] / observed.sizes
    w = size_weights(weights, observed.counts, noise)
    gammas = gammas_for(terms, "paper")
    parameters = parameters_of(terms)
    lines = fit_lines(observed.scaled, observed.means, w, gammas, parameters)
    aim = lines.cost + PENALTY * np.abs(gammas - THEORY)
    best = aim.argmin(axis=1)
    row = np.arange(len(best))
    gamma, theta = gammas[best], lines.theta[row, best]
    a = columns(observed.scaled, gammas, parameters)[best]
    # M = (A'WA)^-1 A'W; the mean of F_i runs has variance sigma_i^2 / F_i.
    m = lines.inverse[row, best] @ (a * w[..., None]).swapaxes(-1, -2)
    covariance = (m * (noise / observed.counts)[:, None, :]) @ m.swapaxes(-1, -2)
    mixture = Mixture(
        gammas=gamma[:, None],
        weights=np.ones((len(best), 1)),
        theta=theta[:, None],
        inverse=covariance[:, None],
        squares=lines.cost[row, best][:, None],
        scale=np.ones((len(best), 1)),
        freedom=np.full(len(best), np.inf),
        unit_size=float(observed.sizes[-1]),
    )
    return Fitted(
        gamma=gamma,
        cost=lines.cost[row, best],
        theta=theta,
        floor=np.full(len(best), low),
        slope=slope,
        weights=w,
        mixture=mixture,
    )


def noise_slope(observed: Observed, floor: float) -> Floats:
    """Return sigma_hat^2 of sigma_i^2 = floor + sigma_hat^2 / n_i, by least squares.

    From the variances of sizes with two runs or more, weighted by F_i - 1; 0 where it
    would be negative, and where no size has two runs.
    """
    freedom = observed.freedom
    variance = observed.squares / np.maximum(freedom, 1)
    x = 1 / observed.scaled
    right = (freedom * (variance - floor) * x).sum(axis=1)
    left = (freedom * x**2).sum(axis=1)
    slope = np.where(left > 0, right / np.where(left > 0, left, 1), 0.0)
    return np.asarray(np.maximum(slope, 0.0) * observed.sizes[-1])


def size_weights(weights: Weights, counts: Floats, noise: Floats) -> Floats:
    """Return the weight of each mean: the number of runs times the weight of a run."""
    if weights == "equal":
        # 1 in squared percentage points: the penalty is weighed against these squares.
        return 1e4 * counts
    return counts / noise if weights == "efficient" else 1 / noise


# --- How well a power law fits ---------------------------------------------------------


RARE = 0.01  # p values below are told


def lack_of_fit(observed: Observed, fit: Fitted, terms: Terms) -> Floats:
    """Return p values of the F test against the variance within sizes; NaN without."""
    from scipy.special import fdtrc

    sizes = len(observed.sizes)
    freedom = sizes - parameters_of(terms) - (terms in ("power", "full"))
    within = observed.freedom_within
    noise = fit.floor[:, None] + fit.slope[:, None] / observed.sizes
    if freedom < 1:
        return np.full(len(within), np.nan)
    x = (observed.scaled[None] ** fit.gamma[:, None])[..., None]
    value = (fit.theta[:, None] * x ** np.arange(fit.theta.shape[1])).sum(axis=-1)
    noise = np.maximum(noise, np.finfo(float).tiny)
    between = (observed.counts * (observed.means - value) ** 2 / noise).sum(axis=1)
    inside = (observed.squares / noise).sum(axis=1)
    is_known = (within > 0) & (inside > 0)
    f = between / freedom / np.where(is_known, inside / np.maximum(within, 1), 1.0)
    return np.where(is_known, fdtrc(freedom, np.maximum(within, 1), f), np.nan)
