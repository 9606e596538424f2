"""Real curves of two classes cut short: what drift is learnt on and judged by.

The 135 curves of LCDB 1.0 (Mohr et al., ECML-PKDD 2022) whose confusion counts are known,
of 45 data sets, with 25 runs at most sizes: 5 test splits with 5 training sets each, and
the same splits at all sizes. A task is a curve of which a share of the sizes is seen; its
truth are the metrics of the mean counts at the last size. `tp` counts the class that sorts
first; here it is class 1.
"""

import os
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.optimize import linprog, minimize

from curvewise import metrics
from curvewise.stats.confusion.data import CountTable, count_table, stacked, subset
from curvewise.stats.confusion.draws import Asked, even_points, matrices
from curvewise.stats.confusion.drift import (
    DRIFT,
    DriftConstants,
    DriftFit,
    fit_drift,
    logits_seen,
    smoothed_logits,
)

FILE = "learning_curves/lcdb10_curves.parquet"
NAMES = ("error", "precision", "recall", "f1")
WRONG = 1.0 - np.eye(2)
DRAWS = 512


@dataclass(frozen=True)
class Curve:
    """A curve: for each size counts (run, 2, 2), and which test split each run had."""

    dataset: int
    learner: str
    sizes: np.ndarray
    counts: list
    splits: list


@dataclass(frozen=True)
class Task:
    """Curves cut short, and what is to be predicted of each."""

    table: CountTable
    to: np.ndarray
    truth: np.ndarray

    @property
    def last(self) -> np.ndarray:
        """Metrics at the last size seen."""
        return metric_table(last_counts(self.table))


def load(path: Path | None = None) -> list[Curve]:
    """Return the curves, by data set and learner."""
    path = path or Path(os.environ["CURVEWISE_DATA"]) / FILE
    names = ("dataset", "learner", "n", "outer", "inner", "tn", "fp", "fn", "tp")
    columns = pq.read_table(path, columns=list(names)).to_pydict()
    parts = defaultdict(lambda: defaultdict(list))
    for row in zip(*(columns[c] for c in names), strict=True):
        if row[-1] is not None:
            parts[row[:2]][row[2]].append(row[3:])
    curves = []
    for (dataset, learner), by_size in sorted(parts.items()):
        sizes = sorted(by_size)
        runs = [np.array(sorted(by_size[n]), dtype=float) for n in sizes]
        counts = [own[:, 2:].reshape(-1, 2, 2) for own in runs]
        splits = [own[:, 0] for own in runs]
        curves.append(Curve(dataset, learner, np.array(sizes, float), counts, splits))
    return curves


def thinned(curves: list[Curve], step: int) -> list[Curve]:
    """Return the curves with every step-th size, the last one kept."""
    out = []
    for own in curves:
        at = np.arange(len(own.sizes) - 1, -1, -step)[::-1]
        counts, splits = ([part[i] for i in at] for part in (own.counts, own.splits))
        out.append(replace(own, sizes=own.sizes[at], counts=counts, splits=splits))
    return out


def with_runs(curves: list[Curve], count: int, seed: int = 0) -> list[Curve]:
    """Return the curves with a few runs only, the same ones at all sizes."""
    rng = np.random.default_rng(seed)
    out = []
    for own in curves:
        kept = rng.permutation(min(len(c) for c in own.counts))[:count]
        counts, splits = ([p[kept] for p in part] for part in (own.counts, own.splits))
        out.append(replace(own, counts=counts, splits=splits))
    return out


def of_split(curves: list[Curve], split: int, *, is_other: bool = False) -> list[Curve]:
    """Return the runs of one test split, or of all the others."""
    out = []
    for own in curves:
        use = [(s == split) != is_other for s in own.splits]
        counts = [c[u] if u.any() else c for c, u in zip(own.counts, use, strict=True)]
        out.append(replace(own, counts=counts))
    return out


def task(
    curves: list[Curve],
    share: float,
    less: int = 0,
    truth: list[Curve] | None = None,
    fewest: int = 2,
) -> Task:
    """Return curves, less their last sizes, of which a share of the sizes is seen."""
    tables, to, truths = [], [], []
    for own, right in zip(curves, truth or curves, strict=True):
        whole = len(own.sizes) - less
        seen = max(fewest, round(share * whole))
        tables.append(count_table(own.sizes[:seen], own.counts[:seen]))
        to.append(own.sizes[whole - 1])
        place = int(np.flatnonzero(right.sizes == to[-1])[0])
        truths.append(right.counts[place].sum(0))
    return Task(stacked(tables), np.array(to), metric_table(np.array(truths)))


def metric_table(counts: np.ndarray) -> np.ndarray:
    """Return error, precision, recall and F1 of matrices, last axis; 0/0 is 0."""
    return np.stack(
        [np.nan_to_num(getattr(metrics, name)(counts)) for name in NAMES], axis=-1
    )


def from_recalls(recalls: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the four metrics of recalls (..., class)."""
    shares = np.broadcast_to(shares, recalls.shape)
    return metric_table(matrices(recalls, shares, WRONG))


def last_counts(table: CountTable) -> np.ndarray:
    """Return the matrices of the last size seen."""
    return table.counts[np.arange(len(table)), (table.runs > 0).sum(1) - 1]


def predicted(fit, to: np.ndarray) -> np.ndarray:
    """Return the metrics of each curve at its own size."""
    if isinstance(fit, DriftFit):
        return from_recalls(fit.recalls(to[:, None])[:, 0], fit.table.shares)
    sizes, place = np.unique(to, return_inverse=True)
    recalls = fit.recalls(sizes)[np.arange(len(to)), place]
    return from_recalls(recalls, fit.table.shares)


def drawn(fit, to, target="observed", test_size=None, runs=None, count=DRAWS):
    """Return draws of the metrics of each curve at its own size, (draw, curve, metric)."""
    table = fit.table
    own = table.runs[np.arange(len(table)), (table.runs > 0).sum(1) - 1]
    runs = own if runs is None else runs
    test_size = np.full(len(to), np.nan) if test_size is None else test_size
    out = np.empty((count, len(to), len(NAMES)))
    points = even_points(6, count)
    for size in np.unique(to):
        at = np.flatnonzero(to == size)
        asked = Asked(np.array([size]), target, test_size[at, None], runs[at, None])
        part = fit_drift(subset(table, at), fit.constants)
        recalls = part.draw(asked, points)[:, :, 0]
        out[:, at] = from_recalls(recalls, table.shares[at])
    return out


def folds(curves: list[Curve], seed: int = 0, count: int = 10) -> np.ndarray:
    """Return the fold of each curve; a data set is in one fold only."""
    names, place = np.unique([c.dataset for c in curves], return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    fold = np.empty(len(names), dtype=int)
    fold[order] = np.arange(len(names)) % count
    return fold[place]


def bootstrapped(values, curves, resamples=2000, seed=1):
    """Return means (of the first axis) and their 95 % range over data sets drawn anew."""
    names, place = np.unique([c.dataset for c in curves], return_inverse=True)
    total = np.zeros((len(names), *np.shape(values)[1:]))
    np.add.at(total, place, values)
    count = np.bincount(place)
    drawn = np.random.default_rng(seed).integers(0, len(names), (resamples, len(names)))
    means = total[drawn].sum(1)
    means = means / count[drawn].sum(1).reshape(-1, *[1] * (means.ndim - 1))
    return np.mean(values, axis=0), *np.quantile(means, [0.025, 0.975], axis=0)


# Learning ------------------------------------------------------------------------------


def with_prior(theta, constants: DriftConstants = DRIFT) -> DriftConstants:
    """Return constants with slowing, slowing_common, rise and the logs of the drifts."""
    prior = replace(
        constants.drift,
        slowing=abs(theta[0]),
        slowing_common=abs(theta[1]),
        rise=theta[2],
        bend=float(np.exp(theta[3])),
        wander=float(np.exp(theta[4])),
    )
    return replace(constants, drift=prior)


def learning_tasks(curves: list[Curve]) -> list[Task]:
    """Return what constants are learnt on: from 80 % and 50 %, of all sizes and less 2."""
    return [task(curves, share, less) for share in (0.8, 0.5) for less in (0, 2)]


def learn_prior(tasks: list[Task], use: np.ndarray, steps: int = 250) -> DriftConstants:
    """Return constants of least mean error, relative to that of the last value."""
    parts = [Task(subset(t.table, use), t.to[use], t.truth[use]) for t in tasks]
    scale = [np.abs(t.last - t.truth).mean(0) for t in parts]
    fits = [fit_drift(t.table) for t in parts]
    seen = [logits_seen(t.table) for t in parts]

    def loss(theta):
        constants = with_prior(theta)
        off = []
        for t, s, fit, logits in zip(parts, scale, fits, seen, strict=True):
            drift = smoothed_logits(t.table, *logits, constants.drift, constants)
            told = predicted(replace(fit, drift=drift), t.to)  # its law stays
            off.append(np.abs(told - t.truth).mean(0) / s)
        return np.mean(off)

    # A start that knows nothing of these curves: the clock of neither class is slower.
    start = np.array([0.2, 0.2, 0.1, -1.5, -1.0])
    simplex = np.vstack([start, start + np.diag([-0.1, 0.1, 0.05, 0.4, 0.4])])
    found = minimize(
        loss,
        start,
        method="Nelder-Mead",
        options={
            "initial_simplex": simplex,
            "maxfev": steps,
            "xatol": 2e-3,
            "fatol": 2e-5,
        },
    )
    return with_prior(found.x)


SHARES = (0.5, 0.6, 0.7, 0.8, 0.9)
SCALES = np.linspace(-2.5, 2.5, 26)


def needed(tasks: list[Task], constants: DriftConstants, level: float = 0.95):
    """Return octaves ahead, and the least log scale with which each band holds."""
    ahead, scales = [], []
    tail = (1 - level) / 2
    for own in tasks:
        holds = []
        for scale in SCALES:
            fit = fit_drift(own.table, replace(constants, near=scale, far=0.0))
            ends = np.quantile(drawn(fit, own.to), [tail, 1 - tail], axis=0)
            holds.append(is_inside(own.truth, *ends))
        holds = np.array(holds)
        # It is between the first scale that holds and the one before.
        first = SCALES[holds.argmax(0)] - (SCALES[1] - SCALES[0]) / 2
        scales.append(np.where(holds.any(0), first, SCALES[-1] + 0.5))
        ahead.append(np.log2(own.to / own.table.largest))
    return np.array(ahead), np.array(scales)


def learn_scale(ahead, scales, level: float = 0.95) -> tuple[float, float]:
    """Return near and far by quantile regression of the scales needed."""
    y = scales.ravel()
    x = np.log2(np.repeat(ahead.ravel(), scales.shape[-1]) + 1)
    design = np.stack([np.ones_like(x), x], axis=1)
    bounds = np.tile([level - 1, level], (len(y), 1))
    found = linprog(-y, A_eq=design.T, b_eq=np.zeros(2), bounds=bounds, method="highs")
    near, far = -found.eqlin.marginals
    return float(near), float(far)


def is_inside(truth, lower, upper) -> np.ndarray:
    """Return which intervals hold the truth, which may be off by a rounding."""
    return (truth >= lower - 1e-12) & (truth <= upper + 1e-12)


def cross_fitted(curves: list[Curve], seed: int = 0, steps: int = 250):
    """Return the constants of each fold, learnt on the others, and the folds."""
    fold = folds(curves, seed)
    tasks = learning_tasks(curves)
    wide = [task(curves, share) for share in SHARES]
    out = []
    for i in range(fold.max() + 1):
        use = np.flatnonzero(fold != i)
        constants = learn_prior(tasks, use, steps)
        some = [Task(subset(t.table, use), t.to[use], t.truth[use]) for t in wide]
        near, far = learn_scale(*needed(some, constants))
        out.append(replace(constants, near=near, far=far))
    return out, fold
