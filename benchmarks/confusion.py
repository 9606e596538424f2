"""Power laws of confusion counts, all exponents at once, against loops of statsmodels."""

import numpy as np
import peers
from ratio import Ratio, best_of, typical_ratio

from curvewise.stats.confusion.calibrated import fit_calibrated
from curvewise.stats.confusion.data import CountTable
from curvewise.stats.confusion.paper import GAMMAS, TAU, THEORY, fit_paper

PEER = ["statsmodels==0.14.5", "numpy==2.3.5", "scipy==1.16.3", "pandas==2.3.3"]
CURVES, THEIRS = 1_000, 5
SIZES = 40.0 * 2 ** np.arange(6)
PER_CLASS = 200

# One binomial regression for each exponent and class, as its users would write it. At 0
# the power is the constant: the logarithm stands there, for both.
LOOP = """
import json, sys, time
import numpy as np
import statsmodels.api as sm

args = json.loads(sys.argv[1])
n, gammas = np.array(args["sizes"]), np.array(args["gammas"])
curves, total = np.array(args["right"]), args["total"]

def best(right):
    value = []
    for g in gammas:
        x = n**g if g else np.log(n)
        design = sm.add_constant((x - x.mean()) / x.std())
        fits = [
            sm.GLM(
                np.stack([right[:, c], total - right[:, c]], axis=1),
                design,
                family=sm.families.Binomial(),
            ).fit()
            for c in range(2)
        ]
        value.append(sum(f.llf for f in fits) - args["tau"] * abs(g - args["theory"]))
    return float(gammas[int(np.argmax(value))])

best(curves[0])  # warm
begin = time.perf_counter()
found = [best(right) for right in curves]
print(json.dumps({
    "seconds": (time.perf_counter() - begin) / len(curves),
    "gamma": found,
}))
"""


def measure() -> list[Ratio]:
    return [*_against_a_loop(), *_growth()]


def _table(count: int) -> CountTable:
    """Return curves of two classes at six sizes, one run each, all of them learning."""
    rng = np.random.default_rng(1)
    gamma = rng.uniform(-1.2, -0.1, (count, 1, 1))
    fall = rng.uniform(0.5, 3.0, (count, 1, 2))
    level = rng.uniform(0.5, 2.5, (count, 1, 2))
    logit = level - fall * (SIZES[:, None] / SIZES[0]) ** gamma
    right = rng.binomial(PER_CLASS, 1 / (1 + np.exp(-logit)))
    counts = np.zeros((count, len(SIZES), 2, 2))
    for c in range(2):
        counts[..., c, c] = right[..., c]
        counts[..., c, 1 - c] = PER_CLASS - right[..., c]
    shape = (count, len(SIZES))
    return CountTable(
        np.broadcast_to(SIZES, shape),
        counts,
        np.ones(shape),
        np.full((*shape, 2, 2), np.nan),
        np.full((*shape, 2), np.nan),
        np.ones(count, dtype=bool),
        (None,) * count,
    )


def _against_a_loop() -> list[Ratio]:
    table = _table(CURVES)
    python = peers.environment("statsmodels", PEER)
    told: list[dict] = []

    def theirs() -> dict:
        told.append(
            peers.run(
                python,
                LOOP,
                sizes=SIZES.tolist(),
                gammas=GAMMAS.tolist(),
                right=table.right[:THEIRS].tolist(),
                total=PER_CLASS,
                tau=TAU,
                theory=THEORY,
            )
        )
        return told[-1]

    ours, each = peers.taking_turns(3, lambda: fit_paper(table), theirs)
    mine = ours / CURVES
    apart = np.abs(fit_paper(table).gamma[:THEIRS] - told[0]["gamma"]).max()
    (full,) = best_of(3, lambda: fit_calibrated(table))
    return [
        Ratio(
            f"one exponent of {len(GAMMAS)} for two classes, among {CURVES:,} curves of 6 "
            "sizes, faster than a loop of GLM",
            each / mine,
            800,
            "at least",
            f"ours {1e3 * mine:.2f} ms a curve, statsmodels 0.14.5 {each:.2f} s; the fit "
            f"of the calibrated band takes {1e3 * full / CURVES:.2f} ms",
        ),
        Ratio(
            "the exponent found, away from theirs",
            apart,
            1e-9,
            "at most",
            f"largest of {THEIRS} curves",
            "",
        ),
    ]


def _growth() -> list[Ratio]:
    few, many = _table(CURVES // 4), _table(5 * CURVES // 2)
    return [
        Ratio(
            "ten times the curves cost",
            typical_ratio(5, lambda: fit_paper(many), lambda: fit_paper(few)),
            13,
            "at most",
            f"{len(many):,} curves against {len(few):,}; median of 5 pairs",
        ),
    ]
