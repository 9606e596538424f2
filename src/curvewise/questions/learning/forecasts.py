"""What more data would buy, how much data an error takes, which run to do next."""

from dataclasses import dataclass

from curvewise.answer import Provenance
from curvewise.questions.base import TaskTables, of_task
from curvewise.questions.learning.fit import Advice, Needed, Predicted
from curvewise.questions.sentences import (
    chance_cell,
    interval_cell,
    number_cell,
    size_cell,
)
from curvewise.text import Cell, percent, step


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forecasts(TaskTables):
    """The answer of `Learning.at`: what error to expect with other amounts of data."""

    label: str
    confidence: float
    found: tuple[Predicted, ...]
    concerns: tuple[str, ...]
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, size and algorithm."""
        return [
            {
                "task": one.task,
                "algorithm": one.algorithm,
                "size": one.size,
                "times": one.size / one.largest,
                "error": one.error.value,
                "error_lower": one.error.lower,
                "error_upper": one.error.upper,
                "error_now": one.now,
                "best": one.best,
            }
            for one in self.found
        ]

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""
        out: list[dict[str, Cell]] = []
        own = [one for one in self.found if one.task == task]
        several = len({one.algorithm for one in own}) > 1
        for one in own:
            row: dict[str, Cell] = {
                "algorithm": one.algorithm,
                "examples": step(one.size),
                "times the data": size_cell(one.size / one.largest),
                "error then": interval_cell(one.error),
                "error now": number_cell(one.now),
            }
            out.append(row | ({"best": chance_cell(one.best)} if several else {}))
        return out

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
class SizesNeeded(TaskTables):
    """The answer of `Learning.size_for`: how much data an error takes."""

    label: str
    error: float
    confidence: float
    found: tuple[Needed, ...]
    provenance: Provenance

    def of(self, task: str | None = None) -> tuple[Needed, ...]:
        """Return what was found on a task; it may be left out where there is one."""
        return of_task(self.found, task)

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and algorithm; a size is infinite where none does."""
        return [
            {
                "task": one.task,
                "algorithm": one.algorithm,
                "error": self.error,
                "reached": one.size.reached,
                "size": one.size.size,
                "size_lower": one.size.interval.lower,
                "size_upper": one.size.interval.upper,
            }
            for one in self.found
        ]

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""
        return [
            {
                "algorithm": one.algorithm,
                "ever reached": chance_cell(one.size.reached),
                "examples": size_cell(one.size.size),
                "at least": size_cell(one.size.interval.lower),
                "at most": size_cell(one.size.interval.upper),
            }
            for one in self.of(task)
        ]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        seen = {
            f"{one.algorithm}: {concern}"
            for one in self.found
            for concern in one.size.concerns
        }
        return [
            *sorted(seen),
            f"ever reached: with up to 1,000 times the largest size so far. examples: as "
            f"likely too many as too few. at least, at most: {percent(self.confidence)}, "
            f"as far as the intervals of the curve hold.",
        ]

    def headline(self) -> str:
        """Return what was asked."""
        return f"How much data {self.label} {number_cell(self.error)} takes"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NextRuns(TaskTables):
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
    """

    label: str
    to: float
    is_timed: bool
    found: tuple[Advice, ...]
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, algorithm and suggestion, the best one first."""
        cost = "seconds" if self.is_timed else "examples"
        return [
            {
                "task": one.task,
                "algorithm": one.algorithm,
                "size": told.size,
                "repeats": told.repeats,
                cost: told.seconds,
                "half_width_now": one.run.half_width,
                "half_width_then": told.half_width,
            }
            for one in self.found
            for told in one.run.suggestions
        ]

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the best suggestion for each algorithm, with headings for people."""
        return [
            {
                "algorithm": one.algorithm,
                "train on": f"{size_cell(one.run.best.size)} examples",
                "runs": one.run.best.repeats,
                "cost": f"{step(float(f'{one.run.best.seconds:.3g}'))} "
                f"{'seconds' if self.is_timed else 'examples'}",
                f"half-width at {size_cell(self.to)} now": one.run.half_width,
                "then": one.run.best.half_width,
            }
            for one in self.found
            if one.task == task
        ]

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
