"""Writes trials as a long table that `read` takes again: Parquet, CSV, JSON lines."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, unknown
from curvewise.exchange.exact import with_exact
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.columns import was_recorded
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
        Path(name).chmod(0o666 & ~_umask())
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
            known = pc.if_else(pc.is_nan(column), None, column)
            columns[name] = known.cast(pa.int64()) if "." in name else known
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


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
