"""Draws of matrices and metrics, made like what is estimated and what is counted."""

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._asked import Asked

_LEAST = {"mcc": -1.0, "kappa": -1.0, "cost": -np.inf}
_MOST = {"cost": np.inf}


def as_counted(matrices: Floats, asked: Asked) -> Floats:
    """Return draws (draw, curve, asked, class, class) as a test set would show them.

    What is *observed* are whole numbers of answers: a class may be found without a single
    mistake, which no draw of rates says. Other targets are left as they are, and so are
    questions without a test size.
    """
    if asked.target != "observed":
        return matrices
    answers = (asked.test_size * asked.runs)[..., None, None]
    with np.errstate(invalid="ignore"):
        counted = np.round(matrices * answers) / answers
    return np.where(np.isnan(answers), matrices, counted)


def centred(name: str, draws: Floats, value: Floats) -> Floats:
    """Return draws whose median is the estimate, still inside the range of the metric.

    A recall near 1 can be off by more below than above. For one class that is so, and the
    median stays; but an average over many classes of which each is off by itself has all
    its draws below the estimate, and the more so the more classes there are.

    Parameters
    ----------
    name : str
        Of the metric.
    draws : ndarray, shape (draw, ...)
        Those that are at an end of the range stay there.
    value : ndarray, shape (...)
    """
    least, most = _LEAST.get(name, 0.0), _MOST.get(name, 1.0)
    moved = np.clip(draws + (value - np.median(draws, axis=0)), least, most)
    return np.where((draws == least) | (draws == most), draws, moved)
