"""Trials as other things: a record, a frame."""

import importlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from curvewise.errors import CurvewiseError, listed
from curvewise.trials.columns import (
    Columns,
    Ragged,
    to_dicts,
    to_texts,
    unpacked,
    was_recorded,
)
from curvewise.trials.trial import STATUSES, Status, Trial

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")


def record(trials: Columns, row: int) -> Trial:
    """Return the trial in a row as a record of its own."""
    core, details = trials.core, trials.details()
    here = slice(core.offsets[row], core.offsets[row + 1])
    n = here.stop - here.start
    metrics: dict[str, Any] = {}
    for name, flat in core.values.items():
        known = was_recorded(core, name)[here] if name in core.recorded else None
        if known is None or known.all():
            metrics[name] = flat[here]
        elif known.any() or n == 0:
            metrics[name] = np.ma.masked_array(flat[here], ~known)
    counts, correct, examples = None, None, None
    if k := int(details.classes[row]):
        counts = details.counts[row].reshape(n, k, k)
    if (code := int(details.example_set[row])) >= 0:
        examples = details.example_sets[code]
        correct = unpacked(details.correct[row], n, len(examples))
        if len(details.asked[row]):
            asked = unpacked(details.asked[row], n, len(examples))
            correct = np.ma.masked_array(correct, ~asked)
    status = cast("Status", STATUSES[core.status[row]])
    return Trial(
        *trials.key(row),
        metrics,
        steps=core.steps[here],
        params=loaded(details.params[row]),
        labels=loaded(details.labels[row]),
        counts=counts,
        correct=correct,
        examples=examples,
        status=status,
        seconds=float(details.seconds[row]),
        error=details.error[row].tobytes().decode(),
        attempts=int(details.attempts[row]),
    )


def loaded(text: Any) -> dict[str, Any]:
    """Return the params or labels of a trial, from the bytes that columns keep."""
    return json.loads(text.tobytes()) if len(text) else {}


def to_frame(
    trials: Columns, design: Mapping[str, Any], backend: Backend | None
) -> "IntoDataFrame":
    """Return the long table, one row per trial and step."""
    core, details = trials.core, trials.details()
    lengths = np.maximum(core.lengths, 1)  # a trial without steps keeps one empty row
    owner = np.repeat(np.arange(len(core)), lengths)
    empty = (core.lengths == 0)[owner]

    def along(flat: Any) -> Any:
        out = np.full(len(owner), np.nan)
        out[~empty] = flat
        return out

    table: dict[str, Any] = {
        "task": np.array(trials.tasks, object)[core.task[owner]],
        "algorithm": np.array(trials.algorithms, object)[core.algorithm[owner]],
        "number": core.number[owner],
    }
    table |= _unfolded("label", details.labels, owner)
    table |= _unfolded("param", details.params, owner)
    table["step"] = along(core.steps)
    table |= {column_of_metric(name): along(flat) for name, flat in core.values.items()}
    table |= _counts(trials, owner, empty)
    table["status"] = np.array(STATUSES, object)[core.status[owner]]
    table["seconds"] = details.seconds[owner]
    table["attempts"] = details.attempts[owner]
    table["error_text"] = np.array(to_texts(details.error), object)[owner]
    result: IntoDataFrame = _noted(frame(table, backend), trials, design)
    return result


NOTE = "curvewise"
DESIGN_NOTE = "curvewise.design"


def _noted(result: Any, trials: Columns, design: Mapping[str, Any]) -> Any:
    """Return a frame with metrics' meanings and the design beside it, where it can."""
    meanings = {n: {**m.plain(), **m.beside()} for n, m in trials.metrics.items()}
    notes = {NOTE: json.dumps(meanings)}
    if design:
        notes[DESIGN_NOTE] = json.dumps(design)
    library = type(result).__module__.partition(".")[0]
    if library == "pandas":
        result.attrs |= notes
    elif library == "pyarrow":
        result = result.replace_schema_metadata(notes)
    return result


# The text is not called "error": that is the name of a metric.
_OURS = tuple(
    "task algorithm number step status seconds attempts error_text curvewise".split()
)
_PREFIXES = ("param.", "label.", "count.", "example.", "metric.")


def column_of_metric(metric: str) -> str:
    """Return the column of a metric; one that we use ourselves gets a prefix.

    >>> column_of_metric("accuracy"), column_of_metric("step")
    ('accuracy', 'metric.step')
    """
    ours = metric in _OURS or metric.startswith(_PREFIXES)
    return f"metric.{metric}" if ours else metric


def _unfolded(kind: str, texts: Ragged, owner: Any) -> dict[str, Any]:
    dicts = to_dicts(texts)
    names = dict.fromkeys(name for d in dicts for name in d)
    table = {}
    for name in names:  # once per trial, then repeated along its steps
        cells = _column([as_cell(one.get(name)) for one in dicts])
        kinds = {type(cell) for cell in cells}
        plain = kinds in ({int}, {float})
        table[f"{kind}.{name}"] = np.array(cells, None if plain else object)[owner]
    return table


def as_cell(value: Any) -> Any:
    """Return a value as one cell, which a list or a dict is as JSON only."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def _counts(trials: Columns, owner: Any, empty: Any) -> dict[str, Any]:
    details, core = trials.details(), trials.core
    most = int(details.classes.max(initial=0))
    table: dict[str, Any] = {}
    within = np.arange(len(owner)) - np.repeat(
        np.searchsorted(owner, np.arange(len(core))), np.bincount(owner)
    )
    for i in range(most):
        for j in range(most):
            k = details.classes[owner]
            has = (k > max(i, j)) & ~empty
            place = details.counts.offsets[owner] + within * k * k + i * k + j
            column = np.full(len(owner), np.nan)
            column[has] = details.counts.flat[place[has]]
            table[f"count.{i}.{j}"] = column
    return table


def frame(table: dict[str, Any], backend: Backend | None = None) -> "IntoDataFrame":
    """Return columns as a frame of the library asked for."""
    import narwhals as nw

    if backend is not None and backend not in BACKENDS:
        raise CurvewiseError(
            f"backend is {backend!r}. Pass one of {listed(BACKENDS)}.",
            argument="backend",
            value=backend,
        )
    for name in BACKENDS if backend is None else (backend,):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        columns = {k: _column(v) for k, v in table.items()}
        if name == "pandas":
            columns = {k: _with_whole_numbers(v, library) for k, v in columns.items()}
        result: IntoDataFrame = nw.from_dict(columns, backend=name).to_native()
        return result
    raise CurvewiseError(
        f"{backend} is not installed. Install it, or pass another of "
        f"{listed(BACKENDS)}.",
        argument="backend",
        value=backend,
    )


def _with_whole_numbers(cells: Any, pandas: Any) -> Any:
    # pandas would turn whole numbers with a gap into fractions, and 64 layers into 64.0.
    if isinstance(cells, list) and None in cells and int in {type(c) for c in cells}:
        return pandas.array(cells, dtype="Int64")
    return cells


def _column(values: Any) -> Any:
    # Frames disagree on arrays of objects; lists of plain values they all take alike.
    if isinstance(values, np.ndarray):
        return values.tolist() if values.dtype == object else values
    cells = list(values)
    kinds = {type(v) for v in cells if v is not None}
    if kinds <= {int, float} and float in kinds:
        return [None if v is None else float(v) for v in cells]
    # A seed may need more than 64 bits, and frames disagree on such integers too.
    wide = kinds == {int} and any(v is not None and abs(v) >= 2**63 for v in cells)
    mixed = len(kinds) > 1 or wide
    return [None if v is None else str(v) for v in cells] if mixed else cells
