"""How many lines of each algorithm it takes to find a difference, judged from a pilot."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.answers import Noise
from curvewise.stats.anova.lines import Design, LinesLike, checked_lines
from curvewise.stats.anova.pilots import (
    MOST_LINES,
    ManyLines,
    Population,
    effect_scales,
    noise_freedom,
    population,
)
from curvewise.stats.anova.power import Aim, Curve, power_curve, power_of_pilot
from curvewise.stats.deals import lines_to_reach
from curvewise.stats.interval import Interval
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_chance,
    checked_confidence,
    checked_level,
    checked_probability,
    is_number,
    one_of,
)

__all__ = [
    "LinesForPower",
    "lines_for_power",
    "refuse_pilot",
]


FEWEST_TO_PLAN = 4  # lines of each algorithm

Effect: TypeAlias = Literal["algorithm", "interaction", "either"]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LinesForPower:
    """How many lines of each algorithm a difference takes to be found.

    Parameters
    ----------
    lines : int or None
        Of each algorithm; None where the pilot shows no more than chance does, or where
        it takes more than `most`, see `is_beyond`.
    interval : Interval
        Between which numbers that lies as far as the pilot can tell; without an upper end
        where it cannot exclude that there is no difference.
    directions : tuple of int or None
        Lines for a stated effect of the last algorithm, and for one of the others; `lines`
        is the larger number. Empty where no effect was stated.
    least, most : int
        With fewer lines no result could be significant; larger numbers are not computed.
    now, now_error : float
        Power with the lines of the pilot, and its Monte Carlo error; NaN where the pilot
        shows no more than chance does.
    sizes : ndarray of int, shape (size,)
        Numbers of lines that power was computed for; none where `lines` is None.
    powers, errors : ndarray, shape (size,)
        Power there, and its Monte Carlo error.
    powers_lower, powers_upper : ndarray, shape (size,)
        Between which the chance of the simulation leaves power, with 95 % confidence each.
    scales : tuple of float
        What the observed effects of Algorithm and of Interaction were multiplied by,
        because observed ones are too large; 1 where the effect was stated.
    simulated : bool
        Whether the test itself was simulated; if not, its form for many lines.
    pilot : tuple of int
        Lines of each algorithm in the pilot.
    effect : {"algorithm", "interaction", "either"}
    power, level, confidence : float
        What was asked for.
    noise : {"unequal", "equal"}
    shift, stretch : float or None
        The effect that was stated, if one was.
    """

    lines: int | None
    interval: Interval
    directions: tuple[int | None, ...]
    least: int
    most: int
    now: float
    now_error: float
    sizes: Ints
    powers: Floats
    errors: Floats
    powers_lower: Floats
    powers_upper: Floats
    scales: tuple[float, float]
    simulated: bool
    pilot: tuple[int, ...]
    effect: Effect
    power: float
    level: float
    confidence: float
    noise: Noise
    shift: float | None
    stretch: float | None

    @property
    def is_beyond(self) -> bool:
        """Whether there is an effect that takes more than `most` lines to be found."""
        return self.lines is None and not math.isnan(self.now)


def lines_for_power(
    lines: LinesLike,
    *,
    power: float = 0.8,
    level: float = 0.05,
    effect: Effect = "algorithm",
    shift: float | None = None,
    stretch: float | None = None,
    sizes: Any = None,
    noise: Noise = "unequal",
    confidence: float = 0.8,
    simulations: int = 1000,
    rng: np.random.Generator,
) -> LinesForPower:
    r"""Return how many lines of each algorithm it takes to find a difference.

    New experiments are simulated with l lines of each algorithm: its mean line and
    residual lines of the pilot, drawn with replacement and multiplied by
    :math:`\sqrt{n/(n-1)}`, since deviations from a mean of n lines are too small. Each
    is tested as `randomized_anova` does by default, and power is the share that is found.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        The pilot: 4 lines or more of each algorithm, 8 or more if it is to tell much.
    power : float
        How often the difference is to be found.
    level : float
        Of the test.
    effect : {"algorithm", "interaction", "either"}
        A difference of the means of lines, of their shapes, or any of both, each of which
        is then tested at half the level.
    shift : float, optional
        Plan for a difference of this size, in units of the scores, in place of the
        observed one: at every step the last algorithm is so much above the others, or
        they are above it.
    stretch : float, optional
        Plan for this factor in place of the observed difference: the mean line of the
        last algorithm is so many times that of the others, or theirs that of the last.
    sizes : sequence of int, optional
        Numbers of lines to try; found if left out.
    noise : {"unequal", "equal"}
        Whether algorithms may be differently noisy. "equal" plans for the plain test.
    confidence : float
        Of the interval.
    simulations : int
        Experiments of each size.
    rng : numpy.random.Generator

    Returns
    -------
    LinesForPower

    Notes
    -----
    **Observed effects are optimistic.** What a pilot shows is the effect and chance, so
    that the effect is taken as c times the observed one, c such that half of the pilots
    would show less (median unbiased). With c = 0 chance alone shows as much, and there is
    no plan. The interval is for the effects with which a share of (1 - confidence)/2 of
    the pilots would show as much as this one, or as little. It has an upper end only if
    the pilot itself excludes, at that share, that there is nothing; with a confidence of
    .95 it would be one only where the pilot is significant already, and no plan is
    needed.

    **A stated effect**, with `shift` or `stretch`, leaves noise to be judged. Power is
    then the mean over all sizes of noise that the pilot leaves open, as if its variance
    had a scaled inverse chi-squared distribution: lines for which the plan holds on
    average over pilots, more than noise exactly as in the pilot would take. The interval
    is for the size of the noise.

    **In which direction** matters where algorithms are differently noisy and lines skewed:
    20 more for one of them may take a third more lines than 20 more for the other. A
    stated effect is planned for in both directions, and the larger number counts;
    `directions` has both. Where they are the same in truth, the larger of two simulated
    numbers is a line or two too many.

    **Better state it**: pilots of 8 lines tell noise to within a factor of 1.5 or so,
    but hardly an effect.

    Measured with populations that are known, 8 pilot lines of each algorithm and a power
    of .8 asked for: at the planned number of lines a stated difference is found with a
    chance of about .82 on average over pilots if lines are random walks, equally noisy or
    not (.77 to .84 in runs of 60 to 100 pilots), of .79 to .82 if they are skewed, and of
    .73 to .76 if they have heavy tails (t with 3 degrees of freedom), of which 8 lines
    show too little. Plans for the observed difference are about right in the middle and
    scatter widely: where 17 lines were needed, one pilot in ten said 7 or fewer and one in
    ten 65 or more.

    **Assumptions**: lines are independent; those to come are like those of the pilot;
    every algorithm gets the same number. Whoever compares several pairs at once plans for
    a smaller level, ``level / pairs``.

    Up to 60 lines the test itself is simulated, with 199 shuffles and flips, and 999 where
    that leaves the decision open. Beyond, power is that of both statistics for many lines,
    with one line added.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> pilot = {"old": rng.normal(0, 1, (8, 5)), "new": rng.normal(1, 1, (8, 5))}
    >>> found = lines_for_power(pilot, shift=0.5, rng=rng)
    >>> found.least, found.lines
    (4, 10)
    """
    design = _checked_pilot(lines)
    checked_chance(simulations, rng, 100, "simulations")
    level, confidence = checked_level(level), checked_confidence(confidence)
    _check_power(power, level)
    one_of("effect", effect, ("algorithm", "interaction", "either"))
    one_of("noise", noise, ("unequal", "equal"))
    is_stated = _checked_effect(shift, stretch, effect)
    levels = {
        "algorithm": (level, 0.0),
        "interaction": (0.0, level),
        "either": (level / 2, level / 2),
    }[effect]
    least = lines_to_reach(len(design.sizes), max(levels))
    question = _Question(
        design=design,
        effect=effect,
        pooled=noise == "equal",
        aim=Aim(
            power=float(power),
            levels=levels,
            guarded=noise == "unequal",
            least=least,
            simulations=simulations,
        ),
        tail=(1 - confidence) / 2,
        tried=_checked_sizes(sizes, least),
    )
    middles = np.stack([group.mean(axis=0) for group in design.groups])
    ways: list[_Plan] = []
    if is_stated:
        stated = _stated_lines(middles, shift, stretch)
        ways = [_for_stated(question, each, rng) for each in stated]
        plan = max(ways, key=lambda way: way.lines)
    else:
        plan = _for_observed(question, middles, rng)
    curve, none = plan.curve, np.empty(0)
    # The powers of both directions may cross: what is sure now is the smaller one.
    now = min(ways or [plan], key=lambda way: way.now)
    return LinesForPower(
        lines=_or_none(plan.lines),
        interval=_interval(plan, float(power), confidence, is_stated),
        directions=tuple(_or_none(way.lines) for way in ways),
        least=least,
        most=MOST_LINES,
        now=now.now,
        now_error=now.now_error,
        sizes=none.astype(np.int64) if curve is None else curve.sizes,
        powers=none if curve is None else curve.powers,
        errors=none if curve is None else curve.errors,
        powers_lower=none if curve is None else curve.lower,
        powers_upper=none if curve is None else curve.upper,
        scales=plan.scales,
        simulated=curve is not None and curve.simulated,
        pilot=design.sizes,
        effect=effect,
        power=float(power),
        level=level,
        confidence=confidence,
        noise=noise,
        shift=shift,
        stretch=stretch,
    )


def refuse_pilot(lines: LinesLike) -> None:
    """Raise if lines tell too little about noise to plan from them.

    Parameters
    ----------
    lines : mapping of str to array_like, shape (line, step)
        The lines of each algorithm.

    Raises
    ------
    CurvewiseError
        If an algorithm has fewer than four lines, or no two differ.

    Examples
    --------
    >>> refuse_pilot({"a": [[1, 2], [2, 4], [1, 3], [2, 3]], "b": [[0, 1]] * 4})
    """
    _checked_pilot(lines)


def _checked_pilot(lines: LinesLike) -> Design:
    """Return the lines of a pilot; refuse those that tell nothing about noise."""
    design = checked_lines(lines)
    if min(design.sizes) < FEWEST_TO_PLAN:
        few = min(design.sizes)
        name = design.names[design.sizes.index(few)]
        raise CurvewiseError(
            f"The pilot has {few} line{'' if few == 1 else 's'} of '{name}', too few to "
            f"judge noise from. Run at least {FEWEST_TO_PLAN} of each algorithm, better 8.",
            argument="lines",
            value=few,
        )
    residual = max(float(np.ptp(g, axis=0).max()) for g in design.groups)
    if residual <= 1e-13 * float(np.abs(design.values).max()):
        raise CurvewiseError(
            "The lines of each algorithm are all the same: without noise there is nothing "
            "to plan for. Pass runs with different seeds.",
            argument="lines",
        )
    return design


def _stated_lines(observed: Floats, shift: Any, stretch: Any) -> tuple[Floats, Floats]:
    """Return mean lines with a stated effect: on the last algorithm, on the others.

    Where lines are skewed and differently noisy it matters which one is above, and where
    mean lines differ it matters which one is stretched.
    """

    def changed(line: Floats) -> Floats:
        other: Floats = line + shift if stretch is None else line * stretch
        return other

    last, others = (np.empty_like(observed) for _ in range(2))
    last[:-1] = observed[:-1].mean(axis=0)
    last[-1] = changed(last[0])
    others[-1] = observed[-1]
    others[:-1] = changed(others[-1])
    return last, others


def _checked_effect(shift: Any, stretch: Any, effect: str) -> bool:
    """Return whether an effect is stated; refuse one that cannot be planned for."""
    if shift is None and stretch is None:
        return False
    if shift is not None and stretch is not None:
        raise CurvewiseError(
            "Both shift and stretch are given. Pass one of them.", argument="stretch"
        )
    if shift is not None:
        if not is_number(shift) or shift <= 0:
            raise bad_value(
                "shift",
                shift,
                "Pass the size of a difference in units of the scores, above 0; it is "
                "planned for in either direction.",
            )
        if effect == "interaction":
            raise CurvewiseError(
                "shift moves whole lines, and an interaction is what is left without. "
                "Pass ",
                {"stretch": ...},
                ", or ",
                {"effect": "algorithm"},
                ".",
                argument="effect",
            )
    elif not is_number(stretch) or stretch <= 0 or stretch == 1:
        raise bad_value(
            "stretch",
            stretch,
            "Pass what scores are multiplied by, above 0 and not 1, such as 1.1.",
        )
    return True


def _checked_sizes(sizes: Any, least: int) -> list[int] | None:
    """Return numbers of lines to try; refuse those that cannot be tried."""
    if sizes is None:
        return None
    tried = np.unique(np.atleast_1d(np.asarray(sizes)))
    if tried.dtype.kind not in "iu" or tried.size == 0 or tried[0] < 2:
        raise bad_value("sizes", sizes, "Pass numbers of lines, each at least 2.")
    if tried[-1] < least:
        raise CurvewiseError(
            f"sizes go up to {tried[-1]} lines, with which no result is significant. "
            f"Pass {least} or more.",
            argument="sizes",
        )
    return [int(n) for n in tried]


def _check_power(power: Any, level: float) -> None:
    if checked_probability("power", power) <= level:
        raise CurvewiseError(
            f"power is {power:g} and level {level:g}: chance alone finds as much. Pass a "
            f"power above the level.",
            argument="power",
            value=power,
        )


def _or_none(lines: float) -> int | None:
    return int(lines) if math.isfinite(lines) else None


# --------------------------------------------------------------------------------------
# Numbers of lines for an effect that is stated, and for the one that a pilot shows.


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """How many lines an effect takes."""

    lines: float  # infinite where there is no number
    lower: float  # what the pilot leaves open
    upper: float
    curve: Curve | None  # None where there is no number
    now: float  # power with the lines of the pilot; NaN where it shows no effect
    now_error: float
    scales: tuple[float, float]  # what observed effects were multiplied by


def _interval(
    plan: _Plan, power: float, confidence: float, is_stated: bool
) -> Interval:
    what = "noise, if normal" if is_stated else "effect, its direction as observed"
    return Interval(
        plan.lower,
        plan.upper,
        f"lines of each algorithm with which the difference is found with a chance of "
        f"{power:g}",
        f"about {100 * confidence:g} %, for what the pilot leaves open of the {what}; "
        f"lines independent and like those of the pilot",
        plan.lines if math.isfinite(plan.lines) else math.nan,
        math.nan if plan.curve is None else plan.curve.error,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """What is asked of a pilot."""

    design: Design
    effect: str
    pooled: bool  # whether all algorithms have the same noise
    aim: Aim
    tail: float  # what the interval leaves out at each end
    tried: list[int] | None  # numbers of lines to try

    def source(self, middles: Floats, *, pooled: bool) -> Population:
        """Return where lines with these mean lines would come from."""
        shapes = self.effect != "algorithm"
        return population(self.design, middles, shapes=shapes, pooled=pooled)

    def whole(self, lines: float) -> float:
        """Return a number of lines that can be run; infinite beyond those computed."""
        if not math.isfinite(lines) or lines > MOST_LINES:
            return math.inf
        return float(max(math.ceil(lines - 1e-9), self.aim.least))


def _for_stated(
    question: _Question, middles: Floats, rng: np.random.Generator
) -> _Plan:
    """Return how many lines a stated effect takes: of the pilot only noise is judged."""
    aim, scale = question.aim, (1.0, 1.0)
    unpooled = question.source(middles, pooled=False)
    certain = question.source(middles, pooled=question.pooled)
    freedom = noise_freedom(unpooled, question.effect)
    source = replace(certain, freedom=freedom)
    many = ManyLines(source, aim.levels, rng)
    needed, curve, offset = many.lines(aim.power, scale), None, 1.0
    if math.isfinite(needed):
        curve = power_curve(source, many, scale, aim, question.tried, rng)
        offset = curve.lines - needed
    exactly = ManyLines(certain, aim.levels, rng).lines(aim.power, scale)
    ends = [f * exactly + offset for f in _noise_factors(freedom, question.tail)]
    now = power_of_pilot(source, question.design.sizes, aim, rng)
    return _found(question, curve, ends, now, scale)


def _for_observed(
    question: _Question, middles: Floats, rng: np.random.Generator
) -> _Plan:
    """Return how many lines the effect takes that a pilot shows, less what is chance."""
    aim, tail = question.aim, question.tail
    unpooled = question.source(middles, pooled=False)
    source = question.source(middles, pooled=question.pooled)
    scales = effect_scales(unpooled, (1 - tail, 0.5, tail), rng).tolist()
    many = ManyLines(source, aim.levels, rng)
    needed = [many.lines(aim.power, scale) for scale in scales]
    # Where the pilot shows no more than chance, only the largest effect has a number.
    at = 1 if math.isfinite(needed[1]) else 0
    curve, offset = None, 1.0
    if math.isfinite(needed[at]):
        curve = power_curve(source, many, scales[at], aim, question.tried, rng)
        offset = curve.lines - needed[at]
    ends = [needed[0] + offset, needed[2] + offset]
    now = math.nan, math.nan
    if any(c > 0 for c, level in zip(scales[1], aim.levels, strict=True) if level):
        now = power_of_pilot(source.scaled(scales[1]), question.design.sizes, aim, rng)
    return _found(question, curve if at == 1 else None, ends, now, tuple(scales[1]))


def _found(
    question: _Question,
    curve: Curve | None,
    ends: list[float],
    now: tuple[float, float],
    scales: tuple[float, float],
) -> _Plan:
    lines = math.inf if curve is None else question.whole(curve.lines)
    low, high = (question.whole(end) for end in ends)
    if math.isinf(lines):
        curve = None
    return _Plan(lines, min(low, lines), max(high, lines), curve, *now, scales)


def _noise_factors(freedom: float, tail: float) -> tuple[float, float]:
    """Return how many times smaller and larger variances may be than the pilot's."""
    from scipy.special import gammaincinv

    if math.isinf(freedom):  # there is no noise to be judged
        return 1.0, 1.0
    ends = (2 * float(gammaincinv(freedom / 2, p)) for p in (1 - tail, tail))
    low, high = (freedom / end for end in ends)
    return low, high
