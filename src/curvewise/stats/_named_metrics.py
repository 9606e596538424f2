"""Metrics of confusion matrices by name, with what they need."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from curvewise import metrics
from curvewise.errors import CurvewiseError, Keyword, unknown
from curvewise.stats._sample import Floats

METRICS: dict[str, Callable[..., Floats]] = {
    **metrics.FROM_COUNTS,
    "f_beta": metrics.f_beta,
    "cost": metrics.cost,
}


def metric_of(name: str, settings: dict[str, Any]) -> Callable[[Floats], Floats]:
    """Return the metric of that name, with its settings filled in."""
    if not isinstance(name, str) or name not in METRICS:
        raise unknown("metric", name, list(METRICS))
    needed = {"f_beta": "beta", "cost": "costs"}.get(name)
    if needed is not None and needed not in settings:
        raise CurvewiseError(
            f"'{name}' needs ", {needed: ...}, ". Pass it with the metric's name."
        )
    function = METRICS[name]
    strange = sorted(set(settings) - set(signature(function).parameters))
    if strange:
        raise CurvewiseError(
            f"'{name}' does not take {', '.join(strange)}. ",
            Keyword("average"),
            " and ",
            Keyword("positive"),
            " are for precision, recall, specificity, F1, F-beta and Jaccard.",
        )

    def told(matrix: Floats) -> Floats:
        return function(matrix, **settings)

    return told
