"""Which label of a tool's runs is what; what the tool cannot say is asked for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pyarrow as pa

from curvewise._text import count
from curvewise.errors import CurvewiseError, Keyword, listed, shortened, unknown
from curvewise.exchange.grouping import rows_per_run
from curvewise.exchange.roles import Metrics, Roles, Unit, several, stated_metrics
from curvewise.exchange.runs import CROSSED, Runs
from curvewise.metrics import Metric, find
from curvewise.trials import names

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
        raise _repeated(runs, who, trials)
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
        raise _repeated(runs, who, seeds[:1])
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
    from curvewise.exchange.tools.folders.patterns import proposals

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


def _repeated(runs: Runs, who: Sequence[str], columns: Sequence[str]) -> CurvewiseError:
    times = rows_per_run(runs.table, [*who, *columns])
    which = " and ".join(f"'{c}'" for c in columns)
    alone = "run" if rows_per_run(runs.table, [*who, "run"]) == 1 else "row"
    return CurvewiseError(
        f"Which label tells the runs of one algorithm apart? {which} should, and has the "
        f"same value in up to {times} runs of {runs.source}. {found_in(runs)} "
        f"'{alone}' says that every run stands for itself.",
        fixes=[*choices(runs), *_apart(runs, who, columns), {"trial": alone}],
    )


def _apart(
    runs: Runs, who: Sequence[str], columns: Sequence[str]
) -> list[dict[str, Any]]:
    table = runs.table
    ours = _OURS - {"run"}
    others = [c for c in table.column_names if c not in (*ours, *who, *columns)]
    others = [c for c in others if 1 < len(table.column(c).unique()) < table.num_rows]
    return [
        {"trial": [*columns, c]}
        for c in others
        if rows_per_run(table, [*who, *columns, c]) == 1
    ][:2]


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
