"""Any table as an Arrow table: files, frames, dicts of arrays."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened

# An empty cell is missing; "nan" and "inf" are numbers that somebody recorded.
_MISSING = ["", "NA", "N/A", "n/a", "null", "NULL", "None", "<NA>", "#N/A"]
_DELIMITERS = ",;\t"
_FILES = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON lines",
}


def load(source: object) -> tuple[pa.Table, str]:
    """Return a source as a table, and what to call it.

    Parameters
    ----------
    source : path, frame or dict of arrays
        CSV, Parquet or JSON lines, also compressed; any frame that narwhals knows
        (pandas, polars, pyarrow); columns by name.
    """
    if isinstance(source, str | Path):
        table, name = _from_file(Path(source)), Path(source).name
    elif isinstance(source, Mapping):
        table, name = _from_dict(source), "a dict of arrays"
    else:
        table, name = (
            _from_frame(source),
            f"a {type(source).__module__.split('.')[0]} frame",
        )
    twice = [
        c for c in dict.fromkeys(table.column_names) if table.column_names.count(c) > 1
    ]
    if twice:
        raise CurvewiseError(
            f"{name} has more than one column {listed(twice)}. Give each its own name."
        )
    if table.num_rows == 0:
        raise CurvewiseError(
            f"{name} has no rows; its columns are {listed(table.column_names)}. "
            f"Pass results with at least one run."
        )
    return table, name


def _from_file(path: Path) -> pa.Table:
    if path.is_dir():
        raise CurvewiseError(f"{path} is a folder. Pass a file of results.")
    if not path.exists():
        near = sorted(p.name for p in path.parent.glob("*") if p.suffix in _FILES)
        raise CurvewiseError(
            f"There is no file {path}."
            + (f" Beside it are: {listed(near)}." if near else " Check the path.")
        )
    if path.stat().st_size == 0:
        raise CurvewiseError(f"{path} is empty. Pass a file of results.")
    suffixes = [
        s.lower() for s in path.suffixes if s.lower() not in (".gz", ".bz2", ".zst")
    ]
    kind = _FILES.get(suffixes[-1] if suffixes else "")
    if kind is None:
        raise CurvewiseError(
            f"{path} ends in '{path.suffix}'. Pass a file that ends in {listed(_FILES)}, "
            f"a store, a frame or a dict of arrays."
        )
    try:
        return {"CSV": _csv, "Parquet": _parquet, "JSON lines": _json}[kind](path)
    except (pa.ArrowException, OSError, UnicodeError, ValueError) as problem:
        if isinstance(problem, CurvewiseError):
            raise
        raise CurvewiseError(
            f"{path} cannot be read as {kind}: {shortened(problem, 300)} "
            f"The file may be damaged, cut short or of another kind."
        ) from problem


def _csv(path: Path) -> pa.Table:
    from pyarrow import csv

    with pa.input_stream(path) as stream:
        head = stream.read(65536).decode("utf-8-sig", "replace").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)  # the first one wins a draw: the comma
    convert = csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True)
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with pa.input_stream(path) as stream:
        return csv.read_csv(stream, parse_options=parse, convert_options=convert)


def _parquet(path: Path) -> pa.Table:
    from pyarrow import parquet

    return parquet.read_table(path)


def _json(path: Path) -> pa.Table:
    from pyarrow import json as arrow_json

    with pa.input_stream(path) as stream:
        first = stream.read(64).lstrip()[:1]
    if first == b"[":
        with pa.input_stream(path) as stream:
            return pa.Table.from_pylist(json.loads(stream.read()))
    with pa.input_stream(path) as stream:
        return arrow_json.read_json(stream)


def _from_dict(source: Mapping[Any, Any]) -> pa.Table:
    columns = {}
    for name, values in source.items():
        array = values if isinstance(values, pa.Array) else _array(name, values)
        columns[str(name)] = array
    lengths = {name: len(array) for name, array in columns.items()}
    if len(set(lengths.values())) > 1:
        facts = ", ".join(f"'{shortened(n)}' has {k}" for n, k in lengths.items())
        raise CurvewiseError(
            f"The columns of a dict must be equally long, but {facts}. "
            f"Pass one value per row in each."
        )
    return pa.table(columns)


def _array(name: object, values: Any) -> pa.Array:
    if np.ndim(values) != 1:
        raise CurvewiseError(
            f"Column '{shortened(name)}' has {np.ndim(values)} dimensions. "
            f"Pass a dict of columns, each with one value per row."
        )
    try:
        # An array of numbers has no other way to say "missing" than NaN.
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError) as problem:
        raise CurvewiseError(
            f"Column '{shortened(name)}' holds {shortened(list(values)[:4])}: "
            f"{shortened(problem, 200)}. Pass numbers or texts of one kind."
        ) from problem


def _from_frame(source: Any) -> pa.Table:
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=False)
    except TypeError:
        raise CurvewiseError(
            f"Results came as {type(source).__name__}. Pass a path, a pandas, polars or "
            f"pyarrow frame, or a dict of arrays."
        ) from None
    eager = frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame
    table = eager.to_arrow()
    # pandas keeps its index as a column of this name.
    kept = [c for c in table.column_names if not c.startswith("__index_level_")]
    return table.select(kept)
