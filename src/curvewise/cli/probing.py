"""What a run would do and how long it would take, from a few trials that nobody keeps."""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from curvewise._text import Row
    from curvewise.engine.experiment import Experiment
    from curvewise.engine.workers.queue import Executor
    from curvewise.metrics import Metric
    from curvewise.trials import Trial

    Ints = NDArray[np.int64]

TRIALS = 4  # of each cell
FIRST = 15.0  # seconds until the first trial is stopped, which also loads libraries
OTHERS = 5.0  # seconds until a later one is
OF_A_CELL = 3.0  # seconds for later ones, after which no more are begun
OF_ALL = 30.0  # seconds after which nothing more is begun


@dataclass(frozen=True, slots=True)
class Probe:
    """What is left of one algorithm on one task, and how long its trials took."""

    task: str
    algorithm: str
    planned: int
    left: int
    tried: "list[Trial]" = field(default_factory=list)
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
    def problem(self) -> str:
        """The first line of the first error, if a trial ended badly."""
        for trial in self.tried:
            if trial.status != "ok" and not self.is_cut:
                return trial.error.partition("\n")[0] or trial.status
        return ""

    def row(self) -> "Row":
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


def left_of(
    experiment: "Experiment", have: Mapping[tuple[str, str], "Ints"]
) -> "dict[tuple[str, str], Ints]":
    """Return the numbers of each cell that are still to be run."""
    import numpy as np

    none = np.empty(0, np.int64)
    wanted = np.arange(experiment.trials)
    return {
        (task.name, one.name): np.setdiff1d(
            wanted, have.get((task.name, one.name), none)
        )
        for task, one in experiment.cells()
    }


def probes(
    experiment: "Experiment",
    left: Mapping[tuple[str, str], "Ints"],
    executor: str,
    timeout: float | None,
) -> Iterator[Probe]:
    """Yield each cell with a few of its trials, run and not kept.

    Parameters
    ----------
    experiment : Experiment
    left : mapping of (task, algorithm) to array of int
    executor : {"local", "serial", "ray"}
        Trials of a serial run are probed in this process, others in one worker.
    timeout : float, optional
        What a trial may take in the run.
    """
    import numpy as np

    from curvewise.engine.drive import drive
    from curvewise.engine.workers.queue import Limits, Payload

    payload = Payload(experiment)
    meanings: dict[str, Metric] = {}
    end = time.monotonic() + OF_ALL
    with closing(_crew(executor)) as crew:
        for place, (cell, numbers) in enumerate(left.items()):
            probe = Probe(*cell, experiment.trials, len(numbers), timeout=timeout)
            stop = end
            for number in numbers[:TRIALS]:
                if time.monotonic() > stop or probe.is_cut:
                    break
                limit = OTHERS if probe.tried else FIRST
                limits = Limits(min(timeout or limit, limit), retries=0)
                todo = {place: np.array([number])}
                if not drive(payload, todo, crew, limits, probe.tried.extend, meanings):
                    raise KeyboardInterrupt
                if len(probe.tried) == 1:
                    stop = min(end, time.monotonic() + OF_A_CELL)
            yield probe


def _crew(executor: str) -> "Executor":
    if executor == "serial":
        from curvewise.engine.workers.serial import Serial

        return Serial()
    from curvewise.engine.workers.local import Local

    return Local(1)


def estimate(probed: list[Probe], workers: int) -> str:
    """Return how long the run would take, in words."""
    from curvewise._text import count
    from curvewise.flow.progress import shown_time

    open_ones = [p for p in probed if p.left]
    if not open_ones:
        return "nothing left to do"
    known = [p for p in open_ones if p.seconds is not None]
    if not known:
        return "no trial was probed, so nobody knows how long it takes"
    total = sum(p.left * (p.seconds or 0.0) for p in known)
    least = len(known) < len(open_ones) or any(p.is_cut for p in known)
    about = "at least" if least else "about"
    left = count(sum(p.left for p in open_ones), "trial")
    return (
        f"{left} left, {about} {shown_time(total / workers)} with "
        f"{count(workers, 'worker')}"
    )
