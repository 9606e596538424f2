"""How far a store is: how many trials of each cell, how they ended, what went wrong."""

import contextlib
import json
import shlex
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from curvewise import store as stores
from curvewise.flow.plan import command_of, ended, planned
from curvewise.flow.progress import shown_time
from curvewise.store.address import shown_store
from curvewise.store.locks import Cell
from curvewise.store.news import Ended, Mishap, Tally
from curvewise.text import Piece, Row, Table, count, notebook, plain
from curvewise.trials.trial import STATUSES


@dataclass(frozen=True, slots=True)
class CellStanding:
    """How many trials of one algorithm on one task there are, and how they ended."""

    task: str
    algorithm: str
    planned: int | None
    states: Mapping[str, int]
    mean: float | None
    longest: float | None

    @property
    def done(self) -> int:
        """How many there are."""
        return sum(self.states.values())

    @property
    def failed(self) -> int:
        """How many did not end well."""
        return self.done - self.states["ok"]

    def row(self) -> Row:
        """Return a line of a table."""
        plan = {} if self.planned is None else {"planned": self.planned}
        return {
            "task": self.task,
            "algorithm": self.algorithm,
            **plan,
            "done": self.done,
            **self.states,
            "mean seconds": self.mean,
            "longest": self.longest,
        }

    def short_row(self) -> Row:
        """Return the line for the end of a run, when what was planned is there."""
        return {
            "task": self.task,
            "algorithm": self.algorithm,
            "trials": self.done,
            **self.states,
            "mean seconds": self.mean,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the same for machines."""
        return asdict(self) | {"done": self.done, "states": dict(self.states)}


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a store is, cell by cell, and what went wrong most often."""

    store: str
    cells: list[CellStanding]
    mishaps: tuple[Mishap, ...]
    idle: float | None
    again: str
    reached: str

    @property
    def failed(self) -> int:
        """How many trials did not end well."""
        return sum(cell.failed for cell in self.cells)

    @property
    def done(self) -> int:
        """How many trials there are."""
        return sum(cell.done for cell in self.cells)

    @property
    def planned(self) -> int | None:
        """How many there are to be, as far as the store knows."""
        each = [cell.planned for cell in self.cells]
        return sum(n for n in each if n is not None) if any(each) else None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for machines."""
        return {
            "store": self.store,
            "done": self.done,
            "planned": self.planned,
            "failed": self.failed,
            "seconds since last written": self.idle,
            "cells": [cell.to_dict() for cell in self.cells],
            "errors": [asdict(mishap) for mishap in self.mishaps],
            "command": self.again or None,
            "reached": self.reached or None,
        }

    def __str__(self) -> str:
        blocks = [self._headline()]
        if self.cells:
            blocks.append(plain([cell.row() for cell in self.cells]))
        if self.mishaps:
            blocks.append(self._mishaps())
        if self.failed and self.again:
            blocks.append(f"To run them again: {self.again} --retry-failed")
        elif self.failed:
            where = json.dumps(self.store)
            blocks.append(
                f"To run them again: curvewise.run(experiment, store={where}, "
                f"retry_failed=True)"
            )
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        parts: list[Piece] = [
            Table([cell.row() for cell in self.cells], self._headline())
        ]
        if self.mishaps:
            rows = [asdict(mishap) for mishap in self.mishaps]
            parts.append(Table(rows, "What went wrong most often, and where first"))
        return notebook(parts)

    def _headline(self) -> str:
        many = count(self.done, "trial")
        if self.planned:
            many = f"{self.done:,} of {self.planned:,} trials"
        ago = "" if self.idle is None else f", last written {shown_time(self.idle)} ago"
        enough = f", enough for '{self.reached}'" if self.reached else ""
        return f"{self.store}: {many}{enough}{ago}"

    def _mishaps(self) -> str:
        lines = ["What went wrong most often, and in which trial first:"]
        width = len(f"{self.mishaps[0].count:,}")
        for one in self.mishaps:
            key = shlex.join([one.task, one.algorithm, str(one.number)])
            lines.append(f"  {one.count:>{width},} x  {one.message}  ({key})")
        return "\n".join(lines)


def standing(where: str, only: Iterable[Cell] | None = None) -> Standing:
    """Return how far a store is, which may be filled meanwhile."""
    with stores.open(where, create=False) as store:
        notes, tally = store.notes(), store.tally()
    cells = _cells(tally, planned(notes), only)
    return Standing(
        store=shown_store(where),
        cells=cells,
        mishaps=tally.mishaps,
        idle=idle_seconds(where),
        again=command_of(notes, where),
        reached=reached_end(cells, ended(notes)),
    )


def reached_end(cells: list[CellStanding], end: tuple[str, int] | None) -> str:
    """Return until when it was run, if nobody has run more since."""
    if end is None or any(cell.done != end[1] for cell in cells):
        return ""
    return end[0]


def _cells(
    tally: Tally, plan: Mapping[Cell, int], only: Iterable[Cell] | None
) -> list[CellStanding]:
    """Return cell by cell how trials ended: planned ones first, in their order."""
    none = Ended(dict.fromkeys(STATUSES, 0))
    cells = dict.fromkeys([*plan, *tally.cells]) if only is None else only
    standings = []
    for cell in cells:
        ended = tally.cells.get(cell, none)
        states = shown_states(ended.states)
        standings.append(
            CellStanding(*cell, plan.get(cell), states, ended.mean, ended.longest)
        )
    return standings


def shown_states(states: Mapping[str, int]) -> dict[str, int]:
    """Return how many ended in each state; no run of ours is cancelled, others' are."""
    return {name: n for name, n in states.items() if n or name != "cancelled"}


def idle_seconds(where: str) -> float | None:
    """Return how many seconds ago a file was last written to; None for a server."""
    path = Path(where)
    written = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        with contextlib.suppress(OSError):  # it is not there, or not any more
            now = file.stat()
            if now.st_size:  # a log without anything in it is a reader's
                written.append(now.st_mtime)
    return max(0.0, time.time() - max(written)) if written else None
