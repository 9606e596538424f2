"""How rules look at trials: at the last score, at order, and what they say in words."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise.trials import Trials
from curvewise.trials.cells import edges
from curvewise.trials.columns import Bools, Ints
from curvewise.trials.doors import last_values
from curvewise.trials.search import midranks, scored


def per_cell(trials: Trials, mask: Bools) -> Ints:
    """Return how many rows of each cell are marked."""
    total = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.diff(total[edges(trials)])


def per_trial(trials: Trials, mask: Bools) -> Ints:
    """Return how many places of each trial's curve are marked."""
    total = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.diff(total[trials.core.offsets])


def broken(trials: Trials) -> Bools:
    """Return which trials did not end well or have no finite last score at all."""
    finite = np.zeros(len(trials), bool)
    for metric in scored(trials):
        finite |= np.isfinite(last_values(trials, metric))
    return np.asarray((trials.core.status != 0) | ~finite)


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


# --- words ----------------------------------------------------------------------------


def some(things: Iterable[object], most: int = 4) -> str:
    """Return things joined, cut after `most` of them.

    >>> some([1, 2, 3], most=2)
    '1, 2 and 1 more'
    """
    texts = [str(t) for t in things]
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


_AS_NOUNS: dict[str, tuple[str, str]] = {
    "blocks": ("objection that blocks answers", "objections that block answers"),
    "tempers": ("objection that tempers answers", "objections that temper answers"),
    "notes": ("note", "notes"),
}


def counted(severity: str, n: int) -> str:
    """Return how many findings of a severity there are, in words.

    >>> counted("blocks", 1), counted("notes", 2)
    ('1 objection that blocks answers', '2 notes')
    """
    return f"{n:,} {_AS_NOUNS[severity][n != 1]}"


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
