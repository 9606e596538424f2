"""One way in for results of every kind: tables, frames, stores."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from curvewise import store
from curvewise.errors import CurvewiseError, Keyword
from curvewise.trials import Trials

if TYPE_CHECKING:
    from curvewise.exchange.roles import Metrics, Unit
    from curvewise.exchange.run_names import NamedRoles


def read(
    source: object,
    *,
    runs: object = None,
    on: str | Sequence[str] | None = None,
    task: str | Sequence[str] | None = None,
    algorithm: str | Sequence[str] | None = None,
    trial: str | Sequence[str] | None = None,
    step: str | Sequence[str] | None = None,
    status: str | None = None,
    metrics: "Metrics | None" = None,
    params: Sequence[str] | None = None,
    unit: "Unit | None" = None,
    roles: "NamedRoles | None" = None,
    tool: str | None = None,
    where: "Mapping[str, Any] | None" = None,
    names: Literal["exact", "casefold"] | None = None,
    decimal: Literal[",", "."] | None = None,
    block: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
) -> Trials:
    """Return the trials of a table, of a store, or of what another tool kept.

    The table may be wide (one row per run) or long (one row per run and step). Columns
    that are not named are recognised by their usual names; what was understood is said
    on standard error and kept in `Trials.origin`. A missing score is a failed trial.

    Parameters
    ----------
    source : path, frame, dict of arrays, or another tool's results
        CSV, Parquet, JSON lines, a store, a pandas, polars or pyarrow frame; files and
        folders of MLflow, Optuna, Weights & Biases, TensorBoard, Stable-Baselines3 and
        Ray Tune; a folder with a file or a folder per run, a pattern such as
        ``"runs/*/metrics.csv"`` or a list of paths; what scikit-learn, rliable, Keras,
        xgboost and LightGBM keep in memory. None of these tools need be installed.
    runs : path, frame or dict of arrays, optional
        A second table with one row per run: its labels and params. A run in it that has
        no row in `source` is a failed trial.
    on : str or list of str, optional
        The columns that join the two. If left out, the one that they share; for runs of
        another tool, the one with the names of the runs.
    task, algorithm : str or list of str, optional
        The column with their names, or several joined, ``"model+method"``; a list of
        columns with one column of scores for each. For arrays of rliable, `task` is a
        list with the name of each task.
    step : str or list of str, optional
        The column that counts the steps of a run; ``"row"`` says that its rows do,
        ``"epoch+batch"`` that a batch counts within an epoch. A list of columns with the
        scores at one step each: ``["epoch_1", "epoch_2"]``, ``["n=100", "n=200"]``.
    status : str, optional
        The column that says how a run ended, in usual words; ``"diverged=True"`` names
        the value of a failed run, ``"none"`` says that there is no such column.
    trial : str or list of str, optional
        The columns that tell the replicates of an algorithm apart, such as ``"seed"`` or
        ``["seed", "fold"]``. Trials of two algorithms with the same value form a pair.
        ``[]`` says that every row is a run of its own. What joins `runs` tells runs
        apart in any case.
    metrics : list of str, or mapping of str to Metric or str, optional
        The columns with scores, and which way they are better: ``"higher"``, ``"lower"``,
        or with a range, ``"higher:0:1"``, ``"lower:0:"``. Where that differs by task: a
        mapping, ``{"score": {"mnist": "higher", "boston": "lower"}}``, or the column that
        says it, ``{"score": {"column": "direction"}}``. What is not declared is what the
        tool says that wrote the results, or what the noun in the name says (see
        `curvewise.metrics.find`); where neither does, it is unknown, and what depends on
        it is not answered. Of a store, a mapping says what its metrics mean.
    params : list of str, optional
        The columns with hyperparameters; for scikit-learn's ``validation_curve``, a
        mapping from the name of the one that was varied to its values.
    unit : {"fraction", "percent", "mixed"}, optional
        ``"percent"`` divides rates such as accuracy by 100; curvewise works in fractions.
        ``"mixed"`` does so for runs that have a value above 1.
    roles : str, callable or mapping, optional
        What the names of runs say: a pattern such as ``"{algorithm}-{task}-s{seed}"``
        (``{name:d}`` for digits only, ``*`` for anything); a function from a name to a
        dict, or to None for a run to leave out; a dict of what all runs share.
    tool : str, optional
        Whose results these are, where a folder holds those of several: ``"mlflow"``,
        ``"optuna"``, ``"wandb"``, ``"tensorboard"``, ``"sb3"``, ``"ray"``, ``"sklearn"``,
        ``"rliable"``; of a folder of runs, ``"folder"``, or the layout of ``"hydra"``,
        ``"lightning"``, ``"keras"``, ``"huggingface"``, ``"xgboost"``, ``"lightgbm"``,
        ``"dvclive"`` or ``"ultralytics"``.
    where : mapping, optional
        Which rows or runs to read: from columns or labels to the value to keep, or to a
        list of values, such as ``{"experiment": "cifar"}``.
    names : {"exact", "casefold"}, optional
        Whether names of tasks and algorithms that differ in case alone are two or one.
        If left out, it is asked where there are such names.
    decimal : {",", "."}, optional
        What a comma in numbers such as 1,234 is: the decimal point, or nothing. If left
        out, it is asked where that cannot be told.
    block : str or list of str, optional
        Labels or params that algorithms share by design, such as ``"fold"``: their runs
        in one block met the same data. ``"number"`` is the trial's number; ``[]``: none.
    cluster : str or list of str, optional
        Labels or params whose values make clusters of runs that are not independent of
        each other, such as ``"config"`` for the seeds of one configuration; ``"params"``
        is all hyperparameters together. Answers take the mean of a cluster. If left out,
        settings that were plainly repeated are found; ``[]``: all runs are independent.

    Examples
    --------
    >>> trials = read({"model": ["a", "a", "b"], "seed": [0, 1, 0], "acc": [90, 80, 85]},
    ...               unit="percent")
    >>> trials.scores("acc")["a"].tolist()
    [0.9, 0.8]
    """
    stated: dict[str, Any] = {
        "runs": runs,
        "on": on,
        "task": task,
        "algorithm": algorithm,
        "trial": trial,
        "step": step,
        "status": status,
        "metrics": metrics,
        "params": params,
        "unit": unit,
        "roles": roles,
        "tool": tool,
        "where": where,
        "names": names,
        "decimal": decimal,
    }
    design: dict[str, Any] = {"block": block, "cluster": cluster}
    if isinstance(source, str) and source.startswith("~"):
        source = Path(source).expanduser()
    if tool is None and store.is_store(source) and not _is_foreign(source):
        meanings = stated.pop("metrics") if isinstance(metrics, Mapping) else None
        superfluous = [name for name, value in stated.items() if value is not None]
        superfluous = [name for name in superfluous if name != "where"]
        if superfluous:
            raise CurvewiseError(
                f"{source} is a store, which knows its columns. Leave out ",
                Keyword(superfluous[0]),
                ".",
            )
        trials = store.read(cast("str | Path", source))
        if meanings is not None:
            trials = trials.with_metrics(meanings)
        if where is not None:
            from curvewise.exchange.rows import chosen_trials

            trials = chosen_trials(trials, where, str(source))
        is_stated = block is not None or cluster is not None
        return trials.with_design(**design) if is_stated else trials
    from curvewise.exchange.read import read_results

    trials, guessed = read_results(source, **stated, **design)
    if guessed:
        sys.stderr.write(f"curvewise read {trials.origin}\n")
    return trials


def _is_foreign(source: object) -> bool:
    """Return whether a database is another tool's."""
    if not store.is_sqlite(cast("str | Path", source)):
        return False
    from curvewise.exchange.tools import is_foreign_database

    return is_foreign_database(Path(str(source)))
