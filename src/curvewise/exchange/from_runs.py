"""From runs of another tool to trials."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise._text import count
from curvewise._text import joined as listing
from curvewise.errors import CurvewiseError, Message, Verbatim, listed
from curvewise.exchange.asking import assign_runs, choices, patterns
from curvewise.exchange.columns import (
    codes,
    in_tasks,
    meanings,
    numbers_of,
    scaled,
    statuses,
)
from curvewise.exchange.joining import joined
from curvewise.exchange.per_run import as_json, numbers
from curvewise.exchange.roles import Roles, Unit
from curvewise.exchange.run_names import NamedRoles, left_out_of, roles_of, with_columns
from curvewise.exchange.runs import LeftOut, Runs, Scalars
from curvewise.exchange.selection import Where, chosen_rows
from curvewise.metrics import Metric
from curvewise.trials import Trials
from curvewise.trials.columns import Bools, Core, Details, Ints, no_details
from curvewise.trials.ragged import from_texts, starts

_GOING_ON = ("running", "waiting", "scheduled", "pending", "queued")


def trials_of(
    runs: Runs,
    *,
    roles: NamedRoles | None,
    unit: Unit | None,
    where: Where | None = None,
    **stated: Any,
) -> tuple[Trials, Roles, Runs]:
    """Return trials, what the labels were taken for, and the runs that were used."""
    if where is not None and runs.table.num_rows:
        keep = chosen_rows(runs.table, where, runs.source)
        runs = _that_logged(_chosen(runs, np.flatnonzero(keep)))
    if roles is not None:
        runs = _named(runs, roles)
    if runs.table.num_rows == 0:
        raise CurvewiseError(
            f"{runs.source} holds no run that can be used. "
            f"{told(runs.left_out) or 'It is empty: has it begun?'}"
        )
    assigned = assign_runs(runs, unit=unit, **stated)
    assigned = in_tasks(assigned, runs.table, stated["metrics"])
    meant = meanings(assigned.metrics, unit)
    scalars = _wanted(runs.scalars, meant)
    core, repeated = _core(scalars, runs.table.num_rows, meant, unit)
    if repeated:
        scalars, repeated = _last_passes(scalars)
        core, _ = _core(scalars, runs.table.num_rows, meant, unit)
    remarks = [*runs.remarks, *_repeated(repeated), *_unfinished(runs, assigned)]
    runs = replace(runs, remarks=tuple(remarks))
    n = runs.table.num_rows
    _must_be_named(runs, "task", assigned.task)
    _must_be_named(runs, "algorithm", assigned.algorithm)
    tasks = codes(runs.table, assigned.task)
    algorithms = codes(runs.table, assigned.algorithm)
    status, errors = statuses(
        runs.table, assigned, np.arange(n), np.diff(core.offsets) == 0
    )
    core = replace(
        core,
        task=tasks[0].astype(np.int32),
        algorithm=algorithms[0].astype(np.int32),
        number=_numbers(runs.table, assigned, tasks[0], algorithms[0]),
        status=status,
    )
    out = how_many(runs.left_out)
    origin = f"{runs.source}: {count(n, 'run')}, {out} left out; {assigned}"
    details = partial(_details, runs.table, assigned, errors)  # when somebody asks
    trials = Trials.from_columns(
        tasks[1], algorithms[1], meant, core, details, origin=origin
    )
    return trials, assigned, runs


def told(left_out: Sequence[LeftOut]) -> str:
    """Return what was left out, and why, as a sentence.

    >>> told([LeftOut(2, "without scores"), LeftOut(1, "deleted", ("a",))])
    "Left out: 2 runs without scores; 1 run deleted (such as 'a')."
    """
    if not left_out:
        return ""
    first, *more = (one.text for one in left_out)
    rest = (part for text in more for part in ("; ", text))
    return Message("Left out: ", first, *rest, ".")


def with_labels(runs: Runs, labels: pa.Table, on: Any, name: str) -> Runs:
    """Return runs with a table of labels beside them; one only there has no scores."""
    if on is None:
        labels = _called_run(labels, runs, name)
    table, *_ = joined(runs.table, labels, on or "run", runs.source, name)
    return replace(runs, table=table, source=f"{runs.source} + {name}")


def _called_run(labels: pa.Table, runs: Runs, name: str) -> pa.Table:
    """Return labels with the names of the runs in "run": a tool may call runs by an id."""
    ours = set(runs.table.column("run").to_pylist())
    columns = labels.column_names
    for column in sorted(columns, key=lambda c: c != "run"):
        if ours <= set(labels.column(column).cast(pa.string()).to_pylist()):
            return with_columns(labels, {"run": labels.column(column)})
    if "run" in columns:
        return labels  # which run it lacks is said by whoever joins them
    raise CurvewiseError(
        f"{name} names no run of {runs.source}: none of its columns "
        f"{listed(columns)} holds {listed(sorted(map(str, ours)), most=2)}. Call "
        "the one with the names 'run', or pass ",
        {"on": Verbatim("<a label that both have>")},
        ".",
    )


def how_many(left_out: Sequence[LeftOut]) -> str:
    """Return how many runs, and things of other kinds, were left out.

    >>> how_many([LeftOut(2, "deleted"), LeftOut(1, "cut", what="file")]), how_many([])
    ('2 and 1 file', 'none')
    """
    n: dict[str, int] = {}
    for one in left_out:
        n[one.what] = n.get(one.what, 0) + one.n
    parts = [f"{k:,}" if what == "run" else count(k, what) for what, k in n.items()]
    return listing(parts) if parts else "none"


# --- names -------------------------------------------------------------------------------


def _named(runs: Runs, roles: NamedRoles) -> Runs:
    names = runs.table.column("run").to_pylist()
    kept, columns = roles_of(names, roles)
    table = runs.table
    if len(kept) < len(names):
        left = left_out_of(names, kept)
        runs = _chosen(runs, np.array(kept, np.int64))
        table = runs.table
        runs = replace(runs, left_out=(*runs.left_out, left))
    return replace(runs, table=with_columns(table, columns))


def _must_be_named(runs: Runs, role: str, column: str | None) -> None:
    table = runs.table
    if column is None:
        return
    empty = pc.equal(table.column(column).cast(pa.string()), "").fill_null(True)
    if pc.any(empty).as_py():
        without = table.column("run").filter(empty).to_pylist()
        raise CurvewiseError(
            f"{len(without)} of {count(table.num_rows, 'run')} have nothing in '{column}', "
            f"which names the {role}, such as {listed(without, most=2)}. Choose the runs "
            f"that have it, or name another label with ",
            {role: ...},
            ". In Python, a function of "
            "names of runs may return None for one to leave out.",
            fixes=_with_label(runs, column) or choices(runs) or patterns(runs),
        )


def _with_label(runs: Runs, column: str) -> list[dict[str, Any]]:
    """Return the choices of experiments in which every run has a label."""
    out: list[dict[str, Any]] = []
    for fix in choices(runs):
        ((name, value),) = fix["where"].items()
        rows = pc.equal(runs.table.column(name).cast(pa.string()), str(value))
        if runs.table.column(column).filter(rows).null_count == 0:
            out.append(fix)
    return out


def _chosen(runs: Runs, kept: Ints) -> Runs:
    new = np.full(runs.table.num_rows, -1)
    new[kept] = np.arange(len(kept))
    old = runs.scalars
    scalars = _rows(replace(old, run=new[old.run]), new[old.run] >= 0)
    return replace(runs, table=runs.table.take(pa.array(kept)), scalars=scalars)


def _that_logged(runs: Runs) -> Runs:
    """Return runs without the metrics and labels that only others had."""
    scalars, table = runs.scalars, runs.table
    used = np.unique(scalars.metric)
    new = np.full(len(scalars.names), -1)
    new[used] = np.arange(len(used))
    names = tuple(scalars.names[i] for i in used.tolist())
    columns = [
        c
        for c in table.column_names
        if table.column(c).null_count < table.num_rows or c == "run"
    ]
    scalars = replace(scalars, metric=new[scalars.metric], names=names)
    meant = {name: what for name, what in runs.meant.items() if name in names}
    return replace(runs, table=table.select(columns), scalars=scalars, meant=meant)


def _rows(scalars: Scalars, rows: Bools) -> Scalars:
    return Scalars(
        scalars.run[rows],
        scalars.metric[rows],
        scalars.step[rows],
        scalars.value[rows],
        scalars.names,
    )


def _numbers(table: pa.Table, roles: Roles, task: Ints, algorithm: Ints) -> Ints:
    whole = replace(roles, step=None)
    out: Ints = numbers_of(table, whole, task, algorithm, np.zeros(len(task)))
    return out


# --- curves ------------------------------------------------------------------------------


def _core(
    scalars: Scalars, n: int, meant: Mapping[str, Metric], unit: Unit | None
) -> tuple[Core, int]:
    """Return the curves of all n runs, and how many scores were written over."""
    run, step = scalars.run, scalars.step
    new = (run[1:] > run[:-1]) | ((run[1:] == run[:-1]) & (step[1:] >= step[:-1]))
    order = slice(None) if new.all() else np.lexsort((step, run))
    run, step = run[order], step[order]
    is_new = np.ones(len(run), bool)
    is_new[1:] = (run[1:] != run[:-1]) | (step[1:] != step[:-1])
    place = np.cumsum(is_new) - 1
    metric, value = scalars.metric[order], scalars.value[order]
    size = int(is_new.sum())
    values, recorded, repeated = {}, {}, 0
    by_metric = np.argsort(metric, kind="stable")
    ends = np.searchsorted(metric[by_metric], np.arange(len(scalars.names) + 1))
    for i, name in enumerate(scalars.names):
        if name not in meant:
            continue
        rows = by_metric[ends[i] : ends[i + 1]]
        flat, known = np.full(size, np.nan), np.zeros(size, bool)
        flat[place[rows]], known[place[rows]] = value[rows], True
        repeated += len(rows) - int(known.sum())
        values[name] = scaled(flat, meant[name], unit, run[is_new])
        if not known.all():
            recorded[name] = known
    lengths = np.bincount(run[is_new], minlength=n).astype(np.int64)
    nobody = np.zeros(n, np.int64)
    core = Core(
        *(nobody.astype(np.int32), nobody.astype(np.int32), nobody),
        *(nobody.astype(np.int8), starts(lengths), step[is_new].copy()),
        *(values, recorded),
    )
    return core, repeated


def _last_passes(scalars: Scalars) -> tuple[Scalars, int]:
    """Return the scores that no later pass replaced, and how many others there were.

    A run that was resumed, or begun again under the same name, writes steps twice. From
    where it begins again its earlier scores are void, also those beyond where the later
    pass ended: otherwise the curve would be pieced together from two runs.
    """
    run, metric, step = scalars.run, scalars.metric, scalars.step
    order = np.lexsort((step, metric, run))
    same = (np.diff(run[order]) == 0) & (np.diff(metric[order]) == 0)
    twice = same & (np.diff(step[order]) == 0)
    kept = np.ones(len(run), bool)
    curve = np.concatenate([[0], np.cumsum(~same)])
    begins = np.append(np.flatnonzero(np.diff(curve, prepend=-1)), len(curve))
    for affected in np.unique(curve[1:][twice]).tolist():
        own = np.sort(order[begins[affected] : begins[affected + 1]])  # as written
        later = np.minimum.accumulate(step[own][::-1])[::-1]
        kept[own[:-1]] = step[own][:-1] < later[1:]
    return _rows(scalars, kept), int((~kept).sum())


def _wanted(scalars: Scalars, metrics: Mapping[str, Any]) -> Scalars:
    wanted = np.array([name in metrics for name in scalars.names], bool)
    if wanted.all():
        return scalars
    rows: Bools = wanted[scalars.metric]
    return _rows(scalars, rows)


# --- the rest ----------------------------------------------------------------------------


def _details(table: pa.Table, roles: Roles, errors: Sequence[str]) -> Details:
    none = no_details(table.num_rows)
    columns = set(table.column_names)
    said = table.column("error_text").to_pylist() if "error_text" in columns else errors
    texts = [own or other or "" for own, other in zip(errors, said, strict=True)]
    seconds = numbers(table, "seconds") if "seconds" in columns else none.seconds
    return replace(
        none,
        params=as_json(table, roles.params),
        labels=as_json(table, roles.labels),
        error=from_texts(texts) if any(texts) else none.error,
        seconds=np.array(seconds, np.float64),
    )


def _repeated(n: int) -> list[str]:
    if not n:
        return []
    return [
        f"{count(n, 'score')} came before a run went back over its steps, as resumed and "
        f"repeated runs do: the last pass counts."
    ]


def _unfinished(runs: Runs, roles: Roles) -> list[str]:
    if roles.status is None:
        return []
    words = runs.table.column(roles.status).cast(pa.string()).to_pylist()
    names = runs.table.column("run").to_pylist()
    going = [
        str(name)
        for name, word in zip(names, words, strict=True)
        if word and word.rpartition(".")[2].casefold() in _GOING_ON
    ]
    if not going:
        return []
    return [
        f"{count(len(going), 'run')} of {len(words)} had not ended ('{going[0]}'): kept as "
        f"cancelled, with what was recorded so far."
    ]
