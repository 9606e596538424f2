"""Where does the spread of scores come from? Shares of the variance, source by source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from curvewise.answer import Answer, Provenance
from curvewise.errors import CurvewiseError, unknown, whole
from curvewise.metrics import Metric
from curvewise.questions.sampling import (
    AT_WORDS,
    failed_score,
    metric_of,
    plain_setting,
    samples,
)
from curvewise.questions.sentences import titled
from curvewise.questions.variance import text as words
from curvewise.questions.variance.fit import (
    INTERACTION,
    Decomposition,
    Interactions,
    Share,
    crossing,
    decomposition,
)
from curvewise.questions.variance.text import share_cell, span_cell, verdict_of
from curvewise.review.check import gate
from curvewise.stats.validation import checked_confidence, one_of
from curvewise.text import Cell, Piece, Table, count, plain
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At, Failed

__all__ = [
    "Decomposition",
    "Share",
    "VarianceShares",
    "variance_shares",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VarianceShares(Answer):
    """The answer of `variance_shares`: one decomposition per task and algorithm."""

    metric: Metric
    confidence: float
    failed_score: str
    decompositions: tuple[Decomposition, ...]
    provenance: Provenance

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of the trials."""
        return tuple(dict.fromkeys(d.task for d in self.decompositions))

    def of(self, task: str) -> tuple[Decomposition, ...]:
        """Return the decompositions of one task."""
        own = tuple(d for d in self.decompositions if d.task == task)
        if not own:
            raise unknown("task", task, self.tasks)
        return own

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, algorithm and source.

        ``variance`` is unbiased and may be below 0; ``share`` is then 0. ``share_lower``
        and ``share_upper`` are the ends of its interval, ``monte_carlo_error`` is what
        chance left in them.
        """
        return [
            {
                "task": d.task,
                "algorithm": d.algorithm,
                "source": s.source,
                "levels": s.levels,
                "variance": s.variance,
                "share": s.interval.value,
                "share_lower": s.interval.lower,
                "share_upper": s.interval.upper,
                "monte_carlo_error": s.interval.monte_carlo_error,
            }
            for d in self.decompositions
            for s in d.shares
        ]

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""
        level = f"{100 * self.confidence:g} % interval"
        out: list[dict[str, Cell]] = []
        for d in self.of(task):
            for s in d.shares:
                row: dict[str, Cell] = {
                    "algorithm": d.algorithm,
                    "source": s.source,
                    "levels": s.levels,
                    "sd": s.sd,
                    "share": share_cell(s.interval.value),
                    level: span_cell(s.interval),
                }
                out.append(row)
            total: dict[str, Cell] = {"algorithm": d.algorithm, "source": "total"}
            out.append(total | {"sd": d.sd})
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
        return words.headline(self)

    def would_change(self) -> str:
        """Return what would change that: more draws of what was drawn least often."""
        return words.would_change(self)

    def verdict(self, task: str) -> str:
        """Return in words what makes the scores of each algorithm vary on a task."""
        return " ".join(self._verdicts(task))

    def _verdicts(self, task: str) -> list[str]:
        return [f"{d.algorithm}: {verdict_of(d)}" for d in self.of(task)]

    def __str__(self) -> str:
        at = self.provenance.settings["at"]
        lines = [
            *self.cautions,
            f"{self.metric}, {AT_WORDS.get(str(at), f'at step {at}')}",
        ]
        for task in self.tasks:
            lines += ["", titled(task), plain(self.table(task), indent="  ")]
            lines += ["", *self._verdicts(task)]
        return "\n".join([*lines, "", *self.notes(), str(self.provenance)])

    __repr__ = __str__

    def _parts(self) -> Iterator[Piece]:
        yield self.headline()
        for task in self.tasks:
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
    must_be_trials(trials)
    if len(trials) == 0:
        raise CurvewiseError("There are no trials to judge. Check what was read.")
    one_of("interactions", interactions, ("together", "each"))
    checked_confidence(confidence)
    name = metric_of(trials, metric, is_directed=False)
    meant = trials.metric(name)
    cautions = gate(trials, "variance", metric=name, anyway=anyway)
    rng = np.random.default_rng(whole(seed, "seed", 0))
    found = []
    for task, own in samples(
        trials, name, at, failed, crossed=True, averaged=False
    ).items():
        for algorithm, sample in own.items():
            cell = crossing(trials, task, algorithm, sample, factors)
            found.append(decomposition(cell, interactions, confidence, rng))
    settings: dict[str, Cell] = {
        "metric": name,
        "factors": None if factors is None else ", ".join(factors),
        "interactions": interactions,
        "at": plain_setting(at),
        "failed": plain_setting(failed),
        "confidence": confidence,
    }
    return VarianceShares(
        meant,
        confidence,
        failed_score(meant, failed),
        tuple(found),
        Provenance.of(trials, "variance_shares", settings, seed, cautions=cautions),
    )
