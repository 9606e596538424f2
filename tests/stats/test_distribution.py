import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise.errors import CurvewiseError
from curvewise.stats.distribution import (
    cvar,
    ecdf,
    functional,
    mean,
    quantile,
    threshold,
)
from curvewise.stats.validation import sorted_scores

TEN = list(range(1, 11))
samples = st.lists(
    st.integers(-1000, 1000).map(lambda i: i / 8), min_size=1, max_size=40
)
shares = st.floats(0.01, 0.99)


def test_the_cdf_counts_ties_and_is_continuous_from_the_right():
    assert ecdf([1, 2, 2, 4], [0.99, 1, 2, 3.9, 4]).tolist() == [0, 0.25, 0.75, 0.75, 1]


@given(samples, shares)
def test_the_quantile_is_the_smallest_score_whose_cdf_reaches_p(scores, p):
    z = quantile(scores, p)
    assert z in scores
    assert ecdf(scores, z) >= p - 1e-9
    below = [s for s in scores if s < z]
    assert not below or ecdf(scores, max(below)) < p + 1e-9


def test_rounding_of_p_does_not_move_the_quantile():
    """0.7 * 10 is 7.000000000000001 in floating point; the 7th score is meant."""
    assert [float(quantile(TEN, p / 10)) for p in range(1, 11)] == TEN
    assert quantile(np.arange(1, 101), 0.29) == 29


def test_quantiles_are_never_interpolated_as_numpy_does():
    """The negative control: numpy's default invents a score."""
    assert quantile([0, 1], 0.5) == 0
    assert np.quantile([0, 1], 0.5) == 0.5


@pytest.mark.paper
@pytest.mark.parametrize(
    ("scores", "integral", "conditional", "lower"),
    [
        (TEN, 8.0, 7.5, 3.0),
        ([0] * 6 + [1] * 4, 0.8, 0.4, 0.0),
        ([0] * 3 + [1] * 7, 1.0, 1.0, 0.4),
    ],
)
def test_cvar_by_hand(scores, integral, conditional, lower):
    """The printed, conditional form lets a whole tied block in; ours does not."""
    assert cvar(scores, 0.5) == pytest.approx(integral)
    assert cvar(scores, 0.5, definition="conditional") == pytest.approx(conditional)
    assert cvar(scores, 0.5, tail="lower") == pytest.approx(lower)


@given(samples, shares)
def test_both_tails_together_are_the_mean(scores, alpha):
    upper, lower = cvar(scores, alpha), cvar(scores, alpha, tail="lower")
    assert alpha * lower + (1 - alpha) * upper == pytest.approx(np.mean(scores))
    assert lower <= np.mean(scores) + 1e-9
    assert upper >= np.mean(scores) - 1e-9


@given(samples, shares)
def test_cvar_moves_with_the_scores(scores, alpha):
    c = cvar(scores, alpha)
    assert cvar(np.array(scores) * 2 + 3, alpha) == pytest.approx(2 * c + 3)


@given(samples, shares)
def test_cvar_is_the_integral_of_the_quantile_function(scores, alpha):
    """Checked against a fine sum, which knows nothing of our weights."""
    p = alpha + (1 - alpha) * (np.arange(20_000) + 0.5) / 20_000
    assert cvar(scores, alpha) == pytest.approx(quantile(scores, p).mean(), abs=0.05)


CUTS = np.array([[0.9, 0.1, 0.5], [0.7, 1e-9, 1 - 1e-9]])


@pytest.mark.parametrize("tail", ["upper", "lower"])
@pytest.mark.parametrize("definition", ["integral", "conditional"])
@given(scores=samples)
def test_many_cuts_at_once_are_each_alone(tail, definition, scores):
    """In any order and shape, ties included."""
    found = cvar(scores, CUTS, tail=tail, definition=definition)
    alone = [cvar(scores, a, tail=tail, definition=definition) for a in CUTS.ravel()]
    assert found.shape == CUTS.shape
    np.testing.assert_allclose(found.ravel(), alone, rtol=1e-12, atol=1e-12)


@given(samples, shares)
def test_cvar_is_the_weighted_sum_of_its_definition(scores, alpha):
    """Trial i holds the mass from (i - 1)/n to i/n, weighing what is in the tail."""
    z, edges = np.sort(scores), np.arange(len(scores) + 1) / len(scores)
    upper = np.diff(np.maximum(edges, alpha)) @ z / (1 - alpha)
    lower = np.diff(np.minimum(edges, alpha)) @ z / alpha
    assert cvar(scores, alpha) == pytest.approx(upper, abs=1e-9)
    assert cvar(scores, alpha, tail="lower") == pytest.approx(lower, abs=1e-9)


def test_one_cut_gives_a_number_and_many_give_an_array():
    assert isinstance(cvar(TEN, 0.5), float)
    assert isinstance(cvar(TEN, np.float64(0.5)), float)
    assert cvar(TEN, [0.5]).tolist() == [8.0]
    assert cvar(TEN, []).shape == (0,)


def test_cuts_at_the_very_ends_stay_among_the_scores():
    smallest, largest = np.nextafter(0, 1), np.nextafter(1, 0)
    assert cvar(TEN, largest) == 10
    assert cvar(TEN, smallest, tail="lower") == 1
    assert cvar(TEN, smallest) == pytest.approx(5.5)
    assert cvar(TEN, largest, tail="lower") == pytest.approx(5.5)


def test_a_grid_of_cuts_through_many_scores_is_as_quick_as_adding_them_up():
    """513 cuts of a million scores: a table of both would be 4 GB."""
    z = np.linspace(0, 1, 1_000_001)
    alpha = np.arange(1, 514) / 514
    np.testing.assert_allclose(cvar(z, alpha), (1 + alpha) / 2, atol=1e-6)
    np.testing.assert_allclose(cvar(z, alpha, tail="lower"), alpha / 2, atol=1e-6)


def test_the_mean_is_the_mean():
    assert mean([3, 1, 2]) == 2
    assert isinstance(mean([1]), float)


@pytest.mark.paper
def test_the_printed_threshold_statistic_rewards_missing_it():
    assert threshold([-2, -1], -3).partial == -1.5
    assert threshold([-2, -1], -1.5).partial == -0.5
    assert threshold([-2, -1], -3).excess == 1.5
    assert threshold([-2, -1], -1.5).excess == 0.25


def test_a_threshold_that_nobody_reaches():
    found = threshold([1, 2], 3)
    assert (found.probability, found.partial, found.excess) == (0, 0, 0)
    assert np.isnan(found.mean_reached)


def test_any_functional_sees_sorted_scores():
    assert functional([3, 1, 2], lambda z: z[0]) == 1


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: quantile([1], 2), "p"),
        (lambda: cvar([1], 1), "alpha"),
        (lambda: cvar([1], [0.5, 0.0]), "alpha"),
        (lambda: cvar([1], [0.5, np.nan]), "alpha"),
        (lambda: cvar([1], ["0.5"]), "alpha"),
        (lambda: cvar([1], "0.5"), "alpha"),
        (lambda: mean([]), "scores"),
        (lambda: threshold([1], np.inf), "z"),
        (lambda: threshold([1], np.nan), "z"),
        (lambda: threshold([1], "x"), "z"),
        (lambda: cvar([1], 0.5, tail="up"), "tail"),
        (lambda: cvar([1], 0.5, definition="x"), "definition"),
        (lambda: sorted_scores([]), "scores"),
        (lambda: sorted_scores([[1]]), "scores"),
        (lambda: sorted_scores([1, np.nan]), "scores"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument


def test_lists_of_different_lengths_are_named():
    with pytest.raises(CurvewiseError) as refused:
        cvar([1, 2], [[0.1, 0.2], [0.3]])
    assert refused.value.argument == "alpha"
    with pytest.raises(CurvewiseError) as refused:
        quantile([1, 2], "a")
    assert refused.value.argument == "p"
