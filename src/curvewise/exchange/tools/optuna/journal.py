"""Optuna's journal: a file with one operation per line, played again from its beginning.

Trials have no ids there but their place, so a line that cannot be read ends the reading:
behind it nobody knows whose values are whose.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curvewise._text import count
from curvewise.errors import CurvewiseError
from curvewise.exchange.cells import parsed
from curvewise.exchange.runs import LeftOut
from curvewise.exchange.tools.optuna.studies import METRIC_NAMES, Kept, Study
from curvewise.exchange.tools.optuna.told import Told, kept_of, seconds_between
from curvewise.exchange.tools.optuna.values import drawn_from
from curvewise.metrics import Direction

_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_WAYS: dict[int, Direction] = {1: "lower", 2: "higher"}
_GOING_ON = ("RUNNING", "WAITING")


def fits(head: bytes) -> bool:
    """Return whether a file begins as a journal does.

    >>> fits(b'{"op_code": 0, "worker_id": "a", "study_name": "s"}')
    True
    """
    first = head.lstrip().split(b"\n", 1)[0]
    return first.startswith(b"{") and b'"op_code"' in first and b'"worker_id"' in first


def read(path: Path) -> Kept:
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
        ways = tuple(_WAYS.get(way) for way in log["directions"])
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


def _numbers(values: Any) -> list[float]:
    """Return values as numbers; raise where a line holds something else."""
    return [math.nan if value is None else float(value) for value in values or ()]
