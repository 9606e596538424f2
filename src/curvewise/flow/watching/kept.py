"""What a watcher keeps of each trial: 34 bytes, in columns that grow."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from curvewise.metrics import FROM_COUNTS, Floats, Metric
from curvewise.store.claims import Cell
from curvewise.store.news import News
from curvewise.trials.columns import Core, Ints, was_recorded
from curvewise.trials.doors import At, values_at
from curvewise.trials.trial import STATUSES
from curvewise.trials.values import from_counts

# The score is NaN where a trial has none, whatever the reason. `elsewhere` says that it
# was run at one size only, and at another one than was asked for.
TRIAL = np.dtype([
    ("id", "i8"), ("number", "i8"), ("score", "f8"), ("seconds", "f4"),
    ("message", "i4"), ("status", "i1"), ("elsewhere", "?"),
])  # fmt: skip
Rows = NDArray[np.void]


class Kept:
    """The trials of one algorithm on one task.

    Parameters
    ----------
    place : (int, int)
        The places of task and algorithm among those of the store.

    Attributes
    ----------
    states : ndarray of int
        How many ended in each way, in the order of `STATUSES`.
    version : int
        Grows with every change.
    """

    def __init__(self, place: tuple[int, int]) -> None:
        self.place = place
        self._rows = np.empty(16, TRIAL)
        self._size = self.version = 0
        self._seconds, self._timed = 0.0, 0
        self.states = np.zeros(len(STATUSES), np.int64)
        self._longest_curve, self._sizes = 0, (np.inf, -np.inf)

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> Rows:
        """The trials, ordered by their ids; not to be kept, for they grow."""
        return self._rows[: self._size]

    @property
    def mean_seconds(self) -> float | None:
        """How long a trial took on average; None where nobody knows."""
        return self._seconds / self._timed if self._timed else None

    def met(self, core: Core, places: Ints) -> None:
        """Remember how long the curves of trials are, and where those of one step are."""
        lengths = core.lengths[places]
        self._longest_curve = max(self._longest_curve, int(lengths.max()))
        steps = core.steps[core.offsets[places[lengths == 1]]]
        if len(steps):
            low, high = self._sizes
            self._sizes = min(low, float(steps.min())), max(high, float(steps.max()))

    @property
    def longest_curve(self) -> int:
        """How many steps the longest curve has."""
        return self._longest_curve

    @property
    def sizes(self) -> tuple[float, float]:
        """The smallest and the largest step of curves of one; infinite without any."""
        return self._sizes

    def add(self, rows: Rows) -> None:
        """Add trials with larger ids than all before."""
        end = self._size + len(rows)
        if end > len(self._rows):
            self._rows = np.resize(self._rows, max(end, 3 * len(self._rows) // 2))
        self._rows[self._size : end] = rows
        self._size = end
        self._count(rows, 1)

    def replace(self, rows: Rows) -> tuple[Rows, Rows]:
        """Replace trials by what was written since.

        Returns what those that have changed were, and what they are.
        """
        place = np.searchsorted(self.rows["id"], rows["id"])
        known = place < self._size
        known[known] = self.rows["id"][place[known]] == rows["id"][known]
        place, rows = place[known], rows[known]
        before = self.rows[place]
        changed = (_bytes(before) != _bytes(rows)).any(axis=1)
        place, rows, before = place[changed], rows[changed], before[changed]
        if len(rows):
            self._rows[place] = rows
            self._count(before, -1)
            self._count(rows, 1)
        return before, rows

    def relabel(self, lookup: Ints) -> None:
        """Give messages other codes."""
        self._rows["message"][: self._size] = lookup[self.rows["message"]]

    def _count(self, rows: Rows, sign: int) -> None:
        self.states += sign * np.bincount(rows["status"], minlength=len(STATUSES))
        timed = np.isfinite(rows["seconds"])
        self._seconds += sign * float(rows["seconds"][timed].sum(dtype=np.float64))
        self._timed += sign * int(timed.sum())
        self.version += 1


def _bytes(rows: Rows) -> NDArray[np.uint8]:
    """Return trials as bytes: what is no number equals itself in them."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), TRIAL.itemsize)


def rows_of(news: News, metric: Metric | None, at: At, messages: Ints) -> Rows:
    """Return what is kept of new trials, in the order of their ids."""
    core = news.core
    rows = np.empty(len(news), TRIAL)
    rows["id"], rows["number"], rows["status"] = news.ids, core.number, core.status
    rows["seconds"], rows["message"] = news.seconds, messages
    rows["score"] = _scores(news, metric, at)
    rows["elsewhere"] = _elsewhere(core, at)
    return rows


def _scores(news: News, metric: Metric | None, at: At) -> Floats:
    core = news.core
    if metric is None:
        return np.full(len(core), np.nan)
    if metric.name in core.values:
        values, known = core.values[metric.name], was_recorded(core, metric.name)
    elif news.details is not None and metric.name in FROM_COUNTS:
        values, known = from_counts(core, news.details, metric.name)
    else:
        return np.full(len(core), np.nan)
    found = values_at(core, values, known, metric, at)
    return np.where((core.status == 0) & np.isfinite(found), found, np.nan)


def _elsewhere(core: Core, at: At) -> NDArray[np.bool_]:
    out = np.zeros(len(core), bool)
    if not isinstance(at, str):
        single = core.lengths == 1
        out[single] = core.steps[core.offsets[:-1][single]] != at
    return out


def by_cell(news: News) -> Iterator[tuple[Cell, Ints]]:
    """Yield each cell that has news, and the places of its trials in them."""
    core = news.core
    if not len(news):
        return
    code = core.task.astype(np.int64) * len(news.algorithms) + core.algorithm
    order = np.argsort(code, kind="stable")
    cuts = np.flatnonzero(np.diff(code[order])) + 1
    for places in np.split(order, cuts):
        first = places[0]
        yield (
            (news.tasks[core.task[first]], news.algorithms[core.algorithm[first]]),
            places,
        )
