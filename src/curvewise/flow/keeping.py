"""Where a run keeps its trials when there is no store."""

import contextlib
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from curvewise.store.about import about, design
from curvewise.store.claims import Cell
from curvewise.trials import Trials
from curvewise.trials.columns import Ints


class InMemory:
    """What a store offers to a run, kept in this process."""

    shared = False

    def __init__(self) -> None:
        self._parts: dict[Cell, list[Trials]] = {}
        self._notes: dict[str, str] = {}

    def define(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the definitions as they are: there are none from before."""
        self._notes |= texts
        return texts

    def notes(self) -> dict[str, str]:
        """Return what was noted."""
        return dict(self._notes)

    def note(self, texts: Mapping[str, str]) -> None:
        """Remember texts, so that the trials know what they are of."""
        self._notes |= texts

    def introduce(self, tasks: Iterable[str], algorithms: Iterable[str]) -> None:
        """Remember in which order tasks and algorithms are to be listed."""
        algorithms = list(algorithms)
        self._parts = {(task, name): [] for task in tasks for name in algorithms}

    def others_drive(self) -> bool:
        """Return whether another process runs this plan: never."""
        return False

    def driving(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which nobody else runs this plan: always so."""
        return contextlib.nullcontext()

    def numbers(self) -> dict[Cell, Ints]:
        """Return the numbers of the trials of each task and algorithm."""
        return {
            cell: np.concatenate([part.core.number for part in parts])
            for cell, parts in self._parts.items()
            if parts
        }

    def unfinished(self, cell: Cell, numbers: Ints, *, redo: Collection[str]) -> Ints:
        """Return those of the numbers that are not there yet; none is from before."""
        del redo
        done = [part.core.number for part in self._parts[cell]]
        return np.setdiff1d(numbers, np.concatenate(done)) if done else numbers

    def write(self, trials: Trials) -> None:
        """Keep trials of one task and algorithm."""
        self._parts[trials.tasks[0], trials.algorithms[0]].append(trials)

    def read(self) -> Trials:
        """Return all trials."""
        found = Trials.concat(part for parts in self._parts.values() for part in parts)
        spaces = {f"space {name}": text for name, text in found.spaces.items()}
        return Trials.from_columns(
            found.tasks,
            found.algorithms,
            found.metrics,
            found.core,
            found.details,
            origin=found.origin,
            spaces=found.spaces,
            about=about(self._notes, found.core),
            design=design(self._notes | spaces),
        )

    def close(self) -> None:
        """Do nothing."""
