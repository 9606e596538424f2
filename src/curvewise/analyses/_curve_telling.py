"""How questions about the curves of one task are answered."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from curvewise.analyses._curve_fits import CurveFit, CurveTask
from curvewise.analyses._curve_questions import Advice, Needed, Predicted
from curvewise.analyses._curve_tables import point_of
from curvewise.metrics import Floats
from curvewise.stats.learning import chance_best, next_run, size_for

_FURTHEST = 1000  # times the largest size: beyond, nobody can know


def predicted(found: CurveTask, sizes: Floats, confidence: float) -> list[Predicted]:
    """Return what error to expect of each algorithm at each size."""
    forecasts = [fit.forecast for fit in found.fits]
    best = chance_best(forecasts, sizes)
    bands = [forecast.interval(sizes, confidence) for forecast in forecasts]
    return [
        Predicted(
            found.task,
            fit.algorithm,
            float(n),
            point_of(bands[i], j),
            float(fit.forecast.predict(fit.largest)[0]),
            fit.largest,
            float(best[i, j]),
        )
        for j, n in enumerate(sizes)
        for i, fit in enumerate(found.fits)
    ]


def needed(found: CurveTask, error: float, confidence: float) -> list[Needed]:
    """Return how much data an error takes of each algorithm."""
    out = []
    for fit in found.fits:
        far = _FURTHEST * fit.largest
        told = size_for(fit.forecast, error, confidence=confidence, largest=far)
        out.append(Needed(found.task, fit.algorithm, told))
    return out


def advised(
    found: CurveTask,
    to: float,
    seconds: Callable[[Floats], Floats] | None,
    budget: float | None,
    unit: Literal["fraction", "loss"],
    is_known: bool,
) -> list[Advice]:
    """Return which run of each algorithm would tell most of a size.

    `is_known` says whether it is known how long every algorithm trains.
    """
    out = []
    for fit in found.fits:
        cost = seconds or _cost(fit if is_known else None)
        run = next_run(
            *(fit.measured.sizes, fit.measured.errors, cost),
            target=to,
            budget=_budget(fit, cost) if budget is None else budget,
            unit=unit,
        )
        out.append(Advice(found.task, fit.algorithm, run))
    return out


def _cost(fit: CurveFit | None) -> Callable[[Floats], Floats]:
    """Return what runs cost: seconds, as its trials took, or else training examples."""
    each = 1.0 if fit is None else fit.measured.seconds
    return lambda sizes: each * sizes


def is_timed(fit: CurveFit) -> bool:
    """Return whether it is known how long an algorithm trains."""
    return math.isfinite(fit.measured.seconds) and fit.measured.seconds > 0


def _budget(fit: CurveFit, cost: Callable[[Floats], Floats]) -> float:
    """Return what two runs of the largest size cost."""
    return 2 * float(np.ravel(cost(np.array([fit.largest])))[0])
