"""Curves of error against data: which errors, their power laws, and what follows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats, Metric
from curvewise.questions.lead import Finding
from curvewise.questions.sampling import are_numbered, clusters_of, refuse_crossed
from curvewise.questions.sizes import point_of
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.learning import (
    Crossing,
    Extrapolation,
    Multiplier,
    NextRun,
    Shape,
    SizeFor,
    chance_best,
    compare_summaries,
    crossing,
    data_multiplier,
    extrapolate,
    next_run,
    shared_noise,
    size_for,
)
from curvewise.stats.powerlaw import PowerLaw, fit_power_law
from curvewise.trials import Trials
from curvewise.trials.columns import Ints
from curvewise.trials.doors import (
    Failed,
    Points,
    broke_off,
    flat_values,
    tasks_measured,
)


@dataclass(frozen=True, slots=True)
class ErrorScale:
    """How a metric becomes an error, which is at least 0 and better the lower.

    Parameters
    ----------
    label : str
        What the error is called, such as ``"1 - accuracy"``.
    unit : {"fraction", "loss"}
        Whether it ends at 1.
    zero : float
        The best possible score, which is no error.
    sign : int
        Of the metric.
    is_assumed : bool
        Whether nobody stated the best possible score.

    Examples
    --------
    >>> error_scale(Metric("accuracy", "higher", range=(0, 1)))
    ErrorScale(label='1 - accuracy', unit='fraction', zero=1.0, sign=1, is_assumed=False)
    """

    label: str
    unit: Literal["fraction", "loss"]
    zero: float
    sign: int
    is_assumed: bool = False

    def error(self, score: Floats) -> Floats:
        """Return scores as errors."""
        return self.sign * (self.zero - score)


def _with_best(metric: Metric) -> dict[str, Any]:
    """Return how a range with a best score is stated, by an example."""
    low, high = (-math.inf, 100.0) if metric.sign > 0 else (-100.0, math.inf)
    example = Metric(metric.name, metric.direction, (low, high))
    return {"metrics": {metric.name: example}}


def error_scale(metric: Metric, lowest: float = -math.inf) -> ErrorScale:
    """Return how a metric becomes an error; refuse one that has no best score.

    Of a loss without a stated one that is 0, if it was never below.
    """
    low, high = metric.range
    zero = high if metric.sign > 0 else low
    is_assumed = metric.sign < 0 and not math.isfinite(low) and lowest >= 0
    if is_assumed:
        zero = 0.0
    if not math.isfinite(zero):
        raise CurvewiseError(
            f"'{metric.name}' has no best possible score, so it is no error that falls "
            f"towards a limit. Choose a rate or a loss, or state its range, such as ",
            _with_best(metric),
            ".",
        )
    label = metric.label
    if metric.sign > 0:
        label = f"{zero:g} - {label}"
    elif zero:
        label = f"{label} - {zero:g}"
    unit: Literal["fraction", "loss"] = "fraction" if metric.is_rate else "loss"
    return ErrorScale(
        label=label, unit=unit, zero=zero, sign=metric.sign, is_assumed=is_assumed
    )


def lowest(trials: Trials, metric: str) -> float:
    """Return the lowest score of the trials, infinity if there is none."""
    values, known = flat_values(trials, metric)
    values = values[known]
    return float(values.min(initial=math.inf, where=~np.isnan(values)))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The errors of one algorithm on one task.

    Parameters
    ----------
    task, algorithm : str
    sizes : ndarray, shape (size,)
        Increasing.
    errors : tuple of ndarray
        For each size, one error per run.
    runs : tuple of ndarray of int
        Of which trial each of them is: trials of one number met the same data.
    failed : int
        How many trials failed.
    seconds : float
        That a training example took, by how long the trials took; NaN if nobody knows.
    is_numbered : bool
        Whether the numbers of trials were given; rows of a file that were merely counted
        are no pairs.
    """

    task: str
    algorithm: str
    sizes: Floats
    errors: tuple[Floats, ...]
    runs: tuple[Ints, ...]
    failed: int
    seconds: float = math.nan
    is_numbered: bool = True

    @property
    def means(self) -> Floats:
        """The mean error at each size."""
        return np.array([errors.mean() for errors in self.errors])

    @property
    def counts(self) -> list[int]:
        """How many runs there are at each size."""
        return [len(errors) for errors in self.errors]


def measured_by_task(
    trials: Trials, metric: str, scale: ErrorScale, failed: Failed
) -> dict[str, list[Measured]]:
    """Return the errors of each algorithm on each task, size by size."""
    refuse_crossed(trials)
    out: dict[str, list[Measured]] = {}
    for task in tasks_measured(trials, metric):
        one_task = trials.where(task=task)
        points = one_task.points(metric, failed=failed)
        out[task] = [
            _measured(points[name], scale, one_task.where(algorithm=name), metric)
            for name in points
            if len(points[name].size)
        ]
    return out


def _measured(
    points: Points, scale: ErrorScale, trials: Trials, metric: str
) -> Measured:
    points, are_paired = _averaged(points, trials)
    order = np.lexsort((points.trial, points.size))
    sizes, first = np.unique(points.size[order], return_index=True)
    if not sizes[0] > 0:
        raise CurvewiseError(
            f"Step {sizes[0]:g} of '{trials.algorithms[0]}' is no size of a training "
            "set, which is above 0. Leave these rows out, or choose another column, ",
            {"step": "<column>"},
            ".",
        )
    errors = np.split(scale.error(points.value[order]), first[1:])
    runs = np.split(points.trial[order], first[1:])
    return Measured(
        *(trials.tasks[0], trials.algorithms[0], sizes, tuple(errors), tuple(runs)),
        int(broke_off(trials, *flat_values(trials, metric)).sum()),
        _seconds(trials),
        are_numbered(trials) and are_paired,
    )


def _averaged(points: Points, trials: Trials) -> tuple[Points, bool]:
    """Return one point for each cluster and size, and whether numbers may pair them."""
    if trials.design.unit != "cluster":
        return points, True
    clusters = clusters_of(trials, trials.design)[trials.algorithms[0]]
    place = clusters.place[np.searchsorted(trials.core.number, points.trial)]
    sizes, size = np.unique(points.size, return_inverse=True)
    met, which = np.unique(place * len(sizes) + size, return_inverse=True)
    means = np.bincount(which, points.value) / np.bincount(which)
    numbers = clusters.numbers[met // len(sizes)]
    return Points(numbers, sizes[met % len(sizes)], means), clusters.are_paired


def _seconds(trials: Trials) -> float:
    """Return how long a training example took, were time to grow with their number."""
    core, seconds = trials.core, trials.details().seconds
    owner = np.repeat(np.arange(len(core)), core.lengths)
    examples = np.bincount(owner, core.steps, minlength=len(core))
    timed = np.isfinite(seconds) & (core.status == 0) & (examples > 0)
    if not timed.any():
        return math.nan
    return float(seconds[timed].sum() / examples[timed].sum())


# --- The curves of one task: each with its power law, its forecast and its shape -------


Method: TypeAlias = Literal["calibrated", "paper"]
FEWEST = 3  # sizes that a curve with an asymptote needs
_FEWEST_SHARED = 5  # runs at a size; a correlation of fewer is mostly noise itself
MOST_IN_PAIRS = 12  # algorithms; of more, each is compared with the best one only


@dataclass(frozen=True, slots=True, eq=False)
class CurveFit:
    """What was made of the errors of one algorithm on one task.

    Parameters
    ----------
    measured : Measured
    law : PowerLaw
        The power law that describes the curve where it was observed.
    forecast : Extrapolation
        What the curve may do beyond, and whether it rises or bends the wrong way so far.
    """

    measured: Measured
    law: PowerLaw
    forecast: Extrapolation

    @property
    def shape(self) -> Shape:
        """Whether the curve rises or bends the wrong way."""
        shape: Shape = self.forecast.shape
        return shape

    @property
    def algorithm(self) -> str:
        """Whose curve it is."""
        return self.measured.algorithm

    @property
    def largest(self) -> float:
        """The largest size that was observed."""
        return float(self.measured.sizes[-1])

    def band(self, n: Floats, confidence: float) -> CurveBand:
        """Return the band of the power law; NaN where there are too few errors for one."""
        try:
            return self.law.band(n, confidence)
        except CurvewiseError:  # three sizes with one run each
            nothing = np.full(len(n), np.nan)
            words = ("the mean error over all runs", "none: too few errors")
            return CurveBand(n, self.law.error(n), nothing, nothing, *words)


@dataclass(frozen=True, slots=True, eq=False)
class CurvePair:
    """What two curves of one task say together.

    Parameters
    ----------
    one, other : str
    error, reliance : Interval
        Difference of the errors and of the data-reliances at the reference size, first
        minus second; their intervals hold for all pairs of the task at once.
    crossing : Crossing
        Where the better one changes.
    multiplier : Multiplier
        How many times the data the second needs, at the reference size, to be as good as
        the first.
    correlation : float
        Of the noise of both, from runs that met the same data.
    """

    one: str
    other: str
    error: Interval
    reliance: Interval
    crossing: Crossing
    multiplier: Multiplier
    correlation: float

    def finding(self, task: str) -> Finding:
        """Return whose error is lower at the reference size, all pairs at once."""
        ahead = self.one if self.error.upper < 0 else None
        if self.error.lower > 0:
            ahead = self.other
        return Finding.of(task, (self.one, self.other), ahead)


@dataclass(frozen=True, slots=True, eq=False)
class CurveTask:
    """The curves of one task.

    Parameters
    ----------
    task : str
    size : float
        The size at which they are compared.
    fits : tuple of CurveFit
    pairs : tuple of CurvePair
    left_out : tuple of str
        Algorithms whose curves have too few sizes.
    """

    task: str
    size: float
    fits: tuple[CurveFit, ...]
    pairs: tuple[CurvePair, ...]
    left_out: tuple[str, ...]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms, in the order of the trials."""
        return tuple(fit.algorithm for fit in self.fits)

    @property
    def first(self) -> CurveFit:
        """The curve with the lowest error at that size."""
        return min(self.fits, key=lambda fit: fit.law.e_N)


def has_curves(measured: Sequence[Measured]) -> bool:
    """Return whether anybody was trained on enough sizes."""
    return any(len(curve.sizes) >= FEWEST for curve in measured)


def compared_at(
    task: str, measured: Sequence[Measured], size: float | None = None
) -> tuple[list[Measured], float]:
    """Return the curves that can be fitted, and the size at which they are compared."""
    enough = [curve for curve in measured if len(curve.sizes) >= FEWEST]
    if not enough:
        most = max((len(curve.sizes) for curve in measured), default=0)
        raise CurvewiseError(
            f"Task '{task}' has errors at {most} sizes at most, and a curve needs "
            f"{FEWEST}. Train on parts of the data, too: a half, a quarter and an eighth."
        )
    reference = _reference(enough) if size is None else float(size)
    smallest = max(float(curve.sizes[0]) for curve in enough)
    if reference < smallest:
        raise CurvewiseError(
            f"size is {reference:g}, and the smallest size that all algorithms on '{task}' "
            f"were trained on is {smallest:g}. Pass a size from there on.",
            argument="size",
            value=reference,
        )
    return enough, reference


def curve_task(
    task: str,
    measured: Sequence[Measured],
    scale: ErrorScale,
    size: float | None,
    method: Method,
    confidence: float,
) -> CurveTask:
    """Return the curves of a task, fitted and compared."""
    enough, reference = compared_at(task, measured, size)
    fits = tuple(_fit(curve, scale, reference, method, confidence) for curve in enough)
    left_out = tuple(curve.algorithm for curve in measured if curve not in enough)
    pairs = _pairs(fits, reference, confidence)
    return CurveTask(
        task=task, size=reference, fits=fits, pairs=pairs, left_out=left_out
    )


def _reference(measured: Sequence[Measured]) -> float:
    """Return the largest size that all have, or that the first to end has."""
    common = set(measured[0].sizes)
    for curve in measured[1:]:
        common &= set(curve.sizes)
    return float(max(common) if common else min(curve.sizes[-1] for curve in measured))


def _fit(
    measured: Measured,
    scale: ErrorScale,
    size: float,
    method: Method,
    confidence: float,
) -> CurveFit:
    law = fit_power_law(
        measured.sizes,
        measured.errors,
        method=method,
        unit=scale.unit,
        size=size,
        runs=measured.runs,
    )
    forecast = extrapolate(
        measured.sizes,
        measured.errors,
        to=law.extrapolation_limit,
        confidence=confidence,
        unit=scale.unit,
        runs=measured.runs,
    )
    return CurveFit(measured, law, forecast)


def _pairs(
    fits: Sequence[CurveFit], size: float, confidence: float
) -> tuple[CurvePair, ...]:
    pairs = list(combinations(fits, 2))
    if len(fits) > MOST_IN_PAIRS:
        best = min(fits, key=lambda fit: fit.law.e_N)
        pairs = [pair for pair in pairs if best in pair]
    # For all pairs, also where few are told of: which one is the best, the data said.
    each = shared_confidence(confidence, max(math.comb(len(fits), 2), 1))
    return tuple(_pair(one, other, size, confidence, each) for one, other in pairs)


def _pair(
    one: CurveFit, other: CurveFit, size: float, confidence: float, each: float
) -> CurvePair:
    correlation = _shared_noise(one.measured, other.measured)
    comparison = compare_summaries(
        one.law, other.law, n=size, confidence=each, correlation=correlation
    )
    return CurvePair(
        one=one.algorithm,
        other=other.algorithm,
        error=comparison.error,
        reliance=comparison.reliance,
        crossing=crossing(one.forecast, other.forecast, confidence=confidence),
        multiplier=data_multiplier(
            one.forecast, other.forecast, size, confidence=confidence
        ),
        correlation=correlation,
    )


def _shared_noise(one: Measured, other: Measured) -> float:
    """Return how strongly the noise of two curves goes together; 0 if nothing says so."""
    sizes = np.intersect1d(one.sizes, other.sizes)
    mine, theirs = _at(one, sizes), _at(other, sizes)
    shared = sum(
        len(np.intersect1d(a, b)) for a, b in zip(mine[1], theirs[1], strict=True)
    )
    is_known = one.is_numbered and other.is_numbered
    if not is_known or not shared or shared < _FEWEST_SHARED * len(sizes):
        return 0.0
    return shared_noise(sizes, mine[0], theirs[0], runs_a=mine[1], runs_b=theirs[1])


def _at(measured: Measured, sizes: Floats) -> tuple[list[Floats], list[Ints]]:
    at = np.searchsorted(measured.sizes, sizes)
    return [measured.errors[i] for i in at], [measured.runs[i] for i in at]


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """The error of one algorithm on one task at a size that was asked about.

    Parameters
    ----------
    task, algorithm : str
    size : float
    error : Interval
        With the prediction as its value.
    now : float
        The error that the curve has at the largest size that was observed.
    largest : float
        That size.
    best : float
        Probability that it is the best one there of its task.
    """

    task: str
    algorithm: str
    size: float
    error: Interval
    now: float
    largest: float
    best: float


@dataclass(frozen=True, slots=True, eq=False)
class Needed:
    """How much data an error takes of one algorithm on one task."""

    task: str
    algorithm: str
    size: SizeFor


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """Which run of one algorithm on one task would tell most."""

    task: str
    algorithm: str
    run: NextRun


# --- How questions about the curves of one task are answered ---------------------------


_FURTHEST = 1000  # times the largest size: beyond, nobody can know


def predicted(task: CurveTask, sizes: Floats, confidence: float) -> list[Predicted]:
    """Return what error to expect of each algorithm at each size."""
    forecasts = [fit.forecast for fit in task.fits]
    best = chance_best(forecasts, sizes)
    bands = [forecast.interval(sizes, confidence) for forecast in forecasts]
    return [
        Predicted(
            task=task.task,
            algorithm=fit.algorithm,
            size=float(n),
            error=point_of(bands[i], j),
            now=float(fit.forecast.predict(fit.largest)[0]),
            largest=fit.largest,
            best=float(best[i, j]),
        )
        for j, n in enumerate(sizes)
        for i, fit in enumerate(task.fits)
    ]


def needed(task: CurveTask, error: float, confidence: float) -> list[Needed]:
    """Return how much data an error takes of each algorithm."""
    out = []
    for fit in task.fits:
        far = _FURTHEST * fit.largest
        size = size_for(fit.forecast, error, confidence=confidence, largest=far)
        out.append(Needed(task.task, fit.algorithm, size))
    return out


def advised(
    task: CurveTask,
    to: float,
    seconds: Callable[[Floats], Floats] | None,
    budget: float | None,
    unit: Literal["fraction", "loss"],
    is_known: bool,
) -> list[Advice]:
    """Return which run of each algorithm would tell most of a size.

    `is_known` says whether it is known how long every algorithm trains.
    """
    out = []
    for fit in task.fits:
        cost = seconds or _cost(fit if is_known else None)
        run = next_run(
            *(fit.measured.sizes, fit.measured.errors, cost),
            target=to,
            budget=_budget(fit, cost) if budget is None else budget,
            unit=unit,
        )
        out.append(Advice(task.task, fit.algorithm, run))
    return out


def _cost(fit: CurveFit | None) -> Callable[[Floats], Floats]:
    """Return what runs cost: seconds, as its trials took, or else training examples."""
    each = 1.0 if fit is None else fit.measured.seconds
    return lambda sizes: each * sizes


def is_timed(fit: CurveFit) -> bool:
    """Return whether it is known how long an algorithm trains."""
    return math.isfinite(fit.measured.seconds) and fit.measured.seconds > 0


def _budget(fit: CurveFit, cost: Callable[[Floats], Floats]) -> float:
    """Return what two runs of the largest size cost."""
    return 2 * float(np.ravel(cost(np.array([fit.largest])))[0])
