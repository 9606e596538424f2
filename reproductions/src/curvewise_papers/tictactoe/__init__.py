"""Tic-tac-toe: a task that is cheap enough for a thousand learning curves."""

from curvewise.zoo.tictactoe.learner import (
    LEVELS,
    SCORE,
    TdLearner,
    td_learner,
    tictactoe_task,
)

__all__ = ["LEVELS", "SCORE", "TdLearner", "td_learner", "tictactoe_task"]
