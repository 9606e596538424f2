"""Power laws on logits whose bands hold: noise as it is, exponents weighed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, fdtrc, gammaincinv, ndtri

from curvewise.stats.confusion.data import (
    Concern,
    ConcernKind,
    CountTable,
    few_answers,
)
from curvewise.stats.confusion.draws import CELLS, Asked
from curvewise.stats.confusion.logistic import Exponents, weigh_exponents
from curvewise.stats.confusion.noise import (
    SHARED_TRAINING,
    Noise,
    is_one_test_set,
    noise_of,
)
from curvewise.stats.validation import Floats

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

    Parameters
    ----------
    table : CountTable
        What was fitted.
    noise : Noise
        Of the counts.
    exponents : Exponents
        The fits of every exponent, and what each weighs.

    Notes
    -----
    The model is that of [1]_. Bands there come from one validation set of a third of the
    size of interest: too wide for small sizes, too narrow for large ones.

    References
    ----------
    .. [1] Y. Xue, R. Wang, X. Cao, J. Yang, J. Li. "Learning curves of classification
       metrics based on confusion matrices." ACML 2025.
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
        count, is_one = (table.runs > 0).sum(1), is_one_test_set(table)
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
        own = self._tested(pull)
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
        out[..., each, each] += np.maximum(own, 1e-12)
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
            own = slice(begin, begin + step)
            pick = (np.arange(curves)[own, None], chosen[own])
            moved = np.einsum("bsqcd,sd->sbqc", root[pick], z)
            out[:, own] = expit(logits[pick].swapaxes(0, 1) + moved)
        if asked.target == "mean":
            return out
        z = ndtri(points[:, 2 + classes :])
        return self._with_luck(out, asked, z, points[:, 1])

    def _tested(self, pull: Floats) -> Floats:
        """Return variances of logits from test examples, (curve, gamma, asked, class)."""
        testing = self.noise.testing[:, None]
        own = ((pull @ testing) * pull).sum(-1)
        if self.noise.is_blind.any():
            # Nobody knows whether models were tested on the same examples: the worse.
            apart = (pull**2 * self.noise.alone[:, None, :, None]).sum(-1)
            is_blind = self.noise.is_blind[:, None, None, None]
            own = np.where(is_blind, np.maximum(own, apart), own)
        return np.asarray(own.swapaxes(2, 3))

    def _with_luck(
        self, recalls: Floats, asked: Asked, z: Floats, scale: Floats
    ) -> Floats:
        """Return recalls of models of finitely many training sets, on a finite test set.

        Noise is added to arcsin(sqrt(p)), where binomial noise of n answers has variance
        1 / 4n whatever p is: no draw leaves [0, 1].
        """
        each = np.arange(self.table.classes)
        luck = self.noise.omega[:, None] / (4 * np.asarray(asked.sizes)[:, None, None])
        if asked.target == "observed":
            luck = luck / asked.runs[..., None, None]
            rho = self.noise.rho_at(self.table, asked.sizes)
            share = rho + (1 - rho) / asked.runs[..., None]
            tested = asked.test_size[..., None] * self.table.shares[:, None]
            luck[..., each, each] += share / (4 * np.maximum(tested, 1.0))
        moved = np.einsum("bqcd,sd->sbqc", np.linalg.cholesky(luck), z)
        if asked.target == "model":
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
    noise = noise_of(table)
    return CalibratedFit(table, noise, weigh_exponents(table, noise))


def _wider(one: Floats, other: Floats) -> Floats:
    """Return, of two covariances, the one with more variance in all."""
    is_one = np.trace(one, axis1=-2, axis2=-1) >= np.trace(other, axis1=-2, axis2=-1)
    return np.where(is_one[..., None, None], one, other)


# --------------------------------------------------------------------------------------
# Whether a power law on the logits holds at all: what is left, against the noise.


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
    known = noise.freedom + 2.0
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
    left = np.maximum((whole[:, None] - explained).min(-1), 0.0)
    freedom = is_there.sum(-1) - 2.0 * classes - 1.0
    some_freedom = np.maximum(freedom, 1.0)
    p = fdtrc(some_freedom, np.maximum(known / trained**2, 3.0), left / some_freedom)
    return np.asarray(np.where(freedom >= 1, p, np.nan))


def _covariance(
    fit: CalibratedFit, shape: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """Return the covariance of logits, and which share of it comes from training sets.

    Shapes (curve, class x size, class x size) and (curve,).
    """
    table, noise = fit.table, fit.noise
    curves, sizes, classes = shape.shape
    seen = np.sqrt(noise.rates * (1 - noise.rates)).swapaxes(1, 2)
    scale = 1.0 / (total * np.sqrt(shape)).swapaxes(1, 2) / seen
    own = noise.testing * scale[..., None] * scale[..., None, :]
    apart = (noise.alone * scale**2)[..., None] * np.eye(sizes)
    own = np.where(noise.is_blind[:, None, None, None], apart, own)
    luck = 1.0 / (table.sizes * np.maximum(table.runs, 1.0))
    root = 1.0 / np.sqrt(shape)
    moved = (
        noise.omega[:, None] * (luck[..., None] * root)[..., None] * root[..., None, :]
    )
    k = np.arange(sizes)
    v = np.zeros((curves, classes, sizes, classes, sizes))
    for c in range(classes):
        v[:, c, :, c, :] = own[:, c]
        for d in range(classes):
            v[:, c, k, d, k] += moved[..., c, d]
    is_there = table.total > 0
    tested = np.diagonal(own, axis1=-2, axis2=-1).swapaxes(1, 2)
    trained = np.diagonal(moved, axis1=-2, axis2=-1)
    share = (trained / (trained + tested)).mean(axis=(1, 2), where=is_there)
    return v.reshape(curves, classes * sizes, classes * sizes), np.asarray(share)
