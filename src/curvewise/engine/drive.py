"""Runs the trials of a plan and hands each finished batch to a callable."""

from collections.abc import Callable, Mapping

from curvewise.engine.workers.interrupts import draining
from curvewise.engine.workers.queue import (
    Executor,
    Limits,
    Numbers,
    Payload,
    Queue,
    Stop,
)
from curvewise.metrics import Metric, declared
from curvewise.trials import Trials
from curvewise.trials.columns import Ints


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
    """Run the trials in `todo`; return whether all were run.

    Parameters
    ----------
    payload : Payload
    todo : mapping of int to array or range
        For each cell, by its place in ``experiment.cells()``, the numbers to run.
    executor : Executor
    limits : Limits
    finished : callable
        Called with the trials of each batch, in the order in which they finish. What it
        has returned from is safe: the engine forgets it.
    meanings : dict of str to Metric
        What scores mean; filled as new ones are met, each said once if it is assumed.
    claim : callable, optional
        Asked before trials are run; returns those that this process may do.
    """
    experiment = payload.experiment
    cells = [(task.name, one.name) for task, one in experiment.cells()]
    queue = Queue(todo, executor.workers, claim)
    stop = Stop()
    spaces = experiment.spaces()
    with draining(stop):
        for cell, core, details in executor.run(payload, queue, limits, stop):
            new = [name for name in core.values if name not in meanings]
            if new:
                meanings |= declared(
                    new,
                    experiment.metrics,
                    example="[Metric({!r}, 'lower')]",
                    stacklevel=6,  # whoever called run
                )
            task, algorithm = cells[cell]
            meant = {name: meanings[name] for name in core.values}
            names = [task], [algorithm]
            finished(Trials.from_columns(*names, meant, core, details, spaces=spaces))
    return not stop.asked
