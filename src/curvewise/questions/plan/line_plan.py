"""How many lines of each algorithm it takes to tell their curves apart."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from curvewise.answer import Answer, Provenance
from curvewise.errors import CurvewiseError, listed, whole
from curvewise.metrics import Floats, Metric
from curvewise.questions.difference.fit import grid_setting, how_to_fill, lines_by_task
from curvewise.questions.sampling import (
    Inquiry,
    failed_score,
    plain_setting,
)
from curvewise.stats.anova.planning import Effect, LinesForPower, lines_for_power
from curvewise.text import Cell, Piece, Table, count, percent, plain, shown
from curvewise.trials import Trials
from curvewise.trials.doors import Failed, Fill

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
    plan : LinesForPower
    """

    task: str
    one: str
    other: str
    difference: float
    shape_difference: float
    plan: LinesForPower


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinesPlan(Answer):
    """How many lines of each algorithm it takes to tell pairs of them apart.

    Parameters
    ----------
    metric : Metric
    power, level : float
        How often a difference is to be found, by a test of which level.
    effect : {"algorithm", "interaction", "either"}
    shift, stretch : float or None
        The difference that is planned for, or the factor; both None for what the pilot
        shows.
    pairs : tuple of PairPlan
    alone : tuple of str
        Tasks with one algorithm only, which were left out.
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
    stretch: float | None
    pairs: tuple[PairPlan, ...]
    alone: tuple[str, ...]
    rules: tuple[str, ...]
    failed: int
    failed_score: str
    provenance: Provenance

    @property
    def is_stated(self) -> bool:
        """Whether the difference was stated, and not judged from the pilot."""
        return self.shift is not None or self.stretch is not None

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and pair.

        ``lines`` of each algorithm give the power that was asked for; ``lines_lower`` and
        ``lines_upper`` are what the pilot leaves open, None where there is no such number.
        A stated difference takes ``lines_if_one`` where `one` is above `other`, or is the
        stretched one, and ``lines_if_other`` where it is `other`; ``lines`` is the larger
        number.
        """
        out: list[dict[str, Cell]] = []
        for pair in self.pairs:
            if_other, if_one = pair.plan.directions or (None, None)
            row: dict[str, Cell] = {
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
                "lines_if_one": if_one,
                "lines_if_other": if_other,
                "lines_lower": _whole(pair.plan.interval.lower),
                "lines_upper": _whole(pair.plan.interval.upper),
                "lines_error": _number(pair.plan.interval.monte_carlo_error),
                "lines_least": pair.plan.least,
            }
            out.append(row)
        return out

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
            row[f"lines for {self.power:g}"] = _lines(plan)
            row["from to"] = _span(plan)
            if self.is_stated:
                if_other, if_one = (_beyond(plan, n) for n in plan.directions)
                row[self._directions] = f"{if_one} / {if_other}"
            out.append(row)
        return out

    @property
    def _directions(self) -> str:
        return f"first / second {'above' if self.stretch is None else 'stretched'}"

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            *self._what_it_means(),
            *self._what_is_open(),
            *self._how_it_was_computed(),
            *self._whose_lines(),
        ]

    def _what_it_means(self) -> list[str]:
        notes = [
            f"lines for {self.power:g}: with so many lines (runs) of each algorithm a test "
            f"at level {self.level:g} finds that {_EFFECTS[self.effect]} with a chance of "
            f"{percent(self.power)}, if {self._planned_for()} and lines to come are like "
            f"those of the pilot."
        ]
        if self.effect == "interaction":
            notes.append(
                "difference: how far the difference of the mean lines strays from its mean "
                "along the steps, in the pilot."
            )
        else:
            notes.append(
                "difference: first minus second, of the mean lines of the pilot, mean over "
                "the steps."
            )
        if self.is_stated:
            notes.append(
                f"{self._directions}: lines for either direction; the larger number counts."
            )
        if self.effect == "either":
            notes.append("Means and shapes are tested at half the level each.")
        least = max(pair.plan.least for pair in self.pairs)
        notes.append(
            f"With fewer than {count(least, 'line')} of each no result could be "
            f"significant, whatever the difference."
        )
        return notes

    def _planned_for(self) -> str:
        if self.shift is not None:
            return (
                f"one is {self.shift:g} above the other at every step, whichever it is,"
            )
        if self.stretch is not None:
            return (
                f"the mean line of one is {self.stretch:g} times that of the other, "
                f"whichever it is,"
            )
        return "the difference is as large as the pilot suggests"

    def _what_is_open(self) -> list[str]:
        plans = [pair.plan for pair in self.pairs]
        level = percent(plans[0].confidence)
        if self.is_stated:
            notes = [
                f"from to: what the pilot leaves open about noise, with about {level} "
                f"confidence."
            ]
        else:
            stated = "stretch" if self.effect == "interaction" else "shift"
            notes = [
                f"from to: what the pilot leaves open, with about {level} confidence. Few "
                f"lines say little about a difference: better plan for a stated {stated}, "
                f"the smallest one worth finding."
            ]
            if any(math.isinf(plan.interval.upper) for plan in plans):
                notes.append(
                    "or more: it may be that there is no difference to be found."
                )
            if any(_is_chance(plan) for plan in plans):
                notes.append(
                    "cannot be said, ?: chance alone shows as much as this pilot does."
                )
        if any(plan.is_beyond for plan in plans):
            notes.append(
                f"more than {plans[0].most:,}: so small a difference takes more lines than "
                f"anybody runs, and how many is not computed."
            )
        return notes

    def _how_it_was_computed(self) -> list[str]:
        notes = []
        all_errors = [pair.plan.interval.monte_carlo_error for pair in self.pairs]
        errors = [error for error in all_errors if not math.isnan(error)]
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
                f"level {self.level / pairs:.2g}, which is on the safe side of Holm."
            )
        return notes

    def _whose_lines(self) -> list[str]:
        notes = [f"Steps: {rule}." for rule in self.rules]
        if self.failed:
            notes.append(
                f"{count(self.failed, 'failed trial')} counted with score "
                f"{self.failed_score} from where their lines break off."
            )
        if self.alone:
            notes.append(f"Left out, with one algorithm only: {listed(self.alone)}.")
        return notes

    def __str__(self) -> str:
        lines = [*self.cautions, self._head(), "", plain(self.table()), ""]
        return "\n".join([*lines, *self.notes(), str(self.provenance)])

    def _head(self) -> str:
        return f"{self.metric}, lines for a power of {self.power:g} at level {self.level:g}"

    def _parts(self) -> Iterator[Piece]:
        yield Table(self.table(), self._head())


def _lines(plan: LinesForPower) -> Cell:
    return "cannot be said" if _is_chance(plan) else _beyond(plan, plan.lines)


def _is_chance(plan: LinesForPower) -> bool:
    return plan.lines is None and not plan.is_beyond


def _beyond(plan: LinesForPower, lines: int | None) -> Cell:
    return f"more than {plan.most:,}" if lines is None else lines


def _span(plan: LinesForPower) -> str:
    low, high = plan.interval.lower, plan.interval.upper
    if math.isinf(low):
        return "?" if _is_chance(plan) else f"more than {plan.most:,}"
    return f"{low:.0f} or more" if math.isinf(high) else f"{low:.0f} to {high:.0f}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


# --- From the trials of a pilot to plans for pairs of algorithms -----------------------


SIMULATIONS = 600  # experiments for each number of lines


def lines_plan(
    pilot: Trials,
    metric: str | None,
    *,
    power: float,
    level: float,
    effect: Effect,
    shift: float | None,
    stretch: float | None,
    grid: int | ArrayLike | None,
    fill: Fill | None,
    failed: Failed,
    seed: int,
    anyway: bool,
) -> LinesPlan:
    """Return the answer of `curvewise.plan.lines`."""
    # What a pilot's curves are good for is what `difference` asks of them.
    inquiry = Inquiry.of(pilot, metric, "difference", anyway=anyway)
    meant = inquiry.metric
    rng = np.random.default_rng(whole(seed, "seed", 0))
    by_task = lines_by_task(pilot, meant.name, grid, fill, failed)
    several = {task: lines for task, lines in by_task.items() if len(lines) > 1}
    if not several:
        raise CurvewiseError(
            "No task of the pilot has lines of two algorithms to tell apart. Pass runs of "
            "two or more that met the same task."
        )
    pairs: list[PairPlan] = []
    for task, lines in several.items():
        pairs += _pair_plans(
            *(task, dict(lines)),
            power=power,
            level=level,
            effect=effect,
            shift=shift,
            stretch=stretch,
            rng=rng,
        )
    settings: dict[str, Cell] = {
        "metric": meant.name,
        "power": power,
        "level": level,
        "effect": effect,
        "shift": None if shift is None else float(shift),
        "stretch": None if stretch is None else float(stretch),
        "grid": grid_setting(grid),
        "fill": how_to_fill(grid, fill),
        "failed": plain_setting(failed),
        "simulations": SIMULATIONS,
    }
    return LinesPlan(
        metric=meant,
        power=power,
        level=level,
        effect=effect,
        shift=shift,
        stretch=stretch,
        pairs=tuple(pairs),
        alone=tuple(task for task in by_task if task not in several),
        rules=tuple(dict.fromkeys(lines.rule for lines in several.values())),
        failed=sum(sum(lines.failed.values()) for lines in several.values()),
        failed_score=failed_score(meant, failed),
        provenance=inquiry.provenance("plan", settings, seed),
    )


def _pair_plans(
    task: str,
    lines: dict[str, Floats],
    *,
    power: float,
    level: float,
    effect: Effect,
    shift: float | None,
    stretch: float | None,
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
            stretch=stretch,
            simulations=SIMULATIONS,
            rng=rng,
        )
        out.append(
            PairPlan(
                task=task,
                one=one,
                other=other,
                difference=float(apart.mean()),
                shape_difference=float(apart.std()),
                plan=plan,
            )
        )
    return out
