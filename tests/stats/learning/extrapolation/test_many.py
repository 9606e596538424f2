import time

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.learning.extrapolation import extrapolate, extrapolate_many

SIZES = 16 * 2 ** np.arange(7)
TO = [300, 1024, 4096, 1e6]


def some(curves=60, runs=6, seed=1):
    """Return runs (curve, run, size) around falling curves."""
    rng = np.random.default_rng(seed)
    level, fall = rng.uniform(0, 0.3, curves), rng.uniform(0, 0.5, curves)
    means = level[:, None] + fall[:, None] * (SIZES / 16.0) ** -0.5
    noise = 0.02 * rng.standard_normal((curves, runs, len(SIZES)))
    return np.clip(means[:, None] + noise, 0, 1)


@pytest.mark.parametrize("unit", ["fraction", "percent", "loss"])
def test_many_curves_get_what_each_gets_alone(unit):
    runs = some() * (100 if unit == "percent" else 1)
    errors = runs.std(axis=1, ddof=1) / np.sqrt(6)
    for known in (True, False):
        many = extrapolate_many(
            SIZES,
            runs.mean(axis=1),
            to=TO,
            unit=unit,
            confidence=0.9,
            standard_errors=errors if known else None,
            counts=6 if known else None,
        )
        for i in (0, 17, 59):
            given = list(runs[i].T) if known else runs[i].mean(axis=0)
            one = extrapolate(SIZES, given, to=TO, unit=unit, confidence=0.9)
            for name in ("error", "lower", "upper"):
                assert getattr(many, name)[i] == pytest.approx(getattr(one, name))
            for name in ("noise", "rise", "flat"):
                assert getattr(many, name)[i] == pytest.approx(
                    getattr(one, name), abs=1e-9
                )
    assert many.guarantee == one.guarantee


def test_a_bad_curve_spoils_nothing():
    means = some().mean(axis=1)
    good = extrapolate_many(SIZES, means, to=TO)
    assert good.is_fitted.all()
    bad = means.copy()
    bad[3, 2], bad[10, 0], bad[20, 6], bad[30, 1] = np.nan, 1.5, -0.1, np.inf
    found = extrapolate_many(SIZES, bad, to=TO)
    broken = np.isin(np.arange(60), [3, 10, 20, 30])
    assert (found.is_fitted == ~broken).all()
    assert np.isnan(found.error[broken]).all()
    assert np.isnan(found.noise[broken]).all()
    assert found.upper[~broken] == pytest.approx(good.upper[~broken])


def test_a_curve_without_standard_errors_is_fitted_without():
    means, errors = some().mean(axis=1), np.full((60, 7), 0.01)
    errors[5] = np.nan
    mixed = extrapolate_many(SIZES, means, to=TO, standard_errors=errors, counts=6)
    bare = extrapolate_many(SIZES, means, to=TO)
    assert mixed.upper[5] == pytest.approx(bare.upper[5])
    assert (mixed.upper[6] != bare.upper[6]).all()


def test_no_curves_are_no_trouble():
    assert extrapolate_many(SIZES, np.empty((0, 7)), to=TO).error.shape == (0, 4)


def test_standard_errors_that_are_0_are_no_trouble():
    means = np.full((1, 7), 0.5)
    found = extrapolate_many(SIZES, means, to=TO, standard_errors=0 * means, counts=5)
    assert found.error == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": [[0.1, 0.2]]}, r"means have shape \(1, 2\) and there are 7 sizes"),
        ({"means": [0.1] * 7}, r"means have shape \(7,\)"),
        ({"means": [["a"] * 7]}, "means are no table of numbers"),
        ({"means": np.ma.masked_array([[0.1] * 7])}, "means are masked"),
        ({"sizes": [1, 2, 3, 4, 5, 6, 6 + 1e-9]}, "Size 6 is there twice"),
        ({"counts": "five"}, "counts is 'five'"),
        ({"counts": np.inf}, "counts is inf"),
        ({"standard_errors": np.full((1, 7), 1e200)}, "A standard error is 1e[+]200"),
        ({"sizes": SIZES[::-1]}, "in increasing order"),
        ({"standard_errors": np.ones((2, 7))}, "standard errors for 2"),
        ({"standard_errors": -np.ones((1, 7))}, "A standard error is -1"),
        (
            {"standard_errors": np.ones((1, 7)), "counts": [1, 2]},
            "Pass the number of runs",
        ),
        ({"confidence": 0.999}, r"from 0\.5 to 0\.99"),
        ({"unit": "points"}, "unit is 'points'"),
    ],
)
def test_what_cannot_be_answered_is_refused(changes, message):
    arguments = {"sizes": SIZES, "means": np.full((1, 7), 0.2), "to": 4096} | changes
    with pytest.raises(CurvewiseError, match=message):
        extrapolate_many(arguments.pop("sizes"), arguments.pop("means"), **arguments)


def test_all_at_once_is_much_faster_than_one_by_one():
    """Ratios do not depend on the machine: about 30 is usual."""
    means = some(curves=400).mean(axis=1)

    def best(work):
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        return min(times)

    at_once = best(lambda: extrapolate_many(SIZES, means, to=4096)) / 400
    alone = best(lambda: [extrapolate(SIZES, e, to=4096) for e in means[:20]]) / 20
    assert alone / at_once > 5
