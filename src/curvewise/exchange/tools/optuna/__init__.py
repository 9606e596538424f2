"""Optuna: its SQLite storage, its journal, its frames, and a study in memory.

A study is an algorithm, and a trial of it a trial. Numbers of trials only count: trial 3 of
one study and trial 3 of another are no pair.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.columns import numbers
from curvewise.exchange.runs import (
    Asked,
    LeftOut,
    Runs,
    Scalars,
    parsed,
    scalars_by_metric,
)
from curvewise.exchange.tables import load
from curvewise.exchange.tools.files import Connection, Listing, opened, unreadable
from curvewise.exchange.tools.optuna.studies import (
    INTERMEDIATE,
    METRIC_NAMES,
    Attributes,
    Study,
    StudyTrials,
    Trial,
    as_runs,
    attribute_columns,
    drawn_from,
    of_one_kind,
    param_columns,
    seconds_between,
    study_trials,
)
from curvewise.metrics import Direction, Floats, find
from curvewise.text import count
from curvewise.trials.columns import Bools, Ints
from curvewise.trials.names import first

_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_GOING_ON = ("RUNNING", "WAITING")
_CLOCKS = ("step",)  # the one of trial.report(value, step)


def fits_path(listing: Listing) -> bool:
    """Return whether this is a storage of Optuna's: a database or a journal."""
    if listing.is_folder:
        return False
    return listing.tables >= _TABLES or _is_journal(listing.head)


def read_path(listing: Listing, asked: Asked) -> Runs:
    """Return the trials of all studies of a storage."""
    if listing.tables:
        source = f"Optuna storage {listing.path.name}"
        asked.must_count_by(_CLOCKS, source)
        return as_runs(_read_database(listing.path), source, asked)
    source = f"Optuna journal {listing.path.name}"
    asked.must_count_by(_CLOCKS, source)
    return as_runs(_read_journal(listing.path), source, asked)


def fits_table(table: pa.Table) -> bool:
    """Return whether a table came from `study.trials_dataframe()`."""
    columns = table.column_names
    if not {"number", "state"} <= {*columns}:
        return False
    if not any(_VALUE.fullmatch(column) for column in columns):
        return False
    states = table.column("state").cast(pa.string()).unique().to_pylist()
    return {str(state).rpartition(".")[2] for state in states} <= {*_STATES}


def fits_object(source: object) -> bool:
    """Return whether this is a study, or its frame with columns of two levels."""
    return _is_study(source) or _has_two_levels(source)


def read_object(source: Any, asked: Asked) -> Runs:
    """Return the trials of a study in memory."""
    if not _is_study(source):
        names = ["_".join(str(part) for part in pair if part != "") for pair in source]
        return read_table(*load(source.set_axis(names, axis=1)), asked)
    trials = _read_study(source)
    name = f"Optuna study {trials.studies[0].name}"
    asked.must_count_by(_CLOCKS, name)
    return as_runs(trials, name, asked)


# --- Frames of `study.trials_dataframe()`, in memory or saved --------------------------
#
# A frame knows neither the name of its study nor what is better.


_STUDY = ("study_name", "study")
_REPORTED_COLUMN = re.compile(r"intermediate_values_(\d+)")
_VALUE = re.compile(r"value|values?_(.+)")
_PREFIXES = ("params", "user_attrs", "system_attrs")
# Times are kept as seconds; an index that was saved counts the rows.
_NOT_KEPT = {"datetime_start", "datetime_complete", "duration", "number"}
_INDEX = {"", "index", "Unnamed: 0"}


def _has_two_levels(source: Any) -> bool:
    """Return whether this is a frame of ``trials_dataframe(multi_index=True)``."""
    if not type(source).__module__.startswith("pandas"):
        return False  # others may have to look at all rows to tell their columns
    columns: Any = getattr(source, "columns", None)
    return getattr(columns, "nlevels", 1) == 2 and ("number", "") in columns


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the trials of a table of `study.trials_dataframe()`."""
    asked.must_count_by(_CLOCKS, f"{name} of Optuna")
    scalars = _scalars(table)
    if asked.metrics is None and any(find(one) is None for one in scalars.names):
        raise CurvewiseError(
            f"Should {listed(scalars.names)} be high or low? {name} is a frame of "
            "Optuna's, which does not say, and Optuna minimizes unless told "
            "otherwise. Pass ",
            {"metrics": {shortened(metric): "lower" for metric in scalars.names}},
            ", or 'higher'; or read the study's storage, which knows.",
        )
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
        is_score = _VALUE.fullmatch(column) or _REPORTED_COLUMN.fullmatch(column)
        if not is_score and column not in (*_NOT_KEPT, *_INDEX, study):
            columns.setdefault(_named(column), table.column(column))
    return Runs(
        f"Optuna trials of {name}",
        pa.table(columns),
        scalars,
        usual={"algorithm": "study"},
        steps="step" if INTERMEDIATE in scalars.names else "",
        closed=True,
    )


def _study_names(table: pa.Table, study: str | None, name: str) -> list[str]:
    if study is not None:
        return [str(cell) for cell in table.column(study).to_pylist()]
    path = PurePath(name)
    return [path.stem if path.suffix else "study"] * table.num_rows


def _named(column: str) -> str:
    for prefix in _PREFIXES:
        if column.startswith(f"{prefix}_"):
            return f"{prefix}.{column.removeprefix(f'{prefix}_')}"
    return column


def _scalars(table: pa.Table) -> Scalars:
    """Return final values at the last step that was reported, and those on the way."""
    steps = {
        column: float(match[1])
        for column in table.column_names
        if (match := _REPORTED_COLUMN.fullmatch(column))
    }
    last = max(steps.values(), default=0.0)
    scores = []
    for column in table.column_names:
        if match := _VALUE.fullmatch(column):
            # "values_0" is a name, "values_loss" and "value_loss" say what it is of.
            metric = match[1] if match[1] and not match[1].isdigit() else column
            scores.append((metric, last, numbers(table, column)))
    for column, step in sorted(steps.items(), key=lambda one: one[1]):
        scores.append((INTERMEDIATE, step, numbers(table, column)))
    rows_of = [np.flatnonzero(~np.isnan(values)) for *_, values in scores]
    return scalars_by_metric(
        (metric, step, rows, values[rows])
        for (metric, step, values), rows in zip(scores, rows_of, strict=True)
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


def _is_study(source: object) -> bool:
    """Return whether this is a study; its class is asked, for a study would look all up."""
    able = all(hasattr(type(source), name) for name in _OWN)
    return able and hasattr(source, "study_name")


def _read_study(source: Any) -> StudyTrials:
    """Return the trials of a study."""
    study = Study(
        str(source.study_name),
        tuple(_WAYS.get(way.name) for way in source.directions),
        getattr(source, "metric_names", None) or (),
    )
    trials = [
        Trial(
            study=0,
            number=trial.number,
            state=trial.state.name,
            seconds=(
                math.nan if trial.duration is None else trial.duration.total_seconds()
            ),
            values=trial.values or (),
            params={name: _chosen(trial, name) for name in trial.params},
            reported=trial.intermediate_values,
            user=trial.user_attrs,
            system=trial.system_attrs,
        )
        for trial in source.get_trials(deepcopy=False)
    ]
    return study_trials([study], trials)


def _chosen(trial: Any, name: str) -> Any:
    """Return a hyperparameter as its column has it: all choices are of one kind."""
    value = trial.params[name]
    choices = getattr(trial.distributions[name], "choices", None)
    return value if choices is None else of_one_kind([value, *choices])[0]


# --------------------------------------------------------------------------------------
# Optuna's storage in an SQLite file, of any version: columns say which one it is.


_TABLES = frozenset({"studies", "trials", "trial_params"})
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


def _read_database(path: Path) -> StudyTrials:
    """Return all trials of all studies, as they are at one moment."""
    try:
        with opened(path) as database:
            return _study_trials(database)
    except (TypeError, OverflowError, ValueError) as problem:
        if isinstance(problem, CurvewiseError):
            raise
        raise CurvewiseError(
            f"{path} is damaged: where Optuna keeps numbers, it holds something else "
            f"({shortened(problem)}). Restore it from a copy.",
            argument="source",
            value=path,
        ) from problem


def _study_trials(database: Connection) -> StudyTrials:
    places, studies = _studies(database)
    ids, trials, strangers = _trials(database, places)
    row_of = _Rows(ids)
    params, remarks = _params(database, row_of)
    user, few = _attributes(database, _USER, row_of)
    system, many = _attributes(database, _SYSTEM, row_of)
    values = row_of.with_rows(_numbers_in(database, _final(database)))
    reported = row_of.with_rows(_numbers_in(database, _reported(database)))
    omissions = [*few, *many]
    if strangers:
        omissions.append(LeftOut(strangers, "of studies that are not there any more"))
    if row_of.lost:
        omissions.append(
            LeftOut(row_of.lost, "of trials that are not there", what="value")
        )
    study, number, state, seconds = trials
    return StudyTrials(
        studies=studies,
        study=study,
        number=number,
        state=state,
        seconds=seconds,
        params=params,
        user=user,
        system=system,
        values=values,
        reported=reported,
        left_out=omissions,
        remarks=remarks,
    )


def _columns(database: Connection, table: str) -> set[str]:
    """Return the names of a table's columns; none where there is no such table."""
    return {row[1] for row in database.execute(f"PRAGMA table_info({table})")}


def _chunks(database: Connection, query: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows, some at a time."""
    cursor = database.execute(query)
    while rows := cursor.fetchmany(_CHUNK):
        yield rows


def _numbers_in(database: Connection, query: str) -> Floats:
    """Return the rows of three numbers that a query finds; NULL is not a number."""
    parts = [np.array(rows, np.float64) for rows in _chunks(database, query)]
    return np.concatenate([np.empty((0, 3)), *parts])


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

    def with_rows(self, rows: Floats) -> Floats:
        """Return rows that begin with an id with the row of the trial instead."""
        whole = np.isfinite(rows[:, :2]).all(axis=1)
        self.lost += int((~whole).sum())
        places, known = self.find(rows[whole, 0].astype(np.int64))
        out = rows[whole][known]
        out[:, 0] = places
        return out


# --- studies and trials ------------------------------------------------------------------


def _studies(database: Connection) -> tuple[dict[int, int], list[Study]]:
    ways: dict[int, dict[int, str]] = {}
    if "direction" in _columns(database, "studies"):  # before there were several
        query = "SELECT study_id, 0, direction FROM studies"
    else:
        query = "SELECT study_id, objective, direction FROM study_directions"
    for study, objective, way in database.execute(query):
        ways.setdefault(study, {})[objective] = way
    rows = database.execute(
        "SELECT study_id, value_json FROM study_system_attributes WHERE key = ?",
        (METRIC_NAMES,),
    )
    names = {study: _plain(text) for study, text in rows}
    places: dict[int, int] = {}
    studies: list[Study] = []
    rows = database.execute(
        "SELECT study_id, study_name FROM studies ORDER BY study_id"
    )
    for study, name in rows:
        places[study] = len(studies)
        objectives = sorted(ways.get(study, {0: ""}).items())
        directions = tuple(_WAYS.get(way) for _, way in objectives)
        called = names.get(study)
        called = called if isinstance(called, list) else ()
        studies.append(Study(str(name), directions, called))
    return places, studies


def _trials(
    database: Connection, places: Mapping[int, int]
) -> tuple[Ints, tuple[Ints, Ints, list[str], Floats], int]:
    """Return ids of trials, what is known of each, and how many have no study."""
    rows = database.execute(
        "SELECT trial_id, study_id, number, state, datetime_start, datetime_complete "
        "FROM trials ORDER BY study_id, trial_id"
    ).fetchall()
    alive = [row for row in rows if row[1] in places]
    study = np.array([places[row[1]] for row in alive], np.int64)
    # A column counts a study's trials; databases that are older than it lack it.
    counted = np.arange(len(study)) - np.searchsorted(study, study)
    number = [c if r[2] is None else r[2] for c, r in zip(counted, alive, strict=True)]
    states = [str(row[3]) for row in alive]
    seconds = np.array([seconds_between(row[4], row[5]) for row in alive], np.float64)
    ids = np.array([row[0] for row in alive], np.int64)
    trials = study, np.array(number, np.int64), states, seconds
    return ids, trials, len(rows) - len(alive)


# --- values ------------------------------------------------------------------------------


def _final(database: Connection) -> str:
    columns = _columns(database, "trial_values")
    if "objective" not in columns:  # a trial had one value, and it stood with the trial
        return "SELECT trial_id, 0, value FROM trials WHERE value IS NOT NULL"
    return _FINAL_TYPED if "value_type" in columns else _FINAL


def _reported(database: Connection) -> str:
    columns = _columns(database, "trial_intermediate_values")
    if not columns:
        return "SELECT trial_id, step, value FROM trial_values"
    return _REPORTED_TYPED if "intermediate_value_type" in columns else _REPORTED


def _params(
    database: Connection, row_of: _Rows
) -> tuple[dict[str, pa.Array], list[str]]:
    keys: dict[tuple[str, str], int] = {}
    ids, which, numbers = [], [], []
    query = (
        "SELECT trial_id, param_name, distribution_json, param_value FROM trial_params"
    )
    for rows in _chunks(database, query):
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
    database: Connection, query: str, row_of: _Rows
) -> tuple[dict[str, pa.Array], list[LeftOut]]:
    texts_of: Attributes = {}
    for rows in _chunks(database, query):
        for trial, name, text in rows:
            ids, texts = texts_of.setdefault(str(name), ([], []))
            ids.append(trial)
            texts.append(text)
    values = {}
    for name, (ids, texts) in texts_of.items():
        rows_of_name, known = row_of.find(np.array(ids, np.int64))
        pairs = zip(_parsed(texts), known, strict=True)
        values[name] = rows_of_name.tolist(), [v for v, is_there in pairs if is_there]
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


_NUMBERED_WAYS: dict[int, Direction] = {1: "lower", 2: "higher"}


def _is_journal(head: bytes) -> bool:
    first = head.lstrip().split(b"\n", 1)[0]
    return first.startswith(b"{") and b'"op_code"' in first and b'"worker_id"' in first


def _read_journal(path: Path) -> StudyTrials:
    """Return all trials of all studies that were not deleted."""
    replay = _Replay()
    behind, damaged = 0, 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if damaged:
                    behind += 1
                elif line.strip() and not _applied(replay, line):
                    damaged = number
    except OSError as problem:
        raise unreadable(path, problem) from problem
    remarks = []
    if damaged and behind:
        remarks.append(
            f"line {damaged} cannot be read, and without it {count(behind, 'line')} "
            f"behind it cannot be told apart: read up to there. Optuna would not open "
            f"this file. Mend the line to read the rest."
        )
    elif damaged:
        remarks.append(
            f"its last line, {damaged}, is not whole, as when somebody is writing or was "
            f"killed: read up to there."
        )
    return replay.study_trials(remarks)


def _applied(replay: "_Replay", line: bytes) -> bool:
    try:
        replay.apply(parsed(line.decode()))
    except (ValueError, LookupError, TypeError, AttributeError):
        return False
    return True


class _Replay:
    """What the operations so far have made."""

    def __init__(self) -> None:
        self.studies: dict[int, Study] = {}
        self.created = 0
        self.trials: list[Trial] = []
        self.n_trials: Counter[int] = Counter()  # of each study
        self.laws: dict[
            tuple[int, str], tuple[str, ...]
        ] = {}  # what params are drawn by
        self.foreign: Counter[Any] = Counter()

    def apply(self, log: Mapping[str, Any]) -> None:
        """Do what one line says; what refers to nothing is ignored, as Optuna does."""
        match log["op_code"]:
            case 0:
                self._create_study(log)
            case 1:
                self.studies.pop(log["study_id"], None)
            case 3:
                self._name_metrics(log)
            case 4:
                self._create_trial(log)
            case 5:
                self._draw(log)
            case 6:
                self._change_state(log)
            case 7 | 8 | 9:
                self._note(log)
            case 2 | 10:  # a study's user attributes; a hint to others
                pass
            case unknown:
                self.foreign[unknown] += 1

    def study_trials(self, remarks: list[str]) -> StudyTrials:
        """Return what is there in the end."""
        place = {study: i for i, study in enumerate(self.studies)}
        trials = [trial for trial in self.trials if trial.study in place]
        omissions = []
        if deleted := len(self.trials) - len(trials):
            omissions.append(LeftOut(deleted, "of deleted studies"))
        if self.foreign:
            why = "of a kind that is not known here"
            omissions.append(LeftOut(self.foreign.total(), why, what="line"))
        for trial in trials:
            trial.study = place[trial.study]
            trial.seconds = seconds_between(trial.begin, trial.end)
        return study_trials(list(self.studies.values()), trials, omissions, remarks)

    # --- operations ----------------------------------------------------------------------

    def _create_study(self, log: Mapping[str, Any]) -> None:
        name = str(log["study_name"])
        ways = tuple(_NUMBERED_WAYS.get(way) for way in log["directions"])
        if any(one.name == name for one in self.studies.values()):
            return  # two processes created the same one
        self.studies[self.created] = Study(name, ways or (None,))
        self.created += 1

    def _name_metrics(self, log: Mapping[str, Any]) -> None:
        names = log["system_attr"].get(METRIC_NAMES)
        if isinstance(names, list) and log["study_id"] in self.studies:
            study = self.studies[log["study_id"]]
            self.studies[log["study_id"]] = replace(study, metric_names=names)

    def _create_trial(self, log: Mapping[str, Any]) -> None:
        study = log["study_id"]
        if study not in self.studies:
            return
        value = log.get("value")
        trial = Trial(
            study,
            self.n_trials[study],
            _STATES[log.get("state", 0)],
            values=_numbers(log.get("values") or ([] if value is None else [value])),
            reported={
                int(step): float(value)
                for step, value in (log.get("intermediate_values") or {}).items()
            },
            user=dict(log.get("user_attrs") or {}),
            system=dict(log.get("system_attrs") or {}),
            begin=log["datetime_start"],
            end=log.get("datetime_complete"),
        )
        texts = log.get("distributions") or {}
        for name, number in (log.get("params") or {}).items():
            trial.params[name] = drawn_from(texts[name]).value(number)
        self.trials.append(trial)
        self.n_trials[study] += 1

    def _open(self, log: Mapping[str, Any]) -> Trial | None:
        """Return the trial that a line is about, unless it has ended."""
        place = int(log["trial_id"])
        if not 0 <= place < len(self.trials):
            return None
        trial = self.trials[place]
        return trial if trial.state in _GOING_ON else None

    def _draw(self, log: Mapping[str, Any]) -> None:
        trial = self._open(log)
        if trial is None:
            return
        name, domain = log["param_name"], drawn_from(log["distribution"])
        # A study cannot change what it draws from; Optuna writes the line and refuses it.
        law = self.laws.setdefault((trial.study, name), domain.law)
        if law == domain.law or trial.study not in self.studies:
            trial.params[name] = domain.value(log["param_value_internal"])

    def _change_state(self, log: Mapping[str, Any]) -> None:
        trial, state = self._open(log), _STATES[log["state"]]
        if trial is None or state == trial.state == "RUNNING":
            return
        trial.state = state
        trial.begin = log.get("datetime_start", trial.begin)
        trial.end = log.get("datetime_complete", trial.end)
        if log["values"] is not None:
            trial.values = _numbers(log["values"])

    def _note(self, log: Mapping[str, Any]) -> None:
        trial = self._open(log)
        if trial is None:
            return
        if log["op_code"] == 7:
            trial.reported[int(log["step"])] = float(log["intermediate_value"])
        elif log["op_code"] == 8:
            trial.user.update(log["user_attr"])
        else:
            trial.system.update(log["system_attr"])


def _numbers(values: Any) -> list[float]:
    """Return values as numbers; raise where a line holds something else."""
    return [math.nan if value is None else float(value) for value in values or ()]
