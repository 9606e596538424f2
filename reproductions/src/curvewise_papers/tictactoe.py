"""Tic-tac-toe against a random opponent, and a learner by temporal differences.

A board is a number in base three. Cell c, from 0 at the upper left to 8 at the lower
right, has digit 0 if it is empty, 1 if it is the learner's and 2 if it is the
opponent's, worth ``digit * 3**c``. All that the game needs is then looked up.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.engine.experiment import Algorithm, Task
from curvewise.errors import CurvewiseError, whole
from curvewise.metrics import Floats, Metric

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
    boards, last = {0}, {0}
    for ply in range(CELLS):
        mark = 1 + ply % 2
        last = {board + mark * 3**cell for board in last for cell in moves(board)}
        boards |= last
    return np.array(sorted(boards))


# --- the task, and a learner by temporal differences -------------------------------------


Play: TypeAlias = Literal["greedy", "random"]

LEVELS = (0, 200, 500, 1000, 2000, 3000, 5000, 8000)
SCORE = Metric("score", "higher")  # games won less games lost


@dataclass(frozen=True, slots=True)
class Schedule:
    """After how many games of training a learner is tested, and in how many games."""

    levels: tuple[int, ...]
    tests: int

    def __call__(self, _: np.random.Generator) -> "Schedule":
        """Return itself: each run draws opponents of its own, so that none share luck."""
        return self


def tictactoe_task(
    levels: Iterable[int] = LEVELS, *, tests: int = 100, name: str = "tic-tac-toe"
) -> Task:
    """Return tic-tac-toe against a random opponent, after Piater and Cohen (1998).

    A coin says who begins, and the opponent plays any legal move. After some numbers of
    games the learner is tested, without learning; the score of a test is games won less
    games lost.

    Parameters
    ----------
    levels : iterable of int
        After how many games it is tested.
    tests : int
        In how many games.
    name : str

    Notes
    -----
    Luck belongs to the run, not to the task: who begins and what the opponent does are
    drawn from the algorithm's own stream. Two algorithms therefore share none of it, as
    tests of whole curves assume.

    Examples
    --------
    >>> task = tictactoe_task([0, 100], tests=10)
    >>> task.sample(np.random.default_rng(0)).levels
    (0, 100)
    """
    numbers = [whole(n, "a level", least=0) for n in levels]
    if not numbers or any(b <= a for a, b in pairwise(numbers)):
        raise CurvewiseError(
            f"levels is {numbers}. Pass numbers of games, each larger than the one before."
        )
    return Task(name, Schedule(tuple(numbers), whole(tests, "tests")))


def td_learner(
    rate: float,
    *,
    explore: float = 0.1,
    play: Play = "greedy",
    learns_from_exploring: bool = False,
    symmetric: bool = True,
    name: str | None = None,
) -> Algorithm:
    r"""Return a learner of tic-tac-toe by TD(0), for `tictactoe_task`.

    It keeps a value for each board that it leaves behind, 0 at first, and moves to the
    best one, ties broken at random. After each move the value of its board before,
    :math:`V(s)`, goes towards that of its board now,

    .. math:: V(s) \leftarrow V(s) + a\,(V(s') - V(s))

    and the last one of a game towards 1 if it is won, -1 if it is lost, 0 if it is drawn.

    Parameters
    ----------
    rate : float
        The learning rate a, from 0 to 1.
    explore : float
        With which probability it makes any move in training.
    play : {"greedy", "random"}
        How it plays in training; "random" explores with every move and learns from it.
    learns_from_exploring : bool
        Whether it also learns :math:`V(s)` from s' that it explored.
    symmetric : bool
        Whether boards that are turned or mirrored share one value.
    name : str, optional
        What to call it; by default after its rate.

    Notes
    -----
    The paper gives rates, levels and the score. The rest is the simplest reading of
    "TD(0)", and of its variants one of those that come nearest to the printed tables.

    References
    ----------
    J. H. Piater and P. R. Cohen (1998), appendix. R. S. Sutton. "Learning to predict by
    the methods of temporal differences." Machine Learning 3, 1988.

    Examples
    --------
    >>> print(td_learner(0.1))
    TD(0), rate 0.1
      rate: 0.1
    """
    rate, explore = _share(rate, "rate"), _share(explore, "explore")
    if play not in ("greedy", "random"):
        raise CurvewiseError(
            f"play is {play!r}. Pass 'greedy' or 'random'.", argument="play", value=play
        )
    if play == "random":
        explore, learns_from_exploring = 1.0, True
    run = TdLearner(explore, learns_from_exploring, symmetric)
    return Algorithm(name or f"TD(0), rate {rate:g}", {"rate": [rate]}, run)


@dataclass(frozen=True, slots=True)
class TdLearner:
    """Plays, learns and is tested: ``run(params, schedule, rng)``."""

    explore: float
    learns_from_exploring: bool
    symmetric: bool

    def warm_up(self) -> None:
        """Compile what trials need, or load it."""
        rng = np.random.default_rng(0)
        self.games(np.zeros(BOARDS), 1, 0.0, self.explore, rng)

    def __call__(
        self, params: Mapping[str, Any], schedule: Schedule, rng: np.random.Generator
    ) -> Iterator[tuple[int, dict[str, int]]]:
        """Yield the score after each level of training."""
        values, done = np.zeros(BOARDS), 0
        for level in schedule.levels:
            self.games(values, level - done, params["rate"], self.explore, rng)
            done = level
            yield level, {"score": self.games(values, schedule.tests, 0.0, 0.0, rng)}

    def games(
        self,
        values: Floats,
        number: int,
        rate: float,
        explore: float,
        rng: np.random.Generator,
    ) -> int:
        """Play so many games; return games won less games lost, and change `values`."""
        luck = rng.random((number, CELLS + 1))
        score: int = _kernel()(
            values, self.names, ends(), luck, rate, explore, self.learns_from_exploring
        )
        return score

    @property
    def names(self) -> Codes:
        """Under which number the value of each board is kept."""
        return classes() if self.symmetric else every_board()


def _kernel() -> Any:
    try:
        from curvewise_papers.tictactoe_games import play
    except ImportError as problem:
        raise CurvewiseError(
            "Games are played by compiled code, which needs numba. Install it: "
            "pip install './reproductions[rl]'."
        ) from problem
    return play


def _share(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        value = np.nan
    if not 0 <= value <= 1:
        raise CurvewiseError(
            f"{name} is {value!r}. Pass a number from 0 to 1.",
            argument=name,
            value=value,
        )
    return float(value)
