"""Limits of a difference of two means: against SciPy, by simulation, at their edges."""

import math

import numpy as np
import pytest
from scipy import optimize, stats
from scores_of_versions import SCENES, draw
from support import assert_at_least, assert_at_most, assert_rate

from curvewise.errors import CurvewiseError
from curvewise.stats.interval import cannot_tell, few
from curvewise.stats.noninferiority import Scale, cautious_difference, more_trials


def mirrored(rng, n, sd=1.0):
    """Scores without skewness, so that only Welch's and Student's rules count."""
    z = sd * rng.normal(size=n)
    return np.r_[z, -z]


def one_sided(found, confidence=0.95):
    """Return the one-sided limits of one of SciPy's tests."""
    return tuple(found.confidence_interval(2 * confidence - 1))


# --- against SciPy ------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(5, 5), (4, 20), (20, 4)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_limits_are_the_wider_of_welch_and_student(n, m, confidence):
    rng = np.random.default_rng(1)
    a, b = mirrored(rng, n, 2.0), mirrored(rng, m)
    welch, student = (
        one_sided(stats.ttest_ind(a, b, equal_var=e), confidence) for e in (False, True)
    )
    found = cautious_difference(a, b, confidence=confidence).interval
    assert found.lower == pytest.approx(min(welch[0], student[0]))
    assert found.upper == pytest.approx(max(welch[1], student[1]))
    if n != m:
        assert welch[0] != pytest.approx(student[0])  # or it would show nothing


def test_pairs_have_the_limits_of_student():
    rng = np.random.default_rng(2)
    b = rng.normal(size=12)
    a = b + mirrored(rng, 6)
    lower, upper = one_sided(stats.ttest_rel(a, b))
    found = cautious_difference(a, b, paired=True).interval
    assert (found.lower, found.upper) == pytest.approx((lower, upper))


def test_p_is_that_of_the_tests():
    rng = np.random.default_rng(3)
    a, b = mirrored(rng, 5), mirrored(rng, 20) + 0.5
    welch, student = (
        stats.ttest_ind(a, b - 0.1, equal_var=e, alternative="less").pvalue
        for e in (False, True)
    )
    found = cautious_difference(a, b)
    assert found.p_below(-0.1) == pytest.approx(max(welch, student))


@pytest.mark.parametrize("skewness", [-0.4, -0.1, 0.0, 1e-9, 0.25, 0.4])
def test_skewness_is_taken_out_by_halls_cubic(skewness):
    """The cubic, written out and solved by bisection."""
    scale = Scale(2.0, 7.0, skewness)

    def cubic(t):
        g = skewness
        return t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6

    t = stats.t.ppf(0.9, 7)
    down, up = scale.reach(0.9)
    assert down / 2 == pytest.approx(optimize.brentq(lambda x: cubic(x) - t, -20, 20))
    assert -up / 2 == pytest.approx(optimize.brentq(lambda x: cubic(x) + t, -20, 20))
    assert scale.p_below(3.0) == pytest.approx(stats.t.cdf(cubic(1.5), 7))


def test_skewness_moves_the_limit_of_its_side():
    a = np.array([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.02, 9.0])
    b = np.array([0.9, 1.1, 1.0, 1.0, 0.95, 1.05, 0.98, 1.02])
    found = cautious_difference(a, b).interval
    lower, upper = one_sided(stats.ttest_ind(a, b, equal_var=False))
    assert found.lower == pytest.approx(lower)
    assert upper < found.upper <= found.value + 2 * (upper - found.value) + 1e-9


def test_a_limit_excludes_what_its_p_excludes():
    rng = np.random.default_rng(4)
    for _ in range(50):
        a, b = rng.lognormal(size=6), rng.normal(size=9)
        found = cautious_difference(a, b)
        for step in (-1e-6, 1e-6):
            bound = found.interval.upper + step
            assert found.is_below(bound) == (found.p_below(bound) < 0.05) == (step > 0)


def test_a_weight_is_that_of_the_second_mean():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=8), rng.normal(size=8) + 3
    for paired in (False, True):
        weighted = cautious_difference(a, b, weight=0.9, paired=paired)
        assert weighted == cautious_difference(a, 0.9 * b, paired=paired)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_units_do_not_matter(unit):
    rng = np.random.default_rng(6)
    a, b = rng.lognormal(size=7), rng.lognormal(size=5)
    one, other = cautious_difference(a, b), cautious_difference(unit * a, unit * b)
    assert other.interval.lower / unit == pytest.approx(one.interval.lower)
    assert other.interval.upper / unit == pytest.approx(one.interval.upper)
    assert more_trials(unit * a, unit * b, unit) == more_trials(a, b, 1.0)


# --- levels -------------------------------------------------------------------------------


def wrong_claims(scene, n, m, repetitions, rng):
    """Return how often the truth was beyond the lower and beyond the upper limit."""
    beyond = np.zeros(2, int)
    for _ in range(repetitions):
        a, b, truth = draw(scene, n, m, rng)
        found = cautious_difference(a, b).interval
        beyond += found.lower > truth + 1e-12, found.upper < truth - 1e-12
    return beyond


UNEVEN = {  # where one version is far more skewed, or fails as the other does not
    "lognormal downwards, new sd x 3": 0.21,
    "uneven rates .95 and .99": 0.14,
    "30 % collapse, 10 % in base": 0.21,
    "10 % collapse, none in base": 0.65,
}


@pytest.mark.parametrize("scene", SCENES)
def test_a_wrong_claim_is_as_rare_as_the_page_says(scene):
    rng = np.random.default_rng(7)
    most = UNEVEN.get(scene, 0.055)
    for n, m in ((5, 5), (10, 10), (10, 50)):
        for hits in wrong_claims(scene, n, m, 1000, rng):
            assert_at_most(hits, 1000, most)


@pytest.mark.slow
@pytest.mark.parametrize("scene", [s for s in SCENES if s not in UNEVEN])
def test_versions_that_vary_alike_keep_the_level(scene):
    rng = np.random.default_rng(8)
    for n, m in ((5, 5), (10, 10), (20, 20), (5, 20), (10, 100)):
        for hits in wrong_claims(scene, n, m, 4000, rng):
            assert_at_most(hits, 4000, 0.055)


def test_welch_alone_would_not_keep_it():
    """The negative control: ten trials often show no collapse, a hundred do."""
    rng = np.random.default_rng(9)
    hits = 0
    for _ in range(300):
        a, b, truth = draw("10 % collapse in both", 10, 100, rng)
        hits += one_sided(stats.ttest_ind(a, b, equal_var=False))[0] > truth
    assert_at_least(hits, 300, 0.25)


# --- how many more ------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0.6, -0.6])
def test_more_trials_are_those_of_the_noncentral_t(room):
    a = b = mirrored(np.random.default_rng(10), 6)
    k = more_trials(a, b, room)

    def power(n):
        away = 0.6 / (a.std(ddof=1) * math.sqrt(2 / n))
        return stats.nct.sf(stats.t.ppf(0.95, 2 * n - 2), 2 * n - 2, away)

    assert power(len(a) + k) >= 0.8 > power(len(a) + k - 1)


def test_planned_trials_tell_as_often_as_they_should():
    rng = np.random.default_rng(11)
    pilot = mirrored(rng, 6)
    pilot /= pilot.std(ddof=1)
    for power in (0.6, 0.8):
        n = len(pilot) + more_trials(pilot, pilot, 0.7, power=power)
        told = [
            cautious_difference(
                rng.normal(size=n), rng.normal(size=n)
            ).is_at_least(-0.7)
            for _ in range(1000)
        ]  # fmt: skip
        assert_rate(sum(told), 1000, power)


def test_pairs_need_fewer_where_they_share_much():
    rng = np.random.default_rng(12)
    b = 5 * rng.normal(size=10)
    a = b + rng.normal(size=10)
    assert more_trials(a, b, 0.5, paired=True) < 60
    assert more_trials(a, b, 0.5, most=900) is None


def test_new_trials_alone_help_where_the_base_is_large():
    rng = np.random.default_rng(13)
    a, b = rng.normal(size=5), rng.normal(size=200)
    both, alone = more_trials(a, b, 0.5), more_trials(a, b, 0.5, alone=True)
    assert both <= alone < 1.3 * both
    small = rng.normal(size=6)
    assert more_trials(a, small, 0.5, alone=True) is None


def test_what_no_number_would_tell_is_none():
    a, b = np.arange(5.0), np.arange(5.0)
    assert more_trials(a, b, 0.0) is None
    assert more_trials(a, b, 1e-6) is None
    assert more_trials(a, a + 1, 1.0, paired=True) is None  # it is exact already
    assert more_trials(a, b, 1e6) == 1


# --- edges --------------------------------------------------------------------------------


def test_one_trial_says_nothing():
    found = cautious_difference([1.0], [0.0, 2.0, 3.0])
    assert (found.interval.lower, found.interval.upper) == (-math.inf, math.inf)
    assert not found.is_at_least(-1e9)
    assert not found.is_below(1e9)
    assert found.p_below(1e9) == 1
    assert found.interval.guarantee == cannot_tell(few(1, 3))


@pytest.mark.parametrize("paired", [False, True])
def test_what_does_not_vary_is_exact(paired):
    found = cautious_difference([0.9] * 4, [0.91] * 4, paired=paired)
    assert found.is_exact
    assert found.is_at_least(-0.01)  # though 0.9 - 0.91 is rounded to less
    assert not found.is_at_least(-0.009)
    assert (found.p_below(0.0), found.p_below(-0.01)) == (0.0, 1.0)


def test_one_sample_that_varies_is_not_exact():
    found = cautious_difference([1.0, 1.0, 1.0], [0.9, 1.1, 1.0])
    assert not found.is_exact
    assert found.interval.lower < 0 < found.interval.upper


def test_two_trials_have_limits():
    found = cautious_difference([1.0, 2.0], [1.0, 3.0]).interval
    assert math.isfinite(found.lower)
    assert found.lower < -0.5 < found.upper


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: cautious_difference([1, 2], [1], paired=True), "paired"),
        (lambda: cautious_difference([1, 2], [1, 2], weight="x"), "weight"),
        (lambda: cautious_difference([1, 2], [1, 2], confidence=2), "confidence"),
        (lambda: cautious_difference([1, math.nan], [1, 2]), "scores a"),
        (lambda: more_trials([1, 2], [1, 3], math.inf), "room"),
        (lambda: more_trials([1, 2], [1, 3], 1, power=1), "power"),
        (lambda: more_trials([1, 2], [1], 1), "b"),
        (lambda: more_trials([1, 2], [1, 3], 1, most=0), "most"),
        (lambda: more_trials([1, 2], [1, 4], 1, paired=True, alone=True), "alone"),
    ],
)
def test_bad_input_is_named(call, argument):
    cautious_difference([1, 2], [1])  # as many as one likes, if they are no pairs
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument
