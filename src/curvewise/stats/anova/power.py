"""How often stretched curves are told from their originals: power by resampling."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, checked_chance, checked_level, is_number
from curvewise.stats.anova._lines.flips import batches
from curvewise.stats.anova._planning.stretched import Indices, Pool, both_f

__all__ = ["StretchPower", "stretch_power"]

_AROUND = 10  # sorted values on each side that the critical value is averaged with


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
    found = [
        _point(pool, s, n, (null_draws, draws), level, rng)
        for s, n in zip(stretches.tolist(), sizes.tolist(), strict=True)
    ]
    power, error, critical = np.array(found).transpose(1, 2, 0)
    return StretchPower(
        stretches,
        sizes,
        power[0],
        power[1],
        error[0],
        error[1],
        critical[0],
        critical[1],
        level,
        disjoint,
        draws,
        null_draws,
    )


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
    shown = statistics(draws[1], pool.apart)
    at = round((1 - level) * draws[0])  # a rank, counted from 1
    critical = chance[:, at - 1 - _AROUND : at + _AROUND].mean(axis=1)
    power = (shown > critical[:, None]).mean(axis=1)
    # Power where the critical value is off by a standard error of its rank, either way.
    off = math.ceil(math.sqrt(draws[0] * level * (1 - level)))
    ends = chance[:, [max(at - 1 - off, 0), min(at - 1 + off, draws[0] - 1)]]
    between = (shown[:, None] > ends[:, :, None]).mean(axis=2)
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
            f"either, or as many of both."
        ) from None
    for value in stretches.ravel().tolist():
        if not is_number(value) or not 1e-6 <= value <= 1e6:
            raise CurvewiseError(
                f"stretch is {value!r}. Pass what scores are multiplied by, above 0, such "
                f"as 1.1.",
                argument="stretch",
                value=value,
            )
    most = pool.lines // 2 if pool.disjoint else pool.lines
    for value in sizes.ravel().tolist():
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            raise CurvewiseError(
                f"size is {value!r}. Pass a number of lines, at least 2.",
                argument="size",
                value=value,
            )
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
