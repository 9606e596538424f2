"""Roles from the name of a run: a pattern, a function, or the same for all."""

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    Keyword,
    Message,
    listed,
    shortened,
)
from curvewise.exchange.cells import array_of
from curvewise.exchange.runs import LeftOut, utf8
from curvewise.trials.names import first

NamedRoles: TypeAlias = (
    str | Mapping[str, object] | Callable[[str], Mapping[str, object] | None]
)
RUN = ("run", "run_name", "name", "run_id", "experiment", "trial", "id")
_NUMBERED = ("seed", "trial", "number", "fold")
_JOINED = ("algorithm", "task")  # may be named twice: their parts are joined
_FIELD = re.compile(r"\{([^\W\d]\w*)(:d)?\}|\*")


def roles_of(
    runs: Sequence[str], roles: NamedRoles
) -> tuple[list[int], dict[str, list[Any]]]:
    """Return which runs to keep, and what their names say, as columns.

    Parameters
    ----------
    runs : sequence of str
        Names of runs.
    roles : str, mapping or callable
        A pattern such as ``"{algorithm}-{task}-s{seed}"``, in which ``{name}`` stands for
        any text without a slash, ``{name:d}`` for digits and ``*`` for anything (an
        algorithm or a task may be named twice, of which the parts are joined); what all
        runs share; or a function from a name to a mapping, or None for a run to leave out.

    Examples
    --------
    >>> roles_of(["ppo-Hopper-s3"], "{algorithm}-{task}-s{seed}")
    ([0], {'algorithm': ['ppo'], 'task': ['Hopper'], 'seed': [3]})
    """
    told: list[dict[str, Any] | None]
    if isinstance(roles, str):
        told = _by_pattern(runs, roles)
    elif isinstance(roles, Mapping):
        told = [dict(roles) for _ in runs]
    elif callable(roles):
        told = [_called(roles, run) for run in runs]
    else:
        raise CurvewiseError(
            f"roles is {shortened(repr(roles))}. Pass a pattern such as "
            f"'{{algorithm}}-{{task}}-s{{seed}}', a function from the name of a run to a "
            f"dict, or a dict of what all runs share.",
            argument="roles",
            value=roles,
        )
    kept = [i for i, one in enumerate(told) if one is not None]
    used = [{str(n): v for n, v in one.items()} for one in told if one is not None]
    names = dict.fromkeys(n for one in used for n in one)
    columns = {n: [_cell(one.get(n)) for one in used] for n in names}
    return kept, {n: _whole(cells) for n, cells in columns.items()}


def left_out_of(runs: Sequence[str], kept: Sequence[int]) -> LeftOut:
    """Return the runs that a function of roles did not want."""
    used = set(kept)
    out = [run for i, run in enumerate(runs) if i not in used]
    return LeftOut(
        len(out),
        Message("for which ", Keyword("roles"), " returned None"),
        tuple(out[:2]),
    )


def with_columns(table: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Return a table with columns put in front, in place of those of the same name."""
    for name in columns:
        if name in table.column_names:
            table = table.drop_columns([name])
    ours = {name: array_of(cells) for name, cells in columns.items()}
    return pa.table(ours | {c: table.column(c) for c in table.column_names})


def rows_with_roles(table: pa.Table, roles: NamedRoles, name: str) -> pa.Table:
    """Return a table with what the names of its runs say, as columns of their own."""
    column = first(RUN, table.column_names)
    if column is None and not isinstance(roles, Mapping):
        raise CurvewiseError(
            Keyword("roles"),
            f" looks at names of runs, and {name} has no column of them; it has "
            f"{listed(table.column_names)}. Call one 'run'.",
        )
    cells = (
        pa.array([""] * table.num_rows)
        if column is None
        else table.column(column).cast(pa.string()).combine_chunks().fill_null("")
    )
    encoded = cells.dictionary_encode()
    runs = encoded.dictionary.to_pylist()
    kept, columns = roles_of(runs, roles)
    if len(kept) < len(runs):
        left = left_out_of(runs, kept)
        said = Message(f"{name}: Left out: ", left.text, ".")
        warnings.warn(said, CurvewiseWarning, stacklevel=5)
    place = np.full(len(runs), -1)
    place[kept] = np.arange(len(kept))
    where = place[encoded.indices.to_numpy()]
    rows = np.flatnonzero(where >= 0)
    told = {
        n: array_of(cells).take(pa.array(where[rows])) for n, cells in columns.items()
    }
    return with_columns(table.take(pa.array(rows)), told)


def _by_pattern(runs: Sequence[str], pattern: str) -> list[dict[str, Any] | None]:
    # Seeds are digits wherever that fits: in "ppo-s-s-s3" the seed is 3, not "-s3".
    strict, loose = _compiled(pattern, digits=True), _compiled(pattern, digits=False)
    found = [strict.fullmatch(run) or loose.fullmatch(run) for run in runs]
    strangers = [run for run, match in zip(runs, found, strict=True) if not match]
    if strangers:
        raise CurvewiseError(
            f"{len(strangers)} of {len(runs)} names of runs do not fit the pattern "
            f"'{shortened(pattern)}', such as {listed(strangers, most=3)}. Change the "
            f"pattern. In Python, a function of names of runs may return None for one to "
            f"leave out."
        )
    return [_joined(match.groupdict()) for match in found if match]


def _joined(told: dict[str, Any]) -> dict[str, Any]:
    """Return what a pattern found; parts of one name are joined, as in "ppo/tuned"."""
    out: dict[str, list[str]] = {}
    for name, text in told.items():
        bare = name.rstrip("_")
        out.setdefault(bare if bare in _JOINED else name, []).append(text)
    return {name: "/".join(texts) for name, texts in out.items()}


def _compiled(pattern: str, *, digits: bool) -> re.Pattern[str]:
    parts, end, fields = [], 0, []
    for found in _FIELD.finditer(pattern):
        parts.append(re.escape(pattern[end : found.start()]))
        end = found.end()
        if found[1] is None:
            parts.append(".*?")
            continue
        fields.append(found[1])
        whole = found[2] or (digits and found[1] in _NUMBERED)
        fits = r"\d+" if whole else "[^/]+?"
        times = fields.count(found[1]) - 1 if found[1] in _JOINED else 0
        parts.append(f"(?P<{found[1]}{times * '_'}>{fits})")
    if not fields:
        raise CurvewiseError(
            f"The pattern '{shortened(pattern)}' names no role. Write it as names of runs "
            f"look, with roles in braces: '{{algorithm}}-{{task}}-s{{seed}}'."
        )
    others = [field for field in fields if field not in _JOINED]
    if len(set(others)) < len(others):
        raise CurvewiseError(
            f"The pattern '{shortened(pattern)}' names a role twice. Name each once, and "
            f"write * for what may be anything."
        )
    parts.append(re.escape(pattern[end:]))
    return re.compile("".join(parts), re.DOTALL)


def _called(
    roles: Callable[[str], Mapping[str, object] | None], run: str
) -> dict[str, Any] | None:
    try:
        told = roles(run)
    except Exception as problem:
        raise CurvewiseError(
            "The function of ",
            Keyword("roles"),
            f" raised {type(problem).__name__} for run '{shortened(run)}': "
            f"{shortened(problem)}. Return None for a run to leave out.",
        ) from problem
    if told is None or isinstance(told, Mapping):
        return None if told is None else dict(told)
    raise CurvewiseError(
        "The function of ",
        Keyword("roles"),
        f" returned {shortened(repr(told))} for run '{shortened(run)}'. Return a "
        "dict such as {'algorithm': 'ppo', 'seed': 3}.",
    )


def _cell(value: Any) -> Any:
    """Return a plain value: what is neither a number nor text is written out."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):  # as pandas says "nothing"
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return utf8(str(value))


def _whole(cells: list[Any]) -> list[Any]:
    """Return texts of digits as numbers: seeds, most of the time."""
    digits = all(isinstance(c, str) and re.fullmatch(r"\d{1,18}", c) for c in cells)
    # "07" and "7" in one place are two names.
    if not digits or len({int(c) for c in cells}) < len(set(cells)):
        return cells
    return [int(c) for c in cells]
