"""A study of Optuna's in memory, known by what it can do: Optuna is not imported."""

import math
from typing import Any

from curvewise.exchange.tools.optuna.studies import Kept, Study
from curvewise.exchange.tools.optuna.told import Told, kept_of
from curvewise.exchange.tools.optuna.values import of_one_kind
from curvewise.metrics import Direction

_WAYS: dict[str, Direction] = {"MINIMIZE": "lower", "MAXIMIZE": "higher"}
_OWN = ("get_trials", "directions", "best_trials")


def is_study(source: object) -> bool:
    """Return whether this is a study; its class is asked, for a study would look all up."""
    able = all(hasattr(type(source), name) for name in _OWN)
    return able and hasattr(source, "study_name")


def read(study: Any) -> Kept:
    """Return the trials of a study."""
    about = Study(
        str(study.study_name),
        tuple(_WAYS.get(way.name) for way in study.directions),
        getattr(study, "metric_names", None) or (),
    )
    trials = [
        Told(
            0,
            trial.number,
            trial.state.name,
            math.nan if trial.duration is None else trial.duration.total_seconds(),
            trial.values or (),
            {name: _chosen(trial, name) for name in trial.params},
            trial.intermediate_values,
            trial.user_attrs,
            trial.system_attrs,
        )
        for trial in study.get_trials(deepcopy=False)
    ]
    return kept_of([about], trials)


def _chosen(trial: Any, name: str) -> Any:
    """Return a hyperparameter as its column has it: all choices are of one kind."""
    value = trial.params[name]
    choices = getattr(trial.distributions[name], "choices", None)
    return value if choices is None else of_one_kind([value, *choices])[0]
