"""Intervals of one matrix: values known from elsewhere, and what must hold of all."""

import tracemalloc

import numpy as np
import pytest
from facts import facts, refused
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from curvewise import metrics
from curvewise.stats.counts import (
    accuracy_interval,
    counts_matrix,
    draw_matrices,
    error_interval,
    f1_density,
    f1_interval,
    f_beta_interval,
    jaccard_interval,
    precision_interval,
    recall_interval,
    specificity_interval,
)
from curvewise.stats.counts.posterior import beta_ends, f_beta_ends, jacobi_rule

# tp, fp, fn, tn, prior: intervals that another program computed, and for F1 what Eq. (28)
# of Xue et al. (2025) gives as printed.
KNOWN = [
    (
        (40, 12, 9, 60, "uniform"),
        {
            "f1": (0.6844409024279994, 0.8588752379814112),
            "printed": (0.5202661770886654, 0.7526567353267374),
            "precision": (0.6379040768369847, 0.8624488244476837),
            "recall": (0.6856305887143497, 0.899697762527429),
            "error_paper": (0.11659763166404323, 0.25100488654347525),
            "error": (0.12136527859981953, 0.25620113288258917),
        },
    ),
    (
        (5, 3, 2, 3, "uniform"),
        {
            "f1": (0.3483968326512571, 0.8394563808322414),
            "printed": (0.21094463823929666, 0.7233303143178942),
            "precision": (0.29929505620854036, 0.8630043377348335),
            "recall": (0.3491442055871758, 0.9147665858627465),
            "error_paper": (0.1766110899821179, 0.6486198893840083),
            "error": (0.19753414053266788, 0.6456539056979218),
        },
    ),
    (
        (200, 30, 40, 157, "jeffreys"),
        {
            "f1": (0.8128515478897809, 0.8820213131412179),
            "printed": (0.6847092682005307, 0.7889428694025101),
            "precision": (0.8215078249754746, 0.9083955793901288),
            "recall": (0.7823284612991889, 0.8763573765478399),
            "error": (0.13189214459447757, 0.2020630026237037),
        },
    ),
]
ALL = {
    "error": error_interval,
    "accuracy": accuracy_interval,
    "precision": lambda tp, fp, fn, tn, **how: precision_interval(tp, fp, **how),
    "recall": lambda tp, fp, fn, tn, **how: recall_interval(tp, fn, **how),
    "specificity": lambda tp, fp, fn, tn, **how: specificity_interval(tn, fp, **how),
    "f1": lambda tp, fp, fn, tn, **how: f1_interval(tp, fp, fn, **how),
    "f_beta": lambda tp, fp, fn, tn, **how: f_beta_interval(tp, fp, fn, beta=2, **how),
    "jaccard": lambda tp, fp, fn, tn, **how: jaccard_interval(tp, fp, fn, **how),
}
A_COUNT = st.one_of(st.integers(0, 40), st.integers(0, 10**7), st.floats(0.001, 1000))
FOUR = st.tuples(A_COUNT, A_COUNT, A_COUNT, A_COUNT)
A_PRIOR = st.sampled_from(["jeffreys", "uniform", "paper", 0.1, 3])
SETTINGS = {"f_beta": {"beta": 2}}


@pytest.mark.paper
@pytest.mark.parametrize(("given_", "known"), KNOWN)
def test_known_intervals(given_, known):
    tp, fp, fn, tn, prior = given_
    found = {
        "f1": f1_interval(tp, fp, fn, prior=prior),
        "printed": jaccard_interval(tp, fp, fn, prior=prior),
        "precision": precision_interval(tp, fp, prior=prior),
        "recall": recall_interval(tp, fn, prior=prior),
        "error": error_interval(tp, fp, fn, tn, prior=prior),
        "error_paper": error_interval(tp, fp, fn, tn, prior="paper"),
    }
    for name, ends in known.items():
        assert tuple(found[name]) == pytest.approx(ends, abs=1e-8), name


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "prior", "ends"),
    [
        (40, 12, 9, "uniform", (0.6844, 0.8589)),
        (30, 10, 15, "uniform", (0.5781, 0.7953)),
        (5, 3, 2, 1, (0.3484, 0.8395)),
        (400, 30, 60, 0.5, (0.8760, 0.9177)),
        (400, 30, 60, "jeffreys", (0.8760, 0.9177)),
    ],
)
def test_known_intervals_of_f1(tp, fp, fn, prior, ends):
    assert tuple(f1_interval(tp, fp, fn, prior=prior)) == pytest.approx(ends, abs=5e-5)


@pytest.mark.parametrize(("given_", "known"), KNOWN[::2])
def test_the_interval_as_printed_misses_f1(given_, known):
    """The negative control: without its 1/2, Eq. (28) is about another index."""
    tp, fp, fn, _tn, prior = given_
    f1 = f1_interval(tp, fp, fn, prior=prior)
    assert f1.covers(f1.value)
    low, high = known["printed"]
    assert not low <= f1.value <= high
    assert low <= tp / (tp + fp + fn) <= high


def test_the_papers_prior_is_the_uniform_one_but_for_error():
    for name, interval in ALL.items():
        paper, uniform = (interval(7, 3, 2, 9, prior=p) for p in ("paper", "uniform"))
        is_same = paper.lower == uniform.lower
        assert is_same == (name not in {"error", "accuracy"})


@given(FOUR, A_PRIOR, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_ends_are_inside_of_0_and_1_and_grow_with_confidence(counts, prior, confidence):
    for name, interval in ALL.items():
        found = interval(*counts, prior=prior, confidence=confidence)
        wider = interval(*counts, prior=prior, confidence=(1 + confidence) / 2)
        assert 0 <= wider.lower <= found.lower <= found.upper <= wider.upper <= 1, name


@given(FOUR, A_PRIOR)
def test_what_mirrors_what(counts, prior):
    tp, fp, fn, tn = counts
    error = error_interval(*counts, prior=prior)
    accuracy = accuracy_interval(*counts, prior=prior)
    assert (1 - accuracy.upper, 1 - accuracy.lower) == pytest.approx(
        tuple(error), abs=1e-12
    )
    assert accuracy.value == pytest.approx(1 - error.value)
    # Recall is the precision of the transposed matrix, and specificity the recall of the
    # other class; F1 does not tell false positives from false negatives.
    same = pytest.approx
    assert tuple(recall_interval(tp, fn, prior=prior)) == same(
        tuple(precision_interval(tp, fn, prior=prior))
    )
    assert tuple(specificity_interval(tn, fp, prior=prior)) == same(
        tuple(recall_interval(tn, fp, prior=prior))
    )
    assert tuple(f1_interval(tp, fp, fn, prior=prior)) == same(
        tuple(f1_interval(tp, fn, fp, prior=prior))
    )
    assert tuple(f_beta_interval(tp, fp, fn, beta=0.5, prior=prior)) == same(
        tuple(f_beta_interval(tp, fn, fp, beta=2, prior=prior)), abs=1e-10
    )
    jaccard = jaccard_interval(tp, fp, fn, prior=prior)
    low, high = f1_interval(tp, fp, fn, prior=prior)
    assert (low, high) == same(tuple(2 * j / (1 + j) for j in jaccard))


@given(FOUR)
def test_values_are_those_of_the_metrics(counts):
    for name, interval in ALL.items():
        of_matrix = getattr(metrics, name)(
            counts_matrix(*counts), **SETTINGS.get(name, {})
        )
        assert interval(*counts).value == pytest.approx(float(of_matrix), abs=1e-12)


@given(FOUR, A_PRIOR)
def test_more_true_positives_lift_f1(counts, prior):
    tp, fp, fn, _tn = counts
    less, more = f1_interval([tp, tp + 1], fp, fn, prior=prior)
    assert less[1] >= less[0] - 1e-12
    assert more[1] >= more[0] - 1e-12


@pytest.mark.parametrize("prior", ["jeffreys", "uniform", 2.5])
def test_they_are_quantiles_of_what_the_posterior_draws(prior):
    counts, draws = np.array([[23.5, 6], [4, 11]]), 150_000
    rng = np.random.default_rng(1)
    drawn = draw_matrices(counts, draws=draws, rng=rng, prior=prior)
    tn, fp, fn, tp = counts.ravel()
    noise = 5 * np.sqrt(0.05 * 0.95 / draws)  # one false alarm in a million
    for name, interval in ALL.items():
        low, high = interval(tp, fp, fn, tn, prior=prior, confidence=0.9)
        rates = getattr(metrics, name)(drawn, **SETTINGS.get(name, {}))
        assert (rates < low).mean() == pytest.approx(0.05, abs=noise), name
        assert (rates > high).mean() == pytest.approx(0.05, abs=noise), name


def test_the_printed_posterior_of_the_error_is_not_what_is_drawn():
    """The negative control: Eq. (10) and the posterior of the others are of two priors."""
    rng = np.random.default_rng(1)
    counts = [[3, 3], [2, 5]]
    drawn = metrics.error(draw_matrices(counts, draws=100_000, rng=rng, prior="paper"))
    low, _ = error_interval(5, 3, 2, 3, prior="paper")
    assert (drawn < low).mean() < 0.02
    low, _ = error_interval(5, 3, 2, 3, prior="uniform")
    assert (drawn < low).mean() == pytest.approx(0.025, abs=0.0025)


def test_counts_are_broadcast_and_one_matrix_gives_numbers():
    one = f1_interval(40, 12, 9)
    assert isinstance(one.lower, float)
    assert facts(one) == [0.7921, 0.6898, 0.864]
    assert one.half_width == pytest.approx((one.upper - one.lower) / 2)
    many = f1_interval(np.arange(1, 4)[:, None], [5, 40], 9)
    assert many.lower.shape == many.value.shape == (3, 2)
    assert many.lower[2, 1] == pytest.approx(float(f1_interval(3, 40, 9).lower))
    assert facts(many) == [6, 0.95]
    assert f1_interval([], [], []).lower.shape == (0,)
    assert many.covers(0.2).shape == (3, 2)


def test_answers_say_what_they_are():
    found = recall_interval([9, 0, 8], [1, 0, 0])
    assert facts(found.guarantee) == [95, 0.5]
    assert found.monte_carlo_error == 0
    assert (found.undefined, found.outside) == (1, 1)
    fine = recall_interval(9, 1)
    assert (fine.undefined, fine.outside) == (0, 0)
    assert facts(recall_interval(9, 1, prior=2).guarantee) == [95, 2]
    # What no example tells of is what the prior says.
    prior = special.betaincinv(0.5, 0.5, [0.025, 0.975])
    assert [found.lower[1], found.upper[1]] == pytest.approx(list(prior))


@pytest.mark.parametrize("tail", [1e-9, 1e-4, 0.025, 0.25, 0.4999])
def test_ends_of_beta_distributions_are_scipys(tail):
    rng = np.random.default_rng(0)
    a, b = 10 ** rng.uniform(-1, 6, (2, 20_000))
    low, high = beta_ends(a, b, tail)
    sd = np.sqrt(a * b / (a + b + 1)) / (a + b)
    assert np.abs((low - special.betaincinv(a, b, tail)) / sd).max() < 1e-9
    assert np.abs((high - special.betainccinv(a, b, tail)) / sd).max() < 1e-9


def test_a_guess_of_the_ends_alone_would_not_do():
    """The negative control: the step that follows the guess is what makes it exact."""
    from curvewise.stats.counts.posterior import first_guess

    a, b = np.array([6.0]), np.array([30.0])
    guess = special.expit(np.log(a / b) + first_guess(a, b, special.ndtri(0.025)))
    gap = np.abs(guess - special.betaincinv(a, b, 0.025)) / 0.06
    assert 1e-5 < gap < 1e-1


def test_a_million_matrices_take_little_more_than_their_answer():
    rng = np.random.default_rng(0)
    tp, fp, fn, _ = rng.multinomial(300, [0.3, 0.1, 0.1, 0.5], 1_000_000).T.astype(
        float
    )

    def peak(size):
        tracemalloc.start()
        kept = f1_interval(tp[:size], fp[:size], fn[:size])
        left, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert np.isfinite(kept.lower).all()
        return most - left, left

    (few, _), (many, kept) = peak(200_000), peak(1_000_000)
    assert kept < 25e6  # three arrays of a million
    # What is held besides does not grow, but for a byte a number of what is checked.
    assert many - few < 3e6
    assert many < 15e6


# --- F-beta by quadrature, and the density of F1 --------------------------------------

MATRICES = np.array(
    [
        *((40, 12, 9), (5, 3, 2), (0, 0, 0), (0, 5, 7), (30, 0, 0), (1, 0, 20)),
        *(
            (1, 20, 0),
            (4000, 300, 900),
            (0.3, 0.1, 0.2),
            (1e6, 2e5, 3e5),
            (1, 1e5, 1e5),
        ),
    ]
).T


@pytest.mark.paper
@pytest.mark.parametrize("prior", ["jeffreys", "uniform", 3])
@pytest.mark.parametrize("counts", [(40, 12, 9), (5, 3, 2), (200, 30, 40), (2, 0.5, 7)])
def test_the_density_integrates_to_1_and_its_quantiles_are_ours(counts, prior):
    def mass(start, end):
        return integrate.quad(
            lambda x: f1_density(x, *counts, prior=prior),
            *(start, end),
            limit=200,
            epsabs=1e-12,
        )[0]

    low, high = f1_interval(*counts, prior=prior)
    assert mass(0, low) == pytest.approx(0.025, abs=1e-9)
    assert mass(low, high) == pytest.approx(0.95, abs=1e-9)
    assert mass(high, 1) == pytest.approx(0.025, abs=1e-9)
    # The negative control: the interval as printed has other tails.
    below, _above = jaccard_interval(*counts, prior=prior)
    assert mass(0, below) < 0.02


def test_the_density_at_its_edges():
    assert f1_density([-0.1, 1.1], 5, 3, 2).tolist() == [0, 0]
    assert f1_density(0, 0, 3, 2) == np.inf  # x^(-1/2)
    assert f1_density(0, 0, 3, 2, prior="uniform") == pytest.approx(7 / 2)
    assert f1_density(1, 5, 3, 2) == 0
    assert f1_density(np.ones((3, 1)), [1, 2], 3, 2).shape == (3, 2)
    assert np.isfinite(f1_density(0.5, 1e9, 1e9, 1e9))
    for x in ([0.5, np.nan], [0.1, 0.2, 0.3], "half"):
        with refused("x", x):
            f1_density(x, [5, 6], 3, 2)


@pytest.mark.parametrize("beta", [0.1, 0.5, 2, 5, 10])
def test_f_beta_is_what_is_drawn(beta):
    draws, square = 400_000, beta**2
    rng = np.random.default_rng(7)
    found = f_beta_interval(*MATRICES, beta=beta)
    noise = 5.2 * np.sqrt(0.025 * 0.975 / draws)
    for (tp, fp, fn), low, high in zip(
        MATRICES.T[:8], found.lower, found.upper, strict=False
    ):
        g = rng.standard_gamma(np.array([[tp], [fp], [fn]]) + 0.5, (3, draws))
        drawn = (1 + square) * g[0] / ((1 + square) * g[0] + square * g[2] + g[1])
        assert (drawn < low).mean() == pytest.approx(0.025, abs=noise)
        assert (drawn > high).mean() == pytest.approx(0.025, abs=noise)


@pytest.mark.parametrize(
    "beta",
    [*(pytest.param(b, marks=pytest.mark.slow) for b in (0.1, 0.5, 0.9)), 2, 4, 10],
)
def test_more_nodes_change_nothing(beta, monkeypatch):
    found = np.array(tuple(f_beta_interval(*MATRICES, beta=beta)))
    monkeypatch.setattr("curvewise.stats.counts.posterior._nodes", lambda square: 150)
    most = np.array(tuple(f_beta_interval(*MATRICES, beta=beta)))
    assert found == pytest.approx(most, abs=1e-9)
    # The negative control: too few do.
    monkeypatch.setattr("curvewise.stats.counts.posterior._nodes", lambda square: 2)
    fewest = np.array(tuple(f_beta_interval(*MATRICES, beta=beta)))
    assert np.abs(fewest - found).max() > 1e-7


def test_f_beta_joins_f1_and_goes_between_precision_and_recall():
    near = np.array(tuple(f_beta_interval(*MATRICES, beta=1 + 1e-7)))
    assert near == pytest.approx(np.array(tuple(f1_interval(*MATRICES))), abs=1e-7)
    assert tuple(f_beta_interval(40, 12, 9, beta=1)) == tuple(f1_interval(40, 12, 9))
    low = [f_beta_interval(40, 30, 3, beta=b).lower for b in (0.1, 0.5, 2, 10)]
    assert low == sorted(low)
    assert low[0] == pytest.approx(precision_interval(40, 30).lower, abs=0.01)
    assert low[-1] == pytest.approx(recall_interval(40, 3).lower, abs=0.01)


@pytest.mark.parametrize("tail", [1e-12, 1e-6, 0.4999])
def test_f_beta_far_out(tail):
    low, high = f_beta_ends(*(MATRICES + 0.5), 4.0, tail)
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()


@pytest.mark.parametrize(
    ("p", "q"), [(0.5, 0.5), (1, 1), (1.5, 0.5), (40, 3), (1e5, 2)]
)
def test_the_rule_averages_polynomials_exactly(p, q):
    nodes, weights = jacobi_rule(np.array([p]), np.array([q]), 8)
    for degree in range(16):
        moment = np.exp(special.betaln(p + degree, q) - special.betaln(p, q))
        assert (weights * nodes**degree).sum() == pytest.approx(moment, rel=1e-9)
