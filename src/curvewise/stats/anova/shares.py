"""How much of an effect shows at each step, against what chance alone would show."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._labels import labels_as_they_lie
from curvewise.stats._sample import Floats, checked_chance, checked_confidence, one_of
from curvewise.stats._words import percent
from curvewise.stats.anova._drawing.envelope import Curve, Envelope
from curvewise.stats.anova._lines.designs import (
    Design,
    LinesLike,
    centred,
    checked_lines,
    relative,
)
from curvewise.stats.anova._lines.flips import BATCH
from curvewise.stats.deals import random_deals

__all__ = ["EffectShares", "effect_shares"]

Of: TypeAlias = Literal["total", "interaction"]
OF = ("total", "interaction")
_SMALLEST = 1e-150  # differences of which squares are still numbers
# Of the largest deviation squared, what is left of a term that is 0 but for rounding.
_ROUNDING = 1e-27


@dataclass(frozen=True, slots=True, eq=False)
class EffectShares:
    """How an effect is spread over training.

    Parameters
    ----------
    of : {"total", "interaction"}
        Which effect: all that algorithms do at a step, or its change over training.
    terms, terms_upper : ndarray, shape (step,)
        What each step adds to the sum of squares, and the most that chance would add.
    share, share_lower, share_upper : ndarray, shape (step,)
        The part of the sum that is due to each step, and what chance would make of it.
    cumulated, cumulated_lower, cumulated_upper : ndarray, shape (step,)
        The part that is due to all steps so far, and what chance would make of it.
    guarantee : str
        What the envelopes hold for. Each holds by itself, at all steps at once.
    """

    of: Of
    terms: Floats
    terms_upper: Floats
    share: Floats
    share_lower: Floats
    share_upper: Floats
    cumulated: Floats
    cumulated_lower: Floats
    cumulated_upper: Floats
    guarantee: str

    @property
    def total(self) -> float:
        """The sum of squares that is divided: SS_alg + SS_int, or SS_int."""
        return float(self.terms.sum())

    @property
    def beyond_chance(self) -> NDArray[np.bool_]:
        """At which steps the effect is larger than chance would make it."""
        return self.terms > self.terms_upper

    @property
    def outside(self) -> NDArray[np.bool_]:
        """At which steps the share is not what chance would make of it.

        An effect that is spread as noise is spread is outside nowhere, however large.
        """
        return (self.share < self.share_lower) | (self.share > self.share_upper)


def effect_shares(
    lines: LinesLike,
    *,
    of: Of = "total",
    shuffles: int = 999,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> EffectShares:
    r"""Return which part of an effect each step of training is responsible for.

    .. math:: a_h = \sum_i l_i (\bar y_{ih} - \bar y_h)^2, \qquad
       b_h = \sum_i l_i (\bar y_{ih} - \bar y_i - \bar y_h + \bar y)^2

    with :math:`\sum_h a_h = SS_{alg} + SS_{int}` and :math:`\sum_h b_h = SS_{int}`; the
    share of step h is its term divided by that sum.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        Algorithms may have different numbers of lines, :math:`l_i`.
    of : {"total", "interaction"}
        ``"total"`` are the terms :math:`a_h`, all that algorithms do at a step;
        ``"interaction"`` are the :math:`b_h`, what they do beyond a constant shift.
    shuffles : int
        How often whole lines are dealt anew to the algorithms.
    confidence : float
        Of each envelope, at all steps at once.
    rng : numpy.random.Generator

    Notes
    -----
    The sum of squares of the Algorithm effect itself, :math:`k \sum_i l_i (\bar y_i -
    \bar y)^2`, is the same at every step: it cannot tell where an effect is. A paper that
    adds up "squared effects of the algorithm over levels" [1]_ makes sense with the
    :math:`a_h`.

    Envelopes are those of shuffled lines: where noise is large, chance alone puts a large
    share. At each step they reach from the mean as far as a common multiple of the
    distance to its quantiles, upward and downward [2]_; the multiple is such that the
    wanted part of all deals, the one that came included, lies inside at every step.
    So the whole curve leaves its envelope with probability 1 - `confidence` at most, if
    algorithms make no difference to lines: neither to their mean nor to their noise.

    Shares say how an effect is spread, not how large it is, and their envelopes are wide:
    chance, too, often puts most of its little effect at a few steps. How large it is at
    each step says `terms_upper`. Neither is a test of single steps once there is an
    effect somewhere, or unequal noise; `where_different` is.

    References
    ----------
    .. [1] J. Piater, P. Cohen, X. Zhang, M. Atighetchi. "A randomized ANOVA procedure for
       comparing performance curves." ICML, 1998.
    .. [2] M. Myllymäki, T. Mrkvička, P. Grabarnik, H. Seijo, U. Hahn. "Global envelope
       tests for spatial processes." Journal of the Royal Statistical Society B 79, 2017.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> one = rng.normal(size=(10, 6)) + [0, 0, 0, 2, 2, 2]
    >>> found = effect_shares([one, rng.normal(size=(10, 6))], rng=rng)
    >>> found.share.round(2).tolist()
    [0.01, 0.04, 0.01, 0.22, 0.33, 0.38]
    >>> found.cumulated.round(2).tolist()
    [0.01, 0.05, 0.06, 0.28, 0.62, 1.0]
    >>> found.beyond_chance.tolist()
    [False, False, False, True, True, True]
    """
    shuffles = checked_chance(shuffles, rng, least=99, name="shuffles")
    checked_confidence(confidence)
    one_of("of", of, OF)
    design, unit = relative(checked_lines(lines))
    if unit < _SMALLEST:
        raise CurvewiseError(
            f"The lines differ by about {unit:.0e}, of which squares vanish. Pass them "
            f"in a smaller unit."
        )
    values = (centred(design) if of == "interaction" else design).values
    values = values - values.mean(axis=0)
    deals = _deals(design, shuffles, rng)
    terms = np.concatenate([block[:, 0] for block in _terms(values, deals)])
    most, share, cumulated = _envelopes(values, deals, confidence)
    return EffectShares(
        of,
        terms * unit**2,
        most * unit**2,
        *(share.came, np.maximum(share.lower, 0), np.minimum(share.upper, 1)),
        cumulated.came,
        np.maximum(cumulated.lower, 0),
        np.minimum(cumulated.upper, 1),
        f"at least {percent(confidence)}, at all steps at once, if algorithms make no "
        f"difference to their lines, neither to means nor to noise (shuffled lines)",
    )


def _deals(design: Design, shuffles: int, rng: np.random.Generator) -> list[Floats]:
    """Return for each algorithm which lines it gets, the deal that came first.

    Shape (line, deal), divided by the root of its number of lines: squares of sums over
    its lines then are terms.
    """
    labels = np.concatenate([
        labels_as_they_lie(design.sizes),
        *random_deals(design.sizes, shuffles, rng=rng),
    ]).T  # fmt: skip
    return [(labels == i) / math.sqrt(size) for i, size in enumerate(design.sizes)]


def _terms(values: Floats, deals: list[Floats]) -> Iterator[Floats]:
    """Yield the terms of every deal, blocks of shape (step, deal)."""
    most = max(BATCH // (4 * deals[0].shape[1]), 1)
    for begin in range(0, values.shape[1], most):
        block = values[:, begin : begin + most].T
        terms: Floats = sum((block @ deal) ** 2 for deal in deals)  # type: ignore[assignment]
        terms[terms < _ROUNDING] = 0.0
        yield terms


def _envelopes(
    values: Floats, deals: list[Floats], confidence: float
) -> tuple[Floats, Curve, Curve]:
    """Return the most that chance adds, shares and cumulated shares."""
    total: Floats = np.zeros(deals[0].shape[1])
    for block in _terms(values, deals):
        total += block.sum(axis=0)
    typical = float(total.mean()) or 1.0  # terms of about 1 are rounded, as shares are
    total[total == 0] = 1.0
    size, share, cumulated = Envelope(is_upper=True), Envelope(), Envelope()
    before: Floats = np.zeros(len(total))
    for block in _terms(values, deals):
        size.add(block / typical)
        part = block / total
        share.add(part)
        part = before + part.cumsum(axis=0)
        before = part[-1]
        cumulated.add(part)
    most = typical * size.at(confidence).upper
    return most, share.at(confidence), cumulated.at(confidence)
