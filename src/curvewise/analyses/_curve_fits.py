"""The curves of one task: each with its power law, its forecast and its shape."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from curvewise._text import step
from curvewise.analyses._curve_asking import ErrorScale, Measured
from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.learning import (
    Crossing,
    Extrapolation,
    Multiplier,
    Shape,
    compare_summaries,
    crossing,
    data_multiplier,
    extrapolate,
    shared_noise,
)
from curvewise.stats.powerlaw import PowerLaw, fit_power_law
from curvewise.trials.columns import Ints

Method: TypeAlias = Literal["calibrated", "paper"]
FEWEST = 3  # sizes that a curve with an asymptote needs
_FEWEST_SHARED = 5  # runs at a size; a correlation of fewer is mostly noise itself
MOST_IN_PAIRS = 12  # algorithms; of more, each is compared with the best one only


@dataclass(frozen=True, slots=True, eq=False)
class CurveFit:
    """What was made of the errors of one algorithm on one task.

    Parameters
    ----------
    measured : Measured
    law : PowerLaw
        The power law that describes the curve where it was observed.
    forecast : Extrapolation
        What the curve may do beyond, and whether it rises or bends the wrong way so far.
    """

    measured: Measured
    law: PowerLaw
    forecast: Extrapolation

    @property
    def shape(self) -> Shape:
        """Whether the curve rises or bends the wrong way."""
        return self.forecast.shape

    @property
    def algorithm(self) -> str:
        """Whose curve it is."""
        return self.measured.algorithm

    @property
    def largest(self) -> float:
        """The largest size that was observed."""
        return float(self.measured.sizes[-1])

    def band(self, n: Floats, confidence: float) -> CurveBand:
        """Return the band of the power law; NaN where there are too few errors for one."""
        try:
            return self.law.band(n, confidence)
        except CurvewiseError:  # three sizes with one run each
            nothing = np.full(len(n), np.nan)
            told = ("the mean error over all runs", "none: too few errors")
            return CurveBand(n, self.law.error(n), nothing, nothing, *told)

    @property
    def concerns(self) -> tuple[str, ...]:
        """What may be wrong, in sentences, each once."""
        told = (*self.law.concerns, *self.forecast.concerns)
        if self.law.size > self.largest:
            told = (_beyond(self.law.size, self.largest), *told)
        return tuple(dict.fromkeys(told))


def _beyond(size: float, largest: float) -> str:
    return (
        f"{step(size)} examples are more than the {step(largest)} that it had: error, "
        f"data-reliance and their intervals hold there only if the curve goes on as a "
        f"power law, which few do. Ask for a forecast instead."
    )


@dataclass(frozen=True, slots=True, eq=False)
class CurvePair:
    """What two curves of one task say together.

    Parameters
    ----------
    one, other : str
    error, reliance : Interval
        Difference of the errors and of the data-reliances at the reference size, first
        minus second; their intervals hold for all pairs of the task at once.
    crossing : Crossing
        Where the better one changes.
    multiplier : Multiplier
        How many times the data the second needs, at the reference size, to be as good as
        the first.
    correlation : float
        Of the noise of both, from runs that met the same data.
    """

    one: str
    other: str
    error: Interval
    reliance: Interval
    crossing: Crossing
    multiplier: Multiplier
    correlation: float


@dataclass(frozen=True, slots=True, eq=False)
class CurveTask:
    """The curves of one task.

    Parameters
    ----------
    task : str
    size : float
        The size at which they are compared.
    fits : tuple of CurveFit
    pairs : tuple of CurvePair
    left_out : tuple of str
        Algorithms whose curves have too few sizes.
    """

    task: str
    size: float
    fits: tuple[CurveFit, ...]
    pairs: tuple[CurvePair, ...]
    left_out: tuple[str, ...]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms, in the order of the trials."""
        return tuple(fit.algorithm for fit in self.fits)


def has_curves(measured: Sequence[Measured]) -> bool:
    """Return whether anybody was trained on enough sizes."""
    return any(len(one.sizes) >= FEWEST for one in measured)


def compared_at(
    task: str, measured: Sequence[Measured], size: float | None = None
) -> tuple[list[Measured], float]:
    """Return the curves that can be fitted, and the size at which they are compared."""
    enough = [one for one in measured if len(one.sizes) >= FEWEST]
    if not enough:
        most = max((len(one.sizes) for one in measured), default=0)
        raise CurvewiseError(
            f"Task '{task}' has errors at {most} sizes at most, and a curve needs "
            f"{FEWEST}. Train on parts of the data, too: a half, a quarter and an eighth."
        )
    reference = _reference(enough) if size is None else float(size)
    smallest = max(float(one.sizes[0]) for one in enough)
    if reference < smallest:
        raise CurvewiseError(
            f"size is {reference:g}, and the smallest size that all algorithms on '{task}' "
            f"were trained on is {smallest:g}. Pass a size from there on.",
            argument="size",
            value=reference,
        )
    return enough, reference


def curve_task(
    task: str,
    measured: Sequence[Measured],
    scale: ErrorScale,
    size: float | None,
    method: Method,
    confidence: float,
) -> CurveTask:
    """Return the curves of a task, fitted and compared."""
    enough, reference = compared_at(task, measured, size)
    fits = tuple(_fit(one, scale, reference, method, confidence) for one in enough)
    left_out = tuple(one.algorithm for one in measured if one not in enough)
    pairs = _pairs(fits, reference, confidence)
    return CurveTask(task, reference, fits, pairs, left_out)


def _reference(measured: Sequence[Measured]) -> float:
    """Return the largest size that all have, or that the first to end has."""
    common = set(measured[0].sizes)
    for one in measured[1:]:
        common &= set(one.sizes)
    return float(max(common) if common else min(one.sizes[-1] for one in measured))


def _fit(
    one: Measured, scale: ErrorScale, size: float, method: Method, confidence: float
) -> CurveFit:
    law = fit_power_law(
        one.sizes, one.errors, method=method, unit=scale.unit, size=size, runs=one.runs
    )
    forecast = extrapolate(
        one.sizes,
        one.errors,
        to=law.extrapolation_limit,
        confidence=confidence,
        unit=scale.unit,
        runs=one.runs,
    )
    return CurveFit(one, law, forecast)


def _pairs(
    fits: Sequence[CurveFit], size: float, confidence: float
) -> tuple[CurvePair, ...]:
    pairs = list(combinations(fits, 2))
    if len(fits) > MOST_IN_PAIRS:
        best = min(fits, key=lambda fit: fit.law.e_N)
        pairs = [pair for pair in pairs if best in pair]
    # For all pairs, also where few are told of: which one is the best, the data said.
    each = shared_confidence(confidence, max(math.comb(len(fits), 2), 1))
    return tuple(_pair(one, other, size, confidence, each) for one, other in pairs)


def _pair(
    one: CurveFit, other: CurveFit, size: float, confidence: float, each: float
) -> CurvePair:
    correlation = _shared_noise(one.measured, other.measured)
    told = compare_summaries(
        one.law, other.law, n=size, confidence=each, correlation=correlation
    )
    return CurvePair(
        one.algorithm,
        other.algorithm,
        told.error,
        told.reliance,
        crossing(one.forecast, other.forecast, confidence=confidence),
        data_multiplier(one.forecast, other.forecast, size, confidence=confidence),
        correlation,
    )


def _shared_noise(one: Measured, other: Measured) -> float:
    """Return how strongly the noise of two curves goes together; 0 if nothing says so."""
    sizes = np.intersect1d(one.sizes, other.sizes)
    mine, theirs = _at(one, sizes), _at(other, sizes)
    shared = sum(
        len(np.intersect1d(a, b)) for a, b in zip(mine[1], theirs[1], strict=True)
    )
    is_known = one.is_numbered and other.is_numbered
    if not is_known or not shared or shared < _FEWEST_SHARED * len(sizes):
        return 0.0
    return shared_noise(sizes, mine[0], theirs[0], runs_a=mine[1], runs_b=theirs[1])


def _at(one: Measured, sizes: Floats) -> tuple[list[Floats], list[Ints]]:
    at = np.searchsorted(one.sizes, sizes)
    return [one.errors[i] for i in at], [one.runs[i] for i in at]
