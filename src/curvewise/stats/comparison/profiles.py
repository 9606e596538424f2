"""What share of runs gets how far? Performance profiles over many tasks."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.asymptotics import What, t_quantile, warn_if_few
from curvewise.stats.comparison.differences import shared_confidence
from curvewise.stats.comparison.improvement import convex
from curvewise.stats.comparison.tasks import ONE_RUN, Pool, Scores, percentile
from curvewise.stats.interval import (
    METHODS,
    CurveBand,
    Method,
    asymptotic,
    cannot_tell,
    finite_sample,
)
from curvewise.stats.validation import (
    Floats,
    as_floats,
    bad_value,
    checked_chance,
    checked_confidence,
    one_of,
)

__all__ = ["performance_profile", "performance_profile_bootstrap"]


def performance_profile(
    scores: Scores,
    at: ArrayLike,
    *,
    confidence: float = 0.95,
    method: Method = "asymptotic",
    pointwise: bool = False,
) -> CurveBand:
    r"""Return what share of the runs scores above each threshold, with a band.

    .. math:: \frac 1 T \sum_t P(Z_t > \tau)

    Parameters
    ----------
    scores : array_like
        Shape (run, task), or one array of runs per task.
    at : array_like, shape (point,)
        The thresholds.
    confidence : float
        That the true profile is in the band at all of the thresholds together.
    method : {"asymptotic", "guaranteed"}
    pointwise : bool
        Promise the confidence at each threshold by itself only. The band is narrower, and
        will not hold the whole profile that often.

    Notes
    -----
    Profiles are those of [1]_, with tasks weighing the same. ``"asymptotic"`` adds up the
    variances of the tasks, which are strata, each from its share of runs moved a little
    towards one half,

    .. math:: v = \frac{1}{T^2}\sum_t \frac{\tilde p_t (1 - \tilde p_t)}{n_t}, \qquad
       \tilde p_t = \frac{x_t + 1/2}{n_t + 1}

    so that tasks on which all runs agree still add some. The limits are those of a
    binomial share of as many runs as have this variance [2]_, exact where a single run is
    beyond a threshold: with normal limits, bands over 400 thresholds were measured to hold
    in .81 to .91 of all cases, with these in .96 and more. ``"guaranteed"`` holds at any
    number of runs: the share is less spread out in convex order than a binomial one of
    T times the smallest number of runs. It does not profit from tasks being different,
    and is wider for that.

    For all thresholds together each limit takes an equal part of what may go wrong
    (Bonferroni over `at`, or over the runs where those are fewer: between two scores
    there is but one limit to miss), and the band is drawn in to be as monotone as the
    profile; `performance_profile_bootstrap` knows how thresholds go together, and is
    narrower.

    References
    ----------
    .. [1] R. Agarwal and others. "Deep reinforcement learning at the edge of the
       statistical precipice." NeurIPS, 2021.
    .. [2] E. Korn, B. Graubard. "Confidence intervals for proportions with small expected
       number of positive counts estimated from survey data." Survey Methodology 24, 1998.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> profile = performance_profile(rng.random((20, 5)), [0.25, 0.5, 0.75])
    >>> profile.value.round(2).tolist(), profile.lower.round(3).tolist()
    ([0.77, 0.53, 0.3], [0.657, 0.407, 0.198])
    """
    pool, thresholds = Pool.of(scores), _thresholds(at)
    checked_confidence(confidence)
    one_of("method", method, METHODS)
    if pool.runs.min() == 1:
        return _unknown(pool, thresholds)
    value, shares = _shares(pool, thresholds)
    each = confidence
    if not pointwise:
        each = shared_confidence(confidence, _events(pool, thresholds, method))
    every = "at each threshold by itself" if pointwise else "at all thresholds at once"
    if method == "guaranteed":
        trials = int(pool.runs.min()) * len(pool.runs)
        ends = np.array([convex(float(p), trials, each) for p in value])
        lower, upper = ends.T
        guarantee = finite_sample(
            confidence, f"runs of any distribution, {every} (binomial CVaR)"
        )
    else:
        _warn(pool, "profile")
        lower, upper = _limits(pool, shares, value, each)
        guarantee = asymptotic(confidence, f"{every}, closed form, stratified by task")
    band = CurveBand(
        at=thresholds,
        value=value,
        lower=lower,
        upper=upper,
        estimand=_WHAT,
        guarantee=guarantee,
    )
    return band if pointwise else _monotone(band)


def performance_profile_bootstrap(
    scores: Scores,
    at: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> CurveBand:
    """Return what share of the runs scores above each threshold, with a narrower band.

    Parameters
    ----------
    scores : array_like
        Shape (run, task), or one array of runs per task.
    at : array_like, shape (point,)
        The thresholds.
    confidence : float
        That the true profile is in the band at all of the thresholds together.
    resamples : int
    rng : numpy.random.Generator

    Notes
    -----
    As `performance_profile`, but the number of standard errors to go is read off the
    stratified bootstrap: how many the resampled profile is away where it is farthest.
    Few runs have few profiles, many resamples tie, and the Monte-Carlo error is then the
    least that it may be: 0 does not say that other draws would give the same band.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.random((20, 5))
    >>> profile = performance_profile_bootstrap(scores, [0.25, 0.5, 0.75], rng=rng)
    >>> profile.lower.round(3).tolist()
    [0.656, 0.406, 0.197]
    """
    pool, thresholds = Pool.of(scores), _thresholds(at)
    checked_confidence(confidence)
    checked_chance(resamples, rng)
    if pool.runs.min() == 1:
        return _unknown(pool, thresholds)
    _warn(pool, "resampled profile")
    value, shares = _shares(pool, thresholds)
    # Resamples know nothing of tasks on which all runs agree, so neither may the scale
    # on which they are measured.
    spread = _spread(pool, shares, moved=0.0)[0]
    is_open = spread > 0
    ends = np.searchsorted(pool.scores, thresholds, side="right")
    farthest = []
    for weights in pool.resampled(resamples, rng):
        reached = np.cumsum(weights, axis=1)
        above = 1 - np.where(ends > 0, reached[:, np.maximum(ends, 1) - 1], 0)
        gap = np.abs(above - value)[:, is_open] / spread[is_open]
        farthest.append(gap.max(axis=1, initial=t_quantile(confidence, math.inf)))
    errors, chance = percentile(np.concatenate(farthest), confidence)
    each = math.erf(errors / math.sqrt(2))  # of so many standard errors
    lower, upper = _limits(pool, shares, value, each)
    name = f"at all thresholds at once, stratified bootstrap, {resamples} resamples"
    band = CurveBand(
        at=thresholds,
        value=value,
        lower=lower,
        upper=upper,
        estimand=_WHAT,
        guarantee=asymptotic(confidence, name),
        monte_carlo_error=chance * float(_spread(pool, shares)[0].max()),
    )
    return _monotone(band)


_NONE = 1e-9  # runs
_WHAT = "share of runs that score above, tasks weighing the same"


def _events(pool: Pool, thresholds: Floats, method: Method) -> int:
    """Return in how many ways the band may go wrong, on one side.

    If the profile leaves the band above where its estimate is v, then it does so at the
    threshold where the profile is the upper limit of v, as the estimate is v there at
    most: one fixed threshold for each v that has a limit. With the same number of runs on
    each task there are as many v as runs, and a limit that hangs on v alone.
    """
    points, runs = len(np.unique(thresholds)), int(pool.runs.sum())
    is_even = pool.runs.min() == pool.runs.max()
    return min(points, runs) if is_even or method == "asymptotic" else points


def _warn(pool: Pool, what: What) -> None:
    fewest = int(pool.runs.min())
    warn_if_few(fewest, what, "The band", of="runs of a task", depth=4)


def _thresholds(at: ArrayLike) -> Floats:
    thresholds = as_floats(at)
    if thresholds is None:
        raise CurvewiseError("at are no numbers. Pass thresholds.", argument="at")
    if thresholds.ndim > 1 or thresholds.size == 0 or np.isnan(thresholds).any():
        raise bad_value("at", at, "Pass thresholds, one or more.")
    return np.atleast_1d(thresholds)


def _shares(pool: Pool, thresholds: Floats) -> tuple[Floats, Floats]:
    """Return the profile, and that of each task by itself, shape (task, point)."""
    shares = np.array(
        [
            1 - np.searchsorted(scores, thresholds, side="right") / len(scores)
            for scores in (pool.scores[pool.task == t] for t in range(len(pool.runs)))
        ]
    )
    return shares.mean(axis=0), shares


def _spread(pool: Pool, shares: Floats, moved: float = 0.5) -> tuple[Floats, Floats]:
    """Return the standard error at each threshold, and the share in the middle of it.

    The shares are moved towards one half, by so many runs.
    """
    runs = pool.runs[:, None]
    inside = (runs * shares + moved) / (runs + 2 * moved)
    variance = (inside * (1 - inside) / runs).sum(axis=0) / len(runs) ** 2
    return np.sqrt(variance), inside.mean(axis=0)


def _limits(
    pool: Pool, shares: Floats, value: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return exact binomial limits for as many runs as have this standard error."""
    from scipy.special import betaincinv

    spread, middle = _spread(pool, shares)
    runs = middle * (1 - middle) / spread**2
    above, each = runs * value, (1 - confidence) / 2
    below = runs - above
    lower = np.where(
        value > 0, betaincinv(np.maximum(above, _NONE), below + 1, each), 0
    )
    upper = np.where(
        value < 1, 1 - betaincinv(np.maximum(below, _NONE), above + 1, each), 1
    )
    return lower, upper


def _monotone(band: CurveBand) -> CurveBand:
    """Return the band without what no falling curve could reach."""
    order = np.argsort(band.at, kind="stable")
    lower, upper = np.empty_like(band.lower), np.empty_like(band.upper)
    lower[order] = np.maximum.accumulate(band.lower[order][::-1])[::-1]
    upper[order] = np.minimum.accumulate(band.upper[order])
    return replace(band, lower=lower, upper=upper)


def _unknown(pool: Pool, thresholds: Floats) -> CurveBand:
    value, none = _shares(pool, thresholds)[0], np.zeros(len(thresholds))
    why = cannot_tell(ONE_RUN)
    return CurveBand(
        at=thresholds,
        value=value,
        lower=none,
        upper=none + 1,
        estimand=_WHAT,
        guarantee=why,
    )
