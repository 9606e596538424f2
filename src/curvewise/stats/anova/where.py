"""Where in training do algorithms differ? For all steps at once."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Verbatim
from curvewise.stats.anova.bands import AtSteps, flipped_f, lines_at, observed_f
from curvewise.stats.anova.draws import as_large, is_within
from curvewise.stats.anova.lines import LinesLike, WindowsLike
from curvewise.stats.interval import CurveBand
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_chance,
    checked_level,
    is_number,
)

__all__ = [
    "Where",
    "where_different",
]


_MOST_OF_IT = 0.9  # of what one line can carry at most
_FEW_LINES, _MANY_WINDOWS = 5, 100  # where the level was seen to fail


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where algorithms differ.

    Parameters
    ----------
    algorithms : tuple of str
    sizes : tuple of int
        How many lines each has.
    steps, first, last : ndarray, shape (window,)
        The mean, the first and the last step of each window; all the same where each
        step was tested by itself.
    statistic : ndarray, shape (window,)
        Welch's F; infinite where nothing but the algorithm varies.
    p : ndarray, shape (window,)
        Adjusted for all windows.
    hangs_on_one_line : ndarray of bool, shape (algorithm, window)
        Whether one line makes nearly all of the noise that an algorithm shows there.
    level : float
        Probability of any false finding that was allowed.
    flips : int
        How often signs were drawn.
    """

    algorithms: tuple[str, ...]
    sizes: tuple[int, ...]
    steps: Floats
    first: Floats
    last: Floats
    statistic: Floats
    p: Floats
    hangs_on_one_line: NDArray[np.bool_]
    level: float
    flips: int

    @property
    def different(self) -> NDArray[np.bool_]:
        """In which windows a difference was found, shape (window,)."""
        return np.array([is_within(p, self.level) for p in self.p.tolist()])

    @property
    def stretches(self) -> tuple[tuple[float, float], ...]:
        """From which step to which: runs of neighbouring windows that all differ.

        A window without a finding ends a run; nothing is bridged.
        """
        padded = np.r_[False, self.different, False]
        begin, end = np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2).T
        pairs = zip(self.first[begin], self.last[end - 1], strict=True)
        return tuple((float(a), float(b)) for a, b in pairs)

    @property
    def last_different(self) -> float | None:
        """The last step at which algorithms differ is this or a later one.

        A lower confidence bound, at confidence 1 - `level`: where it is too large, a
        false finding was made. It is the first step of the last window that differs, as a
        difference of means in a window may be due to any of its steps. None if nothing
        was found.
        """
        found = np.flatnonzero(self.different)
        return float(self.first[found[-1]]) if len(found) else None

    @property
    def first_different(self) -> float | None:
        """The first step at which algorithms differ is this or an earlier one.

        An upper confidence bound, at confidence 1 - `level`; the last step of the first
        window that differs. None if nothing was found.
        """
        found = np.flatnonzero(self.different)
        return float(self.last[found[0]]) if len(found) else None

    @property
    def has_windows(self) -> bool:
        """Whether means in windows were tested, and not each step by itself."""
        return bool((self.first != self.last).any())

    @property
    def is_weak(self) -> bool:
        """Whether lines are so few, and windows so many, that the level may not hold."""
        return min(self.sizes) <= _FEW_LINES and len(self.steps) >= _MANY_WINDOWS

    def still_possible_after(self, band: CurveBand) -> float | None:
        """Return how large a difference may be after the last window that differs.

        The largest absolute value in the band at later steps, or at all steps if nothing
        was found; None if no step is later.

        Parameters
        ----------
        band : CurveBand
            From `difference_band`, of the same two algorithms on the same steps.

        Examples
        --------
        >>> from curvewise.stats.anova.bands import difference_band
        >>> rng = np.random.default_rng(1)
        >>> lines = rng.normal(size=(2, 10, 6))
        >>> lines[0, :, :3] += 4
        >>> found = where_different(lines, rng=rng)
        >>> band = difference_band(*lines, rng=rng)
        >>> round(found.still_possible_after(band), 1)
        1.7
        """
        later = self._later(band)
        if not later.any():
            return None
        return float(np.maximum(np.abs(band.lower), np.abs(band.upper))[later].max())

    def gone_after(self, band: CurveBand, margin: float) -> float | None:
        """Return the first step at and after which the band lies inside the margin.

        None if it never does. Nothing else says that a difference is gone: where none is
        found, one may have been missed.

        Parameters
        ----------
        band : CurveBand
            From `difference_band`, of the same two algorithms on the same steps.
        margin : float
            The largest difference that does not matter, fixed before looking.

        Examples
        --------
        >>> from curvewise.stats.anova.bands import difference_band
        >>> rng = np.random.default_rng(1)
        >>> lines = rng.normal(size=(2, 10, 6))
        >>> lines[0, :, :3] += 4
        >>> found = where_different(lines, rng=rng)
        >>> band = difference_band(*lines, rng=rng)
        >>> found.gone_after(band, 2.0), found.gone_after(band, 0.5)
        (3.0, None)
        """
        _checked_margin(margin)
        self._later(band)
        outside = np.flatnonzero((band.lower < -margin) | (band.upper > margin))
        begin = int(outside[-1]) + 1 if len(outside) else 0
        return float(band.at[begin]) if begin < len(band.at) else None

    def _later(self, band: CurveBand) -> NDArray[np.bool_]:
        """Return which points of a band come after the last window that differs."""
        if len(self.algorithms) != 2:
            raise CurvewiseError(
                f"A band is on the difference of two algorithms, and "
                f"{len(self.algorithms)} were tested. Ask where each pair differs."
            )
        if band.at[-1] < self.steps[-1]:
            raise CurvewiseError(
                f"The band ends at step {band.at[-1]:g}, and algorithms were tested up to "
                f"{self.steps[-1]:g}. Pass a band on the same steps."
            )
        found = np.flatnonzero(self.different)
        return band.at > (self.last[found[-1]] if len(found) else -np.inf)


def where_different(
    lines: LinesLike,
    *,
    steps: ArrayLike | None = None,
    windows: WindowsLike | None = None,
    level: float = 0.05,
    flips: int = 9999,
    rng: np.random.Generator,
) -> Where:
    r"""Return at which steps algorithms differ, with one error rate for all of them.

    With Welch's F at each step, :math:`T_{(1)} \ge T_{(2)} \ge \cdots`,

    .. math:: p_{(r)} = \max_{q \le r}
       \frac{1 + \#\{\max_{s \ge q} T^*_{(s)} \ge T_{(q)}\}}{1 + R}

    where :math:`T^*` is F after the residual lines (each less the mean line of its
    algorithm) were given random signs, with variances of its own, R times.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        Four lines or more of each of two or more algorithms.
    steps : array_like, shape (step,), optional
        The training behind each step; places, if not given.
    windows : int or sequence of int, optional
        Test means in windows, as `window_edges` makes them. Fix them before you look;
        8 to 30 are a good number. By default each step is tested by itself.
    level : float
        Probability of any false finding.
    flips : int
        How often signs are drawn, :math:`R`.
    rng : numpy.random.Generator

    Notes
    -----
    Stepping down [1]_: the largest F is compared with the largest of all steps, the next
    one with the largest of the steps that are left. Signs are drawn for whole lines, so
    that the dependence between steps is kept. Of 100 steps of two walks, ten lines each,
    that differ at the last 30 by 1, 1.5 or 2 standard deviations of the noise, this finds
    10, 30 and 59 % of those 30; Welch's t at each step with Holm's correction finds 2, 11
    and 30 %. Restudentised sign flips [2]_ ask for
    neither equal noise nor equal numbers of lines. Shuffling lines between algorithms
    does, and finds what is not there: .07 to .16 of the time at level .05, with 8 steps
    and noise four times larger in one of two algorithms.

    The level is asymptotic. In simulations it was .04 to .07 with 8 steps, and .05 to .06
    with 100 that depend on each other as those of a walk do. With five lines of the noisy
    algorithm and 100 nearly independent steps it was .07 to .11, and `is_weak` says so:
    use windows. Where a few runs fail, a sample may miss the failures, and nothing in it
    tells; with real curves resampled, of 5 to 15 runs, something that is not there was
    found .11 to .15 of the time. `hangs_on_one_line` marks where that threatens: one line
    carries more than 0.9 of :math:`1 - 1/l`, the largest share that any one of l lines
    can have in the sum of squared deviations.

    A difference of means in a window is one at some of its steps, not at each.

    Where no algorithm varies, p is 1 if all score the same, and otherwise as small as
    flips of the other steps let it be. Draws that are as large as F but for rounding are
    ties, and count.

    References
    ----------
    .. [1] P. Westfall, S. Young. *Resampling-Based Multiple Testing.* Wiley, 1993.
    .. [2] R. Davidson, E. Flachaire. "The wild bootstrap, tamed at last." Journal of
       Econometrics 146, 2008.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> lines = rng.normal(size=(2, 10, 6))
    >>> lines[0, :, :3] += 4
    >>> found = where_different(lines, rng=rng)
    >>> found.different.tolist()
    [True, True, True, False, False, False]
    >>> found.stretches, found.last_different
    (((0.0, 2.0),), 2.0)
    """
    flips = checked_chance(flips, rng, name="flips")
    level = _checked_level(level, flips)
    at = lines_at(lines, steps, windows)
    f = observed_f(at)
    return Where(
        at.design.names,
        at.design.sizes,
        at.steps,
        at.first,
        at.last,
        f,
        _stepped_down(at, f, flips, rng),
        _hanging(at),
        level,
        flips,
    )


def _stepped_down(
    at: AtSteps, f: Floats, flips: int, rng: np.random.Generator
) -> Floats:
    order = np.argsort(-f, kind="stable")
    # From the smallest F to the largest: the running maximum then is over those left.
    upward = order[::-1]
    ordered = replace(at, design=at.design.with_values(at.design.values[:, upward]))
    reached = np.zeros(len(f), dtype=np.int64)
    least = as_large(f)[upward, None]
    for drawn in flipped_f(ordered, flips, rng):
        np.maximum.accumulate(drawn, axis=0, out=drawn)
        reached += np.count_nonzero(drawn >= least, axis=1)
    p = np.empty_like(f)
    p[order] = np.maximum.accumulate((1 + reached[::-1]) / (1 + flips))
    return p


def _hanging(at: AtSteps) -> NDArray[np.bool_]:
    """Return whether one line makes nearly all of the noise, shape (algorithm, window)."""
    out = []
    for rest in at.design.groups:
        squares = rest**2
        most = _MOST_OF_IT * (1 - 1 / len(rest))
        out.append(squares.max(axis=0) > most * squares.sum(axis=0))
    return np.stack(out)


def _checked_level(asked: Any, flips: int) -> float:
    level = checked_level(asked)
    if not is_within(1 / (1 + flips), level):
        raise CurvewiseError(
            f"{flips} flips never give a p of {level:g}. Pass ",
            {"flips": Verbatim(f"{int(1 / level)}")},
            " or more.",
        )
    return level


def _checked_margin(margin: Any) -> None:
    if not is_number(margin) or margin <= 0:
        raise bad_value(
            "margin",
            margin,
            "Pass the largest difference that does not matter, above 0.",
        )
