"""How good is it, and how hard to tune? The distribution of scores, task by task."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError, Keyword, whole
from curvewise.metrics import Metric
from curvewise.questions.base import (
    Column,
    Columns,
    TaskTable,
    of_algorithm,
    of_task,
    rows_of,
    table_of,
)
from curvewise.questions.performance import text
from curvewise.questions.performance.fit import (
    Contrast,
    Distribution,
    Overall,
    compared,
    contrasts,
    distribution_of,
    overall,
    profiles,
)
from curvewise.questions.sampling import (
    Inquiry,
    Sample,
    failed_score,
    plain_setting,
    samples,
    score_title,
    unit_of,
)
from curvewise.questions.sentences import titled
from curvewise.stats.bands import KINDS, Kind
from curvewise.stats.comparison import dominance, quantile_shift, shared_confidence
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.validation import checked_alpha, one_of
from curvewise.text import Cell, Piece, Table, percent
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed

__all__ = [
    "Performance",
    "performance",
]


_MOST_PAIRS = 10  # that a reader looks at one by one


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Performance(TaskTable):
    """The answer of `performance`.

    Parameters
    ----------
    distributions : tuple of Distribution
        One per task and algorithm.
    contrasts : tuple of Contrast
        Every pair of algorithms on every task, with intervals that hold all at once.
    overall : tuple of Overall
        One per algorithm, over all tasks; empty where there is one task, or where not
        every algorithm met every task.

    Notes
    -----
    There is one row per task and algorithm. ``cvar_best`` is the mean of the best
    ``1 - alpha`` of the trials, ``cvar_worst`` that of the worst ``alpha``; what ends in
    ``_lower`` and ``_upper`` are the ends of an interval or, for the median, of the band;
    ``monte_carlo_error`` is the standard error that chance left in those, 0 where none was
    used. With a threshold: ``reached`` is the share of trials that are at least as good,
    ``mean_reached`` how good those are on average, ``partial`` the paper's partial
    expectation, ``excess`` by how much the threshold is passed on average.
    """

    metric: Metric
    alpha: float
    threshold: float | None
    failed_score: str
    distributions: tuple[Distribution, ...]
    contrasts: tuple[Contrast, ...]
    overall: tuple[Overall, ...]
    provenance: Provenance

    @property
    def confidence(self) -> float:
        """The confidence that was asked for."""
        return float(self.provenance.settings["confidence"])  # type: ignore[arg-type]

    @property
    def sharper(self) -> float | None:
        """Half of the widest half-width of the best trials, to one digit.

        A half-width worth planning for; None where no interval has a length.
        """
        # Not half of the usual one: where algorithms vary unlike each other, the widest
        # would take millions of trials to come that far.
        widths = [d.best_interval.half_width for d in self.distributions]
        widest = max((w for w in widths if 0 < w < math.inf), default=None)
        return None if widest is None else float(f"{widest / 2:.1g}")

    def of(self, task: str | None = None) -> tuple[Distribution, ...]:
        """Return the distributions of a task; it may be left out where there is one."""
        return of_task(self.distributions, task)

    def one(self, algorithm: str, task: str | None = None) -> Distribution:
        """Return the distribution of one algorithm on one task.

        Parameters
        ----------
        algorithm : str
        task : str, optional
            Needed where the answer has several.
        """
        return of_algorithm(self.of(task), algorithm)

    def shift(
        self, one: str, other: str, p: ArrayLike, *, task: str | None = None
    ) -> CurveBand:
        """Return by how much the quantiles of `one` exceed those of `other`.

        Parameters
        ----------
        one, other : str
            Names of algorithms.
        p : array_like
            Shares between 0 and 1.
        task : str, optional
            Needed where the answer has several.
        """
        a, b = (self.one(name, task) for name in (one, other))
        return quantile_shift(
            a.scores,
            b.scores,
            p,
            confidence=self.confidence,
            kind=a.band.kind,
            support=self.metric.range,
        )

    def dominance(
        self, one: str, other: str, *, task: str | None = None, seed: int = 0
    ) -> Interval:
        """Return how far `one` is from being better than `other` at every quantile.

        The violation ratio of almost stochastic order: 0 where it always is, 1 where
        `other` always is; below .5 `one` is ahead on the whole.

        Parameters
        ----------
        one, other : str
            Names of algorithms.
        task : str, optional
            Needed where the answer has several.
        seed : int
            For the bootstrap behind its upper end.
        """
        pair = [self.one(name, task) for name in (one, other)]
        a, b = (d.metric.sign * d.scores for d in pair)
        rng = np.random.default_rng(whole(seed, "seed", 0))
        return dominance(a, b, confidence=self.confidence, rng=rng)

    def profiles(self) -> dict[str, CurveBand]:
        """Return which share of the trials passes each score, all tasks counting alike."""
        return profiles(self.distributions, self.confidence)

    def _columns(self) -> Columns:
        best, worst = f"best {percent(1 - self.alpha)}", f"worst {percent(self.alpha)}"
        units = f"{self.distributions[0].unit}s"
        columns = (
            Column("task"),
            Column("algorithm", "algorithm"),
            Column("trials", units, lambda d: len(d.scores)),
            Column("failed", "failed"),
            Column("mean", "mean", lambda d: d.mean_interval),
            Column("median", "", lambda d: d.median_interval),
            Column("cvar_best", best, lambda d: d.best_interval),
            Column("cvar_worst", worst, lambda d: d.worst_interval),
            Column("", "median", lambda d: d.median_interval),
            Column("monte_carlo_error"),
        )
        if self.threshold is None:
            return columns
        z = self.threshold
        return (
            *columns,
            Column("reached", f"reach {z:g}", lambda d: d.reaching(z).probability),
            Column(
                "mean_reached", "mean of those", lambda d: d.reaching(z).mean_reached
            ),
            Column("partial", "", lambda d: d.reaching(z).partial),
            Column("excess", "", lambda d: d.reaching(z).excess),
        )

    def _records(self) -> Sequence[Distribution]:
        return self.distributions

    def best_table(self, task: str) -> list[dict[str, Cell]]:
        """Return the mean of the best shares of the trials, for several shares."""
        return text.best_table(self.of(task))

    def tuning_table(self, task: str) -> list[dict[str, Cell]]:
        """Return how good the best of k trials is on average, for several k."""
        return text.tuning_table(self.of(task))

    def contrast_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and pair of algorithms, for programs."""
        return rows_of(text.contrast_columns(self.alpha), self.contrasts)

    def contrast_table(self, task: str) -> list[dict[str, Cell]]:
        """Return the pairs of one task with headings for people.

        Of many pairs those of the leader, who has the best mean over the best
        ``1 - alpha`` of its trials; `contrast_rows` has all.
        """
        return table_of(text.contrast_columns(self.alpha), self._told(task))

    def _told(self, task: str) -> list[Contrast]:
        """Return the pairs of a task that are worth a line each."""
        pairs = [c for c in self.contrasts if c.task == task]
        if len(pairs) <= _MOST_PAIRS:
            return pairs
        up = self.metric.on(task).sign
        leader = max(self.of(task), key=lambda d: up * d.best_interval.value).algorithm
        return [c for c in pairs if leader in (c.one, c.other)]

    def overall_table(self) -> list[dict[str, Cell]]:
        """Return the algorithms over all tasks with headings for people."""
        return table_of(text.overall_columns(self.overall), self.overall)

    def notes(self) -> list[str]:
        """Return what a reader must know to read the tables."""
        return text.notes_of(self)

    def lead_table(self) -> list[dict[str, Cell]]:
        """Return who is in front on each task, and from how many others that is sure."""
        return text.lead_table(self)

    def headline(self) -> str:
        """Return in one sentence, over all tasks, who is in front and how sure that is.

        Examples
        --------
        >>> import curvewise as cw
        >>> two = cw.example("search").where(task="rings", algorithm=["forest", "svm"])
        >>> print(cw.performance(two).headline())
        On rings, there is no clear winner: svm is in front (mean accuracy of the best \
half of its trials: 0.923, between 0.893 and 0.960 with 95 % confidence), but cannot be \
told apart yet from forest, though forest has the better mean over all trials, which is \
not tested.
        """
        return text.headline(self)

    def would_change(self) -> str:
        """Return what would change that: more trials, another score of failed ones."""
        return text.would_change(self)

    def verdict(self, task: str) -> str:
        """Return in words who is ahead on a task, and how sure that is."""
        pairs = self._told(task)
        return text.verdict_of(self.of(task), pairs, self.alpha, self.confidence)

    def where(self, task: str) -> list[str]:
        """Return in words at which quantiles one algorithm is better than another.

        All of it, on all tasks, holds at once with the confidence that was asked for, for
        any number of trials and any distribution.
        """
        # Where the bands of all cells hold, so does what follows for all their pairs; a
        # comparison halves what may go wrong between its two.
        both = 1 - 2 * (1 - self.confidence) / len(self.distributions)
        by_name = {d.algorithm: d for d in self.of(task)}
        pairs = [(by_name[c.one], by_name[c.other]) for c in self._told(task)]
        return text.sentences([compared(one, other, both) for one, other in pairs])

    def _tables(self) -> dict[str, list[dict[str, Cell]]]:
        overall = rows_of(text.overall_columns(self.overall), self.overall)
        return {"pairs": self.contrast_rows(), "overall": overall}

    def _title(self) -> str:
        return score_title(self.metric, self.provenance.settings["at"])

    def _about(self, task: str) -> Iterator[Piece]:
        yield Table(self.table(task), f"{self.metric}, {titled(task)}")
        if pairs := self.contrast_table(task):
            yield Table(pairs, f"Pairs of algorithms on {task}")

    def _over_all(self) -> Iterator[Piece]:
        if self.overall:
            yield Table(self.overall_table(), f"All {len(self.tasks)} tasks")


def performance(
    trials: Trials,
    metric: str | None = None,
    *,
    alpha: float = 0.5,
    threshold: float | None = None,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    band: Kind = "kolmogorov",
    family: bool = False,
    over_tasks: bool | None = None,
    seed: int = 0,
    anyway: bool = False,
) -> Performance:
    """Return the distribution of scores of each algorithm on each task.

    Parameters
    ----------
    trials : Trials
    metric : str, optional
        May be left out where the trials have only one.
    alpha : float
        Where the trials are cut: the mean of the best ``1 - alpha`` and of the worst
        ``alpha`` are reported (CVaR, both tails).
    threshold : float, optional
        A score worth reaching: how many trials do, and how good those are.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores.
    confidence : float
        Of each band; of all comparisons of algorithms together.
    band : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        See `curvewise.stats.bands.half_width`.
    family : bool
        Whether the bands of all algorithms on all tasks are to hold together, and not
        each for itself.
    over_tasks : bool, optional
        Whether to sum up all tasks, which needs scores that mean the same on each. If left
        out: where the metric has a range, such as a rate.
    seed : int
        For the bootstrap, which stands in where a metric has no bound.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Notes
    -----
    The unit is the trial: its hyperparameters, seed and data were drawn anew. How good an
    algorithm is, is the whole distribution; how hard it is to tune, is how far the best
    trials are from the rest [1]_. "Best" follows the metric's direction. Every number
    read off a band is covered together with all others.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
    >>> answer.tasks
    ('rings', 'waves')
    """
    checked_alpha(alpha)
    one_of("band", band, KINDS)
    inquiry = Inquiry.of(trials, metric, "performance", anyway=anyway, by_task=True)
    meant = inquiry.metric
    _check_threshold(threshold, meant)
    rng = np.random.default_rng(whole(seed, "seed", 0))
    by_task = samples(trials, meant.name, at, failed)
    if over_tasks is None:
        over_tasks = meant.is_bounded and meant.direction is not None
    elif over_tasks:
        _ = meant.known_direction  # tasks are taken together
        _refuse_gaps(by_task)
    cells = sum(map(len, by_task.values()))
    each = shared_confidence(confidence, cells) if family else confidence
    distributions = tuple(
        distribution_of(
            (task, algorithm),
            meant.on(task),
            cell.scores,
            cell.failed,
            alpha=alpha,
            confidence=each,
            kind=band,
            unit=unit_of(trials),
            rng=rng,
        )
        for task, by_name in by_task.items()
        for algorithm, cell in by_name.items()
    )
    used = any(d.is_bootstrapped for d in distributions)
    settings: dict[str, Cell] = {
        "metric": meant.name,
        "alpha": alpha,
        "threshold": threshold,
        "at": plain_setting(at),
        "failed": plain_setting(failed),
        "confidence": confidence,
        "band": band,
        "family": family,
        "over_tasks": over_tasks,
    }
    return Performance(
        metric=meant,
        alpha=alpha,
        threshold=threshold,
        failed_score=failed_score(meant, failed),
        distributions=distributions,
        contrasts=contrasts(
            by_task, meant, alpha=alpha, confidence=confidence, kind=band
        ),
        overall=overall(distributions, confidence) if over_tasks else (),
        provenance=inquiry.provenance("performance", settings, seed if used else None),
    )


def _refuse_gaps(by_task: Mapping[str, Mapping[str, Sample]]) -> None:
    """Raise if there are no several tasks, or not every algorithm met every one."""
    names = dict.fromkeys(name for by_name in by_task.values() for name in by_name)
    if len(by_task) == 1:
        raise CurvewiseError(
            "There is one task. Leave ", Keyword("over_tasks"), " out."
        )
    for task, by_name in by_task.items():
        for name in names:
            if name not in by_name:
                raise CurvewiseError(
                    f"'{name}' has no trials on task '{task}', so all tasks cannot "
                    "be summed up. Leave ",
                    Keyword("over_tasks"),
                    " out, or the algorithm.",
                )


def _check_threshold(threshold: Any, metric: Metric) -> None:
    if threshold is None:
        return
    if isinstance(threshold, str) or not math.isfinite(threshold):
        raise CurvewiseError(
            f"threshold is {threshold!r}. Pass a score worth reaching.",
            argument="threshold",
            value=threshold,
        )
    low, high = metric.range
    if not low <= threshold <= high:
        raise CurvewiseError(
            f"threshold is {threshold:g}, and '{metric.name}' goes from {low:g} to "
            f"{high:g}. Pass a score that is possible.",
            argument="threshold",
            value=threshold,
        )
