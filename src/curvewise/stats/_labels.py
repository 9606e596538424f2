"""Deals as labels of lines: at random, or every one, in batches that numpy builds."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Labels: TypeAlias = NDArray[np.unsignedinteger[Any]]

BLOCK = 1 << 22  # labels that a batch may hold: 4 MB, and 32 MB as floats
_TABLE = 1 << 18  # labels in a table of subsets that is kept


def gathered(blocks: Iterable[Labels]) -> Iterator[Labels]:
    """Yield blocks of deals, small ones put together."""
    few: list[Labels] = []
    for block in blocks:
        few.append(block)
        if sum(one.size for one in few) >= _TABLE:
            yield np.hstack(few) if len(few) > 1 else block
            few = []
    if few:
        yield np.hstack(few)


def deals(waiting: dict[int, tuple[int, ...]], dtype: type) -> Iterator[Labels]:
    """Yield deals of all lines to the labels of each size, shape (line, draw)."""
    lines = sum(size * len(labels) for size, labels in waiting.items())
    if sum(map(len, waiting.values())) == 1:
        ((size, (label,)),) = waiting.items()
        yield np.full((size, 1), label, dtype=dtype)
        return
    # Lowest label first, so that the lines as they lie are the first deal.
    for size, labels in sorted(waiting.items(), key=lambda item: item[1][0]):
        left = waiting | {size: labels[1:]}
        if not left[size]:
            del left[size]
        for others in _subsets(lines - 1, size - 1):
            held = np.empty((lines, others.shape[1]), dtype=np.bool_)
            held[0], held[1:] = True, others
            yield from _completed(held, labels[0], left, dtype)


def _completed(
    held: NDArray[np.bool_], label: int, left: dict[int, tuple[int, ...]], dtype: type
) -> Iterator[Labels]:
    """Yield deals in which the lines held have a label and the others those left."""
    lines, free = len(held), sum(size * len(own) for size, own in left.items())
    labels = [one for own in left.values() for one in own]
    if len(labels) == 1:
        # Arithmetic on bytes is faster than a choice between them.
        out: Labels = held.astype(dtype)
        out *= (label - labels[0]) % (1 << 8 * out.itemsize)
        out += labels[0]
        yield out
        return
    # Where each line's label is in a column of `rest`; the last row is `label`.
    place = np.where(held, free, np.cumsum(~held, axis=0) - 1)
    for below in deals(left, dtype):
        rest = np.vstack((below, np.full((1, below.shape[1]), label, dtype=dtype)))
        at_once = max(BLOCK // (lines * below.shape[1]), 1)
        for i in range(0, place.shape[1], at_once):
            yield rest[place[:, i : i + at_once]].reshape(lines, -1)


def _subsets(n: int, size: int) -> Iterator[NDArray[np.bool_]]:
    """Yield all subsets of a size, shape (element, draw), that of the first ones first."""
    if size in (0, n):
        yield np.full((n, 1), size > 0)
        return
    if size > n - size:  # fewer are left out: say which
        for block in _subsets(n, n - size):
            yield ~block[::-1]
        return
    # Every subset is one of the head with one of the tail, and tails are kept.
    tail = n - n // 2
    while tail > 1 and math.comb(tail, min(size, tail // 2)) * tail > _TABLE:
        tail //= 2
    head = n - tail
    for of_head in range(min(size, head), max(size - tail, 0) - 1, -1):
        ends = _table(tail, size - of_head)
        at_once = max(BLOCK // (n * ends.shape[1]), 1)
        heads = math.comb(head, of_head) * head
        for block in (
            [_table(head, of_head)] if heads <= _TABLE else _subsets(head, of_head)
        ):
            for i in range(0, block.shape[1], at_once):
                part = block[:, i : i + at_once]
                both = np.empty((n, part.shape[1], ends.shape[1]), dtype=np.bool_)
                both[:head] = part[:, :, None]
                both[head:] = ends[:, None, :]
                yield both.reshape(n, -1)


@lru_cache(maxsize=64)
def _table(n: int, size: int) -> NDArray[np.bool_]:
    return np.hstack(list(_subsets(n, size)))


def labels_as_they_lie(sizes: Sequence[int]) -> Labels:
    """Return the deal of the lines as they came, shape (1, line)."""
    return np.repeat(np.arange(len(sizes), dtype=label_type(sizes)), sizes)[None]


def random_labels(sizes: Sequence[int], draws: int, rng: np.random.Generator) -> Labels:
    """Return one batch of random deals, shape (draw, line); lines vary slowest."""
    n = sum(sizes)
    if len(sizes) == 2:
        # Line after line: it is taken with the chance that those still wanted leave it.
        taken = np.empty((n, draws), dtype=np.uint8)
        wanted = np.full(draws, sizes[1], dtype=np.float32)
        for i in range(n):
            u = rng.random(draws, dtype=np.float32)
            u *= n - i
            now = u < wanted
            taken[i] = now
            wanted -= now
        return taken.T
    # Labels ride in the low bits of random keys, and sorting the keys shuffles them.
    keys = rng.integers(0, 1 << 48, (draws, n), dtype=np.uint64)
    keys <<= np.uint64(16)
    keys |= labels_as_they_lie(sizes).astype(np.uint64)
    keys.sort(axis=1)
    return (keys.astype(np.uint16)).astype(label_type(sizes), copy=False)


def label_type(sizes: Sequence[int]) -> type:
    """Return the smallest type that can name so many algorithms."""
    return np.uint8 if len(sizes) <= 256 else np.uint16
