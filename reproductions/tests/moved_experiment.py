"""Two experiments; the first two trials of each are in assets/before_the_move.db.

An earlier version wrote that store, when the same learners and tasks lay elsewhere:
`curvewise.papers.hoiem2021.learners`, `curvewise.papers.xue2025.moved`,
`curvewise.zoo.tictactoe`. It is never made anew.
"""

from curvewise import Experiment, zoo
from curvewise.zoo.estimators import Learner
from curvewise_papers.hoiem2021.curves import errors_of
from curvewise_papers.tictactoe import SCORE, td_learner, tictactoe_task
from curvewise_papers.xue2025.forecasts import Moved

QUIET = {"executor": "serial", "progress": False}


def learnt(trials, *, n_neighbors=1):
    """Return the experiment with a learner of Hoiem et al. and a moved generator."""
    task = zoo.simple_task(160, test=40)
    fit = Learner(
        "sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": n_neighbors}
    )
    return Experiment(
        [type(task)("moved", Moved(task.sample, 0.55, 2.25))],
        [errors_of("1-NN", fit)],
        trials,
        seed=7,
    )


def played(trials, *, rate=0.1):
    """Return the experiment with games."""
    return Experiment(
        [tictactoe_task([0, 50, 100], tests=20)],
        [td_learner(rate, name="TD")],
        trials,
        seed=7,
        metrics=[SCORE],
    )
