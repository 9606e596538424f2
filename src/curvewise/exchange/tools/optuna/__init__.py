"""Optuna: its SQLite storage, its journal, its frames, and a study in memory.

A study is an algorithm, and a trial of it a trial. Numbers of trials only count: trial 3 of
one study and trial 3 of another are no pair.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.columns import numbers
from curvewise.exchange.runs import Asked, LeftOut, Runs, Scalars, parsed
from curvewise.exchange.tables import load
from curvewise.exchange.tools.contents import Connection, Seen, opened
from curvewise.exchange.tools.optuna.studies import (
    INTERMEDIATE,
    METRIC_NAMES,
    Attributes,
    Kept,
    Study,
    Told,
    as_runs,
    attribute_columns,
    drawn_from,
    kept_of,
    of_one_kind,
    param_columns,
    refuse_step,
    seconds_between,
)
from curvewise.metrics import Direction, Floats, find
from curvewise.text import count
from curvewise.trials.columns import Bools, Ints
from curvewise.trials.names import first


def fits_path(seen: Seen) -> bool:
    """Return whether this is a storage of Optuna's: a database or a journal."""
    if seen.is_folder:
        return False
    return seen.tables >= TABLES or is_journal(seen.head)


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return the trials of all studies of a storage."""
    refuse_step(asked)
    if seen.tables:
        kept = read_database(seen.path)
        return as_runs(kept, f"Optuna storage {seen.path.name}", asked)
    kept = read_journal(seen.path)
    return as_runs(kept, f"Optuna journal {seen.path.name}", asked)


def fits_table(table: pa.Table) -> bool:
    """Return whether a table came from `study.trials_dataframe()`."""
    return is_frame(table)


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the trials of a table of `study.trials_dataframe()`."""
    refuse_step(asked)
    return read_frame(table, name, asked)


def fits_object(source: object) -> bool:
    """Return whether this is a study, or its frame with columns of two levels."""
    return is_study(source) or has_two_levels(source)


def read_object(source: Any, asked: Asked) -> Runs:
    """Return the trials of a study in memory."""
    refuse_step(asked)
    if is_study(source):
        kept = read_study(source)
        return as_runs(kept, f"Optuna study {kept.studies[0].name}", asked)
    return read_frame(*on_one_level(source), asked)


# --- Frames of `study.trials_dataframe()`, in memory or saved --------------------------
#
# A frame knows neither the name of its study nor what is better.


_WORDS_FOR_STATES = {"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"}
_STUDY = ("study_name", "study")
_REPORTED_COLUMN = re.compile(r"intermediate_values_(\d+)")
_VALUE = re.compile(r"value|values?_(.+)")
_PREFIXES = ("params", "user_attrs", "system_attrs")
# Times are kept as seconds; an index that was saved counts the rows.
_NOT_KEPT = {"datetime_start", "datetime_complete", "duration", "number"}
_INDEX = {"", "index", "Unnamed: 0"}


def is_frame(table: pa.Table) -> bool:
    """Return whether a table has the columns of Optuna's, and its words for states."""
    columns = table.column_names
    if not {"number", "state"} <= {*columns}:
        return False
    if not any(_VALUE.fullmatch(column) for column in columns):
        return False
    states = table.column("state").cast(pa.string()).unique().to_pylist()
    return {str(state).rpartition(".")[2] for state in states} <= _WORDS_FOR_STATES


def has_two_levels(source: Any) -> bool:
    """Return whether this is a frame of ``trials_dataframe(multi_index=True)``."""
    if not type(source).__module__.startswith("pandas"):
        return False  # others may have to look at all rows to tell their columns
    columns: Any = getattr(source, "columns", None)
    return getattr(columns, "nlevels", 1) == 2 and ("number", "") in columns


def on_one_level(frame: Any) -> tuple[pa.Table, str]:
    """Return a frame with columns of two levels as a table with plain names."""
    names = ["_".join(str(part) for part in pair if part != "") for pair in frame]
    return load(frame.set_axis(names, axis=1))


def read_frame(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the trials of a frame."""
    scalars = _scalars(table)
    if asked.metrics is None and any(find(one) is None for one in scalars.names):
        raise _high_or_low(scalars.names, name)
    study = first(_STUDY, table.column_names)
    names = _study_names(table, study, name)
    number = table.column("number").cast(pa.string()).to_pylist()
    runs = [f"{of}/{n}" for of, n in zip(names, number, strict=True)]
    columns: dict[str, Any] = {
        "run": pa.array(runs, pa.string()),
        "study": pa.array(names, pa.string()),
        "status": table.column("state").cast(pa.string()),
        "seconds": _seconds(table),
    }
    for column in table.column_names:
        used = column in (*_NOT_KEPT, *_INDEX, study) or _is_score(column)
        if not used:
            columns.setdefault(_named(column), table.column(column))
    return Runs(
        f"Optuna trials of {name}",
        pa.table(columns),
        scalars,
        usual={"algorithm": "study"},
        steps="step" if INTERMEDIATE in scalars.names else "",
        closed=True,
    )


def _high_or_low(metrics: Sequence[str], name: str) -> CurvewiseError:
    example = {shortened(metric): "lower" for metric in metrics}
    return CurvewiseError(
        f"Should {listed(metrics)} be high or low? {name} is a frame of "
        "Optuna's, which does not say, and Optuna minimizes unless told "
        "otherwise. Pass ",
        {"metrics": example},
        ", or 'higher'; or read the study's storage, which knows.",
    )


def _study_names(table: pa.Table, study: str | None, name: str) -> list[str]:
    if study is not None:
        return [str(cell) for cell in table.column(study).to_pylist()]
    path = PurePath(name)
    return [path.stem if path.suffix else "study"] * table.num_rows


def _is_score(column: str) -> bool:
    return bool(_VALUE.fullmatch(column) or _REPORTED_COLUMN.fullmatch(column))


def _named(column: str) -> str:
    for prefix in _PREFIXES:
        if column.startswith(f"{prefix}_"):
            return f"{prefix}.{column.removeprefix(f'{prefix}_')}"
    return column


def _scalars(table: pa.Table) -> Scalars:
    """Return final values at the last step that was reported, and those on the way."""
    steps = {
        column: int(found[1])
        for column in table.column_names
        if (found := _REPORTED_COLUMN.fullmatch(column))
    }
    last = float(max(steps.values(), default=0))
    parts = []
    for column in table.column_names:
        if found := _VALUE.fullmatch(column):
            # "values_0" is a name, "values_loss" and "value_loss" say what it is of.
            own = found[1] if found[1] and not found[1].isdigit() else column
            parts.append((own, last, numbers(table, column)))
    for column, step in sorted(steps.items(), key=lambda one: one[1]):
        parts.append((INTERMEDIATE, float(step), numbers(table, column)))
    names = tuple(dict.fromkeys(name for name, _, _ in parts))
    rows = [np.flatnonzero(~np.isnan(values)) for _, _, values in parts]
    sizes = [len(own) for own in rows]
    return Scalars(
        np.concatenate(rows),
        np.repeat([names.index(name) for name, _, _ in parts], sizes),
        np.repeat([step for _, step, _ in parts], sizes),
        np.concatenate([v[own] for (_, _, v), own in zip(parts, rows, strict=True)]),
        names,
    )


def _seconds(table: pa.Table) -> pa.Array:
    try:
        begin, end = (
            table.column(column).cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
            for column in ("datetime_start", "datetime_complete")
        )
    except (KeyError, pa.ArrowException):
        return pa.nulls(table.num_rows, pa.float64())
    return pa.array((end - begin) / 1e6)


# --- A study of Optuna's in memory, known by what it can do: Optuna is not imported ----


_WAYS: dict[str, Direction] = {"MINIMIZE": "lower", "MAXIMIZE": "higher"}
_OWN = ("get_trials", "directions", "best_trials")


def is_study(source: object) -> bool:
    """Return whether this is a study; its class is asked, for a study would look all up."""
    able = all(hasattr(type(source), name) for name in _OWN)
    return able and hasattr(source, "study_name")


def read_study(study: Any) -> Kept:
    """Return the trials of a study."""
    about = Study(
        str(study.study_name),
        tuple(_WAYS.get(way.name) for way in study.directions),
        getattr(study, "metric_names", None) or (),
    )
    trials = [
        Told(
            0,
            trial.number,
            trial.state.name,
            math.nan if trial.duration is None else trial.duration.total_seconds(),
            trial.values or (),
            {name: _chosen(trial, name) for name in trial.params},
            trial.intermediate_values,
            trial.user_attrs,
            trial.system_attrs,
        )
        for trial in study.get_trials(deepcopy=False)
    ]
    return kept_of([about], trials)


def _chosen(trial: Any, name: str) -> Any:
    """Return a hyperparameter as its column has it: all choices are of one kind."""
    value = trial.params[name]
    choices = getattr(trial.distributions[name], "choices", None)
    return value if choices is None else of_one_kind([value, *choices])[0]


# --------------------------------------------------------------------------------------
# Optuna's storage in an SQLite file, of any version: columns say which one it is.


TABLES = frozenset({"studies", "trials", "trial_params"})
_CHUNK = 1000  # rows that are objects at one time

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


def read_database(path: Path) -> Kept:
    """Return all trials of all studies, as they are at one moment."""
    try:
        return _whole_database(path)
    except (TypeError, OverflowError, ValueError) as problem:
        if isinstance(problem, CurvewiseError):
            raise
        raise CurvewiseError(
            f"{path} is damaged: where Optuna keeps numbers, it holds something else "
            f"({shortened(problem)}). Restore it from a copy."
        ) from problem


def _whole_database(path: Path) -> Kept:
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


# --------------------------------------------------------------------------------------
# Optuna's journal: a file with one operation per line, played again from its
# beginning.
#
# Trials have no ids there but their place, so a line that cannot be read ends the reading:
# behind it nobody knows whose values are whose.


_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_NUMBERED_WAYS: dict[int, Direction] = {1: "lower", 2: "higher"}
_GOING_ON = ("RUNNING", "WAITING")


def is_journal(head: bytes) -> bool:
    """Return whether a file begins as a journal does.

    >>> is_journal(b'{"op_code": 0, "worker_id": "a", "study_name": "s"}')
    True
    """
    first = head.lstrip().split(b"\n", 1)[0]
    return first.startswith(b"{") and b'"op_code"' in first and b'"worker_id"' in first


def read_journal(path: Path) -> Kept:
    """Return all trials of all studies that were not deleted."""
    replay = _Replay()
    behind, damaged = 0, 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if damaged:
                    behind += 1
                elif not _applied(replay, line):
                    damaged = number
    except OSError as problem:
        raise CurvewiseError(
            f"{path} cannot be read: {problem.strerror}. Check its permissions."
        ) from problem
    return replay.kept(_said(damaged, behind))


def _said(damaged: int, behind: int) -> list[str]:
    if not damaged:
        return []
    if not behind:
        return [
            f"its last line, {damaged}, is not whole, as when somebody is writing or was "
            f"killed: read up to there."
        ]
    return [
        f"line {damaged} cannot be read, and without it {count(behind, 'line')} behind it "
        f"cannot be told apart: read up to there. Optuna would not open this file. Mend "
        f"the line to read the rest."
    ]


@dataclass(slots=True)
class _Trial:
    """A trial that is being told of, and when it began and ended."""

    told: Told
    begin: str | None = None
    end: str | None = None


class _Replay:
    """What the operations so far have made."""

    def __init__(self) -> None:
        self.studies: dict[int, _About] = {}
        self.created = 0
        self.trials: list[_Trial] = []
        self.foreign: dict[Any, int] = {}
        self.operations: dict[int, Callable[[Mapping[str, Any]], None]] = {
            0: self._create_study,
            1: self._delete_study,
            3: self._study_system,
            4: self._create_trial,
            5: self._param,
            6: self._state,
            7: self._reported,
            8: self._user,
            9: self._system,
        }

    def apply(self, log: Mapping[str, Any]) -> None:
        """Do what one line says; what refers to nothing is ignored, as Optuna does."""
        operation = self.operations.get(log["op_code"])
        if operation is not None:
            operation(log)
        elif log["op_code"] not in (
            2,
            10,
        ):  # a study's user attributes; a hint to others
            self.foreign[log["op_code"]] = self.foreign.get(log["op_code"], 0) + 1

    def kept(self, remarks: list[str]) -> Kept:
        """Return what is there in the end."""
        place = {study: i for i, study in enumerate(self.studies)}
        deleted = [one for one in self.trials if one.told.study not in place]
        left = []
        if deleted:
            left.append(LeftOut(len(deleted), "of deleted studies"))
        if self.foreign:
            why = "of a kind that is not known here"
            left.append(LeftOut(sum(self.foreign.values()), why, what="line"))
        trials = []
        for one in self.trials:
            if one.told.study in place:
                one.told.study = place[one.told.study]
                one.told.seconds = seconds_between(one.begin, one.end)
                trials.append(one.told)
        studies = [
            Study(one.name, one.directions, one.metric_names)
            for one in self.studies.values()
        ]
        return kept_of(studies, trials, left, remarks)

    # --- operations ----------------------------------------------------------------------

    def _create_study(self, log: Mapping[str, Any]) -> None:
        name = str(log["study_name"])
        ways = tuple(_NUMBERED_WAYS.get(way) for way in log["directions"])
        if any(one.name == name for one in self.studies.values()):
            return  # two processes created the same one
        self.studies[self.created] = _About(name, ways or (None,))
        self.created += 1

    def _delete_study(self, log: Mapping[str, Any]) -> None:
        self.studies.pop(log["study_id"], None)

    def _study_system(self, log: Mapping[str, Any]) -> None:
        names = log["system_attr"].get(METRIC_NAMES)
        if isinstance(names, list) and log["study_id"] in self.studies:
            self.studies[log["study_id"]].metric_names = names

    def _create_trial(self, log: Mapping[str, Any]) -> None:
        study = self.studies.get(log["study_id"])
        if study is None:
            return
        one = log.get("value")
        told = Told(
            log["study_id"],
            study.trials,
            _STATES[log.get("state", 0)],
            values=_numbers(log.get("values") or ([] if one is None else [one])),
            reported={
                int(step): float(value)
                for step, value in (log.get("intermediate_values") or {}).items()
            },
            user=dict(log.get("user_attrs") or {}),
            system=dict(log.get("system_attrs") or {}),
        )
        texts = log.get("distributions") or {}
        for name, number in (log.get("params") or {}).items():
            told.params[name] = drawn_from(texts[name]).value(number)
        begin, end = log["datetime_start"], log.get("datetime_complete")
        self.trials.append(_Trial(told, begin, end))
        study.trials += 1

    def _open(self, log: Mapping[str, Any]) -> _Trial | None:
        """Return the trial that a line is about, unless it has ended."""
        place = int(log["trial_id"])
        if not 0 <= place < len(self.trials):
            return None
        one = self.trials[place]
        return one if one.told.state in _GOING_ON else None

    def _param(self, log: Mapping[str, Any]) -> None:
        one = self._open(log)
        if one is None:
            return
        name, drawn = log["param_name"], drawn_from(log["distribution"])
        study = self.studies.get(one.told.study)
        # A study cannot change what it draws from; Optuna writes the line and refuses it.
        if study is None or study.laws.setdefault(name, drawn.law) == drawn.law:
            one.told.params[name] = drawn.value(log["param_value_internal"])

    def _state(self, log: Mapping[str, Any]) -> None:
        one, state = self._open(log), _STATES[log["state"]]
        if one is None or state == one.told.state == "RUNNING":
            return
        one.told.state = state
        one.begin = log.get("datetime_start", one.begin)
        one.end = log.get("datetime_complete", one.end)
        if log["values"] is not None:
            one.told.values = _numbers(log["values"])

    def _reported(self, log: Mapping[str, Any]) -> None:
        one = self._open(log)
        if one is not None:
            one.told.reported[int(log["step"])] = float(log["intermediate_value"])

    def _user(self, log: Mapping[str, Any]) -> None:
        one = self._open(log)
        if one is not None:
            one.told.user.update(log["user_attr"])

    def _system(self, log: Mapping[str, Any]) -> None:
        one = self._open(log)
        if one is not None:
            one.told.system.update(log["system_attr"])


def _applied(replay: "_Replay", line: bytes) -> bool:
    if not line.strip():
        return True
    try:
        replay.apply(parsed(line.decode()))
    except (ValueError, LookupError, TypeError, AttributeError):
        return False
    return True


@dataclass(slots=True)
class _About:
    """A study that is being told of."""

    name: str
    directions: tuple[Direction | None, ...]
    metric_names: list[str] = field(default_factory=list)
    trials: int = 0
    laws: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _numbers(values: Any) -> list[float]:
    """Return values as numbers; raise where a line holds something else."""
    return [math.nan if value is None else float(value) for value in values or ()]
