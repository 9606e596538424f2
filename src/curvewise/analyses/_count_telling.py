"""What rates to expect with other amounts of data."""

from collections.abc import Iterator
from dataclasses import dataclass

from curvewise._answer import Provenance
from curvewise._text import Cell, joined, percent, step
from curvewise.analyses._count_fits import CountAsked, CountTask
from curvewise.analyses._count_tables import label
from curvewise.analyses._count_words import target
from curvewise.analyses._curve_questions import TaskTables
from curvewise.analyses._curve_tables import number_cell, point_of, size_cell
from curvewise.analyses._tables import interval_cell
from curvewise.metrics import Floats
from curvewise.stats.interval import Interval


@dataclass(frozen=True, slots=True, eq=False)
class Foretold:
    """A metric of one algorithm on one task at a size that was asked about.

    Parameters
    ----------
    task, algorithm, metric : str
    size : float
    rate : Interval
        With the prediction as its value.
    now : float
        What the curve has at the largest size that was observed.
    largest : float
        That size.
    """

    task: str
    algorithm: str
    metric: str
    size: float
    rate: Interval
    now: float
    largest: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountForecasts(TaskTables):
    """The answer of `Confusion.at`: what rates to expect with other amounts of data."""

    asked: CountAsked
    found: tuple[Foretold, ...]
    concerns: tuple[str, ...]
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, algorithm, metric and size."""
        return [
            {
                "task": one.task,
                "algorithm": one.algorithm,
                "metric": one.metric,
                "size": one.size,
                "times": one.size / one.largest,
                "value": one.rate.value,
                "lower": one.rate.lower,
                "upper": one.rate.upper,
                "now": one.now,
            }
            for one in self.found
        ]

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""
        return [
            {
                "algorithm": one.algorithm,
                "metric": label(one.metric),
                "examples": step(one.size),
                "times the data": size_cell(one.size / one.largest),
                "then": interval_cell(one.rate),
                "now": number_cell(one.now),
            }
            for one in self.found
            if one.task == task
        ]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            *self.concerns,
            f"then: {percent(self.asked.confidence)} intervals for rates "
            f"{target(self.asked)}, at each size by itself. now: by the same curve "
            f"at the largest size that was observed.",
        ]

    def headline(self) -> str:
        """Return what was asked."""
        names = joined([label(name) for name in self.asked.metrics])
        return f"{names} with other amounts of data"


def foretold(task: CountTask, sizes: Floats, asked: CountAsked) -> Iterator[Foretold]:
    """Yield each algorithm's metrics at the sizes asked about."""
    for fit in task.fits:
        largest = fit.counted.largest
        for name, settings in asked.metrics.items():
            band = asked.band(fit.curve, name, sizes)
            now = float(fit.curve.metric(name, largest, **settings))
            for i, n in enumerate(sizes):
                yield Foretold(
                    *(task.task, fit.algorithm, name, float(n)),
                    *(point_of(band, i), now, largest),
                )
