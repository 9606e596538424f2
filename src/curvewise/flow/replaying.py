"""Runs one trial of a store again and says whether it agrees."""

from dataclasses import dataclass
from pathlib import Path

from curvewise import store as stores
from curvewise.engine.cell import Cell
from curvewise.engine.experiment import Experiment
from curvewise.engine.recording import Record, columns
from curvewise.errors import CurvewiseError
from curvewise.metrics import declared
from curvewise.trials import Trial, Trials
from curvewise.trials.trial import shown_key


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
    found = stores.read(store).where(task=task, algorithm=algorithm, number=number)
    if len(found) == 0:
        key = shown_key((task, algorithm, number))
        raise CurvewiseError(f"{store} has no trial {key}. See curvewise status.")
    return Replay(found[0], once(experiment, task, algorithm, number))


def once(experiment: Experiment, task: str, algorithm: str, number: int) -> Trial:
    """Run one trial of an experiment in this process; it is the one that a run has."""
    record = Record(number)
    Cell(experiment, experiment.task(task), experiment.algorithm(algorithm)).run(record)
    core, details = columns([record])
    meant = declared(core.values, experiment.metrics)
    return Trials.from_columns([task], [algorithm], meant, core, details)[0]
