"""How do precision, recall and F1 move with data? Count curves, task by task."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError, unknown
from curvewise.metrics import Average, Floats
from curvewise.questions.base import (
    Column,
    Columns,
    TaskAnswer,
    TaskTable,
    marked,
    of_algorithm,
    of_task,
)
from curvewise.questions.confusion import text
from curvewise.questions.confusion.fit import (
    CountAsked,
    Counted,
    CountFit,
    CountTask,
    count_task,
    counted_by_task,
    has_curves,
    settings_of,
)
from curvewise.questions.sampling import plain_setting
from curvewise.questions.sentences import number_cell, size_cell, titled
from curvewise.questions.sizes import asked_sizes, point_of
from curvewise.review.check import gate
from curvewise.stats.confusion import METHODS, METRICS, TARGETS, Method, Target
from curvewise.stats.interval import Interval
from curvewise.stats.validation import bad_value, checked_confidence, is_number, one_of
from curvewise.text import Cell, Piece, Table, joined, percent, step
from curvewise.text import count as counted
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import Failed

__all__ = [
    "Confusion",
    "CountAsked",
    "CountFit",
    "CountForecasts",
    "CountTask",
    "Counted",
    "confusion",
]


FOUR = ("error", "precision", "recall", "f1")


# --- What rates to expect with other amounts of data -----------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Foretold:
    """A metric of one algorithm on one task at a size that was asked about."""

    task: str
    algorithm: str
    metric: str
    size: float
    rate: Interval
    now: float  # at the largest size that was observed
    largest: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountForecasts(TaskTable):
    """The answer of `Confusion.at`: what rates to expect with other amounts of data.

    There is one row per task, algorithm, metric and size.
    """

    asked: CountAsked
    found: tuple[Foretold, ...]
    concerns: tuple[str, ...]
    provenance: Provenance

    def _columns(self) -> Columns:
        return (
            Column("task"),
            Column("algorithm", "algorithm"),
            Column("metric", "metric", show=text.label),
            Column("size", "examples", show=step),
            Column(
                "times", "times the data", lambda one: one.size / one.largest, size_cell
            ),
            Column("value", "", lambda one: one.rate.value),
            Column("lower", "", lambda one: one.rate.lower),
            Column("upper", "", lambda one: one.rate.upper),
            Column("", "then", lambda one: one.rate),
            Column("now", "now", show=number_cell),
        )

    def _records(self) -> Sequence[Foretold]:
        return self.found

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            *self.concerns,
            f"then: {percent(self.asked.confidence)} intervals for rates "
            f"{text.target(self.asked)}, at each size by itself. now: by the same curve "
            f"at the largest size that was observed.",
        ]

    def headline(self) -> str:
        """Return what was asked."""
        names = joined([text.label(name) for name in self.asked.metrics])
        return f"{names} with other amounts of data"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusion(TaskAnswer):
    """The answer of `confusion`: how the rates of each algorithm move with data.

    Parameters
    ----------
    asked : CountAsked
        Which metrics, for which unknown, how surely.
    names : tuple of str
        Of the classes.
    found : tuple of CountTask
    left_out : tuple of str
        Tasks on which nobody was trained on two sizes; see `CountTask.left_out` for single
        algorithms.
    provenance : Provenance
    """

    asked: CountAsked
    names: tuple[str, ...]
    found: tuple[CountTask, ...]
    left_out: tuple[str, ...]
    provenance: Provenance

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were asked for."""
        return tuple(self.asked.metrics)

    @property
    def failed(self) -> int:
        """How many trials failed."""
        return sum(fit.counted.failed for task in self.found for fit in task.fits)

    def of(self, task: str | None = None) -> CountTask:
        """Return the curves of a task; it may be left out where there is one."""
        return of_task(self.found, task)[0]

    def curve(self, algorithm: str, task: str | None = None) -> CountFit:
        """Return the curve of an algorithm."""
        return of_algorithm(self.of(task).fits, algorithm)

    # --- questions -----------------------------------------------------------------------

    def at(self, size: ArrayLike) -> CountForecasts:
        """Return what to expect with other amounts of data.

        Parameters
        ----------
        size : float or array_like
            Numbers of training examples.

        Examples
        --------
        >>> import curvewise as cw
        >>> answer = cw.confusion(cw.example("counts"), "f1")
        >>> [row["algorithm"] for row in answer.at(12_800).rows()]
        ['trees', 'bayes']
        """
        sizes = asked_sizes(size)
        concerns = (
            line for task in self.found for line in text.concern_lines(task, sizes)
        )
        return CountForecasts(
            self.asked,
            tuple(self._foretold(sizes)),
            tuple(concerns),
            self.provenance.asked(
                "at", {"to": joined([step(float(n)) for n in sizes])}
            ),
        )

    def _foretold(self, sizes: Floats) -> Iterator[Foretold]:
        fits = ((curves.task, fit) for curves in self.found for fit in curves.fits)
        for (task, fit), name in product(fits, self.metrics):
            largest = fit.counted.largest
            band = self.asked.band(fit.curve, name, sizes)
            settings = self.asked.metrics[name]
            now = float(fit.curve.metric(name, largest, **settings))
            for i, n in enumerate(sizes):
                yield Foretold(
                    task=task,
                    algorithm=fit.algorithm,
                    metric=name,
                    size=float(n),
                    rate=point_of(band, i),
                    now=now,
                    largest=largest,
                )

    def matrix(self, algorithm: str, size: float, task: str | None = None) -> Floats:
        """Return the confusion matrix to expect at a size, as shares that sum to 1.

        Rows are true classes, columns what they are called.
        """
        return self.curve(algorithm, task).curve.rates(size)

    # --- tables --------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, algorithm and metric.

        ``value``, ``lower`` and ``upper`` are at ``size``; those that end in ``_2_times``
        and ``_10_times`` at multiples of the largest size that was tried.
        """
        return [row for task in self.found for row in text.fit_rows(task)]

    def size_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, algorithm, metric and size: observed, and fitted."""
        return [
            row
            for task in self.found
            for fit in task.fits
            for row in text.size_rows(task, fit, self.asked)
        ]

    def class_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, algorithm and class: its recall, precision and F1."""
        return [
            row
            for task in self.found
            for row in text.class_rows(task, self.asked, self.names)
        ]

    def _tables(self) -> dict[str, list[dict[str, Cell]]]:
        verdicts = [(t, line) for t in self.tasks for line in self.verdicts(t)]
        return {
            "sizes": self.size_rows(),
            "classes": self.class_rows(),
            "verdicts": [{"task": t, "verdict": line} for t, line in verdicts],
            "notes": [{"note": note} for note in self.notes()],
        }

    # --- for people ----------------------------------------------------------------------

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the curves of one task with headings for people."""
        return text.fit_table(self.of(task))

    def class_table(self, task: str) -> list[dict[str, Cell]]:
        """Return the classes of one task with headings for people, the hardest of many.

        `class_rows` has all.
        """
        return text.class_table(self.of(task), self.asked, self.names)

    def headline(self) -> str:
        """Return in one sentence how good the best is, and what more data would buy."""
        return text.headline(self.found, self.asked)

    def would_change(self) -> str:
        """Return what would change that: more test examples, runs, training data."""
        return text.would_change(self.found)

    def verdicts(self, task: str) -> list[str]:
        """Return in words how far each algorithm came, and what more data would buy."""
        curves = self.of(task)
        return [text.verdict(curves, fit, self.asked) for fit in curves.fits]

    def concerns(self, task: str) -> list[str]:
        """Return what may be wrong with the curves of a task."""
        return text.concern_lines(self.of(task))

    def notes(self) -> list[str]:
        """Return what a reader must know to read the tables."""
        return text.notes_of(self.found, self.asked, self.left_out, self.names)

    def _title(self) -> str:
        return text.tables_heading(self.asked)

    def _records(self) -> Sequence[CountTask]:
        return self.found

    def _about(self, task: str) -> Iterator[Piece]:
        curves = self.of(task)
        yield Table(self.table(task), f"{self._title()}, {titled(task)}")
        if curves.classes > 2:
            yield Table(
                self.class_table(task), text.class_heading(curves), is_titled=True
            )
        yield from self.verdicts(task)
        yield from marked(self.concerns(task))


def confusion(
    trials: Trials,
    metric: str | Sequence[str] | None = None,
    *,
    size: float | None = None,
    method: Method = "drift",
    target: Target = "mean",
    test_size: float | None = None,
    runs: float | None = None,
    average: Average | None = None,
    positive: int | str | None = None,
    beta: float = 2.0,
    classes: Sequence[str] | None = None,
    failed: Failed = "raise",
    confidence: float = 0.95,
    anyway: bool = False,
) -> Confusion:
    r"""Return how precision, recall, F1 and their like move with data.

    Parameters
    ----------
    trials : Trials
        With confusion counts, whose steps are sizes of training sets, at least two.
    metric : str or sequence of str, optional
        error, accuracy, precision, recall, specificity, f1, f_beta, jaccard,
        balanced_accuracy, mcc or kappa; error, precision, recall and F1 if left out.
    size : float, optional
        At which algorithms are told beside each other. If left out, the largest that all of
        a task have.
    method : {"drift", "calibrated", "paper"}
        How curves are fitted, see `curvewise.stats.confusion.fit_confusion_curve`.
    target : {"mean", "observed", "model"}
        The unknown that intervals are for: rates averaged over training sets; what the
        mean of `runs` models will show on one test set of `test_size`; those of one more
        model.
    test_size, runs : float, optional
        Of *observed*; as at the nearest size that was observed, if left out.
    average : {"macro", "micro", "weighted"}, optional
        How precision, recall, F1 and Jaccard are averaged over classes. If left out, of
        two classes they are those of class 1, of more they are macro averages.
    positive : int or str, optional
        The class that they are of instead: its number, or its name among `classes`.
    beta : float
        Of f_beta: how many times more recall counts than precision.
    classes : sequence of str, optional
        What to call the classes.
    failed : {"raise", "worst"}
        Whether a failed trial counts as one whose every answer is wrong, at the sizes that
        it did not reach.
    confidence : float
        Of intervals.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Returns
    -------
    Confusion
        Print it; ask it `Confusion.at` for the rates with more data.

    Notes
    -----
    The confusion matrix is modelled, not the metric [1]_. Of true class c, the share that
    is called right has

    .. math:: \operatorname{logit} \Pi_c(n) = \alpha_c + \eta_c n^\gamma

    and every metric follows from the shares. The published bands are too wide for small
    training sets and too narrow for large ones; ours say which unknown they are for, and
    were measured to contain it. Where the power law does not hold, its level and slope may
    drift.

    References
    ----------
    .. [1] Xue et al., 2025.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.confusion(cw.example("counts"), "f1")
    >>> [(row["algorithm"], row["size"]) for row in answer.rows()]
    [('trees', 1280.0), ('bayes', 1280.0)]
    """
    must_be_trials(trials)
    if len(trials) == 0:
        raise CurvewiseError("There are no trials to judge. Check what was read.")
    one_of("method", method, METHODS)
    one_of("target", target, TARGETS)
    checked_confidence(confidence)
    if size is not None and not (is_number(size) and size > 0):
        raise bad_value("size", size, "Pass a number of training examples.")
    chosen = _metrics(metric)
    if classes is not None and not _is_row(classes):
        raise bad_value("classes", classes, "Pass a list of names.")
    asked = CountAsked(
        metrics=settings_of(chosen, average, _place(positive, classes), beta),
        target=target,
        confidence=confidence,
        test_size=test_size,
        runs=runs,
        method=method,
    )
    cautions = gate(trials, "confusion", anyway=anyway)
    by_task = counted_by_task(trials, failed)
    enough = [task for task, counts in by_task.items() if has_curves(counts)]
    curves = tuple(
        count_task(task, by_task[task], size, asked) for task in enough or by_task
    )
    settings: dict[str, Cell] = {
        "metric": joined(chosen),
        "size": size,
        "method": method,
        "target": target,
        "failed": plain_setting(failed),
        "confidence": confidence,
    }
    more = {
        "test_size": test_size,
        "runs": runs,
        "average": average,
        "positive": positive,
        "classes": None if classes is None else joined([str(c) for c in classes]),
        "beta": beta if "f_beta" in chosen else None,
    }
    settings |= {name: value for name, value in more.items() if value is not None}
    return Confusion(
        asked=asked,
        names=_class_names(classes, max(task.classes for task in curves)),
        found=curves,
        left_out=tuple(task for task in by_task if task not in enough),
        provenance=Provenance.of(trials, "confusion", settings, cautions=cautions),
    )


def _is_row(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _metrics(metric: str | Sequence[str] | None) -> tuple[str, ...]:
    if metric is None:
        return FOUR
    # Each once, in the order that they were asked for.
    names: Iterable[Any] = metric if _is_row(metric) else [metric]
    chosen = tuple(dict.fromkeys(names))
    offered = [name for name in METRICS if name != "cost"]
    for name in chosen:
        if name not in offered:
            raise unknown("metric", name, offered)
    if not chosen:
        raise CurvewiseError(
            "No metric was asked for. Pass one, such as 'f1'.", argument="metric"
        )
    return chosen


def _place(positive: int | str | None, classes: Sequence[str] | None) -> int | None:
    """Return the number of the class that was named."""
    if positive is None or (
        isinstance(positive, int | np.integer) and not isinstance(positive, bool)
    ):
        return positive
    names = [str(name) for name in classes or ()]
    if positive not in names:
        listing = f", {', '.join(names)}," if names else ""
        raise CurvewiseError(
            f"positive is {positive!r}. Pass the number of a class, or one of its "
            f"names{listing} with ",
            {"classes": [...]},
            ".",
            argument="positive",
            value=positive,
        )
    return names.index(str(positive))


def _class_names(classes: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if classes is None:
        return tuple(str(k) for k in range(count))
    names = tuple(str(name) for name in classes)
    if len(names) != count or len(set(names)) != count:
        raise CurvewiseError(
            f"classes has {counted(len(names), 'name')}. Pass one for each of the {count} "
            f"classes, all different.",
            argument="classes",
            value=classes,
        )
    return names
