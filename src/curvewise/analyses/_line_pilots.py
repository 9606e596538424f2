"""From the trials of a pilot to plans for pairs of algorithms."""

import numpy as np
from numpy.typing import ArrayLike

from curvewise._answer import Provenance
from curvewise._checks import whole
from curvewise._text import Cell
from curvewise.analyses._asking import (
    failed_score,
    grid_setting,
    how_to_fill,
    lines_by_task,
    metric_of,
    plain_setting,
)
from curvewise.analyses._line_plan import (
    SIMULATIONS,
    LinesPlan,
    PairPlan,
    pair_plans,
)
from curvewise.errors import CurvewiseError
from curvewise.stats.anova.planning import Effect
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.failures import Failed
from curvewise.trials.grids import Fill


def lines_plan(
    pilot: Trials,
    metric: str | None,
    *,
    power: float,
    level: float,
    effect: Effect,
    shift: float | None,
    grid: int | ArrayLike | None,
    fill: Fill | None,
    failed: Failed,
    seed: int,
) -> LinesPlan:
    """Return the answer of `curvewise.plan.lines`."""
    must_be_trials(pilot)
    if len(pilot) == 0:
        raise CurvewiseError("The pilot has no trials. Check what was read.")
    name = metric_of(pilot, metric)
    meant = pilot.metric(name)
    rng = np.random.default_rng(whole(seed, "seed", 0))
    pairs: list[PairPlan] = []
    rules: list[str] = []
    broken = 0
    for task, found in lines_by_task(pilot, name, grid, fill, failed).items():
        rules.append(found.rule)
        broken += sum(found.failed.values())
        if len(found) < 2:
            raise CurvewiseError(
                f"Task '{task}' has lines of one algorithm, and nothing to tell it from. "
                f"Leave the task out, or run another algorithm on it."
            )
        pairs += pair_plans(
            *(task, dict(found)),
            power=power,
            level=level,
            effect=effect,
            shift=shift,
            rng=rng,
        )
    settings: dict[str, Cell] = {
        "metric": name,
        "power": power,
        "level": level,
        "effect": effect,
        "shift": shift,
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
        tuple(pairs),
        tuple(dict.fromkeys(rules)),
        broken,
        failed_score(meant, failed),
        Provenance.of(pilot, "plan", settings, seed),
    )
