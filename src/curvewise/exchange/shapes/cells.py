"""Numbers and names in odd writing: decimal commas, percent signs, PPO and ppo."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.shapes.base import Shaped, score_columns
from curvewise.trials import names

_PERCENT = r"^\s*[+-]?\d+([.,]\d+)?\s*%\s*$"
_COMMA = r"^\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*$"
_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*$"
_WORDS_FOR_NOTHING = frozenset(
    ("-", "--", "\u2014", "\u2013", "?", ".", "x", "nan", "n/a")
)


def numbers(shaped: Shaped, name: str) -> Shaped | None:
    """Decimal commas, percent signs and words in place of a score become numbers."""
    table, remarks = shaped.table, list(shaped.remarks)
    decimal = shaped.stated.pop("decimal", None)
    if decimal not in (None, ",", "."):
        raise CurvewiseError(
            f"decimal is {decimal!r}. Pass ',' or '.'.",
            argument="decimal",
            value=decimal,
        )
    for i, column in enumerate(table.column_names):
        cells = table.column(column)
        if not pa.types.is_string(cells.type):
            continue
        # A look at some rows is enough to leave columns of words alone.
        ends = [cells.slice(0, 100), cells.slice(max(len(cells) - 100, 0))]
        some = [t for part in ends for t in part.to_pylist() if t]
        if 3 * sum(t.lstrip(" +-")[:1].isdigit() for t in some) < len(some):
            continue
        known = [t for t in cells.unique().to_pylist() if t]
        texts = pc.if_else(pc.equal(cells, ""), None, cells)
        words = [t for t in known if t.casefold() in _WORDS_FOR_NOTHING]
        words += [t for t in known if names.status_of(t) not in (None, "ok")]
        numbers = [t for t in known if t not in words]
        new = None
        if _is_step(shaped, column) and numbers:
            new = _counted(cells, column, name, known)
        if new is not None:
            remarks.append(f"'{column}' counts in words such as '{known[0]}'.")
        elif numbers and all(re.match(_PERCENT, t) for t in numbers):
            new, what = _as_floats(texts, words, percent=True), "percent"
            remarks.append(f"'{column}' was written in percent: now fractions of 1.")
        elif numbers and all(re.match(_COMMA, t) for t in numbers) and any(
            "," in t for t in numbers
        ):  # fmt: skip
            commas = [t for t in numbers if "," in t]
            if decimal is None and all(re.match(_THOUSANDS, t) for t in commas):
                raise CurvewiseError(
                    f"Column '{column}' of {name} holds {listed(commas, most=2)}. Is the "
                    f"comma a decimal point, or does it group thousands?",
                    fixes=[{"decimal": ","}, {"decimal": "."}],
                )
            new, what = _as_floats(texts, words, decimal or ","), "decimal commas"
            remarks.append(f"'{column}' was written with {what}.")
        elif words and numbers and all(map(_plain_number, numbers)) and (
            names.is_score(column) or column in (score_columns(shaped.stated) or ())
        ):  # fmt: skip
            new = _as_floats(texts, words, ".")
            remarks.append(
                f"'{column}' says {listed(words, most=3)} in place of a score: these "
                f"runs failed."
            )
        if new is not None:
            table = table.set_column(i, column, new)
    return replace(shaped, table=table, remarks=tuple(remarks))


def _is_step(shaped: Shaped, column: str) -> bool:
    step = shaped.stated.get("step")
    usual = names.every(names.STEP, [column])
    return column == step or (step is None and bool(usual))


_COUNT = re.compile(r"(?P<n>\d[\d_]*(?:\.\d+)?(?:[eE]\+?\d+)?)\s*(?P<unit>[kKmMB]?)")
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9}
_MOST_NAMED = 200


def _counted(
    cells: pa.ChunkedArray, column: str, name: str, known: Sequence[str]
) -> pa.ChunkedArray | None:
    """Return steps or sizes written as 10k, 1_000 or 1/8; ask where some are words."""
    told = {text: count_of(text) for text in known}
    counts = {text: n for text, n in told.items() if n is not None}
    if 2 * len(counts) < len(known):
        return None
    if len(counts) < len(known):
        odd = [text for text in known if text not in counts]
        raise CurvewiseError(
            f"Column '{column}' of {name} counts, and holds {listed(odd, most=3)}. Leave "
            f"these rows out, or write numbers.",
            fixes=[{"where": {column: [*counts]}}] if len(counts) < _MOST_NAMED else [],
        )
    encoded = cells.combine_chunks().dictionary_encode()
    values = pa.array([told.get(text) for text in encoded.dictionary.to_pylist()])
    return pa.chunked_array([values.cast(pa.float64()).take(encoded.indices)])


def count_of(text: str) -> float | None:
    """Return a number written as 10k, 1_000 or 1/8; None for another text.

    >>> count_of("10k"), count_of("1/8"), count_of("full")
    (10000.0, 0.125, None)
    """
    if match := _COUNT.fullmatch(text.strip()):
        return float(match["n"].replace("_", "")) * _UNITS[match["unit"].casefold()]
    above, sign, below = text.partition("/")
    if sign and above.strip().isdigit() and below.strip().isdigit() and int(below):
        return int(above) / int(below)
    return None


def _plain_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_floats(
    texts: Any, words: Sequence[str], decimal: str = "", *, percent: bool = False
) -> pa.ChunkedArray:
    if words:
        texts = pc.if_else(pc.is_in(texts, value_set=pa.array(words)), None, texts)
    texts = pc.utf8_trim_whitespace(texts)
    if percent:
        texts = pc.replace_substring(texts, "%", "")
        texts = pc.utf8_trim_whitespace(pc.replace_substring(texts, ",", "."))
    elif decimal == ",":
        texts = pc.replace_substring(texts, ",", ".")
    else:
        texts = pc.replace_substring(texts, ",", "")
    values = texts.cast(pa.float64())
    return pc.divide(values, 100.0) if percent else values


def must_be_names(own_names: object) -> None:
    """Raise for a way to compare names that there is not."""
    if own_names not in (None, "casefold", "exact"):
        raise CurvewiseError(
            f"names is {own_names!r}. Pass 'casefold' or 'exact'.",
            argument="names",
            value=own_names,
        )


def same_names(
    codes: Any, texts: list[str], column: str | None, own_names: str | None
) -> tuple[Any, list[str]]:
    """Return codes and names in which those that differ in case alone are one, or two.

    Parameters
    ----------
    codes : ndarray of int
    texts : list of str
        The names that codes stand for.
    column : str or None
        Where they are from.
    own_names : {"casefold", "exact"} or None
        None raises where names differ in case alone.
    """
    by_fold: dict[str, list[int]] = {}
    for code, text in enumerate(texts):
        by_fold.setdefault(text.casefold(), []).append(code)
    if own_names == "exact" or len(by_fold) == len(texts):
        return codes, texts
    if own_names is None:
        alike = next(some for some in by_fold.values() if len(some) > 1)
        raise CurvewiseError(
            f"Column '{column}' holds {listed(texts[code] for code in alike)}, which "
            f"differ in case alone. Are they one?",
            fixes=[{"names": "casefold"}, {"names": "exact"}],
        )
    new = np.empty(len(texts), np.int64)
    for place, some in enumerate(by_fold.values()):
        new[some] = place
    return new[codes], [texts[some[0]] for some in by_fold.values()]
