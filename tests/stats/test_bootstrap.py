import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats import bootstrap
from curvewise.stats.bounds import bootstrap_interval
from curvewise.stats.distribution import cvar
from curvewise.stats.functionals import Functional

NORMAL = np.random.default_rng(1).normal(size=100)
SKEWED = np.random.default_rng(2).lognormal(size=140)


def rng(seed=0):
    return np.random.default_rng(seed)


def best_half(scores, axis):
    n = scores.shape[axis]
    return np.sort(scores, axis=axis)[..., n // 2 :].mean(axis=axis)


# --- the ends -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"), [("mean", np.mean), (("cvar", 0.5), best_half)]
)
def test_ends_are_those_of_scipy_up_to_what_chance_leaves(ours, theirs):
    found = bootstrap_interval(SKEWED, ours, resamples=19_999, rng=rng())
    # scipy renamed the argument in 1.15.
    new = "rng" in inspect.signature(stats.bootstrap).parameters
    peer = stats.bootstrap(
        (SKEWED,),
        theirs,
        n_resamples=19_999,
        method="BCa",
        **{"rng" if new else "random_state": rng(1)},
    )
    apart = np.subtract((found.lower, found.upper), tuple(peer.confidence_interval))
    assert np.abs(apart).max() < 5 * np.sqrt(2) * found.monte_carlo_error
    assert found.value == pytest.approx(theirs(SKEWED, axis=-1))


def test_ends_follow_the_skew_where_a_symmetric_interval_does_not():
    """The negative control: plus and minus two standard errors are equally far."""
    found = bootstrap_interval(SKEWED, rng=rng())
    assert found.upper - found.value > 1.3 * (found.value - found.lower)


@pytest.mark.parametrize("tail", ["upper", "lower"])
@pytest.mark.parametrize("alpha", [0.5, 0.31])
def test_cvar_is_that_of_the_distribution(alpha, tail):
    found = bootstrap_interval(SKEWED, ("cvar", alpha, tail), resamples=99, rng=rng())
    assert found.value == pytest.approx(cvar(SKEWED, alpha, tail=tail))


def test_a_function_of_ones_own_gives_what_the_word_for_it_gives():
    word = bootstrap_interval(SKEWED, "mean", rng=rng())
    own = bootstrap_interval(SKEWED, np.mean, rng=rng())
    assert (own.lower, own.upper) == pytest.approx((word.lower, word.upper))
    assert own.estimand.startswith(np.mean.__name__)
    word = bootstrap_interval(SKEWED, ("cvar", 0.5), rng=rng())
    own = bootstrap_interval(SKEWED, best_half, rng=rng())
    # The jackknife and the influence function differ by one part in n.
    assert (own.lower, own.upper) == pytest.approx((word.lower, word.upper), rel=5e-3)


def test_the_tails_mirror_each_other():
    up = bootstrap_interval(SKEWED, ("cvar", 0.7), resamples=19_999, rng=rng())
    down = bootstrap_interval(
        -SKEWED, ("cvar", 0.3, "lower"), resamples=19_999, rng=rng()
    )
    assert -down.value == pytest.approx(up.value)
    assert -down.upper == pytest.approx(up.lower, abs=6 * up.monte_carlo_error)
    assert -down.lower == pytest.approx(up.upper, abs=6 * up.monte_carlo_error)


def test_ends_move_with_the_scores():
    base = bootstrap_interval(SKEWED, rng=rng())
    moved = bootstrap_interval(3 * SKEWED - 7, rng=rng())
    assert moved.lower == pytest.approx(3 * base.lower - 7)
    assert moved.upper == pytest.approx(3 * base.upper - 7)
    assert moved.monte_carlo_error == pytest.approx(3 * base.monte_carlo_error)


def test_batches_do_not_change_the_answer(monkeypatch):
    whole = bootstrap_interval(SKEWED, best_half, resamples=299, rng=rng())
    monkeypatch.setattr(bootstrap, "_BATCH", 500)
    assert bootstrap_interval(SKEWED, best_half, resamples=299, rng=rng()) == whole


def test_the_expansion_for_many_trials_agrees_with_resampling(monkeypatch):
    """2,000 lognormal scores; the expansion is made for ten times as many."""
    many = rng(3).lognormal(size=2000)
    for statistic in ("mean", ("cvar", 0.5), ("cvar", 0.5, "lower")):
        drawn = bootstrap_interval(many, statistic, rng=rng())
        with monkeypatch.context() as m:
            m.setattr(bootstrap, "MANY", 1)
            closed = bootstrap_interval(many, statistic, rng=rng())
        assert closed.monte_carlo_error == 0
        assert "closed form" in closed.guarantee
        apart = max(abs(closed.lower - drawn.lower), abs(closed.upper - drawn.upper))
        assert apart < max(4 * drawn.monte_carlo_error, 0.02 * drawn.half_width)


def test_a_hundred_thousand_trials_are_answered_in_closed_form():
    found = bootstrap_interval(rng().random(100_000), ("cvar", 0.5), rng=rng())
    assert 0.75 in found
    sd = 2 * (5 / 12 - (5 / 8) ** 2) ** 0.5  # of max(U, 1/2) / (1/2)
    assert found.half_width == pytest.approx(1.96 * sd / 100_000**0.5, rel=0.01)


# --- what chance leaves ---------------------------------------------------------------


@pytest.mark.parametrize(
    "statistic", ["mean", ("cvar", 0.5)], ids=["mean", "best half"]
)
@pytest.mark.parametrize("scores", [NORMAL, SKEWED], ids=["normal", "skewed"])
def test_the_monte_carlo_error_is_the_spread_of_the_ends_over_seeds(scores, statistic):
    found = [
        bootstrap_interval(scores, statistic, resamples=999, rng=rng(seed))
        for seed in range(200)
    ]
    ends = np.array([(one.lower, one.upper) for one in found])
    said = np.mean([one.monte_carlo_error for one in found])
    # 200 seeds know a standard deviation to 5 %; one run knows a density to 25 %.
    assert ends.std(axis=0).max() == pytest.approx(said, rel=0.25)


def test_more_resamples_leave_less_to_chance():
    few = bootstrap_interval(NORMAL, resamples=499, rng=rng()).monte_carlo_error
    many = bootstrap_interval(NORMAL, resamples=49_999, rng=rng()).monte_carlo_error
    assert 5 < few / many < 20  # ten times, if an estimate from 499 were exact


def test_the_same_generator_gives_the_same_interval():
    assert bootstrap_interval(NORMAL, rng=rng(5)) == bootstrap_interval(
        NORMAL, rng=rng(5)
    )


# --- little to go by ------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")
@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([0.0, 1.0, 1e-300, -1e150, 3.5]), min_size=2, max_size=9),
    st.sampled_from(["mean", ("cvar", 0.5), ("cvar", 0.9, "lower"), np.median]),
)
def test_there_is_always_an_answer_and_never_a_nan(scores, statistic):
    found = bootstrap_interval(scores, statistic, resamples=99, rng=rng())
    assert np.isfinite([found.lower, found.upper, found.monte_carlo_error]).all()
    assert found.lower <= found.upper


def test_equal_scores_have_an_interval_without_length_and_a_warning():
    with pytest.warns(CurvewiseWarning, match=r"\b50 scores\b"):
        found = bootstrap_interval([0.3] * 50, ("cvar", 0.5), rng=rng())
    assert found.lower == pytest.approx(0.3)
    assert found.half_width == pytest.approx(0)
    assert found.monte_carlo_error == pytest.approx(0)


def test_few_trials_in_the_tail_are_warned_about():
    with pytest.warns(CurvewiseWarning, match=r"\b10 of them") as warned:
        bootstrap_interval(np.arange(100), ("cvar", 0.9), rng=rng())
    assert warned[0].message.message.fixes == ({"support": ...},)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap_interval(np.arange(80), ("cvar", 0.5), rng=rng())
        bootstrap_interval(np.arange(40), rng=rng())


def test_it_says_that_it_promises_nothing_at_this_number_of_trials():
    found = bootstrap_interval(NORMAL, ("cvar", 0.5, "lower"), rng=rng())
    assert found.estimand == Functional("cvar", 0.5, "lower").estimand
    assert found.guarantee.startswith("about 95 %")
    assert found.guarantee.endswith("(BCa bootstrap, 4999 resamples)")


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: bootstrap_interval([1.0], rng=rng()), "scores"),
        (lambda: bootstrap_interval(NORMAL, resamples=38, rng=rng()), "resamples"),
        (lambda: bootstrap_interval(NORMAL, resamples=0, rng=rng()), "resamples"),
        (lambda: bootstrap_interval(NORMAL, rng=0), "rng"),
        (lambda: bootstrap_interval(NORMAL, "median", rng=rng()), "statistic"),
        (lambda: bootstrap_interval(NORMAL, ("cvar", 2), rng=rng()), "alpha"),
        (lambda: bootstrap_interval(NORMAL, ("cvar", 0.5, "up"), rng=rng()), "tail"),
        (lambda: bootstrap_interval(NORMAL, lambda x, axis: x, rng=rng()), "statistic"),
        (
            lambda: bootstrap_interval(
                NORMAL, lambda x, axis: np.full(x.shape[:-1], np.nan), rng=rng()
            ),
            "statistic",
        ),
        (lambda: bootstrap_interval([1, np.nan], rng=rng()), "scores"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument


# --- coverage -------------------------------------------------------------------------


def uniform(source, n):
    return source.random(n)


def normal(source, n):
    return source.normal(size=n)


def lognormal(source, n):
    return source.lognormal(size=n)


def coverage(draw, true, statistic, n, reps):
    source = rng(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CurvewiseWarning)
        found = [
            bootstrap_interval(draw(source, n), statistic, resamples=999, rng=source)
            for _ in range(reps)
        ]
    return np.mean([one.lower <= true <= one.upper for one in found])


def test_eighty_uniform_trials_are_enough_and_five_are_not():
    """No guarantee, so what was measured (.947 and .74) stands here with its error; the
    second is why there is a warning."""
    assert 0.90 < coverage(uniform, 0.75, ("cvar", 0.5), 80, 400) < 0.99
    assert coverage(uniform, 0.75, ("cvar", 0.5), 5, 400) < 0.85


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "mean", "half"),
    [(uniform, 0.5, 0.75), (normal, 0.0, 2 * stats.norm.pdf(0))],
)
def test_coverage_is_above_93_percent_from_where_the_warning_ends(draw, mean, half):
    for statistic, true, n in (("mean", mean, 40), (("cvar", 0.5), half, 80)):
        share = coverage(draw, true, statistic, n, 2000)
        assert 0.93 - 3 * 0.0057 < share < 0.97


@pytest.mark.slow
def test_heavy_tails_need_more_trials_than_any_warning_can_know():
    """Lognormal scores, 100 trials: .91, as the table in the docstring says."""
    assert coverage(lognormal, np.exp(0.5), "mean", 100, 1000) < 0.94


@pytest.mark.filterwarnings("error")
def test_the_tenth_of_four_hundred_is_forty():
    """400 * (1 - .9) is 39.99999999999999."""
    scores = np.random.default_rng(0).random(400)
    bootstrap_interval(scores, ("cvar", 0.9), rng=np.random.default_rng(0))


def test_a_statistic_without_an_axis_is_named():
    scores, rng = np.arange(50.0), np.random.default_rng(0)
    with pytest.raises(CurvewiseError) as refused:
        bootstrap_interval(scores, lambda z: z.mean(), rng=rng)
    assert refused.value.argument == "statistic"
