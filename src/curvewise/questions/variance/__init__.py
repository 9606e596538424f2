"""Where does the spread of scores come from? Shares of the variance, source by source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from curvewise.answer import Provenance
from curvewise.errors import whole
from curvewise.metrics import Metric
from curvewise.questions.base import Column, Columns, TaskTable, of_task, table_of
from curvewise.questions.sampling import (
    Inquiry,
    failed_score,
    plain_setting,
    samples,
    score_title,
)
from curvewise.questions.sentences import titled
from curvewise.questions.variance import text
from curvewise.questions.variance.fit import (
    INTERACTION,
    Decomposition,
    Interactions,
    Share,
    crossing,
    decomposition,
)
from curvewise.stats.validation import checked_confidence, one_of
from curvewise.text import Cell, Piece, Table, count
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed

__all__ = [
    "Decomposition",
    "Share",
    "VarianceShares",
    "variance_shares",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VarianceShares(TaskTable):
    """The answer of `variance_shares`: one decomposition per task and algorithm.

    There is one row per task, algorithm and source. ``variance`` is unbiased and may be
    below 0; ``share`` is then 0. ``share_lower`` and ``share_upper`` are the ends of its
    interval, ``monte_carlo_error`` is what chance left in them.
    """

    metric: Metric
    confidence: float
    failed_score: str
    decompositions: tuple[Decomposition, ...]
    provenance: Provenance

    def of(self, task: str | None = None) -> tuple[Decomposition, ...]:
        """Return the decompositions of a task; it may be left out where there is one."""
        return of_task(self.decompositions, task)

    def _columns(self) -> Columns:
        level = f"{100 * self.confidence:g} % interval"
        return (
            Column("task"),
            Column("algorithm", "algorithm"),
            Column("source", "source"),
            Column("levels", "levels"),
            Column("variance"),
            Column("", "sd", lambda _, share: share.sd),
            Column("share", "", lambda _, share: share.interval),
            Column("", "share", lambda _, share: text.share_cell(share.interval.value)),
            Column("", level, lambda _, share: text.span_cell(share.interval)),
            Column(
                "monte_carlo_error",
                value=lambda _, share: share.interval.monte_carlo_error,
            ),
        )

    def _records(self) -> Sequence[tuple[Decomposition, Share]]:
        return [(one, share) for one in self.decompositions for share in one.shares]

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people, and totals."""
        out: list[dict[str, Cell]] = []
        for one in self.of(task):
            out += table_of(self._columns(), [(one, share) for share in one.shares])
            out.append({"algorithm": one.algorithm, "source": "total", "sd": one.sd})
        return out

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        notes = [
            f"share: of the variance of {self.metric.label} from trial to trial, if "
            f"everything that was crossed is drawn anew. sd: how much the source alone "
            f"would make scores vary.",
            f"{INTERACTION}: what sources do only together, and all that was drawn anew "
            f"in each trial without being crossed.",
            f"intervals: {100 * self.confidence:g} % for each share by itself, "
            f"approximate. They know only the draws at hand: from few of them, what is "
            f"rare is not in it (of 95 % intervals, 96 % or more were measured to hold for "
            f"normal effects, down to 89 % for skewed ones, and 72 % where one draw in ten "
            f"diverges).",
        ]
        if below := [
            s for d in self.decompositions for s in d.shares if s.variance < 0
        ]:
            notes.append(
                f"{count(len(below), 'estimated variance')} came out below 0, as an "
                f"unbiased estimate of nearly nothing may; counted as a share of 0."
            )
        if failed := sum(d.failed for d in self.decompositions):
            notes.append(
                f"{count(failed, 'failed trial')} counted with score "
                f"{self.failed_score}."
            )
        return notes

    def headline(self) -> str:
        """Return in one sentence what makes scores vary most, and how sure that is."""
        return text.headline(self)

    def would_change(self) -> str:
        """Return what would change that: more draws of what was drawn least often."""
        return text.would_change(self)

    def verdict(self, task: str) -> str:
        """Return in words what makes the scores of each algorithm vary on a task."""
        return " ".join(self._verdicts(task))

    def _verdicts(self, task: str) -> list[str]:
        return [f"{d.algorithm}: {text.verdict_of(d)}" for d in self.of(task)]

    def _title(self) -> str:
        return score_title(self.metric, self.provenance.settings["at"])

    def _about(self, task: str) -> Iterator[Piece]:
        yield Table(self.table(task), f"Variance of {self.metric}, {titled(task)}")
        yield from self._verdicts(task)


def variance_shares(
    trials: Trials,
    metric: str | None = None,
    *,
    factors: Sequence[str] | None = None,
    interactions: Interactions = "together",
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    seed: int = 0,
    anyway: bool = False,
) -> VarianceShares:
    """Return how much of the variance of scores each source of chance causes.

    Parameters
    ----------
    trials : Trials
        Of a crossed design, such as ``Experiment(..., cross={"params": 10, "seed": 5})``
        makes: every draw of one source with every draw of the others.
    metric : str, optional
        May be left out where the trials have only one.
    factors : sequence of str, optional
        The labels that are crossed; ``"params"`` without a label of that name stands for
        the hyperparameters themselves. If left out, what the experiment crossed, or else
        all labels.
    interactions : {"together", "each"}
        With three factors or more: one share for all interactions, or one for each.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores. A crossing with a hole has no decomposition.
    confidence : float
        Of each interval by itself.
    seed : int
        For the intervals.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Notes
    -----
    A score is a function of hyperparameters, training set, test set and seed [1]_. Crossing
    them tells their effects apart: see `curvewise.stats.variance.components` for the
    estimates, which are unbiased, and `curvewise.stats.variance.share_intervals` for the
    intervals, which are approximate.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018. Section 2.

    Examples
    --------
    >>> import curvewise as cw
    >>> def net(params, data, rng):
    ...     yield 0, {"loss": params["lr"] + 0.1 * rng.normal()}
    >>> experiment = cw.Experiment(
    ...     cw.Task("t", lambda rng: None),
    ...     cw.Algorithm("net", {"lr": cw.uniform(0, 1)}, net),
    ...     cross={"params": 12, "seed": 4},
    ... )
    >>> trials = cw.run(experiment, executor="serial", progress=False)
    >>> answer = variance_shares(trials, "loss")
    >>> [row["source"] for row in answer.rows()]
    ['hyperparameters', 'seed', 'interaction']
    """
    one_of("interactions", interactions, ("together", "each"))
    checked_confidence(confidence)
    inquiry = Inquiry.of(
        trials,
        metric,
        "variance",
        anyway=anyway,
        is_directed=False,
        is_averaged=False,
    )
    meant = inquiry.metric
    rng = np.random.default_rng(whole(seed, "seed", 0))
    decompositions = []
    for task, by_algorithm in samples(
        trials, meant.name, at, failed, crossed=True, averaged=False
    ).items():
        for algorithm, sample in by_algorithm.items():
            cell = crossing(trials, task, algorithm, sample, factors)
            decompositions.append(decomposition(cell, interactions, confidence, rng))
    settings: dict[str, Cell] = {
        "metric": meant.name,
        "factors": None if factors is None else ", ".join(factors),
        "interactions": interactions,
        "at": plain_setting(at),
        "failed": plain_setting(failed),
        "confidence": confidence,
    }
    return VarianceShares(
        metric=meant,
        confidence=confidence,
        failed_score=failed_score(meant, failed),
        decompositions=tuple(decompositions),
        provenance=inquiry.provenance("variance_shares", settings, seed),
    )
