"""How near `extrapolate` comes to real curves, and how often its intervals hold.

Factors are learnt on nine tenths of the data sets and judged on the others, in turn; the
ranges in brackets are bootstrapped over data sets. Takes a few minutes.

python scripts/coverage_extrapolation.py [seed of the folds]
"""

import sys
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from extrapolation_curves import (
    LEVELS,
    MAIN,
    Case,
    Curve,
    Rows,
    cases,
    cross_fitted,
    folds,
    load,
    rows,
)
from scipy.optimize import curve_fit

from curvewise.stats.learning import shape

QUESTIONS = ("80 %, last", "50 %, last", "all later")


@dataclass(frozen=True)
class Trial:
    """Curves, cases and rows with intervals (level, row) that were learnt elsewhere."""

    curves: list
    found: list[Case]
    table: Rows
    lower: np.ndarray
    upper: np.ndarray

    def ends(self, confidence: float = 0.95):
        """Return the ends of intervals."""
        at = LEVELS.index(round((1 + confidence) / 2, 6))
        return self.lower[at], self.upper[at]

    def holds(self, confidence: float = 0.95) -> np.ndarray:
        """Return which intervals hold the truth."""
        lower, upper = self.ends(confidence)
        # A truth of exactly 0 may be off by a rounding.
        truth = self.table.truth
        return (truth >= lower - 1e-12) & (truth <= upper + 1e-12)

    @property
    def datasets(self) -> np.ndarray:
        """The data set of each row."""
        return self.of(lambda case: self.curves[case.curve].dataset)

    def of(self, what) -> np.ndarray:
        """Return something of each row's case."""
        return self.table.of([what(case) for case in self.found])

    def groups(self):
        """Return names (collection, variant, runs known) and their rows."""
        names = self.of(
            lambda c: f"{self.curves[c.curve].collection}|{c.variant}|{c.is_known}"
        )
        order = ("all", "thinned", "five runs", "one run", "between")
        for name in sorted(
            set(names), key=lambda x: (x[:3], order.index(x.split("|")[1]), x[-4:])
        ):
            collection, variant, known = name.split("|")
            runs = "runs" if known == "True" else "means"
            yield f"{collection}, {variant}, {runs}", names == name

    def asked(self, question: str) -> np.ndarray:
        """Return the rows of a question."""
        if question == "all later":
            return np.ones(len(self.table.truth), dtype=bool)
        share = 0.8 if question.startswith("80") else 0.5
        return self.table.is_last & (self.of(lambda case: case.share) == share)


def tried(seed: int = 0) -> Trial:
    """Return all cases with cross-fitted intervals."""
    curves = load()
    found = cases(curves)
    table = rows(found)
    return Trial(curves, found, table, *cross_fitted(curves, found, table, seed))


def bootstrapped(values, datasets, resamples=2000, seed=1):
    """Return the mean and its 95 % range over data sets drawn anew."""
    names, place = np.unique(datasets, return_inverse=True)
    total, count = np.bincount(place, values), np.bincount(place)
    drawn = np.random.default_rng(seed).integers(0, len(names), (resamples, len(names)))
    means = total[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    return values.mean(), *np.quantile(means, [0.025, 0.975])


def terciles(holds, width):
    """Return the coverage of the narrow, the middle and the wide third."""
    return [holds[part].mean() for part in np.array_split(np.argsort(width), 3)]


def scores(truth, lower, upper, miss=0.05):
    """Return interval scores: width, and what is missed times 2 / .05."""
    off = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
    return upper - lower + 2 / miss * off


def constant(trial: Trial, use, seed: int = 0):
    """Return the ends of intervals of one width, learnt on the other folds."""
    fold = folds(trial.datasets, seed)
    off = np.abs(trial.table.truth - trial.table.middle)
    width = np.empty(len(off))
    for i in range(fold.max() + 1):
        width[fold == i] = np.quantile(off[use & (fold != i)], 0.95)
    middle = trial.table.middle
    return np.maximum(middle - width, 0), np.minimum(middle + width, 1)


def power_law(sizes, means, to):
    """Return bounded POW3 at one size by scipy; the last value where it fails."""
    relative = sizes / sizes[-1]
    try:
        found, _ = curve_fit(
            lambda n, c, b, g: c + b * n**-g,
            relative,
            means,
            p0=(max(means[-1] - 0.01, 0.0), 0.05, 0.5),
            bounds=([0, 0, 0.01], [1, 1, 3]),
            maxfev=5000,
        )
    except RuntimeError:
        return means[-1]
    return float(np.clip(found[0] + found[1] * (to / sizes[-1]) ** -found[2], 0, 1))


def rivals(trial: Trial, use) -> dict[str, np.ndarray]:
    """Return the absolute errors of simple predictors at the rows `use`, all last ones."""
    seen = [trial.found[i] for i in trial.table.case[use]]
    truth = trial.table.truth[use]
    last = np.array([c.means[-1] for c in seen])
    law = np.array([power_law(c.sizes, c.means, c.to[-1]) for c in seen])
    return {"POW3": np.abs(law - truth), "LAST1": np.abs(last - truth)}


def accuracy(trial: Trial) -> None:
    """Print mean absolute errors at the last size, and paired differences to rivals."""
    print("| curves | seen | MAE | median | POW3 | less POW3 | LAST1 | less LAST1 |")
    print("|---|---|---:|---:|---:|---|---:|---|")
    for name, group in trial.groups():
        for question in QUESTIONS[:2]:
            use = group & trial.asked(question)
            if not use.any():
                continue
            off = np.abs(trial.table.truth - trial.table.middle)[use]
            cells = []
            for rival in rivals(trial, use).values():
                _, low, high = bootstrapped(off - rival, trial.datasets[use])
                cells += [f"{rival.mean():.4f}", f"[{low:+.4f}, {high:+.4f}]"]
            print(
                f"| {name} | {question[:4]} | {off.mean():.4f} | {np.median(off):.4f} |",
                " | ".join(cells),
                "|",
            )


def coverage(trial: Trial) -> None:
    """Print how often 95 % intervals hold, how wide they are, and the rival's."""
    truth = trial.table.truth
    lower, upper = trial.ends()
    holds, half = trial.holds(), (upper - lower) / 2
    print(
        "| curves | size | 95 % | range | above | below | terciles | half-width mean,"
    )
    print("median | score | one width: coverage, half-width, score | 80 % | 90 % |")
    print("|---|---|---:|---|---:|---:|---|---|---:|---|---:|---:|")
    for name, group in trial.groups():
        for question in QUESTIONS:
            use = group & trial.asked(question)
            if not use.any():
                continue
            rate, low, high = bootstrapped(holds[use], trial.datasets[use])
            thirds = " ".join(f"{x:.3f}" for x in terciles(holds[use], half[use]))
            one = [x[use] for x in constant(trial, use)]
            hit = ((truth[use] >= one[0]) & (truth[use] <= one[1])).mean()
            width = ((one[1] - one[0]) / 2).mean()
            print(
                f"| {name} | {question} | {rate:.3f} | [{low:.3f}, {high:.3f}] |"
                f" {(truth > upper)[use].mean():.3f} | {(truth < lower)[use].mean():.3f} |"
                f" {thirds} | {half[use].mean():.4f}, {np.median(half[use]):.4f} |"
                f" {scores(truth, lower, upper)[use].mean():.3f} |"
                f" {hit:.3f}, {width:.4f}, {scores(truth[use], *one).mean():.3f} |"
                f" {trial.holds(0.8)[use].mean():.3f} |"
                f" {trial.holds(0.9)[use].mean():.3f} |"
            )


def splits(trial: Trial) -> None:
    """Print coverage by what kind of curve, of all later sizes, all sizes and runs seen."""
    table, holds = trial.table, trial.holds()
    off = np.abs(table.truth - table.middle)
    last = trial.of(lambda case: case.means[-1])
    seen = trial.of(lambda case: len(case.sizes))
    learner = trial.of(lambda case: trial.curves[case.curve].learner)
    rules = {
        "ratio": (table.ratio, [1, 1.5, 2.1, 4.1, 8.1, 16.1, 32.1, np.inf]),
        "last error": (last, [0, 0.02, 0.05, 0.15, 0.3, 0.5, 1.01]),
        "rise": (table.rise, [0, 0.002, 0.01, 0.03, 0.1, 1]),
        "flat": (table.flat, [0, 0.01, 0.5, 1.01]),
        "truth less last error": (table.truth - last, [-1, -0.05, -0.01, 0.01, 1]),
    }
    for name, group in trial.groups():
        is_thinned = "thinned" in name
        if not (("all" in name or is_thinned) and "runs" in name):
            continue
        some = dict(rules)
        if is_thinned:
            some = {"sizes seen": (seen, [3, 4, 5, 6, 8, 11, 200])}
        for rule, (value, edges) in some.items():
            cells = []
            for low, high in pairwise(edges):
                use = group & (value >= low) & (value < high)
                if use.sum() > 20:
                    cells.append(f"{low:g}-{high:g}: {holds[use].mean():.3f}")
            print(f"{name}; {rule}: " + ", ".join(cells))
        if name.startswith("1.0") and not is_thinned:
            called = trial.of(lambda case: _shape(trial.curves[case.curve], case))
            cells = [
                f"{x}: {holds[use].mean():.3f} of {use.sum()}, half-width "
                f"{((trial.ends()[1] - trial.ends()[0]) / 2)[use].mean():.3f}"
                for x in np.unique(called[group])
                for use in [group & (called == x)]
            ]
            print(f"{name}; what shape() says of the runs seen: " + ", ".join(cells))
        if not is_thinned:
            cells = sorted(
                (
                    holds[use].mean(),
                    str(x),
                    (off - np.abs(table.truth - last))[use].mean(),
                )
                for x in np.unique(learner[group])
                for use in [group & (learner == x)]
            )
            print(
                f"{name}; learner, coverage (MAE less LAST1): "
                + ", ".join(f"{x} {rate:.3f} ({less:+.4f})" for rate, x, less in cells)
            )


def _shape(curve: Curve, case: Case) -> str:
    """Return whether the part of a curve that was seen significantly rises or is bent."""
    if curve.table is None or case.variant != "all":
        return "not asked"
    seen = curve.table[:, : len(case.sizes)]
    known = np.isfinite(seen)
    errors = [column[has] for column, has in zip(seen.T, known.T, strict=True)]
    runs = [np.flatnonzero(has) for has in known.T]
    found = shape(case.sizes, errors, runs=runs)
    if found.is_nonmonotone:
        return "it rises"
    return "it is not convex" if found.is_nonconvex else "nothing"


def main(seed: int) -> None:
    """Print the tables, in Markdown."""
    trial = tried(seed)
    assert np.isfinite(trial.lower).all()
    assert np.isfinite(trial.upper).all()
    print(f"{len(trial.curves)} curves, {len(trial.found)} cases, no failure; ")
    print(
        f"{len(trial.table.truth):,} predictions; main level {MAIN:g}; folds {seed}.\n"
    )
    accuracy(trial)
    print()
    coverage(trial)
    print()
    splits(trial)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
