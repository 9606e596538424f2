"""From the recalls of classes to whole matrices."""

import numpy as np

from curvewise.stats._sample import Floats


def matrices(recalls: Floats, shares: Floats, errors: Floats) -> Floats:
    """Return confusion matrices that sum to 1, shape (..., class, class).

    Parameters
    ----------
    recalls, shares : ndarray, shape (..., class)
        How many of a class are called right, and how often it occurs.
    errors : ndarray, shape (..., class, class)
        What wrong answers are called, by true class: rows sum to 1, 0 on the diagonal.
    """
    classes = recalls.shape[-1]
    rows = errors * (1.0 - recalls)[..., None] + np.eye(classes) * recalls[..., None]
    return np.asarray(rows * shares[..., None])
