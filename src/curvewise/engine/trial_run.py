"""One trial: draw its hyperparameters and data, run it, write down what it yields."""

import copy
import functools
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from curvewise.engine import spaces
from curvewise.engine.definitions import is_ours
from curvewise.engine.experiment import Algorithm, Experiment, Replicates, Task
from curvewise.engine.recording import Record
from curvewise.engine.seeding import stream
from curvewise.errors import CurvewiseError, shortened
from curvewise.trials.trial import Value

_MOST_FRAMES = 3
_MOST_TEXT = 2000


class TimeLimitError(BaseException):
    """Raised inside a trial whose time is up; not an Exception, so that none hides it."""


class Runner:
    """One algorithm on one task, ready to run any of its trials."""

    def __init__(
        self, experiment: Experiment, task: Task, algorithm: Algorithm
    ) -> None:
        self._experiment, self._task, self._algorithm = experiment, task, algorithm
        self._streams = task.streams
        self._draw = spaces.sampler(algorithm.space) if algorithm.space else None
        self._plain = not experiment.cross and task.lines == 1
        for part in (task.sample, algorithm.run):
            warm_up(part)

    def _params(self, chosen: Replicates) -> dict[str, Value]:
        if self._draw is None:
            return {}
        return self._draw(self._stream("params", chosen.params))

    def _data(self, chosen: Replicates) -> Any:
        """Return the data of a trial: the same for every algorithm."""
        task = self._task
        draw = functools.partial(stream, self._experiment.seed)
        train, test = (which // task.lines for which in (chosen.train, chosen.test))
        if self._streams == 1:
            data = task.sample(draw("data", task.name, replicate=train))
        else:
            data = task.sample(
                draw("train", task.name, replicate=train),
                draw("test", task.name, replicate=test),
            )
        return data.line(chosen.line % task.lines) if task.lines > 1 else data

    def _stream(self, role: str, replicate: int) -> np.random.Generator:
        names = self._task.name, self._algorithm.name
        return stream(self._experiment.seed, role, *names, replicate=replicate)

    def run(self, record: Record, kept: Callable[[Record], None] | None = None) -> None:
        """Run a trial; whatever happens in it, `record` says how it ended."""
        number = record.number
        begin = time.perf_counter()
        try:
            if not self._plain:
                labels = self._experiment.labels(self._task, number)
                record.labels = dict(labels)
            chosen = self._experiment.replicates(number)
            record.params = self._params(chosen)
            if kept is not None and (record.params or record.labels):
                kept(record)  # should it die before its first yield
            data = self._data(chosen)
            rng = self._stream("seed", chosen.seed)
            # A copy: what the algorithm does to its params is not what was drawn.
            params = {name: _copied(value) for name, value in record.params.items()}
            for item in items(self._algorithm.run(params, data, rng)):
                record.add(item)
                if kept is not None:
                    kept(record)
            record.finish()
        except TimeLimitError as limit:
            record.trim()
            record.end("timeout", str(limit))
        except KeyboardInterrupt as problem:
            record.end("failed", last_lines(problem))
            raise  # in a process of a person's own it is that person's wish
        except BaseException as problem:  # a trial's own failure, recorded
            record.end("failed", last_lines(problem))
        record.seconds = time.perf_counter() - begin


def warm_up(part: object) -> None:
    """Let a task or an algorithm import what it needs, before a trial's clock runs."""
    if callable(prepare := getattr(part, "warm_up", None)):
        prepare()


def _copied(value: Value) -> Value:
    return copy.deepcopy(value) if isinstance(value, list | dict) else value


def items(returned: object) -> Iterable[Any]:
    """Return what an algorithm yields; one that returns a dict yields it at step 0."""
    if isinstance(returned, Mapping):
        return [(0, returned)]
    if returned is None or isinstance(returned, str | tuple | int | float | np.ndarray):
        raise CurvewiseError(
            f"run returned {type(returned).__name__} {shortened(returned)}. Let it yield "
            f"(step, {{metric: value}}), or return a dict such as {{'accuracy': 0.9}}."
        )
    return returned  # type: ignore[return-value]  # if it is none, `for` says so


def last_lines(problem: BaseException) -> str:
    """Return an exception as text: its message, then where it was raised, last first."""
    try:
        frames = traceback.extract_tb(problem.__traceback__)
        theirs = [f for f in frames if not is_ours(f.filename)]
        places = [
            f"  {f.filename}:{f.lineno} in {f.name}: {f.line or ''}".rstrip(": ")
            for f in theirs[: -_MOST_FRAMES - 1 : -1]
        ]
        message = "".join(traceback.format_exception_only(problem)).strip()
    except Exception:  # an exception whose own __str__ raises
        return f"{type(problem).__name__}, which cannot be shown"
    if len(message) > _MOST_TEXT:
        message = f"{message[:_MOST_TEXT]}…"
    return "\n".join([message, *places])
