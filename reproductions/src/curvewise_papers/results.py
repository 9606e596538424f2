"""What is kept of a long run: small tables, with what made them."""

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from curvewise._version import __version__
from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.trials import Trials

Table: TypeAlias = Mapping[str, Any]

_TRIALS, _ENDING = ".trials", ".parquet"
_METRICS, _MADE = b"curvewise.metrics", b"curvewise.made"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, slots=True)
class Results:
    """Trials and tables by name, small enough to be kept beside the documentation.

    Parameters
    ----------
    trials : mapping of str to Trials
    tables : mapping of str to table
        A table is a mapping of columns, all as long.
    made : mapping of str to str
        What made them: command, scale, seeds, versions.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> power = {"stretch": [1.0, 1.1], "power": [0.05, 0.8]}
    >>> Results(tables={"power": power}).write(folder)
    >>> Results.read(folder).tables["power"]["power"].tolist()
    [0.05, 0.8]
    """

    trials: Mapping[str, Trials] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)

    def by(self, command: str, scale: str, seeds: Iterable[int] = ()) -> "Results":
        """Return the same results with what made them: command, seeds, versions."""
        made = {"command": command, "scale": scale}
        if told := ", ".join(map(str, seeds)):
            made["seed"] = told
        return replace(self, made=made | _versions())

    def digest(self) -> str:
        """Return a hash of all numbers."""
        out = hashlib.sha256()
        for name in sorted(self.trials):
            out.update(f"{name} {self.trials[name].digest()}".encode())
        for name in sorted(self.tables):
            for column, values in sorted(self.tables[name].items()):
                text = json.dumps(np.asarray(values).tolist())
                out.update(f"{name} {column} {text}".encode())
        return out.hexdigest()

    def write(self, folder: Path) -> None:
        """Write one Parquet file for each set of trials and each table."""
        import pyarrow as pa

        from curvewise.exchange.writing import long_table

        folder.mkdir(parents=True, exist_ok=True)
        made = json.dumps(dict(self.made)).encode()
        for name, trials in self.trials.items():
            meant = {n: _told(trials.metric(n)) for n in trials.metrics}
            head = {_METRICS: json.dumps(meant).encode(), _MADE: made}
            _write(long_table(trials), head, folder / f"{name}{_TRIALS}{_ENDING}")
        for name, table in self.tables.items():
            columns = {key: np.asarray(values) for key, values in table.items()}
            _write(pa.table(columns), {_MADE: made}, folder / f"{name}{_ENDING}")

    @classmethod
    def read(cls, folder: Path) -> "Results":
        """Return what is kept in a folder."""
        import pyarrow.parquet

        files = sorted(Path(folder).glob(f"*{_ENDING}"))
        if not files:
            raise CurvewiseError(
                f"{folder} has no results. Pass a folder that was written with --keep."
            )
        trials: dict[str, Trials] = {}
        tables: dict[str, Table] = {}
        made: dict[str, str] = {}
        for file in files:
            table = pyarrow.parquet.read_table(file)
            head = table.schema.metadata or {}
            made = json.loads(head.get(_MADE, b"{}")) or made
            name = file.name.removesuffix(_ENDING)
            if name.endswith(_TRIALS):
                trials[name.removesuffix(_TRIALS)] = _trials(table, head)
            else:
                tables[name] = {
                    column: _array(table[column]) for column in table.column_names
                }
        return cls(trials, tables, made)


def _write(table: Any, head: dict[bytes, bytes], path: Path) -> None:
    import pyarrow.parquet

    table = table.replace_schema_metadata(head)
    pyarrow.parquet.write_table(table, path, compression="zstd", compression_level=19)


def _trials(table: Any, head: Mapping[bytes, bytes]) -> Trials:
    from curvewise.exchange.reader import read_results

    meant = {name: _meant(told) for name, told in json.loads(head[_METRICS]).items()}
    found, _ = read_results(table, metrics=meant or None)
    return found


def _array(column: Any) -> Any:
    return column.combine_chunks().to_numpy(zero_copy_only=False)


def _told(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "direction": metric.direction,
        "range": [None if math.isinf(end) else end for end in metric.range],
        "unit": metric.unit,
        "label": metric.label,
    }


def _meant(told: Mapping[str, Any]) -> Metric:
    low, high = told["range"]
    ends = -math.inf if low is None else low, math.inf if high is None else high
    return Metric(**{**told, "range": ends})


def _versions() -> dict[str, str]:
    found = {"curvewise": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
