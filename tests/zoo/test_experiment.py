import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import curvewise as cw
from curvewise import zoo
from curvewise.engine.seeding import stream
from curvewise.engine.spaces import loguniform
from curvewise.errors import CurvewiseError
from curvewise.metrics import accuracy

X, Y = load_iris(return_X_y=True)


def trial(experiment, algorithm, number=0):
    (task,) = experiment.tasks
    own = experiment.algorithm(algorithm)
    roles = ("train", "test")
    draw, line = divmod(number, task.lines)
    data = task.sample(*(stream(0, r, task.name, replicate=draw) for r in roles))
    data = data.line(line) if task.lines > 1 else data
    params = own.draw(stream(0, "params", task.name, algorithm, replicate=number))
    rng = stream(0, "seed", task.name, algorithm, replicate=number)
    return list(own.run(params, data, rng))


def test_estimators_become_algorithms_on_growing_parts_of_the_data():
    plan = zoo.experiment(
        X, Y, {"svm": SVC(), "bayes": GaussianNB()}, sizes="auto", trials=10, seed=0
    )
    assert [a.name for a in plan.algorithms] == ["svm", "bayes"]
    assert (plan.trials, plan.seed, plan.size) == (10, 0, 20)
    for name in ("svm", "bayes"):
        steps = trial(plan, name)
        assert [n for n, _ in steps] == [14, 28, 56, 112]
        assert all(y["counts"].sum() == 38 for _, y in steps)
        assert all(y["counts"].shape == (3, 3) for _, y in steps)
        assert accuracy(steps[-1][1]["counts"]) > 0.85
        assert len(steps[0][1]["examples"]) == len(steps[0][1]["correct"]) == 38


def test_no_sizes_give_one_score():
    plan = zoo.experiment(X, Y, {"bayes": GaussianNB()}, sizes=None, examples=False)
    ((n, scores),) = trial(plan, "bayes")
    assert n == 112
    assert set(scores) == {"counts"}


def test_estimators_meet_the_same_splits_and_are_left_as_they_were():
    tree = DecisionTreeClassifier()
    plan = zoo.experiment(X, Y, {"tree": tree, "bayes": GaussianNB()})
    one, other = (trial(plan, name)[0][1]["examples"] for name in ("tree", "bayes"))
    assert (one == other).all()
    assert not hasattr(tree, "tree_")


def test_every_random_state_is_set_also_inside_a_pipeline():
    seen = []

    class Tree(DecisionTreeClassifier):
        def fit(self, X, y):
            seen.append(self.random_state)
            return super().fit(X, y)

    plan = zoo.experiment(
        X,
        Y,
        {"pipe": make_pipeline(StandardScaler(), Tree(random_state=0))},
        sizes=None,
    )
    trial(plan, "pipe", 0), trial(plan, "pipe", 0), trial(plan, "pipe", 1)
    assert seen[0] == seen[1] != seen[2]
    assert 0 not in seen


def test_spaces_are_drawn_from_where_there_are_any():
    seen = []

    class Machine(SVC):
        def fit(self, X, y):
            seen.append(self.C)
            return super().fit(X, y)

    plan = zoo.experiment(
        X,
        Y,
        {"svm": Machine(), "bayes": GaussianNB()},
        spaces={"svm": {"C": loguniform(0.1, 10)}},
        sizes=None,
    )
    for number in (0, 0, 1):
        trial(plan, "svm", number)
    assert seen[0] == seen[1] != seen[2]
    assert plan.algorithm("bayes").space == {}


def test_lines_make_a_trial_of_every_disjoint_part():
    plan = zoo.experiment(
        X, Y, {"bayes": GaussianNB()}, sizes="small", lines="all", stratify=True
    )
    assert plan.tasks[0].lines == 4
    assert [[n for n, _ in trial(plan, "bayes", i)] for i in range(4)] == [
        [28, 56, 112],
        [28],
        [28, 56],
        [28],
    ]


def test_regressors_are_scored_by_rmse_and_r2():
    data, target = load_diabetes(return_X_y=True)  # whole numbers, and no labels
    plan = zoo.experiment(data, target, {"line": LinearRegression(), "ridge": Ridge()})
    steps = trial(plan, "line")
    assert [n for n, _ in steps][-1] == 331
    assert set(steps[-1][1]) == {"rmse", "r2"}
    assert 0.2 < steps[-1][1]["r2"] < 0.7


def test_frames_texts_and_validation_within_the_training_set():
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = pd.Series(np.array(["setosa", "versicolor", "virginica"])[Y])
    plan = zoo.experiment(frame, names, {"bayes": GaussianNB()}, validate=4, sizes=[40])
    ((_, scores),) = trial(plan, "bayes")
    assert scores["counts"].sum() == 40
    assert scores["trained_on"] == 30


@pytest.mark.parametrize("base", [BaseEstimator, object])
def test_an_estimator_that_says_nothing_about_itself_is_taken_by_the_labels(base):
    class Constant(base):
        def get_params(self, deep=True):
            return {}

        def set_params(self):
            return self

        def fit(self, X, y):
            self.y_ = y[0]
            return self

        def predict(self, X):
            return np.full(len(X), self.y_)

    plan = zoo.experiment(X, Y, {"constant": Constant()}, sizes=None)
    assert "counts" in trial(plan, "constant")[0][1]


def test_an_experiment_travels():
    plan = zoo.experiment(X, Y, {"svm": SVC()})
    copy = pickle.loads(pickle.dumps(plan))
    assert copy.definition() == plan.definition()
    changed = zoo.experiment(X, Y, {"svm": SVC(C=2)}).definition()
    assert changed != plan.definition()
    one, other = trial(plan, "svm"), trial(copy, "svm")
    assert (one[-1][1]["counts"] == other[-1][1]["counts"]).all()


@pytest.mark.parametrize(
    ("estimators", "options", "message"),
    [
        ({}, {}, "estimators is {}. Pass a dict from names to estimators"),
        ([SVC()], {}, r"estimators is \[SVC\(\)\]. Pass a dict"),
        ({"svm": SVC}, {}, "Estimator 'svm' is a class. Pass an object"),
        ({"svm": "SVC"}, {}, "Estimator 'svm' has no 'fit', 'predict'"),
        (
            {"svm": SVC(), "line": Ridge()},
            {},
            "'svm' predict labels, 'line' predict numbers. Make an experiment of each",
        ),
        ({"svm": SVC()}, {"spaces": {"svn": {}}}, "no estimator for the space 'svn'"),
        (
            {"svm": SVC()},
            {"spaces": {"svm": {"c": [1]}}},
            "no parameter of estimator 'svm' 'c'",
        ),
        ({"svm": SVC()}, {"sizes": [500]}, "Size 500 was asked for"),
        ({"svm": SVC()}, {"sizes": "huge"}, "no design 'huge'"),
        ({"svm": SVC()}, {"trials": 0}, "trials is 0"),
        ({"svm": SVC()}, {"lines": 99}, "lines is 99, and the sizes of task 'data'"),
    ],
)
def test_what_cannot_be_run_says_why(estimators, options, message):
    with pytest.raises(CurvewiseError, match=message):
        zoo.experiment(X, Y, estimators, **options)


def test_texts_are_no_numbers():
    with pytest.raises(
        CurvewiseError, match=r"y holds str.* numbers are to be predicted"
    ):
        zoo.experiment(X, np.array(["a", "b", "c"])[Y], {"ridge": Ridge()})


@pytest.mark.slow
def test_imports_do_not_count_against_the_time_limit(tmp_path):
    """In a worker's first trial scikit-learn alone would take longer than half a second."""
    plan = cw.Experiment([cw.zoo.task("moons")], [cw.zoo.algorithm("knn")], 4, seed=1)
    trials = cw.run(plan, workers=2, timeout=0.9, progress=False)
    assert {t.status for t in trials} == {"ok"}
