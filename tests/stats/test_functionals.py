"""Mean, CVaR and quantile as one thing: values, intervals, what they need to be bounded."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import said_by
from scipy.stats import binomtest

from curvewise.errors import CurvewiseError
from curvewise.stats.bounds import cvar_interval, mean_interval, quantile_interval
from curvewise.stats.distribution import cvar, quantile
from curvewise.stats.functionals import ENOUGH, Functional, flipped
from curvewise.stats.interval import cannot_tell, looks

Z = np.array([0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95])
ALL = [
    Functional("mean"),
    Functional("cvar", 0.5),
    Functional("cvar", 0.1, "lower"),
    Functional("quantile", 0.9),
]
scores = st.lists(st.floats(-100, 100), min_size=2, max_size=30)


@given(scores, st.floats(0.01, 0.99))
def test_values_are_those_of_the_distribution(z, alpha):
    assert Functional("mean").value(z) == np.mean(z)
    assert Functional("quantile", alpha).value(z) == quantile(z, alpha)
    for tail in ("upper", "lower"):
        assert Functional("cvar", alpha, tail).value(z) == cvar(z, alpha, tail=tail)


@given(scores, st.floats(0.01, 0.99), st.sampled_from(["upper", "lower"]))
def test_what_trials_contribute_has_the_value_as_its_mean(z, alpha, tail):
    f = Functional("cvar", alpha, tail)
    assert f.contributions(z).mean() == pytest.approx(f.value(z), rel=1e-9, abs=1e-9)


def test_guaranteed_intervals_are_those_of_the_band_or_of_order_statistics():
    for found, expected in (
        (
            Functional("mean").interval(Z, support=(0, 1)),
            mean_interval(Z, support=(0, 1)),
        ),
        (
            Functional("cvar", 0.1, "lower").interval(Z, support=(0, 1), kind="dkw"),
            cvar_interval(Z, 0.1, tail="lower", support=(0, 1), kind="dkw"),
        ),
        (Functional("quantile", 0.5).interval(Z), quantile_interval(Z, 0.5)),
    ):
        assert (found.lower, found.upper) == (expected.lower, expected.upper)
        assert found.value == expected.value


def test_a_quantile_at_any_time_is_read_off_a_band():
    z = np.linspace(0, 1, 500)
    median = Functional("quantile", 0.5)
    found = median.interval(z, kind="anytime")
    assert found.half_width > 1.5 * median.interval(z).half_width
    assert looks("anytime") in found.guarantee


def test_too_few_trials_for_a_quantile_cannot_tell():
    found = Functional("quantile", 0.5).interval([0.3, 0.4])
    assert (found.lower, found.upper) == (-math.inf, math.inf)
    assert found.guarantee.startswith(cannot_tell("2 trials"))
    bounded = Functional("quantile", 0.5).interval([0.3, 0.4], support=(0, 1))
    assert (bounded.lower, bounded.upper) == (0, 1)


@pytest.mark.parametrize(
    ("f", "support", "ends"),
    [
        (ALL[0], (0, 1), ()),
        (ALL[0], (-math.inf, 1), ("below",)),
        (ALL[0], (-math.inf, math.inf), ("below", "above")),
        (ALL[1], (-math.inf, 1), ()),
        (ALL[1], (0, math.inf), ("above",)),
        (ALL[2], (0, math.inf), ()),
        (ALL[2], (-math.inf, 1), ("below",)),
        (ALL[3], (-math.inf, math.inf), ()),
    ],
)
def test_which_bounds_a_guarantee_needs(f, support, ends):
    """Checked against an interval of many trials: finite if and only if none lacks."""
    assert f.lacks(support) == ends
    found = f.interval(np.linspace(0.2, 0.8, 2000), support=support)
    assert math.isfinite(found.half_width) == (not ends)


def test_asymptotic_intervals_are_those_of_student():
    z = np.random.default_rng(1).normal(size=400)
    found = Functional("mean").interval(z, method="asymptotic", confidence=0.9)
    reach = 1.648681 * z.std(ddof=1) / 20  # t with 399 degrees of freedom
    assert found.lower == pytest.approx(z.mean() - reach, rel=1e-5)
    assert found.half_width == pytest.approx(reach, rel=1e-5)
    assert found.guarantee.startswith("90 %")
    best = Functional("cvar", 0.5).interval(z, method="asymptotic")
    assert best.value == cvar(z, 0.5)


def test_asymptotic_intervals_stay_inside_the_support():
    z = np.r_[np.zeros(200), 1.0]
    found = Functional("mean").interval(z, method="asymptotic", support=(0, 1))
    assert found.lower == 0


@pytest.mark.parametrize("n", [1, 2, ENOUGH - 1])
def test_few_trials_have_no_asymptotic_interval(n):
    z = np.arange(n, dtype=float)
    found = Functional("mean").interval(z, method="asymptotic", confidence=0.99)
    assert math.isinf(found.half_width)
    assert found.guarantee.startswith(cannot_tell(f"the {n} trials"))
    assert found.guarantee.endswith(f" {ENOUGH}")


def test_one_interval_needs_fewer_trials_than_many_that_hold_together():
    mean, z = Functional("mean"), np.arange(40.0)
    assert math.isfinite(mean.interval(z, method="asymptotic").half_width)
    few = mean.interval(z[:-1], method="asymptotic")
    assert few.guarantee.endswith(" 40")
    many = mean.interval(z, method="asymptotic", confidence=0.96)
    assert many.guarantee.endswith(" 100")


@pytest.mark.parametrize("method", ["guaranteed", "asymptotic"])
@pytest.mark.parametrize("f", ALL, ids=str)
def test_scores_outside_of_the_support_are_not_too_few(f, method):
    with pytest.raises(CurvewiseError) as refused:
        f.interval([5, 6, 7], support=(0, 1), method=method)
    assert refused.value.argument == "support"


def test_too_few_trials_for_a_quantile_are_told_from_their_ranks():
    median = Functional("quantile", 0.5)
    found = median.interval([5, 6, 7])
    assert (found.lower, found.upper) == (-math.inf, math.inf)
    assert found.guarantee.startswith(cannot_tell("3 trials"))
    assert str(median.interval([5, 6, 7], support=(0, 10))) == "[0, 10]"
    assert math.isinf(median.interval([5, 6, 7], support=(0, math.inf)).upper)


def test_the_tail_counts_not_the_trials():
    z = np.random.default_rng(2).random(2 * ENOUGH)
    assert math.isfinite(
        Functional("cvar", 0.5).interval(z, method="asymptotic").half_width
    )
    assert math.isinf(
        Functional("cvar", 0.9).interval(z, method="asymptotic").half_width
    )


def test_trials_that_do_not_vary_have_no_asymptotic_interval():
    found = Functional("mean").interval(np.full(500, 0.3), method="asymptotic")
    assert math.isinf(found.half_width)
    assert "do not vary" in found.guarantee


@pytest.mark.parametrize("f", ALL, ids=str)
def test_guaranteed_intervals_cover(f):
    """300 samples of 60; Beta(8, 2) rounded to twentieths, so that many tie."""
    rng = np.random.default_rng(3)

    def drawn(*shape):
        return np.round(20 * rng.beta(8, 2, shape)) / 20

    truth = f.value(drawn(2_000_000))
    found = [f.interval(drawn(60), support=(0, 1), confidence=0.9) for _ in range(300)]
    hits = sum(truth in interval for interval in found)
    assert binomtest(hits, 300, 0.9, alternative="less").pvalue > 1e-6


def test_an_interval_is_turned_with_its_scores():
    f = Functional("cvar", 0.3)
    turned = Functional("cvar", 0.7, "lower")
    found = flipped(f.interval(-Z, support=(-1, 0)))
    expected = turned.interval(Z, support=(0, 1))
    assert found.lower == pytest.approx(expected.lower)
    assert found.upper == pytest.approx(expected.upper)
    assert found.value == pytest.approx(expected.value)


def test_functionals_speak():
    assert [str(f) for f in ALL] == [
        *("mean", "CVaR 0.5", "CVaR 0.1 (worst)", "quantile 0.9")
    ]
    words = ["mean", "best 0.5", "worst 0.1", "share 0.9"]
    assert all(word in f.estimand for word, f in zip(words, ALL, strict=True))
    assert [f.mass for f in ALL] == [1, 0.5, 0.1, 1]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: Functional("median"), ("of",)),
        (lambda: Functional("cvar", 0), ("alpha",)),
        (lambda: Functional("cvar", 0.5, "best"), ("tail",)),
        (
            lambda: Functional("quantile", 0.5).interval(Z, method="asymptotic"),
            ("method", {"method": "guaranteed"}),
        ),
        (lambda: Functional("mean").interval(Z, method="x"), ("method",)),
    ],
)
def test_bad_input_is_refused(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_the_tenth_of_a_thousand_is_a_hundred():
    """1000 * (1 - .9) is 99.99999999999997."""
    found = Functional("cvar", 0.9).interval(
        np.arange(1000.0), method="asymptotic", confidence=0.99
    )
    assert found.guarantee.startswith("99 %")


def test_what_is_no_kind_is_named():
    with pytest.raises(CurvewiseError) as refused:
        Functional("quantile").interval(Z, kind="nonsense")
    assert refused.value.argument == "kind"
