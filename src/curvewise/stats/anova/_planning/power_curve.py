"""Power against the number of lines, and where it reaches what was asked for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats
from curvewise.stats.anova._planning.pilot_effects import ManyLines
from curvewise.stats.anova._planning.populations import Population
from curvewise.stats.anova._planning.simulated import rejections

SIMULATED = 60  # lines up to which the test itself is simulated
_TRIED = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.2)  # times the first guess
_NEAR = (0.7, 1.5)  # times the guess: here with all simulations, elsewhere a third
_MORE = 4  # times that the search may go on beyond them
# The statistics estimate variances, which for many lines are known: about one line more.
_EXTRA = 1.0
_TWO_SIDED = 1.96  # standard errors, for 95 %


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Power at several numbers of lines.

    Parameters
    ----------
    sizes : ndarray of int, shape (size,)
    powers, errors : ndarray, shape (size,)
        Power, never falling, and its Monte Carlo error.
    lower, upper : ndarray, shape (size,)
        Between which chance leaves it, with 95 % confidence.
    lines, error : float
        Where it reaches what was asked for, not rounded, and the Monte Carlo error of that.
    simulated : bool
    """

    sizes: NDArray[np.int64]
    powers: Floats
    errors: Floats
    lower: Floats
    upper: Floats
    lines: float
    error: float
    simulated: bool


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What power is to be reached, by which test.

    Parameters
    ----------
    power : float
    levels : tuple of float
        Of the test of each effect; 0 where it is not asked for.
    guarded : bool
        Whether noise may be unequal.
    least : int
        Lines below which no result is significant.
    simulations : int
    """

    power: float
    levels: tuple[float, float]
    guarded: bool
    least: int
    simulations: int


def simulated_power(
    source: Population, sizes: Sequence[int], asked: Asked, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the power of the test itself with so many lines, and its error."""
    found = rejections(
        source,
        sizes,
        levels=asked.levels,
        guarded=asked.guarded,
        simulations=asked.simulations,
        rng=rng,
    )
    share = float(found.any(axis=0).mean())
    return share, _error(share, asked.simulations)


def power_of_pilot(
    source: Population, sizes: Sequence[int], asked: Asked, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the power with as many lines of each algorithm as a pilot has."""
    if min(sizes) <= SIMULATED:
        return simulated_power(source, sizes, asked, rng)
    # For many lines only the variance of means counts: as if all were as many.
    most = max(sizes)
    noise = [e * math.sqrt(most / n) for e, n in zip(source.noise, sizes, strict=True)]
    many = ManyLines(replace(source, noise=noise), asked.levels, rng)
    power = many.power(most - _EXTRA, (1.0, 1.0))
    return power, _error(power, many.draws)


def power_curve(
    source: Population,
    many: ManyLines,
    scale: Sequence[float],
    asked: Asked,
    tried: Sequence[int] | None,
    rng: np.random.Generator,
) -> Curve:
    """Return power against the number of lines, with effects times `scale`.

    Parameters
    ----------
    source : Population
        With effects not scaled.
    many : ManyLines
        Of that population.
    scale : sequence of float
    asked : Asked
    tried : sequence of int, optional
        Numbers of lines; found if left out.
    rng : numpy.random.Generator
    """
    guess = max(many.lines(asked.power, scale) + _EXTRA, asked.least)
    slope = _slope(many, scale, guess)
    if tried is None and guess > SIMULATED:
        sizes = _around(guess, asked.least, 25)
        powers = np.array([many.power(max(n - _EXTRA, 0), scale) for n in sizes])
        errors, lower, upper = _left_open(powers, np.full(len(sizes), many.draws))
        error = _error(asked.power, many.draws) / slope
        return Curve(sizes, powers, errors, lower, upper, guess, error, simulated=False)
    own = source.scaled(scale)
    m = len(source.noise)
    found: dict[int, tuple[float, int]] = {}
    waiting = list(_around(guess, asked.least) if tried is None else tried)
    for _ in range(len(waiting) + _MORE):
        if not waiting:
            break
        n = int(waiting.pop())
        is_near = tried is not None or _NEAR[0] * guess <= n <= _NEAR[1] * guess
        times = asked.simulations if is_near else max(asked.simulations // 3, 100)
        now = replace(asked, simulations=times)
        found[n] = simulated_power(own, (n,) * m, now, rng)[0], times
        if not waiting and tried is None:
            waiting = _beyond(found, asked)
    sizes = np.array(sorted(found))
    powers, times_each = _fitted(found)
    errors, lower, upper = _left_open(powers, np.array(times_each))
    lines = _crossing(sizes, powers, asked.power)
    is_inside = lines is not None and bool(lines > sizes[0] or sizes[0] <= asked.least)
    reached = lines if lines is not None and is_inside else guess
    error = _error(asked.power, asked.simulations) / slope
    if reached <= asked.least and powers[0] > asked.power + 3 * errors[0]:
        error = 0.0  # fewer lines find nothing, so that none are left to chance
    return Curve(
        sizes, powers, errors, lower, upper, reached, error, simulated=is_inside
    )


def _around(guess: float, least: int, points: int = 0) -> NDArray[np.int64]:
    ends = _TRIED[0] * guess, _TRIED[-1] * guess
    tried = np.geomspace(*ends, points) if points else np.array(_TRIED) * guess
    return np.unique(np.maximum(tried.round(), least).astype(np.int64))


def _beyond(found: dict[int, tuple[float, int]], asked: Asked) -> list[int]:
    """Return where to go on, if power is not yet reached, or everywhere."""
    sizes = sorted(found)
    powers, _ = _fitted(found)
    if powers[-1] < asked.power:
        return [math.ceil(1.5 * sizes[-1])]
    if powers[0] >= asked.power and sizes[0] > asked.least:
        return [max(asked.least, math.floor(0.7 * sizes[0]))]
    return []


def _fitted(found: dict[int, tuple[float, int]]) -> tuple[Floats, list[int]]:
    """Return powers that never fall, nearest to those found, and how often each was."""
    blocks: list[tuple[float, int, int]] = []
    times_each = [found[n][1] for n in sorted(found)]
    for n in sorted(found):
        power, times = found[n]
        sizes = 1
        while blocks and blocks[-1][0] > power:
            before, more, others = blocks.pop()
            power = (more * before + times * power) / (more + times)
            times, sizes = times + more, sizes + others
        blocks.append((power, times, sizes))
    return np.repeat([b[0] for b in blocks], [b[2] for b in blocks]), times_each


def _crossing(sizes: NDArray[np.int64], powers: Floats, power: float) -> float | None:
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
