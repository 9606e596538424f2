"""One trial again: the same, bit for bit, or a text that says what is not."""

import numpy as np
import pytest
from support import refused

import curvewise
from curvewise import Algorithm, CurvewiseError, Experiment, Task, Trial, Trials, store
from curvewise.engine.recording import Record
from curvewise.flow.run import Replay, once


def train(params, data, rng):
    for i in range(3):
        yield (
            i,
            {"accuracy": rng.random() * data, "counts": rng.integers(9, size=(2, 2))},
        )
    if data > 0.5:
        raise ValueError("too easy")


def plan(run=train, **options):
    algorithms = [Algorithm("a", {"C": [1, 2, 3]}, run), Algorithm("b", {}, run)]
    options = {"trials": 6, "seed": 8} | options
    return Experiment(
        [Task("t", lambda rng: rng.random()), Task("u", lambda rng: 0.1)],
        algorithms,
        **options,
    )


@pytest.fixture
def filled(tmp_path):
    path = tmp_path / "runs.db"
    curvewise.run(plan(), store=path, executor="serial", progress=False)
    return path


def test_every_trial_can_be_had_alone_and_agrees(filled):
    """Failed ones too: they fail in the same place, with the same steps."""
    trials = store.read(filled)
    assert {t.status for t in trials} == {"ok", "failed"}
    for trial in trials:
        replay = curvewise.replay(plan(), filled, *trial.key)
        assert replay.agrees
        assert replay.kept == trial
        assert str(replay) == f"{trial.key} agrees, bit for bit"


def test_a_trial_of_a_crossed_design_agrees_too(tmp_path):
    path = tmp_path / "runs.db"
    crossed = plan(trials=None, cross={"params": 3, "seed": 2})
    curvewise.run(crossed, store=path, executor="serial", progress=False)
    replay = curvewise.replay(crossed, path, "t", "a", 5)
    assert replay.agrees
    assert replay.again.labels == {"params": 2, "seed": 1}


def test_an_algorithm_that_was_changed_does_not_agree(filled):
    def other(params, data, rng):
        yield 0, {"accuracy": 0.25}

    replay = curvewise.replay(plan(other), filled, "u", "a", 2)
    assert not replay.agrees
    lines = str(replay).splitlines()
    assert lines[0] == "('u', 'a', 2) does NOT agree"
    assert lines[1].startswith("  kept:  Trial('u', 'a', 2, 3 steps")
    assert lines[2] == "  again: Trial('u', 'a', 2, 1 step, accuracy=0.25)"
    assert len(lines) == 3


def test_other_hyperparameters_are_shown(filled):
    replay = curvewise.replay(plan(seed=11), filled, "u", "a", 2)
    params = replay.kept.params, replay.again.params
    if params[0] == params[1]:
        pytest.fail("choose a seed that draws another C")
    assert str(replay).splitlines()[3:] == [
        f"  kept params:  {params[0]}",
        f"  params again: {params[1]}",
    ]


def test_an_algorithm_that_hangs_on_something_else_does_not_agree(filled):
    """What replay is for: chance that is not the trial's own."""
    hidden = np.random.default_rng()

    def run(params, data, rng):
        yield 0, {"accuracy": hidden.random()}

    replay = Replay(once(plan(run), "t", "a", 0), once(plan(run), "t", "a", 0))
    assert not replay.agrees


def test_a_trial_that_the_store_has_not_is_refused(filled):
    asked = plan(), filled, "t", "a", 99
    assert refused(curvewise.replay, *asked) == ("number", 99)


def test_names_that_nobody_has_are_refused(filled):
    asked = plan(), filled
    assert refused(curvewise.replay, *asked, "x", "a", 0) == ("task", "x")
    assert refused(curvewise.replay, *asked, "t", "x", 0) == ("algorithm", "x")


def test_a_trial_that_the_experiment_has_not_is_refused(filled):
    other = Trial("t", "old", 0, {"accuracy": 0.5})
    store.write(Trials([other]), filled)
    asked = plan(), filled, "t", "old", 0
    assert refused(curvewise.replay, *asked) == ("algorithm", "old")


def test_one_trial_of_an_experiment_is_the_one_that_a_run_has():
    trials = curvewise.run(plan(), executor="serial", progress=False)
    (expected,) = trials.where(task="t", algorithm="a", number=4)
    found = once(plan(), "t", "a", 4)
    assert found == expected
    assert found.key == ("t", "a", 4)
    assert Record(4).number == found.number


def test_a_store_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CurvewiseError, match=r"none\.db"):
        curvewise.replay(plan(), tmp_path / "none.db", "t", "a", 0)
