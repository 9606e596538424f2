"""How many trials are enough, and what a number of trials can tell."""

from curvewise.stats.planning.precision import (
    Need,
    asymptotic_width,
    guaranteed_width,
    trials_for,
    trials_for_cvar,
    trials_for_mean,
    trials_for_quantile,
)
from curvewise.stats.planning.trials import (
    LooksCost,
    Told,
    looks_cost,
    planned_looks,
    trials_for_band,
    trials_for_top,
    what_trials_tell,
)

__all__ = [
    "LooksCost",
    "Need",
    "Told",
    "asymptotic_width",
    "guaranteed_width",
    "looks_cost",
    "planned_looks",
    "trials_for",
    "trials_for_band",
    "trials_for_cvar",
    "trials_for_mean",
    "trials_for_quantile",
    "trials_for_top",
    "what_trials_tell",
]
