"""What curves of error against data say, in words."""

import math
from typing import Literal

from curvewise._text import joined, step
from curvewise.analyses._curve_fits import CurveFit, CurvePair, CurveTask
from curvewise.analyses._curve_tables import (
    chance_cell,
    crossing_places,
    number_cell,
    point_of,
    size_cell,
)
from curvewise.stats.interval import Interval

_MOST_NAMED = 5  # algorithms that share a concern
_APART = 0.25  # of what is gained: so far apart may two ways to know the error be
_NOTHING = 5e-4  # of the error itself: nobody would write it down


def fit_verdict(found: CurveTask, fit: CurveFit, confidence: float) -> str:
    """Return in words how good an algorithm is, and what more data would buy."""
    law = fit.law
    told = law.parameters(confidence)
    now, beyond, surely = _ahead(fit, confidence)
    when = _when(found, fit, now.value, now.value - beyond.value)
    return (
        f"{fit.algorithm}: error {_with_ends(told['e_N'])} at {step(found.size)} examples"
        f"{_but_observed(fit, told['e_N'])}. "
        f"Four times the data that it had, {step(law.extrapolation_limit)}, would bring "
        f"{_with_ends(beyond)}: {_gain(now, beyond, when, surely)}."
    )


def _ahead(fit: CurveFit, confidence: float) -> tuple[Interval, Interval, bool]:
    """Return the error now, that with four times the data, and whether it surely falls."""
    law = fit.law
    beyond = point_of(fit.forecast.interval(law.extrapolation_limit, confidence))
    now = point_of(fit.forecast.interval(fit.largest, confidence))
    # How well the curve is known where it ends, by the runs.
    known = float(law.interval(fit.largest, confidence).lower[0])
    return now, beyond, beyond.upper < min(now.lower, known)


def with_more_data(
    fit: CurveFit, confidence: float
) -> tuple[Interval, Literal["gain", "perhaps", "none"]]:
    """Return the error with four times the data, and whether that is a gain."""
    now, beyond, surely = _ahead(fit, confidence)
    gain = now.value - beyond.value
    if abs(gain) <= _NOTHING * now.value:
        return beyond, "none"
    if surely:
        return beyond, "gain"
    return beyond, "none" if gain < 0 else "perhaps"


def _but_observed(fit: CurveFit, told: Interval) -> str:
    """Return what the runs themselves had, where the power law misses it."""
    own = fit.measured
    for n, mean in zip(own.sizes, own.means, strict=True):
        if n == fit.law.size and not told.lower <= mean <= told.upper:
            return (
                f" by the power law, which misses the {number_cell(mean)} of its runs"
            )
    return ""


def _when(found: CurveTask, fit: CurveFit, now: float, gain: float) -> str:
    """Return what "now" is, with its error where that is not what was just told."""
    when = "now" if found.size == fit.largest else f"now, with {step(fit.largest)}"
    if abs(fit.law.e_N - now) > _APART * abs(gain) or found.size != fit.largest:
        return f"{when} ({number_cell(now)} by the same forecast)"
    return when


def _gain(now: Interval, beyond: Interval, when: str, surely: bool) -> str:
    """Return what is gained, with how sure that is."""
    gain = now.value - beyond.value
    if abs(gain) <= _NOTHING * now.value:
        return f"no change from {when}, as far as these runs can tell"
    if surely:
        return f"{number_cell(gain)} less than {when}"
    if gain < 0:
        return f"no less than {when}, as far as these runs can tell"
    return f"{number_cell(gain)} less than {when}, or nothing: that cannot be told yet"


def pair_verdict(found: CurveTask, pair: CurvePair) -> str:
    """Return in words which of two is better, and whether that will change."""
    return f"{_who(found, pair)} {_crosses(pair)}"


def _who(found: CurveTask, pair: CurvePair) -> str:
    size, error = step(found.size), pair.error
    if error.upper < 0 or error.lower > 0:
        better, other = (
            (pair.one, pair.other) if error.upper < 0 else (pair.other, pair.one)
        )
        ends = sorted(abs(end) for end in (error.lower, error.upper))
        return (
            f"{better} is better than {other} at {size} examples, by "
            f"{number_cell(abs(error.value))} ({number_cell(ends[0])} to "
            f"{number_cell(ends[1])})."
        )
    low, middle, high = (
        _signed(x, error.half_width) for x in (error.lower, error.value, error.upper)
    )
    return (
        f"{pair.one} and {pair.other} cannot be told apart at {size} examples: the error "
        f"of the first is {middle} ({low} to {high}) that of the second."
    )


def _signed(value: float, beside: float) -> str:
    return f"{number_cell(abs(value), beside)} {'above' if value >= 0 else 'below'}"


def _crosses(pair: CurvePair) -> str:
    crossing = pair.crossing
    first, last = (size_cell(float(n)) for n in crossing.sizes[[0, -1]])
    if not crossing.at:
        chance = float(crossing.chance[-1])
        ahead = pair.one if chance > 0.5 else pair.other
        sure = chance_cell(max(chance, 1 - chance))
        return (
            f"Their curves are not seen to cross from {first} to {last} examples; at the "
            f"end, {ahead} is better with probability {sure}."
        )
    end = float(crossing.chance[-1])
    ahead = pair.one if end > 0.5 else pair.other
    sure = chance_cell(max(end, 1 - end))
    then = f"at {last}, {ahead} is better with probability {sure}."
    if all(one.lower <= 0 and math.isinf(one.upper) for one in crossing.at):
        return (
            f"Whether and where their curves cross from {first} to {last} examples cannot "
            f"be told; {then}"
        )
    places = joined([_place(*one) for one in crossing_places(crossing)])
    return f"Their curves cross at about {places} examples; {then}"


def _place(places: str, low: float, high: float) -> str:
    ends = f"{size_cell(low) if low > 0 else 'any size'} to "
    ends += size_cell(high) if math.isfinite(high) else "any size beyond"
    return f"{places} ({ends})"


def _with_ends(interval: Interval) -> str:
    low, middle, high = (
        number_cell(x, interval.upper)
        for x in (interval.lower, interval.value, interval.upper)
    )
    return f"{middle} ({low} to {high})"


def concern_lines(found: CurveTask) -> list[str]:
    """Return what may be wrong with the curves of a task, each with whose curves."""
    whose: dict[str, list[str]] = {}
    for fit in found.fits:
        for concern in fit.concerns:
            whose.setdefault(concern, []).append(fit.algorithm)
    return [f"{_named(names)}: {concern}" for concern, names in whose.items()]


def _named(names: list[str]) -> str:
    """Return whose it is, the first few of many."""
    if len(names) <= _MOST_NAMED + 1:
        return joined(names)
    return joined([*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"])
