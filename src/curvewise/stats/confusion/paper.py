"""Curves and bands of count curves to the letter of Xue et al. (2025)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, expit, gammaincinv

from curvewise.stats import counts
from curvewise.stats.confusion.data import Concern, CountTable
from curvewise.stats.confusion.draws import (
    CELLS,
    Asked,
    error_shares,
    even_points,
    matrices,
)
from curvewise.stats.confusion.logistic import Logistic, fit_logistic
from curvewise.stats.counts.draws import metric_of
from curvewise.stats.validation import Floats

# In whole hundredths, so that 0 is 0.
GAMMAS = np.arange(-100, 101) / 100
TAU, THEORY = 5.0, -0.5
_PRIOR = 1.0  # lambda: examples that the prior adds to every cell
_VALIDATED = 1 / 3  # of a block of N; the other two thirds train
_AT_ONCE = 100  # curves of which every exponent is kept
# Metrics whose posterior has a closed form, and the counts that it takes.
_CLOSED: dict[str, tuple[Callable[..., counts.CountIntervals], tuple[str, ...]]] = {
    "error": (counts.error_interval, ("tp", "fp", "fn", "tn")),
    "accuracy": (counts.accuracy_interval, ("tp", "fp", "fn", "tn")),
    "precision": (counts.precision_interval, ("tp", "fp")),
    "recall": (counts.recall_interval, ("tp", "fn")),
    "specificity": (counts.specificity_interval, ("tn", "fp")),
    "f1": (counts.f1_interval, ("tp", "fp", "fn")),
    "f_beta": (counts.f_beta_interval, ("tp", "fp", "fn")),
    "jaccard": (counts.jaccard_interval, ("tp", "fp", "fn")),
}


@dataclass(frozen=True, slots=True, eq=False)
class PaperFit:
    r"""Power laws on logits with one exponent, as published.

    .. math:: \operatorname{logit} \Pi_c(n) = \alpha_c + \eta_c n^\gamma, \quad
        \hat\gamma = \arg\max_\gamma L(\gamma) - \tau |\gamma + 1/2|

    over -1, -0.99, ..., 1. Where the paper has :math:`n^0`, which is the constant over
    again, stands its limit log n.
    """

    table: CountTable
    logistic: Logistic  # at the exponents that were found: one for each curve
    gamma: Floats  # (curve,)

    def recalls(self, sizes: Floats) -> Floats:
        """Return the recall of each class, shape (curve, asked, class)."""
        at = np.broadcast_to(
            np.asarray(sizes, dtype=np.float64), (len(self.table), len(sizes))
        )
        return np.asarray(expit(self.logistic.logits(at)[:, 0]))

    def virtual(self, sizes: Floats, test_size: float | None = None) -> Floats:
        r"""Return the matrix that is taken as seen, shape (curve, asked, class, class).

        .. math:: \hat C_n = n^{(v)} \hat\pi_n, \quad n^{(v)} = n / 3

        Sizes are of whole blocks: in the paper a block of n trains on 2 n / 3 and validates
        on the rest, while the learner asked about is trained on all n.
        """
        n = np.asarray(sizes, dtype=np.float64)
        validated = _VALIDATED * n if test_size is None else np.full_like(n, test_size)
        shares = self.table.shares[:, None]
        rates = matrices(self.recalls(n), shares, error_shares(self.table, n))
        return np.asarray(rates * validated[:, None, None])

    def interval(
        self,
        name: str,
        sizes: Floats,
        test_size: float | None,
        confidence: float,
        settings: dict[str, Any],
    ) -> tuple[Floats, Floats]:
        """Return both ends of a posterior given the virtual matrix, shape (curve, asked).

        `test_size` is what that matrix sums to, a third of each size if None. Closed forms
        where there are any: error by Be(FP + FN + 1, TP + TN + 1), precision and recall
        alike, F1 by a beta prime, with the factor 1/2 that the paper's Eq. (28) lacks.
        Else draws from a Dirichlet.
        """
        function = metric_of(name, settings)
        matrix = self.virtual(sizes, test_size)
        if matrix.shape[-1] == 2 and name in _CLOSED and not set(settings) - {"beta"}:
            closed, cells = _CLOSED[name]
            (tn, fp), (fn, tp) = np.moveaxis(matrix, (-2, -1), (0, 1))
            every = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
            arguments = {cell: every[cell] for cell in cells}
            posterior = closed(
                **arguments, **settings, prior="paper", confidence=confidence
            )
            return posterior.lower, posterior.upper
        return _by_draws(matrix, function, confidence)

    def draw(self, asked: Asked, points: Floats) -> Floats:
        """Return draws of the recalls, shape (draw, curve, asked, class).

        Of a beta for each class, given the virtual matrix; whatever the target, for the
        paper has one band. `points` beyond column 2 + C are not used.
        """
        matrix = self.virtual(asked.sizes)
        right = np.diagonal(matrix, axis1=-2, axis2=-1)
        wrong = matrix.sum(-1) - right
        by = points[:, None, None, 2 : 2 + self.table.classes]
        return np.asarray(
            betaincinv(right + _PRIOR, wrong + _PRIOR * (self.table.classes - 1), by)
        )

    def concerns_at(self, sizes: Floats) -> Iterator[Concern]:  # noqa: ARG002
        """Yield what may be wrong with each curve, whatever sizes are asked for."""
        for i, gamma in enumerate(self.gamma):
            yield Concern("published_bands", curve=i)
            if gamma > 0:
                yield Concern("rising_exponent", curve=i)


def fit_paper(table: CountTable, *, tau: float = TAU) -> PaperFit:
    """Return the power laws of curves with the exponent of the penalised likelihood."""
    sizes, right, total = table.sizes, table.right, table.total
    gamma = np.empty(len(table))
    for begin in range(0, len(table), _AT_ONCE):
        block = slice(begin, begin + _AT_ONCE)
        every = fit_logistic(
            sizes[block], right[block], total[block], GAMMAS, is_firth=False
        )
        value = every.log_likelihood - tau * np.abs(GAMMAS - THEORY)
        gamma[block] = GAMMAS[value.argmax(-1)]
    best = fit_logistic(sizes, right, total, gamma[:, None], is_firth=False)
    return PaperFit(table, best, gamma)


def _by_draws(
    matrix: Floats, function: Callable[[Floats], Floats], confidence: float
) -> tuple[Floats, Floats]:
    """Return quantiles of a metric of Dirichlet matrices, over evenly spread points."""
    cells = matrix.reshape(-1, matrix.shape[-1] ** 2)
    points = even_points(cells.shape[1])
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ends = np.empty((2, len(cells)))
    step = max(1, CELLS // points.size)
    for begin in range(0, len(cells), step):
        block = slice(begin, begin + step)
        draws = gammaincinv(cells[block] + _PRIOR, points[:, None])
        ends[:, block] = np.quantile(
            function(draws.reshape(*draws.shape[:2], *matrix.shape[-2:])), tails, axis=0
        )
    low, high = ends.reshape(2, *matrix.shape[:-2])
    return low, high
