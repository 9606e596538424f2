"""Count curves: the confusion matrix, and all metrics of it, against training data."""

from curvewise.stats.confusion.curve import ConfusionCurve, ConfusionCurves, CountBands
from curvewise.stats.confusion.data import Examples
from curvewise.stats.confusion.draws import TARGETS, Target
from curvewise.stats.confusion.fit import (
    METHODS,
    Method,
    fit_confusion_curve,
    fit_confusion_curves,
)
from curvewise.stats.counts.draws import METRICS

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
