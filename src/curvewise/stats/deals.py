"""Deals of lines to algorithms: how many there are, all of them, or some at random."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats.validation import (
    bad_value,
    checked_chance,
    checked_level,
    checked_size,
)

__all__ = [
    "all_deals",
    "assignments",
    "lines_to_reach",
    "number_of_deals",
    "random_deals",
]


def assignments(algorithms: int, lines: int) -> int:
    r"""Return in how many ways lines can be dealt to m algorithms, l to each.

    .. math:: c_{m,l} = \frac{(m l)!}{(l!)^m\, m!}

    Parameters
    ----------
    algorithms : int
        How many there are, m.
    lines : int
        How many each has, l.

    Notes
    -----
    Names do not count: two deals are the same if the same lines are together. The
    smallest p value that shuffles of whole lines can give is :math:`1 / c_{m,l}` [1]_.

    References
    ----------
    .. [1] J. H. Piater, P. R. Cohen, X. Zhang and M. Atighetchi. "A randomized ANOVA
       procedure for comparing performance curves." ICML, 1998.

    Examples
    --------
    >>> assignments(2, 10), assignments(3, 4), assignments(2, 3)
    (92378, 5775, 10)
    """
    m = checked_size(algorithms, "algorithms")
    return number_of_deals((checked_size(lines, "lines"),) * m)


def number_of_deals(sizes: Sequence[int]) -> int:
    r"""Return how many different deals there are.

    .. math:: c = \frac{N!}{\prod_i l_i! \; \prod_s r_s!}

    with :math:`r_s` the number of algorithms that have s lines.

    Parameters
    ----------
    sizes : sequence of int
        How many lines each algorithm has.

    Notes
    -----
    Algorithms with the same number of lines can change places without changing who is
    together with whom; those deals count once.

    Examples
    --------
    >>> number_of_deals([10, 10]), number_of_deals([3, 10]), number_of_deals([1, 1, 2])
    (92378, 286, 6)
    """
    sizes = _checked(sizes)
    ways = math.factorial(sum(sizes))
    for size, times in Counter(sizes).items():
        ways //= math.factorial(size) ** times * math.factorial(times)
    return ways


def lines_to_reach(
    algorithms: int, level: float, times: int = 1, *, is_guarded: bool = False
) -> int:
    r"""Return how many lines of each algorithm it takes for p to reach a level at all.

    The smallest l of 2 or more with

    .. math:: \frac{t}{c_{m,l}} \le \alpha

    Parameters
    ----------
    algorithms : int
        How many are tested together, m: two or more.
    level : float
        The level, :math:`\alpha`.
    times : int
        By how much p is multiplied at most, t: by the number of pairs, say, where each is
        tested by itself.
    is_guarded : bool
        Whether p is that of sign flips too, if that is larger: of l lines each there are
        :math:`2^{m l - 1}` different ones.

    Notes
    -----
    With that many lines a test could reject; how many are likely to is a question of
    power.

    Examples
    --------
    >>> lines_to_reach(2, 0.05), lines_to_reach(3, 0.05), lines_to_reach(2, 0.05, 6)
    (4, 3, 5)
    >>> lines_to_reach(3, 0.0003), lines_to_reach(3, 0.0003, is_guarded=True)
    (4, 5)
    """
    level, times = checked_level(level), checked_size(times, "times")
    m = checked_size(algorithms, "algorithms")
    if m < 2:
        raise CurvewiseError(
            f"algorithms is {m}. Pass 2 or more: lines of one cannot be dealt to others.",
            argument="algorithms",
        )

    def smallest(lines: int) -> float:
        flips = times / (1 + 2 ** (m * lines - 1)) if is_guarded else 0.0
        return max(times / assignments(m, lines), flips)

    return next(n for n in count(2) if smallest(n) <= level * (1 + 1e-12))


Labels: TypeAlias = NDArray[np.unsignedinteger[Any]]


def random_deals(
    sizes: Sequence[int], draws: int, *, rng: np.random.Generator
) -> Iterator[Labels]:
    """Return random deals in batches: which algorithm each line is dealt to.

    Parameters
    ----------
    sizes : sequence of int
        How many lines each algorithm has.
    draws : int
        How many deals, independent of each other.
    rng : numpy.random.Generator

    Returns
    -------
    iterator of ndarray, shape (draw, line)
        Places of algorithms, from 0. A batch takes a few megabytes, whatever `draws` is.

    Examples
    --------
    >>> (batch,) = random_deals([2, 3], 4, rng=np.random.default_rng(1))
    >>> batch.shape, batch.sum(axis=1).tolist()
    ((4, 5), [3, 3, 3, 3])
    """
    sizes = _checked(sizes)
    draws = checked_chance(draws, rng, 1, "draws")
    return _random(sizes, draws, rng)


def all_deals(sizes: Sequence[int]) -> Iterator[Labels]:
    """Return every deal once, in batches, that of the lines as they lie first.

    Parameters
    ----------
    sizes : sequence of int
        How many lines each algorithm has.

    Returns
    -------
    iterator of ndarray, shape (draw, line)
        Places of algorithms, from 0. A batch takes a few megabytes.

    Notes
    -----
    Algorithms with equally many lines are interchangeable: of the deals that differ in
    their names only, one is given. The first line that is left belongs to an algorithm of
    some size; whom it is with is a subset of the others; then the first line that is
    still left, and so on.

    Examples
    --------
    >>> (batch,) = all_deals([2, 2])
    >>> batch.tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    """
    sizes = _checked(sizes)
    waiting: dict[int, list[int]] = {}
    for label, size in enumerate(sizes):
        waiting.setdefault(size, []).append(label)
    order = {size: tuple(labels) for size, labels in waiting.items()}
    return (block.T for block in gathered(_deals_to_labels(order, label_type(sizes))))


def _random(
    sizes: Sequence[int], draws: int, rng: np.random.Generator
) -> Iterator[Labels]:
    most = max(BLOCK // sum(sizes), 1)
    while draws > 0:
        now = min(draws, most)
        draws -= now
        yield random_labels(sizes, now, rng)


def _checked(sizes: Any) -> tuple[int, ...]:
    try:
        every = tuple(sizes)
    except TypeError:
        every = ()
    if not 1 <= len(every) <= 65_536:
        raise bad_value(
            "sizes",
            sizes,
            "Pass how many lines each algorithm has, such as [10, 10].",
        )
    return tuple(checked_size(size, "a size") for size in every)


# --------------------------------------------------------------------------------------
# Deals as labels of lines: at random, or every one, in batches that numpy builds.


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


def _deals_to_labels(
    waiting: dict[int, tuple[int, ...]], dtype: type
) -> Iterator[Labels]:
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
    lines, free = len(held), sum(size * len(group) for size, group in left.items())
    labels = [one for group in left.values() for one in group]
    if len(labels) == 1:
        # Arithmetic on bytes is faster than a choice between them.
        out: Labels = held.astype(dtype)
        out *= (label - labels[0]) % (1 << 8 * out.itemsize)
        out += labels[0]
        yield out
        return
    # Where each line's label is in a column of `rest`; the last row is `label`.
    place = np.where(held, free, np.cumsum(~held, axis=0) - 1)
    for below in _deals_to_labels(left, dtype):
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
        labels = np.empty((n, draws), dtype=np.uint8)
        wanted = np.full(draws, sizes[1], dtype=np.float32)
        for i in range(n):
            u = rng.random(draws, dtype=np.float32)
            u *= n - i
            now = u < wanted
            labels[i] = now
            wanted -= now
        return labels.T
    # Labels ride in the low bits of random keys, and sorting the keys shuffles them.
    keys = rng.integers(0, 1 << 48, (draws, n), dtype=np.uint64)
    keys <<= np.uint64(16)
    keys |= labels_as_they_lie(sizes).astype(np.uint64)
    keys.sort(axis=1)
    return (keys.astype(np.uint16)).astype(label_type(sizes), copy=False)


def label_type(sizes: Sequence[int]) -> type:
    """Return the smallest type that can name so many algorithms."""
    return np.uint8 if len(sizes) <= 256 else np.uint16
