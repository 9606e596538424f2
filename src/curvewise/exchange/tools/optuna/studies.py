"""Optuna's studies and their trials, whatever they were kept in, as runs.

A study is an algorithm and a trial of it is a run; all are of one task. The final value
is the metric "value", or what the study calls it; what was reported on the way is the
metric "intermediate". Final values stand at the last step that any trial reported: they
are scores of one moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, Keyword, Message, listed, shortened
from curvewise.exchange.runs import Asked, LeftOut, Runs, Scalars
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
    """What a study is about.

    Parameters
    ----------
    name : str
    directions : tuple of "lower", "higher" or None
        One per objective; None where the study does not say.
    metric_names : sequence of str
        What the objectives are called, if anybody said.
    """

    name: str
    directions: tuple[Direction | None, ...]
    metric_names: Sequence[str] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the objectives, Optuna's own where nobody gave others."""
        n = len(self.directions)
        names = [m for m in self.metric_names if isinstance(m, str) and m.strip()]
        if len(set(names)) == n:
            return tuple(names)
        return ("value",) if n == 1 else tuple(f"values_{i}" for i in range(n))


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """All trials of all studies of a storage, study by study, in order of number.

    Parameters
    ----------
    studies : sequence of Study
    study, number : array of int, shape (trial,)
    state : sequence of str
    seconds : array of float, shape (trial,)
    params : mapping of str to pyarrow.Array
    user, system : mapping of str to pyarrow.Array
    values : array, shape (value, 3)
        Row of the trial, objective, value.
    reported : array, shape (value, 3)
        Row of the trial, step, value.
    """

    studies: Sequence[Study]
    study: Ints
    number: Ints
    state: Sequence[str]
    seconds: Floats
    params: Mapping[str, pa.Array]
    user: Mapping[str, pa.Array]
    system: Mapping[str, pa.Array]
    values: Floats
    reported: Floats
    left_out: Sequence[LeftOut] = ()
    remarks: Sequence[str] = ()


def refuse_step(asked: Asked) -> None:
    """Raise if somebody wants to count by a clock that Optuna does not have."""
    if asked.step not in (None, "step"):
        raise CurvewiseError(
            "Optuna counts by 'step', the one of trial.report(value, step), not by "
            f"'{shortened(asked.step)}'. Leave out ",
            Keyword("step"),
            ".",
        )


# --- runs --------------------------------------------------------------------------------


def as_runs(kept: Kept, source: str, asked: Asked) -> Runs:
    """Return what a storage holds as runs; all of it, or studies with metrics asked for."""
    kept = _without_empty(kept)
    metrics = _of_studies(kept)
    torn = _torn(kept.studies, metrics)
    metrics = [
        [(f"{study.name}/{m}" if m in torn else m, way) for m, way in own]
        for study, own in zip(kept.studies, metrics, strict=True)
    ]
    remarks = [*kept.remarks]
    wanted = [any(asked.wants(name) for name, _ in own) for own in metrics]
    if any(wanted) and not all(wanted):
        kept = _only(kept, np.array(wanted))
        metrics = [
            own for own, is_wanted in zip(metrics, wanted, strict=True) if is_wanted
        ]
    else:
        remarks += [*torn.values(), *_different(kept.studies, metrics)]
    return Runs(
        source,
        _table(kept),
        _scalars(kept, [[name for name, _ in own] for own in metrics]),
        usual={"algorithm": "study"},
        meant={name: way for own in metrics for name, way in own if way is not None},
        steps="step" if len(kept.reported) else "",
        left_out=kept.left_out,
        remarks=remarks,
        closed=True,
    )


def _without_empty(kept: Kept) -> Kept:
    """Return only studies that have trials, and only values of objectives they have."""
    used = np.bincount(kept.study, minlength=len(kept.studies)) > 0
    place = np.cumsum(used) - 1
    study = place[kept.study]
    studies = [s for s, some in zip(kept.studies, used, strict=True) if some]
    empty = [s.name for s, some in zip(kept.studies, used, strict=True) if not some]
    objectives = np.array([len(s.directions) for s in studies], np.int64)
    asked_for = kept.values[:, 1] < objectives[study[kept.values[:, 0].astype(int)]]
    left = [*kept.left_out]
    if empty:
        left.append(LeftOut(len(empty), "without trials", tuple(empty), "study"))
    if not asked_for.all():
        why = "of objectives that their study does not have"
        left.append(LeftOut(int((~asked_for).sum()), why, what="value"))
    return replace(
        kept,
        studies=studies,
        study=study,
        values=kept.values[asked_for],
        left_out=left,
    )


def _only(kept: Kept, wanted: Bools) -> Kept:
    """Return the trials of some of the studies."""
    rows = wanted[kept.study]
    new = np.cumsum(rows) - 1
    mask = pa.array(rows)
    names = [s.name for s, some in zip(kept.studies, wanted, strict=True) if not some]
    out = LeftOut(
        int((~rows).sum()), "of studies without the metrics asked for", tuple(names)
    )

    def moved(values: Floats) -> Floats:
        own: Floats = values[rows[values[:, 0].astype(int)]]
        own[:, 0] = new[own[:, 0].astype(int)]
        return own

    def cut(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        short = {name: cells.filter(mask) for name, cells in columns.items()}
        return {n: cells for n, cells in short.items() if cells.null_count < len(cells)}

    return replace(
        kept,
        studies=[s for s, some in zip(kept.studies, wanted, strict=True) if some],
        study=(np.cumsum(wanted) - 1)[kept.study[rows]],
        number=kept.number[rows],
        state=[state for state, ours in zip(kept.state, rows, strict=True) if ours],
        seconds=kept.seconds[rows],
        params=cut(kept.params),
        user=cut(kept.user),
        system=cut(kept.system),
        values=moved(kept.values),
        reported=moved(kept.reported),
        left_out=[*kept.left_out, out],
    )


# --- metrics -----------------------------------------------------------------------------

_Pairs: TypeAlias = list[tuple[str, Direction | None]]


def _of_studies(kept: Kept) -> list[_Pairs]:
    """Return the metrics of each study: objectives first, then what it reported."""
    reporting = np.zeros(len(kept.studies), bool)
    reporting[kept.study[kept.reported[:, 0].astype(int)]] = True
    out = []
    for study, is_reporting in zip(kept.studies, reporting, strict=True):
        pairs = list(zip(study.metrics, study.directions, strict=True))
        if is_reporting:
            taken = INTERMEDIATE in study.metrics
            name = "intermediate_values" if taken else INTERMEDIATE
            pairs.append((name, study.directions[0]))
        out.append(pairs)
    return out


def _torn(studies: Sequence[Study], metrics: Sequence[_Pairs]) -> dict[str, str]:
    """Return the metrics of which studies disagree what is better, and what to say."""
    found: dict[str, dict[Direction, str]] = {}
    for study, own in zip(studies, metrics, strict=True):
        for name, way in own:
            if way is not None:
                found.setdefault(name, {}).setdefault(way, study.name)
    return {
        name: f"'{name}' should be low in study '{shortened(by['lower'])}' and high in "
        f"'{shortened(by['higher'])}', so each study gets a metric of its own, such as "
        f"'{shortened(by['lower'])}/{name}'."
        for name, by in found.items()
        if len(by) > 1
    }


def _different(studies: Sequence[Study], metrics: Sequence[_Pairs]) -> list[str]:
    finals = [
        [name for name, _ in own[: len(study.directions)]]
        for study, own in zip(studies, metrics, strict=True)
    ]
    if len({tuple(names) for names in finals}) < 2:
        return []
    shown = listed(dict.fromkeys(name for names in finals for name in names), most=4)
    return [
        Message(
            f"its studies are not all scored by the same metrics: {shown}. A trial "
            "has no score of another study's. Pass ",
            {"metrics": [finals[0][0]]},
            " to read only studies that have it.",
        )
    ]


def _scalars(kept: Kept, metrics: Sequence[Sequence[str]]) -> Scalars:
    names = list(dict.fromkeys(name for own in metrics for name in own))
    place = np.zeros((len(metrics), max(map(len, metrics), default=0)), np.int64)
    for i, own in enumerate(metrics):
        place[i, : len(own)] = [names.index(name) for name in own]
    final, reported = kept.values, kept.reported
    row, objective = final[:, 0].astype(np.int64), final[:, 1].astype(np.int64)
    on_the_way = reported[:, 0].astype(np.int64)
    behind = np.array([len(own) - 1 for own in metrics], np.int64)[kept.study]
    last = reported[:, 1].max() if len(reported) else 0.0
    return Scalars(
        np.concatenate([row, on_the_way]),
        np.concatenate(
            [
                place[kept.study[row], objective],
                place[kept.study[on_the_way], behind[on_the_way]],
            ]
        ),
        np.concatenate([np.full(len(row), last), reported[:, 1]]),
        np.concatenate([final[:, 2], reported[:, 2]]),
        tuple(names),
    )


def _table(kept: Kept) -> pa.Table:
    studies = pa.array([study.name for study in kept.studies], pa.string())
    study = studies.take(pa.array(kept.study))
    names = study.to_pylist()
    numbers = kept.number.tolist()
    runs = [f"{name}/{n}" for name, n in zip(names, numbers, strict=True)]
    columns = {
        "run": pa.array(runs, pa.string()),
        "study": study,
        "status": pa.array(kept.state, pa.string()),
        "state": pa.array(kept.state, pa.string()),  # pruned, running: both cancelled
        "seconds": pa.array(kept.seconds),
    }
    columns |= {f"params.{name}": cells for name, cells in kept.params.items()}
    columns |= {f"user_attrs.{name}": cells for name, cells in kept.user.items()}
    columns |= {
        f"system_attrs.{name}": cells
        for name, cells in kept.system.items()
        if name != _FAIL_REASON
    }
    usual = pa.array([_REASONS.get(state, "") for state in kept.state], pa.string())
    said = kept.system.get(_FAIL_REASON, pa.nulls(len(usual), pa.string()))
    columns["error_text"] = pc.coalesce(said.cast(pa.string()), usual)
    return pa.table(columns)
