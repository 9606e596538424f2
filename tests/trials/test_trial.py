"""One run as a record: what it accepts, what it refuses and with which words."""

import copy
import math
import pickle

import numpy as np
import pytest
from facts import facts, refused
from hypothesis import given
from hypothesis import strategies as st

from curvewise.errors import CurvewiseError
from curvewise.trials import STATUSES, Trial
from curvewise.trials.columns import canonical
from curvewise.trials.trial import shown_key

FULL = {
    "task": "moons",
    "algorithm": "svm",
    "number": 3,
    "metrics": {"accuracy": [0.5, 0.75], "loss": [2.0, None]},
    "steps": [10, 20],
    "params": {"C": 1.0, "kernel": "rbf"},
    "labels": {"seed": 7},
    "counts": [[[3, 1], [1, 3]], [[4, 0], [2, 2]]],
    "correct": [[True, False, True], [True, True, True]],
    "examples": [5, 6, 9],
    "status": "ok",
    "seconds": 1.5,
    "error": "",
    "attempts": 1,
}


# --- what it accepts -----------------------------------------------------------------


def test_a_number_is_a_curve_of_one_step():
    trial = Trial("moons", "svm", 0, {"accuracy": 0.9})
    assert trial.metrics["accuracy"].tolist() == [0.9]
    assert trial.steps.tolist() == [0.0]


def test_steps_count_from_0_where_they_are_left_out():
    assert Trial("t", "a", 0, {"loss": [3, 2, 1]}).steps.tolist() == [0, 1, 2]


def test_what_is_not_said_has_its_empty_value():
    trial = Trial("t", "a", 0)
    assert (trial.metrics, trial.params, trial.labels) == ({}, {}, {})
    assert len(trial.steps) == 0
    assert trial.counts is trial.correct is trial.examples is None
    assert (trial.status, trial.error, trial.attempts) == ("ok", "", 1)
    assert math.isnan(trial.seconds)


def test_a_key_is_task_algorithm_number():
    assert Trial("t", "a", np.int32(4)).key == ("t", "a", 4)


@pytest.mark.parametrize(
    "values",
    [
        [1, None, 3],
        (1.0, None, 3.0),
        np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]),
        np.array([1.0, None, 3.0], object),
    ],
)
def test_none_and_masked_mean_not_recorded(values):
    curve = Trial("t", "a", 0, {"loss": values}).metrics["loss"]
    assert np.ma.getmaskarray(curve).tolist() == [False, True, False]
    assert np.ma.compressed(curve).tolist() == [1.0, 3.0]


def test_nan_means_recorded_and_not_a_number():
    curve = Trial("t", "a", 0, {"loss": [1, math.nan]}).metrics["loss"]
    assert not np.ma.is_masked(curve)
    assert np.isnan(curve[1])


def test_whole_numbers_and_booleans_become_floats():
    trial = Trial("t", "a", 0, {"loss": [1, 2], "accuracy": np.array([True, False])})
    assert trial.metrics["loss"].dtype == np.float64
    assert trial.metrics["accuracy"].tolist() == [1.0, 0.0]


def test_counts_of_one_step_need_no_axis_for_it():
    assert Trial("t", "a", 0, counts=[[1.0, 2.0], [3.0, 4.0]]).counts.shape == (1, 2, 2)


def test_correct_of_one_step_needs_no_axis_and_numbers_its_examples():
    trial = Trial("t", "a", 0, correct=[1, 0, 1])
    assert trial.correct.tolist() == [[True, False, True]]
    assert trial.examples.tolist() == [0, 1, 2]


def test_what_lies_under_a_mask_of_correct_may_be_anything():
    correct = np.ma.masked_invalid([[1.0, np.nan, 0.0]])
    trial = Trial("t", "a", 0, correct=correct)
    assert np.ma.getmaskarray(trial.correct).tolist() == [[False, True, False]]


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_accepted(status):
    assert Trial("t", "a", 0, status=status).status == status


def test_params_become_plain_values():
    given_ = {"lr": np.float32(0.5), "layers": (64, 32), "n": np.int64(3), "x": None}
    trial = Trial("t", "a", 0, params=given_)
    assert trial.params == {"lr": 0.5, "layers": [64, 32], "n": 3, "x": None}
    assert type(trial.params["n"]) is int


def test_a_record_does_not_follow_the_arrays_that_it_was_made_of():
    arrays = {
        "metrics": {"loss": np.array([1.0, 2.0])},
        "steps": np.array([0.0, 1.0]),
        "counts": np.ones((2, 2, 2), np.int64),
        "correct": np.ones((2, 3), bool),
        "examples": np.arange(3),
        "params": {"layers": [1]},
    }
    before = Trial("t", "a", 0, **copy.deepcopy(arrays))
    trial = Trial("t", "a", 0, **arrays)
    arrays["metrics"]["loss"][0] = arrays["steps"][0] = -9
    arrays["counts"][:] = arrays["examples"][:] = 7
    arrays["correct"][:] = False
    arrays["params"]["layers"].append(2)
    assert trial == before


def test_a_record_is_frozen_and_so_are_its_arrays():
    trial = Trial(**FULL)
    with pytest.raises(AttributeError):
        trial.number = 4
    curves = trial.metrics["accuracy"], trial.metrics["loss"]
    for array in (*curves, trial.steps, trial.counts, trial.correct, trial.examples):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_record_survives_a_pickle():
    trial = Trial(**FULL)
    assert pickle.loads(pickle.dumps(trial)) == trial


# --- equality ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [{"seconds": 99.0}, {"attempts": 5}, {"error": "another wording"}]
)
def test_time_attempts_and_error_text_are_no_part_of_the_result(change):
    one, other = Trial(**FULL), Trial(**FULL | change)
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    "change",
    [
        {"task": "circles"},
        {"algorithm": "forest"},
        {"number": 4},
        {"metrics": {"accuracy": [0.5, 0.76], "loss": [2.0, None]}},
        {"metrics": {"accuracy": [0.5, 0.75], "loss": [2.0, math.nan]}},
        {"metrics": {"accuracy": [0.5, 0.75], "loss": [None, 2.0]}},
        {"metrics": {"accuracy": [0.5, 0.75]}},
        {"metrics": {"acc": [0.5, 0.75], "loss": [2.0, None]}},
        {"steps": [10, 21]},
        {"params": {"C": 2.0, "kernel": "rbf"}},
        {"params": {"C": 1, "kernel": "rbf"}},
        {"params": {"C": 1.0}},
        {"labels": {"seed": "7"}},
        {"labels": {}},
        {"counts": None},
        {"counts": [[[3, 1], [1, 3]], [[4, 0], [1, 3]]]},
        {"correct": [[True, False, True], [True, True, False]]},
        {"correct": np.ma.masked_array(FULL["correct"], [[0, 0, 0], [0, 0, 1]])},
        {"examples": [5, 6, 8]},
        {"correct": None, "examples": None},
        {"status": "failed"},
    ],
    ids=str,
)
def test_everything_else_is(change):
    assert Trial(**FULL) == Trial(**FULL)
    assert Trial(**FULL) != Trial(**FULL | change)


def test_a_metric_masked_from_end_to_end_is_as_if_it_were_not_there():
    one = Trial("t", "a", 0, {"loss": [1, 2], "accuracy": [None, None]})
    assert one == Trial("t", "a", 0, {"loss": [1, 2]})


def test_a_record_is_no_equal_of_other_things():
    assert Trial("t", "a", 0) != ("t", "a", 0)


# --- words ---------------------------------------------------------------------------


def test_it_prints_its_key_its_length_and_its_last_scores():
    trial = Trial("t", "a", 0, {"loss": [2, 1.23456], "accuracy": [0.5, None]})
    assert facts(repr(trial)) == ["t", "a", 0, 2, 1.235, 0.5]


def test_it_prints_how_it_failed():
    trial = Trial("t", "a", 0, status="crashed", error="out of\nmemory")
    assert facts(repr(trial)) == ["t", "a", 0, 0]
    assert "crashed: out of" in repr(trial)
    assert "\n" not in repr(trial)


def test_long_names_are_cut_in_what_is_printed():
    key = ("t" * 10_000, "a" * 10_000, 0)
    assert len(repr(Trial(*key, {"loss": 1}))) < 200
    assert len(shown_key(key)) < 150


@pytest.mark.parametrize("name", ["", None, 3, "\ud800"])
@pytest.mark.parametrize("kind", ["task", "algorithm"])
def test_a_name_is_a_text(kind, name):
    with pytest.raises(
        CurvewiseError,
        match=rf"The name of {kind} is .*Pass a text in valid Unicode, not empty\.",
    ):
        Trial(**{"task": "t", "algorithm": "a", "number": 0, kind: name})


def test_a_metric_has_a_name():
    with refused("metric", 3):
        Trial("t", "a", 0, {3: 0.5})


@pytest.mark.parametrize("number", [1.0, "1", None, True])
def test_a_trials_number_is_a_whole_number(number):
    with refused("number", number):
        Trial("t", "a", number)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_a_number_fits_in_64_bits(number):
    with pytest.raises(
        CurvewiseError,
        match=rf"A trial's number is {number}, which 64 bits cannot hold\. Pass a "
        r"smaller",
    ):
        Trial("t", "a", number)


def test_attempts_are_a_whole_number():
    with refused("attempts", 1.5, says=["t", "a", 0]):
        Trial("t", "a", 0, attempts=1.5)


@pytest.mark.parametrize("seconds", ["fast", None])
def test_seconds_are_a_number(seconds):
    with refused("seconds", seconds):
        Trial("t", "a", 0, seconds=seconds)


@pytest.mark.parametrize("metrics", [0.9, [0.1, 0.2], "accuracy"])
def test_metrics_are_a_mapping(metrics):
    with refused("metrics", metrics):
        Trial("t", "a", 0, metrics)


@pytest.mark.parametrize(
    "values",
    [
        "high",
        ["0.5", "0.6"],
        [[0.1, 0.2], [0.3, 0.4]],
        [[0.1], [0.2, 0.3]],
        [10**400],
        {"a": 1},
        np.array(["0.5"]),
        np.array([1j]),
        [b"1"],
    ],
    ids=str,
)
def test_a_curve_is_numbers(values):
    with refused("metrics", says=["t", "a", 0, "loss"]):
        Trial("t", "a", 0, {"loss": values})


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"metrics": {"loss": [1, 2, 3]}}, "3 values of metric 'loss'"),
        ({"counts": np.ones((3, 2, 2))}, "3 values of counts"),
        ({"correct": np.ones((3, 5))}, "3 values of correct"),
    ],
)
def test_there_is_one_value_per_step(field, words):
    with pytest.raises(
        CurvewiseError, match=rf"has 2 steps but {words}\. Pass one value per step\."
    ):
        Trial("t", "a", 0, steps=[1, 2], **field)


def test_metrics_have_one_length():
    with refused("steps", says=[3, 2, "b"]):
        Trial("t", "a", 0, {"a": [1, 2, 3], "b": [1, 2]})


@pytest.mark.parametrize(
    "steps", [[1, 1], [2, 1], [0, math.nan], [0, None], [0, math.inf]]
)
def test_steps_increase(steps):
    with refused("steps"):
        Trial("t", "a", 0, {"loss": [1, 2]}, steps=steps)


@pytest.mark.parametrize("steps", ["abc", [0, "x"], [[0], [1, 2]]])
def test_steps_are_numbers(steps):
    with refused("steps", steps):
        Trial("t", "a", 0, {"loss": [1, 2]}, steps=steps)


@pytest.mark.parametrize(
    "counts",
    [[1, 2], [[1, 2, 3], [4, 5, 6]], [[1]], [[1.5, 2], [3, 4]], [[math.inf, 1], [1, 1]],
     [[math.nan, 1], [1, 1]], [["1", "2"], ["3", "4"]]],
    ids=str,
)  # fmt: skip
def test_counts_are_whole_and_square(counts):
    with refused("counts", counts):
        Trial("t", "a", 0, counts=counts)


def test_counts_are_not_negative():
    with refused("counts", [[1, -1], [0, 1]]):
        Trial("t", "a", 0, counts=[[1, -1], [0, 1]])


@pytest.mark.parametrize("correct", [3, [0.5, 1], ["yes", "no"], np.ones((1, 2, 3))])
def test_correct_is_yes_or_no_for_each_example(correct):
    with refused("correct"):
        Trial("t", "a", 0, correct=correct)


@pytest.mark.parametrize("examples", [[1, 2], [1, 1, 2], [0.5, 1, 2], ["a", "b", "c"]])
def test_examples_have_one_whole_number_each(examples):
    with refused("examples", examples):
        Trial("t", "a", 0, correct=[1, 0, 1], examples=examples)


def test_examples_without_correct_say_nothing():
    with refused("examples", [1, 2]):
        Trial("t", "a", 0, examples=[1, 2])


def test_a_status_is_one_of_five():
    with refused("status", "done", says=STATUSES):
        Trial("t", "a", 0, status="done")


@pytest.mark.parametrize("field", ["params", "labels"])
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, {1, 2}, object(), b"x", "\ud800"]
)
def test_params_and_labels_are_plain_values(field, value):
    with pytest.raises(
        CurvewiseError,
        match=rf"Trial \('t', 'a', 0\), {field}: .* cannot be kept \(.*\)\. Use texts, "
        rf"finite numbers, booleans, None, and lists or dicts of them\.",
    ):
        Trial("t", "a", 0, **{field: {"x": value}})


def test_a_message_about_a_trial_with_a_long_name_is_short():
    with pytest.raises(CurvewiseError, match="has status") as caught:
        Trial("t" * 10_000, "a" * 10_000, 0, status="done")
    assert len(str(caught.value)) < 300


def test_an_error_text_that_has_no_bytes_is_kept_readable():
    """Names of files may hold half a surrogate pair; a run must not be lost for it."""
    error = Trial("t", "a", 0, status="failed", error="no file \udcff").error
    assert error == "no file ?"


# --- canonical -----------------------------------------------------------------------

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), plain_values, max_size=4))
def test_canonical_json_does_not_depend_on_the_order_of_keys(values):
    turned = dict(reversed(list(values.items())))
    assert canonical(values) == canonical(turned)
    assert canonical(Trial("t", "a", 0, params=values).params) == canonical(values)
