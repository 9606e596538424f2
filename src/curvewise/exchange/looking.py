"""How rules look at trials: by cell, at the last score, into params, and at order.

A *cell* is one algorithm on one task. `Trials` keeps its rows by task, algorithm and
number, so a cell is a stretch of rows and its rows are in order of number.
"""

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import shortened
from curvewise.metrics import Floats
from curvewise.trials import Trials, values
from curvewise.trials.columns import Bools, Ints
from curvewise.trials.doors import last_values
from curvewise.trials.ragged import Ragged

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


def edges(trials: Trials) -> Ints:
    """Return where each cell starts, and where the last one ends."""
    core = trials.core
    if len(core) == 0:
        return np.zeros(1, np.int64)
    new = (np.diff(core.task) != 0) | (np.diff(core.algorithm) != 0)
    return np.concatenate([[0], np.flatnonzero(new) + 1, [len(core)]]).astype(np.int64)


def cells(trials: Trials) -> list[Cell]:
    """Return all cells that have trials."""
    core, bounds = trials.core, edges(trials).tolist()
    return [
        Cell(
            trials.tasks[core.task[a]], trials.algorithms[core.algorithm[a]], a, b
        )
        for a, b in pairwise(bounds)
    ]  # fmt: skip


def per_cell(trials: Trials, mask: Bools) -> Ints:
    """Return how many rows of each cell are marked."""
    total = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.diff(total[edges(trials)])


def per_trial(trials: Trials, mask: Bools) -> Ints:
    """Return how many places of each trial's curve are marked."""
    total = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.diff(total[trials.core.offsets])


def scored(trials: Trials) -> list[str]:
    """Return the metrics to look at; of what confusion counts tell, one is enough."""
    names = values.scored(trials)
    return names if any(name in trials.metrics for name in names) else names[:1]


def broken(trials: Trials) -> Bools:
    """Return which trials did not end well or have no finite last score at all."""
    finite = np.zeros(len(trials), bool)
    for metric in scored(trials):
        finite |= np.isfinite(last_values(trials, metric))
    return np.asarray((trials.core.status != 0) | ~finite)


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


def parsed(trials: Trials, kind: Literal["params", "labels"]) -> Iterator[Parsed]:
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
        for text in _pieces(texts, np.arange(rows.start, rows.stop)):
            if text not in known:
                known[text] = json.loads(text)
            dicts.append(known[text])
        if any(dicts):
            yield Parsed(cell, rows, dicts, rows.stop == cell.stop)


def hashes(rows: Ints, *columns: Ragged) -> Ints:
    """Return one number for each row: the same for the same contents in all columns.

    64 bits: among three million rows two unlike ones meet once in millions of checks.
    """
    parts = zip(*(_pieces(column, rows) for column in columns), strict=True)
    return np.fromiter(map(hash, parts), np.int64, len(rows))


def _pieces(column: Ragged, rows: Ints) -> Iterator[bytes]:
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


# --- order ----------------------------------------------------------------------------


def midranks(values: NDArray[Any]) -> Floats:
    """Return ranks around zero; values that are tied share their mean rank.

    >>> midranks(np.array([5, 7, 7])).tolist()
    [-1.0, 0.5, 0.5]
    """
    _, place, n = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(n) - (n - 1) / 2
    return np.asarray(rank[place] - (len(values) + 1) / 2, np.float64)


def trend(values: NDArray[Any]) -> tuple[float, float]:
    """Return Spearman's correlation of values with their order, and its p value.

    The p value is twice that of the usual t approximation, which is up to 1.6 times too
    small below 1e-3 with 20 to 60 values (measured).
    """
    from scipy import special

    x, t = midranks(values), np.arange(len(values)) - (len(values) - 1) / 2
    rho = float(x @ t / np.sqrt((x @ x) * (t @ t))) if np.any(x) else 0.0
    rest = max(1 - rho * rho, 1e-300)
    df = len(values) - 2
    return rho, min(4 * float(special.stdtr(df, -abs(rho) * np.sqrt(df / rest))), 1.0)


def next_alike(values: NDArray[Any]) -> tuple[float, float]:
    """Return the rank correlation of neighbours in order, and its one-sided p value.

    The circular serial correlation of Wald and Wolfowitz (1943) on ranks, with its
    permutation mean and variance: exact moments, whatever the ties. Where more than
    half of the values are equal its law is too skewed for a normal tail, and p is 1.
    """
    from scipy import special

    x = midranks(values)
    n, s2, s4 = len(x), float(x @ x), float(np.sum(x**4))
    if 2 * np.unique(x, return_counts=True)[1].max() > n:
        return 0.0, 1.0
    r = float(x @ np.roll(x, 1))
    mean = -s2 / (n - 1)
    variance = (s2**2 - s4) / (n - 1) + (s2**2 - 2 * s4) / ((n - 1) * (n - 2)) - mean**2
    return r / s2, float(special.ndtr(-(r - mean) / np.sqrt(variance)))


def in_order(values: NDArray[Any]) -> bool:
    """Return whether values only rise, or only fall, and are not all equal."""
    ups, downs = (values[1:] > values[:-1]).any(), (values[1:] < values[:-1]).any()
    return bool(ups != downs)


# --- words ----------------------------------------------------------------------------


def some(things: Iterable[object], most: int = 4) -> str:
    """Return things joined, cut after `most` of them.

    >>> some([1, 2, 3], most=2)
    '1, 2 and 1 more'
    """
    texts = [str(t) for t in things]
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def ranges(numbers: Sequence[int], most: int = 4) -> str:
    """Return whole numbers with stretches written short.

    >>> ranges([1, 2, 3, 7, 9, 10])
    '1 to 3, 7, 9, 10'
    """
    array = np.unique(np.asarray(numbers, np.int64))
    breaks = np.flatnonzero(np.diff(array) != 1) + 1
    texts: list[str] = []
    for part in np.split(array, breaks)[: most + 1]:
        texts += (
            [str(n) for n in part] if len(part) < 3 else [f"{part[0]} to {part[-1]}"]
        )
    more = ", …" if len(breaks) > most else ""
    return ", ".join(texts) + more


def share(part: int, whole: int) -> str:
    """Return a part as numbers and percent.

    >>> share(1, 4)
    '1 of 4 (25 %)'
    """
    return f"{part:,} of {whole:,} ({100 * part / max(whole, 1):.0f} %)"


def chance(p: float) -> str:
    """Return a p value that is small.

    >>> chance(3.2e-7), chance(1e-40)
    ('p = 3e-07', 'p < 1e-12')
    """
    return "p < 1e-12" if p < 1e-12 else f"p = {p:.0e}"
