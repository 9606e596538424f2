"""Games of a learner against an opponent who plays at random, compiled.

Only this file imports numba, and only `curvewise_papers.tictactoe` imports it, when
games are to be played.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from curvewise.metrics import Floats
from curvewise_papers.tictactoe import CELLS, GOES_ON, LOST, WON, Codes, Ends

_compiled: Callable[..., Any] = njit(cache=True)

BEGINS = CELLS  # the column of `luck` that says who begins


@_compiled
def _free(code: int, pieces: Codes) -> int:
    """Write what a mark on each empty cell is worth into `pieces`; return how many."""
    free, worth = 0, 1
    for _ in range(CELLS):
        if code // worth % 3 == 0:
            pieces[free] = worth
            free += 1
        worth *= 3
    return free


@_compiled
def _best(code: int, pieces: Codes, free: int, values: Floats, names: Codes) -> int:
    """Move the pieces that lead to the best boards to the front; return how many."""
    best, tied = -np.inf, 0
    for i in range(free):
        value = values[names[code + pieces[i]]]
        if value > best:
            best, tied = value, 0
        if value == best:
            pieces[tied] = pieces[i]
            tied += 1
    return tied


@_compiled
def play(
    values: Floats,
    names: Codes,
    ends: Ends,
    luck: Floats,
    rate: float,
    explore: float,
    learns_from_exploring: bool,
) -> int:
    """Play games, learn from them, and return games won less games lost."""
    score = 0
    pieces = np.empty(CELLS, np.int64)
    for game in range(len(luck)):
        code, last, is_own = 0, -1, luck[game, BEGINS] < 0.5
        for ply in range(CELLS):
            u = luck[game, ply]
            free = _free(code, pieces)
            if not is_own:
                code += 2 * pieces[int(u * free)]
                end = ends[code]
                if end != GOES_ON:
                    outcome = -1.0 if end == LOST else 0.0
                    values[last] += rate * (outcome - values[last])
                    score -= end == LOST
                    break
            else:
                # One number decides whether to explore and, stretched again, where to.
                explores = u < explore
                if explores:
                    u /= explore
                else:
                    u = (u - explore) / (1.0 - explore)
                    free = _best(code, pieces, free, values, names)
                code += pieces[min(int(u * free), free - 1)]
                here, end = names[code], ends[code]
                if last >= 0 and (learns_from_exploring or not explores):
                    values[last] += rate * (values[here] - values[last])
                last = here
                if end != GOES_ON:
                    outcome = 1.0 if end == WON else 0.0
                    values[here] += rate * (outcome - values[here])
                    score += end == WON
                    break
            is_own = not is_own
    return score
