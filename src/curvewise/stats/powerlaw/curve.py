"""Fitted power laws, of one learner or of thousands, and what they say at any size."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Keyword
from curvewise.stats.curves import UNITS, Unit, blocks, scale_of
from curvewise.stats.interval import CurveBand, Interval, percent
from curvewise.stats.powerlaw import mixture
from curvewise.stats.powerlaw.concerns import concerns_of
from curvewise.stats.powerlaw.methods import (
    Fitted,
    Method,
    Observed,
    Terms,
    Weights,
    fit_calibrated,
    fit_paper,
)
from curvewise.stats.powerlaw.mixture import Mixture
from curvewise.stats.validation import (
    LEAST_SIZE,
    Floats,
    checked_chance,
    checked_confidence,
    is_number,
    one_of,
)

__all__ = [
    "PowerLaw",
    "PowerLawDraws",
    "PowerLaws",
]


@dataclass(frozen=True, slots=True, eq=False)
class PowerLawDraws:
    """Power laws that may be the true one, as `PowerLaw.draws` draws them.

    Parameters
    ----------
    alpha, eta, delta, gamma : ndarray, shape (draw,)

    Examples
    --------
    >>> draws = PowerLawDraws(*np.array([[0.1], [2.0], [0.0], [-0.5]]))
    >>> draws.error([100, 400]).round(6).tolist()
    [[0.3, 0.2]]
    """

    alpha: Floats
    eta: Floats
    delta: Floats
    gamma: Floats

    def error(self, n: ArrayLike) -> Floats:
        """Return the error of each at sizes n, shape (draw, n); not cut off anywhere."""
        x = checked_places(n) ** self.gamma[:, None]
        return np.asarray(
            self.alpha[:, None] + self.eta[:, None] * x + self.delta[:, None] * x**2
        )


# --- A power law fitted to the errors of one learner, and what it says at any size -----


Side: TypeAlias = Literal["both", "lower", "upper"]
_STEEPEST = -20  # beyond, powers of sizes overflow
SIDES = ("both", "lower", "upper")


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaw:
    r"""How error falls with data: alpha + eta n^gamma (+ delta n^(2 gamma)).

    Made by `fit_power_law` or `PowerLaw.from_summary`. Everything is in the unit in
    which the errors came.

    Parameters
    ----------
    alpha, eta, delta, gamma : float
        Of the formula. alpha is what the fit says, even where it is below 0.
    size : float
        The reference size :math:`N`.
    unit : {"fraction", "percent", "loss"}
    sizes, means, counts : ndarray, shape (size,)
        What was fitted: mean error and number of runs at each size; empty where nothing
        was.
    method, weights, terms : str
        As in `fit_power_law`.
    noise_floor, noise_slope : float
        The variance of a run at size n is noise_floor + noise_slope / n.
    run_shift : float
        Beside it, the variance of what all sizes of a run have in common.
    r_squared : float
        Share of the variation between sizes that the curve explains, as the fit weights
        it.
    concerns : tuple of str
        What may be wrong.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for
       Analysis of Deep Networks." ICML 2021.

    Examples
    --------
    >>> law = PowerLaw.from_summary(18.86, 7.28, -0.57, 400, unit="percent")
    >>> round(law.alpha, 2), round(float(law.error(1600)), 2)
    (12.47, 15.37)
    >>> float(law.linear_predictor(4).round(2))
    15.22
    """

    alpha: float
    eta: float
    delta: float
    gamma: float
    size: float
    unit: Unit = "fraction"
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    means: Floats = field(default_factory=lambda: np.empty(0))
    counts: Floats = field(default_factory=lambda: np.empty(0))
    method: Method | Literal["summary"] = "summary"
    weights: Weights = "efficient"
    terms: Terms = "power"
    noise_floor: float = math.nan
    noise_slope: float = math.nan
    r_squared: float = math.nan
    concerns: tuple[str, ...] = ()
    _mixture: Mixture | None = field(default=None, repr=False)
    run_shift: float = 0.0

    # Quantiles are exact far beyond those that anybody asks for.
    levels: ClassVar[tuple[float, float]] = (1e-4, 1 - 1e-4)

    @classmethod
    def from_summary(
        cls,
        e_N: float,
        beta_N: float,
        gamma: float,
        N: float,
        *,
        unit: Unit = "fraction",
    ) -> "PowerLaw":
        r"""Return the curve that a paper prints as error, data-reliance and exponent.

        .. math:: \eta = -\frac{\beta_N}{2 \gamma N^\gamma}, \qquad
           \alpha = e_N + \frac{\beta_N}{2 \gamma}

        It knows nothing of its uncertainty: its intervals are refused.

        Examples
        --------
        >>> law = PowerLaw.from_summary(0.2, 0.1, -0.5, 400)
        >>> round(law.alpha, 12), round(law.eta, 12), law.summary()
        (0.1, 2.0, (0.2, 0.1, -0.5))
        """
        one_of("unit", unit, UNITS)
        if not all(is_number(x) for x in (e_N, beta_N, gamma, N)) or N <= 0:
            raise CurvewiseError(
                f"e_N, beta_N, gamma, N are {e_N!r}, {beta_N!r}, {gamma!r}, {N!r}. Pass "
                f"numbers, and a size N above 0."
            )
        if not _STEEPEST <= gamma < 0:
            raise CurvewiseError(
                f"gamma is {gamma!r}. Pass an exponent below 0, and not below {_STEEPEST}.",
                argument="gamma",
                value=gamma,
            )
        if not 0 <= e_N <= bounds_of(unit)[1]:
            raise CurvewiseError(
                f"e_N is {e_N!r}, which is no error in ",
                Keyword("unit", unit),
                ". Pass another unit.",
                argument="e_N",
                value=e_N,
            )
        eta = -beta_N / (2 * gamma) * float(N) ** -gamma
        return cls(e_N + beta_N / (2 * gamma), eta, 0.0, float(gamma), float(N), unit)

    @property
    def e_N(self) -> float:  # noqa: N802  the paper's letter
        """The error at the reference size, as the formula has it."""
        return float(self._formula(np.array(self.size)))

    @property
    def beta_N(self) -> float:  # noqa: N802
        """The data-reliance at the reference size."""
        return float(self.data_reliance(self.size))

    @property
    def asymptote(self) -> float:
        """The error that no amount of data would beat: alpha, but never below 0."""
        return float(self.error(math.inf))

    @property
    def extrapolation_limit(self) -> float:
        """Four times the largest size: as far as Hoiem et al. follow their curves."""
        largest = self.sizes[-1] if len(self.sizes) else self.size
        return 4 * float(largest)

    def summary(self, n: float | None = None) -> tuple[float, float, float]:
        """Return error and data-reliance at n (the reference size), and the exponent."""
        at = self.size if n is None else n
        e = float(self._formula(checked_at(at)))
        beta = float(self.data_reliance(at))
        return float(f"{e:.12g}"), float(f"{beta:.12g}"), self.gamma

    def error(self, n: ArrayLike) -> Floats:
        """Return the error at sizes n, infinite ones too, cut off where none can be."""
        return self._clipped(self._formula(checked_at(n)))

    def noise(self, n: ArrayLike) -> Floats:
        """Return the variance of a single run at sizes n."""
        return np.asarray(self.noise_floor + self.noise_slope / checked_at(n))

    def data_reliance(self, n: ArrayLike) -> Floats:
        r"""Return how much error rests on more data, :math:`-2 n\, de/dn`.

        .. math:: \beta_n = -2 \gamma (\eta n^\gamma + 2 \delta n^{2 \gamma})

        The slope of the error against :math:`n^{-1/2}`, times :math:`n^{-1/2}`.
        """
        x = checked_at(n) ** self.gamma
        return np.asarray(-2 * self.gamma * (self.eta * x + 2 * self.delta * x**2))

    def linear_predictor(self, d: ArrayLike) -> Floats:
        r"""Return the error at d times the reference size, by a straight line.

        .. math:: \tilde e(dN) = e_N + (d^{-1/2} - 1) \beta_N

        Straight in :math:`n^{-1/2}`; four times the data are worth half of beta_N.
        """
        share = checked_multiples(d)
        return np.asarray(self.e_N + (share**-0.5 - 1) * self.beta_N)

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the mean error at sizes n, shape (p, n).

        Of the mixture of t over the exponents, or the paper's normal distribution. n may
        be infinite.
        """
        at, levels = checked_places(n), checked_probabilities(p)
        known = self._known()
        found = known.quantile(levels, *known.errors(at))[0]
        return self._clipped(scale_of(self.unit) * found)

    def reliance_quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the data-reliance at sizes n, shape (p, n)."""
        at, levels = checked_places(n), checked_probabilities(p)
        known = self._known()
        found = known.quantile(levels, *known.reliances(at))[0]
        return np.asarray(scale_of(self.unit) * found)

    def exponent_quantile(self, p: ArrayLike) -> Floats:
        """Return quantiles of the exponent, shape (p,).

        All the same for ``method="paper"``, which takes the exponent for known.
        """
        levels, known = checked_probabilities(p), self._known()
        return mixture.exponent_quantile(levels, known.gammas[0], known.weights[0])

    def interval(
        self, n: ArrayLike, confidence: float = 0.95, *, side: Side = "both"
    ) -> CurveBand:
        """Return the mean error at sizes n, with an interval for each of them.

        Each holds by itself; `band` holds at all sizes at once.

        Parameters
        ----------
        n : array_like, shape (n,)
            Sizes; infinity stands for the asymptote.
        confidence : float
        side : {"both", "lower", "upper"}
            The ends that are wanted; the other is that of what is possible.
        """
        checked_confidence(confidence)
        one_of("side", side, SIDES)
        at = checked_places(n)
        tail = (1 - confidence) / (2 if side == "both" else 1)
        ends = self.quantile([tail, 1 - tail], at)
        return self._band(at, ends[0], ends[1], side, pointwise(self, confidence))

    def band(
        self,
        n: ArrayLike,
        confidence: float = 0.95,
        *,
        pointwise: bool = False,
        side: Side = "both",
    ) -> CurveBand:
        r"""Return the curve at sizes n, with a band that holds at all sizes at once.

        .. math:: \{(\alpha, \eta, \gamma): Q(\alpha, \eta, \gamma) \le Q_{\min}
           + q s^2 F_{q, \nu}^{-1}(1 - \delta)\}

        The band is what the curves of this likelihood region pass through, over q
        parameters: an envelope over the exponents, with nothing left to chance.

        Parameters
        ----------
        n : array_like, shape (n,)
            Sizes to show it at; it holds at all others too.
        confidence : float
            That the whole curve is inside.
        pointwise : bool
            Whether to return `interval` instead.
        side : {"both", "lower", "upper"}
            One end of the same band, which then holds more often.
        """
        if pointwise:
            return self.interval(n, confidence, side=side)
        checked_confidence(confidence)
        one_of("side", side, SIDES)
        at, known = checked_places(n), self._known()
        left = mixture.freedom_left(known)
        if left[0] < 1:
            count = mixture.parameters_in(known)
            raise CurvewiseError(
                f"Errors at {len(self.sizes)} sizes and {count} parameters leave "
                "nothing to judge the noise by, so there is no band. Pass more runs, "
                "or ",
                {"terms": "linear"},
                ".",
            )
        low, high = (x[0] for x in mixture.envelope(known, at, confidence, left))
        scale = scale_of(self.unit)
        words = simultaneous(self, confidence)
        low, high = self._clipped(scale * low), self._clipped(scale * high)
        return self._band(at, low, high, side, words)

    def parameters(self, confidence: float = 0.95) -> dict[str, Interval]:
        """Return e_N, beta_N, gamma and alpha, each with its interval."""
        checked_confidence(confidence)
        p = [(1 - confidence) / 2, (1 + confidence) / 2]
        found = {
            "e_N": (float(self.error(self.size)), self.quantile(p, self.size)),
            "beta_N": (self.beta_N, self.reliance_quantile(p, self.size)),
            "gamma": (self.gamma, self.exponent_quantile(p)),
            "alpha": (self.alpha, self._raw_asymptote(p)),
        }
        # At the edge of the exponents the best fit may be outside of what is likely.
        return {
            name: Interval(
                min(float(np.ravel(ends)[0]), value),
                max(float(np.ravel(ends)[1]), value),
                PARAMETERS[name].format(N=self.size),
                parameter(self, name, confidence),
                value,
            )
            for name, (value, ends) in found.items()
        }

    def draws(self, k: int, *, rng: np.random.Generator) -> PowerLawDraws:
        """Return k curves drawn from what is known of this one."""
        k = checked_chance(k, rng, least=1, name="k")
        return draw_curves(self._known(), k, scale_of(self.unit), rng)

    def _raw_asymptote(self, p: Any) -> Floats:
        known = self._known()
        found = known.quantile(
            checked_probabilities(p), *known.errors(np.array([np.inf]))
        )
        return np.asarray(scale_of(self.unit) * found[0])

    def _formula(self, n: Floats) -> Floats:
        x = n**self.gamma
        return np.asarray(self.alpha + self.eta * x + self.delta * x**2)

    def _clipped(self, error: Floats) -> Floats:
        return np.clip(error, *bounds_of(self.unit))

    def _known(self) -> Mixture:
        if self._mixture is None:
            raise CurvewiseError(
                "This curve comes from a summary, which says nothing of its uncertainty. "
                "Fit one to errors of runs, with fit_power_law."
            )
        return self._mixture

    def _band(
        self, at: Floats, low: Floats, high: Floats, side: Side, words: tuple[str, str]
    ) -> CurveBand:
        least, most = bounds_of(self.unit)
        low = np.full(len(at), least) if side == "upper" else low
        high = np.full(len(at), most) if side == "lower" else high
        return CurveBand(at, self.error(at), low, high, *words)


# --- Checked curves in, power laws out -------------------------------------------------


# A curve takes many temporaries for each exponent: fewer at a time than the kernel.
_SHAPES = 1000


def in_blocks(curves: int) -> Iterator[slice]:
    """Return the curves a block at a time."""
    return blocks(curves, _SHAPES)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of a fit; `floor` is in squared fractions."""

    method: Method
    weights: Weights
    terms: Terms
    unit: Unit
    floor: float | None
    size: float


def fit_curves(seen: Observed, asked: Asked) -> Fitted:
    """Return the fits of curves, in fractions."""
    if asked.method == "paper":
        return fit_paper(seen, asked.terms, asked.weights, asked.floor)
    return fit_calibrated(seen, asked.terms, asked.floor)


def formula_of(fit: Fitted, largest: float, unit: Unit) -> Floats:
    """Return alpha, eta and delta of fits, in their unit, shape (3, curve)."""
    theta = np.zeros((len(fit.gamma), 3))
    theta[:, : fit.theta.shape[1]] = fit.theta
    unscaled = theta * largest ** -(fit.gamma[:, None] * np.arange(3))
    return scale_of(unit) * unscaled.T


def r_squared(means: Floats, fit: Fitted) -> Floats:
    """Return which share of the variation between sizes fits explain, shape (curve,)."""
    total = fit.weights.sum(axis=1, keepdims=True)
    away = means - (fit.weights * means).sum(axis=1, keepdims=True) / total
    around = (fit.weights * away**2).sum(axis=1)
    return np.where(around > 0, 1 - fit.cost / np.where(around > 0, around, 1), np.nan)


def one_law(seen: Observed, fit: Fitted, asked: Asked) -> PowerLaw:
    """Return the power law of the only curve of a fit."""
    alpha, eta, delta = formula_of(fit, float(seen.sizes[-1]), asked.unit)[:, 0]
    scale, is_held = scale_of(asked.unit), asked.floor is not None
    return PowerLaw(
        float(alpha),
        float(eta),
        float(delta),
        float(fit.gamma[0]),
        asked.size,
        asked.unit,
        seen.sizes,
        scale * seen.means[0],
        seen.counts[0],
        asked.method,
        asked.weights,
        asked.terms,
        float(scale**2 * fit.floor[0]),
        float(scale**2 * fit.slope[0]),
        float(r_squared(seen.means, fit)[0]),
        concerns_of(seen, fit, asked.terms, asked.method, is_held),
        fit.mixture,
    )


# --- Power laws of thousands of curves at once, and what they say ----------------------


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaws:
    """Power laws of many curves on common sizes, made by `fit_power_laws`.

    Parameters
    ----------
    alpha, eta, delta, gamma, e_N, beta_N, r_squared : ndarray, shape (curve,)
        As in `PowerLaw`; NaN where a curve could not be fitted.
    cost : ndarray, shape (curve,)
        Sum of squares of the means around the curve, as the fit weights them.
    is_fitted : ndarray of bool, shape (curve,)
        Whether there was a curve at all.
    size : float
        The reference size.
    unit, method, weights, terms : str
    """

    alpha: Floats
    eta: Floats
    delta: Floats
    gamma: Floats
    e_N: Floats  # noqa: N815  the paper's letters
    beta_N: Floats  # noqa: N815
    cost: Floats
    r_squared: Floats
    is_fitted: NDArray[np.bool_]
    size: float
    unit: Unit
    method: Method
    weights: Weights
    terms: Terms
    _seen: Observed
    _floor: float | None

    def __len__(self) -> int:
        return len(self.alpha)

    @property
    def sizes(self) -> Floats:
        """The sizes that all curves share."""
        return self._seen.sizes

    def error(self, n: ArrayLike) -> Floats:
        """Return the error of each curve at sizes n, shape (curve, n)."""
        x = checked_places(n) ** self.gamma[:, None]
        value = self.alpha[:, None] + self.eta[:, None] * x + self.delta[:, None] * x**2
        return np.clip(value, *bounds_of(self.unit))

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the mean error at sizes n, shape (curve, p, n)."""
        at, levels = checked_places(n), checked_probabilities(p)
        found = np.full((len(self), len(levels), len(at)), np.nan)
        for rows in self._blocks():
            known = self._fit(rows).mixture
            found[rows] = known.quantile(levels, *known.errors(at))
        found = np.where(self.is_fitted[:, None, None], found, np.nan)
        return np.clip(scale_of(self.unit) * found, *bounds_of(self.unit))

    def interval(self, n: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return lower and upper ends at sizes n, each of shape (curve, n)."""
        checked_confidence(confidence)
        tail = (1 - confidence) / 2
        ends = self.quantile([tail, 1 - tail], n)
        return ends[:, 0], ends[:, 1]

    def band(self, n: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return ends that hold at all sizes at once, as `PowerLaw.band`, (curve, n)."""
        checked_confidence(confidence)
        at = checked_places(n)
        found = np.full((2, len(self), len(at)), np.nan)
        for rows in self._blocks():
            known = self._fit(rows).mixture
            left = mixture.freedom_left(known)
            found[:, rows] = mixture.envelope(known, at, confidence, left)
        found[:, ~self.is_fitted] = np.nan
        low, high = np.clip(scale_of(self.unit) * found, *bounds_of(self.unit))
        return low, high

    def curve(self, i: int) -> PowerLaw:
        """Return one of the curves by itself."""
        if not self.is_fitted[i]:
            raise CurvewiseError(f"Curve {i} could not be fitted. Look at its errors.")
        i = range(len(self))[i]
        rows = slice(i, i + 1)
        return one_law(self._seen[rows], self._fit(rows), self._asked)

    def _fit(self, rows: slice) -> Fitted:
        return fit_curves(self._seen[rows], self._asked)

    @property
    def _asked(self) -> Asked:
        told = (self.method, self.weights, self.terms, self.unit)
        return Asked(*told, self._floor, self.size)

    def _blocks(self) -> Iterator[slice]:
        return in_blocks(len(self))


# --- Drawing curves from what is known of one ------------------------------------------


def draw_curves(
    known: Mixture, k: int, scale: float, rng: np.random.Generator
) -> PowerLawDraws:
    """Return k curves of a mixture of one curve."""
    which = rng.choice(known.gammas.shape[1], size=k, p=known.weights[0])
    gamma = known.gammas[0, which]
    parameters = known.theta.shape[-1]
    z = rng.standard_normal((k, parameters, 1))
    freedom = float(known.freedom[0])
    shrink = (
        np.sqrt(rng.chisquare(freedom, k) / freedom) if np.isfinite(freedom) else 1.0
    )
    # Cholesky of tiny numbers: of the correlations, then back.
    covariance = known.inverse[0] * known.scale[0][:, None, None]
    deviation = np.sqrt(np.einsum("gii->gi", covariance))
    unit = np.where(deviation > 0, deviation, 1.0)
    values, vectors = np.linalg.eigh(covariance / unit[:, :, None] / unit[:, None, :])
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    moved = unit[which] * (root[which] @ z)[..., 0] / np.reshape(shrink, (-1, 1))
    theta = scale * (known.theta[0, which] + moved)
    powers = known.unit_size ** -(gamma[:, None] * np.arange(parameters))
    theta = np.hstack([theta * powers, np.zeros((k, 3 - parameters))])
    return PowerLawDraws(theta[:, 0], theta[:, 1], theta[:, 2], gamma)


# --- What intervals of a power law are for, and what they promise ----------------------


PARAMETERS = {
    "e_N": "the mean error at {N:g} training examples",
    "beta_N": "the data-reliance at {N:g} training examples",
    "gamma": "the exponent",
    "alpha": "the error with infinitely much data, as the formula has it",
}
_CURVE = "the mean error over all runs"
_GIVEN = "for independent runs around a power law"


def pointwise(law: "PowerLaw", confidence: float) -> tuple[str, str]:
    """Return estimand and guarantee of intervals at sizes."""
    return _CURVE, f"{_level(law, confidence)}, at each size by itself{_clipped(law)}"


def simultaneous(law: "PowerLaw", confidence: float) -> tuple[str, str]:
    """Return estimand and guarantee of a band."""
    if law.method == "paper":
        how = f"{_level(law, confidence)}, at all sizes at once"
    else:
        how = (
            f"at least about {percent(confidence)}, at all sizes at once, {_GIVEN} "
            f"(likelihood region)"
        )
    return _CURVE, how + _clipped(law)


def parameter(law: "PowerLaw", name: str, confidence: float) -> str:
    """Return the guarantee of the interval of one parameter."""
    if name == "gamma" and (
        law.method == "paper" or law.terms in ("linear", "quadratic")
    ):
        return "none: the exponent is taken for known"
    return _level(law, confidence)


def _level(law: "PowerLaw", confidence: float) -> str:
    if law.method == "paper":
        return (
            f"{percent(confidence)} in name, {_GIVEN} whose exponent is known; it covers "
            f"less, as the exponent is not (Hoiem et al. 2021)"
        )
    return f"about {percent(confidence)}, {_GIVEN} (mixture of t over exponents)"


def _clipped(law: "PowerLaw") -> str:
    most = {"fraction": " and at 1", "percent": " and at 100", "loss": ""}[law.unit]
    return f"; cut off at 0{most}"


# --- Arguments of curves: sizes, shares and probabilities ------------------------------


def bounds_of(unit: Unit) -> tuple[float, float]:
    """Return between what an error can be."""
    return 0.0, math.inf if unit == "loss" else scale_of(unit)


def checked_at(n: Any) -> Floats:
    """Return sizes as an array of any shape; infinity is one."""
    found = _positive(n, "n", "numbers of training examples")
    if (found < LEAST_SIZE).any():
        raise CurvewiseError(
            f"n is {n!r}. Pass sizes from {LEAST_SIZE:g} on.", argument="n", value=n
        )
    return found


def checked_places(n: Any) -> Floats:
    """Return sizes as an array, shape (n,)."""
    found = np.atleast_1d(checked_at(n))
    if found.ndim != 1:
        raise CurvewiseError(f"n has shape {found.shape}. Pass sizes in a row.")
    return found


def checked_multiples(d: Any) -> Floats:
    """Return multiples of the data as an array of any shape; infinity is one."""
    return _positive(d, "d", "multiples of the reference size")


def checked_probabilities(p: Any) -> Floats:
    """Return probabilities as an array, shape (p,)."""
    found = np.atleast_1d(_numbers(p))
    if found.ndim != 1 or not ((found > 0) & (found < 1)).all():
        raise CurvewiseError(
            f"p is {p!r}. Pass probabilities between 0 and 1.", argument="p", value=p
        )
    return found


def _positive(values: Any, name: str, what: str) -> Floats:
    found = _numbers(values)
    if not (found > 0).all():
        raise CurvewiseError(
            f"{name} is {values!r}. Pass {what}, above 0.", argument=name, value=values
        )
    return found


def _numbers(values: Any) -> Floats:
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "iuf":
            raise TypeError
        return found.astype(np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)
