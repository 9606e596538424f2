"""Trials by cell: one algorithm on one task, and what its params and labels say.

`Trials` keeps its rows by task, algorithm and number, so a cell is a stretch of rows and
its rows are in order of number.
"""

import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import shortened
from curvewise.metrics import Floats
from curvewise.trials.columns import Ints
from curvewise.trials.ragged import Ragged

if TYPE_CHECKING:
    from curvewise.trials.table import Trials

# Params and labels are JSON. Parsing is the one slow thing here, so that only this many
# trials are parsed, shared out evenly among the cells; findings say when that was so.
MOST_PARSED = 20_000


@dataclass(frozen=True, slots=True)
class Cell:
    """The rows of one algorithm on one task."""

    task: str
    algorithm: str
    start: int
    stop: int

    @property
    def rows(self) -> slice:
        """Where its trials are, in order of number."""
        return slice(self.start, self.stop)

    def __len__(self) -> int:
        return self.stop - self.start

    def __str__(self) -> str:
        return f"'{shortened(self.algorithm, 40)}' on '{shortened(self.task, 40)}'"


def edges(trials: "Trials") -> Ints:
    """Return where each cell starts, and where the last one ends."""
    core = trials.core
    if len(core) == 0:
        return np.zeros(1, np.int64)
    new = (np.diff(core.task) != 0) | (np.diff(core.algorithm) != 0)
    return np.concatenate([[0], np.flatnonzero(new) + 1, [len(core)]]).astype(np.int64)


def cells(trials: "Trials") -> list[Cell]:
    """Return all cells that have trials."""
    core, bounds = trials.core, edges(trials).tolist()
    return [
        Cell(
            trials.tasks[core.task[a]], trials.algorithms[core.algorithm[a]], a, b
        )
        for a, b in pairwise(bounds)
    ]  # fmt: skip


# --- params and labels ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parsed:
    """The params or labels of a cell's first trials, and whether these are all."""

    cell: Cell
    rows: slice
    dicts: list[dict[str, Any]]
    whole: bool

    @property
    def caveat(self) -> str:
        """What a finding has to add where not all trials were looked at."""
        looked = len(self.dicts)
        return (
            ""
            if self.whole
            else f" (looking at the first {looked:,} of {len(self.cell):,})"
        )


def parsed(trials: "Trials", kind: Literal["params", "labels"]) -> Iterator[Parsed]:
    """Yield the params or labels of each cell that has any."""
    if len(trials) == 0:
        return
    texts: Ragged = getattr(trials.details(), kind)
    if len(texts.flat) == 0:
        return
    found = cells(trials)
    most = max(MOST_PARSED // len(found), 100)
    known: dict[bytes, dict[str, Any]] = {b"": {}}
    for cell in found:
        rows = slice(cell.start, min(cell.stop, cell.start + most))
        dicts = []
        for text in pieces(texts, np.arange(rows.start, rows.stop)):
            if text not in known:
                known[text] = json.loads(text)
            dicts.append(known[text])
        if any(dicts):
            yield Parsed(cell, rows, dicts, rows.stop == cell.stop)


def hashes(rows: Ints, *columns: Ragged) -> Ints:
    """Return one number for each row: the same for the same contents in all columns.

    64 bits: among three million rows two unlike ones meet once in millions of checks.
    """
    parts = zip(*(pieces(column, rows) for column in columns), strict=True)
    return np.fromiter(map(hash, parts), np.int64, len(rows))


def pieces(column: Ragged, rows: Ints) -> Iterator[bytes]:
    """Yield the bytes of the chosen rows."""
    # One row at a time: all texts at once would be a copy of the whole column.
    flat = np.ascontiguousarray(column.flat)
    size, view = flat.itemsize, flat.view(np.uint8).data
    begins, ends = (size * column.offsets[at] for at in (rows, rows + 1))
    for a, b in zip(begins.tolist(), ends.tolist(), strict=True):
        yield bytes(view[a:b])


ABSENT = "(absent)"


def keyed(value: Any) -> Hashable:
    """Return a value of a param or label as something that can be told apart.

    >>> keyed(1) == keyed(1.0), keyed(True) == keyed(1), keyed([1, 2])
    (True, False, '[1, 2]')
    """
    if isinstance(value, bool):
        return ("bool", value)
    return value if isinstance(value, int | float | str) else json.dumps(value)


def coded(values: Iterable[Hashable]) -> Ints:
    """Return a code for each value, counted by first appearance.

    >>> coded("abba").tolist()
    [0, 1, 1, 0]
    """
    codes: dict[Hashable, int] = {}
    return np.array([codes.setdefault(v, len(codes)) for v in values], np.int64)


def words(name: str) -> set[str]:
    """Return the words in a name, in small letters, without a plural s.

    >>> sorted(words("env_stepsTotal/2"))
    ['2', 'env', 'step', 'total']
    """
    spaced = "".join(
        c if c.isalnum() and not (c.isupper() and p.islower())
        else " " + c * c.isalnum()
        for p, c in zip(" " + name, name, strict=False)
    )  # fmt: skip
    return {w[:-1] if w.endswith("s") else w for w in spaced.casefold().split()}


RUN_WORDS = frozenset(
    {"run", "fold", "trial", "replicate", "replication", "replica", "rep", "repeat"}
    | {"repetition", "split", "outer", "inner"}
)
ID_WORDS = frozenset(
    {"id", "idx", "index", "number", "num", "no", "nr", "key", "name", "cv"}
)


def numbers_a_run(name: str) -> bool:
    """Return whether a name says which replicate this is: a seed, a run, a fold.

    >>> [numbers_a_run(n) for n in ("Random_Seed", "run_id", "min_samples_split", "id")]
    [True, True, False, False]
    """
    found = words(name)
    rest = found - ID_WORDS
    return "seed" in found or found == {"random", "state"} or (
        bool(rest) and rest <= RUN_WORDS
    )  # fmt: skip


# --- the same setting again -----------------------------------------------------------

# "likely": not certain, and yet hardly by chance.
Repeated: TypeAlias = Literal["never", "perhaps", "likely", "surely"]
BALANCE_LEVEL = 0.01  # at which settings that come again in good order are no chance
_EXACT = 7  # digits of a number, from which on two equal ones are one draw
# Lists to choose from are of round numbers: of those with 3 digits in 0.6 of 8 values
# or more, in no even steps, we know none. Of drawn numbers 0.81 (whole ones to 1,000) to
# 0.9 (three digits) have 3 that are not zeros at the end; 0.6 misses 1 % of 20.
_DIGITS, _LEVELS, _MOST_LEVELS, _SHARE = 3, 8, 500, 0.6


def repetition(
    setting: Ints,
    columns: Mapping[str, Sequence[Any]],
    numbers: Mapping[str, Floats],
    by_run: Sequence[Ints],
) -> tuple[Repeated, bool]:
    """Return how surely settings were run again by design, and if runs stand together.

    Finite choices coincide by chance, too: "surely" takes settings that all have the
    same seeds, that are met equally often or one after another as random draws hardly
    ever are, or numbers of many digits.
    """
    times = np.bincount(setting)
    if len(times) < 2 or len(times) == len(setting):
        return "never", False  # one setting only, or as many as runs
    # Drawn settings may coincide: with two digits, one in twenty of twenty.
    in_a_row = _split(setting, times) <= len(times) // 5
    if (
        any(_same_runs(setting, run) for run in by_run)
        or _balanced(setting, times)
        or any(_is_exact(x, times) for x in numbers.values())
        or (in_a_row and _is_grouped(setting, times, columns))
    ):
        return "surely", in_a_row
    apart = any(_apart(setting, run) for run in by_run)
    return "likely" if apart or _together(setting, times) else "perhaps", in_a_row


def _same_runs(setting: Ints, run: Ints) -> bool:
    """Return whether each setting has the same seeds, each once; a tenth may lack some."""
    pairs, times = np.unique(np.stack([setting, run]), axis=1, return_counts=True)
    if (times > 1).any():
        return False
    each = np.bincount(pairs[0])
    most = int(run.max()) + 1
    return most >= 2 and bool(each.max() == most and np.mean(each == most) >= 0.9)


def _balanced(setting: Ints, times: Ints) -> bool:
    """Return whether settings are met equally often, and in no way that draws are.

    m settings k times each come from n = m k draws of any law in at most
    n! / (k!^m m^n) of all cases; in turns, in m! / m^n.
    """
    m, k, n = len(times), int(times.max()), len(setting)
    if k < 2:
        return False
    if (times != k).any():
        return m >= 10 and bool(np.mean(times == k) >= 0.9)
    in_turns = (setting.reshape(k, m) == np.arange(m)).all()  # counted as first met
    log_p = math.lgamma(m + 1)
    if not in_turns:
        log_p = math.lgamma(n + 1) - m * math.lgamma(k + 1)
    return log_p - n * math.log(m) < math.log(BALANCE_LEVEL)


# --- one after another ----------------------------------------------------------------


def _split(setting: Ints, times: Ints) -> int:
    """Return in how many more places than one settings stand."""
    return int((setting[1:] != setting[:-1]).sum()) - (len(times) - 1)


def _is_grouped(
    setting: Ints, times: Ints, columns: Mapping[str, Sequence[Any]]
) -> bool:
    """Return whether settings stand one after another, neither by chance nor sorted.

    Draws come in any order alike: m settings stand in one place each in m! times the
    product of k_i! of the n! orders. To move e runs of a setting elsewhere there are at
    most n^3 ways each: where they begin, where they end, where they go.
    """
    log_p = math.lgamma(len(times) + 1) - math.lgamma(len(setting) + 1)
    log_p += sum(math.lgamma(k + 1) for k in times.tolist())
    log_p += 3 * _split(setting, times) * math.log(len(setting))
    if log_p >= math.log(BALANCE_LEVEL):
        return False
    first = np.unique(setting, return_index=True)[1]
    return not any(
        _is_sorted([column[i] for i in first]) for column in columns.values()
    )


def _is_sorted(values: Sequence[Any]) -> bool:
    """Return whether values are in order: as numbers, or as texts."""
    as_texts = np.unique([str(value) for value in values], return_inverse=True)[1]
    plain = [v for v in values if isinstance(v, int | float)]
    as_numbers = len(plain) == len(values) and _rises_or_falls(plain)
    return as_numbers or in_order(as_texts)


def _rises_or_falls(values: Sequence[float]) -> bool:
    steps = list(pairwise(values))
    return all(a <= b for a, b in steps) or all(a >= b for a, b in steps)


def in_order(values: NDArray[Any]) -> bool:
    """Return whether values only rise, or only fall, and are not all equal."""
    ups, downs = (values[1:] > values[:-1]).any(), (values[1:] < values[:-1]).any()
    return bool(ups != downs)


def _together(setting: Ints, times: Ints) -> bool:
    """Return whether neighbours are of one setting far more often than in any order.

    Their number is nearly of Poisson's law, or of a narrower one.
    """
    from scipy import special

    n = len(setting)
    alike = int((setting[1:] == setting[:-1]).sum())
    mean = float(np.sum(times * (times - 1)) / n)
    return alike > mean and float(special.pdtrc(alike - 1, mean)) < BALANCE_LEVEL


def _apart(setting: Ints, run: Ints) -> bool:
    """Return whether settings have a seed twice far less often than chance would do.

    Dealt by chance, the pairs of runs that share both are nearly of Poisson's law.
    """
    from scipy import special

    both = np.unique(np.stack([setting, run]), axis=1, return_counts=True)[1]
    codes = (both, np.bincount(setting), np.bincount(run))
    met, *each = (float(np.sum(k * (k - 1.0) / 2)) for k in codes)
    mean = math.prod(each) / (len(setting) * (len(setting) - 1) / 2)
    return met < mean and float(special.pdtr(met, mean)) < BALANCE_LEVEL


# --- digits that nobody puts on a list ------------------------------------------------


def _is_exact(values: Floats, times: Ints) -> bool:
    """Return whether a param has another number of many digits in each setting."""
    levels = np.unique(values)
    m = len(levels)
    if m != len(times) or m < 3 or np.isnan(values).any():
        return False
    digits = np.array([_digits(v) for v in levels.tolist()])
    if np.mean(digits >= _EXACT) >= 0.9:
        return not _is_of_a_list(levels, 1e-5)
    # Of few digits some coincide by chance; half of them where 72 % of all were met. A
    # decade has 900 of three digits, and a narrower range goes in even steps.
    often = _LEVELS <= m <= _MOST_LEVELS and np.mean(times > 1) >= 0.5
    return bool(often and np.mean(digits >= _DIGITS) >= _SHARE) and not _is_of_a_list(
        levels, 0.05
    )


def _digits(value: float) -> int:
    """Return how many digits a number has; none, if it is round for a computer.

    >>> [_digits(v) for v in (0.00123, 120.0, 192.0, float(np.float32(0.1)))]
    [3, 2, 0, 1]
    """
    if math.frexp(value)[0] * 8 % 1 == 0:
        return 0  # at most 3 binary digits: 128, 192, 0.375
    with np.errstate(over="ignore", under="ignore"):
        short = np.float32(value)
    text = str(short) if float(short) == value else f"{value:.15e}"
    digits = text.lstrip("-").split("e")[0].replace(".", "").strip("0")
    return len(digits)


def is_even(levels: Floats) -> bool:
    """Return whether rising numbers go in even steps, or their logs do."""
    for form in _forms(levels):
        with np.errstate(over="ignore"):
            gaps = np.diff(form)
        if np.isfinite(gaps).all() and np.ptp(gaps) <= 0.01 * gaps.mean():
            return True
    return False


def _is_of_a_list(levels: Floats, tolerance: float) -> bool:
    """Return whether rising numbers go in even steps of which most two thirds lack.

    Of m drawn numbers each lies within `tolerance` of a step with probability 2
    tolerance: with 8 numbers and 0.05, one of the 2 m lists fits in 3e-5 of all cases.
    """
    m = len(levels)
    for form in _forms(levels):
        place = (form / 2 - form[0] / 2) / (form[-1] / 2 - form[0] / 2)
        steps = np.arange(m - 1, 3 * m)
        if m > _MANY:
            steps = steps[steps == np.rint(1 / max(np.diff(place).min(), 1e-9))]
        for n in steps:
            if np.abs(n * place - np.rint(n * place)).max() <= tolerance:
                return True
    return False


_MANY = 200  # values on a list, from which on only whole multiples of a step are tried


def _forms(levels: Floats) -> list[Floats]:
    """Return rising numbers, and their logs where they have any, if all are finite."""
    if not np.isfinite(levels).all():
        return []
    return [levels, np.log(levels)] if levels[0] > 0 else [levels]
