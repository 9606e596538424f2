"""What the small texts that a store keeps beside its trials say of the experiment."""

import itertools
import json
import re
from collections.abc import Mapping

import numpy as np

from curvewise.errors import CurvewiseError, shortened
from curvewise.trials.columns import Core
from curvewise.trials.design import Design, from_record, of_engine


def checked(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts that every store can keep, or say which it cannot."""
    for text in itertools.chain.from_iterable(texts.items()):
        # PostgreSQL cannot keep a zero byte in a text, and stores should be alike.
        if not isinstance(text, str) or "\0" in text:
            raise CurvewiseError(
                f"A note is {shortened(repr(text))}. Pass texts without zero bytes.",
                argument="note",
                value=text,
            )
    return dict(texts)


# --- What a store knows of its experiment, in words that travel with the trials --------


# A store hides the password of its own address; a file may name other addresses.
_PASSWORD = re.compile(r"(\w+://[^\s:/@\"']*):[^\s\"']*@")
_DESIGN = "design"
_ROLE = re.compile(r"\b(params|train|test|data|seed)\b")
_NAMES = {"seed": "seed", "vary": "drawn anew in each trial", "cross": "crossed"}


def about(notes: Mapping[str, str], core: Core) -> dict[str, str]:
    """Return what is known of the experiment of these trials."""
    facts = dict(_streams(notes.get("streams", "")))
    if planned := _planned(notes):
        facts["planned"] = planned
    if stopped := _stopped(notes, core):
        facts["stopped"] = stopped
    if source := notes.get("source"):
        facts["experiment"] = source
    if text := notes.get("source text"):
        facts["experiment file"] = without_passwords(text)
    return facts


def design(notes: Mapping[str, str]) -> Design:
    """Return what replicates what: as it was noted, or as the experiment ran it."""
    if _DESIGN in notes:
        return from_record(json.loads(notes[_DESIGN]))
    streams = dict(_streams(notes.get("streams", "")))
    if "seed" not in streams:
        return Design()
    vary = streams.get(_NAMES["vary"], "").split(", ")
    has_params = any(text for key, text in notes.items() if key.startswith("space "))
    cross = _ROLE.findall(streams.get(_NAMES["cross"], ""))
    return of_engine(streams["seed"], vary, cross, has_params=has_params)


def noted(design: Design) -> dict[str, str]:
    """Return a design as a note, which stores of version 1 keep and their readers skip."""
    return {_DESIGN: json.dumps(design.record())}


def without_passwords(text: str) -> str:
    """Return a text in which the passwords of addresses are hidden.

    >>> without_passwords('store = "postgresql://ann:secret@host/runs"')
    'store = "postgresql://ann:***@host/runs"'
    """
    return _PASSWORD.sub(r"\1:***@", text)


def _streams(text: str) -> list[tuple[str, str]]:
    lines = [line.partition(": ") for line in text.splitlines()]
    return [(_NAMES[key], value) for key, _, value in lines if key in _NAMES]


def _planned(notes: Mapping[str, str]) -> str:
    plan = json.loads(notes.get("plan", "[]"))
    if not plan:
        return ""
    sizes = [trials for _, _, trials in plan]
    least, most = min(sizes), max(sizes)
    many = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"{many} trials of each algorithm on each task"


def _stopped(notes: Mapping[str, str], core: Core) -> str:
    """Return why a run ended before its plan did, if nobody has run more since."""
    if "ended" not in notes or "plan" not in notes:
        return ""
    until, size = json.loads(notes["ended"])
    cell = core.task.astype(np.int64) * (int(core.algorithm.max(initial=0)) + 1)
    there = np.unique(cell + core.algorithm, return_counts=True)[1]
    if len(there) == 0 or not (there == size).all():
        return ""
    most = max(trials for _, _, trials in json.loads(notes["plan"]))
    if size >= most:
        return ""
    return (
        f"the run was stopped when '{until}' was known, with {size:,} of {most:,} trials "
        f"of each"
    )
