"""What a run would do and how long it would take, from a few trials that nobody keeps."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from curvewise._text import Row, count
from curvewise.engine.drive import drive
from curvewise.engine.experiment import Experiment
from curvewise.engine.workers.queue import Limits, Numbers, Payload
from curvewise.flow.executors import executor_of
from curvewise.flow.progress import shown_time
from curvewise.metrics import Metric
from curvewise.store.claims import Cell
from curvewise.trials import Trial

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
        known = [p for p in self.probes if p.left and p.seconds is not None]
        if not known:
            return None
        return sum(p.left * (p.seconds or 0.0) for p in known) / self.workers

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
    """Run a few trials of each cell, keep none of them, and say how long all would take.

    Parameters
    ----------
    experiment : Experiment
    left : mapping of (task, algorithm) to array of int
        What is still to be run, as `curvewise.flow.plan.left` returns it.
    executor : {"local", "serial", "ray"}
        Trials of a serial run are probed in this process, others in one worker.
    workers : int, optional
        How many the run would have; one for each core if left out.
    timeout : float, optional
        What a trial may take in the run.
    """
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
