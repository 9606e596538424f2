"""Files that Ray Tune leaves: reports, params, the state of an experiment, errors."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Stated(NamedTuple):
    """What the state of an experiment says of a trial."""

    status: str
    trainable: str | None


def reported(
    results: Path | None, table: Path | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the reports of a trial, and how many lines cannot be read.

    They are in ``result.json``, one object per line, or only in ``progress.csv``.
    """
    if results is None:
        return ([], 0) if table is None else (_of_table(table), 0)
    rows, broken = [], 0
    with results.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict):
                rows.append(row)
            else:
                broken += 1
    return rows, broken


def _of_table(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        # A line that was cut has fewer cells, a damaged one more: None is their place.
        return [
            {key: _cell(text) for key, text in row.items() if key and text}
            for row in csv.DictReader(_without_nulls(file))
        ]


def _without_nulls(lines: Any) -> Iterator[str]:
    return (line.replace("\0", "") for line in lines)


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def loaded(path: Path | None) -> dict[str, Any] | None:
    """Return the object in a file of JSON; None if there is none."""
    if path is None:
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def last_line(path: Path | None) -> str:
    """Return the last line of a traceback, which says what went wrong."""
    if path is None:
        return ""
    text = _ANSI.sub("", path.read_text(encoding="utf-8", errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "an empty error.txt"


def flattened(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Return values with names like ``eval/return``; lists are kept as JSON.

    >>> dict(flattened({"eval": {"return": 1.0}, "layers": [8, 8]}))
    {'eval/return': 1.0, 'layers': '[8, 8]'}
    """
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, dict):
            yield from flattened(value, f"{name}/")
        elif isinstance(value, list):
            yield name, json.dumps(value)
        else:
            yield name, value


def stated_in(paths: Sequence[Path]) -> dict[str, Stated]:
    """Return what states of experiments say, by the name of a trial's folder.

    A resumed experiment has several states; the name holds the time, and the last counts.
    """
    out: dict[str, Stated] = {}
    for path in sorted(paths):
        try:
            state = loaded(path)
        except OSError:
            continue
        for trial in _entries(state or {}):
            folder = trial.get("relative_logdir") or trial.get("logdir")
            name = Path(str(folder)).name if folder else str(trial.get("trial_id"))
            trainable = trial.get("trainable_name")
            known = trainable if isinstance(trainable, str) else None
            status = str(trial.get("status") or "")
            out[name] = Stated(status, known)
    return out


def _entries(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the trials of a state: pairs in a newer Ray, ``checkpoints`` before 2.7."""
    entries = state.get("trial_data") or state.get("checkpoints") or []
    for entry in entries if isinstance(entries, list) else []:
        one = entry[0] if isinstance(entry, list) and entry else entry
        if isinstance(one, str):
            try:
                one = json.loads(one)
            except ValueError:
                continue
        if isinstance(one, dict):
            yield one
