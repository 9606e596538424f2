"""The fit of Hoiem et al. (2021), against what they print."""

import csv
from pathlib import Path

import numpy as np
import pytest
from support import data

from curvewise.errors import CurvewiseError
from curvewise.stats.powerlaw import PowerLaw, fit_power_law, fit_power_laws, light_fit

TABLE = Path(__file__).parents[2] / "assets" / "hoiem2021_table3.csv"
with TABLE.open(encoding="utf-8") as file:
    ROWS = [
        {
            k: v if k in ("block", "label", "dataset", "arch") else float(v)
            for k, v in r.items()
        }
        for r in csv.DictReader(file)
    ]


def cifar(learner):
    errors = {}
    with data("learning_curves/hoiem_cifar100.csv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["learner"] == learner:
                errors.setdefault(int(row["n_per_class"]), []).append(
                    float(row["error_percent"])
                )
    return list(errors), list(errors.values())


PRINTED = {
    "no_pretr_linear": "No Pretr; Linear",
    "no_pretr_ft": "No Pretr; Finetune",
    "pretr_linear": "Pretr; Linear",
    "pretr_ft": "Pretr; Finetune",
}


@pytest.mark.paper
@pytest.mark.parametrize("learner", PRINTED)
def test_the_authors_curves_come_back_as_printed(learner):
    law = fit_power_law(*cifar(learner), unit="percent", method="paper")
    row = next(
        r
        for r in ROWS
        if r["block"] == "PRETRAIN_IN2CIFAR" and r["label"] == PRINTED[learner]
    )
    assert law.gamma == row["gamma"]
    for name, ours in (
        ("alpha", law.alpha),
        ("eta", law.eta),
        ("e400", law.e_N),
        ("beta400", law.beta_N),
    ):
        assert ours == pytest.approx(row[name], abs=0.00501), name
    assert law.size == 400
    assert law.extrapolation_limit == 1600


@pytest.mark.paper
def test_one_curve_to_more_digits_than_printed():
    law = fit_power_law(*cifar("no_pretr_ft"), unit="percent", method="paper")
    found = [law.alpha, law.eta, law.gamma, law.e_N, law.beta_N]
    assert found == pytest.approx([5.6835, 259.286, -0.41, 27.9133, 18.2284], rel=5e-6)


@pytest.mark.paper
def test_other_weights_do_not_give_the_printed_curve():
    """The negative control: the weights of the paper are what makes it the paper's."""
    for weights in ("efficient", "equal"):
        law = fit_power_law(
            *cifar("no_pretr_ft"), unit="percent", method="paper", weights=weights
        )
        assert abs(law.alpha - 5.68) > 0.1


@pytest.mark.paper
def test_all_42_rows_of_table_3_follow_from_error_reliance_and_exponent():
    assert len(ROWS) == 42
    for row in ROWS:
        law = PowerLaw.from_summary(
            row["e400"], row["beta400"], row["gamma"], 400, unit="percent"
        )
        slope = 0.005 / abs(2 * row["gamma"])
        assert law.alpha == pytest.approx(row["alpha"], abs=0.01 + slope)
        back = PowerLaw(row["alpha"], row["eta"], 0.0, row["gamma"], 400.0, "percent")
        e, beta, gamma = back.summary()
        assert e == pytest.approx(row["e400"], abs=0.0105)
        x = abs(row["gamma"]) * 400 ** row["gamma"]
        assert beta == pytest.approx(row["beta400"], abs=0.0055 + 0.01 * x)
        assert gamma == row["gamma"]
        assert law.summary() == pytest.approx(
            (row["e400"], row["beta400"], row["gamma"])
        )
    off = PowerLaw(row["alpha"] + 0.05, row["eta"], 0.0, row["gamma"], 400.0, "percent")
    assert off.summary()[0] != pytest.approx(row["e400"], abs=0.0105)


@pytest.mark.paper
def test_the_light_columns_are_lines_through_400():
    for row in ROWS:
        law = PowerLaw(
            row["light_alpha"], row["light_eta"], 0.0, -0.5, 400.0, "percent"
        )
        assert law.e_N == pytest.approx(row["light_alpha"] + row["light_eta"] / 20)
        assert law.e_N == pytest.approx(row["light_e400"], abs=0.0103)
        assert law.beta_N == pytest.approx(row["light_beta400"], abs=0.0053)


@pytest.mark.paper
def test_the_light_fit_is_better_than_the_paper_says():
    """The text says .42 and .95; two rows have their light columns swapped."""

    def apart(rows):
        e = [r["light_e400"] - r["e400"] for r in rows]
        beta = [r["light_beta400"] - r["beta400"] for r in rows]
        return [float(np.sqrt(np.mean(np.square(d)))) for d in (e, beta)]

    assert apart(ROWS) == pytest.approx([0.4187, 0.9459], abs=5e-5)
    rows = [dict(r) for r in ROWS]
    swapped = [r for r in rows if "Places" in r["label"] or "MOCO" in r["label"]]
    assert len(swapped) == 2
    for name in ("light_alpha", "light_eta", "light_e400", "light_beta400"):
        swapped[0][name], swapped[1][name] = swapped[1][name], swapped[0][name]
    assert apart(rows) == pytest.approx([0.1617, 0.9203], abs=5e-5)


@pytest.mark.paper
def test_table_2_needs_no_size():
    for e, beta, gamma, alpha in (
        (25.3, 4.6, -0.36, 18.91111111111111),
        (25.2, 8.4, -0.47, 16.26382978723404),
    ):
        for size in (100, 400):
            law = PowerLaw.from_summary(e, beta, gamma, size, unit="percent")
            assert law.alpha == pytest.approx(alpha, abs=1e-9)
            assert law.asymptote == law.alpha


def test_the_linear_predictor_counts_in_reliances():
    law = PowerLaw.from_summary(25.2, 8.4, -0.47, 400, unit="percent")
    found = law.linear_predictor([1, 4, 0.25, np.inf]) - 25.2
    np.testing.assert_allclose(found, [0, -4.2, 8.4, -8.4], atol=1e-12)
    assert abs(law.error(1600) - 25.2 + 4.2) > 0.05  # the curve itself is not straight


def test_error_and_reliance_agree_with_a_derivative():
    for terms in ("power", "full"):
        n = np.array([25, 50, 100, 200, 400.0])
        e = 0.1 + 1.5 * n**-0.4 + 0.5 * n**-0.8
        law = fit_power_law(n, e, terms=terms)
        h = 1e-4
        slope = (law.error(200 + h) - law.error(200 - h)) / (2 * h)
        assert float(law.data_reliance(200)) == pytest.approx(
            -400 * float(slope), rel=1e-5
        )


@pytest.mark.parametrize("weights", ["per_size", "efficient", "equal"])
def test_every_weighting_is_least_squares_by_hand(weights):
    rng = np.random.default_rng(1)
    sizes, counts = np.array([25.0, 50, 100, 200]), [6, 4, 3, 1]
    errors = [
        20 + 200 * n**-0.6 + rng.normal(size=k) * 5 / n**0.5
        for n, k in zip(sizes, counts, strict=True)
    ]
    law = fit_power_law(sizes, errors, unit="percent", method="paper", weights=weights)
    n = np.repeat(sizes, counts)
    y = np.concatenate(errors)
    freedom = np.array(counts) - 1
    s2 = np.array([e.var(ddof=1) if len(e) > 1 else 0 for e in errors])
    slope = (freedom * (s2 - 0.02) / sizes).sum() / (freedom / sizes**2).sum()
    sigma2 = 0.02 + max(slope, 0) / n
    f = np.repeat(counts, counts)
    w = {"per_size": 1 / (f * sigma2), "efficient": 1 / sigma2, "equal": n * 0 + 1}[
        weights
    ]
    best = None
    for gamma in np.arange(-99, 0) / 100:
        a = np.stack([n * 0 + 1, n**gamma], axis=1)
        m = np.linalg.pinv(np.sqrt(w)[:, None] * a) * np.sqrt(w)
        theta = m @ y
        aim = (w * (y - a @ theta) ** 2).sum() + 5 * abs(gamma + 0.5)
        if best is None or aim < best[0]:
            best = aim, gamma, theta, m @ np.diag(sigma2) @ m.T
    assert law.gamma == best[1]
    np.testing.assert_allclose([law.alpha, law.eta], best[2], rtol=1e-9)
    assert law.noise_slope == pytest.approx(max(slope, 0))
    at = np.array([25.0, 800, np.inf])
    row = np.stack([np.ones(3), at**law.gamma], axis=1)
    se = np.sqrt(np.einsum("ni,ij,nj->n", row, best[3], row))
    band = law.interval(at)
    np.testing.assert_allclose(band.upper - band.value, 1.959964 * se, rtol=1e-6)
    np.testing.assert_allclose(band.value - band.lower, 1.959964 * se, rtol=1e-6)


def test_fractions_and_percent_give_the_same_exponent():
    """With the constants of the paper among fractions the prior would win silently."""
    sizes, errors = np.array([25, 50, 100, 200, 400.0]), []
    rng = np.random.default_rng(3)
    for n, k in zip(sizes, (16, 8, 4, 2, 1), strict=True):
        errors.append(15 + 300 * n**-0.8 + rng.normal(size=k) * np.sqrt(0.02 + 2 / n))
    percent = fit_power_law(sizes, errors, unit="percent", method="paper")
    parts = [e / 100 for e in errors]
    fraction = fit_power_law(sizes, parts, method="paper")
    assert percent.gamma == fraction.gamma
    assert abs(percent.gamma + 0.8) < 0.06
    assert fraction.alpha == pytest.approx(percent.alpha / 100)
    assert fraction.noise_slope == pytest.approx(percent.noise_slope / 100**2)
    ends = [x.interval([1600]) for x in (percent, fraction)]
    assert ends[1].lower == pytest.approx(ends[0].lower / 100)
    # The negative control: the floor 0.02 in the wrong unit, and the prior wins.
    wrong = fit_power_law(sizes, parts, method="paper", noise_floor=0.02)
    assert wrong.gamma == -0.5
    calibrated = [
        fit_power_law(sizes, errors, unit="percent"),
        fit_power_law(sizes, parts),
        fit_power_law(sizes, parts, unit="loss"),
    ]
    assert len({law.gamma for law in calibrated}) == 1


def test_a_percentage_among_fractions_is_an_error():
    with pytest.raises(CurvewiseError, match="unit='percent'"):
        fit_power_law([25, 50, 100], [18.9, 12.0, 9.0])
    laws = fit_power_laws([25, 50, 100], [[18.9, 12.0, 9.0], [0.5, 0.4, 0.3]])
    assert laws.is_fitted.tolist() == [False, True]


def test_the_paper_has_no_constants_for_losses():
    with pytest.raises(CurvewiseError, match="constants in percent"):
        fit_power_law([25, 50, 100], [2.0, 1.5, 1.2], unit="loss", method="paper")
    law = fit_power_law([25, 50, 100], [2.0, 1.5, 1.2], unit="loss")
    assert law.error(50) == pytest.approx(1.5, abs=0.05)


def test_the_light_fit_looks_at_the_three_largest_sizes():
    sizes = [25, 50, 100, 200, 400]
    errors = [[70.0], [9.0, 10.0], [30.1, 30.3], [24.0, 24.2], [20.0, 20.2]]
    for method in ("calibrated", "paper"):
        law = light_fit(sizes, errors, unit="percent", method=method)
        same = fit_power_law(
            sizes[2:], errors[2:], unit="percent", method=method, terms="linear"
        )
        assert (law.alpha, law.eta, law.gamma) == (same.alpha, same.eta, -0.5)
        assert law.e_N == pytest.approx(law.alpha + law.eta / 20)
        assert law.beta_N == pytest.approx(law.eta / 20)
    mixed = light_fit(
        [400, 25, 100, 50, 200], [errors[i] for i in (4, 0, 2, 1, 3)], unit="percent"
    )
    assert mixed.alpha == pytest.approx(light_fit(sizes, errors, unit="percent").alpha)
    with pytest.raises(CurvewiseError, match="3 largest"):
        light_fit([100, 200], [0.3, 0.2])
    with pytest.raises(CurvewiseError, match="largest is 1"):
        light_fit([100, 200], [0.3, 0.2], largest=1)
