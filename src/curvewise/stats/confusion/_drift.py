"""Count curves whose level and slope drift: a smoother on the logit of each recall."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._asked import Asked
from curvewise.stats.confusion._data import CountTable
from curvewise.stats.confusion._drift_constants import DRIFT, DriftConstants, Prior
from curvewise.stats.confusion._drift_held import (
    is_constant,
    is_stuck,
    last_of,
    never_called,
)
from curvewise.stats.confusion._drift_noise import (
    COMMON,
    examples_tested,
    held_near,
    logit_variance,
    of_models,
    own_share,
    per_run,
)
from curvewise.stats.confusion._drift_roughness import roughness, weight_of_law
from curvewise.stats.confusion._drift_smoother import (
    ORIGIN,
    Smoothed,
    clock_of,
    smoothed,
)
from curvewise.stats.confusion._drift_words import concerns_of

PSEUDO = 0.1  # answers added to both kinds, so that logits are finite
LONGEST = 64.0  # octaves ahead: bands of sizes without end stay numbers


@dataclass(frozen=True, slots=True, eq=False)
class DriftFit:
    """Fitted count curves whose logits drift.

    Parameters
    ----------
    table : CountTable
        What was fitted.
    constants : DriftConstants
        How fast logits drift.
    drift, law : Smoothed
        Logits as curves that drift, and as almost a power law.
    weight : ndarray, shape (curve, class)
        How much the law counts.
    last : ndarray, shape (curve, class)
        Logits at the last size.
    is_stuck, is_constant : ndarray of bool, shape (curve, class)
        Whose recall is taken to stay as it was at the last size: that of a class which no
        run predicted there; and that of one that never changed.
    """

    table: CountTable
    constants: DriftConstants
    drift: Smoothed
    law: Smoothed
    weight: Floats
    last: Floats
    is_stuck: NDArray[np.bool_]
    is_constant: NDArray[np.bool_]

    @property
    def method(self) -> str:
        """What it is called."""
        return "drift"

    @property
    def concerns(self) -> tuple[tuple[str, ...], ...]:
        """What may be wrong with each curve, in words."""
        return concerns_of(self.table, never_called(self.table))

    def concerns_at(self, sizes: Floats) -> tuple[tuple[str, ...], ...]:
        """Return what may be wrong with each curve where sizes are asked for."""
        furthest = self.octaves(sizes).max(1)
        return concerns_of(self.table, never_called(self.table), furthest)

    def recalls(self, sizes: Floats) -> Floats:
        """Return the recall of each class, shape (curve, asked, class).

        Sizes are (asked,), or (curve, asked) where each curve has its own.
        """
        return np.swapaxes(self._rates(self._logits(sizes)[0]), 1, 2)

    def draw(self, asked: Asked, points: Floats) -> Floats:
        r"""Return draws of the recalls, shape (draw, curve, asked, class).

        Columns of `points`, shape (draw, 2 + 2 x class): 0 picks the roughness of the
        curve, 2 and on where its logits are, 2 + class and on the noise.

        Notes
        -----
        A logit is off by :math:`q \sqrt{\kappa A} \, u + \sqrt{N} \, u'`: A, what drift
        adds by the prior; :math:`\kappa`, how much of that this curve shows, from how far
        its last sizes were from what those before them predict; q, how much more or less
        it was on real curves, by octaves outside; N, the noise of the logits seen. To the
        rate then comes, in angles, what the target adds:

        *mean*
            The examples tested on are not all: :math:`\rho/(4E)` for E different ones,
            :math:`\rho = .6`.
        *observed*
            With `test_size` NaN: F more runs, tested as those seen were, so that what is
            common to test sets cancels: 1/F of the variance between runs. Else F models
            on one fresh test set: 1/F of the variance between models and
            :math:`(\rho + (1-\rho)/F)/(4m)` for its m examples, besides that of *mean*.
        *model*
            The variance between models, besides that of *mean*.
        """
        z, pull = self._logits(asked.sizes)
        by_drift, by_noise = self.drift.missed(asked.sizes, pull)
        classes = self.table.classes
        normal = ndtri(points[:, None, :, None])  # (draw, curve, class, asked)
        own = _together(normal[:, :, 2 : 2 + classes], self.constants.together)
        rough = roughness(self.drift, self.table.shares, self.constants, points[:, 0])
        ahead = self._scale(asked.sizes)[:, None] ** 2 * by_drift
        rates = self._rates(z + np.sqrt(rough[..., None] * ahead + by_noise) * own)
        noise = np.sqrt(self._noise(asked)) * normal[:, :, 2 + classes :]
        angles = np.clip(np.arcsin(np.sqrt(rates)) + noise, 0.0, np.pi / 2)
        return np.swapaxes(np.sin(angles) ** 2, 2, 3)

    def octaves(self, sizes: Floats) -> Floats:
        """Return by how many octaves sizes are outside those seen, (curve, asked)."""
        seen = np.where(self.table.runs > 0, self.table.sizes, np.inf).min(1)
        ahead = np.log2(sizes / self.table.largest[:, None])
        back = -np.log2(sizes / seen[:, None])
        return np.asarray(np.clip(np.maximum(ahead, back), 0.0, LONGEST))

    def _logits(self, sizes: Floats) -> tuple[Floats, Floats]:
        """Return logits (curve, class, asked), and the weights of those seen."""
        # A law that holds near by is no guide far ahead.
        w = self.weight[..., None] * np.exp2(-self.octaves(sizes))[:, None]
        z, pull = self.drift.at(sizes)
        z_law, pull_law = self.law.at(sizes)
        z = (1 - w) * z + w * z_law
        pull = (1 - w[..., None]) * pull + w[..., None] * pull_law
        return np.where(self._is_held(sizes), self.last[..., None], z), pull

    def _is_held(self, sizes: Floats) -> NDArray[np.bool_]:
        beyond = sizes >= self.table.largest[:, None]
        return self.is_constant[..., None] | (
            self.is_stuck[..., None] & beyond[:, None]
        )

    def _rates(self, z: Floats) -> Floats:
        """Return rates of logits (..., curve, class, asked), pseudo-answers taken back."""
        each = last_of(self.table, per_run(self.table))[..., None]
        rates = (expit(z) * (each + 2 * PSEUDO) - PSEUDO) / each
        return np.asarray(np.clip(rates, 0.0, 1.0))

    def _scale(self, sizes: Floats) -> Floats:
        """Return by how much drift ahead is more or less than its prior says."""
        c = self.constants
        return np.asarray(np.exp(c.near + c.far * np.log2(self.octaves(sizes) + 1)))

    def _noise(self, asked: Asked) -> Floats:
        """Return the variance in angles that the target adds, (curve, class, asked)."""
        table, sizes = self.table, asked.sizes
        tested = COMMON / (4 * examples_tested(table)[..., None])
        if asked.target == "mean":
            return np.broadcast_to(tested, (*tested.shape[:2], len(sizes)))
        models = of_models(table, sizes)
        if asked.target == "model":
            return np.asarray(tested + models)
        runs = asked.runs[:, None]
        own = own_share(table)[:, None, None] / (4 * held_near(table, sizes))
        as_seen = (models + own) / runs
        held = asked.test_size[:, None] * table.shares[..., None]
        fresh = (COMMON + (1 - COMMON) / runs) / (4 * np.maximum(held, 1.0))
        fresh = tested + models / runs + fresh
        return np.asarray(np.where(np.isnan(held), as_seen, fresh))


def fit_drift(table: CountTable, constants: DriftConstants = DRIFT) -> DriftFit:
    r"""Return count curves whose logits drift, one for each curve of the table.

    .. math:: \operatorname{logit} \Pi_c(n) = f_c(x), \quad
       x = \frac{1 - (n/16)^{-g}}{g \ln 2}

    f is a smoothing spline: a Gaussian process with a prior slope, a slope that drifts
    (integrated Wiener process) and a level that walks (Wiener process), each class by
    itself. The power law of Xue et al. [1]_ is the case without either drift. A spline that
    is almost that law gets half the weight where it predicts the last sizes from those
    before them as well as their noise allows; less in proportion where it does not, and
    half as much for every octave beyond the sizes seen.

    Parameters
    ----------
    table : CountTable
    constants : DriftConstants
        Learnt on real curves; see there.

    References
    ----------
    .. [1] Y. Xue, R. Wang, X. Cao, J. Yang, J. Li. "Learning curves of classification
       metrics based on confusion matrices." ACML 2025.

    Examples
    --------
    >>> from curvewise.stats.confusion._data import count_table
    >>> counts = [[[60, 40], [40, 60]], [[70, 30], [32, 68]], [[78, 22], [25, 75]]]
    >>> fit = fit_drift(count_table([32, 64, 128], counts))
    >>> fit.recalls(np.array([128.0, 256.0])).round(2).tolist()
    [[[0.75, 0.73], [0.79, 0.76]]]
    """
    z, v = logits_seen(table)
    drift, law = (
        smoothed_logits(table, z, v, prior, constants)
        for prior in (constants.drift, constants.law)
    )
    return DriftFit(
        table,
        constants,
        drift,
        law,
        weight_of_law(law),
        last_of(table, z.swapaxes(1, 2)),
        is_stuck(table),
        is_constant(table),
    )


def logits_seen(table: CountTable) -> tuple[Floats, Floats]:
    """Return logits of the recalls seen and their variances, (curve, class, size)."""
    runs = np.maximum(table.runs, 1.0)[..., None]
    rate = (table.right / runs + PSEUDO) / (per_run(table) + 2 * PSEUDO)
    z = np.where(table.total > 0, logit(rate), np.nan)
    return z.swapaxes(1, 2), (logit_variance(table) / runs).swapaxes(1, 2)


def smoothed_logits(
    table: CountTable, z: Floats, v: Floats, prior: Prior, constants: DriftConstants
) -> Smoothed:
    """Return logits z with variances v, smoothed as a prior has it."""
    clock = clock_of(table.sizes, np.isfinite(z), table.shares, prior)
    wiggle = (table.sizes[:, None] / ORIGIN) ** -clock.slowing[..., None]
    noise = v + constants.nugget**2 * wiggle
    return smoothed(clock, table.sizes, z, noise, prior, constants.level)


def _together(normal: Floats, correlation: float) -> Floats:
    """Return normal draws (draw, curve, class, asked) with the classes correlated."""
    classes = normal.shape[2]
    share = correlation / (classes - 1)
    own = (1 - share) * np.eye(classes) + share
    return np.asarray(np.linalg.cholesky(own) @ normal)
