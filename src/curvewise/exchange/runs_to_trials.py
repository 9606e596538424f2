"""From runs of another tool to trials."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import (
    CurvewiseError,
    Keyword,
    Message,
    Verbatim,
    listed,
    shortened,
    unknown,
)
from curvewise.exchange.columns import (
    as_json,
    codes,
    in_tasks,
    meanings,
    numbers,
    numbers_of,
    scaled,
    statuses,
)
from curvewise.exchange.roles import Metrics, Roles, Unit, several, stated_metrics
from curvewise.exchange.rows import Where, chosen_rows, joined, rows_per_run, varies
from curvewise.exchange.run_names import (
    NamedRoles,
    left_out_of,
    proposals,
    roles_of,
    with_columns,
)
from curvewise.exchange.runs import CROSSED, LeftOut, Runs, Scalars
from curvewise.metrics import Metric, find
from curvewise.text import count
from curvewise.text import joined as joined_words
from curvewise.trials import Trials, names
from curvewise.trials.columns import (
    Core,
    Details,
    Ints,
    from_texts,
    no_details,
    starts,
)

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
        rows = np.flatnonzero(chosen_rows(runs.table, where, runs.source))
        runs = _that_logged(_chosen(runs, rows))
    if roles is not None:
        runs = _named(runs, roles)
    n = runs.table.num_rows
    if n == 0:
        raise CurvewiseError(
            f"{runs.source} holds no run that can be used. "
            f"{summary_of(runs.left_out) or 'It is empty: has it begun?'}",
            argument="source",
            value=runs.source,
        )
    assigned = assign_runs(runs, unit=unit, **stated)
    assigned = in_tasks(assigned, runs.table, stated["metrics"])
    meant = meanings(assigned.metrics, unit)
    scalars = _wanted(runs.scalars, meant)
    core, repeated = _core(scalars, n, meant, unit)
    remarks = list(runs.remarks)
    if repeated:
        scalars, repeated = _last_passes(scalars)
        core, _ = _core(scalars, n, meant, unit)
        remarks.append(
            f"{count(repeated, 'score')} came before a run went back over its steps, as "
            f"resumed and repeated runs do: the last pass counts."
        )
    runs = replace(runs, remarks=(*remarks, *_unfinished(runs, assigned)))
    _must_be_named(runs, "task", assigned.task)
    _must_be_named(runs, "algorithm", assigned.algorithm)
    task, tasks = codes(runs.table, assigned.task)
    algorithm, algorithms = codes(runs.table, assigned.algorithm)
    is_silent = np.diff(core.offsets) == 0
    status, errors = statuses(runs.table, assigned, np.arange(n), is_silent)
    # A run is one row here, at whatever step.
    whole = replace(assigned, step=None)
    core = replace(
        core,
        task=task.astype(np.int32),
        algorithm=algorithm.astype(np.int32),
        number=numbers_of(runs.table, whole, task, algorithm, np.zeros(n)),
        status=status,
    )
    out = _numbers_of(runs.left_out)
    origin = f"{runs.source}: {count(n, 'run')}, {out} left out; {assigned}"
    details = partial(_details, runs.table, assigned, errors)  # when somebody asks
    trials = Trials.from_columns(tasks, algorithms, meant, core, details, origin=origin)
    return trials, assigned, runs


def summary_of(left_out: Sequence[LeftOut]) -> str:
    """Return what was left out, and why, as a sentence.

    >>> summary_of([LeftOut(2, "without scores"), LeftOut(1, "deleted", ("a",))])
    "Left out: 2 runs without scores; 1 run deleted (such as 'a')."
    """
    if not left_out:
        return ""
    first, *more = (one.text for one in left_out)
    rest = (part for text in more for part in ("; ", text))
    return Message("Left out: ", first, *rest, ".")


def _numbers_of(left_out: Sequence[LeftOut]) -> str:
    """Return how many runs, and things of other kinds, were left out."""
    n: Counter[str] = Counter()
    for one in left_out:
        n[one.what] += one.n
    parts = [f"{k:,}" if what == "run" else count(k, what) for what, k in n.items()]
    return joined_words(parts) if parts else "none"


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
        argument="runs",
        value=name,
    )


# --- names -------------------------------------------------------------------------------


def _named(runs: Runs, roles: NamedRoles) -> Runs:
    names = runs.table.column("run").to_pylist()
    rows, columns = roles_of(names, roles)
    if len(rows) < len(names):
        left_out = (*runs.left_out, *left_out_of(names, rows))
        runs = replace(_chosen(runs, np.array(rows, np.int64)), left_out=left_out)
    return replace(runs, table=with_columns(runs.table, columns))


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
            fixes=_with_label(runs, column) or _choices(runs) or _patterns(runs),
        )


def _with_label(runs: Runs, column: str) -> list[dict[str, Any]]:
    """Return the choices of experiments in which every run has a label."""
    fixes: list[dict[str, Any]] = []
    for fix in _choices(runs):
        ((name, value),) = fix["where"].items()
        rows = pc.equal(runs.table.column(name).cast(pa.string()), str(value))
        if runs.table.column(column).filter(rows).null_count == 0:
            fixes.append(fix)
    return fixes


def _chosen(runs: Runs, rows: Ints) -> Runs:
    scalars = runs.scalars.of_runs(rows, runs.table.num_rows)
    return replace(runs, table=runs.table.take(pa.array(rows)), scalars=scalars)


def _that_logged(runs: Runs) -> Runs:
    """Return runs without the metrics and labels that only others had."""
    table, scalars = runs.table, runs.scalars.that_logged()
    columns = [c for c in table.column_names if c == "run" or not _is_empty(table, c)]
    meant = {name: what for name, what in runs.meant.items() if name in scalars.names}
    return replace(runs, table=table.select(columns), scalars=scalars, meant=meant)


# --- curves ------------------------------------------------------------------------------


def _core(
    scalars: Scalars, n: int, meant: Mapping[str, Metric], unit: Unit | None
) -> tuple[Core, int]:
    """Return the curves of all n runs, and how many scores were written over."""
    run, step = scalars.run, scalars.step
    rises = (run[1:] > run[:-1]) | ((run[1:] == run[:-1]) & (step[1:] >= step[:-1]))
    order = slice(None) if rises.all() else np.lexsort((step, run))
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
    core = Core(
        task=np.zeros(n, np.int32),
        algorithm=np.zeros(n, np.int32),
        number=np.zeros(n, np.int64),
        status=np.zeros(n, np.int8),
        offsets=starts(lengths),
        steps=step[is_new].copy(),
        values=values,
        recorded=recorded,
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
    is_same = (np.diff(run[order]) == 0) & (np.diff(metric[order]) == 0)
    is_twice = is_same & (np.diff(step[order]) == 0)
    counts = np.ones(len(run), bool)
    curve = np.concatenate([[0], np.cumsum(~is_same)])
    begins = np.append(np.flatnonzero(np.diff(curve, prepend=-1)), len(curve))
    for affected in np.unique(curve[1:][is_twice]).tolist():
        rows = np.sort(order[begins[affected] : begins[affected + 1]])  # as written
        later = np.minimum.accumulate(step[rows][::-1])[::-1]
        counts[rows[:-1]] = step[rows][:-1] < later[1:]
    return scalars.take(counts), int((~counts).sum())


def _wanted(scalars: Scalars, metrics: Mapping[str, Any]) -> Scalars:
    is_wanted = np.array([name in metrics for name in scalars.names], bool)
    return scalars if is_wanted.all() else scalars.take(is_wanted[scalars.metric])


# --- the rest ----------------------------------------------------------------------------


def _details(table: pa.Table, roles: Roles, errors: Sequence[str]) -> Details:
    none = no_details(table.num_rows)
    columns = set(table.column_names)
    noted = (
        table.column("error_text").to_pylist() if "error_text" in columns else errors
    )
    texts = [error or note or "" for error, note in zip(errors, noted, strict=True)]
    seconds = numbers(table, "seconds") if "seconds" in columns else none.seconds
    return replace(
        none,
        params=as_json(table, roles.params),
        labels=as_json(table, roles.labels),
        error=from_texts(texts) if any(texts) else none.error,
        seconds=np.array(seconds, np.float64),
    )


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


# --- Which label of a tool's runs is what; what the tool cannot say is asked for -------


# Where tools keep what people say about a run: tags.model, config/env, user_attrs_seed.
_PREFIX = re.compile(
    r"^(params?|config|hparams?|hyperparameters|tags?|labels?|user_attrs?|attrs)[._/]",
    re.IGNORECASE,
)
_OURS = {"run", "status", "seconds", "error_text", "attempts"}


def assign_runs(
    runs: Runs,
    *,
    task: str | None,
    algorithm: str | None,
    trial: str | Sequence[str] | None,
    status: str | None,
    metrics: Metrics | None,
    params: Sequence[str] | None,
    unit: Unit | None,
) -> Roles:
    """Return the roles of the columns of runs.

    What the caller states goes first, then a usual name, then what the tool itself says.
    """
    table = runs.table
    meanings_of = _metrics(runs, metrics, unit)
    stated_params, trials = several(params, "params"), several(trial, "trial")
    stated = [c for c in (task, algorithm, status, *trials, *stated_params) if c]
    for column in stated:
        if column not in table.column_names:
            raise unknown("label", column, table.column_names)
    if twice := [c for c in stated if stated.count(c) > 1]:
        raise CurvewiseError(
            f"Label '{twice[0]}' was given two roles. Name it once.", value=twice[0]
        )
    left = [c for c in table.column_names if c not in _OURS and not _is_empty(table, c)]
    free = [c for c in left if c not in stated]
    if runs.closed:
        free = [c for c in free if not _PREFIX.match(c)]
    usual = {role: c for role, c in runs.usual.items() if c not in stated}
    task = task or _usual(names.TASK, free, usual.get("task"))
    if task is None:
        _must_be_one_task(runs)
    free = [c for c in free if c != task]
    algorithm = algorithm or _usual(names.ALGORITHM, free, usual.get("algorithm"))
    free = [c for c in free if c != algorithm]
    if algorithm is None and table.num_rows > 1:
        raise _which_algorithm(runs)
    who = [c for c in (task, algorithm) if c]
    if trial is None:
        trials = _trial_columns(runs, who, free)
    elif trials and rows_per_run(table, [*who, *trials]) > 1:
        raise _runs_alike(runs, who, trials)
    left = [c for c in left if c not in (*who, *trials)]
    if params is None:
        stated_params = tuple(c for c in left if names.has_param_prefix(c))
    labels = [
        c
        for c in dict.fromkeys(("run", *trials, *left))
        if c in table.column_names and c not in stated_params and c != status
    ]
    return Roles(
        task=task,
        algorithm=algorithm,
        trial=trials,
        step=runs.steps or None,
        status=status or ("status" if "status" in table.column_names else None),
        metrics=meanings_of,
        params={c: names.param_name(c) for c in stated_params},
        labels={c: c.removeprefix("label.") for c in labels},
        counts={},
        dropped=(),
        guessed=True,
    )


def _metrics(
    runs: Runs, metrics: Metrics | None, unit: Unit | None
) -> dict[str, Metric | None]:
    meanings = {}
    for name, what in runs.meant.items():
        metric = what if isinstance(what, Metric) else Metric.of_text(name, what)
        meanings[name] = replace(metric, source="source")
    logged = runs.scalars.names
    if metrics is None:
        if not logged:
            raise CurvewiseError(
                f"{runs.source} holds no scores in {count(runs.table.num_rows, 'run')}. "
                f"Pass a source whose runs have logged numbers.",
                argument="source",
                value=runs.source,
            )
        return {name: meanings.get(name) or find(name) for name in logged}
    wanted: dict[str, Metric | None] = {}
    for column, meant in stated_metrics(metrics, unit).items():
        name = column if column in logged else names.metric_name(column)
        if name not in logged:
            raise unknown("metric", column, logged)
        # What a tool says of its metrics goes before what a name alone says.
        is_stated = isinstance(metrics, Mapping) and meant is not None
        wanted[name] = meant if is_stated else meanings.get(name) or meant
    if not wanted:
        raise CurvewiseError(
            "metrics is empty. Name at least one metric.",
            argument="metrics",
            value=metrics,
        )
    return wanted


# --- who ---------------------------------------------------------------------------------


def _usual(
    words: Iterable[str], columns: Sequence[str], fallback: str | None
) -> str | None:
    return next(iter(_every(words, columns)), fallback)


def _every(words: Iterable[str], columns: Sequence[str]) -> list[str]:
    bare: dict[str, str] = {}
    for column in columns:
        bare.setdefault(_PREFIX.sub("", column), column)
    return [bare[name] for name in names.every(words, bare)]


def _trial_columns(
    runs: Runs, who: Sequence[str], columns: Sequence[str]
) -> tuple[str, ...]:
    """Return the fewest usual labels that tell the runs apart; none to count them."""
    table = runs.table
    candidates = _every(names.TRIAL, columns)
    for size in (1, 2, 3):
        for some in combinations(candidates, size):
            if rows_per_run(table, [*who, *some]) == 1:
                return some
    seeds = [c for c in _every(names.TRIAL[1:6], columns) if varies(table, c)]
    if seeds:
        raise _runs_alike(runs, who, seeds[:1])
    column = runs.usual.get("trial")
    if column is not None and rows_per_run(table, [*who, column]) == 1:
        return (column,)
    return ()


def _is_empty(table: pa.Table, column: str) -> bool:
    return bool(table.num_rows) and bool(
        table.column(column).null_count == table.num_rows
    )


# --- questions ---------------------------------------------------------------------------


def _must_be_one_task(runs: Runs) -> None:
    """Raise where several settings may each be the task, or all of them together."""
    for column in (c for c in runs.table.column_names if CROSSED in c):
        keys = column.split(CROSSED)
        if set(keys) <= set(runs.table.column_names):
            raise CurvewiseError(
                f"Which label names the task? {listed(keys)} may, or all of them together: "
                f"their values are crossed in {runs.source}.",
                fixes=[{"task": column}, *({"task": key} for key in keys)],
            )


def _which_algorithm(runs: Runs) -> CurvewiseError:
    asks = (
        f"Which label names the algorithm? {runs.source} holds "
        f"{count(runs.table.num_rows, 'run')} and does not say. {_labels_in(runs)}"
    )
    if runs.fixes:
        return CurvewiseError(asks, fixes=runs.fixes)
    candidates = [c for c in runs.table.column_names if _may_name(runs.table, c)]
    fixes: list[dict[str, Any]] = [{"algorithm": c} for c in candidates[:3]]
    fixes = [*_choices(runs), *fixes, *({"tool": one} for one in runs.others)]
    fixes += _patterns(runs)
    return CurvewiseError(
        f"{asks} A pattern of the names of runs tells, too, such as ",
        {"roles": "{algorithm}-{task}-s{seed}"},
        "; ",
        Keyword("roles", {"algorithm": "mine"}),
        " is for runs that are all of one.",
        fixes=(fixes or [{"roles": {"algorithm": "mine"}}])[:5],
    )


def _patterns(runs: Runs) -> list[dict[str, Any]]:
    """Return patterns of the names of runs that tell algorithms with several runs."""
    called = runs.table.column("run").cast(pa.string()).to_pylist()
    fixes = proposals(called, "", seeded=True)
    return [fix for fix in fixes if isinstance(fix["roles"], str)]


def _may_name(table: pa.Table, column: str) -> bool:
    """Return whether a label has a few words that all runs share among them."""
    if column in (*_OURS, *_COLLECTIONS, "parent"):
        return False
    if not pa.types.is_string(table.schema.field(column).type):
        return False
    cells = table.column(column)
    words = len(cells.unique())
    return not cells.null_count and 1 < words <= max(table.num_rows / 2, 2)


# What tools keep several studies of in one place under.
_COLLECTIONS = ("experiment", "study", "project", "group", "sweep")


def _choices(runs: Runs) -> list[dict[str, Any]]:
    """Return how to choose one of the experiments of a source that holds several.

    Only where they differ in what their runs have: two halves of one study are no choice.
    """
    table = runs.table
    for column in _COLLECTIONS:
        if column not in table.column_names or not varies(table, column):
            continue
        some = [c for c in table.column_names if table.column(c).null_count > 0]
        values = [v for v in table.column(column).unique().to_pylist() if v is not None]
        for label in some:
            is_gap = table.column(label).is_null()
            without = table.column(column).filter(is_gap).unique()
            with_it = table.column(column).filter(pc.invert(is_gap)).unique()
            if not {*without.to_pylist()} & {*with_it.to_pylist()}:
                return [{"where": {column: value}} for value in values[:4]]
    return []


def _runs_alike(
    runs: Runs, who: Sequence[str], columns: Sequence[str]
) -> CurvewiseError:
    times = rows_per_run(runs.table, [*who, *columns])
    which = " and ".join(f"'{c}'" for c in columns)
    alone = "run" if rows_per_run(runs.table, [*who, "run"]) == 1 else "row"
    table = runs.table
    ours = _OURS - {"run"}
    others = [c for c in table.column_names if c not in (*ours, *who, *columns)]
    others = [c for c in others if 1 < len(table.column(c).unique()) < table.num_rows]
    return CurvewiseError(
        f"Which label tells the runs of one algorithm apart? {which} should, and has the "
        f"same value in up to {times} runs of {runs.source}. {_labels_in(runs)} "
        f"'{alone}' says that every run stands for itself.",
        fixes=[
            *_choices(runs),
            *[
                {"trial": [*columns, c]}
                for c in others
                if rows_per_run(table, [*who, *columns, c]) == 1
            ][:2],
            {"trial": alone},
        ],
    )


def _labels_in(runs: Runs, most: int = 12) -> str:
    """Return what labels there are, how many values each has, and some of them."""
    table, parts = runs.table, []
    for column in (c for c in table.column_names if c not in _OURS - {"run"}):
        cells = [v for v in table.column(column).unique().to_pylist() if v is not None]
        some = listed([shortened(v, 40) for v in cells], most=3) or "none"
        parts.append(f"{shortened(column)} ({count(len(cells), 'value')}: {some})")
    more = f"; and {len(parts) - most} more" if len(parts) > most else ""
    return f"Found: {'; '.join(parts[:most])}{more}."
