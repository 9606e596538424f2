"""A power law fitted to the errors of one learner, and what it says at any size."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Keyword
from curvewise.stats._curve.runs import UNITS, Unit, scale_of
from curvewise.stats._sample import (
    Floats,
    checked_chance,
    checked_confidence,
    is_number,
    one_of,
)
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.powerlaw import _region, _words
from curvewise.stats.powerlaw._checks import (
    bounds_of,
    checked_at,
    checked_multiples,
    checked_places,
    checked_probabilities,
)
from curvewise.stats.powerlaw._data import Method, Terms, Weights
from curvewise.stats.powerlaw._draw import draw_curves
from curvewise.stats.powerlaw._mixture import Mixture
from curvewise.stats.powerlaw.draws import PowerLawDraws

__all__ = ["PowerLaw"]

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
        return _region.exponent_quantile(levels, known.gammas[0], known.weights[0])

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
        return self._band(
            at, ends[0], ends[1], side, _words.pointwise(self, confidence)
        )

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
        left = _region.freedom_left(known)
        if left[0] < 1:
            count = _region.parameters_in(known)
            raise CurvewiseError(
                f"Errors at {len(self.sizes)} sizes and {count} parameters leave "
                "nothing to judge the noise by, so there is no band. Pass more runs, "
                "or ",
                {"terms": "linear"},
                ".",
            )
        low, high = (x[0] for x in _region.envelope(known, at, confidence, left))
        scale = scale_of(self.unit)
        words = _words.simultaneous(self, confidence)
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
                _words.PARAMETERS[name].format(N=self.size),
                _words.parameter(self, name, confidence),
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
