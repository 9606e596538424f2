"""Comparisons of algorithms: two of them on one task, or over many tasks."""

from curvewise.stats.comparison.differences import (
    all_differences,
    difference,
    has_few,
    holm,
    shared_confidence,
)
from curvewise.stats.comparison.improvement import (
    all_improvements,
    improvement_over_tasks,
    probability_of_improvement,
)
from curvewise.stats.comparison.profiles import (
    performance_profile,
    performance_profile_bootstrap,
)
from curvewise.stats.comparison.quantiles import (
    Settled,
    dominance,
    quantile_shift,
    where_better,
)
from curvewise.stats.comparison.tasks import (
    iqm,
    iqm_bootstrap,
    iqm_interval,
    mean_over_tasks,
    mean_over_tasks_bootstrap,
    mean_over_tasks_interval,
    optimality_gap,
    optimality_gap_bootstrap,
    optimality_gap_interval,
)

__all__ = [
    "Settled",
    "all_differences",
    "all_improvements",
    "difference",
    "dominance",
    "has_few",
    "holm",
    "improvement_over_tasks",
    "iqm",
    "iqm_bootstrap",
    "iqm_interval",
    "mean_over_tasks",
    "mean_over_tasks_bootstrap",
    "mean_over_tasks_interval",
    "optimality_gap",
    "optimality_gap_bootstrap",
    "optimality_gap_interval",
    "performance_profile",
    "performance_profile_bootstrap",
    "probability_of_improvement",
    "quantile_shift",
    "shared_confidence",
    "where_better",
]
