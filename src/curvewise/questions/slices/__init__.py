"""What is at a percentile? Hyperparameters from along the distribution, run again."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.answer import Answer, Provenance
from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.metrics import Floats, Metric
from curvewise.questions.performance import Performance, performance
from curvewise.questions.performance.fit import Comparison, Distribution, compared
from curvewise.questions.performance.text import sentences
from curvewise.questions.sampling import metric_of, samples
from curvewise.questions.sentences import interval_cell
from curvewise.review.check import ungated
from curvewise.stats.bands import Kind
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.distribution import rank
from curvewise.text import Cell, Piece, Table, percent, plain, shown
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed
from curvewise.trials.trial import Value

__all__ = [
    "MeanCurve",
    "Slice",
    "Slices",
    "slices",
]


_GRID = 200  # steps, where the curves of the trials do not share theirs


@dataclass(frozen=True, slots=True, eq=False)
class MeanCurve:
    """The mean of many learning curves, and how much they differ.

    Parameters
    ----------
    steps, mean, sd : ndarray, shape (step,)
        `sd` is the standard deviation from trial to trial: no doubt about the mean.
    """

    steps: Floats
    mean: Floats
    sd: Floats


# --- Which trials sit at given percentiles of the scores -------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The trial that sits at a percentile.

    Parameters
    ----------
    percentile : float
        Out of 100; the higher, the better, whichever way the metric goes.
    name : str
        What its hyperparameters are called as an algorithm: "svm p99".
    number : int
        Of the trial.
    score : float
        Of the trial, when it was chosen.
    params : mapping
    """

    percentile: float
    name: str
    number: int
    score: float
    params: Mapping[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """The hyperparameters at one percentile, and what they did when run again."""

    chosen: Chosen
    distribution: Distribution
    curve: MeanCurve | None

    @property
    def sd(self) -> float:
        """The standard deviation of the reruns' scores."""
        scores = self.distribution.scores
        return float(scores.std(ddof=1)) if len(scores) > 1 else float("nan")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Slices(Answer):
    """The answer of `quantile_slices`.

    Parameters
    ----------
    metric : Metric
    original : Distribution
        Of the trials that the percentiles were taken from.
    slices : tuple of Slice
        From the lowest percentile to the highest.
    comparisons : tuple of Comparison
        Each slice against each of a lower percentile, quantile by quantile; the bands of
        all hold at once.
    performance : Performance
        Of the reruns.
    trials : Trials
        The reruns, each slice an algorithm of its own: ready for everything that takes
        trials, such as ``trials.lines(metric)``.
    """

    metric: Metric
    original: Distribution
    slices: tuple[Slice, ...]
    comparisons: tuple[Comparison, ...]
    performance: Performance
    trials: Trials
    provenance: Provenance

    @property
    def task(self) -> str:
        """The task."""
        return self.original.task

    @property
    def algorithm(self) -> str:
        """The algorithm whose hyperparameters were chosen."""
        return self.original.algorithm

    @property
    def percentiles(self) -> tuple[float, ...]:
        """The percentiles, in ascending order."""
        return tuple(s.chosen.percentile for s in self.slices)

    def at(self, percentile: float) -> Slice:
        """Return the slice at a percentile."""
        for one in self.slices:
            if one.chosen.percentile == percentile:
                return one
        raise unknown("percentile", percentile, self.percentiles)

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per slice.

        ``number`` and ``score`` are the trial's that was chosen; all that follows is about
        its reruns. ``params`` is JSON.
        """
        return [self._row(s) for s in self.slices]

    def _row(self, one: Slice) -> dict[str, Cell]:
        (row,) = [
            r for r in self.performance.rows() if r["algorithm"] == one.chosen.name
        ]
        return {
            "task": self.task,
            "algorithm": self.algorithm,
            "percentile": one.chosen.percentile,
            "number": one.chosen.number,
            "score": one.chosen.score,
            "slice": one.chosen.name,
            **{n: v for n, v in row.items() if n not in ("task", "algorithm")},
            "sd": one.sd,
            "params": json.dumps(one.chosen.params),
        }

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""
        alpha = self.performance.alpha
        worst, best = f"worst {percent(alpha)}", f"best {percent(1 - alpha)}"
        out: list[dict[str, Cell]] = []
        for one in self.slices:
            d = one.distribution
            row: dict[str, Cell] = {
                "percentile": f"{one.chosen.percentile:g}",
                "score then": one.chosen.score,
                "reruns": len(d.scores),
                "failed": d.failed,
                "mean": interval_cell(d.mean_interval),
                "sd": one.sd,
                worst: shown(d.worst_interval.value),
                best: shown(d.best_interval.value),
                "hyperparameters": _told(one.chosen.params),
            }
            out.append(row)
        return out

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        better = f"{self.metric.direction} is better"
        first = self.slices[0].distribution
        return [
            f"percentile: how many of 100 trials of {self.algorithm} score no better "
            f"({self.metric.label}, {better}). score then: of the trial that was chosen; "
            f"chosen for its score, it had luck, and its reruns tell how much.",
            f"reruns: the same hyperparameters with fresh data and seeds. sd: from rerun "
            f"to rerun. In brackets: {first.mean_interval.guarantee}.",
            f"all {len(self.comparisons)} comparisons of two slices hold at once, with "
            f"{percent(self.performance.confidence)} confidence; their quantiles count "
            f"from the worst reruns to the best.",
            *[n for n in self.performance.notes() if "failed" in n],
        ]

    def verdict(self) -> str:
        """Return in words which slices cross, which are better, and which nobody tells."""
        return " ".join([*self._luck(), *sentences(self.comparisons)])

    def _luck(self) -> list[str]:
        top = self.slices[-1]
        then, now = top.chosen.score, top.distribution.mean
        return [
            f"The hyperparameters at percentile {top.chosen.percentile:g} scored "
            f"{shown(then)} when they were chosen, and {shown(now)} on average when run "
            f"again."
        ]

    def __str__(self) -> str:
        head = (
            f"{self.metric}: {self.algorithm} on {self.task}, hyperparameters at "
            f"percentiles of {len(self.original.scores):,} trials, run again"
        )
        lines = [*self.cautions, head, "", plain(self.table(), indent="  "), ""]
        lines += [*self._luck(), *sentences(self.comparisons), "", *self.notes()]
        return "\n".join([*lines, str(self.provenance)])

    def _parts(self) -> Iterator[Piece]:
        yield Table(self.table(), f"{self.algorithm} on {self.task}, run again")
        yield from [*self._luck(), *sentences(self.comparisons)]


def _told(params: Mapping[str, Any]) -> str:
    def value(v: Any) -> str:
        return shown(v) if isinstance(v, int | float | str) else json.dumps(v)

    return ", ".join(f"{name}={value(v)}" for name, v in params.items()) or "none"


def slices(
    trials: Trials,
    reruns: Trials,
    chosen: Sequence[Chosen],
    metric: str | None = None,
    *,
    task: str,
    algorithm: str,
    alpha: float = 0.5,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    band: Kind = "equal_local_levels",
    grid: int | ArrayLike | None = None,
    settings: Mapping[str, Cell] | None = None,
    rerun_seed: int | None = None,
    anyway: bool = False,
) -> Slices:
    """Return what the chosen hyperparameters did when they were run again.

    Parameters
    ----------
    trials : Trials
        Which they were chosen from.
    reruns : Trials
        Each slice an algorithm, under the name that `chosen` gives it.
    chosen : sequence of Chosen
    metric : str, optional
    task, algorithm : str
        Of `trials`.
    alpha, at, failed, confidence, band
        As in `curvewise.performance`.
    grid : int or array_like, optional
        Steps of the mean curves, or how many; those of the trials if left out.
    settings : mapping, optional
        What else was asked for, to be told.
    rerun_seed : int, optional
        Which the reruns follow from.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.
    """
    name = metric_of(trials, metric)
    options: dict[str, Any] = {
        "alpha": alpha, "at": at, "failed": failed, "confidence": confidence, "band": band
    }  # fmt: skip
    runs = trials.where(task=task, algorithm=algorithm)
    before = performance(runs, name, **options, anyway=anyway)
    with ungated():  # reruns are ours
        after = performance(reruns, name, **options)
    curves = _mean_curves(reruns, name, grid, failed)
    pairs = list(itertools.combinations(reversed(chosen), 2))
    each = shared_confidence(confidence, max(len(pairs), 1))
    record = dict(settings or {}) | {
        n: v for n, v in before.provenance.settings.items() if n in ("metric", *options)
    }
    record["reruns"] = reruns.digest()[:12]
    return Slices(
        metric=before.metric,
        original=before.one(algorithm, task),
        slices=tuple(
            Slice(c, after.one(c.name, task), curves.get(c.name)) for c in chosen
        ),
        comparisons=tuple(
            compared(after.one(a.name, task), after.one(b.name, task), each)
            for a, b in pairs
        ),
        performance=after,
        trials=reruns,
        provenance=Provenance.of(
            runs, "quantile_slices", record, rerun_seed, cautions=before.cautions
        ),
    )


def _mean_curves(
    reruns: Trials, metric: str, grid: int | ArrayLike | None, failed: Failed
) -> dict[str, MeanCurve]:
    if reruns.core.lengths.max() < 2:
        return {}  # scores without a curve
    try:
        lines = reruns.lines(metric, grid=grid, fill="error", failed=failed)
    except CurvewiseError:  # steps of their own
        many = _GRID if grid is None else grid
        lines = reruns.lines(metric, grid=many, fill="linear", failed=failed)
    return {
        name: MeanCurve(
            lines.steps,
            curves.mean(axis=0),
            curves.std(axis=0, ddof=min(1, len(curves) - 1)),
        )
        for name, curves in lines.items()
    }


def choose(
    trials: Trials,
    metric: str | None,
    *,
    task: str | None,
    algorithm: str | None,
    percentiles: Sequence[float],
    at: At,
    failed: Failed,
) -> tuple[Chosen, ...]:
    """Return the trials that sit at these percentiles of the scores.

    The trial at percentile p is the order statistic ``ceil(n p / 100)``, counted from the
    worst; of trials that score the same, the one of the lower number comes first.
    """
    name = metric_of(trials, metric)
    task = _only(trials.tasks, task, "task")
    algorithm = _only(trials.algorithms, algorithm, "algorithm")
    runs = trials.where(task=task, algorithm=algorithm)
    sample = samples(runs, name, at, failed, averaged=False)[task][algorithm]
    ranks = _checked(percentiles)
    order = np.argsort(trials.metric(name).sign * sample.scores, kind="stable")
    places = order[np.maximum(rank(len(order), ranks / 100), 1) - 1]
    twice = [
        (p, q)
        for (p, i), (q, j) in itertools.pairwise(zip(ranks, places, strict=True))
        if i == j
    ]
    if twice:
        p, q = twice[0]
        raise CurvewiseError(
            f"Percentiles {p:g} and {q:g} of {len(order)} trials are the same trial. Pass "
            f"percentiles that are further apart, or run more trials."
        )
    rows = np.searchsorted(runs.core.number, sample.numbers[places])
    return tuple(
        Chosen(
            percentile=float(p),
            name=f"{algorithm} p{p:g}",
            number=int(sample.numbers[place]),
            score=float(sample.scores[place]),
            params=runs[int(row)].params,
        )
        for p, place, row in zip(ranks, places, rows, strict=True)
    )


def _checked(percentiles: Sequence[float]) -> Floats:
    try:
        ranks = np.unique(np.asarray(percentiles, dtype=np.float64))
    except (TypeError, ValueError):
        ranks = np.empty(0)
    if ranks.ndim != 1 or len(ranks) == 0 or not ((ranks >= 0) & (ranks <= 100)).all():
        raise CurvewiseError(
            f"percentiles is {percentiles!r}. Pass numbers from 0 to 100, such as "
            f"(1, 50, 95, 99).",
            argument="percentiles",
            value=percentiles,
        )
    return ranks


def _only(names: Sequence[str], choice: str | None, kind: str) -> str:
    if choice is None:
        if len(names) != 1:
            raise CurvewiseError(
                f"Which {kind}? These trials have {listed(names) or 'none'}.",
                fixes=[{kind: ...}],
            )
        return names[0]
    if choice not in names:
        raise unknown(kind, choice, names)
    return choice
