"""Do tests of pairs, contrasts and tasks keep their level, and do effect sizes cover?

    python scripts/levels_pairs.py pair | family | contrast | tasks | effects | explained

Level .05, 95 % intervals. The standard error of a rate of .05 is .005 for 2,000 data sets
and .0034 for 4,000. Noise: see tests/helpers/noisy_lines.py. Refusals count as misses.
"""

import sys
import warnings
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from noisy_lines import lines, noise

from curvewise.errors import CurvewiseWarning
from curvewise.stats.anova.contrasts import _adjusted, contrast
from curvewise.stats.anova.draws import (
    flipped,
    observed_for_flips,
    plain,
    random_signs,
    split,
    studentised,
)
from curvewise.stats.anova.effects import effect_sizes, explained
from curvewise.stats.anova.tasks import over_tasks
from curvewise.stats.deals import (
    all_deals,
    labels_as_they_lie,
    number_of_deals,
    random_deals,
    random_labels,
)

DRAWS = 399
LEVEL = 0.05


@cache
def spread_of_mean(kind, steps=8):
    """Return the standard deviation of the mean of a line whose noise is 1."""
    return noise(kind, (400_000, steps), np.random.default_rng(0)).mean(axis=1).std()


# ------------------------------------------------------------------------------- a pair


def plain_f(x, labels, pair):
    """Return F of the means of the lines dealt to a pair, shape (data set, draw)."""
    f = []
    for own in (labels == pair[0], labels == pair[1]):
        n = own.sum(axis=1)
        mean = x @ own.T / n
        f.append((n, mean, x**2 @ own.T - n * mean**2))
    (n, a, s), (m, b, t) = f
    return (a - b) ** 2 / ((s + t) / (n + m - 2) * (1 / n + 1 / m))


def pooled_max_f(sizes, sds, pair, reps, rng, kind="walk", draws=999):
    """Return how often a pair of equals is found by the largest F of shuffled lines."""
    hits, block = 0, 50
    every = list(combinations(range(len(sizes)), 2))
    for _ in range(reps // block):
        x = np.stack(
            [
                np.concatenate(lines(kind, sizes, rng, sds=sds)).mean(axis=1)
                for _ in range(block)
            ]
        )
        x -= x.mean(axis=1, keepdims=True)
        labels = np.concatenate(list(random_deals(sizes, draws, rng=rng)))
        largest = np.max([plain_f(x, labels, one) for one in every], axis=0)
        as_they_lie = np.repeat(np.arange(len(sizes)), sizes)[None]
        seen = plain_f(x, as_they_lie, pair)
        p = (1 + (largest >= seen).sum(axis=1)) / (1 + draws)
        hits += int((p <= LEVEL).sum())
    return hits / (reps // block * block)


def p_values(stack, sizes, how, rng):
    """Return p of both effects for a stack of data sets, shape (effect, data set).

    As `randomized_anova` has them; the data sets of a stack share their draws.
    """
    parts = split(stack, sizes)
    as_they_lie = labels_as_they_lie(sizes)
    if number_of_deals(sizes) <= DRAWS:
        labels = np.concatenate(list(all_deals(sizes)))
    else:
        labels = np.concatenate((as_they_lie, random_labels(sizes, DRAWS, rng)))

    def judged(own):
        if how == "equal":
            return np.stack(plain(parts, own, joint=False))
        return np.stack(studentised(parts, own))

    seen = judged(as_they_lie)
    p = (judged(labels) >= seen * (1 - 1e-9)).mean(axis=2)
    if how == "unequal":
        seen = np.stack(observed_for_flips(parts))[:, :, None]
        drawn = np.stack(flipped(parts, random_signs(DRAWS, sum(sizes), rng)))
        beyond = (drawn >= seen * (1 - 1e-9)).sum(axis=2)
        p = np.maximum(p, (1 + beyond) / (1 + DRAWS))
    return p


def stacks(kind, sizes, sds, reps, rng, **more):
    """Yield data sets in stacks of 50, shape (data set, line, step) for each algorithm."""
    for _ in range(reps // 50):
        drawn = [lines(kind, sizes, rng, sds=sds, **more) for _ in range(50)]
        yield [np.stack(group) for group in zip(*drawn, strict=True)]


def within_pair(sizes, sds, reps, rng, kind="walk"):
    """Return how often a pair of equals is found, by F and by default, both effects."""
    hits = np.zeros((2, 2))
    for own in stacks(kind, sizes, sds, reps, rng):
        stack = np.concatenate(own, axis=1)
        for i, how in enumerate(("equal", "unequal")):
            hits[i] += (p_values(stack, sizes, how, rng) <= LEVEL).sum(axis=1)
    return hits / reps


def pair(reps=4000):
    rng = np.random.default_rng(51)
    print("sizes, noise, pair | largest F of pooled shuffles | F in pair | default")
    for sizes in ((5, 5, 5), (10, 10, 10)):
        for sds in ((1, 1, 1), (0.1, 0.1, 3)):
            for a, b in ((0, 1), (0, 2)):
                pooled = pooled_max_f(sizes, sds, (a, b), reps, rng)
                own = (sizes[a], sizes[b]), (sds[a], sds[b])
                plain_, ours = within_pair(*own, reps, rng).round(3)
                print(sizes, sds, (a, b), f"| {pooled:.3f} |", plain_, ours, flush=True)


# ------------------------------------------------------------------------------- family


def family(reps=2000):
    rng = np.random.default_rng(52)
    print("any pair of equals found: Holm, closed, each algorithm and interaction")
    print("then the share of pairs that differ found, in the same order")
    designs = (
        ((5, 5, 5, 5), (1, 1, 1, 1), "walk"),
        ((5, 5, 5, 5), (1, 1, 1, 4), "walk"),
        ((10, 10, 10, 10), (1, 1, 1, 4), "skew"),
        ((5, 10, 15, 10), (4, 1, 1, 1), "walk"),
    )
    for sizes, sds, kind in designs:
        for shift, ramp in ((0.0, 0.0), (2.5, 2.0)):
            found = family_errors(sizes, sds, kind, shift, ramp, reps, rng)
            print(sizes, sds, kind, shift, *found, flush=True)


def family_errors(sizes, sds, kind, shift, ramp, reps, rng):
    """Return the family-wise error, and the power where the last algorithm differs."""
    m = len(sizes)
    every = list(combinations(range(m), 2))
    sets = [own for n in range(2, m + 1) for own in combinations(range(m), n)]
    differ = np.array([b == m - 1 and shift > 0 for _, b in every])
    wrong, right = np.zeros((2, 2)), np.zeros((2, 2))
    for own in stacks(kind, sizes, sds, reps, rng, shift=shift, ramp=ramp):
        p = {
            chosen: p_values(
                np.concatenate([own[i] for i in chosen], axis=1),
                *([sizes[i] for i in chosen], "unequal", rng),
            )
            for chosen in sets
        }
        for i, method in enumerate(("holm", "closed")):
            for j in range(2):
                for k in range(len(own[0])):
                    one = {chosen: found[j, k] for chosen, found in p.items()}
                    said = _adjusted(one, every, m, method) <= LEVEL
                    wrong[i, j] += said[~differ].any()
                    right[i, j] += said[differ].mean() if shift else 0
    return (wrong / reps).round(3).tolist(), (right / reps).round(3).tolist()


# ------------------------------------------------------------------------------ contrast


def contrasts(reps=2000):
    rng = np.random.default_rng(53)
    print("level of algorithm, of interaction; coverage of the contrast")
    for kind in ("walk", "iid", "t3", "skew"):
        for sizes, sds in (
            ((5, 5, 5), (1, 1, 1)),
            ((5, 5, 5), (1, 1, 4)),
            ((5, 5, 5), (4, 1, 1)),
            ((10, 10, 10), (4, 1, 1)),
            ((5, 10, 15), (4, 1, 1)),
        ):
            found = contrast_errors(sizes, sds, kind, reps, rng)
            print(kind, sizes, sds, found, flush=True)


def contrast_errors(sizes, sds, kind, reps, rng, weights=(1, -0.5, -0.5)):
    """Return how often a contrast that is 0, of algorithms that differ, is rejected."""
    hits = np.zeros(3)
    apart = np.linspace(-3, 3, 8) + 2
    for _ in range(reps):
        own = lines(kind, sizes, rng, sds=sds)
        # The second is above and the third below: their mean is as the first.
        own[1], own[2] = own[1] + apart, own[2] - apart
        found = contrast(own, weights, draws=DRAWS, rng=rng)
        hits += [
            found.p("algorithm") <= LEVEL,
            found.p("interaction") <= LEVEL,
            0 in found.difference,
        ]
    return hits / reps


# --------------------------------------------------------------------------------- tasks


def tasks_of(kind, effects, sizes, sds, rng):
    """Return lines on tasks whose scales are 1, 10, 100 and so on."""
    unit = 0.84 * spread_of_mean(kind)
    every = []
    for q, effect in enumerate(effects):
        own = lines(kind, sizes, rng, sds=sds)
        own[0] = own[0] + effect * unit
        every.append([10.0**q * group for group in own])
    return every


def raw_sum(tasks, rng, draws=DRAWS):
    """Return the p value of the sum of raw differences, lines shuffled within tasks."""
    seen, drawn = 0.0, np.zeros(draws)
    for one, other in tasks:
        x = np.concatenate((one, other)).mean(axis=1)
        sizes = (len(one), len(other))
        (labels,) = random_deals(sizes, draws, rng=rng)
        weight = np.where(labels == 0, 1 / sizes[0], -1 / sizes[1])
        drawn += weight @ x
        seen += x[: sizes[0]].mean() - x[sizes[0] :].mean()
    return (1 + (np.abs(drawn) >= abs(seen)).sum()) / (1 + draws)


TASKS = (  # kind, effects, sizes, sds, level or power
    ("walk", (0,) * 3, (5, 5), (1, 1)),
    ("walk", (0,) * 3, (5, 5), (4, 1)),
    ("walk", (0,) * 10, (5, 5), (4, 1)),
    ("walk", (0,) * 3, (5, 15), (4, 1)),
    ("t3", (0,) * 3, (5, 15), (4, 1)),
    ("skew", (0,) * 3, (5, 15), (4, 1)),
    ("walk", (0.9,) * 3, (8, 8), (1, 1)),
    ("walk", (0.9,) * 10, (5, 5), (1, 1)),
    ("walk", (1.8, 0, 0), (8, 8), (1, 1)),
    ("walk", (1.6, -1.6, 0), (8, 8), (1, 1)),
    # One task in which one algorithm is far above: the hardest case without a reversal.
    ("walk", (9, 0), (8, 8), (1, 1)),
    ("walk", (9, 0, 0), (8, 8), (1, 1)),
    ("walk", (9, 0, 0), (5, 15), (4, 1)),
    ("walk", (2, 0, 0), (5, 15), (4, 1)),
    ("skew", (9, 0, 0), (5, 15), (4, 1)),
    ("skew", (-9, 0, 0), (5, 15), (4, 1)),
    ("t3", (9, *(0,) * 9), (5, 5), (4, 1)),
)


def task_rates(kind, effects, sizes, sds, reps, rng):
    """Return how often each test rejects: raw sum, whole, somewhere, reversal."""
    hits = np.zeros(4)
    for _ in range(reps):
        own = tasks_of(kind, effects, sizes, sds, rng)
        found = over_tasks(own, shuffles=DRAWS, exact=False, rng=rng)
        tests = (found.whole, found.somewhere, found.reversal)
        hits[0] += raw_sum(own, rng) <= LEVEL
        hits[1:] += [test.is_rejected for test in tests]
    return hits / reps


def tasks():
    rng = np.random.default_rng(54)
    print("rejected: raw sum, on the whole, somewhere, reversal")
    for kind, effects, sizes, sds in TASKS:
        reps = 1000 if 0 < max(effects) < 2 else 2000
        found = task_rates(kind, effects, sizes, sds, reps, rng)
        print(kind, effects, sizes, sds, found.round(3), flush=True)
    print("\nrejected by the spread of z, the same difference on three tasks")
    for effect in (0, 1, 2):
        rate = spread_of_deviates(effect, (5, 10, 20), 2000, np.random.default_rng(57))
        print(f"{effect} sd: {rate:.3f}", flush=True)


def spread_of_deviates(effect, sizes, reps, rng, kind="walk"):
    """Return how often z differ more than chance makes them, by chi squared.

    A test that there is none of: the difference is the same on all tasks, which have
    different numbers of lines.
    """
    from scipy.stats import chi2

    shift, hits = effect * spread_of_mean(kind), 0
    for _ in range(reps):
        own = [lines(kind, (n, n), rng) for n in sizes]
        own = [[one + shift, other] for one, other in own]
        z = over_tasks(own, shuffles=99, exact=False, rng=rng).z
        hits += ((z - z.mean()) ** 2).sum() > chi2.ppf(1 - LEVEL, len(z) - 1)
    return hits / reps


# ------------------------------------------------------------------------------- effects


def effects(reps=2000):
    rng = np.random.default_rng(55)
    print("coverage: difference, standardised; mean of the standardised estimate")
    for kind in ("walk", "t3", "skew"):
        for sizes in ((5, 5), (10, 10), (5, 15)):
            for sds in ((1, 1), (1, 4), (4, 1)):
                for effect in (0, 1, 2):
                    if sds != (4, 1) or sizes == (5, 15):
                        found = effect_coverage(kind, sizes, sds, effect, reps, rng)
                        print(kind, sizes, sds, effect, found.round(3), flush=True)


def effect_coverage(kind, sizes, sds, effect, reps, rng):
    """Return how often both intervals hold, and the mean of the estimate."""
    shift = effect * spread_of_mean(kind) * np.sqrt((sds[0] ** 2 + sds[1] ** 2) / 2)
    hits = np.zeros(3)
    for _ in range(reps):
        one, other = lines(kind, sizes, rng, sds=sds)
        found = effect_sizes(one + shift, other)
        hits += [
            shift in found.difference,
            effect in found.standardised,
            found.standardised.value,
        ]
    return hits / reps


def shares(reps=1000):
    rng = np.random.default_rng(56)
    print("coverage of algorithm, of interaction, at shares 0, .2, .5, .8")
    for kind in ("walk", "iid", "t3", "skew"):
        for sizes, sds in (
            ((5, 5), (1, 1)),
            ((5, 5), (1, 4)),
            ((5, 15), (4, 1)),
            ((5, 5, 5), (1, 1, 1)),
            ((10, 10, 10), (1, 1, 4)),
            ((5, 10, 15), (4, 1, 1)),
        ):
            found = [
                share_coverage(kind, sizes, sds, share, reps, rng).round(3).tolist()
                for share in (0, 0.2, 0.5, 0.8)
            ]
            print(kind, sizes, sds, found, flush=True)


def share_coverage(kind, sizes, sds, share, reps, rng, steps=8):
    """Return how often the intervals for both shares hold; the last algorithm differs."""
    m = len(sizes)
    drawn = noise(kind, (400_000, steps), np.random.default_rng(0))
    means = drawn.mean(axis=1, keepdims=True)
    ratio = share / (1 - share) * np.mean(np.square(sds)) * m / (1 - 1 / m)
    shift = np.sqrt(ratio * means.var())
    ramp = np.linspace(-1, 1, steps)
    ramp *= np.sqrt(ratio * (drawn - means).var(axis=0).sum() / (ramp**2).sum())
    hits = np.zeros(2)
    for _ in range(reps):
        own = lines(kind, sizes, rng, sds=sds)
        own[-1] = own[-1] + shift + ramp
        found = explained(own)
        hits += [share in found.algorithm, share in found.interaction]
    return hits / reps


if __name__ == "__main__":
    warnings.simplefilter("ignore", CurvewiseWarning)
    asked = {
        "pair": pair,
        "family": family,
        "contrast": contrasts,
        "tasks": tasks,
        "effects": effects,
        "explained": shares,
    }
    for name in sys.argv[1:] or asked:
        print(f"\n### {name}\n")
        asked[name]()
