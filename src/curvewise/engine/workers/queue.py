"""What workers of every kind are given: an experiment, a batch of trials, limits."""

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from curvewise.engine.experiment import Experiment
from curvewise.errors import CurvewiseError
from curvewise.trials.columns import Core, Details, Ints

SECONDS = 0.2  # that a batch of tiny trials should take
_GROWTH = 8
_QUICK = 1.0
_MOST = 2000  # in a batch: more would only cost memory


Numbers: TypeAlias = Ints | range


class Limits(NamedTuple):
    """What a trial may cost."""

    timeout: float | None = None
    retries: int = 1
    memory: int | None = None


class Batch(NamedTuple):
    """Some trials of one cell, by number; `alone` where one of them killed a worker."""

    cell: int
    numbers: Ints
    alone: bool = False


class Finished(NamedTuple):
    """The columns of the trials of a batch, or of a part of it."""

    cell: int
    core: Core
    details: Details


class Stop:
    """A flag that says: start nothing new, finish what runs."""

    def __init__(self) -> None:
        self.asked = False


class Executor(Protocol):
    """Runs the batches of a queue and hands over what is finished, in any order."""

    @property
    def workers(self) -> int:
        """How many trials can run at a time."""

    def run(
        self, payload: "Payload", queue: "Queue", limits: Limits, stop: Stop
    ) -> Iterator[Finished]:
        """Yield finished trials until the queue is empty or a stop was asked for."""

    def close(self) -> None:
        """Let the workers go."""


class Payload:
    """An experiment, and how it travels to workers."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment

    @classmethod
    def received(cls, data: bytes, digest: str) -> "Payload":
        """Return what arrived on another machine, to be handed on as it is."""
        new = cls.__new__(cls)
        new.__dict__.update(data=data, digest=digest)
        return new

    @functools.cached_property
    def data(self) -> bytes:
        """The experiment pickled; functions of scripts and notebooks by value."""
        import cloudpickle

        try:
            return bytes(cloudpickle.dumps(self.experiment))
        except Exception as problem:
            culprit = _culprit(self.experiment, cloudpickle.dumps)
            raise CurvewiseError(
                f"{culprit} cannot be sent to worker processes: {problem}. Make what "
                "it needs inside the function, or pass ",
                {"executor": "serial"},
                ".",
            ) from problem

    @functools.cached_property
    def digest(self) -> str:
        """A name for the pickled experiment."""
        return hashlib.sha256(self.data).hexdigest()[:16]


def _culprit(experiment: Experiment, dumps: Callable[[object], bytes]) -> str:
    named = {f"Task '{t.name}'": t for t in experiment.tasks}
    named |= {f"Algorithm '{a.name}'": a for a in experiment.algorithms}  # type: ignore[misc]
    for name, part in named.items():
        try:
            dumps(part)
        except Exception:  # that is what we are looking for
            return name
    return "The experiment"


class Queue:
    """The trials still to be run, handed out in batches that take about 0.2 seconds.

    Cells take turns, so that all algorithms grow together and a table that is looked at
    half-way is balanced.

    Parameters
    ----------
    todo : mapping of int to sequence of int
        For each cell the numbers of its trials: an array, or a range.
    workers : int
    claim : callable, optional
        ``claim(cell, numbers)`` returns those that this run may do; others have the rest.
    """

    def __init__(
        self,
        todo: Mapping[int, Numbers],
        workers: int,
        claim: Callable[[int, Ints], Ints] | None = None,
    ) -> None:
        self._left = {cell: numbers for cell, numbers in todo.items() if len(numbers)}
        self._workers = max(workers, 1)
        self._claim = claim
        self._back: list[Batch] = []
        self._seconds: dict[int, float] = {}
        self._largest: dict[int, int] = {}

    def next(self, *, quick: bool = False) -> Batch | None:
        """Return the next batch; None where there is nothing left.

        Parameters
        ----------
        quick : bool
            Only if its trials are known to take less than a second: nobody should hold
            a long trial that another could begin with.
        """
        if self._back:
            return None if quick else self._back.pop()
        while self._left:
            cell = next(iter(self._left))
            if quick and self._seconds.get(cell, _QUICK) >= _QUICK:
                return None
            numbers = self._left.pop(cell)
            size = self._size(cell, len(numbers))
            if len(numbers) > size:
                self._left[cell] = numbers[size:]  # to the end of the line
            mine = np.asarray(numbers[:size], np.int64)
            if self._claim is not None:
                mine = self._claim(cell, mine)
            if len(mine):
                return Batch(cell, mine)
        return None

    @property
    def is_empty(self) -> bool:
        """Whether everything was handed out."""
        return not self._left and not self._back

    def _size(self, cell: int, left: int) -> int:
        known = self._seconds.get(cell)
        if known is None:
            return 1
        wanted = SECONDS / max(known, 1e-7)
        # Not far beyond what was tried, and less towards the end, so that no worker
        # waits long for another.
        fair = -(-left // (2 * self._workers))
        return int(max(1, min(wanted, _GROWTH * self._largest[cell], fair, _MOST)))

    def learn(self, batch: Batch, seconds: float) -> None:
        """Take note of how long a batch took."""
        each = seconds / len(batch.numbers)
        known = self._seconds.get(batch.cell, each)
        # Fast up, slow down: one slow trial among many is no reason for tiny batches,
        # a batch that lasted ten seconds is.
        self._seconds[batch.cell] = max(each, 0.5 * (known + each))
        largest = self._largest.get(batch.cell, 1)
        self._largest[batch.cell] = max(largest, len(batch.numbers))

    def give_back(self, batch: Batch) -> None:
        """Take a batch that has to be run again."""
        if len(batch.numbers):
            self._back.append(batch)
