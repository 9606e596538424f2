"""Refits of curves whose points move."""

import numpy as np
import pytest

from curvewise import CurvewiseError
from curvewise.stats.learning import stability
from curvewise.stats.powerlaw import fit_power_law

N = np.array([50.0, 100, 200, 400])
MEANS = 0.12 + 1.9 * N**-0.57
SDS = np.sqrt(2e-6 + 2.5e-3 / N)


def found(seed=1, **options):
    return stability(N, MEANS, SDS, rng=np.random.default_rng(seed), **options)


def test_without_noise_nothing_moves():
    still = stability(N, MEANS, 0 * N, repeats=5, rng=np.random.default_rng(1))
    law = fit_power_law(N, MEANS)
    assert all(np.ptp(x) == 0 for x in (still.errors, still.exponents))
    assert still.errors[0, 0] == pytest.approx(law.e_N)
    assert still.reliances[0, 0] == pytest.approx(law.beta_N)
    np.testing.assert_allclose(still.predictions[0, 0], law.error([25, 1600]))


def test_the_same_seed_gives_the_same_refits_and_another_others():
    assert (found().errors == found().errors).all()
    assert (found().errors != found(2).errors).any()


@pytest.mark.parametrize("options", [{}, {"method": "paper"}])
def test_each_refit_is_that_of_one_curve(options):
    """Batched refits are those of `fit_power_law`, one by one."""
    few = found(repeats=4, **options)
    drawn = MEANS + SDS * np.random.default_rng(1).standard_normal((1, 4, 4))
    for k in range(4):
        law = fit_power_law(N, drawn[0, k], **options)
        assert few.errors[0, k] == pytest.approx(law.e_N)
        assert few.exponents[0, k] == pytest.approx(law.gamma)


@pytest.mark.paper
def test_error_and_reliance_are_stable_where_alpha_and_extrapolations_are_not():
    """What Figure 2 (right) of Hoiem et al. is there to show."""
    sd = {k: v[0] for k, v in found(repeats=400, method="paper").sd.items()}
    assert sd["e_N"] < sd["beta_N"] < sd["alpha"]
    assert sd["e_N"] < sd["e at 1,600"] < sd["alpha"]
    assert sd["e at 25"] > 2 * sd["e_N"]


def test_twice_the_noise_moves_twice_as_much():
    one = found(repeats=300, terms="linear").sd["e_N"][0]
    rng = np.random.default_rng(1)
    two = stability(N, MEANS, 2 * SDS, repeats=300, terms="linear", rng=rng).sd["e_N"][
        0
    ]
    assert two == pytest.approx(2 * one, rel=0.05)


def test_many_curves_percent_and_rows():
    rng = np.random.default_rng(3)
    many = stability(
        N[::-1],
        100 * np.stack([MEANS, MEANS + 0.1])[:, ::-1],
        100 * SDS[::-1],
        repeats=20,
        unit="percent",
        rng=rng,
    )
    assert many.errors.shape == (2, 20)
    assert many.errors.mean() == pytest.approx(100 * MEANS[-1] + 5, rel=0.05)
    assert [row["of"] for row in many.rows()][:3] == ["e_N", "beta_N", "gamma"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"means": MEANS[:3]}, "4 sizes"),
        (
            {"means": [[0.5] * 4] * 3, "sds": [[0.1] * 4] * 2},
            "3 curves",
        ),
        ({"means": 100 * np.asarray(MEANS)}, "unit='fraction'"),
        ({"means": -np.asarray(MEANS)}, "unit='fraction'"),
        ({"sds": -SDS}, "sds holds"),
        ({"repeats": 1}, "repeats is 1"),
        ({"to": 0}, "to holds 0"),
        ({"rng": 1}, "rng is 1"),
    ],
)
def test_what_is_refused(change, words):
    asked = {
        "sizes": N,
        "means": MEANS,
        "sds": SDS,
        "rng": np.random.default_rng(1),
        **change,
    }
    with pytest.raises(CurvewiseError, match=words):
        stability(**asked)
