"""How many trials are enough, and what a number of trials can tell."""

from curvewise.stats.planning.precision import (
    LooksCost,
    Need,
    Told,
    looks_cost,
    planned_looks,
    trials_for,
    trials_for_band,
    trials_for_cvar,
    trials_for_mean,
    trials_for_quantile,
    trials_for_top,
    what_trials_tell,
)
from curvewise.stats.planning.widths import asymptotic_width, guaranteed_width

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
