"""Optuna's storage in an SQLite file, of any version: columns say which one it is."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, shortened
from curvewise.exchange.cells import parsed
from curvewise.exchange.runs import LeftOut
from curvewise.exchange.tools.databases import Connection, opened
from curvewise.exchange.tools.optuna.studies import METRIC_NAMES, Kept, Study
from curvewise.exchange.tools.optuna.told import (
    Attributes,
    attribute_columns,
    seconds_between,
)
from curvewise.exchange.tools.optuna.values import drawn_from, param_columns
from curvewise.metrics import Direction, Floats
from curvewise.trials.columns import Bools, Ints

TABLES = frozenset({"studies", "trials", "trial_params"})
_CHUNK = 1000  # rows that are objects at one time
_WAYS: dict[str, Direction] = {"MINIMIZE": "lower", "MAXIMIZE": "higher"}
# What is not finite is told by its type, and its value is NULL; 9e999 is infinite.
_FINAL = "SELECT trial_id, objective, value FROM trial_values"
_FINAL_TYPED = """SELECT trial_id, objective, CASE value_type
    WHEN 'INF_POS' THEN 9e999 WHEN 'INF_NEG' THEN -9e999 ELSE value END
    FROM trial_values"""
_REPORTED = "SELECT trial_id, step, intermediate_value FROM trial_intermediate_values"
_REPORTED_TYPED = """SELECT trial_id, step, CASE intermediate_value_type
    WHEN 'INF_POS' THEN 9e999 WHEN 'INF_NEG' THEN -9e999 ELSE intermediate_value END
    FROM trial_intermediate_values"""
_USER = "SELECT trial_id, key, value_json FROM trial_user_attributes"
_SYSTEM = "SELECT trial_id, key, value_json FROM trial_system_attributes"


class _Database:
    """A database that is open."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns; none where there is no such table."""
        return {
            row[1] for row in self.connection.execute(f"PRAGMA table_info({table})")
        }

    def chunks(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """Yield rows, some at a time."""
        cursor = self.connection.execute(query)
        while rows := cursor.fetchmany(_CHUNK):
            yield rows

    def numbers(self, query: str) -> Floats:
        """Return the rows of three numbers that a query finds; NULL is not a number."""
        parts = [np.array(rows, np.float64) for rows in self.chunks(query)]
        return np.concatenate([np.empty((0, 3)), *parts])


def read(path: Path) -> Kept:
    """Return all trials of all studies, as they are at one moment."""
    try:
        return _read(path)
    except (TypeError, OverflowError, ValueError) as problem:
        if isinstance(problem, CurvewiseError):
            raise
        raise CurvewiseError(
            f"{path} is damaged: where Optuna keeps numbers, it holds something else "
            f"({shortened(problem)}). Restore it from a copy."
        ) from problem


def _read(path: Path) -> Kept:
    with opened(path) as connection:
        database = _Database(connection)
        places, studies = _studies(database)
        ids, trials, strangers = _trials(database, places)
        row_of = _Rows(ids)
        params, remarks = _params(database, row_of)
        user, few = _attributes(database, _USER, row_of)
        system, many = _attributes(database, _SYSTEM, row_of)
        values = row_of.kept(database.numbers(_final(database)))
        reported = row_of.kept(database.numbers(_reported(database)))
    left = [*few, *many]
    if strangers:
        left.append(LeftOut(strangers, "of studies that are not there any more"))
    if row_of.lost:
        left.append(LeftOut(row_of.lost, "of trials that are not there", what="value"))
    return Kept(studies, *trials, params, user, system, values, reported, left, remarks)


class _Rows:
    """In which row a trial is, by its id; counts values whose trial is not there."""

    def __init__(self, ids: Ints) -> None:
        self.order = np.argsort(ids, kind="stable")
        self.ids = ids[self.order]
        self.n = len(ids)
        self.lost = 0

    def find(self, ids: Ints) -> tuple[Ints, Bools]:
        """Return the rows of trials, and which of them there are."""
        place = np.minimum(np.searchsorted(self.ids, ids), max(self.n - 1, 0))
        known = self.ids[place] == ids if self.n else np.zeros(len(ids), bool)
        self.lost += int((~known).sum())
        rows: Ints = self.order[place[known]]
        return rows, np.asarray(known)

    def kept(self, rows: Floats) -> Floats:
        """Return rows that begin with an id with the row of the trial instead."""
        whole = np.isfinite(rows[:, :2]).all(axis=1)
        self.lost += int((~whole).sum())
        found, known = self.find(rows[whole, 0].astype(np.int64))
        out = rows[whole][known]
        out[:, 0] = found
        return out


# --- studies and trials ------------------------------------------------------------------


def _studies(database: _Database) -> tuple[dict[int, int], list[Study]]:
    connection = database.connection
    ways: dict[int, dict[int, str]] = {}
    if "direction" in database.columns("studies"):  # before there were several
        told = "SELECT study_id, 0, direction FROM studies"
    else:
        told = "SELECT study_id, objective, direction FROM study_directions"
    for study, objective, way in connection.execute(told):
        ways.setdefault(study, {})[objective] = way
    named = connection.execute(
        "SELECT study_id, value_json FROM study_system_attributes WHERE key = ?",
        (METRIC_NAMES,),
    ).fetchall()
    names = {study: _plain(text) for study, text in named}
    places: dict[int, int] = {}
    studies: list[Study] = []
    found = connection.execute(
        "SELECT study_id, study_name FROM studies ORDER BY study_id"
    )
    for study, name in found:
        places[study] = len(studies)
        own = [_WAYS.get(way) for _, way in sorted(ways.get(study, {0: ""}).items())]
        called = names.get(study)
        studies.append(
            Study(str(name), tuple(own), called if isinstance(called, list) else ())
        )
    return places, studies


def _trials(
    database: _Database, places: Mapping[int, int]
) -> tuple[Ints, tuple[Ints, Ints, list[str], Floats], int]:
    """Return ids of trials, what is known of each, and how many have no study."""
    rows = database.connection.execute(
        "SELECT trial_id, study_id, number, state, datetime_start, datetime_complete "
        "FROM trials ORDER BY study_id, trial_id"
    ).fetchall()
    known = [row for row in rows if row[1] in places]
    study = np.array([places[row[1]] for row in known], np.int64)
    counted = np.arange(len(study)) - np.searchsorted(study, study)
    told = (
        study,
        # It counts a study's trials; databases that are older than the column lack it.
        np.array(
            [c if r[2] is None else r[2] for c, r in zip(counted, known, strict=True)],
            np.int64,
        ),
        [str(row[3]) for row in known],
        np.array([seconds_between(row[4], row[5]) for row in known], np.float64),
    )
    ids = np.array([row[0] for row in known], np.int64)
    return ids, told, len(rows) - len(known)


# --- values ------------------------------------------------------------------------------


def _final(database: _Database) -> str:
    columns = database.columns("trial_values")
    if "objective" not in columns:  # a trial had one value, and it stood with the trial
        return "SELECT trial_id, 0, value FROM trials WHERE value IS NOT NULL"
    return _FINAL_TYPED if "value_type" in columns else _FINAL


def _reported(database: _Database) -> str:
    columns = database.columns("trial_intermediate_values")
    if not columns:
        return "SELECT trial_id, step, value FROM trial_values"
    return _REPORTED_TYPED if "intermediate_value_type" in columns else _REPORTED


def _params(
    database: _Database, row_of: _Rows
) -> tuple[dict[str, pa.Array], list[str]]:
    keys: dict[tuple[str, str], int] = {}
    ids, which, numbers = [], [], []
    query = (
        "SELECT trial_id, param_name, distribution_json, param_value FROM trial_params"
    )
    for rows in database.chunks(query):
        trial, name, text, value = zip(*rows, strict=True)
        ids.append(np.array(trial, np.int64))
        which.append(
            [keys.setdefault(k, len(keys)) for k in zip(name, text, strict=True)]
        )
        numbers.append(np.array(value, np.float64))
    whole = np.empty(0, np.int64)
    row, known = row_of.find(np.concatenate([whole, *ids]))
    key = np.concatenate([whole, *which])[known]
    number = np.concatenate([np.empty(0), *numbers])[known]
    odd = sorted({name for name, text in keys if not drawn_from(text).is_known})
    remarks = [
        f"'{name}' was drawn from something that is not known here: its values stand as "
        f"they are stored."
        for name in odd
    ]
    return param_columns(row_of.n, row, key, number, keys), remarks


def _attributes(
    database: _Database, query: str, row_of: _Rows
) -> tuple[dict[str, pa.Array], list[LeftOut]]:
    told: Attributes = {}
    for rows in database.chunks(query):
        for trial, name, text in rows:
            ids, texts = told.setdefault(str(name), ([], []))
            ids.append(trial)
            texts.append(text)
    values = {}
    for name, (ids, texts) in told.items():
        found, known = row_of.find(np.array(ids, np.int64))
        own = _parsed(texts)
        if not known.all():
            own = [v for v, ours in zip(own, known, strict=True) if ours]
        values[name] = (found.tolist(), own)
    return attribute_columns(row_of.n, values)


def _parsed(texts: Sequence[str]) -> list[Any]:
    """Return many JSON texts as values, at once if they allow."""
    try:
        values = parsed(f"[{','.join(texts)}]")
    except (TypeError, ValueError):
        values = []
    same = len(values) == len(texts)
    return values if same else [_plain(text) for text in texts]


def _plain(text: str) -> Any:
    try:
        return parsed(text)
    except (TypeError, ValueError):
        return text
