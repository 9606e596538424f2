"""Many comparisons at once: what each must hold so that all hold together."""

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.validation import (
    Floats,
    as_floats,
    bad_value,
    checked_confidence,
    checked_size,
)

__all__ = ["holm", "shared_confidence"]


def shared_confidence(confidence: float, members: int) -> float:
    r"""Return the confidence that each of several intervals needs.

    .. math:: 1 - \frac{1 - \mathrm{confidence}}{\mathrm{members}}

    Parameters
    ----------
    confidence : float
        That all of them hold together.
    members : int
        How many intervals or bands there are: algorithms times tasks, or all pairs.

    Notes
    -----
    Bonferroni: valid however the members depend on each other. Bands at this confidence
    hold together too, each over all of its points. More members ask for *more* of each:
    ten comparisons at 95 % together need 99.5 % each.

    Examples
    --------
    >>> round(shared_confidence(0.95, 10), 6)
    0.995
    """
    checked_confidence(confidence)
    return 1 - (1 - confidence) / checked_size(members, "members")


def holm(p: ArrayLike) -> Floats:
    r"""Return p-values adjusted for the number of them.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\bigl(1, (k - j + 1)\, p_{(j)}\bigr)

    Parameters
    ----------
    p : array_like, shape (comparison,)

    Notes
    -----
    Rejecting where the adjusted value is at most d keeps the probability of any false
    rejection at most d, however the tests depend on each other, and never rejects less
    than Bonferroni [1]_.

    References
    ----------
    .. [1] S. Holm. "A simple sequentially rejective multiple test procedure."
       Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = as_floats(p)
    if values is None:
        raise CurvewiseError("p are no numbers. Pass one p-value per test.")
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise bad_value("p", p, "Pass one p-value between 0 and 1 per test.")
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
