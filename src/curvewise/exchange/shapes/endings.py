"""How runs ended: in words, by flags, by exit codes, by the text of an error."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.rows import columns_varying, floats, group_codes, is_number
from curvewise.exchange.shapes import (
    Shaped,
    distinct_values,
    text_columns,
)
from curvewise.trials import names
from curvewise.trials.columns import Bools, Ints

_YES = {"true": True, "yes": True, "1": True, "y": True, "1.0": True}
_NO = {"false": False, "no": False, "0": False, "n": False, "0.0": False, "": False}
_NOTHING = frozenset(("", "none", "nan", "null", "-", "--", "n/a", "no", "ok", "0"))
_ENDED = "ended"
_MOST_WORDS = 10


def endings(shaped: Shaped, name: str) -> Shaped | None:
    """Columns such as diverged=True, and statuses in words of the caller's own."""
    table, stated = shaped.table, dict(shaped.stated)
    status = stated.get("status")
    if isinstance(status, str) and status not in table.column_names:
        flag, sign, bad = status.partition("=")
        if status == "none":
            return replace(shaped, stated=stated | {"status": []})
        if not sign or flag not in table.column_names:
            return None  # an unknown column is refused where roles are assigned
        return _by_word(shaped, flag, bad)
    if status is not None:
        return None
    column = _in_words(shaped, name)
    signs = list(_signs(shaped, surely=column is not None))
    _ask_about_events(shaped, signs, name)
    if column is None and not signs:
        _ask_about_flags(shaped, name)
        perhaps = (*names.PERHAPS_ENDED_WELL, *names.PERHAPS_ENDED_BADLY)
        flags = _strictly(perhaps, shaped.free_columns)
        return _without_flags(shaped, [c for c in flags if _is_flag(table, c)])
    return _ended(shaped, column, signs)


def _texts(table: pa.Table, column: str) -> tuple[list[str], Ints]:
    """Return the different cells of a column as texts, and which of them each row has."""
    cells = table.column(column).cast(pa.string()).fill_null("").combine_chunks()
    encoded = cells.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _words_of(table: pa.Table, column: str) -> NDArray[np.object_]:
    texts, codes = _texts(table, column)
    return np.array(texts, object)[codes]


# --- in words ----------------------------------------------------------------------------


def _in_words(shaped: Shaped, name: str) -> str | None:
    """Return the column that says in words how runs ended; asked about in odd words."""
    table = shaped.table
    texts = text_columns(table, shaped.free_columns)
    usual = names.first(names.STATUS, texts)
    perhaps = [c for c in texts if re.search(r"(?i)[\W_](status|state)$", c)]
    perhaps += _strictly(names.PERHAPS_STATUS, texts)
    for column in dict.fromkeys((usual, *perhaps)):
        if column is None:
            continue
        words = [str(w) for w in distinct_values(table, column)]
        odd = [w for w in words if names.status_of(w) is None]
        if words and not odd:
            return column
        is_status = column == usual and column.casefold() == "status"
        if len(words) <= _MOST_WORDS and (is_status or len(odd) < len(words)):
            bad = [w for w in words if names.status_of(w) not in (None, "ok")]
            raise CurvewiseError(
                f"Column '{column}' of {name} says {listed(words, most=6)}. Which of them "
                f"is a failed run? 'none' reads the column as a label.",
                fixes=[{"status": f"{column}={word}"} for word in [*bad, *odd][:6]]
                + [{"status": "none"}],
            )
    return None


def _by_word(shaped: Shaped, column: str, bad: str) -> Shaped:
    """Return a table in which a word of a column is a failure, beside those we know."""
    texts, codes = _texts(shaped.table, column)
    word_of = [""] * len(texts)
    if names.every((*names.STATUS, *names.PERHAPS_STATUS), [column]):
        statuses = [names.status_of(text) for text in texts]
        word_of = [word if word not in (None, "ok") else "" for word in statuses]
    words = np.array(word_of, object)[codes]
    is_bad = np.array([text.casefold() == bad.casefold() for text in texts])[codes]
    well = (*names.ENDED_WELL, *names.PERHAPS_ENDED_WELL)
    sign = _Sign(column, is_bad, at_end=bool(_strictly(well, [column])))
    return _ended(shaped, None, [sign], words)


# --- by flags, numbers and errors --------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Sign:
    """A column that tells failures, the rows it tells, and whether the last one counts."""

    column: str
    is_bad: Bools
    at_end: bool = False


def _signs(shaped: Shaped, *, surely: bool) -> Iterator[_Sign]:
    """Yield what tells failures; only flags where a status is there as well."""
    table = shaped.table
    free = shaped.free_columns
    for usuals, answers, at_end in (
        (names.ENDED_BADLY, _YES, False),
        (names.ENDED_WELL, _NO, True),
    ):
        for column in _strictly(usuals, free):
            if _is_flag(table, column):
                yield _Sign(column, _which(table, column, answers.__contains__), at_end)
    if surely:
        return
    for column in _strictly(names.EXIT_CODE, free):
        if _is_integer(table, column):
            yield _Sign(column, _which(table, column, _is_not_zero))
    for column in _strictly(names.ERROR_TEXT, text_columns(table, free)):
        if not _is_flag(table, column) and not _has_numbers(table, column):
            is_bad = _which(table, column, _says_something)
            if is_bad.any():
                yield _Sign(column, is_bad)


def _strictly(usuals: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the columns that have a usual name as it stands, nothing cut off."""
    wanted = set(usuals)
    return [c for c in columns if names.folded(c) in wanted]


def _which(table: pa.Table, column: str, is_bad: Callable[[str], bool]) -> Bools:
    texts, codes = _texts(table, column)
    return np.array([is_bad(text.strip().casefold()) for text in texts], bool)[codes]


def _is_flag(table: pa.Table, column: str) -> bool:
    cells = {str(v).casefold() for v in distinct_values(table, column)}
    if not cells or not cells <= (_YES | _NO).keys():
        return False
    if column.casefold() in ("error", "timeout") and is_number(table, column):
        # A rate of errors or a limit of hours, unless it is a truth value.
        return bool(pa.types.is_boolean(table.schema.field(column).type))
    return True


def _is_integer(table: pa.Table, column: str) -> bool:
    if not is_number(table, column):
        return False
    values = floats(table, column)
    values = values[~np.isnan(values)]
    return bool(len(values) and (values == np.rint(values)).all())


def _is_not_zero(text: str) -> bool:
    return bool(text) and float(text) != 0


def _has_numbers(table: pa.Table, column: str) -> bool:
    cells = [str(v) for v in distinct_values(table, column)]
    return any(cell.lstrip(" +-.")[:1].isdigit() for cell in cells)


def _says_something(text: str) -> bool:
    return text not in _NOTHING


def _ask_about_events(shaped: Shaped, signs: Sequence[_Sign], name: str) -> None:
    """Raise for a flag that comes and goes within runs: an event, and no end of a run."""
    runs = _runs(shaped) if signs else None
    if runs is None:
        return
    n = int(runs.of_row.max()) + 1
    for sign in signs:
        if sign.at_end:
            continue
        bad = np.bincount(runs.of_row, sign.is_bad, minlength=n) > 0
        ended = np.bincount(runs.of_row, sign.is_bad & runs.is_last, minlength=n) > 0
        went_on = int((bad & ~ended).sum())
        if went_on < 2 or 5 * went_on < len(np.unique(runs.of_row)):
            continue
        row = int(np.argmax(sign.is_bad))
        text = _words_of(shaped.table, sign.column)[row]
        raise CurvewiseError(
            f"'{sign.column}' of {name} comes and goes within {went_on} runs. Did these "
            f"runs fail, or is it an event, as in an episode? 'none' reads it as a label.",
            fixes=[{"status": f"{sign.column}={text}"}, {"status": "none"}],
        )


def _ask_about_flags(shaped: Shaped, name: str) -> None:
    """Raise for a run that did not converge: whether it failed nobody said."""
    table, free = shaped.table, shaped.free_columns
    _ask_about_numbers(table, free, name)
    perhaps = [(c, _NO) for c in _strictly(names.PERHAPS_ENDED_WELL, free)]
    perhaps += [(c, _YES) for c in _strictly(names.PERHAPS_ENDED_BADLY, free)]
    for column, answers in perhaps:
        if not _is_flag(table, column):
            continue
        is_bad = _which(table, column, ({*answers} - {""}).__contains__)
        runs = _runs(shaped)
        if runs is not None:
            is_bad &= runs.is_last
        if not is_bad.any():
            continue
        row = int(np.argmax(is_bad))
        cell = table.column(column)[row].as_py()
        text = str(cell) if isinstance(cell, bool) else _words_of(table, column)[row]
        raise CurvewiseError(
            f"Column '{column}' of {name} is {text} for {int(is_bad.sum())} runs. Did "
            f"these fail, or do their scores count? 'none' reads the column as a label.",
            fixes=[{"status": f"{column}={text}"}, {"status": "none"}],
        )


def _ask_about_numbers(table: pa.Table, free: Iterable[str], name: str) -> None:
    """Raise for a status in numbers or truth values: which of them is a failure?"""
    for column in _strictly(names.STATUS, [c for c in free if is_number(table, c)]):
        cells = sorted({*_texts(table, column)[0]} - {""})
        if column.casefold() != "status" or not 1 < len(cells) <= _MOST_WORDS:
            continue
        raise CurvewiseError(
            f"Column '{column}' of {name} says {listed(cells)}. Which of them is a failed "
            f"run? 'none' reads the column as a label.",
            fixes=[{"status": f"{column}={cell}"} for cell in cells]
            + [{"status": "none"}],
        )


# --- the runs of a table -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """What tells runs with several rows apart, whose each row is, and the last of each."""

    keys: list[str]
    of_row: Ints
    is_last: Bools


def _runs(shaped: Shaped) -> _Runs | None:
    """Return the runs of a table of curves; None where each row is a run."""
    table, stated = shaped.table, shaped.stated
    columns, trial = table.column_names, stated.get("trial")
    step = stated.get("step") or names.first(
        names.STEP, [c for c in columns if is_number(table, c)]
    )
    if step is None or trial == []:
        return None
    if trial is None:
        trial = names.every(names.TRIAL, columns)
    keys = [*shaped.who(), *([trial] if isinstance(trial, str) else trial)]
    keys = [c for c in dict.fromkeys(keys) if c in columns and c != step]
    of_row = group_codes(table, keys)
    steps = np.arange(table.num_rows, dtype=float)
    if step in columns and is_number(table, step):
        steps = floats(table, step)
    order = np.lexsort((steps, of_row))
    is_last = np.zeros(table.num_rows, bool)
    is_last[order[np.diff(of_row[order], append=-1) != 0]] = True
    return _Runs(keys, of_row, is_last)


def _without_flags(shaped: Shaped, flags: list[str]) -> Shaped:
    """Return a table without flags that change along a run: they would pass for scores."""
    if not flags or (runs := _runs(shaped)) is None:
        return shaped
    varying = columns_varying(shaped.table, runs.keys, flags)
    return replace(shaped, table=shaped.table.drop_columns(varying))


def _ended(
    shaped: Shaped,
    column: str | None,
    signs: list[_Sign],
    words: NDArray[np.object_] | None = None,
) -> Shaped:
    """Return a table with a status, in which a sign of failure speaks for all its run."""
    table, stated = shaped.table, shaped.stated
    if column is not None and not signs:
        return replace(shaped, stated=stated | {"status": column})
    if words is None and column is not None:
        words = _words_of(table, column)
    elif words is None:
        words = np.full(table.num_rows, "", object)
    runs = _runs(shaped)
    is_bad = np.zeros(table.num_rows, bool)
    for sign in signs:
        bad = sign.is_bad
        if runs is not None:
            bad = bad & runs.is_last if sign.at_end else bad
            bad = (np.bincount(runs.of_row, bad) > 0)[runs.of_row]
        is_bad |= bad
    flags = [sign.column for sign in signs]
    table = _without_flags(shaped, flags).table
    well = [word for word in set(words) if names.status_of(word) in (None, "ok")]
    is_bad &= np.isin(words, well)
    if column is not None and not is_bad.any():
        return replace(shaped, table=table, stated=stated | {"status": column})
    statuses = np.where(is_bad, "failed", np.where(words == "", "ok", words))
    spoken = {c: f"label.{c}" for c in flags if c in table.column_names}
    spoken = {c: new for c, new in spoken.items() if new not in table.column_names}
    # What has been said is a label, and no score: "failed" would be good when low.
    table = table.rename_columns([spoken.get(c, c) for c in table.column_names])
    name = _ENDED
    while name in table.column_names:
        name += "_"
    remark = (
        f"{listed([*flags, *filter(None, [column])])} says how runs ended: failed in "
        f"{int(is_bad.sum())} of {len(statuses)} rows."
    )
    return shaped.told(
        remark,
        table=table.append_column(name, pa.array(statuses, pa.string())),
        stated=stated | {"status": name},
    )
