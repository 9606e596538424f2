"""Roles from the names of runs: a pattern, a function, what all share."""

import re
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from facts import holds

import curvewise as cw
from curvewise import CurvewiseError, CurvewiseWarning
from curvewise.exchange.run_names import roles_of
from curvewise.exchange.runs import LeftOut, Runs, joined_scalars
from curvewise.exchange.runs_to_trials import assign_runs, trials_of

NAMES = ["ppo-Hopper-s0", "ppo-Hopper-s1", "sac-Hopper-s0", "sac-Hopper-s1"]
NOTHING = dict.fromkeys(("task", "algorithm", "trial", "status", "metrics", "params"))


def runs_of(names=NAMES, **columns):
    curves = [
        (i, "return", np.arange(3.0), np.arange(3.0) + i) for i in range(len(names))
    ]
    table = pa.table({"run": names, **columns})
    return Runs("MLflow store x.db", table, joined_scalars(curves))


def made(runs, roles=None, **stated):
    return trials_of(runs, roles=roles, unit=None, **(NOTHING | stated))


def refused(function, *args, **stated):
    """Return the error that a function raises."""
    with pytest.raises(CurvewiseError) as raised:
        function(*args, **stated)
    return raised.value


@pytest.mark.parametrize(
    ("pattern", "name", "said"),
    [
        ("{algorithm}-{task}-s{seed}", "ppo-Hopper-s12", ("ppo", "Hopper", 12)),
        ("{algorithm}_{task}_{seed}", "dqn_Pong_7", ("dqn", "Pong", 7)),
        ("{algorithm}/{task}/seed_{seed}", "a.b/c-d/seed_1", ("a.b", "c-d", 1)),
        ("*/{task}/{algorithm}-{seed:d}*", "x/y/t/net-30-late", ("net", "t", 30)),
        ("{algorithm}-{task}-s{seed}", "ppo-s-s-s3", ("ppo", "s-s", 3)),
        ("{algorithm}-{task}-s{seed}", "ppo-s-sx", ("ppo", "s", "x")),
        ("{algorithm}-{task}-s{seed:d}", "ppo-s-s-s3", ("ppo", "s-s", 3)),
        ("({algorithm})+{task}.{seed}", "(a)+b.x", ("a", "b", "x")),
    ],
    ids=range(8),
)
def test_a_pattern(pattern, name, said):
    kept, columns = roles_of([name], pattern)
    assert kept == [0]
    assert tuple(columns[n][0] for n in ("algorithm", "task", "seed")) == said


def test_digits_become_numbers_unless_two_names_would_become_one():
    assert roles_of(["s07", "s8"], "s{seed}")[1]["seed"] == [7, 8]
    assert roles_of(["s07", "s7"], "s{seed}")[1]["seed"] == ["07", "7"]


def test_a_name_that_does_not_fit_is_shown():
    refusal = refused(roles_of, ["a-1", "b"], "{algorithm}-{seed}")
    assert (refusal.argument, refusal.value) == ("roles", "{algorithm}-{seed}")
    assert "such as 'b'." in str(refusal)


@pytest.mark.parametrize(
    ("roles", "cause"),
    [
        ("ppo", type(None)),
        ("{a}-{a}", type(None)),
        (7, type(None)),
        (lambda name: name, type(None)),
        (lambda name: 1 / 0, ZeroDivisionError),
    ],
    ids=["none", "twice", "number", "text", "raises"],
)
def test_what_is_no_pattern(roles, cause):
    refusal = refused(roles_of, NAMES, roles)
    assert (refusal.argument, refusal.value) == ("roles", roles)
    assert isinstance(refusal.__cause__, cause)


def test_a_function_may_leave_runs_out_and_they_are_counted():
    def roles(name):
        algorithm, task, seed = name.split("-")
        if seed == "s1":
            return None
        return {"algorithm": algorithm, "task": task, "seed": int(seed[1:])}

    trials, _, runs = made(runs_of(), roles)
    assert [t.key for t in trials] == [("Hopper", "ppo", 0), ("Hopper", "sac", 0)]
    assert [t.metrics["return"][-1] for t in trials] == [2.0, 4.0]
    (left,) = runs.left_out
    assert (left.n, left.examples) == (2, ("ppo-Hopper-s1", "sac-Hopper-s1"))


def test_what_all_runs_share():
    trials, _, _ = made(runs_of(), {"algorithm": "mine"})
    assert trials.algorithms == ("mine",)
    assert [t.number for t in trials] == [0, 1, 2, 3]
    assert [t.labels["run"] for t in trials] == NAMES


def test_silent_runs_are_a_question_that_shows_what_was_found():
    runs = runs_of(**{"params.lr": [0.1, 0.2, 0.3, 0.3], "status": ["FINISHED"] * 4})
    refusal = refused(made, runs)
    shown = re.findall(r"(\S+) \((\d) values", str(refusal))
    assert shown == [("run", "4"), ("params.lr", "3")]
    assert {"roles": "{algorithm}-{task}-s{seed}"} in refusal.text.fixes


@pytest.mark.parametrize(
    "column", ["params.model", "tags.algo", "model", "config/agent"]
)
def test_usual_labels_are_found_behind_their_prefix(column):
    runs = runs_of(**{column: list("aabb"), "params.seed": [5, 6, 5, 6]})
    trials, assigned, _ = made(runs)
    assert assigned.algorithm == column
    assert assigned.trial == ("params.seed",)
    assert [(t.algorithm, t.number) for t in trials] == [
        *(("a", 5), ("a", 6), ("b", 5), ("b", 6))
    ]


def test_seeds_that_do_not_tell_runs_apart_are_a_question():
    runs = runs_of(model=list("aaaa"), seed=[1, 1, 2, 2])
    assert refused(made, runs).fixes[-1] == {"trial": "run"}
    trials, _, _ = made(runs, trial="run")
    assert len(trials) == 4
    trials, _, _ = made(runs_of(model=list("aaaa"), seed=[42] * 4))
    assert [t.number for t in trials] == [0, 1, 2, 3]  # one seed for all tells nothing
    twice = runs_of(["x", "x", "y", "z"], model=list("aaaa"))
    assert refused(made, twice, trial="run").fixes[-1] == {"trial": "row"}


def test_what_the_tool_says_counts_where_no_label_does():
    runs = runs_of(study=list("aabb"), position=[3, 4, 3, 4])
    usual = {"algorithm": "study", "trial": "position"}
    runs = Runs(runs.source, runs.table, runs.scalars, usual)
    trials, assigned, _ = made(runs)
    assert (assigned.algorithm, assigned.trial) == ("study", ("position",))
    assert [t.number for t in trials] == [3, 4, 3, 4]


def test_stated_labels_must_be_there_and_have_one_role():
    runs = runs_of(model=list("aabb"))
    refusal = refused(made, runs, algorithm="modle")
    assert (refusal.argument, refusal.value) == ("label", "modle")
    assert refused(made, runs, algorithm="model", task="model").value == "model"
    refusal = refused(made, runs, algorithm="model", metrics=["retrun"])
    assert (refusal.argument, refusal.value) == ("metric", "retrun")
    refusal = refused(made, runs, algorithm="model", metrics=[])
    assert (refusal.argument, refusal.value) == ("metrics", [])


def test_runs_without_a_score_fail_and_are_kept():
    table = pa.table(
        {"run": ["a", "b"], "model": ["m", "m"], "status": ["FINISHED"] * 2}
    )
    curves = joined_scalars([(0, "acc", np.zeros(1), np.ones(1))])
    trials, _, _ = made(Runs("x", table, curves))
    assert [t.status for t in trials] == ["ok", "failed"]
    assert refused(made, Runs("x", table, joined_scalars([]))).value == "x"
    none = Runs("x", table.slice(0, 0), curves, left_out=[LeftOut(3, "deleted")])
    assert "3 runs deleted" in str(refused(made, none))


def test_of_two_scores_at_one_step_the_last_counts_and_it_is_said():
    curves = joined_scalars(
        [
            (0, "acc", np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])),
            (0, "acc", np.array([2.0, 3.0, 4.0]), np.array([0.5, 0.6, 0.7])),
            (0, "loss", np.array([4.0]), np.array([9.0])),
        ]
    )
    trials, _, runs = made(Runs("x", pa.table({"run": ["a"]}), curves))
    (trial,) = trials
    assert trial.metrics["acc"].tolist() == [0.1, 0.5, 0.6, 0.7]
    assert trial.metrics["loss"].mask.tolist() == [True, True, True, False]
    assert runs.remarks[0].startswith("2 scores")


def test_runs_that_go_on_are_kept_as_cancelled_and_said():
    words = ["FINISHED", "RUNNING", "SCHEDULED", "KILLED"]
    trials, _, runs = made(runs_of(model=list("aaaa"), status=words))
    assert [t.status for t in trials] == ["ok", "cancelled", "cancelled", "crashed"]
    assert "('ppo-Hopper-s1')" in runs.remarks[0]


def test_a_table_of_names_of_runs_takes_roles_too(capsys):
    table = {"run": [*NAMES, *NAMES], "step": [0] * 4 + [1] * 4, "return": range(8)}
    trials = cw.read(table, roles="{algorithm}-{task}-s{seed}")
    assert trials.algorithms == ("ppo", "sac")
    assert [t.metrics["return"].tolist() for t in trials][1] == [1.0, 5.0]
    with pytest.warns(CurvewiseWarning, match="3 runs"):
        one = cw.read(
            table, roles=lambda name: {"algorithm": "x"} if name == NAMES[0] else None
        )
    assert len(one) == 1
    refusal = refused(cw.read, {"acc": [0.5]}, roles="{algorithm}")
    assert (refusal.argument, refusal.value) == ("roles", "{algorithm}")
    assert cw.read({"acc": [0.5]}, roles={"algorithm": "a"}).algorithms == ("a",)


def test_roles_are_assigned_without_touching_the_runs():
    runs = runs_of(model=list("aabb"))
    before = runs.table
    assigned = assign_runs(runs, unit=None, **NOTHING)
    assert runs.table is before
    assert assigned.labels == {"run": "run"}


def test_plain_values_come_from_whatever_a_function_returns():
    told = {
        "number": np.int64(3),
        "text": np.str_("a"),
        "nothing": float("nan"),
        "list": [1],
        "odd": chr(0xDCE9),
        7: True,
    }
    _, columns = roles_of(["x"], lambda _: told)
    assert columns == {
        "number": [3],
        "text": ["a"],
        "nothing": [None],
        "list": ["[1]"],
        "odd": ["\\udce9"],
        "7": [True],
    }


def test_a_function_may_say_more_of_one_run_than_of_another():
    def told(run):
        return {"algorithm": run[:3], **({"extra": 1} if run.endswith("1") else {})}

    trials, _, _ = made(runs_of(), told)
    assert ["extra" in one.labels for one in trials] == [False, True, False, True]


@pytest.mark.parametrize(
    "nothing", [None, "", float("nan")], ids=["none", "empty", "nan"]
)
def test_runs_that_have_no_algorithm_are_named(nothing):
    def told(run):
        return {"algorithm": nothing if run in NAMES[1:3] else "a"}

    words = (
        r"2 of 4 runs have nothing in 'algorithm'.*'ppo-Hopper-s1', 'sac-Hopper-s0'\."
    )
    with pytest.raises(CurvewiseError, match=words):
        made(runs_of(), told)


def test_what_was_left_out_is_counted_by_kind():
    runs = runs_of(model=list("aabb"))
    out = [LeftOut(2, "deleted"), LeftOut(1, "cut", what="file"), LeftOut(3, "empty")]
    trials, _, _ = made(replace(runs, left_out=out))
    assert holds(trials.origin, 4, 5, 1)
    trials, _, _ = made(runs)
    assert "none left out" in trials.origin


def test_many_names_take_no_time():
    """Half of 40,000 runs are left out; looking for each among all would take minutes."""
    names = [f"ppo-Hopper-s{i}" for i in range(40_000)]
    runs = runs_of(names)
    began = time.perf_counter()
    trials, _, used = made(
        runs, lambda run: {"algorithm": "a"} if run[-1] in "02468" else None
    )
    assert time.perf_counter() - began < 10
    assert (len(trials), used.left_out[0].n) == (20_000, 20_000)


def test_patterns_are_no_regular_expressions():
    _, columns = roles_of(["a.b(c)+[d]^$|\\1"], "{algorithm}(c)+[{task}]^$|\\{seed}")
    assert columns == {"algorithm": ["a.b"], "task": ["d"], "seed": [1]}
    assert refused(roles_of, ["abc"], ".*{algorithm}").argument == "roles"
