"""How often intervals and bands of power laws hold, on curves that a paper prints."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curvewise.stats.powerlaw import fit_power_laws

# Of Hoiem et al. (2021), Table 3: alpha, eta, gamma in percent, CIFAR-100.
CURVES = {
    "ResNet-18, pre-trained, fine-tuned": (12.48, 194.19, -0.57),
    "ResNet-18, from scratch": (5.68, 259.29, -0.41),
    "ResNet-18, pre-trained, linear": (24.4, 65.28, -0.35),
    "ResNet-50, pre-trained, linear": (13.5, 56.54, -0.22),
    "ResNet-101, pre-trained, fine-tuned": (10.91, 166.44, -0.62),
}
SIZES = np.array([25.0, 50, 100, 200, 400])
COUNTS = np.array([16.0, 8, 4, 2, 1])
AT = np.array([25.0, 50, 100, 200, 400, 800, 1600, np.inf])
# Between these the whole curve is looked at.
EVERYWHERE = np.r_[np.geomspace(25, 1e6, 24), np.inf]
# Variance of a run, in percent^2: floor + slope / n.
NOISES = {"floor .02, slope 25": (0.02, 25.0)} | {
    "floor .1, slope 25": (0.1, 25.0),
    "floor .02, slope 5": (0.02, 5.0),
    "floor .3, slope 25": (0.3, 25.0),
    "floor .1, slope 0": (0.1, 0.0),
}
AT_ONCE = 500


@dataclass(frozen=True)
class Simulated:
    """Curves around a known one, in percent."""

    means: np.ndarray
    variances: np.ndarray


def truth(curve: tuple[float, float, float], n: np.ndarray) -> np.ndarray:
    """Return the error of a curve at n, in percent."""
    alpha, eta, gamma = curve
    return alpha + eta * np.asarray(n, dtype=float) ** gamma


def simulate(
    curve, noise, replications, rng, sizes=SIZES, counts=COUNTS
) -> Iterator[Simulated]:
    """Return curves a chunk at a time: means and variances of normal errors."""
    sd = np.sqrt(noise[0] + noise[1] / sizes)
    for begin in range(0, replications, AT_ONCE):
        shape = (min(AT_ONCE, replications - begin), len(sizes))
        means = truth(curve, sizes) + rng.normal(size=shape) * sd / np.sqrt(counts)
        freedom = np.maximum(counts - 1, 1)
        yield Simulated(means, sd**2 * rng.chisquare(freedom, size=shape) / freedom)


def pointwise(
    curve,
    noise,
    replications,
    rng,
    *,
    level=0.95,
    sizes=SIZES,
    counts=COUNTS,
    at=AT,
    **how,
) -> dict[str, np.ndarray]:
    """Return how often the truth is held at sizes `at`, by two- and one-sided intervals."""
    hits = {side: np.zeros(len(at), dtype=int) for side in ("both", "lower", "upper")}
    is_true = truth(curve, at)
    p = [(1 - level) / 2, 1 - level, level, (1 + level) / 2]
    for data in simulate(curve, noise, replications, rng, sizes, counts):
        q = _laws(data, sizes, counts, how).quantile(p, at)
        hits["both"] += ((q[:, 0] <= is_true) & (is_true <= q[:, 3])).sum(axis=0)
        hits["lower"] += (q[:, 1] <= is_true).sum(axis=0)
        hits["upper"] += (is_true <= q[:, 2]).sum(axis=0)
    return hits


def whole(
    curve, noise, replications, rng, *, level=0.95, sizes=SIZES, counts=COUNTS, **how
) -> int:
    """Return how often a band holds the whole curve."""
    hits = 0
    is_true = truth(curve, EVERYWHERE)
    for data in simulate(curve, noise, replications, rng, sizes, counts):
        band = _laws(data, sizes, counts, how).band(EVERYWHERE, level)
        held = (band.lower <= is_true) & (is_true <= band.upper)
        hits += held.all(axis=1).sum()
    return int(hits)


def _laws(data: Simulated, sizes, counts, how):
    # Simulated errors may leave 0..100 by a hair; "loss" would refuse the paper.
    means = np.clip(data.means, 0, 100)
    return fit_power_laws(sizes, means, counts, data.variances, unit="percent", **how)


def table(method: str, noise, replications: int, seed: int) -> np.ndarray:
    """Print one table and return the two-sided coverage, shape (curve, n)."""
    found = []
    print("| curve |", " | ".join(f"{n:g}" for n in AT), "| whole curve |")
    print("|---|" + "---:|" * (len(AT) + 1))
    sides = {"lower": [], "upper": []}
    for i, (name, curve) in enumerate(CURVES.items()):
        hits = pointwise(
            curve, noise, replications, np.random.default_rng([seed, i]), method=method
        )
        all_in = whole(
            curve, noise, replications, np.random.default_rng([seed, i]), method=method
        )
        found.append(hits["both"] / replications)
        for side, rates in sides.items():
            rates.append(hits[side] / replications)
        cells = [f"{x:.3f}" for x in (*found[-1], all_in / replications)]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)
    both = np.array(found)
    for side, rates in sides.items():
        cells = " | ".join(f"{x:.3f}" for x in np.mean(rates, axis=0))
        print(f"| one-sided, {side}, mean of curves | {cells} | |")
    print(
        f"\nmean {both.mean():.4f}, least {both.min():.4f}, most {both.max():.4f}; "
        f"{replications:,} replications.\n",
        flush=True,
    )
    return both


def main(replications: int) -> None:
    """Print the tables, in Markdown."""
    for method in ("paper", "calibrated"):
        for name, noise in NOISES.items():
            print(f"## {method}, 95 %, {name}\n")
            table(method, noise, replications, seed=7)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
