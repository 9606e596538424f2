"""One-sided t tests of many contrasts of the means at sizes, of runs that may be paired."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._curve.runs import Runs
from curvewise.stats._sample import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Contrasts with what a one-sided t test says of each.

    Parameters
    ----------
    places : ndarray of int, shape (contrast, size of the contrast)
        Which sizes each is of.
    value, error, freedom, p : ndarray, shape (contrast,)
        Estimate, standard error, degrees of freedom and P(so large if the true one is 0).
        NaN where it cannot be told.
    is_paired : ndarray of bool, shape (contrast,)
    """

    places: NDArray[np.int64]
    value: Floats
    error: Floats
    freedom: Floats
    p: Floats
    is_paired: NDArray[np.bool_]

    @property
    def is_told(self) -> NDArray[np.bool_]:
        """Whether there is a test at all."""
        return np.isfinite(self.p)


def judged(runs: Runs, places: NDArray[np.int64], factors: Floats) -> Judged:
    """Return the test of every contrast: within runs where they are known, else Welch.

    Parameters
    ----------
    runs : Runs
    places : ndarray of int, shape (contrast, part)
    factors : ndarray, shape (contrast, part)
        With sum 0 in each contrast.
    """
    found = _apart(runs, places, factors)
    is_paired = np.zeros(len(places), dtype=bool)
    if runs.table is not None:
        paired = _within(runs.table, places, factors)
        is_paired = np.isfinite(paired[1])
        found = tuple(
            np.where(is_paired, p, q) for p, q in zip(paired, found, strict=True)
        )
    value, error, freedom, count = found
    return Judged(
        places, value, error, freedom, _p(value, error, freedom, count), is_paired
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
    result: Floats = np.where(is_still, still, p)
    return result
