"""Lines of several algorithms on the same steps: what every test of curves takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Phrase, listed
from curvewise.stats.asymptotics import unit_of
from curvewise.stats.validation import (
    NUMBERS,
    Floats,
    as_floats,
    bad_value,
    checked_count,
)

__all__ = [
    "greenhouse_geisser",
    "noise_ratio",
    "step_correlation",
    "window_edges",
    "window_means",
]


LARGEST = 1e140  # a value, so that sums of squares of millions are finite
EPS = float(np.finfo(np.float64).eps)
SCORE = 2 * EPS  # what a score may be off for having been rounded, as a share of it


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Lines, algorithm after algorithm.

    Parameters
    ----------
    names : tuple of str
        The algorithms.
    values : ndarray, shape (line, step)
        The lines of the first algorithm, then those of the second, and so on.
    sizes : tuple of int
        How many lines each algorithm has.
    """

    names: tuple[str, ...]
    values: Floats
    sizes: tuple[int, ...]

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where the lines of each algorithm are."""
        ends = np.cumsum((0, *self.sizes)).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def groups(self) -> list[Floats]:
        """The lines of each algorithm, shape (line, step) each."""
        return [self.values[s] for s in self.slices]

    def with_values(self, values: Floats) -> "Design":
        """Return the same design with other lines."""
        return Design(self.names, values, self.sizes)

    def of(self, algorithms: Sequence[int]) -> "Design":
        """Return the lines of some algorithms, by place."""
        groups = self.groups
        return Design(
            tuple(self.names[i] for i in algorithms),
            np.concatenate([groups[i] for i in algorithms]),
            tuple(self.sizes[i] for i in algorithms),
        )


LinesLike: TypeAlias = (
    Design | Mapping[str, ArrayLike] | Sequence[ArrayLike] | ArrayLike
)


def checked_lines(
    lines: LinesLike, *, least_steps: int = 2, least_lines: int = 1
) -> Design:
    """Return lines as a design; refuse what no test of curves can be asked about."""
    names, arrays = _named(lines)
    tables = [checked_table(*pair) for pair in zip(names, arrays, strict=True)]
    if len(tables) < 2:
        raise CurvewiseError(
            f"Lines of {len(tables)} algorithm came. Pass those of two or more, as a "
            f"mapping from names to arrays of shape (line, step).",
            argument="lines",
            value=names,
        )
    steps = {name: table.shape[1] for name, table in zip(names, tables, strict=True)}
    if len(set(steps.values())) > 1:
        counts = ", ".join(f"'{name}' {n}" for name, n in list(steps.items())[:8])
        raise CurvewiseError(
            f"The lines have different numbers of steps: {counts}. Bring them on "
            "common steps first, as ",
            Phrase("Trials.lines(metric, grid=..., fill=...)"),
            " does.",
            argument="lines",
            value=steps,
        )
    k, sizes = steps[names[0]], tuple(len(table) for table in tables)
    if k < least_steps:
        raise CurvewiseError(
            f"The lines have {k} step, and a curve has two or more. Compare single scores "
            f"with performance(...).",
            argument="lines",
            value=steps,
        )
    if max(sizes) < 2:
        raise CurvewiseError(
            f"Each of {len(tables)} algorithms has one line, so that nothing tells an "
            f"algorithm from chance. Pass several lines (runs, seeds) of each.",
            argument="lines",
            value=sizes,
        )
    if min(sizes) < least_lines:
        few = [n for n, size in zip(names, sizes, strict=True) if size < least_lines]
        raise CurvewiseError(
            f"{listed(few)}: {min(sizes)} line, where the noise of each algorithm has to "
            f"be seen in {least_lines} lines or more. Run it again with other seeds.",
            argument="lines",
            value=few,
        )
    return Design(names, np.concatenate(tables), sizes)


def _named(lines: Any) -> tuple[tuple[str, ...], list[Any]]:
    if isinstance(lines, Design):
        return lines.names, list(lines.groups)
    if isinstance(lines, Mapping):
        names = tuple(str(name) for name in lines)
        if twice := {name for name in names if names.count(name) > 1}:
            raise CurvewiseError(
                f"Two algorithms are called {listed(twice)}. Give each a name of its own.",
                argument="lines",
                value=twice,
            )
        return names, list(lines.values())
    try:
        arrays = list(lines)
    except TypeError:
        raise CurvewiseError(
            f"Lines are {type(lines).__name__}. Pass a mapping from names to arrays of "
            f"shape (line, step), or a list of such arrays.",
            argument="lines",
            value=lines,
        ) from None
    return tuple(str(i + 1) for i in range(len(arrays))), arrays


def checked_table(name: str, values: Any) -> Floats:
    """Return the lines of one algorithm; refuse what is no table of finite numbers."""
    table = as_floats(values, NUMBERS, copy=True)
    if table is None or isinstance(values, np.ma.MaskedArray):
        raise CurvewiseError(
            f"The lines of '{name}' are no table of numbers. Pass an array of shape "
            f"(line, step), every line on the same steps.",
            argument="lines",
            value=name,
        )
    if table.ndim != 2 or 0 in table.shape:
        raise CurvewiseError(
            f"The lines of '{name}' have shape {table.shape}. Pass (line, step).",
            argument="lines",
            value=table.shape,
        )
    if not np.isfinite(table).all():
        line, step = np.argwhere(~np.isfinite(table))[0]
        raise CurvewiseError(
            f"{(~np.isfinite(table)).sum()} values of '{name}' are not finite, the "
            f"first in line {line}, step {step}. Give failed runs a score and fill "
            "gaps, as ",
            Phrase("Trials.lines(metric, fill=..., failed=...)"),
            " does.",
            argument="lines",
            value=(name, int(line), int(step)),
        )
    if np.abs(table).max() > LARGEST:
        raise CurvewiseError(
            f"Values of '{name}' are beyond {LARGEST:g}, where squares overflow. Pass "
            f"smaller ones, such as their logarithms.",
            argument="lines",
            value=name,
        )
    return table


def relative(design: Design) -> tuple[Design, float]:
    """Return lines less a middle one, step by step, in a unit that keeps squares finite.

    Tests compare lines with lines: what is common to all lines at a step has no part in
    them. It is taken away first, which is exact for numbers close to each other, before
    sums and squares could drown small differences in a large origin. What is left of a
    score that all share is 0, not rounding. The unit is a power of two.
    """
    raw = design.values / unit_of(design.values)
    # A value that is there, in the middle: a diverged line costs the others no digits.
    middle = np.sort(raw, axis=0)[(len(raw) - 1) // 2]
    values = raw - middle
    # All or none: a line that is close to the middle by chance keeps its distance.
    is_one = (np.abs(values) <= 2 * SCORE * np.abs(middle)).all(axis=0)
    values[:, is_one] = 0.0
    spread = unit_of(values)
    unit = unit_of(design.values) * spread
    return design.with_values(values / spread), unit


def line_means(design: Design) -> Design:
    """Return each line's mean: all that an Algorithm effect shows in. One step is left."""
    return design.with_values(design.values.mean(axis=1, keepdims=True))


def compact(values: Floats) -> Floats:
    """Return lines in coordinates of which there are no more than lines, shape (line, d).

    All inner products between lines are kept, and with them every sum of squares over
    all steps; long curves cost no more than short ones.
    """
    n, k = values.shape
    if k <= n:
        return values
    triangle = np.asarray(np.linalg.qr(values.T, mode="r"))
    return triangle.T


def residuals(design: Design) -> Floats:
    """Return lines less the mean line of their algorithm, shape (line, step)."""
    return np.concatenate([g - g.mean(axis=0) for g in design.groups])


# --- Where windows of steps begin and end, and means in them ---------------------------


WindowsLike: TypeAlias = int | Sequence[int] | NDArray[np.int64]
Edges: TypeAlias = NDArray[np.int64]


def averaged(values: Floats, edges: Edges) -> Floats:
    """Return means in windows, shape (line, window), from shape (line, step)."""
    # Places before the first edge are skipped; those from the last on are cut off.
    sums = np.add.reduceat(values[:, : edges[-1]], edges[:-1], axis=1)
    means: Floats = sums / np.diff(edges)
    return means


# --- Windows of training: neighbouring steps taken together, chosen before looking -----


def window_edges(steps: int, windows: WindowsLike) -> Edges:
    r"""Return where windows begin, and where the last of them ends.

    Window :math:`w` of :math:`W` holds the steps in places :math:`e_w` to
    :math:`e_{w+1} - 1`, with :math:`e_w = \lfloor w k / W \rfloor`.

    Parameters
    ----------
    steps : int
        How many steps the lines have, :math:`k`.
    windows : int or sequence of int
        How many windows, of as equal numbers of steps as can be; or their edges, as
        places of steps: ``[0, 4, 8]`` are the first four steps and the next four. Steps
        before the first edge and from the last on are left out.

    Notes
    -----
    Windows are neighbours without a gap, and never overlap. Decide on them before you
    look at the curves: borderline answers change with their number, and the choice that
    looks best is no evidence. Eight to thirty are a good number; more cost power.

    Examples
    --------
    >>> window_edges(60, 8).tolist()
    [0, 7, 15, 22, 30, 37, 45, 52, 60]
    >>> window_edges(8, [1, 4, 8]).tolist()
    [1, 4, 8]
    """
    checked_count("steps", steps)
    if isinstance(windows, int | np.integer) or np.ndim(windows) == 0:
        count = checked_count("windows", windows)
        if count > steps:
            raise CurvewiseError(
                f"{count} windows were asked for, and there are {steps} steps. Pass "
                f"{steps} or fewer.",
                argument="windows",
                value=count,
            )
        return np.arange(count + 1, dtype=np.int64) * steps // count
    edges = np.asarray(windows)
    if (
        edges.ndim != 1
        or len(edges) < 2
        or edges.dtype.kind not in "iu"
        or not (np.diff(edges) > 0).all()
        or edges[0] < 0
        or edges[-1] > steps
    ):
        raise bad_value(
            "windows",
            windows,
            f"Pass how many, or two or more ascending edges that are places of steps, "
            f"from 0 to {steps}: the first step of each window, and where the last "
            f"ends.",
        )
    return edges.astype(np.int64)


def window_means(
    lines: LinesLike, windows: WindowsLike
) -> tuple[dict[str, Floats], NDArray[np.int64], NDArray[np.int64]]:
    r"""Return the mean of each line in each window, and which steps a window holds.

    .. math:: \bar y_{jw} = \frac{1}{e_{w+1} - e_w} \sum_{h=e_w}^{e_{w+1}-1} y_{jh}

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
    windows : int or sequence of int
        How many, or their edges: see `window_edges`.

    Returns
    -------
    means : dict of str to ndarray, shape (line, window)
        Of each algorithm; any test of lines takes them.
    first, last : ndarray of int, shape (window,)
        The places of the first and of the last step of each window.

    Notes
    -----
    Algorithms whose means in a window differ do differ at one of its steps or more, but
    not necessarily at each.

    Examples
    --------
    >>> lines = {"A": [[0, 1, 2, 5], [1, 1, 4, 5]], "B": [[0, 0, 0, 2], [1, 1, 1, 1]]}
    >>> means, first, last = window_means(lines, 2)
    >>> means["A"].tolist(), first.tolist(), last.tolist()
    ([[0.5, 3.5], [1.0, 4.5]], [0, 2], [1, 3])
    """
    design = checked_lines(lines)
    edges = window_edges(design.values.shape[1], windows)
    windowed = design.with_values(averaged(design.values, edges))
    means = dict(zip(windowed.names, windowed.groups, strict=True))
    return means, edges[:-1], edges[1:] - 1


# --- What the noise of lines looks like: how steps hang together, who is noisier -------


def step_correlation(lines: LinesLike, *, pooled: bool = True) -> Floats:
    r"""Return how lines of an algorithm hang together from step to step.

    .. math:: r_{gh} = \frac{\sum_{ij} e_{ijg} e_{ijh}}
       {\sqrt{\sum_{ij} e_{ijg}^2 \sum_{ij} e_{ijh}^2}}, \quad
       e_{ijh} = y_{ijh} - \bar y_{ih}

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
    pooled : bool
        Whether deviations from the mean line of each algorithm are taken together.

    Returns
    -------
    ndarray, shape (step, step) or (algorithm, step, step)
        1 on the diagonal. NaN in the row and the column of a step at which lines do
        not vary, which correlates with nothing.

    Notes
    -----
    What a classical analysis of variance takes for granted is that all correlations
    between steps are equal, and 0 for its test of algorithms. Lines that carry over what
    they learnt correlate, more between neighbours than between far steps. With thousands
    of steps the table itself is large: 10,000 take 800 MB.

    References
    ----------
    Piater and Cohen (1998), on covariances that are not homogeneous.

    Examples
    --------
    >>> import numpy as np
    >>> walks = np.random.default_rng(1).normal(size=(2, 50, 4)).cumsum(axis=-1)
    >>> step_correlation(walks).round(1)[0]
    array([1. , 0.7, 0.5, 0.5])
    """
    design = checked_lines(lines, least_steps=1, least_lines=1 if pooled else 2)
    deviations = apart(design).residuals
    if pooled:
        return _correlation(deviations)
    return np.stack([_correlation(deviations[s]) for s in design.slices])


def _correlation(deviations: Floats) -> Floats:
    largest = np.abs(deviations).max(axis=0)
    varies = largest > 0
    # Of about 1, so that squares neither overflow nor vanish; 0/0 where none varies.
    scaled = deviations / np.where(varies, largest, np.nan)
    scaled /= np.sqrt((scaled**2).sum(axis=0))
    correlation: Floats = np.clip(scaled.T @ scaled, -1.0, 1.0)
    at = np.flatnonzero(varies)
    correlation[at, at] = 1.0
    return correlation


def greenhouse_geisser(lines: LinesLike) -> float:
    r"""Return epsilon: how far lines are from equal correlations between all steps.

    .. math:: \varepsilon = \frac{(\operatorname{tr} S)^2}{(k-1) \operatorname{tr} S^2},
       \quad S = \text{pooled covariance of lines less their own means}

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)

    Returns
    -------
    float
        From 1/(k-1), all deviation in one direction, to 1, none preferred; NaN where
        lines differ in nothing but their means.

    Notes
    -----
    By this factor the degrees of freedom of the parametric test of the interaction are
    too many. It is estimated, and too small where lines are few: N lines of m algorithms
    have no more than N - m directions, so that epsilon cannot exceed (N - m)/(k-1). Both
    traces are those of a table of lines by lines, so that long curves cost no more than
    short ones.

    References
    ----------
    Greenhouse and Geisser (1959), *On methods in the analysis of profile data*;
    Box (1954).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> points = rng.normal(size=(2, 500, 8))
    >>> round(greenhouse_geisser(points), 2)
    0.99
    >>> round(greenhouse_geisser(points.cumsum(axis=-1)), 2)
    0.33
    """
    design = checked_lines(lines)
    k = design.values.shape[1]
    deviations = apart(design).centred().residuals
    if not deviations.any():
        return float("nan")
    # The size of tr S does not matter, and squares of what is tiny would vanish.
    coordinates = compact(deviations / np.abs(deviations).max())
    gram = (
        coordinates @ coordinates.T
        if len(coordinates) <= coordinates.shape[1]
        else coordinates.T @ coordinates
    )
    epsilon = float(np.trace(gram)) ** 2 / ((k - 1) * float((gram**2).sum()))
    return float(np.clip(epsilon, 1 / (k - 1), 1.0))


def noise_ratio(lines: LinesLike) -> float:
    r"""Return how many times noisier the noisiest algorithm is than the quietest.

    .. math:: \max_i s_i / \min_i s_i, \quad s_i = \text{standard deviation of the means
       of the lines of algorithm } i

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        Two lines or more of each algorithm.

    Returns
    -------
    float
        1 or more; infinite where the lines of one algorithm all have the same mean, NaN
        where those of all have.

    Notes
    -----
    Few lines say little about noise: of two equally noisy algorithms with 5 lines each
    one looks twice as noisy as the other in one data set of five. It is a description,
    and no test should be chosen by it.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(1).normal(size=(2, 500, 8))
    >>> round(noise_ratio({"quiet": points[0], "loud": 4 * points[1]}), 1)
    3.9
    """
    design = checked_lines(lines, least_steps=1, least_lines=2)
    means, _ = apart(design).line_means().in_unit()
    spreads = np.array([group.std(ddof=1) for group in means.design.groups])
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(spreads.max() / spreads.min())


# --------------------------------------------------------------------------------------
# Lines without their origin: how they differ within algorithms, and between them.


Places: TypeAlias = NDArray[np.intp]

_SUM = 8 * EPS  # what adding up may add, as a share of what is added up


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Lines less the middle line of their algorithm, and these middle lines.

    Differences of close numbers are exact, and they are taken before anything is added
    up or squared: an origin that is large beside the noise costs no digits, neither one
    that all lines share nor one of an algorithm. What rounding alone would explain is 0,
    so that nothing is judged by it.
    """

    design: Design  # each line less the middle line of its algorithm
    middles: Floats  # (algorithm, step): the middle lines, less one of them
    line_slack: Floats  # what rounding may have made of each line
    slack: Floats  # (algorithm, step): the same of each middle line

    @property
    def residuals(self) -> Floats:
        """Lines less the mean line of their algorithm; 0 where none of them varies."""
        return residuals(self.design)

    @property
    def means(self) -> Floats:
        """The mean line of each algorithm, all less the same line."""
        means: Floats = np.stack([g.mean(axis=0) for g in self.design.groups])
        return self.middles + means

    @property
    def largest(self) -> Floats:
        """How far lines are apart at each step, about; shape (step,)."""
        within: Floats = np.abs(self.design.values).max(axis=0)
        between: Floats = np.abs(self.middles).max(axis=0)
        return np.maximum(within, between)

    def in_unit(self) -> tuple["Apart", float]:
        """Return the same in a unit, a power of two, that keeps squares finite."""
        unit = unit_of(self.largest)
        return self.over(unit), unit

    def over(self, unit: Floats | float) -> "Apart":
        """Return the same divided by powers of two."""
        return Apart(
            self.design.with_values(self.design.values / unit),
            self.middles / unit,
            self.line_slack / unit,
            self.slack / unit,
        )

    def averaged(self, average: Callable[[Floats], Floats]) -> "Apart":
        """Return averages of steps, such as means in windows, of each line."""
        values = self.design.values
        return _settled(
            self.design.with_values(average(values)),
            average(self.middles),
            average(self.line_slack + _SUM * np.abs(values)),
            average(self.slack + _SUM * np.abs(self.middles)),
        )

    def line_means(self) -> "Apart":
        """Return each line's mean: all that an Algorithm effect shows in."""
        return self.averaged(_mean)

    def centred(self) -> "Apart":
        """Return lines less their own means: all that an Interaction shows in."""
        values, middles = self.design.values, self.middles
        off = self.line_slack + _SUM * np.abs(values)
        middle_off = self.slack + _SUM * np.abs(middles)
        return _settled(
            self.design.with_values(values - _mean(values)),
            middles - _mean(middles),
            off + off.max(axis=1, keepdims=True),
            middle_off + middle_off.max(axis=1, keepdims=True),
        )


def apart(design: Design) -> Apart:
    """Return how lines differ, within algorithms and between them."""
    none = np.zeros((len(design.sizes), design.values.shape[1]))
    return _settled(design, none, SCORE * np.abs(design.values), none)


def step_units(largest: Floats) -> Floats:
    """Return a power of two for each step, by which values so large may be divided."""
    exponent = np.frexp(largest)[1]
    return np.ldexp(1.0, np.maximum(exponent, -1000))


def _settled(
    design: Design, middles: Floats, line_slack: Floats, slack: Floats
) -> Apart:
    rest, centres, off = np.empty_like(design.values), [], []
    for s in design.slices:
        away, doubt, at = _from_middle(design.values[s], line_slack[s])
        # All or none: without its small deviations, noise would be another noise.
        rest[s] = np.where((np.abs(away) > doubt).any(axis=0), away, 0.0)
        centres.append(_at(design.values[s], at))
        off.append(_at(line_slack[s], at))
    slack = slack + np.concatenate(off)
    middles, doubt, _ = _from_middle(middles + np.concatenate(centres), slack)
    # Beside noise, rounding decides nothing.
    varies = rest.any(axis=0)
    middles = np.where(varies | (np.abs(middles) > doubt), middles, 0.0)
    # Scores that all lines share are gone, and the rounding of them with them.
    is_there = varies | middles.any(axis=0)
    return Apart(
        design.with_values(rest), middles, line_slack * is_there, slack * is_there
    )


def _from_middle(values: Floats, slack: Floats) -> tuple[Floats, Floats, Places]:
    """Return values less a middle one, what rounding may be in that, and its place.

    Other than the mean, a value that is there is exact, and a diverged line costs the
    others no digits.
    """
    middle = (len(values) - 1) // 2
    at = np.argpartition(values, middle, axis=0)[middle][None]
    return values - _at(values, at), slack + _at(slack, at), at


def _at(values: Floats, places: Places) -> Floats:
    return np.take_along_axis(values, places, axis=0)


def _mean(values: Floats) -> Floats:
    mean: Floats = values.mean(axis=1, keepdims=True)
    return mean
