"""All that a watcher has seen: the trials of each cell, how they ended, what they said."""

from collections.abc import Iterable, Mapping

import numpy as np

from curvewise.flow.standing import CellStanding
from curvewise.flow.watching.choosing import chosen
from curvewise.flow.watching.kept import Kept, by_cell, rows_of
from curvewise.flow.watching.messages import Messages
from curvewise.flow.watching.moment import TaskStanding
from curvewise.flow.watching.view import Drawn
from curvewise.metrics import Metric
from curvewise.store.claims import Cell
from curvewise.store.news import News
from curvewise.trials.columns import Ints
from curvewise.trials.doors import At
from curvewise.trials.trial import STATUSES


class Table:
    """The trials that were seen, cell by cell.

    Parameters
    ----------
    wanted : str or None
        The metric that scores are of; the first one if None.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.

    Attributes
    ----------
    metric : Metric or None
        None until a trial has one.
    metrics : mapping of str to Metric
        All that the store knows.
    """

    def __init__(self, wanted: str | None, at: At) -> None:
        self.wanted, self.at = wanted, at
        self.metric: Metric | None = None
        self.metrics: Mapping[str, Metric] = {}
        self.messages = Messages()
        self._algorithms: tuple[str, ...] = ()
        self._cells: dict[Cell, Kept] = {}

    def __len__(self) -> int:
        return sum(map(len, self._cells.values()))

    @property
    def needs_counts(self) -> bool:
        """Whether scores are told by confusion counts."""
        return self.metric is not None and self.metric.name not in self.metrics

    @property
    def cells(self) -> Mapping[Cell, Kept]:
        """What is kept of each cell."""
        return self._cells

    @property
    def done(self) -> dict[Cell, int]:
        """How many trials each cell has."""
        return {cell: len(kept) for cell, kept in self._cells.items()}

    @property
    def states(self) -> Ints:
        """How many trials ended in each way, in the order of `STATUSES`."""
        none = np.zeros(len(STATUSES), np.int64)
        return sum((kept.states for kept in self._cells.values()), none)

    def take(self, news: News, *, is_replaced: bool) -> int:
        """Keep what is new, or what was written in place of something; say how many."""
        if (lookup := self.messages.with_room()) is not None:
            for kept in self._cells.values():
                kept.relabel(lookup)
        self._algorithms, self.metrics = news.algorithms, news.metrics
        if self.metric is None:
            self.metric = chosen(news, self.wanted)
        rows = rows_of(news, self.metric, self.at, self.messages.codes(news))
        core, taken = news.core, 0
        for cell, places in by_cell(news):
            if cell not in self._cells:
                task, algorithm = core.task[places[0]], core.algorithm[places[0]]
                self._cells[cell] = Kept((int(task), int(algorithm)))
            kept, own = self._cells[cell], rows[places]
            kept.met(core, places)
            if is_replaced:
                before, own = kept.replace(own)
                self.messages.remove(before)
            else:
                kept.add(own)
            self.messages.add(kept, own)
            taken += len(own)
        return taken

    # --- how far it is -----------------------------------------------------------------

    def standings(
        self, plan: Mapping[Cell, int], task: str | None = None
    ) -> list[CellStanding]:
        """Return how far each cell is, of one task or of all: planned ones first."""
        cells = dict.fromkeys([*plan, *self._cells])
        return [
            self._standing(cell, plan.get(cell))
            for cell in cells
            if task in (None, cell[0])
        ]

    def _standing(self, cell: Cell, planned: int | None) -> CellStanding:
        kept = self._cells.get(cell)
        counts = [0] * len(STATUSES) if kept is None else kept.states.tolist()
        states = {
            name: n
            for name, n in zip(STATUSES, counts, strict=True)
            if n or name != "cancelled"  # no run of ours ends so; other tools' do
        }
        mean = None if kept is None else kept.mean_seconds
        return CellStanding(*cell, planned, states, mean, None)

    def tasks(self, standings: Iterable[CellStanding]) -> tuple[TaskStanding, ...]:
        """Return how far each task is."""
        own: dict[str, list[CellStanding]] = {}
        for cell in standings:
            own.setdefault(cell.task, []).append(cell)
        return tuple(self._task(name, cells) for name, cells in own.items())

    def _task(self, name: str, cells: list[CellStanding]) -> TaskStanding:
        known = [cell.planned for cell in cells if cell.planned is not None]
        return TaskStanding(
            name,
            sum(cell.done for cell in cells),
            sum(cell.failed for cell in cells),
            sum(known) if known else None,
            self.version(name),
        )

    def version(self, task: str | None = None) -> int:
        """Return a number that grows whenever something about a task, or any, changes."""
        own = (kept for (name, _), kept in self._cells.items() if task in (None, name))
        return sum(kept.version for kept in own)

    # --- scores ------------------------------------------------------------------------

    def drawn(self, task: str | None = None) -> dict[Cell, Drawn]:
        """Return a copy of the trials of one task, or of all."""
        chosen = {c: kept for c, kept in self._cells.items() if task in (None, c[0])}
        sized = {name: self._is_sized(name) for name in {name for name, _ in chosen}}
        look = {name: place for place, name in enumerate(self._algorithms)}
        return {
            (name, one): Drawn(one, look[one], kept.rows.copy(), sized[name])
            for (name, one), kept in chosen.items()
        }

    def _is_sized(self, task: str) -> bool:
        """Whether each trial of a task is at one size, and sizes differ."""
        own = [kept for (name, _), kept in self._cells.items() if name == task]
        low = min(kept.sizes[0] for kept in own)
        high = max(kept.sizes[1] for kept in own)
        return max(kept.longest_curve for kept in own) == 1 and low < high
