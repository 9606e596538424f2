"""Measures plans for numbers of lines: is the power reached that was planned for?

    python scripts/levels_planning.py form
    python scripts/levels_planning.py stated --pilots 100
    python scripts/levels_planning.py observed --pilots 100

form: the power of the test itself against its form for many lines. stated: the effect is
known, noise is judged from 8 lines of each algorithm; the power that the planned number of
lines really has, in the direction that takes more of them; and the same for plans in one
direction only. observed: effect and noise are judged from 8 lines. The tables in
docs/reference/plan.md are what this prints, with these numbers of pilots and seed 1.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from curvewise.stats.anova.lines import checked_lines
from curvewise.stats.anova.pilots import ManyLines, population
from curvewise.stats.anova.planning import lines_for_power
from curvewise.stats.anova.power import (
    Aim,
    never_falling,
    power_curve,
    simulated_power,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
import noisy_lines

SIMULATIONS = 200  # of each plan
LEVELS = {"algorithm": (0.05, 0.0), "interaction": (0.0, 0.05)}
CELLS = [
    (kind, sds, effect)
    for effect in LEVELS
    for kind in ("walk", "t3")
    for sds in ((1.0, 1.0), (1.0, 4.0))
]


def effects(effect, size):
    return {"shift": size} if effect == "algorithm" else {"ramp": size}


def truth(kind, sds, effect, size, rng):
    """Return a population as good as known: 4,000 lines of each algorithm."""
    lines = noisy_lines.lines(kind, (4000, 4000), rng, sds=sds)
    design = checked_lines([g - g.mean(axis=0) for g in lines])
    middles = np.zeros((2, design.values.shape[1]))
    middles[1] = size if effect == "algorithm" else size * np.linspace(-1, 1, 8)
    return population(design, middles, shapes=effect != "algorithm", pooled=False)


def asked(effect, simulations):
    return Aim(0.8, LEVELS[effect], True, 4, simulations)


def form(rng, _):
    print("effect       noise  sd   lines  simulated  form for many lines (error .008)")
    for kind, sds, effect in CELLS:
        for lines in (8, 20, 60, 120):
            unit = sds[1] * (1.0 if effect == "algorithm" else 0.7)
            size = 2.9 * unit / np.sqrt(lines) * (0.9 if sds[0] == sds[1] else 0.75)
            source = truth(kind, sds, effect, size, rng)
            found, _ = simulated_power(source, (lines, lines), asked(effect, 2500), rng)
            many = ManyLines(source, LEVELS[effect], rng)
            told = many.power(lines - 1, (1.0, 1.0))
            print(
                f"{effect:12} {kind:6} 1/{sds[1]:g} {lines:6} {found:10.3f} {told:8.3f}",
                flush=True,
            )


def reached(source, effect, plans, rng):
    """Return the power that numbers of lines really have."""
    known = {}
    for n in sorted({int(n) for n in plans}):
        known[n] = simulated_power(source, (n, n), asked(effect, 1000), rng)[0], 1000
    powers, _ = never_falling(known)  # the running largest of them would be too large
    return np.interp(plans, sorted(known), powers)


STATED = [
    *((kind, sds) for kind in ("walk", "t3") for sds in ((1.0, 1.0), (1.0, 4.0))),
    ("skew", (1.0, 1.0)),
    ("skew", (1.0, 4.0)),
]


def needed(source, effect, rng):
    many = ManyLines(source, LEVELS[effect], rng)
    return power_curve(source, many, (1.0, 1.0), asked(effect, 4000), None, rng).lines


def stated(rng, pilots):
    print(
        "noise sd | lines that it takes, second or first above | planned 10 50 90 % | "
        "power reached: mean, 10 % | interval holds it | one direction: 50 %, power"
    )
    for kind, sds in STATED:
        size = 0.75 * np.mean(sds)
        ways = [truth(kind, sds, "algorithm", own, rng) for own in (size, -size)]
        takes = [needed(source, "algorithm", rng) for source in ways]
        worse = int(np.argmax(takes))
        plans, single, inside = [], [], 0
        for _ in range(pilots):
            pilot = noisy_lines.lines(kind, (8, 8), rng, sds=sds)
            found = lines_for_power(pilot, shift=size, simulations=SIMULATIONS, rng=rng)
            plans.append(found.lines)
            single.append(found.directions[worse])
            inside += takes[worse] in found.interval
        both = np.concatenate([plans, single])
        near = np.unique(np.quantile(both, np.linspace(0, 1, 12)).round())
        powers = reached(ways[worse], "algorithm", near, rng)
        power, alone = (np.interp(n, near, powers) for n in (plans, single))
        print(
            f"{kind:5} 1/{sds[1]:g} | {takes[0]:.1f} {takes[1]:.1f} | "
            f"{np.quantile(plans, [0.1, 0.5, 0.9])} | {power.mean():.3f} "
            f"(error {power.std() / np.sqrt(pilots):.3f}), {np.quantile(power, 0.1):.3f} | "
            f"{inside / pilots:.2f} | {np.median(single):.1f} {alone.mean():.3f}",
            flush=True,
        )


def observed(rng, pilots):
    print(
        "effect noise sd | lines that it takes | none | planned 10 50 90 % | interval"
    )
    for kind, sds, effect in CELLS:
        size = 0.9 * np.mean(sds) * (1.0 if effect == "algorithm" else 0.7)
        source = truth(kind, sds, effect, size, rng)
        best = needed(source, effect, rng)
        plans, inside, ends = [], 0, 0
        for _ in range(pilots):
            pilot = noisy_lines.lines(
                kind, (8, 8), rng, sds=sds, **effects(effect, size)
            )
            found = lines_for_power(
                pilot, effect=effect, simulations=SIMULATIONS, rng=rng
            )
            plans.append(np.inf if found.lines is None else found.lines)
            inside += best in found.interval
            ends += np.isfinite(found.interval.upper)
        few = np.quantile(plans, [0.1, 0.5, 0.9], method="lower")
        print(
            f"{effect:12} {kind:5} 1/{sds[1]:g} | {best:.1f} | "
            f"{np.isinf(plans).mean():.2f} | {few} | holds it {inside / pilots:.2f}, has "
            f"an end {ends / pilots:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=("form", "stated", "observed"))
    parser.add_argument("--pilots", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    part = {"form": form, "stated": stated, "observed": observed}[arguments.part]
    part(np.random.default_rng(arguments.seed), arguments.pilots)
