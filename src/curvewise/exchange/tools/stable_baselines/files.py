"""The three kinds of files in which Stable-Baselines3 keeps scores."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from curvewise._text import count
from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.metrics import Floats

_NAMES = {"r": "return", "l": "length"}
_TRUTH = {"True": 1.0, "False": 0.0}
_MOST_OF_A_LINE = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """What one environment's monitor wrote down, in order of writing.

    Parameters
    ----------
    env : str or None
    began : float
        When it was started, in seconds.
    columns : mapping of str to array
        A value per episode; "t" is the time since the start.
    remarks : tuple of str
    """

    env: str | None
    began: float
    columns: Mapping[str, Floats]
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns["t"])


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Scores of a run by step.

    Parameters
    ----------
    steps : mapping of str to array
        Where each metric was recorded.
    values : mapping of str to array
    labels : mapping
    remarks : tuple of str
    """

    steps: Mapping[str, Floats]
    values: Mapping[str, Floats]
    labels: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


# --- monitor.csv -------------------------------------------------------------------------


def episodes_of(path: Path) -> Episodes:
    """Return the episodes of a monitor's file, up to the first damage."""
    with _opened(path) as file:
        header = _header(file.readline(_MOST_OF_A_LINE), path)
        names, *rows = list(csv.reader(file)) or [[]]
    if not {"r", "l", "t"} <= set(names):
        if not any([names, *rows]):  # it died before it wrote the names of the columns
            return Episodes(_env(header), _start(header), _columns([], "rlt"))
        raise CurvewiseError(
            f"{path} is no monitor's file: its columns are {listed(names)}, without r, l "
            f"and t. Pass files that stable_baselines3's Monitor wrote."
        )
    kept, remarks = _whole(rows, names, path.name)
    columns = _columns(kept, names)
    texts = [n for n in names if _NAMES.get(n, n) not in columns]
    if texts:
        remarks.append(
            f"In {path.name}, {listed(texts)} hold text: no scores, and not read."
        )
    columns["t"] = _going_on(columns["t"])
    return Episodes(_env(header), _start(header), columns, tuple(remarks))


def _header(line: str, path: Path) -> dict[str, Any]:
    if not line.strip():
        return {}
    try:
        header = json.loads(line.removeprefix("#")) if line.startswith("#") else None
    except json.JSONDecodeError:
        header = None
    if not isinstance(header, dict):
        raise CurvewiseError(
            f"{path} begins with '{shortened(line)}', not with #{{\"t_start\": ...}} as "
            f"files of a monitor do. It may be damaged or of another kind."
        )
    return header


def _env(header: Mapping[str, Any]) -> str | None:
    env = header.get("env_id")
    return None if env in (None, "", "None") else str(env)


def _start(header: Mapping[str, Any]) -> float:
    start = header.get("t_start", 0.0)
    return float(start) if isinstance(start, int | float) else 0.0


def _whole(
    rows: Sequence[list[str]], names: Sequence[str], file: str
) -> tuple[list[list[str]], list[str]]:
    """Return the rows that are whole, and what is to be said of the others."""
    rows = [row for row in rows if row]
    good = [len(row) == len(names) and _are_numbers(row, names) for row in rows]
    kept = [row for row, is_good in zip(rows, good, strict=True) if is_good]
    broken = len(rows) - len(kept)
    if not broken:
        return kept, []
    if broken == 1 and not good[-1]:
        return kept, [f"The last line of {file} is cut: read up to it."]
    first = 3 + good.index(False)
    return kept, [
        f"{count(broken, 'line')} of {len(rows)} in {file} are damaged, first line "
        f"{first}: left out, so that its steps are fewer than there were."
    ]


def _are_numbers(row: Sequence[str], names: Sequence[str]) -> bool:
    return all(
        _number(cell) is not None
        for cell, name in zip(row, names, strict=True)
        if name in ("r", "l", "t")
    )


def _number(cell: str) -> float | None:
    if cell in _TRUTH:
        return _TRUTH[cell]
    try:
        return float(cell) if cell else float("nan")
    except ValueError:
        return None


def _columns(rows: Sequence[list[str]], names: Sequence[str]) -> dict[str, Floats]:
    cells = {name: [_number(row[i]) for row in rows] for i, name in enumerate(names)}
    return {
        _NAMES.get(name, name): np.array(values, np.float64)
        for name, values in cells.items()
        if None not in values
    }


def _going_on(seconds: Floats) -> Floats:
    """Return times that go on where a resumed run began again at zero."""
    falls = np.diff(seconds, prepend=seconds[:1]) < 0
    before = np.concatenate([seconds[:1], seconds[:-1]])
    return np.asarray(seconds + np.cumsum(np.where(falls, before, 0.0)))


# --- evaluations.npz ---------------------------------------------------------------------


def evaluations_of(path: Path) -> Curves:
    """Return the mean scores of the evaluations that an `EvalCallback` kept."""
    try:
        # Opened here: numpy leaves a file open that turns out to be damaged.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            if not isinstance(arrays, np.lib.npyio.NpzFile):
                raise _foreign(path, [])
            names = arrays.files
            if not {"timesteps", "results"} <= set(names):
                raise _foreign(path, names)
            timesteps = np.asarray(arrays["timesteps"], np.float64)
            kinds = {"results": "return", "ep_lengths": "length"}
            kinds["successes"] = "success"
            found = {
                f"eval_{kind}": np.asarray(arrays[name], np.float64)
                for name, kind in kinds.items()
                if name in names
            }
    except CurvewiseError:
        raise
    except Exception as problem:  # whatever numpy and zip files raise
        raise CurvewiseError(
            f"{path} cannot be read: {shortened(problem, 200).rstrip('. ')}. The file may "
            f"be damaged or cut, or hold unequal numbers of episodes, which numpy can only "
            f"pickle."
        ) from problem
    for name, scores in found.items():
        if scores.ndim != 2 or len(scores) != len(timesteps) or timesteps.ndim != 1:
            raise CurvewiseError(
                f"{path} holds {timesteps.shape} timesteps and {scores.shape} scores of "
                f"'{name}'. An EvalCallback writes (evaluation,) and (evaluation, episode)."
            )
    episodes = found["eval_return"].shape[1]
    values = {name: scores.mean(axis=1) for name, scores in found.items()}
    steps = dict.fromkeys(values, timesteps)
    return Curves(steps, values, {"eval_episodes": episodes})


def _foreign(path: Path, names: Sequence[str]) -> CurvewiseError:
    has = f"the arrays {listed(names)}" if names else "one array without a name"
    return CurvewiseError(
        f"{path} holds {has}. An EvalCallback of Stable-Baselines3 writes 'timesteps' and "
        f"'results'; pass other arrays as a dict of columns."
    )


# --- progress.csv ------------------------------------------------------------------------


def progress_of(path: Path, clock: str) -> Curves:
    """Return what the logger wrote, by one of its columns; empty cells were not logged."""
    with _opened(path) as file:
        names, *rows = list(csv.reader(file)) or [[]]
    if clock not in names:
        raise CurvewiseError(
            f"{path} has no column '{shortened(clock)}' to count steps by; it has "
            f"{listed(names)}. Pass one of them as ",
            {"step": ...},
            ".",
        )
    whole = [row for row in rows if len(row) == len(names)]
    remarks = []
    if cut := sum(map(bool, rows)) - len(whole):
        remarks.append(f"{count(cut, 'line')} of {path.name} are cut, and left out.")
    cells = {n: [_number(row[i]) for row in whole] for i, n in enumerate(names)}
    texts = [n for n, values in cells.items() if None in values]
    if texts:
        remarks.append(
            f"In {path.name}, {listed(texts)} hold text: no scores, and not read."
        )
    columns = {
        n: np.array(values, np.float64) for n, values in cells.items() if n not in texts
    }
    if clock in texts:
        raise CurvewiseError(
            f"Column '{clock}' of {path} holds text and counts no steps."
        )
    at = columns.pop(clock)
    known = {n: np.isfinite(at) & ~np.isnan(v) for n, v in columns.items()}
    scored = [n for n in columns if known[n].any() and not n.startswith("time/")]
    return Curves(
        {n: at[known[n]] for n in scored},
        {n: columns[n][known[n]] for n in scored},
        remarks=tuple(remarks),
    )


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open a file of text; what goes wrong until it is closed is said of the file."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            yield file
    except OSError as problem:
        raise CurvewiseError(
            f"{path} cannot be read: {problem.strerror}. Check it and its permissions."
        ) from problem
    except csv.Error as problem:
        raise CurvewiseError(
            f"{path} is no table of text: {problem}. It may be damaged or of another kind."
        ) from problem
