"""How large training sets are, and how many disjoint ones of each size a pool gives."""

import functools
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, is_whole, shortened, unknown, whole
from curvewise.text import count


@dataclass(frozen=True, slots=True)
class Design:
    """Which blocks of a training order become training sets.

    A block is a run of consecutive examples; blocks of one size are disjoint. The blocks
    that begin at the same example form a *line*: each of them lies in the next, so that a
    line is one training set that grows. Every block belongs to exactly one line, and line
    0 begins at the first example.

    Parameters
    ----------
    sizes : tuple of int
        Increasing.
    starts : tuple of tuple of int
        For each size, where its blocks begin.

    Examples
    --------
    >>> design = sizes_for(400, "cifar100")
    >>> design.sizes, design.models
    ((25, 50, 100, 200, 400), (16, 8, 4, 2, 1))
    >>> design.lines, design.line(0), design.line(6)
    (16, (0, (25, 50, 100, 200, 400)), (150, (25, 50)))
    """

    sizes: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]

    @property
    def models(self) -> tuple[int, ...]:
        """How many models there are at each size: one for each block."""
        return tuple(len(places) for places in self.starts)

    @property
    def lines(self) -> int:
        """How many lines the blocks form: what `Task` wants as `lines`."""
        return len(_lines(self))

    @property
    def pool(self) -> int:
        """How many training examples the blocks reach into."""
        ends = zip(self.sizes, self.starts, strict=True)
        return max(size + places[-1] for size, places in ends)

    def line(self, i: int) -> tuple[int, tuple[int, ...]]:
        """Return where line `i` begins, and its sizes."""
        all_lines = _lines(self)
        lines = count(len(all_lines), "line")
        fact = f"sizes {shortened(list(self.sizes))} form {lines}, all a task can have"
        return all_lines[whole(i, "line", 0, len(all_lines) - 1, fact=fact)]


@functools.lru_cache(maxsize=256)
def _lines(design: Design) -> list[tuple[int, tuple[int, ...]]]:
    lines: dict[int, list[int]] = {}
    for size, places in zip(design.sizes, design.starts, strict=True):
        for start in places:
            lines.setdefault(start, []).append(size)
    return [(start, tuple(sizes)) for start, sizes in sorted(lines.items())]


Sizes: TypeAlias = str | int | Iterable[int] | Mapping[int, int] | Design | None

_Parts: TypeAlias = tuple[tuple[int, int], ...]

# (d, m): m models at one d-th of the pool, of the d that there is room for.
DESIGNS: dict[str, _Parts] = {
    "cifar100": ((16, 16), (8, 8), (4, 4), (2, 2), (1, 1)),
    "places": ((64, 16), (32, 8), (16, 4), (8, 3), (4, 3), (1, 1)),
    "small": ((4, 4), (2, 2), (1, 1)),
    "minimal": ((8, 1), (4, 1), (2, 1), (1, 1)),
}

_FEWEST, _MOST = 4, 6


def sizes_for(
    n: int, design: str = "auto", *, steps: int | None = None, smallest: int = 25
) -> Design:
    """Return a design for a pool of `n` training examples.

    Parameters
    ----------
    n : int
    design : str
        - ``"auto"``: n, n/2, n/4, ... down to `smallest`; at least four sizes where n
          allows it, because a curve with an asymptote needs them, and at most six.
        - ``"doubling"``: n/2^(steps-1), ..., n/2, n, with every disjoint block at each
          size: Xue et al. (2025) use six steps, Hoiem et al. (2021) five.
        - ``"cifar100"``: that of Hoiem et al. for CIFAR-100, 25 to 400 per class:
          n/16, n/8, n/4, n/2, n with 16, 8, 4, 2, 1 models; the same as doubling.
        - ``"places"``: theirs for Places365, 25 to 400 and 1600 per class: n/64, n/32,
          n/16, n/8, n/4, n with 16, 8, 4, 3, 3, 1 models.
        - ``"small"``: theirs for small data sets, 4, 2, 1 models at 20, 40 and 80 % of
          all the data. The 80 % are the pool, so these are n/4, n/2, n.
        - ``"minimal"``: the least they recommend, one model at n/8, n/4, n/2 and n.
    steps : int
        Of ``"doubling"``: how many sizes; 5 if left out.
    smallest : int
        Of ``"auto"``. Hoiem et al. find that below 25 examples per class the error is
        near its bound and bends away from a power law.

    Notes
    -----
    n/d is rounded down, and block j of d begins at example ``j * n // d``: then the
    largest size is n itself, and blocks stay nested whatever n is.

    Examples
    --------
    >>> sizes_for(1280, "doubling", steps=6).sizes
    (40, 80, 160, 320, 640, 1280)
    >>> sizes_for(1600, "places").models
    (16, 8, 4, 3, 3, 1)
    >>> sizes_for(112).sizes
    (14, 28, 56, 112)
    """
    n = whole(n, "n")
    if steps is not None and design != "doubling":
        raise CurvewiseError(f"Design '{design}' takes no steps. Only 'doubling' does.")
    if design == "auto":
        smallest = whole(smallest, "smallest")
        return _parts(n, _doubling(_number_of_sizes(n, smallest)), design)
    if design == "doubling":
        steps = whole(5 if steps is None else steps, "steps")
        return _parts(n, _doubling(steps), design)
    if not isinstance(design, str) or design not in DESIGNS:
        raise unknown("design", design, ("auto", "doubling", *DESIGNS))
    return _parts(n, DESIGNS[design], design)


def design_of(n: int, sizes: Sizes) -> Design:
    """Return the design that `sizes` asks for in a pool of `n` training examples.

    Parameters
    ----------
    n : int
    sizes : None, str, iterable of int, mapping or sizes.Design
        None is the whole pool only; a name is a design of `sizes_for`; numbers are sizes
        with every disjoint block of each; a mapping says how many blocks of each.

    Examples
    --------
    >>> design_of(100, [20, 50]).models
    (5, 2)
    >>> design_of(100, {20: 3, 50: 1}).models
    (3, 1)
    >>> design_of(100, None).sizes
    (100,)
    """
    if sizes is None:
        return Design((n,), ((0,),))
    if isinstance(sizes, str):
        return sizes_for(n, sizes)
    if isinstance(sizes, Design):
        if sizes.pool > n:
            raise CurvewiseError(
                f"The design is for {sizes.pool} training examples, and there are {n}. "
                f"Make one with sizes_for({n}, ...)."
            )
        return sizes
    if isinstance(sizes, int | np.integer):
        sizes = (sizes,)
    try:
        entries = tuple(sizes)
    except TypeError:
        entries = ()
    if not entries:
        raise CurvewiseError(
            f"sizes is {shortened(sizes)}. Pass increasing whole numbers, the name of a "
            f"design such as 'doubling', or None for all the data.",
            argument="sizes",
            value=sizes,
        )
    numbers = tuple(whole(size, "A size") for size in entries)
    models = sizes.values() if isinstance(sizes, Mapping) else ()
    return _explicit(n, numbers, tuple(whole(m, "A number of models") for m in models))


@functools.lru_cache(maxsize=256)
def _explicit(n: int, sizes: tuple[int, ...], models: tuple[int, ...]) -> Design:
    if any(a >= b for a, b in itertools.pairwise(sizes)):
        raise CurvewiseError(
            f"sizes is {shortened(list(sizes))}. Pass sizes that increase, each once."
        )
    if sizes[-1] > n:
        raise CurvewiseError(
            f"Size {sizes[-1]} was asked for, and there are {n} examples to train on. "
            f"Pass sizes up to {n}, or hold out fewer for the test."
        )
    wanted = models or tuple(n // size for size in sizes)
    starts = []
    for size, m in zip(sizes, wanted, strict=True):
        if m * size > n:
            raise CurvewiseError(
                f"{m} disjoint blocks of {size} were asked for, and {n} examples give "
                f"{n // size}. Ask for fewer."
            )
        starts.append(tuple(range(0, m * size, size)))
    return Design(sizes, tuple(starts))


def _doubling(steps: int) -> _Parts:
    return tuple((2**k, 2**k) for k in reversed(range(steps)))


def _number_of_sizes(n: int, smallest: int) -> int:
    """Return how many halvings "auto" makes: as few as needed, as many as sensible."""
    possible = max((n // 2).bit_length(), 1)  # down to two or three examples
    wanted = sum(n >> k >= smallest for k in range(_MOST))
    return min(max(wanted, _FEWEST), possible)


@functools.lru_cache(maxsize=256)
def _parts(n: int, parts: _Parts, name: str) -> Design:
    if n < parts[0][0]:
        raise CurvewiseError(
            f"Design '{name}' cuts the training examples into {parts[0][0]} parts, and "
            f"there are {n}. Pass sizes of your own, or another design."
        )
    starts = tuple(tuple(j * n // d for j in range(m)) for d, m in parts)
    return Design(tuple(n // d for d, _ in parts), starts)


def held_size(n: int, test: float | int) -> int:
    """Return how many of `n` examples a share or a number holds out, rounded up.

    >>> held_size(1288, 0.4), held_size(1288, 500)
    (516, 500)
    """
    if is_whole(test, 0, n - 1):
        return int(test)
    if isinstance(test, float | np.floating) and 0 <= test < 1:
        m = math.ceil(round(n * float(test), 9))  # 0.07 * 100 is 7.000000000000001
        if m < n:
            return m
    raise CurvewiseError(
        f"test is {shortened(repr(test))}, and there are {count(n, 'example')}. Pass a "
        f"share from 0 up to 1, such as 0.25, or a number of examples below {n}.",
        argument="test",
        value=test,
    )
