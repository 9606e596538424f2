"""Bands around a distribution: exact equal local levels against opda, and big samples."""

import numpy as np
import peers
from ratio import Ratio, typical_ratio

from curvewise.stats import local_levels
from curvewise.stats.bands import cdf_band
from curvewise.stats.bounds import cvar_band

MANY = 3_000_000
ALPHAS = np.linspace(0, 1, 515)[1:-1]
# Ten of the levels are compared: opda's come from 100,000 simulated samples.
OPDA = """
import json, sys, time
import numpy as np
from opda.nonparametric import EmpiricalDistribution
def band(n, seed):
    return EmpiricalDistribution.confidence_bands(
        np.arange(1, n + 1) / (n + 1), 0.95, 0, 1,
        generator=np.random.default_rng(seed), method="ld_equal_tailed",
    )
n = json.loads(sys.argv[1])["n"]
band(20, 0)  # another size: opda, too, keeps what it has computed
begin = time.perf_counter()
low, _, high = band(n, 1)
seconds = time.perf_counter() - begin
at = np.arange(1, 10) * n // 10 / (n + 1)
levels = low.cdf(at).tolist(), high.cdf(at).tolist()
print(json.dumps({"seconds": seconds, "levels": levels}))
"""


def measure() -> list[Ratio]:
    return [*equal_local_levels(), large_sample()]


# --- the same band, exactly instead of by simulation -------------------------------------


def equal_local_levels() -> list[Ratio]:
    python = peers.environment("opda", ["opda==0.8.0"])
    return [against_opda(python, n, bound) for n, bound in ((100, 750), (500, 1300))]


def against_opda(python, n: int, bound: float) -> Ratio:
    scores = np.arange(1, n + 1) / (n + 1)
    found = []

    def ours():
        local_levels.local_level.cache_clear()
        return cdf_band(scores, kind="equal_local_levels", support=(0, 1))

    def theirs():
        found.append(peers.run(python, OPDA, n=n))
        return found[-1]

    mine, peer = peers.taking_turns(2, ours, theirs)
    levels = np.array(ours().cdf(np.arange(1, 10) * n // 10 / (n + 1)))
    apart = np.abs(levels - found[0]["levels"]).max()
    return Ratio(
        f"equal-local-levels band of {n} scores, exact, faster than opda 0.8.0's",
        peer / mine,
        bound,
        "at least",
        f"ours {1e3 * mine:.1f} ms, opda's ld_equal_tailed, by simulation, {peer:.1f} s; "
        f"their levels differ by {apart:.4f} at most",
    )


# --- three million scores ----------------------------------------------------------------


def large_sample() -> Ratio:
    scores = np.random.default_rng(0).beta(5, 2, MANY)

    def ours():
        return cvar_band(scores, ALPHAS, support=(0, 1))

    ours()
    return Ratio(
        "3 million scores: sort, Kolmogorov band and CVaR curve, slower than np.sort",
        typical_ratio(9, ours, lambda: np.sort(scores)),
        3,
        "at most",
        f"value and band at {len(ALPHAS)} alphas, guaranteed; median of 9 pairs",
    )
