import numpy as np
import pytest
from scipy.stats import binomtest, norm

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.comparison import (
    performance_profile,
    performance_profile_bootstrap,
)
from curvewise.stats.interval import asymptotic, cannot_tell, finite_sample

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")

AT = np.linspace(0, 2.5, 26)[1:-1]


def rng(seed=0):
    return np.random.default_rng(seed)


def scores(source, runs=20, tasks=6):
    return source.random((runs, tasks)) + np.arange(tasks) * 0.3


def true_profile(tasks=6):
    """Uniform scores: task t is above z with chance t * 0.3 + 1 - z."""
    return np.clip(np.arange(tasks)[:, None] * 0.3 + 1 - AT, 0, 1).mean(axis=0)


BANDS = {
    "closed form": performance_profile,
    "guaranteed": lambda z, at: performance_profile(z, at, method="guaranteed"),
    "bootstrap": lambda z, at: performance_profile_bootstrap(
        z, at, resamples=200, rng=rng(1)
    ),
}


@pytest.mark.parametrize("kind", BANDS)
def test_it_is_the_share_of_runs_above_and_falls(kind):
    z = scores(rng(1))
    found = BANDS[kind](z, AT)
    assert found.value == pytest.approx([(z > x).mean() for x in AT])
    assert (found.lower <= found.value).all()
    assert (found.value <= found.upper).all()
    assert (found.lower >= 0).all()
    assert (found.upper <= 1).all()
    assert (np.diff(found.lower) <= 1e-12).all()
    assert (np.diff(found.upper) <= 1e-12).all()


def test_thresholds_may_come_in_any_order():
    z, turned = scores(rng(1)), AT[::-1]
    plain, other = performance_profile(z, AT), performance_profile(z, turned)
    assert other.lower[::-1].tolist() == plain.lower.tolist()
    assert other.upper[::-1].tolist() == plain.upper.tolist()
    assert other.at.tolist() == turned.tolist()


def test_tasks_weigh_the_same_whatever_their_runs():
    found = performance_profile([[1.0] * 30, [0.0] * 10], [0.5])
    assert found.value.tolist() == [0.5]


def test_tasks_on_which_all_runs_agree_are_not_certain():
    found = performance_profile([[1.0] * 10, [0.0] * 10], [0.5], pointwise=True)
    assert found.lower[0] < 0.42
    assert found.upper[0] > 0.58
    all_above = performance_profile([[1.0] * 10, [2.0] * 10], [0.5])
    assert 0.5 < all_above.lower[0] < 0.99
    assert all_above.upper[0] == 1


def test_tasks_are_strata():
    """Tasks that differ tell more than one task with the same scores pooled."""
    z = scores(rng(2)) + 3 * np.arange(6)
    apart = performance_profile(z, [3.0, 9.0], pointwise=True)
    pooled = performance_profile(z.reshape(-1, 1), [3.0, 9.0], pointwise=True)
    width, blind = apart.upper - apart.lower, pooled.upper - pooled.lower
    assert (width < 0.7 * blind).all()


def test_a_band_for_more_thresholds_is_wider():
    z = scores(rng(3))
    one, many = performance_profile(z, [1.0]), performance_profile(z, AT)
    at = np.argmin(np.abs(AT - 1.0))
    assert many.upper[at] > one.upper[0]
    alone = performance_profile(z, [1.0], pointwise=True)
    assert alone.upper[0] == one.upper[0]


@pytest.mark.parametrize("kind", BANDS)
def test_one_run_says_nothing(kind):
    found = BANDS[kind]([[1.0, 2.0], [3.0]], AT)
    assert found.lower.tolist() == [0] * len(AT)
    assert found.upper.tolist() == [1] * len(AT)
    assert found.guarantee.startswith(cannot_tell(""))


def covered(find, runs, reps, seed=0):
    source, truth, hits = rng([seed, runs]), true_profile(), 0
    for _ in range(reps):
        found = find(scores(source, runs), AT)
        hits += bool(
            ((found.lower <= truth + 1e-9) & (truth <= found.upper + 1e-9)).all()
        )
    return hits


@pytest.mark.parametrize(
    ("kind", "reps", "rate"),
    [("closed form", 300, 0.93), ("guaranteed", 25, 0.95), ("bootstrap", 100, 0.93)],
)
def test_the_whole_profile_is_covered(kind, reps, rate):
    hits = covered(BANDS[kind], 20, reps)
    assert binomtest(hits, reps, rate, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("runs", [10, 20, 100])
def test_the_whole_profile_is_covered_as_often_as_it_says(runs):
    hits = covered(BANDS["closed form"], runs, 2000)
    assert binomtest(hits, 2000, 0.93, alternative="less").pvalue > 1e-6
    hits = covered(BANDS["guaranteed"], runs, 100)
    assert binomtest(hits, 100, 0.95, alternative="less").pvalue > 1e-6
    if runs >= 20:
        hits = covered(BANDS["bootstrap"], runs, 500)
        assert binomtest(hits, 500, 0.93, alternative="less").pvalue > 1e-6


def test_pointwise_intervals_would_miss_somewhere():
    """The negative control: what a peer draws as a band holds at each point only."""
    hits = covered(lambda z, at: performance_profile(z, at, pointwise=True), 100, 300)
    assert hits / 300 < 0.75


def test_the_bootstrap_is_narrower_and_states_its_error():
    z = scores(rng(4), runs=100)
    closed = performance_profile(z, AT)
    found = performance_profile_bootstrap(z, AT, rng=rng(5))
    assert (found.upper - found.lower).mean() < (closed.upper - closed.lower).mean()
    assert 0 < found.monte_carlo_error < 0.01
    again = performance_profile_bootstrap(z, AT, rng=rng(6))
    assert np.abs(again.upper - found.upper).max() < 6 * found.monte_carlo_error


def test_few_runs_are_warned_of():
    with pytest.warns(CurvewiseWarning, match=r"\b9 runs\b"):
        performance_profile(scores(rng(), runs=9), AT)
    with pytest.warns(CurvewiseWarning, match=r"\b20\b"):
        performance_profile_bootstrap(scores(rng(), runs=19), AT, rng=rng())


def test_it_says_what_it_is():
    found = performance_profile(scores(rng()), AT, pointwise=True)
    form = "at each threshold by itself, closed form, stratified by task"
    assert found.guarantee == asymptotic(0.95, form)
    sure = performance_profile(scores(rng()), [1.0], method="guaranteed")
    assert sure.guarantee.startswith(finite_sample(0.95, "runs"))
    assert sure.guarantee.endswith("(binomial CVaR)")


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: performance_profile([[1, 2]], []), "at"),
        (lambda: performance_profile([[1, 2]], [np.nan]), "at"),
        (lambda: performance_profile([[1, 2]], "x"), "at"),
        (lambda: performance_profile([[1, 2]], 1, method="x"), "method"),
        (lambda: performance_profile([[1, 2]], 1, confidence=5), "confidence"),
        (lambda: performance_profile_bootstrap([[1, 2]], 1, rng=1), "rng"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument


DENSE = np.linspace(-3, 6, 400)


def dense_coverage(find, reps, runs=20, tasks=2):
    source, shift = rng([9, runs]), np.arange(tasks)
    truth = norm.sf(DENSE[:, None] - shift).mean(axis=1)
    hits = 0
    for _ in range(reps):
        found = find(source.normal(size=(runs, tasks)) + shift)
        hits += bool(((found.lower <= truth) & (truth <= found.upper)).all())
    return hits


def test_thresholds_far_out_are_covered_too():
    """One run beyond a far threshold says little; normal limits took it for more."""
    hits = dense_coverage(lambda z: performance_profile(z, DENSE), 400)
    assert binomtest(hits, 400, 0.95, alternative="less").pvalue > 1e-6
    hits = dense_coverage(lambda z: performance_profile(z, DENSE, pointwise=True), 400)
    assert hits < 0.8 * 400


@pytest.mark.slow
@pytest.mark.parametrize("runs", [10, 40])
@pytest.mark.parametrize("tasks", [1, 2, 6])
def test_counting_runs_and_not_thresholds_keeps_the_promise(runs, tasks):
    for method, reps in (("asymptotic", 1000), ("guaranteed", 40)):
        hits = dense_coverage(
            lambda z, method=method: performance_profile(z, DENSE, method=method),
            reps,
            runs,
            tasks,
        )
        assert binomtest(hits, reps, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.parametrize("method", ["asymptotic", "guaranteed"])
def test_more_thresholds_than_runs_cost_nothing_more(method):
    z = scores(rng(4), runs=10, tasks=2)
    some, many = (np.linspace(0, 1, k) for k in (21, 201))
    one = performance_profile(z, some, method=method)
    other = performance_profile(z, many, method=method)
    assert (other.lower[::10] >= one.lower - 1e-12).all()
    assert (other.upper[::10] <= one.upper + 1e-12).all()
    uneven = [z[:, 0], z[:5, 1]]
    few = performance_profile(uneven, [0.5], method=method)
    more = performance_profile(uneven, many, method=method)
    assert more.upper[100] > few.upper[0]
