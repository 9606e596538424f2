"""Confusion counts whose logits are what the caller says: for levels and power of tests."""

import numpy as np
from scipy.special import expit, ndtr, ndtri

from curvewise.stats.confusion.data import CountTable, Examples


def power_law(sizes, gamma=-0.5, level=(2.0, 1.5), fall=(2.0, 3.0)) -> np.ndarray:
    """Return logits, shape (size, class), that fall back by so much at the first size."""
    n = np.asarray(sizes, dtype=float)
    return np.array(level) - (n[:, None] / n[0]) ** gamma * np.array(fall)


def counts_of(
    curves: int,
    sizes: np.ndarray,
    logits: np.ndarray,
    rng: np.random.Generator,
    *,
    runs: int = 5,
    per_class: int = 150,
    correlation: float = 0.5,
    spread: float = 1.0,
    has_examples: bool = True,
) -> CountTable:
    """Return curves tested on one test set each, by all models of all sizes.

    Two models are right on one example with a correlation (of what decides it), and
    `spread` is the variance of recalls between training sets, in p (1 - p) / n; recalls of
    the two classes then move against each other.
    """
    k, classes = logits.shape
    luck = (
        rng.normal(size=(curves, k, runs, 1))
        * np.array([1.0, -1.0] * classes)[:classes]
    )
    p = (
        expit(logits)[:, None]
        + luck
        * np.sqrt(spread * expit(logits) * expit(-logits) / np.asarray(sizes)[:, None])[
            :, None
        ]
    )
    cut = ndtri(np.clip(p, 1e-6, 1 - 1e-6))[..., None]
    hard = rng.normal(size=(curves, 1, 1, classes, per_class))
    own = rng.normal(size=(curves, k, runs, classes, per_class))
    is_right = np.sqrt(correlation) * hard + np.sqrt(1 - correlation) * own < cut
    right = is_right.sum(-1).astype(float)
    counts = np.zeros((curves, k, classes, classes))
    total = right.sum(2)
    for c in range(classes):
        counts[..., c, c] = total[..., c]
        counts[..., c, (c + 1) % classes] = runs * per_class - total[..., c]
    recall = right / per_class
    away = recall - recall.mean(2, keepdims=True)
    pooled = recall.mean(2)
    examples: tuple[Examples | None, ...] = (None,) * curves
    if has_examples:
        truth = np.repeat(np.arange(classes), per_class)
        by_example = is_right.sum(2).reshape(curves, k, -1)
        asked = np.full((k, len(truth)), runs)
        examples = tuple(Examples(truth, one, asked) for one in by_example)
    return CountTable(
        np.broadcast_to(np.asarray(sizes, dtype=float), (curves, k)).copy(),
        counts,
        np.full((curves, k), float(runs)),
        np.einsum("bkfc,bkfd->bkcd", away, away) / max(runs - 1, 1),
        pooled * (1 - pooled) / per_class,
        np.ones(curves, dtype=bool),
        examples,
    )


def right_with_correlation(correlation: float, p: float) -> float:
    """Return the correlation of being right that a correlation of what decides it gives."""
    from scipy.stats import multivariate_normal

    both = multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    cut = ndtri(p)
    return float((both.cdf([cut, cut]) - ndtr(cut) ** 2) / (p * (1 - p)))


def kinds(fit, *sizes):
    """Return the kinds of concerns of the curves of a fit, with their values."""
    return {own.kind: own.value for own in fit.concerns_at(np.array(sizes))}
