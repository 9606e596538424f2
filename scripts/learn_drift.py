"""Learn the constants of drifting count curves on all real curves of two classes.

Prints them for _drift_constants.py. Takes a minute.

python scripts/learn_drift.py    (CURVEWISE_DATA names the folder of the data)
"""

from dataclasses import replace

import numpy as np
from drift_curves import (
    SHARES,
    learn_prior,
    learn_scale,
    learning_tasks,
    load,
    needed,
    task,
)

from curvewise.stats.confusion.drift import DriftConstants


def learnt(curves) -> DriftConstants:
    """Return the constants, rounded."""
    found = learn_prior(learning_tasks(curves), np.arange(len(curves)))
    prior = found.drift
    names = ("slowing", "slowing_common", "rise", "bend", "wander")
    prior = replace(prior, **{x: round(float(getattr(prior, x)), 3) for x in names})
    found = replace(found, drift=prior)
    wide = [task(curves, share) for share in SHARES]
    near, far = learn_scale(*needed(wide, found))
    return replace(found, near=round(near, 3), far=round(far, 3))


if __name__ == "__main__":
    print(learnt(load()))
