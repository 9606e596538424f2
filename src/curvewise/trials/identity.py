"""What makes two sets of trials the same: their results, in any order."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.trials.columns import Core, Details, Ints, was_recorded


def digest(
    tasks: Sequence[str],
    algorithms: Sequence[str],
    metrics: Mapping[str, Metric],
    core: Core,
    details: Details,
    stated: Mapping[str, Sequence[str]],
) -> str:
    """Return a hash of the results that does not depend on the order of rows.

    A block or a cluster that somebody stated is part of them, as verdicts hang on it;
    what is inferred or known from the engine follows from the rest.
    """
    # Codes follow the order of appearance; a hash must not.
    task_rank, algorithm_rank = _rank(tasks), _rank(algorithms)
    group = task_rank[core.task] * len(algorithms) + algorithm_rank[core.algorithm]
    if (np.diff(group) < 0).any():
        order = np.argsort(group, kind="stable")
        core, details = core.take(order), details.take(order)
    hashed = hashlib.sha256()
    names = [sorted(set(tasks)), sorted(set(algorithms))]
    # A metric that none of these trials recorded is nothing that they hold.
    scored = sorted(n for n in core.values if was_recorded(core, n).any())
    meaning = [_meaning(metrics[n]) for n in scored]
    hashed.update(json.dumps([names, meaning]).encode())
    texts = [details.params, details.labels, details.correct, details.asked]
    sets = [hashlib.sha256(ids.tobytes()).digest() for ids in details.example_sets]
    for array in (
        *(task_rank[core.task], algorithm_rank[core.algorithm], core.number),
        *(core.status, core.offsets, core.steps + 0.0),
        *(_canonical(core, name) for name in scored),
        *(array for ragged in texts for array in (ragged.offsets, ragged.flat)),
        *(details.counts.offsets, details.counts.flat, details.classes),
    ):
        hashed.update(np.ascontiguousarray(array).tobytes())
    # Asked of the rows: after where(...) a set may be there that none has.
    if (details.example_set >= 0).any():
        own = (sets[i] if i >= 0 else b"-" for i in details.example_set.tolist())
        hashed.update(b"".join(own))
    if stated:
        hashed.update(json.dumps(stated, sort_keys=True).encode())
    return hashed.hexdigest()


def _meaning(metric: Metric) -> dict[str, Any]:
    """Return what a metric means, without who said so."""
    told = {**metric.plain(), "direction": metric.direction}
    if metric.by_task:
        told["by_task"] = {task: _meaning(one) for task, one in sorted(metric.by_task)}
    return told


def _canonical(core: Core, name: str) -> Floats:
    values, known = core.values[name] + 0.0, was_recorded(core, name)
    values[np.isnan(values) | ~known] = np.nan
    # Recorded and not a number differs from not recorded.
    return np.concatenate([values, known.astype(np.float64)])


def _rank(names: Sequence[str]) -> Ints:
    return np.argsort(np.argsort(np.array(names, dtype=object))).astype(np.int64)
