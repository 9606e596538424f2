"""Tables that we write ourselves, and read back to the same trials."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, listed, shortened, unknown
from curvewise.exchange.columns import numbers, run_begins
from curvewise.exchange.tables import COLUMN, FORM, TYPES, column_types, metrics_in
from curvewise.text import count
from curvewise.trials import STATUSES, Trials, must_be_trials
from curvewise.trials.columns import (
    Core,
    Details,
    Ints,
    Ragged,
    canonical,
    from_rows,
    from_texts,
    packed,
    starts,
    to_dicts,
    unpacked,
    was_recorded,
)
from curvewise.trials.design import from_record
from curvewise.trials.view import column_of_metric


def write(trials: Trials, path: str | Path, *, force: bool = False) -> int:
    """Write trials as a table with one row per trial and step; return how many rows.

    `read` makes the same trials of it again, with their metrics' meanings, hyperparameters
    of any kind, confusion counts and per-example correctness. What a plain table cannot
    say stands in one cell of the column ``curvewise``; all other columns are for anybody.

    Parameters
    ----------
    trials : Trials
    path : str or Path
        The file; its ending says in which form: ``.parquet``, ``.csv`` or ``.jsonl``.
    force : bool
        Replace a file that is there.

    Examples
    --------
    >>> from curvewise import Trial, read
    >>> path = getfixture("tmp_path") / "runs.csv"
    >>> trials = Trials([Trial("moons", "svm", 7, {"error": [0.3, 0.2]})])
    >>> write(trials, path)
    2
    >>> read(path) == trials
    True
    """
    must_be_trials(trials)
    path = Path(path)
    save = writer(path, force=force)
    table = with_exact(long_table(trials), trials)
    # Beside the file, so that what is there is replaced whole or not at all.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(handle)
    try:
        save(table, name)
        now = os.umask(0)
        os.umask(now)
        Path(name).chmod(0o666 & ~now)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return int(table.num_rows)


def writer(path: Path, *, force: bool) -> Callable[[Any, str], None]:
    """Return what writes a table in the form that a path's ending asks for."""
    suffix = path.suffix.casefold()
    if suffix not in _WRITERS:
        problem = unknown("way to write a file that ends in", suffix, _WRITERS)
        raise CurvewiseError(f"{path}: ", problem.message)
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else "is in a folder that is not there"
        raise CurvewiseError(f"{path} {what}. Pass the path of a file to write.")
    if path.exists() and not force:
        raise CurvewiseError(
            f"{path} is there already. Pass ",
            {"force": True},
            " to replace it, or another name.",
        )
    return _WRITERS[suffix]


def long_table(trials: Trials) -> Any:
    """Return the long table for pyarrow, with gaps where nothing was recorded.

    In arrays a gap is NaN, and so is a score that is no number. In a file the two must
    differ, because the second is a failure.
    """
    core = trials.core
    table: Any = trials.to_frame("pyarrow")
    empty = np.repeat(core.lengths == 0, np.maximum(core.lengths, 1))
    gaps: dict[str, Any] = {}
    for name in core.values:
        gap = empty.copy()
        gap[~empty] = ~was_recorded(core, name)
        gaps[column_of_metric(name)] = pa.array(gap)
    columns = {name: table[name] for name in table.column_names}
    for name, column in columns.items():
        if name in gaps:
            columns[name] = pc.if_else(gaps[name], None, column)
        elif name in ("step", "seconds") or name.startswith("count."):
            cells = pc.if_else(pc.is_nan(column), None, column)
            columns[name] = cells.cast(pa.int64()) if "." in name else cells
    return pa.table(columns, metadata=table.schema.metadata)


def _write_parquet(table: Any, name: str) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, name)


def _write_csv(table: Any, name: str) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(table, name)


def _write_jsonl(table: Any, name: str) -> None:
    with Path(name).open("w", encoding="utf-8") as file:
        for batch in table.to_batches(max_chunksize=10_000):
            for row in batch.to_pylist():
                there = {key: value for key, value in row.items() if value is not None}
                file.write(json.dumps(there, ensure_ascii=False) + "\n")


_WRITERS: dict[str, Callable[[Any, str], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
}


# --- writing -----------------------------------------------------------------------------


def with_exact(table: pa.Table, trials: Trials) -> pa.Table:
    """Return the long table of trials with all that reads back to the same trials."""
    core, details = trials.core, trials.details()
    owner = np.repeat(np.arange(len(core)), np.maximum(core.lengths, 1))
    columns = {name: table.column(name) for name in table.column_names}
    kinds: dict[str, str] = {}
    for prefix in ("param", "label"):
        dicts = to_dicts(getattr(details, f"{prefix}s"))
        for name in dict.fromkeys(name for one in dicts for name in one):
            column = f"{prefix}.{name}"
            kinds[column], cells = _cells([one.get(name, _ABSENT) for one in dicts])
            values = pa.array(cells, TYPES[kinds[column]])
            columns[column] = values.take(pa.array(owner))
    table = pa.table(columns, metadata=table.schema.metadata)
    if details.example_sets:
        table = _with_correct(table, core, details, owner)
    head = {
        "form": FORM,
        "metrics": {n: m.plain() for n, m in trials.metrics.items()},
        # What older versions cannot read, who do not look here.
        "meanings": {n: m.beside() for n, m in trials.metrics.items() if m.beside()},
        "kinds": kinds,
        "spaces": dict(trials.spaces),
        "about": dict(trials.about),
        "nan": _not_numbers(table, {"metrics": trials.metrics}),
        "example_sets": [ids.tolist() for ids in details.example_sets],
    }
    if record := trials.design_record():
        head["design"] = record
    cell = pa.array([json.dumps(head)] * (len(owner) > 0), pa.string())
    rest = pa.nulls(max(len(owner) - 1, 0), pa.string())
    return table.append_column(COLUMN, pa.chunked_array([cell, rest]))


_ABSENT = object()


def _cells(values: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return how a column is written, and its cells; None where a trial has no value."""
    there = [v for v in values if v is not _ABSENT]
    types = {type(v) for v in there}
    kind = "json"
    if types == {str}:
        kind = "text"
    elif types == {bool}:
        kind = "bool"
    elif types == {float}:
        kind = "float"
    elif types == {int} and all(abs(v) < 2**63 for v in there):
        kind = "int"
    if kind == "json":
        return kind, [None if v is _ABSENT else json.dumps(v) for v in values]
    return kind, [None if v is _ABSENT else v for v in values]


def _with_correct(
    table: pa.Table, core: Core, details: Details, owner: Ints
) -> pa.Table:
    cells: list[str | None] = []
    for row, code in enumerate(details.example_set.tolist()):
        n = int(core.lengths[row])
        if code < 0:
            cells += [None] * max(n, 1)
            continue
        size = len(details.example_sets[code])
        signs = np.where(unpacked(details.correct[row], n, size), "1", "0")
        if len(details.asked[row]):
            signs = np.where(unpacked(details.asked[row], n, size), signs, "-")
        cells += ["".join(line) for line in signs] or [None]
    table = table.append_column("example.correct", pa.array(cells, pa.string()))
    return table.append_column("example.set", pa.array(details.example_set[owner]))


# --- reading -----------------------------------------------------------------------------

_NEEDED = tuple("task algorithm number step status attempts error_text".split())


def changed(table: pa.Table, head: Mapping[str, Any]) -> str:
    """Return how a table of ours differs from what we wrote; nothing if it does not.

    Rows may be missing or in another order. Hyperparameters, labels and metrics may be
    missing: then the trials do without.
    """
    columns = table.column_names
    types = column_types(head)
    new = [c for c in columns if c not in types and not c.startswith("count.")]
    gone = [c for c in _NEEDED if c not in columns]
    parts = [f"new are {listed(new)}"] * bool(new)
    parts += [f"gone are {listed(gone)}"] * bool(gone)
    # Many programs write such scores as empty cells, which for us is "not recorded".
    if (nan := head.get("nan", 0) - _not_numbers(table, head)) > 0:
        parts.append(f"gone are {count(nan, 'score')} that are no numbers")
    return "; ".join(parts)


def _not_numbers(table: pa.Table, head: Mapping[str, Any]) -> int:
    columns = [column_of_metric(name) for name in head["metrics"]]
    there = [table.column(c) for c in columns if c in table.column_names]
    floats = [c for c in there if pa.types.is_floating(c.type)]
    return sum(pc.sum(pc.is_nan(c)).as_py() or 0 for c in floats)


def read_exact(table: pa.Table, head: Mapping[str, Any], origin: str) -> Trials:
    """Return the trials that a table of ours was written from."""
    try:
        # A table with the types that it was written with: files of texts have none.
        types = column_types(head)
        columns = {name: table.column(name) for name in table.column_names}
        return _read(
            pa.table(
                {name: c.cast(types.get(name, c.type)) for name, c in columns.items()}
            ),
            head,
            origin,
        )
    except CurvewiseError:
        raise
    except (KeyError, pa.ArrowException, ValueError, TypeError) as problem:
        raise CurvewiseError(
            f"{origin} was written by curvewise and changed since: "
            f"{shortened(problem, 200)}. Remove the column '{COLUMN}' to read it as any "
            f"other table."
        ) from problem


def _read(table: pa.Table, head: Mapping[str, Any], origin: str) -> Trials:
    task, tasks = _names(table.column("task"))
    algorithm, algorithms = _names(table.column("algorithm"))
    number = table.column("number").to_numpy()
    step = numbers(table, "step")
    order = np.lexsort((step, number, algorithm, task))
    table = table.take(pa.array(order))
    task, algorithm, number, step = (c[order] for c in (task, algorithm, number, step))
    new = run_begins(task, algorithm, number)
    first, has_step = np.flatnonzero(new), ~np.isnan(step)
    lengths = np.bincount((np.cumsum(new) - 1)[has_step], minlength=len(first))
    curves, runs = table.filter(pa.array(has_step)), table.take(pa.array(first))
    values, recorded = {}, {}
    for name in head["metrics"]:
        column = column_of_metric(name)
        if column not in table.column_names:
            continue
        known = np.asarray(curves.column(column).is_valid())
        values[name] = numbers(curves, column)
        if not known.all():
            recorded[name] = known
    words = runs.column("status").to_pylist()
    if strange := set(words) - set(STATUSES):
        raise ValueError(f"a status is {listed(sorted(map(str, strange)))}")
    core = Core(
        task=task[first].astype(np.int32),
        algorithm=algorithm[first].astype(np.int32),
        number=number[first],
        status=np.array([STATUSES.index(word) for word in words], np.int8),
        offsets=starts(lengths),
        steps=step[has_step],
        values=values,
        recorded=recorded,
    )
    return Trials.from_columns(
        tasks,
        algorithms,
        metrics_in(head),
        core,
        _details(runs, curves, head, lengths),
        origin=origin,
        spaces=head["spaces"],
        about=head["about"],
        design=from_record(head.get("design")),
    )


def _names(column: pa.ChunkedArray) -> tuple[Any, list[str]]:
    encoded = column.combine_chunks().dictionary_encode()
    names: list[str] = encoded.dictionary.to_pylist()
    return encoded.indices.to_numpy().astype(np.int64), names


def _details(
    runs: pa.Table, curves: pa.Table, head: Mapping[str, Any], lengths: Ints
) -> Details:
    n = runs.num_rows
    counts, classes = _counts(runs, curves, lengths)
    sets = tuple(np.array(ids, np.int64) for ids in head["example_sets"])
    code = np.full(n, -1, np.int64)
    correct: list[Any] = [np.empty(0, np.uint8)] * n
    asked = list(correct)
    if sets:
        code = np.asarray(runs.column("example.set"), np.int64)
        lines = curves.column("example.correct").to_pylist()
        ends = starts(lengths)
        for row in np.flatnonzero((code >= 0) & (lengths > 0)).tolist():
            signs = np.array([list(s) for s in lines[ends[row] : ends[row + 1]]])
            correct[row] = packed(signs == "1")
            if (signs == "-").any():
                asked[row] = packed(signs != "-")
    errors = runs.column("error_text").fill_null("").to_pylist()
    attempts = runs.column("attempts").to_numpy()
    timed = (
        "seconds" in runs.column_names
    )  # JSON has no place for a column without values
    return Details(
        params=_texts(runs, head["kinds"], "param."),
        labels=_texts(runs, head["kinds"], "label."),
        error=from_texts(errors),
        seconds=np.array(numbers(runs, "seconds")) if timed else np.full(n, np.nan),
        attempts=np.array(attempts),
        counts=counts,
        classes=classes,
        correct=from_rows(correct, "uint8"),
        asked=from_rows(asked, "uint8"),
        example_set=code,
        example_sets=sets,
    )


def _counts(runs: pa.Table, curves: pa.Table, lengths: Ints) -> tuple[Ragged, Ints]:
    n, most = runs.num_rows, 0
    while f"count.{most}.{most}" in runs.column_names:
        most += 1
    classes = np.zeros(n, np.int64)
    for k in range(most):
        classes += np.asarray(runs.column(f"count.{k}.{k}").is_valid())
    if not most:
        return from_rows([np.empty(0, np.int64)] * n, "int64"), classes
    cells = np.stack(
        [
            np.stack([numbers(curves, f"count.{i}.{j}") for j in range(most)], axis=-1)
            for i in range(most)
        ],
        axis=1,
    )
    owner = np.repeat(np.arange(n), lengths)
    inside = np.arange(most) < classes[owner][:, None]
    flat = cells[inside[:, :, None] & inside[:, None, :]].astype(np.int64)
    return Ragged(starts(lengths * classes**2), flat), classes


def _texts(runs: pa.Table, kinds: Mapping[str, str], prefix: str) -> Ragged:
    names, columns, there = [], [], set(runs.column_names)
    for column, kind in kinds.items():
        if column.startswith(prefix) and column in there:
            cells = runs.column(column).to_pylist()
            names.append(column.removeprefix(prefix))
            columns.append([_value(cell, kind) for cell in cells])
    if not names:
        return from_texts([""] * runs.num_rows)
    rows = (
        {n: v for n, v in zip(names, row, strict=True) if v is not _ABSENT}
        for row in zip(*columns, strict=True)
    )
    return from_texts(canonical(row) if row else "" for row in rows)


def _value(cell: Any, kind: str) -> Any:
    if cell is None:
        return _ABSENT
    return json.loads(cell) if kind == "json" else cell
