"""Tic-tac-toe against a random opponent, and a learner by temporal differences."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise._checks import whole
from curvewise.engine.experiment import Algorithm, Task
from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats, Metric
from curvewise.zoo.tictactoe.board import (
    BOARDS,
    CELLS,
    Codes,
    classes,
    ends,
    every_board,
)

Play: TypeAlias = Literal["greedy", "random"]

LEVELS = (0, 200, 500, 1000, 2000, 3000, 5000, 8000)
SCORE = Metric("score", "higher")  # games won less games lost


@dataclass(frozen=True, slots=True)
class Schedule:
    """After how many games of training a learner is tested, and in how many games.

    Parameters
    ----------
    levels : tuple of int
        Numbers of games, increasing.
    tests : int
        How many games each test has.
    """

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
    given = [whole(n, "a level", least=0) for n in levels]
    if not given or any(b <= a for a, b in pairwise(given)):
        raise CurvewiseError(
            f"levels is {given}. Pass numbers of games, each larger than the one before."
        )
    return Task(name, Schedule(tuple(given), whole(tests, "tests")))


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
        raise CurvewiseError(f"play is {play!r}. Pass 'greedy' or 'random'.")
    if play == "random":
        explore, learns_from_exploring = 1.0, True
    run = TdLearner(explore, learns_from_exploring, symmetric)
    return Algorithm(name or f"TD(0), rate {rate:g}", {"rate": [rate]}, run)


@dataclass(frozen=True, slots=True)
class TdLearner:
    """Plays, learns and is tested: ``run(params, schedule, rng)``.

    Parameters
    ----------
    explore : float
    learns_from_exploring, symmetric : bool
        As in `td_learner`.
    """

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
        from curvewise.zoo.tictactoe.games import play
    except ImportError as problem:
        raise CurvewiseError(
            "Games are played by compiled code, which needs numba. Install it: "
            "pip install 'curvewise[rl]'."
        ) from problem
    return play


def _share(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        value = np.nan
    if not 0 <= value <= 1:
        raise CurvewiseError(f"{name} is {value!r}. Pass a number from 0 to 1.")
    return float(value)
