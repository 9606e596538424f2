"""Count curves: the confusion matrix, and all metrics of it, against training data."""

from curvewise.stats._named_metrics import METRICS
from curvewise.stats.confusion._asked import TARGETS, Target
from curvewise.stats.confusion._examples import Examples
from curvewise.stats.confusion.curve import ConfusionCurve
from curvewise.stats.confusion.curves import ConfusionCurves, CountBands
from curvewise.stats.confusion.fit import (
    METHODS,
    Method,
    fit_confusion_curve,
    fit_confusion_curves,
)

__all__ = [
    "METHODS",
    "METRICS",
    "TARGETS",
    "ConfusionCurve",
    "ConfusionCurves",
    "CountBands",
    "Examples",
    "Method",
    "Target",
    "fit_confusion_curve",
    "fit_confusion_curves",
]
