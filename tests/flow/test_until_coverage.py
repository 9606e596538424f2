"""Run until certain, simulated: what is promised holds at every look of every plan.

Intervals of a mean or CVaR hold for the worst distribution, which is none of those that are
drawn here: all but all of them hold, and a mistake in the budget could hide behind that. So
there are *tight* cases, whose intervals miss about as often as they may, and each of them
fails if the budget is not divided.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import stdtrit
from support import assert_at_least, assert_at_most

from curvewise import Algorithm, Experiment, Task, store
from curvewise.flow.until import until
from curvewise.flow.until.looks import Budget
from curvewise.flow.until.stopping import plans_before
from curvewise.metrics import find
from curvewise.questions.sampling import Sample
from curvewise.stats.planning import planned_looks

ACCURACY = find("accuracy")


def beta(rng, n):
    return rng.beta(8, 2, n)


def tied(rng, n):
    return np.round(20 * rng.beta(8, 2, n)) / 20


def failing(rng, n):
    return np.where(rng.random(n) < 0.05, 0, rng.beta(30, 4, n))


def at_the_ends(rng, n):
    """Nothing but 0 and 1."""
    return (rng.random(n) < 0.5).astype(float)


@functools.cache
def population(law):
    return np.sort(law(np.random.default_rng(99), 1_000_000))


def look_at(asked, drawn, size, budget):
    """Return what a run until `asked` sees of the first trials that were drawn."""
    numbers = np.arange(size)
    found = {cell: Sample(z[:size], numbers, 0) for cell, z in drawn.items()}
    return asked.look(found, ACCURACY, budget)


# --- tight: every look at every cell -----------------------------------------------------


@dataclass(frozen=True)
class Tight:
    """Many cells of which all medians and means are 0.5, so that all differences are 0."""

    what: str
    tasks: int
    algorithms: int
    known: int = 0  # algorithms that always score 0.5

    def drawn(self, rng, n):
        def scores(algorithm):
            return rng.random(n) if algorithm >= self.known else np.full(n, 0.5)

        return {
            (f"task {t}", f"algorithm {a}"): scores(a)
            for t in range(self.tasks)
            for a in range(self.algorithms)
        }

    def holds(self, look):
        truth = 0.0 if self.what.startswith("ranking") else 0.5
        return all(truth in seen.interval for seen in look.members)


TIGHT = {
    "quantile": Tight("quantile 0.5 +- 1e-9", 20, 1),
    # The difference to one whose median is known is as uncertain as the other median.
    "ranking": Tight("ranking quantile 0.5 within 1e-9", 1, 12, known=1),
    "asymptotic ranking": Tight("ranking mean within 1e-9 method asymptotic", 12, 2),
}
DELTA = 0.2  # of which the first plan may spend one half
FIRST_PLAN = 1 - DELTA / 2


@dataclass(frozen=True)
class Forgetful(Budget):
    """A budget that does not count the cells."""

    def confidence(self, members):
        del members
        return super().confidence(1)


MISTAKES = {
    "forgets that there are five looks": Budget(DELTA, 1),
    "forgets that there are many cells": Forgetful(DELTA, 5),
    "forgets both": Forgetful(DELTA, 1),
}


def all_hold(tight, budget, runs, seed=5, trials=1600):
    """Return in how many runs all intervals of all cells hold at all five looks."""
    asked, rng = (
        until(f"{tight.what} confidence {1 - DELTA}"),
        np.random.default_rng(seed),
    )
    hits = 0
    for _ in range(runs):
        drawn = tight.drawn(rng, trials)
        hits += all(
            tight.holds(look_at(asked, drawn, size, budget))
            for size in planned_looks(trials)
        )
    return hits


@pytest.mark.parametrize("name", TIGHT)
def test_all_cells_hold_at_all_looks_and_hardly_more_often_than_promised(name):
    """250 runs: fails from 51 misses on, where 25 are allowed; a look that gets all that
    the plan may spend misses about 71 times."""
    asked = until(f"{TIGHT[name].what} confidence {1 - DELTA}")
    hits = all_hold(TIGHT[name], asked.budget(), 250)
    assert_at_least(hits, 250, FIRST_PLAN)
    assert hits < 250  # or a mistake could hide


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_budget_that_is_not_divided_would_be_seen(mistake):
    hits = all_hold(TIGHT["quantile"], MISTAKES[mistake], 250)
    with pytest.raises(AssertionError, match=r"at least 0\.9 asked"):
        assert_at_least(hits, 250, FIRST_PLAN)


@pytest.mark.slow
@pytest.mark.parametrize("name", TIGHT)
def test_all_cells_hold_at_all_looks_of_2000_runs(name):
    """Fails from 268 misses on, 13.4 %, where 200 are allowed."""
    tight = TIGHT[name]
    asked = until(f"{tight.what} confidence {1 - DELTA}")
    hits = all_hold(tight, asked.budget(), 2000)
    assert_at_least(hits, 2000, FIRST_PLAN)
    assert_at_most(hits, 2000, 0.95)  # tight, or it would tell nothing
    for budget in MISTAKES.values():
        hits = all_hold(tight, budget, 400)
        with pytest.raises(AssertionError, match=r"at least 0\.9 asked"):
            assert_at_least(hits, 400, FIRST_PLAN)


def test_a_guaranteed_ranking_is_read_off_the_intervals_of_all_cells():
    tight = Tight("", 2, 3)
    drawn = tight.drawn(np.random.default_rng(1), 400)
    each = until("quantile 0.5 +- 1").look
    pairs = until("ranking quantile 0.5").look
    found = {cell: Sample(z, np.arange(400), 0) for cell, z in drawn.items()}
    cells, ranks = (look(found, ACCURACY, Budget(0.05)) for look in (each, pairs))
    assert ranks.confidence == cells.confidence
    own = {(s.task, s.algorithm): s.interval for s in cells.members}
    assert len(ranks.members) == 2 * 3
    for pair in ranks.members:
        one, other = own[pair.task, pair.first], own[pair.task, pair.second]
        assert pair.interval.lower == one.lower - other.upper
        assert pair.interval.upper == one.upper - other.lower


# --- many plans of one store -------------------------------------------------------------

NEVER, LATE = "quantile 0.5 +- 1e-9", "quantile 0.5 +- 0.03"
ALL_DELTA_AT_EVERY_LOOK = Budget(DELTA, 1, -1)


def plan_of(text):
    return until(f"{text} of accuracy confidence {1 - DELTA}")


def budgets_of(path, asked, plans):
    """Return what each plan may spend, where a store is asked for one after the other."""
    task = Task("task", lambda rng: None)
    with store.open(path) as opened:
        for trials, names in plans:
            own = [
                Algorithm(name, {}, lambda params, data, rng: None) for name in names
            ]
            plan = Experiment(task, own, trials, 1)
            yield asked.budget(5, plans_before(asked, plan, opened, keep=True))


def all_plans_hold(asked, plans, budgets, runs, seed=6):
    """Return how often all looks of all plans hold, and where the last one ended."""
    tight, rng = Tight("quantile", 0, 0), np.random.default_rng(seed)
    most = {name: trials for trials, names in plans for name in names}
    hits, ends = 0, []
    for _ in range(runs):
        drawn, holds = {name: rng.random(n) for name, n in most.items()}, True
        for (trials, names), budget in zip(plans, budgets, strict=True):
            own = {("task", name): drawn[name] for name in names}
            for size in planned_looks(trials):
                look = look_at(asked, own, size, budget)
                holds &= tight.holds(look)
                if look.is_enough or not holds:
                    break
        hits += holds
        ends.append(size if look.is_enough else math.inf)
    return hits, ends


EXTENDED = [(400, "abcde"), (1600, "abcde"), (6400, "abcde")]


def test_all_looks_of_a_plan_that_is_extended_twice_hold(tmp_path):
    """80 runs: fails from 36 misses on, where 16 are allowed.

    It sees looks that are not paid for, and not that plans forget each other: most looks
    of one are looks of the other, too. That is seen where plans have other algorithms.
    """
    asked = plan_of(NEVER)
    budgets = list(budgets_of(tmp_path / "runs.db", asked, EXTENDED))
    assert [b.before for b in budgets] == [0, 1, 2]
    hits, ends = all_plans_hold(asked, EXTENDED, budgets, 80)
    assert_at_least(hits, 80, 1 - DELTA)
    assert min(ends) == math.inf
    hits, _ = all_plans_hold(asked, EXTENDED, 3 * [ALL_DELTA_AT_EVERY_LOOK], 80)
    with pytest.raises(AssertionError, match=r"at least 0\.8 asked"):
        assert_at_least(hits, 80, 1 - DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("text", [NEVER, LATE])
def test_all_looks_of_2000_plans_that_are_extended_twice_hold(text, tmp_path):
    """Fails from 488 misses on, where 400 are allowed; measured: 172."""
    asked = plan_of(text)
    budgets = list(budgets_of(tmp_path / "runs.db", asked, EXTENDED))
    hits, ends = all_plans_hold(asked, EXTENDED, budgets, 2000)
    assert_at_least(hits, 2000, 1 - DELTA)
    assert min(ends) == (math.inf if text == NEVER else 3200)


TWELVE = [(400, [f"algorithm {i}"]) for i in range(12)]


def twelve_plans(path, runs):
    """Return how often twelve plans hold that share delta, and that forget each other."""
    asked = plan_of(NEVER)
    budgets = list(budgets_of(path, asked, TWELVE))
    assert [b.before for b in budgets] == [*range(12)]
    hits, _ = all_plans_hold(asked, TWELVE, budgets, runs)
    forgetful, _ = all_plans_hold(asked, TWELVE, 12 * [asked.budget(5, 0)], runs)
    return hits, forgetful


def test_plans_with_other_algorithms_hold_together_and_would_not_if_they_forgot(
    tmp_path,
):
    """150 runs: fails from 56 misses on, where 30 are allowed."""
    hits, forgetful = twelve_plans(tmp_path / "runs.db", 150)
    assert_at_least(hits, 150, 1 - DELTA)
    with pytest.raises(AssertionError, match=r"at least 0\.8 asked"):
        assert_at_least(forgetful, 150, 1 - DELTA)


@pytest.mark.slow
def test_plans_with_other_algorithms_hold_together_in_2000_runs(tmp_path):
    """Fails from 488 misses on, where 400 are allowed."""
    hits, forgetful = twelve_plans(tmp_path / "runs.db", 2000)
    assert_at_least(hits, 2000, 1 - DELTA)
    assert_at_most(hits, 2000, 0.9)  # tight, or it would tell nothing
    with pytest.raises(AssertionError, match=r"at least 0\.8 asked"):
        assert_at_least(forgetful, 2000, 1 - DELTA)


# --- where runs stop ---------------------------------------------------------------------
class Simulated:
    """Runs of an `Until` on scores that are drawn, with the same looks as real ones."""

    def __init__(self, text, *laws, trials=1000):
        self.until, self.laws = until(text), laws
        self.looks = planned_looks(trials)
        self.budget = self.until.budget(len(self.looks))
        self.truth = {
            f"{i} {law.__name__}": self.until.functional.value(population(law))
            for i, law in enumerate(laws)
        }

    def stopped(self, rng):
        """Return the look at which a run ends, and at which number of trials."""
        drawn = {
            ("task", name): law(rng, self.looks[-1])
            for name, law in zip(self.truth, self.laws, strict=True)
        }
        for size in self.looks:
            look = look_at(self.until, drawn, size, self.budget)
            if look.is_enough:
                break
        return look, size

    def holds(self, look):
        """Whether all intervals contain the truth."""
        return all(self.truth[s.algorithm] in s.interval for s in look.members)

    def errs(self, look):
        """Whether a pair is called apart the wrong way round, or close and is not."""
        for pair in look.members:
            gap = self.truth[pair.first] - self.truth[pair.second]
            verdict = pair.verdict(look.margin, ACCURACY.sign)
            if verdict.startswith("closer") and abs(gap) > look.margin:
                return True
            if verdict == f"{pair.first} is better" and gap <= 0:
                return True
            if verdict == f"{pair.second} is better" and gap >= 0:
                return True
        return False


CASES = [
    ("cvar 0.5 +- 0.04", [beta]),
    ("cvar 0.5 +- 0.04", [beta, tied, failing]),
    ("cvar 0.2 +- 0.1 tail lower", [tied]),
    ("mean +- 0.05", [failing]),
    ("mean +- 0.12", [at_the_ends]),
    ("mean +- 0.08 band kolmogorov", [beta]),
    ("mean +- 0.2 band anytime", [at_the_ends]),
    ("quantile 0.9 +- 0.05", [beta, tied]),
]


def covered(simulated, runs, seed):
    rng = np.random.default_rng(seed)
    sizes, hits = [], 0
    for _ in range(runs):
        look, size = simulated.stopped(rng)
        hits += simulated.holds(look)
        sizes.append(size if look.is_enough else math.inf)
    return hits, sizes


@pytest.mark.parametrize(("text", "laws"), CASES, ids=[t for t, _ in CASES])
def test_intervals_hold_where_a_run_stops(text, laws):
    """For gross mistakes only: fails from 12 misses in 40 on. It always sees intervals that
    hold half of the time, and one case in two sees some that hold in 70 %."""
    simulated = Simulated(text, *laws)
    hits, sizes = covered(simulated, 40, 7)
    assert_at_least(hits, 40, 0.95)
    assert min(sizes) < 1000  # it does stop, or nothing would be tested


@pytest.mark.slow
@pytest.mark.parametrize(("text", "laws"), CASES, ids=[t for t, _ in CASES])
def test_intervals_hold_where_2000_runs_stop(text, laws):
    """Fails from 150 misses on: intervals that hold in 91 % are seen nearly always."""
    hits, sizes = covered(Simulated(text, *laws), 2000, 8)
    assert_at_least(hits, 2000, 0.95)
    assert np.mean(np.isfinite(sizes)) > 0.5


ASYMPTOTIC = [
    ("mean +- 0.015 method asymptotic", [beta, tied]),
    ("cvar 0.5 +- 0.015 method asymptotic", [beta, tied, failing]),
    ("mean +- 0.06 method asymptotic", [at_the_ends]),
]


@pytest.mark.parametrize(
    ("text", "laws"), ASYMPTOTIC, ids=[text for text, _ in ASYMPTOTIC]
)
def test_asymptotic_intervals_hold_where_a_run_stops(text, laws):
    """Fails from 19 misses in 100 on."""
    hits, sizes = covered(Simulated(text, *laws, trials=2000), 100, 9)
    assert_at_least(hits, 100, 0.95)
    assert min(sizes) < 2000


def rarely_failing(rng, n):
    """One in a hundred fails; the others are nearly the same."""
    return np.where(rng.random(n) < 0.01, 0, rng.normal(0.9, 0.01, n).clip(0, 1))


def test_asymptotic_intervals_do_not_hold_where_failures_are_rare():
    """As the documentation says: what nobody has seen yet has no variance."""
    text = "mean +- 0.005"
    bad = Simulated(f"{text} method asymptotic", rarely_failing, trials=2000)
    hits, _ = covered(bad, 200, 10)
    with pytest.raises(AssertionError, match=r"at least 0\.95 asked"):
        assert_at_least(hits, 200, 0.95)
    hits, _ = covered(Simulated(text, rarely_failing, trials=2000), 100, 10)
    assert_at_least(hits, 100, 0.95)


def test_who_peeks_at_every_trial_without_paying_is_wrong_too_often():
    """The negative control: 95 % of Student at every number of trials from 30 on, until
    two equal algorithms look different."""
    rng = np.random.default_rng(11)
    d = beta(rng, (400, 1000)) - beta(rng, (400, 1000))
    n = np.arange(1, 1001)
    mean = d.cumsum(axis=1) / n
    variance = ((d**2).cumsum(axis=1) / n - mean**2) * n / np.maximum(n - 1, 1)
    reach = stdtrit(np.maximum(n - 1, 1), 0.975) * np.sqrt(variance / n)
    apart = (np.abs(mean) > reach)[:, 29:].any(axis=1)
    with pytest.raises(AssertionError, match=r"at most 0\.25 asked"):
        assert_at_most(apart.sum(), 400, 0.25)
    ours = Simulated("ranking mean within 0.01 method asymptotic", beta, beta)
    errors = sum(ours.errs(ours.stopped(rng)[0]) for _ in range(200))
    assert_at_most(errors, 200, 0.05)


RANKINGS = [
    ("ranking within 0.05", [beta, beta, failing]),  # two are equal
    ("ranking mean within 0.02", [at_the_ends, beta]),
    ("ranking mean within 0.03 method asymptotic", [beta, beta, failing]),
    ("ranking quantile 0.5 within 0.01", [beta, failing]),
]


def wrong(text, laws, runs, seed, trials=2000):
    simulated, rng = Simulated(text, *laws, trials=trials), np.random.default_rng(seed)
    looks = [simulated.stopped(rng)[0] for _ in range(runs)]
    return sum(map(simulated.errs, looks)), sum(look.is_enough for look in looks)


@pytest.mark.parametrize(("text", "laws"), RANKINGS, ids=[t for t, _ in RANKINGS])
def test_rankings_are_seldom_wrong(text, laws):
    """For gross mistakes only, such as the wrong one of two: fails from 10 in 25 on."""
    errors, decided = wrong(text, laws, 25, 12)
    assert_at_most(errors, 25, 0.05)
    assert decided > 0


@pytest.mark.slow
@pytest.mark.parametrize(("text", "laws"), RANKINGS, ids=[t for t, _ in RANKINGS])
def test_rankings_are_seldom_wrong_in_2000_runs(text, laws):
    """Fails from 150 in 2,000 on."""
    errors, _ = wrong(text, laws, 2000, 13)
    assert_at_most(errors, 2000, 0.05)
