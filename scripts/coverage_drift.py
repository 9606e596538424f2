"""How near drifting count curves come to real ones, and how often their bands hold.

Constants are learnt on nine tenths of the data sets and judged on the others, in turn;
ranges in brackets are bootstrapped over data sets. Takes ten minutes.

python scripts/coverage_drift.py [seed of the folds]
"""

import sys
from dataclasses import dataclass, replace

import numpy as np
from drift_curves import (
    NAMES,
    Task,
    bootstrapped,
    cross_fitted,
    drawn,
    fit_drift,
    is_inside,
    load,
    metric_table,
    of_split,
    predicted,
    task,
    thinned,
    with_runs,
)

from curvewise.stats.confusion.calibrated import fit_calibrated
from curvewise.stats.confusion.data import subset
from curvewise.stats.confusion.paper import fit_paper
from curvewise.stats.forms import fit_forms


@dataclass(frozen=True)
class Judged:
    """Constants of folds, and the fold of each curve they were not learnt on."""

    constants: list
    fold: np.ndarray

    def predicted(self, own: Task) -> np.ndarray:
        """Return the metrics of each curve at its own size."""
        out = np.empty_like(own.truth)
        for at, fit in self._fits(own):
            out[at] = predicted(fit, own.to[at])
        return out

    def drawn(self, own: Task, target: str = "observed", test_size=None) -> np.ndarray:
        """Return draws of them, shape (draw, curve, metric)."""
        out = []
        order = []
        for at, fit in self._fits(own):
            size = None if test_size is None else test_size[at]
            out.append(drawn(fit, own.to[at], target, size))
            order.append(at)
        return np.concatenate(out, axis=1)[:, np.argsort(np.concatenate(order))]

    def _fits(self, own: Task):
        for i, constants in enumerate(self.constants):
            at = np.flatnonzero(self.fold == i)
            yield at, fit_drift(subset(own.table, at), constants)


def power_laws(own: Task) -> np.ndarray:
    """Return POW3 fitted to each metric; the last value where there are too few sizes."""
    out = own.last.copy()
    for i, to in enumerate(own.to):
        seen = own.table.runs[i] > 0
        if seen.sum() < 3:
            continue
        y = _errors(metric_curve(own, i)[seen])
        fits = fit_forms(own.table.sizes[i, seen], y.T, "POW3", weights="equal")
        out[i] = _errors(np.clip(fits.error([to])[:, 0], 0, 1))
    return out


def metric_curve(own: Task, i: int) -> np.ndarray:
    """Return the metrics of one curve at all its sizes."""
    return metric_table(own.table.counts[i])


def _errors(values: np.ndarray) -> np.ndarray:
    """Return metrics as errors, and back."""
    out = 1 - values
    out[..., 0] = values[..., 0]
    return out


def by_number_of_sizes(fit, own: Task) -> np.ndarray:
    """Return the predictions of a method that is fitted to curves of the same length."""
    count = (own.table.runs > 0).sum(1)
    out = np.empty_like(own.truth)
    for k in np.unique(count):
        at = np.flatnonzero(count == k)
        part = _shortened(subset(own.table, at), k)
        out[at] = predicted(fit(part), own.to[at])
    return out


def _shortened(table, k: int):
    names = ("sizes", "counts", "runs", "spread", "sampling")
    return replace(table, **{name: getattr(table, name)[:, :k] for name in names})


def variants(curves):
    """Return names, tasks from 80 and 50 % of the sizes; truth is the mean of all runs."""
    every = {
        "all": curves,
        "every second size": thinned(curves, 2),
        "every third size": thinned(curves, 3),
        "3 runs": with_runs(curves, 3),
        "1 run": with_runs(curves, 1),
        "every second size, 1 run": with_runs(thinned(curves, 2), 1),
    }
    for name, some in every.items():
        for share in (0.8, 0.5):
            yield f"{name}, {share:.0%}", task(some, share, truth=curves, fewest=3)


def accuracy(curves, judged: Judged) -> None:
    """Print mean absolute errors, and differences to rivals with their ranges."""
    print("| curves, seen | method |", " | ".join(NAMES), "|")
    print("|---|---|" + "---|" * len(NAMES))
    for name, own in variants(curves):
        off = np.abs(judged.predicted(own) - own.truth)
        print(f"| {name} | drift |", _cells(off.mean(0)))
        rivals = {"LAST1": own.last, "POW3": power_laws(own)}
        for key, fit in (("paper", fit_paper), ("calibrated", fit_calibrated)):
            rivals[key] = by_number_of_sizes(fit, own)
        for key, told in rivals.items():
            other = np.abs(told - own.truth)
            less, low, high = bootstrapped(off - other, curves)
            cells = [
                f"{a:.4f} ({b:+.4f} [{c:+.4f}, {d:+.4f}])"
                for a, b, c, d in zip(other.mean(0), less, low, high, strict=True)
            ]
            print(f"| {name} | {key} (drift less it) |", " | ".join(cells), "|")
    print(flush=True)


def coverage(curves, judged: Judged) -> None:
    """Print how often 95 % bands hold, and how wide they are."""
    print(
        "| what is seen, asked |", " | ".join(NAMES), "| widths: median; mean | joint |"
    )
    print("|---|" + "---|" * (len(NAMES) + 2))
    few, one = with_runs(curves, 3), with_runs(curves, 1)
    first, others = of_split(curves, 0), of_split(curves, 0, is_other=True)
    second = of_split(curves, 1)
    for share in (0.8, 0.5):
        questions = {
            "25 runs, the next 25 alike": (task(curves, share), "observed", False),
            "3 runs, the same 3": (task(few, share), "observed", False),
            "1 run, the same": (task(one, share), "observed", False),
            "3 runs, the mean (25)": (task(few, share, truth=curves), "mean", False),
            "1 run, the mean (25)": (task(one, share, truth=curves), "mean", False),
            "split 0, the mean (the other splits)": (
                task(first, share, truth=others),
                "mean",
                False,
            ),
            "split 0, another split": (
                task(first, share, truth=second),
                "observed",
                True,
            ),
        }
        for name, (own, target, is_fresh) in questions.items():
            size = own.table.test_size[:, 0] if is_fresh else None
            draws = judged.drawn(own, target, size)
            lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
            holds = is_inside(own.truth, lower, upper)
            rate, low, high = bootstrapped(holds, curves)
            cells = [
                f"{a:.3f} [{b:.3f}, {c:.3f}]"
                for a, b, c in zip(rate, low, high, strict=True)
            ]
            width = upper - lower
            joint = joint_band(draws)
            all_in = is_inside(own.truth, *joint).all(-1).mean()
            print(
                f"| {share:.0%}; {name} |",
                " | ".join(cells),
                f"| {_cells(np.median(width, 0), '')}; {_cells(width.mean(0), '')} "
                f"| {all_in:.3f} |",
                flush=True,
            )


def joint_band(draws: np.ndarray, level: float = 0.95):
    """Return bands that hold for all metrics at once, by the depth of draws."""
    ranks = draws.argsort(0).argsort(0)
    depth = np.minimum(ranks, len(draws) - 1 - ranks).min(-1)
    outside = np.quantile(depth, 1 - level, axis=0, method="lower").astype(int)
    order = np.sort(draws, axis=0)
    low = np.take_along_axis(order, outside[None, :, None], 0)[0]
    high = np.take_along_axis(order, len(draws) - 1 - outside[None, :, None], 0)[0]
    return low, high


def _cells(values, between=" |") -> str:
    return " ".join(f"{x:.4f}{between}" for x in values)


def main(seed: int) -> None:
    """Print the tables, in Markdown."""
    curves = load()
    judged = Judged(*cross_fitted(curves, seed))
    print(f"{len(curves)} curves, folds {seed}.\n")
    for i, constants in enumerate(judged.constants):
        print(f"fold {i}: {constants.drift}, near {constants.near:.3f}, ", end="")
        print(f"far {constants.far:.3f}")
    print()
    accuracy(curves, judged)
    coverage(curves, judged)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
