"""Runs an experiment into a store: what the plan has and the store has not."""

import contextlib
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from curvewise import store as stores
from curvewise.engine.drive import drive
from curvewise.engine.experiment import Experiment
from curvewise.engine.workers.queue import Executor, Limits, Numbers, Payload
from curvewise.errors import CurvewiseError
from curvewise.flow.arguments import check_workers, limits_of
from curvewise.flow.changes import agree
from curvewise.flow.executors import Name, executor_of
from curvewise.flow.keeping import InMemory
from curvewise.flow.plan import NOT_OK, left, with_asked, with_end, with_plan
from curvewise.flow.progress import Progress, display
from curvewise.flow.until.stopping import Criterion, asker, criterion_of
from curvewise.metrics import Metric
from curvewise.store.address import is_url
from curvewise.trials import Trials
from curvewise.trials.columns import Ints

Todo: TypeAlias = dict[int, Numbers]

_PAUSE = 1.0  # seconds between looks at what other runs of the same plan have left


def run(
    experiment: Experiment,
    *,
    store: str | Path | None = None,
    workers: int | None = None,
    executor: Name | Executor = "local",
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
            f"scikit-learn become one by curvewise.zoo.experiment."
        )
    criterion = criterion_of(until, experiment)
    limits = limits_of(timeout, retries, memory)
    check_workers(workers)
    if store is not None and not is_url(store):
        store = Path(store).expanduser().absolute()  # trials are read later
    with (
        executor_of(executor, workers) as workforce,
        contextlib.closing(_keeper(store)) as keeper,
        keeper.driving(),
    ):
        agree(keeper, experiment.definition())
        begun = with_plan(keeper.notes(), experiment) | with_asked(
            criterion, experiment
        )
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
            found: Trials = keeper.read()
            return found
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
                    self._keeper.note(with_end(getattr(until, "__name__", until), size))
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


def _keeper(store: str | Path | None) -> Any:
    return InMemory() if store is None else stores.open(store)
