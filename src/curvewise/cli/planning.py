"""The plan of a run, shown before it begins."""

from typing import TYPE_CHECKING, Any

import click

from curvewise.cli.probing import TRIALS, Probe, estimate, left_of, probes
from curvewise.cli.showing import working
from curvewise.cli.sources import shown_store
from curvewise.errors import CurvewiseError, shortened

if TYPE_CHECKING:
    from curvewise.engine.experiment import Experiment
    from curvewise.flow.toml import Recipe
    from curvewise.trials.columns import Ints


def show_plan(recipe: "Recipe", options: dict[str, Any], *, retry_failed: bool) -> int:
    """Print what would be run and how long it would take; return how many probes failed.

    Parameters
    ----------
    recipe : Recipe
    options : dict
        Keywords of `curvewise.run`.
    retry_failed : bool
    """
    from curvewise._text import plain
    from curvewise.engine.workers.local import Local
    from curvewise.flow.changes import names_in, refuse_changes

    experiment, where = recipe.experiment, options["store"]
    executor = options.get("executor", "local")
    workers = 1 if executor == "serial" else Local(options.get("workers")).workers
    have, notes = _there(where, retry_failed=retry_failed)
    used = names_in(have)
    known = {name: text for name, text in (notes or {}).items() if name in used}
    refuse_changes(known, experiment.definition(), shown_store(where))
    click.echo(f"{experiment}\n")
    click.echo(f"store: {shown_store(where)}{' (new)' if notes is None else ''}")
    click.echo(f"{_way(options, workers)}\n")
    left = left_of(experiment, have)
    with working("trying a few trials"):
        probed = list(probes(experiment, left, executor, options.get("timeout")))
    click.echo(plain([probe.row() for probe in probed]))
    problems = [probe for probe in probed if probe.problem]
    for probe in problems:
        click.echo(_complaint(probe))
    click.echo(f"\n{estimate(probed, workers)}.")
    if any(probe.tried for probe in probed):
        click.echo(
            f"Probed: up to {TRIALS} trials of each for a few seconds, none of them kept. "
            f"The first also loads libraries, and counts only where it is the only one."
        )
    return len(problems)


def _complaint(probe: Probe) -> str:
    bad = sum(trial.status != "ok" for trial in probe.tried)
    return (
        f"{probe.task}, {probe.algorithm}: {bad} of {len(probe.tried)} failed: "
        f"{shortened(probe.problem, 200)}"
    )


def _way(options: dict[str, Any], workers: int) -> str:
    """Return how trials would be run, in words."""
    words = [f"executor: {options.get('executor', 'local')}", f"workers: {workers}"]
    for key, unit in (("timeout", " s"), ("retries", ""), ("memory", "")):
        if key in options:
            words.append(f"{key}: {options[key]}{unit}")
    return ", ".join(words)


def _there(
    where: str, *, retry_failed: bool
) -> "tuple[dict[tuple[str, str], Ints], dict[str, str] | None]":
    """Return what need not be run, and a store's notes; None if it is still to be made."""
    from curvewise import store as stores

    try:
        with stores.open(where, create=False) as store:
            return store.numbers(["ok"] if retry_failed else None), store.notes()
    except CurvewiseError as problem:
        if not str(problem).startswith("There is no store"):
            raise
    return {}, None


def kept(experiment: "Experiment", where: str) -> int:
    """Return how many trials of an experiment a store has."""
    left = left_of(experiment, _there(where, retry_failed=False)[0])
    return experiment.size - sum(map(len, left.values()))
