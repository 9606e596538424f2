"""Trials that might have been: names dealt anew, and trials drawn from what was fitted."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.questions.audit.checks import Settings
from curvewise.questions.sampling import are_numbered, samples
from curvewise.stats.bands import Band
from curvewise.stats.deals import number_of_deals
from curvewise.stats.distribution import ecdf
from curvewise.trials import Trials
from curvewise.trials.columns import (
    Bools,
    Core,
    Details,
    Ints,
    Ragged,
    canonical,
    empty_rows,
    from_texts,
    no_details,
    starts,
)
from curvewise.trials.design import Design

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
        order = np.empty(len(core), np.int64)
        order[first] = np.lexsort((rng.random(len(core)), piles))
        return Trials.from_columns(
            self.trials.tasks,
            self.trials.algorithms,
            self.trials.metrics,
            replace(core, algorithm=core.algorithm[order], number=core.number[order]),
            self.trials.details,
            origin=self.trials.origin,
            design=_INDEPENDENT,
        )

    def _deal_clusters(self, clusters: Ints, rng: np.random.Generator) -> Trials:
        """Return the same trials, the runs of a cluster together under another name."""
        core = self.trials.core
        first = np.unique(clusters, return_index=True)[1]
        piles = self.by_task[first]
        order = np.empty(len(first), np.int64)
        order[np.argsort(piles, kind="stable")] = np.lexsort(
            (rng.random(len(first)), piles)
        )
        names = core.algorithm[first][order][clusters]
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
        groups = np.zeros(len(rows), np.int64)
        if steps is not None:
            groups = np.unique(steps, return_inverse=True)[1]
            by_size.append(task)
        by_task[rows] = by_number[rows] = groups + code * len(core)
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


# --- Trials that were never run, from what was drawn of them ---------------------------


class Cell(NamedTuple):
    """What was drawn for one algorithm on one task.

    Parameters
    ----------
    task, algorithm : str
    numbers : ndarray of int, shape (trial,)
    lengths : ndarray of int, shape (trial,)
        How many steps each trial has.
    steps, values : ndarray, shape (point,)
        Of all trials, end to end.
    counts : ndarray of int, shape (point, class, class), optional
    """

    task: str
    algorithm: str
    numbers: Ints
    lengths: Ints
    steps: Floats
    values: Floats
    counts: Ints | None = None

    @classmethod
    def of_runs(
        cls,
        task: str,
        algorithm: str,
        runs: Ints,
        steps: Floats,
        values: Floats,
        counts: Ints | None = None,
    ) -> "Cell":
        """Return a cell of points in any order, each with its run."""
        order = np.lexsort((steps, runs))
        numbers, lengths = np.unique(runs, return_counts=True)
        if counts is not None:
            counts = counts[order]
        else:
            values = values[order]
        return cls(task, algorithm, numbers, lengths, steps[order], values, counts)


def trials_of(cells: Sequence[Cell], metric: Metric | None, like: Trials) -> Trials:
    """Return drawn cells as trials, tasks and algorithms in the order of others."""
    tasks = {name: i for i, name in enumerate(like.tasks)}
    algorithms = {name: i for i, name in enumerate(like.algorithms)}
    each = [len(cell.numbers) for cell in cells]
    core = Core(
        np.repeat(np.array([tasks[c.task] for c in cells], np.int32), each),
        np.repeat(np.array([algorithms[c.algorithm] for c in cells], np.int32), each),
        np.concatenate([c.numbers for c in cells]).astype(np.int64),
        np.zeros(sum(each), np.int8),
        starts(np.concatenate([c.lengths for c in cells]).astype(np.int64)),
        np.concatenate([c.steps for c in cells]).astype(np.float64),
        {}
        if metric is None
        else {metric.name: np.concatenate([c.values for c in cells])},
        {},
    )
    return Trials.from_columns(
        like.tasks,
        like.algorithms,
        {} if metric is None else {metric.name: metric},
        core,
        _details(cells, sum(each)),
        origin=like.origin,
    )


def _details(cells: Sequence[Cell], n: int) -> Details:
    details = no_details(n)
    if any(cell.counts is None for cell in cells):
        return details
    tables = [cell.counts for cell in cells if cell.counts is not None]
    classes = [table.shape[-1] for table in tables]
    lengths = [c.lengths * k**2 for c, k in zip(cells, classes, strict=True)]
    flat = np.concatenate([table.ravel() for table in tables]).astype(np.int64)
    return replace(
        details,
        counts=Ragged(starts(np.concatenate(lengths).astype(np.int64)), flat),
        classes=np.repeat(classes, [len(c.numbers) for c in cells]),
    )


# --- Scores as a population to draw from, and what is true of it -----------------------


_ATOMS, _MOST_EACH = 4000, 200  # scores of a population, and those around one trial
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """What the scores of one algorithm on one task are drawn from.

    Parameters
    ----------
    atoms : ndarray, shape (trial, atom)
        Scores around that of each trial, as likely as each other.
    numbers : ndarray of int, shape (trial,)
        Of the trials.
    pile : int
        Algorithms of one pile have trials of the same numbers: they are drawn together.
    scores : ndarray, shape (score,)
        All its scores, in ascending order.
    places, shares : ndarray, shape (place,)
        Where its distribution jumps, and to which share.
    """

    atoms: Floats
    numbers: Ints
    pile: int
    scores: Floats
    places: Floats
    shares: Floats

    def is_in(self, band: Band) -> bool:
        """Return whether a band contains its whole distribution."""
        low, high = band.cdf(self.places)
        above, below = self.shares + _ROUNDING, self.shares - _ROUNDING
        return bool(((low <= above) & (below <= high)).all())

    def is_better(self, other: "Population", sign: int) -> float:
        """Return how often one of its trials is better than one of another, ties half."""
        a, b = sign * self.atoms, sign * other.atoms
        if self.pile == other.pile:
            more = (a[:, :, None] > b[:, None]).mean()
            return float(more + (a[:, :, None] == b[:, None]).mean() / 2)
        z = np.sort(b, axis=None)
        below = np.searchsorted(z, a, "left") + np.searchsorted(z, a, "right")
        return float(below.mean() / (2 * len(z)))


Populations = Mapping[str, Mapping[str, Population]]


def populations_of(
    trials: Trials, settings: Settings
) -> dict[str, dict[str, Population]]:
    """Return what the scores of each algorithm on each task are drawn from.

    Between the scores that were seen, so that a new trial is no copy of an old one. Where
    scores tie, new ones tie, too: there they are drawn as they were. A failed trial scores
    what a failure does, as often as it happened.
    """
    out: dict[str, dict[str, Population]] = {}
    by_task = samples(trials, settings.metric, settings.at, settings.failed)
    for task, by_algorithm in by_task.items():
        piles: dict[bytes, int] = {}
        out[task] = {}
        for i, (name, one) in enumerate(by_algorithm.items()):
            alone = bytes([i % 256, i // 256])
            key = one.numbers.tobytes() if one.is_numbered else alone
            pile = piles.setdefault(key, len(piles))
            broken = (
                np.zeros(len(one.scores), bool) if one.broken is None else one.broken
            )
            out[task][name] = population_of(
                _atoms(one.scores, broken), one.numbers, pile
            )
    return out


def population_of(atoms: Floats, numbers: Ints, pile: int) -> Population:
    """Return a population with its distribution."""
    scores = np.sort(atoms, axis=None)
    places = np.unique(scores)
    return Population(atoms, numbers, pile, scores, places, ecdf(scores, places))


def _atoms(scores: Floats, broken: Bools) -> Floats:
    """Return the scores around each trial: those nearer to it than to its neighbours.

    >>> _atoms(np.array([3.0, 1.0]), np.array([False, False]))[:, [0, -1]].round(1).tolist()
    [[2.0, 3.0], [1.0, 2.0]]
    """
    sound = np.flatnonzero(~broken)
    m = len(sound)
    each = min(-(-_ATOMS // len(scores)), _MOST_EACH)
    if m < 2 or len(np.unique(scores[sound])) < m:
        return scores[:, None]
    out = np.repeat(scores[:, None], each, axis=1)
    order = np.argsort(scores[sound], kind="stable")
    share = (np.arange(m * each) + 0.5) / (m * each)
    between = np.interp(share * (m - 1), np.arange(m), scores[sound][order])
    out[sound[order]] = between.reshape(m, each)
    return out


def drawn_scores(
    populations: Populations, settings: Settings, like: Trials, rng: np.random.Generator
) -> Trials:
    """Return as many trials as there were, drawn; trials of one number stay together."""
    cells = []
    for task, by_algorithm in populations.items():
        rows: dict[int, Ints] = {}
        for name, population in by_algorithm.items():
            n, each = population.atoms.shape
            if population.pile not in rows:
                rows[population.pile] = np.asarray(rng.integers(n, size=n))
            around = rng.integers(each, size=n)
            scores = population.atoms[rows[population.pile], around]
            lengths, steps = np.ones(n, np.int64), np.zeros(n)
            cells.append(Cell(task, name, population.numbers, lengths, steps, scores))
    return trials_of(cells, like.metric(settings.metric), like)
