"""How many trials it takes to know a mean, a CVaR or a quantile."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from curvewise._answer import Provenance
from curvewise._text import Cell, count, percent
from curvewise.analyses import _plan_headline as words
from curvewise.analyses._band_plan import Plan
from curvewise.metrics import Floats, Metric
from curvewise.stats import bands
from curvewise.stats.bands import NAMES, Kind, Support
from curvewise.stats.functionals import Functional
from curvewise.stats.planning import asymptotic_width, guaranteed_width


@dataclass(frozen=True, slots=True, eq=False)
class CellPlan:
    """How many trials one algorithm on one task takes.

    Parameters
    ----------
    task, algorithm : str
        Empty where nothing is known but the range of the scores.
    pilot : ndarray, shape (trial,)
        The scores that it is judged from, higher is better; empty where there are none.
    failed : int
        How many of them are failures.
    guaranteed, asymptotic : tuple of int or None
        Trials, and between which numbers that lies as far as the pilot can tell; None
        where nobody can tell.
    """

    task: str
    algorithm: str
    pilot: Floats
    failed: int
    guaranteed: tuple[int, int, int] | None
    asymptotic: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScorePlan(Plan):
    """How many trials it takes to know a mean, a CVaR or a quantile.

    Parameters
    ----------
    half_width : float
    functional : Functional
    metric : Metric
    confidence : float
        Of each interval.
    band : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        What guaranteed intervals are read off.
    cells : tuple of CellPlan
    failed_score : str
        What failed trials of the pilot score, in words.
    provenance : Provenance
    unit : str
        What is counted: trials, or the settings or clusters of several runs of the pilot.
    """

    half_width: float
    functional: Functional
    metric: Metric
    confidence: float
    band: Kind
    cells: tuple[CellPlan, ...]
    failed_score: str
    provenance: Provenance
    unit: str = "trial"

    @property
    def most(self) -> int:
        """The largest number of trials in the answer."""
        known = [c.guaranteed or c.asymptotic or (1,) for c in self.cells]
        return max(need[0] for need in known)

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and algorithm.

        ``guaranteed`` and ``asymptotic`` are numbers of trials; what ends in ``_lower``
        and ``_upper`` is what the pilot leaves open.
        """
        out: list[dict[str, Cell]] = []
        for cell in self.cells:
            row: dict[str, Cell] = {
                "task": cell.task,
                "algorithm": cell.algorithm,
                "pilot": len(cell.pilot),
            }
            for name in ("guaranteed", "asymptotic"):
                need = getattr(cell, name) or (None, None, None)
                row |= {name: need[0], f"{name}_lower": need[1]}
                row[f"{name}_upper"] = need[2]
            out.append(row)
        return out

    def widths(self, n: ArrayLike) -> dict[str, Floats]:
        """Return the half-width at each number of trials, for every task and algorithm."""
        sizes = [int(size) for size in np.atleast_1d(n)]
        return {
            self._label(cell): np.array([self._width(cell, size) for size in sizes])
            for cell in self.cells
        }

    def _label(self, cell: CellPlan) -> str:
        return ", ".join(filter(None, [cell.task, cell.algorithm])) or "at worst"

    def _width(self, cell: CellPlan, n: int) -> float:
        low, high = support_of(self.metric, self.functional)
        if not len(cell.pilot):
            e = bands.half_width(n, confidence=self.confidence, kind=self.band)
            return (high - low) * min(e / self.functional.mass, 0.5)
        if cell.guaranteed is None and cell.asymptotic is None:
            return math.nan  # one trial does not say how trials vary
        if cell.guaranteed is None:
            return asymptotic_width(
                self.functional, cell.pilot, n, confidence=self.confidence
            )
        return guaranteed_width(
            self.functional,
            cell.pilot,
            n,
            confidence=self.confidence,
            support=(low, high),
            kind=self.band,
        )

    def headline(self) -> str:
        """Return in one sentence how many trials it takes, and how sure that is."""
        return words.headline(self)

    def would_change(self) -> str:
        """Return what would change that."""
        return words.would_change(self)

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""
        out: list[dict[str, Cell]] = []
        for cell in self.cells:
            row: dict[str, Cell] = {}
            if len(cell.pilot):
                row = {"task": cell.task, "algorithm": cell.algorithm}
                row["pilot"] = len(cell.pilot)
            for name in ("guaranteed", "asymptotic"):
                need = getattr(cell, name)
                row[name] = need[0] if need else "?"
                if len(cell.pilot):
                    row[f"{name}, from to"] = _span(*need[1:]) if need else "?"
            if self.functional.of == "quantile" or not len(cell.pilot):
                row = {k: v for k, v in row.items() if not k.startswith("asympt")}
            out.append(row)
        return out

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        f, level = self.functional, percent(self.confidence)
        how = "order statistics" if f.of == "quantile" else NAMES[self.band]
        what = f.estimand.replace("trials", f"{self.unit}s")
        notes = [
            f"guaranteed: {what} is known to within {self.half_width:g} with at "
            f"least {level} confidence, whatever the distribution ({how})."
        ]
        if len(self.cells[0].pilot):
            if f.of != "quantile":
                notes.append(
                    f"asymptotic: the same for many {self.unit}s (Student), without a "
                    f"guarantee."
                )
            few = any(len(c.pilot) < 100 for c in self.cells)
            rough = (
                f" (rough, as pilots have fewer than 100 {self.unit}s)" if few else ""
            )
            notes.append(
                f"from to: what the pilot leaves open, with about 95 % confidence{rough}; "
                f"intervals get so narrow if {self.unit}s vary like those of the pilot."
            )
        else:
            notes.append(
                "Without a pilot, for the worst distribution on the metric's range."
            )
        if any(c.guaranteed is None for c in self.cells):
            low, high = self.metric.range
            notes.append(
                f"?: nothing can be guaranteed, or scores do not vary; "
                f"'{self.metric.name}' ranges from {low:g} to {high:g}."
            )
        if failed := sum(c.failed for c in self.cells):
            notes.append(
                f"{count(failed, 'failed trial')} counted with score {self.failed_score}."
            )
        return notes

    def _head(self) -> str:
        level = percent(self.confidence)
        return (
            f"{self.unit.capitalize()}s for the {self.functional} of {self.metric.name} to "
            f"a half-width of {self.half_width:g} ({level} confidence)"
        )


def _span(least: int, most: int) -> str:
    return f"{least} or more" if most >= words.MANY else f"{least} to {most}"


def support_of(metric: Metric, functional: Functional) -> Support:
    """Return the range of scores as `functional` takes them."""
    return metric.range if functional.of == "quantile" else metric.upward


def sign_of(metric: Metric, functional: Functional) -> int:
    """Return what scores are multiplied by, so that the best are on top."""
    # A quantile is that of the scores as they are; a tail follows what is better.
    return 1 if functional.of == "quantile" else metric.sign
