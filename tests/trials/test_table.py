"""The waist: an immutable set of trials."""

import copy
import dataclasses
import gc
import math
import pickle
import sys
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from facts import facts, refused
from hypothesis import given, settings
from hypothesis import strategies as st

from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.trials import STATUSES, Trial, Trials
from curvewise.trials.columns import Core, no_details
from curvewise.trials.table import understood

# --- any trials at all ---------------------------------------------------------------

OWN = Metric("größe ✓", "lower", (0, 10))
VALUES = st.none() | st.floats(0, 1) | st.just(math.nan) | st.just(-0.0)
NAMES = st.sampled_from(["a", "b", "ζ", "a b", "0", "long " * 30])
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text()


@st.composite
def records(draw, key):
    n = draw(st.integers(0, 3))
    curve = st.lists(VALUES, min_size=n, max_size=n)
    names = draw(st.sets(st.sampled_from(["accuracy", "loss", OWN.name])))
    counts = correct = examples = None
    if draw(st.booleans()):
        k = draw(st.integers(2, 3))
        counts = np.arange(n * k * k).reshape(n, k, k) % draw(st.integers(1, 9))
    if draw(st.booleans()):
        many = draw(st.sampled_from([0, 1, 7, 8, 9]))
        bits = np.random.default_rng(draw(st.integers(0, 9))).random((2, n, many)) < 0.5
        correct = np.ma.masked_array(bits[0], bits[1] & draw(st.booleans()))
        examples = np.arange(many) + draw(st.integers(0, 1))
    return Trial(
        *key,
        {name: draw(curve) for name in names},
        steps=np.arange(n) * draw(st.sampled_from([1.0, 10.0])),
        params=draw(st.dictionaries(st.sampled_from("xyz"), SCALARS, max_size=2)),
        labels=draw(st.dictionaries(st.sampled_from("st"), SCALARS, max_size=2)),
        counts=counts,
        correct=correct,
        examples=examples,
        status=draw(st.sampled_from(STATUSES)),
        seconds=draw(st.floats(0, 1)),
        error=draw(st.text(max_size=5)),
        attempts=draw(st.integers(1, 3)),
    )


KEYS = st.tuples(NAMES, NAMES, st.integers(-3, 3))
LISTS = st.lists(KEYS, unique=True, max_size=6).flatmap(
    lambda keys: st.tuples(*map(records, keys)).map(list)
)

few = settings(max_examples=40)  # a set of trials takes longer to make than to test


def of(some):
    return Trials(some, [OWN])


@few
@given(LISTS)
def test_the_records_of_a_set_make_the_same_set(some):
    trials = of(some)
    again = of(list(trials))
    assert again == trials
    assert again.digest() == trials.digest()
    # Names may be met in another order; the records are the same.
    assert {t.key: t for t in again} == {t.key: t for t in trials}


@few
@given(LISTS)
def test_every_record_comes_back_as_it_went_in(some):
    back = {trial.key: trial for trial in of(some)}
    assert len(back) == len(some)
    for trial in some:
        got = back[trial.key]
        assert got == trial
        assert (got.seconds, got.attempts, got.error) == (
            trial.seconds,
            trial.attempts,
            trial.error,
        )


@few
@given(LISTS.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))))
def test_the_order_of_records_does_not_matter(pair):
    one, other = of(pair[0]), of(pair[1])
    assert one == other
    assert one.digest() == other.digest()
    assert hash(one) == hash(other)


@few
@given(LISTS, st.integers(0, 6))
def test_a_cut_and_a_concat_give_the_whole(some, cut):
    trials = of(some)
    assert trials[:cut] + trials[cut:] == trials
    assert Trials.concat([trials[cut:], Trials(), trials[:cut]]) == trials
    assert of(list(trials[:cut])) == trials[:cut]


@few
@given(LISTS)
def test_the_parts_that_where_gives_are_the_whole(some):
    trials = of(some)
    by_task = [trials.where(task=name) for name in trials.tasks]
    by_algorithm = [trials.where(algorithm=[name]) for name in trials.algorithms]
    by_status = [trials.where(status=status) for status in STATUSES]
    for parts in (by_task, by_algorithm, by_status):
        assert sum(map(len, parts)) == len(trials)
        assert Trials.concat(parts) == trials


@few
@given(LISTS)
def test_where_keeps_what_a_loop_would_keep(some):
    trials = of(some)
    chosen = trials.where(number=[0, 1], status=["ok", "timeout"])
    kept = [t for t in some if t.number in (0, 1) and t.status in ("ok", "timeout")]
    assert chosen == of(kept)
    assert set(chosen.tasks) == {t.task for t in kept}
    assert set(chosen.algorithms) == {t.algorithm for t in kept}


@few
@given(LISTS)
def test_a_pickle_and_a_deep_copy_are_the_same_set(some):
    trials = of(some)
    for again in (pickle.loads(pickle.dumps(trials)), copy.deepcopy(trials)):
        assert again == trials
        assert again.metrics == trials.metrics
        assert not again.core.steps.flags.writeable


@few
@given(LISTS, st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_any_set_has_a_frame_with_a_row_per_trial_and_step(some, backend):
    table = of(some).to_frame(backend)
    rows = table.num_rows if backend == "pyarrow" else len(table)
    assert rows == sum(max(len(t.steps), 1) for t in some)


@given(st.text(min_size=1), st.text(min_size=1), st.text(max_size=9))
def test_any_text_is_a_name(task, algorithm, label):
    trials = Trials([Trial(task, algorithm, 0, {"loss": 1.0}, labels={"": label})])
    assert trials.key(0) == (task, algorithm, 0)
    assert len(trials.where(task=task, algorithm=algorithm, labels={"": label})) == 1
    assert trials.scores("loss")[algorithm].tolist() == [1.0]
    assert Trials(list(trials)) == trials


# --- construction --------------------------------------------------------------------


def accuracies(*numbers, task="t", algorithm="a"):
    return [Trial(task, algorithm, i, {"accuracy": i / 10}) for i in numbers]


def test_rows_are_kept_by_first_appearance_of_names_and_by_number():
    some = [("u", "b", 1), ("t", "b", 0), ("u", "a", 0), ("u", "b", 0)]
    trials = Trials(Trial(*key) for key in some)
    assert (trials.tasks, trials.algorithms) == (("u", "t"), ("b", "a"))
    assert [trials.key(i) for i in range(4)] == [
        ("u", "b", 0),
        ("u", "b", 1),
        ("u", "a", 0),
        ("t", "b", 0),
    ]


def test_details_follow_their_rows_into_that_order():
    some = [Trial("t", "a", i, labels={"was": i}, seconds=i) for i in (2, 0, 1)]
    assert [t.labels["was"] for t in Trials(some)] == [0, 1, 2]
    assert Trials(some).details().seconds.tolist() == [0.0, 1.0, 2.0]


def test_no_trials_are_a_set_too():
    trials = Trials()
    assert len(trials) == 0
    assert (list(trials), trials.tasks, dict(trials.metrics)) == ([], (), {})
    assert trials == Trials.concat([]) == trials.where(number=3) == trials[:5]
    assert str(trials) == "Trials: none"
    assert "none" in trials._repr_html_()


def test_a_single_trial_is_a_set_too():
    trials = Trials(accuracies(5))
    assert trials[0] == trials[-1] == accuracies(5)[0]
    assert trials.scores("accuracy")["a"].tolist() == [0.5]
    assert facts(dict(understood(trials))["trials"]) == [1, 1, 1]


def test_names_of_ten_thousand_characters_work_and_print_short():
    task, algorithm = "ж" * 10_000, "🦊" * 10_000
    trials = Trials([Trial(task, algorithm, 0, {"loss": 1})])
    assert trials.where(task=task).key(0) == (task, algorithm, 0)
    assert trials.to_frame("pandas")["task"][0] == task
    assert max(map(len, str(trials).splitlines())) < 100


def test_a_registered_metric_need_not_be_declared():
    assert Trials(accuracies(1)).metric("accuracy").range == (0, 1)


def test_a_declared_metric_wins_over_the_registered_one():
    trials = Trials(accuracies(1), [Metric("accuracy", "higher", (0, 100))])
    assert trials.metric("accuracy").range == (0, 100)


def test_a_metric_that_nobody_declared_has_no_direction():
    trials = Trials([Trial("t", "a", 0, {"zorp": 3, "loss": 1})])
    assert trials.metric("zorp") == Metric("zorp")
    assert trials.metric("zorp").direction is None
    assert trials.metric("loss").source == "name"


@pytest.mark.parametrize("metrics", [{"zorp": "lower"}, ["zorp"]])
def test_metrics_are_declared_as_metric_objects(metrics):
    with refused(says=["zorp"]):
        Trials([Trial("t", "a", 0, {"zorp": 1})], metrics)


def test_only_records_make_a_set():
    with refused("trials", {"task": "t"}):
        Trials([{"task": "t"}])


def test_a_key_comes_once():
    with refused("number", says=[2, 5, "t", "a", 1]):
        Trials(accuracies(2, 1, 0, 1, 2))


def test_a_number_may_come_again_for_another_algorithm_or_task():
    both = accuracies(1) + accuracies(1, algorithm="b") + accuracies(1, task="u")
    assert len(Trials(both)) == 3


# --- where ---------------------------------------------------------------------------


@pytest.fixture
def tuned():
    return Trials(
        Trial(
            task,
            algorithm,
            i,
            {"accuracy": i / 10},
            params={"C": i, "layers": (64, i)},
            labels={"seed": f"s{i}", "fold": None},
            status="ok" if i else "failed",
        )
        for task in ("moons", "circles")
        for algorithm in ("svm", "forest", "net")
        for i in range(3)
    )


@pytest.mark.parametrize(
    ("asked", "n"),
    [
        ({}, 18),
        ({"task": "moons"}, 9),
        ({"task": ["moons", "circles"]}, 18),
        ({"task": []}, 0),
        ({"algorithm": {"svm", "net"}}, 12),
        ({"algorithm": "svm", "task": "moons"}, 3),
        ({"number": 0}, 6),
        ({"number": np.int64(0)}, 6),
        ({"number": range(1, 99)}, 12),
        ({"number": np.array([0, 2])}, 12),
        ({"number": []}, 0),
        ({"number": 99}, 0),
        ({"status": "failed"}, 6),
        ({"status": ["failed", "ok"]}, 18),
        ({"status": "timeout"}, 0),
        ({"labels": {"seed": "s1"}}, 6),
        ({"labels": {"seed": "s1", "fold": None}}, 6),
        ({"labels": {"seed": "s1", "fold": 1}}, 0),
        ({"labels": {}}, 18),
        ({"params": {"C": 2}}, 6),
        ({"params": {"C": np.int64(2)}}, 6),
        ({"params": {"layers": (64, 2)}}, 6),
        ({"params": {"C": 2}, "labels": {"seed": "s1"}}, 0),
    ],
)
def test_where_keeps_the_trials_for_which_everything_holds(tuned, asked, n):
    assert len(tuned.where(**asked)) == n


def test_where_forgets_names_that_no_trial_has_any_more(tuned):
    chosen = tuned.where(task="circles", algorithm=["net", "svm"])
    assert chosen.tasks == ("circles",)
    assert chosen.algorithms == ("svm", "net")


def test_a_label_that_only_some_trials_have_finds_those():
    some = [Trial("t", "a", 0, labels={"fold": 1}), Trial("t", "a", 1)]
    assert len(Trials(some).where(labels={"fold": 1})) == 1
    assert len(Trials(some).where(labels={"fold": None})) == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"task": "mons"}, r"There is no task 'mons'\. Did you mean 'moons'\?"),
        ({"task": ["moons", "x"]}, "There is no task 'x'"),
        ({"task": 3}, "There is no task '3'"),
        ({"algorithm": "SVM"}, r"no algorithm 'SVM'\. Did you mean 'svm'\? There are:"),
        ({"status": "fail"}, r"There is no status 'fail'\. Did you mean 'failed'\?"),
        (
            {"labels": {"sed": 1}},
            r"no label 'sed'\. Did you mean 'seed'\? There are: 'fo",
        ),
        ({"params": {"c": 1}}, r"There is no param 'c'\. Did you mean 'C'\?"),
        ({"params": {"C": math.nan}}, r"params: .* cannot be kept"),
        (
            {"number": "12"},
            r"number is '12'\. Pass a whole number or several of them\.",
        ),
        ({"number": 1.5}, r"number is 1\.5\. Pass a whole number"),
        ({"number": [1, 1.5]}, r"number is 1\.5\. Pass a whole number"),
        ({"number": ["1"]}, r"number is '1'\. Pass a whole number"),
    ],
    ids=str,
)
def test_what_cannot_be_found_is_refused_with_the_nearest(tuned, asked, words):
    with pytest.raises(CurvewiseError, match=words):
        tuned.where(**asked)


def test_where_of_nothing_is_nothing():
    assert len(Trials().where(labels={"seed": 1}, number=1)) == 0


# --- concat --------------------------------------------------------------------------


def test_concat_refuses_a_key_that_comes_twice():
    with refused("number", says=[1, 4, "t", "a", 1]):
        Trials(accuracies(0, 1)) + Trials(accuracies(1, 2))


def test_concat_refuses_two_meanings_of_one_metric():
    one = Trials(accuracies(0))
    other = Trials(accuracies(1), [Metric("accuracy", "lower", (0, 1))])
    with refused("metrics", "accuracy", fixes=[{"metrics": ...}]):
        one + other


def test_concat_joins_metrics_that_only_one_part_has():
    both = Trials(accuracies(0)) + Trials([Trial("t", "b", 0, {"loss": [3, 2]})])
    assert list(both.metrics) == ["accuracy", "loss"]
    assert both[0] == accuracies(0)[0]
    assert list(both[1].metrics) == ["loss"]


def test_concat_keeps_one_set_of_examples_where_both_parts_have_the_same():
    part = [Trial("t", "a", i, correct=[[1, 0, 1]], examples=[7, 8, 9]) for i in (0, 1)]
    other = Trial("t", "a", 2, correct=[[1, 0]], examples=[7, 8])
    both = Trials.concat([Trials(part[:1]), Trials(part[1:]), Trials([other])])
    assert len(both.details().example_sets) == 2
    assert [t.examples.tolist() for t in both] == [[7, 8, 9], [7, 8, 9], [7, 8]]


def test_concat_tells_where_all_parts_came_from():
    one, other = Trials(accuracies(0)), Trials(accuracies(1))
    named = [
        Trials.from_columns(
            t.tasks, t.algorithms, t.metrics, t.core, t.details, origin=origin
        )
        for t, origin in ((one, "a.csv"), (other, "b.csv"))
    ]
    assert Trials.concat(named).origin == "a.csv; b.csv"
    assert Trials.concat(named)[:1].origin == "a.csv; b.csv"


def test_only_trials_can_be_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        Trials(accuracies(0)) + 3


# --- equality and digest -------------------------------------------------------------

FULL = {
    "metrics": {"accuracy": [0.5, 0.75], "loss": [2.0, None]},
    "steps": [10, 20],
    "params": {"C": 1.0},
    "labels": {"seed": 7},
    "counts": [[[3, 1], [1, 3]], [[4, 0], [2, 2]]],
    "correct": np.ma.masked_array([[1, 0, 1], [1, 1, 1]], [[0, 0, 0], [1, 0, 0]]),
    "examples": [5, 6, 9],
    "status": "ok",
    "seconds": 1.5,
    "error": "",
    "attempts": 1,
}


def full(key=("t", "a", 0), metrics=(), **change):
    other = Trial("t", "z", 0, {"accuracy": [0.1]})
    return Trials([Trial(*key, **FULL | change), other], metrics)


@pytest.mark.parametrize("change", [{"seconds": 9}, {"attempts": 5}, {"error": "late"}])
def test_equality_ignores_seconds_attempts_and_error_text(change):
    assert full(**change) == full()
    assert full(**change).digest() == full().digest()


@pytest.mark.parametrize(
    "change",
    [
        {"key": ("u", "a", 0)},
        {"key": ("t", "b", 0)},
        {"key": ("t", "a", 1)},
        {"metrics": {"accuracy": [0.5, 0.7500001], "loss": [2.0, None]}},
        {"metrics": {"accuracy": [0.5, 0.75], "loss": [2.0, math.nan]}},
        {"metrics": {"accuracy": [0.5, 0.75], "loss": [None, 2.0]}},
        {"metrics": {"accuracy": [0.5, 0.75]}},
        {"metrics": {"accuracy": [0.5, 0.75], "mse": [2.0, None]}},
        {"steps": [10, 21]},
        {"params": {"C": 1}},
        {"params": {"D": 1.0}},
        {"params": {}, "labels": {"C": 1.0, "seed": 7}},
        {"labels": {"seed": 8}},
        {"labels": {}},
        {"counts": [[[3, 1], [1, 3]], [[4, 0], [1, 3]]]},
        {"counts": None},
        {"correct": [[1, 0, 1], [1, 1, 1]]},
        {"correct": [[1, 0, 1], [1, 1, 0]]},
        {"examples": [5, 6, 8]},
        {"correct": None, "examples": None},
        *({"status": status} for status in STATUSES[1:]),
    ],
    ids=str,
)
def test_equality_ignores_nothing_else(change):
    change = dict(change)
    curves = {"metrics": change.pop("metrics")} if "metrics" in change else {}
    key = change.pop("key", ("t", "a", 0))
    other = Trial("t", "z", 0, {"accuracy": [0.1]})
    changed = Trials([Trial(*key, **FULL | change | curves), other])
    assert full() == full()
    assert changed != full()
    assert changed.digest() != full().digest()


def test_the_meaning_of_a_metric_is_part_of_the_results():
    assert full(metrics=[Metric("loss", "higher")]) != full()


def test_a_metric_declared_and_never_recorded_is_not():
    trials = Trials([*accuracies(0), Trial("t", "b", 0, {"loss": 1})])
    assert trials.where(algorithm="a") == Trials(accuracies(0))


def test_nan_recorded_and_not_recorded_differ_and_survive():
    nan = Trials([Trial("t", "a", 0, {"loss": [1, math.nan]})])
    none = Trials([Trial("t", "a", 0, {"loss": [1, None]})])
    assert nan != none
    for trials, masked in ((nan, False), (none, True)):
        again = Trials(list(trials + Trials([Trial("t", "b", 0, {"mse": 1})])))
        curve = again.where(algorithm="a")[0].metrics["loss"]
        assert np.ma.is_masked(curve) is masked


def test_minus_zero_is_zero_and_every_nan_is_nan():
    other = np.frombuffer(np.uint64(0x7FF8000000000BAD).tobytes(), np.float64)
    assert np.isnan(other[0])
    for one, two in ((0.0, -0.0), (math.nan, other)):
        a, b = (Trials([Trial("t", "a", 0, {"loss": v})]) for v in (one, two))
        assert a == b


def test_what_lies_where_nothing_was_recorded_does_not_count():
    """A store may keep any number there."""
    trials = Trials([Trial("t", "a", 0, {"loss": [1, None]})])
    core = dataclasses.replace(trials.core, values={"loss": np.array([1.0, 77.0])})
    same = Trials.from_columns(["t"], ["a"], trials.metrics, core, trials.details)
    assert same == trials


def test_a_set_is_no_equal_of_other_things():
    assert Trials() != []
    assert Trials(accuracies(0)) != Trials(accuracies(0, 1))


def test_a_digest_is_the_same_on_every_machine():
    """A number that users see: to change it is a breaking change."""
    assert full().digest() == full().digest()
    assert len(full().digest()) == 64
    assert int(full().digest(), 16)


# --- rows ----------------------------------------------------------------------------


def test_a_row_counts_from_either_end():
    trials = Trials(accuracies(0, 1, 2))
    assert trials[0].number == 0
    assert trials[-1].number == trials[np.int64(2)].number == 2


@pytest.mark.parametrize("row", [3, -4])
def test_a_row_that_is_not_there_is_an_index_error(row):
    with pytest.raises(IndexError, match=f"There is no row {row} among 3 trials."):
        Trials(accuracies(0, 1, 2))[row]


@pytest.mark.parametrize(
    ("rows", "numbers"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, 2), [0, 2, 4]),
        (slice(None, None, -1), [0, 1, 2, 3, 4]),
        (slice(-2, None), [3, 4]),
        (slice(4, 2), []),
    ],
)
def test_a_slice_is_a_set_and_a_set_has_its_own_order(rows, numbers):
    chosen = Trials(accuracies(0, 1, 2, 3, 4))[rows]
    assert isinstance(chosen, Trials)
    assert chosen.core.number.tolist() == numbers


def test_an_unknown_metric_is_answered_with_the_nearest():
    with refused("metric", "acuracy", says=["acuracy", "accuracy"]):
        Trials(accuracies(0)).metric("acuracy")


def test_counts_tell_more_metrics_than_were_recorded():
    trials = Trials([Trial("t", "a", 0, counts=[[3, 1], [1, 3]])])
    assert trials.metric("f1").is_rate
    with refused("metric", "f2", says=["f2", "accuracy", "error"]):
        trials.metric("f2")


# --- immutability --------------------------------------------------------------------


def test_nothing_about_a_set_can_be_changed():
    trials = full()
    with pytest.raises(AttributeError):
        trials.tasks = ("x",)
    with pytest.raises(TypeError):
        trials.metrics["loss"] = Metric("loss", "higher")
    core, details = trials.core, trials.details()
    for array in (
        *(
            core.task,
            core.algorithm,
            core.number,
            core.status,
            core.offsets,
            core.steps,
        ),
        *(*core.values.values(), *core.recorded.values()),
        *(details.seconds, details.attempts, details.classes, details.example_set),
        *(details.counts.flat, details.correct.flat, details.asked.flat),
        *(details.params.flat, details.labels.flat, *details.example_sets),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_what_a_door_gives_is_the_callers_to_change():
    trials = Trials([Trial("t", "a", 0, {"accuracy": [0.1, 0.2]})])
    before = trials.digest()
    trials.scores("accuracy")["a"][:] = 9
    trials.points("accuracy")["a"].value[:] = 9
    trials.points("accuracy")["a"].size[:] = 9
    trials.lines("accuracy")["a"][:] = 9
    trials.lines("accuracy").steps[:] = 9
    assert trials.digest() == before
    assert trials.lines("accuracy").steps.tolist() == [0, 1]


# --- frames --------------------------------------------------------------------------


@pytest.fixture
def mixed():
    return Trials(
        [
            Trial(
                *("t", "a", 0),
                {"accuracy": [0.5, 0.75], "loss": [2.0, None]},
                steps=[10, 20],
                params={"C": 1, "layers": [64, 32], "big": 2**70, "on": True},
                labels={"seed": 7},
                counts=[[[3, 1], [1, 3]], [[4, 0], [2, 2]]],
                seconds=1.5,
            ),
            Trial("t", "b", 0, {"error": [0.25]}, params={"C": 0.5, "on": "no"}),
            Trial("u", "b", 1, status="crashed", error="bäng", attempts=2),
        ]
    )


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_row_per_trial_and_step(mixed, backend):
    table = mixed.to_frame(backend)
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
    assert isinstance(table, kinds[backend])
    table = table if backend == "pandas" else table.to_pandas()
    assert list(table.columns) == [
        *("task", "algorithm", "number", "label.seed"),
        *("param.C", "param.big", "param.layers", "param.on"),
        *("step", "accuracy", "loss", "error"),
        *("count.0.0", "count.0.1", "count.1.0", "count.1.1"),
        *("status", "seconds", "attempts", "error_text"),
    ]
    assert table["task"].tolist() == ["t", "t", "t", "u"]
    assert table["number"].tolist() == [0, 0, 0, 1]
    assert table["status"].tolist() == ["ok", "ok", "ok", "crashed"]
    assert table["error_text"].tolist() == ["", "", "", "bäng"]
    assert table["attempts"].tolist() == [1, 1, 1, 2]
    assert table["param.layers"].tolist()[:2] == ["[64, 32]"] * 2
    assert table["param.big"].tolist()[:2] == [str(2**70)] * 2
    assert table["param.on"].tolist()[:3] == ["True", "True", "no"]
    nan = math.nan
    for name, values in {
        "step": [10, 20, 0, nan],
        "accuracy": [0.5, 0.75, nan, nan],
        "loss": [2, nan, nan, nan],
        "error": [nan, nan, 0.25, nan],
        "param.C": [1, 1, 0.5, nan],
        "count.0.0": [3, 4, nan, nan],
        "count.1.0": [1, 2, nan, nan],
    }.items():
        np.testing.assert_array_equal(table[name].astype(float), values)


def test_a_frame_is_pandas_where_nothing_is_asked_for(mixed):
    assert isinstance(mixed.to_frame(), pd.DataFrame)


def test_counts_of_trials_with_more_and_fewer_classes_share_a_frame():
    table = Trials(
        [
            Trial("t", "a", 0, counts=np.arange(4).reshape(2, 2)),
            Trial("t", "a", 1, counts=np.arange(9).reshape(3, 3)),
        ]
    ).to_frame("pandas")
    assert table["count.1.0"].tolist() == [2, 3]
    assert math.isnan(table["count.2.2"][0])
    assert table["count.2.2"][1] == 8


def test_a_metric_with_the_name_of_a_column_of_ours_gets_a_prefix():
    """``error`` is a metric and ``seconds`` may be one; neither may get lost."""
    names = ["error", "seconds", "step", "param.C"]
    trial = Trial("t", "a", 0, dict.fromkeys(names, 0.5), params={"C": 3}, seconds=9)
    trials = Trials([trial], [Metric(name, "lower") for name in names])
    table = trials.to_frame("pandas")
    for column in ("error", "metric.seconds", "metric.step", "metric.param.C"):
        assert table[column].tolist() == [0.5]
    assert table["seconds"].tolist() == [9]
    assert table["param.C"].tolist() == [3]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_no_trials_make_a_frame_without_rows(backend):
    table = Trials().to_frame(backend)
    assert (table.num_rows if backend == "pyarrow" else len(table)) == 0
    names = table.column_names if backend == "pyarrow" else list(table.columns)
    assert names[:3] == ["task", "algorithm", "number"]


def test_an_unknown_frame_library_is_refused():
    with refused("backend", "dask", says=["pandas", "polars", "pyarrow"]):
        Trials().to_frame("dask")


def test_a_frame_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with refused("backend", "polars", says=["pandas", "polars", "pyarrow"]):
        Trials().to_frame("polars")


def test_without_pandas_a_frame_is_the_next_library_that_is_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(Trials(accuracies(0)).to_frame(), pl.DataFrame)


# --- print ---------------------------------------------------------------------------


def test_a_set_prints_what_was_understood(mixed):
    told = dict(understood(mixed))
    assert facts(told["trials"]) == [3, 1, 3]
    assert (told["tasks"], told["algorithms"]) == ("t, u", "a, b")
    assert told["metrics"] == ", ".join(map(str, mixed.metrics.values()))
    assert facts(told["steps"]) == [0, 2, 0, 20]
    assert told["design"] == str(mixed.design)
    assert {*told["params"].split(", ")} == {"C", "big", "layers", "on"}
    assert told["labels"] == "seed"
    assert facts(told["counts"]) == [2]
    assert told["failed"] == "1"
    lines = [line.split(maxsplit=1) for line in str(mixed).splitlines()]
    assert lines == [list(fact) for fact in told.items()]
    assert str(mixed) == repr(mixed)


def test_unequal_cells_print_their_range():
    some = accuracies(0, 1, 2) + accuracies(0, algorithm="b")
    assert facts(dict(understood(Trials(some)))["trials"]) == [4, 1, 3, 2]


def test_curves_of_one_step_print_as_such():
    assert dict(understood(Trials(accuracies(0, 1))))["steps"] == "one per trial"


def test_curves_of_one_length_print_it_once():
    trials = Trials([Trial("t", "a", 0, {"loss": [1, 2, 3]})])
    assert facts(dict(understood(trials))["steps"]) == [3, 0, 2]


def test_many_names_are_cut():
    trials = Trials(Trial("t", f"a{i}", 0) for i in range(20))
    names = dict(understood(trials))["algorithms"]
    assert (names.count("a"), facts(names)) == (9, [12])


def test_a_name_with_a_line_break_stays_on_its_line():
    assert "tasks       two lines" in str(Trials([Trial("two\nlines", "a", 0)]))


def test_correctness_and_origin_are_told():
    trials = Trials([Trial("t", "a", 0, correct=[1, 0])])
    named = Trials.from_columns(
        *(trials.tasks, trials.algorithms, trials.metrics, trials.core),
        trials.details,
        origin="runs.csv",
    )
    told = dict(understood(named))
    assert "correct" in told
    assert told["read from"] == "runs.csv"


def test_a_notebook_gets_a_table_with_names_escaped():
    page = Trials([Trial("<b>", "a", 0)])._repr_html_()
    assert page.startswith('<table class="curvewise">')
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


# --- columns -------------------------------------------------------------------------


def one_step_columns(n, seed=0):
    rng = np.random.default_rng(seed)
    return Core(
        np.zeros(n, np.int32),
        rng.integers(0, 4, n).astype(np.int32),
        np.arange(n),
        np.zeros(n, np.int8),
        np.arange(n + 1),
        np.zeros(n),
        {"accuracy": rng.random(n)},
        {},
    )


META = {"accuracy": Metric("accuracy", range=(0, 1))}


def test_details_are_fetched_only_when_asked_for_and_only_once():
    calls = []

    def fetch():
        calls.append(1)
        return no_details(100)

    trials = Trials.from_columns("t", "abcd", META, one_step_columns(100), fetch)
    trials.scores("accuracy")
    trials.points("accuracy")
    trials.lines("accuracy")
    chosen = trials.where(algorithm=["a", "b"], number=range(50), status="ok")
    joined = chosen + trials.where(algorithm="c")
    len(joined[:7])
    assert calls == []
    joined.digest()
    list(chosen)
    str(trials)
    assert calls == [1]


def test_names_that_no_trial_has_are_dropped():
    """A store has one code book for all; an array door must not see two tasks."""
    core = dataclasses.replace(one_step_columns(8), task=np.full(8, 2, np.int32))
    trials = Trials.from_columns(
        ["x", "y", "t", "z"], "abcdefgh", META, core, no_details(8)
    )
    assert trials.tasks == ("t",)
    assert set(trials.algorithms) == {"abcd"[i] for i in np.unique(core.algorithm)}
    assert trials == Trials(list(trials), META.values())
    assert trials.scores("accuracy").keys() == set(trials.algorithms)


def test_two_hundred_thousand_trials_are_a_few_arrays():
    n = 200_000
    core = one_step_columns(n)
    trials = Trials.from_columns("t", "abcd", META, core, lambda: no_details(n))
    scores = trials.scores("accuracy")
    for i, name in enumerate("abcd"):
        expected = core.values["accuracy"][core.algorithm == i]
        assert np.array_equal(scores[name], expected)
    chosen = trials.where(algorithm="b", number=range(0, n, 2))
    mine = (core.algorithm == 1) & (core.number % 2 == 0)
    assert np.array_equal(chosen.scores("accuracy")["b"], core.values["accuracy"][mine])
    held = [chosen.core.values["accuracy"], scores["a"]]
    held += [getattr(trials.core, f.name) for f in dataclasses.fields(Core)[:6]]
    held += [getattr(trials.details(), name) for name in ("seconds", "attempts")]
    held += [getattr(trials.details(), name).flat for name in ("params", "counts")]
    assert all(type(array) is np.ndarray and array.dtype != object for array in held)
    assert sum(array.nbytes for array in held) < 100 * n
    assert trials.digest() != chosen.digest()
    assert "200,000 (" in str(trials)


def test_trials_go_when_their_last_name_does():
    """In a circle of references they would wait, gigabytes of them, for the collector."""
    trials = Trials(accuracies(0))
    trials.digest()
    gone = weakref.ref(trials.core.number)
    gc.disable()
    try:
        del trials
        assert gone() is None
    finally:
        gc.enable()
