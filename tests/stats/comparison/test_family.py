import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from curvewise.errors import CurvewiseError
from curvewise.stats.comparison import difference, holm, shared_confidence


def test_more_members_ask_for_more_of_each():
    """A peer adds what it should subtract: ten comparisons at 95.5 % each."""
    shared = [shared_confidence(0.95, k) for k in (1, 2, 10, 100)]
    assert shared == pytest.approx([0.95, 0.975, 0.995, 0.9995])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_values_are_between_plain_and_bonferroni_and_keep_their_order(p):
    values, adjusted = np.array(p), holm(p)
    assert (adjusted >= values - 1e-12).all()
    assert (adjusted <= np.minimum(len(p) * values, 1) + 1e-12).all()
    order = np.argsort(values, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.01, 0.99))
def test_it_rejects_what_stepping_down_rejects(p, level):
    """Holm's own words: go from the smallest on while p <= level / how many are left."""
    rejected = np.zeros(len(p), dtype=bool)
    for left, i in zip(range(len(p), 0, -1), np.argsort(p, kind="stable"), strict=True):
        if left * p[i] > level:
            break
        rejected[i] = True
    assert (holm(p) <= level).tolist() == rejected.tolist()


def errors_in_family(confidence, rng, reps=150, members=10):
    """Return in how many families of true equalities an interval says otherwise."""
    return sum(
        any(
            0 not in difference(*rng.random((2, 100)), confidence=confidence)
            for _ in range(members)
        )
        for _ in range(reps)
    )


def test_a_family_at_shared_confidence_errs_as_seldom_as_it_says():
    wrong = errors_in_family(shared_confidence(0.95, 10), np.random.default_rng(1))
    assert binomtest(wrong, 150, 0.07, alternative="greater").pvalue > 1e-6


def test_an_uncorrected_family_and_the_peers_would_not():
    """The negative controls: ten times 95 %, and ten times 95.5 %."""
    for confidence in (0.95, 0.955):
        wrong = errors_in_family(confidence, np.random.default_rng(2))
        assert wrong / 150 > 0.25


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: shared_confidence(0.95, 0), "members"),
        (lambda: shared_confidence(95, 2), "confidence"),
        (lambda: holm([0.5, 1.5]), "p"),
        (lambda: holm([np.nan]), "p"),
        (lambda: holm(["x"]), "p"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument
