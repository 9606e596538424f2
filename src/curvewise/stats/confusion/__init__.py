"""Count curves: the confusion matrix, and all metrics of it, against training data."""

from curvewise.stats.confusion.curve import (
    METHODS,
    ConfusionCurve,
    Method,
    fit_confusion_curve,
    fit_confusion_curves,
)
from curvewise.stats.confusion.data import Concern, Examples
from curvewise.stats.confusion.draws import TARGETS, Target
from curvewise.stats.counts.draws import METRICS

__all__ = [
    "METHODS",
    "METRICS",
    "TARGETS",
    "Concern",
    "ConfusionCurve",
    "Examples",
    "Method",
    "Target",
    "fit_confusion_curve",
    "fit_confusion_curves",
]
