"""Which run to do next, so that a prediction sharpens most for the time it takes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import Runs, Unit, checked_runs, scale_of
from curvewise.stats.powerlaw import PowerLaw, fit_power_law
from curvewise.stats.validation import (
    Floats,
    as_floats,
    bad_value,
    checked_one_size,
    checked_sizes,
    is_number,
)

__all__ = [
    "NextRun",
    "Suggestion",
    "next_run",
]


_REACH = 1.959963984540054  # standard errors of a 95 % interval


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Some more runs at a size, and what they would do.

    Parameters
    ----------
    size : float
    repeats : int
    seconds : float
        Of all of them.
    half_width : float
        Of the 95 % interval at the target afterwards, as expected.
    shrinks : float
        By how much less than before.
    """

    size: float
    repeats: int
    seconds: float
    half_width: float
    shrinks: float

    @property
    def per_second(self) -> float:
        """By how much the half-width shrinks per second."""
        return self.shrinks / self.seconds


@dataclass(frozen=True, slots=True, eq=False)
class NextRun:
    """Which runs to do next.

    Parameters
    ----------
    target : float
        The size to predict at.
    half_width : float
        Of a 95 % interval there now, to first order.
    suggestions : tuple of Suggestion
        The best one first: per second or, with a budget, in all.
    budget : float
        Seconds that there are; infinite where none were named.
    concerns : tuple of str
    """

    target: float
    half_width: float
    suggestions: tuple[Suggestion, ...]
    budget: float
    concerns: tuple[str, ...]

    @property
    def best(self) -> Suggestion:
        """The first suggestion."""
        return self.suggestions[0]

    def rows(self) -> list[dict[str, float]]:
        """Return a row for each suggestion."""
        return [
            {
                "size": s.size,
                "repeats": s.repeats,
                "seconds": s.seconds,
                "half-width": s.half_width,
                "shrinks": s.shrinks,
                "per second": s.per_second,
            }
            for s in self.suggestions
        ]


def next_run(
    sizes: ArrayLike,
    errors: Any,
    seconds: Any,
    *,
    target: float,
    candidates: ArrayLike | None = None,
    repeats: ArrayLike = (1, 2, 3, 5, 10),
    budget: float | None = None,
    unit: Unit = "fraction",
) -> NextRun:
    r"""Return at which size, and how often, to train next to sharpen a prediction.

    .. math:: v(N) = g' I^{-1} g, \qquad
       I = \sum_i \frac{F_i}{\sigma^2(n_i)} x_i x_i' + P, \qquad
       x_i = (1, n_i^\gamma, \eta n_i^\gamma \ln n_i)

    is the variance of the fitted power law at the target N, to first order; r more runs at
    n add :math:`r x x' / \sigma^2(n)` to I. The variance of a run is
    :math:`s_0^2 + s^2 / n`, as `fit_power_law` finds it; P is what the prior says of gamma.

    Parameters
    ----------
    sizes : array_like, shape (size,)
    errors : sequence of array_like
        One array of runs for each size.
    seconds : array_like, shape (size,), or callable
        Seconds of one run at each size, or a function from sizes to seconds. Between and
        beyond sizes that were timed a power law is fitted to them.
    target : float
        The size to predict at.
    candidates : array_like, optional
        Sizes to choose from. If left out, those that were tried, sizes in the middle of
        two, and twice the largest if the target is that far.
    repeats : array_like of int
        How many runs to choose from.
    budget : float, optional
        Seconds that there are. With one, the best choice within it comes first; without,
        what gains most per second, which never is more than one run at once.
    unit : {"fraction", "percent", "loss"}

    Returns
    -------
    NextRun

    Notes
    -----
    Runs are taken for independent, the power law for true. Where the form itself is in
    doubt, runs at the largest size that one can pay say more than this knows.

    Examples
    --------
    >>> errors = [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]]
    >>> found = next_run([25, 50, 100], errors, [1, 2, 4], target=400)
    >>> found.best.size, found.best.repeats
    (200.0, 1)
    """
    measured = checked_runs(sizes, errors, unit=unit)
    goal = checked_one_size(target, "target")
    at = _checked_candidates(measured.sizes, candidates, goal)
    times = _checked_repeats(repeats)
    limit = _checked_budget(budget)
    cost = seconds_at(measured.sizes, _in_order(sizes, seconds))(at)
    law = _law(measured, unit)
    inverse = inverse_of(information(law, measured.sizes, measured.counts))
    before = float(variance_at(inverse, law, np.array([goal]))[0])
    after = variance_after(inverse, law, goal, at, times)
    scale = _REACH * scale_of(unit)
    now = scale * math.sqrt(before)
    suggestions = [
        Suggestion(
            size=float(at[i]),
            repeats=int(times[j]),
            seconds=float(cost[i] * times[j]),
            half_width=scale * math.sqrt(after[i, j]),
            shrinks=now - scale * math.sqrt(after[i, j]),
        )
        for i in range(len(at))
        for j in range(len(times))
        if cost[i] * times[j] <= limit
    ]
    if not suggestions:
        raise CurvewiseError(
            f"The cheapest run takes {float(cost.min() * times.min()):.4g} seconds, and "
            f"budget is {limit:g}. Pass more, or smaller candidates."
        )
    is_bound = math.isfinite(limit)
    suggestions.sort(key=lambda s: -(s.shrinks if is_bound else s.per_second))
    return NextRun(
        target=goal,
        half_width=now,
        suggestions=tuple(suggestions),
        budget=limit,
        concerns=law.concerns,
    )


def _law(measured: Runs, unit: Unit) -> PowerLaw:
    """Return the power law behind the runs, and how noisy they are."""
    # Percentages are fractions by now.
    within: Unit = "loss" if unit == "loss" else "fraction"
    law = fit_power_law(measured.sizes, measured.errors, unit=within)
    # Rounding leaves a little where runs and fit agree to the last digit.
    if not law.noise(measured.sizes).min() > (1e-12 * measured.means.max()) ** 2:
        raise CurvewiseError(
            "The errors have no noise, so that no run could make the curve any sharper. "
            "Pass runs with different seeds."
        )
    return law


def _checked_candidates(sizes: Floats, candidates: Any, target: float) -> Floats:
    if candidates is not None:
        return np.unique(checked_sizes(candidates, "candidates"))
    between = np.sqrt(sizes[1:] * sizes[:-1])
    between = np.where(
        between >= 1, between.round(), between
    )  # sizes in thousands, say
    further = [2 * sizes[-1]] if target >= 2 * sizes[-1] else []
    return np.unique(np.r_[sizes, between, further])


def _checked_repeats(repeats: Any) -> Floats:
    numbers = as_floats(repeats)
    counts = np.empty(0) if numbers is None else np.unique(numbers)
    is_whole = (counts >= 1) & (counts <= 1e9) & (counts == np.round(counts))
    if len(counts) == 0 or not is_whole.all():
        raise bad_value("repeats", repeats, "Pass whole numbers of runs, at least 1.")
    return counts


def _checked_budget(budget: Any) -> float:
    if budget is None:
        return math.inf
    if not is_number(budget) or budget <= 0:
        raise bad_value("budget", budget, "Pass seconds, above 0.")
    return float(budget)


def _in_order(sizes: ArrayLike, seconds: Any) -> Any:
    """Return seconds in the order of increasing sizes."""
    order = np.argsort(checked_sizes(sizes), kind="stable")
    is_table = not callable(seconds) and np.shape(seconds) == order.shape
    return np.asarray(seconds)[order] if is_table else seconds


# --- What runs tell about a power law, to first order, and what they cost --------------


# A Laplace prior on gamma around -1/2 of rate 5/2, the one that the fits use, has the
# variance 2 / 2.5^2. It keeps gamma in reach where few sizes say nothing of it.
PRIOR = 2.5**2 / 2


def _slopes(law: PowerLaw, n: Floats) -> Floats:
    """Return how the error at sizes n moves with alpha, eta and gamma."""
    power = n**law.gamma
    return np.stack([np.ones_like(n), power, law.eta * power * np.log(n)], axis=-1)


def information(law: PowerLaw, n: Floats, counts: Floats) -> Floats:
    r"""Return :math:`\sum_i F_i x_i x_i' / \sigma^2(n_i)` plus the prior on gamma."""
    x = _slopes(law, n)
    result: Floats = x.T @ ((counts / law.noise(n))[:, None] * x)
    result[2, 2] += PRIOR
    return result


def variance_at(inverse: Floats, law: PowerLaw, target: Floats) -> Floats:
    """Return the variance of the fitted error at target sizes."""
    g = _slopes(law, target)
    return np.asarray(np.einsum("ti,ij,tj->t", g, inverse, g))


def variance_after(
    inverse: Floats, law: PowerLaw, target: float, n: Floats, repeats: Floats
) -> Floats:
    r"""Return the variance at the target after more runs, shape (size, repeat).

    .. math:: v - \frac{(g' I^{-1} x)^2}{\sigma^2(n) / r + x' I^{-1} x}

    which is the inverse of the information after an update of rank one, without one.
    """
    g = _slopes(law, np.array([target]))[0]
    x = _slopes(law, n)
    before = g @ inverse @ g
    shared = (x @ inverse @ g)[:, None] ** 2
    variance = np.einsum("ni,ij,nj->n", x, inverse, x)[:, None]
    result: Floats = before - shared / (law.noise(n)[:, None] / repeats + variance)
    return np.maximum(result, 0.0)


def inverse_of(matrix: Floats) -> Floats:
    """Return the inverse of an information matrix, whatever the scale of its parts."""
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    inner = np.linalg.pinv(matrix * np.outer(scale, scale), rcond=1e-13, hermitian=True)
    result: Floats = inner * np.outer(scale, scale)
    return result


def seconds_at(sizes: Floats, seconds: Any) -> Callable[[Floats], Floats]:
    """Return the seconds of a run at any size: what was measured, a power law elsewhere."""
    if callable(seconds):
        return lambda n: _checked_seconds(seconds(n), n)
    times = _checked_seconds(seconds, sizes)
    x, y = np.log(sizes), np.log(times)
    middle = x.mean()
    spread = ((x - middle) ** 2).sum()
    # More data never takes less time; one size alone says nothing: as long as it is.
    slope = max(float(((x - middle) * y).sum() / spread), 0.0) if spread > 0 else 1.0

    def at(n: Floats) -> Floats:
        fitted = np.exp(y.mean() + slope * (np.log(n) - middle))
        place = np.minimum(np.searchsorted(sizes, n), len(sizes) - 1)
        return np.where(sizes[place] == n, times[place], fitted)

    return at


def _checked_seconds(seconds: Any, n: Floats) -> Floats:
    times = as_floats(seconds)
    is_fine = times is not None and times.shape == n.shape
    if times is None or not (is_fine and np.isfinite(times).all() and times.min() > 0):
        raise bad_value(
            "seconds",
            seconds,
            "Pass the seconds of one run at each size, above 0, or a function of the "
            "size.",
        )
    return times
