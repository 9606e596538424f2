"""Folders of runs, read with what was asked and what was said."""

import warnings

import pytest

import curvewise as cw
from curvewise import CurvewiseError, CurvewiseWarning


def quietly(source, **stated):
    """Read a source; return its trials, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CurvewiseWarning)
        trials = cw.read(source, **stated)
    return trials, [str(one.message) for one in caught]


def asked(source, **stated):
    """Return the question that reading raises."""
    with pytest.raises(CurvewiseError) as problem:
        quietly(source, **stated)
    return problem.value


def typed(source):
    """Return the trials that the first fix of a question gives."""
    return quietly(source, **asked(source).fixes[0])[0]


def who(trials):
    return sorted((t.task, t.algorithm, t.number) for t in trials)
