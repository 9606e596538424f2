"""Spaces of hyperparameters as TOML writes them.

A list is a choice, a plain value a constant, and a table with one of these keys a law::

    lr      = { loguniform = [1e-5, 1e-1] }     # also uniform, integers, log_integers
    width   = [64, 128, 256]
    solver  = { choice = ["adam", "sgd"], weights = [3, 1] }
    degree  = { when = { kernel = "poly" }, then = [2, 3] }
    dropout = { mixture = [[0.0], { uniform = [0.1, 0.5] }] }

Any other table is a space inside.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from curvewise.engine import spaces
from curvewise.errors import CurvewiseError, listed, shortened, unknown
from curvewise.flow.toml_keys import naming

_ENDS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform": spaces.uniform,
    "loguniform": spaces.loguniform,
    "integers": spaces.integers,
    "log_integers": spaces.log_integers,
}
# What may stand in a table beside the name of a law.
_LAWS = {law: (law,) for law in _ENDS} | {
    "choice": ("choice", "weights"),
    "mixture": ("mixture", "weights"),
    "when": ("when", "then"),
}


def space_of(table: Mapping[str, Any], where: str) -> Any:
    """Return the space that a table describes; `where` opens messages.

    Examples
    --------
    >>> print(spaces.describe(space_of({"C": {"loguniform": [0.1, 10]}}, "svm")))
    C: log-uniform from 0.1 to 10
    """
    if "mixture" in table and set(table) <= set(_LAWS["mixture"]):
        return _several("mixture", table, where, space_of)
    return {
        name: _parameter(value, f"{where}, parameter '{name}'")
        for name, value in table.items()
    }


def _parameter(value: Any, where: str) -> Any:
    if isinstance(value, list):
        for member in value:
            if isinstance(member, dict) and set(member) & set(_LAWS):
                raise CurvewiseError(
                    f"{where}: a list holds plain values, and this one holds "
                    f"{shortened(member)}. Write {{ choice = [...] }} around it."
                )
        return value
    if not isinstance(value, dict):
        return value
    law = next((name for name in _LAWS if name in value), None)
    if law is None:
        _refuse_near_miss(value, where)
        return space_of(value, where)
    for key in value:
        if key not in _LAWS[law]:
            raise CurvewiseError(
                f"{where}: '{key}' stands beside '{law}'. Leave it out; in such a table "
                f"may be: {listed(_LAWS[law])}."
            )
    if law == "when":
        return _when(value, where)
    if law in _ENDS:
        return _between(law, value[law], where)
    return _several(law, value, where, _parameter)


def _between(law: str, ends: Any, where: str) -> Any:
    if not isinstance(ends, list) or len(ends) != 2:
        raise CurvewiseError(
            f"{where}: {law} is {shortened(ends)}. Write {{ {law} = [low, high] }}."
        )
    with naming(where):
        return _ENDS[law](*ends)


def _several(
    law: str, table: Mapping[str, Any], where: str, each: Callable[[Any, str], Any]
) -> Any:
    members = table[law]
    if not isinstance(members, list) or not members:
        raise CurvewiseError(
            f"{where}: {law} is {shortened(members)}. Write {{ {law} = [...] }}, with at "
            f"least one member."
        )
    if each is space_of:
        for member in members:
            if not isinstance(member, dict):
                raise CurvewiseError(
                    f"{where}: mixture holds {shortened(member)}. Write tables, each a "
                    f"space."
                )
    made = [each(m, where) if isinstance(m, dict) else m for m in members]
    weights = _weights(table, where)
    with naming(where):
        if law == "choice":
            return spaces.choice(made, weights=weights)
        return spaces.mixture(*made, weights=weights)


def _weights(table: Mapping[str, Any], where: str) -> Sequence[float] | None:
    weights = table.get("weights")
    if weights is None or isinstance(weights, list):
        return weights
    raise CurvewiseError(
        f"{where}: weights is {shortened(weights)}. Write a list, a number per member."
    )


def _when(table: Mapping[str, Any], where: str) -> Any:
    if set(table) != {"when", "then"} or not isinstance(table["when"], dict):
        raise CurvewiseError(
            f"{where}: {shortened(table)} is no condition. Write "
            f'{{ when = {{ kernel = "poly" }}, then = [2, 3] }}.'
        )
    then = _parameter(table["then"], where)
    with naming(where):
        return spaces.when(table["when"], then)


def _refuse_near_miss(table: Mapping[str, Any], where: str) -> None:
    """Raise if a table looks like a law whose name is misspelt."""
    for key, value in table.items():
        alone = len(table) == 1 or key == "then"
        if alone and isinstance(value, list) and get_close_matches(key, _LAWS, 1, 0.75):
            raise CurvewiseError(f"{where}: {unknown('distribution', key, _LAWS)}")
