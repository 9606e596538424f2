"""What is run for the curves made here: how many trials at each scale, from which seeds."""

import os
from pathlib import Path

from curvewise.engine.experiment import Experiment
from curvewise.papers.hoiem2021.learners import POOLS, STEPS, learners, table_task
from curvewise.papers.hoiem2021.networks import HALVES, algorithms, half_task
from curvewise.papers.study import Runner, Scale
from curvewise.trials import Trials

_SPLITS: dict[Scale, int] = {"quick": 1, "kept": 1, "full": 4}
_LINES, _HALF_LINES = 2 ** (STEPS - 1), 16
_QUICK_TABLES = ("letter", "magic")
_QUICK_LEARNERS = (
    *("naive Bayes", "LDA", "logistic", "1-NN", "15-NN"),
    *("tree", "tree, leaves of 10", "SVM, C 10"),
)
_QUICK_NETWORKS = (
    *("scratch", "tuned", "random, frozen", "frozen"),
    *("scratch, jittered", "frozen, jittered", "logistic", "tree", "SVM"),
)


def run_tables(runner: Runner) -> Trials:
    """Return sixteen learners on three tables, every disjoint block of seven sizes."""
    quick = runner.scale == "quick"
    tables = _QUICK_TABLES if quick else tuple(POOLS)
    chosen = [a for a in learners() if not quick or a.name in _QUICK_LEARNERS]
    trials = _LINES * _SPLITS[runner.scale]
    plan = Experiment([table_task(t) for t in tables], chosen, trials, seed=2021)
    return runner.trials(plan, "tables")


def run_halves(runner: Runner) -> dict[str, Trials]:
    """Return networks and others on either half of the letters, by half."""
    quick = runner.scale == "quick"
    found = {}
    for seed, half in enumerate(HALVES):
        if quick and seed == 0:
            continue
        chosen = [a for a in algorithms(half) if not quick or a.name in _QUICK_NETWORKS]
        trials = _HALF_LINES * _SPLITS[runner.scale]
        plan = Experiment([half_task(half)], chosen, trials, seed=2022 + seed)
        found[half] = runner.trials(plan, half.replace(" ", "-").lower())
    return found


def lacks_tables() -> str:
    """Return what is missing of the tables that are learnt from."""
    folder = os.environ.get("CURVEWISE_DATA")
    wanted = [f"tabular/{name}.parquet" for name in (*POOLS, "satellite")]
    lacking = [w for w in wanted if not folder or not (Path(folder) / w).is_file()]
    if not lacking:
        return ""
    return (
        f"the files {', '.join(lacking)} in the folder that the environment variable "
        f"CURVEWISE_DATA names"
    )
