"""Does `compare_versions` keep its level, and do planned trials have their power?

    python scripts/levels_versions.py levels | widths | pairs | cells | power | looks

Confidence .95 of each claim, so that a wrong one may come in 5 % of the cases. The standard
error of a rate of .05 is .0034 for 4,000 repetitions. Scores: see
tests/helpers/scores_of_versions.py.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from scores_of_versions import SCENES, draw

from curvewise.errors import CurvewiseWarning
from curvewise.questions.versions.fit import Margin, Names, Pair, Side, changes_of
from curvewise.stats.comparison import difference
from curvewise.stats.noninferiority import cautious_difference, more_trials

REPETITIONS = 4000
SIZES = ((5, 5), (10, 10), (20, 20), (5, 20), (10, 100))


def welch(a, b, paired=False):
    """Return the usual interval, whose ends are one-sided limits of 95 %."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CurvewiseWarning)
        return difference(a, b, confidence=0.9, paired=paired)


def wrong(found, truth, rounding=1e-12):
    """Return whether "no worse" and "worse" would be wrong with the margin at the truth.

    Below the truth by next to nothing it is worse, above it is not.
    """
    return found.lower > truth + rounding, found.upper < truth - rounding


def levels(repetitions=REPETITIONS):
    print("wrong 'no worse', wrong 'worse' in %: Welch, then ours; new and base trials")
    for scene in SCENES:
        for n, m in SIZES:
            rng = np.random.default_rng(61)
            hits = np.zeros((2, 2))
            for _ in range(repetitions):
                a, b, truth = draw(scene, n, m, rng)
                hits[0] += wrong(welch(a, b), truth)
                hits[1] += wrong(cautious_difference(a, b).interval, truth)
            usual, ours = 100 * hits / repetitions
            print(f"{scene:32} {n:3} {m:3} | {_two(usual)} | {_two(ours)}", flush=True)


def widths(repetitions=REPETITIONS):
    print("how many times as long as Welch's interval, on average")
    for scene in SCENES:
        told = []
        for n, m in SIZES:
            rng = np.random.default_rng(67)
            ratios = []
            for _ in range(repetitions // 4):
                a, b, _ = draw(scene, n, m, rng)
                usual, ours = welch(a, b), cautious_difference(a, b).interval
                if np.isfinite(usual.half_width):  # or no trial varies
                    ratios.append(ours.half_width / usual.half_width)
            told.append(f"{np.mean(ratios):.2f}")
        print(f"{scene:32} | {' '.join(told)}", flush=True)


def _two(rates):
    return " ".join(f"{rate:5.1f}" for rate in rates)


def pairs(repetitions=REPETITIONS):
    """Pairs share half of their variance."""
    print("the same for pairs: Student, then ours")
    for scene in SCENES:
        for n in (5, 10, 20):
            rng = np.random.default_rng(62)
            hits = np.zeros((2, 2))
            for _ in range(repetitions):
                a, b, truth = draw(scene, n, n, rng)
                shared = rng.normal(size=n) * max(a.std(), b.std())
                a, b = a + shared, b + shared
                hits[0] += wrong(welch(a, b, paired=True), truth)
                found = cautious_difference(a, b, paired=True)
                hits[1] += wrong(found.interval, truth)
            usual, ours = 100 * hits / repetitions
            print(f"{scene:32} {n:3} | {_two(usual)} | {_two(ours)}", flush=True)


def verdict(new, base, margin, confidence=0.95):
    """Return the verdict over several cells: lists of scores."""
    own = [
        Pair(Names("t", "a", "a"), b, a, False, (_side(b), _side(a)))
        for a, b in zip(new, base, strict=True)
    ]
    found = {
        c.verdict for c in changes_of(own, Margin(margin, False, False), confidence)
    }
    if "worse" in found:
        return "worse"
    return "cannot tell" if "cannot tell" in found else "no worse"


def _side(z):
    return Side("a", len(z), 0, float(z.mean()), float(z.std(ddof=1)), 0)


def cells(repetitions=REPETITIONS):
    """Several cells of 10 trials each, normal, with margin 1."""
    print("cells, true differences | no worse, worse, cannot tell in %")
    designs = {
        "1, at the margin": [-1.0],
        "5, all at the margin": [-1.0] * 5,
        "5, one at the margin, others much better": [-1.0, 9, 9, 9, 9],
        "20, all at the margin": [-1.0] * 20,
        "5, one worse by 3 margins": [-3.0, 0, 0, 0, 0],
    }
    for name, shifts in designs.items():
        rng = np.random.default_rng(63)
        told = []
        for _ in range(repetitions // (4 if len(shifts) > 5 else 1)):
            new = [rng.normal(size=10) + shift for shift in shifts]
            base = [rng.normal(size=10) for _ in shifts]
            told.append(verdict(new, base, 1.0))
        rates = [100 * told.count(v) / len(told) for v in ("no worse", "worse")]
        print(f"{name:44} | {_two([*rates, 100 - sum(rates)])}", flush=True)


def power(repetitions=REPETITIONS):
    """Equal versions: pilots of n, then as many trials in all as were planned."""
    print(
        "scene, pilot | planned in all (median) | told with the right spread, by pilots"
    )
    for scene in (
        "normal",
        "lognormal",
        "uneven rates .95 and .95",
        "rates .97 and .97",
    ):
        for n in (5, 10, 20):
            rng = np.random.default_rng(64)
            big = draw(scene, 200_000, 2, rng)[0]
            margin = 0.8 * big.std() * np.sqrt(10 / n)
            right = n + more_trials(*(_like(big, n, rng) for _ in range(2)), margin)
            sure, told, sizes = 0, 0, []
            for _ in range(repetitions // 2):
                a, b, _ = draw(scene, n, n, rng)
                k = more_trials(a, b, margin)
                sizes.append(n + (k or 1000))
                a, b, _ = draw(scene, sizes[-1], sizes[-1], rng)
                told += cautious_difference(a, b).is_at_least(-margin)
                a, b, _ = draw(scene, right, right, rng)
                sure += cautious_difference(a, b).is_at_least(-margin)
            rates = 100 * np.array([sure, told]) / (repetitions // 2)
            middle = int(np.median(sizes))
            print(f"{scene:26} {n:3} | {middle} ({right}) | {_two(rates)}", flush=True)


def _like(big, n, rng):
    """Return a pilot whose spread is exactly that of all trials."""
    z = rng.normal(size=n)
    return (z - z.mean()) / z.std(ddof=1) * big.std()


def looks(repetitions=REPETITIONS):
    """Ask at 10 trials; if it cannot tell, run as many more as planned and ask again."""
    print("looks, truth | no worse, worse, cannot tell in %")
    for share in (1, 2):
        for name, truth in (("at the margin", -1.0), ("equal", 0.0)):
            rng = np.random.default_rng(65)
            told = []
            for _ in range(repetitions):
                a, b = rng.normal(size=10) + truth, rng.normal(size=10)
                each = 1 - 0.05 / share
                first = verdict([a], [b], 1.0, each)
                if first == "cannot tell":
                    k = more_trials(a, b, 1.0, confidence=each) or 1000
                    a = np.r_[a, rng.normal(size=k) + truth]
                    b = np.r_[b, rng.normal(size=k)]
                    first = verdict([a], [b], 1.0, each)
                told.append(first)
            rates = [100 * told.count(v) / len(told) for v in ("no worse", "worse")]
            print(f"{share} {name:14} | {_two([*rates, 100 - sum(rates)])}", flush=True)


if __name__ == "__main__":
    for asked in sys.argv[1:] or (
        "levels",
        "widths",
        "pairs",
        "cells",
        "power",
        "looks",
    ):
        {
            "levels": levels,
            "widths": widths,
            "pairs": pairs,
            "cells": cells,
            "power": power,
            "looks": looks,
        }[asked]()
