"""One way in for results of every kind: tables, frames, stores."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from curvewise import store
from curvewise.errors import CurvewiseError
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
    algorithm: str | None = None,
    trial: str | Sequence[str] | None = None,
    step: str | None = None,
    status: str | None = None,
    metrics: "Metrics | None" = None,
    params: Sequence[str] | None = None,
    unit: "Unit | None" = None,
    roles: "NamedRoles | None" = None,
    tool: str | None = None,
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
        Ray Tune; what scikit-learn and rliable keep in memory. None of these tools need
        be installed.
    runs : path, frame or dict of arrays, optional
        A second table with one row per run: its labels and params. A run in it that has
        no row in `source` is a failed trial.
    on : str or list of str, optional
        The columns that join the two. If left out, the one that they share; for runs of
        another tool, the one with the names of the runs.
    task, algorithm, step, status : str, optional
        Columns. For arrays of rliable, `task` is a list with the name of each task.
    trial : str or list of str, optional
        The columns that tell the replicates of an algorithm apart, such as ``"seed"`` or
        ``["seed", "fold"]``. Trials of two algorithms with the same value form a pair.
        ``[]`` says that every row is a run of its own.
    metrics : list of str, or mapping of str to Metric, "higher" or "lower", optional
        The columns with scores. A metric that is neither registered nor declared is
        taken as higher-is-better and unbounded, with a warning.
    params : list of str, optional
        The columns with hyperparameters; for scikit-learn's ``validation_curve``, a
        mapping from the name of the one that was varied to its values.
    unit : {"fraction", "percent"}, optional
        ``"percent"`` divides rates such as accuracy by 100; curvewise works in fractions.
    roles : str, callable or mapping, optional
        What the names of runs say: a pattern such as ``"{algorithm}-{task}-s{seed}"``
        (``{name:d}`` for digits only, ``*`` for anything); a function from a name to a
        dict, or to None for a run to leave out; a dict of what all runs share.
    tool : str, optional
        Whose results these are, where a folder holds those of several: ``"mlflow"``,
        ``"optuna"``, ``"wandb"``, ``"tensorboard"``, ``"sb3"``, ``"ray"``, ``"sklearn"``
        or ``"rliable"``.

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
    }
    if isinstance(source, str) and source.startswith("~"):
        source = Path(source).expanduser()
    if tool is None and store.is_store(source) and not _is_foreign(source):
        given = [f"{name}=" for name, value in stated.items() if value is not None]
        if given:
            raise CurvewiseError(
                f"{source} is a store, which knows its columns. Leave out {given[0]}."
            )
        return store.read(cast("str | Path", source))
    from curvewise.exchange.reader import read_results

    trials, guessed = read_results(source, **stated)
    if guessed:
        sys.stderr.write(f"curvewise read {trials.origin}\n")
    return trials


def _is_foreign(source: object) -> bool:
    """Return whether a database is another tool's."""
    if not store.is_sqlite(cast("str | Path", source)):
        return False
    from curvewise.exchange.tools import is_foreign_database

    return is_foreign_database(Path(str(source)))
