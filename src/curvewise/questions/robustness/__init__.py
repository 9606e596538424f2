"""Is it easy to tune? What tuning gains, algorithm by algorithm and task by task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError, listed
from curvewise.metrics import Metric
from curvewise.questions.base import Column, Columns, TaskTable, of_task
from curvewise.questions.robustness import text
from curvewise.questions.robustness.fit import (
    Gain,
    Gap,
    Statistic,
    gap_of,
    no_pairs,
)
from curvewise.questions.sampling import (
    Inquiry,
    failed_score,
    plain_setting,
    samples,
    score_title,
    tuned_pairs,
)
from curvewise.questions.sentences import signed_cell, titled
from curvewise.stats.bands import Kind
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.validation import checked_alpha, checked_confidence
from curvewise.text import Cell, Piece, Table, count, percent
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed

__all__ = [
    "Gain",
    "Gap",
    "Robustness",
    "robustness",
    "tuned_pairs",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Robustness(TaskTable):
    """The answer of `robustness`: one gap per task and algorithm.

    Gains are above 0 where the tuned algorithm is better, whichever way the metric goes.

    There is one row per task, algorithm and statistic. ``gain`` is the tuned statistic
    less the untuned one, its sign turned where lower is better: above 0, tuning helps.
    ``gain_lower`` and ``gain_upper`` hold for all algorithms and tasks at once, for many
    trials; ``guaranteed_lower`` and ``guaranteed_upper`` likewise, for any number of them.
    """

    metric: Metric
    alpha: float
    confidence: float
    margin: float | None
    failed_score: str
    gaps: tuple[Gap, ...]
    alone: tuple[str, ...]
    provenance: Provenance

    def of(self, task: str | None = None) -> tuple[Gap, ...]:
        """Return the gaps of a task; it may be left out where there is one."""
        return of_task(self.gaps, task)

    def _columns(self) -> Columns:
        labels: dict[Statistic, str] = {
            "mean": "mean",
            "median": "median",
            "cvar_best": f"best {percent(1 - self.alpha)}",
            "cvar_worst": f"worst {percent(self.alpha)}",
        }
        ends = partial(signed_cell, value=False)
        return (
            Column("task"),
            Column("algorithm"),
            Column("tuned_algorithm", "", lambda gap, _: gap.tuned),
            Column("", "algorithm", _name_once),
            Column("statistic", "of trials", show=labels.__getitem__),
            Column("trials"),
            Column("tuned_trials"),
            Column("failed"),
            Column("tuned_failed"),
            Column("paired"),
            Column("untuned", "untuned"),
            Column("tuned", "tuned", lambda _, gain: gain.tuned),
            Column(
                "gain", "gain by tuning", lambda _, gain: gain.interval, signed_cell
            ),
            Column("guaranteed_lower", "", lambda _, gain: gain.guaranteed.lower),
            Column("guaranteed_upper", "", lambda _, gain: gain.guaranteed.upper),
            Column("", "guaranteed", lambda _, gain: gain.guaranteed, ends),
        )

    def _records(self) -> Sequence[tuple[Gap, Gain]]:
        return [(gap, gain) for gap in self.gaps for gain in gap.gains]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        n = len(self.gaps)
        all_of_them = f", for all {n} pairs of algorithm and task (Bonferroni)"
        turned = ", its sign turned" if self.metric.direction == "lower" else ""
        notes = [
            f"gain: tuned less untuned{turned}, so that above 0 tuning helps. best and "
            f"worst: the mean of the best {percent(1 - self.alpha)} and of the worst "
            f"{percent(self.alpha)} of the trials.",
            f"in brackets: with {percent(self.confidence)} confidence all intervals of a "
            f"statistic hold at once{all_of_them if n > 1 else ''}. The first is for many "
            f"trials, what is called guaranteed for any number, any distribution and any "
            f"dependence. Quantiles count from the worst trials to the best.",
            text.paired_note(self.gaps),
        ]
        if few := [g for g in self.gaps if any(one.is_few for one in g.gains)]:
            notes.append(
                f"{count(len(few), 'pair')} with few trials for so many intervals at once: "
                f"the first may hold less often than it says, and what follows from it "
                f"alone is called probable."
            )
        if self.alone:
            notes.append(
                f"Not paired with a tuned one, and left out: {listed(self.alone)}."
            )
        if failed := sum(g.failed + g.tuned_failed for g in self.gaps):
            notes.append(
                f"{count(failed, 'failed trial')} counted with score {self.failed_score}."
            )
        return notes

    def headline(self) -> str:
        """Return in one sentence whom tuning helps, by how much, and how sure that is."""
        return text.headline(self)

    def would_change(self) -> str:
        """Return what would change that."""
        return text.would_change(self)

    def verdict(self, task: str) -> str:
        """Return in words which algorithms profit from tuning on a task, and how much."""
        return " ".join(self._verdicts(task))

    def _verdicts(self, task: str) -> list[str]:
        gaps = sorted(self.of(task), key=lambda g: -g.gain("mean").interval.value)
        return [text.verdict_of(g, self.margin) for g in gaps]

    def _title(self) -> str:
        return score_title(self.metric, self.provenance.settings["at"])

    def _about(self, task: str) -> Iterator[Piece]:
        yield Table(self.table(task), f"Gain by tuning, {self.metric}, {titled(task)}")
        yield from self._verdicts(task)


def _name_once(gap: Gap, gain: Gain) -> str:
    return gap.algorithm if gain is gap.gains[0] else ""


def robustness(
    trials: Trials,
    metric: str | None = None,
    *,
    pairs: Mapping[str, str] | None = None,
    alpha: float = 0.5,
    margin: float | None = None,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    band: Kind = "kolmogorov",
    anyway: bool = False,
) -> Robustness:
    """Return what tuning gains for each algorithm on each task.

    Parameters
    ----------
    trials : Trials
        Of each algorithm with hyperparameters drawn at random, and of the same one tuned.
    metric : str, optional
        May be left out where the trials have only one.
    pairs : mapping of str to str, optional
        Untuned to tuned, such as ``{"svm": "svm grid"}``. If left out, "NAME" and
        "NAME tuned" belong together, in capitals or not.
    alpha : float
        Where the trials are cut: the mean of the best ``1 - alpha`` and of the worst
        ``alpha`` are compared, beside mean and median.
    margin : float, optional
        A gain that is not worth the trouble: an algorithm that surely gains less on
        average is called easy to tune.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores.
    confidence : float
        Of all intervals of a statistic together, over algorithms and tasks.
    band : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        Behind the guaranteed intervals. Quantiles are compared by equal local levels,
        which see into the tails.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Notes
    -----
    An algorithm that gains little by tuning is good with almost any hyperparameters:
    robust [1]_. Trials of both with the same numbers are pairs, and what they share does
    not widen the interval; the guaranteed one does not rely on it.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018. Section 4.

    Examples
    --------
    >>> from curvewise import Trial, Trials
    >>> trials = Trials(
    ...     Trial("t", name, i, {"accuracy": (0.5 + i / 100) ** power})
    ...     for name, power in (("svm", 2), ("svm tuned", 1))
    ...     for i in range(40)
    ... )
    >>> answer = robustness(trials)
    >>> answer.gaps[0].paired, answer.rows()[0]["gain_lower"] > 0
    (True, True)
    """
    checked_alpha(alpha)
    checked_confidence(confidence)
    _check_margin(margin)
    inquiry = Inquiry.of(trials, metric, "robustness", anyway=anyway)
    meant = inquiry.metric
    tuned_of = tuned_pairs(trials.algorithms, pairs)
    by_task = samples(
        trials.where(algorithm={*tuned_of, *tuned_of.values()}) if tuned_of else trials,
        *(meant.name, at, failed),
    )
    cells = [
        (task, one, tuned)
        for task, by_name in by_task.items()
        for one, tuned in tuned_of.items()
        if one in by_name and tuned in by_name
    ]
    if not cells:
        raise no_pairs(trials.algorithms)
    each = shared_confidence(confidence, len(cells))
    gaps = tuple(
        gap_of(
            (task, one, tuned),
            by_task[task][one],
            by_task[task][tuned],
            meant,
            alpha=alpha,
            confidence=each,
            band=band,
        )
        for task, one, tuned in cells
    )
    half = [
        f"{name} on {task}"
        for task, by_name in by_task.items()
        for pair in tuned_of.items()
        for name in pair
        if name in by_name and not all(n in by_name for n in pair)
    ]
    used = {n for g in gaps for n in (g.algorithm, g.tuned)}
    settings: dict[str, Cell] = {
        "metric": meant.name,
        "pairs": ", ".join(f"{a}={b}" for a, b in tuned_of.items()),
        "alpha": alpha,
        "margin": margin,
        "at": plain_setting(at),
        "failed": plain_setting(failed),
        "confidence": confidence,
        "band": band,
    }
    return Robustness(
        metric=meant,
        alpha=alpha,
        confidence=confidence,
        margin=margin,
        failed_score=failed_score(meant, failed),
        gaps=gaps,
        alone=(*(n for n in trials.algorithms if n not in used), *half),
        provenance=inquiry.provenance("robustness", settings),
    )


def _check_margin(margin: float | None) -> None:
    if margin is not None and (
        isinstance(margin, str) or not 0 < margin < float("inf")
    ):
        raise CurvewiseError(
            f"margin is {margin!r}. Pass a gain above 0 that is not worth the trouble.",
            argument="margin",
            value=margin,
        )
