"""F-beta by quadrature, and the density of F1."""

import numpy as np
import pytest
from scipy import integrate, special

from curvewise.errors import CurvewiseError
from curvewise.stats.counts import (
    f1_density,
    f1_interval,
    f_beta_interval,
    jaccard_interval,
    precision_interval,
    recall_interval,
)
from curvewise.stats.counts.posterior import f_beta_ends, jacobi_rule

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
    with pytest.raises(CurvewiseError, match="x holds NaN"):
        f1_density([0.5, np.nan], 5, 3, 2)
    with pytest.raises(CurvewiseError, match=r"x has shape \(3,\)"):
        f1_density([0.1, 0.2, 0.3], [5, 6], 3, 2)
    with pytest.raises(CurvewiseError, match="Pass numbers"):
        f1_density("half", 5, 3, 2)


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
