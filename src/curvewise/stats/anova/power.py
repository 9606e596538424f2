"""Power: by resampling stretched curves, and by simulating experiments to come."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, is_whole
from curvewise.stats.anova.draws import (
    FEWEST_TO_FLIP,
    Split,
    Statistic,
    batches,
    flipped,
    least,
    observed_for_flips,
    plain,
    random_signs,
    rounding_of_deals,
    rounding_of_flips,
    studentised,
)
from curvewise.stats.anova.lines import checked_lines, compact
from curvewise.stats.anova.pilots import ManyLines, Population
from curvewise.stats.asymptotics import unit_of
from curvewise.stats.deals import (
    Labels,
    all_deals,
    labels_as_they_lie,
    number_of_deals,
    random_labels,
)
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_chance,
    checked_level,
    is_number,
)

__all__ = [
    "StretchPower",
    "stretch_power",
]


_AROUND = 10  # sorted values on each side that the critical value is averaged with


Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class StretchPower:
    """How often each F finds curves stretched, at one or several stretches and sizes.

    Parameters
    ----------
    stretch : ndarray, shape (point,)
        What all scores of one algorithm are multiplied by.
    size : ndarray of int, shape (point,)
        How many lines each algorithm has.
    algorithm, interaction : ndarray, shape (point,)
        Share of the draws that each F called different.
    algorithm_error, interaction_error : ndarray, shape (point,)
        Standard error that chance left: that of the draws, and that of the critical value.
    algorithm_critical, interaction_critical : ndarray, shape (point,)
        What F was compared with.
    level : float
    disjoint : bool
        Whether no draw held a curve and its own stretched copy.
    draws, null_draws : int
    """

    stretch: Floats
    size: Indices
    algorithm: Floats
    interaction: Floats
    algorithm_error: Floats
    interaction_error: Floats
    algorithm_critical: Floats
    interaction_critical: Floats
    level: float
    disjoint: bool
    draws: int
    null_draws: int


def stretch_power(
    lines: ArrayLike,
    stretch: ArrayLike,
    *,
    size: ArrayLike,
    null_draws: int = 10_000,
    draws: int = 100,
    level: float = 0.05,
    disjoint: bool = False,
    rng: np.random.Generator,
) -> StretchPower:
    r"""Return how often a set of curves is told from itself, stretched.

    Let L be the lines and s L the same with all scores times s. The critical value is
    that of :math:`F` between two samples of `size` lines drawn from both together,

    .. math:: c = \tfrac{1}{21} \sum_{i=-10}^{10} F^*_{(r + i)}, \quad
       r = (1 - \text{level}) \cdot \text{null draws}

    and power the share of the draws, `size` lines of L against `size` of s L, with
    :math:`F > c`; for both F of the two-way table, Algorithm and Interaction.

    Parameters
    ----------
    lines : array_like, shape (line, step)
        Many lines of one algorithm, about 100.
    stretch : float or sequence of float
        Above 0; 1 checks the level.
    size : int or sequence of int
        Lines in a sample.
    null_draws, draws : int
        How often is drawn for the critical value, and for power.
    level : float
    disjoint : bool
        Whether a draw never has a curve together with its own stretched copy. The
        published procedure allows it; see Notes.
    rng : numpy.random.Generator

    Returns
    -------
    StretchPower
        A point for each stretch and size, which are broadcast against each other.

    Notes
    -----
    As published, with ``disjoint=False``, both samples come from the same n curves and
    may share some. They then differ less than independent ones: the variance of their
    difference is 1 - size/n of what it should be. The check with stretch 1 therefore
    gives less than `level`: of 100 curves .04 with 10 lines and .01 with 40, of which a
    hundred draws show little. ``disjoint=True`` draws 2 `size` different curves and
    stretches half of them, and the check gives `level`.

    The critical value comes from originals and copies mixed, whose scatter contains the
    effect. With 100 draws the standard error of a power of .8 is .04; `draws` costs
    little. Stretching is about 0, so that what the scores are counted from matters.

    References
    ----------
    Piater and Cohen (1998), power of randomised analyses of variance of curves.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> rise = 60 / (1 + np.exp(-np.linspace(-3, 3, 8)))
    >>> lines = rise + rng.normal(0, 3, (100, 1)) + rng.normal(0, 3, (100, 8))
    >>> found = stretch_power(lines, [1.0, 1.05, 1.1], size=10, draws=1000, rng=rng)
    >>> found.algorithm.round(1)
    array([0. , 0.2, 0.7])
    """
    draws = checked_chance(draws, rng, 10, "draws")
    null_draws = checked_chance(null_draws, rng, 100, "null_draws")
    level = _checked_level(level, null_draws)
    pool = Pool(lines, disjoint)
    stretches, sizes = _points(stretch, size, pool)
    points = [
        _point(pool, s, n, (null_draws, draws), level, rng)
        for s, n in zip(stretches.tolist(), sizes.tolist(), strict=True)
    ]
    power, error, critical = np.array(points).transpose(1, 2, 0)
    return StretchPower(
        stretch=stretches,
        size=sizes,
        algorithm=power[0],
        interaction=power[1],
        algorithm_error=error[0],
        interaction_error=error[1],
        algorithm_critical=critical[0],
        interaction_critical=critical[1],
        level=level,
        disjoint=disjoint,
        draws=draws,
        null_draws=null_draws,
    )


# --- Curves and their stretched copies: samples of both, and the two F between them ----


class Pool:
    """Lines in coordinates: the mean, then the rest, as many as there are lines at most.

    Parameters
    ----------
    lines : array_like, shape (line, step)
    disjoint : bool
        Whether no draw has a line and its copy.
    """

    def __init__(self, lines: ArrayLike, disjoint: bool) -> None:
        values = checked_lines([lines, lines]).groups[0]
        values = values / unit_of(values)
        self.lines, self.steps = values.shape
        self.disjoint = disjoint
        means = values.mean(axis=1, keepdims=True)
        shapes = compact(values - means)
        self.values: Floats = np.hstack([math.sqrt(self.steps) * means, shapes])

    def mixed(self, draws: int, size: int, rng: np.random.Generator) -> Indices:
        """Return two samples from lines and copies together, shape (draw, 2 size)."""
        if not self.disjoint:
            return _drawn(draws, 2 * self.lines, (size, size), rng)
        chosen = _drawn(draws, self.lines, (size, size), rng)
        chosen += self.lines * rng.integers(0, 2, chosen.shape)
        return chosen

    def apart(self, draws: int, size: int, rng: np.random.Generator) -> Indices:
        """Return a sample of the lines and one of the copies, shape (draw, 2 size)."""
        if self.disjoint:
            chosen = _drawn(draws, self.lines, (size, size), rng)
        else:
            samples = [_drawn(draws, self.lines, (size,), rng) for _ in range(2)]
            chosen = np.concatenate(samples, axis=1)
        chosen[:, size:] += self.lines
        return chosen


def _point(
    pool: Pool,
    stretch: float,
    size: int,
    draws: tuple[int, int],
    level: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Return power, its error and the critical value, shape (effect,) each."""
    both = np.concatenate([pool.values, stretch * pool.values])
    both -= both.mean(
        axis=0
    )  # no F depends on an origin, and sums of squares gain digits

    def statistics(number: int, chosen: Callable[..., Indices]) -> Floats:
        widths = batches(number, 8 * len(both))
        parts = [both_f(both, chosen(now, size, rng), pool.steps) for now in widths]
        return np.concatenate(parts, axis=1)

    chance = np.sort(statistics(draws[0], pool.mixed), axis=1)
    apart = statistics(draws[1], pool.apart)
    at = round((1 - level) * draws[0])  # a rank, counted from 1
    critical = chance[:, at - 1 - _AROUND : at + _AROUND].mean(axis=1)
    power = (apart > critical[:, None]).mean(axis=1)
    # Power where the critical value is off by a standard error of its rank, either way.
    off = math.ceil(math.sqrt(draws[0] * level * (1 - level)))
    ends = chance[:, [max(at - 1 - off, 0), min(at - 1 + off, draws[0] - 1)]]
    between = (apart[:, None] > ends[:, :, None]).mean(axis=2)
    # One more of either kind: that none of 100 failed does not say that none ever does.
    share = (power * draws[1] + 1) / (draws[1] + 2)
    variance = share * (1 - share) / draws[1] + (between[:, 0] - between[:, 1]) ** 2 / 4
    return power, np.sqrt(variance), critical


def _points(stretch: Any, size: Any, pool: Pool) -> tuple[Floats, Indices]:
    try:
        stretches, sizes = np.broadcast_arrays(np.atleast_1d(stretch), size)
    except ValueError:
        raise CurvewiseError(
            f"stretch has {np.size(stretch)} values and size {np.size(size)}. Pass one of "
            f"either, or as many of both.",
            argument="size",
        ) from None
    for value in stretches.ravel().tolist():
        if not is_number(value) or not 1e-6 <= value <= 1e6:
            raise bad_value(
                "stretch",
                value,
                "Pass what scores are multiplied by, above 0, such as 1.1.",
            )
    most = pool.lines // 2 if pool.disjoint else pool.lines
    for value in sizes.ravel().tolist():
        if not is_whole(value, 2):
            raise bad_value("size", value, "Pass a number of lines, at least 2.")
        if value > most:
            of_each = "different lines for both" if pool.disjoint else "lines"
            raise CurvewiseError(
                f"size is {value}, and {pool.lines} lines have samples of {most} "
                f"{of_each} at most. Pass a smaller size, or more lines.",
                argument="size",
                value=value,
            )
    return stretches.astype(np.float64).ravel(), sizes.astype(np.int64).ravel()


def _checked_level(level: Any, null_draws: int) -> float:
    alpha = checked_level(level)
    at = round((1 - alpha) * null_draws)
    if at - 1 < _AROUND or at + _AROUND > null_draws:
        least = math.ceil((_AROUND + 1) / min(alpha, 1 - alpha))
        raise CurvewiseError(
            f"null_draws is {null_draws}, too few for the {2 * _AROUND + 1} sorted values "
            f"around level {alpha:g}. Pass at least {least}.",
            argument="null_draws",
            value=null_draws,
        )
    return alpha


def _drawn(
    draws: int, n: int, sizes: tuple[int, ...], rng: np.random.Generator
) -> Indices:
    """Return samples without replacement from n, one after the other in each row."""
    ends = np.cumsum(sizes)
    cuts = np.minimum(ends, n - 1)
    # The smallest of random keys are a random sample; nothing needs to be sorted.
    order = np.argpartition(rng.random((draws, n)), cuts, axis=1)
    return order[:, : ends[-1]]


def both_f(both: Floats, index: Indices, steps: int) -> Floats:
    """Return both F of the two-way table for each draw, shape (effect, draw)."""
    size = index.shape[1] // 2
    weights = np.zeros((2, len(index), len(both)))
    rows = np.arange(len(index))[:, None]
    weights[0][rows, index[:, :size]] = 1.0
    weights[1][rows, index[:, size:]] = 1.0
    means = weights @ both / size
    within = (weights @ (both**2).sum(axis=1)).sum(axis=0)
    within = within - size * (means**2).sum(axis=(0, 2))
    error = np.maximum(within, np.finfo(float).tiny) / (2 * steps * (size - 1))
    effects = (means[0] - means[1]) ** 2 * (size / 2)
    interaction = effects[:, 1:].sum(axis=1) / (steps - 1)
    ratios: Floats = np.stack([effects[:, 0], interaction]) / error
    return ratios


# --- Power against the number of lines, and where it reaches what was asked for --------


SIMULATED = 60  # lines up to which the test itself is simulated
_TRIED = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.2)  # times the first guess
_NEAR = (0.7, 1.5)  # times the guess: here with all simulations, elsewhere a third
_MORE_SIZES = 4  # times that the search may go on beyond them
# The statistics estimate variances, which for many lines are known: about one line more.
_EXTRA = 1.0
_TWO_SIDED = 1.96  # standard errors, for 95 %


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Power at several numbers of lines."""

    sizes: NDArray[np.int64]
    powers: Floats  # never falling
    errors: Floats  # Monte Carlo errors of powers
    lower: Floats  # what chance leaves open, with 95 % confidence
    upper: Floats
    lines: float  # where power reaches what was asked for, not rounded
    error: float  # Monte Carlo error of that
    simulated: bool


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """What power is to be reached, by which test."""

    power: float
    # Of the test of each effect; 0 where it is not asked for.
    levels: tuple[float, float]
    guarded: bool  # whether noise may be unequal
    least: int  # lines below which no result is significant
    simulations: int


def simulated_power(
    source: Population, sizes: Sequence[int], aim: Aim, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the power of the test itself with so many lines, and its error."""
    rejected = rejections(
        source,
        sizes,
        levels=aim.levels,
        guarded=aim.guarded,
        simulations=aim.simulations,
        rng=rng,
    )
    share = float(rejected.any(axis=0).mean())
    return share, _error(share, aim.simulations)


def power_of_pilot(
    source: Population, sizes: Sequence[int], aim: Aim, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the power with as many lines of each algorithm as a pilot has."""
    if min(sizes) <= SIMULATED:
        return simulated_power(source, sizes, aim, rng)
    # For many lines only the variance of means counts: as if all were as many.
    most = max(sizes)
    noise = [e * math.sqrt(most / n) for e, n in zip(source.noise, sizes, strict=True)]
    many = ManyLines(replace(source, noise=noise), aim.levels, rng)
    power = many.power(most - _EXTRA, (1.0, 1.0))
    return power, _error(power, many.draws)


def power_curve(
    source: Population,
    many: ManyLines,
    scale: Sequence[float],
    aim: Aim,
    tried: Sequence[int] | None,
    rng: np.random.Generator,
) -> Curve:
    """Return power against the number of lines, with effects times `scale`."""
    guess = max(many.lines(aim.power, scale) + _EXTRA, aim.least)
    slope = _slope(many, scale, guess)
    if tried is None and guess > SIMULATED:
        sizes = _around(guess, aim.least, 25)
        powers = np.array([many.power(max(n - _EXTRA, 0), scale) for n in sizes])
        errors, lower, upper = _left_open(powers, np.full(len(sizes), many.draws))
        error = _error(aim.power, many.draws) / slope
        return Curve(
            sizes=sizes,
            powers=powers,
            errors=errors,
            lower=lower,
            upper=upper,
            lines=guess,
            error=error,
            simulated=False,
        )
    scaled = source.scaled(scale)
    m = len(source.noise)
    power_at: dict[int, tuple[float, int]] = {}
    waiting = list(_around(guess, aim.least) if tried is None else tried)
    for _ in range(len(waiting) + _MORE_SIZES):
        if not waiting:
            break
        n = int(waiting.pop())
        is_near = tried is not None or _NEAR[0] * guess <= n <= _NEAR[1] * guess
        times = aim.simulations if is_near else max(aim.simulations // 3, 100)
        now = replace(aim, simulations=times)
        power_at[n] = simulated_power(scaled, (n,) * m, now, rng)[0], times
        if not waiting and tried is None:
            waiting = _beyond(power_at, aim)
    sizes = np.array(sorted(power_at))
    powers, times_each = never_falling(power_at)
    errors, lower, upper = _left_open(powers, np.array(times_each))
    lines = crossing(sizes, powers, aim.power)
    is_inside = lines is not None and bool(lines > sizes[0] or sizes[0] <= aim.least)
    reached = lines if lines is not None and is_inside else guess
    error = _error(aim.power, aim.simulations) / slope
    if reached <= aim.least and powers[0] > aim.power + 3 * errors[0]:
        error = 0.0  # fewer lines find nothing, so that none are left to chance
    return Curve(
        sizes=sizes,
        powers=powers,
        errors=errors,
        lower=lower,
        upper=upper,
        lines=reached,
        error=error,
        simulated=is_inside,
    )


def _around(guess: float, least: int, points: int = 0) -> NDArray[np.int64]:
    ends = _TRIED[0] * guess, _TRIED[-1] * guess
    tried = np.geomspace(*ends, points) if points else np.array(_TRIED) * guess
    return np.unique(np.maximum(tried.round(), least).astype(np.int64))


def _beyond(power_at: dict[int, tuple[float, int]], aim: Aim) -> list[int]:
    """Return where to go on, if power is not yet reached, or everywhere."""
    sizes = sorted(power_at)
    powers, _ = never_falling(power_at)
    if powers[-1] < aim.power:
        return [math.ceil(1.5 * sizes[-1])]
    if powers[0] >= aim.power and sizes[0] > aim.least:
        return [max(aim.least, math.floor(0.7 * sizes[0]))]
    return []


def never_falling(power_at: dict[int, tuple[float, int]]) -> tuple[Floats, list[int]]:
    """Return powers that never fall, nearest to those found, and how often each was."""
    blocks: list[tuple[float, int, int]] = []
    times_each = [power_at[n][1] for n in sorted(power_at)]
    for n in sorted(power_at):
        power, times = power_at[n]
        sizes = 1
        while blocks and blocks[-1][0] > power:
            before, more, others = blocks.pop()
            power = (more * before + times * power) / (more + times)
            times, sizes = times + more, sizes + others
        blocks.append((power, times, sizes))
    return np.repeat([b[0] for b in blocks], [b[2] for b in blocks]), times_each


def crossing(sizes: NDArray[np.int64], powers: Floats, power: float) -> float | None:
    """Return where power is reached: the normal deviate of power runs like a root."""
    from scipy.special import ndtri

    if powers[-1] < power:
        return None
    at = int(np.argmax(powers >= power))
    if at == 0:
        return float(sizes[0])
    ends = ndtri(np.clip(powers[at - 1 : at + 1], 1e-4, 1 - 1e-4))
    share = (ndtri(power) - ends[0]) / max(ends[1] - ends[0], 1e-12)
    low, high = np.sqrt(sizes[at - 1 : at + 1])
    return float((low + min(max(share, 0.0), 1.0) * (high - low)) ** 2)


def _slope(many: ManyLines, scale: Sequence[float], lines: float) -> float:
    """Return by how much power grows with a line, at the least."""
    rise = many.power(1.2 * lines, scale) - many.power(0.8 * lines, scale)
    return float(max(rise / (0.4 * lines), 0.1 / lines))


def _error(share: float, n: int) -> float:
    # One more of either kind, so that no share is called certain.
    smooth = (share * n + 1) / (n + 2)
    return math.sqrt(smooth * (1 - smooth) / n)


def _left_open(
    powers: Floats, times: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Return errors of shares that were drawn so often, and Wilson's ends for them."""
    errors = [
        _error(p, n) for p, n in zip(powers.tolist(), times.tolist(), strict=True)
    ]
    z = _TWO_SIDED**2 / times
    middle = (powers + z / 2) / (1 + z)
    reach = np.sqrt(z * powers * (1 - powers) + z**2 / 4) / (1 + z)
    ends = np.clip([middle - reach, middle + reach], 0.0, 1.0)
    # Of a share of 0 or 1 one end is the share itself, but for its last digit.
    return np.array(errors), np.minimum(ends[0], powers), np.maximum(ends[1], powers)


# --- Experiments that nobody ran, and how they are tested ------------------------------


# Shuffles, and as many flips, of each experiment; more where p is near the level.
_FIRST, _MORE = 199, 800
_FIRST_MOST, _MORE_MOST = 1000, 4000  # at small levels
_SETTLED = 3.0  # standard errors between p and the level
_ENUMERATED = 1000  # deals that are all looked at
_BLOCK = 100  # experiments that share their shuffles and flips
_CELLS = 1 << 22  # floats that a block may take

# How many draws are as large as what is shown, of how many, the smallest p of all that
# there are, and whether these are all.
_Counted: TypeAlias = tuple[Floats, int, float, bool]
_Test: TypeAlias = Callable[[Split, int, np.random.Generator], _Counted]


def rejections(
    source: Population,
    sizes: Sequence[int],
    *,
    levels: Sequence[float],
    guarded: bool,
    simulations: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return in which simulated experiments each effect is found."""
    width = max(_draws(np.array(levels))[0], _MORE) * (source.middles.shape[1] + 4)
    most = int(np.clip(_CELLS // width, 1, _BLOCK))
    blocks = [
        detections(
            source.drawn(min(most, simulations - begin), sizes, rng),
            levels,
            guarded,
            rng,
        )
        for begin in range(0, simulations, most)
    ]
    return np.concatenate(blocks, axis=1)


def detections(
    lines: Split, levels: Sequence[float], guarded: bool, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return whether tests find each effect, shape (effect, experiment)."""
    wanted = np.array(levels)[:, None]
    detected = np.tile(wanted > 0, len(lines.means))
    tests: list[_Test] = [_shuffled(guarded)]
    if guarded and min(lines.sizes) >= FEWEST_TO_FLIP:
        tests.insert(0, _flipped)
    for test in tests:
        places = np.flatnonzero(detected.any(axis=0))
        if len(places):
            p = _p(_some(lines, places), test, wanted, rng)
            detected[:, places] &= p <= wanted * (1 + 1e-12)
    return detected


def _p(lines: Split, test: _Test, aim: Floats, rng: np.random.Generator) -> Floats:
    """Return p values, shape (effect, experiment), exact enough to be held to a level."""
    beyond, draws, floor, is_exact = test(lines, _draws(aim)[0], rng)
    if is_exact:
        return beyond / draws
    p = (1 + beyond) / (1 + draws)
    # Few draws settle most; chance in the others would lose power, as the larger of two
    # p values is taken.
    reach = _SETTLED * np.sqrt(aim * (1 - aim) / draws)
    near = np.flatnonzero(((np.abs(p - aim) < reach) & (aim > 0)).any(axis=0))
    if len(near):
        some = _some(lines, near)
        again = beyond[:, near]
        for _ in range(0, _draws(aim)[1], _MORE):
            again = again + test(some, _MORE, rng)[0]
            draws += _MORE
        p[:, near] = (1 + again) / (1 + draws)
    # Draws made at random can look rarer than anything is.
    return np.maximum(p, floor)


def _draws(aim: Floats) -> tuple[int, int]:
    """Return how many shuffles tests at these levels take, and how many more."""
    level = aim[aim > 0].min()
    return (
        int(np.clip(math.ceil(5 / level), _FIRST, _FIRST_MOST)),
        int(np.clip(math.ceil(40 / level), _MORE, _MORE_MOST)),
    )


def _flipped(lines: Split, draws: int, rng: np.random.Generator) -> _Counted:
    observed = observed_for_flips(lines)
    n = sum(lines.sizes)
    chance = flipped(lines, random_signs(draws, n, rng))
    beyond = _as_large(observed, chance, rounding_of_flips(lines, *observed))
    return beyond, draws, 1 / (1 + 2 ** (n - 1)), False


def _shuffled(guarded: bool) -> _Test:
    statistic: Statistic = "studentised" if guarded else "plain"

    def judged(lines: Split, labels: Labels) -> tuple[Floats, Floats]:
        if guarded:
            return studentised(lines, labels)
        return plain(lines, labels, joint=False)

    def test(lines: Split, draws: int, rng: np.random.Generator) -> _Counted:
        deals = number_of_deals(lines.sizes)
        is_exact = deals <= _ENUMERATED
        labels = (
            np.concatenate(list(all_deals(lines.sizes)))
            if is_exact
            else random_labels(lines.sizes, draws, rng)
        )
        one, other = judged(lines, labels_as_they_lie(lines.sizes))
        ties = rounding_of_deals(lines, statistic)
        beyond = _as_large((one[:, 0], other[:, 0]), judged(lines, labels), ties)
        return beyond, len(labels), 1 / deals, is_exact

    return test


def _as_large(
    observed: tuple[Floats, Floats],
    chance: tuple[Floats, Floats],
    ties: tuple[Floats, Floats],
) -> Floats:
    """Return how many draws are as large as what is shown, shape (effect, experiment)."""
    edges = [least(one, tie)[:, None] for one, tie in zip(observed, ties, strict=True)]
    counts = [
        np.count_nonzero(values >= edge, axis=1)
        for values, edge in zip(chance, edges, strict=True)
    ]
    return np.array(counts, dtype=np.float64)


def _some(lines: Split, sets: NDArray[np.int64]) -> Split:
    return replace(lines, means=lines.means[sets], shapes=lines.shapes[sets])
