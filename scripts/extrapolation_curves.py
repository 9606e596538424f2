"""Real curves cut short: what the factors of `extrapolate` are learnt on and judged by.

LCDB 1.0 (268 curves, 25 runs each) and LCDB 1.1 (250 curves, means and standard errors).
A case is a curve of which a share of the sizes is seen; its truth is the mean of all runs
at the later sizes. Variants: all sizes; every second (1.1: fourth) size; 5 runs; 1 run;
each with its runs known, and as bare means. Between: every second size is seen, the others
are asked for; nothing is learnt there.
"""

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.optimize import linprog

from curvewise.stats.learning.outlook import (
    Observed,
    distances,
    outlook,
    smooth_squares,
)

SHARES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LEVELS = (0.75, 0.9, 0.95, 0.975, 0.99, 0.995)
MAIN = 0.975  # a 95 % interval leaves 2.5 % on each side


@dataclass(frozen=True)
class Curve:
    """A learning curve: truth, and runs (run, size) or standard errors of 25 splits."""

    collection: str
    dataset: int
    learner: str
    sizes: np.ndarray
    truth: np.ndarray
    table: np.ndarray | None
    errors: np.ndarray | None


@dataclass(frozen=True)
class Case:
    """What is seen of a curve, and what comes later."""

    curve: int
    variant: str
    is_known: bool
    share: float
    sizes: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    counts: np.ndarray
    to: np.ndarray
    truth: np.ndarray


def load(folder: Path | None = None) -> list[Curve]:
    """Return the curves of both collections."""
    folder = folder or Path(os.environ["CURVEWISE_DATA"]) / "learning_curves"
    return [*_runs(folder / "lcdb10_curves.parquet"), *_means(folder)]


def _runs(path):
    columns = pq.read_table(path).to_pydict()
    parts = defaultdict(list)
    for row in zip(
        *(columns[c] for c in ("dataset", "learner", "outer", "inner", "n", "score")),
        strict=True,
    ):
        parts[row[:2]].append(row[2:])
    for (dataset, learner), rows in sorted(parts.items()):
        runs = sorted({r[:2] for r in rows})
        sizes = sorted({r[2] for r in rows})
        table = np.full((len(runs), len(sizes)), np.nan)
        run, size = ({x: i for i, x in enumerate(names)} for names in (runs, sizes))
        for outer, inner, n, score in rows:
            table[run[outer, inner], size[n]] = score
        n, truth = np.array(sizes, dtype=float), np.nanmean(table, axis=0)
        yield Curve("1.0", dataset, learner, n, truth, table, None)


def _means(folder):
    columns = pq.read_table(folder / "lcdb11_mean_curves.parquet").to_pydict()
    parts = defaultdict(list)
    names = ("dataset", "learner", "n", "err_test", "se_test")
    for row in zip(*(columns[c] for c in names), strict=True):
        parts[row[:2]].append(row[2:])
    for (dataset, learner), rows in sorted(parts.items()):
        n, truth, errors = np.array(sorted(rows), dtype=float).T
        yield Curve("1.1", dataset, learner, n, truth, None, errors)


def cases(curves: list[Curve], seed: int = 0, shares=SHARES) -> list[Case]:
    """Return all cases; which 5 runs, and which one, is left to chance."""
    rng = np.random.default_rng(seed)
    found = []
    for i, curve in enumerate(curves):
        for variant, kept, table in _variants(curve, rng):
            means, variances, counts = _summary(curve, table)
            for share in shares:
                k = max(3, round(share * len(kept)))
                seen, later = kept[:k], kept[k:]
                if len(later) == 0:
                    continue
                about = (means[seen], variances[seen], counts[seen])
                ahead = (curve.sizes[later], curve.truth[later])
                found += [
                    Case(i, variant, known, share, curve.sizes[seen], *about, *ahead)
                    for known in ((True, False) if variant != "one run" else (False,))
                ]
        found += _between(i, curve)
    return found


def _between(i: int, curve: Curve):
    """Return a curve of which every second size is seen, and the others are asked for."""
    is_seen = (len(curve.sizes) - np.arange(len(curve.sizes))) % 2 == 1
    is_asked = ~is_seen & (curve.sizes > curve.sizes[is_seen][0])
    about = [x[is_seen] for x in (curve.sizes, *_summary(curve, curve.table))]
    ahead = (curve.sizes[is_asked], curve.truth[is_asked])
    return [Case(i, "between", known, 1.0, *about, *ahead) for known in (True, False)]


def _variants(curve: Curve, rng):
    every = np.arange(len(curve.sizes))
    yield "all", every, curve.table
    yield "thinned", every[:: 2 if curve.table is not None else 4], curve.table
    if curve.table is None:
        return
    full = np.flatnonzero(~np.isnan(curve.table).any(axis=1))
    for name, runs, count in (
        ("five runs", np.arange(len(curve.table)), 5),
        ("one run", full if len(full) else np.arange(len(curve.table)), 1),
    ):
        table = curve.table[rng.permutation(runs)[:count]]
        yield name, np.flatnonzero(~np.isnan(table).all(axis=0)), table


def _summary(curve: Curve, table):
    """Return means, variances and numbers of runs; NaN where there are none."""
    if table is None:
        counts = np.full(len(curve.sizes), 25.0)
        return curve.truth, 25 * curve.errors**2, counts
    is_there = ~np.isnan(table)
    counts = is_there.sum(axis=0).astype(float)
    filled = np.where(is_there, table, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = filled.sum(axis=0) / counts
        squares = (np.where(is_there, table - means, 0.0) ** 2).sum(axis=0)
        return means, np.where(counts > 1, squares / (counts - 1), np.nan), counts


@dataclass(frozen=True)
class Rows:
    """One row for each case and later size."""

    case: np.ndarray
    middle: np.ndarray
    up: np.ndarray
    down: np.ndarray
    truth: np.ndarray
    ratio: np.ndarray
    number: np.ndarray
    is_last: np.ndarray
    flat: np.ndarray
    rise: np.ndarray

    def of(self, values):
        """Return what is known of each case, for each row."""
        return np.asarray(values)[self.case]


def rows(found: list[Case]) -> Rows:
    """Return predictions and terms; curves on common sizes are fitted at once."""
    groups = defaultdict(list)
    for i, case in enumerate(found):
        groups[case.is_known, case.sizes.tobytes()].append(i)
    parts = [None] * len(found)
    for (known, _), members in groups.items():
        some = [found[i] for i in members]
        sizes = some[0].sizes
        squares = None
        if known:
            squares = smooth_squares(
                np.stack([c.variances for c in some]),
                np.stack([c.counts for c in some]),
            )
        seen = Observed(sizes, np.stack([c.means for c in some]), squares)
        to = np.unique(np.concatenate([c.to for c in some]))
        ahead, rise = outlook(seen, to), seen.rise
        for j, (i, c) in enumerate(zip(members, some, strict=True)):
            at, number = np.searchsorted(to, c.to), np.arange(len(c.to))
            parts[i] = (
                np.full(len(at), i),
                ahead.middle[j, at],
                ahead.up[j, at],
                ahead.down[j, at],
                c.truth,
                c.to / sizes[-1],
                number,
                number == len(at) - 1,
                np.full(len(at), ahead.flat[j]),
                np.full(len(at), rise[j]),
            )
    return Rows(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def folds(datasets: np.ndarray, seed: int = 0, count: int = 10) -> np.ndarray:
    """Return the fold of each row; a data set is in one fold only, in both collections."""
    names, place = np.unique(datasets, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    fold = np.empty(len(names), dtype=int)
    fold[order] = np.arange(len(names)) % count
    return fold[place]


def learning_weights(curves, found: list[Case], table: Rows) -> np.ndarray:
    """Return weights: first, middle and last later size; each curve and variant alike."""
    later = table.of([len(c.to) for c in found])
    use = (table.number == 0) | (table.number == later // 2) | table.is_last
    use &= table.of([c.variant != "between" for c in found])
    kinds = {k: i for i, k in enumerate(sorted({_kind(c) for c in found}))}
    kind = table.of([kinds[_kind(c)] for c in found])
    counts = np.bincount(kind[use], minlength=len(kinds))
    return np.where(use, 1 / np.maximum(counts[kind], 1), 0.0)


def _kind(case: Case):
    return case.curve, case.variant, case.is_known


def learn(table: Rows, weights: np.ndarray, levels=LEVELS) -> tuple:
    """Return the factors upwards and downwards, each of shape (level, term)."""
    use = weights > 0
    off, w = (table.truth - table.middle)[use], weights[use]
    return (
        _side(table.up[use], off, w, levels),
        _side(table.down[use], -off, w, levels),
    )


def _side(terms, off, weights, levels):
    """Return factors that grow with the level, the main one learnt first."""
    main = quantile_regression(terms, off, weights, MAIN)
    for _ in range(2):
        # A miss counts relative to the width: else narrow intervals would not matter.
        relative = weights / np.maximum(terms @ main, 1e-4)
        main = quantile_regression(terms, off, relative, MAIN)
    factors = {MAIN: main}
    for level in sorted(x for x in levels if x > MAIN):
        least = factors[max(factors)]
        factors[level] = quantile_regression(terms, off, relative, level, least=least)
    for level in sorted((x for x in levels if x < MAIN), reverse=True):
        most = factors[min(factors)]
        factors[level] = quantile_regression(terms, off, relative, level, most=most)
    return np.stack([factors[level] for level in levels])


def quantile_regression(terms, off, weights, level, least=None, most=None):
    """Return factors between bounds (0 and none) of the least pinball loss, exactly.

    The dual of the linear programme has one variable for each row, all boxed, and one
    constraint for each term: the simplex method needs a few steps only.
    """
    least = np.zeros(terms.shape[1]) if least is None else least
    scale = terms.std(axis=0) + 1e-12
    weights = weights / weights.mean()
    costs = -(off - terms @ least)
    constraints = (terms / scale).T
    bounds = np.stack([weights * (level - 1), weights * level], axis=1)
    if most is not None:
        costs = np.r_[costs, (most - least) * scale]
        constraints = np.hstack([constraints, -np.eye(len(scale))])
        bounds = np.vstack([bounds, np.tile([0.0, np.inf], (len(scale), 1))])
    found = linprog(
        costs,
        A_ub=constraints,
        b_ub=np.zeros(len(scale)),
        bounds=bounds,
        method="highs",
    )
    assert found.status == 0, found.message
    factors = least - found.ineqlin.marginals / scale
    return np.clip(factors, least, np.inf if most is None else most)


def cross_fitted(curves, found, table: Rows, seed: int = 0, levels=LEVELS):
    """Return lower and upper ends (level, row) from factors of other folds' data sets."""
    fold = folds(table.of([curves[c.curve].dataset for c in found]), seed)
    weights = learning_weights(curves, found, table)
    lower, upper = np.empty((2, len(levels), len(table.truth)))
    for i in range(fold.max() + 1):
        up, down = learn(table, np.where(fold == i, 0.0, weights), levels)
        out = fold == i
        at, p = table.middle[out], np.array(levels)
        upper[:, out] = np.minimum(at + distances(table.up[out], up, p), 1)
        lower[:, out] = np.maximum(at - distances(table.down[out], down, p), 0)
    return lower, upper
