import numpy as np
import pytest
from scipy.stats import binomtest

from curvewise.stats.bands import cdf_band
from curvewise.stats.bounds import order_statistics
from curvewise.stats.comparison import Settled, quantile_shift, where_better
from curvewise.stats.distribution import quantile
from curvewise.stats.interval import CurveBand

P = np.arange(1, 100) / 100


def test_it_is_the_difference_of_two_bands():
    rng = np.random.default_rng(1)
    a, b = rng.random(80) ** 0.5, rng.random(50)
    found = quantile_shift(a, b, P, support=(0, 1))
    one, other = (cdf_band(z, confidence=0.975, support=(0, 1)) for z in (a, b))
    assert found.at.tolist() == P.tolist()
    assert found.value.tolist() == (quantile(a, P) - quantile(b, P)).tolist()
    assert found.lower.tolist() == (one.quantile(P)[0] - other.quantile(P)[1]).tolist()
    assert found.upper.tolist() == (one.quantile(P)[1] - other.quantile(P)[0]).tolist()
    assert (found.lower <= found.value).all()
    assert (found.value <= found.upper).all()


def test_open_tails_are_infinite_and_never_nan():
    found = quantile_shift([1, 2], [3, 4], [0, 0.5, 1])
    assert np.isneginf(found.lower).all()
    assert np.isposinf(found.upper).all()


def test_one_trial_settles_nothing():
    assert where_better(quantile_shift([9], [1, 2, 3, 4, 5] * 9, P)) == []


def test_it_says_where_who_is_better():
    """The best half of A is better, the worst tenth is worse; the rest is open."""
    p = np.arange(1000) / 1000
    a = np.where(p < 0.2, -2, np.where(p < 0.5, 0, 1))
    b = np.zeros(1000)
    found = where_better(quantile_shift(a, b, P))
    assert [r.better for r in found] == ["b", "a"]
    assert found[0].stop < 0.2
    assert found[1].start > 0.5


def test_ranges_are_read_off_the_band():
    at = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    lower = np.array([-2.0, -2, 0, 0.1, 0.2])
    upper = np.array([-1.0, -1, 1, 1, 1])
    band = CurveBand(at, lower, lower, upper, "", "")
    assert where_better(band) == [Settled(0.1, 0.2, "b"), Settled(0.4, 0.5, "a")]


def covered(band, rng, n, reps):
    """Scores are uniform for A and half as large for B, so that the shift is p / 2."""
    hits = 0
    for _ in range(reps):
        lower, upper = band(rng.random(n), rng.random(n) / 2)
        hits += bool(((lower <= P / 2) & (upper >= P / 2)).all())
    return hits


def simultaneous(a, b):
    found = quantile_shift(a, b, P)
    return found.lower, found.upper


def pointwise(a, b):
    """At each quantile by itself, 95 % intervals of its difference by order statistics."""
    ranks = np.array([order_statistics(len(a), p, 0.975) for p in P]).T
    one, other = (np.r_[-np.inf, np.sort(z), np.inf] for z in (a, b))
    return one[ranks[0]] - other[ranks[1]], one[ranks[1]] - other[ranks[0]]


def test_all_quantiles_are_covered_at_once():
    rng = np.random.default_rng(2)
    hits = covered(simultaneous, rng, 30, 400)
    assert binomtest(hits, 400, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100, 2000])
def test_all_quantiles_are_covered_at_once_at_any_number_of_trials(n):
    hits = covered(simultaneous, np.random.default_rng(n), n, 2000)
    assert binomtest(hits, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_pointwise_intervals_are_narrower_and_would_miss_more_often():
    """The negative control."""
    rng = np.random.default_rng(3)
    a, b = rng.random(200), rng.random(200) / 2
    (low, high), (lowest, highest) = pointwise(a, b), simultaneous(a, b)
    assert (high - low)[49] < (highest - lowest)[49]
    strict = covered(simultaneous, np.random.default_rng(4), 200, 200)
    loose = covered(pointwise, np.random.default_rng(4), 200, 200)
    assert loose < strict - 4


def test_two_curves_that_cross_are_not_called_one_sided():
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(200):
        a, b = rng.normal(0, 3, 300), rng.normal(0, 1, 300)  # better from the median on
        for found in where_better(quantile_shift(a, b, P)):
            true = found.start > 0.5 if found.better == "a" else found.stop < 0.5
            wrong += not true
    assert wrong / 200 < 0.05


def test_it_says_what_it_is():
    found = quantile_shift([1, 2, 3], [1, 2, 3], 0.5, kind="anytime")
    assert found.estimand == "quantiles of A less those of B"
    assert found.guarantee == (
        "at least 95% (finite-sample), for independent trials of any distribution, "
        "simultaneous over all quantiles, at every number of trials, however A and B "
        "depend on each other (two anytime bands)"
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: quantile_shift([1], [1], [2]), r"p is \[2\]\. Pass shares between 0"),
        (lambda: quantile_shift([1], [], P), r"Scores b have shape \(0,\)"),
        (lambda: quantile_shift([1], [1], P, confidence=2), r"confidence is 2\."),
        (lambda: quantile_shift([1], [1], P, kind="x"), r"kind is 'x'\. Pass one of"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_nothing_asked_is_nothing_settled():
    assert where_better(quantile_shift([1, 2], [1, 2], [])) == []


def test_unsorted_shares_are_refused():
    with pytest.raises(ValueError, match=r"p is not in ascending order\. Pass a shift"):
        where_better(quantile_shift([1, 2], [1, 2], [0.5, 0.2]))
    with pytest.raises(ValueError, match=r"p is 'a'\. Pass shares between 0 and 1"):
        quantile_shift([1, 2], [1, 2], "a")
