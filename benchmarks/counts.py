"""F1 intervals by the million, against the package confidenceinterval, one by one."""

import tracemalloc

import numpy as np
import peers
from ratio import Ratio, best_of, typical_ratio

from curvewise.stats.counts import f1_interval, f_beta_interval

PEER = ["confidenceinterval==1.0.5", "scikit-learn==1.9.1", "numpy==2.4.6"]
MATRICES = 1_000_000
TEST_SIZE = 427
CELLS = (0.47, 0.07, 0.09, 0.37)  # tp, fp, fn, tn

# It starts from labels, as its users do; making them is not counted.
F1 = """
import json, sys, time
import numpy as np
from confidenceinterval import f1_score

args = json.loads(sys.argv[1])
labels = [
    (np.repeat([1, 0, 1, 0], cells), np.repeat([1, 1, 0, 0], cells))
    for cells in args["matrices"]
]
found = [f1_score(*own, average="binary") for own in labels[:20]]
begin = time.perf_counter()
found = [f1_score(*own, average="binary") for own in labels]
seconds = time.perf_counter() - begin
print(json.dumps({
    "seconds": seconds / len(labels),
    "limits": [[float(low), float(high)] for _, (low, high) in found],
}))
"""


def measure() -> list[Ratio]:
    return [*_one_by_one(), *_growth()]


def _matrices(count: int, test_size: int = TEST_SIZE) -> np.ndarray:
    """Return tp, fp, fn and tn of classifiers that differ, shape (4, count)."""
    rng = np.random.default_rng(1)
    cells = rng.dirichlet(20 * np.array(CELLS), count)
    return rng.multinomial(test_size, cells).T


def _one_by_one() -> list[Ratio]:
    many, some = _matrices(MATRICES), _matrices(1000)
    python = peers.environment("confidenceinterval", PEER)
    told: list[dict] = []

    def theirs() -> dict:
        told.append(peers.run(python, F1, matrices=some.T.tolist()))
        return told[-1]

    ours, each = peers.taking_turns(3, lambda: f1_interval(*many[:3]), theirs)
    mine = ours / MATRICES
    (slow,) = best_of(3, lambda: f_beta_interval(*many[:3, :10_000], beta=2))
    found = f1_interval(*some[:3])
    limits = np.array(told[0]["limits"])
    middle = (limits.sum(1) / 2, (found.lower + found.upper) / 2)
    width = np.diff(limits, axis=1)[:, 0]
    apart = np.abs(middle[0] - middle[1]) / width
    return [
        Ratio(
            f"F1 interval of a matrix of {TEST_SIZE} examples, among {MATRICES:,}, faster "
            "than confidenceinterval's",
            each / mine,
            750,
            "at least",
            f"ours {1e6 * mine:.2f} microseconds, confidenceinterval 1.0.5, analytic, one "
            f"by one, {1e3 * each:.2f} ms",
        ),
        Ratio(
            "F-beta interval, beta = 2, among 10,000, faster than its F1",
            each / (slow / 10_000),
            5,
            "at least",
            f"ours {1e2 * slow:.0f} microseconds; it has none of F-beta",
        ),
        Ratio(
            "their midpoints apart, of the interval's length, median of 1,000 matrices",
            100 * float(np.median(apart)),
            10,
            "at most",
            f"theirs is symmetric, and ends above 1 for {(limits[:, 1] > 1).sum()} of them",
            "%",
        ),
    ]


def _growth() -> list[Ratio]:
    few, many = _matrices(MATRICES // 10), _matrices(MATRICES)
    few, many = few.astype(float), many.astype(float)

    def space(counts: np.ndarray) -> tuple[float, float]:
        """Return bytes at the peak, less what the answer keeps, and those."""
        tracemalloc.start()
        kept = f1_interval(*counts[:3])
        left, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert np.isfinite(kept.upper).all()
        return peak - left, left

    time = typical_ratio(
        9, lambda: f1_interval(*many[:3]), lambda: f1_interval(*few[:3])
    )
    (one, _), (ten, answer) = space(few), space(many)
    return [
        Ratio(
            "ten times the matrices cost",
            time,
            12,
            "at most",
            f"{MATRICES:,} against {MATRICES // 10:,}; median of 9 pairs",
        ),
        Ratio(
            "memory beside the answer, of the answer's own size",
            ten / answer,
            0.5,
            "at most",
            f"{one / 1e6:.1f} MB and {ten / 1e6:.1f} MB at the peak, for answers of "
            f"{answer / 1e7:.1f} MB and {answer / 1e6:.1f} MB",
        ),
    ]
