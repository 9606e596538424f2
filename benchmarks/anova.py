"""Randomised analysis of variance, against scipy's permutation test."""

import json
import subprocess
import sys

import numpy as np
from ratio import Ratio, best_of, typical_ratio

from curvewise.stats.anova.randomized import randomized_anova

SHUFFLES = 100_000

LARGE = """
import json, resource, time
import numpy as np
from curvewise.stats.anova.randomized import randomized_anova

rng = np.random.default_rng(1)
lines = [rng.normal(size=(100, 1000)) for _ in range(16)]
begin = time.perf_counter()
for shuffles in (500, 2_000):
    randomized_anova(lines, noise="equal", shuffles=shuffles, most=shuffles, rng=rng)
seconds = (time.perf_counter() - begin) / 2_500
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
# What grows with shuffles is the values of two effects: 16 bytes each, held twice.
print(json.dumps({"gigabytes": peak + 32 * 100_000 / 1e9, "seconds": 1e5 * seconds}))
"""


def measure() -> list[Ratio]:
    return [*_shuffles(), _deals(), _long(), _large()]


def _lines(steps: int = 8) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=(10, steps)).cumsum(axis=1) for _ in range(2)]


def _f(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
    """Return F of two groups of ten line means, as anyone would write it."""
    apart = a.mean(axis=axis) - b.mean(axis=axis)
    return apart**2 / ((a.var(axis=axis, ddof=1) + b.var(axis=axis, ddof=1)) / 10)


def _scipy(draws: int) -> float:
    from scipy.stats import permutation_test

    a, b = (x.mean(axis=1) for x in _lines())
    found = permutation_test(
        (a, b),
        _f,
        n_resamples=draws,
        vectorized=True,
        alternative="greater",
        batch=20_000,
    )
    return float(found.pvalue)


def _ours(lines: list[np.ndarray], **how: object) -> object:
    how = {"shuffles": SHUFFLES, "most": SHUFFLES, "exact": False} | how
    return randomized_anova(lines, rng=np.random.default_rng(1), **how)


def _shuffles() -> list[Ratio]:
    lines = _lines()
    joint, default, theirs = best_of(
        5,
        lambda: _ours(lines, null="joint"),
        lambda: _ours(lines),
        lambda: _scipy(SHUFFLES),
    )
    return [
        Ratio(
            "both F of 2 x 10 lines under 100,000 shuffles, faster than one F in scipy",
            theirs / joint,
            5,
            "at least",
            f"ours {1e3 * joint:.0f} ms, scipy's permutation_test, vectorised, "
            f"{1e3 * theirs:.0f} ms",
        ),
        Ratio(
            "both tests for unequal noise, 100,000 shuffles and as many flips, than one F",
            theirs / default,
            2,
            "at least",
            f"ours {1e3 * default:.0f} ms",
        ),
    ]


def _deals() -> Ratio:
    lines = _lines()
    exact = randomized_anova(lines, noise="equal", rng=np.random.default_rng(1))
    if abs(exact.p("algorithm") - _scipy(10**6)) > 1e-12:
        raise AssertionError("ours and scipy's exact p values differ")
    ours, theirs = best_of(
        3, lambda: _ours(lines, null="joint", exact=True), lambda: _scipy(10**6)
    )
    return Ratio(
        "both F of all 92,378 deals of 2 x 10 lines, faster than one F in scipy",
        theirs / ours,
        50,
        "at least",
        f"ours {1e3 * ours:.1f} ms, scipy's exact test {theirs:.2f} s; the same p",
    )


def _long() -> Ratio:
    short, long = _lines(), _lines(10_000)
    ratio = typical_ratio(
        9, lambda: _ours(long, null="joint"), lambda: _ours(short, null="joint")
    )
    return Ratio(
        "100,000 shuffles of lines of 10,000 steps, against lines of 8",
        ratio,
        3,
        "at most",
        "both F, 2 x 10 lines",
    )


def _large() -> Ratio:
    told = subprocess.run(
        [sys.executable, "-c", LARGE], check=True, capture_output=True, text=True
    )
    found = json.loads(told.stdout)
    return Ratio(
        "memory for 100,000 shuffles of 16 x 100 lines of 1,000 steps",
        found["gigabytes"],
        2,
        "at most",
        f"measured with 2,000 shuffles; 100,000 take about {found['seconds']:.0f} s",
        "GB",
    )
