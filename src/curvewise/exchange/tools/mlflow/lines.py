"""Files of MLflow's metrics: lines of time, value and step, many files at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curvewise._text import count
from curvewise.exchange.tools.mlflow.runs import Logged
from curvewise.metrics import Floats
from curvewise.trials.columns import Ints

_MOST = 1 << 26  # bytes to gather before they are parsed
_COLUMNS = ("time", "value", "step")


class _File(NamedTuple):
    run: int
    metric: int
    place: str
    data: bytes


class Lines:
    """Scores from files, gathered and then parsed together.

    Parameters
    ----------
    names : iterable of str
        The metrics that are wanted.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {name: code for code, name in enumerate(names)}
        self._files: list[_File] = []
        self._size = 0
        self._parts: list[tuple[Ints, Ints, Floats, Floats, Floats]] = []
        self._torn: list[str] = []
        self._odd: list[str] = []

    def add(self, run: int, name: str, data: bytes, place: str) -> None:
        """Take what the file of a run's metric holds."""
        if data and not data.endswith(b"\n"):  # cut off while it was written
            self._torn.append(place)
            data = data[: data.rfind(b"\n") + 1]
        self._files.append(_File(run, self.names[name], place, data))
        self._size += len(data)
        if self._size > _MOST:
            self._parse()

    def logged(self, *, timed: bool) -> Logged:
        """Return all scores, in the order in which files came, with times or without."""
        self._parse()
        run, metric, step, value, time = map(
            np.concatenate, zip(*self._parts, strict=True)
        )
        return Logged(
            run, metric, step, value, time if timed else None, tuple(self.names)
        )

    def remarks(self) -> list[str]:
        """Return sentences on damage; complete after `logged`."""
        out = []
        if self._torn:
            out.append(
                f"{count(len(self._torn), 'metric file')} ended in the middle of a line, "
                f"such as '{self._torn[0]}': read up to there."
            )
        if self._odd:
            out.append(
                f"{count(len(self._odd), 'line')} of metric files, such as one of "
                f"'{self._odd[0]}', should be a time, a number and a step: skipped."
            )
        return out

    def _parse(self) -> None:
        files, self._files, self._size = self._files, [], 0
        found = _parsed([file.data for file in files])
        if found is None:
            files = [file._replace(data=self._mended(file)) for file in files]
            found = _parsed([file.data for file in files])
        assert found is not None  # mended lines are as they should be  # noqa: S101
        time, value, step = found
        owner = np.repeat(np.arange(len(files)), [f.data.count(b"\n") for f in files])
        run = np.array([file.run for file in files], np.int64)[owner]
        metric = np.array([file.metric for file in files], np.int64)[owner]
        self._parts.append((run, metric, step, value, time))

    def _mended(self, file: _File) -> bytes:
        """Return the lines that say what they should, all in the same form."""
        out = []
        for line in file.data.splitlines():
            # Without a step before MLflow 1.0; with a data set behind it since 2.4.
            time, value, step = ([*line.split(), b"0", b"0"] if line else [b""] * 3)[:3]
            try:
                out.append(f"{int(time)} {float(value)!r} {int(step)}\n")
            except ValueError:
                self._odd.append(file.place)
        return "".join(out).encode()


def _parsed(texts: Sequence[bytes]) -> tuple[Floats, Floats, Floats] | None:
    """Return time, value and step of lines, or None if some have another form."""
    from pyarrow import csv

    data = b"".join(texts)
    n = data.count(b"\n")
    if n == 0:
        return np.empty(0), np.empty(0), np.empty(0)
    if data.count(b" ") != 2 * n:
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=_COLUMNS),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(_COLUMNS, pa.float64()), null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != n:
        return None
    time, value, step = (table.column(c).to_numpy() for c in _COLUMNS)
    return time, value, step
