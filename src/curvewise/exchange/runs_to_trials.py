"""From runs of another tool to trials."""

import re
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
from curvewise.exchange.rows import Where, chosen_rows, joined, rows_per_run
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
from curvewise.text import joined as listing
from curvewise.trials import Trials, names
from curvewise.trials.columns import (
    Bools,
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
    remarks = [*runs.remarks, *_passes_repeated(repeated), *_unfinished(runs, assigned)]
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


def _passes_repeated(n: int) -> list[str]:
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
    chosen = _metrics(runs, metrics, unit)
    stated_params = several(params, "params")
    trials = several(trial, "trial")
    left = [c for c in table.column_names if c not in _OURS and not _is_empty(table, c)]
    single = (task, algorithm, status)
    for column in (*filter(None, single), *trials, *stated_params):
        if column not in table.column_names:
            raise unknown("label", column, table.column_names)
    given = [c for c in (*single, *trials, *stated_params) if c]
    if twice := [c for c in given if given.count(c) > 1]:
        raise CurvewiseError(f"Label '{twice[0]}' was given two roles. Name it once.")
    free = [c for c in left if c not in given]
    if runs.closed:
        free = [c for c in free if not _PREFIX.match(c)]
    usual = {role: c for role, c in runs.usual.items() if c not in given}
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
    kept = stated_params or [
        c for c in left if params is None and names.has_param_prefix(c)
    ]
    labels = ["run", *trials, *left]
    return Roles(
        *(task, algorithm, trials, runs.steps or None),
        status or ("status" if "status" in table.column_names else None),
        chosen,
        {c: names.param_name(c) for c in kept},
        {
            c: c.removeprefix("label.")
            for c in dict.fromkeys(labels)
            if c not in kept and c != status and c in table.column_names
        },
        *({}, (), True),
    )


def _metrics(
    runs: Runs, metrics: Metrics | None, unit: Unit | None
) -> dict[str, Metric | None]:
    known = {name: _meaning(name, meant) for name, meant in runs.meant.items()}
    logged = runs.scalars.names
    if metrics is None:
        if not logged:
            raise CurvewiseError(
                f"{runs.source} holds no scores in {count(runs.table.num_rows, 'run')}. "
                f"Pass a source whose runs have logged numbers."
            )
        return {name: known.get(name) or find(name) for name in logged}
    out: dict[str, Metric | None] = {}
    for column, meant in stated_metrics(metrics, unit).items():
        name = column if column in logged else names.metric_name(column)
        if name not in logged:
            raise unknown("metric", column, logged)
        # What a tool says of its metrics goes before what a name alone says.
        is_stated = isinstance(metrics, Mapping) and meant is not None
        out[name] = meant if is_stated else known.get(name) or meant
    if not out:
        raise CurvewiseError("metrics is empty. Name at least one metric.")
    return out


def _meaning(name: str, meant: Any) -> Metric:
    """Return what the tool itself says of a metric."""
    if isinstance(meant, Metric):
        return replace(meant, source="source")
    return replace(Metric.of_text(name, meant), source="source")


# --- who ---------------------------------------------------------------------------------


def _usual(words: Iterable[str], columns: Sequence[str], own: str | None) -> str | None:
    return next(iter(_every(words, columns)), own)


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
    seeds = [c for c in _every(names.TRIAL[1:6], columns) if _varies(table, c)]
    if seeds:
        raise _runs_alike(runs, who, seeds[:1])
    own = runs.usual.get("trial")
    if own is not None and rows_per_run(table, [*who, own]) == 1:
        return (own,)
    return ()


def _is_empty(table: pa.Table, column: str) -> bool:
    return bool(table.num_rows) and bool(
        table.column(column).null_count == table.num_rows
    )


def _varies(table: pa.Table, column: str) -> bool:
    return len(table.column(column).unique()) > 1


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
    if runs.fixes:
        return CurvewiseError(
            f"Which label names the algorithm? {runs.source} holds "
            f"{count(runs.table.num_rows, 'run')} and does not say. {found_in(runs)}",
            fixes=runs.fixes,
        )
    candidates = [c for c in runs.table.column_names if _may_name(runs.table, c)]
    fixes: list[dict[str, Any]] = [{"algorithm": c} for c in candidates[:3]]
    beside = [{"tool": one} for one in runs.others]
    some = [*choices(runs), *fixes, *beside, *patterns(runs)]
    return CurvewiseError(
        f"Which label names the algorithm? {runs.source} holds "
        f"{count(runs.table.num_rows, 'run')} and does not say. {found_in(runs)} "
        "A pattern of the names of runs tells, too, such as ",
        {"roles": "{algorithm}-{task}-s{seed}"},
        "; ",
        Keyword("roles", {"algorithm": "mine"}),
        " is for runs that are all of one.",
        fixes=(some or [{"roles": {"algorithm": "mine"}}])[:5],
    )


def patterns(runs: Runs) -> list[dict[str, Any]]:
    """Return patterns of the names of runs that tell algorithms with several runs."""
    called = runs.table.column("run").cast(pa.string()).to_pylist()
    found = proposals(called, "", seeded=True)
    return [fix for fix in found if isinstance(fix["roles"], str)]


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


def choices(runs: Runs) -> list[dict[str, Any]]:
    """Return how to choose one of the experiments of a source that holds several.

    Only where they differ in what their runs have: two halves of one study are no choice.
    """
    table = runs.table
    for column in _COLLECTIONS:
        if column not in table.column_names or not _varies(table, column):
            continue
        some = [c for c in table.column_names if table.column(c).null_count > 0]
        values = [v for v in table.column(column).unique().to_pylist() if v is not None]
        for label in some:
            gaps = table.column(label).is_null().to_numpy()
            own = table.column(column).cast(pa.string()).to_pylist()
            without = {o for o, gap in zip(own, gaps, strict=True) if gap}
            with_it = {o for o, gap in zip(own, gaps, strict=True) if not gap}
            if not without & with_it:
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
        f"same value in up to {times} runs of {runs.source}. {found_in(runs)} "
        f"'{alone}' says that every run stands for itself.",
        fixes=[
            *choices(runs),
            *[
                {"trial": [*columns, c]}
                for c in others
                if rows_per_run(table, [*who, *columns, c]) == 1
            ][:2],
            {"trial": alone},
        ],
    )


def found_in(runs: Runs, most: int = 12) -> str:
    """Return what labels there are, how many values each has, and some of them."""
    table = runs.table
    shown = [_shown(table, c) for c in table.column_names if c not in _OURS - {"run"}]
    more = f"; and {len(shown) - most} more" if len(shown) > most else ""
    return f"Found: {'; '.join(shown[:most])}{more}."


def _shown(table: pa.Table, column: str) -> str:
    values = [v for v in table.column(column).unique().to_pylist() if v is not None]
    some = listed([shortened(v, 40) for v in values], most=3)
    return f"{shortened(column)} ({count(len(values), 'value')}: {some or 'none'})"
