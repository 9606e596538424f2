"""How often is one algorithm better than the other, over many tasks?"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._enough import warn_if_few
from curvewise.stats._sample import Floats, checked_confidence, one_of
from curvewise.stats._student import t_quantile
from curvewise.stats._words import APART, asymptotic, cannot_tell, finite_sample
from curvewise.stats.comparison._common import two_samples
from curvewise.stats.comparison._pool import Scores, by_task
from curvewise.stats.comparison._wins import (
    convex,
    degenerate,
    in_shape_of_score,
    is_all_alike,
    placements,
    variance,
)
from curvewise.stats.interval import METHODS, Interval, Method

__all__ = ["improvement_over_tasks"]


def improvement_over_tasks(
    a: Scores,
    b: Scores,
    *,
    confidence: float = 0.95,
    paired: bool = False,
    method: Method = "asymptotic",
) -> Interval:
    r"""Return how often a run of `a` beats one of `b` on the same task.

    .. math:: \theta = \frac 1 T \sum_t \bigl[P(A_t > B_t) + \tfrac 1 2
       P(A_t = B_t)\bigr]

    Parameters
    ----------
    a, b : array_like
        Shape (run, task), or one array of runs per task; the same tasks for both.
    confidence : float
    paired : bool
        Whether run i of a task is the same trial for both.
    method : {"asymptotic", "guaranteed"}

    Notes
    -----
    As `probability_of_improvement`, averaged over tasks [1]_. ``"asymptotic"`` adds up the
    variances of the tasks, which are strata. A task on which one algorithm always won has
    no variance to add; the limit that so many wins allow stands in for its standard error.

    ``"guaranteed"``: on each task the estimate averages over ways to form k disjoint
    pairs, with k the smallest number of runs, and independent coins of different fairness
    are less spread out in convex order than T k of the same [2]_, so that the limits of
    one task hold with T k pairs.

    References
    ----------
    .. [1] R. Agarwal and others. "Deep reinforcement learning at the edge of the
       statistical precipice." NeurIPS, 2021.
    .. [2] W. Hoeffding. "On the distribution of the number of successes in independent
       trials." Annals of Mathematical Statistics 27, 1956.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> good, bad = rng.random((20, 5)) + 0.3, rng.random((20, 5))
    >>> print(improvement_over_tasks(good, bad))
    [0.7019, 0.8312]
    """
    checked_confidence(confidence)
    one_of("method", method, METHODS)
    pairs = [two_samples(x, y, paired) for x, y in _same_tasks(a, b)]
    tasks = len(pairs)
    fewest = min(min(len(x), len(y)) for x, y in pairs)
    where = "in the same run" if paired else "in runs of their own"
    estimand = f"P(A > B) + P(A = B) / 2 {where}, mean over {tasks} tasks"
    placed = [
        ((1 + np.sign(x - y)) / 2,) if paired else placements(x, y) for x, y in pairs
    ]
    value = float(np.mean([x[0].mean() for x in placed]))
    if fewest == 1:
        why = cannot_tell("one run of a task does not show how much runs differ")
        return Interval(0.0, 1.0, estimand, why, value)
    given = "" if paired else APART
    if method == "guaranteed":
        ends = convex(value, tasks * fewest, confidence)
        how = f"runs of any distribution{given} (binomial CVaR over all tasks)"
        return Interval(*ends, estimand, finite_sample(confidence, how), value)
    warn_if_few(fewest, "improvement over tasks", "The interval", of="runs of a task")
    name = "studentised placements, stratified by task"
    guarantee = asymptotic(confidence, name, given)
    if not 0 < value < 1:
        ends = degenerate(value, tasks * fewest, confidence)
    else:
        ends = _stratified(value, placed, tasks * fewest, confidence)
    return Interval(*ends, estimand, guarantee, value)


def _stratified(
    value: float,
    placed: Sequence[tuple[Floats, ...]],
    pairs: int,
    confidence: float,
) -> tuple[float, float]:
    parts = np.array([part for own in placed for part in _variances(own, confidence)])
    own, df = parts[:, 0] / len(placed) ** 2, parts[:, 1]
    freedom = own.sum() ** 2 / (own**2 / df).sum()
    reach = t_quantile(confidence, float(freedom)) * math.sqrt(own.sum())
    return in_shape_of_score(value, reach, pairs, confidence)


def _variances(
    placed: tuple[Floats, ...], confidence: float
) -> list[tuple[float, float]]:
    """Return the variances that one task adds, with their degrees of freedom."""
    value, fewest = float(placed[0].mean()), min(len(x) for x in placed)
    if not is_all_alike(*placed):
        return [(variance(x, value, confidence), len(x) - 1.0) for x in placed]
    low, high = degenerate(value, fewest, confidence)  # all won, all lost or all tied
    error = max(high - value, value - low) / t_quantile(confidence, math.inf)
    return [(error**2, fewest - 1.0)]


def _same_tasks(a: Scores, b: Scores) -> list[tuple[Floats, Floats]]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            odd = sorted(str(task) for task in set(a) ^ set(b))
            raise CurvewiseError(
                f"Only one of a and b has the tasks {', '.join(odd)}. Pass scores of the "
                f"same tasks."
            )
        b = {task: b[task] for task in a}
    one, other = by_task(a), by_task(b)
    if len(one) != len(other):
        raise CurvewiseError(
            f"There are {len(one)} tasks in a and {len(other)} in b. Pass scores of the "
            f"same tasks."
        )
    return list(zip(one, other, strict=True))
