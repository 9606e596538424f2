"""What Optuna wrote for the tests, what it says of it, and how they look at trials."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import curvewise as cw

ASSETS = Path(__file__).parents[1] / "assets" / "foreign" / "optuna"
NEW = ASSETS / "optuna-5.0.0"


def told(name):
    """Return what Optuna itself says of a file: study by study."""
    path = ASSETS / name
    return json.loads((path.parent / "expected.json").read_text())[path.name]


def read(source, **stated):
    """Return trials and what was said about them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trials = cw.read(source, **stated)
    return trials, [str(one.message) for one in caught]


def curve(trial, metric):
    """Return what was recorded of a metric, by step."""
    values = np.ma.masked_array(trial.metrics.get(metric, trial.steps[:0]))
    if not len(values):
        return {}
    known = ~np.ma.getmaskarray(values)
    return dict(
        zip(trial.steps[known].tolist(), values.data[known].tolist(), strict=True)
    )


def assert_same(found, expected):
    """Raise unless two mappings hold the same numbers, NaN included."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, nan_ok=True), key


def copied(name, tmp_path):
    """Return a copy of a database that may be changed."""
    return Path(shutil.copy(NEW / name, tmp_path / name))
