"""Comparisons of algorithms, against deepsig and rliable in environments of their own."""

import tempfile

import numpy as np
import peers
from ratio import Ratio, best_of

from curvewise.stats.comparison import dominance, iqm_interval

DEEPSIG = ["deepsig==1.2.8", "numpy==1.26.4", "scipy==1.11.4", "pandas==2.2.3"]
# rliable does not import with newer versions of arch and pandas.
RLIABLE = [
    "rliable==1.2.0",
    "arch==6.3.0",
    "numpy==1.26.4",
    "scipy==1.11.4",
    "pandas==2.2.3",
    "seaborn==0.13.2",
]

ASO = """
import json, sys, time
import numpy as np
from deepsig import aso

args = json.loads(sys.argv[1])
a, b = np.array(args["a"]), np.array(args["b"])
aso(a, b, num_bootstrap_iterations=5, show_progress=False, seed=1)
begin = time.perf_counter()
bound = aso(a, b, num_bootstrap_iterations=args["resamples"], show_progress=False, seed=1)
print(json.dumps({"seconds": time.perf_counter() - begin, "bound": float(bound)}))
"""

IQM = """
import json, sys, time
import numpy as np
from rliable import library, metrics

args = json.loads(sys.argv[1])
scores = dict(np.load(args["scores"]))
iqm = lambda z: np.array([metrics.aggregate_iqm(z)])
np.random.seed(1)  # its random_state has no effect
library.get_interval_estimates(scores, iqm, reps=20)
begin = time.perf_counter()
_, limits = library.get_interval_estimates(scores, iqm, reps=args["reps"])
found = {"seconds": time.perf_counter() - begin}
found["limits"] = {name: np.ravel(ends).tolist() for name, ends in limits.items()}
print(json.dumps(found))
"""


def measure() -> list[Ratio]:
    return [*_dominance(), *_iqm()]


def _dominance() -> list[Ratio]:
    rng = np.random.default_rng(1)
    a, b, resamples = rng.normal(0.3, 1, 100), rng.normal(0, 1.5, 100), 1000
    python = peers.environment("deepsig", DEEPSIG)
    ours, theirs = peers.taking_turns(
        3,
        lambda: dominance(a, b, resamples=resamples, rng=rng),
        lambda: peers.run(python, ASO, a=list(a), b=list(b), resamples=resamples),
    )
    return [
        Ratio(
            "almost stochastic order of 100 against 100 trials, faster than deepsig",
            theirs / ours,
            500,
            "at least",
            f"ours {1e3 * ours:.1f} ms, deepsig 1.2.8 {theirs:.2f} s; {resamples:,} "
            f"resamples each",
        )
    ]


def _iqm() -> list[Ratio]:
    rng = np.random.default_rng(2)
    tasks = rng.gamma(2, 1, 26)
    scores = {
        f"algorithm {i}": rng.gamma(2, 1 + i / 4, (100, 26)) * tasks for i in range(5)
    }
    reps = 50_000
    python = peers.environment("rliable", RLIABLE)
    print(f"  rliable, {reps:,} resamples of 5 x 100 x 26 scores: minutes", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/scores.npz"
        np.savez(path, **scores)
        found = peers.run(python, IQM, scores=path, reps=reps)
    (ours,) = best_of(20, lambda: [iqm_interval(z) for z in scores.values()])
    apart = []
    for name, z in scores.items():
        own = iqm_interval(z)
        ends = zip((own.lower, own.upper), found["limits"][name], strict=True)
        apart += [abs(x - y) / (own.upper - own.lower) for x, y in ends]
    theirs = found["seconds"]
    return [
        Ratio(
            "interval of the IQM of 5 algorithms, 100 runs, 26 tasks, faster than rliable",
            theirs / ours,
            9_000,
            "at least",
            f"ours {1e3 * ours:.1f} ms in closed form, rliable 1.2 {theirs:.0f} s with "
            f"{reps:,} resamples",
        ),
        Ratio(
            "largest distance of a limit to rliable's, of the interval's length",
            100 * max(apart),
            3,
            "at most",
            "10 limits of the same 5 algorithms",
            "%",
        ),
    ]
