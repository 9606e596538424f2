"""Which test examples were answered rightly, as trials recorded it."""

import numpy as np

from curvewise.metrics import Floats
from curvewise.stats.confusion import Examples
from curvewise.trials import Trials
from curvewise.trials.columns import Ints, unpacked


def examples_of(trials: Trials, rows: Ints, sizes: Floats) -> Examples | None:
    """Return how often each example was answered rightly at each size, or None.

    None where some of these trials did not record it. Trials do not say of which class an
    example is.
    """
    core, details = trials.core, trials.details()
    codes = details.example_set[rows]
    if not len(rows) or (codes < 0).any():
        return None
    ids = np.unique(np.concatenate([details.example_sets[c] for c in np.unique(codes)]))
    right, asked = np.zeros((2, len(sizes), len(ids)))
    for row, code in zip(rows, codes, strict=True):
        own = details.example_sets[code]
        steps = core.steps[core.offsets[row] : core.offsets[row + 1]]
        at = np.ix_(np.searchsorted(sizes, steps), np.searchsorted(ids, own))
        correct = unpacked(details.correct[row], len(steps), len(own))
        was_asked = np.ones_like(correct)
        if len(details.asked[row]):
            was_asked = unpacked(details.asked[row], len(steps), len(own))
        right[at] += correct & was_asked
        asked[at] += was_asked
    return Examples(None, right, asked)
