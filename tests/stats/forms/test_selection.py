"""Which form: the most likely one, the one that would have foreseen, or all."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.forms import (
    EXTRAPOLATING,
    FORMS,
    average_forms,
    fit_form,
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
    assert found.best.form.name == found.rows()[0]["form"] == name
    assert found.weights[name] == 1
    assert found.error([5000]) == pytest.approx(found.best.error([5000]))


@pytest.mark.parametrize("by", BYS)
def test_weights_of_an_average_sum_to_one_and_order_the_rows(by):
    noise = np.random.default_rng(1).normal(0, 0.005, 14)
    found = average_forms(SIZES, POWER + noise, by=by)
    weights = [row["weight"] for row in found.rows()]
    assert sum(weights) == pytest.approx(1)
    assert weights == sorted(weights, reverse=True)
    assert set(found.weights) == set(EXTRAPOLATING)
    errors = [
        fit_form(SIZES, POWER + noise, name).error([9000])[0] for name in found.weights
    ]
    assert found.error([9000])[0] == pytest.approx(np.dot(weights, errors), rel=1e-6)
    for row in found.rows():
        form = FORMS[row["form"]]
        assert row["formula"] == form.formula
        assert row["parameters"] == form.size
        assert np.isnan(row["backtest"]) == (by == "likelihood")
        fit = fit_form(SIZES, POWER + noise, form)
        assert row["aic"] == pytest.approx(fit.aic)
        assert row["forecast"] == pytest.approx(fit.error([4 * SIZES[-1]])[0])


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
    assert found.concerns[-1] == "last_value"
    assert "last_value" not in select_form(SIZES, POWER).concerns


def test_the_backtest_is_what_hiding_sizes_gives():
    found = average_forms(SIZES[:8], POWER[:8] + 0.01 * np.sin(SIZES[:8]), ["POW3"])
    missed = []
    for cut in (4, 5, 6, 7):
        shown = fit_form(SIZES[:cut], POWER[:cut] + 0.01 * np.sin(SIZES[:cut]))
        hidden = POWER[cut:8] + 0.01 * np.sin(SIZES[cut:8])
        missed += list(np.abs(shown.error(SIZES[cut:8]) - hidden))
    assert found.scores["POW3"] == pytest.approx(np.mean(missed), rel=1e-5)


@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize("weigh", [select_form, average_forms])
def test_a_batch_is_its_curves(weigh, by):
    noise = np.random.default_rng(2).normal(0, 0.01, (3, 14))
    batch = np.stack([POWER, DECAY, POWER[::-1]]) + noise
    batch = np.insert(batch, 1, np.nan, axis=0)
    mix = weigh(SIZES, batch, by=by, many=True)
    found = mix.error([5000])[:, 0]
    assert np.isnan(found[1])
    for i in (0, 2, 3):
        one = weigh(SIZES, batch[i], by=by)
        assert found[i] == pytest.approx(one.error([5000])[0])
        assert mix[i].error([5000]) == pytest.approx(found[i])
        assert mix[i].best.form is one.best.form


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
    found = average_forms(SIZES, batch, ["POW3"], weights=weights, many=True)
    alone = average_forms(SIZES, batch[:1], ["POW3"], many=True)
    assert np.isfinite(found.error([5000])).all()
    assert found.error([5000])[0] == pytest.approx(alone.error([5000])[0])


@pytest.mark.parametrize(
    ("argument", "how"),
    [
        ("by", {"by": "luck"}),
        ("forms", {"forms": 3}),
        ("form", {"forms": ["POW9"]}),
        ("unit", {"unit": "bits"}),
    ],
)
def test_what_cannot_be_weighed_is_refused(argument, how):
    for weigh in (select_form, average_forms):
        for errors, many in ((POWER, False), (POWER[None], True)):
            with pytest.raises(CurvewiseError) as refused:
                weigh(SIZES, errors, many=many, **how)
            assert refused.value.argument == argument


def test_few_sizes_and_runs_of_means_are_refused():
    with pytest.raises(CurvewiseError, match="3 sizes"):
        select_form(SIZES[:3], POWER[:3])
    with pytest.raises(CurvewiseError, match="no runs"):
        select_form(SIZES, POWER[None], runs=[[0]] * 14, many=True)
