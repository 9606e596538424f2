"""What Optuna drew: hyperparameters as people know them, not as numbers of choices."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.exchange.cells import as_text, parsed
from curvewise.exchange.runs import utf8
from curvewise.metrics import Floats
from curvewise.trials.columns import Ints

Cell: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """From what a hyperparameter was drawn.

    Parameters
    ----------
    kind : {"whole", "real", "choice"}
    choices : tuple
        What there was to choose from; empty for numbers.
    law : tuple
        What two draws must share to be of one hyperparameter.
    is_known : bool
        Whether this kind of distribution is known at all.
    """

    kind: Literal["whole", "real", "choice"]
    choices: tuple[Cell, ...] = ()
    law: tuple[str, ...] = ()
    is_known: bool = True

    def value(self, number: float | None) -> Cell:
        """Return the value that a stored number stands for; None where there is none."""
        if number is None or math.isnan(number):
            return None
        if self.kind == "choice":
            place = int(number)
            return self.choices[place] if 0 <= place < len(self.choices) else None
        return int(number) if self.kind == "whole" else float(number)


@lru_cache(maxsize=4096)
def drawn_from(text: str | None) -> Drawn:
    """Return what the JSON of a distribution says, in the words of any version.

    >>> drawn_from('{"name": "IntUniformDistribution", "attributes": {"low": 1}}').kind
    'whole'
    >>> drawn_from('{"type": "categorical", "choices": [null, 3]}').choices
    ('None', '3')
    """
    try:
        said = parsed(text or "")
        name = str(said.get("name") or said["type"]).casefold()
        rest = said.get("attributes", said)
        choices = of_one_kind(rest.get("choices", ()))
        law = (name, str(rest.get("log")), str(rest.get("choices")))
    except (ValueError, LookupError, TypeError, AttributeError):
        return Drawn("real", is_known=False)
    if name.startswith("categorical"):
        return Drawn("choice", choices, law)
    is_known = name.startswith(("int", "float", "uniform", "log", "discrete"))
    return Drawn("whole" if name.startswith("int") else "real", (), law, is_known)


def named_choice(value: Any) -> Cell:
    """Return a choice as a cell. None is one of them, and an empty cell is not.

    >>> named_choice(None), named_choice(3), named_choice([1, 2])
    ('None', 3, '[1, 2]')
    """
    odd = isinstance(value, float) and not math.isfinite(value)
    if value is None or odd:
        return str(value)
    return value if isinstance(value, bool | int | float | str) else as_text(value)


def of_one_kind(choices: Sequence[Any]) -> tuple[Cell, ...]:
    """Return choices as cells of one column, so that a value has a kind of its own.

    >>> of_one_kind([None, 3]), of_one_kind([1, 0.5])
    (('None', '3'), (1.0, 0.5))
    """
    return tuple(column_of([named_choice(one) for one in choices]).to_pylist())


def column_of(cells: Sequence[Any]) -> pa.Array:
    """Return cells of one kind as they are, and mixed ones as texts.

    >>> column_of([1, None, 2.5]).to_pylist(), column_of(["None", 3, True]).to_pylist()
    ([1.0, None, 2.5], ['None', '3', 'True'])
    """
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float} or kinds in ({bool}, {str}):
        try:
            wide = pa.float64() if float in kinds else None
            return pa.array(cells, wide)
        except (OverflowError, ValueError, pa.ArrowInvalid):
            pass  # a whole number beyond 64 bits, or half a character
    plain = (bool, int, float, str)
    texts = [
        None if c is None else utf8(str(c) if isinstance(c, plain) else as_text(c))
        for c in cells
    ]
    return pa.array(texts, pa.string())


def param_columns(
    n: int, row: Ints, key: Ints, number: Floats, keys: Mapping[tuple[str, str], int]
) -> dict[str, pa.Array]:
    """Return a column for each hyperparameter, empty where a trial did not draw it.

    Parameters
    ----------
    n : int
        How many trials there are.
    row, key, number : array, shape (value,)
        Whose value, of which name and distribution, and what is stored for it.
    keys : mapping
        From a name and the JSON of its distribution to its place in `key`.
    """
    order = np.argsort(key, kind="stable")
    edges = np.searchsorted(key[order], np.arange(len(keys) + 1))
    by_name: dict[str, list[tuple[Drawn, Ints]]] = {}
    for (name, text), place in keys.items():
        own = order[edges[place] : edges[place + 1]]
        by_name.setdefault(name, []).append((drawn_from(text), own))
    return {name: _column(n, row, number, parts) for name, parts in by_name.items()}


def _column(
    n: int, row: Ints, number: Floats, parts: Sequence[tuple[Drawn, Ints]]
) -> pa.Array:
    kinds = {drawn.kind for drawn, _ in parts}
    if "choice" not in kinds:
        whole = np.concatenate([own for _, own in parts])
        values = np.full(n, np.nan)
        values[row[whole]] = number[whole]
        missing = np.isnan(values)
        if kinds == {"whole"} and (np.abs(np.nan_to_num(values)) < 2**63).all():
            return pa.array(np.nan_to_num(values).astype(np.int64), mask=missing)
        return pa.array(values, mask=missing)
    if kinds != {"choice"}:  # drawn from numbers in one study, from names in another
        cells: list[Cell] = [None] * n
        for drawn, own in parts:
            for i in own:
                cells[row[i]] = drawn.value(number[i])
        return column_of(cells)
    pool: list[Cell] = []
    place = np.full(n, -1)
    for drawn, own in parts:
        known = own[(number[own] >= 0) & (number[own] < len(drawn.choices))]
        place[row[known]] = len(pool) + number[known].astype(np.int64)
        pool += drawn.choices
    return column_of(pool).take(pa.array(place, mask=place < 0))
