"""Fitted power laws, of one learner or of thousands, and what they have at any size."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Keyword
from curvewise.stats.curves import UNITS, Unit, as_number, blocks, scale_of
from curvewise.stats.interval import CurveBand, Interval, percent
from curvewise.stats.powerlaw.methods import (
    RARE,
    THEORY,
    Fitted,
    Method,
    Observed,
    Terms,
    Weights,
    fit_calibrated,
    fit_paper,
    gammas_for,
    lack_of_fit,
)
from curvewise.stats.powerlaw.mixture import Mixture
from curvewise.stats.validation import (
    LEAST_SIZE,
    Floats,
    as_floats,
    bad_value,
    checked_chance,
    checked_confidence,
    is_number,
    one_of,
)

__all__ = [
    "PowerLaw",
    "PowerLawDraws",
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


# --- Power laws fitted to errors, of one learner or of thousands -----------------------


Side: TypeAlias = Literal["both", "lower", "upper"]
_STEEPEST = -20  # beyond, powers of sizes overflow
SIDES = ("both", "lower", "upper")

Concern: TypeAlias = Literal[
    "equal_means",  # all mean errors are equal: there is no curve, and no exponent
    "equal_errors",  # nor do runs differ
    "no_repeats",  # no size has two runs: noise is judged by how badly the law fits
    "three_errors",  # at three sizes, which fit any exponent
    "no_repeats_floor_passed",  # nothing but the floor that was passed tells of noise
    "no_repeats_floor_assumed",  # nothing but that of the paper does
    "floor_assumed",  # the noise floor is the paper's
    "exponent_at_edge",  # of those that are tried
    "exponent_far",  # from the usual -1/2
    "rising",  # the error does not fall
    "asymptote_below_0",
    "misfit",  # means lie further from the curve than runs from each other
    "linked_runs",  # that are high at one size are so at others
]


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaw:
    r"""How error falls with data: alpha + eta n^gamma (+ delta n^(2 gamma)).

    Of one curve, made by `fit_power_law` or `PowerLaw.from_summary`, or of many on common
    sizes, made by `fit_power_laws`: every array then has curves along its first axis,
    numbers are arrays, and ``laws[i]`` is one of the curves. Everything is in the unit in
    which the errors came.

    Parameters
    ----------
    alpha, eta, delta, gamma : float or ndarray, shape (curve,)
        Of the formula. alpha is what the fit says, even where it is below 0. NaN where a
        curve could not be fitted.
    size : float
        The reference size :math:`N`.
    unit : {"fraction", "percent", "loss"}
    sizes : ndarray, shape (size,)
    means, counts : ndarray, shape (size,) or (curve, size)
        What was fitted: mean error and number of runs at each size; empty where nothing
        was.
    method, weights, terms : str
        As in `fit_power_law`.
    noise_floor, noise_slope : float or ndarray, shape (curve,)
        The variance of a run at size n is noise_floor + noise_slope / n.
    r_squared : float or ndarray, shape (curve,)
        Share of the variation between sizes that the curve explains, as the fit weights
        it.
    cost : float or ndarray, shape (curve,)
        Sum of squares of the means around the curve, as the fit weights them.
    p_misfit : float or ndarray, shape (curve,)
        P value of the lack of fit, against the variance within sizes; NaN without one.
    p_linked_runs : float
        P value of runs that are high at one size being so at others; NaN if not tested.
    is_fitted : bool or ndarray of bool, shape (curve,)
        Whether there was a curve at all.
    concerns : tuple of str
        What may be wrong with one curve, by name.
    run_shift : float
        Beside the noise, the variance of what all sizes of a run have in common.

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

    # A number of one curve, an array of many.
    alpha: Any
    eta: Any
    delta: Any
    gamma: Any
    size: float
    unit: Unit = "fraction"
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    means: Floats = field(default_factory=lambda: np.empty(0))
    counts: Floats = field(default_factory=lambda: np.empty(0))
    method: Method | Literal["summary"] = "summary"
    weights: Weights = "efficient"
    terms: Terms = "power"
    noise_floor: Any = math.nan
    noise_slope: Any = math.nan
    r_squared: Any = math.nan
    cost: Any = math.nan
    p_misfit: Any = math.nan
    p_linked_runs: float = math.nan
    is_fitted: Any = True
    concerns: tuple[Concern, ...] = ()
    run_shift: float = 0.0
    # What is known of one curve; of many it is made again where it is asked for.
    _mixture: Mixture | None = field(default=None, repr=False)
    _observed: Observed | None = field(default=None, repr=False)
    _floor: float | None = field(default=None, repr=False)

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
            raise bad_value(
                "gamma", gamma, f"Pass an exponent below 0, and not below {_STEEPEST}."
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
        return cls(
            alpha=e_N + beta_N / (2 * gamma),
            eta=eta,
            delta=0.0,
            gamma=float(gamma),
            size=float(N),
            unit=unit,
        )

    def __getitem__(self, i: int) -> "PowerLaw":
        """Return one of many curves."""
        if self._observed is None:
            raise CurvewiseError("This is one curve, and no row of them.")
        if not self.is_fitted[i]:
            raise CurvewiseError(f"Curve {i} could not be fitted. Look at its errors.")
        i = range(len(self.alpha))[i]
        return one_law(self._observed[i : i + 1], self._setup)

    @property
    def e_N(self) -> Any:  # noqa: N802  the paper's letter
        """The error at the reference size, as the formula has it."""
        return as_number(self._formula(np.array(self.size)))

    @property
    def beta_N(self) -> Any:  # noqa: N802
        """The data-reliance at the reference size."""
        return as_number(self.data_reliance(self.size))

    @property
    def asymptote(self) -> Any:
        """The error that no amount of data would beat: alpha, but never below 0."""
        return as_number(self.error(math.inf))

    @property
    def extrapolation_limit(self) -> float:
        """Four times the largest size: as far as Hoiem et al. follow their curves."""
        largest = self.sizes[-1] if len(self.sizes) else self.size
        return 4 * float(largest)

    def summary(self, n: float | None = None) -> tuple[float, float, float]:
        """Return error and data-reliance of one curve at n (N), and its exponent."""
        self._refuse_many()
        at = self.size if n is None else n
        e = float(self._formula(_checked_at(at)))
        beta = float(self.data_reliance(at))
        return float(f"{e:.12g}"), float(f"{beta:.12g}"), self.gamma

    def error(self, n: ArrayLike) -> Floats:
        """Return the error at sizes n, infinite ones too, cut off where none can be.

        Of many curves, the first axis is theirs, also of what else is asked at sizes.
        """
        return self._clipped(self._formula(_checked_at(n)))

    def noise(self, n: ArrayLike) -> Floats:
        """Return the variance of a single run at sizes n."""
        at = _checked_at(n)
        floor, slope = self._along(at, self.noise_floor, self.noise_slope)
        return np.asarray(floor + slope / at)

    def data_reliance(self, n: ArrayLike) -> Floats:
        r"""Return how much error rests on more data, :math:`-2 n\, de/dn`.

        .. math:: \beta_n = -2 \gamma (\eta n^\gamma + 2 \delta n^{2 \gamma})

        The slope of the error against :math:`n^{-1/2}`, times :math:`n^{-1/2}`.
        """
        at = _checked_at(n)
        eta, delta, gamma = self._along(at, self.eta, self.delta, self.gamma)
        x = at**gamma
        return np.asarray(-2 * gamma * (eta * x + 2 * delta * x**2))

    def linear_predictor(self, d: ArrayLike) -> Floats:
        r"""Return the error at d times the reference size, by a straight line.

        .. math:: \tilde e(dN) = e_N + (d^{-1/2} - 1) \beta_N

        Straight in :math:`n^{-1/2}`; four times the data are worth half of beta_N.
        """
        share = _positive(d, "d", "multiples of the reference size")
        error, reliance = self._along(share, self.e_N, self.beta_N)
        return np.asarray(error + (share**-0.5 - 1) * reliance)

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the mean error at sizes n, shape (p, n) or (curve, p, n).

        Of the mixture of t over the exponents, or the paper's normal distribution. n may
        be infinite.
        """
        return self._clipped(self._quantile(p, n))

    def reliance_quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the data-reliance at sizes n, of the same shape."""
        at, levels = checked_places(n), _probabilities(p)
        parts = [m.quantile(levels, *m.reliances(at)) for m in self._mixtures()]
        return scale_of(self.unit) * self._together(parts)

    def exponent_quantile(self, p: ArrayLike) -> Floats:
        """Return quantiles of the exponent, shape (p,) or (curve, p).

        All the same for ``method="paper"``, which takes the exponent for known.
        """
        levels = _probabilities(p)
        return self._together([m.exponent_quantile(levels) for m in self._mixtures()])

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
        tail = (1 - confidence) / (2 if side == "both" else 1)
        ends = self.quantile([tail, 1 - tail], n)
        return self._band(n, ends, side, _pointwise(self, confidence))

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
        parameters: an envelope over the exponents, with nothing left to chance. One curve
        whose errors leave nothing to judge the noise by is refused; of many, its ends are
        NaN.

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
        at, parts = checked_places(n), []
        for mixture in self._mixtures():
            if not self._shape and mixture.freedom_left[0] < 1:
                raise CurvewiseError(
                    f"Errors at {len(self.sizes)} sizes and {mixture.parameters} "
                    "parameters leave nothing to judge the noise by, so there is no band. "
                    "Pass more runs, or ",
                    {"terms": "linear"},
                    ".",
                )
            parts.append(np.stack(mixture.envelope(at, confidence), axis=1))
        ends = self._clipped(scale_of(self.unit) * self._together(parts))
        return self._band(at, ends, side, _simultaneous(self, confidence))

    def parameters(self, confidence: float = 0.95) -> dict[str, Interval]:
        """Return e_N, beta_N, gamma and alpha of one curve, each with its interval."""
        self._refuse_many()
        checked_confidence(confidence)
        p = [(1 - confidence) / 2, (1 + confidence) / 2]
        estimates = {
            "e_N": (float(self.error(self.size)), self.quantile(p, self.size)),
            "beta_N": (self.beta_N, self.reliance_quantile(p, self.size)),
            "gamma": (self.gamma, self.exponent_quantile(p)),
            "alpha": (self.alpha, self._quantile(p, math.inf)),
        }
        # At the edge of the exponents the best fit may be outside of what is likely.
        return {
            name: Interval(
                lower=min(float(np.ravel(ends)[0]), value),
                upper=max(float(np.ravel(ends)[1]), value),
                estimand=_ESTIMANDS[name].format(N=self.size),
                guarantee=_parameter(self, name, confidence),
                value=value,
            )
            for name, (value, ends) in estimates.items()
        }

    def draws(self, k: int, *, rng: np.random.Generator) -> PowerLawDraws:
        """Return k curves drawn from what is known of one."""
        self._refuse_many()
        k = checked_chance(k, rng, least=1, name="k")
        (mixture,) = self._mixtures()
        theta, gamma = mixture.draws(k, scale_of(self.unit), rng)
        alpha, eta, delta = theta.T
        return PowerLawDraws(alpha=alpha, eta=eta, delta=delta, gamma=gamma)

    @property
    def _shape(self) -> tuple[int, ...]:
        return np.shape(self.alpha)

    @property
    def _setup(self) -> "Setup":
        return Setup(
            method="paper" if self.method == "paper" else "calibrated",
            weights=self.weights,
            terms=self.terms,
            unit=self.unit,
            floor=self._floor,
            size=self.size,
        )

    def _refuse_many(self) -> None:
        if self._shape:
            raise CurvewiseError(
                f"These are {len(self.alpha)} curves. Choose one, such as laws[0]."
            )

    def _along(self, n: Floats, *values: Any) -> tuple[Any, ...]:
        """Return numbers of each curve so that they broadcast against sizes."""
        if not self._shape:
            return values
        return tuple(np.reshape(x, (*self._shape, *[1] * n.ndim)) for x in values)

    def _formula(self, n: Floats) -> Floats:
        parameters = self.alpha, self.eta, self.delta, self.gamma
        alpha, eta, delta, gamma = self._along(n, *parameters)
        x = n**gamma
        return np.asarray(alpha + eta * x + delta * x**2)

    def _clipped(self, error: Floats) -> Floats:
        return np.clip(error, *bounds_of(self.unit))

    def _mixtures(self) -> Iterator[Mixture]:
        """Return what is known of the curves, a block of them at a time."""
        if self._mixture is not None:
            yield self._mixture
        elif self._observed is None:
            raise CurvewiseError(
                "This curve comes from a summary, which says nothing of its uncertainty. "
                "Fit one to errors of runs, with fit_power_law."
            )
        else:
            for rows in _blocks(len(self.alpha)):
                yield _fit_curves(self._observed[rows], self._setup).mixture

    def _together(self, parts: list[Floats]) -> Floats:
        """Return what blocks of curves have, NaN where there was no curve."""
        values = np.concatenate(parts)
        if not self._shape:
            return np.asarray(values[0])
        values[~self.is_fitted] = np.nan
        return values

    def _quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the mean error as the formula has it."""
        at, levels = checked_places(n), _probabilities(p)
        parts = [m.quantile(levels, *m.errors(at)) for m in self._mixtures()]
        return scale_of(self.unit) * self._together(parts)

    def _band(
        self, n: ArrayLike, ends: Floats, side: Side, promise: tuple[str, str]
    ) -> CurveBand:
        at = checked_places(n)
        low, high = ends[..., 0, :], ends[..., 1, :]
        least, most = bounds_of(self.unit)
        low = np.full_like(low, least) if side == "upper" else low
        high = np.full_like(high, most) if side == "lower" else high
        return CurveBand(at, self.error(at), low, high, *promise)


# --- Checked curves in, power laws out -------------------------------------------------


# A curve takes many temporaries for each exponent: fewer at a time than the kernel.
_SHAPES = 1000


def _blocks(curves: int) -> Iterator[slice]:
    """Return the curves a block at a time."""
    return blocks(curves, _SHAPES)


@dataclass(frozen=True, slots=True)
class Setup:
    """How curves are to be fitted; `floor` is in squared fractions."""

    method: Method
    weights: Weights
    terms: Terms
    unit: Unit
    floor: float | None
    size: float


def _fit_curves(observed: Observed, setup: Setup) -> Fitted:
    """Return the fits of curves, in fractions."""
    if setup.method == "paper":
        return fit_paper(observed, setup.terms, setup.weights, setup.floor)
    return fit_calibrated(observed, setup.terms, setup.floor)


def _numbers_of(observed: Observed, fit: Fitted, setup: Setup) -> dict[str, Any]:
    """Return what a `PowerLaw` has of each curve, in its unit, each of shape (curve,)."""
    scale = scale_of(setup.unit)
    theta = np.zeros((len(fit.gamma), 3))
    theta[:, : fit.theta.shape[1]] = fit.theta
    largest = float(observed.sizes[-1])
    unscaled = theta * largest ** -(fit.gamma[:, None] * np.arange(3))
    alpha, eta, delta = scale * unscaled.T
    return {
        "alpha": alpha,
        "eta": eta,
        "delta": delta,
        "gamma": fit.gamma,
        "noise_floor": scale**2 * fit.floor,
        "noise_slope": scale**2 * fit.slope,
        "r_squared": _r_squared(observed.means, fit),
        "cost": fit.cost,
        "p_misfit": lack_of_fit(observed, fit, setup.terms),
    }


def one_law(observed: Observed, setup: Setup) -> PowerLaw:
    """Return the power law of the only curve that was observed."""
    fit = _fit_curves(observed, setup)
    numbers: dict[str, Any] = {
        name: float(values[0])
        for name, values in _numbers_of(observed, fit, setup).items()
    }
    return PowerLaw(
        **numbers,
        size=setup.size,
        unit=setup.unit,
        sizes=observed.sizes,
        means=scale_of(setup.unit) * observed.means[0],
        counts=observed.counts[0],
        method=setup.method,
        weights=setup.weights,
        terms=setup.terms,
        concerns=tuple(_concerns(observed, fit, setup, numbers["p_misfit"])),
        _mixture=fit.mixture,
    )


def many_laws(
    observed: Observed, is_fitted: NDArray[np.bool_], setup: Setup
) -> PowerLaw:
    """Return the power laws of curves, a block at a time."""
    parts = [
        _numbers_of(observed[rows], _fit_curves(observed[rows], setup), setup)
        for rows in _blocks(len(observed.means))
    ]
    # Rows that could not be fitted were replaced by others, and are masked.
    numbers: dict[str, Any] = {
        name: np.where(is_fitted, np.concatenate([p[name] for p in parts]), np.nan)
        for name in parts[0]
    }
    means = scale_of(setup.unit) * observed.means
    return PowerLaw(
        **numbers,
        size=setup.size,
        unit=setup.unit,
        sizes=observed.sizes,
        means=np.where(is_fitted[:, None], means, np.nan),
        counts=np.where(is_fitted[:, None], observed.counts, np.nan),
        method=setup.method,
        weights=setup.weights,
        terms=setup.terms,
        is_fitted=is_fitted,
        _observed=observed,
        _floor=setup.floor,
    )


def _r_squared(means: Floats, fit: Fitted) -> Floats:
    """Return which share of the variation between sizes fits explain, shape (curve,)."""
    total = fit.weights.sum(axis=1, keepdims=True)
    away = means - (fit.weights * means).sum(axis=1, keepdims=True) / total
    around = (fit.weights * away**2).sum(axis=1)
    return np.where(around > 0, 1 - fit.cost / np.where(around > 0, around, 1), np.nan)


# --- What may be wrong with a fitted power law -----------------------------------------


_FAR = 0.3  # from the exponent -1/2


def _concerns(
    observed: Observed, fit: Fitted, setup: Setup, p_misfit: float
) -> Iterator[Concern]:
    has_repeats = bool((observed.freedom[0] > 0).any())
    varies = np.ptp(observed.means[0]) > 0
    if not varies:
        is_still = has_repeats and not observed.squares[0].any()
        yield "equal_errors" if is_still else "equal_means"
    if not has_repeats:
        if setup.floor is not None:
            yield "no_repeats_floor_passed"
        elif setup.method == "paper":
            yield "no_repeats_floor_assumed"
        else:
            yield "three_errors" if observed.known[0] <= 3 else "no_repeats"
    elif setup.method == "paper" and setup.floor is None:
        yield "floor_assumed"
    gammas, gamma = gammas_for(setup.terms, setup.method), float(fit.gamma[0])
    if len(gammas) > 1:
        if gamma in (gammas[0], gammas[-1]):
            yield "exponent_at_edge"
        elif abs(gamma - THEORY) > _FAR:
            yield "exponent_far"
    theta = fit.theta[0]
    if varies and len(theta) == 2 and not theta[1] > 0:
        yield "rising"
    if not theta[0] >= 0:
        yield "asymptote_below_0"
    if p_misfit < RARE:
        yield "misfit"


# --- What intervals of a power law are for, and what they promise ----------------------


_ESTIMANDS = {
    "e_N": "the mean error at {N:g} training examples",
    "beta_N": "the data-reliance at {N:g} training examples",
    "gamma": "the exponent",
    "alpha": "the error with infinitely much data, as the formula has it",
}
_CURVE = "the mean error over all runs"
_GIVEN = "for independent runs around a power law"


def _pointwise(law: PowerLaw, confidence: float) -> tuple[str, str]:
    """Return estimand and guarantee of intervals at sizes."""
    return _CURVE, f"{_level(law, confidence)}, at each size by itself{_clipped(law)}"


def _simultaneous(law: PowerLaw, confidence: float) -> tuple[str, str]:
    """Return estimand and guarantee of a band."""
    if law.method == "paper":
        how = f"{_level(law, confidence)}, at all sizes at once"
    else:
        how = (
            f"at least about {percent(confidence)}, at all sizes at once, {_GIVEN} "
            f"(likelihood region)"
        )
    return _CURVE, how + _clipped(law)


def _parameter(law: PowerLaw, name: str, confidence: float) -> str:
    """Return the guarantee of the interval of one parameter."""
    if name == "gamma" and (
        law.method == "paper" or law.terms in ("linear", "quadratic")
    ):
        return "none: the exponent is taken for known"
    return _level(law, confidence)


def _level(law: PowerLaw, confidence: float) -> str:
    if law.method == "paper":
        return (
            f"{percent(confidence)} in name, {_GIVEN} whose exponent is known; it covers "
            f"less, as the exponent is not (Hoiem et al. 2021)"
        )
    return f"about {percent(confidence)}, {_GIVEN} (mixture of t over exponents)"


def _clipped(law: PowerLaw) -> str:
    most = {"fraction": " and at 1", "percent": " and at 100", "loss": ""}[law.unit]
    return f"; cut off at 0{most}"


# --- Arguments of curves: sizes, shares and probabilities ------------------------------


def bounds_of(unit: Unit) -> tuple[float, float]:
    """Return between what an error can be."""
    return 0.0, math.inf if unit == "loss" else scale_of(unit)


def _checked_at(n: Any) -> Floats:
    """Return sizes as an array of any shape; infinity is one."""
    sizes = _positive(n, "n", "numbers of training examples")
    if (sizes < LEAST_SIZE).any():
        raise bad_value("n", n, f"Pass sizes from {LEAST_SIZE:g} on.")
    return sizes


def checked_places(n: Any) -> Floats:
    """Return sizes as an array, shape (n,)."""
    sizes = np.atleast_1d(_checked_at(n))
    if sizes.ndim != 1:
        raise CurvewiseError(f"n has shape {sizes.shape}. Pass sizes in a row.")
    return sizes


def _probabilities(p: Any) -> Floats:
    shares = as_floats(p, "iuf")
    if shares is None or shares.ndim > 1 or not ((shares > 0) & (shares < 1)).all():
        raise bad_value("p", p, "Pass probabilities between 0 and 1.")
    return np.atleast_1d(shares)


def _positive(values: Any, name: str, what: str) -> Floats:
    numbers = as_floats(values, "iuf")
    if numbers is None or not (numbers > 0).all():
        raise bad_value(name, values, f"Pass {what}, above 0.")
    return numbers
