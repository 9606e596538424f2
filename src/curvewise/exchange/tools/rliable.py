"""Scores as rliable takes them: from names of algorithms to arrays (run, task)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, Keyword, Verbatim, listed, shortened
from curvewise.exchange.runs import Asked, Sheet
from curvewise.metrics import Floats

_EXPECTED = "arrays of shape (run, task) or, for curves, (run, task, step)"


def fits_object(source: object) -> bool:
    """Return whether these are arrays by algorithm; one of several dimensions will do."""
    return (
        isinstance(source, Mapping)
        and len(source) > 0
        and all(isinstance(values, np.ndarray) for values in source.values())
        and any(values.ndim >= 2 for values in source.values())
    )


def read_object(source: Mapping[Any, NDArray[Any]], asked: Asked) -> Sheet:
    """Return one row per algorithm, run and task, and per step where there are steps."""
    arrays = {str(name): _scores(str(name), array) for name, array in source.items()}
    shapes = {name: array.shape for name, array in arrays.items()}
    if len({shape[1:] for shape in shapes.values()}) > 1:
        text = ", ".join(f"'{shortened(n)}': {shape}" for n, shape in shapes.items())
        raise CurvewiseError(
            f"The arrays have shapes {text}. Each algorithm may have its own number of "
            f"runs, but all need the same tasks and steps."
        )
    _, n_tasks, n_steps = next(iter(shapes.values()))
    has_steps = any(array.ndim == 3 for array in source.values())
    tasks = _task_names(asked.tasks, n_tasks)
    names = list(dict.fromkeys(asked.metrics or ("score",)))
    if len(names) != 1:
        raise CurvewiseError(
            f"metrics names {listed(names)}, and the arrays hold one score. Name "
            "one, such as ",
            {"metrics": {"return": "higher"}},
            ".",
        )
    metric = names[0]
    clock, steps = _steps(asked, n_steps, has_steps)
    parts = [_long(name, array, tasks) for name, array in arrays.items()]
    columns: dict[str, Any] = {
        name: pa.concat_arrays([part[name] for part in parts])
        for name in ("task", "algorithm", "run")
    }
    stated: dict[str, Any] = {"task": "task", "algorithm": "algorithm", "trial": "run"}
    if clock is not None:
        cells = sum(len(array) * n_tasks for array in arrays.values())
        columns[clock] = pa.array(np.tile(steps, cells))
        stated["step"] = clock
    flat = np.concatenate([array.ravel() for array in arrays.values()])
    columns[metric] = pa.array(flat, from_pandas=True)  # not a number: no score
    if asked.metrics is None:
        stated["metrics"] = {metric: "higher"}
    return Sheet("a dict of rliable's scores", pa.table(columns), stated)


def _scores(name: str, values: NDArray[Any]) -> Floats:
    if values.ndim not in (2, 3) or values.size == 0:
        raise CurvewiseError(
            f"The array of '{shortened(name)}' has shape {values.shape}. Pass {_EXPECTED}; "
            f"or a dict of columns, each with one dimension."
        )
    if values.dtype.kind not in "fiub":
        raise CurvewiseError(
            f"The array of '{shortened(name)}' holds {values.dtype}, no numbers. Pass "
            f"{_EXPECTED}, NaN where a run failed."
        )
    scores = np.asarray(values, np.float64)
    return scores if scores.ndim == 3 else scores[:, :, np.newaxis]


def _task_names(tasks: tuple[str, ...] | None, n: int) -> list[str]:
    if tasks is None:
        return [f"task {i}" for i in range(n)]
    if len(tasks) != n or len(set(tasks)) != n:
        raise CurvewiseError(
            f"task names {listed(tasks)}, and the arrays have {n} tasks. Pass one name for "
            f"each, in the order of the columns."
        )
    return list(tasks)


def _steps(asked: Asked, n: int, has_steps: bool) -> tuple[str | None, Floats]:
    """Return what steps count, if there are any, and which they are."""
    counted = np.arange(n, dtype=np.float64)
    if not has_steps:
        if asked.params is not None or asked.step is not None:
            raise CurvewiseError(
                Keyword("step"),
                " and ",
                Keyword("params"),
                " are for arrays (run, task, step), and these have no steps. Leave "
                "them out.",
            )
        return None, counted
    if asked.params is None:
        return asked.step or "step", counted
    if len(asked.params) != 1:
        raise CurvewiseError(
            f"params names {listed(asked.params)}. Name what steps count and where "
            "they are, such as ",
            {"params": {"frames": Verbatim("[1e6, 2e6]")}},
            ".",
        )
    ((name, values),) = asked.params.items()
    try:
        steps = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        steps = np.empty(0)
    if steps.shape != (n,) or not (np.diff(steps) > 0).all():
        raise CurvewiseError(
            f"params gives {shortened(values)} for '{shortened(name)}', and the arrays "
            f"have {n} steps. Pass one increasing number for each."
        )
    return str(name), steps


def _long(name: str, scores: Floats, tasks: list[str]) -> dict[str, pa.Array]:
    runs, n_tasks, n_steps = scores.shape
    task = np.tile(np.repeat(np.arange(n_tasks), n_steps), runs)
    return {
        "task": pa.array(tasks).take(pa.array(task)),
        "algorithm": pa.repeat(name, scores.size),
        "run": pa.array(np.repeat(np.arange(runs), n_tasks * n_steps)),
    }
