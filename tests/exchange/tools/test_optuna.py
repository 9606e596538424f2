"""Optuna's storages, as Optuna wrote them, compared with what Optuna says of them."""

import json
import math
import sqlite3
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from folder_runs import asked, omitted
from optuna_files import ASSETS, NEW, assert_same, copied, curve, read, told

from curvewise import CurvewiseError
from curvewise.exchange.tools.optuna.studies import drawn_from

FILES = [
    "optuna-5.0.0/search.db",
    "optuna-5.0.0/search.log",
    "optuna-5.0.0/kinds.db",
    "optuna-5.0.0/kinds.log",
    "optuna-3.1.0/search.log",
    "optuna-2.10.1/search.db",
    "optuna-2.10.1/kinds.db",
    "optuna-2.3.0/search.db",
]
STATUS = {
    "COMPLETE": "ok",
    "FAIL": "failed",
    "PRUNED": "cancelled",
    "RUNNING": "cancelled",
    "WAITING": "cancelled",
}


def number(value):
    """Return a number that may be spelled because JSON has no such thing."""
    return float(value)


def cell(name, value):
    """Return a hyperparameter as we keep it: None is a choice, and mixed ones are texts."""
    return str(value) if name == "depth" else value


# --- what Optuna says is what we read ----------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_every_trial_is_what_optuna_says(name):
    trials, _ = read(ASSETS / name)
    studies = {study: own for study, own in told(name).items() if own["trials"]}
    assert set(trials.algorithms) == set(studies)
    assert len(trials) == sum(len(own["trials"]) for own in studies.values())
    for study, own in studies.items():
        ours = {trial.number: trial for trial in trials if trial.algorithm == study}
        for one in own["trials"]:
            trial = ours[one["number"]]
            assert trial.labels["run"] == f"{study}/{one['number']}"
            assert trial.status == STATUS[one["state"]]
            assert trial.labels["state"] == one["state"]
            params = {n: cell(n, v) for n, v in one["params"].items()}
            assert trial.params == params
            if one["seconds"] is None:
                assert math.isnan(trial.seconds)
            else:
                assert trial.seconds == pytest.approx(one["seconds"], abs=1e-6)


@pytest.mark.parametrize("name", [name for name in FILES if "search" in name])
def test_every_value_is_what_optuna_says(name):
    trials, _ = read(ASSETS / name)
    seen = Counter()
    for study, own in told(name).items():
        ours = {trial.number: trial for trial in trials if trial.algorithm == study}
        for one in own["trials"]:
            trial = ours[one["number"]]
            reported = {
                float(k): number(v) for k, v in one["intermediate_values"].items()
            }
            assert_same(curve(trial, "intermediate"), reported)
            final = {4.0: number(*one["values"])} if one["values"] else {}
            assert_same(curve(trial, "value"), final)
            seen[one["state"]] += bool(reported)
    assert min(seen["PRUNED"], seen["FAIL"]) > 0  # they keep what they reported


def test_infinite_values_and_nan_are_recorded_and_count_as_failures():
    trials, _ = read(NEW / "search.db")
    going_on, added = trials[8], trials[9]
    assert_same(
        curve(going_on, "intermediate"), {1.0: -3.0, 2.0: math.nan, 4.0: -math.inf}
    )
    assert added.status == "ok"
    assert curve(added, "value") == {4.0: -math.inf}
    ends = Counter(
        one["state"] for one in told("optuna-5.0.0/search.db")["random"]["trials"]
    )
    well = ends["COMPLETE"] - 1
    assert trials.where(algorithm="random").count_failed("value") == 11 - well


@pytest.mark.parametrize("name", [name for name in FILES if "search" in name])
def test_attributes_are_labels(name):
    trials, _ = read(ASSETS / name)
    for study, own in told(name).items():
        ours = {trial.number: trial for trial in trials if trial.algorithm == study}
        for one in own["trials"]:
            labels = ours[one["number"]].labels
            for key, value in one["user_attrs"].items():
                kept = json.dumps(value) if isinstance(value, list) else value
                assert labels[f"user_attrs.{key}"] == kept
            assert ("user_attrs.note" in labels) == ("note" in one["user_attrs"])


def test_an_old_failure_says_why():
    trials, _ = read(ASSETS / "optuna-2.3.0" / "search.db")
    assert "no memory left" in trials[4].error
    assert trials[0].error == ""


def test_final_values_are_scores_of_one_moment_with_or_without_curves():
    both, _ = read(NEW / "search.db")
    alone, _ = read(NEW / "search.db", metrics=["value"])
    one = both.scores("value", failed=-9.0)
    other = alone.scores("value", failed=-9.0)
    for study in ("random", "tpe"):
        assert one[study].tolist() == other[study].tolist()
    ends = told("optuna-5.0.0/search.db")["tpe"]["trials"]
    expected = [
        number(t["values"][0]) if t["state"] == "COMPLETE" else -9.0 for t in ends
    ]
    expected[-2] = -9.0  # minus infinity is no score
    assert one["tpe"].tolist() == pytest.approx(expected)


# --- several studies ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kinds.db", "kinds.log"])
def test_studies_that_disagree_on_what_is_better_have_metrics_of_their_own(name):
    trials, said = read(NEW / name)
    meant = {metric.name: metric.direction for metric in trials.metrics.values()}
    assert meant == {
        "loss/value": "lower",
        "gain/value": "higher",
        "seconds": "lower",
        "accuracy": "higher",
    }
    assert "'loss'" in said[0]
    assert "'gain'" in said[0]
    assert "metrics=['loss/value']" in said[1]
    loss = trials.where(algorithm="loss").scores("loss/value")["loss"]
    values = [t["values"][0] for t in told(f"optuna-5.0.0/{name}")["loss"]["trials"]]
    assert loss.tolist() == values


@pytest.mark.parametrize("name", ["kinds.db", "kinds.log"])
def test_a_metric_chooses_its_studies(name):
    trials, said = read(NEW / name, metrics=["gain/value"])
    assert trials.algorithms == ("gain",)
    assert len(trials) == 5
    *_, (n, what, studies) = omitted(NEW / name, metrics=("gain/value",))
    assert (n, what, studies[0]) == (10, "run", "loss")
    assert len(said) == 1
    pareto, _ = read(NEW / name, metrics=["accuracy", "seconds"])
    first = told(f"optuna-5.0.0/{name}")["pareto"]["trials"][0]["values"]
    assert [curve(pareto[0], m)[0] for m in ("seconds", "accuracy")] == first


def test_a_metric_of_no_study_is_asked_back():
    refusal = asked(NEW / "kinds.db", metrics=["value"])
    assert (refusal.argument, refusal.value) == ("metric", "value")
    assert "loss/value" in str(refusal)


def test_objectives_without_names_are_called_as_optuna_calls_them():
    trials, _ = read(ASSETS / "optuna-2.10.1" / "kinds.db", metrics=["values_1"])
    values = told("optuna-2.10.1/kinds.db")["pareto"]["trials"]
    assert trials.scores("values_1")["pareto"].tolist() == [
        one["values"][1] for one in values
    ]
    assert trials.metrics["values_1"].direction == "higher"


def test_empty_and_deleted_studies_are_counted():
    empty = (1, "study", ("empty",))
    assert omitted(NEW / "kinds.log") == [(2, "run", ()), empty]
    assert omitted(NEW / "kinds.db") == [empty]
    assert omitted(NEW / "search.db") == []


def test_what_a_search_drew_is_no_role_unless_somebody_says_so(tmp_path):
    path = copied("search.db", tmp_path)
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE trial_params SET param_name = 'model' WHERE param_name = 'optimizer'"
        )
    trials, _ = read(path)
    assert trials.algorithms == ("random", "tpe")
    assert trials[0].params["model"] in ("sgd", "adam")
    drawn = [t.params.get("model", "none") for t in trials]
    with sqlite3.connect(path) as database:  # trials that drew nothing have no model
        database.execute("DELETE FROM trials WHERE state IN ('RUNNING', 'WAITING')")
        database.execute("DELETE FROM trials WHERE trial_id IN (10, 21)")
    stated, _ = read(path, algorithm="params.model", task="study")
    assert stated.tasks == ("random", "tpe")
    found = Counter(t.algorithm for t in stated)
    assert found == {name: drawn.count(name) for name in ("sgd", "adam")}


def test_trials_of_two_studies_are_no_pairs():
    trials, _ = read(NEW / "search.db")
    assert [t.number for t in trials] == [*range(11), *range(11)]
    assert "trial=(counted)" in trials.origin  # which analyses take for: no pairs
    stated, _ = read(NEW / "search.db", trial="run")
    assert "trial=run" in stated.origin


def test_the_address_of_a_storage_is_read_like_its_path():
    trials, _ = read(f"sqlite:///{NEW / 'search.db'}")
    assert list(trials) == list(read(NEW / "search.db")[0])


def test_a_clock_that_optuna_does_not_have_is_refused():
    assert len(read(NEW / "search.log", step="step")[0]) == 11
    refusal = asked(NEW / "search.log", step="epoch")
    assert (refusal.argument, refusal.value) == ("step", "epoch")


# --- frames and studies in memory --------------------------------------------------------


def frame(**keywords):
    """Return a frame as pandas reads the one that Optuna saved."""
    return pd.read_csv(NEW / "random.csv", index_col=0, **keywords)


@pytest.mark.parametrize("name", ["random.csv", "random.parquet", "random_curves.csv"])
def test_saved_frames_say_what_the_storage_says(name):
    both = {"value": "higher", "intermediate": "higher"}
    metrics = both if "curves" in name else {"value": "higher"}
    trials, _ = read(NEW / name, metrics=metrics)
    stored = [t for t in read(NEW / "search.db")[0] if t.algorithm == "random"]
    assert trials.algorithms == (Path(name).stem,)
    assert [t.status for t in trials] == [t.status for t in stored]
    for ours, theirs in zip(trials, stored, strict=True):
        found = [*curve(ours, "value").values()]
        assert found == pytest.approx([*curve(theirs, "value").values()])
        for key, value in theirs.params.items():
            if value != "None":  # which a frame cannot tell from nothing
                assert float_or(ours.params[key]) == float_or(value)
        if "curves" in name:
            finite = {
                step: value
                for step, value in curve(theirs, "intermediate").items()
                if not math.isnan(value)  # nor this
            }
            assert_same(curve(ours, "intermediate"), finite)
        else:
            assert ours.seconds == pytest.approx(theirs.seconds, nan_ok=True)


def float_or(value):
    """Return a number as a float: "3" is 3.0 in a frame with empty cells."""
    try:
        return float(value)
    except ValueError:
        return value


def test_a_frame_is_asked_whether_high_or_low_is_better():
    assert {"value": "lower"} in [
        one.get("metrics") for one in asked(frame()).text.fixes
    ]
    trials, _ = read(frame(), metrics={"value": "lower"})
    assert trials.metrics["value"].direction == "lower"
    assert trials.algorithms == ("study",)
    named = frame().rename(columns={"value": "value_accuracy"})
    named["value_accuracy"] = named["value_accuracy"].clip(-1, 0) + 1
    trials, _ = read(named)  # a name that says what is better
    assert trials.metrics["accuracy"].direction == "higher"


def test_frames_of_two_studies_keep_the_studies_apart():
    both = pd.concat([frame().assign(study_name=name) for name in ("one", "two")])
    trials, _ = read(both, metrics={"value": "higher"})
    assert trials.algorithms == ("one", "two")
    assert len(trials) == 22


def test_a_frame_with_columns_of_two_levels_is_flattened():
    flat = frame()
    pairs = [
        tuple(column.split("_", 1)) if column.startswith("params_") else (column, "")
        for column in flat
    ]
    levels = flat.set_axis(pd.MultiIndex.from_tuples(pairs), axis=1)
    stated = {"metrics": {"value": "higher"}}
    assert list(read(levels, **stated)[0]) == list(read(flat, **stated)[0])
    strange = levels.drop(columns=[("number", "")])
    with pytest.raises(CurvewiseError, match="several levels"):
        read(strange, **stated)


def test_a_table_that_only_looks_like_it_is_read_as_a_table():
    table = {"number": [0, 1], "value": [1.0, 2.0], "state": ["ok", "failed"]}
    trials, _ = read(table, metrics={"value": "lower"})
    assert trials.algorithms == ("all",)
    assert [t.status for t in trials] == ["ok", "failed"]


class Named:
    """A direction or a state, as Optuna's enumerations are."""

    def __init__(self, name):
        self.name = name


class Choice:
    """A distribution with choices."""

    choices = (None, "a", 5)


class Frozen:
    """A trial as `study.get_trials` returns it."""

    def __init__(self, number, state, values, params, intermediate_values):
        self.number, self.state, self.values = number, Named(state), values
        self.params, self.intermediate_values = params, intermediate_values
        self.distributions = {"x": Named("int"), "kind": Choice()}
        self.user_attrs, self.system_attrs, self.duration = {}, {}, None


class Study:
    """What we use of a study in memory."""

    study_name = "live"
    directions = (Named("MINIMIZE"),)
    metric_names = ("loss",)
    best_trials = ()

    def get_trials(self, *, deepcopy):
        assert not deepcopy
        return [
            Frozen(0, "COMPLETE", [0.5], {"x": 1, "kind": None}, {0: 0.9}),
            Frozen(1, "PRUNED", None, {"x": 2, "kind": 5}, {0: 1.5}),
        ]


def test_a_study_in_memory_is_read():
    trials, _ = read(Study())
    assert trials.algorithms == ("live",)
    assert trials.metrics["loss"].direction == "lower"
    assert [t.status for t in trials] == ["ok", "cancelled"]
    assert [t.params for t in trials] == [
        {"x": 1, "kind": "None"},
        {"x": 2, "kind": "5"},
    ]
    assert curve(trials[1], "intermediate") == {0.0: 1.5}


def test_many_names_of_choices_are_decoded():
    old = drawn_from('{"name": "LogUniformDistribution", "attributes": {"low": 1}}')
    assert (old.kind, old.value(2.5), old.is_known) == ("real", 2.5, True)
    odd = drawn_from('{"type": "categorical", "choices": [NaN, [1], true]}')
    assert odd.choices == ("nan", "[1]", "True")
    assert odd.value(7) is None
    assert odd.value(math.nan) is None
    assert not drawn_from("not json").is_known
    assert not drawn_from(None).is_known


def test_a_metric_that_a_frame_lacks_is_what_the_error_is_about():
    refusal = asked(frame(), metrics={"value": "lower", "loss": "lower"})
    assert (refusal.argument, refusal.value) == ("metric", "loss")


@pytest.mark.parametrize("name", ["search.db", "search.log"])
def test_why_a_trial_has_no_final_value_is_said(name):
    trials, _ = read(NEW / name)
    reasons = {trial.labels["state"]: trial.error for trial in trials}
    assert all(reasons[state] for state in ("PRUNED", "RUNNING", "WAITING"))
    assert len({reasons["PRUNED"], reasons["RUNNING"], reasons["WAITING"]}) == 3
    assert reasons["COMPLETE"] == ""
