"""Runs the hyperparameters at given percentiles again: chance or choice?"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from curvewise.engine.drive import Executor, ExecutorName
from curvewise.engine.experiment import VARIED, Experiment
from curvewise.errors import CurvewiseError, Phrase, UnknownDirection, shortened, whole
from curvewise.flow.run import run
from curvewise.metrics import declared
from curvewise.questions.sampling import metric_of
from curvewise.questions.slices import Chosen, Slices, choose, slices
from curvewise.review.check import gate
from curvewise.stats.bands import Kind
from curvewise.text import Cell
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At, Failed


def quantile_slices(
    trials: Trials,
    experiment: Experiment,
    *,
    algorithm: str | None = None,
    task: str | None = None,
    metric: str | None = None,
    percentiles: Sequence[float] = (1, 50, 95, 99),
    trials_each: int = 1000,
    seed: int | None = None,
    alpha: float = 0.5,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    band: Kind = "equal_local_levels",
    grid: int | ArrayLike | None = None,
    store: str | Path | None = None,
    workers: int | None = None,
    executor: ExecutorName | Executor = "local",
    timeout: float | None = None,
    retries: int = 1,
    memory: int | str | None = None,
    progress: bool | None = None,
    anyway: bool = False,
) -> Slices:
    """Return what the hyperparameters at given percentiles do when they are run again.

    A trial at the 99th percentile had good hyperparameters, or good luck. Its
    hyperparameters are run again, with fresh data and seeds, and so are those at other
    percentiles: each has a distribution of scores of its own, and two of them may cross.

    Parameters
    ----------
    trials : Trials
        Of a random search.
    experiment : Experiment
        The one that the trials are of: it knows the task and the algorithm.
    algorithm, task, metric : str, optional
        May be left out where the trials have only one.
    percentiles : sequence of float
        From 0 to 100; the higher, the better, whichever way the metric goes.
    trials_each : int
        How often the hyperparameters at each percentile are run again.
    seed : int, optional
        For the reruns; if left out, it follows from the experiment's, and differs from
        it, so that no rerun repeats the luck that a trial was chosen for.
    alpha, at, failed, confidence
        As in `curvewise.performance`; `failed` counts for the reruns, too.
    band : {"equal_local_levels", "kolmogorov", "dkw", "anytime"}
        The first one sees into the tails, where slices cross.
    grid : int or array_like, optional
        Steps of the mean learning curves, or how many; those of the trials if left out.
    store : path or URL, optional
        Where reruns are kept as they finish, not the store of `trials`; the same call
        goes on there.
    workers, executor, timeout, retries, memory, progress
        As in `curvewise.run`.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Returns
    -------
    Slices
        Its ``trials`` are the reruns.

    Raises
    ------
    CurvewiseError
        Without a store, one that is raised after the reruns has them as its ``trials``.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018. Appendix C.

    Examples
    --------
    >>> from curvewise import Algorithm, Experiment, Task, run, uniform
    >>> def net(params, data, rng):
    ...     yield 0, {"loss": (params["lr"] - 0.3) ** 2 + 0.01 * rng.random()}
    >>> search = Experiment(
    ...     Task("t", lambda rng: None), Algorithm("net", {"lr": uniform(0, 1)}, net), 100
    ... )
    >>> quiet = {"executor": "serial", "progress": False}
    >>> found = quantile_slices(run(search, **quiet), search, trials_each=50, **quiet)
    >>> [s.chosen.name for s in found.slices]
    ['net p1', 'net p50', 'net p95', 'net p99']
    """
    must_be_trials(trials)
    if not isinstance(experiment, Experiment):
        raise CurvewiseError(
            f"quantile_slices got {type(experiment).__name__}. Pass the Experiment that "
            f"the trials are of.",
            argument="experiment",
            value=experiment,
        )
    whole(trials_each, "trials_each")
    _refuse_other_meaning(trials, experiment, metric, task)
    chosen = choose(
        trials,
        metric,
        task=task,
        algorithm=algorithm,
        percentiles=percentiles,
        at=at,
        failed=failed,
    )
    task, algorithm = task or trials.tasks[0], algorithm or trials.algorithms[0]
    search = trials.where(task=task, algorithm=algorithm)
    # Before hours of reruns, not after them.
    gate(search, "performance", metric=metric_of(trials, metric), anyway=anyway)
    plan = _rerun_plan(experiment, task, algorithm, chosen, trials_each, seed)
    reruns = run(
        plan,
        store=store,
        workers=workers,
        executor=executor,
        timeout=timeout,
        retries=retries,
        memory=memory,
        progress=progress,
    ).where(task=task, algorithm=[c.name for c in chosen], number=range(trials_each))
    settings: Mapping[str, Cell] = {
        "percentiles": ", ".join(f"{c.percentile:g}" for c in chosen),
        "trials_each": trials_each,
    }
    try:
        return slices(
            trials,
            reruns,
            chosen,
            metric,
            task=task,
            algorithm=algorithm,
            alpha=alpha,
            at=at,
            failed=failed,
            confidence=confidence,
            band=band,
            grid=grid,
            settings=settings,
            rerun_seed=plan.seed,
            anyway=anyway,
        )
    except CurvewiseError as problem:
        problem.trials = reruns  # type: ignore[attr-defined]  # hours of work, perhaps
        raise


def _refuse_other_meaning(
    trials: Trials, experiment: Experiment, metric: str | None, task: str | None
) -> None:
    """Raise if reruns would not be judged as the trials were: before they are run."""
    name = metric_of(trials, metric)
    way = trials.metric(name).known_direction
    met = trials.tasks if task is None else (task,)
    meant = declared([name], experiment.metrics)[name].on(*met)
    if meant.direction == way:
        return
    says = f"says {meant.direction}" if meant.direction else "does not say"
    kind = CurvewiseError if meant.direction else UnknownDirection
    raise kind(
        f"The trials say that {way} '{shortened(name)}' is better, and the "
        f"experiment {says}: trials are chosen by one, and reruns are judged by "
        "the other. Make the experiment with ",
        Phrase(f"metrics=[Metric({name!r}, {way!r})]"),
        ", or change what the trials say with trials.with_metrics(...).",
    )


def _rerun_plan(
    experiment: Experiment,
    task: str,
    algorithm: str,
    chosen: Sequence[Chosen],
    trials_each: int,
    seed: int | None = None,
) -> Experiment:
    """Return the experiment that runs chosen hyperparameters again."""
    searched = experiment.algorithm(algorithm)
    if isinstance(searched.space, Mapping) and not searched.space:
        raise CurvewiseError(
            f"Algorithm '{algorithm}' has no hyperparameters that are drawn, so that all "
            f"slices would be the same. Pass the untuned one.",
            argument="algorithm",
            value=algorithm,
        )
    for one in chosen:
        if not one.params:
            raise CurvewiseError(
                f"Trial {one.number} at percentile {one.percentile:g} has no params. Pass "
                f"trials with the hyperparameters that they were run with.",
                argument="params",
                value=one.params,
            )
    return Experiment(
        experiment.task(task),
        [searched.fixed(one.params, one.name) for one in chosen],
        trials_each,
        _another_seed(experiment.seed) if seed is None else seed,
        # What was crossed, and the algorithm's own chance, are drawn anew in any case.
        vary={*experiment.vary, *experiment.cross, "seed"} & {*VARIED, "data"},
        metrics=experiment.metrics,
    )


def _another_seed(seed: int) -> int:
    """Return a seed that follows from another and is not it.

    >>> _another_seed(1)
    2179319331
    """
    text = f"the seed of the slices of {seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
