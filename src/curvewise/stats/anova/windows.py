"""Windows of training: neighbouring steps taken together, chosen before looking."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats
from curvewise.stats.anova._lines.designs import LinesLike, checked_lines

WindowsLike: TypeAlias = int | Sequence[int] | NDArray[np.int64]


def window_edges(steps: int, windows: WindowsLike) -> NDArray[np.int64]:
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
    _checked_count("steps", steps)
    if isinstance(windows, int | np.integer) or np.ndim(windows) == 0:
        count = _checked_count("windows", windows)
        if count > steps:
            raise CurvewiseError(
                f"{count} windows were asked for, and there are {steps} steps. Pass "
                f"{steps} or fewer."
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
        raise CurvewiseError(
            f"windows is {windows!r}. Pass how many, or two or more ascending edges that "
            f"are places of steps, from 0 to {steps}: the first step of each window, and "
            f"where the last ends."
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
    # Places before the first edge are skipped; those from the last on are cut off.
    sums = np.add.reduceat(design.values[:, : edges[-1]], edges[:-1], axis=1)
    averaged = design.with_values(sums / np.diff(edges))
    means = dict(zip(averaged.names, averaged.groups, strict=True))
    return means, edges[:-1], edges[1:] - 1


def _checked_count(name: str, value: Any) -> int:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < 1:
        raise CurvewiseError(f"{name} is {value!r}. Pass how many, at least 1.")
    return int(value)
