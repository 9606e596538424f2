"""How many trials of each task and algorithm are planned, as a store remembers it."""

import json
from collections.abc import Mapping
from typing import Any

from curvewise.engine.experiment import Experiment
from curvewise.store.claims import Cell

_PLAN = "plan"


def planned(notes: Mapping[str, str]) -> dict[Cell, int]:
    """Return how many trials are planned, if the store knows."""
    plan: list[Any] = json.loads(notes.get(_PLAN, "[]"))
    return {(task, algorithm): trials for task, algorithm, trials in plan}


def with_plan(notes: Mapping[str, str], experiment: Experiment) -> dict[str, str]:
    """Return the note of what was planned before and what this experiment adds."""
    new = {(t.name, a.name): experiment.trials for t, a in experiment.cells()}
    plan = planned(notes) | new
    return {_PLAN: json.dumps([[*cell, trials] for cell, trials in plan.items()])}
