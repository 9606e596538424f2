"""What is known of a fitted curve: a mixture of t over exponents, and its regions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from curvewise.stats.validation import Floats

# A part with less weight moves no quantile that anybody asks for.
_LEAST_WEIGHT = 1e-8
_STEPS = 60
# Of the score of a probability, before a last step of Newton's squares it.
_TOLERANCE = 1e-4
_ROOT, _3 = np.sqrt(2 * np.pi), np.sqrt(3.0)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """What is known of curves: for each exponent a weight and a multivariate t."""

    gammas: Floats  # (curve, shape)
    weights: Floats  # (curve, shape), of sum 1
    theta: Floats  # (curve, shape, parameter), on sizes over unit_size
    inverse: Floats  # covariance of theta for noise of size 1
    squares: Floats  # (curve, shape): what is left, in units of the noise
    scale: Floats  # (curve, shape): variance of that noise; 1 where it is known
    freedom: Floats  # (curve,); infinite for normal distributions
    unit_size: float

    def errors(self, n: Floats) -> tuple[Floats, Floats]:
        """Return centre and scale of the error at n, shape (curve, shape, n)."""
        centre, unit = self.lines(n)
        return centre, unit * np.sqrt(self.scale)[..., None]

    def lines(self, n: Floats) -> tuple[Floats, Floats]:
        """Return the error at n, and its scale for noise of size 1."""
        return self._along(self._columns(n))

    def reliances(self, n: Floats) -> tuple[Floats, Floats]:
        """Return centre and scale of the data-reliance at n, -2 n de/dn."""
        a = self._columns(n)
        power = np.arange(a.shape[-1])
        centre, unit = self._along(-2 * a * power * self.gammas[:, :, None, None])
        return centre, unit * np.sqrt(self.scale)[..., None]

    def quantile(self, p: Floats, centre: Floats, scale: Floats) -> Floats:
        """Return quantiles of one of these, shape (curve, p, n)."""
        return mixture_quantile(p, self.weights, centre, scale, self.freedom)

    def exponent_quantile(self, p: Floats) -> Floats:
        """Return quantiles of the exponent, shape (curve, p).

        Each weight is spread over its part of the grid.
        """
        if self.gammas.shape[1] == 1:
            return np.repeat(self.gammas, len(p), axis=1)
        middle = (self.gammas[:, 1:] + self.gammas[:, :-1]) / 2
        edges = np.hstack([self.gammas[:, :1], middle, self.gammas[:, -1:]])
        below = np.cumsum(self.weights, axis=1)
        below = np.hstack([np.zeros((len(below), 1)), below])
        rows = zip(below / below[:, -1:], edges, strict=True)
        return np.stack([np.interp(p, share, edge) for share, edge in rows])

    @property
    def parameters(self) -> int:
        """How many parameters a curve has, its exponent included where it is open."""
        return int(self.theta.shape[-1] + (self.gammas.shape[-1] > 1))

    @property
    def freedom_left(self) -> Floats:
        """What is left to judge the noise by, (curve,); infinite where it is known."""
        is_known = (self.scale == 1).all(axis=1)
        # At a given exponent one more is left than where it is open.
        is_open = self.parameters - self.theta.shape[-1]
        return np.where(is_known, self.freedom, self.freedom - is_open)

    def envelope(self, n: Floats, confidence: float) -> tuple[Floats, Floats]:
        """Return the lowest and the highest curve of each likelihood region, (curve, n).

        NaN where nothing is left to judge the noise by.
        """
        from scipy.special import chdtri, fdtri

        q, freedom = self.parameters, self.freedom_left
        least = self.squares.min(axis=1)
        free = np.where(freedom >= 1, freedom, 1.0)
        finite = np.where(np.isinf(free), 1.0, free)
        exact = q * fdtri(q, finite, confidence)
        slack = np.where(np.isinf(free), chdtri(q, 1 - confidence), exact)
        # Where the noise is estimated it is so at the best curve.
        is_free = (self.scale != 1).any(axis=1)
        slack = np.where(is_free, slack * least / finite, slack)
        room = (least + slack)[:, None] - self.squares
        centre, unit = self.lines(n)
        half = np.sqrt(np.maximum(room, 0.0))[..., None] * unit
        inside = (room >= 0)[..., None]
        low = np.where(inside, centre - half, np.inf).min(axis=1)
        high = np.where(inside, centre + half, -np.inf).max(axis=1)
        is_there = (freedom >= 1)[:, None]
        return np.where(is_there, low, np.nan), np.where(is_there, high, np.nan)

    def draws(
        self, k: int, unit: float, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Return alpha, eta and delta (draw, 3) of curves drawn of one, and gamma."""
        which = rng.choice(self.gammas.shape[1], size=k, p=self.weights[0])
        gamma = self.gammas[0, which]
        parameters = self.theta.shape[-1]
        z = rng.standard_normal((k, parameters, 1))
        freedom = float(self.freedom[0])
        shrink = (
            np.sqrt(rng.chisquare(freedom, k) / freedom)
            if np.isfinite(freedom)
            else 1.0
        )
        # Root of tiny numbers: of the correlations, then back.
        covariance = self.inverse[0] * self.scale[0][:, None, None]
        deviation = np.sqrt(np.einsum("gii->gi", covariance))
        length = np.where(deviation > 0, deviation, 1.0)
        correlation = covariance / length[:, :, None] / length[:, None, :]
        values, vectors = np.linalg.eigh(correlation)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        away = length[which] * (root[which] @ z)[..., 0] / np.reshape(shrink, (-1, 1))
        theta = unit * (self.theta[0, which] + away)
        powers = self.unit_size ** -(gamma[:, None] * np.arange(parameters))
        return np.hstack([theta * powers, np.zeros((k, 3 - parameters))]), gamma

    def _columns(self, n: Floats) -> Floats:
        at = n / self.unit_size
        if len(self.gammas) == 1 or (self.gammas == self.gammas[:1]).all():
            return columns(at, self.gammas[0], self.theta.shape[-1])[None]
        flat = columns(at, self.gammas.ravel(), self.theta.shape[-1])
        return flat.reshape(*self.gammas.shape, *flat.shape[1:])

    def _along(self, a: Floats) -> tuple[Floats, Floats]:
        centre = np.einsum("cgni,cgi->cgn", *_together(a, self.theta))
        spread = np.einsum("cgni,cgij->cgnj", *_together(a, self.inverse))
        variance = (spread * a).sum(axis=-1)
        return centre, np.sqrt(np.maximum(variance, 0.0))


def mixture_quantile(
    p: Floats, weights: Floats, centre: Floats, scale: Floats, freedom: Floats
) -> Floats:
    """Return quantiles of mixtures of t, shape (curve, p, n).

    Notes
    -----
    The quantile of a mixture lies between those of its parts: Newton's steps from
    there, halved wherever they leave what is known to hold it.
    """
    from scipy.special import ndtri

    w, c, s = _heaviest(weights, centre, scale)
    nu = freedom[:, None, None, None]
    parts = c + s * t_inverse(nu, p[None, :, None, None])
    low = np.where(w > 0, parts, np.inf).min(axis=2)
    high = np.where(w > 0, parts, -np.inf).max(axis=2)
    if c.shape[2] == 1:
        return np.asarray(low)
    value = (w * parts).sum(axis=2).clip(low, high)
    width = np.where(s > 0, s, np.finfo(np.float64).tiny)
    front = w * _density_factor(nu) / width
    aim = ndtri(p)[None, :, None]
    for _ in range(_STEPS):
        below, density = _student(nu, (value[:, :, None] - c) / width)
        # Scores of the probability are nearly straight in the value, so that few steps
        # do; far in a tail they are infinite, and the bracket is halved.
        score = ndtri((w * below).sum(axis=2).clip(0.0, 1.0))
        high = np.where(score >= aim, value, high)
        low = np.where(score >= aim, low, value)
        slope = (front * density).sum(axis=2) * np.exp(score**2 / 2) * _ROOT
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = value - (score - aim) / slope
        is_done = np.abs(score - aim) <= _TOLERANCE
        is_inside = (step >= low) & (step <= high)
        value = np.where(is_inside, step, np.where(is_done, value, (low + high) / 2))
        if (is_done | (high <= low)).all():
            break
    return np.asarray(value)


def _heaviest(
    weights: Floats, centre: Floats, scale: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the parts that carry weight, shape (curve, 1, part, n or 1)."""
    is_heavy = weights > _LEAST_WEIGHT
    many = int(is_heavy.sum(axis=1).max())
    order = np.argsort(-weights, axis=1, kind="stable")[:, :many]
    w = np.take_along_axis(np.where(is_heavy, weights, 0.0), order, axis=1)
    c, s = (np.take_along_axis(x, order[..., None], axis=1) for x in (centre, scale))
    w = w / w.sum(axis=1, keepdims=True)
    return w[:, None, :, None], c[:, None], s[:, None]


def t_inverse(freedom: Floats, p: Floats) -> Floats:
    """Return quantiles of Student's t; of the normal distribution at infinity."""
    from scipy.special import ndtri, stdtrit

    if np.isinf(freedom).all():
        return np.asarray(ndtri(p) + np.zeros_like(freedom))
    # From the side where p is small: 1 - p keeps its digits there.
    upper = -np.asarray(stdtrit(freedom, 1 - p))
    return np.where(p > 0.5, upper, stdtrit(freedom, p))


def _student(freedom: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return P(T <= z) of Student's t, and its density up to a factor."""
    from scipy.special import ndtr, stdtr

    if np.isinf(freedom).all():
        return np.asarray(ndtr(z)), np.exp(-(z**2) / 2)
    log = np.log1p(z**2 / freedom)
    density = np.exp(-(freedom + 1) / 2 * log)
    if freedom.min() < 5:
        few = float(freedom.flat[0])
        if few in _FEW and (freedom == few).all():
            return _FEW[few](z), density
        return np.asarray(stdtr(freedom, z)), density
    # G. Hill, "Algorithm 395", CACM 13, 1970: t as a normal score, to 2e-7 from 5
    # degrees of freedom on, and six times faster.
    a = freedom - 0.5
    b = 48 * a**2
    y = a * log
    top = ((-0.4 * y - 3.3) * y - 24) * y - 85.5
    score = ((top / (0.8 * y**2 + 100 + b) + y + 3) / b + 1) * np.sqrt(y)
    return np.asarray(ndtr(np.copysign(score, z))), density


# P(T <= z) at 1 to 4 degrees of freedom, in closed form: ten times faster than `stdtr`.
_FEW: dict[float, Callable[[Floats], Floats]] = {
    1.0: lambda z: 0.5 + np.arctan(z) / np.pi,
    2.0: lambda z: 0.5 + z / (2 * np.sqrt(2 + z**2)),
    3.0: lambda z: (
        0.5
        + (z * _3 / (3 + z**2) + np.arctan(z / _3)) / np.pi  # z / sqrt 3 / (1 + z^2/3)
    ),
    4.0: lambda z: 0.5 + 0.75 * z / np.sqrt(4 + z**2) * (1 - z**2 / (3 * (4 + z**2))),
}


def _density_factor(freedom: Floats) -> Floats:
    """Return what the density of `_student` is to be multiplied by."""
    from scipy.special import gammaln

    if np.isinf(freedom).all():
        return np.full_like(freedom, 1 / np.sqrt(2 * np.pi))
    log = gammaln((freedom + 1) / 2) - gammaln(freedom / 2)
    return np.asarray(np.exp(log) / np.sqrt(np.pi * freedom))


def _together(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return arrays with the curves of the longer one."""
    return np.broadcast_to(a, (len(b), *a.shape[1:])), b


def columns(n: Floats, gammas: Floats, parameters: int) -> Floats:
    """Return 1, n^gamma (and n^(2 gamma)), shape (shape, size, parameter); inf is fine."""
    # A negative power of infinity is 0 in numpy, as it should be.
    x = n[None, :] ** gammas[:, None]
    return np.stack([x**j for j in range(parameters)], axis=-1)
