"""Does a learning curve fall, and ever more slowly? Tests of its shape."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import Runs, Unit, checked_runs, scale_of
from curvewise.stats.validation import Floats, checked_level

__all__ = [
    "Departure",
    "Shape",
    "shape",
]


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """Contrasts with what a one-sided t test says of each; NaN where it cannot tell."""

    places: NDArray[np.int64]  # of the sizes that each is of
    value: Floats  # (contrast,)
    error: Floats  # standard error
    freedom: Floats
    p: Floats  # P(so large if the true one is 0)
    is_paired: NDArray[np.bool_]

    @property
    def is_told(self) -> NDArray[np.bool_]:
        """Whether there is a test at all."""
        return np.isfinite(self.p)


@dataclass(frozen=True, slots=True)
class Departure:
    """A stretch where the curve significantly leaves its usual shape.

    Parameters
    ----------
    first, last : float
        Sizes between which it does.
    at : float
        The size that is too high: the last of a rise, the middle of a bump.
    amount, lower, upper : float
        How much too high, in the unit of the errors, and an interval that holds for all
        stretches at once.
    p : float
        Corrected for all stretches that were tested.
    """

    first: float
    last: float
    at: float
    amount: float
    lower: float
    upper: float
    p: float


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Whether a curve rises somewhere, or bends the wrong way.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
    p_rise, p_bump : float
        Smallest corrected p value of a rise, and of a bump: 1 where nothing can be told.
    rises, bumps : tuple of Departure
        Where the curve significantly rises, and where it is significantly above a straight
        line between two other sizes; the shortest stretches, none inside another.
    level : float
    is_paired : bool
        Whether runs were compared with themselves at other sizes.
    rows_used : int
        Independent runs (or groups) behind the tests, at the size that has most.
    is_told : bool
        Whether there was anything to test: two runs at two sizes or more.
    """

    sizes: Floats
    p_rise: float
    p_bump: float
    rises: tuple[Departure, ...]
    bumps: tuple[Departure, ...]
    level: float
    is_paired: bool
    rows_used: int
    is_told: bool

    @property
    def is_nonmonotone(self) -> bool:
        """Whether the error significantly rises somewhere."""
        return bool(self.rises)

    @property
    def is_nonconvex(self) -> bool:
        """Whether the error significantly falls faster later than before."""
        return bool(self.bumps)

    @property
    def concerns(self) -> tuple[Literal["rises", "not_convex"], ...]:
        """What is wrong with the shape, by name; nothing where nothing was found."""
        rises: tuple[Literal["rises"], ...] = ("rises",) if self.rises else ()
        return (*rises, "not_convex") if self.bumps else rises

    def rows(self) -> list[dict[str, float | str]]:
        """Return a row for each rise and each bump."""
        kinds = [("rise", d) for d in self.rises] + [("bump", d) for d in self.bumps]
        return [
            {
                "what": kind,
                "from": d.first,
                "to": d.last,
                "at": d.at,
                "amount": d.amount,
                "lower": d.lower,
                "upper": d.upper,
                "p": d.p,
            }
            for kind, d in kinds
        ]


def shape(
    sizes: ArrayLike,
    errors: Any,
    *,
    unit: Unit = "fraction",
    runs: Any = None,
    groups: Any = None,
    level: float = 0.05,
) -> Shape:
    r"""Return whether a learning curve significantly rises, or is not convex.

    .. math:: \mu_j - \mu_i > 0, \ i < j; \qquad
       \mu_j - w \mu_{j-s} - (1 - w) \mu_{j+s} > 0, \
       w = \frac{n_{j+s} - n_j}{n_{j+s} - n_{j-s}}

    are tested for every pair of sizes and for every size between two others s places
    away: t tests of these contrasts within runs, corrected for their number (Bonferroni).

    Parameters
    ----------
    sizes : array_like, shape (size,)
    errors : sequence of array_like
        One array of runs for each size.
    unit : {"fraction", "percent", "loss"}
    runs : sequence of array_like, optional
        Which run each error is of. If left out and every size has as many errors, the
        j-th ones are taken for one run; otherwise for runs that have nothing in common
        (Welch's t).
    groups : array_like, shape (run,), optional
        Which runs belong together, because they share a test split: means of groups are
        then tested. In the order of the errors at a size or, where `runs` are given, in
        the sorted order of their names.
    level : float
        Of the two families of tests, each.

    Returns
    -------
    Shape

    Notes
    -----
    Runs of one curve are correlated over sizes (nested training sets, the same test
    split): what a run has at all sizes cancels in differences within runs, and a test that
    takes runs at two sizes for independent misses most rises. Runs that share a test split
    are correlated with each other too, and then only `groups` keep the level. The least
    favourable curves are a flat one for rises and a straight one for bumps: there the
    level holds, elsewhere less is found by chance. About one in ten real curves rises
    significantly [1]_ [2]_.

    References
    ----------
    .. [1] F. Mohr, T. Viering, M. Loog, J. van Rijn. "LCDB 1.0: An Extensive Learning
       Curves Database for Classification Tasks." ECML-PKDD 2022.
    .. [2] T. Viering, M. Loog. "The Shape of Learning Curves: A Review." TPAMI 2023.

    Examples
    --------
    >>> falls = [[0.40, 0.41, 0.42], [0.30, 0.32, 0.31], [0.25, 0.26, 0.27]]
    >>> shape([25, 50, 100], falls).is_nonmonotone
    False
    >>> rises = [[0.30, 0.31, 0.32], [0.401, 0.412, 0.42], [0.25, 0.26, 0.27]]
    >>> (rise,) = shape([25, 50, 100], rises).rises
    >>> rise.first, rise.last, round(rise.amount, 4)
    (25.0, 50.0, 0.101)
    """
    measured = checked_runs(sizes, errors, unit=unit, runs=runs, fewest=2)
    level = checked_level(level)
    # The square of a tiny or a huge loss is no number.
    inside = float(measured.means.max()) or 1.0 if unit == "loss" else 1.0
    measured = _divided(measured, inside)
    if groups is not None:
        measured = _grouped(measured, groups)
    n = measured.sizes
    pairs = np.array(np.triu_indices(len(n), 1)).T
    rises = contrasts_of(measured, pairs, np.tile([-1.0, 1.0], (len(pairs), 1)))
    triples = symmetric_triples(len(n))
    share = (n[triples[:, 2]] - n[triples[:, 1]]) / (
        n[triples[:, 2]] - n[triples[:, 0]]
    )
    bumps = contrasts_of(
        measured, triples, np.stack([-share, np.ones_like(share), share - 1], 1)
    )
    scale = scale_of(unit) * inside
    is_told = bool(rises.is_told.any())
    return Shape(
        sizes=n,
        p_rise=_smallest(rises),
        p_bump=_smallest(bumps),
        rises=_departures(rises, n, level, 1, scale),
        bumps=_departures(bumps, n, level, 1, scale),
        level=level,
        is_paired=bool(rises.is_paired[rises.is_told].all()) if is_told else False,
        rows_used=int(measured.counts.max()),
        is_told=is_told,
    )


def _divided(runs: Runs, by: float) -> Runs:
    table = None if runs.table is None else runs.table / by
    return Runs(runs.sizes, tuple(e / by for e in runs.errors), table)


def symmetric_triples(k: int) -> NDArray[np.int64]:
    """Return all three places out of k of which the middle one is half way."""
    places = [(j - s, j, j + s) for s in range(1, k) for j in range(s, k - s)]
    return np.array(places, dtype=np.int64).reshape(-1, 3)


def _smallest(contrasts: Contrasts) -> float:
    p = contrasts.p[contrasts.is_told]
    return min(1.0, float(p.min()) * len(p)) if len(p) else 1.0


def _departures(
    contrasts: Contrasts, n: Floats, level: float, at: int, scale: float
) -> tuple[Departure, ...]:
    """Return the significant contrasts that hold no other one."""
    from scipy.special import stdtrit

    m = int(contrasts.is_told.sum())
    is_significant = contrasts.is_told & (
        np.where(contrasts.is_told, contrasts.p, 1.0) * m <= level
    )
    places, index = contrasts.places[is_significant], np.flatnonzero(is_significant)
    first, last = places[:, 0], places[:, -1]
    holds = (first[:, None] <= first) & (last[:, None] >= last)
    longer = (last - first)[:, None] > (last - first)
    departures = []
    for i in index[~(holds & longer).any(axis=1)]:
        reach = -float(stdtrit(contrasts.freedom[i], level / m) * contrasts.error[i])
        value = float(contrasts.value[i])
        place = contrasts.places[i]
        departures.append(
            Departure(
                first=float(n[place[0]]),
                last=float(n[place[-1]]),
                at=float(n[place[at]]),
                amount=scale * value,
                lower=scale * (value - reach),
                upper=scale * (value + reach),
                p=min(1.0, float(contrasts.p[i]) * m),
            )
        )
    return tuple(sorted(departures, key=lambda d: (d.first, d.last)))


def _grouped(runs: Runs, groups: Any) -> Runs:
    """Return means of the runs that belong together, in place of the runs."""
    if runs.table is None:
        raise CurvewiseError(
            "groups needs to know which run is which. Pass runs, or as many errors at "
            "every size."
        )
    names = np.asarray(groups)
    if names.shape != (len(runs.table),):
        raise CurvewiseError(
            f"groups has shape {names.shape}, and there are {len(runs.table)} runs. Pass "
            f"one group for each run."
        )
    try:
        _, place = np.unique(names, return_inverse=True)
    except TypeError:  # None has no order
        raise CurvewiseError(
            "Some groups have no name. Pass one group for each run."
        ) from None
    is_in = (place == np.arange(place.max() + 1)[:, None]).astype(np.float64)
    is_there = np.isfinite(runs.table)
    count = is_in @ is_there
    total = is_in @ np.where(is_there, runs.table, 0.0)
    table = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    errors = tuple(column[np.isfinite(column)] for column in table.T)
    return Runs(runs.sizes, errors, table)


# --------------------------------------------------------------------------------------
# One-sided t tests of many contrasts of the means at sizes, of runs that may be
# paired.


def contrasts_of(runs: Runs, places: NDArray[np.int64], factors: Floats) -> Contrasts:
    """Return the test of every contrast: within runs where they are known, else Welch."""
    estimates = _apart(runs, places, factors)
    is_paired = np.zeros(len(places), dtype=bool)
    if runs.table is not None:
        paired = _within(runs.table, places, factors)
        is_paired = np.isfinite(paired[1])
        estimates = tuple(
            np.where(is_paired, p, q) for p, q in zip(paired, estimates, strict=True)
        )
    value, error, freedom, count = estimates
    return Contrasts(
        places=places,
        value=value,
        error=error,
        freedom=freedom,
        p=_p(value, error, freedom, count),
        is_paired=is_paired,
    )


def _within(
    table: Floats, places: NDArray[np.int64], factors: Floats
) -> tuple[Floats, ...]:
    """Return estimates from the runs that have all sizes of a contrast."""
    each = np.einsum("rcp,cp->rc", table[:, places], factors)
    is_there = np.isfinite(each)
    count = is_there.sum(axis=0).astype(np.float64)
    few = count < 2
    many = np.where(few, 2.0, count)
    value = np.where(is_there, each, 0.0).sum(axis=0) / many
    rest = np.where(is_there, each - value, 0.0)
    variance = (rest**2).sum(axis=0) / (many - 1)
    # Errors that are the same in all runs differ in their last bits only.
    scale = np.nanmax(np.abs(table)) if np.isfinite(table).any() else 0.0
    variance = np.where(variance > (1e-13 * scale) ** 2, variance, 0.0)
    value = np.where(np.abs(value) > 1e-13 * scale, value, 0.0)
    parts = (value, np.sqrt(variance / many), many - 1, many)
    return tuple(np.where(few, np.nan, part) for part in parts)


def _apart(
    runs: Runs, places: NDArray[np.int64], factors: Floats
) -> tuple[Floats, ...]:
    """Return estimates as if the runs at different sizes were other runs."""
    counts, means = runs.counts, runs.means
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = factors**2 * (runs.variances / counts)[places]
        variance = parts.sum(axis=1)
        freedom = variance**2 / (parts**2 / (counts - 1)[places]).sum(axis=1)
    least = (counts - 1)[places].min(axis=1)
    freedom = np.where(
        np.isfinite(freedom), freedom, np.where(least > 0, least, np.nan)
    )
    value = (factors * means[places]).sum(axis=1)
    scale = float(np.abs(means).max())
    value = np.where(np.abs(value) > 1e-13 * scale, value, 0.0)
    return value, np.sqrt(variance), freedom, counts[places].min(axis=1)


def _p(value: Floats, error: Floats, freedom: Floats, count: Floats) -> Floats:
    """Return one-sided p values.

    Where runs do not vary at all t is infinite, and 2^-R is taken: that all R runs of a
    curve without a rise rise has at most that chance, if they are as likely to fall.
    """
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        t = value / error
        p = stdtr(freedom, -t)
    is_still = (error == 0) & np.isfinite(freedom)
    still = np.where(value > 0, 0.5**count, 1.0)
    return np.asarray(np.where(is_still, still, p))
