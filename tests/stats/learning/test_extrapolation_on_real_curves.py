"""What is said of accuracy and coverage, measured again on curves kept apart."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import data

from curvewise.stats.learning import outlook
from curvewise.stats.learning.extrapolation import extrapolate

SCRIPTS = Path(__file__).parents[3] / "scripts"
pytestmark = pytest.mark.slow

QUESTIONS = ("80 %, last", "50 %, last", "all later")


@pytest.fixture(scope="module")
def scripts():
    data("learning_curves/lcdb10_curves.parquet")
    data("learning_curves/lcdb11_mean_curves.parquet")
    sys.path.insert(0, str(SCRIPTS))
    import coverage_extrapolation
    import learn_extrapolation

    yield coverage_extrapolation, learn_extrapolation
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def trial(scripts):
    return scripts[0].tried()


@pytest.fixture(scope="module")
def groups(trial):
    return dict(trial.groups())


def test_the_factors_are_what_the_script_learns(scripts):
    up, down = scripts[1].learnt()
    assert up == pytest.approx(outlook.UP, abs=2e-3)
    assert down == pytest.approx(outlook.DOWN, abs=2e-3)
    assert outlook.LEVELS.tolist()[1:] == list(scripts[0].LEVELS)


def test_the_script_asks_what_users_ask(trial):
    """The rows are judged, so they must be what `extrapolate` says."""
    starts = np.flatnonzero(trial.table.number == 0)
    judged = 0
    for i in np.random.default_rng(1).choice(starts, 20, replace=False):
        case = trial.found[trial.table.case[i]]
        if not case.is_known:
            ahead = extrapolate(case.sizes, case.means, to=case.to)
            rows = slice(i, i + len(case.to))
            assert ahead.error == pytest.approx(trial.table.middle[rows])
            judged += 1
    assert judged >= 5


# --- accuracy ----------------------------------------------------------------------------

# What the two questions allow: mean absolute errors at the last size.
ALLOWED = {"80 %, last": 0.0137, "50 %, last": 0.0334}


def is_accurate(scripts, trial, use, question, off):
    """Whether errors are small, and smaller than those of simple rivals."""
    rivals = scripts[0].rivals(trial, use)
    ends = [
        scripts[0].bootstrapped(off - rival, trial.datasets[use])[2]
        for rival in rivals.values()
    ]
    return off.mean() <= ALLOWED[question] and max(ends) < 0


@pytest.mark.parametrize("kind", ["runs", "means"])
@pytest.mark.parametrize("question", ALLOWED)
def test_it_is_nearer_than_simple_rivals(scripts, trial, groups, kind, question):
    use = groups[f"1.0, all, {kind}"] & trial.asked(question)
    assert use.sum() == 268
    off = np.abs(trial.table.truth - trial.table.middle)[use]
    assert is_accurate(scripts, trial, use, question, off)
    # The last value in place of the prediction is not.
    last = scripts[0].rivals(trial, use)["LAST1"]
    assert not is_accurate(scripts, trial, use, question, last)


# --- coverage ----------------------------------------------------------------------------


def is_covered(scripts, trial, use):
    """Whether 95 % intervals hold as often as they say, narrow and wide ones."""
    lower, upper = (end[use] for end in trial.ends())
    holds = trial.holds()[use]
    rate, low, high = scripts[0].bootstrapped(holds, trial.datasets[use])
    thirds = scripts[0].terciles(holds, upper - lower)
    print(f"{rate:.3f} [{low:.3f}, {high:.3f}] {thirds}")
    return 0.91 <= rate <= 0.985 and low <= 0.95 <= high and min(thirds) >= 0.88


def shrunk(trial, factor):
    """Return the trial with intervals drawn together around the prediction."""
    middle = trial.table.middle
    return replace(
        trial,
        lower=middle + factor * (trial.lower - middle),
        upper=middle + factor * (trial.upper - middle),
    )


KINDS = [
    *(
        f"1.0, {v}, {k}"
        for v in ("all", "thinned", "five runs")
        for k in ("runs", "means")
    ),
    "1.0, one run, means",
    *(f"1.1, {v}, {k}" for v in ("all", "thinned") for k in ("runs", "means")),
]
MISSED = {
    ("1.1, thinned, means", "all later"): "below 95 %: 93.2 %, from 91.4 to 94.9",
    # They are for the mean over all splits, and judged by that of 25, with the five in it.
    ("1.0, five runs, runs", "all later"): "above 95 %: 96.4 %, from 95.2 to 97.5",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_intervals_hold_as_often_as_they_say(
    scripts, trial, groups, kind, question, request
):
    use = groups[kind] & trial.asked(question)
    if (kind, question) in MISSED:
        why = MISSED[kind, question]
        request.applymarker(pytest.mark.xfail(strict=True, reason=why))
    assert is_covered(scripts, trial, use)
    # Half as wide, they do not; nor do twice as wide ones.
    assert not is_covered(scripts, shrunk(trial, 0.5), use)
    assert not is_covered(scripts, shrunk(trial, 2), use)


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.98, 0.99])
def test_other_confidences_hold_over_all_curves(scripts, trial, confidence):
    use = trial.of(lambda case: case.variant != "between")
    rate = trial.holds(confidence)[use].mean()
    assert rate == pytest.approx(confidence, abs=0.02)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("collection", ["1.0", "1.1"])
def test_they_are_worth_more_than_one_width_for_all(
    scripts, trial, groups, collection, question
):
    use = groups[f"{collection}, all, runs"] & trial.asked(question)
    truth = trial.table.truth[use]
    ours = scripts[0].scores(truth, *(end[use] for end in trial.ends()))
    one = scripts[0].scores(
        truth, *(end[use] for end in scripts[0].constant(trial, use))
    )
    assert ours.mean() < one.mean()


@pytest.mark.parametrize("kind", ["runs", "means"])
@pytest.mark.parametrize("collection", ["1.0", "1.1"])
def test_between_sizes_intervals_hold(trial, groups, collection, kind):
    """Where sizes are dense, as in 1.1, they are wider than they need be: 99 % hold.

    So are those from runs, which are for more than the runs that judge them: 98 %.
    """
    use = groups[f"{collection}, between, {kind}"]
    assert trial.holds()[use].mean() >= 0.92
    if collection == "1.0":
        assert trial.holds()[use].mean() <= 0.985
        assert shrunk(trial, 0.5).holds()[use].mean() < 0.91


def test_nothing_fails(trial):
    table = trial.table
    sides = np.stack([0 * table.truth, trial.lower[0], table.middle, trial.upper[0]])
    assert np.isfinite(sides).all()
    assert (np.diff(sides, axis=0) >= 0).all()
    assert (sides <= 1).all()
