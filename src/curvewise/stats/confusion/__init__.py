"""Count curves: the confusion matrix, and all metrics of it, against training data."""

from curvewise.stats.confusion.calibrated import ASSUMED_CORRELATION
from curvewise.stats.confusion.curve import (
    METHODS,
    ConfusionCurve,
    Method,
    fit_confusion_curve,
    fit_confusion_curves,
)
from curvewise.stats.confusion.data import Concern, ConcernKind, Examples
from curvewise.stats.confusion.draws import TARGETS, Target
from curvewise.stats.confusion.drift import FURTHEST
from curvewise.stats.counts.draws import METRICS

__all__ = [
    "ASSUMED_CORRELATION",
    "FURTHEST",
    "METHODS",
    "METRICS",
    "TARGETS",
    "Concern",
    "ConcernKind",
    "ConfusionCurve",
    "Examples",
    "Method",
    "Target",
    "fit_confusion_curve",
    "fit_confusion_curves",
]
