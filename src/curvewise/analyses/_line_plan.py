"""How many lines of each algorithm it takes to tell their curves apart."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from curvewise._answer import Answer, Provenance
from curvewise._text import Cell, count, percent, plain, shown
from curvewise.metrics import Floats, Metric
from curvewise.stats.anova.planning import Effect, LinePlan, lines_for_power

SIMULATIONS = 600  # experiments for each number of lines
_EFFECTS = {
    "algorithm": "the means of their lines differ",
    "interaction": "the shapes of their lines differ",
    "either": "means or shapes of their lines differ",
}


@dataclass(frozen=True, slots=True, eq=False)
class PairPlan:
    """How many lines it takes to tell two algorithms apart on one task.

    Parameters
    ----------
    task, one, other : str
    difference : float
        By how much the lines of `one` are above those of `other`, mean over the steps.
    shape_difference : float
        How far the difference strays from that along the steps, root mean square.
    plan : LinePlan
    """

    task: str
    one: str
    other: str
    difference: float
    shape_difference: float
    plan: LinePlan


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinesPlan(Answer):
    """How many lines of each algorithm it takes to tell pairs of them apart.

    Parameters
    ----------
    metric : Metric
    power, level : float
        How often a difference is to be found, by a test of which level.
    effect : {"algorithm", "interaction", "either"}
    shift : float or None
        The difference that is planned for; None for the observed one.
    pairs : tuple of PairPlan
    rules : tuple of str
        How lines came on common steps, in words: one, or one per task.
    failed : int
        Failed trials among them.
    failed_score : str
        What those score, in words.
    """

    metric: Metric
    power: float
    level: float
    effect: Effect
    shift: float | None
    pairs: tuple[PairPlan, ...]
    rules: tuple[str, ...]
    failed: int
    failed_score: str
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and pair.

        ``lines`` of each algorithm give the power that was asked for; ``lines_lower`` and
        ``lines_upper`` are what the pilot leaves open, None where there is no such number.
        """
        return [
            {
                "task": pair.task,
                "one": pair.one,
                "other": pair.other,
                "lines_one": pair.plan.pilot[0],
                "lines_other": pair.plan.pilot[1],
                "difference": pair.difference,
                "shape_difference": pair.shape_difference,
                "power_now": _number(pair.plan.now),
                "power_now_error": _number(pair.plan.now_error),
                "lines": pair.plan.lines,
                "lines_lower": _whole(pair.plan.interval.lower),
                "lines_upper": _whole(pair.plan.interval.upper),
                "lines_error": _number(pair.plan.interval.monte_carlo_error),
                "lines_least": pair.plan.least,
            }
            for pair in self.pairs
        ]

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""
        of_shape = self.effect == "interaction"
        out: list[dict[str, Cell]] = []
        for pair in self.pairs:
            plan = pair.plan
            row: dict[str, Cell] = {
                "task": pair.task,
                "pair": f"{pair.one} - {pair.other}",
                "lines now": " and ".join(map(str, plan.pilot)),
                "difference": pair.difference,
            }
            if of_shape:
                row["difference"] = pair.shape_difference
            row["power now"] = "?" if math.isnan(plan.now) else f"{plan.now:.2f}"
            row[f"lines for {self.power:g}"] = plan.lines or "cannot be said"
            row["from to"] = _span(plan)
            out.append(row)
        return out

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            *self._what_it_means(),
            *self._what_is_open(),
            *self._how_it_was_computed(),
        ]

    def _what_it_means(self) -> list[str]:
        planned = (
            "the difference is as large as the pilot suggests"
            if self.shift is None
            else f"the difference is {self.shift:g}"
        )
        notes = [
            f"lines for {self.power:g}: with so many lines (runs) of each algorithm a test "
            f"at level {self.level:g} finds that {_EFFECTS[self.effect]} with a chance of "
            f"{percent(self.power)}, if {planned} and lines to come are like those of the "
            f"pilot."
        ]
        if self.effect == "interaction":
            notes.append(
                "difference: how far the difference strays from its mean along the steps."
            )
        else:
            notes.append("difference: of the mean lines, on average over the steps.")
        if self.effect == "either":
            notes.append("Means and shapes are tested at half the level each.")
        least = max(pair.plan.least for pair in self.pairs)
        notes.append(
            f"With fewer than {count(least, 'line')} of each no result could be "
            f"significant, whatever the difference."
        )
        return notes

    def _what_is_open(self) -> list[str]:
        plans = [pair.plan for pair in self.pairs]
        level = percent(plans[0].confidence)
        if self.shift is not None:
            return [
                f"from to: what the pilot leaves open about noise, with about {level} "
                f"confidence."
            ]
        notes = [
            f"from to: what the pilot leaves open, with about {level} confidence. Few "
            f"lines say little about a difference: better plan for the smallest one worth "
            f"finding, with shift=."
        ]
        if any(math.isinf(plan.interval.upper) for plan in plans):
            notes.append("or more: it may be that there is no difference to be found.")
        if any(plan.lines is None for plan in plans):
            notes.append(
                "cannot be said: chance alone shows as much as this pilot does."
            )
        return notes

    def _how_it_was_computed(self) -> list[str]:
        notes = []
        known = [pair.plan.interval.monte_carlo_error for pair in self.pairs]
        errors = [error for error in known if not math.isnan(error)]
        if errors:
            notes.append(
                f"Simulated: the chance of the simulation leaves an error of up to "
                f"{shown(max(errors), 2)} lines (seed {self.provenance.seed})."
            )
        pairs = max(
            sum(pair.task == task for pair in self.pairs)
            for task in {pair.task for pair in self.pairs}
        )
        if pairs > 1:
            notes.append(
                f"Each pair by itself; whoever tests all {pairs} of a task plans with "
                f"level={self.level / pairs:.2g}."
            )
        notes += [f"Steps: {rule}." for rule in self.rules]
        if self.failed:
            notes.append(
                f"{count(self.failed, 'failed trial')} counted with score "
                f"{self.failed_score} from where their lines break off."
            )
        return notes

    def __str__(self) -> str:
        head = (
            f"Lines of {self.metric.name} for a power of {self.power:g} (level "
            f"{self.level:g})"
        )
        return "\n".join([head, "", plain(self.table()), "", *self.notes()])

    __repr__ = __str__


def pair_plans(
    task: str,
    lines: dict[str, Floats],
    *,
    power: float,
    level: float,
    effect: Effect,
    shift: float | None,
    rng: np.random.Generator,
) -> list[PairPlan]:
    """Return the plan for every pair of algorithms on one task."""
    out = []
    for one, other in combinations(lines, 2):
        apart = lines[one].mean(axis=0) - lines[other].mean(axis=0)
        plan = lines_for_power(
            {one: lines[one], other: lines[other]},
            power=power,
            level=level,
            effect=effect,
            shift=shift,
            simulations=SIMULATIONS,
            rng=rng,
        )
        out.append(
            PairPlan(task, one, other, float(apart.mean()), float(apart.std()), plan)
        )
    return out


def _span(plan: LinePlan) -> str:
    ends = plan.interval.lower, plan.interval.upper
    if math.isinf(ends[0]):
        return "?"
    if math.isinf(ends[1]):
        return f"{ends[0]:.0f} or more"
    return f"{ends[0]:.0f} to {ends[1]:.0f}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None
