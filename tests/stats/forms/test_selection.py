"""Which form: the most likely one, the one that would have foreseen, or all."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.forms import (
    EXTRAPOLATING,
    FORMS,
    average_each,
    average_forms,
    fit_form,
    select_each,
    select_form,
)

SIZES = np.round(16 * 2 ** np.arange(0, 7, 0.5))
BYS = ["likelihood", "backtest"]
POWER = 0.1 + 1.2 * SIZES**-0.5
DECAY = 0.1 + 0.4 * np.exp(-SIZES / 150)


@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize(
    ("curve", "name"),
    [
        (POWER, "POW3"),
        (1.2 * SIZES**-0.3, "POW2"),
        (DECAY, "EXP3"),
        (np.full(14, 0.3), "LAST1"),
        (0.1 + 0.6 / (1 + (SIZES / 200) ** 2.5), "MMF4"),
    ],
)
def test_the_form_that_made_a_curve_is_chosen(curve, name, by):
    # Of a flat curve with noise, the mean foresees more than the last value does.
    noise = np.random.default_rng(0).normal(0, 1e-4, 14) * (name != "LAST1")
    found = select_form(SIZES, curve + noise, by=by)
    assert found.best.form.name == found.rows[0].form == name
    assert found.weights[name] == 1
    assert found.error([5000]) == pytest.approx(found.best.error([5000]))


@pytest.mark.parametrize("by", BYS)
def test_weights_of_an_average_sum_to_one_and_order_the_rows(by):
    noise = np.random.default_rng(1).normal(0, 0.005, 14)
    found = average_forms(SIZES, POWER + noise, by=by)
    weights = [row.weight for row in found.rows]
    assert sum(weights) == pytest.approx(1)
    assert weights == sorted(weights, reverse=True)
    assert set(found.weights) == set(EXTRAPOLATING)
    errors = [
        fit_form(SIZES, POWER + noise, r.form).error([9000])[0] for r in found.rows
    ]
    assert found.error([9000])[0] == pytest.approx(np.dot(weights, errors), rel=1e-6)
    for row in found.rows:
        assert row.formula == FORMS[row.form].formula
        assert row.parameters == FORMS[row.form].size
        assert np.isnan(row.backtest) == (by == "likelihood")
        fit = fit_form(SIZES, POWER + noise, row.form)
        assert row.aic == pytest.approx(fit.aic)
        assert row.forecast == pytest.approx(fit.error([4 * SIZES[-1]])[0])


def test_last1_is_always_a_citizen():
    found = average_forms(SIZES, POWER, ["POW3"])
    assert set(found.weights) == {"LAST1", "POW3"}
    alone = select_form(SIZES, POWER, "POW3")
    assert set(alone.weights) == {"LAST1", "POW3"}


def test_where_nothing_beats_the_last_value_it_is_said():
    rng = np.random.default_rng(0)
    walk = 0.5 + np.cumsum(rng.choice([-0.03, 0.03], 14))
    found = select_form(SIZES, walk)
    assert found.best.form.name == "LAST1"
    assert "No form does better than to repeat the last value" in found.concerns[-1]
    said = select_form(SIZES, POWER).concerns
    assert not any("repeat the last value" in c for c in said)


def test_the_backtest_is_what_hiding_sizes_gives():
    found = average_forms(SIZES[:8], POWER[:8] + 0.01 * np.sin(SIZES[:8]), ["POW3"])
    missed = []
    for cut in (4, 5, 6, 7):
        shown = fit_form(SIZES[:cut], POWER[:cut] + 0.01 * np.sin(SIZES[:cut]))
        hidden = POWER[cut:8] + 0.01 * np.sin(SIZES[cut:8])
        missed += list(np.abs(shown.error(SIZES[cut:8]) - hidden))
    row = next(r for r in found.rows if r.form == "POW3")
    assert row.backtest == pytest.approx(np.mean(missed), rel=1e-5)


@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize(
    ("one", "each"), [(select_form, select_each), (average_forms, average_each)]
)
def test_a_batch_is_its_curves(one, each, by):
    noise = np.random.default_rng(2).normal(0, 0.01, (3, 14))
    batch = np.stack([POWER, DECAY, POWER[::-1]]) + noise
    batch = np.insert(batch, 1, np.nan, axis=0)
    found = each(SIZES, batch, by=by).error([5000])[:, 0]
    assert np.isnan(found[1])
    for i in (0, 2, 3):
        assert found[i] == pytest.approx(one(SIZES, batch[i], by=by).error([5000])[0])


@pytest.mark.parametrize("by", BYS)
def test_percent_and_thousands_give_the_same_weights(by):
    noise = np.random.default_rng(3).normal(0, 0.01, 14)
    plain = average_forms(SIZES, POWER + noise, by=by)
    other = average_forms(SIZES / 1e3, 100 * (POWER + noise), by=by, unit="percent")
    for name, weight in plain.weights.items():
        assert other.weights[name] == pytest.approx(weight, abs=1e-4)
    assert other.error([9]) == pytest.approx(100 * plain.error([9000]), rel=1e-4)


def test_forms_with_too_many_parameters_have_no_say():
    found = average_forms(SIZES[:5], POWER[:5], ["POW3", "POW4", "BNSL1"])
    assert "BNSL1" not in found.weights  # six parameters, five sizes
    assert found.weights["POW4"] == 0  # four parameters, three sizes to foresee from
    assert np.isfinite(found.error([5000])).all()
    assert np.isfinite(average_forms(SIZES[:4], POWER[:4]).error([5000])).all()


def test_curves_with_holes_are_weighed_by_what_they_have():
    batch = np.stack([POWER, POWER])
    batch[1, 10:] = np.nan
    weights = np.isfinite(batch).astype(float)
    found = average_each(SIZES, batch, ["POW3"], weights=weights)
    alone = average_each(SIZES, batch[:1], ["POW3"])
    assert np.isfinite(found.error([5000])).all()
    assert found.error([5000])[0] == pytest.approx(alone.error([5000])[0])


def test_what_cannot_be_weighed_is_refused():
    with pytest.raises(CurvewiseError, match=r"by is 'luck'\. Pass one of likelihood"):
        average_forms(SIZES, POWER, by="luck")
    with pytest.raises(CurvewiseError, match="There are 3 sizes, and to compare forms"):
        select_form(SIZES[:3], POWER[:3])
    with pytest.raises(CurvewiseError, match="There is no form 'POW9'"):
        select_each(SIZES, POWER[None], ["POW9"])
    with pytest.raises(CurvewiseError, match="unit is 'bits'"):
        average_each(SIZES, POWER[None], unit="bits")
