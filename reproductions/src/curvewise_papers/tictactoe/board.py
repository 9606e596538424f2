"""The boards of tic-tac-toe as numbers: who has won, and which boards are the same.

A board is a number in base three. Cell c, from 0 at the upper left to 8 at the lower
right, has digit 0 if it is empty, 1 if it is the learner's and 2 if it is the
opponent's, worth ``digit * 3**c``. All that the game needs is then looked up.
"""

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int64]
Ends: TypeAlias = NDArray[np.int8]

CELLS = 9
BOARDS = 3**CELLS  # that can be written down, whether or not a game gets there
GOES_ON, WON, LOST, DRAWN = range(4)  # from the learner's side

_ROWS = ((0, 1, 2), (3, 4, 5), (6, 7, 8))
_COLUMNS = ((0, 3, 6), (1, 4, 7), (2, 5, 8))
_DIAGONALS = ((0, 4, 8), (2, 4, 6))
LINES = (*_ROWS, *_COLUMNS, *_DIAGONALS)


def cells(codes: Codes | int) -> Codes:
    """Return the nine cells of boards, shape (..., 9).

    >>> cells(5).tolist()
    [2, 1, 0, 0, 0, 0, 0, 0, 0]
    """
    return np.asarray(codes)[..., None] // 3 ** np.arange(CELLS) % 3


def code(board: Codes) -> Codes:
    """Return the numbers of boards that are given as cells, shape (..., 9) to (...).

    >>> int(code(cells(12345)))
    12345
    """
    return np.asarray(board) @ 3 ** np.arange(CELLS)


@cache
def ends() -> Ends:
    """Return how the game stands on each board: goes on, won, lost or drawn.

    >>> ends()[[0, 1 + 3 + 9, 2 * (1 + 3 + 9)]].tolist()
    [0, 1, 2]
    """
    boards = cells(every_board())
    out = np.where((boards > 0).all(axis=1), DRAWN, GOES_ON).astype(np.int8)
    for mark, end in ((1, WON), (2, LOST)):
        has_line = [(boards[:, line] == mark).all(axis=1) for line in LINES]
        out[np.any(has_line, axis=0)] = end
    out.setflags(write=False)
    return out


@cache
def turns() -> Codes:
    """Return the eight ways to turn or mirror the board, as orders of its cells.

    >>> turns()[1].tolist()
    [2, 1, 0, 5, 4, 3, 8, 7, 6]
    """
    square = np.arange(CELLS).reshape(3, 3)
    sides = [np.rot90(square, k) for k in range(4)]
    out = np.array([s.ravel() for side in sides for s in (side, side[:, ::-1])])
    out.setflags(write=False)
    return out


@cache
def classes() -> Codes:
    """Return for each board the smallest number among its turned and mirrored copies.

    Boards with the same one are the same to a player.

    >>> corners = [1, 3**2, 3**6, 3**8]
    >>> classes()[corners].tolist()
    [1, 1, 1, 1]
    """
    boards = cells(every_board())
    out: Codes = np.min([code(boards[:, turn]) for turn in turns()], axis=0)
    out.setflags(write=False)
    return out


@cache
def every_board() -> Codes:
    """Return the numbers of all boards: what `classes` is where each is its own class.

    Read-only as that is, because compiled code would take the two for different types.

    >>> len(every_board())
    19683
    """
    out = np.arange(BOARDS)
    out.setflags(write=False)
    return out


def moves(board: int) -> list[int]:
    """Return the empty cells of a board; none if the game is over.

    >>> moves(1 + 2 * 3)
    [2, 3, 4, 5, 6, 7, 8]
    """
    if ends()[board] != GOES_ON:
        return []
    empty: list[int] = np.flatnonzero(cells(board) == 0).tolist()
    return empty


def reachable() -> Codes:
    """Return all boards that a game gets to if mark 1 begins.

    >>> len(reachable()), len(np.unique(classes()[reachable()]))
    (5478, 765)
    """
    found, last = {0}, {0}
    for ply in range(CELLS):
        mark = 1 + ply % 2
        last = {board + mark * 3**cell for board in last for cell in moves(board)}
        found |= last
    return np.array(sorted(found))
