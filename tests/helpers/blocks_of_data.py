"""P values of many simulated data sets of one design, which share their draws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from curvewise.stats.anova.draws import (
    FEWEST_TO_FLIP,
    batches,
    flipped,
    least,
    observed_for_flips,
    plain,
    random_signs,
    rounding_of_deals,
    rounding_of_flips,
    split,
    studentised,
)
from curvewise.stats.deals import labels_as_they_lie, random_labels
from curvewise.stats.validation import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The p values of a stack of data sets, shape (data set,) each.

    Parameters
    ----------
    algorithm, interaction : ndarray
        By shuffles, or the larger of the two where there were flips.
    """

    algorithm: Floats
    interaction: Floats


def p_values(
    values: Floats,
    sizes: Sequence[int],
    *,
    null: str = "separate",
    noise: str = "unequal",
    draws: int = 199,
    rng: np.random.Generator,
) -> Block:
    """Return p values of both effects for data sets of shape (data set, line, step).

    The same as `randomized_anova` gives with a fixed number of draws. All data sets see
    the same draws, which ties their decisions together a little: keep a stack to about
    fifty where a rate is wanted.
    """
    parts = split(values, sizes)

    def shuffled(labels: np.ndarray) -> Floats:
        if noise == "unequal":
            return np.stack(studentised(parts, labels))
        return np.stack(plain(parts, labels, joint=null == "joint"))

    came = shuffled(labels_as_they_lie(sizes))
    how = "studentised" if noise == "unequal" else "plain"
    ties = rounding_of_deals(parts, "joint" if null == "joint" else how)
    low = least(came, np.stack(ties)[:, :, None])
    above = np.zeros(came.shape[:2])
    for now in batches(draws, parts.width):
        above += (shuffled(random_labels(sizes, now, rng)) >= low).sum(axis=2)
    p = (1 + above) / (1 + draws)
    if noise == "unequal" and min(sizes) >= FEWEST_TO_FLIP:
        came = np.stack(observed_for_flips(parts))
        ties = np.stack(rounding_of_flips(parts, *came))
        low, above = least(came, ties)[:, :, None], np.zeros(came.shape)
        for now in batches(draws, parts.width):
            signs = random_signs(now, sum(sizes), rng)
            above += (np.stack(flipped(parts, signs)) >= low).sum(axis=2)
        p = np.maximum(p, (1 + above) / (1 + draws))
    return Block(*p)
