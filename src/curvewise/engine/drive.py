"""Runs the trials of a plan: a queue of batches, limits, and whoever runs them, by name."""

import contextlib
import functools
import hashlib
import math
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from types import FrameType
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np

from curvewise.engine.experiment import Experiment
from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    Keyword,
    Message,
    Phrase,
    listed,
    shortened,
    unknown,
    whole,
)
from curvewise.metrics import Metric, declared, is_quality
from curvewise.trials import Trials
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
                argument=culprit,
            ) from problem

    @functools.cached_property
    def digest(self) -> str:
        """A name for the pickled experiment."""
        return hashlib.sha256(self.data).hexdigest()[:16]


class Queue:
    """The trials still to be run, handed out in batches that take about 0.2 seconds.

    Cells take turns, so that all algorithms grow together and a table that is looked at
    half-way is balanced.
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
        """Return the next batch; None where there is nothing left."""
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
        each = self._seconds.get(cell)
        if each is None:
            return 1
        wanted = SECONDS / max(each, 1e-7)
        # Not far beyond what was tried, and less towards the end, so that no worker
        # waits long for another.
        fair = -(-left // (2 * self._workers))
        return int(max(1, min(wanted, _GROWTH * self._largest[cell], fair, _MOST)))

    def learn(self, batch: Batch, seconds: float) -> None:
        """Take note of how long a batch took."""
        each = seconds / len(batch.numbers)
        before = self._seconds.get(batch.cell, each)
        # Fast up, slow down: one slow trial among many is no reason for tiny batches,
        # a batch that lasted ten seconds is.
        self._seconds[batch.cell] = max(each, 0.5 * (before + each))
        largest = self._largest.get(batch.cell, 1)
        self._largest[batch.cell] = max(largest, len(batch.numbers))

    def give_back(self, batch: Batch) -> None:
        """Take a batch that has to be run again."""
        if len(batch.numbers):
            self._back.append(batch)


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


def _culprit(experiment: Experiment, dumps: Callable[[object], bytes]) -> str:
    parts = {f"Task '{t.name}'": t for t in experiment.tasks}
    parts |= {f"Algorithm '{a.name}'": a for a in experiment.algorithms}  # type: ignore[misc]
    for name, part in parts.items():
        try:
            dumps(part)
        except Exception:  # that is what we are looking for
            return name
    return "The experiment"


# --- Who runs trials, by name ----------------------------------------------------------


ExecutorName: TypeAlias = Literal["local", "serial", "ray"]
EXECUTORS: tuple[str, ...] = get_args(ExecutorName)


@contextlib.contextmanager
def executor_of(
    executor: ExecutorName | Executor, workers: int | None = None
) -> Iterator[Executor]:
    """Give the executor that was asked for; one that was passed stays open."""
    if not isinstance(executor, str):
        if not hasattr(executor, "run"):
            raise unknown("executor", executor, EXECUTORS)
        yield executor
        return
    with contextlib.closing(_executor(executor, workers)) as crew:
        yield crew


def _executor(name: str, workers: int | None) -> Executor:
    if name == "local":
        from curvewise.engine.workers.local import Local

        return Local(workers)
    if name == "serial":
        from curvewise.engine.workers.local import Serial

        return Serial()
    if name == "ray":
        from curvewise.engine.workers.cluster import Cluster

        return Cluster(workers)
    raise unknown("executor", name, EXECUTORS)


# --- What `run` was asked for, checked before anything is made -------------------------


_UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def limits_of(timeout: Any, retries: Any, memory: Any) -> Limits:
    """Return what a trial may cost."""
    return Limits(_seconds(timeout), whole(retries, "retries", 0), _bytes(memory))


def check_workers(workers: Any) -> None:
    """Raise if a number of workers is none."""
    if workers is not None:
        whole(workers, "workers")


def _is_real(value: Any) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value > 0


def _seconds(timeout: Any) -> float | None:
    if timeout is not None and not _is_real(timeout):
        raise CurvewiseError(
            f"timeout is {timeout!r}. Pass seconds above 0.",
            argument="timeout",
            value=timeout,
        )
    return None if timeout is None else float(timeout)


def _bytes(memory: Any) -> int | None:
    if memory is None:
        return None
    number: Any = memory
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?B?)\s*", memory, re.IGNORECASE)
        try:
            unit = match[2].upper() if match else ""
            factor = _UNITS[unit if unit.endswith("B") or not unit else f"{unit}B"]
            number = float(match[1]) * factor if match else None
        except ValueError:
            number = None
    if not _is_real(number) or number < 1:
        raise CurvewiseError(
            f"memory is {memory!r}. Pass bytes, or a text such as '2 GB'.",
            argument="memory",
            value=memory,
        )
    if not sys.platform.startswith("linux"):
        raise CurvewiseError(
            "Only Linux limits the memory of a process. Leave ",
            Keyword("memory"),
            " out.",
        )
    return int(number)


# --- Ctrl-C once: finish what runs and stop. Twice: stop at once -----------------------


@contextlib.contextmanager
def draining(stop: Stop) -> Iterator[None]:
    """Turn the first Ctrl-C into `stop.asked`; a second raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True
        sys.stderr.write(
            "\ncurvewise: finishing the trials that run; Ctrl-C again stops at once.\n"
        )

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- Runs the trials of a plan and hands each finished batch to a callable -------------


def drive(
    payload: Payload,
    todo: Mapping[int, Numbers],
    executor: Executor,
    limits: Limits,
    finished: Callable[[Trials], None],
    meanings: dict[str, Metric],
    *,
    claim: Callable[[int, Ints], Ints] | None = None,
) -> bool:
    """Run the trials in `todo`; return whether all were run."""
    experiment = payload.experiment
    cells = [(task.name, one.name) for task, one in experiment.cells()]
    queue = Queue(todo, executor.workers, claim)
    stop = Stop()
    spaces, design = experiment.spaces(), experiment.design()
    with draining(stop):
        for cell, core, details in executor.run(payload, queue, limits, stop):
            new = [name for name in core.values if name not in meanings]
            if new:
                meant = declared(new, experiment.metrics)
                _warn_of_unknown(meant)
                meanings |= meant
            task, algorithm = cells[cell]
            metrics = {name: meanings[name] for name in core.values}
            names = [task], [algorithm]
            columns = *names, metrics, core, details
            finished(Trials.from_columns(*columns, spaces=spaces, design=design))
    return not stop.asked


def _warn_of_unknown(meant: Mapping[str, Metric]) -> None:
    """Warn of qualities without a known direction, while it is early."""
    unsaid = [m for m in meant.values() if m.direction is None and m.source == "name"]
    unknown = [m.name for m in unsaid if is_quality(m.name)]
    if unknown:
        them = "them" if len(unknown) > 1 else "it"
        warnings.warn(
            Message(
                f"No direction is declared for {listed(unknown)}: there will be no "
                f"verdict by {them}. State it ",
                _declared(shortened(unknown[0])),
                ".",
            ),
            CurvewiseWarning,
            stacklevel=6,  # whoever called run
        )


def _declared(name: str) -> Phrase:
    return Phrase(
        f"with metrics=, such as [Metric({name!r}, 'lower')]",
        toml=f'in the file: [metrics], and below it {name} = "lower"',
    )
