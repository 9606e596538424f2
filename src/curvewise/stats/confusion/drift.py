"""Count curves whose level and slope drift: a smoother on the logit of each recall."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from curvewise.stats.confusion.data import (
    Concern,
    ConcernKind,
    CountTable,
    few_answers,
)
from curvewise.stats.confusion.draws import Asked
from curvewise.stats.validation import Floats


@dataclass(frozen=True, slots=True)
class Prior:
    """How the logit of a recall is thought to move with training data.

    Parameters
    ----------
    slowing, slowing_common : float
        How fast the clock slows down, for classes rarer than one half and for the others.
    rise, slope : float
        Mean and standard deviation of the slope, in logits per octave at the start.
    bend : float
        Standard deviation, per root octave, by which the slope drifts.
    wander : float
        Standard deviation, per root octave, by which the level walks.
    """

    slowing: float
    slowing_common: float
    rise: float
    slope: float
    bend: float
    wander: float


@dataclass(frozen=True, slots=True)
class DriftConstants:
    """All that drifting curves assume.

    Parameters
    ----------
    drift, law : Prior
        Of curves that drift; of curves that are almost power laws, with exponent -1/2.
    roughness, roughness_common, roughness_spread : float
        Mean, for classes rarer than one half and for the others, and standard deviation of
        the log of how much of its prior variance a curve shows.
    near, far : float
        Log of how much wider a band is than that says, at the last size, and more for
        every doubling of 1 + octaves ahead.
    together : float
        Correlation of the logits of two classes.
    nugget : float
        Standard deviation of what is neither noise of runs nor drift, at 16 examples.
    level : float
        Standard deviation of the logit at the start.
    """

    drift: Prior
    law: Prior
    roughness: float = -2.2
    roughness_common: float = -1.5
    roughness_spread: float = 1.0
    near: float = -0.714
    far: float = 0.482
    together: float = -0.3
    nugget: float = 0.022
    level: float = 5.0


DRIFT = DriftConstants(
    drift=Prior(
        slowing=0.111,
        slowing_common=0.258,
        rise=0.136,
        slope=0.05,
        bend=0.303,
        wander=0.489,
    ),
    law=Prior(
        slowing=0.5,
        slowing_common=0.5,
        rise=0.2,
        slope=0.3,
        bend=0.0282,
        wander=0.0439,
    ),
)


# --- A smoother for logits along training sizes, for many curves and classes at once ---


_ORIGIN = (
    16.0  # where the clock stands at 0: the least size of the curves it is learnt on
)


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    r"""Octaves of training data, slowing down.

    .. math:: x = \frac{1 - (n/16)^{-g}}{g \ln 2}
    """

    slowing: Floats  # (curve, class): g, of which 0 is plain octaves
    start: Floats  # (curve, class): taken off, so that no size comes before the drift

    def __call__(self, sizes: Floats) -> Floats:
        """Return the times of sizes (curve or 1, size), shape (curve, class, size)."""
        return ticks(sizes, self.slowing) - self.start[..., None]


def ticks(sizes: Floats, slowing: Floats) -> Floats:
    """Return octaves since ORIGIN, slowing down, shape (curve, class, size)."""
    age = np.log(sizes / _ORIGIN)[:, None]
    g = slowing[..., None]
    some = np.where(g > 0, g, 1.0)
    return np.asarray(np.where(g > 0, -np.expm1(-some * age) / some, age) / math.log(2))


def _clock_of(sizes: Floats, is_there: Floats, shares: Floats, prior: Prior) -> Clock:
    """Return the clocks of classes; they go by whether a class is rarer than one half."""
    slowing = _by_share(shares, prior.slowing, prior.slowing_common)
    times = np.where(is_there, ticks(sizes, slowing), np.inf)
    return Clock(slowing, np.minimum(times.min(-1), 0.0))


def _by_share(shares: Floats, rare: float, common: float) -> Floats:
    """Return what holds for classes rarer than one half, and for the others."""
    is_even = np.abs(shares - 0.5) < 1e-9  # so that no class comes first by its name
    value = np.where(shares < 0.5, rare, common)
    return np.asarray(np.where(is_even, (rare + common) / 2, value))


def _covariance(x: Floats, y: Floats, prior: Prior, level: float) -> Floats:
    """Return the prior covariance of logits at x and y, which are broadcast.

    Level, slope, drift of the slope (an integrated Wiener process), walk of the level (a
    Wiener process), both two-sided: independent before and after the origin.
    """
    low = np.minimum(np.abs(x), np.abs(y)) * (x * y > 0)
    high = np.maximum(np.abs(x), np.abs(y))
    drift = low * (prior.bend**2 / 6 * low * (3 * high - low) + prior.wander**2)
    return np.asarray(level**2 + prior.slope**2 * x * y + drift)


@dataclass(frozen=True, slots=True, eq=False)
class Smoothed:
    """Logits smoothed: all that predictions take."""

    clock: Clock
    prior: Prior
    level: float
    # Of shape (curve, class, size), 0 where nothing was seen: times, variances of the
    # noise, and logits less their prior mean.
    x: Floats
    noise: Floats
    rest: Floats
    # Inverse of the covariance of what was seen, (curve, class, size, size).
    precision: Floats
    # What was missed by predicting each size from those before it; the variance expected
    # of that by the drift, and by noise.
    surprise: Floats
    ahead: Floats
    ahead_noise: Floats

    def at(self, sizes: Floats) -> tuple[Floats, Floats]:
        """Return predictions (curve, class, asked), and the weights of the logits seen.

        Sizes are (asked,), or (curve, asked) where each curve has its own.
        """
        x = self.clock(np.atleast_2d(sizes))
        weights = self._across(x) @ self.precision
        return self.prior.rise * x + (weights @ self.rest[..., None])[..., 0], weights

    def missed(self, sizes: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return by how much any weights miss: the variance by drift, and by noise."""
        x = self.clock(np.atleast_2d(sizes))
        inside = _covariance(
            self.x[..., None], self.x[..., None, :], self.prior, self.level
        )
        by_drift = _covariance(x, x, self.prior, self.level)
        by_drift = by_drift - 2 * (weights * self._across(x)).sum(-1)
        by_drift = by_drift + ((weights @ inside) * weights).sum(-1)
        by_noise = (weights**2 * self.noise[..., None, :]).sum(-1)
        return np.maximum(by_drift, 0.0), by_noise

    def last_steps(self, count: int) -> Floats:
        """Return which sizes (curve, class, size) are the last ones with any before."""
        there = self.noise > 0
        from_last = np.cumsum(there[..., ::-1], -1)[..., ::-1]
        return np.asarray(
            there & (from_last <= count) & (np.cumsum(there, -1) > 1), dtype=np.float64
        )

    def _across(self, x: Floats) -> Floats:
        return _covariance(x[..., None], self.x[..., None, :], self.prior, self.level)


def _smoothed(
    clock: Clock, sizes: Floats, z: Floats, noise: Floats, prior: Prior, level: float
) -> Smoothed:
    """Return smoothed logits z (curve, class, size), NaN for none."""
    x = clock(sizes)
    there = np.isfinite(z)
    both = there[..., None] & there[..., None, :]
    size = np.arange(x.shape[-1])
    cov = np.where(both, _covariance(x[..., None], x[..., None, :], prior, level), 0.0)
    noise = np.where(there, noise, 0.0)
    cov[..., size, size] += np.where(there, noise, 1.0)
    rest = np.where(there, z - prior.rise * x, 0.0)
    lower = np.linalg.cholesky(cov)
    inverse = np.linalg.inv(lower)
    precision = np.swapaxes(inverse, -1, -2) @ inverse
    precision[..., size, size] *= there  # 1 stood in for what is not there
    # Rows of this say: what was seen, less what the sizes before it predict.
    root = lower[..., size, size]
    step = root[..., None] * inverse
    by_noise = (step**2 @ noise[..., None])[..., 0]
    return Smoothed(
        clock=clock,
        prior=prior,
        level=level,
        x=x,
        noise=noise,
        rest=rest,
        precision=precision,
        surprise=(step @ rest[..., None])[..., 0] * there,
        ahead=np.maximum(root**2 - by_noise, 0.0) * there,
        ahead_noise=by_noise * there,
    )


# --- How much of the drift that is expected a curve shows, from its own last steps -----


_STEPS = 6  # one-step-ahead predictions looked at, from the last size back
_MOST_OF_LAW = 0.5  # weight of a power law that holds as far as can be seen
_LOGS = np.linspace(-8.0, 4.0, 33)


def _log_roughness(smooth: Smoothed, usual: Floats, spread: float) -> Floats:
    r"""Return the posterior of the log of the roughness, (curve, class, grid).

    What was missed one step ahead is :math:`N(0, \kappa A_b + N_b)`: A by the drift, N by
    noise; the prior of :math:`\log \kappa` is normal, with mean `usual` (curve, class).
    Curves differ in it a hundredfold.
    """
    use = smooth.last_steps(_STEPS)[..., None] > 0
    variance = np.exp(_LOGS) * smooth.ahead[..., None] + smooth.ahead_noise[..., None]
    variance = np.where(use, variance, 1.0)
    missed = np.where(use, smooth.surprise[..., None] ** 2, 0.0)
    log = -0.5 * (np.log(variance) + missed / variance).sum(-2)
    log -= 0.5 * ((_LOGS - usual[..., None]) / spread) ** 2
    weight = np.exp(log - log.max(-1, keepdims=True))
    return np.asarray(weight / weight.sum(-1, keepdims=True))


def _roughness(
    smooth: Smoothed, shares: Floats, constants: DriftConstants, level: Floats
) -> Floats:
    """Return quantiles of the roughness at levels (draw,): (draw, curve, class)."""
    usual = _by_share(shares, constants.roughness, constants.roughness_common)
    weight = _log_roughness(smooth, usual, constants.roughness_spread)
    below = np.cumsum(weight, -1) - weight / 2  # up to the middle of each cell
    below = below.reshape(-1, len(_LOGS))
    # One sorted array for all curves and classes, each 2 after the one before.
    place = 2.0 * np.arange(len(below))
    edges = (below + place[:, None]).ravel()
    at = np.searchsorted(edges, level[:, None] + place) - len(_LOGS) * np.arange(
        len(below)
    )
    low = np.clip(at - 1, 0, len(_LOGS) - 2)
    row = np.arange(len(below))
    width = np.maximum(below[row, low + 1] - below[row, low], 1e-300)
    part = np.clip((level[:, None] - below[row, low]) / width, 0.0, 1.0)
    log = _LOGS[low] + part * (_LOGS[1] - _LOGS[0])
    return np.asarray(np.exp(log).reshape(len(level), *weight.shape[:-1]))


def _weight_of_law(law: Smoothed) -> Floats:
    """Return how much a power law counts, shape (curve, class); alike for all classes.

    A half where its errors one step ahead are no larger than noise makes them, and less
    in proportion where they are.
    """
    use = law.last_steps(_STEPS)
    noise = (use * law.ahead_noise).sum((-1, -2))
    missed = (use * law.surprise**2).sum((-1, -2))
    ratio = np.where(missed > noise, noise / np.maximum(missed, 1e-300), 1.0)
    return np.broadcast_to(_MOST_OF_LAW * ratio[:, None], use.shape[:2])


# --- Count curves whose level and slope drift: a smoother on the logit of each recall ---


_PSEUDO = 0.1  # answers added to both kinds, so that logits are finite
_LONGEST = 64.0  # octaves ahead: bands of sizes without end stay numbers
FURTHEST = 5.0  # octaves beyond the last size; real curves were followed so far
_FEW_RUNS, _FEW_SIZES = 3, 4


@dataclass(frozen=True, slots=True, eq=False)
class DriftFit:
    """Fitted count curves whose logits drift."""

    table: CountTable
    constants: DriftConstants
    drift: Smoothed  # logits as curves that drift
    law: Smoothed  # logits as almost a power law
    weight: Floats  # (curve, class): how much the law counts
    last: Floats  # (curve, class): logits at the last size
    # Whose recall is taken to stay as it was at the last size, (curve, class): that of a
    # class which no run predicted there; and that of one that never changed.
    is_stuck: NDArray[np.bool_]
    is_constant: NDArray[np.bool_]

    def concerns_at(self, sizes: Floats) -> Iterator[Concern]:
        """Yield what may be wrong with each curve, the most serious first."""
        table, never = self.table, _never_called(self.table)
        furthest = self.octaves(sizes).max(1, initial=0.0)
        count = (table.runs > 0).sum(1)
        fewest = np.where(table.runs > 0, table.runs, np.inf).min(1)
        for i in range(len(table)):
            for k in np.flatnonzero(never[i]).tolist():
                yield Concern("never_called", 1.0, k, i)
            if furthest[i] > FURTHEST:
                yield Concern("far", float(2 ** furthest[i]), curve=i)
            if count[i] < _FEW_SIZES:
                yield Concern("few_sizes", float(count[i]), curve=i)
            if fewest[i] <= _FEW_RUNS:
                kind: ConcernKind = "one_run" if fewest[i] == 1 else "few_runs"
                yield Concern(kind, float(fewest[i]), curve=i)
            yield from few_answers(table, i)
            if table.classes > 2:
                yield Concern("many_classes", table.classes, curve=i)

    def recalls(self, sizes: Floats) -> Floats:
        """Return the recall of each class, shape (curve, asked, class).

        Sizes are (asked,), or (curve, asked) where each curve has its own.
        """
        return np.swapaxes(self._rates(self._logits(sizes)[0]), 1, 2)

    def draw(self, asked: Asked, points: Floats) -> Floats:
        r"""Return draws of the recalls, shape (draw, curve, asked, class).

        Columns of `points`, shape (draw, 2 + 2 x class): 0 picks the roughness of the
        curve, 2 and on where its logits are, 2 + class and on the noise.

        Notes
        -----
        A logit is off by :math:`q \sqrt{\kappa A} \, u + \sqrt{N} \, u'`: A, what drift
        adds by the prior; :math:`\kappa`, how much of that this curve shows, from how far
        its last sizes were from what those before them predict; q, how much more or less
        it was on real curves, by octaves outside; N, the noise of the logits seen. To the
        rate then comes, in angles, what the target adds:

        *mean*
            The examples tested on are not all: :math:`\rho/(4E)` for E different ones,
            :math:`\rho = .6`.
        *observed*
            With `test_size` NaN: F more runs, tested as those seen were, so that what is
            common to test sets cancels: 1/F of the variance between runs. Else F models
            on one fresh test set: 1/F of the variance between models and
            :math:`(\rho + (1-\rho)/F)/(4m)` for its m examples, besides that of *mean*.
        *model*
            The variance between models, besides that of *mean*.
        """
        z, pull = self._logits(asked.sizes)
        by_drift, by_noise = self.drift.missed(asked.sizes, pull)
        classes = self.table.classes
        normal = ndtri(points[:, None, :, None])  # (draw, curve, class, asked)
        luck = _together(normal[:, :, 2 : 2 + classes], self.constants.together)
        rough = _roughness(self.drift, self.table.shares, self.constants, points[:, 0])
        ahead = self._scale(asked.sizes)[:, None] ** 2 * by_drift
        rates = self._rates(z + np.sqrt(rough[..., None] * ahead + by_noise) * luck)
        noise = np.sqrt(self._noise(asked)) * normal[:, :, 2 + classes :]
        angles = np.clip(np.arcsin(np.sqrt(rates)) + noise, 0.0, np.pi / 2)
        return np.swapaxes(np.sin(angles) ** 2, 2, 3)

    def octaves(self, sizes: Floats) -> Floats:
        """Return by how many octaves sizes are outside those seen, (curve, asked)."""
        least = np.where(self.table.runs > 0, self.table.sizes, np.inf).min(1)
        ahead = np.log2(sizes / self.table.largest[:, None])
        back = -np.log2(sizes / least[:, None])
        return np.asarray(np.clip(np.maximum(ahead, back), 0.0, _LONGEST))

    def _logits(self, sizes: Floats) -> tuple[Floats, Floats]:
        """Return logits (curve, class, asked), and the weights of those seen."""
        # A law that holds near by is no guide far ahead.
        w = self.weight[..., None] * np.exp2(-self.octaves(sizes))[:, None]
        z, pull = self.drift.at(sizes)
        z_law, pull_law = self.law.at(sizes)
        z = (1 - w) * z + w * z_law
        pull = (1 - w[..., None]) * pull + w[..., None] * pull_law
        return np.where(self._is_held(sizes), self.last[..., None], z), pull

    def _is_held(self, sizes: Floats) -> NDArray[np.bool_]:
        beyond = sizes >= self.table.largest[:, None]
        return self.is_constant[..., None] | (
            self.is_stuck[..., None] & beyond[:, None]
        )

    def _rates(self, z: Floats) -> Floats:
        """Return rates of logits (..., curve, class, asked), pseudo-answers taken back."""
        each = _last_of(self.table, _per_run(self.table))[..., None]
        rates = (expit(z) * (each + 2 * _PSEUDO) - _PSEUDO) / each
        return np.asarray(np.clip(rates, 0.0, 1.0))

    def _scale(self, sizes: Floats) -> Floats:
        """Return by how much drift ahead is more or less than its prior says."""
        c = self.constants
        return np.asarray(np.exp(c.near + c.far * np.log2(self.octaves(sizes) + 1)))

    def _noise(self, question: Asked) -> Floats:
        """Return the variance in angles that the target adds, (curve, class, asked)."""
        table, sizes = self.table, question.sizes
        tested = COMMON / (4 * examples_tested(table)[..., None])
        if question.target == "mean":
            return np.broadcast_to(tested, (*tested.shape[:2], len(sizes)))
        models = of_models(table, sizes)
        if question.target == "model":
            return np.asarray(tested + models)
        runs = question.runs[:, None]
        testing = _own_share(table)[:, None, None] / (4 * _held_near(table, sizes))
        as_seen = (models + testing) / runs
        examples = question.test_size[:, None] * table.shares[..., None]
        fresh = (COMMON + (1 - COMMON) / runs) / (4 * np.maximum(examples, 1.0))
        fresh = tested + models / runs + fresh
        return np.asarray(np.where(np.isnan(examples), as_seen, fresh))


def fit_drift(table: CountTable, constants: DriftConstants = DRIFT) -> DriftFit:
    r"""Return count curves whose logits drift, one for each curve of the table.

    .. math:: \operatorname{logit} \Pi_c(n) = f_c(x), \quad
       x = \frac{1 - (n/16)^{-g}}{g \ln 2}

    f is a smoothing spline: a Gaussian process with a prior slope, a slope that drifts
    (integrated Wiener process) and a level that walks (Wiener process), each class by
    itself. The power law of Xue et al. [1]_ is the case without either drift. A spline that
    is almost that law gets half the weight where it predicts the last sizes from those
    before them as well as their noise allows; less in proportion where it does not, and
    half as much for every octave beyond the sizes seen.

    References
    ----------
    .. [1] Y. Xue, R. Wang, X. Cao, J. Yang, J. Li. "Learning curves of classification
       metrics based on confusion matrices." ACML 2025.

    Examples
    --------
    >>> from curvewise.stats.confusion.data import count_table
    >>> counts = [[[60, 40], [40, 60]], [[70, 30], [32, 68]], [[78, 22], [25, 75]]]
    >>> fit = fit_drift(count_table([32, 64, 128], counts))
    >>> fit.recalls(np.array([128.0, 256.0])).round(2).tolist()
    [[[0.75, 0.73], [0.79, 0.76]]]
    """
    z, v = logits_seen(table)
    drift, law = (
        smoothed_logits(table, z, v, prior, constants)
        for prior in (constants.drift, constants.law)
    )
    return DriftFit(
        table=table,
        constants=constants,
        drift=drift,
        law=law,
        weight=_weight_of_law(law),
        last=_last_of(table, z.swapaxes(1, 2)),
        is_stuck=_is_stuck(table),
        is_constant=_is_constant(table),
    )


def logits_seen(table: CountTable) -> tuple[Floats, Floats]:
    """Return logits of the recalls seen and their variances, (curve, class, size)."""
    runs = np.maximum(table.runs, 1.0)[..., None]
    rate = (table.right / runs + _PSEUDO) / (_per_run(table) + 2 * _PSEUDO)
    z = np.where(table.total > 0, logit(rate), np.nan)
    return z.swapaxes(1, 2), (_logit_variance(table) / runs).swapaxes(1, 2)


def smoothed_logits(
    table: CountTable, z: Floats, v: Floats, prior: Prior, constants: DriftConstants
) -> Smoothed:
    """Return logits z with variances v, smoothed as a prior has it."""
    clock = _clock_of(table.sizes, np.isfinite(z), table.shares, prior)
    wiggle = (table.sizes[:, None] / _ORIGIN) ** -clock.slowing[..., None]
    noise = v + constants.nugget**2 * wiggle
    return _smoothed(clock, table.sizes, z, noise, prior, constants.level)


def _together(normal: Floats, correlation: float) -> Floats:
    """Return normal draws (draw, curve, class, asked) with the classes correlated."""
    classes = normal.shape[2]
    share = correlation / (classes - 1)
    cov = (1 - share) * np.eye(classes) + share
    return np.asarray(np.linalg.cholesky(cov) @ normal)


# --- Curves that nothing can be learnt from but that they stay as they are -------------


def _last_of(table: CountTable, values: Floats) -> Floats:
    """Return values (curve, size, class) at the last size that tested the class."""
    place = np.arange(values.shape[1])[:, None]
    last = np.where(table.total > 0, place, -1).max(1)
    return np.take_along_axis(values, last[:, None], 1)[:, 0]


def _never_called(table: CountTable) -> NDArray[np.bool_]:
    """Return which classes no run called any example at the last size."""
    last = (table.runs > 0).sum(1) - 1
    called = np.take_along_axis(table.counts.sum(-2), last[:, None, None], 1)[:, 0]
    return np.asarray(called < 1)


def _is_stuck(table: CountTable) -> NDArray[np.bool_]:
    """Return whose recall stays: of a class never called; of two, the other's with it."""
    never = _never_called(table)
    return never | never[:, ::-1] if table.classes == 2 else never


def _is_constant(table: CountTable) -> NDArray[np.bool_]:
    """Return which recalls are the same at every size."""
    there = table.total > 0
    rate = table.right / np.where(there, table.total, 1.0)
    high = np.where(there, rate, -np.inf).max(1)
    low = np.where(there, rate, np.inf).min(1)
    return np.asarray(high - low < 1e-12)


# --- Noise: of runs, of models, of test sets ------------------------------------------
#
# Noise of rates is told in angles, arcsin(sqrt(rate)): there one answer has variance 1/4,
# whatever the rate, and rates next to 0 or 1 do not blow up.


# What a test set adds is to this part common to all models: hard examples stay hard.
COMMON = 0.6
# Variance of a recall between models, in p (1 - p) / n after n training examples: the
# median of real curves, at all sizes alike. Counts as much as so many runs.
_BETWEEN_MODELS, _PRIOR_RUNS, _PRIOR_MODELS = 2.0, 6.0, 2.0
_LEAST_MODELS = 0.05  # of what is usual
_LEAST = 0.5  # answers that a rate is held away from 0 and 1, for its variance


def _logit_variance(table: CountTable) -> Floats:
    """Return the variance of the logit of a recall between runs, (curve, size, class).

    What was seen between R runs and what is usual, p (1 - p) (1/m + 2/n) of m examples
    tested and n trained on, weighed R - 1 to 6.
    """
    each, rate = _per_run(table), _rate(table)
    usual = 1 / np.where(each > 0, each, 1.0) + _BETWEEN_MODELS / table.sizes[..., None]
    usual = rate * (1 - rate) * usual
    spread = np.diagonal(table.spread, axis1=-2, axis2=-1)
    is_known = np.isfinite(spread) & (table.runs[..., None] > 1)
    freedom = np.where(is_known, table.runs[..., None] - 1, 0.0)
    weight = freedom / (freedom + _PRIOR_RUNS)
    between = weight * np.where(is_known, spread, 0.0) + (1 - weight) * usual
    return np.asarray(between / (rate * (1 - rate)) ** 2)


def _per_run(table: CountTable) -> Floats:
    """Return test examples of a class per run, shape (curve, size, class)."""
    return np.asarray(table.total / np.maximum(table.runs, 1.0)[..., None])


def _is_shared(table: CountTable) -> NDArray[np.bool_]:
    """Return which curves may have been tested on the same examples by every run."""
    each = _per_run(table)
    there = (table.runs > 0)[..., None]
    high = np.where(there, each, -np.inf).max(1)
    low = np.where(there, each, np.inf).min(1)
    return np.asarray(table.is_fixed & (high == low).all(-1))


def examples_tested(table: CountTable) -> Floats:
    """Return how many different examples of a class tests held, shape (curve, class).

    Where nobody says: those of one run, if all runs may have had the same; those of all
    runs of a size, if test sets differ.
    """
    each = _per_run(table).max(1)
    every = table.total.max(1)
    out = np.where(_is_shared(table)[:, None], each, every)
    for i, examples in enumerate(table.examples):
        if examples is not None:
            out[i] = (examples.asked.sum(0) > 0) @ examples.membership(table.shares[i])
    return np.asarray(np.maximum(out, 1.0))


def of_models(table: CountTable, sizes: Floats) -> Floats:
    r"""Return the variance between models on all examples, in angles, at sizes.

    :math:`\Omega / n`, with :math:`\Omega` the mean near each size of what was seen there:
    n times the variance between runs, less its part from finite test sets. Of a test set
    that all runs share, only what is not common to them lies between runs.
    """
    spread = np.diagonal(table.spread, axis1=-2, axis2=-1)
    between = spread - _own_share(table)[:, None, None] * table.sampling
    is_known = np.isfinite(between) & (table.runs[..., None] > 1)
    freedom = np.where(is_known, table.runs[..., None] - 1, 0.0)
    rate = _rate(table)
    angle = np.where(is_known, between, 0.0) / (4 * rate * (1 - rate))
    weight = _nearness(table, sizes)[:, :, None] * freedom[..., None]
    total = (weight * (angle * table.sizes[..., None])[..., None]).sum(1)
    total = (total + _PRIOR_MODELS * _BETWEEN_MODELS / 4) / (
        weight.sum(1) + _PRIOR_MODELS
    )
    return np.asarray(np.maximum(total, _LEAST_MODELS * _BETWEEN_MODELS / 4) / sizes)


def _own_share(table: CountTable) -> Floats:
    """Return how much of what a test set adds is of each run alone, shape (curve,)."""
    return np.where(_is_shared(table), 1 - COMMON, 1.0)


def _nearness(table: CountTable, sizes: Floats) -> Floats:
    """Return weights (curve, size, asked): 1 for the nearest, half for an octave more."""
    there = (table.runs > 0)[..., None]
    logs = np.log2(np.where(table.runs > 0, table.sizes, 1.0))
    # Sizes without end are nearest to the last.
    away = np.abs(logs[:, :, None] - np.minimum(np.log2(sizes), 1e3))
    away = away - np.where(there, away, np.inf).min(1, keepdims=True)
    return np.asarray(np.where(there, 2.0 ** -np.maximum(away, 0.0), 0.0))


def _held_near(table: CountTable, sizes: Floats) -> Floats:
    """Return test examples of a class per run near sizes, (curve, class, asked)."""
    weight = _nearness(table, sizes)[:, :, None] * (table.total > 0)[..., None]
    total = (weight * _per_run(table)[..., None]).sum(1)
    return np.asarray(np.maximum(total / np.maximum(weight.sum(1), 1e-300), 1.0))


def _rate(table: CountTable) -> Floats:
    """Return recalls as seen, a little away from 0 and 1."""
    runs = np.maximum(table.runs, 1.0)[..., None]
    return np.asarray((table.right / runs + _LEAST) / (_per_run(table) + 2 * _LEAST))
