"""What `curvewise status` shows."""

import json
import shlex
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from curvewise.cli import sources
from curvewise.cli.tally import Mishap, Tally, mishaps, snapshot, tallies


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a store is, cell by cell, and what went wrong most often."""

    store: str
    cells: list[Tally]
    mishaps: list[Mishap]
    idle: float | None
    again: str

    @property
    def failed(self) -> int:
        """How many trials did not end well."""
        return sum(cell.done - cell.states["ok"] for cell in self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for machines."""
        return {
            "store": self.store,
            "done": sum(cell.done for cell in self.cells),
            "planned": self._planned(),
            "failed": self.failed,
            "seconds since last written": self.idle,
            "cells": [cell.to_dict() for cell in self.cells],
            "errors": [asdict(mishap) for mishap in self.mishaps],
            "command": self.again or None,
        }

    def _planned(self) -> int | None:
        each = [cell.planned for cell in self.cells]
        return sum(n for n in each if n is not None) if any(each) else None

    def __str__(self) -> str:
        from curvewise._text import plain

        blocks = [self._headline()]
        if self.cells:
            planned = self._planned() is not None
            blocks.append(plain([_row(cell, planned=planned) for cell in self.cells]))
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

    def _headline(self) -> str:
        from curvewise._text import count
        from curvewise.flow.progress import shown_time

        done, planned = sum(cell.done for cell in self.cells), self._planned()
        many = f"{done:,} of {planned:,} trials" if planned else count(done, "trial")
        ago = "" if self.idle is None else f", last written {shown_time(self.idle)} ago"
        return f"{self.store}: {many}{ago}"

    def _mishaps(self) -> str:
        lines = ["What went wrong most often, and in which trial first:"]
        width = len(f"{self.mishaps[0].count:,}")
        for one in self.mishaps:
            key = shlex.join([one.task, one.algorithm, str(one.number)])
            lines.append(f"  {one.count:>{width},} x  {one.message}  ({key})")
        return "\n".join(lines)


def _row(cell: Tally, *, planned: bool) -> dict[str, Any]:
    row = dict(cell.row(planned=True))
    if not planned:
        row.pop("planned")
    return row


def standing(where: str) -> Standing:
    """Return how far a store is."""
    from curvewise import store as stores
    from curvewise.flow.plan import planned

    with stores.open(where, create=False) as store:
        notes = store.notes()
    trials = snapshot(where)
    return Standing(
        sources.shown_store(where),
        tallies(trials, planned(notes)),
        mishaps(trials),
        _idle(where),
        sources.command_of(notes, where),
    )


def _idle(where: str) -> float | None:
    """Return how many seconds ago a file was last written to; None for a server."""
    path = Path(where)
    files = [f for f in (path, path.with_name(f"{path.name}-wal")) if f.exists()]
    if not files:
        return None
    return max(0.0, time.time() - max(file.stat().st_mtime for file in files))
