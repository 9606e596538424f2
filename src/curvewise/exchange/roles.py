"""Which column is what: stated by the caller, or guessed from the usual names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.exchange.grouping import columns_varying, is_number, rows_per_run
from curvewise.metrics import Direction, Metric, find

Metrics: TypeAlias = Sequence[str] | Mapping[str, Metric | Direction]
Unit: TypeAlias = Literal["fraction", "percent"]

_USUAL = {
    "algorithm": (
        *("algorithm", "algo", "alg", "agent", "model", "method", "learner"),
        *("classifier", "estimator", "approach"),
    ),
    "task": (
        *("task", "env", "environment", "env_id", "env_name", "dataset", "data_set"),
        *("benchmark", "problem", "game"),
    ),
    "status": ("status", "state"),
}
# What tells replicates apart, best first: equal seeds pair the runs of two algorithms.
_TRIAL = (
    *(
        "number",
        "seed",
        "random_seed",
        "fold",
        "repeat",
        "rep",
        "replicate",
        "replication",
    ),
    *("run", "trial", "run_id", "trial_id", "run_name", "id"),
)
_SIZE = (
    "size",
    "train_size",
    "training_size",
    "n_train",
    "anchor",
    "n_samples",
    "samples",
)
_STEP = (
    *("step", "steps", "_step", "global_step", "env_step", "env_steps", "timestep"),
    *("timesteps", "time_step", "total_timesteps", "num_timesteps", "total_steps"),
    *("epoch", "episode", "iteration", "iter", "round", *_SIZE),
)
_SCORE = ("score", "final", "best", "value", "result", "performance", "objective")
_OURS = ("number", "seconds", "attempts", "error_text")  # what our own tables call them
_PARAM_PREFIX = re.compile(r"^(params?|config|hparams?|hp|hyperparameters?)[._/]", re.I)
_PARAM_WORDS = frozenset(
    [
        "lr",
        "rate",
        "batch",
        "epochs",
        "momentum",
        "decay",
        "dropout",
        "drop",
        "warmup",
        "smoothing",
        "gamma",
        "lambda",
        "alpha",
        "beta",
        "clip",
        "hidden",
        "layers",
        "layer",
        "width",
        "depth",
        "units",
        "kernel",
        "degree",
        "c",
        "estimators",
        "neighbors",
        "penalty",
        "l1",
        "l2",
        "tau",
        "entropy",
        "optimizer",
        "activation",
        "init",
        "temperature",
        "noise",
        "eps",
        "epsilon",
        "horizon",
        "capacity",
        "heads",
        "embedding",
        "criterion",
        "leaf",
        "split",
        "solver",
        "regularization",
    ]
)


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what.

    Parameters
    ----------
    task, algorithm, step, status : str or None
        None where the table has no such column.
    trial : tuple of str
        The columns that tell the replicates apart; empty where rows are counted.
    metrics, params : dict of str to str
        From the column to the name it gets.
    labels : dict of str to str
        What nobody gave a meaning is kept as a label, so that nothing is lost.
    dropped : tuple of str
        Columns that vary within a run and are no numbers: a trial has no place for them.
    guessed : bool
        Whether anything was not stated.
    """

    task: str | None
    algorithm: str | None
    trial: tuple[str, ...]
    step: str | None
    status: str | None
    metrics: dict[str, Metric | None]
    params: dict[str, str]
    labels: dict[str, str]
    counts: dict[str, tuple[int, int]]
    dropped: tuple[str, ...]
    guessed: bool

    def __str__(self) -> str:
        single = {"task": self.task, "algorithm": self.algorithm}
        many: dict[str, Iterable[str]] = {"trial": self.trial}
        rest: dict[str, Iterable[str]] = {
            "metrics": self.metrics,
            "params": self.params,
            "counts": self.counts,
            "labels": self.labels,
            "left out": self.dropped,
        }
        parts = [f"{role}={column or '(one)'}" for role, column in single.items()]
        parts += [f"{role}={'+'.join(c) or '(counted)'}" for role, c in many.items()]
        parts += [
            f"{r}={c}" for r, c in (("step", self.step), ("status", self.status)) if c
        ]
        parts += [f"{role}={', '.join(_cut(c))}" for role, c in rest.items() if list(c)]
        return "; ".join(parts)


def _cut(names: Iterable[str], most: int = 6) -> list[str]:
    names = list(names)
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return names[:most] + more


def assign(
    table: pa.Table,
    *,
    task: str | None = None,
    algorithm: str | None = None,
    trial: str | Sequence[str] | None = None,
    step: str | None = None,
    status: str | None = None,
    metrics: Metrics | None = None,
    params: Sequence[str] | None = None,
    run_level: Iterable[str] = (),
) -> Roles:
    """Return the roles of a table's columns.

    Parameters
    ----------
    table : pyarrow.Table
    task, algorithm, trial, step, status, metrics, params
        What the caller states; the rest is guessed.
    run_level : iterable of str
        Columns that come from a table of runs: no metrics among them unless stated.
    """
    left = dict.fromkeys(table.column_names)  # an ordered set
    trials = (trial,) if isinstance(trial, str) else tuple(trial or ())
    stated = [c for c in (task, algorithm, *trials, step, status) if c is not None]
    stated += [*(metrics or ()), *(params or ())]
    for column in stated:
        if column not in left:
            raise unknown("column", column, left)
    for column in stated:
        left.pop(column, None)
    given = {"task": task, "algorithm": algorithm, "status": status}
    found = {role: given[role] or _first(usual, left) for role, usual in _USUAL.items()}
    for name in found.values():
        left.pop(name or "", None)
    who = [c for c in (found["task"], found["algorithm"]) if c]
    counts = _count_columns(table, left)
    if not trials:
        trials = _trial_columns(table, who, step, left)
    step = step or _step_column(table, [*who, *trials], left)
    for column in (*trials, step or "", *counts):
        left.pop(column, None)
    single = rows_per_run(table, [*who, *trials]) == 1 if trials else step is None
    varying = [] if single else columns_varying(table, [*who, *trials], left)
    chosen = _stated_metrics(metrics)
    if metrics is None:
        names = [c for c in left if c not in set(run_level)]
        chosen = {
            c: find(c.removeprefix("metric."))
            for c in _guess_metrics(table, names, varying)
        }
        if not chosen and not counts:
            raise _no_metric(table, left)
    for column in chosen:
        left.pop(column, None)
    if params is None:
        kept = {
            c: _without_prefix(c) for c in left if _is_param(c) and c not in varying
        }
    else:
        kept = {c: _without_prefix(c) for c in params}
    labels = {
        c: c.removeprefix("label.")
        for c in (*trials, *left)
        if c not in kept and c not in varying and c not in _OURS
    }
    guessed = len(stated) < len(
        [*who, *trials, *filter(None, [step, found["status"]]), *chosen]
    )
    return Roles(
        found["task"],
        found["algorithm"],
        trials,
        step,
        found["status"],
        chosen,
        kept,
        labels,
        counts,
        tuple(c for c in varying if c in left),
        guessed,
    )


# --- guesses -----------------------------------------------------------------------------


def _first(usual: Iterable[str], columns: Iterable[str]) -> str | None:
    by_name = {c.casefold().replace("-", "_").replace(" ", "_"): c for c in columns}
    return next((by_name[name] for name in usual if name in by_name), None)


def _trial_columns(
    table: pa.Table, who: Sequence[str], step: str | None, columns: Iterable[str]
) -> tuple[str, ...]:
    """Return the fewest usual columns that tell the runs apart."""
    by_name = {c.casefold().removeprefix("label."): c for c in reversed(list(columns))}
    candidates = [by_name[name] for name in _TRIAL if name in by_name]
    steps = [step] if step else [c for c in [_first(_STEP, columns)] if c]
    for size in (1, 2, 3):
        for some in combinations(candidates, size):
            for extra in ([], steps):
                if rows_per_run(table, [*who, *some, *extra]) == 1:
                    return some
    return tuple(candidates[:1])


def _step_column(
    table: pa.Table, keys: Sequence[str], columns: Iterable[str]
) -> str | None:
    """Return the usual step column, if the table has several rows per run."""
    name = _first(_STEP, columns)
    if name is None or not is_number(table, name):
        return None
    surely = name.casefold() in (*_SIZE, "step")
    if not surely and rows_per_run(table, keys) == 1:
        return None
    return name


def _guess_metrics(
    table: pa.Table, columns: Sequence[str], varying: Sequence[str]
) -> list[str]:
    numeric = [c for c in columns if is_number(table, c) and not _PARAM_PREFIX.match(c)]
    numeric = [c for c in numeric if c not in _OURS and not c.startswith("label.")]
    usual = [c for c in numeric if _is_score(c)]
    if varying:
        return [c for c in numeric if c in varying or c in usual]
    if usual:
        return usual
    floats = [c for c in numeric if pa.types.is_floating(table.schema.field(c).type)]
    rest = [c for c in floats if not _is_param(c)]
    return rest if len(rest) == 1 else []


def _is_score(column: str) -> bool:
    ours = column.startswith("metric.")
    return ours or find(column) is not None or column.casefold() in _SCORE


def _no_metric(table: pa.Table, left: Iterable[str]) -> CurvewiseError:
    numeric = [c for c in left if is_number(table, c)]
    texts = [c for c in left if c not in numeric and _is_score(c)]
    if texts:
        return CurvewiseError(
            f"Column {listed(texts)} should hold scores but holds text, such as "
            f"{_example_text(table, texts[0])!r}. Leave the cell of a failed run empty, "
            f"and write numbers elsewhere."
        )
    have = (
        f"Numbers are in {listed(numeric)}." if numeric else "No column holds numbers."
    )
    return CurvewiseError(
        f"Which columns are scores? None has a usual name. {have} "
        f"Pass metrics=[...] or metrics={{'name': 'higher'}}."
    )


def _example_text(table: pa.Table, column: str) -> str:
    values = table.column(column).cast(pa.string()).drop_null().to_pylist()
    return next((v for v in values if not _parses(v)), "")


def _parses(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _stated_metrics(metrics: Metrics | None) -> dict[str, Metric | None]:
    if metrics is None:
        return {}
    if isinstance(metrics, str):
        return {metrics: find(metrics)}
    if not isinstance(metrics, Mapping):
        return {name: find(name) for name in metrics}
    out: dict[str, Metric | None] = {}
    for name, meant in metrics.items():
        if isinstance(meant, Metric):
            out[name] = meant
        elif meant in ("higher", "lower"):
            usual = find(name)
            agrees = usual is not None and usual.direction == meant
            out[name] = usual if agrees else Metric(name, meant)
        else:
            raise CurvewiseError(
                f"metrics says {meant!r} of '{name}'. Say 'higher', 'lower' or pass a "
                f"Metric."
            )
    return out


def _count_columns(
    table: pa.Table, columns: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """Return columns of confusion counts and their place (true class, called class)."""
    found = {}
    for column in columns:
        if match := re.fullmatch(r"count\.(\d+)\.(\d+)", column):
            found[column] = (int(match[1]), int(match[2]))
    by_name = {c.casefold(): c for c in columns}
    places = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}
    if not found and all(name in by_name for name in places):
        found = {by_name[name]: place for name, place in places.items()}
    return found if all(is_number(table, c) for c in found) else {}


def _is_param(column: str) -> bool:
    if _PARAM_PREFIX.match(column):
        return True
    if column.startswith("label."):
        return False
    words = re.split(r"[^a-z0-9]+", column.casefold())
    return any(word in _PARAM_WORDS for word in words)


def _without_prefix(column: str) -> str:
    return _PARAM_PREFIX.sub("", column) or column
