"""All pairs of many algorithms at once: the numbers of one pair after another, sooner."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from curvewise.stats.asymptotics import is_constant, is_few, standard_error
from curvewise.stats.bands import ANYWHERE, Support
from curvewise.stats.comparison.differences import difference
from curvewise.stats.comparison.improvement import (
    placements,
    probability_of_improvement,
    signs,
    studentised,
)
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import APART, Interval, asymptotic
from curvewise.stats.validation import Floats, checked_confidence, checked_support

__all__ = ["all_differences", "all_improvements"]


def all_differences(
    samples: Sequence[Floats],
    functional: Functional,
    *,
    confidence: float = 0.95,
    paired: bool = False,
    support: Support = ANYWHERE,
) -> list[Interval]:
    """Return by how much a statistic of each sample exceeds that of each later one.

    As `difference` does for one pair, with the interval of Student or Welch, but without a
    warning where trials are few: `has_few` tells. The order is that of
    ``itertools.combinations``.

    Parameters
    ----------
    samples : sequence of ndarray, shape (trial,)
    functional : Functional
        A mean or a CVaR.
    confidence : float
        Of each interval.
    paired : bool
        Whether entry i of all samples is the same trial.
    support : (float, float)

    Examples
    --------
    >>> samples = [np.arange(20) + 3.0, np.arange(20) * 0.9]
    >>> print(*all_differences(samples, Functional("mean")))
    [0.3458, 7.554]
    """
    level = checked_confidence(confidence)
    least, most = checked_support(support, *samples)
    sizes = functional.mass * np.array([len(z) for z in samples])
    have_errors = [not is_few(n, 2) for n in sizes.tolist()]
    parts = [functional.contributions(z) for z in samples]
    values = [functional.value(z) for z in samples]
    errors, df = (_paired if paired else _apart)(samples, parts, sizes)
    reach = _t_quantiles(level, df) * errors
    promise = asymptotic(
        level, "Student, paired" if paired else "Welch", "" if paired else APART
    )
    estimand = f"{functional} of A less that of B"
    out: list[Interval] = []
    for (i, j), far in zip(_pairs(samples), reach.tolist(), strict=True):
        if not (have_errors[i] and have_errors[j] and far > 0):
            asked = {"of": functional.of, "alpha": functional.alpha}
            found = difference(
                *(samples[i], samples[j]),
                **asked,  # type: ignore[arg-type]
                tail=functional.tail,
                confidence=level,
                paired=paired,
                support=support,
            )
            out.append(found)
            continue
        value = values[i] - values[j]
        ends = max(value - far, least - most), min(value + far, most - least)
        out.append(Interval(*ends, estimand, promise, value))
    return out


def all_improvements(
    samples: Sequence[Floats], *, confidence: float = 0.95, paired: bool = False
) -> list[Interval]:
    """Return how often a trial of each sample beats one of each later one.

    As `probability_of_improvement` does for one pair, but without a warning where trials
    are few. The order is that of ``itertools.combinations``.

    Parameters
    ----------
    samples : sequence of ndarray, shape (trial,)
        Higher is better.
    confidence : float
        Of each interval.
    paired : bool
        Whether entry i of all samples is the same trial.

    Examples
    --------
    >>> samples = [np.arange(10) + 3.0, np.arange(10.0)]
    >>> print(*all_improvements(samples))
    [0.4882, 0.9087]
    """
    level = checked_confidence(confidence)
    if min(map(len, samples), default=1) == 1:
        return [
            probability_of_improvement(a, b, confidence=level, paired=paired)
            for a, b in combinations(samples, 2)
        ]
    where = "in the same trial" if paired else "in trials of their own"
    estimand = f"P(A > B) + P(A = B) / 2 {where}"
    name = "score interval" if paired else "studentised placements"
    promise = asymptotic(level, name, "" if paired else APART)
    count = _signed if paired else _placed
    return [
        Interval(*ends, estimand, promise, value)
        for value, ends in count(samples, level)
    ]


def _pairs(samples: Sequence[Floats]) -> Iterator[tuple[int, int]]:
    return combinations(range(len(samples)), 2)


def _t_quantiles(confidence: float, df: Floats) -> Floats:
    from scipy.special import stdtrit

    reach: Floats = -stdtrit(df, (1 - confidence) / 2)
    return reach


def _paired(
    samples: Sequence[Floats], parts: Sequence[Floats], sizes: Floats
) -> tuple[Floats, Floats]:
    """Return the standard errors of all pairs, 0 where there is none, and their freedom."""
    scores, x = np.stack(samples), np.stack(parts)
    pairs = len(samples) * (len(samples) - 1) // 2
    if x.shape[1] < 2:
        return np.zeros(pairs), np.ones(pairs)
    scale = np.abs(scores).max(axis=1)
    errors = []
    for i in range(len(x) - 1):  # one against all later ones, which fit into memory
        apart = x[i] - x[i + 1 :]
        largest = np.abs(apart).max(axis=1)
        # Powers of two: squares of what is left neither overflow nor vanish.
        unit = np.ldexp(1.0, np.maximum(np.frexp(largest)[1], -1000))
        unit = np.where(largest > 0, unit, 1.0)[:, None]
        error = unit[:, 0] * (apart / unit).std(axis=1, ddof=1)
        still = np.ptp(apart, axis=1) <= 1e-12 * np.maximum(scale[i], scale[i + 1 :])
        errors.append(np.where(still, 0.0, error / np.sqrt(x.shape[1])))
    return np.concatenate([np.empty(0), *errors]), np.full(pairs, sizes[0] - 1)


def _apart(
    samples: Sequence[Floats], parts: Sequence[Floats], sizes: Floats
) -> tuple[Floats, Floats]:
    own = np.array([standard_error(x) if len(x) > 1 else 0.0 for x in parts])
    still = np.array([is_constant(*two) for two in zip(parts, samples, strict=True)])
    i, j = np.triu_indices(len(samples), 1)
    one, other, n, m = own[i], own[j], sizes[i], sizes[j]
    largest = np.where(still[i] & still[j], 0.0, np.maximum(one, other))
    with np.errstate(divide="ignore", invalid="ignore"):
        u, v = (one / largest) ** 2, (other / largest) ** 2
        df = (u + v) ** 2 / (u**2 / (n - 1) + v**2 / (m - 1))
        errors = largest * np.sqrt(u + v)
    return np.where(largest > 0, errors, 0.0), df


def _signed(
    samples: Sequence[Floats], confidence: float
) -> Iterator[tuple[float, tuple[float, float]]]:
    scores = np.stack(samples)
    n = scores.shape[1]
    known: dict[tuple[int, int], tuple[float, float]] = {}
    for i in range(len(scores) - 1):
        wins = (scores[i] > scores[i + 1 :]).sum(axis=1).tolist()
        ties = (scores[i] == scores[i + 1 :]).sum(axis=1).tolist()
        for both in zip(wins, ties, strict=True):
            if both not in known:
                known[both] = signs(*both, n, confidence)
            yield (both[0] + both[1] / 2) / n, known[both]


def _placed(
    samples: Sequence[Floats], confidence: float
) -> Iterator[tuple[float, tuple[float, float]]]:
    for a, b in combinations(samples, 2):
        x, y = placements(a, b)
        value = float(x.mean())
        yield value, studentised(value, x, y, confidence)
