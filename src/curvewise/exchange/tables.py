"""Any table as an Arrow table of plain columns: files, frames, dicts of arrays."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, Phrase, listed, shortened
from curvewise.metrics import Metric
from curvewise.trials.names import ALGORITHM, TASK, every
from curvewise.trials.view import column_of_metric

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
_FIRST_OF_OURS = "task,algorithm,number,"
_PACKED = (".gz", ".bz2", ".zst")
# Names and not numbers: of a seed, 1 and 1.0 are the same.
_NAMES_OF_RUNS = ("run", "trial", "experiment", "id", "name", "commit", "hash", "sha")


def load(source: object, named: Iterable[str] = ()) -> tuple[pa.Table, str]:
    """Return a source as a table, and what to call it."""
    if isinstance(source, str | Path):
        table, name = _from_file(source, tuple(named)), Path(source).name
    elif isinstance(source, Mapping):
        table, name = _from_dict(source), "a dict of arrays"
    else:
        library = type(source).__module__.split(".")[0]
        table, name = _from_frame(source), f"a {library} frame"
    if head_of(table) is None:
        table = _plain(table, name)
    if table.num_rows == 0:
        raise _refused(
            name,
            f"{name} has no rows; its columns are {listed(table.column_names)}. "
            f"Pass results with at least one run.",
        )
    return table, name


# --- files -------------------------------------------------------------------------------


def _from_file(source: str | Path, named: Sequence[str]) -> pa.Table:
    path = existing(source)
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in _PACKED]
    kind = _FILES.get(suffixes[-1] if suffixes else "")
    if kind is None:
        raise _refused(
            path,
            f"{path} ends in '{path.suffix}'. Pass a file that ends in {listed(_FILES)}, "
            f"a store, a frame or a dict of arrays.",
        )
    try:
        if kind == "CSV":
            table = _csv(path, named)
        else:
            table = _parquet(path) if kind == "Parquet" else _json(path)
        # Damaged texts would be found out late, and by others.
        table.validate(full=True)
        _ = table.column_names
    except UnicodeDecodeError:
        raise _not_utf8(path.name) from None
    except CurvewiseError:
        raise
    except (pa.ArrowException, OSError, ValueError, RecursionError) as problem:
        if "invalid UTF8" in str(problem):
            raise _not_utf8(path.name) from None
        raise _refused(
            path,
            f"{path} cannot be read as {kind}: {shortened(problem, 300).rstrip('. ')}. "
            f"The file may be damaged, cut short or of another kind.",
        ) from problem
    except MemoryError as problem:
        raise _refused(
            path,
            f"{path} has {path.stat().st_size:,} bytes, which do not fit into memory. Keep "
            f"the columns and rows that are needed, or write it as Parquet.",
        ) from problem
    return table


def existing(source: str | Path, *, folder: bool = False) -> Path:
    """Return a path that is there and not empty; a folder only where one may be."""
    if "://" in str(source):
        raise _refused(
            source, f"{source} is an address. Download it and pass the file."
        )
    if not str(source) or "\0" in str(source):
        raise _refused(source, f"The path is {source!r}. Pass the path of a file.")
    path = Path(source).expanduser()
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except OSError as problem:
        raise _refused(
            path,
            f"{shortened(path, 200)} cannot be looked at: {problem.strerror}. Check the "
            f"path, and its permissions.",
        ) from problem
    if is_folder and folder:
        return path
    if is_folder:
        raise _refused(path, f"{path} is a folder. Pass a file of results.")
    if not exists:
        near = sorted(p.name for p in path.parent.glob("*") if p.suffix in _FILES)
        beside = f"Beside it are: {listed(near)}." if near else "Check the path."
        raise _refused(path, f"There is no file {path}. {beside}")
    if path.is_file() and path.stat().st_size == 0:
        raise _refused(path, f"{path} is empty. Pass a file of results.")
    return path


def _refused(source: object, text: str) -> CurvewiseError:
    return CurvewiseError(text, argument="source", value=source)


def _csv(path: Path, named: Sequence[str]) -> pa.Table:
    from pyarrow import csv

    with pa.input_stream(path) as stream:
        head = stream.read(65536)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _not_utf8(path.name, "UTF-16")
    lines = head.decode("utf-8-sig", "replace").split("\n")
    n_before = _lines_before(lines)
    first = lines[n_before]
    delimiter = max(
        _DELIMITERS, key=first.count
    )  # the first one wins a draw: the comma
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    if (ours := _csv_of_ours(path, first, parse)) is not None:
        return ours
    words = _columns_of_names(lines[n_before:], delimiter, named)
    convert = csv.ConvertOptions(
        null_values=_MISSING,
        column_types={c: pa.dictionary(pa.int32(), pa.string()) for c in words},
    )
    skip = csv.ReadOptions(skip_rows=n_before)
    with pa.input_stream(path) as stream:
        try:
            table = csv.read_csv(stream, skip, parse, convert)
            names = table.column_names
            for c in words:
                if c in names:
                    table = table.set_column(names.index(c), c, _typed(table.column(c)))
        except UnicodeDecodeError:
            raise _not_utf8(path.name) from None
    numbers = [float(name) for name in names if is_float(name)]
    # Of steps the names go up: model, seed, 1000, 2000, 3000.
    are_steps = numbers == sorted(set(numbers)) and bool(
        every((*ALGORITHM, *TASK), names)
    )
    if 2 * len(numbers) >= len(names) and not are_steps:
        raise CurvewiseError(
            f"The first row of {path.name} is {listed(names)}, which looks like data. "
            f"Put the names of the columns there."
        )
    return _without_padding(table) if any(n != n.strip() for n in names) else table


def _columns_of_names(
    lines: Sequence[str], delimiter: str, named: Sequence[str]
) -> list[str]:
    """Return the columns whose cells are names, though the first ones are numbers."""
    import csv

    head, *rows = csv.reader((x.rstrip("\r") for x in lines[:20]), delimiter=delimiter)
    usual = (*ALGORITHM, *TASK, *_NAMES_OF_RUNS)
    wanted = {*every(usual, head), *(c for c in head if c.strip() in named)}
    return [
        c
        for i, c in enumerate(head)
        if c in wanted
        and head.count(c) == 1
        and all(is_float(row[i]) or row[i] in _MISSING for row in rows if i < len(row))
    ]


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return names with the type that they would have had, unless two became one."""
    from pyarrow import csv

    whole = column.unify_dictionaries().combine_chunks()
    texts = whole.dictionary
    if len(texts) == 0:
        return whole.cast(pa.string())
    quoted = "\n".join('"' + t.replace('"', '""') + '"' for t in texts.to_pylist())
    read = csv.read_csv(
        pa.BufferReader(quoted.encode()),
        csv.ReadOptions(column_names=["name"]),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(null_values=_MISSING),
    )
    typed = read.column("name").combine_chunks()
    kind = typed.type
    if pa.types.is_string(kind) or pa.types.is_null(kind):
        return whole.cast(pa.string())
    words = [text for text in texts.to_pylist() if text not in _MISSING]
    if pa.types.is_floating(kind) and pc.any(pc.is_inf(typed)).as_py():
        return whole.cast(pa.string())  # 89e1234 is a commit
    if len(typed.drop_null().unique()) < len({text.strip() for text in words}):
        return whole.cast(pa.string())
    return typed.take(whole.indices)


def _lines_before(lines: list[str]) -> int:
    """Return how many blank lines and remarks stand before the names of the columns."""
    is_text = [bool(x.strip()) and not x.startswith("#") for x in lines]
    if not any(is_text):
        return 0
    place = is_text.index(True)
    cells = max(map(lines[place].count, _DELIMITERS))
    for i, line in enumerate(lines[:place]):
        if line.startswith("#") and max(map(line.count, _DELIMITERS)) >= cells:
            return i  # the names themselves, with a sign before them
    return place


def _csv_of_ours(path: Path, first: str, parse: Any) -> pa.Table | None:
    """Return a table of ours with the types that it names itself; None for others."""
    from pyarrow import csv

    if not first.replace('"', "").startswith(_FIRST_OF_OURS):
        return None
    only = csv.ConvertOptions(
        include_columns=[COLUMN],
        include_missing_columns=True,
        column_types={COLUMN: pa.string()},
    )
    with pa.input_stream(path) as stream:
        table = csv.read_csv(stream, parse_options=parse, convert_options=only)
    if (head := head_of(table)) is None:
        return None
    convert = csv.ConvertOptions(
        column_types=column_types(head),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with pa.input_stream(path) as stream:
        try:
            return csv.read_csv(stream, parse_options=parse, convert_options=convert)
        except pa.ArrowInvalid:  # somebody else saved it, with 3.0 for 3
            return None


def is_float(text: str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_padding(table: pa.Table) -> pa.Table:
    """Return a table written with spaces after commas as if they were not there."""
    for i, name in enumerate(table.column_names):
        column = table.column(i)
        if not pa.types.is_string(column.type):
            continue
        trimmed = pc.utf8_trim_whitespace(column)
        missing = pc.is_in(trimmed, value_set=pa.array(_MISSING))
        numbers = pc.if_else(missing, None, trimmed)
        for kind in (pa.int64(), pa.float64()):
            try:
                trimmed = numbers.cast(kind)
                break
            except pa.ArrowInvalid:
                continue
        table = table.set_column(i, name, trimmed)
    return table


def _parquet(path: Path) -> pa.Table:
    from pyarrow import parquet

    return parquet.read_table(path)


def _json(path: Path) -> pa.Table:
    from pyarrow import json as arrow_json

    with pa.input_stream(path) as stream:
        text = stream.read()
    if text.lstrip()[:1] == b"[":
        records = json.loads(text)
        if not all(isinstance(record, dict) for record in records):
            raise _no_records(path)
        # Arrow would take the columns of the first record for those of all.
        names = dict.fromkeys(name for record in records for name in record)
        rows = [{name: record.get(name) for name in names} for record in records]
        return pa.Table.from_pylist(rows)
    read, parse = _json_options(text)
    table = arrow_json.read_json(pa.BufferReader(text), read, parse)
    kinds = [field.type for field in table.schema]
    if table.num_rows == 1 and all(pa.types.is_nested(kind) for kind in kinds):
        raise _no_records(path)
    return table


def _json_options(text: bytes) -> tuple[Any, Any]:
    """Return how records are read; of a table of ours, as it says itself."""
    from pyarrow import json as arrow_json

    line = text[: text.find(b"\n")] if b"\n" in text else text
    if f'"{COLUMN}": '.encode() in line:
        head = parsed(json.loads(line).get(COLUMN))
        if head is not None:
            schema = pa.schema(list(column_types(head).items()))
            read = arrow_json.ReadOptions(block_size=max(1 << 20, 2 * len(line)))
            return read, arrow_json.ParseOptions(explicit_schema=schema)
    return None, None


def _no_records(path: Path) -> CurvewiseError:
    return CurvewiseError(
        f"{path.name} holds no records. Write one object per row, as pandas does with ",
        Phrase("to_json(orient='records', lines=True)"),
        ".",
        argument="source",
        value=path,
    )


def _not_utf8(name: str, encoding: str = "another encoding") -> CurvewiseError:
    return CurvewiseError(
        f"{name} is text in {encoding}, not in UTF-8. Save it as UTF-8, or read it with ",
        Phrase("pandas.read_csv(..., encoding=...)"),
        " and pass the frame.",
        argument="source",
        value=name,
    )


# --- objects -----------------------------------------------------------------------------


def _from_dict(source: Mapping[Any, Any]) -> pa.Table:
    columns = {
        str(name): values if isinstance(values, pa.Array) else _array(name, values)
        for name, values in source.items()
    }
    lengths = {name: len(array) for name, array in columns.items()}
    if len(set(lengths.values())) > 1:
        facts = ", ".join(f"'{shortened(n)}' has {k}" for n, k in lengths.items())
        raise CurvewiseError(
            f"The columns of a dict must be equally long, but {facts}. "
            f"Pass one value per row in each."
        )
    return pa.table(columns)


def _array(name: object, values: Any) -> pa.Array:
    if np.ndim(np.asarray(values, dtype=object)) != 1:
        raise CurvewiseError(
            f"Column '{shortened(name)}' has {np.ndim(values)} dimensions. "
            f"Pass a dict of columns, each with one value per row."
        )
    try:
        # An array of numbers has no other way to say "missing" than NaN.
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
        raise CurvewiseError(
            f"Column '{shortened(name)}' holds {shortened(list(values)[:4])}: "
            f"{shortened(problem, 200)}. Pass numbers or texts of one kind."
        ) from problem


def _from_frame(source: Any) -> pa.Table:
    import narwhals as nw

    is_pandas = type(source).__module__.startswith("pandas")
    if is_pandas and getattr(getattr(source, "columns", None), "nlevels", 1) > 1:
        raise CurvewiseError(
            "The frame has columns of several levels. Give each column one name."
        )
    try:
        frame = nw.from_native(source, pass_through=False)
    except TypeError:
        raise CurvewiseError(
            f"Results came as {type(source).__name__}. Pass a path, a pandas, polars or "
            f"pyarrow frame, or a dict of arrays."
        ) from None
    except Exception as problem:  # whatever the library of the frame raises
        raise _unreadable(problem) from problem
    try:
        eager = frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame
        table = eager.to_arrow()
    except Exception as problem:
        if not is_pandas:
            raise _unreadable(problem) from problem
        table = _of_odd_cells(source, problem)
    # pandas keeps its index as a column of this name. Words in it say something.
    levels = [c for c in table.column_names if c.startswith("__index_level_")]
    columns = [c for c in table.column_names if c not in levels or _has_words(table, c)]
    called = ["index" if c in levels and "index" not in columns else c for c in columns]
    return table.select(columns).rename_columns(called)


def _of_odd_cells(frame: Any, problem: Exception) -> pa.Table:
    """Return a pandas frame with columns of several kinds as if it had been a CSV file."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        cells = frame[name]
        try:
            columns[str(name)] = pa.array(cells, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            plain = [v is None or isinstance(v, str | int | float) for v in cells]
            if not all(plain):
                raise _unreadable(problem) from problem
            missing = cells.isna()
            texts = [
                None if no else str(v) for v, no in zip(cells, missing, strict=True)
            ]
            column = pa.chunked_array([pa.array(texts, pa.string())])
            columns[str(name)] = _typed(column.dictionary_encode())
    return pa.table(columns)


def _has_words(table: pa.Table, column: str) -> bool:
    kind = table.schema.field(column).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _unreadable(problem: Exception) -> CurvewiseError:
    reason = shortened(problem, 300).rstrip(".")
    return CurvewiseError(
        f"The frame cannot be read: {reason}. Pass columns of one kind each, every name "
        f"once."
    )


# --- plain columns -----------------------------------------------------------------------


def without_head(table: pa.Table, name: str) -> pa.Table:
    """Return a table of ours as if it were anybody's."""
    return _plain(table.drop_columns([COLUMN]), name)


def _plain(table: pa.Table, name: str) -> pa.Table:
    """Return columns of numbers, texts and booleans, their names without padding."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()  # {"config": {"lr": 1}} becomes config.lr
    bare = [c.strip() for c in table.column_names]
    if bare.count("") == 1 and "index" not in bare:
        bare[bare.index("")] = "index"  # as frames write the names of their rows
    table = table.rename_columns(bare)
    twice = [c for c, n in Counter(table.column_names).items() if n > 1]
    if twice:
        raise CurvewiseError(
            f"{name} has more than one column {listed(twice)}. Give each its own name."
        )
    for i, column in enumerate(table.column_names):
        old = table.column(i)
        new = _simple(old, name)
        if new is not old:
            table = table.set_column(i, column, new)
    return table


def _simple(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _simple(column.cast(kind.value_type), name)
    if isinstance(kind, pa.BaseExtensionType):
        texts = [None if cell is None else str(cell) for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_nested(kind):
        texts = [
            None if v is None else json.dumps(v, default=str)
            for v in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        try:
            column = column.cast(pa.string())
        except pa.ArrowInvalid:
            raise _not_utf8(name) from None
        kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        # A name with a space behind it is the same name.
        trimmed = pc.utf8_trim_whitespace(column)
        return trimmed if pa.types.is_string(kind) else trimmed.cast(pa.string())
    return column


# --- What a table that we wrote ourselves says in one cell -----------------------------
#
# A plain table cannot say everything: that a score is better when lower, that "007" is a
# name, that a hyperparameter is a list. One cell of the column ``curvewise`` says it, in
# the first row, so that the rest stays a table that everybody can read.


COLUMN = "curvewise"
FORM = 1  # of the cell; a later one may add keys, and says so by a greater number
TYPES = {
    "text": pa.string(),
    "json": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
}
_TEXTS = ("task", "algorithm", "status", "error_text", "example.correct", COLUMN)
_NUMBERS = {
    "number": pa.int64(),
    "step": pa.float64(),
    "seconds": pa.float64(),
    "attempts": pa.int64(),
    "example.set": pa.int64(),
}


def head_of(table: pa.Table) -> dict[str, Any] | None:
    """Return what the cell of our own says; None where there is none."""
    if COLUMN not in table.column_names:
        return None
    cells = [c for c in table.column(COLUMN).drop_null().to_pylist() if c]
    return parsed(cells[0]) if cells else None


def meant_in(head: Mapping[str, Any]) -> dict[str, Metric]:
    """Return what the columns of a table of ours mean."""
    return {column_of_metric(n): one for n, one in metrics_in(head).items()}


def metrics_in(head: Mapping[str, Any]) -> dict[str, Metric]:
    """Return the metrics of a table of ours."""
    beside = head.get("meanings", {})  # older tables have none
    return {
        name: Metric.of_fields(fields, beside.get(name))
        for name, fields in head["metrics"].items()
    }


def parsed(cell: object) -> dict[str, Any] | None:
    """Return what a cell of our own says; None where it says something else."""
    try:
        head = json.loads(str(cell))
    except ValueError:
        return None
    if not isinstance(head, dict) or not isinstance(head.get("form"), int):
        return None
    if head["form"] > FORM:
        raise CurvewiseError(
            f"The table was written by a newer curvewise (form {head['form']}; this one "
            f"knows {FORM}). Upgrade curvewise, or remove the column '{COLUMN}'."
        )
    return head if _is_whole(head) else None


def _is_whole(head: Mapping[str, Any]) -> bool:
    """Return whether a cell says all that one of ours says, and nobody changed it."""
    try:
        metrics_in(head)
        return (
            all(kind in TYPES for kind in head["kinds"].values())
            and isinstance(head["spaces"], dict)
            and isinstance(head["about"], dict)
            and isinstance(head["example_sets"], list)
        )
    except (AttributeError, KeyError, TypeError, CurvewiseError):
        return False


def column_types(head: Mapping[str, Any]) -> dict[str, pa.DataType]:
    """Return the types of the columns of a file of texts that we wrote."""
    kinds = {column: TYPES[kind] for column, kind in head["kinds"].items()}
    metrics = {column_of_metric(name): pa.float64() for name in head["metrics"]}
    return dict.fromkeys(_TEXTS, pa.string()) | _NUMBERS | metrics | kinds
