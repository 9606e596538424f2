"""Windows of training: neighbouring steps taken together, chosen before looking."""

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats
from curvewise.stats.anova._lines.designs import LinesLike, checked_lines
from curvewise.stats.anova._lines.edges import WindowsLike, averaged, checked_edges

__all__ = ["window_edges", "window_means"]


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
    return checked_edges(steps, windows)


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
    found = design.with_values(averaged(design.values, edges))
    means = dict(zip(found.names, found.groups, strict=True))
    return means, edges[:-1], edges[1:] - 1
