import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import said_by
from scipy.stats import binom, binomtest, ttest_ind, ttest_rel

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.asymptotics import contributions
from curvewise.stats.bands import cdf_band
from curvewise.stats.bounds import cvar_bounds, mean_bounds, order_statistics
from curvewise.stats.comparison import difference, has_few
from curvewise.stats.distribution import cvar, quantile
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import APART, asymptotic, cannot_tell, few, finite_sample

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")

RNG = np.random.default_rng(7)
A, B = RNG.random(40) ** 0.5, RNG.random(30)
PAIRED = 0.7 * A + 0.3 * RNG.random(40)
samples = st.lists(st.integers(-20, 20), min_size=2, max_size=15)


def test_means_have_the_intervals_of_welch_and_student():
    welch = ttest_ind(A, B, equal_var=False).confidence_interval()
    found = difference(A, B)
    assert (found.lower, found.upper) == pytest.approx((welch.low, welch.high))
    student = ttest_rel(A, PAIRED).confidence_interval()
    found = difference(A, PAIRED, paired=True)
    assert (found.lower, found.upper) == pytest.approx((student.low, student.high))


@given(samples, st.floats(0.01, 0.99), st.sampled_from(["upper", "lower"]))
def test_what_trials_contribute_averages_to_the_cvar(scores, alpha, tail):
    z = np.array(scores, dtype=float)
    parts = contributions(z, "cvar", alpha, tail)
    assert parts.mean() == pytest.approx(cvar(z, alpha, tail=tail), abs=1e-9)


@given(samples, samples, st.sampled_from(["mean", "cvar", "quantile"]))
def test_it_turns_round_and_moves_with_the_scores(a, b, of):
    one, other = np.array(a, dtype=float), np.array(b, dtype=float)
    found = difference(one, other, of=of)
    turned = difference(other, one, of=of)
    moved = difference(2 * one + 3, 2 * other + 3, of=of)
    assert found.lower <= found.value <= found.upper
    assert (turned.lower, turned.upper) == pytest.approx((-found.upper, -found.lower))
    assert (moved.lower, moved.upper) == pytest.approx(
        (2 * found.lower, 2 * found.upper)
    )


@pytest.mark.parametrize(
    ("of", "statistic"),
    [
        ("mean", np.mean),
        ("cvar", lambda z: cvar(z, 0.3)),
        ("quantile", lambda z: quantile(z, 0.3)),
    ],
)
@pytest.mark.parametrize("method", ["asymptotic", "guaranteed"])
def test_its_value_is_the_difference_of_the_statistics(of, statistic, method):
    found = difference(A, B, of=of, alpha=0.3, method=method, support=(0, 1))
    assert found.value == pytest.approx(statistic(A) - statistic(B))
    assert found.lower < found.value < found.upper


def test_the_lower_tail_is_the_upper_one_upside_down():
    low = difference(A, B, of="cvar", alpha=0.3, tail="lower")
    high = difference(-A, -B, of="cvar", alpha=0.7, tail="upper")
    assert (low.lower, low.upper) == pytest.approx((-high.upper, -high.lower))


def test_pairing_gains_what_the_two_share():
    for of in ("mean", "cvar", "quantile"):
        apart, together = (
            difference(A, PAIRED, of=of, paired=paired) for paired in (False, True)
        )
        assert together.half_width < 0.8 * apart.half_width
        assert together.value == pytest.approx(apart.value)


def test_guaranteed_is_what_two_bands_allow():
    one, other = (cdf_band(z, confidence=0.975, support=(0, 1)) for z in (A, B))
    found = difference(A, B, method="guaranteed", support=(0, 1))
    assert found.lower == pytest.approx(mean_bounds(one)[0] - mean_bounds(other)[1])
    assert found.upper == pytest.approx(mean_bounds(one)[1] - mean_bounds(other)[0])
    found = difference(A, B, of="cvar", method="guaranteed", support=(0, 1))
    (low_a, _), (_, high_b) = (cvar_bounds(band, 0.5) for band in (one, other))
    assert found.lower == pytest.approx(float(low_a - high_b))


def test_the_mean_of_pairs_takes_the_band_of_their_differences():
    found = difference(A, PAIRED, method="guaranteed", paired=True, support=(0, 1))
    band = cdf_band(A - PAIRED, support=(-1, 1))
    assert (found.lower, found.upper) == pytest.approx(mean_bounds(band))
    two = difference(A, PAIRED, method="guaranteed", support=(0, 1))
    assert found.half_width < two.half_width


def test_an_anytime_quantile_takes_the_band():
    options = {"of": "quantile", "method": "guaranteed", "support": (0, 1)}
    ranks = difference(A, B, **options)
    always = difference(A, B, kind="anytime", start=20, **options)
    assert always.half_width > ranks.half_width
    assert "order statistics" in ranks.guarantee
    assert "two anytime bands" in always.guarantee


@pytest.mark.parametrize(("n", "p"), [(10, 0.5), (30, 0.1), (59, 0.95), (4000, 0.3)])
def test_order_statistics_are_the_tightest_that_hold(n, p):
    first, last = order_statistics(n, p, 0.95)
    assert binom.cdf(first - 1, n, p) <= 0.025 < binom.cdf(first, n, p)
    assert binom.sf(last - 1, n, p) <= 0.025 < binom.sf(last - 2, n, p)


def test_one_trial_says_nothing():
    found = difference([3], [1, 2])
    assert (found.lower, found.upper, found.value) == (-np.inf, np.inf, 1.5)
    assert found.guarantee == cannot_tell(few(1, 2))
    bounded = difference([0.5], [0.5], method="guaranteed", support=(0, 1), paired=True)
    assert (bounded.lower, bounded.upper) == (-1, 1)


@pytest.mark.parametrize("paired", [False, True])
def test_scores_that_never_vary_are_not_certain(paired):
    """0.1 and 0.3 are not exact in binary: rounding is no spread."""
    a, b = np.full(10, 0.3), np.full(10, 0.1)
    found = difference(a, b, paired=paired)
    assert (found.lower, found.upper) == (-np.inf, np.inf)
    assert found.guarantee.startswith("cannot tell")
    bounded = difference(a, b, paired=paired, support=(0, 1))
    sure = difference(a, b, paired=paired, support=(0, 1), method="guaranteed")
    assert (bounded.lower, bounded.upper) == (sure.lower, sure.upper)
    assert ", because " in bounded.guarantee


def test_a_tail_of_less_than_two_trials_has_no_standard_error():
    found = difference(range(10), range(10), of="cvar", alpha=0.9)
    assert np.isinf(found.half_width)
    assert np.isfinite(difference(range(20), range(20), of="cvar", alpha=0.9).upper)


@pytest.mark.parametrize("method", ["asymptotic", "guaranteed"])
def test_too_few_trials_for_a_quantile_say_so(method):
    found = difference(range(5), range(5), of="quantile", method=method)
    assert (found.lower, found.upper) == (-np.inf, np.inf)
    assert found.guarantee.startswith(cannot_tell(""))


# Quantile functions of A and B.
SHAPES = {
    "uniform": (lambda u: u, lambda u: 0.5 * u),
    "ties": (lambda u: np.floor(5 * u) / 4, lambda u: np.floor(5 * u * u) / 4),
    "heavy": (lambda u: (1 - u) ** -0.3, lambda u: -(u**-0.3)),
    "failing": (
        lambda u: np.where(u < 0.1, 0, 0.5 + u / 2),
        lambda u: np.where(u < 0.3, 0, 0.5 + u / 4),
    ),
}
GRID = (np.arange(200_000) + 0.5) / 200_000


def least_coverage(shape, of):
    """Heavy skewed tails (Pareto, index 3.3) are beyond Student, as its notes say."""
    return 0.84 if shape == "heavy" and of != "quantile" else 0.93


def coverage(shape, n, reps, share=0.0, **asked):
    """Return how often the truth is inside; a share of the pairs is the same trial."""
    a, b = SHAPES[shape]
    alpha = asked.get("alpha", 0.5)
    at = {"mean": GRID, "cvar": alpha + (1 - alpha) * GRID, "quantile": alpha}
    p = np.asarray(at[asked["of"]])
    truth = float(np.mean(a(p)) - np.mean(b(p)))
    rng = np.random.default_rng([n, reps])
    hits = 0
    for _ in range(reps):
        u, v = rng.random((2, n))
        v = np.where(rng.random(n) < share, u, v)
        found = difference(a(u), b(v), paired=share > 0, **asked)
        hits += found.lower - 1e-4 <= truth <= found.upper + 1e-4
    return hits


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("of", ["mean", "cvar", "quantile"])
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_it_covers_as_often_as_it_says(shape, of, share):
    hits, rate = coverage(shape, 40, 300, share, of=of), least_coverage(shape, of)
    assert binomtest(hits, 300, rate, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("of", ["mean", "cvar", "quantile"])
@pytest.mark.parametrize("n", [20, 100])
def test_it_covers_as_often_as_it_says_everywhere(shape, of, n):
    for share in (0.0, 0.8):
        hits, rate = coverage(shape, n, 2000, share, of=of), least_coverage(shape, of)
        assert binomtest(hits, 2000, rate, alternative="less").pvalue > 1e-6
    if shape == "heavy":
        return
    for share in (0.0, 0.8):
        options = {"method": "guaranteed", "support": (0, 1.25)}
        hits = coverage(shape, n, 500, share, of=of, **options)
        assert binomtest(hits, 500, 0.95, alternative="less").pvalue > 1e-6


def test_a_normal_interval_would_have_failed_at_five_trials():
    """The negative control: why limits are those of Student."""
    rng = np.random.default_rng(5)
    a, b = rng.random((2, 4000, 5))
    gap = a.mean(1) - b.mean(1)
    error = np.sqrt(a.var(1) / 5 + b.var(1) / 5)
    assert np.mean(np.abs(gap) > 1.96 * error) > 0.09
    ours = [0 in difference(x, y) for x, y in zip(a[:1000], b[:1000], strict=True)]
    assert 1 - np.mean(ours) < 0.07


def test_treating_pairs_as_independent_would_have_failed():
    """The negative control: what one gains the other loses, so errors add up."""
    rng = np.random.default_rng(6)
    apart = together = 0
    for _ in range(500):
        u = rng.random(30)
        apart += 0 in difference(u, 1 - u)
        together += 0 in difference(u, 1 - u, paired=True)
    assert apart / 500 < 0.88
    assert binomtest(together, 500, 0.93, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100])
@pytest.mark.parametrize("of", ["mean", "cvar", "quantile"])
def test_it_calls_nothing_a_difference_too_often(n, of):
    """4,000 pairs of samples of the same distribution; 7 % is coverage .93."""
    rng = np.random.default_rng(n)
    false = sum(
        0 not in difference(rng.random(n), rng.random(n), of=of) for _ in range(4000)
    )
    assert binomtest(false, 4000, 0.07, alternative="greater").pvalue > 1e-6


@pytest.mark.parametrize(
    ("of", "alpha", "least", "together"),
    [("mean", 0.5, 20, 100), ("cvar", 0.5, 20, 200), ("cvar", 0.9, 100, 1000)],
)
def test_intervals_that_hold_together_need_more_trials(of, alpha, least, together):
    f = Functional(of, alpha)
    for n, confidence in ((least, 0.95), (least, 0.98), (together, 0.99)):
        assert has_few(f, n - 1, confidence=confidence)
        assert not has_few(f, n, confidence=confidence)
    z = np.random.default_rng(0).random((2, together))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        difference(*z[:, :least], of=of, alpha=alpha)
        difference(*z, of=of, alpha=alpha, confidence=0.99)
    with pytest.warns(CurvewiseWarning, match=r"\b100\b"):
        difference(*z[:, :-1], of=of, alpha=alpha, confidence=0.99)


@pytest.mark.parametrize("draw", ["uniform", "tenths", "normal"])
def test_joined_order_statistics_of_two_samples_need_no_warning(draw):
    """Medians of 10 trials, 500 times; they hold more often than they say."""
    rng = np.random.default_rng(11)
    some = {
        "uniform": rng.random,
        "tenths": lambda n: rng.beta(5, 2, n).round(1),
        "normal": rng.standard_normal,
    }[draw]
    hits = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(500):
            hits += 0 in difference(some(10), some(10), of="quantile")
    assert binomtest(hits, 500, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.parametrize(("n", "reps"), [(10, 1000), (50, 500)])
def test_quantiles_of_pairs_that_go_together_need_many_of_them(n, reps):
    """With 10 pairs that correlate by .95 they miss twice as often as they say."""
    rng = np.random.default_rng(12)
    hits = 0
    for _ in range(reps):
        a = rng.normal(size=n)
        b = 0.95 * a + 0.3122499 * rng.normal(size=n)
        hits += 0 in difference(a, b, of="quantile", paired=True)
    if n == 50:
        assert binomtest(hits, reps, 0.95, alternative="less").pvalue > 1e-6
    else:
        assert hits < 0.93 * reps


def test_few_pairs_are_warned_of_for_a_quantile():
    with pytest.warns(CurvewiseWarning, match=r"\b40 trials.*\b50\b"):
        difference(A, PAIRED, of="quantile", paired=True)
    median = Functional("quantile", 0.5)
    assert has_few(median, 49)
    assert not has_few(median, 50)
    assert has_few(median, 99, confidence=0.99)


def test_few_trials_are_warned_of():
    with pytest.warns(CurvewiseWarning, match=r"\b19 trials\b"):
        difference(range(19), range(25))
    with pytest.warns(CurvewiseWarning, match=r"\b9 trials\b"):
        difference(range(18), range(25), of="cvar")


def test_it_says_what_it_is():
    found = difference(A, B, of="cvar", alpha=0.2)
    assert found.estimand.startswith(str(Functional("cvar", 0.2)))
    assert found.guarantee == asymptotic(0.95, "Welch", APART)
    paired = difference(A[:30], B, paired=True)
    assert paired.guarantee == asymptotic(0.95, "Student, paired")
    sure = difference(A, B, method="guaranteed", support=(0, 1))
    assert sure.guarantee.startswith(finite_sample(0.95, "trials"))
    assert sure.guarantee.endswith("(two exact Kolmogorov bands)")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: difference(A, B, paired=True), ("paired", {"paired": False})),
        (lambda: difference(A, B, of="sd"), ("of",)),
        (lambda: difference(A, B, of="cvar", alpha=1), ("alpha",)),
        (lambda: difference(A, B, tail="left"), ("tail",)),
        (lambda: difference(A, B, method="t"), ("method",)),
        (lambda: difference(A, B, confidence=0), ("confidence",)),
        (
            lambda: difference(A, B, method="guaranteed"),
            ("support", {"support": ...}, {"method": "asymptotic"}),
        ),
        (lambda: difference(A, [0, 2], support=(0, 1)), ("support",)),
    ],
)
def test_bad_input_is_named(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_each_statistic_is_computed_once(monkeypatch):
    calls = []
    value = Functional.value
    monkeypatch.setattr(
        Functional, "value", lambda self, z: calls.append(len(z)) or value(self, z)
    )
    for of in ("mean", "cvar", "quantile"):
        for paired in (False, True):
            calls.clear()
            difference(A, PAIRED, of=of, paired=paired)
            assert calls == [40, 40]


def test_the_tenth_of_a_hundred_is_ten():
    """100 * (1 - .9) is 9.999999999999998."""
    rng = np.random.default_rng(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        difference(*rng.random((2, 100)), of="cvar", alpha=0.9)


def test_what_is_no_kind_or_support_is_named():
    with pytest.raises(CurvewiseError) as refused:
        difference(A, B, kind="zzz")
    assert refused.value.argument == "kind"
    with pytest.raises(CurvewiseError) as refused:
        difference(A, B, support=(np.nan, np.nan))
    assert refused.value.argument == "support"
