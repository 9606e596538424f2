"""The learning curves that every study of this paper starts from."""

from collections.abc import Iterable
from importlib.util import find_spec

import numpy as np

from curvewise.engine.experiment import Experiment
from curvewise.metrics import Floats
from curvewise.papers.piater1998.printed_tables import LINES, text
from curvewise.papers.study import Runner, Scale
from curvewise.trials import Trials
from curvewise.zoo.tictactoe import SCORE, td_learner, tictactoe_task

SEED = 1998
# How many times the paper's ten curves of each algorithm are run.
REPLICATIONS: dict[Scale, int] = {"quick": 20, "kept": 200, "full": 1000}

SETTLED = (
    "The paper says TD(0), the rates, the levels of training and the score. The learner "
    "here keeps a value for each board after its own move, 0 at first, also for boards "
    "with which it has won; boards that are turned or mirrored share one; ties are broken "
    "at random, a coin says who begins, and one move in ten explores, from which nothing "
    "is learned (`curvewise.zoo.tictactoe.td_learner`).",
    "Of some thirty variants that were tried, most in 20 replications, this is among the "
    "nearest to the sums of squares of Tables 1, 3 and 4; one that explores with three "
    "moves in ten is as near. That these sums agree is therefore partly our choice; the p "
    "of the printed F and the power of Section 4.2 had no part in it. Learning from "
    "exploring moves too, or playing training games at random, makes A2 worse than A1 by 5 "
    "to 8 points of 100, where Table 1 has 3.95, and the "
    "printed sum of squares of training larger than in any of 20 replications; values "
    "that are known for finished boards begin at 40 points, and leave a quarter of the "
    "printed sum of squares of training; without symmetry the rise is slower: 11 points "
    "after 200 games, where it is 47 with it.",
    "Each run has opponents of its own, so that curves of different algorithms share no "
    "luck.",
)


def experiment(algorithms: Iterable[str], trials: int) -> Experiment:
    """Return the runs of some of A1, A2 and A3, by their learning rates.

    >>> experiment(["A1", "A2"], 10).size
    20
    """
    said = text()
    task = tictactoe_task(said["levels"], tests=said["tests"])
    learners = [td_learner(said["rates"][name], name=name) for name in algorithms]
    return Experiment([task], learners, trials, SEED, metrics=[SCORE])


def curves(runner: Runner, algorithms: Iterable[str]) -> Trials:
    """Return the runs of some algorithms, ten for each replication."""
    number = LINES * REPLICATIONS[runner.scale]
    return runner.trials(experiment(algorithms, number), "curves")


def lines_of(trials: Trials) -> dict[str, Floats]:
    """Return the curves of each algorithm, shape (line, step)."""
    lines = trials.lines("score")
    return {name: np.asarray(lines[name]) for name in lines}


def missing() -> str:
    """Return what has to be installed first."""
    if find_spec("numba") is None:
        return "the extra 'rl': pip install 'curvewise[rl]'"
    return ""
