"""How often is one algorithm better than the other, on one task or over many?"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.asymptotics import What, t_quantile, warn_if_few, welch_df
from curvewise.stats.comparison.tasks import ONE_RUN, Scores, by_task
from curvewise.stats.interval import (
    APART,
    METHODS,
    Interval,
    Method,
    asymptotic,
    cannot_tell,
    few,
    finite_sample,
)
from curvewise.stats.validation import Floats, checked_confidence, one_of, two_samples

__all__ = [
    "all_improvements",
    "improvement_over_tasks",
    "probability_of_improvement",
]


def probability_of_improvement(
    a: ArrayLike,
    b: ArrayLike,
    *,
    confidence: float = 0.95,
    paired: bool = False,
    method: Method = "asymptotic",
) -> Interval:
    r"""Return how often a trial of `a` beats one of `b`, with an interval.

    .. math:: \theta = P(A > B) + \tfrac 1 2 P(A = B)

    Parameters
    ----------
    a, b : array_like, shape (trial,)
        Scores of the two algorithms, higher is better.
    confidence : float
    paired : bool
        Whether entry i of both is the same trial (seed, data): the probability is then
        that of A beating B *within* a trial, another number than that between trials.
    method : {"asymptotic", "guaranteed"}

    Notes
    -----
    ``"asymptotic"``, not paired: the variance :math:`v` of [1]_, [2]_ from the placements
    of each score among the other sample's, studentised with their degrees of freedom, in
    the shape of a score interval, which stays inside 0 and 1:

    .. math:: (\hat\theta - \theta)^2 \le t^2\, v\,
       \frac{\theta (1-\theta)}{\hat\theta (1-\hat\theta)}

    Where the samples are separated (or tie throughout), :math:`v = 0` says nothing: the
    :math:`\min(n, m)` disjoint pairs are independent, which bounds :math:`\theta` from
    below by :math:`(\delta/2)^{1/\min(n, m)}`. Where more than half of a sample is placed
    alike, as scores tie, its part of :math:`v` is at least what a share
    :math:`1 - (\delta/2)^{1/n}` that was never met may add. Paired: the score interval
    of [3]_.

    ``"guaranteed"`` holds for any number of trials and any distribution. Not paired:
    :math:`\hat\theta` is an average over ways to form :math:`k = \min(n, m)` disjoint
    pairs, hence less spread out, in convex order, than a binomial share [4]_, and no such
    variable reaches the CVaR of that share too often; the limits solve

    .. math:: \mathrm{CVaR}_{1-\delta/2}\bigl(\mathrm{Bin}(k, \theta)/k\bigr) = \hat\theta

    which is narrower than Hoeffding's exponential bound and than what two bands give.
    Paired: :math:`\theta = \frac 1 2 + \frac 1 2 [P(A > B) - P(A < B)]` from exact binomial
    limits for both probabilities, each at half the level, so that ties may be as many as
    they like.

    Not paired, both take the trials of A to be independent of those of B: trials that
    share data or seeds are pairs.

    One trial of either says nothing, and the interval is then 0 to 1.

    References
    ----------
    .. [1] E. Brunner, U. Munzel. "The nonparametric Behrens-Fisher problem." Biometrical
       Journal 42, 2000.
    .. [2] E. DeLong, D. DeLong, D. Clarke-Pearson. "Comparing the areas under two or more
       correlated receiver operating characteristic curves." Biometrics 44, 1988.
    .. [3] T. Tango. "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design." Statistics in Medicine 17, 1998.
    .. [4] W. Hoeffding. "Probability inequalities for sums of bounded random variables."
       JASA 58, 1963. Section 5.

    Examples
    --------
    >>> a, b = [3, 5, 6, 8, 9, 9, 10, 12, 13, 14], [1, 2, 3, 4, 4, 5, 6, 7, 8, 8]
    >>> found = probability_of_improvement(a, b)
    >>> print(round(found.value, 3), found)
    0.835 [0.5649, 0.9518]
    """
    one, other = two_samples(a, b, paired)
    checked_confidence(confidence)
    one_of("method", method, METHODS)
    n, m = len(one), len(other)
    where = "in the same trial" if paired else "in trials of their own"
    estimand = f"P(A > B) + P(A = B) / 2 {where}"
    if paired:
        wins, ties = int((one > other).sum()), int((one == other).sum())
        value = (wins + ties / 2) / n
        limits = signs if method == "asymptotic" else two_binomials
        ends = limits(wins, ties, n, confidence)
        name = "score interval" if method == "asymptotic" else "two exact binomials"
    else:
        x, y = placements(one, other)
        value = float(x.mean())
        if method == "asymptotic":
            ends = studentised(value, x, y, confidence)
            name = "studentised placements"
        else:
            ends = convex(value, min(n, m), confidence)
            name = "binomial CVaR"
    if min(n, m) == 1:
        return Interval(0.0, 1.0, estimand, cannot_tell(few(n, m)), value)
    design = "" if paired else APART
    if method == "asymptotic":
        what: What = "improvement in pairs" if paired else "improvement"
        warn_if_few(min(n, m), what, "The interval")
        guarantee = asymptotic(confidence, name, design)
    else:
        how = f"trials of any distribution{design} ({name})"
        guarantee = finite_sample(confidence, how)
    return Interval(*ends, estimand, guarantee, value)


# --- How often is one algorithm better than the other, over many tasks? ----------------


def all_improvements(
    samples: Sequence[Floats], *, confidence: float = 0.95, paired: bool = False
) -> list[Interval]:
    """Return how often a trial of each sample beats one of each later one.

    As `probability_of_improvement` does for one pair, but without a warning where trials
    are few. The order is that of ``itertools.combinations``.

    Parameters
    ----------
    samples : sequence of ndarray, shape (trial,)
        Higher is better.
    confidence : float
        Of each interval.
    paired : bool
        Whether entry i of all samples is the same trial.

    Examples
    --------
    >>> samples = [np.arange(10) + 3.0, np.arange(10.0)]
    >>> print(*all_improvements(samples))
    [0.4882, 0.9087]
    """
    level = checked_confidence(confidence)
    if min(map(len, samples), default=1) == 1:
        return [
            probability_of_improvement(a, b, confidence=level, paired=paired)
            for a, b in combinations(samples, 2)
        ]
    where = "in the same trial" if paired else "in trials of their own"
    estimand = f"P(A > B) + P(A = B) / 2 {where}"
    name = "score interval" if paired else "studentised placements"
    promise = asymptotic(level, name, "" if paired else APART)
    limits = _paired_limits if paired else _limits
    return [
        Interval(*ends, estimand, promise, value)
        for value, ends in limits(samples, level)
    ]


def _paired_limits(
    samples: Sequence[Floats], confidence: float
) -> Iterator[tuple[float, tuple[float, float]]]:
    """Yield the estimate and the limits of each pair of samples."""
    scores = np.stack(samples)
    n = scores.shape[1]
    limits: dict[tuple[int, int], tuple[float, float]] = {}
    for i in range(len(scores) - 1):
        wins = (scores[i] > scores[i + 1 :]).sum(axis=1).tolist()
        ties = (scores[i] == scores[i + 1 :]).sum(axis=1).tolist()
        for both in zip(wins, ties, strict=True):
            if both not in limits:
                limits[both] = signs(*both, n, confidence)
            yield (both[0] + both[1] / 2) / n, limits[both]


def _limits(
    samples: Sequence[Floats], confidence: float
) -> Iterator[tuple[float, tuple[float, float]]]:
    for a, b in combinations(samples, 2):
        x, y = placements(a, b)
        value = float(x.mean())
        yield value, studentised(value, x, y, confidence)


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
        why = cannot_tell(ONE_RUN)
        return Interval(0.0, 1.0, estimand, why, value)
    design = "" if paired else APART
    if method == "guaranteed":
        ends = convex(value, tasks * fewest, confidence)
        how = f"runs of any distribution{design} (binomial CVaR over all tasks)"
        return Interval(*ends, estimand, finite_sample(confidence, how), value)
    warn_if_few(fewest, "improvement over tasks", "The interval", of="runs of a task")
    name = "studentised placements, stratified by task"
    guarantee = asymptotic(confidence, name, design)
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
    parts = np.array([part for task in placed for part in _variances(task, confidence)])
    variances, df = parts[:, 0] / len(placed) ** 2, parts[:, 1]
    freedom = variances.sum() ** 2 / (variances**2 / df).sum()
    reach = t_quantile(confidence, float(freedom)) * math.sqrt(variances.sum())
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
                f"same tasks.",
                argument="b",
            )
        b = {task: b[task] for task in a}
    one, other = by_task(a), by_task(b)
    if len(one) != len(other):
        raise CurvewiseError(
            f"There are {len(one)} tasks in a and {len(other)} in b. Pass scores of the "
            f"same tasks.",
            argument="b",
        )
    return list(zip(one, other, strict=True))


# --- Limits for a probability of winning, from pairs or from two samples ---------------


def placements(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return what share of `b` each of `a` beats, and what share of `a` beats each of `b`.

    Ties count one half. By sorting, so that a million scores take a second.
    """
    ranked = np.sort(b)
    below = np.searchsorted(ranked, a, "left") + np.searchsorted(ranked, a, "right")
    ranked = np.sort(a)
    under = np.searchsorted(ranked, b, "left") + np.searchsorted(ranked, b, "right")
    return below / (2 * len(b)), 1 - under / (2 * len(a))


def studentised(
    value: float, x: Floats, y: Floats, confidence: float
) -> tuple[float, float]:
    """Return limits from the variances of the placements."""
    n, m = len(x), len(y)
    if min(n, m) == 1:
        return 0.0, 1.0
    if not 0 < value < 1 or is_all_alike(x, y):
        return degenerate(value, min(n, m), confidence)
    one, other = (variance(z, value, confidence) for z in (x, y))
    t = t_quantile(confidence, welch_df(one, n, other, m))
    reach = t * math.sqrt(one + other)
    return in_shape_of_score(value, reach, min(n, m), confidence)


def is_all_alike(*placed: Floats) -> bool:
    """Whether placements vary in no sample: all of them won, lost or tied."""
    # Exact: placements are computed from counts, the same way for each score.
    return all(z.min() == z.max() for z in placed)


def variance(placed: Floats, value: float, confidence: float) -> float:
    """Return the variance of a mean of placements, at least what may have gone unseen.

    Where the scores of a small sample tie, their placements hardly vary, whatever else
    there is in the distribution. A share r of what was never met in n trials is possible,
    which may move the value by r times as much as a coin deviates from it.
    """
    n = len(placed)
    observed = float(placed.var(ddof=1)) / n
    middle = np.partition(placed, n // 2)[n // 2]
    if 2 * np.count_nonzero(placed == middle) <= n:  # scores differ, and so it is seen
        return observed
    unseen = -math.expm1(math.log((1 - confidence) / 2) / n)
    least = unseen**2 * value * (1 - value) / t_quantile(confidence, n - 1) ** 2
    return max(observed, least)


def in_shape_of_score(
    value: float, reach: float, pairs: int, confidence: float
) -> tuple[float, float]:
    """Return value +- reach, bent so as to stay between 0 and 1.

    The standard error is taken to shrink towards 0 and 1 as that of a binomial share
    does; the limits are where the value is just so many standard errors away.
    """
    spread = value * (1 - value)
    k = reach * reach / spread
    half = math.sqrt(k * k / 4 + k * spread)
    lower, upper = (value + k / 2 - half) / (1 + k), (value + k / 2 + half) / (1 + k)
    # Who lost once is not known to be better than who never lost in so many pairs.
    never_lost, _ = degenerate(1.0, pairs, confidence)
    return min(lower, never_lost), max(upper, 1 - never_lost)


def degenerate(value: float, pairs: int, confidence: float) -> tuple[float, float]:
    """Return the limits where all of a number of independent pairs came out alike."""
    if 0 < value < 1:  # all tie: few pairs can be decided, either way
        decided = 1 - (1 - confidence) ** (1 / pairs)
        return (1 - decided) / 2, (1 + decided) / 2
    least = ((1 - confidence) / 2) ** (1 / pairs)
    return (least, 1.0) if value >= 1 else (0.0, 1 - least)


def convex(value: float, pairs: int, confidence: float) -> tuple[float, float]:
    """Return limits for the mean of what is less spread out than so many coins.

    If X is below a binomial variable in convex order, X exceeds the CVaR of that variable
    at level d with probability d at most: take the hinge at its quantile in Markov's
    inequality.
    """
    level = (1 - confidence) / 2
    return _least(value, pairs, level), 1 - _least(1 - value, pairs, level)


def _least(value: float, pairs: int, level: float) -> float:
    """Return the smallest probability under which a mean of pairs may be this large."""
    from scipy.optimize import brentq

    if value <= 0:
        return 0.0
    if value >= 1:
        return float(level ** (1 / pairs))
    return float(
        brentq(
            lambda theta: binomial_cvar(pairs, theta, level) - pairs * value,
            0.0,
            value,
            xtol=1e-12,
        )
    )


def binomial_cvar(n: int, theta: float, level: float) -> float:
    """Return the mean of the largest share `level` of a binomial variable.

    It is the minimum of cut + E(X - cut)+ / level over all cuts; any cut gives an upper
    bound, so that a cut missed by rounding would only widen the interval.
    """
    from scipy.special import bdtrc, bdtrik

    if theta <= 0 or theta >= 1:
        return n * max(0.0, min(1.0, theta))
    near = np.ceil(bdtrik(1 - level, n, theta))
    near = near if np.isfinite(near) else 0.0
    cut = np.clip(near + np.arange(-2, 3), 0, n)
    beyond = n * theta * bdtrc(cut - 1, n - 1, theta) - cut * bdtrc(cut, n, theta)
    return float((cut + beyond / level).min())


def two_binomials(
    wins: int, ties: int, n: int, confidence: float
) -> tuple[float, float]:
    """Return limits from exact ones for winning and losing, each at half the level."""
    from scipy.special import betaincinv

    level, losses = (1 - confidence) / 4, n - wins - ties

    def least(hits: int) -> float:
        return float(betaincinv(hits, n - hits + 1, level)) if hits else 0.0

    def most(hits: int) -> float:
        return 1 - least(n - hits)

    # Winning and losing exclude each other: their probabilities are 1 in sum at most.
    lower = least(wins) - min(most(losses), 1 - least(wins))
    upper = min(most(wins), 1 - least(losses)) - least(losses)
    return (1 + lower) / 2, (1 + upper) / 2


def signs(wins: int, ties: int, n: int, confidence: float) -> tuple[float, float]:
    """Return Tango's score interval for wins less losses, as a probability."""
    from scipy.optimize import brentq

    losses, net = n - wins - ties, 2 * wins + ties - n
    z2 = t_quantile(confidence, math.inf) ** 2

    def misfit(gap: float) -> float:
        # Under a gap between the probabilities of winning and losing, that of losing
        # has this maximum likelihood estimate, and the net wins this variance.
        half = (2 * n - wins + losses) * gap - wins - losses
        root = math.sqrt(half * half + 8 * n * losses * gap * (1 - gap))
        lost = max((root - half) / (4 * n), 0.0)
        return (net - n * gap) ** 2 - z2 * n * max(2 * lost + gap * (1 - gap), 0.0)

    if ties == n or abs(net) == n:
        share = net / n
        reach = z2 / (n + z2)
        low, high = share - reach * (1 + abs(share)), share + reach * (1 + abs(share))
        least, most = degenerate((1 + share) / 2, n, confidence)
        return max(0.0, min((1 + low) / 2, least)), min(1.0, max((1 + high) / 2, most))
    low = brentq(misfit, -1.0, net / n, xtol=1e-12)
    high = brentq(misfit, net / n, 1.0, xtol=1e-12)
    return (1 + float(low)) / 2, (1 + float(high)) / 2
