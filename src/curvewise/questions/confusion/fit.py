"""Count curves of a task: whose matrices, at which sizes, and what is fitted to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, shortened, trials_where
from curvewise.metrics import Average, Floats
from curvewise.questions.sampling import refuse_crossed
from curvewise.stats.confusion import (
    Concern,
    ConfusionCurve,
    Examples,
    Method,
    Target,
    fit_confusion_curve,
)
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.validation import bad_value
from curvewise.text import joined, step
from curvewise.trials import Trials
from curvewise.trials.columns import Bools, Core, Ints, unpacked
from curvewise.trials.doors import Failed
from curvewise.trials.trial import shown_key


def examples_of(trials: Trials, rows: Ints, sizes: Floats) -> Examples | None:
    """Return how often each example was answered rightly at each size, or None.

    None where some of these trials did not record it. Trials do not say of which class an
    example is.
    """
    core, details = trials.core, trials.details()
    codes = details.example_set[rows]
    if not len(rows) or (codes < 0).any():
        return None
    ids = np.unique(np.concatenate([details.example_sets[c] for c in np.unique(codes)]))
    right, asked = np.zeros((2, len(sizes), len(ids)))
    for row, code in zip(rows, codes, strict=True):
        examples = details.example_sets[code]
        steps = core.steps[core.offsets[row] : core.offsets[row + 1]]
        at = np.ix_(np.searchsorted(sizes, steps), np.searchsorted(ids, examples))
        correct = unpacked(details.correct[row], len(steps), len(examples))
        was_asked = np.ones_like(correct)
        if len(details.asked[row]):
            was_asked = unpacked(details.asked[row], len(steps), len(examples))
        right[at] += correct & was_asked
        asked[at] += was_asked
    return Examples(None, right, asked)


# --------------------------------------------------------------------------------------
# What the question about count curves asks of trials: whose matrices, at which sizes.


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The confusion matrices of one algorithm on one task, size by size.

    Parameters
    ----------
    task, algorithm : str
    sizes : ndarray, shape (size,)
        Increasing.
    trained_on : ndarray, shape (size,)
        Training examples that the models saw; fewer than the size where some of them were
        held out to validate.
    counts : tuple of ndarray, shape (run, class, class)
        One for each size.
    examples : Examples or None
        Which test examples were answered rightly, where the trials kept it.
    failed : int
        How many trials failed.
    """

    task: str
    algorithm: str
    sizes: Floats
    trained_on: Floats
    counts: tuple[Floats, ...]
    examples: Examples | None
    failed: int

    @property
    def largest(self) -> float:
        """The largest number of training examples that was tried."""
        return float(self.trained_on[-1])

    @property
    def runs(self) -> list[int]:
        """How many runs there are at each size."""
        return [len(matrices) for matrices in self.counts]

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts[0].shape[-1])


def counted_by_task(trials: Trials, failed: Failed) -> dict[str, list[Counted]]:
    """Return the matrices of each algorithm on each task."""
    refuse_crossed(trials)
    if trials.design.unit == "cluster":
        raise CurvewiseError(
            f"These are repeated runs ({trials.design}). The matrices of one "
            f"{trials.design.noun} are of the same examples: summed, they would "
            "count each of them several times, and their mean is no count. Keep one "
            "run of each, or read them as independent: ",
            {"cluster": []},
            ".",
        )
    if not trials.details().classes.any():
        raise CurvewiseError(
            "These trials have no confusion counts. Read a table with columns tp, fp, fn "
            "and tn, or let an experiment yield 'counts'; of a published accuracy and F1, "
            "curvewise.stats.counts.recover_counts finds the matrix."
        )
    if failed not in ("raise", "worst"):
        raise bad_value(
            "failed",
            failed,
            "Pass 'worst' to count every answer of a failed run as wrong, or 'raise': a "
            "matrix is no single score.",
        )
    return {
        task: [
            _counted(one_task.where(algorithm=name), failed == "worst")
            for name in one_task.algorithms
        ]
        for task in trials.tasks
        for one_task in (trials.where(task=task),)
    }


def _counted(trials: Trials, is_worst: bool) -> Counted:
    core, details = trials.core, trials.details()
    task, algorithm = trials.tasks[0], trials.algorithms[0]
    broken = (core.status != 0) | (details.classes == 0)
    if broken.any() and not is_worst:
        _raise_failed(trials, broken)
    classes = np.unique(details.classes[details.classes > 0])
    if len(classes) != 1:
        what = (
            f"{joined([f'{k}' for k in classes])} classes. Read the runs of each number of "
            f"classes as a task of its own, or leave it out"
            if len(classes)
            else f"no confusion counts, first {_first(trials, broken)}. Leave it out"
        )
        raise CurvewiseError(
            f"The trials of '{algorithm}' on '{task}' have {what} with ",
            trials_where(algorithm=[...]),
            ".",
        )
    k = int(classes[0])
    rows = np.flatnonzero(details.classes > 0)
    matrices = details.counts.take(rows).flat.reshape(-1, k, k).astype(np.float64)
    part = core.take(rows)
    order = np.argsort(part.steps, kind="stable")
    sizes, first = np.unique(part.steps[order], return_index=True)
    _refuse_no_sizes(sizes, algorithm)
    by_size = np.split(matrices[order], first[1:])
    if is_worst and broken.any():
        # Only failed trials lack sizes; others may have had sizes of their own.
        met = core.take(np.flatnonzero(broken & (details.classes > 0))).steps
        reached = np.bincount(np.searchsorted(sizes, met), minlength=len(sizes))
        by_size = [
            _filled(counts, int(broken.sum() - there))
            for counts, there in zip(by_size, reached, strict=True)
        ]
    trained_on = _trained_on(part, order, first, sizes)
    examples = None if broken.any() else examples_of(trials, rows, sizes)
    sizes, trained_on, by_size, examples = _by_training(
        algorithm, sizes, trained_on, by_size, examples
    )
    return Counted(
        task=task,
        algorithm=algorithm,
        sizes=sizes,
        trained_on=trained_on,
        counts=tuple(by_size),
        examples=examples,
        failed=int(broken.sum()),
    )


def _refuse_no_sizes(sizes: Floats, algorithm: str) -> None:
    if not sizes[0] > 0:
        raise CurvewiseError(
            f"Step {sizes[0]:g} of '{algorithm}' is no size of a training set, which "
            "is above 0. Leave these rows out, or choose another column, ",
            {"step": "<column>"},
            ".",
        )


def _trained_on(part: Core, order: Ints, first: Ints, sizes: Floats) -> Floats:
    """Return how many examples were trained on, as the trials recorded it.

    A run that did not record it saw all that there were.
    """
    if "trained_on" not in part.values:
        return sizes
    recorded = part.values["trained_on"]
    amounts = np.where(np.isfinite(recorded), recorded, part.steps)[order]
    return np.array([runs.mean() for runs in np.split(amounts, first[1:])])


def _by_training(
    algorithm: str,
    sizes: Floats,
    trained_on: Floats,
    by_size: list[Floats],
    examples: Examples | None,
) -> tuple[Floats, Floats, list[Floats], Examples | None]:
    """Return everything in the order of what models saw, which is that of the curve."""
    order = np.argsort(trained_on, kind="stable")
    n = trained_on[order]
    if not (np.diff(n) > 0).all():
        i = int(np.argmin(np.diff(n)))
        raise CurvewiseError(
            f"Sizes {step(sizes[order[i]])} and {step(sizes[order[i + 1]])} of "
            f"'{algorithm}' were trained on the same number of examples, {step(n[i])}, "
            f"by 'trained_on'. Correct it, or leave one of the sizes out."
        )
    if examples is not None:
        examples = replace(
            examples, right=examples.right[order], asked=examples.asked[order]
        )
    return sizes[order], n, [by_size[i] for i in order], examples


def _filled(matrices: Floats, lacking: int) -> Floats:
    """Return the matrices of a size with `lacking` more, in which nothing is right.

    Every example of a class is called the next one.
    """
    if lacking <= 0:
        return matrices
    totals = np.round(matrices.sum((0, 2)) / len(matrices))
    wrong = np.roll(np.diag(totals), 1, axis=1)
    return np.concatenate([matrices, np.repeat(wrong[None], lacking, axis=0)])


def _raise_failed(trials: Trials, broken: Bools) -> None:
    verb = "has" if broken.sum() == 1 else "have"
    raise CurvewiseError(
        f"{broken.sum()} of {len(broken)} trials {verb} no confusion counts "
        f"along the whole curve, first {_first(trials, broken)}. Pass ",
        {"failed": "worst"},
        " to count every answer that is missing as wrong; dropping them would "
        "flatter the algorithms that crash.",
    )


def _first(trials: Trials, broken: Bools) -> str:
    row = int(np.argmax(broken))
    text = trials.details().error[row].tobytes().decode()
    reason = shortened(text, 200).rstrip(".") or "it has no counts"
    return f"{shown_key(trials.key(row))}: {reason}"


# --- Count curves of a task: fitted, and told at the sizes that the tables speak of ----


AVERAGED = frozenset(
    {"precision", "recall", "specificity", "f1", "f_beta", "jaccard"}
)  # those that are of one class, or a mean over classes
FEWEST = 2  # sizes of a curve
TIMES = (1.0, 2.0, 10.0)  # the largest size: what the tables tell

MetricSettings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class CountAsked:
    """What is asked of every curve.

    Parameters
    ----------
    metrics : dict
        From names to settings.
    target : {"mean", "observed", "model"}
    confidence : float
    test_size, runs : float, optional
        Of *observed*.
    method : str
    """

    metrics: Mapping[str, MetricSettings]
    target: Target
    confidence: float
    test_size: float | None
    runs: float | None
    method: Method

    def settings(self, name: str, positive: int | None = None) -> dict[str, Any]:
        """Return the settings of a metric, or those of it for one class."""
        settings = dict(self.metrics.get(name, {}))
        if positive is None:
            return settings
        return {key: settings[key] for key in settings if key != "average"} | {
            "positive": positive
        }

    def band(
        self, curve: ConfusionCurve, name: str, n: Floats, positive: int | None = None
    ) -> CurveBand:
        """Return a metric along a curve, as it was asked for, or that of one class."""
        return curve.band(
            name,
            n,
            target=self.target,
            confidence=self.confidence,
            test_size=self.test_size,
            runs=self.runs,
            **self.settings(name, positive),
        )

    def of_class(
        self, curve: ConfusionCurve, names: Sequence[str], n: float, k: int
    ) -> dict[str, Interval]:
        """Return metrics of class k against the rest at a size, from the same draws."""
        bands = curve.bands(
            {name: self.settings(name, k) for name in names},
            n,
            target=self.target,
            confidence=self.confidence,
            test_size=self.test_size,
            runs=self.runs,
            is_joint=False,
        )
        return {
            name: Interval(
                lower=float(band.lower[0]),
                upper=float(band.upper[0]),
                estimand=f"{name} of class {k}",
                guarantee=f"{100 * self.confidence:.4g} % by itself",
                value=float(band.value[0]),
            )
            for name, band in bands.items()
        }


@dataclass(frozen=True, slots=True, eq=False)
class CountFit:
    """The count curve of one algorithm on one task.

    Parameters
    ----------
    counted : Counted
        What was observed.
    curve : ConfusionCurve
    told : dict
        Each metric at the reference size and at multiples of the largest one.
    observed : dict
        Each metric at the sizes that were observed, runs taken together; NaN where a class
        that it is of was not in the test sets.
    lack_of_fit : float
        p value of the power law on the logits.
    """

    counted: Counted
    curve: ConfusionCurve
    told: dict[str, CurveBand]
    observed: dict[str, Floats]
    lack_of_fit: float

    @property
    def algorithm(self) -> str:
        """Whose curve it is."""
        return self.counted.algorithm

    @property
    def shares(self) -> Floats:
        """How often each class occurs in the test sets."""
        by_class = self.curve.counts.sum((0, 2))
        return np.asarray(by_class / by_class.sum())

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """What may be wrong."""
        return self.curve.concerns


@dataclass(frozen=True, slots=True, eq=False)
class CountTask:
    """The count curves of one task.

    Parameters
    ----------
    task : str
    size : float
        At which algorithms are told beside each other.
    fits : tuple of CountFit
    left_out : tuple of str
        Algorithms that were trained on one size only.
    """

    task: str
    size: float
    fits: tuple[CountFit, ...]
    left_out: tuple[str, ...]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Whose curves there are."""
        return tuple(fit.algorithm for fit in self.fits)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.fits[0].counted.classes


def settings_of(
    names: Sequence[str], average: Average | None, positive: int | None, beta: float
) -> dict[str, dict[str, Any]]:
    """Return each metric with the settings that it takes."""
    out: dict[str, dict[str, Any]] = {}
    for name in names:
        settings: dict[str, Any] = {}
        if name in AVERAGED and average is not None:
            settings["average"] = average
        if name in AVERAGED and positive is not None:
            settings["positive"] = positive
        if name == "f_beta":
            settings["beta"] = beta
        out[name] = settings
    return out


def has_curves(counted: Sequence[Counted]) -> bool:
    """Return whether anybody was trained on enough sizes."""
    return any(len(one.sizes) >= FEWEST for one in counted)


def count_task(
    task: str, counted: Sequence[Counted], size: float | None, asked: CountAsked
) -> CountTask:
    """Return the fitted curves of a task."""
    enough = [one for one in counted if len(one.sizes) >= FEWEST]
    if not enough:
        raise CurvewiseError(
            f"Task '{task}' has counts at 1 size, and a curve needs {FEWEST}. Train on "
            f"parts of the data, too: a half and a quarter. curvewise.stats.counts has "
            f"intervals for one size."
        )
    common = min(one.largest for one in enough) if size is None else float(size)
    return CountTask(
        task,
        common,
        tuple(_fitted(one, common, asked) for one in enough),
        tuple(one.algorithm for one in counted if len(one.sizes) < FEWEST),
    )


def _fitted(counted: Counted, size: float, asked: CountAsked) -> CountFit:
    try:
        curve = fit_confusion_curve(
            counted.sizes,
            counted.counts,
            counted.trained_on,
            method=asked.method,
            examples=counted.examples,
        )
    except CurvewiseError as problem:
        raise CurvewiseError(
            f"'{counted.algorithm}' on '{counted.task}': ",
            problem.message,
            argument=problem.argument,
        ) from problem
    n = np.array([size, *(times * counted.largest for times in TIMES[1:])])
    bands = {name: asked.band(curve, name, n) for name in asked.metrics}
    rates_seen = {
        name: observed(curve, name, how) for name, how in asked.metrics.items()
    }
    return CountFit(
        counted=counted,
        curve=curve,
        told=bands,
        observed=rates_seen,
        lack_of_fit=float(curve.lack_of_fit()),
    )


def observed(curve: ConfusionCurve, name: str, settings: MetricSettings) -> Floats:
    """Return a metric of what was observed; NaN where a class of it was not there.

    By convention 0/0 is the worst score, but where a class did not occur in the test sets
    nobody has seen how well it is found.
    """
    values = curve.observed(name, **settings)
    is_there = curve.counts.sum(-1) > 0  # (size, class)
    if name == "balanced_accuracy" or (name in AVERAGED and _is_macro(curve, settings)):
        return np.where(is_there.all(1), values, np.nan)
    if name in AVERAGED and "average" not in settings:
        k = settings.get("positive", 1)
        others = np.delete(is_there, k, axis=1).any(1)
        return np.where(
            others if name == "specificity" else is_there[:, k], values, np.nan
        )
    return values


def _is_macro(curve: ConfusionCurve, settings: MetricSettings) -> bool:
    if curve.classes > 2 and not {"average", "positive"} & set(settings):
        return True
    return settings.get("average") == "macro"
