"""Results of scikit-learn, as it returns them and as people keep them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from folder_runs import asked
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    LearningCurveDisplay,
    StratifiedKFold,
    ValidationCurveDisplay,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import curvewise as cw
from curvewise import CurvewiseError

ASSETS = Path(__file__).parents[2] / "assets/foreign/sklearn"
X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y = X[ORDER] + np.random.default_rng(1).normal(0, 1, X.shape), Y[ORDER]
GAMMAS = [0.01, 0.1, 1.0]
GRID = [
    {"kernel": ["rbf"], "gamma": ["scale", 0.1], "C": [1, 10]},
    {"kernel": ["linear"]},
]


def tree():
    return DecisionTreeClassifier(random_state=0)


@pytest.fixture(scope="module")
def search():
    return GridSearchCV(SVC(), GRID, return_train_score=True).fit(X, Y)


@pytest.fixture(scope="module")
def curves():
    return {
        name: learning_curve(model, X, Y, cv=4, shuffle=True, random_state=0)
        for name, model in (("svm", SVC()), ("tree", tree()))
    }


# --- searches ----------------------------------------------------------------------------


def test_each_candidate_is_a_trial(search):
    trials = cw.read(search)
    found = search.cv_results_
    assert trials.algorithms == ("SVC",)
    # A column has one kind: where gamma is sometimes a word, it is always one.
    assert [t.params for t in trials] == [
        own | ({"gamma": str(own["gamma"])} if "gamma" in own else {})
        for own in found["params"]
    ]
    assert trials.scores("score")["SVC"].tolist() == found["mean_test_score"].tolist()
    trained = trials.scores("train_score")["SVC"]
    assert trained.tolist() == found["mean_train_score"].tolist()
    assert trials[1].labels["split2_test_score"] == found["split2_test_score"][1]
    assert trials[0].seconds == found["mean_fit_time"][0]


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_a_search_is_the_same_in_every_form(search, kind):
    found = search.cv_results_
    if kind is pl.DataFrame:  # it takes no masked arrays and no columns of two kinds
        found = {n: list(v) for n, v in found.items() if not n.startswith("param_")}
        found["params"] = [
            {k: str(v) for k, v in own.items()} for own in found["params"]
        ]
    trials = cw.read(kind(found))
    expected = search.cv_results_["mean_test_score"].tolist()
    assert trials.scores("score")["all"].tolist() == expected
    if kind is not pl.DataFrame:
        assert [t.params for t in trials] == [t.params for t in cw.read(search)]
        assert "gamma" not in trials[4].params


def test_several_searches_are_several_algorithms(search):
    other = GridSearchCV(tree(), {"max_depth": [1, 2]}).fit(X, Y)
    trials = cw.read({"svm": search, "tree": other})
    assert trials.algorithms == ("svm", "tree")
    assert [len(trials.where(algorithm=a)) for a in ("svm", "tree")] == [5, 2]
    assert trials.where(algorithm="tree")[1].params == {"max_depth": 2}


def test_a_search_through_a_pipeline_is_called_by_its_last_step():
    pipe = make_pipeline(StandardScaler(), SVC())
    trials = cw.read(GridSearchCV(pipe, {"svc__C": [1, 2]}, cv=2).fit(X, Y))
    assert trials.algorithms == ("SVC",)
    assert trials[1].params == {"svc__C": 2}
    named = cw.read(
        GridSearchCV(pipe, {"svc__C": [1, 2]}, cv=2).fit(X, Y),
        roles={"algorithm": "scaled svm", "task": "iris"},
    )
    assert (named.tasks, named.algorithms) == (("iris",), ("scaled svm",))


def test_scorers_are_higher_is_better_whatever_their_names():
    scoring = {"neg_log_loss": "neg_log_loss", "mae": "neg_mean_absolute_error"}
    found = GridSearchCV(
        tree(), {"max_depth": [1, 3]}, scoring=scoring, refit=False, cv=3
    ).fit(X, Y)
    trials = cw.read(found)
    assert {m.direction for m in trials.metrics.values()} == {"higher"}
    scores = trials.scores("mae")["DecisionTreeClassifier"]
    assert scores.tolist() == found.cv_results_["mean_test_mae"].tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_candidate_that_cannot_be_fitted_has_failed():
    found = GridSearchCV(SVC(), {"C": [1, -1]}, cv=2).fit(X, Y)
    trials = cw.read(found)
    assert [t.status for t in trials] == ["ok", "failed"]
    assert trials[1].params == {"C": -1}


def test_halving_gives_curves_over_resources():
    found = HalvingGridSearchCV(SVC(), {"C": [0.1, 1, 10, 100]}, random_state=0)
    found.fit(X, Y)
    trials = cw.read(found)
    assert len(trials) == 4
    rows = pd.DataFrame(found.cv_results_)
    for trial in trials:
        own = rows[rows["param_C"] == trial.params["C"]]
        assert trial.steps.tolist() == own["n_resources"].tolist()
        assert trial.metrics["score"].tolist() == own["mean_test_score"].tolist()
        is_last = own["iter"].max() == found.n_iterations_ - 1
        assert trial.status == ("ok" if is_last else "cancelled")


@pytest.mark.parametrize("version", sorted(p.name for p in ASSETS.iterdir()))
def test_a_search_kept_as_a_file(version):
    best = json.loads((ASSETS / version / "best.json").read_text())
    trials = cw.read(ASSETS / version / "cv_results.csv")
    assert list(trials.metrics) == [
        *("accuracy", "train_accuracy", "f1_macro", "train_f1_macro"),
    ]
    trial = trials[best["best_index"]]
    assert trial.metrics["accuracy"][-1] == best["best_score"]
    assert {k: str(v) for k, v in trial.params.items()} == {
        k: str(v) for k, v in best["best_params"].items()
    }
    assert [t.status for t in trials] == ["ok"] * 7 + ["failed"]


# --- cross-validation and curves ---------------------------------------------------------


def test_each_fold_of_cross_validate_is_a_trial():
    found = {
        name: cross_validate(model, X, Y, scoring=["accuracy", "f1_macro"])
        for name, model in (("svm", SVC()), ("tree", tree()))
    }
    trials = cw.read(found)
    assert len(trials) == 10
    scores = trials.scores("f1_macro")
    assert scores["tree"].tolist() == found["tree"]["test_f1_macro"].tolist()
    alone = cw.read(cross_validate(SVC(), X, Y, return_train_score=True))
    assert list(alone.metrics) == ["score", "train_score"]
    assert [t.labels["fold"] for t in alone] == [0, 1, 2, 3, 4]


def test_each_split_of_a_learning_curve_is_a_trial(curves):
    trials = cw.read(curves)
    sizes, train, test = curves["tree"][:3]
    own = trials.where(algorithm="tree")
    assert len(own) == 4
    for i, trial in enumerate(own):
        assert trial.steps.tolist() == sizes.tolist()
        assert trial.metrics["score"].tolist() == test[:, i].tolist()
        assert trial.metrics["train_score"].tolist() == train[:, i].tolist()
    assert {t.number for t in own} == {0, 1, 2, 3}
    timed = learning_curve(SVC(), X, Y, cv=3, return_times=True)
    assert len(cw.read(timed)) == 3


def test_learning_curves_can_be_asked_about(curves):
    answer = cw.learning(
        cw.read(curves, metrics={"score": cw.Metric("score", "higher", (0, 1))})
    )
    assert {row["algorithm"] for row in answer.rows()} == {"svm", "tree"}


def test_displays_are_read_like_what_they_show(curves):
    sizes, train, test = curves["svm"][:3]
    display = LearningCurveDisplay(
        train_sizes=sizes, train_scores=train, test_scores=test, score_name="Accuracy"
    )
    trials = cw.read(display)
    assert trials.metrics["accuracy"].range == (0, 1)
    assert trials[3].metrics["accuracy"].tolist() == test[:, 3].tolist()
    # Scores are kept as the scorer gave them, so that the name of a loss would mislead.
    lossy = LearningCurveDisplay(
        train_sizes=sizes, train_scores=-train, test_scores=-test, score_name="Log loss"
    )
    assert list(cw.read(lossy).metrics) == ["score", "train_score"]


def test_each_value_of_a_validation_curve_is_a_trial():
    found = validation_curve(SVC(), X, Y, param_name="gamma", param_range=GAMMAS, cv=3)
    trials = cw.read(found, params={"gamma": GAMMAS})
    assert [t.params for t in trials] == [{"gamma": g} for g in GAMMAS]
    np.testing.assert_array_equal(trials.scores("score")["all"], found[1].mean(axis=1))
    assert trials[2].labels["split1_test_score"] == found[1][2, 1]
    display = ValidationCurveDisplay(
        param_name="gamma",
        param_range=np.array(GAMMAS),
        train_scores=found[0],
        test_scores=found[1],
    )
    assert [t.params for t in cw.read(display)] == [t.params for t in trials]
    for params in (None, {"gamma": [1, 2]}):
        refusal = asked(found, params=params)
        assert (refusal.argument, refusal.value) == ("params", params)


def test_a_fold_that_was_never_scored_has_failed(curves):
    sizes, train, test = (own.copy() for own in curves["svm"][:3])
    train[:, 1] = test[:, 1] = np.nan
    test[2, 3] = np.nan
    trials = cw.read((sizes, train, test))
    assert [t.status for t in trials] == ["ok", "failed", "ok", "ok"]
    assert np.isnan(trials[3].metrics["score"][2])


# --- confusion matrices ------------------------------------------------------------------


def matrices(model, size=None):
    return [
        confusion_matrix(Y[test], model.fit(X[part], Y[part]).predict(X[test]))
        for train, test in StratifiedKFold(4).split(X, Y)
        for part in [train[:size]]
    ]


def test_confusion_matrices_are_counts():
    found = {"svm": matrices(SVC()), "tree": np.array(matrices(tree()))}
    trials = cw.read(found)
    assert len(trials) == 8
    for i, trial in enumerate(trials.where(algorithm="tree")):
        assert trial.counts.tolist() == [found["tree"][i].tolist()]
    accuracies = [np.trace(m) / m.sum() for m in found["svm"]]
    np.testing.assert_allclose(trials.scores("accuracy")["svm"], accuracies)
    with pytest.raises(CurvewiseError, match=r"'svm'"):
        cw.confusion(trials, "f1")


def test_confusion_matrices_by_size_are_curves():
    found = {
        name: {size: matrices(model, size) for size in (30, 60, 100)}
        for name, model in (("svm", SVC()), ("tree", tree()))
    }
    trials = cw.read(found)
    assert len(trials) == 8
    assert trials[0].steps.tolist() == [30, 60, 100]
    assert trials[5].counts[1].tolist() == found["tree"][60][1].tolist()
    assert {row["algorithm"] for row in cw.confusion(trials, "f1").rows()} == {
        "svm", "tree"
    }  # fmt: skip


def test_a_pair_of_matrices_is_no_validation_curve():
    one, other = np.array([[5, 1], [2, 7]]), np.array([[6, 0], [1, 8]])
    assert [t.counts.tolist() for t in cw.read((one, other))] == [
        [one.tolist()], [other.tolist()]
    ]  # fmt: skip


def test_one_matrix_is_one_trial():
    (trial,) = cw.read(np.array([[5, 1], [2, 7]]))
    assert trial.counts.tolist() == [[[5, 1], [2, 7]]]


# --- what does not fit -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(
            lambda s, a, b: (s[:-1], a, b), r"shape \(5, 4\), and there are 4", id="cut"
        ),
        pytest.param(
            lambda s, a, b: {"svm": (s, a, b), "tree": np.ones((2, 3))},
            r"several kinds: 'svm' learning_curve; 'tree' None",
            id="stranger",
        ),
        pytest.param(
            lambda s, a, b: {"svm": (s, a, b), "tree": (a, b)},
            r"several kinds: .*validation_curve",
            id="mixed",
        ),
    ],
)
def test_curves_that_do_not_fit_are_named(curves, change, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.read(change(*curves["svm"][:3]))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param(
            {"params": [], "mean_test_score": []}, r"at least one candidate", id="none"
        ),
        pytest.param(
            {"params": [{}, {}], "mean_test_score": [1.0]},
            r"'1', '2' rows",
            id="ragged",
        ),
        pytest.param(
            {"params": [{}], "mean_test_score": ["x"]},
            r"'mean_test_score' holds \['x'\]",
            id="text",
        ),
        pytest.param(
            {"fit_time": [1.0], "score_time": [1.0], "test_score": [0.5, 0.6]},
            r"cross_validate's arrays have lengths",
            id="folds",
        ),
        pytest.param(
            {"a": np.eye(2, dtype=int), "b": np.eye(3, dtype=int)},
            r"shapes \[\(2, 2\), \(3, 3\)\]\. Pass those of the same classes",
            id="classes",
        ),
        pytest.param(
            {"a": np.eye(2, dtype=int), "b": {10: np.eye(2, dtype=int)}},
            r"by size and some have none",
            id="sizes",
        ),
    ],
)
def test_objects_that_do_not_fit_are_named(source, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.read(source)


def test_a_step_that_there_is_not_is_refused(curves):
    refusal = asked(curves, step="epoch")
    assert (refusal.argument, refusal.value) == ("step", "epoch")
    assert cw.read(curves, step="size")[0].steps[0] > 1


def test_tool_refuses_what_is_not_its_own():
    refusal = asked({"model": ["a"], "acc": [0.5]}, tool="sklearn")
    assert (refusal.argument, refusal.value) == ("tool", "sklearn")
