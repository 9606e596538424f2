"""Where a chance that grows with size first reaches a level."""

import math
from collections.abc import Callable

import numpy as np

from curvewise.stats._sample import Floats

_FINE = 17  # places inside the cell that was found, twice


def first_at(
    chances: Callable[[Floats], Floats], grid: Floats, known: Floats, p: float
) -> float:
    """Return the first place where a chance is p or more.

    Parameters
    ----------
    chances : callable
        From places to chances; their largest value so far counts.
    grid, known : ndarray, shape (place,)
        Places in equal ratios, and the chances there.
    p : float

    Returns
    -------
    float
        0 where the first place has it already, infinite where none has.
    """
    chance = np.maximum.accumulate(known)
    for _ in range(2):
        place = int(np.searchsorted(chance, p))
        if place == 0:
            return 0.0
        if place == len(grid):
            return math.inf
        before = chance[place - 1]
        grid = np.geomspace(grid[place - 1], grid[place], _FINE)
        chance = np.maximum.accumulate(np.maximum(chances(grid), before))
        chance[0], chance[-1] = before, max(chance[-1], p)  # whatever rounding does
    place = max(int(np.searchsorted(chance, p)), 1)
    left, right = chance[place - 1], chance[place]
    share = (p - left) / (right - left) if right > left else 1.0
    return float(grid[place - 1] * (grid[place] / grid[place - 1]) ** share)
