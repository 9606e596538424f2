"""Runs an experiment into a store, says how long that would take, and repeats one trial."""

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from curvewise import store as stores
from curvewise.engine.drive import (
    Executor,
    ExecutorName,
    Limits,
    Numbers,
    Payload,
    check_workers,
    drive,
    executor_of,
    limits_of,
)
from curvewise.engine.experiment import Experiment
from curvewise.engine.recording import Record, columns
from curvewise.engine.trial_run import Runner
from curvewise.errors import CurvewiseError
from curvewise.flow.plan import NOT_OK, agree, left, notes_at_end, notes_at_start
from curvewise.flow.progress import Progress, display, shown_time
from curvewise.flow.until.stopping import Criterion, asker, criterion_of
from curvewise.metrics import Metric, declared
from curvewise.store.address import is_url
from curvewise.store.locks import Cell
from curvewise.store.notes import about, design
from curvewise.text import Row, count
from curvewise.trials import Trial, Trials
from curvewise.trials.columns import Ints
from curvewise.trials.trial import shown_key

Todo: TypeAlias = dict[int, Numbers]

_PAUSE = 1.0  # seconds between looks at what other runs of the same plan have left


def run(
    experiment: Experiment,
    *,
    store: str | Path | None = None,
    workers: int | None = None,
    executor: ExecutorName | Executor = "local",
    timeout: float | None = None,
    retries: int = 1,
    memory: int | str | None = None,
    until: Criterion | str | None = None,
    progress: bool | None = None,
    retry_failed: bool = False,
    notes: Mapping[str, str] | None = None,
) -> Trials:
    """Run the trials of an experiment that its store does not have yet; return all.

    The plan is a set of keys (task, algorithm, number), and a run does what is left of
    it: the same call again resumes, more trials or another algorithm extend it. A trial
    comes out the same whoever runs it, in whichever order.

    Parameters
    ----------
    experiment : Experiment
    store : path or URL, optional
        Where trials are kept as they finish: a SQLite file, or ``postgresql://...``,
        where several runs may share a plan. Without one they are kept in memory.
    workers : int, optional
        How many processes; one for each core if left out.
    executor : {"local", "serial", "ray"}
        Processes on this machine, this process, or a Ray cluster: the one that the
        environment variable ``RAY_ADDRESS`` names, or else one on this machine.
    timeout : float, optional
        Seconds that a trial may take. One that takes longer is killed, and kept as
        ``"timeout"`` with what it had yielded.
    retries : int
        How often a trial is tried again whose worker died; after that it is
        ``"crashed"``. An exception is an answer: ``"failed"``, and not tried again.
    memory : int or str, optional
        Bytes that a trial may use, such as ``"2 GB"`` (on Linux).
    until : Until, str or callable, optional
        What to find out, as `curvewise.until` returns it or as a text such as
        ``"cvar 0.5 +- 0.01"``: looks are taken when 1/16, 1/8, 1/4, 1/2 of the trials are
        there, and the run ends when it is known well enough. A function is called with
        the trials so far, and ends the run by returning True; what holds in spite of the
        looking is then up to it.
    progress : bool, optional
        False says nothing. Otherwise a bar, or lines where there is no terminal.
    retry_failed : bool
        Run those again that did not end well.
    notes : mapping of str to str, optional
        Small texts for the store to keep beside the trials.

    Returns
    -------
    Trials
        All that the store has, read when first looked at.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when what runs has been finished; the same call goes on. Without a
        store, its ``trials`` are what was finished.

    Examples
    --------
    >>> from curvewise import Algorithm, Experiment, Task
    >>> def guess(params, data, rng):
    ...     yield 0, {"accuracy": float(rng.random() < params["p"])}
    >>> coin = Task("coin", lambda rng: None)
    >>> experiment = Experiment([coin], [Algorithm("a", {"p": [0.3, 0.9]}, guess)], 50, 1)
    >>> len(run(experiment, executor="serial"))
    50
    """
    if not isinstance(experiment, Experiment):
        raise CurvewiseError(
            f"run got {type(experiment).__name__}. Pass an Experiment; estimators of "
            f"scikit-learn become one by curvewise.zoo.experiment.",
            argument="experiment",
            value=experiment,
        )
    criterion = criterion_of(until, experiment)
    limits = limits_of(timeout, retries, memory)
    check_workers(workers)
    if store is not None and not is_url(store):
        store = Path(store).expanduser().absolute()  # trials are read later
    with (
        executor_of(executor, workers) as workforce,
        contextlib.closing(
            InMemory() if store is None else stores.open(store)
        ) as keeper,
        keeper.driving(),
    ):
        agree(keeper, experiment.definition())
        begun = notes_at_start(keeper.notes(), experiment, criterion)
        keeper.note(begun | dict(notes or {}))
        keeper.introduce(
            [task.name for task in experiment.tasks],
            [algorithm.name for algorithm in experiment.algorithms],
        )
        driver = _Driver(experiment, keeper, workforce, limits)
        try:
            driver.run(NOT_OK if retry_failed else (), criterion, progress)
        except KeyboardInterrupt as problem:
            if store is None:
                problem.trials = keeper.read()  # type: ignore[attr-defined]
            raise
        if store is None:
            trials: Trials = keeper.read()
            return trials
    return Trials.later(lambda: stores.read(store))


class _Driver:
    """One run: what is left of the plan, who does it, what is said meanwhile."""

    def __init__(
        self, experiment: Experiment, keeper: Any, executor: Executor, limits: Limits
    ) -> None:
        self._experiment, self._payload = experiment, Payload(experiment)
        self._meanings: dict[str, Metric] = {}
        self._cells = [(task.name, one.name) for task, one in experiment.cells()]
        self._keeper, self._executor, self._limits = keeper, executor, limits

    def run(
        self, again: Collection[str], until: Criterion | None, progress: bool | None
    ) -> None:
        """Run what is left, a look at a time."""
        self._asker = asker(until, self._experiment, self._keeper)
        self._again = again
        self._progress = Progress(self._experiment.size, self._done())
        self._display = display(progress)
        self._display.start(self._progress)
        try:
            for size in self._asker.sizes:
                self._run_to(size)
                is_enough = self._asker.ask(size)
                self._progress.certainty = self._asker.said
                if is_enough:
                    self._progress.is_enough = True
                    self._keeper.note(notes_at_end(until, size))
                    return
        finally:
            self._display.finish(self._progress)

    def _run_to(self, size: int) -> None:
        while todo := self._todo(size):
            claim = self._claim if self._keeper.shared else None
            before = self._progress.done
            ended = drive(
                self._payload,
                todo,
                self._executor,
                self._limits,
                self._keep,
                self._meanings,
                claim=claim,
            )
            if not ended and self._progress.done < self._progress.total:
                raise KeyboardInterrupt(f"stopped after {self._progress}")
            if not self._keeper.shared:
                return
            if self._progress.done == before:
                time.sleep(_PAUSE)  # others have the rest; if they die, it is ours
            self._progress.done = self._done()  # others have done some, too

    def _done(self) -> int:
        todo = self._todo(self._experiment.trials)
        return self._experiment.size - sum(map(len, todo.values()))

    def _todo(self, size: int) -> Todo:
        """Return the numbers below `size` of each cell that are still to be run."""
        cells = left(self._experiment, self._keeper, self._again, below=size).values()
        return {place: numbers for place, numbers in enumerate(cells) if len(numbers)}

    def _claim(self, place: int, numbers: Ints) -> Ints:
        granted: Ints = self._keeper.claim(
            self._cells[place], numbers, redo=self._again
        )
        return granted

    def _keep(self, trials: Trials) -> None:
        self._keeper.write(trials)
        self._progress.add(trials)
        self._asker.meet(trials)
        self._asker.glance()
        self._progress.certainty = self._asker.said
        self._display.update(self._progress)


# --- Where a run keeps its trials when there is no store -------------------------------


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
        trials = Trials.concat(part for parts in self._parts.values() for part in parts)
        spaces = {f"space {name}": text for name, text in trials.spaces.items()}
        return Trials.from_columns(
            trials.tasks,
            trials.algorithms,
            trials.metrics,
            trials.core,
            trials.details,
            origin=trials.origin,
            spaces=trials.spaces,
            about=about(self._notes, trials.core),
            design=design(self._notes | spaces),
        )

    def close(self) -> None:
        """Do nothing."""


# --------------------------------------------------------------------------------------
# What a run would do and how long it would take, from a few trials that nobody keeps.


PROBED_TRIALS = 4  # of each cell
FIRST_SECONDS = (
    15.0  # seconds until the first trial is stopped, which also loads libraries
)
LATER_SECONDS = 5.0  # seconds until a later one is
CELL_SECONDS = 3.0  # seconds for later ones, after which no more are begun
ALL_SECONDS = 30.0  # seconds after which nothing more is begun


@dataclass(frozen=True, slots=True)
class Probe:
    """What is left of one algorithm on one task, and how long its trials took."""

    task: str
    algorithm: str
    planned: int
    left: int
    tried: list[Trial] = field(default_factory=list)
    timeout: float | None = None

    @property
    def seconds(self) -> float | None:
        """Mean of a trial; the first one also loads libraries, and counts only alone."""
        took = [trial.seconds for trial in self.tried]
        took = took[1:] or took
        return sum(took) / len(took) if took else None

    @property
    def is_cut(self) -> bool:
        """Whether a trial takes longer than a probe may, but not too long for a run."""
        limit = float("inf") if self.timeout is None else self.timeout
        return any(t.status == "timeout" and t.seconds < limit for t in self.tried)

    @property
    def failed(self) -> int:
        """How many trials ended badly; none where a probe was only too short for them."""
        return 0 if self.is_cut else sum(t.status != "ok" for t in self.tried)

    @property
    def problem(self) -> str:
        """The first line of the first error, if a trial ended badly."""
        bad = [trial for trial in self.tried if trial.status != "ok"]
        if not self.failed:
            return ""
        return bad[0].error.partition("\n")[0] or bad[0].status

    def row(self) -> Row:
        """Return a line of the table."""
        return {
            "task": self.task,
            "algorithm": self.algorithm,
            "trials": self.planned,
            "there": self.planned - self.left,
            "left": self.left,
            "probed": len(self.tried),
            "mean seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a run would take; as a text, in words."""

    probes: Sequence[Probe]
    workers: int

    @property
    def seconds(self) -> float | None:
        """How long, as far as probes can tell; None if no trial was probed."""
        probes = [p for p in self.probes if p.left and p.seconds is not None]
        if not probes:
            return None
        return sum(p.left * (p.seconds or 0.0) for p in probes) / self.workers

    @property
    def is_least(self) -> bool:
        """Whether it takes longer: some trials were not probed, or not to their end."""
        return any(p.left and (p.seconds is None or p.is_cut) for p in self.probes)

    def __str__(self) -> str:
        left = sum(p.left for p in self.probes)
        if not left:
            return "nothing left to do"
        if self.seconds is None:
            return "no trial was probed, so nobody knows how long it takes"
        about = "at least" if self.is_least else "about"
        return (
            f"{count(left, 'trial')} left, {about} {shown_time(self.seconds)} with "
            f"{count(self.workers, 'worker')}"
        )


def estimate(
    experiment: Experiment,
    left: Mapping[Cell, Numbers],
    *,
    executor: str = "local",
    workers: int | None = None,
    timeout: float | None = None,
) -> Estimate:
    """Run a few trials of each cell, keep none of them, and say how long all would take."""
    probed = tuple(_probes(experiment, left, executor, timeout))
    return Estimate(probed, workers_of(executor, workers))


def workers_of(executor: str, workers: int | None) -> int:
    """Return how many workers a run would have."""
    from curvewise.engine.workers.local import Local

    return 1 if executor == "serial" else Local(workers).workers


def _probes(
    experiment: Experiment,
    left: Mapping[Cell, Numbers],
    executor: str,
    timeout: float | None,
) -> Iterator[Probe]:
    payload = Payload(experiment)
    meanings: dict[str, Metric] = {}
    end = time.monotonic() + ALL_SECONDS
    with executor_of("serial" if executor == "serial" else "local", 1) as crew:
        for place, (cell, numbers) in enumerate(left.items()):
            probe = Probe(*cell, experiment.trials, len(numbers), timeout=timeout)
            stop = end
            for number in numbers[:PROBED_TRIALS]:
                if time.monotonic() > stop or probe.is_cut:
                    break
                limit = LATER_SECONDS if probe.tried else FIRST_SECONDS
                limits = Limits(min(timeout or limit, limit), retries=0)
                todo = {place: np.array([number])}
                if not drive(payload, todo, crew, limits, probe.tried.extend, meanings):
                    raise KeyboardInterrupt
                if len(probe.tried) == 1:
                    stop = min(end, time.monotonic() + CELL_SECONDS)
            yield probe


# --- Runs one trial of a store again and says whether it agrees ------------------------


@dataclass(frozen=True, slots=True)
class Replay:
    """A trial as it was kept, and as it came out again."""

    kept: Trial
    again: Trial

    @property
    def agrees(self) -> bool:
        """Whether both are the same, bit for bit; times and error texts aside."""
        return self.kept == self.again

    def __str__(self) -> str:
        verdict = "agrees, bit for bit" if self.agrees else "does NOT agree"
        lines = [f"{shown_key(self.kept.key)} {verdict}"]
        if not self.agrees:
            lines += [f"  kept:  {self.kept!r}", f"  again: {self.again!r}"]
            if self.kept.params != self.again.params:
                lines += [f"  kept params:  {dict(self.kept.params)}"]
                lines += [f"  params again: {dict(self.again.params)}"]
        return "\n".join(lines)


def replay(
    experiment: Experiment, store: str | Path, task: str, algorithm: str, number: int
) -> Replay:
    """Run one trial again, in this process, and compare it with the one in the store.

    Parameters
    ----------
    experiment : Experiment
        The one that filled the store.
    store : path or URL
    task, algorithm : str
    number : int
    """
    trials = stores.read(store).where(task=task, algorithm=algorithm, number=number)
    if len(trials) == 0:
        key = shown_key((task, algorithm, number))
        raise CurvewiseError(
            f"{store} has no trial {key}. See curvewise status.",
            argument="number",
            value=number,
        )
    return Replay(trials[0], once(experiment, task, algorithm, number))


def once(experiment: Experiment, task: str, algorithm: str, number: int) -> Trial:
    """Run one trial of an experiment in this process; it is the one that a run has."""
    record = Record(number)
    Runner(experiment, experiment.task(task), experiment.algorithm(algorithm)).run(
        record
    )
    core, details = columns([record])
    meant = declared(core.values, experiment.metrics)
    return Trials.from_columns([task], [algorithm], meant, core, details)[0]
