"""From the trials of a pilot to plans for pairs of algorithms."""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from curvewise._answer import Provenance
from curvewise._checks import whole
from curvewise._text import Cell
from curvewise.analyses._asking import (
    cluster_cautions,
    failed_score,
    metric_of,
    plain_setting,
)
from curvewise.analyses._line_asking import grid_setting, how_to_fill, lines_by_task
from curvewise.analyses._line_plan import LinesPlan, PairPlan
from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats
from curvewise.review.gate import gate
from curvewise.stats.anova.planning import Effect, lines_for_power
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.failures import Failed
from curvewise.trials.grids import Fill

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
    must_be_trials(pilot)
    if len(pilot) == 0:
        raise CurvewiseError("The pilot has no trials. Check what was read.")
    name = metric_of(pilot, metric)
    meant = pilot.metric(name)
    # What a pilot's curves are good for is what `difference` asks of them.
    cautions = gate(pilot, "difference", metric=name, anyway=anyway)
    rng = np.random.default_rng(whole(seed, "seed", 0))
    by_task = lines_by_task(pilot, name, grid, fill, failed)
    several = {task: own for task, own in by_task.items() if len(own) > 1}
    if not several:
        raise CurvewiseError(
            "No task of the pilot has lines of two algorithms to tell apart. Pass runs of "
            "two or more that met the same task."
        )
    pairs: list[PairPlan] = []
    for task, found in several.items():
        pairs += _pair_plans(
            *(task, dict(found)),
            power=power,
            level=level,
            effect=effect,
            shift=shift,
            stretch=stretch,
            rng=rng,
        )
    settings: dict[str, Cell] = {
        "metric": name,
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
        meant,
        power,
        level,
        effect,
        shift,
        stretch,
        tuple(pairs),
        tuple(task for task in by_task if task not in several),
        tuple(dict.fromkeys(found.rule for found in several.values())),
        sum(sum(found.failed.values()) for found in several.values()),
        failed_score(meant, failed),
        Provenance.of(
            pilot,
            "plan",
            settings,
            seed,
            cautions=(*cautions, *cluster_cautions(pilot)),
        ),
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
            PairPlan(task, one, other, float(apart.mean()), float(apart.std()), plan)
        )
    return out
