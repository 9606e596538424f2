"""Ready-made tasks and learners; the only room that imports scikit-learn.

Tasks and algorithms can be named in files: `TASKS` and `ALGORITHMS` say what there is.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from curvewise.engine.experiment import Algorithm, Task
from curvewise.engine.former_names import current
from curvewise.errors import CurvewiseError, unknown
from curvewise.reproductions import PACKAGE, OfPapers, papers
from curvewise.zoo.estimators import experiment
from curvewise.zoo.learners import (
    forest,
    knn,
    lda,
    logistic,
    naive_bayes,
    network,
    svm,
    tree,
)
from curvewise.zoo.tasks import (
    circles_task,
    data_task,
    exp2_task,
    linear_task,
    moons_task,
    simple_task,
)

__all__ = [
    "ALGORITHMS",
    "TASKS",
    "algorithm",
    "circles_task",
    "data_task",
    "exp2_task",
    "experiment",
    "faces_task",
    "forest",
    "knn",
    "lda",
    "linear_task",
    "logistic",
    "moons_task",
    "naive_bayes",
    "network",
    "simple_task",
    "svm",
    "tabular_task",
    "task",
    "tree",
]

_Made = TypeVar("_Made", Task, Algorithm)

# They come with the reproductions of papers, and are imported when they are called.
faces_task = OfPapers("tasks", "faces_task")
tabular_task = OfPapers("tasks", "tabular_task")

TASKS: dict[str, Callable[..., Task]] = {
    "moons": moons_task,
    "circles": circles_task,
    "linear": linear_task,
    "faces": faces_task,
    "simple": simple_task,
    "exp2": exp2_task,
    "tabular": tabular_task,
}

ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "knn": knn,
    "forest": forest,
    "svm": svm,
    "logistic": logistic,
    "network": network,
    "lda": lda,
    "naive_bayes": naive_bayes,
    "tree": tree,
}


def task(kind: str, **settings: Any) -> Task:
    """Return the task of a kind in `TASKS`, with settings of its own.

    Examples
    --------
    >>> task("moons", n=500, noise=0.2, name="easy moons").name
    'easy moons'
    """
    if kind not in TASKS:
        raise unknown("task", kind, TASKS)
    return _made(TASKS[kind], f"Task '{kind}'", settings)


def algorithm(kind: str, **settings: Any) -> Algorithm:
    """Return the algorithm of a kind in `ALGORITHMS`, with settings of its own.

    Examples
    --------
    >>> print(algorithm("logistic", name="lr"))
    lr
      C: log-uniform from 0.0001 to 10000
    """
    if kind not in ALGORITHMS:
        raise unknown("algorithm", kind, ALGORITHMS)
    return _made(ALGORITHMS[kind], f"Algorithm '{kind}'", settings)


def _made(make: Callable[..., _Made], what: str, settings: dict[str, Any]) -> _Made:
    try:
        return make(**settings)
    except TypeError as problem:
        raise CurvewiseError(f"{what}: {problem}.") from problem


def __getattr__(name: str) -> object:
    """Return what has moved to the reproductions of papers."""
    module = current(f"{__name__}.{name}")
    if module.startswith(PACKAGE):
        return papers(module)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
