"""Count curves as published, down to the table that the paper prints."""

import runpy
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import blocks_of_normals as normals
import numpy as np
import pytest
from counts_of_power_laws import counts_of, power_law
from scipy.special import betaincinv
from support import assert_at_least

from curvewise.stats.confusion.data import subset
from curvewise.stats.confusion.draws import Asked, even_points
from curvewise.stats.confusion.paper import GAMMAS, fit_paper

SCRIPT = Path(__file__).parents[3] / "scripts" / "coverage_confusion.py"
simulation = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
SIZES = 40.0 * 2 ** np.arange(6)
AT = np.array([30.0, 200.0, 5000.0])


def table(curves=3, seed=0, **how):
    rng = np.random.default_rng(seed)
    return counts_of(curves, SIZES, power_law(SIZES), rng, has_examples=False, **how)


def test_with_many_examples_the_exponent_comes_back():
    """The penalty is of five units of likelihood: no bias is left where data are many."""
    logits = power_law(SIZES, -0.9)
    rng = np.random.default_rng(1)
    own = counts_of(20, SIZES, logits, rng, per_class=20_000, runs=1, spread=0.0)
    found = fit_paper(own).gamma
    assert abs(found.mean() + 0.9) < 0.05
    held = fit_paper(table(20, per_class=20, runs=1)).gamma
    assert (held == -0.5).mean() > 0.5  # the negative control: with few, it decides


def test_the_exponent_maximises_the_penalised_likelihood():
    own = table(4)
    chosen = fit_paper(own)
    free = fit_paper(own, tau=0.0)
    pinned = fit_paper(own, tau=1e6)
    assert (pinned.gamma == -0.5).all()
    assert np.isin(chosen.gamma, GAMMAS).all()
    assert (np.abs(chosen.gamma + 0.5) <= np.abs(free.gamma + 0.5) + 1e-12).all()


def test_the_virtual_matrix_is_of_a_third_of_the_size():
    fit = fit_paper(table())
    seen = fit.virtual(AT)
    np.testing.assert_allclose(seen.sum((-2, -1)), np.broadcast_to(AT / 3, (3, 3)))
    right = np.diagonal(seen, axis1=-2, axis2=-1) / seen.sum(-1)
    np.testing.assert_allclose(right, fit.recalls(AT))
    np.testing.assert_allclose(fit.virtual(AT, 60.0).sum((-2, -1)), 60.0)


def test_error_is_a_beta_of_wrong_and_right_answers():
    fit = fit_paper(table())
    (tn, fp), (fn, tp) = np.moveaxis(fit.virtual(AT), (-2, -1), (0, 1))
    low, high = fit.interval("error", AT, None, 0.9, {})
    np.testing.assert_allclose(low, betaincinv(fp + fn + 1, tp + tn + 1, 0.05))
    np.testing.assert_allclose(high, betaincinv(fp + fn + 1, tp + tn + 1, 0.95))


def test_f1_has_the_factor_that_the_paper_lacks():
    fit = fit_paper(table())
    (_, fp), (fn, tp) = np.moveaxis(fit.virtual(AT), (-2, -1), (0, 1))
    low, high = fit.interval("f1", AT, None, 0.95, {})
    point = 2 * tp / (2 * tp + fp + fn)
    assert ((low < point) & (point < high)).all()
    # U is a beta prime: U / (1 + U) is a beta.
    share = betaincinv(fp + fn + 2, tp + 1, 0.025)
    u = share / (1 - share)
    np.testing.assert_allclose(high, 1 / (1 + u / 2))
    printed = 1 / (1 + u)
    assert (printed < high - 0.02).all()


@pytest.mark.parametrize("name", ["mcc", "kappa", "balanced_accuracy"])
def test_metrics_without_closed_form_are_drawn(name):
    fit = fit_paper(table())
    low, high = fit.interval(name, AT, None, 0.95, {})
    assert low.shape == high.shape == (3, 3)
    assert (low < high).all()
    assert (np.diff(high - low, axis=1) < 0).all()


def test_draws_agree_with_closed_forms():
    fit = fit_paper(table(1))
    whole = fit.interval("precision", AT, None, 0.95, {})
    drawn = fit.interval("precision", AT, None, 0.95, {"average": None})
    np.testing.assert_allclose(whole, drawn, atol=0.005)


def test_draws_of_recalls_are_of_their_betas():
    fit = fit_paper(table())
    asked = Asked(AT, "mean", np.full((3, 3), 100.0), np.ones((3, 3)))
    drawn = fit.draw(asked, even_points(6, 1024))
    assert ((drawn >= 0) & (drawn <= 1)).all()
    low, _ = fit.interval("recall", AT, None, 0.95, {})
    np.testing.assert_allclose(
        np.quantile(drawn[..., 1], 0.025, axis=0), low, atol=0.01
    )


def test_a_batch_is_its_curves_one_by_one_and_sizes_know_no_order():
    own = table(5)
    every = fit_paper(own)
    for i in range(5):
        one = fit_paper(subset(own, np.array([i])))
        assert one.gamma[0] == every.gamma[i]
        np.testing.assert_allclose(one.recalls(AT)[0], every.recalls(AT)[i], atol=1e-9)


def test_more_classes_have_intervals_of_their_averages():
    rng = np.random.default_rng(3)
    logits = power_law(SIZES, -0.5, (2.0, 1.5, 1.0), (2.0, 2.0, 1.0))
    fit = fit_paper(counts_of(2, SIZES, logits, rng, has_examples=False))
    low, high = fit.interval("f1", AT, None, 0.95, {"average": "macro"})
    assert ((low > 0) & (low < high) & (high < 1)).all()


def test_an_exponent_above_0_is_a_concern():
    rng = np.random.default_rng(3)
    rising = 0.002 * SIZES[:, None] * np.ones(2)
    fit = fit_paper(counts_of(1, SIZES, rising, rng, has_examples=False))
    assert fit.gamma[0] > 0
    both = ["published_bands", "rising_exponent"]
    assert [own.kind for own in fit.concerns_at(AT)] == both
    assert [own.kind for own in fit_paper(table(1)).concerns_at(AT)] == both[:1]


@cache
def lengths_and_hits(learner, replications):
    blocks = normals.in_parts(learner, replications, seed=2)
    found = simulation.coverage(blocks, learner, "observed", method="paper")
    return found["error"]


def assert_table_3(learner, replications):
    hits, lengths = lengths_and_hits(learner, replications)
    printed = simulation.PRINTED_LENGTHS[learner]
    for place, (own, theirs) in enumerate(zip(lengths, printed, strict=True)):
        # The data of the paper are not defined; ours differ most for small samples of NB.
        within = 0.035 if (learner, place) == ("NB", 0) else 0.01
        assert own == pytest.approx(theirs, abs=within)
    rates = hits / replications
    # What chance may add to the .06 asked for: three standard errors.
    slack = 3 * np.sqrt(rates * (1 - rates) / replications)
    printed = np.array(simulation.PRINTED_COVERAGE[learner])
    assert (np.abs(rates - printed) <= 0.06 + slack).all()


@pytest.mark.paper
@pytest.mark.parametrize("learner", ["LDA", "NB"])
def test_table_3_comes_out(learner):
    assert_table_3(learner, 300 if learner == "LDA" else 200)


@pytest.mark.paper
@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "count"), [("LDA", 2000), ("NB", 2000), ("TREE", 300)]
)
def test_table_3_comes_out_in_full(learner, count):
    assert_table_3(learner, count)


def test_the_published_band_fails_for_large_training_sets():
    """Why there is another one: at 1280 it should hold .95 of the time, and does .8."""
    hits, _ = lengths_and_hits("LDA", 300)
    assert_at_least(hits[0], 300, 0.98)
    with pytest.raises(AssertionError):
        assert_at_least(hits[5], 300, 0.92)
