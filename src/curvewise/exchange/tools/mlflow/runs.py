"""What MLflow's stores have in common: how runs are named, labelled and scored."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, Keyword, Message, listed
from curvewise.exchange.runs import Asked, LeftOut, Runs, Scalars
from curvewise.metrics import Floats
from curvewise.text import count
from curvewise.trials.columns import Bools, Ints

NAME, PARENT = "mlflow.runName", "mlflow.parentRunId"
DELETED = "deleted in MLflow"
WITH_EXPERIMENT = "of experiments that were deleted in MLflow"
_CLOCKS = ("step", "seconds")
_LARGEST = 1.7976931348623157e308  # for infinity, which SQL cannot hold
# Arrow reads these as numbers too, but a person who wrote them meant a text.
_NO_NUMBER = r"^[+-]?0[0-9]|^[+-]?0[xX]|\s"
_BOOLEANS = ("True", "False", "true", "false")

Columns: TypeAlias = dict[str, pa.Array]
"""Texts by name, one per run, null where a run has none."""


@dataclass(slots=True)
class Kept:
    """Runs as they were found; all lists have one place per run.

    Times are in milliseconds. `unused` has names of further runs by why they are left out.
    """

    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    experiments: list[str] = field(default_factory=list)
    status: list[str | None] = field(default_factory=list)
    start: list[float | None] = field(default_factory=list)
    end: list[float | None] = field(default_factory=list)
    params: Columns = field(default_factory=dict)
    tags: Columns = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def leave_out(self, run: str, why: str) -> None:
        """Count a run as one that is not used."""
        self.unused.setdefault(why, []).append(run)

    def rename(self) -> None:
        """Call runs by the tag that holds their name; before 2.0 there was no other."""
        if NAME in self.tags:
            both = zip(self.tags[NAME].to_pylist(), self.names, strict=True)
            self.names = [tag or name for tag, name in both]


@dataclass(frozen=True, slots=True, eq=False)
class Logged:
    """Scores in the order of writing; `time`, in milliseconds, where it was asked for."""

    run: Ints
    metric: Ints
    step: Floats
    value: Floats
    time: Floats | None
    names: tuple[str, ...]


def is_noise(tag: str) -> bool:
    """Return whether MLflow set a tag for itself.

    >>> is_noise("mlflow.source.git.commit"), is_noise("mlflow.runName"), is_noise("team")
    (True, False, False)
    """
    return tag.startswith("mlflow.") and tag not in (NAME, PARENT)


def wanted_metrics(
    names: Iterable[str], asked: Asked
) -> tuple[list[str], list[LeftOut]]:
    """Return the metrics to read, and those of the machine, which nobody asked for."""
    names = list(names)
    if asked.metrics is not None:
        return [name for name in names if asked.wants(name)], []
    machine = [name for name in names if name.startswith("system/")]
    if not machine:
        return names, []
    why = Message(
        "about the machine, read only where ", Keyword("metrics"), " names it"
    )
    left = LeftOut(len(machine), why, tuple(machine[:2]), "metric")
    return [name for name in names if not name.startswith("system/")], [left]


def by_the_clock(asked: Asked) -> bool:
    """Return whether scores are asked for by time, and not by the steps of the run."""
    if asked.step not in (None, *_CLOCKS):
        raise CurvewiseError(
            f"step is {asked.step!r}. MLflow counts by {listed(_CLOCKS)}; the second is "
            f"the time since a run began.",
            argument="step",
            value=asked.step,
        )
    return asked.step == "seconds"


def told_apart(experiments: Mapping[Any, str]) -> dict[Any, str]:
    """Return names of experiments by id; one that several have gets its id behind it."""
    times = Counter(experiments.values())
    return {
        one: name if times[name] == 1 else f"{name} ({one})"
        for one, name in experiments.items()
    }


def unbounded(values: Floats) -> Floats:
    """Return scores with the largest number taken for infinite, as MLflow writes it."""
    out: Floats = np.where(np.abs(values) >= _LARGEST, np.sign(values) * np.inf, values)
    return out


def runs_of(source: str, kept: Kept, logged: Logged, *, curves: bool = True) -> Runs:
    """Return runs with their labels and scores, less the parents of others.

    A parent's scores, such as the best of a search, are those of its children again.
    Without `curves` each score is the last of its run, and experiments have only numbers.
    """
    parents = set(kept.tags[PARENT].to_pylist()) if PARENT in kept.tags else set()
    is_parent = np.array([one in parents for one in kept.ids], bool)
    used = np.flatnonzero(~is_parent)
    for row in np.flatnonzero(is_parent):
        kept.leave_out(kept.names[row], "that are parents of other runs")
    left_out = [LeftOut(len(n), why, tuple(n[:2])) for why, n in kept.unused.items()]
    step, clock, more = _clock(kept, logged)
    scalars = _of_runs(used, len(kept.ids), step, logged)
    _inherit(kept, used)
    table = _table(kept).take(pa.array(used))
    is_task = curves or len(set(kept.experiments)) > 1
    return Runs(
        *(source, table, scalars, {"task": "experiment"} if is_task else {}),
        steps=clock if curves else "",
        left_out=[*left_out, *kept.left_out],
        remarks=[*kept.remarks, *more],
    )


def _inherit(kept: Kept, used: Ints) -> None:
    """Give runs the params that only their parents have, as those of folds."""
    if PARENT not in kept.tags:
        return
    place = {one: i for i, one in enumerate(kept.ids)}
    above = pa.array([place.get(p) for p in kept.tags[PARENT].to_pylist()], pa.int64())
    rows = pa.array(used)
    for key, texts in kept.params.items():
        own = texts
        for _ in range(3):
            if own.take(rows).null_count < len(used):
                break
            own = pc.coalesce(own, own.take(above))
        kept.params[key] = own


def _of_runs(used: Ints, n: int, step: Floats, logged: Logged) -> Scalars:
    """Return the scores of some runs, less metrics that none of them logged."""
    if len(used) == n:
        return Scalars(logged.run, logged.metric, step, logged.value, logged.names)
    place = np.full(n, -1)
    place[used] = np.arange(len(used))
    rows = place[logged.run] >= 0
    metrics, metric = np.unique(logged.metric[rows], return_inverse=True)
    names = tuple(logged.names[i] for i in metrics.tolist())
    return Scalars(
        place[logged.run[rows]], metric, step[rows], logged.value[rows], names
    )


# --- steps -------------------------------------------------------------------------------


def _clock(kept: Kept, logged: Logged) -> tuple[Floats, str, Sequence[str]]:
    """Return where each score stands, what that counts, and what to know of it."""
    if logged.time is not None:
        begin = np.array([np.nan if t is None else t for t in kept.start], np.float64)
        first = np.full(len(begin), np.inf)
        np.minimum.at(first, logged.run, logged.time)
        begin = np.where(np.isnan(begin), first, begin)
        return (logged.time - begin[logged.run]) / 1000, "seconds", ()
    return logged.step, "step", _without_steps(logged)


def _without_steps(logged: Logged) -> Sequence[str]:
    """Return what to know where curves were logged, and every point at step 0."""
    if not len(logged.run):
        return ()
    curve = logged.run * len(logged.names) + logged.metric
    _, which, size = np.unique(curve, return_inverse=True, return_counts=True)
    moved: Bools = np.bincount(which, logged.step != 0) > 0
    lost = ~moved & (size > 1)
    if not lost.any():
        return ()
    name = logged.names[int(logged.metric[lost[which]][0])]
    return (
        Message(
            f"{count(int(lost.sum()), 'curve')} such as '{name}' were logged without "
            "a step, and of each the last score counts; ",
            Keyword("step", "seconds"),
            " reads them by the clock.",
        ),
    )


# --- labels ------------------------------------------------------------------------------


def _table(kept: Kept) -> pa.Table:
    columns: Columns = {
        "run": pa.array(kept.names, pa.string()),
        "experiment": pa.array(kept.experiments, pa.string()),
        "status": pa.array(kept.status, pa.string()),
        "seconds": pa.array(_seconds(kept), pa.float64()),
    }
    for key, texts in kept.params.items():
        columns[f"params.{key}"] = typed(texts)
    for key, texts in kept.tags.items():
        if key not in (NAME, PARENT):
            columns[f"tags.{key}"] = typed(texts, tag=True)
    if PARENT in kept.tags:
        # The names of parents; the id of one whose name another parent has too.
        ids = kept.tags[PARENT].to_pylist()
        names = dict(zip(kept.ids, kept.names, strict=True))
        known = {one: names.get(one, one) for one in ids if one is not None}
        times = Counter(known.values())
        told = {one: name if times[name] == 1 else one for one, name in known.items()}
        columns["parent"] = pa.array([told.get(one) for one in ids], pa.string())
    # Not "run_id", which would be taken for what tells trials apart even where seeds do.
    columns["run_uuid"] = pa.array(kept.ids, pa.string())
    return pa.table(columns)


def _seconds(kept: Kept) -> list[float | None]:
    return [
        None if start is None or end is None else (end - start) / 1000
        for start, end in zip(kept.start, kept.end, strict=True)
    ]


def typed(texts: pa.Array, *, tag: bool = False) -> pa.Array:
    """Return texts as booleans or numbers where all of them are.

    "None" is missing among these. A tag with a point in it may be a version, and stays
    a text.

    >>> typed(pa.array(["1", "None", "3"])).to_pylist()
    [1, None, 3]
    >>> typed(pa.array(["1.10", "2"]), tag=True).to_pylist()
    ['1.10', '2']
    """
    cells = pc.if_else(pc.equal(texts, "None"), None, texts)
    known = pc.drop_null(cells)
    if not len(known) or _any(pc.match_substring_regex(known, _NO_NUMBER)):
        return texts
    if not _any(pc.invert(pc.is_in(known, pa.array(_BOOLEANS)))):
        return pc.equal(pc.utf8_lower(cells), "true")
    for kind in (pa.int64(),) if tag else (pa.int64(), pa.float64()):
        try:
            return cells.cast(kind)
        except pa.ArrowInvalid:
            continue
    return texts


def _any(cells: pa.Array) -> bool:
    return bool(pc.any(cells).as_py())
