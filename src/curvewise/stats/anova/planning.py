"""How many lines of each algorithm it takes to find a difference, judged from a pilot."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, checked_chance, is_number, one_of
from curvewise.stats.anova._lines.designs import LinesLike
from curvewise.stats.anova._planning.pilot_effects import (
    MOST,
    ManyLines,
    effect_scales,
    noise_freedom,
)
from curvewise.stats.anova._planning.pilots import (
    checked_pilot,
    checked_sizes,
    least_lines,
    mean_lines,
)
from curvewise.stats.anova._planning.power_curve import (
    Asked,
    power_curve,
    power_of_pilot,
)
from curvewise.stats.anova._planning.simulated import population
from curvewise.stats.interval import Interval

Effect: TypeAlias = Literal["algorithm", "interaction", "either"]
Noise: TypeAlias = Literal["unequal", "equal"]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LinePlan:
    """How many lines of each algorithm a difference takes to be found.

    Parameters
    ----------
    lines : int or None
        Of each algorithm; None where the pilot shows no more than chance does.
    interval : Interval
        Between which numbers that lies as far as the pilot can tell; without an upper end
        where it cannot exclude that there is no difference.
    least : int
        With fewer lines no result could be significant.
    now, now_error : float
        Power with the lines of the pilot, and its Monte Carlo error.
    sizes : ndarray of int, shape (size,)
        Numbers of lines that power was computed for; none where there is no effect.
    powers, errors : ndarray, shape (size,)
        Power there, and its Monte Carlo error.
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
    least: int
    now: float
    now_error: float
    sizes: Ints
    powers: Floats
    errors: Floats
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
) -> LinePlan:
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
        Plan for this difference, in units of the scores, in place of the observed one:
        the last algorithm is so much better or worse than the others at every step.
    stretch : float, optional
        Plan for this factor in place of the observed difference: the mean line of the
        last algorithm is so many times that of the others.
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
    LinePlan

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

    **Better state it**: pilots of 8 lines tell noise to within a factor of 1.5 or so,
    but hardly an effect.

    Measured with populations that are known, 8 pilot lines of each algorithm and a power
    of .8 asked for: at the planned number of lines a stated difference is found with a
    chance of .82 on average over pilots if lines are random walks, equally noisy or not,
    and .74 if they have heavy tails (t with 3 degrees of freedom), of which 8 lines show
    too little. Plans for the observed difference are right in the middle and scatter
    widely: where 17 lines were needed, one pilot in ten said 8 or fewer and one in ten 60
    or more.

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
    design = checked_pilot(lines)
    checked_chance(simulations, rng, 100, "simulations")
    for name, value in (("power", power), ("level", level), ("confidence", confidence)):
        if not is_number(value) or not 0 < value < 1:
            raise CurvewiseError(f"{name} is {value!r}. Pass one between 0 and 1.")
    if power <= level:
        raise CurvewiseError(
            f"power is {power:g} and level {level:g}: chance alone finds as much. Pass a "
            f"power above the level."
        )
    one_of("effect", effect, ("algorithm", "interaction", "either"))
    one_of("noise", noise, ("unequal", "equal"))
    middles = mean_lines(design, shift, stretch, effect)
    levels = {
        "algorithm": (level, 0.0),
        "interaction": (0.0, level),
        "either": (level / 2, level / 2),
    }[effect]
    least = least_lines(len(design.sizes), max(levels))
    asked = Asked(power, levels, noise == "unequal", least, simulations)
    shapes = effect != "algorithm"
    source = population(design, middles, shapes=shapes, pooled=noise == "equal")
    own = population(design, middles, shapes=shapes, pooled=False)
    tail = (1 - confidence) / 2
    scales = np.ones((3, 2))
    is_stated = shift is not None or stretch is not None
    if is_stated:
        source = replace(source, freedom=noise_freedom(own, effect))
    else:
        scales = effect_scales(own, (1 - tail, 0.5, tail), rng)
    many = ManyLines(source, levels, rng)
    needed = [many.lines(power, scale) for scale in scales.tolist()]
    tried = checked_sizes(sizes, least)
    # Where the pilot shows no more than chance, only the largest effect has a number.
    at = 1 if math.isfinite(needed[1]) else 0
    found = None
    offset = 1.0
    if math.isfinite(needed[at]):
        found = power_curve(source, many, scales[at].tolist(), asked, tried, rng)
        offset = found.lines - needed[at]
    if is_stated:
        exactly = ManyLines(replace(source, freedom=math.inf), levels, rng)
        factors = _noise_factors(source.freedom, tail)
        needed[::2] = [f * exactly.lines(power, (1.0, 1.0)) for f in factors]
    ends = [_whole(needed[place] + offset, least) for place in (0, 2)]
    curve = found if at == 1 else None
    now, now_error = math.nan, math.nan
    if curve is not None:
        as_pilot = source.scaled(scales[1].tolist())
        now, now_error = power_of_pilot(as_pilot, design.sizes, asked, rng)
    wanted = math.inf if curve is None else _whole(curve.lines, least)
    is_known = curve is not None and math.isfinite(wanted)
    none = np.empty(0)
    return LinePlan(
        int(wanted) if is_known else None,
        Interval(
            min(ends[0], wanted),
            max(ends[1], wanted),
            "lines of each algorithm with which the difference is found with a chance of "
            f"{power:g}",
            _guarantee(confidence, is_stated),
            wanted if is_known else math.nan,
            math.nan if curve is None else curve.error,
        ),
        least,
        now,
        now_error,
        none.astype(np.int64) if curve is None else curve.sizes,
        none if curve is None else curve.powers,
        none if curve is None else curve.errors,
        (float(scales[1, 0]), float(scales[1, 1])),
        curve is not None and curve.simulated,
        design.sizes,
        effect,
        float(power),
        float(level),
        float(confidence),
        noise,
        shift,
        stretch,
    )


def _noise_factors(freedom: float, tail: float) -> tuple[float, float]:
    """Return how many times smaller and larger variances may be than the pilot's."""
    from scipy.special import gammaincinv

    ends = (2 * float(gammaincinv(freedom / 2, p)) for p in (1 - tail, tail))
    low, high = (freedom / end for end in ends)
    return low, high


def _whole(lines: float, least: int) -> float:
    if not math.isfinite(lines) or lines > MOST:
        return math.inf
    return float(max(math.ceil(lines - 1e-9), least))


def _guarantee(confidence: float, is_stated: bool) -> str:
    what = "noise, if normal" if is_stated else "effect, its direction as observed"
    return (
        f"about {100 * confidence:g} %, for what the pilot leaves open of the {what}; "
        f"lines independent and like those of the pilot"
    )
