"""How many trials: the tabulated numbers, the smallest that does, and pilots that err."""

import math

import numpy as np
import pytest
from refusals import said_by
from scipy import stats
from scipy.stats import binomtest
from support import assert_rate

from curvewise.errors import CurvewiseError
from curvewise.stats.bands import half_width
from curvewise.stats.bounds import quantile_interval
from curvewise.stats.functionals import Functional
from curvewise.stats.planning import (
    guaranteed_width,
    looks_cost,
    planned_looks,
    trials_for,
    trials_for_band,
    trials_for_cvar,
    trials_for_mean,
    trials_for_quantile,
    trials_for_top,
    what_trials_tell,
)
from curvewise.stats.planning.precision import span
from curvewise.stats.planning.trials import MOST, smallest

PILOT = np.array([0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95])

# --- bands -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("h", "delta", "dkw", "exact", "one_sided"),
    [
        (0.05, 0.05, 738, 731, 600),
        (0.10, 0.05, 185, 181, 150),
        (0.02, 0.05, 4612, 4595, 3745),
        (0.05, 0.01, 1060, 1053, 922),
    ],
)
def test_trials_for_a_band_are_the_tabulated_ones(h, delta, dkw, exact, one_sided):
    level = 1 - delta
    assert trials_for_band(h, confidence=level, kind="dkw") == dkw
    assert trials_for_band(h, confidence=level) == exact
    for side in ("lower", "upper"):
        found = trials_for_band(h, confidence=level, kind="dkw", side=side)
        assert found == one_sided


@pytest.mark.parametrize("kind", ["kolmogorov", "dkw", "equal_local_levels", "anytime"])
@pytest.mark.parametrize("h", [0.9, 0.5, 0.31, 0.11, 0.043])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.9995])
def test_one_trial_less_would_not_do(kind, h, confidence):
    n = trials_for_band(h, confidence=confidence, kind=kind)
    assert half_width(n, confidence=confidence, kind=kind) <= h
    if n > 1:
        assert half_width(n - 1, confidence=confidence, kind=kind) > h


def test_an_anytime_band_begins_where_it_is_told_to():
    assert trials_for_band(0.05, kind="anytime", start=100) < trials_for_band(
        0.05, kind="anytime"
    )
    assert trials_for_band(0.5, kind="anytime", start=5000) == 5000


def test_the_exact_search_takes_few_evaluations():
    """Each is a root of a long series."""
    asked = []

    def width(n):
        asked.append(n)
        return half_width(n)

    assert smallest(width, 0.01, math.log(40) / 2e-4) == trials_for_band(0.01)
    assert len(asked) < 10


def test_a_bad_guess_is_no_problem():
    for guess in (1, 40, 10**6):
        assert smallest(lambda n: 3 / math.sqrt(n), 0.1, guess) == 900
    assert smallest(lambda n: math.inf if n < 77 else 0.1, 0.1, 1) == 77
    assert smallest(lambda n: 0.0, 0.1, 50) == 1
    assert smallest(lambda n: 0.0, 0.1, 50, least=20) == 20


# --- top ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "confidence", "n"),
    [(0.05, 0.95, 59), (0.5, 0.75, 2), (0.9, 0.9, 1), (1e-9, 0.5, 693_147_181)],
)
def test_trials_for_the_top(share, confidence, n):
    assert trials_for_top(share, confidence=confidence) == n


def test_the_best_of_so_many_is_in_the_top_as_often_as_said():
    rng = np.random.default_rng(59)
    best = rng.random((4000, trials_for_top(0.05))).max(axis=1)
    assert_rate(int((best > 0.95).sum()), 4000, 1 - 0.95**59)


# --- means and CVaR ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["kolmogorov", "dkw", "equal_local_levels"])
@pytest.mark.parametrize(
    "functional",
    [
        Functional("mean"),
        Functional("cvar", 0.5),
        Functional("cvar", 0.9, "upper"),
        Functional("cvar", 0.2, "lower"),
    ],
    ids=str,
)
def test_a_guaranteed_number_is_the_smallest_on_the_pilots_distribution(
    kind, functional
):
    need = trials_for(functional, 0.07, pilot=PILOT, support=(0, 1), kind=kind)
    options = {"confidence": 0.95, "support": (0, 1), "kind": kind}
    widths = [
        guaranteed_width(functional, PILOT, n, **options)
        for n in (need.trials - 1, need.trials)
    ]
    assert widths[0] > 0.07 >= widths[1]
    assert need.lower <= need.trials <= need.upper


@pytest.mark.parametrize("kind", ["kolmogorov", "equal_local_levels", "dkw"])
def test_the_width_on_a_pilot_is_that_of_the_interval_if_it_is_all_there_is(kind):
    """At as many trials as the pilot has, nothing is guessed."""
    for functional in (Functional("mean"), Functional("cvar", 0.3, "lower")):
        found = functional.interval(PILOT, support=(0, 1), kind=kind)
        width = guaranteed_width(
            functional, PILOT, 10, confidence=0.95, support=(0, 1), kind=kind
        )
        assert width == pytest.approx(found.half_width, rel=1e-12)


def test_an_asymptotic_number_is_about_z2_s2_over_h2():
    need = trials_for_mean(0.01, pilot=PILOT, method="asymptotic")
    assert need.trials == pytest.approx(
        (1.959964 / 0.01) ** 2 * PILOT.var(ddof=1), rel=2e-3
    )
    exact = trials_for_cvar(0.01, alpha=0.5, pilot=PILOT, method="asymptotic")
    spread = np.maximum(PILOT, 0.7) * 2  # what each contributes, up to a constant
    expected = (1.959964 / 0.01) ** 2 * spread.var(ddof=1)
    assert exact.trials == pytest.approx(expected, rel=5e-3)


def test_an_asymptotic_number_is_not_so_small_that_the_asymptotics_fail():
    need = trials_for_mean(10, pilot=PILOT, method="asymptotic")
    assert (need.trials, need.lower, need.upper) == (40, 40, 40)
    best = trials_for_cvar(10, alpha=0.9, pilot=PILOT, method="asymptotic")
    assert best.trials == 400
    many = trials_for_mean(10, pilot=PILOT, method="asymptotic", confidence=0.99)
    assert many.trials == 100


def test_without_a_pilot_it_is_the_worst_case():
    assert trials_for_mean(0.05, support=(0, 1)).trials == 731
    assert trials_for_mean(0.5, support=(-5, 5)).trials == 731
    assert trials_for_cvar(0.1, alpha=0.5, support=(0, 1)).trials == 731
    assert trials_for_cvar(0.5, alpha=0.9, support=(0, 1)).trials == 1
    need = trials_for_cvar(0.25, alpha=0.2, tail="lower", support=(0, 1))
    assert (need.lower, need.upper) == (need.trials, need.trials)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.77])
@pytest.mark.parametrize(
    "functional",
    [Functional("mean"), Functional("cvar", 0.5), Functional("cvar", 0.7, "lower")],
    ids=str,
)
def test_the_worst_case_is_never_exceeded_and_is_met_by_trials_at_both_ends(
    share, functional
):
    n = 400
    e = half_width(n)
    ends = (np.arange(n) < share * n).astype(float)
    uniform = np.linspace(0, 1, n)
    for scores in (ends, uniform, uniform**5, np.full(n, share)):
        found = functional.interval(scores, support=(0, 1)).half_width
        assert found <= e / functional.mass + 1e-12
    if functional.of == "mean":
        found = functional.interval(ends, support=(0, 1)).half_width
        assert found == pytest.approx(e, abs=1 / n)


def true_trials(functional, scores, h):
    """Return what a pilot of all scores would say."""
    return trials_for(functional, h, pilot=scores, support=(0, 1)).trials


@pytest.mark.parametrize(
    ("functional", "draw"),
    [
        (Functional("mean"), lambda rng, n: rng.beta(8, 2, n)),
        (Functional("cvar", 0.5), lambda rng, n: rng.beta(8, 2, n)),
        (Functional("cvar", 0.2, "lower"), lambda rng, n: rng.random(n)),
        (Functional("quantile", 0.9), lambda rng, n: rng.beta(2, 2, n)),
    ],
)
def test_what_a_pilot_leaves_open_holds_the_right_number(functional, draw):
    """100 pilots of 100; "about 95 %" must not mean less than 85 %."""
    rng = np.random.default_rng(5)
    right = true_trials(functional, draw(rng, 20_000), 0.02)
    hits = 0
    for _ in range(100):
        need = trials_for(functional, 0.02, pilot=draw(rng, 100), support=(0, 1))
        hits += need.lower <= right <= need.upper
    assert binomtest(hits, 100, 0.85, alternative="less").pvalue > 1e-6


def failing(rng, n):
    """Return Beta(5, 2) scores, of which 5 % failed."""
    z = rng.beta(5, 2, n)
    z[rng.random(n) < 0.05] = 0
    return z


SMALL = {
    "beta": lambda rng, n: rng.beta(5, 2, n),
    "tenths": lambda rng, n: rng.beta(5, 2, n).round(1),
    "failing": failing,
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "functional", [Functional("mean"), Functional("cvar", 0.5)], ids=str
)
def test_a_small_pilot_leaves_open_what_it_may_not_have_met(functional, name):
    """200 pilots of 25; the jackknife held the right number in .6 to .9 of them."""
    rng = np.random.default_rng(15)
    right = true_trials(functional, SMALL[name](rng, 40_000), 0.02)
    hits = 0
    for _ in range(200):
        pilot = SMALL[name](rng, 25)
        need = trials_for(functional, 0.02, pilot=pilot, support=(0, 1))
        assert need.lower <= need.trials <= need.upper
        hits += need.lower <= right <= need.upper
    assert binomtest(hits, 200, 0.95, alternative="less").pvalue > 1e-6


def test_the_jackknife_would_forget_what_it_has_not_met():
    """The negative control: a third of all pilots of 20 has no failure to leave out."""
    rng = np.random.default_rng(16)
    mean = Functional("mean")
    right = true_trials(mean, failing(rng, 40_000), 0.02)
    hits = 0
    for _ in range(100):
        pilot = failing(rng, 20)
        n = trials_for(mean, 0.02, pilot=pilot, support=(0, 1)).trials
        low, high = span(
            pilot, n, lambda z, n=n: guaranteed_width(mean, z, n, support=(0, 1))
        )
        hits += low <= right <= high
    assert hits < 80


def test_what_a_pilot_leaves_open_gets_narrow_and_never_exceeds_the_worst_case():
    rng = np.random.default_rng(17)
    worst = trials_for_mean(0.05, support=(0, 1)).trials
    needs = [
        trials_for_mean(0.05, pilot=rng.beta(5, 2, n), support=(0, 1))
        for n in (10, 300, 10_000)
    ]
    ratios = [need.upper / need.lower for need in needs]
    assert ratios[0] > 2 > 1.7 > ratios[1] > 1.2 > ratios[2]
    assert max(need.upper for need in needs) <= 1.01 * worst


def test_without_a_bound_a_small_pilot_leaves_everything_open():
    best = Functional("cvar", 0.5)
    need = trials_for(best, 0.5, pilot=[0.0, 1.0], support=(-np.inf, 1))
    assert need.upper == MOST


def test_a_pilot_taken_for_the_truth_would_be_wrong_most_of_the_time():
    """The negative control: the number alone is off by more than 2 % nearly always."""
    rng = np.random.default_rng(6)
    right = true_trials(Functional("mean"), rng.beta(8, 2, 20_000), 0.02)
    found = [
        trials_for_mean(0.02, pilot=rng.beta(8, 2, 100), support=(0, 1)).trials
        for _ in range(60)
    ]
    assert np.mean(np.abs(np.log(np.array(found) / right)) < 0.02) < 0.5


def test_trials_for_a_quantile_give_intervals_about_so_narrow():
    """One pilot may be off; the middle of 21 is not."""
    rng = np.random.default_rng(8)
    needs = [
        trials_for_quantile(0.02, 0.9, pilot=rng.random(2000)).trials for _ in range(21)
    ]
    n = int(np.median(needs))
    found = [quantile_interval(rng.random(n), 0.9).half_width for _ in range(100)]
    assert np.mean(found) == pytest.approx(0.02, rel=0.1)


def test_needs_say_what_would_be_known_and_what_is_promised():
    need = trials_for_cvar(0.05, alpha=0.9, pilot=PILOT, support=(0, 1))
    assert need.estimand == Functional("cvar", 0.9).estimand
    assert need.guarantee.startswith("at least 95 %")
    assert "10 of the pilot" in need.guarantee
    need = trials_for_mean(0.05, pilot=PILOT, method="asymptotic", confidence=0.9)
    assert need.guarantee.startswith("90 %")
    assert "never wider" in trials_for_mean(0.05, support=(0, 1)).guarantee


# --- what a number of trials tells -------------------------------------------------------


def test_what_59_trials_tell():
    told = what_trials_tell(59)
    assert told.half_width == half_width(59)
    assert told.one_sided == half_width(59, side="upper")
    assert (1 - told.top) ** 59 == pytest.approx(0.05)
    assert told.failures == told.top
    assert told.top < 0.05 < what_trials_tell(58).top


@pytest.mark.parametrize("n", [1, 5, 6, 7, 100, 2000])
def test_quantiles_that_are_told_are_those_with_finite_intervals(n):
    low, high = what_trials_tell(n).quantiles
    if math.isnan(low):
        assert 2 * 0.5**n > 0.05
        return
    z = np.arange(n) / n
    for p in (low * 1.0001, 0.5, high - 1e-4 * low):
        assert math.isfinite(quantile_interval(z, p).half_width)
    for p in (low * 0.999, high + 1e-3 * low):
        assert math.isinf(quantile_interval(z, p).half_width)


def test_of_very_many_trials_the_one_sided_width_is_told_too():
    assert what_trials_tell(10**6).one_sided == pytest.approx(
        half_width(10**6, kind="dkw", side="lower")
    )


# --- looks -------------------------------------------------------------------------------


def test_looks_double_up_to_all_trials():
    assert planned_looks(1000) == [63, 125, 250, 500, 1000]
    assert planned_looks(1000, 1) == [1000]
    assert planned_looks(2, 5) == [1, 2]


def test_what_looks_cost():
    """Methods: 1.20 times for five planned ones, about 1.9 times at any time."""
    cost = looks_cost(2000, start=100)
    assert cost.wider_planned == pytest.approx(1.20, abs=0.005)
    assert cost.wider_anytime == pytest.approx(1.935, abs=0.005)
    assert half_width(cost.trials_planned, confidence=0.99) <= cost.fixed
    assert cost.trials_planned / 2000 == pytest.approx(1.198**2, abs=0.01)
    assert cost.trials_anytime > 2 * cost.trials_planned
    assert looks_cost(2000, 1).wider_planned == 1


def missed(rng, looks, level, reps=4000):
    """Return how many runs have a band that misses the truth at one of the looks."""
    u = rng.random((reps, looks[-1]))
    out = np.zeros(reps, bool)
    for n in looks:
        z = np.sort(u[:, :n], axis=1)
        i = np.arange(n + 1) / n
        off = np.maximum(i[1:] - z, z - i[:-1]).max(axis=1)
        out |= off > half_width(n, confidence=level)
    return int(out.sum())


def test_planned_looks_hold_together():
    looks = planned_looks(320)
    hits = 4000 - missed(np.random.default_rng(11), looks, 1 - 0.05 / 5)
    assert binomtest(hits, 4000, 0.95, alternative="less").pvalue > 1e-6


def test_looks_that_do_not_share_delta_would_not():
    """The negative control: the full delta at each of five looks."""
    hits = 4000 - missed(np.random.default_rng(11), planned_looks(320), 0.95)
    assert binomtest(hits, 4000, 0.95, alternative="less").pvalue < 1e-6


# --- bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: trials_for_band(0), ("half_width",)),
        (lambda: trials_for_band("x"), ("half_width",)),
        (lambda: trials_for_band(True), ("half_width",)),
        (lambda: trials_for_band(1.5), ("half_width",)),
        (lambda: trials_for_band(0.1, confidence=1), ("confidence",)),
        (lambda: trials_for_band(0.1, kind="exact"), ("kind",)),
        (lambda: trials_for_band(0.1, side="left"), ("side",)),
        (
            lambda: trials_for_band(1e-6),
            ("half_width",),
        ),
        (lambda: trials_for_top(0), ("share",)),
        (lambda: trials_for_top("5 %"), ("share",)),
        (
            lambda: trials_for_mean(0.1),
            ("support", {"support": "(lowest, highest)"}, {"method": "asymptotic"}),
        ),
        (
            lambda: trials_for_cvar(0.1, pilot=PILOT, support=(0, math.inf)),
            ("support", {"support": "(lowest, highest)"}, {"method": "asymptotic"}),
        ),
        (
            lambda: trials_for_mean(0.1, method="asymptotic"),
            ("pilot", {"pilot": "<scores of a few trials>"}),
        ),
        (
            lambda: trials_for_cvar(0.1, support=(-math.inf, 1)),
            ("pilot", {"pilot": "<scores of a few trials>"}),
        ),
        (
            lambda: trials_for(Functional("quantile", 0.5), 0.1),
            ("pilot", {"pilot": "<scores of a few trials>"}),
        ),
        (
            lambda: trials_for(
                Functional("quantile", 0.5), 0.1, pilot=PILOT, method="asymptotic"
            ),
            ("method", {"method": "guaranteed"}),
        ),
        (lambda: trials_for_quantile(0.1, 1, pilot=PILOT), ("p",)),
        (lambda: trials_for_cvar(0.1, alpha=2, pilot=PILOT), ("alpha",)),
        (lambda: trials_for_mean(0.1, pilot=[1.0]), ("pilot",)),
        (lambda: trials_for_mean(0.1, pilot=[]), ("pilot scores",)),
        (lambda: trials_for_mean(0.1, pilot=[1, math.nan]), ("pilot scores",)),
        (lambda: trials_for_mean(0.1, pilot=[0.5, 1.5], support=(0, 1)), ("support",)),
        (
            lambda: trials_for_mean(0.1, pilot=[1, 1, 1], method="asymptotic"),
            ("pilot", {"method": "guaranteed"}),
        ),
        (lambda: trials_for_mean(0.1, pilot=PILOT, method="exact"), ("method",)),
        (lambda: what_trials_tell(0), ("n",)),
        (lambda: looks_cost(100, 0), ("looks",)),
        (lambda: planned_looks(100, 2.5), ("looks",)),
    ],
)
def test_bad_input_is_refused_with_what_to_pass(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_scipy_agrees_with_the_rule_of_three():
    """Clopper and Pearson's upper limit for no failure among n is 1 - delta^(1/n)."""
    for n in (5, 59, 1000):
        limit = stats.beta.ppf(0.95, 1, n)
        assert what_trials_tell(n).failures == pytest.approx(limit, rel=1e-9)


@pytest.mark.parametrize(
    "support", [(1, 0), (math.nan, 1), (0, 0), (0, "x"), None, (0, 1, 2)]
)
def test_what_is_no_support_is_refused(support):
    for ask in (
        lambda: trials_for_mean(0.05, support=support),
        lambda: trials_for_cvar(0.05, pilot=PILOT, support=support),
        lambda: guaranteed_width(Functional("mean"), PILOT, 10, support=support),
    ):
        with pytest.raises(CurvewiseError) as refused:
            ask()
        assert refused.value.argument == "support"


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: trials_for_band(1e-200), "half_width"),
        (lambda: trials_for_mean(1e-200, support=(0, 1)), "half_width"),
        (
            lambda: trials_for_mean(1e-200, pilot=PILOT, method="asymptotic"),
            "half_width",
        ),
        (lambda: trials_for("mean", 0.1), "functional"),
        (lambda: trials_for_mean(0.1, support=(0, 1), kind="x"), "kind"),
    ],
)
def test_what_asks_for_too_much_is_refused_in_words(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument


@pytest.mark.filterwarnings("error")
def test_a_pilot_of_two_leaves_everything_open():
    need = trials_for_mean(0.05, pilot=[0.2, 0.4], method="asymptotic")
    assert (need.trials, need.lower, need.upper) == (40, 40, MOST)


def test_no_fewer_trials_than_have_an_interval_are_possible():
    """Quantile .99 has no interval between two scores before 368 trials."""
    pilot = np.random.default_rng(1).random(60)
    need = trials_for_quantile(0.01, 0.99, pilot=pilot)
    assert (need.trials, need.lower) == (368, 368)
    assert math.isinf(guaranteed_width(Functional("quantile", 0.99), pilot, 367))


def test_the_tenth_of_four_hundred_is_forty():
    """400 * (1 - .9) is 39.99999999999999, and 40 are enough."""
    need = trials_for_cvar(5, alpha=0.9, pilot=np.arange(40.0), method="asymptotic")
    assert need.trials == 400
