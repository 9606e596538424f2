"""Columns of trials from columns of a table: names, numbers, how runs ended, scores."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, CurvewiseWarning, listed, shortened
from curvewise.exchange.grouping import group_codes
from curvewise.exchange.names import STATUSES as WORDS
from curvewise.exchange.names import status_of
from curvewise.exchange.roles import Roles, Unit
from curvewise.metrics import Metric, declared
from curvewise.trials import STATUSES
from curvewise.trials.trial import ONLY


def codes(table: pa.Table, column: str | None) -> tuple[Any, list[str]]:
    """Return each row's code and the names, in order of first appearance."""
    if column is None:
        return np.zeros(table.num_rows, np.int64), [ONLY]
    texts = table.column(column).cast(pa.string()).combine_chunks().dictionary_encode()
    if texts.null_count or "" in (names := texts.dictionary.to_pylist()):
        raise CurvewiseError(
            f"Column '{column}' is empty in some rows. Every run needs a name there."
        )
    return texts.indices.to_numpy().astype(np.int64), names


def numbers_of(
    table: pa.Table, roles: Roles, task: Any, algorithm: Any, step: Any
) -> Any:
    """Return the replicate of each row: whole numbers as they are, else counted."""
    if len(roles.trial) == 1:
        whole = _whole_numbers(table.column(roles.trial[0]), roles.trial[0])
        if whole is not None:
            return whole
    if roles.trial:
        # Counted over all algorithms, so that equal labels stay pairs.
        combined = group_codes(table, roles.trial)
        _, first, which = np.unique(combined, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[which].astype(np.int64)
    group = task * (algorithm.max() + 1) + algorithm
    if roles.step is not None:
        pairs = np.stack([group, np.nan_to_num(step)])
        if np.unique(pairs, axis=1).shape[1] == len(group):
            return np.zeros(len(group), np.int64)  # one curve per algorithm
    order = np.argsort(group, kind="stable")
    begin = np.searchsorted(group[order], group[order])
    number = np.empty(len(group), np.int64)
    number[order] = np.arange(len(group)) - begin
    return number


def _whole_numbers(column: pa.ChunkedArray, name: str) -> Any:
    """Return a column as 64-bit integers, or None where it holds something else."""
    if column.null_count:
        return None
    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        if (np.abs(values) >= 2**53).any():
            raise CurvewiseError(
                f"Column '{name}' holds numbers such as {values.max():.0f}, too large to "
                f"be told apart. Write them as text, with a letter before the digits."
            )
        same = (values == np.rint(values)).all()
        return values.astype(np.int64) if same else None
    if not pa.types.is_integer(column.type):
        return None
    try:
        return column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:  # beyond 64 bits with a sign: they are names, then
        return None


def statuses(table: pa.Table, roles: Roles, last: Any, silent: Any) -> tuple[Any, Any]:
    """Return each trial's status code, and what went wrong; a silent one has failed."""
    status = np.zeros(len(last), np.int8)
    if roles.status is not None:
        words = table.column(roles.status).take(pa.array(last))
        texts = words.cast(pa.string()).combine_chunks()
        encoded = pc.dictionary_encode(texts, null_encoding="encode")
        known = [_status_code(w, roles.status) for w in encoded.dictionary.to_pylist()]
        status = np.array(known, np.int8)[
            encoded.indices.to_numpy(zero_copy_only=False)
        ]
    silent = silent & (status == 0)
    status[silent] = STATUSES.index("failed")
    return status, ["no score in the source" if s else "" for s in silent]


def _status_code(word: str | None, column: str) -> int:
    if not word:
        return 0
    ours = status_of(word)
    if ours is None:
        raise CurvewiseError(
            f"Column '{column}' says '{shortened(word)}'. curvewise knows "
            f"{listed(WORDS, most=99)}. Rename it, or pass status=<another column>."
        )
    return STATUSES.index(ours)


def meanings(
    metrics: Mapping[str, Metric | None], unit: Unit | None
) -> dict[str, Metric]:
    """Return what each metric means, with a warning for those of which nobody said."""
    stated = [metric for metric in metrics.values() if metric is not None]
    meant = declared(metrics, stated, hint="read(..., metrics=...)", stacklevel=6)
    meant = {n: m if m.name == n else _renamed(m, n) for n, m in meant.items()}
    if unit == "percent":  # what nobody described is a rate, then
        meant |= {
            n: Metric(n, "higher", (0, 1)) for n, m in metrics.items() if m is None
        }
    return meant


def _renamed(metric: Metric, name: str) -> Metric:
    return Metric(name, metric.direction, metric.range, metric.unit, metric.label)


def scaled(values: Any, metric: Metric, unit: Unit | None) -> Any:
    """Return scores in fractions, where they were written in percent."""
    if unit != "percent" or not metric.is_rate:
        return values
    outside = (values < 0) | (values > 100)
    if outside.any():
        raise CurvewiseError(
            f"unit='percent', but '{metric.name}' holds {values[np.argmax(outside)]:g}. "
            f"Percent lie between 0 and 100; declare other scales with metrics=, such as "
            f"{{'{metric.name}': Metric('{metric.name}', '{metric.direction}')}}."
        )
    small = (values > 0) & (values <= 1)
    if metric.direction == "higher" and small.any() and (values > 1).any():
        warnings.warn(
            f"unit='percent', and {small.sum()} of {len(values)} values of '{metric.name}' "
            f"are at most 1, such as {values[np.argmax(small)]:g}: taken as percent too. "
            f"Are fractions mixed in?",
            CurvewiseWarning,
            stacklevel=6,
        )
    return values / 100
