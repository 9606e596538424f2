"""What more data would buy, how much data an error takes, which run to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from curvewise.answer import Provenance
from curvewise.questions.base import Column, Columns, TaskTable, of_task, table_of
from curvewise.questions.learning.concerns import size_concerns
from curvewise.questions.learning.fit import Advice, Needed, Predicted
from curvewise.questions.sentences import (
    chance_cell,
    number_cell,
    size_cell,
)
from curvewise.stats.learning import Suggestion
from curvewise.text import Cell, percent, step


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forecasts(TaskTable):
    """The answer of `Learning.at`: what error to expect with other amounts of data.

    There is one row per task, size and algorithm.
    """

    label: str
    confidence: float
    found: tuple[Predicted, ...]
    concerns: tuple[str, ...]
    provenance: Provenance

    def _columns(self) -> Columns:
        several = len({prediction.algorithm for prediction in self.found}) > 1
        return (
            Column("task"),
            Column("algorithm", "algorithm"),
            Column("size", "examples", show=step),
            Column(
                "times", "times the data", lambda one: one.size / one.largest, size_cell
            ),
            Column("error", "error then"),
            Column("error_now", "error now", lambda one: one.now, number_cell),
            Column("best", "best" if several else "", show=chance_cell),
        )

    def _records(self) -> Sequence[Predicted]:
        return self.found

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            *self.concerns,
            f"error then: what the mean {self.label} over training sets of that size may "
            f"be. {self.found[0].error.guarantee[:1].upper()}"
            f"{self.found[0].error.guarantee[1:]}.",
            "error now: by the same forecast at the largest size that was observed, which "
            "is not quite what the power law has there. best: probability of having the "
            "lowest error of its task.",
        ]

    def headline(self) -> str:
        """Return what was asked."""
        return f"{self.label} with other amounts of data"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizesNeeded(TaskTable):
    """The answer of `Learning.size_for`: how much data an error takes.

    There is one row per task and algorithm; a size is infinite where none does.
    """

    label: str
    error: float
    confidence: float
    found: tuple[Needed, ...]
    provenance: Provenance

    def of(self, task: str | None = None) -> tuple[Needed, ...]:
        """Return what was found on a task; it may be left out where there is one."""
        return of_task(self.found, task)

    def _columns(self) -> Columns:
        return (
            Column("task"),
            Column("algorithm", "algorithm"),
            Column("error", value=lambda _: self.error),
            Column(
                "reached", "ever reached", lambda one: one.size.reached, chance_cell
            ),
            Column("size", "examples", lambda one: one.size.size, size_cell),
            Column(
                "size_lower", "at least", lambda one: one.size.interval.lower, size_cell
            ),
            Column(
                "size_upper", "at most", lambda one: one.size.interval.upper, size_cell
            ),
        )

    def _records(self) -> Sequence[Needed]:
        return self.found

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        concerns = {
            f"{need.algorithm}: {concern}"
            for need in self.found
            for concern in size_concerns(need.size)
        }
        return [
            *sorted(concerns),
            f"ever reached: with up to 1,000 times the largest size so far. examples: as "
            f"likely too many as too few. at least, at most: {percent(self.confidence)}, "
            f"as far as the intervals of the curve hold.",
        ]

    def headline(self) -> str:
        """Return what was asked."""
        return f"How much data {self.label} {number_cell(self.error)} takes"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NextRuns(TaskTable):
    """The answer of `Learning.next_run`: what to train next, to know more of what is far.

    Parameters
    ----------
    label : str
    to : float
        The size to know more of.
    is_timed : bool
        Whether costs are seconds; if not, they are training examples.
    found : tuple of Advice
    provenance : Provenance

    Notes
    -----
    There is one row per task, algorithm and suggestion, the best one first.
    """

    label: str
    to: float
    is_timed: bool
    found: tuple[Advice, ...]
    provenance: Provenance

    def _columns(self) -> Columns:
        cost = "seconds" if self.is_timed else "examples"
        return (
            Column("task"),
            Column("algorithm", "algorithm"),
            Column("size", "train on", show=lambda n: f"{size_cell(n)} examples"),
            Column("repeats", "runs"),
            Column(
                cost,
                "cost",
                lambda _, run: run.seconds,
                lambda value: f"{step(float(f'{value:.3g}'))} {cost}",
            ),
            Column(
                "half_width_now",
                f"half-width at {size_cell(self.to)} now",
                lambda one, _: one.run.half_width,
            ),
            Column("half_width_then", "then", lambda _, run: run.half_width),
        )

    def _records(self) -> Sequence[tuple[Advice, Suggestion]]:
        return [
            (advice, run) for advice in self.found for run in advice.run.suggestions
        ]

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the best suggestion for each algorithm, with headings for people."""
        advice = of_task(self.found, task)
        return table_of(self._columns(), [(one, one.run.best) for one in advice])

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        notes = [
            "What sharpens the power law most for its cost, to first order, were the curve "
            "a power law and runs independent. Where its form is in doubt, train on as "
            "much as you can pay."
        ]
        if not self.is_timed:
            notes.append("cost: training examples, as if time grew with them.")
        return notes

    def headline(self) -> str:
        """Return what was asked."""
        return f"What to train next, to know {self.label} at {size_cell(self.to)}"
