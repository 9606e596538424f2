"""Measures how often intervals for a mean or CVaR contain it, and how long they are.

    python scripts/coverage_bounds.py bootstrap --n 5 20 100
    python scripts/coverage_bounds.py bootstrap --n 2000 --law uniform --of mean
    python scripts/coverage_bounds.py band --kind kolmogorov
    python scripts/coverage_bounds.py lengths
    python scripts/coverage_bounds.py tuning

The tables in the documentation come from here. The bootstrap of 2,000 trials takes more
than a minute for each distribution, everything else a few minutes together.
"""

import argparse
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import integrate, stats

from curvewise.errors import CurvewiseWarning
from curvewise.stats.bands import ANYWHERE, KINDS, Support, cdf_band
from curvewise.stats.bounds import bootstrap_interval, cvar_bounds, mean_bounds
from curvewise.stats.tuning import tuning_curve


@dataclass(frozen=True)
class Law:
    """A distribution whose mean and upper CVaR are known."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    mean: float
    cvar: Callable[[float], float]
    support: Support = (0.0, 1.0)

    def true(self, of):
        return self.mean if of == "mean" else self.cvar(float(of))


def _integrated(law):
    return lambda alpha: integrate.quad(law.ppf, alpha, 1, limit=500)[0] / (1 - alpha)


def _tenths(alpha):
    """All above the quantile, and of the tied block there what is missing."""
    law = stats.binom(10, 0.7)
    cut = law.ppf(alpha)
    above = np.arange(cut + 1, 11)
    total = above @ law.pmf(above) + cut * (1 - alpha - law.sf(cut))
    return total / 10 / (1 - alpha)


def _failing(rng, n):
    """Three of ten trials fail and score 0, the others are good."""
    return np.where(rng.random(n) < 0.3, 0.0, rng.beta(8, 2, n))


_GOOD, _NORMAL, _T3 = stats.beta(8, 2), stats.norm(), stats.t(3)

LAWS = {
    "uniform": Law(lambda rng, n: rng.random(n), 0.5, lambda a: (1 + a) / 2),
    "Beta(5, 2)": Law(
        lambda rng, n: rng.beta(5, 2, n), 5 / 7, _integrated(stats.beta(5, 2))
    ),
    "tenths (ties)": Law(lambda rng, n: rng.binomial(10, 0.7, n) / 10, 0.7, _tenths),
    "30 % fail (mixed)": Law(
        _failing,
        0.7 * _GOOD.mean(),
        # The best 1 - alpha of all are so much of those that do not fail.
        lambda a: _integrated(_GOOD)(1 - (1 - a) / 0.7),
    ),
    "normal": Law(
        lambda rng, n: rng.normal(size=n),
        0.0,
        lambda a: _NORMAL.pdf(_NORMAL.ppf(a)) / (1 - a),
        ANYWHERE,
    ),
    "lognormal(0, 1)": Law(
        lambda rng, n: rng.lognormal(size=n),
        math.exp(0.5),
        lambda a: math.exp(0.5) * _NORMAL.cdf(1 - _NORMAL.ppf(a)) / (1 - a),
        (0.0, math.inf),
    ),
    "t, 3 d.f.": Law(
        lambda rng, n: rng.standard_t(3, n),
        0.0,
        lambda a: _T3.pdf(q := _T3.ppf(a)) * (3 + q**2) / 2 / (1 - a),
        ANYWHERE,
    ),
}


# Most of their mass at the ends: what the bands differ in most.
ENDS = {
    "Beta(1/2, 1/2)": Law(
        lambda rng, n: rng.beta(0.5, 0.5, n), 0.5, _integrated(stats.beta(0.5, 0.5))
    ),
    "0 or 1": Law(
        lambda rng, n: rng.integers(2, size=n) / 1.0,
        0.5,
        lambda a: min(1, 0.5 / (1 - a)),
    ),
}


def bootstrap(of, law, n, reps, resamples):
    """Return the ends of BCa intervals from many samples."""
    statistic = "mean" if of == "mean" else ("cvar", float(of))
    rng = np.random.default_rng([n, reps])
    found = (
        bootstrap_interval(law.draw(rng, n), statistic, resamples=resamples, rng=rng)
        for _ in range(reps)
    )
    return np.array([(one.lower, one.upper) for one in found])


def band(of, law, n, reps, kind):
    """Return the ends of intervals from bands around many samples."""
    rng = np.random.default_rng([n, reps])
    around = (
        cdf_band(law.draw(rng, n), kind=kind, support=law.support) for _ in range(reps)
    )
    if of == "mean":
        return np.array([mean_bounds(b) for b in around])
    return np.array([cvar_bounds(b, float(of)) for b in around])


def table(title, sizes, laws, ends_of):
    print(f"\n{title}: coverage (mean length)")
    print("| scores | " + " | ".join(f"n = {n}" for n in sizes) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for name, law in laws.items():
        cells = [cell(*ends_of(law, n)) for n in sizes]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def cell(ends, true):
    covered = ((ends[:, 0] <= true + 1e-12) & (true - 1e-12 <= ends[:, 1])).mean()
    finite = np.isfinite(ends).all(axis=0)
    if finite.all():
        return f"{covered:.3f} ({(ends[:, 1] - ends[:, 0]).mean():.3f})"
    if not finite.any():
        return "nothing bounds it"
    # Where one side is infinite, how far the other one is from the truth.
    return f"{covered:.3f} ({np.abs(ends[:, finite] - true).mean():.3f}, one side)"


WAYS = {
    "mean": mean_bounds,
    "best half": lambda b: cvar_bounds(b, 0.5),
    "best tenth": lambda b: cvar_bounds(b, 0.9),
    "worst half": lambda b: cvar_bounds(b, 0.5, "lower"),
    "worst tenth": lambda b: cvar_bounds(b, 0.1, "lower"),
}


def lengths(sizes, laws, reps):
    """Print how long intervals are from one band, compared with those from the other."""
    print(
        "\nMean length from equal local levels divided by that from Kolmogorov's band,"
    )
    print("which stands in parentheses")
    print("| scores | n | " + " | ".join(WAYS) + " |")
    print("|---|---|" + "---|" * len(WAYS))
    for name, law in laws.items():
        for n in sizes:
            rng = np.random.default_rng([n, reps])
            total = np.zeros((2, len(WAYS)))
            for _ in range(reps):
                z = law.draw(rng, n)
                for i, kind in enumerate(("equal_local_levels", "kolmogorov")):
                    around = cdf_band(z, kind=kind, support=law.support)
                    ends = np.array([way(around) for way in WAYS.values()])
                    total[i] += ends[:, 1] - ends[:, 0]
            cells = [
                f"{a / b:.2f} ({b / reps:.3f})" if b > 0 else "both 0"
                for a, b in total.T
            ]
            print(f"| {name} | {n} | " + " | ".join(cells) + " |", flush=True)


def tuning(sizes, reps, kind):
    """Print how often a tuning curve of uniform scores is inside its band, and how wide
    that is."""
    shown = (1, 10, 200)
    k = np.union1d(np.geomspace(1, 200, 25).astype(int), shown)
    for title, q, true in (
        ("expected", None, k / (k + 1)),
        ("median", 0.5, 0.5 ** (1 / k)),
    ):
        print(
            f"\nBest of k = 1 to 200, {title}, {kind} band: coverage at all k; widths"
        )
        print("| n | coverage | " + " | ".join(f"k = {i}" for i in shown) + " |")
        print("|---" * (2 + len(shown)) + "|")
        for n in sizes:
            rng = np.random.default_rng([n, reps])
            hits, widths = 0, np.zeros(len(shown))
            for _ in range(reps):
                found = tuning_curve(
                    rng.random(n), k, quantile=q, kind=kind, support=(0, 1)
                )
                hits += bool(((found.lower <= true) & (true <= found.upper)).all())
                widths += (found.upper - found.lower)[np.isin(k, shown)]
            cells = " | ".join(f"{w / reps:.3f}" for w in widths)
            print(f"| {n} | {hits / reps:.3f} | {cells} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["bootstrap", "band", "lengths", "tuning"])
    parser.add_argument(
        "--of", nargs="+", default=["mean", "0.5"], help="mean or alpha"
    )
    parser.add_argument("--n", type=int, nargs="+", default=[5, 20, 100, 2000])
    parser.add_argument("--law", choices=LAWS, nargs="+", default=list(LAWS))
    parser.add_argument("--reps", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--kind", choices=KINDS, default="kolmogorov")
    args = parser.parse_args()
    warnings.simplefilter("ignore", CurvewiseWarning)
    laws = {name: LAWS[name] for name in args.law}
    if args.what == "lengths":
        bounded = {k: law for k, law in laws.items() if law.support == (0.0, 1.0)}
        lengths(args.n, bounded | ENDS, args.reps)
        return
    if args.what == "tuning":
        tuning(args.n, args.reps, args.kind)
        return
    for of in args.of:
        title = "mean" if of == "mean" else f"CVaR {of}"
        if args.what == "bootstrap":
            table(
                f"BCa, {title}",
                args.n,
                laws,
                lambda law, n, of=of: (
                    bootstrap(of, law, n, args.reps, args.resamples),
                    law.true(of),
                ),
            )
        else:
            table(
                f"{args.kind} band, {title}",
                args.n,
                laws,
                lambda law, n, of=of: (
                    band(of, law, n, args.reps, args.kind),
                    law.true(of),
                ),
            )


if __name__ == "__main__":
    main()
