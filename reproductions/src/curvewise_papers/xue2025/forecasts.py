"""Every size from the five others, by every method, and what is kept of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from curvewise import metrics
from curvewise.engine.experiment import Experiment, Task
from curvewise.engine.supervised.data import Supervised
from curvewise.stats import counts
from curvewise.stats.confusion import Examples, fit_confusion_curves
from curvewise.stats.confusion.validation import ForeseenSizes, leave_one_size_out
from curvewise.stats.forms import FORMS
from curvewise.stats.powerlaw import fit_power_laws
from curvewise.zoo import simple_task
from curvewise_papers.study import Results, Runner
from curvewise_papers.xue2025.blocks import (
    GROUPS,
    LEARNERS,
    METRICS,
    REPLICATIONS,
    SIZES,
    TASKS,
    TEST,
    Answers,
    answers,
    experiment,
)

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]

ALPHA = 0.05


def printed_f1(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, prior: float = 1.0) -> Ends:
    r"""Return the interval that Eq. (28) prints for F1, which is none of F1.

    .. math:: 1 / (1 + U), \quad U \sim BetaPrime(FP + FN + 2 \lambda, TP + \lambda)

    It lacks a 1/2 before U and is the interval of the Jaccard index. The right one is
    `curvewise.stats.counts.f1_interval`.

    Examples
    --------
    >>> low, high = printed_f1(40, 12, 9)
    >>> round(float(low), 4), round(float(high), 4), round(80 / 101, 4)
    (0.5203, 0.7527, 0.7921)
    """
    hit, wrong = np.asarray(tp) + prior, np.asarray(fp) + np.asarray(fn) + 2 * prior
    # U is (1 - B)/B with B ~ Beta(TP + 1, FP + FN + 2), so that 1/(1 + U) is B.
    return (
        special.betaincinv(hit, wrong, ALPHA / 2),
        special.betaincinv(hit, wrong, 1 - ALPHA / 2),
    )


def printed_bands(matrices: Floats) -> tuple[Floats, Floats]:
    """Return both ends for error, precision, recall, F1 by Eqs. (25) to (28)."""
    return _ends(matrices, "paper", printed_f1)


def corrected_bands(matrices: Floats) -> tuple[Floats, Floats]:
    """Return the same with one prior for all metrics, and with the 1/2 of F1.

    They are the posterior given the virtual matrix. That one validation set was seen, and
    no more, is as wrong as before.
    """
    return _ends(
        matrices,
        "uniform",
        lambda tp, fp, fn: _both(counts.f1_interval(tp, fp, fn, prior="uniform")),
    )


def widest(validated: ArrayLike) -> Floats:
    """Return how wide Eq. (10) can be at all: half of the examples wrong.

    >>> widest([1250 / 3, 40_000 / 3]).round(4).tolist()
    [0.0956, 0.017]
    """
    half = np.asarray(validated, dtype=np.float64) / 2
    band = counts.error_interval(half, half, 0, 0, prior="paper")
    return band.upper - band.lower


def _ends(
    matrices: Floats,
    prior: Literal["paper", "uniform"],
    f1: Callable[[Floats, Floats, Floats], Ends],
) -> tuple[Floats, Floats]:
    (tn, fp), (fn, tp) = np.moveaxis(matrices, (-2, -1), (0, 1))
    every = (
        _both(counts.error_interval(tp, fp, fn, tn, prior=prior)),
        _both(counts.precision_interval(tp, fp, prior=prior)),
        _both(counts.recall_interval(tp, fn, prior=prior)),
        f1(tp, fp, fn),
    )
    lower, upper = zip(*every, strict=True)
    return np.stack(lower), np.stack(upper)


def _both(intervals: counts.CountIntervals) -> Ends:
    return intervals.lower, intervals.upper


# --- every size from the five others, for all replications at once -----------------------


# (value, lower or upper; metric, replication, size)
Told: TypeAlias = Floats
Target: TypeAlias = Literal["observed", "mean"]

PRINTED, ENTERED, CORRECTED = "as printed", "entered at 2N/3", "corrected"
CALIBRATED: Literal["calibrated"] = "calibrated"
DRIFT: Literal["drift"] = "drift"
POW3, POW3_CORRECTED = "POW3", "POW3 corrected"
N = np.array(SIZES)
_SEEN = N / 3  # n^(v) of the paper
# BNSL1 has six parameters, and five sizes are seen.
OTHER_FORMS = tuple(f for f in FORMS if FORMS[f].size < len(SIZES))


def by_matrix(own: Answers, method: str) -> Told:
    """Return what the paper's method foresees, with its band or with the corrected one.

    As printed, a model that was validated is entered at the size N of its block, of which
    two thirds trained it; else, at the number of examples that trained it.
    """
    entered = N if method == PRINTED else own.trained_on
    band = corrected_bands if method == CORRECTED else printed_bands

    def foresee(rest: NDArray[np.int64], at: int) -> Floats:
        curves = fit_confusion_curves(
            entered[rest], own.summed[:, rest], method="paper"
        )
        rates = curves.rates([SIZES[at]])[:, 0]
        return np.stack([metrics_of(rates), *band(rates * _SEEN[at])])

    return _folds(foresee)


def exponents(own: Answers) -> dict[str, list[float]]:
    """Return how often the exponent is -1/2, where the penalty draws it, by size."""
    gammas = [
        np.concatenate([part.gamma for part in _fits(own, rest)])
        for rest, _ in _left_out()
    ]
    return {
        "n": list(SIZES),
        "share": [round(float((g == -0.5).mean()), 4) for g in gammas],
        "median": [round(float(np.median(g)), 3) for g in gammas],
    }


def by_library(
    own: Answers, method: Literal["calibrated", "drift"]
) -> dict[Target, Told]:
    """Return what a method of this library foresees, by what it is asked for."""
    by_target: dict[Target, list[Floats]] = {"observed": [], "mean": []}
    metrics: dict[str, dict[str, Any]] = {name: {} for name in METRICS}
    for rest, at in _left_out():
        curves = fit_confusion_curves(
            N[rest],
            [[own.validated[k][j] for k in rest] for j in range(len(own))],
            trained_on=own.trained_on[rest],
            method=method,
            examples=[_at_sizes(examples, rest) for examples in own.examples],
        )
        for target, folds in by_target.items():
            is_tested = target == "observed"
            bands = curves.bands(
                metrics,
                [SIZES[at]],
                target=target,
                test_size=TEST if is_tested else None,
                runs=SIZES[-1] // SIZES[at] if is_tested else None,
                is_joint=False,
            )
            every = [bands[name] for name in METRICS]
            folds.append(
                np.stack(
                    [[b.value[:, 0], b.lower[:, 0], b.upper[:, 0]] for b in every], 1
                )
            )
    return {target: np.stack(each, axis=-1) for target, each in by_target.items()}


def by_power_law(own: Answers, is_corrected: bool) -> Told:
    """Return what the fit of Hoiem et al. foresees of each metric by itself.

    The error, or what a rate lacks of 1, of each block is one run of their model.
    """
    entered = own.trained_on if is_corrected else N
    means, spread = moments(own)  # (metric * replication, size)
    runs = N[-1] // N

    def foresee(rest: NDArray[np.int64], at: int) -> Floats:
        laws = fit_power_laws(
            entered[rest], means[:, rest], runs[rest], spread[:, rest], method="paper"
        )
        band = laws.interval([SIZES[at]])
        value, low, high = (
            e[:, 0].reshape(len(METRICS), -1)
            for e in (band.value, band.lower, band.upper)
        )
        is_rate = np.array([name != "error" for name in METRICS])[:, None]
        return np.where(
            is_rate, 1 - np.stack([value, high, low]), np.stack([value, low, high])
        )

    return _folds(foresee)


def by_form(own: Answers, form: str) -> Told:
    """Return what a form of a learning curve foresees, without bands."""
    forecast = leave_one_size_out(
        N,
        own.summed,
        dict(zip(METRICS, own.truth, strict=True)),
        method=form,
        metrics=METRICS,
        trained_on=own.trained_on,
    )
    return np.stack([forecast.value, forecast.lower, forecast.upper])


def judged(told: Told, truth: Floats, method: str, target: Target) -> ForeseenSizes:
    """Return what was foreseen beside what was true."""
    every = np.arange(len(N))
    return ForeseenSizes(
        method,
        target,
        0.95,
        N.astype(float),
        tuple(N[every != k].astype(float) for k in every),
        METRICS,
        np.broadcast_to(truth, told.shape[1:]),
        *told,
    )


def _left_out() -> Iterator[tuple[NDArray[np.int64], int]]:
    every = np.arange(len(N))
    return ((np.delete(every, k), k) for k in every.tolist())


def _folds(foresee: Callable[[NDArray[np.int64], int], Floats]) -> Told:
    return np.stack([foresee(rest, at) for rest, at in _left_out()], axis=-1)


def _at_sizes(examples: Examples, places: NDArray[np.int64]) -> Examples:
    return replace(examples, right=examples.right[places], asked=examples.asked[places])


def _fits(answers: Answers, rest: NDArray[np.int64]) -> tuple[Any, ...]:
    summed = answers.summed[:, rest]
    return fit_confusion_curves(answers.trained_on[rest], summed, method="paper").parts


def metrics_of(matrices: Floats) -> Floats:
    """Return error, precision, recall and F1 of matrices, shape (metric, ...)."""
    return np.stack([getattr(metrics, name)(matrices) for name in METRICS])


def moments(own: Answers) -> tuple[Floats, Floats]:
    """Return means and variances over blocks, shape (metric * replication, size)."""
    values = [metrics_of(v) for v in own.validated]  # (metric, replication, block)
    lacking = [np.concatenate([v[:1], 1 - v[1:]]) for v in values]
    means = np.stack([v.mean(-1) for v in lacking], axis=-1)
    spread = np.stack(
        [v.var(-1, ddof=1) if v.shape[-1] > 1 else 0 * v[..., 0] for v in lacking],
        axis=-1,
    )
    return means.reshape(-1, len(N)), spread.reshape(-1, len(N))


# --- one replication in full, as the paper draws it --------------------------------------


CURVED = ("LDA", "TREE")  # whose curves are kept
SHOWN = ("error", "f1")
VALIDATED, TESTED = "validated", "tested"  # what was seen
GRID = np.round(np.geomspace(SIZES[0], SIZES[-1], 21), 1)


def curves_of_one(own: Answers, which: int = 0) -> dict[str, list[Any]]:
    """Return curves through all sizes of one replication, and what was seen of it."""
    place = [METRICS.index(name) for name in SHOWN]
    summed = own.summed[which : which + 1]
    blocks = [[v[which] for v in own.validated]]
    rows: list[tuple[Any, ...]] = []

    def add(method: str, sizes: Any, value: Any, low: Any, high: Any) -> None:
        for name, *ends in zip(SHOWN, value, low, high, strict=True):
            rows.extend(
                (method, name, *numbers) for numbers in zip(sizes, *ends, strict=True)
            )

    for method, entered, band in (
        (PRINTED, N, printed_bands),
        (CORRECTED, own.trained_on, corrected_bands),
    ):
        rates = fit_confusion_curves(entered, summed, method="paper").rates(GRID)[0]
        ends = band(rates * GRID[:, None, None] / 3)
        add(method, GRID, *(e[place] for e in (metrics_of(rates), *ends)))
    curves = fit_confusion_curves(
        N, blocks, own.trained_on, method="calibrated", examples=[own.examples[which]]
    )
    bands = curves.bands(
        SHOWN, GRID, target="observed", test_size=TEST, runs=1, is_joint=False
    ).values()
    add(
        CALIBRATED,
        GRID,
        *([getattr(b, e)[0] for b in bands] for e in ("value", "lower", "upper")),
    )
    means, spread = (
        m.reshape(len(METRICS), len(own), -1)[place, which] for m in moments(own)
    )
    laws = fit_power_laws(N, means, N[-1] // N, spread, method="paper")
    law_band = laws.interval(GRID)
    value, low, high = law_band.value, law_band.lower, law_band.upper
    for e in (value, low, high):
        e[1] = 1 - e[1]
    low[1], high[1] = high[1].copy(), low[1].copy()
    add(POW3, GRID, value, low, high)
    nothing = np.full((len(SHOWN), len(N)), np.nan)
    add(VALIDATED, own.trained_on, metrics_of(summed[0])[place], nothing, nothing)
    add(TESTED, N, own.truth[place, which], nothing, nothing)
    names = ("method", "metric", "n", "value", "lower", "upper")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    for name in names[2:]:
        columns[name] = np.round(columns[name], 5).tolist()
    return columns


# --- what the generator of *simple* is worth, of which no parameter is printed -----------


SHIFT, RATIO = 0.5, 2.0  # as in `simple_task`
# It was calibrated in tenths of the shift and halves of the ratio of variances.
HALF_STEPS = {"shift": {"shift": 0.55}, "ratio": {"ratio": 2.25}}
MOVED = ("LDA", "NB", "TREE")


@dataclass(frozen=True, slots=True)
class Moved:
    """Draws *simple* with class 1 elsewhere: same random numbers, other parameters."""

    sample: Any
    shift: float = SHIFT
    ratio: float = RATIO

    def __call__(
        self, train_rng: np.random.Generator, test_rng: np.random.Generator
    ) -> Supervised:
        """Return a training set from one stream and a test set from the other."""
        data: Supervised = self.sample(train_rng, test_rng)
        X, one = data.X.copy(), data.y == 1
        X[one] = self.shift + np.sqrt(self.ratio / RATIO) * (X[one] - SHIFT)
        return replace(data, X=X)


def moved(which: str, replications: int) -> Experiment:
    """Return the trials with one parameter half a step of the calibration away.

    >>> moved("shift", 10).tasks[0].sample.shift
    0.55
    """
    plan = experiment(MOVED, replications)
    task = simple_task(test=TEST)
    return Experiment(
        [Task(task.name, Moved(task.sample, **HALF_STEPS[which]))],
        plan.algorithms,
        trials=replications,
        seed=plan.seed,
        metrics=plan.metrics,
    )


def sensitivity(own: Answers, other: Answers, which: str) -> dict[str, list[Any]]:
    """Return by how much bands get longer with the parameter, over the same streams.

    Length stands for all numbers here: like the noise of a rate on a test set, and with
    it RMSE, it goes with the root of p (1 - p), and it hardly varies between replications.
    """
    here, there = (
        judged(by_matrix(each, CORRECTED), each.truth, CORRECTED, "observed")
        for each in (own, other)
    )
    return {
        "moved": len(METRICS) * len(SIZES) * [which],
        "metric": [name for name in METRICS for _ in SIZES],
        "n": len(METRICS) * list(SIZES),
        "length": np.round(here.length, 5).ravel().tolist(),
        "change": np.round(there.length - here.length, 5).ravel().tolist(),
    }


# --- how far methods miss, how often bands hold, who wins --------------------------------


Columns: TypeAlias = dict[str, list[Any]]

PAIRS = {PRINTED: POW3, CORRECTED: POW3_CORRECTED}
RESAMPLED = 400


def run(runner: Runner) -> Results:
    """Run all replications, or what is left of them, and judge every method."""
    numbers = REPLICATIONS[runner.scale]
    trials = {
        group: runner.trials(experiment(learners, numbers[group]), group)
        for group, learners in GROUPS.items()
        if group in numbers
    }
    there = {
        which: runner.trials(moved(which, numbers["moved"]), f"moved-{which}")
        for which in HALF_STEPS
    }
    cells = [
        (task, learner, group)
        for task in TASKS
        for learner in LEARNERS
        for group, members in GROUPS.items()
        if learner in members and group in numbers
    ]
    cases: list[dict[str, Columns]] = []
    for task, learner, group in runner.each(cells, "judge"):
        ours = answers(trials[group].where(task=task, algorithm=learner))
        parts = tables(ours)
        if learner in CURVED:
            parts["curves"] = curves_of_one(ours)
        if task == "simple" and learner in MOVED:
            parts["sensitivity"] = _joined(
                [
                    sensitivity(
                        ours.first(numbers["moved"]),
                        answers(trials_there.where(algorithm=learner)),
                        which,
                    )
                    for which, trials_there in there.items()
                ]
            )
        cases.append(
            {name: _named(task, learner, part) for name, part in parts.items()}
        )
    return Results(
        tables={
            name: _joined([each[name] for each in cases if name in each])
            for name in ("scores", "wins", "exponents", "curves", "sensitivity")
        }
    )


def tables(own: Answers) -> dict[str, Columns]:
    """Return how methods do on one task with one learner, and who wins."""
    plain = {
        PRINTED: by_matrix(own, PRINTED),
        ENTERED: by_matrix(own, ENTERED),
        CORRECTED: by_matrix(own, CORRECTED),
        POW3: by_power_law(own, is_corrected=False),
        POW3_CORRECTED: by_power_law(own, is_corrected=True),
    }
    mean = own.mean[:, None]
    truths: dict[Target, Floats] = {"observed": own.truth, "mean": mean}
    scores = [
        _scores(forecast, truth, method, target)
        for method, forecast in plain.items()
        for target, truth in truths.items()
    ]
    # What comes out if the models that tell the truth had two thirds of a block as well.
    scores += [
        {
            **_scores(plain[m], own.truth_part, m, "observed"),
            "target": 24 * ["two thirds"],
        }
        for m in (PRINTED, POW3)
    ]
    for library in (CALIBRATED, DRIFT):
        forecast = by_library(own, library)
        scores += [_scores(forecast[t], truths[t], library, t) for t in truths]
    scores += [
        _scores(by_form(own, form), own.truth, f"{form} alone", "observed")
        for form in OTHER_FORMS
    ]
    wins = [
        _wins(plain[ours], plain[theirs], own.truth, ours)
        for ours, theirs in PAIRS.items()
    ]
    return {
        "scores": _joined(scores),
        "wins": _joined(wins),
        "exponents": exponents(own),
    }


def _scores(forecast: Told, truth: Floats, method: str, target: Target) -> Columns:
    """Return a row for each metric and size; RMSE and bias in percentage points."""
    outcome = judged(forecast, truth, method, target)
    covered = outcome.covered
    columns: Mapping[str, Floats] = {
        "rmse": 100 * outcome.rmse,
        "rmse_error": 100 * outcome.rmse_error,
        "bias": 100 * outcome.bias,
        "covered": covered,
        "covered_error": np.sqrt(covered * (1 - covered) / outcome.replications),
        "length": outcome.length,
        "length_error": outcome.length_error,
    }
    rows = len(METRICS) * len(SIZES)
    return {
        "method": rows * [method],
        "target": rows * [target],
        "metric": [name for name in METRICS for _ in SIZES],
        "n": len(METRICS) * list(SIZES),
        **{
            name: np.round(values, 5).astype(np.float32).ravel().tolist()
            for name, values in columns.items()
        },
        "replications": rows * [outcome.replications],
    }


def _wins(ours: Told, theirs: Told, truth: Floats, method: str) -> Columns:
    """Return in how many of 24 cells RMSE, rounded as in print, is lower than POW3's.

    Standard errors are of replications drawn anew.
    """
    squares = np.stack([(forecast[0] - truth) ** 2 for forecast in (ours, theirs)])
    n = truth.shape[1]
    rng = np.random.default_rng(0)
    weights = rng.multinomial(n, np.full(n, 1 / n), RESAMPLED) / n
    weights = np.concatenate([np.full((1, n), 1 / n), weights])
    means = np.einsum("bj,wmjk->bwmk", weights, squares)
    rmse = np.round(100 * np.sqrt(means), 2)
    sign = np.sign(rmse[:, 1] - rmse[:, 0]).reshape(len(weights), -1)
    counts = {
        name: (sign == s).sum(1)
        for name, s in (("better", 1), ("tie", 0), ("worse", -1))
    }
    return {
        "method": [method],
        **{name: [int(count[0])] for name, count in counts.items()},
        **{f"{name}_error": [float(count[1:].std())] for name, count in counts.items()},
        "replications": [n],
    }


def _named(task: str, learner: str, columns: Columns) -> Columns:
    rows = len(next(iter(columns.values())))
    return {"task": rows * [task], "learner": rows * [learner], **columns}


def _joined(parts: Sequence[Columns]) -> Columns:
    return {name: [x for part in parts for x in part[name]] for name in parts[0]}
