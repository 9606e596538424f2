"""Small data sets of our own making, so that every example runs anywhere."""

from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from typing import Literal, TypeAlias, get_args

from curvewise.errors import unknown
from curvewise.exchange.read import read_results
from curvewise.trials import Trials

Example: TypeAlias = Literal["search", "curves", "counts"]


def example(name: Example) -> Trials:
    """Return a small simulated data set.

    Parameters
    ----------
    name : {"search", "curves", "counts"}
        ``"search"``: a random search of three learners on two tasks, one score per
        trial, some diverged. ``"curves"``: returns of three agents on two environments,
        8 runs each. ``"counts"``: confusion counts of two learners along growing
        training sets.

    Examples
    --------
    >>> print(example("curves"))
    trials      48 (8 each of 6 pairs of task, algorithm)
    tasks       hill, swamp
    algorithms  slow, fast, early
    metrics     return (higher is better)
    steps       21 per trial, from 0 to 100000
    design      independent runs, 8 each
    labels      seed
    read from   curves.csv: task=env; algorithm=agent; trial=seed; step=step; \
metrics=return; labels=seed
    """
    with as_file(_file(name)) as path:
        return read_results(path)[0]


def example_text(name: Example) -> str:
    """Return an example as the CSV that it is read from."""
    return _file(name).read_text("utf-8")


def _file(name: Example) -> Traversable:
    if name not in get_args(Example):
        raise unknown("example", name, get_args(Example))
    return files("curvewise") / "data" / f"{name}.csv"
