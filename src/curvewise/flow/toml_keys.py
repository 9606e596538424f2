"""Which keys a TOML file of an experiment may have, and what is said about others."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from curvewise.errors import CurvewiseError, shortened, unknown

Kinds: TypeAlias = Mapping[str, tuple[type, ...]]

_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}
PLAN: Kinds = {
    "tasks": (list, str),
    "algorithms": (list, str),
    "trials": (int,),
    "seed": (int,),
    "vary": (list, str),
    "cross": (dict,),
    "metrics": (dict,),
}
RUN: Kinds = {
    "store": (str,),
    "workers": (int,),
    "executor": (str,),
    "timeout": (float,),
    "retries": (int,),
    "memory": (int, str),
    "until": (str,),
}
TASK: Kinds = {
    "sample": (str,),
    "name": (str,),
    "lines": (int,),
    "settings": (dict,),
}
ALGORITHM: Kinds = {
    "run": (str,),
    "name": (str,),
    "space": (dict, str),
    "settings": (dict,),
    "tuned": (bool, dict),
}
METRIC: Kinds = {
    "direction": (str,),
    "range": (list,),
    "unit": (str,),
    "label": (str,),
}
SEARCH: Kinds = {
    "configs": (int,),
    "folds": (int,),
    "metric": (str,),
}


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Begin messages with where in the file the mistake is."""
    try:
        yield
    except CurvewiseError as problem:
        raise CurvewiseError(f"{where}: ", problem.message) from problem


def check(table: Mapping[str, Any], kinds: Kinds) -> None:
    """Raise if a table has a key that nobody knows or a value of another type."""
    for key, value in table.items():
        if key not in kinds:
            refuse_misplaced(key)
            raise unknown("key", key, kinds)
        kind = float if type(value) is int and float in kinds[key] else type(value)
        if kind not in kinds[key]:
            words = " or ".join(_WORDS[kind] for kind in kinds[key])
            tables = isinstance(value, dict) and list in kinds[key]
            hint = f" A table among several begins with [[{key}]]." if tables else ""
            raise CurvewiseError(
                f"'{key}' is {shortened(repr(value))}. Write {words}.{hint}"
            )


def refuse_misplaced(key: str) -> None:
    """Raise if a key of the whole experiment stands in a table."""
    if key in PLAN or key in RUN:
        raise CurvewiseError(
            f"'{key}' belongs to the whole experiment. Write it above the first line in "
            f"brackets: what follows such a line belongs to its table."
        )


def refuse_unknown(settings: Mapping[str, Any], function: Any, what: str) -> None:
    """Raise if a function does not take these settings."""
    try:
        allowed = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some of C have no signature
        return
    if any(p.kind is p.VAR_KEYWORD for p in allowed.values()):
        return
    for key in settings:
        if key not in allowed:
            raise unknown(what, key, allowed)
