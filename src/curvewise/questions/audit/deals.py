"""Labels shuffled: the names of the algorithms are dealt anew among whole trials."""

import math
from dataclasses import dataclass, replace

import numpy as np

from curvewise.metrics import Floats
from curvewise.questions.sampling import are_numbered
from curvewise.stats.deals import number_of_deals
from curvewise.trials import Trials
from curvewise.trials.columns import Ints, empty_rows, from_texts
from curvewise.trials.design import Design
from curvewise.trials.trial import canonical

_CLUSTER = "cluster"
_INDEPENDENT = Design(
    known={"block": "stated", "cluster": "stated", "search": "stated"}
)
_CLUSTERED = replace(_INDEPENDENT, cluster=(_CLUSTER,))
_COUNTED = (
    60  # trials of a task, of which the deals are counted; of more there are many
)


@dataclass(frozen=True, slots=True, eq=False)
class Dealing:
    """Trials whose names can be dealt anew.

    Parameters
    ----------
    trials : Trials
    by_task, by_number : ndarray of int, shape (trial,)
        Within which pile of trials names change hands: those of a task, or those of a task
        that have the same number, where all of its algorithms have the same ones.
    paired : tuple of str
        The tasks where they do.
    by_size : tuple of str
        Tasks whose trials have one step each, of several: names are dealt among the trials
        of each step.
    different : dict of str to (int, int)
        How many different deals a task has, among all of its trials and within numbers;
        where there are few enough trials to be counted.
    clusters : ndarray of int, shape (trial,), optional
        Which trials stay together, where runs are clustered.
    """

    trials: Trials
    by_task: Ints
    by_number: Ints
    paired: tuple[str, ...]
    by_size: tuple[str, ...]
    different: dict[str, tuple[int, int]]
    clusters: Ints | None = None

    @property
    def is_possible(self) -> bool:
        """Whether any task has two algorithms whose trials can change names."""
        core = self.trials.core
        order = np.lexsort((core.algorithm, self.by_task))
        pile, name = self.by_task[order], core.algorithm[order]
        return bool(((pile[1:] == pile[:-1]) & (name[1:] != name[:-1])).any())

    def deal(self, rng: np.random.Generator, *, within_numbers: bool) -> Trials:
        """Return the same trials under names that chance has dealt.

        A trial keeps its curve, counts, parameters and how it ended; it gets the name and
        the number of another one, or its own.
        """
        core = self.trials.core
        if self.clusters is not None:
            return self._deal_clusters(self.clusters, rng)
        piles = self.by_number if within_numbers else self.by_task
        first = np.argsort(piles, kind="stable")
        given = np.empty(len(core), np.int64)
        given[first] = np.lexsort((rng.random(len(core)), piles))
        return Trials.from_columns(
            self.trials.tasks,
            self.trials.algorithms,
            self.trials.metrics,
            replace(core, algorithm=core.algorithm[given], number=core.number[given]),
            self.trials.details,
            origin=self.trials.origin,
            design=_INDEPENDENT,
        )

    def _deal_clusters(self, clusters: Ints, rng: np.random.Generator) -> Trials:
        """Return the same trials, the runs of a cluster together under another name."""
        core = self.trials.core
        first = np.unique(clusters, return_index=True)[1]
        piles = self.by_task[first]
        given = np.empty(len(first), np.int64)
        given[np.argsort(piles, kind="stable")] = np.lexsort(
            (rng.random(len(first)), piles)
        )
        names = core.algorithm[first][given][clusters]
        return Trials.from_columns(
            self.trials.tasks,
            self.trials.algorithms,
            self.trials.metrics,
            replace(core, algorithm=names, number=np.arange(len(core))),
            self.trials.details,
            origin=self.trials.origin,
            design=_CLUSTERED,
        )


def dealing_of(trials: Trials) -> Dealing:
    """Return how the names of these trials are dealt anew.

    Trials of one number met the same data. An analysis that compares them pair by pair
    must find them together, or nothing would be left of what it lives on: for it names
    change hands within each number. An analysis that takes all runs for independent must
    not: of the trials of one number each name would get exactly one, and where algorithms
    do differ, names that get good trials leave the bad ones to others. Runs that depend on
    each other so are not what it promises anything for.
    """
    core = trials.core
    by_task, by_number = np.empty((2, len(core)), np.int64)
    paired: list[str] = []
    by_size: list[str] = []
    different: dict[str, tuple[int, int]] = {}
    clusters = _clusters(trials)
    numbered = are_numbered(trials) and clusters is None
    unit = np.arange(len(core)) if clusters is None else clusters
    for code, task in enumerate(trials.tasks):
        rows = np.flatnonzero(core.task == code)
        units = rows[np.unique(unit[rows], return_index=True)[1]]
        sizes = np.unique(core.algorithm[units], return_counts=True)[1]
        steps = _single_steps(trials, rows)
        own = np.zeros(len(rows), np.int64)
        if steps is not None:
            own = np.unique(steps, return_inverse=True)[1]
            by_size.append(task)
        by_task[rows] = by_number[rows] = own + code * len(core)
        if numbered and _are_paired(core.number[rows], len(sizes)):
            same = np.unique(core.number[rows], return_inverse=True)[1]
            by_number[rows] = same + code * len(core)
            paired.append(task)
        if len(units) <= _COUNTED and len(sizes) > 1 and steps is None:
            among = number_of_deals(sizes.tolist())
            is_paired = task in paired
            within = _within_numbers(len(sizes), int(sizes[0])) if is_paired else among
            different[task] = among, within
    return Dealing(
        _without_labels(trials, clusters),
        *(by_task, by_number, tuple(paired), tuple(by_size), different),
        clusters,
    )


def _clusters(trials: Trials) -> Ints | None:
    """Return which runs of an algorithm on a task stay together; None where none do."""
    if trials.design.unit != "cluster":
        return None
    core, codes = trials.core, trials.design.clusters(trials)
    cell = core.task.astype(np.int64) * len(trials.algorithms) + core.algorithm
    return np.unique(cell * (codes.max() + 1) + codes, return_inverse=True)[1]


def _are_paired(numbers: Ints, algorithms: int) -> bool:
    """Return whether every number comes once for each algorithm."""
    times = np.unique(numbers, return_counts=True)[1]
    return algorithms > 1 and bool((times == algorithms).all())


def _single_steps(trials: Trials, rows: Ints) -> Floats | None:
    """Return the step of each trial where each has one, and they differ.

    A trial that failed before its step is in a pile of its own kind.
    """
    core = trials.core
    lengths = core.lengths[rows]
    if lengths.max(initial=0) != 1:
        return None
    steps = np.full(len(rows), -1.0)
    steps[lengths == 1] = core.steps[core.offsets[rows[lengths == 1]]]
    return None if len(np.unique(steps[lengths == 1])) == 1 else steps


def _within_numbers(algorithms: int, trials: int) -> int:
    """Return how many deals within numbers differ in more than names of algorithms.

    >>> _within_numbers(2, 3), _within_numbers(3, 2)
    (4, 6)
    """
    return int(math.factorial(algorithms) ** (trials - 1))


def _without_labels(trials: Trials, clusters: Ints | None) -> Trials:
    """Return trials without labels, which would tell which of them were run together.

    What they were clustered by is a label, whoever's name they get.
    """
    labels = empty_rows(len(trials), "uint8")
    if clusters is not None:
        labels = from_texts(canonical({_CLUSTER: code}) for code in clusters.tolist())
    return Trials.from_columns(
        trials.tasks,
        trials.algorithms,
        trials.metrics,
        trials.core,
        replace(trials.details(), labels=labels),
        origin=trials.origin,
        design=_INDEPENDENT if clusters is None else _CLUSTERED,
    )


SHUFFLES = 999  # of each test; more are drawn where p is close to the level
