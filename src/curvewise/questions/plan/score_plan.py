"""How many trials it takes to know a band, a mean, a CVaR or a quantile."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from curvewise.answer import Answer, Provenance
from curvewise.metrics import Floats, Metric
from curvewise.questions.sentences import confidently
from curvewise.stats import bands
from curvewise.stats.bands import NAMES, Kind, Support
from curvewise.stats.functionals import Functional
from curvewise.stats.planning import LooksCost, Told, asymptotic_width, guaranteed_width
from curvewise.text import Cell, Piece, Table, count, percent, plain, short_names, shown


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Telling(Answer):
    """What a number of trials can tell, whatever the distribution of their scores.

    Parameters
    ----------
    told : Told
    cost : LooksCost
        What looks before the end cost.
    """

    told: Told
    cost: LooksCost
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per quantity: ``quantity``, ``value``."""
        told, cost = self.told, self.cost
        values: dict[str, Cell] = {
            "half_width": told.half_width,
            "half_width_one_sided": told.one_sided,
            "half_width_planned_looks": cost.planned,
            "half_width_anytime": cost.anytime,
            "top": told.top,
            "failures": told.failures,
            "quantile_lowest": told.quantiles[0],
            "quantile_highest": told.quantiles[1],
        }
        return [{"quantity": name, "value": value} for name, value in values.items()]

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows in words."""
        told, cost = self.told, self.cost
        low, high = told.quantiles
        lines = {
            "share of trials at or below any score: known to within": shown(
                told.half_width
            ),
            "... if only one side is asked for": shown(told.one_sided),
            f"... at {cost.looks} planned looks, at the last of them": shown(
                cost.planned
            ),
            "... at any time that one looks": shown(cost.anytime),
            "the best of them is among the top": _rate(told.top),
            "if none of them fails: of all trials there fail at most": _rate(
                told.failures
            ),
            "quantiles that lie between two scores, from to": (
                "none" if np.isnan(low) else f"{_rate(low)} to {_rate(high)}"
            ),
        }
        return [{"what": name, "value": value} for name, value in lines.items()]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            f"Each with {percent(self.told.confidence)} confidence, for independent trials "
            f"of any distribution. A mean of scores between 0 and 1 is known to within the "
            f"first number, or better; that of the best half to within twice that."
        ]

    def __str__(self) -> str:
        return "\n".join([self._head(), "", plain(self.table()), "", *self.notes()])

    def _head(self) -> str:
        return f"What {count(self.told.trials, 'trial')} can tell"

    def _parts(self) -> Iterator[Piece]:
        yield Table(self.table(), self._head())


def _rate(share: float) -> str:
    """Return a share as percent, to three digits, and never 100."""
    if share > 0.5:
        return f"{100 - float(f'{100 * (1 - share):.3g}'):.10g} %"
    return f"{100 * share:.3g} %"


# --- How many trials a band takes, and how many until the best is among the top --------


class Plan(Answer):
    """How many trials it takes; all answers of `trials` have what a picture needs."""

    __slots__ = ()

    half_width: float
    confidence: float

    @abstractmethod
    def widths(self, n: ArrayLike) -> dict[str, Floats]:
        """Return the half-width at each number of trials, for every line of a picture."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The largest number of trials in the answer."""

    @abstractmethod
    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""

    @abstractmethod
    def _head(self) -> str:
        """Return what was asked."""

    def __str__(self) -> str:
        lines = [*self.cautions, self._head(), "", plain(self.table()), ""]
        return "\n".join([*lines, *self.notes()])

    def _parts(self) -> Iterator[Piece]:
        yield Table(self.table(), self._head())

    def sizes(self, points: int = 60) -> Floats:
        """Return numbers of trials to draw the widths at, from few to twice the most."""
        ends = max(self.most / 50, 10), max(2 * self.most, 20)
        return np.unique(np.geomspace(*ends, points).round())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BandPlan(Plan):
    """How many trials a band around the whole distribution takes.

    Parameters
    ----------
    half_width, confidence : float
    looks : int
        How many planned looks it is compared with.
    exact, dkw, one_sided, planned, anytime : int
        Trials for one look at the end, with the exact band, with the closed form, and for
        one side only; for so many planned looks; for looks at any time.
    """

    half_width: float
    confidence: float
    looks: int
    exact: int
    dkw: int
    one_sided: int
    planned: int
    anytime: int
    provenance: Provenance

    @property
    def most(self) -> int:
        """The largest number of trials in the answer."""
        return max(self.dkw, self.planned, self.anytime)

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per kind of band: ``kind``, ``side``, ``looks``, ``trials``."""
        return [
            _kind_row("kolmogorov", "both", 1, self.exact),
            _kind_row("dkw", "both", 1, self.dkw),
            _kind_row("dkw", "one", 1, self.one_sided),
            _kind_row("kolmogorov", "both", self.looks, self.planned),
            _kind_row("anytime", "both", None, self.anytime),
        ]

    def widths(self, n: ArrayLike) -> dict[str, Floats]:
        """Return the half-width at each number of trials: one look, planned, anytime."""
        sizes = [int(size) for size in np.atleast_1d(n)]
        each = 1 - (1 - self.confidence) / self.looks
        first = max(1, self._first_look())
        return {
            "one look at the end": _band_widths(sizes, self.confidence, "kolmogorov"),
            f"{self.looks} planned looks": _band_widths(sizes, each, "kolmogorov"),
            "looks at any time": _band_widths(
                sizes, self.confidence, "anytime", min(first, *sizes)
            ),
        }

    def _first_look(self) -> int:
        return -(-self.exact // 16)

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""
        return [
            {"how": "one look at the end, exact", "trials": self.exact},
            {"how": "one look at the end, closed form (DKW)", "trials": self.dkw},
            {"how": "one side of the band only (DKW)", "trials": self.one_sided},
            {"how": f"{self.looks} planned looks", "trials": self.planned},
            {"how": "a look at any time", "trials": self.anytime},
        ]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            f"With so many independent trials the share of trials at or below any score "
            f"is known to within {self.half_width:g}, at all scores at once, with "
            f"{percent(self.confidence)} confidence, whatever the distribution.",
            f"Planned looks: at 1/16, 1/8, 1/4, 1/2 and all of the trials, say; whoever "
            f"stops at the first of {self.looks} that pleases needs intervals that hold at "
            f"all of them. At any time: from {self._first_look():,} trials on, as often as "
            f"one likes.",
        ]

    def _head(self) -> str:
        level = percent(self.confidence)
        return (
            f"Trials for a band of half-width {self.half_width:g} ({level} confidence)"
        )


def _kind_row(kind: str, side: str, looks: int | None, n: int) -> dict[str, Cell]:
    return {"kind": kind, "side": side, "looks": looks, "trials": n}


def _band_widths(
    sizes: list[int], confidence: float, kind: Kind, start: int = 1
) -> Floats:
    return np.array(
        [
            bands.half_width(n, confidence=confidence, kind=kind, start=start)
            for n in sizes
        ]
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopPlan(Answer):
    """How many trials it takes until the best of them is among the top of all.

    Parameters
    ----------
    share : float
        The top, 0.05 for the top 5 %.
    confidence : float
    trials : int
    """

    share: float
    confidence: float
    trials: int
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row: ``share``, ``confidence``, ``trials``."""
        return [
            {
                "share": self.share,
                "confidence": self.confidence,
                "trials": self.trials,
            }
        ]

    def __str__(self) -> str:
        return (
            f"The best of {self.trials:,} independent trials is in the top "
            f"{percent(self.share)} of all that there could be, with "
            f"{percent(self.confidence)} confidence."
        )

    def _parts(self) -> Iterator[Piece]:
        yield str(self)
        yield Table(self.rows())


# --- How many trials it takes to know a mean, a CVaR or a quantile ---------------------


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
        needs = [c.guaranteed or c.asymptotic or (1,) for c in self.cells]
        return max(need[0] for need in needs)

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
        return headline(self)

    def would_change(self) -> str:
        """Return what would change that."""
        return would_change(self)

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
    return f"{least} or more" if most >= MANY else f"{least} to {most}"


def support_of(metric: Metric, functional: Functional) -> Support:
    """Return the range of scores as `functional` takes them."""
    return metric.range if functional.of == "quantile" else metric.upward


def functional_sign(metric: Metric, functional: Functional) -> int:
    """Return what scores are multiplied by, so that the best are on top."""
    # A quantile is that of the scores as they are; a tail follows what is better.
    return 1 if functional.of == "quantile" else metric.sign


# --- How many trials it takes to know something, in one sentence -----------------------


MANY = 10**9  # trials that nobody runs: the pilot leaves the upper end open


def what(answer: "ScorePlan") -> str:
    """Return what is to be known, in words that need no statistics."""
    f, label, unit = answer.functional, answer.metric.label, answer.unit
    if f.of == "mean":
        return f"the mean {label} of all {unit}s"
    if f.of == "quantile":
        return f"the {label} that {percent(f.alpha)} of the {unit}s do not exceed"
    # CVaR cuts at alpha from below; scores are turned so that the best are on top.
    is_best = f.tail == "upper"
    share = 1 - f.alpha if is_best else f.alpha
    half = "half" if share == 0.5 else percent(share)
    return f"the mean {label} of the {'best' if is_best else 'worst'} {half} of the {unit}s"


def headline(answer: "ScorePlan") -> str:
    """Return in one sentence how many trials it takes, and how sure that is."""
    cells = answer.cells
    aim = (
        f"To know {what(answer)} to within {answer.half_width:g} "
        f"{confidently(answer.confidence)}"
    )
    if all(c.guaranteed is not None for c in cells):
        return f"{aim}, whatever their distribution, {_takes(answer, 'guaranteed')}."
    if any(c.asymptotic is not None for c in cells):
        return f"{aim} probably {_takes(answer, 'asymptotic')}."
    return f"{aim}, these trials cannot tell how many it takes."


def _takes(answer: "ScorePlan", name: str) -> str:
    needs = [(getattr(c, name), c) for c in answer.cells]
    pairs = [(need, cell) for need, cell in needs if need is not None]
    (need, least, most), cell = max(pairs, key=lambda pair: pair[0][0])
    if not len(cell.pilot):
        return f"takes {need:,} {answer.unit}s"
    there = f"there {'is' if len(cell.pilot) == 1 else 'are'} {len(cell.pilot):,}"
    if need <= len(cell.pilot):
        return (
            f"there are enough {answer.unit}s already ({need:,} of {len(cell.pilot):,})"
        )
    ends = f"{least:,} or more" if most >= MANY else f"{least:,} to {most:,}"
    aside = f"{there} now"
    if least < most:
        aside += f"; as far as these tell it may be {ends}"
    if len(answer.cells) == 1:
        return f"takes {need:,} {answer.unit}s ({aside})"
    names = short_names(c.algorithm for c in answer.cells)
    tasks = short_names(c.task for c in answer.cells)
    several = len(tasks) > 1
    whose = names[cell.algorithm] + (f" on {tasks[cell.task]}" if several else "")
    many = f"{need:,} {answer.unit}s of an algorithm"
    return f"takes up to {many} ({whose} takes most; {aside})"


def would_change(answer: "ScorePlan") -> str:
    """Return what the numbers rest on."""
    if not len(answer.cells[0].pilot):
        return "A pilot would: these numbers are for the worst distribution there could be."
    return (
        f"{answer.unit.capitalize()}s to come that vary more or less than these. Whoever "
        f"wants to know it twice as well needs about four times as many."
    )
