"""The columns behind `Trials`: the core that every door needs, and the details.

Rows of unequal length are two arrays: where each row starts, and all values in a row.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, shortened
from curvewise.metrics import Floats, Metric

_STRETCH = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Rows of unequal length.

    Parameters
    ----------
    offsets : ndarray of int64, shape (row + 1,)
        Row i is ``flat[offsets[i]:offsets[i + 1]]``.
    flat : ndarray
        The rows, end to end.
    """

    offsets: NDArray[np.int64]
    flat: NDArray[Any]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[Any]:
        return self.flat[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How long each row is."""
        return np.diff(self.offsets)

    def lengths_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how long the chosen rows are, without a look at the others."""
        chosen = np.asarray(rows)
        return np.asarray(self.offsets[chosen + 1] - self.offsets[chosen])

    def take(self, rows: NDArray[np.int64]) -> "Ragged":
        """Return the chosen rows, in the order asked for."""
        # A stretch at a time: an index is eight times as large as the bytes it picks.
        stretches = range(0, len(rows), _STRETCH)
        parts = [self.flat[self.places(rows[i : i + _STRETCH])] for i in stretches]
        flat = np.concatenate([*parts, self.flat[:0]]) if len(parts) != 1 else parts[0]
        return Ragged(starts(self.lengths_of(rows)), flat)

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the values of the chosen rows lie in `flat`."""
        lengths = self.lengths_of(rows)
        shift = np.repeat(self.offsets[rows] - starts(lengths)[:-1], lengths)
        return np.arange(len(shift)) + shift


def starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of rows that are that long.

    >>> starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def from_rows(rows: Sequence[NDArray[Any]], dtype: str) -> Ragged:
    """Return arrays laid end to end.

    >>> from_rows([np.array([1, 2]), np.array([])], "int64").lengths.tolist()
    [2, 0]
    """
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    flat = np.concatenate([*rows, np.empty(0, dtype)]).astype(dtype, copy=False)
    return Ragged(starts(lengths), flat)


def from_texts(texts: Iterable[str]) -> Ragged:
    """Return texts as UTF-8 bytes laid end to end.

    >>> from_texts(["a", "", "é"]).lengths.tolist()
    [1, 0, 2]
    """
    encoded = [text.encode() for text in texts]
    lengths = np.array([len(e) for e in encoded], dtype=np.int64)
    return Ragged(starts(lengths), np.frombuffer(b"".join(encoded), np.uint8))


def to_texts(ragged: Ragged) -> list[str]:
    """Return the texts that `from_texts` laid end to end.

    >>> to_texts(from_texts(["a", "", "é"]))
    ['a', '', 'é']
    """
    return [piece.decode() for piece in to_bytes(ragged)]


def canonical(values: Mapping[str, Any], where: str = "params") -> str:
    """Return a mapping as JSON that is the same for the same values.

    Keys are sorted, numpy scalars become Python's, and what JSON cannot say is refused.

    >>> canonical({"b": np.float64(0.5), "a": (1, 2)})
    '{"a":[1,2],"b":0.5}'
    """
    if not isinstance(values, Mapping):
        raise CurvewiseError(
            f"{where}: {shortened(values)} is no mapping. Pass a dict.",
            argument=where,
            value=values,
        )
    try:
        text = _ENCODER.encode(dict(values))
        text.encode()  # half a surrogate pair has no bytes
    except (TypeError, ValueError) as problem:
        raise CurvewiseError(
            f"{where}: {shortened(dict(values))} cannot be kept ({problem}). "
            f"Use texts, finite numbers, booleans, None, and lists or dicts of them.",
            argument=where,
            value=values,
        ) from None
    return text


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no plain value")


_ENCODER = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    default=_plain,
)


def to_dicts(ragged: Ragged) -> list[dict[str, Any]]:
    """Return params or labels, which are kept as texts of JSON, empty for none.

    >>> to_dicts(from_texts(['{"lr":0.1}', ""]))
    [{'lr': 0.1}, {}]
    """
    return [json.loads(text) if text else {} for text in to_texts(ragged)]


def to_bytes(ragged: Ragged) -> list[bytes]:
    """Return each row's values as bytes."""
    data, size = ragged.flat.tobytes(), ragged.flat.itemsize
    ends = (ragged.offsets * size).tolist()
    return [data[a:b] for a, b in pairwise(ends)]


def empty_rows(n: int, dtype: str) -> Ragged:
    """Return n rows without values."""
    return Ragged(np.zeros(n + 1, np.int64), np.empty(0, dtype))


def joined(parts: Sequence[Ragged]) -> Ragged:
    """Return the rows of all parts, one part after another."""
    flat = np.concatenate([part.flat for part in parts])
    return Ragged(starts(np.concatenate([part.lengths for part in parts])), flat)


# --- The columns behind `Trials`: the core that every door needs, and the details ------
#
# Both are plain frozen bundles of arrays. Details are asked for by a callable, so that a
# store can leave them on disk until somebody wants them.


Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """Who, how it ended, and the curves.

    `task` and `algorithm` are codes into the names that `Trials` keeps, `status` into
    `STATUSES`. The curves of all trials lie end to end: trial i owns the places
    ``offsets[i]:offsets[i + 1]`` of `steps` and of every array in `values`. A metric
    that was not recorded at some steps has an array of booleans in `recorded`.
    """

    task: NDArray[np.int32]
    algorithm: NDArray[np.int32]
    number: Ints
    status: NDArray[np.int8]
    offsets: Ints
    steps: Floats
    values: dict[str, Floats]
    recorded: dict[str, Bools]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            for array in value.values() if isinstance(value, dict) else [value]:
                array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.number)

    @property
    def lengths(self) -> Ints:
        """How many steps each trial has."""
        return np.diff(self.offsets)

    def take(self, rows: Ints) -> "Core":
        """Return the chosen trials."""
        curves = Ragged(self.offsets, self.steps)
        places = curves.places(rows)
        return Core(
            task=self.task[rows],
            algorithm=self.algorithm[rows],
            number=self.number[rows],
            status=self.status[rows],
            offsets=starts(curves.lengths_of(rows)),
            steps=self.steps[places],
            values={name: flat[places] for name, flat in self.values.items()},
            recorded={name: flat[places] for name, flat in self.recorded.items()},
        )

    @classmethod
    def joined(
        cls, parts: Sequence["Core"], tasks: Sequence[Ints], algorithms: Sequence[Ints]
    ) -> "Core":
        """Return all trials, their codes translated by one lookup per part."""
        values, recorded = {}, {}
        for name in dict.fromkeys(name for part in parts for name in part.values):
            values[name] = np.concatenate([_values(part, name) for part in parts])
            known = np.concatenate([was_recorded(part, name) for part in parts])
            if not known.all():
                recorded[name] = known
        return cls(
            task=np.concatenate([t[p.task] for t, p in zip(tasks, parts, strict=True)]),
            algorithm=np.concatenate(
                [a[p.algorithm] for a, p in zip(algorithms, parts, strict=True)]
            ),
            number=np.concatenate([part.number for part in parts]),
            status=np.concatenate([part.status for part in parts]),
            offsets=starts(np.concatenate([part.lengths for part in parts])),
            steps=np.concatenate([part.steps for part in parts]),
            values=values,
            recorded=recorded,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Details:
    """What doors rarely ask for: params, labels, errors, times, counts, correctness.

    Texts are UTF-8 bytes; `params` and `labels` hold canonical JSON, empty for ``{}``.
    Row i of `counts` has (step, K, K) values with K = ``classes[i]``; K = 0 where there
    are none. Row i of `correct` has one bit per example, each step padded to whole
    bytes; `asked` likewise, empty where every example was asked at every step.
    """

    params: Ragged
    labels: Ragged
    error: Ragged
    seconds: Floats
    attempts: Ints
    counts: Ragged
    classes: Ints
    correct: Ragged
    asked: Ragged
    example_set: Ints
    example_sets: tuple[Ints, ...]

    def __post_init__(self) -> None:
        for field in fields(self)[:-1]:
            value = getattr(self, field.name)
            array = value.flat if isinstance(value, Ragged) else value
            array.setflags(write=False)

    def take(self, rows: Ints) -> "Details":
        """Return the chosen trials."""
        columns: list[Any] = [getattr(self, f.name) for f in fields(self)]
        *of_trials, sets = columns
        chosen = [c.take(rows) if isinstance(c, Ragged) else c[rows] for c in of_trials]
        return Details(*[*chosen, sets])

    @classmethod
    def joined(cls, parts: Sequence["Details"]) -> "Details":
        """Return the details of all parts, one part after another."""
        sets: list[Ints] = []
        places: dict[bytes, int] = {}
        codes = []
        for part in parts:
            new = [place_of(ids, sets, places) for ids in part.example_sets]
            lookup = np.array([*new, -1], np.int64)
            codes.append(lookup[part.example_set])
        columns: list[Any] = []
        for field in fields(cls)[:-2]:
            pieces = [getattr(part, field.name) for part in parts]
            is_ragged = isinstance(pieces[0], Ragged)
            columns.append(joined(pieces) if is_ragged else np.concatenate(pieces))
        return cls(*[*columns, np.concatenate(codes), tuple(sets)])


class Columns(Protocol):
    """A set of trials as functions on its columns see it, which `Trials` calls."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names, which `core` has codes of; so has it of the algorithms."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Names, in the order in which they were first met."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What the scores mean."""

    @property
    def core(self) -> Core:
        """Who, how it ended, and the curves."""

    @property
    def details(self) -> Callable[[], Details]:
        """A function that returns the other columns."""

    def __len__(self) -> int: ...

    def key(self, row: int) -> tuple[str, str, int]:
        """Return (task, algorithm, number) of a trial."""

    def take(self, rows: Ints) -> Self:
        """Return the trials in these rows."""


def no_details(n: int) -> Details:
    """Return the details of n trials of which nothing more is known."""
    texts = empty_rows(n, "uint8")
    return Details(
        params=texts,
        labels=texts,
        error=texts,
        seconds=np.full(n, np.nan),
        attempts=np.ones(n, np.int64),
        counts=empty_rows(n, "int64"),
        classes=np.zeros(n, np.int64),
        correct=texts,
        asked=texts,
        example_set=np.full(n, -1, np.int64),
        example_sets=(),
    )


def place_of(ids: Ints, sets: list[Ints], places: dict[bytes, int]) -> int:
    """Return the place of a set of examples among those that were met, added if new."""
    key = ids.tobytes()
    if key not in places:
        places[key] = len(sets)
        sets.append(ids)
    return places[key]


def _values(core: Core, name: str) -> Floats:
    return core.values.get(name, np.full(len(core.steps), np.nan))


def was_recorded(core: Core, name: str) -> Bools:
    """Return at which places of the flat curves a metric was recorded."""
    if name not in core.values:
        return np.zeros(len(core.steps), bool)
    return core.recorded.get(name, np.ones(len(core.steps), bool))


def packed(bits: Bools) -> NDArray[np.uint8]:
    """Return (step, example) bits, each step padded to whole bytes, end to end."""
    return np.packbits(bits, axis=1).ravel()


def unpacked(data: NDArray[np.uint8], steps: int, examples: int) -> Bools:
    """Return the bits that `packed` laid end to end, shape (step, example)."""
    rows = data.reshape(steps, -(-examples // 8))
    return np.unpackbits(rows, axis=1, count=examples).astype(bool)
