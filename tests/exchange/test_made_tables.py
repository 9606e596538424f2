"""Thousands of tables made at random: none is read wrongly without a question."""

import warnings
from collections import Counter

import numpy as np
import pytest
from made_tables import made

import curvewise as cw
from curvewise.errors import CurvewiseError


def as_read(trials):
    out = Counter()
    for trial in trials:
        curves = {}
        for name, curve in trial.metrics.items():
            known = ~np.ma.getmaskarray(curve)
            pairs = zip(trial.steps[known], np.asarray(curve)[known], strict=True)
            curves[name] = tuple((float(s), round(float(v), 6)) for s, v in pairs)
        out[trial.algorithm, trial.task, _whole(curves)] += 1
    return out


def as_made(truth):
    return Counter((a, t, _whole(curves)) for a, t, curves in truth)


def _whole(curves):
    return tuple(sorted((m, c) for m, c in curves.items() if c))


def outcome(table):
    """Return "read", "asked" or "wrong" for one table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.CurvewiseWarning)
        try:
            trials = cw.read(table.frame, **table.keywords)
        except CurvewiseError as problem:
            return "asked", problem
    right = as_read(trials) == as_made(table.truth)
    return "read" if right else "wrong", trials


def counted(n, seed):
    rng = np.random.default_rng(seed)
    seen = Counter()
    wrong = []
    for i in range(n):
        table = made(rng)
        what, _ = outcome(table)
        seen[what, table.is_well_formed] += 1
        if what == "wrong":
            wrong.append((i, table.what))
    return seen, wrong


def must_hold(n, seed):
    seen, wrong = counted(n, seed)
    print(seen)
    assert not wrong
    well = sum(k for (_, is_well), k in seen.items() if is_well)
    assert seen["asked", True] <= well / 10
    assert seen["read", False] + seen["asked", False] > n / 10


def test_no_table_is_read_wrongly_in_silence():
    must_hold(400, 11)


@pytest.mark.slow
def test_no_table_of_5000_is_read_wrongly_in_silence():
    must_hold(5000, 2026)


def test_a_table_that_was_changed_is_called_wrong():
    """The control: the comparison sees one score that moved."""
    table = next(t for t in map(made, [np.random.default_rng(i) for i in range(99)])
                 if t.is_well_formed and outcome(t)[0] == "read")  # fmt: skip
    a, t, curves = table.truth[0]
    moved = {m: ((c[0][0], c[0][1] + 0.001), *c[1:]) for m, c in curves.items()}
    table.truth[0] = (a, t, moved)
    assert outcome(table)[0] == "wrong"
