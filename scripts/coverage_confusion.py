"""How often bands of count curves hold: nested blocks of normal data, left out by size.

    python scripts/coverage_confusion.py [replications] [replications of trees]

Each size is predicted from the five others, as in Xue et al. (2025): *observed* are
learners trained on the whole blocks of that size, on one test set of 320, averaged over
blocks; *mean* is averaged over training sets and all examples; *model* is one more learner.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

import blocks_of_normals as normals

from curvewise import metrics
from curvewise.stats.confusion import ConfusionCurve
from curvewise.stats.confusion.calibrated import fit_calibrated, lack_of_fit
from curvewise.stats.confusion.data import CountTable, subset
from curvewise.stats.confusion.drift import fit_drift
from curvewise.stats.confusion.paper import fit_paper

METRICS: dict[str, Callable[..., np.ndarray]] = {
    "error": metrics.error,
    "precision": metrics.precision,
    "recall": metrics.recall,
    "f1": metrics.f1,
}
FITS = {"paper": fit_paper, "calibrated": fit_calibrated, "drift": fit_drift}
AT_ONCE = 64
# Of Xue et al. (2025), Table 3, learners of confusion matrices: lengths and coverage.
PRINTED_LENGTHS = {
    "LDA": (0.453, 0.325, 0.232, 0.158, 0.112, 0.081),
    "NB": (0.382, 0.295, 0.208, 0.139, 0.098, 0.070),
    "TREE": (0.472, 0.337, 0.241, 0.168, 0.118, 0.087),
}
PRINTED_COVERAGE = {
    "LDA": (1.0, 1.0, 1.0, 1.0, 0.95, 0.81),
    "NB": (1.0, 1.0, 1.0, 1.0, 0.95, 0.79),
    "TREE": (1.0, 1.0, 1.0, 1.0, 0.96, 0.74),
}


def curves_of(table: CountTable, method: str = "calibrated") -> ConfusionCurve:
    """Return fitted curves, some at a time."""
    parts = [
        FITS[method](subset(table, slice(begin, begin + AT_ONCE)))
        for begin in range(0, len(table), AT_ONCE)
    ]
    return ConfusionCurve(method, tuple(parts), (len(table),))


def truth_of(
    blocks: normals.Blocks, learner: str, size: int, target: str, positives: float
) -> dict[str, np.ndarray]:
    """Return what each metric of a size should have been, one or one for each curve."""
    if target == "observed":
        return {k: normals.observed(blocks, size, told) for k, told in METRICS.items()}
    if target == "mean":
        matrix = normals.mean_matrix(learner, size, positives)
        return {k: told(matrix) for k, told in METRICS.items()}
    rates = normals.fresh_recalls(
        learner,
        int(normals.SIZES[size]),
        len(blocks.truth),
        np.random.default_rng([17, size]),
        positives=positives,
        is_stratified=positives != 0.5,
    )
    shares = np.array([1 - positives, positives])
    rows = np.stack([rates, 1 - rates], axis=-1)
    rows[:, 1] = rows[:, 1, ::-1]
    return {k: told(rows * shares[:, None]) for k, told in METRICS.items()}


def coverage(
    blocks: normals.Blocks,
    learner: str,
    target: str,
    *,
    method: str = "calibrated",
    positives: float = 0.5,
    has_examples: bool = True,
    sizes: range | tuple[int, ...] = range(6),
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return for each metric how many curves hold the truth, and mean lengths, by size."""
    hits = {name: [] for name in METRICS}
    lengths = {name: [] for name in METRICS}
    for size in sizes:
        n = normals.SIZES[size]
        curves = curves_of(normals.table_of(blocks, size, has_examples), method)
        is_measured = target == "observed" and method != "paper"
        how = {"test_size": normals.TEST, "runs": int(normals.SAMPLE // n)}
        bands = curves.bands(
            {name: {} for name in METRICS},
            [float(n)],
            target=target,
            is_joint=False,
            **(how if is_measured else {}),
        )
        truth = truth_of(blocks, learner, size, target, positives)
        for name, band in bands.items():
            low, high = band.lower[:, 0], band.upper[:, 0]
            hits[name].append(((low <= truth[name]) & (truth[name] <= high)).sum())
            lengths[name].append((high - low).mean())
    return {name: (np.array(hits[name]), np.array(lengths[name])) for name in METRICS}


def table(
    title: str, blocks: normals.Blocks, learner: str, **how: object
) -> np.ndarray:
    """Print one table; return coverage, shape (target, metric, size)."""
    print(f"## {title}\n")
    print("| target, metric |", " | ".join(f"{n}" for n in normals.SIZES), "|")
    print("|---|" + "---:|" * len(normals.SIZES))
    out = []
    targets = how.pop("targets", ("observed", "mean"))
    for target in targets:
        found = coverage(blocks, learner, target, **how)
        for name, (hits, lengths) in found.items():
            rates = hits / len(blocks.truth)
            out.append(rates)
            cells = (f"{c:.3f} ({w:.3f})" for c, w in zip(rates, lengths, strict=True))
            print(f"| {target}, {name} |", " | ".join(cells), "|", flush=True)
    rates = np.array(out)
    print(
        f"\nmean {rates.mean():.3f}, least {rates.min():.3f}, most {rates.max():.3f}\n"
    )
    return rates


def main(replications: int, trees: int) -> None:
    """Print all tables, in Markdown: coverage (mean length)."""
    for learner in normals.LEARNERS:
        count = trees if learner == "TREE" else replications
        blocks = normals.in_parts(learner, count, seed=7)
        about = f"{learner}, {count:,} replications"
        table(f"as published, {about}", blocks, learner, method="paper")
        table(f"calibrated, {about}", blocks, learner)
        table(f"drift, {about}", blocks, learner, method="drift")
        table(
            f"calibrated from counts alone, {about}",
            blocks,
            learner,
            has_examples=False,
        )
        if learner != "TREE":
            table(f"one more model, {about}", blocks, learner, targets=("model",))
        p = np.concatenate(
            [lack_of_fit(fit) for fit in curves_of(normals.table_of(blocks)).parts]
        )
        print(f"lack of fit at .05: {(p <= 0.05).mean():.3f}\n")
        rare = normals.in_parts(
            learner, count // 2, seed=8, positives=0.1, is_stratified=True
        )
        table(f"calibrated, 10 % positives, {about} / 2", rare, learner, positives=0.1)


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]]
    main(*(asked + [2000, 600][len(asked) :]))
