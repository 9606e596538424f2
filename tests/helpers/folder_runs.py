"""Folders of runs, read with what was asked and what was said."""

import warnings

import pytest

import curvewise as cw
from curvewise import CurvewiseError, CurvewiseWarning
from curvewise.exchange.read import found_in
from curvewise.exchange.runs import Asked


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


def omitted(source, **stated):
    """Return how many things of which kind were left out of a source, and examples."""
    left_out = found_in(source, Asked(**stated), None).left_out
    return [(one.n, one.what, one.examples) for one in left_out]


def typed(source):
    """Return the trials that the first fix of a question gives."""
    return quietly(source, **asked(source).fixes[0])[0]


def who(trials):
    return sorted((t.task, t.algorithm, t.number) for t in trials)
