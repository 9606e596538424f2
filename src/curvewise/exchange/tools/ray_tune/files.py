"""Files that Ray Tune leaves: reports, params, the state of an experiment, errors."""

import csv
import re
from pathlib import Path
from typing import Any

from curvewise.exchange.cells import as_text, parsed

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit)\b.*")


def reported(
    results: Path | None, table: Path | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the reports of a trial, and how many lines cannot be read.

    They are in ``result.json``, one object per line, or only in ``progress.csv``.
    """
    if results is None:
        return ([], 0) if table is None else _of_table(table)
    rows, broken = [], 0
    with results.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                row = parsed(line)
            except ValueError:
                row = None
            if isinstance(row, dict):
                rows.append(row)
            else:
                broken += 1
    return rows, broken


def _of_table(path: Path) -> tuple[list[dict[str, Any]], int]:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        lines = [line.replace("\0", "") for line in file]
    # What is being written, or was when its run was killed, may be half a number.
    cut = bool(lines) and not lines[-1].endswith(("\n", "\r"))
    reader = csv.DictReader(lines[:-1] if cut else lines)
    rows: list[dict[str, Any]] = []
    broken = int(cut)
    while True:
        try:
            row = next(reader, None)
        except csv.Error:  # a cell without an end
            broken += 1
            continue
        if row is None:
            return rows, broken
        # A line that was cut has fewer cells, a damaged one more: None is their place.
        rows.append({key: _cell(text) for key, text in row.items() if key and text})


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
        found = parsed(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def problem_in(path: Path | None) -> str:
    """Return the line of a traceback that says what was raised, or the last one."""
    if path is None:
        return ""
    text = _ANSI.sub("", path.read_text(encoding="utf-8", errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.fullmatch(line)]
    return (raised or lines or ["an empty error.txt"])[-1]


def flattened(values: dict[str, Any]) -> dict[str, Any]:
    """Return values with names like ``eval/return``; lists are kept as JSON.

    >>> flattened({"eval": {"return": 1.0}, "layers": [8, 8]})
    {'eval/return': 1.0, 'layers': '[8, 8]'}
    """
    if not {dict, list} & {type(value) for value in values.values()}:
        return values
    out: dict[str, Any] = {}
    waiting = list(values.items())[::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            inner = [(f"{name}/{key}", one) for key, one in value.items()]
            waiting += inner[::-1]
        else:
            out[name] = as_text(value) if isinstance(value, list) else value
    return out
