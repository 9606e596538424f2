"""Rows of unequal length in two arrays: where each row starts, and all values in a row.

Three million curves as Python lists would be three million objects; as a `Ragged` they
are two. Curves, counts and texts of trials are all kept this way.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
