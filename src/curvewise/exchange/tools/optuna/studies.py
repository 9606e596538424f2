"""Optuna's studies and their trials, whatever they were kept in, as runs.

A study is an algorithm and a trial of it is a run; all are of one task. The final value
is the metric "value", or what the study calls it; what was reported on the way is the
metric "intermediate". Final values stand at the last step that any trial reported: they
are scores of one moment.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import Message, listed, shortened
from curvewise.exchange.runs import Asked, LeftOut, Runs, Scalars, as_text, parsed, utf8
from curvewise.metrics import Direction, Floats
from curvewise.trials.columns import Bools, Ints

INTERMEDIATE = "intermediate"
# A study's own name for its objectives, as `Study.set_metric_names` keeps it.
METRIC_NAMES = "study:metric_names"
_FAIL_REASON = "fail_reason"
# Why a trial has no final value, where Optuna itself gives no reason.
_REASONS = {
    "PRUNED": "pruned by Optuna",
    "RUNNING": "still running when it was read",
    "WAITING": "never started",
}


@dataclass(frozen=True, slots=True)
class Study:
    """What a study is about."""

    name: str
    # One per objective; None where the study does not say.
    directions: tuple[Direction | None, ...]
    metric_names: Sequence[str] = ()  # of the objectives, if anybody said

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the objectives, Optuna's own where nobody gave others."""
        n = len(self.directions)
        names = [m for m in self.metric_names if isinstance(m, str) and m.strip()]
        if len(set(names)) == n:
            return tuple(names)
        return ("value",) if n == 1 else tuple(f"values_{i}" for i in range(n))


@dataclass(frozen=True, slots=True, eq=False)
class StudyTrials:
    """All trials of all studies of a storage, study by study, in order of number."""

    studies: Sequence[Study]
    # One place per trial.
    study: Ints
    number: Ints
    state: Sequence[str]
    seconds: Floats
    params: Mapping[str, pa.Array]
    user: Mapping[str, pa.Array]
    system: Mapping[str, pa.Array]
    # Rows of three: the row of the trial, objective or step, value.
    values: Floats
    reported: Floats
    left_out: Sequence[LeftOut] = ()
    remarks: Sequence[str] = ()


# --- runs --------------------------------------------------------------------------------


def as_runs(trials: StudyTrials, source: str, asked: Asked) -> Runs:
    """Return what a storage holds as runs; all of it, or studies with metrics asked for."""
    trials = _without_empty(trials)
    metrics = _of_studies(trials)
    torn = _torn(trials.studies, metrics)
    metrics = [
        [(f"{study.name}/{m}" if m in torn else m, way) for m, way in pairs]
        for study, pairs in zip(trials.studies, metrics, strict=True)
    ]
    remarks = [*trials.remarks]
    wanted = [any(asked.wants(name) for name, _ in pairs) for pairs in metrics]
    if any(wanted) and not all(wanted):
        trials = _only(trials, np.array(wanted))
        metrics = [
            pairs for pairs, is_wanted in zip(metrics, wanted, strict=True) if is_wanted
        ]
    else:
        remarks += [*torn.values(), *_different(trials.studies, metrics)]
    return Runs(
        source,
        _table(trials),
        _scalars(trials, [[name for name, _ in pairs] for pairs in metrics]),
        usual={"algorithm": "study"},
        meant={
            name: way for pairs in metrics for name, way in pairs if way is not None
        },
        steps="step" if len(trials.reported) else "",
        left_out=trials.left_out,
        remarks=remarks,
        closed=True,
    )


def _without_empty(trials: StudyTrials) -> StudyTrials:
    """Return only studies that have trials, and only values of objectives they have."""
    used = np.bincount(trials.study, minlength=len(trials.studies)) > 0
    place = np.cumsum(used) - 1
    study = place[trials.study]
    studies = [s for s, some in zip(trials.studies, used, strict=True) if some]
    empty = [s.name for s, some in zip(trials.studies, used, strict=True) if not some]
    objectives = np.array([len(s.directions) for s in studies], np.int64)
    asked_for = trials.values[:, 1] < objectives[study[trials.values[:, 0].astype(int)]]
    omissions = [*trials.left_out]
    if empty:
        omissions.append(LeftOut(len(empty), "without trials", tuple(empty), "study"))
    if not asked_for.all():
        why = "of objectives that their study does not have"
        omissions.append(LeftOut(int((~asked_for).sum()), why, what="value"))
    return replace(
        trials,
        studies=studies,
        study=study,
        values=trials.values[asked_for],
        left_out=omissions,
    )


def _only(trials: StudyTrials, wanted: Bools) -> StudyTrials:
    """Return the trials of some of the studies."""
    rows = wanted[trials.study]
    place = np.cumsum(rows) - 1
    mask = pa.array(rows)
    names = [s.name for s, some in zip(trials.studies, wanted, strict=True) if not some]
    why = "of studies without the metrics asked for"

    def moved(triples: Floats) -> Floats:
        chosen: Floats = triples[rows[triples[:, 0].astype(int)]]
        chosen[:, 0] = place[chosen[:, 0].astype(int)]
        return chosen

    def cut(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        short = {name: cells.filter(mask) for name, cells in columns.items()}
        return {n: cells for n, cells in short.items() if cells.null_count < len(cells)}

    return replace(
        trials,
        studies=[s for s, some in zip(trials.studies, wanted, strict=True) if some],
        study=(np.cumsum(wanted) - 1)[trials.study[rows]],
        number=trials.number[rows],
        state=[state for state, ours in zip(trials.state, rows, strict=True) if ours],
        seconds=trials.seconds[rows],
        params=cut(trials.params),
        user=cut(trials.user),
        system=cut(trials.system),
        values=moved(trials.values),
        reported=moved(trials.reported),
        left_out=[*trials.left_out, LeftOut(int((~rows).sum()), why, tuple(names))],
    )


# --- metrics -----------------------------------------------------------------------------

_Pairs: TypeAlias = list[tuple[str, Direction | None]]


def _of_studies(trials: StudyTrials) -> list[_Pairs]:
    """Return the metrics of each study: objectives first, then what it reported."""
    reporting = np.zeros(len(trials.studies), bool)
    reporting[trials.study[trials.reported[:, 0].astype(int)]] = True
    out = []
    for study, is_reporting in zip(trials.studies, reporting, strict=True):
        pairs = list(zip(study.metrics, study.directions, strict=True))
        if is_reporting:
            is_taken = INTERMEDIATE in study.metrics
            name = "intermediate_values" if is_taken else INTERMEDIATE
            pairs.append((name, study.directions[0]))
        out.append(pairs)
    return out


def _torn(studies: Sequence[Study], metrics: Sequence[_Pairs]) -> dict[str, str]:
    """Return the metrics of which studies disagree what is better, and what to say."""
    ways: dict[str, dict[Direction, str]] = {}
    for study, pairs in zip(studies, metrics, strict=True):
        for name, way in pairs:
            if way is not None:
                ways.setdefault(name, {}).setdefault(way, study.name)
    return {
        name: f"'{name}' should be low in study '{shortened(by['lower'])}' and high in "
        f"'{shortened(by['higher'])}', so each study gets a metric of its own, such as "
        f"'{shortened(by['lower'])}/{name}'."
        for name, by in ways.items()
        if len(by) > 1
    }


def _different(studies: Sequence[Study], metrics: Sequence[_Pairs]) -> list[str]:
    finals = [
        [name for name, _ in pairs[: len(study.directions)]]
        for study, pairs in zip(studies, metrics, strict=True)
    ]
    if len({tuple(names) for names in finals}) < 2:
        return []
    text = listed(dict.fromkeys(name for names in finals for name in names), most=4)
    return [
        Message(
            f"its studies are not all scored by the same metrics: {text}. A trial "
            "has no score of another study's. Pass ",
            {"metrics": [finals[0][0]]},
            " to read only studies that have it.",
        )
    ]


def _scalars(trials: StudyTrials, metrics: Sequence[Sequence[str]]) -> Scalars:
    names = list(dict.fromkeys(name for group in metrics for name in group))
    place = np.zeros((len(metrics), max(map(len, metrics), default=0)), np.int64)
    for i, group in enumerate(metrics):
        place[i, : len(group)] = [names.index(name) for name in group]
    final, reported = trials.values, trials.reported
    row, objective = final[:, 0].astype(np.int64), final[:, 1].astype(np.int64)
    on_the_way = reported[:, 0].astype(np.int64)
    behind = np.array([len(group) - 1 for group in metrics], np.int64)[trials.study]
    last = reported[:, 1].max() if len(reported) else 0.0
    return Scalars(
        np.concatenate([row, on_the_way]),
        np.concatenate(
            [
                place[trials.study[row], objective],
                place[trials.study[on_the_way], behind[on_the_way]],
            ]
        ),
        np.concatenate([np.full(len(row), last), reported[:, 1]]),
        np.concatenate([final[:, 2], reported[:, 2]]),
        tuple(names),
    )


def _table(trials: StudyTrials) -> pa.Table:
    studies = pa.array([study.name for study in trials.studies], pa.string())
    study = studies.take(pa.array(trials.study))
    names = study.to_pylist()
    numbers = trials.number.tolist()
    runs = [f"{name}/{n}" for name, n in zip(names, numbers, strict=True)]
    columns = {
        "run": pa.array(runs, pa.string()),
        "study": study,
        "status": pa.array(trials.state, pa.string()),
        "state": pa.array(trials.state, pa.string()),  # pruned, running: both cancelled
        "seconds": pa.array(trials.seconds),
    }
    columns |= {f"params.{name}": cells for name, cells in trials.params.items()}
    columns |= {f"user_attrs.{name}": cells for name, cells in trials.user.items()}
    columns |= {
        f"system_attrs.{name}": cells
        for name, cells in trials.system.items()
        if name != _FAIL_REASON
    }
    usual = pa.array([_REASONS.get(state, "") for state in trials.state], pa.string())
    reasons = trials.system.get(_FAIL_REASON, pa.nulls(len(usual), pa.string()))
    columns["error_text"] = pc.coalesce(reasons.cast(pa.string()), usual)
    return pa.table(columns)


# --------------------------------------------------------------------------------------
# What Optuna drew: hyperparameters as people know them, not as numbers of choices.


Cell: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """From what a hyperparameter was drawn."""

    kind: Literal["whole", "real", "choice"]
    choices: tuple[Cell, ...] = ()  # what there was to choose from; empty for numbers
    law: tuple[str, ...] = ()  # what two draws must share to be of one hyperparameter
    is_known: bool = True  # whether this kind of distribution is known at all

    def value(self, number: float | None) -> Cell:
        """Return the value that a stored number stands for; None where there is none."""
        if number is None or math.isnan(number):
            return None
        if self.kind == "choice":
            place = int(number)
            return self.choices[place] if 0 <= place < len(self.choices) else None
        return int(number) if self.kind == "whole" else float(number)


@lru_cache(maxsize=4096)
def drawn_from(text: str | None) -> Drawn:
    """Return what the JSON of a distribution says, in the words of any version.

    >>> drawn_from('{"name": "IntUniformDistribution", "attributes": {"low": 1}}').kind
    'whole'
    >>> drawn_from('{"type": "categorical", "choices": [null, 3]}').choices
    ('None', '3')
    """
    try:
        content = parsed(text or "")
        name = str(content.get("name") or content["type"]).casefold()
        rest = content.get("attributes", content)
        choices = of_one_kind(rest.get("choices", ()))
        law = (name, str(rest.get("log")), str(rest.get("choices")))
    except (ValueError, LookupError, TypeError, AttributeError):
        return Drawn("real", is_known=False)
    if name.startswith("categorical"):
        return Drawn("choice", choices, law)
    is_known = name.startswith(("int", "float", "uniform", "log", "discrete"))
    return Drawn("whole" if name.startswith("int") else "real", (), law, is_known)


def _named_choice(value: Any) -> Cell:
    """Return a choice as a cell. None is one of them, and an empty cell is not."""
    odd = isinstance(value, float) and not math.isfinite(value)
    if value is None or odd:
        return str(value)
    return value if isinstance(value, bool | int | float | str) else as_text(value)


def of_one_kind(choices: Sequence[Any]) -> tuple[Cell, ...]:
    """Return choices as cells of one column, so that a value has a kind of its own.

    >>> of_one_kind([None, 3]), of_one_kind([1, 0.5])
    (('None', '3'), (1.0, 0.5))
    """
    return tuple(_column_of([_named_choice(one) for one in choices]).to_pylist())


def _column_of(cells: Sequence[Any]) -> pa.Array:
    """Return cells of one kind as they are, and mixed ones as texts."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float} or kinds in ({bool}, {str}):
        try:
            wide = pa.float64() if float in kinds else None
            return pa.array(cells, wide)
        except (OverflowError, ValueError, pa.ArrowInvalid):
            pass  # a whole number beyond 64 bits, or half a character
    plain = (bool, int, float, str)
    texts = [
        None if c is None else utf8(str(c) if isinstance(c, plain) else as_text(c))
        for c in cells
    ]
    return pa.array(texts, pa.string())


def param_columns(
    n: int, row: Ints, key: Ints, number: Floats, keys: Mapping[tuple[str, str], int]
) -> dict[str, pa.Array]:
    """Return a column for each hyperparameter, empty where a trial did not draw it."""
    order = np.argsort(key, kind="stable")
    edges = np.searchsorted(key[order], np.arange(len(keys) + 1))
    by_name: dict[str, list[tuple[Drawn, Ints]]] = {}
    for (name, text), place in keys.items():
        which = order[edges[place] : edges[place + 1]]
        by_name.setdefault(name, []).append((drawn_from(text), which))
    return {name: _column(n, row, number, parts) for name, parts in by_name.items()}


def _column(
    n: int, row: Ints, number: Floats, parts: Sequence[tuple[Drawn, Ints]]
) -> pa.Array:
    kinds = {domain.kind for domain, _ in parts}
    if "choice" not in kinds:
        whole = np.concatenate([which for _, which in parts])
        values = np.full(n, np.nan)
        values[row[whole]] = number[whole]
        missing = np.isnan(values)
        if kinds == {"whole"} and (np.abs(np.nan_to_num(values)) < 2**63).all():
            return pa.array(np.nan_to_num(values).astype(np.int64), mask=missing)
        return pa.array(values, mask=missing)
    if kinds != {"choice"}:  # drawn from numbers in one study, from names in another
        cells: list[Cell] = [None] * n
        for domain, which in parts:
            for i in which:
                cells[row[i]] = domain.value(number[i])
        return _column_of(cells)
    pool: list[Cell] = []
    place = np.full(n, -1)
    for domain, which in parts:
        valid = which[(number[which] >= 0) & (number[which] < len(domain.choices))]
        place[row[valid]] = len(pool) + number[valid].astype(np.int64)
        pool += domain.choices
    return _column_of(pool).take(pa.array(place, mask=place < 0))


# --- Trials of Optuna's that are told one by one, and what is beside their values ------


Attributes: TypeAlias = dict[str, tuple[list[int], list[Any]]]
_MOST_ATTRIBUTES = 200
_LONGEST = 500


@dataclass(slots=True)
class Trial:
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
    begin: str | None = None
    end: str | None = None


def study_trials(
    studies: Sequence[Study],
    trials: Sequence[Trial],
    left_out: Sequence[LeftOut] = (),
    remarks: Sequence[str] = (),
) -> StudyTrials:
    """Return trials that were told one by one, side by side."""
    trials = sorted(trials, key=lambda trial: (trial.study, trial.number))
    rows = range(len(trials))
    values = [
        (i, k, v) for i in rows for k, v in enumerate(trials[i].values) if v is not None
    ]
    reported = [(i, s, v) for i in rows for s, v in trials[i].reported.items()]
    names = dict.fromkeys(name for trial in trials for name in trial.params)
    params = {
        name: _column_of(
            [
                _named_choice(trial.params[name]) if name in trial.params else None
                for trial in trials
            ]
        )
        for name in names
    }
    user, few = attribute_columns(len(trials), _by_name([t.user for t in trials]))
    system, many = attribute_columns(len(trials), _by_name([t.system for t in trials]))
    return StudyTrials(
        studies=studies,
        study=np.array([trial.study for trial in trials], np.int64),
        number=np.array([trial.number for trial in trials], np.int64),
        state=[trial.state for trial in trials],
        seconds=np.array([trial.seconds for trial in trials], np.float64),
        params=params,
        user=user,
        system=system,
        values=_triples(values),
        reported=_triples(reported),
        left_out=(*left_out, *few, *many),
        remarks=remarks,
    )


def seconds_between(begin: Any, end: Any) -> float:
    """Return the seconds between two moments, NaN where one of them is not known."""
    try:
        return (
            datetime.fromisoformat(end) - datetime.fromisoformat(begin)
        ).total_seconds()
    except (ValueError, TypeError):  # no moment, or only one of them has a zone
        return math.nan


def _triples(rows: Sequence[tuple[Any, ...]]) -> Floats:
    """Return rows of three numbers as an array; None is not a number."""
    return np.array(rows, np.float64).reshape(-1, 3)


def _by_name(trials: Sequence[Mapping[str, Any]]) -> Attributes:
    out: Attributes = {}
    for row, attributes in enumerate(trials):
        for name, value in attributes.items():
            rows, values = out.setdefault(name, ([], []))
            rows.append(row)
            values.append(value)
    return out


def attribute_columns(
    n: int, attributes: Attributes
) -> tuple[dict[str, pa.Array], list[LeftOut]]:
    """Return a column for each attribute of trials, and what was too much.

    Samplers write their whole state there, in long texts or under ever new names.
    """
    often = sorted(attributes, key=lambda name: -len(attributes[name][0]))
    rare = often[_MOST_ATTRIBUTES:]
    columns, long, cut = {}, [], 0
    for name in often[:_MOST_ATTRIBUTES]:
        cells: list[Any] = [None] * n
        before = cut
        for row, value in zip(*attributes[name], strict=True):
            if isinstance(value, str | list | dict) and len(as_text(value)) > _LONGEST:
                cut += 1
            else:
                cells[row] = value
        if cut > before:
            long.append(name)
        if cut - before < len(attributes[name][0]):
            columns[name] = _column_of(cells)
    omissions = []
    if cut:
        why = f"longer than {_LONGEST} characters"
        omissions.append(LeftOut(cut, why, tuple(long), "attribute"))
    if rare:
        why = f"beside the {_MOST_ATTRIBUTES} that most trials have"
        omissions.append(LeftOut(len(rare), why, tuple(rare), "attribute"))
    return columns, omissions
