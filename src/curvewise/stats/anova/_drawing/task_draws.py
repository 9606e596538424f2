"""Shuffles and flips within tasks, all tasks at once."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from curvewise.stats._labels import Labels, labels_as_they_lie, random_labels
from curvewise.stats._sample import Floats
from curvewise.stats.anova._drawing.draws import least
from curvewise.stats.anova._drawing.statistics import NONE
from curvewise.stats.anova._lines.designs import Design
from curvewise.stats.anova._lines.flips import Residuals, batches, random_signs
from curvewise.stats.anova._lines.welch import evidence, welch_f
from curvewise.stats.deals import all_deals

_PARTS = (np.maximum, np.minimum)  # above 0, and below


def deviates(means: Floats, variances: Floats, sizes: Sequence[int]) -> Floats:
    """Return signed normal deviates, from means and variances of shape (2, draw)."""
    f, df = welch_f(means, variances, np.array(sizes, dtype=np.float64))
    signed: Floats = np.sign(means[0] - means[1]) * evidence(f, df, 2)
    return signed


def observed(designs: Sequence[Design]) -> Floats:
    """Return the deviates of the lines as they came, shape (task,)."""
    own = [dealt(design, labels_as_they_lie(design.sizes))[0] for design in designs]
    return np.array(own)


def dealt(design: Design, labels: Labels) -> Floats:
    """Return deviates of deals, given as labels 0 and 1, shape (draw, line)."""
    x = design.values[:, 0] - design.values[:, 0].mean()
    counts = np.array(design.sizes)[:, None]
    second = labels.astype(np.float64) @ np.stack((x, x**2), axis=1)
    sums = np.stack((x.sum() - second[:, 0], second[:, 0]))
    squares = np.stack(((x**2).sum() - second[:, 1], second[:, 1]))
    means = sums / counts
    spread = (squares - sums * means) / (counts - 1)
    # Deals that are equally perfect are judged equal.
    floor = NONE * float((x**2).sum()) / (len(x) - 1)
    return deviates(means, np.maximum(spread, floor), design.sizes)


def every_deal(designs: Sequence[Design]) -> list[Floats]:
    """Return deviates of all deals of each task, that of the lines as they came first."""
    own = []
    for design in designs:
        z = np.concatenate([dealt(design, some) for some in all_deals(design.sizes)])
        # Of two deals that are mirror images, one is given where sizes are equal.
        own.append(np.concatenate((z, -z)) if len(set(design.sizes)) == 1 else z)
    return own


def combined(own: Sequence[Floats]) -> Iterator[Floats]:
    """Yield every deal of one task with every deal of all others, shape (deal, task)."""
    counts = tuple(len(z) for z in own)
    done = 0
    for now in batches(math.prod(counts), 4 * len(own)):
        places = np.unravel_index(np.arange(done, done + now), counts)
        yield np.stack([z[i] for z, i in zip(own, places, strict=True)], axis=1)
        done += now


def some_deals(
    designs: Sequence[Design], draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield z of each task under random deals within it, batches of (draw, task)."""
    for now in batches(draws, width(designs)):
        z = [dealt(d, random_labels(d.sizes, now, rng)) for d in designs]
        yield np.stack(z, axis=1)


def width(designs: Sequence[Design]) -> int:
    """Return how many floats a draw takes."""
    return 4 * max(*(len(design.values) for design in designs), len(designs))


def some_flips(
    designs: Sequence[Design], draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield z of each task under flips within it, batches of (draw, task)."""
    own = [Residuals(design) for design in designs]
    for now in batches(draws, width(designs)):
        z = []
        for design, residual in zip(designs, own, strict=True):
            signs = random_signs(now, residual.lines, rng)
            means, spread = residual.flipped(signs)
            z.append(deviates(means[..., 0], spread[..., 0], design.sizes))
        yield np.stack(z, axis=1)


def shares(
    observed: Floats, rounding: Floats, drawn: Iterator[Floats], counted: int
) -> tuple[float, float, float]:
    """Return how often draws are as extreme: in sum, in squares, in both directions.

    `counted` is 1 where the data themselves are one draw more, and 0 where they are
    among the draws. What differs from the data by no more than the rounding of each task
    is as extreme.
    """
    size = np.abs(observed)
    low = least(size, rounding)
    total = abs(observed.sum()) - (size - low).sum()
    # Nothing is below none: there a little less is as good as tied.
    signed = np.sign(observed) * np.maximum(low, 0.0)
    squares = (signed**2).sum()
    up, down = (float((part(signed, 0) ** 2).sum()) for part in _PARTS)
    whole = somewhere = counted
    turned = np.full((2, len(observed)), counted, dtype=np.int64)
    draws = counted
    for z in drawn:
        draws += len(z)
        whole += int((np.abs(z.sum(axis=1)) >= total).sum())
        somewhere += int(((z**2).sum(axis=1) >= squares).sum())
        for i, (part, limit) in enumerate(zip(_PARTS, (up, down), strict=True)):
            own = part(z, 0) ** 2
            # Without one task, whichever: see `over_tasks`.
            rest = own.sum(axis=1, keepdims=True) - own
            turned[i] += (rest >= limit).sum(axis=0)
    reversal = 1.0 if min(up, down) <= 0 else float(turned.max()) / draws
    return whole / draws, somewhere / draws, reversal
