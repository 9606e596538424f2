"""Deals of lines to algorithms: how many there are, all of them, or some at random."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._labels import (
    BLOCK,
    Labels,
    deals,
    gathered,
    label_type,
    random_labels,
)
from curvewise.stats._sample import checked_chance, checked_level, checked_size

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
            f"algorithms is {m}. Pass 2 or more: lines of one cannot be dealt to others."
        )

    def smallest(lines: int) -> float:
        flips = times / (1 + 2 ** (m * lines - 1)) if is_guarded else 0.0
        return max(times / assignments(m, lines), flips)

    return next(n for n in count(2) if smallest(n) <= level * (1 + 1e-12))


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
    return (block.T for block in gathered(deals(order, label_type(sizes))))


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
        raise CurvewiseError(
            f"sizes is {sizes!r}. Pass how many lines each algorithm has, such as "
            f"[10, 10].",
            argument="sizes",
            value=sizes,
        )
    return tuple(checked_size(size, "a size") for size in every)
