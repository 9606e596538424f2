"""Pictures of answers; the only room that knows matplotlib.

Each function takes an answer and, if you like, an Axes, and returns the Axes: saving and
showing are matplotlib's business and yours. `style` makes figures fit for a paper.
Each is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curvewise.figures.styles import style
    from curvewise.questions.audit.charts import plot_audit
    from curvewise.questions.confusion.charts import (
        plot_confusion,
        plot_confusion_classes,
        plot_confusion_metrics,
    )
    from curvewise.questions.difference.charts import (
        plot_effect_shares,
        plot_lines,
        plot_null,
        plot_nulls,
        plot_where,
    )
    from curvewise.questions.learning.charts import (
        plot_crossing,
        plot_forecast,
        plot_learning,
        plot_size_for,
    )
    from curvewise.questions.performance.charts import (
        plot_best,
        plot_profiles,
        plot_quantiles,
        plot_quantiles_by_task,
        plot_shift,
        plot_tuning,
    )
    from curvewise.questions.plan.charts import plot_plan, plot_power
    from curvewise.questions.robustness.charts import plot_gains, plot_gains_by_task
    from curvewise.questions.slices.charts import plot_slices
    from curvewise.questions.variance.charts import plot_variance_shares
    from curvewise.questions.versions.charts import plot_versions


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

_HOMES = {
    "plot_audit": "curvewise.questions.audit.charts",
    "plot_best": "curvewise.questions.performance.charts",
    "plot_confusion": "curvewise.questions.confusion.charts",
    "plot_confusion_classes": "curvewise.questions.confusion.charts",
    "plot_confusion_metrics": "curvewise.questions.confusion.charts",
    "plot_crossing": "curvewise.questions.learning.charts",
    "plot_effect_shares": "curvewise.questions.difference.charts",
    "plot_forecast": "curvewise.questions.learning.charts",
    "plot_gains": "curvewise.questions.robustness.charts",
    "plot_gains_by_task": "curvewise.questions.robustness.charts",
    "plot_learning": "curvewise.questions.learning.charts",
    "plot_lines": "curvewise.questions.difference.charts",
    "plot_null": "curvewise.questions.difference.charts",
    "plot_nulls": "curvewise.questions.difference.charts",
    "plot_plan": "curvewise.questions.plan.charts",
    "plot_power": "curvewise.questions.plan.charts",
    "plot_profiles": "curvewise.questions.performance.charts",
    "plot_quantiles": "curvewise.questions.performance.charts",
    "plot_quantiles_by_task": "curvewise.questions.performance.charts",
    "plot_shift": "curvewise.questions.performance.charts",
    "plot_size_for": "curvewise.questions.learning.charts",
    "plot_slices": "curvewise.questions.slices.charts",
    "plot_tuning": "curvewise.questions.performance.charts",
    "plot_variance_shares": "curvewise.questions.variance.charts",
    "plot_versions": "curvewise.questions.versions.charts",
    "plot_where": "curvewise.questions.difference.charts",
    "style": "curvewise.figures.styles",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'curvewise.figures' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
