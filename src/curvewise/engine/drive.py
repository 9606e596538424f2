"""Runs the trials of a plan and hands each finished batch to a callable."""

import warnings
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
from curvewise.errors import CurvewiseWarning, Message, Phrase, listed, shortened
from curvewise.metrics import Metric, declared, is_quality
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
    spaces, design = experiment.spaces(), experiment.design()
    with draining(stop):
        for cell, core, details in executor.run(payload, queue, limits, stop):
            new = [name for name in core.values if name not in meanings]
            if new:
                meant = declared(new, experiment.metrics)
                _warn_of_unknown(meant)
                meanings |= meant
            task, algorithm = cells[cell]
            own = {name: meanings[name] for name in core.values}
            names = [task], [algorithm]
            columns = *names, own, core, details
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
