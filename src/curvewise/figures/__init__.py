"""Pictures of answers; the only room that knows matplotlib.

Each function takes an answer and, if you like, an Axes, and returns the Axes: saving and
showing are matplotlib's business and yours. `style` makes figures fit for a paper.
"""

from curvewise.figures.audit import plot_audit
from curvewise.figures.confusion import (
    plot_confusion,
    plot_confusion_classes,
    plot_confusion_metrics,
)
from curvewise.figures.difference import (
    plot_effect_shares,
    plot_lines,
    plot_null,
    plot_nulls,
    plot_where,
)
from curvewise.figures.learning import (
    plot_crossing,
    plot_forecast,
    plot_learning,
    plot_size_for,
)
from curvewise.figures.performance import (
    plot_best,
    plot_profiles,
    plot_quantiles,
    plot_quantiles_by_task,
    plot_shift,
    plot_tuning,
)
from curvewise.figures.plan import plot_plan, plot_power
from curvewise.figures.robustness import plot_gains, plot_gains_by_task
from curvewise.figures.slices import plot_slices
from curvewise.figures.styles import style
from curvewise.figures.variance import plot_variance_shares
from curvewise.figures.versions import plot_versions

__all__ = [
    "plot_audit",
    "plot_best",
    "plot_confusion",
    "plot_confusion_classes",
    "plot_confusion_metrics",
    "plot_crossing",
    "plot_effect_shares",
    "plot_forecast",
    "plot_gains",
    "plot_gains_by_task",
    "plot_learning",
    "plot_lines",
    "plot_null",
    "plot_nulls",
    "plot_plan",
    "plot_power",
    "plot_profiles",
    "plot_quantiles",
    "plot_quantiles_by_task",
    "plot_shift",
    "plot_size_for",
    "plot_slices",
    "plot_tuning",
    "plot_variance_shares",
    "plot_versions",
    "plot_where",
    "style",
]
