"""How often does what `until` promises hold, where the run stops? And what do looks cost?

Simulated runs: scores are drawn, the looks are those of a real run. Prints one line per
case: how often all intervals of all cells contain the truth at the look at which the run
ends, how many trials of each that is, and how wide the widest interval is then. Then how
often they contain it at *all* looks, where intervals are as short as they may be, so that
a budget that were not divided would be seen.

    python scripts/coverage_until.py [runs]
"""

import sys
import time

import numpy as np
from scipy.special import stdtrit

from curvewise.flow.until import until
from curvewise.flow.until.looks import Budget
from curvewise.metrics import find
from curvewise.questions.sampling import Sample
from curvewise.stats.planning import looks_cost, planned_looks

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
ACCURACY = find("accuracy")
LAWS = {
    "beta": lambda rng, n: rng.beta(8, 2, n),
    "high": lambda rng, n: rng.beta(30, 2, n),
    "ties": lambda rng, n: np.round(20 * rng.beta(8, 2, n)) / 20,
    "fails": lambda rng, n: np.where(rng.random(n) < 0.05, 0, rng.beta(30, 4, n)),
    "ends": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "skew": lambda rng, n: rng.beta(0.5, 6, n),
    "rare": lambda rng, n: np.where(
        rng.random(n) < 0.01, 0, rng.normal(0.9, 0.01, n).clip(0, 1)
    ),
}
GUARANTEED = [
    ("cvar 0.5 +- 0.04", "beta"),
    ("cvar 0.5 +- 0.04", "high ties fails"),
    ("cvar 0.9 +- 0.05", "beta"),
    ("cvar 0.2 +- 0.1 tail lower", "ties"),
    ("mean +- 0.05", "fails"),
    ("mean +- 0.12", "ends"),
    ("mean +- 0.02", "rare"),
    ("quantile 0.9 +- 0.05", "beta ties"),
    ("cvar 0.5 +- 0.04 band kolmogorov", "beta"),
    ("mean +- 0.08 band kolmogorov", "ends"),
    ("mean +- 0.2 band anytime", "ends"),
]
ASYMPTOTIC = [
    ("mean +- 0.015", "beta"),
    ("mean +- 0.015", "beta high ties skew"),
    ("cvar 0.5 +- 0.015", "beta high ties fails"),
    ("cvar 0.9 +- 0.02", "beta high fails"),
    ("mean +- 0.03", "fails"),
    ("mean +- 0.06", "ends"),
    ("mean +- 0.005", "rare"),
]
RANKINGS = [
    ("ranking cvar 0.5 within 0.05", "beta beta fails"),
    ("ranking mean within 0.02", "fails beta"),
    ("ranking mean within 0.01 method asymptotic", "beta beta fails"),
    ("ranking cvar 0.5 within 0.01 method asymptotic", "beta beta high"),
]


def main():
    print(
        f"{RUNS} runs of each case, promised: 0.95; a maximum of 1000 or 2000 trials\n"
    )
    print(f"{'until':52}{'laws':22}{'holds':>7}{'trials':>8}{'±':>9}{'seconds':>9}")
    for text, laws in GUARANTEED:
        precision(text, laws, 1000)
    print()
    for text, laws in ASYMPTOTIC:
        precision(f"{text} method asymptotic", laws, 2000)
    print(f"\n{'until':52}{'laws':22}{'wrong':>7}{'trials':>8}{'decided':>9}")
    for text, laws in RANKINGS:
        ranking(text, laws, 2000)
    tight()
    plans()
    print("\nwithout paying for the looks (Student at 0.95, until it pleases):")
    peeking()
    print("\nwhat looks cost, at 2000 trials:")
    for looks in (2, 5, 10):
        cost = looks_cost(2000, looks, start=100)
        print(
            f"  {looks:>2} planned: {cost.wider_planned:.2f} times as wide, "
            f"{cost.trials_planned / 2000:.2f} times as many trials; any time: "
            f"{cost.wider_anytime:.2f}, {cost.trials_anytime / 2000:.2f}"
        )


def truths(asked, names):
    rng = np.random.default_rng(99)
    found = {}
    for i, name in enumerate(names):
        found[f"{i} {name}"] = asked.functional.value(LAWS[name](rng, 2_000_000))
    return found


def runs(asked, names, most):
    """Yield the look at which each run ends, and at which number of trials."""
    rng = np.random.default_rng(2026)
    looks = planned_looks(most)
    budget = asked.budget(len(looks))
    for _ in range(RUNS):
        drawn = {("t", f"{i} {n}"): LAWS[n](rng, most) for i, n in enumerate(names)}
        for size in looks:
            found = {c: Sample(z[:size], np.arange(size), 0) for c, z in drawn.items()}
            look = asked.look(found, ACCURACY, budget)
            if look.is_enough:
                break
        yield look, size


def precision(text, laws, most):
    begin = time.perf_counter()
    asked, names = until(text), laws.split()
    truth = truths(asked, names)
    hits, sizes, widths = 0, [], []
    for look, size in runs(asked, names, most):
        hits += all(truth[s.algorithm] in s.interval for s in look.members)
        sizes.append(size)
        widths.append(look.widest)
    took = time.perf_counter() - begin
    print(
        f"{text:52}{laws:22}{hits / RUNS:7.4f}{np.mean(sizes):8.0f}"
        f"{np.mean(widths):9.4f}{took:9.1f}",
        flush=True,
    )


def ranking(text, laws, most):
    asked, names = until(text), laws.split()
    truth = truths(asked, names)
    truth |= {k: truth[f"0 {names[0]}"] for k in truth if k.split()[1] == names[0]}
    wrong, sizes, decided = 0, [], 0
    for look, size in runs(asked, names, most):
        decided += look.is_enough
        sizes.append(size)
        wrong += any(errs(pair, look, truth) for pair in look.members)
    print(
        f"{text:52}{laws:22}{wrong / RUNS:7.4f}{np.mean(sizes):8.0f}{decided / RUNS:9.2f}",
        flush=True,
    )


TIGHT = [  # tasks, algorithms, and how many of these always score 0.5
    ("quantile 0.5 +- 1e-9", 20, 1, 0),
    ("ranking quantile 0.5 within 1e-9", 1, 12, 1),
    ("ranking mean within 1e-9 method asymptotic", 12, 2, 0),
]


class Forgetful(Budget):
    """A budget that does not count the cells."""

    def confidence(self, members):
        del members
        return super().confidence(1)


def tight(delta=0.2, most=1600):
    print(
        f"\nall cells at all five looks, promised to the first plan: {1 - delta / 2:g}; "
        f"if looks or cells were not paid for"
    )
    budgets = Budget(delta, 5), Budget(delta, 1), Forgetful(delta, 5)
    for text, tasks, algorithms, known in TIGHT:
        asked, hold = until(text), np.zeros(len(budgets))
        rng = np.random.default_rng(5)
        for _ in range(RUNS):
            drawn = {
                (f"t{t}", f"a{a}"): rng.random(most)
                if a >= known
                else np.full(most, 0.5)
                for t in range(tasks)
                for a in range(algorithms)
            }
            hold += [holds(asked, drawn, budget, most) for budget in budgets]
        print(
            f"{text:52}{'  '.join(f'{share:.4f}' for share in hold / RUNS)}", flush=True
        )


def plans(delta=0.2):
    print(
        f"\nall looks of all plans of one store, promised: {1 - delta:g}; if they forgot"
    )
    extended = [(n, range(5)) for n in (400, 1600, 6400)]
    others = [(400, [i]) for i in range(12)]
    asked = until("quantile 0.5 +- 1e-9")
    for name, each in (("400, 1600, 6400 trials", extended), ("12 algorithms", others)):
        rng, hold = np.random.default_rng(6), np.zeros(2)
        most = {a: n for n, own in each for a in own}
        for _ in range(RUNS):
            drawn = {a: rng.random(n) for a, n in most.items()}
            for i, is_told in enumerate((True, False)):
                hold[i] += all(
                    holds(
                        asked,
                        {("t", f"a{a}"): drawn[a] for a in own},
                        Budget(delta, 5, before if is_told else 0),
                        n,
                    )
                    for before, (n, own) in enumerate(each)
                )
        print(
            f"{name:52}{'  '.join(f'{share:.4f}' for share in hold / RUNS)}", flush=True
        )


def holds(asked, drawn, budget, most):
    """Return whether all intervals hold at all looks; all medians and means are 0.5."""
    truth = 0.0 if asked.is_ranking else 0.5
    for size in planned_looks(most):
        found = {c: Sample(z[:size], np.arange(size), 0) for c, z in drawn.items()}
        look = asked.look(found, ACCURACY, budget)
        if not all(truth in seen.interval for seen in look.members):
            return False
    return True


def errs(pair, look, truth):
    gap = truth[pair.first] - truth[pair.second]
    if pair.is_apart():
        return gap * pair.interval.value <= 0
    return pair.is_close(look.margin) and abs(gap) > look.margin


def peeking():
    rng = np.random.default_rng(7)
    d = LAWS["beta"](rng, (RUNS, 1000)) - LAWS["beta"](rng, (RUNS, 1000))
    mean, reach = student(d)
    apart = np.abs(mean) > reach
    print(f"  two equal algorithms told apart at some number from 30 to 1000: "
          f"{apart[:, 29:].any(axis=1).mean():.3f}")  # fmt: skip
    at = np.array(planned_looks(1000)) - 1
    print(f"  at one of five looks: {apart[:, at].any(axis=1).mean():.3f}")
    z = LAWS["rare"](rng, (RUNS, 1000))
    mean, reach = student(z)
    stop = np.argmax((reach <= 0.005)[:, 29:], axis=1) + 29
    row = np.arange(RUNS)
    held = np.abs(mean[row, stop] - z.mean()) <= reach[row, stop]
    print(f"  mean +- 0.005 of 'rare', a look at every number: holds {held.mean():.3f}")


def student(z):
    n = np.arange(1, z.shape[1] + 1)
    mean = z.cumsum(axis=1) / n
    variance = ((z**2).cumsum(axis=1) / n - mean**2).clip(0) * n / np.maximum(n - 1, 1)
    return mean, stdtrit(np.maximum(n - 1, 1), 0.975) * np.sqrt(variance / n)


if __name__ == "__main__":
    main()
