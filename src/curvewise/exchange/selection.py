"""Which rows or runs of a source to read: ``where={"experiment": "cifar"}``."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened, unknown
from curvewise.exchange.cells import array_of
from curvewise.trials import STATUSES, Trials
from curvewise.trials.columns import Bools
from curvewise.trials.ragged import to_texts

Where: TypeAlias = Mapping[str, Any]


def must_be_where(where: object) -> None:
    """Raise for a selection that is no mapping from names to values."""
    if where is not None and (not isinstance(where, Mapping) or not where):
        raise CurvewiseError(
            f"where is {shortened(where)}. Pass a dict from columns or labels to the value "
            f"to keep, or to a list of values, such as {{'experiment': 'cifar'}}.",
            argument="where",
            value=where,
        )


def chosen_rows(table: pa.Table, where: Where, source: str) -> Bools:
    """Return which rows of a table hold everything that is asked for.

    A value that no row holds is an error that names those there are.
    """
    keep = np.ones(table.num_rows, bool)
    for name, asked in where.items():
        column = column_of(name, table.column_names)
        cells = table.column(column).combine_chunks()
        is_text = pa.types.is_string(cells.type)
        encoded = cells.dictionary_encode()
        there = [_key(c, is_text=is_text) for c in encoded.dictionary.to_pylist()]
        wanted = asked if _is_several(asked) else [asked]
        values = {_key(one, is_text=is_text): one for one in wanted}
        missing = [one for key, one in values.items() if key not in there]
        if missing:
            raise _no_value(name, missing[0], cells, source)
        chosen = np.array([*(key in values for key in there), False])
        keep &= chosen[encoded.indices.fill_null(len(there)).to_numpy()]
    if not keep.any():
        raise CurvewiseError(
            f"No run of {source} has all of {dict(where)}. Ask for less at once."
        )
    return keep


def chosen_trials(trials: Trials, where: Where, source: str) -> Trials:
    """Return the trials whose task, algorithm, number, status, label or param is so."""
    must_be_where(where)
    names: dict[str, Any] = {
        "task": (trials.tasks, trials.core.task),
        "algorithm": (trials.algorithms, trials.core.algorithm),
        "status": (STATUSES, trials.core.status),
    }
    columns: dict[str, pa.Array] = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), list(texts)
        ).cast(pa.string())
        for name, (texts, codes) in names.items()
    }
    columns["number"] = pa.array(trials.core.number)
    if not set(where) <= set(columns):
        for kind in ("labels", "params"):
            texts = to_texts(getattr(trials.details(), kind))
            dicts = {text: json.loads(text) if text else {} for text in set(texts)}
            for name in dict.fromkeys(n for one in dicts.values() for n in one):
                if name in where and name not in columns:
                    columns[name] = array_of([dicts[text].get(name) for text in texts])
    keep = chosen_rows(pa.table(columns), where, source)
    return trials.take(np.flatnonzero(keep))


def column_of(name: str, columns: Iterable[str]) -> str:
    """Return the column of a name, which may leave out where the tool keeps it.

    >>> column_of("model", ["run", "params.model"])
    'params.model'
    """
    known = list(columns)
    if name in known:
        return name
    folded = name.casefold()
    ends = [c for c in known if c.casefold() == folded]
    ends = ends or [
        c for c in known if c.casefold().endswith((f".{folded}", f"/{folded}"))
    ]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise CurvewiseError(
            f"'{name}' may be {listed(ends)}. Write it in full.",
        )
    raise unknown("column or label", name, known)


def _is_several(asked: object) -> bool:
    return isinstance(asked, list | tuple | set | frozenset)


def _key(value: Any, *, is_text: bool) -> str:
    """Return what is compared: of numbers, 3, 3.0 and "3" are one; a text 1e1 is not 10."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).casefold()
    text = str(value).strip()
    if text.casefold() in ("true", "false"):
        return text.casefold()
    plain = _WHOLE.fullmatch(text)
    if plain is not None:
        return plain[1]
    if is_text or not isinstance(value, str) or "_" in text:
        return text
    try:
        return str(float(text)).removesuffix(".0")
    except ValueError:
        return text


_WHOLE = re.compile(r"\+?(-?(?:0|[1-9]\d*))(?:\.0+)?")


def _no_value(name: str, asked: object, cells: pa.Array, source: str) -> CurvewiseError:
    there = [v for v in cells.unique().to_pylist() if v is not None]
    problem = unknown(f"'{name}' of {source}:", asked, there)
    return CurvewiseError(
        problem.text, fixes=[{"where": {name: value}} for value in there[:3]]
    )
