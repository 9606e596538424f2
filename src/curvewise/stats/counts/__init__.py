"""What one confusion matrix tells: intervals of its rates, one matrix or millions."""

from curvewise.stats.counts.draws import draw_matrices, metric_interval
from curvewise.stats.counts.posterior import CountIntervals
from curvewise.stats.counts.rates import (
    accuracy_interval,
    error_interval,
    f1_density,
    f1_interval,
    f_beta_interval,
    jaccard_interval,
    precision_interval,
    recall_interval,
    specificity_interval,
)
from curvewise.stats.counts.recovery import (
    RecoveredCounts,
    counts_matrix,
    recover_counts,
)

__all__ = [
    "CountIntervals",
    "RecoveredCounts",
    "accuracy_interval",
    "counts_matrix",
    "draw_matrices",
    "error_interval",
    "f1_density",
    "f1_interval",
    "f_beta_interval",
    "jaccard_interval",
    "metric_interval",
    "precision_interval",
    "recall_interval",
    "recover_counts",
    "specificity_interval",
]
