"""Trials that were never run: from scores that are drawn, and what is true of those."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.questions.audit.checks import Asked
from curvewise.questions.sampling import samples
from curvewise.stats.bands import Band
from curvewise.stats.distribution import ecdf
from curvewise.trials import Trials
from curvewise.trials.columns import (
    Bools,
    Core,
    Details,
    Ints,
    Ragged,
    no_details,
    starts,
)


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


def populations_of(trials: Trials, asked: Asked) -> dict[str, dict[str, Population]]:
    """Return what the scores of each algorithm on each task are drawn from.

    Between the scores that were seen, so that a new trial is no copy of an old one. Where
    scores tie, new ones tie, too: there they are drawn as they were. A failed trial scores
    what a failure does, as often as it happened.
    """
    out: dict[str, dict[str, Population]] = {}
    by_task = samples(trials, asked.metric, asked.at, asked.failed)
    for task, own in by_task.items():
        piles: dict[bytes, int] = {}
        out[task] = {}
        for i, (name, one) in enumerate(own.items()):
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
    populations: Populations, asked: Asked, like: Trials, rng: np.random.Generator
) -> Trials:
    """Return as many trials as there were, drawn; trials of one number stay together."""
    cells = []
    for task, own in populations.items():
        rows: dict[int, Ints] = {}
        for name, population in own.items():
            n, each = population.atoms.shape
            if population.pile not in rows:
                rows[population.pile] = np.asarray(rng.integers(n, size=n))
            around = rng.integers(each, size=n)
            scores = population.atoms[rows[population.pile], around]
            lengths, steps = np.ones(n, np.int64), np.zeros(n)
            cells.append(Cell(task, name, population.numbers, lengths, steps, scores))
    return trials_of(cells, like.metric(asked.metric), like)
