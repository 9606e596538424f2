"""What the paper does not say about its generators, and how far that moves its numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from curvewise import zoo
from curvewise.engine.experiment import Experiment, Task
from curvewise.engine.supervised.data import Supervised
from curvewise.metrics import Floats
from curvewise.papers.results import Table
from curvewise.papers.study import Runner
from curvewise.stats.functionals import Functional
from curvewise.trials import Trials

SEED = 2018  # of every experiment here, so that a moved setting meets the same draws
BEST_HALF = Functional("cvar", 0.5)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a generator that the paper leaves out.

    Parameters
    ----------
    task, name : str
        Whose it is, and what it is called.
    value : float
        What we take.
    moved : float
        What it is moved to, far enough that the effect shows.
    """

    task: str
    name: str
    value: float
    moved: float

    def apart(self) -> Task:
        """Return the task with the setting moved, under the same name.

        Data hang on the name of their task: the moved task draws the same points, with
        more noise, so that trials with the same number are pairs.
        """
        if self.task == "linear":
            task = zoo.task(self.task)
            # Uniform noise of width w has the variance w^2 / 12.
            sd = float(np.sqrt((self.moved**2 - self.value**2) / 12))
            return Task(task.name, Blurred(task.sample, sd))
        return zoo.task(self.task, **{self.name: self.moved})


SETTINGS = (
    Setting("moons", "noise", 0.3, 0.35),
    Setting("circles", "noise", 0.2, 0.25),
    Setting("circles", "factor", 0.5, 0.55),
    Setting("linear", "width", 2.0, 2.5),
)


@dataclass(frozen=True, slots=True)
class Blurred:
    """Draws what another sampler draws, with normal noise on every number."""

    sample: Any
    sd: float

    def warm_up(self) -> None:
        """Import what trials need."""
        self.sample.warm_up()

    def __call__(
        self, train_rng: np.random.Generator, test_rng: np.random.Generator
    ) -> Supervised:
        """Return the data, blurred."""
        data: Supervised = self.sample(train_rng, test_rng)
        noise = self.sd * train_rng.standard_normal(data.X.shape)
        return replace(data, X=data.X + noise)


def settings_table(runner: Runner, untuned: Trials, trials: int) -> Table:
    """Return how the mean of the best half changes when a setting is moved.

    Parameters
    ----------
    runner : Runner
    untuned : Trials
        With the settings as they are; the first of each cell are used.
    trials : int
        How many of each algorithm on each task with a setting moved.
    """
    rows = []
    for setting in SETTINGS:
        if setting.task not in untuned.tasks:
            continue
        before = untuned.where(task=setting.task).scores("accuracy")
        plain = [zoo.algorithm(name) for name in before]
        moved = Experiment([setting.apart()], plain, trials, SEED)
        name = f"{setting.task}-{setting.name}-{setting.moved:g}"
        after = runner.trials(moved, name).scores("accuracy")
        for own in before:
            change, error = _change(before[own][:trials], after[own])
            rows.append((setting.task, setting.name, own, trials, change, error))
    columns = zip(*rows, strict=True) if rows else ((),) * 6
    names = ("task", "setting", "algorithm", "trials", "change", "error")
    return dict(zip(names, map(np.array, columns), strict=True))


def _change(before: Floats, after: Floats) -> tuple[float, float]:
    """Return the change of the mean of the best half, and its standard error."""
    n = min(len(before), len(after))
    changes = BEST_HALF.contributions(after[:n]) - BEST_HALF.contributions(before[:n])
    return float(changes.mean()), float(changes.std(ddof=1) / n**0.5)


def slopes(table: Mapping[str, Any]) -> dict[Setting, dict[str, float]]:
    """Return by how much a number changes when a setting grows by 1, for each algorithm.

    Parameters
    ----------
    table : mapping
        As `settings_table` returns it.

    Examples
    --------
    >>> row = {"task": ["moons"], "setting": ["noise"], "algorithm": ["knn"]}
    >>> found = slopes(row | {"change": [-0.02]})
    >>> round(found[SETTINGS[0]]["knn"], 3)
    -0.4
    """
    found: dict[Setting, dict[str, float]] = {setting: {} for setting in SETTINGS}
    known = {(setting.task, setting.name): setting for setting in SETTINGS}
    columns = (table[key] for key in ("task", "setting", "algorithm", "change"))
    for task, name, algorithm, change in zip(*columns, strict=True):
        setting = known[str(task), str(name)]
        by = setting.moved - setting.value
        found[setting][str(algorithm)] = float(change) / by
    return found
