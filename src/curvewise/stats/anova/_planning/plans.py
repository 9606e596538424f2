"""Numbers of lines for an effect that is stated, and for the one that a pilot shows."""

import math
from dataclasses import dataclass, replace

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.anova._lines.designs import Design
from curvewise.stats.anova._planning.pilot_effects import (
    MOST,
    ManyLines,
    effect_scales,
    noise_freedom,
)
from curvewise.stats.anova._planning.populations import Population, population
from curvewise.stats.anova._planning.power_curve import (
    Asked,
    Curve,
    power_curve,
    power_of_pilot,
)


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked of a pilot.

    Parameters
    ----------
    design : Design
        The pilot.
    effect : str
    pooled : bool
        Whether all algorithms have the same noise.
    asked : Asked
    tail : float
        What the interval leaves out at each end.
    tried : list of int, optional
        Numbers of lines to try.
    """

    design: Design
    effect: str
    pooled: bool
    asked: Asked
    tail: float
    tried: list[int] | None

    def source(self, middles: Floats, *, pooled: bool) -> Population:
        """Return where lines with these mean lines would come from."""
        shapes = self.effect != "algorithm"
        return population(self.design, middles, shapes=shapes, pooled=pooled)

    def whole(self, lines: float) -> float:
        """Return a number of lines that can be run; infinite beyond those computed."""
        if not math.isfinite(lines) or lines > MOST:
            return math.inf
        return float(max(math.ceil(lines - 1e-9), self.asked.least))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """How many lines an effect takes.

    Parameters
    ----------
    lines, lower, upper : float
        The number and what the pilot leaves open; infinite where there is none.
    curve : Curve or None
        None where there is no number.
    now, now_error : float
        Power with the lines of the pilot; NaN where it shows no effect.
    scales : tuple of float
        What observed effects were multiplied by.
    """

    lines: float
    lower: float
    upper: float
    curve: Curve | None
    now: float
    now_error: float
    scales: tuple[float, float]


def for_stated(question: Question, middles: Floats, rng: np.random.Generator) -> Found:
    """Return how many lines a stated effect takes: of the pilot only noise is judged."""
    asked, scale = question.asked, (1.0, 1.0)
    own = question.source(middles, pooled=False)
    certain = question.source(middles, pooled=question.pooled)
    freedom = noise_freedom(own, question.effect)
    source = replace(certain, freedom=freedom)
    many = ManyLines(source, asked.levels, rng)
    needed, curve, offset = many.lines(asked.power, scale), None, 1.0
    if math.isfinite(needed):
        curve = power_curve(source, many, scale, asked, question.tried, rng)
        offset = curve.lines - needed
    exactly = ManyLines(certain, asked.levels, rng).lines(asked.power, scale)
    ends = [f * exactly + offset for f in _noise_factors(freedom, question.tail)]
    now = power_of_pilot(source, question.design.sizes, asked, rng)
    return _found(question, curve, ends, now, scale)


def for_observed(
    question: Question, middles: Floats, rng: np.random.Generator
) -> Found:
    """Return how many lines the effect takes that a pilot shows, less what is chance."""
    asked, tail = question.asked, question.tail
    own = question.source(middles, pooled=False)
    source = question.source(middles, pooled=question.pooled)
    scales = effect_scales(own, (1 - tail, 0.5, tail), rng).tolist()
    many = ManyLines(source, asked.levels, rng)
    needed = [many.lines(asked.power, scale) for scale in scales]
    # Where the pilot shows no more than chance, only the largest effect has a number.
    at = 1 if math.isfinite(needed[1]) else 0
    curve, offset = None, 1.0
    if math.isfinite(needed[at]):
        curve = power_curve(source, many, scales[at], asked, question.tried, rng)
        offset = curve.lines - needed[at]
    ends = [needed[0] + offset, needed[2] + offset]
    now = math.nan, math.nan
    if any(c > 0 for c, level in zip(scales[1], asked.levels, strict=True) if level):
        now = power_of_pilot(
            source.scaled(scales[1]), question.design.sizes, asked, rng
        )
    return _found(question, curve if at == 1 else None, ends, now, tuple(scales[1]))


def _found(
    question: Question,
    curve: Curve | None,
    ends: list[float],
    now: tuple[float, float],
    scales: tuple[float, float],
) -> Found:
    lines = math.inf if curve is None else question.whole(curve.lines)
    low, high = (question.whole(end) for end in ends)
    if math.isinf(lines):
        curve = None
    return Found(lines, min(low, lines), max(high, lines), curve, *now, scales)


def _noise_factors(freedom: float, tail: float) -> tuple[float, float]:
    """Return how many times smaller and larger variances may be than the pilot's."""
    from scipy.special import gammaincinv

    if math.isinf(freedom):  # there is no noise to be judged
        return 1.0, 1.0
    ends = (2 * float(gammaincinv(freedom / 2, p)) for p in (1 - tail, tail))
    low, high = (freedom / end for end in ends)
    return low, high
