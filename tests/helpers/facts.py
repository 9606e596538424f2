"""What an error, a warning or a finding says, in whatever words: its fields and facts."""

import contextlib
import re

import pytest

from curvewise import CurvewiseError, CurvewiseWarning

_FACT = re.compile(
    r"(?<!\w)'([^']*)'|(?<![\w.])(-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)(?!\w)"
)


def facts(text):
    """Return the names in quotes and the numbers of a text, in their order.

    >>> facts("2 of 1,000 runs have no 'loss'.")
    [2.0, 1000.0, 'loss']
    """
    return [
        name if number == "" else float(number.replace(",", "").rstrip("."))
        for name, number in _FACT.findall(str(text))
    ]


def holds(text, *expected):
    """Return whether a text has these facts, one after another."""
    found, n = facts(text), len(expected)
    return any(found[i : i + n] == [*expected] for i in range(len(found) - n + 1))


@contextlib.contextmanager
def refused(argument=..., value=..., *, says=(), fixes=...):
    """Check the fields and the facts of the error that is raised inside."""
    with pytest.raises(CurvewiseError) as problem:
        yield problem
    error = problem.value
    if argument is not ...:
        assert error.argument == argument
    if value is not ...:
        assert error.value == value
    if fixes is not ...:
        assert [*error.fixes, *error.text.fixes] == fixes
    assert holds(error, *says), facts(error)


@contextlib.contextmanager
def warned(*says):
    """Check the facts of a warning that is issued inside."""
    with pytest.warns(CurvewiseWarning) as issued:
        yield issued
    texts = [str(one.message) for one in issued]
    assert any(holds(text, *says) for text in texts), texts
