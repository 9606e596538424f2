"""Trials of Optuna's that are told one by one, and what is beside their values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.exchange.cells import as_text
from curvewise.exchange.runs import LeftOut
from curvewise.exchange.tools.optuna.studies import Kept, Study
from curvewise.exchange.tools.optuna.values import column_of, named_choice
from curvewise.metrics import Floats

Attributes: TypeAlias = dict[str, tuple[list[int], list[Any]]]
_MOST_ATTRIBUTES = 200
_LONGEST = 500


@dataclass(slots=True)
class Told:
    """One trial, as a journal or a study in memory tells it."""

    study: int
    number: int
    state: str
    seconds: float = np.nan
    values: Sequence[Any] = ()
    params: dict[str, Any] = field(default_factory=dict)
    reported: dict[int, Any] = field(default_factory=dict)
    user: dict[str, Any] = field(default_factory=dict)
    system: dict[str, Any] = field(default_factory=dict)


def kept_of(
    studies: Sequence[Study],
    trials: Sequence[Told],
    left_out: Sequence[LeftOut] = (),
    remarks: Sequence[str] = (),
) -> Kept:
    """Return trials that were told one by one, side by side."""
    trials = sorted(trials, key=lambda one: (one.study, one.number))
    rows = range(len(trials))
    values = [
        (i, k, v) for i in rows for k, v in enumerate(trials[i].values) if v is not None
    ]
    reported = [(i, s, v) for i in rows for s, v in trials[i].reported.items()]
    names = dict.fromkeys(name for one in trials for name in one.params)
    params = {
        name: column_of(
            [
                named_choice(one.params[name]) if name in one.params else None
                for one in trials
            ]
        )
        for name in names
    }
    user, few = attribute_columns(len(trials), _by_name([t.user for t in trials]))
    system, many = attribute_columns(len(trials), _by_name([t.system for t in trials]))
    return Kept(
        studies,
        np.array([one.study for one in trials], np.int64),
        np.array([one.number for one in trials], np.int64),
        [one.state for one in trials],
        np.array([one.seconds for one in trials], np.float64),
        *(params, user, system),
        *(triples(values), triples(reported)),
        (*left_out, *few, *many),
        remarks,
    )


def seconds_between(begin: Any, end: Any) -> float:
    """Return the seconds between two moments, NaN where one of them is not known.

    >>> seconds_between("2026-01-01T00:00:00", "2026-01-01 00:01:30.5")
    90.5
    """
    try:
        return (
            datetime.fromisoformat(end) - datetime.fromisoformat(begin)
        ).total_seconds()
    except (ValueError, TypeError):  # no moment, or only one of them has a zone
        return math.nan


def triples(rows: Sequence[tuple[Any, ...]]) -> Floats:
    """Return rows of three numbers as an array; None is not a number."""
    return np.array(rows, np.float64).reshape(-1, 3)


def _by_name(told: Sequence[Mapping[str, Any]]) -> Attributes:
    out: Attributes = {}
    for row, own in enumerate(told):
        for name, value in own.items():
            rows, values = out.setdefault(name, ([], []))
            rows.append(row)
            values.append(value)
    return out


def attribute_columns(
    n: int, told: Attributes
) -> tuple[dict[str, pa.Array], list[LeftOut]]:
    """Return a column for each attribute of trials, and what was too much.

    Samplers write their whole state there, in long texts or under ever new names.

    Parameters
    ----------
    n : int
        How many trials there are.
    told : mapping of str to (list of int, list)
        Rows of the trials that have it, and their values.
    """
    often = sorted(told, key=lambda name: -len(told[name][0]))
    rare = often[_MOST_ATTRIBUTES:]
    columns, long, cut = {}, [], 0
    for name in often[:_MOST_ATTRIBUTES]:
        cells: list[Any] = [None] * n
        before = cut
        for row, value in zip(*told[name], strict=True):
            if isinstance(value, str | list | dict) and len(as_text(value)) > _LONGEST:
                cut += 1
            else:
                cells[row] = value
        if cut > before:
            long.append(name)
        if cut - before < len(told[name][0]):
            columns[name] = column_of(cells)
    left = []
    if cut:
        why = f"longer than {_LONGEST} characters"
        left.append(LeftOut(cut, why, tuple(long), "attribute"))
    if rare:
        why = f"beside the {_MOST_ATTRIBUTES} that most trials have"
        left.append(LeftOut(len(rare), why, tuple(rare), "attribute"))
    return columns, left
