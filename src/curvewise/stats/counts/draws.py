"""Whole matrices drawn from their posterior, and intervals of any metric from them."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise import metrics
from curvewise.errors import CurvewiseError, Keyword, unknown
from curvewise.stats.counts.posterior import (
    CountIntervals,
    Prior,
    blocks,
    checked_matrices,
    checked_prior,
    guarantee,
)
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_chance,
    checked_confidence,
)

__all__ = [
    "draw_matrices",
    "metric_interval",
]


NUMBERS = 1 << 20  # gammas drawn at once
_FEWEST = 100


def draw_matrices(
    counts: ArrayLike,
    *,
    draws: int,
    rng: np.random.Generator,
    prior: Prior = "jeffreys",
) -> Floats:
    """Return draws of the matrix of probabilities from its posterior.

    The cells of a matrix are one multinomial draw; with `prior` added to every cell, its
    probabilities are Dirichlet. Every draw sums to 1 over the last two axes.

    Parameters
    ----------
    counts : array_like, shape (..., class, class)
        Rows are true classes, columns what they were called; fractions are counts, too.
    draws : int
    rng : numpy.random.Generator
    prior : {"jeffreys", "uniform", "paper"} or float
        How many examples it adds to every cell: 1/2, 1, 1, or a number of one's own.

    Returns
    -------
    ndarray, shape (draw, ..., class, class)

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> drawn = draw_matrices([[60, 12], [9, 40]], draws=4000, rng=rng)
    >>> drawn.shape
    (4000, 2, 2)
    >>> drawn.mean(0).round(2).tolist()
    [[0.49, 0.1], [0.08, 0.33]]
    """
    matrices, added = checked_matrices(counts), checked_prior(prior)
    wanted = checked_chance(draws, rng, 1, "draws")
    return _drawn(matrices + added, wanted, rng)


def metric_interval(
    metric: str | Callable[[Floats], ArrayLike],
    counts: ArrayLike,
    *,
    rng: np.random.Generator,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
    draws: int = 4000,
    **settings: Any,
) -> CountIntervals:
    """Return intervals for any metric of confusion matrices, of any number of classes.

    The metric of `draws` draws from the posterior (`draw_matrices`), and their quantiles.
    Where a rate has a closed form (`f1_interval` and the others of two classes), that is
    faster and leaves nothing to chance.

    Parameters
    ----------
    metric : str or callable
        A name: accuracy, error, precision, recall, specificity, f1, f_beta, jaccard,
        balanced_accuracy, mcc, kappa, cost. Or a function of matrices, shape
        (..., class, class), that returns one number each; it is given probabilities, so
        that it must not depend on how many examples there are.
    counts : array_like, shape (..., class, class)
        Rows are true classes, columns what they were called.
    rng : numpy.random.Generator
    prior, confidence
        As in `f1_interval`. With K classes a prior adds K x K examples in all: with many
        classes and few examples, choose a small one.
    draws : int
        More leave less to chance: see ``monte_carlo_error`` of the answer.
    settings
        What the metric takes: ``beta=``, ``costs=``, ``average=`` (macro, micro,
        weighted), ``positive=`` (one class against the rest).

    Examples
    --------
    >>> counts, rng = [[60, 12], [9, 40]], np.random.default_rng(1)
    >>> print(metric_interval("mcc", counts, rng=rng))
    0.6442 [0.4837, 0.7571]
    >>> print(metric_interval("cost", counts, costs=[[0, 1], [10, 0]], rng=rng))
    0.843 [0.4705, 1.395]
    """
    matrices, added = checked_matrices(counts), checked_prior(prior)
    level = checked_confidence(confidence)
    wanted = checked_chance(draws, rng, _FEWEST, "draws")
    compute = _computing(metric, settings)
    shape, classes = matrices.shape[:-2], matrices.shape[-1]
    flat = matrices.reshape(-1, classes, classes)
    lower, upper, value = (np.empty(len(flat)) for _ in range(3))
    noise = 0.0
    for part in blocks(len(flat), max(NUMBERS // wanted, 1)):
        value[part] = _numbers(compute, flat[part])
        sample = _drawn_metric(compute, flat[part] + added, wanted, rng)
        lower[part], low_noise = _quantile(sample, (1 - level) / 2)
        upper[part], high_noise = _quantile(sample, (1 + level) / 2)
        noise = max(noise, low_noise, high_noise)
        del sample  # before the next ones are drawn
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
    return CountIntervals(
        lower=lower.reshape(shape)[()],
        upper=upper.reshape(shape)[()],
        value=value.reshape(shape)[()],
        estimand=f"{name} on all examples",
        guarantee=f"{guarantee(prior, added, level)}, from {wanted:,} draws",
        confidence=level,
        undefined=int((flat.sum((1, 2)) == 0).sum()),
        monte_carlo_error=noise,
    )


def _drawn(alpha: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return Dirichlet draws over the last two axes, shape (draw, ...)."""
    gammas = rng.standard_gamma(alpha, size=(draws, *alpha.shape))
    total = gammas.sum((-2, -1), keepdims=True)
    if not total.all():
        # With hardly anything in any cell all gammas may be too small to be written:
        # then all probability is in one cell, in each as often as it has a share.
        empty = total[..., 0, 0] == 0
        chances = (alpha / alpha.sum((-2, -1), keepdims=True)).reshape(
            *alpha.shape[:-2], -1
        )
        edges = np.broadcast_to(chances.cumsum(-1), (*empty.shape, chances.shape[-1]))
        place = (rng.random((empty.sum(), 1)) > edges[empty]).sum(-1)
        only = np.zeros((empty.sum(), chances.shape[-1]))
        only[np.arange(len(only)), np.minimum(place, chances.shape[-1] - 1)] = 1.0
        gammas[empty] = only.reshape(-1, *alpha.shape[-2:])
        total = gammas.sum((-2, -1), keepdims=True)
    gammas /= total
    return np.asarray(gammas)


def _drawn_metric(
    compute: Callable[[Floats], ArrayLike],
    alpha: Floats,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the metric of draws, shape (draw, matrix), in order for each matrix."""
    values = np.empty((draws, len(alpha)))
    # In turn, so that matrices of many classes fit into memory.
    for part in blocks(draws, max(NUMBERS // alpha.size, 1)):
        matrices = _drawn(alpha, part.stop - part.start, rng)
        values[part] = _numbers(compute, matrices)
    values.sort(axis=0)
    return values


def _quantile(ordered: Floats, p: float) -> tuple[Floats, float]:
    """Return quantiles along the first axis, and the largest standard error of them.

    Between order statistics one standard error of the rank apart lie two of the quantile.
    """
    last = len(ordered) - 1
    place = p * last
    below = int(place)
    above = min(below + 1, last)
    part = place - below
    quantile = ordered[below] * (1 - part) + ordered[above] * part
    apart = np.sqrt(p * (1 - p) * len(ordered))
    first, final = max(int(place - apart), 0), min(int(np.ceil(place + apart)), last)
    noise = (ordered[final] - ordered[first]).max(initial=0.0) / 2
    return quantile, float(noise)


def _computing(
    metric: str | Callable[[Floats], ArrayLike], settings: dict[str, Any]
) -> Callable[[Floats], ArrayLike]:
    if isinstance(metric, str):
        return metric_of(metric, settings)
    if not callable(metric):
        raise bad_value("metric", metric, "Pass its name, or a function of matrices.")
    function: Callable[..., ArrayLike] = metric
    return lambda matrices: function(matrices, **settings)


def _numbers(compute: Callable[[Floats], ArrayLike], matrices: Floats) -> Floats:
    """Return one number for each matrix; refuse a metric that returns something else."""
    values = np.asarray(compute(matrices), dtype=np.float64)
    if values.shape != matrices.shape[:-2]:
        raise CurvewiseError(
            f"The metric made numbers of shape {values.shape} of matrices of shape "
            f"{matrices.shape}. Return one number for each matrix: sum over the last two "
            f"axes.",
            argument="metric",
        )
    return values


# --- Metrics of confusion matrices by name, with what they need ------------------------


METRICS: dict[str, Callable[..., Floats]] = {
    **metrics.FROM_COUNTS,
    "f_beta": metrics.f_beta,
    "cost": metrics.cost,
}


def metric_of(name: str, settings: dict[str, Any]) -> Callable[[Floats], Floats]:
    """Return the metric of that name, with its settings filled in."""
    if not isinstance(name, str) or name not in METRICS:
        raise unknown("metric", name, list(METRICS))
    needed = {"f_beta": "beta", "cost": "costs"}.get(name)
    if needed is not None and needed not in settings:
        raise CurvewiseError(
            f"'{name}' needs ",
            {needed: ...},
            ". Pass it with the metric's name.",
            argument=needed,
        )
    function = METRICS[name]
    strange = sorted(set(settings) - set(signature(function).parameters))
    if strange:
        raise CurvewiseError(
            f"'{name}' does not take {', '.join(strange)}. ",
            Keyword("average"),
            " and ",
            Keyword("positive"),
            " are for precision, recall, specificity, F1, F-beta and Jaccard.",
            argument=strange[0],
            value=settings[strange[0]],
        )
    return partial(function, **settings)
