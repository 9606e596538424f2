"""Trials by cell: one algorithm on one task, and what its params and labels say.

`Trials` keeps its rows by task, algorithm and number, so a cell is a stretch of rows and
its rows are in order of number.
"""

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from curvewise.errors import shortened
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
