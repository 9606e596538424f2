"""What a store knows of its experiment travels with its trials."""

import json
import pickle

import pytest

import curvewise as cw
from curvewise import Trial, Trials
from curvewise.store.notes import about, without_passwords


def told(seed, trials=2):
    """Return trials that know of an experiment."""
    made = Trials(Trial("t", f"a{seed}", i, {"loss": i}) for i in range(trials))
    return Trials.from_columns(
        made.tasks,
        made.algorithms,
        made.metrics,
        made.core,
        made.details,
        about={"seed": str(seed), "planned": "10 trials"},
    )


def test_what_is_known_survives_choosing_slicing_and_pickling():
    trials = told(1)
    for other in (
        trials.where(number=[0]),
        trials[:1],
        trials.take([1]),
        pickle.loads(pickle.dumps(trials)),
        Trials.concat([trials]),
    ):
        assert dict(other.about) == {"seed": "1", "planned": "10 trials"}
    assert Trials().about == {}


def test_what_is_known_does_not_change_what_trials_are():
    trials = told(1)
    bare = Trials(Trial("t", "a1", i, {"loss": i}) for i in range(2))
    assert trials == bare
    with pytest.raises(TypeError):
        trials.about["seed"] = "2"


def test_of_several_experiments_all_is_told():
    both = told(1) + told(2)
    assert both.about["seed"] == "1\n2"
    assert both.about["planned"] == "10 trials"


def test_a_pickle_from_before_has_no_about():
    """Trials that were pickled by an older version end with their spaces."""
    load, columns = told(1).__reduce__()
    assert load(*columns[:-2]).about == {}
    assert load(*columns[:-1]) == told(1)  # and one from before designs


def test_notes_become_words():
    trials = Trials(Trial("t", "a", i, {"loss": i}) for i in range(5))
    notes = {
        "streams": "seed: 7\nvary: params, seed\ncross: params x {'seed': 2}",
        "plan": json.dumps([["t", "a", 40]]),
        "ended": json.dumps(["mean +- 0.1", 5]),
        "source": "x.toml",
        "source text": "seed = 7",
        "algorithm a": "code that is nobody's business here",
    }
    assert about(notes, trials.core) == {
        "seed": "7",
        "drawn anew in each trial": "params, seed",
        "crossed": "params x {'seed': 2}",
        "planned": "40 trials of each algorithm on each task",
        "stopped": "the run was stopped when 'mean +- 0.1' was known, with 5 of 40 trials "
        "of each",
        "experiment": "x.toml",
        "experiment file": "seed = 7",
    }
    assert about({}, trials.core) == {}


@pytest.mark.parametrize("done", [4, 6])
def test_a_run_that_went_on_was_not_stopped(done):
    trials = Trials(Trial("t", "a", i, {"loss": i}) for i in range(done))
    notes = {"plan": '[["t", "a", 40]]', "ended": '["mean +- 0.1", 5]'}
    assert "stopped" not in about(notes, trials.core)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a://u:p@h/d and b://v:q@i", "a://u:***@h/d and b://v:***@i"),
        ("store = 'runs.db'", "store = 'runs.db'"),
        ("a://u:p:with@signs@h/d", "a://u:***@h/d"),
        ("a://host:5432/d", "a://host:5432/d"),
    ],
)
def test_no_password_is_told(text, clean):
    assert without_passwords(text) == clean


def test_a_store_tells_what_a_run_noted(tmp_path):
    def coin(params, data, rng):
        yield 0, {"accuracy": float(rng.random() < 0.5)}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None), cw.Algorithm("coin", {}, coin), 3, seed=9
    )
    path = tmp_path / "coin.db"
    asked = {"executor": "serial", "progress": False}
    kept = cw.run(experiment, store=path, **asked)
    assert kept.about["seed"] == cw.read(path).about["seed"] == "9"
    assert dict(cw.run(experiment, **asked).about) == dict(kept.about)
