"""How noisy counts along a curve are, and how what is noisy goes together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curvewise.stats.confusion.data import CountTable, Examples
from curvewise.stats.validation import Floats

# Of what two models get right on one example, where nobody kept which examples.
ASSUMED_CORRELATION = 0.6
# Variance of a recall between training sets of N examples, in p (1 - p) / N, and how
# recalls of two classes go together; worth as many runs as this where runs tell.
_TYPICAL_SPREAD, _TYPICAL_CORRELATION, _TYPICAL_RUNS = 1.5, -0.6, 2.0
# Training sets of different sizes may be cut from one sample. How much of their luck they
# then share is not in the counts: the worse of nothing and this is assumed.
SHARED_TRAINING = 0.75
_LEAST_SPREAD = 0.05  # of the typical one, in any direction
# Pairs of answers on one example that outweigh the mean over all pairs of sizes.
_MANY_PAIRS = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    r"""What makes counts differ from their mean.

    Parameters
    ----------
    rates : ndarray, shape (curve, size, class)
        Recalls as they were seen, held off 0 and 1.
    testing : ndarray, shape (curve, class, size, size)
        Covariance over sizes of right answers, from the examples tested on.
    alone : ndarray, shape (curve, class, size)
        Their variance if every answer were on an example of its own.
    omega : ndarray, shape (curve, class, class)
        Covariance of the recalls between training sets of N examples, in units of the
        root of p (1 - p) of both classes, over N.
    freedom, certainty : ndarray, shape (curve,)
        Degrees of freedom between runs that `omega` was estimated with, and how many of
        them would tell as much if test sets were endless.
    pairs, correlation : ndarray, shape (curve, class, size, size)
        How often two models of these sizes answered one example, and the correlation of
        their being right.
    is_blind : ndarray of bool, shape (curve,)
        For which curves nobody kept which examples were answered rightly, so that all of
        this is assumed.
    """

    rates: Floats
    testing: Floats
    alone: Floats
    omega: Floats
    freedom: Floats
    certainty: Floats
    pairs: Floats
    correlation: Floats
    is_blind: NDArray[np.bool_]

    def rho_at(self, table: CountTable, sizes: Floats) -> Floats:
        """Return the correlation of two models of a size, shape (curve, asked, class).

        It rises with size. The smaller of two models decides it, so pairs of which the
        smaller one is near the size that is asked for weigh more.
        """
        smaller = np.log2(np.minimum(table.sizes[:, None], table.sizes[..., None]))
        away = np.abs(smaller[:, None] - np.log2(sizes)[:, None, None])
        near = np.exp2(-2 * away)[:, :, None]
        weight = (self.pairs[:, None] + 1e-6) * near
        rho = (weight * self.correlation[:, None]).sum((3, 4))
        return np.asarray(rho / np.maximum(weight.sum((3, 4)), 1e-300))


def noise_of(table: CountTable) -> Noise:
    """Return the noise of every curve: from examples where there are any."""
    rates = (table.right + 0.5) / (table.total + 1.0)
    is_blind = np.array([own is None for own in table.examples])
    pairs, products = _pairs(table)
    correlation = _correlation(pairs, products, ~is_blind)
    shape = (rates * (1 - rates)).swapaxes(1, 2)
    both = np.sqrt(shape[..., None, :] * shape[..., None])
    testing = pairs * correlation * both
    size = np.arange(table.sizes.shape[1])
    alone = shape * table.total.swapaxes(1, 2)
    testing[..., size, size] += alone
    within = pairs * correlation
    within = np.diagonal(within, axis1=-2, axis2=-1).swapaxes(1, 2)
    omega, freedom, certainty = _omega(table, rates, within)
    return Noise(
        rates, testing, alone, omega, freedom, certainty, pairs, correlation, is_blind
    )


def is_one_test_set(table: CountTable) -> NDArray[np.bool_]:
    """Return which curves look as if all of their models met one test set."""
    size = table.test_size
    largest = size.max(-1, keepdims=True)
    is_there = table.runs > 0
    return np.asarray((is_there & (size > 0.99 * largest) | ~is_there).all(-1))


def _pairs(table: CountTable) -> tuple[Floats, Floats]:
    """Return pairs of answers on one example, and their standardised products.

    Both of shape (curve, class, size, size). Pairs of one size are of different models.
    """
    curves, sizes, classes = table.right.shape
    # Where nobody kept examples: as if the tests of any two sizes were of the same ones.
    # Of one size they are, if all tests are of as many examples; else a run has its own.
    total = table.total.swapaxes(1, 2)
    is_same = is_one_test_set(table)[:, None, None]
    runs = np.where(is_same, np.maximum(table.runs, 1.0)[:, None], 1.0)
    pairs = np.sqrt((total * runs)[..., None, :] * (total * runs)[..., None])
    each = np.arange(sizes)
    pairs[..., each, each] = total * (runs - 1)
    products = np.zeros((curves, classes, sizes, sizes))
    for i, own in enumerate(table.examples):
        if own is not None:
            known = slice(0, own.right.shape[0])
            found = _of_examples(own, table.shares[i])
            pairs[i], products[i] = 0.0, 0.0
            pairs[i, :, known, known], products[i, :, known, known] = found
    return pairs, products


def _of_examples(own: Examples, shares: Floats) -> tuple[Floats, Floats]:
    """Return pairs and products of one curve, both of shape (class, size, size)."""
    right = np.asarray(own.right, dtype=np.float64)
    asked = np.asarray(own.asked, dtype=np.float64)
    if own.truth is None:  # every class has its share of what all of them show
        pairs, products = _of_class(right, asked)
        return shares[:, None, None] * pairs, shares[:, None, None] * products
    each = [own.truth == c for c in range(len(shares))]
    found = [_of_class(right[:, is_own], asked[:, is_own]) for is_own in each]
    return np.array([pairs for pairs, _ in found]), np.array(
        [both for _, both in found]
    )


def _of_class(right: Floats, asked: Floats) -> tuple[Floats, Floats]:
    rate = ((right.sum(1) + 0.5) / (asked.sum(1) + 1.0))[:, None]
    shape = rate * (1 - rate)
    away = (right - asked * rate) / np.sqrt(shape)
    pairs, products = asked @ asked.T, away @ away.T
    # A model with itself is no pair: what is left of squares is of different models.
    itself = (right * (1 - rate) ** 2 + (asked - right) * rate**2) / shape
    each = np.arange(len(right))
    pairs[each, each] -= asked.sum(1)
    products[each, each] -= itself.sum(1)
    return pairs, products


def _correlation(pairs: Floats, products: Floats, is_told: NDArray[np.bool_]) -> Floats:
    """Return correlations of being right, drawn to wider means where pairs are few.

    From pairs of sizes to all sizes of a class, from there to all classes, from there to
    what is assumed.
    """
    told = np.where(is_told[:, None, None, None], pairs, 0.0)
    mean = np.full((len(pairs), 1, 1, 1), ASSUMED_CORRELATION)
    for axes in ((1, 2, 3), (2, 3), ()):
        known = products.sum(axes, keepdims=True) if axes else products
        count = told.sum(axes, keepdims=True) if axes else told
        mean = np.clip((known + _MANY_PAIRS * mean) / (count + _MANY_PAIRS), 0.0, 0.99)
    return np.asarray(mean)


def _omega(
    table: CountTable, rates: Floats, within: Floats
) -> tuple[Floats, Floats, Floats]:
    r"""Return how recalls vary between training sets, in units of p (1 - p) / N.

    .. math:: \hat\omega = \frac{\sum_k w_k N_k (S_k - B_k) / s_k s_k'}{\sum_k w_k}

    with S the covariance between runs, B its part from finite test sets, s the root of
    p (1 - p), and w the degrees of freedom over the square of what is expected; and with a
    typical :math:`\omega` as if it were some more runs. `within` (curve, size, class) are
    pairs of answers of different runs on one example, times their correlation.
    """
    root = np.sqrt(rates * (1 - rates))
    freedom = np.maximum(table.runs - 1, 0)
    is_known = ~np.isnan(table.spread).any((2, 3)) & (freedom > 0)
    freedom = np.where(is_known, freedom, 0.0)
    # Runs tested on the same examples share their luck: less of it lies between them.
    possible = table.total * np.maximum(table.runs - 1, 1)[..., None]
    shared = np.clip(within / np.maximum(possible, 1e-9), 0.0, 1.0)
    sampling = np.where(is_known[..., None], table.sampling, 0.0) * (1 - shared)
    between = np.where(is_known[..., None, None], table.spread, 0.0)
    between = between - sampling[..., None] * np.eye(table.classes)
    n = table.sizes
    between *= n[..., None, None] / (root[..., None] * root[..., None, :])
    expected = (n[..., None] * sampling / root**2).mean(-1) + _TYPICAL_SPREAD
    expected /= _TYPICAL_SPREAD
    weight = freedom / expected**2
    best = np.where(weight > 0, expected, np.inf).min(1)
    prior = _TYPICAL_RUNS / np.where(np.isfinite(best), best, 1.0) ** 2
    usual = np.full(between.shape[2:], _TYPICAL_CORRELATION / (table.classes - 1))
    np.fill_diagonal(usual, 1.0)
    found = (weight[..., None, None] * between).sum(1)
    found += prior[:, None, None] * _TYPICAL_SPREAD * usual
    value, vector = np.linalg.eigh(found / (weight.sum(1) + prior)[:, None, None])
    value = np.maximum(value, _LEAST_SPREAD * _TYPICAL_SPREAD)
    omega = (vector * value[:, None, :]) @ vector.swapaxes(1, 2)
    return np.asarray(omega), freedom.sum(1), weight.sum(1)


# --- Noise of count curves whose shape is free: of runs, of models, of test sets -------
#
# Noise of rates is told in angles, arcsin(sqrt(rate)): there one answer has variance 1/4,
# whatever the rate, and rates next to 0 or 1 do not blow up.


# What a test set adds is to this part common to all models: hard examples stay hard.
COMMON = 0.6
# Variance of a recall between models, in p (1 - p) / n after n training examples: the
# median of real curves, at all sizes alike. Counts as much as so many runs.
BETWEEN_MODELS, PRIOR_RUNS, PRIOR_MODELS = 2.0, 6.0, 2.0
_LEAST_MODELS = 0.05  # of what is usual
LEAST = 0.5  # answers that a rate is held away from 0 and 1, for its variance


def logit_variance(table: CountTable) -> Floats:
    """Return the variance of the logit of a recall between runs, (curve, size, class).

    What was seen between R runs and what is usual, p (1 - p) (1/m + 2/n) of m examples
    tested and n trained on, weighed R - 1 to 6.
    """
    each, rate = per_run(table), _rate(table)
    usual = 1 / np.where(each > 0, each, 1.0) + BETWEEN_MODELS / table.sizes[..., None]
    usual = rate * (1 - rate) * usual
    seen = np.diagonal(table.spread, axis1=-2, axis2=-1)
    known = np.isfinite(seen) & (table.runs[..., None] > 1)
    freedom = np.where(known, table.runs[..., None] - 1, 0.0)
    weight = freedom / (freedom + PRIOR_RUNS)
    between = weight * np.where(known, seen, 0.0) + (1 - weight) * usual
    return np.asarray(between / (rate * (1 - rate)) ** 2)


def per_run(table: CountTable) -> Floats:
    """Return test examples of a class per run, shape (curve, size, class)."""
    return np.asarray(table.total / np.maximum(table.runs, 1.0)[..., None])


def is_shared(table: CountTable) -> NDArray[np.bool_]:
    """Return which curves may have been tested on the same examples by every run."""
    each = per_run(table)
    there = (table.runs > 0)[..., None]
    high = np.where(there, each, -np.inf).max(1)
    low = np.where(there, each, np.inf).min(1)
    return np.asarray(table.is_fixed & (high == low).all(-1))


def examples_tested(table: CountTable) -> Floats:
    """Return how many different examples of a class tests held, shape (curve, class).

    Where nobody says: those of one run, if all runs may have had the same; those of all
    runs of a size, if test sets differ.
    """
    each = per_run(table).max(1)
    every = table.total.max(1)
    out = np.where(is_shared(table)[:, None], each, every)
    for i, own in enumerate(table.examples):
        if own is not None:
            out[i] = (own.asked.sum(0) > 0) @ own.membership(table.shares[i])
    return np.asarray(np.maximum(out, 1.0))


def of_models(table: CountTable, sizes: Floats) -> Floats:
    r"""Return the variance between models on all examples, in angles, at sizes.

    :math:`\Omega / n`, with :math:`\Omega` the mean near each size of what was seen there:
    n times the variance between runs, less its part from finite test sets. Of a test set
    that all runs share, only what is not common to them lies between runs.
    """
    seen = np.diagonal(table.spread, axis1=-2, axis2=-1)
    between = seen - own_share(table)[:, None, None] * table.sampling
    known = np.isfinite(between) & (table.runs[..., None] > 1)
    freedom = np.where(known, table.runs[..., None] - 1, 0.0)
    rate = _rate(table)
    angle = np.where(known, between, 0.0) / (4 * rate * (1 - rate))
    weight = nearness(table, sizes)[:, :, None] * freedom[..., None]
    total = (weight * (angle * table.sizes[..., None])[..., None]).sum(1)
    total = (total + PRIOR_MODELS * BETWEEN_MODELS / 4) / (weight.sum(1) + PRIOR_MODELS)
    return np.asarray(np.maximum(total, _LEAST_MODELS * BETWEEN_MODELS / 4) / sizes)


def own_share(table: CountTable) -> Floats:
    """Return how much of what a test set adds is of each run alone, shape (curve,)."""
    return np.where(is_shared(table), 1 - COMMON, 1.0)


def nearness(table: CountTable, sizes: Floats) -> Floats:
    """Return weights (curve, size, asked): 1 for the nearest, half for an octave more."""
    there = (table.runs > 0)[..., None]
    seen = np.log2(np.where(table.runs > 0, table.sizes, 1.0))
    # Sizes without end are nearest to the last.
    away = np.abs(seen[:, :, None] - np.minimum(np.log2(sizes), 1e3))
    away = away - np.where(there, away, np.inf).min(1, keepdims=True)
    return np.asarray(np.where(there, 2.0 ** -np.maximum(away, 0.0), 0.0))


def held_near(table: CountTable, sizes: Floats) -> Floats:
    """Return test examples of a class per run near sizes, (curve, class, asked)."""
    weight = nearness(table, sizes)[:, :, None] * (table.total > 0)[..., None]
    total = (weight * per_run(table)[..., None]).sum(1)
    return np.asarray(np.maximum(total / np.maximum(weight.sum(1), 1e-300), 1.0))


def _rate(table: CountTable) -> Floats:
    """Return recalls as seen, a little away from 0 and 1."""
    runs = np.maximum(table.runs, 1.0)[..., None]
    return np.asarray((table.right / runs + LEAST) / (per_run(table) + 2 * LEAST))
