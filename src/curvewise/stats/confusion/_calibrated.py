"""Power laws on logits whose bands hold: noise as it is, exponents weighed."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaincinv, ndtri

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._asked import CELLS, Asked
from curvewise.stats.confusion._data import CountTable
from curvewise.stats.confusion._exponents import Exponents, weigh_exponents
from curvewise.stats.confusion._noise import SHARED_TRAINING, Noise, noise_of

# Degrees of freedom that knowing what is typical is worth.
_PRIOR_FREEDOM = 6.0


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

    @property
    def concerns(self) -> tuple[tuple[str, ...], ...]:
        """What may be wrong with each curve, in words."""
        return self.concerns_at(np.empty(0))

    def concerns_at(self, sizes: Floats) -> tuple[tuple[str, ...], ...]:
        """Return what may be wrong with each curve, for a question about some sizes."""
        # They look at how well curves fit, which looks at curves.
        from curvewise.stats.confusion._calibrated_words import concerns_of

        return concerns_of(self, sizes)

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
