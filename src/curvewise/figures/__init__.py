"""Pictures of answers; the only room that knows matplotlib.

Each function takes an answer and, if you like, an Axes, and returns the Axes: saving and
showing are matplotlib's business and yours. `style` makes figures fit for a paper.
Each is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "plot_audit": "curvewise.figures.audit",
    "plot_best": "curvewise.figures.performance",
    "plot_confusion": "curvewise.figures.confusion",
    "plot_confusion_classes": "curvewise.figures.confusion",
    "plot_confusion_metrics": "curvewise.figures.confusion",
    "plot_crossing": "curvewise.figures.learning",
    "plot_effect_shares": "curvewise.figures.difference",
    "plot_forecast": "curvewise.figures.learning",
    "plot_gains": "curvewise.figures.robustness",
    "plot_gains_by_task": "curvewise.figures.robustness",
    "plot_learning": "curvewise.figures.learning",
    "plot_lines": "curvewise.figures.difference",
    "plot_null": "curvewise.figures.difference",
    "plot_nulls": "curvewise.figures.difference",
    "plot_plan": "curvewise.figures.plan",
    "plot_power": "curvewise.figures.plan",
    "plot_profiles": "curvewise.figures.performance",
    "plot_quantiles": "curvewise.figures.performance",
    "plot_quantiles_by_task": "curvewise.figures.performance",
    "plot_shift": "curvewise.figures.performance",
    "plot_size_for": "curvewise.figures.learning",
    "plot_slices": "curvewise.figures.slices",
    "plot_tuning": "curvewise.figures.performance",
    "plot_variance_shares": "curvewise.figures.variance",
    "plot_versions": "curvewise.figures.versions",
    "plot_where": "curvewise.figures.difference",
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
