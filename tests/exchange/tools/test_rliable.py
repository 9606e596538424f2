"""Arrays as rliable takes them."""

import numpy as np
import pandas as pd
import pytest

import curvewise as cw
from curvewise import CurvewiseError, Metric

RNG = np.random.default_rng(1)
DQN, PPO = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))
SCORES = {"DQN": DQN, "PPO": PPO}
CURVES = {"DQN": RNG.normal(size=(5, 3, 4)), "PPO": RNG.normal(size=(2, 3, 4))}


def test_each_score_is_a_trial():
    trials = cw.read(SCORES)
    assert len(trials) == DQN.size + PPO.size
    assert trials.tasks == ("task 0", "task 1", "task 2")
    for i, task in enumerate(trials.tasks):
        scores = trials.where(task=task).scores("score")
        assert scores["DQN"].tolist() == DQN[:, i].tolist()
        assert scores["PPO"].tolist() == PPO[:, i].tolist()
    assert trials.metrics["score"] == Metric("score", "higher")
    assert [t.number for t in trials.where(task="task 1", algorithm="PPO")] == [
        0,
        1,
        2,
        3,
    ]


def test_tasks_and_the_score_may_be_named():
    trials = cw.read(
        SCORES, task=["Pong", "Qbert", "Boxing"], metrics={"loss": "lower"}
    )
    assert trials.tasks == ("Pong", "Qbert", "Boxing")
    assert trials.metrics["loss"].direction == "lower"
    scores = trials.where(task="Boxing").scores("loss")
    assert scores["DQN"].tolist() == DQN[:, 2].tolist()


def test_arrays_of_three_dimensions_are_curves():
    trials = cw.read(CURVES, params={"frames": [1e6, 2e6, 5e6, 1e7]})
    trial = next(iter(trials.where(task="task 2", algorithm="PPO", number=1)))
    assert trial.metrics["score"].tolist() == CURVES["PPO"][1, 2].tolist()
    assert trial.steps.tolist() == [1e6, 2e6, 5e6, 1e7]
    assert cw.read(CURVES)[0].steps.tolist() == [0, 1, 2, 3]


def test_what_is_not_a_number_is_a_failed_trial():
    broken = DQN.copy()
    broken[2, 1] = np.nan
    trials = cw.read({"DQN": broken, "PPO": PPO})
    failed = [t.key for t in trials if t.status == "failed"]
    assert failed == [("task 1", "DQN", 2)]
    assert all(t.status == "ok" for t in cw.read(SCORES))


def test_whole_numbers_in_squares_are_confusion_matrices_unless_one_says_so():
    squares = {"a": np.array([[5, 1], [2, 7]]), "b": np.array([[4, 2], [0, 9]])}
    assert cw.read(squares)[0].counts is not None
    trials = cw.read(squares, tool="rliable")
    assert trials.where(task="task 1").scores("score")["a"].tolist() == [1, 7]
    assert cw.read({"a": np.array([[5, 1], [2, -7]])})[0].counts is None
    assert cw.read({"a": np.array([[5.5, 1], [2, 7]])})[0].counts is None


@pytest.mark.parametrize(
    ("source", "keywords", "words"),
    [
        pytest.param(
            {"a": DQN, "b": DQN[:, :2]}, {}, r"shapes 'a': \(5, 3, 1\)", id="tasks"
        ),
        pytest.param(
            {"a": DQN, "b": DQN[:, 0]}, {}, r"'b' has shape \(5,\)\. Pass", id="flat"
        ),
        pytest.param({"a": np.empty((0, 3))}, {}, r"shape \(0, 3\)", id="empty"),
        pytest.param({"a": np.ones((2, 2, 2, 2))}, {}, r"\(2, 2, 2, 2\)", id="deep"),
        pytest.param(
            {"a": np.array([["x", "y"]])}, {}, r"holds <U1, no numbers", id="text"
        ),
        pytest.param(SCORES, {"task": ["a"]}, r"have 3 tasks\. Pass one", id="names"),
        pytest.param(SCORES, {"task": ["a", "a", "b"]}, r"one name for", id="twice"),
        pytest.param(
            SCORES, {"metrics": ["a", "b"]}, r"names 'a', 'b', and the", id="metrics"
        ),
        pytest.param(SCORES, {"step": "frames"}, r"these have no steps", id="no-steps"),
        pytest.param(
            CURVES, {"params": {"frames": [1, 2]}}, r"have 4 steps\.", id="steps"
        ),
        pytest.param(
            CURVES, {"params": {"frames": list("abcd")}}, r"have 4 steps", id="letters"
        ),
        pytest.param(
            CURVES, {"params": {"a": [1], "b": [2]}}, r"Name what steps count", id="two"
        ),
    ],
)
def test_what_does_not_fit_is_named(source, keywords, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.read(source, **keywords)


def test_a_list_of_tasks_names_columns_of_a_table():
    frame = pd.DataFrame({"model": ["a", "b"], "x": [0.5, 0.6], "y": [0.1, 0.2]})
    with pytest.raises(CurvewiseError, match="no column 'z'"):
        cw.read(frame, task=["z"])
    trials = cw.read(frame, task=["x", "y"], metrics={"acc": "higher"})
    assert (trials.tasks, len(trials)) == (("x", "y"), 4)
    assert trials.where(task="y").scores("acc")["b"].tolist() == [0.2]


def test_columns_of_one_dimension_are_a_table_as_ever():
    trials = cw.read({"model": np.array(["a", "b"]), "acc": np.array([0.5, 0.6])})
    assert trials.algorithms == ("a", "b")
