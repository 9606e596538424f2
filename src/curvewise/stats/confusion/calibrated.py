"""Power laws on logits whose bands hold: noise as it is, exponents weighed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, fdtrc, gammaincinv, ndtri

from curvewise.stats.confusion.data import (
    Concern,
    ConcernKind,
    CountTable,
    Examples,
    few_answers,
    subset,
)
from curvewise.stats.confusion.draws import CELLS, Asked
from curvewise.stats.confusion.logistic import Basis, Logistic, fit_logistic
from curvewise.stats.validation import Floats

# --- How noisy counts along a curve are, and how what is noisy goes together -----------


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
    """What makes counts of each curve differ from their mean."""

    rates: Floats  # (curve, size, class): recalls as seen, held off 0 and 1
    # Over sizes, of right answers: their covariance from the examples tested on, and their
    # variance if every answer were on an example of its own.
    testing: Floats  # (curve, class, size, size)
    alone: Floats  # (curve, class, size)
    # Covariance of recalls between training sets of N examples, in units of the root of
    # p (1 - p) of both classes, over N.
    omega: Floats  # (curve, class, class)
    # Degrees of freedom between runs that omega was estimated with, and how many of them
    # would tell as much if test sets were endless.
    freedom: Floats
    certainty: Floats
    # How often two models of these sizes answered one example, and the correlation of
    # their being right.
    pairs: Floats  # (curve, class, size, size)
    correlation: Floats
    # Where nobody kept which examples were answered rightly, all of this is assumed.
    is_blind: NDArray[np.bool_]  # (curve,)

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


def _noise_of(table: CountTable) -> Noise:
    """Return the noise of every curve: from examples where there are any."""
    rates = (table.right + 0.5) / (table.total + 1.0)
    is_blind = np.array([examples is None for examples in table.examples])
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
        rates=rates,
        testing=testing,
        alone=alone,
        omega=omega,
        freedom=freedom,
        certainty=certainty,
        pairs=pairs,
        correlation=correlation,
        is_blind=is_blind,
    )


def _is_one_test_set(table: CountTable) -> NDArray[np.bool_]:
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
    is_same = _is_one_test_set(table)[:, None, None]
    runs = np.where(is_same, np.maximum(table.runs, 1.0)[:, None], 1.0)
    pairs = np.sqrt((total * runs)[..., None, :] * (total * runs)[..., None])
    each = np.arange(sizes)
    pairs[..., each, each] = total * (runs - 1)
    products = np.zeros((curves, classes, sizes, sizes))
    for i, examples in enumerate(table.examples):
        if examples is not None:
            rows = slice(0, examples.right.shape[0])
            known_pairs = _of_examples(examples, table.shares[i])
            pairs[i], products[i] = 0.0, 0.0
            pairs[i, :, rows, rows], products[i, :, rows, rows] = known_pairs
    return pairs, products


def _of_examples(examples: Examples, shares: Floats) -> tuple[Floats, Floats]:
    """Return pairs and products of one curve, both of shape (class, size, size)."""
    right = np.asarray(examples.right, dtype=np.float64)
    tries = np.asarray(examples.asked, dtype=np.float64)
    if examples.truth is None:  # every class has its share of what all of them show
        pairs, products = _of_class(right, tries)
        return shares[:, None, None] * pairs, shares[:, None, None] * products
    each = [examples.truth == c for c in range(len(shares))]
    # (class, pairs or products, size, size)
    by_class = np.array([_of_class(right[:, mask], tries[:, mask]) for mask in each])
    return by_class[:, 0], by_class[:, 1]


def _of_class(right: Floats, tries: Floats) -> tuple[Floats, Floats]:
    rate = ((right.sum(1) + 0.5) / (tries.sum(1) + 1.0))[:, None]
    shape = rate * (1 - rate)
    away = (right - tries * rate) / np.sqrt(shape)
    pairs, products = tries @ tries.T, away @ away.T
    # A model with itself is no pair: what is left of squares is of different models.
    itself = (right * (1 - rate) ** 2 + (tries - right) * rate**2) / shape
    each = np.arange(len(right))
    pairs[each, each] -= tries.sum(1)
    products[each, each] -= itself.sum(1)
    return pairs, products


def _correlation(pairs: Floats, products: Floats, is_told: NDArray[np.bool_]) -> Floats:
    """Return correlations of being right, drawn to wider means where pairs are few.

    From pairs of sizes to all sizes of a class, from there to all classes, from there to
    what is assumed.
    """
    known_pairs = np.where(is_told[:, None, None, None], pairs, 0.0)
    mean = np.full((len(pairs), 1, 1, 1), ASSUMED_CORRELATION)
    for axes in ((1, 2, 3), (2, 3), ()):
        total = products.sum(axes, keepdims=True) if axes else products
        count = known_pairs.sum(axes, keepdims=True) if axes else known_pairs
        mean = np.clip((total + _MANY_PAIRS * mean) / (count + _MANY_PAIRS), 0.0, 0.99)
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
    pooled = (weight[..., None, None] * between).sum(1)
    pooled += prior[:, None, None] * _TYPICAL_SPREAD * usual
    value, vector = np.linalg.eigh(pooled / (weight.sum(1) + prior)[:, None, None])
    value = np.maximum(value, _LEAST_SPREAD * _TYPICAL_SPREAD)
    omega = (vector * value[:, None, :]) @ vector.swapaxes(1, 2)
    return np.asarray(omega), freedom.sum(1), weight.sum(1)


# --- What each exponent of a power law weighs, given counts that are not independent ---


GAMMAS = np.arange(-30, 21) / 20
# The prior, exp(-3 |g + 1/2|): theory's exponent, with a mean distance of a third. It is
# not multiplied with the data, as a penalty of the paper's kind on one validation set is:
# where counts say more, it says nothing.
TAU, THEORY = 3.0, -0.5
# An exponent known better than this many steps asks for a finer grid; so many times.
_SHARP, _ROUNDS = 1.2, 3
_REACH = 6.0  # standard deviations


@dataclass(frozen=True, slots=True, eq=False)
class Exponents:
    """Fits of every exponent on a grid, and their weights."""

    logistic: Logistic
    weights: Floats  # (curve, gamma); they sum to 1
    # How many answers tell as much about the exponent as one independent one, (curve,).
    inflation: Floats

    @property
    def gammas(self) -> Floats:
        """The exponents, shape (curve, gamma)."""
        return self.logistic.basis.gammas

    @property
    def best(self) -> NDArray[np.int64]:
        """Which exponent weighs most, shape (curve,)."""
        return np.asarray(self.weights.argmax(-1))

    def chosen(self, u: Floats) -> NDArray[np.int64]:
        """Return which exponent each draw takes, shape (curve, draw).

        The smallest one whose cumulated weight exceeds u.
        """
        upto = np.minimum(np.cumsum(self.weights, axis=-1)[:, :-1], 1.0)
        order = np.argsort(u, kind="stable")
        # All curves share u: how many draws lie below each step is one search.
        edge = np.searchsorted(u[order], upto)
        steps = np.zeros((len(upto), len(u) + 1), dtype=np.int64)
        np.add.at(steps, (np.arange(len(upto))[:, None], edge), 1)
        out = np.empty((len(upto), len(u)), dtype=np.int64)
        out[:, order] = np.cumsum(steps, axis=-1)[:, :-1]
        return out


def _weigh_exponents(table: CountTable, noise: Noise) -> Exponents:
    r"""Return fits of exponents from -1.5 to 1 and what each weighs.

    .. math:: w(\gamma) \propto \exp\{L(\gamma) / \lambda - 3 |\gamma + 1/2|\}

    L is the likelihood as if answers were independent, and :math:`\lambda` what it
    exaggerates: the variance of its slope in :math:`\gamma` over what that would be. With
    data by which an exponent is known better than the grid is fine, the grid is refined
    around it.

    References
    ----------
    .. [1] C. Varin, N. Reid, D. Firth. "An overview of composite likelihood methods."
       Statistica Sinica 2011. Section 2.3.
    """
    gammas = np.broadcast_to(GAMMAS, (len(table), len(GAMMAS)))
    logistic = _fitted(table, gammas)
    inflation = np.ones(len(table))
    for _ in range(2):
        # The slope is looked at where the weights end up.
        exponents = Exponents(logistic, _weights(logistic, inflation), inflation)
        inflation = _inflation(table, noise, exponents)
    exponents = Exponents(logistic, _weights(logistic, inflation), inflation)
    for _ in range(_ROUNDS):
        mean = (exponents.weights * exponents.gammas).sum(-1)
        away = (exponents.gammas - mean[:, None]) ** 2
        sd = np.sqrt((exponents.weights * away).sum(-1))
        step = exponents.gammas[:, 1] - exponents.gammas[:, 0]
        sharp = np.flatnonzero(sd < _SHARP * step)
        if len(sharp) == 0:
            break
        exponents = _refined(
            table, exponents, sharp, mean[sharp], np.maximum(sd, step / 2)[sharp]
        )
    return exponents


def _fitted(table: CountTable, gammas: Floats) -> Logistic:
    return fit_logistic(table.sizes, table.right, table.total, gammas, is_firth=True)


def _weights(logistic: Logistic, inflation: Floats) -> Floats:
    log = logistic.log_likelihood / inflation[:, None]
    log = log - TAU * np.abs(logistic.basis.gammas - THEORY)
    weight = np.exp(log - log.max(-1, keepdims=True))
    return np.asarray(weight / weight.sum(-1, keepdims=True))


def _refined(
    table: CountTable,
    exponents: Exponents,
    sharp: NDArray[np.int64],
    mean: Floats,
    sd: Floats,
) -> Exponents:
    """Return exponents with a finer grid for those curves that are known so well."""
    low = np.maximum(mean - _REACH * sd, GAMMAS[0])
    high = np.minimum(mean + _REACH * sd, GAMMAS[-1])
    fine = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, len(GAMMAS))
    part = _fitted(subset(table, sharp), fine)
    old, new = exponents.logistic, part.basis
    basis = Basis(
        _with(old.basis.gammas, sharp, new.gammas),
        old.basis.middle,
        _with(old.basis.mean, sharp, new.mean),
        _with(old.basis.scale, sharp, new.scale),
    )
    logistic = Logistic(
        basis,
        _with(old.theta, sharp, part.theta),
        _with(old.log_likelihood, sharp, part.log_likelihood),
        _with(old.inverse, sharp, part.inverse),
    )
    weights = _weights(logistic, exponents.inflation)
    return replace(exponents, logistic=logistic, weights=weights)


def _with(array: Floats, rows: NDArray[np.int64], values: Floats) -> Floats:
    out = np.array(array)
    out[rows] = values
    return out


def _inflation(table: CountTable, noise: Noise, exponents: Exponents) -> Floats:
    """Return by how much the likelihood exaggerates what is known of the exponent.

    At least 1: correlated noise of sizes cancels where they are compared, but how much
    does is itself estimated.
    """
    curves, best = np.arange(len(table)), exponents.best
    logistic = exponents.logistic
    x = logistic.basis(table.sizes)
    last = x.shape[1] - 1
    at = x[curves, best][..., None]
    # How the clock moves with the exponent; what level and slope can do is no news.
    moved = x[curves, np.minimum(best + 1, last)] - x[curves, np.maximum(best - 1, 0)]
    way = moved[..., None] * logistic.theta[curves, best, :, 1][:, None]
    rate = expit(logistic.logits(table.sizes)[curves, best])
    weight = table.total * np.maximum(rate * (1 - rate), 1e-12)
    a, b, c = weight.sum(1), (weight * at).sum(1), (weight * at**2).sum(1)
    u, v = (weight * way).sum(1), (weight * way * at).sum(1)
    by = np.maximum(a * c - b * b, 1e-12 * a * c + 1e-290)
    level, slope = (c * u - b * v) / by, (a * v - b * u) / by
    way = way - level[:, None] - slope[:, None] * at
    claimed = (weight * way**2).sum((1, 2))
    across = way.swapaxes(1, 2)[..., None]
    tested = (across * (noise.testing @ across)).sum((1, 2, 3))
    apart = (across[..., 0] ** 2 * noise.alone).sum((1, 2))
    tested = np.where(noise.is_blind, np.maximum(tested, apart), tested)
    scale = table.total * np.sqrt(noise.rates * (1 - noise.rates))
    scale = scale / np.sqrt(table.sizes * np.maximum(table.runs, 1.0))[..., None]
    trained = np.einsum("bkc,bcd,bkd->b", way * scale, noise.omega, way * scale)
    is_seen = claimed > 1e-12
    ratio = (tested + trained) / np.where(is_seen, claimed, 1.0)
    return np.clip(np.where(is_seen, ratio, 1.0), 1.0, 100.0)


# --- Curves that have both -------------------------------------------------------------


# Degrees of freedom that knowing what is typical is worth.
_PRIOR_FREEDOM = 6.0
# What is a concern: a p value, a weight of exponents above 0, sizes, times the largest
# size, runs beyond the first of each size.
_UNLIKELY, _RISING, _FEW_SIZES, _FAR, _FEW_FREEDOM = 0.05, 0.25, 4, 4.0, 4


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedFit:
    r"""Power laws on the logits of recalls, weighed over their exponent.

    .. math:: \operatorname{logit} \Pi_c(n) = \alpha_c + \eta_c n^\gamma

    one :math:`\gamma` for all classes. The band is a mixture over :math:`\gamma`. Within
    each, logits are normal, with the covariance that counts really have: one example is
    answered by models of several sizes, and one training set moves all classes.
    """

    table: CountTable
    noise: Noise
    exponents: Exponents

    @property
    def gamma(self) -> Floats:
        """The mean exponent of each curve."""
        return np.asarray((self.exponents.weights * self.exponents.gammas).sum(-1))

    def concerns_at(self, sizes: Floats) -> Iterator[Concern]:
        """Yield what may be wrong with each curve, the most serious first."""
        table, p = self.table, lack_of_fit(self)
        rising = (self.exponents.weights * (self.exponents.gammas > 0)).sum(-1)
        times = np.max(sizes, initial=0.0) / table.largest
        count, is_one = (table.runs > 0).sum(1), _is_one_test_set(table)
        for i in range(len(table)):
            if p[i] < _UNLIKELY:
                yield Concern("lack_of_fit", float(p[i]), curve=i)
            if rising[i] >= _RISING:
                yield Concern("rising_exponent", float(rising[i]), curve=i)
            if count[i] < _FEW_SIZES:
                yield Concern("few_sizes", float(count[i]), curve=i)
            if times[i] > _FAR:
                yield Concern("far", float(times[i]), curve=i)
            yield from few_answers(table, i)
            if self.noise.is_blind[i]:
                kind: ConcernKind = (
                    "assumed_test_set" if is_one[i] else "assumed_test_sets"
                )
                yield Concern(kind, curve=i)
            if self.noise.freedom[i] < _FEW_FREEDOM:
                yield Concern("assumed_training", float(self.noise.freedom[i]), curve=i)
            if table.classes > 2:
                yield Concern("many_classes", table.classes, curve=i)

    def recalls(self, sizes: Floats) -> Floats:
        """Return the recall of each class, shape (curve, asked, class)."""
        logits = self.exponents.logistic.logits(self._for_all(sizes))
        mean = np.einsum("bg,bgqc->bqc", self.exponents.weights, logits)
        return np.asarray(expit(mean))

    def covariance(self, sizes: Floats) -> Floats:
        r"""Return that of the logits, shape (curve, gamma, asked, class, class).

        .. math:: \sum_{kl} I_{ck} I_{cl} C^c_{kl} [c = d]
            + \omega_{cd} \sum_{kl} a_{ck} a_{dl} r_{kl},
            \quad a_{ck} = I_{ck} n_{ck} s_{ck} / \sqrt{N_k F_k}

        with I the influence of right answers, C their covariance from test examples, s the
        root of p (1 - p), F runs. Training sets of two sizes share all of their luck, or
        none (r), whichever is worse.
        """
        pull = self.exponents.logistic.influence(self._for_all(sizes), self.table.sizes)
        tested = self._tested(pull)
        rates = self.noise.rates
        scale = self.table.total * np.sqrt(rates * (1 - rates))
        scale /= np.sqrt(self.table.sizes * np.maximum(self.table.runs, 1.0))[..., None]
        moved = np.moveaxis(pull * scale.swapaxes(1, 2)[:, None, :, None], 2, 3)
        apart = moved @ moved.swapaxes(-1, -2)
        added = moved.sum(-1)
        same = added[..., None] * added[..., None, :]
        shared = (1 - SHARED_TRAINING) * apart + SHARED_TRAINING * same
        omega = self.noise.omega[:, None, None]
        out = _wider(apart * omega, shared * omega)
        each = np.arange(self.table.classes)
        out[..., each, each] += np.maximum(tested, 1e-12)
        return np.asarray(out)

    def draw(self, asked: Asked, points: Floats) -> Floats:
        """Return draws of the recalls, shape (draw, curve, asked, class).

        Of `points`, column 0 picks the exponent, 2 to 2 + C move the logits, the rest are
        the luck of training sets and of the test set, column 1 how large it is.
        """
        curves, classes = len(self.table), self.table.classes
        logits = self.exponents.logistic.logits(self._for_all(asked.sizes))
        root = np.linalg.cholesky(self.covariance(asked.sizes))
        chosen = self.exponents.chosen(points[:, 0])
        z = ndtri(points[:, 2 : 2 + classes])
        out = np.empty((len(points), curves, len(asked.sizes), classes))
        step = max(1, CELLS // max(out[:, :1].size * classes, 1))
        for begin in range(0, curves, step):
            block = slice(begin, begin + step)
            pick = (np.arange(curves)[block, None], chosen[block])
            moved = np.einsum("bsqcd,sd->sbqc", root[pick], z)
            out[:, block] = expit(logits[pick].swapaxes(0, 1) + moved)
        if asked.target == "mean":
            return out
        z = ndtri(points[:, 2 + classes :])
        return self._with_luck(out, asked, z, points[:, 1])

    def _tested(self, pull: Floats) -> Floats:
        """Return variances of logits from test examples, (curve, gamma, asked, class)."""
        testing = self.noise.testing[:, None]
        variance = ((pull @ testing) * pull).sum(-1)
        if self.noise.is_blind.any():
            # Nobody knows whether models were tested on the same examples: the worse.
            apart = (pull**2 * self.noise.alone[:, None, :, None]).sum(-1)
            is_blind = self.noise.is_blind[:, None, None, None]
            variance = np.where(is_blind, np.maximum(variance, apart), variance)
        return np.asarray(variance.swapaxes(2, 3))

    def _with_luck(
        self, recalls: Floats, question: Asked, z: Floats, scale: Floats
    ) -> Floats:
        """Return recalls of models of finitely many training sets, on a finite test set.

        Noise is added to arcsin(sqrt(p)), where binomial noise of n answers has variance
        1 / 4n whatever p is: no draw leaves [0, 1].
        """
        each = np.arange(self.table.classes)
        luck = self.noise.omega[:, None] / (
            4 * np.asarray(question.sizes)[:, None, None]
        )
        if question.target == "observed":
            luck = luck / question.runs[..., None, None]
            rho = self.noise.rho_at(self.table, question.sizes)
            share = rho + (1 - rho) / question.runs[..., None]
            tested = question.test_size[..., None] * self.table.shares[:, None]
            luck[..., each, each] += share / (4 * np.maximum(tested, 1.0))
        moved = np.einsum("bqcd,sd->sbqc", np.linalg.cholesky(luck), z)
        if question.target == "model":
            # How much models differ is estimated: a t distribution, not a normal one.
            freedom = self.noise.certainty + _PRIOR_FREEDOM
            square = 2 * gammaincinv(freedom / 2, scale[:, None]) / freedom
            moved /= np.sqrt(square)[..., None, None]
        angle = np.arcsin(np.sqrt(recalls)) + moved
        return np.asarray(np.sin(np.clip(angle, 0.0, np.pi / 2)) ** 2)

    def _for_all(self, sizes: Floats) -> Floats:
        n = np.asarray(sizes, dtype=np.float64)
        return np.broadcast_to(n, (len(self.table), len(n)))


def fit_calibrated(table: CountTable) -> CalibratedFit:
    """Return power laws on logits, with noise as examples and runs tell it."""
    noise = _noise_of(table)
    return CalibratedFit(table, noise, _weigh_exponents(table, noise))


def _wider(one: Floats, other: Floats) -> Floats:
    """Return, of two covariances, the one with more variance in all."""
    is_one = np.trace(one, axis1=-2, axis2=-1) >= np.trace(other, axis1=-2, axis2=-1)
    return np.where(is_one[..., None, None], one, other)


# --- Whether a power law on the logits holds at all: what is left, against the noise ---


_NOTHING = 1e9  # variance of a logit of which nothing was seen


def lack_of_fit(fit: CalibratedFit) -> Floats:
    r"""Return p values of "one power law on the logits, one exponent for all classes".

    .. math:: Q = \min_{\gamma, \theta} r^\top V^{-1} r, \quad r = z - X_\gamma \theta

    z are the logits of all sizes and classes that were seen, made linear at the fit, and V
    is their covariance: test examples, which sizes may share, and training sets. If the law
    holds, Q / df is about F with df = K C - 2 C - 1 and :math:`f / \phi^2` degrees of
    freedom: V is estimated, its part :math:`\phi` from training sets with f of them.

    Where nobody kept which examples were answered rightly, all models are taken to be
    tested on different ones: if they were not, p values are too large.
    """
    table, noise = fit.table, fit.noise
    curves, sizes, classes = table.right.shape
    logistic, best = fit.exponents.logistic, fit.exponents.best
    logit = logistic.logits(table.sizes)[np.arange(curves), best]
    rate = expit(np.clip(logit, -12.0, 12.0))
    shape = np.maximum(rate * (1 - rate), 1e-12)
    total = table.total
    is_there = (total > 0).swapaxes(1, 2).reshape(curves, -1)
    some = np.maximum(total, 1.0)
    # One step of Newton's method from the fit; rates of 0 and 1 stay finite.
    z = logit + (table.right - total * rate) / (some * shape)
    z = np.where(is_there, z.swapaxes(1, 2).reshape(curves, -1), 0.0)
    v, trained = _covariance(fit, shape, some)
    noise_freedom = np.maximum((noise.freedom + 2.0) / trained**2, 3.0)
    v = np.where(is_there[:, :, None] & is_there[:, None, :], v, 0.0)
    each = np.arange(sizes * classes)
    v[:, each, each] += np.where(is_there, 1e-9, _NOTHING)
    x = logistic.basis(table.sizes)
    design = np.zeros((*x.shape[:2], classes, sizes, classes, 2))
    for c in range(classes):
        design[:, :, c, :, c, 0] = 1.0
        design[:, :, c, :, c, 1] = x
    design = design.reshape(*x.shape[:2], classes * sizes, 2 * classes)
    design = np.where(is_there[:, None, :, None], design, 0.0)
    precision = np.linalg.inv(v)
    weighted = precision @ z[..., None]
    inner = design.swapaxes(-1, -2) @ (precision[:, None] @ design)
    inner += 1e-10 * np.eye(2 * classes)
    right = design.swapaxes(-1, -2) @ weighted[:, None]
    explained = (right * np.linalg.solve(inner, right)).sum((-1, -2))
    whole = (z[..., None] * weighted).sum((-1, -2))
    rest = np.maximum((whole[:, None] - explained).min(-1), 0.0)
    freedom = is_there.sum(-1) - 2.0 * classes - 1.0
    some_freedom = np.maximum(freedom, 1.0)
    p = fdtrc(some_freedom, noise_freedom, rest / some_freedom)
    return np.asarray(np.where(freedom >= 1, p, np.nan))


def _covariance(
    fit: CalibratedFit, shape: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """Return the covariance of logits, and which share of it comes from training sets.

    Shapes (curve, class x size, class x size) and (curve,).
    """
    table, noise = fit.table, fit.noise
    curves, sizes, classes = shape.shape
    deviation = np.sqrt(noise.rates * (1 - noise.rates)).swapaxes(1, 2)
    scale = 1.0 / (total * np.sqrt(shape)).swapaxes(1, 2) / deviation
    testing = noise.testing * scale[..., None] * scale[..., None, :]
    apart = (noise.alone * scale**2)[..., None] * np.eye(sizes)
    testing = np.where(noise.is_blind[:, None, None, None], apart, testing)
    luck = 1.0 / (table.sizes * np.maximum(table.runs, 1.0))
    root = 1.0 / np.sqrt(shape)
    moved = (
        noise.omega[:, None] * (luck[..., None] * root)[..., None] * root[..., None, :]
    )
    k = np.arange(sizes)
    v = np.zeros((curves, classes, sizes, classes, sizes))
    for c in range(classes):
        v[:, c, :, c, :] = testing[:, c]
        for d in range(classes):
            v[:, c, k, d, k] += moved[..., c, d]
    is_there = table.total > 0
    tested = np.diagonal(testing, axis1=-2, axis2=-1).swapaxes(1, 2)
    trained = np.diagonal(moved, axis1=-2, axis2=-1)
    share = (trained / (trained + tested)).mean(axis=(1, 2), where=is_there)
    return v.reshape(curves, classes * sizes, classes * sizes), np.asarray(share)
