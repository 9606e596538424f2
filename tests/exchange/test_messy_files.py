"""Files as people really have them: a right answer or a clear refusal, nothing silent."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from facts import refused, warned

import curvewise as cw
from curvewise import CurvewiseError, Metric


def read(tmp_path, text, name="results.csv", **keywords):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return cw.read(path, **keywords)


def long(column):
    rows = [
        f"{agent},{seed},{epoch},{0.5 + epoch / 100 + seed / 1000}"
        for agent in "ab"
        for seed in range(3)
        for epoch in range(5)
    ]
    return f"agent,{column},epoch,accuracy\n" + "\n".join(rows) + "\n"


# --- whose steps are these? --------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["rng_seed", "Run ID", "random seed", "run_idx", "repetition", "cv_fold", "Name"],
)
def test_runs_are_told_apart_by_many_names(tmp_path, name):
    trials = read(tmp_path, long(name))
    assert len(trials) == 6
    assert set(trials.core.lengths.tolist()) == {5}


def test_steps_that_repeat_and_belong_to_nobody_are_refused(tmp_path):
    """Counted as runs of their own they would be 15 instead of 3, and no band hold."""
    with refused(says=["epoch"], fixes=[{"trial": "zorp"}]):
        read(tmp_path, long("zorp"))
    assert len(read(tmp_path, long("zorp"), trial="zorp")) == 6
    with refused(fixes=[]):
        read(tmp_path, "epoch,loss\n1,3\n2,2\n1,4\n2,1\n")


def test_outer_and_inner_folds_are_replicates(tmp_path):
    rows = [f"{a},{o},{i},0.{o}{i}" for a in "ab" for o in range(2) for i in range(3)]
    trials = read(tmp_path, "algorithm,outer,inner,accuracy\n" + "\n".join(rows[::-1]))
    labels = {t.key[1:]: (t.labels["outer"], t.labels["inner"]) for t in trials}
    assert all(labels["a", n] == labels["b", n] for n in range(6))


def test_whole_seeds_written_as_floats_are_whole(tmp_path):
    trials = read(tmp_path, "model,seed,acc\na,3.0,0.5\nb,3.0,0.6\n")
    assert [t.number for t in trials] == [3, 3]


def test_seeds_too_large_to_be_told_apart_are_refused(tmp_path):
    text = "model,seed,acc\na,18446744073709551615,.9\na,18446744073709551614,.8\n"
    with refused(says=["seed"]):
        read(tmp_path, text)
    exact = {"seed": np.array([2**63, 2**63 + 1], np.uint64), "acc": [0.5, 0.6]}
    assert [t.labels["seed"] for t in cw.read(exact)] == [2**63, 2**63 + 1]


# --- how did it end? ---------------------------------------------------------------------


def test_the_last_row_of_a_run_says_how_it_ended(tmp_path):
    head = "agent,seed,step,return,status\n"
    broken = "a,0,1,1,ok\na,0,2,2,ok\na,0,3,3,crashed\n"
    fine = "a,1,1,1,running\na,1,2,2,running\na,1,3,3,finished\n"
    trials = read(tmp_path, head + broken + fine)
    assert [t.status for t in trials] == ["crashed", "ok"]


def test_a_column_called_state_may_be_something_else(tmp_path):
    trials = read(tmp_path, "model,seed,acc,state\na,0,0.5,CA\na,1,0.6,NY\n")
    assert [t.status for t in trials] == ["ok", "ok"]
    assert trials[0].labels["state"] == "CA"


def test_a_score_without_its_step_is_not_thrown_away(tmp_path):
    text = "model,seed,epoch,acc\na,0,1,.5\na,0,2,.6\na,1,,0.9\n"
    with refused(says=["epoch", "model", "a"]):
        read(tmp_path, text)


def test_a_metric_that_is_logged_once_per_run_breaks_no_rhythm(tmp_path):
    rows = [
        f"a,{seed},{epoch},1.0,{0.9 if epoch == 1 + seed else ''}"
        for seed in range(3)
        for epoch in range(6)
    ]
    text = "model,seed,epoch,loss,test_acc\n" + "\n".join(rows)
    assert read(tmp_path, text).scores("test_acc")["a"].tolist() == [0.9] * 3


# --- numbers -----------------------------------------------------------------------------


def test_percent_touches_rates_and_nothing_else(tmp_path):
    text = "model,seed,acc,loss,reward,zorp\na,0,91,2.3,1500,50\n"
    trials = read(
        tmp_path, text, unit="percent", metrics=["acc", "loss", "reward", "zorp"]
    )
    assert trials.metrics["zorp"].direction is None
    last = {name: trials.scores(name)["a"][0] for name in trials.metrics}
    assert last == {"acc": 0.91, "loss": 2.3, "reward": 1500, "zorp": 0.5}
    own = {"reward": Metric("reward", "higher"), "acc": "higher"}
    trials = read(tmp_path, text, unit="percent", metrics=own)
    assert trials.scores("reward")["a"].tolist() == [1500]


def test_fractions_among_percent_are_pointed_out(tmp_path):
    with warned(1, 3, "acc", 1):
        read(tmp_path, "model,seed,acc\na,0,91\na,1,0.92\na,2,90\n", unit="percent")


@pytest.mark.parametrize("cell", ["diverged", "-"])
def test_words_in_place_of_a_score_are_failed_runs(tmp_path, cell):
    text = f'model,seed,acc,loss\na,0,0.9,0.1\na,1,"{cell}",0.3\nb,0,0.8,0.2\n'
    trials = read(tmp_path, text)
    assert trials.scores("acc", failed=0.0)["a"].tolist() == [0.9, 0.0]
    with pytest.raises(CurvewiseError):
        trials.scores("acc")


@pytest.mark.parametrize("cell", ["91%", "0,91"])
def test_scores_that_a_word_turned_into_text_are_refused(tmp_path, cell):
    """Or the next best metric would be judged instead."""
    text = f'model,seed,acc,loss\na,0,0.9,0.1\na,1,"{cell}",0.3\nb,0,0.8,0.2\n'
    with pytest.raises(
        CurvewiseError, match=rf"Column 'acc' should hold scores.*'{cell}'"
    ):
        read(tmp_path, text)


def test_an_error_column_may_hold_messages(tmp_path):
    trials = read(tmp_path, "model,seed,acc,error\na,0,0.9,\na,1,,out of memory\n")
    assert trials[1].labels["error"] == "out of memory"


def test_integers_beyond_float_precision_are_numbers(tmp_path):
    assert read(tmp_path, f"model,seed,reward\na,0,{2**60 + 1}\n").scores("reward")


# --- how it is written -------------------------------------------------------------------


def test_spaces_after_commas_do_not_matter(tmp_path):
    text = "algorithm, seed, dataset, accuracy\nsvm, 0, iris, 0.9\nsvm , 0, wine, 0.5\n"
    trials = read(tmp_path, text)
    assert trials.tasks == ("iris", "wine")
    assert trials.algorithms == ("svm",)
    assert trials.metrics["accuracy"].range == (0, 1)


def test_a_file_without_names_of_columns_is_refused(tmp_path):
    with refused(says=["a", "0", "0.9"]):
        read(tmp_path, "a,0,0.9\na,1,0.8\n")


def test_words_that_other_tools_use_for_missing_are_names_too(tmp_path):
    text = "task,model,seed,penalty,acc\nNA,None,0,None,NA\nx,m,0,l1,0.5\n"
    trials = read(tmp_path, text)
    assert trials[0].key == ("NA", "None", 0)
    assert trials[0].params == {"penalty": "None"}
    assert trials[0].status == "failed"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "modèle,acc\na,1\n".encode("latin-1"),
            "in another encoding, not in UTF-8",
        ),
        ("model,acc\nmodèle,1\n".encode("latin-1"), "is text in another encoding"),
        ("model,acc\na,1\n".encode("utf-16"), "is text in UTF-16, not in UTF-8"),
    ],
)
def test_other_encodings_are_named(tmp_path, text, words):
    with pytest.raises(CurvewiseError, match=words):
        read(tmp_path, text)


# --- other shapes ------------------------------------------------------------------------

FRAME = pd.DataFrame({"model": ["a", "b"], "seed": [0, 0], "acc": [0.5, 0.6]})


def categorical(tmp_path):
    frame = FRAME.astype({"model": "category"})
    frame.to_parquet(tmp_path / "c.parquet")
    table = pa.Table.from_pandas(FRAME)
    encoded = table.set_column(0, "model", table.column("model").dictionary_encode())
    pq.write_table(encoded, tmp_path / "d.parquet")
    polars = pl.from_pandas(FRAME).with_columns(pl.col("model").cast(pl.Categorical))
    return [frame, tmp_path / "c.parquet", encoded, tmp_path / "d.parquet", polars]


def test_categories_are_names(tmp_path):
    for source in categorical(tmp_path):
        assert cw.read(source) == cw.read(FRAME)


def test_kinds_that_arrow_extends_are_kept_as_they_are_stored():
    """A month of pandas is stored as a count of months; it is a label, no more."""
    frame = FRAME.assign(month=pd.period_range("2026-01", periods=2, freq="M"))
    assert [t.labels["month"] for t in cw.read(frame)] == ["672", "673"]


def test_nested_records_are_flattened(tmp_path):
    text = (
        '{"model": "a", "seed": 0, "acc": 0.5, "config": {"lr": 0.1, "hidden": [64, 32]}}\n'
        '{"model": "a", "seed": 1, "acc": 0.6, "config": {"lr": 0.2, "hidden": [8]}}\n'
    )
    trials = read(tmp_path, text, "r.jsonl")
    assert trials[0].params == {"lr": 0.1, "hidden": "[64, 32]"}


def test_a_record_that_lacks_a_key_takes_it_from_nobody(tmp_path):
    text = '[{"model":"a","seed":0,"loss":1.0},{"model":"a","seed":1,"loss":0.5,"acc":0.5}]'
    trials = read(tmp_path, text, "r.json")
    assert list(trials.metrics) == ["loss", "acc"]
    assert trials.scores("acc", failed="worst")["a"].tolist() == [0, 0.5]


@pytest.mark.parametrize("text", ["[1, 2]", '{"model": ["a"], "acc": [1]}'])
def test_json_that_holds_no_records_is_refused(tmp_path, text):
    with refused("source", tmp_path / "r.json"):
        read(tmp_path, text, "r.json")


def test_prefixes_of_other_tools(tmp_path):
    text = "run_id,params.lr,metrics.acc,tags.x\nu,0.1,0.5,z\nv,0.2,0.6,z\n"
    trials = read(tmp_path, text)
    assert trials.metrics["acc"].range == (0, 1)
    assert trials[0].params == {"lr": 0.1}
    text = "env_id,algo_name,seed,time/total_timesteps,rollout/ep_rew_mean\n"
    text += "h,x,0,1,5\nh,x,0,2,6\n"
    trials = read(tmp_path, text)
    assert (trials.tasks, trials.algorithms) == (("h",), ("x",))
    assert trials[0].steps.tolist() == [1, 2]


def test_labels_in_both_tables_are_taken_where_they_are(tmp_path):
    """A run without a curve has its labels from the table of runs alone."""
    curves = {"run": [1, 1], "algo": ["x", "x"], "step": [0, 1], "return": [1.0, 2.0]}
    runs = {"run": [1, 2], "algo": ["x", "y"], "seed": [0, 0]}
    trials = cw.read(curves, runs=runs, on="run")
    assert [(t.algorithm, t.status) for t in trials] == [("x", "ok"), ("y", "failed")]


def test_a_column_of_ours_that_is_not_used_is_kept(tmp_path):
    trials = read(tmp_path, "model,seed,number,acc\na,0,7,0.5\na,1,7,0.6\n")
    assert trials[0].labels == {"seed": 0, "number": 7}


@pytest.mark.parametrize(
    ("source", "keywords", "words"),
    [
        (FRAME, {"metrics": []}, r"metrics is empty\. Name at least one column"),
        (
            pd.DataFrame([[1, 2]], columns=["acc", "acc"]),
            {},
            r"The frame cannot be read: .*every name once",
        ),
        (FRAME, {"metrics": 3}, r"metrics is 3\. Pass the name of a column or a list"),
        (FRAME, {"params": [1]}, r"params is \[1\]\. Pass the name of a column"),
        (
            FRAME,
            {"task": "model", "algorithm": "model"},
            r"'model' was given two roles",
        ),
        (
            "https://example.org/r.csv",
            {},
            r"is an address\. Download it and pass the file",
        ),
        ("", {}, r"The path is ''\. Pass the path of a file"),
        ("a\0b", {}, r"The path is 'a\\x00b'"),
        (
            pd.DataFrame(
                [[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
            ),
            {},
            r"columns of several levels\. Give each column one name",
        ),
        (
            pd.DataFrame({"acc": [0.5, {}], "y": [1, 2]}),
            {},
            r"The frame cannot be read: .*Pass columns of one kind",
        ),
        ({"acc": [2**70]}, {}, r"Column 'acc' holds \[1180591620717411303424\]"),
    ],
)
def test_bad_input_is_named(source, keywords, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.read(source, **keywords)


def test_one_name_may_stand_for_a_list():
    assert list(cw.read(FRAME, metrics="acc").metrics) == ["acc"]
    assert cw.read(FRAME, params="seed", trial=[], metrics="acc")[0].params == {
        "seed": 0
    }


# --- what check says of what cannot be refused -------------------------------------------


def rules_of(trials):
    return {finding.rule for finding in cw.check(trials)}


def test_groups_that_were_pooled_are_pointed_out(tmp_path):
    text = "lang,seed,acc\n"
    text += "".join(f"en,{i},0.{i}1\nde,{i + 9},0.{i}2\n" for i in range(5))
    with pytest.raises(CurvewiseError) as asked:
        read(tmp_path, text)
    assert asked.value.fixes[:2] == ({"algorithm": "lang"}, {"task": "lang"})
    assert read(tmp_path, text, task="lang").tasks == ("en", "de")
    text = "model,dataset,method,seed,acc\n"
    text += "".join(f"m,d,old,{i},0.{i}1\nm,d,new,{i + 9},0.{i}2\n" for i in range(5))
    assert "pooled-groups" in rules_of(read(tmp_path, text))


def test_a_host_is_no_group():
    """The negative control: a label that says nothing, and labels that differ by run."""
    frame = {
        "task": ["t"] * 8,
        "model": ["a"] * 8,
        "seed": range(8),
        "host": ["n1", "n2"] * 4,
        "acc": np.arange(8) / 10,
    }
    assert "pooled-groups" not in rules_of(cw.read(frame))
    del frame["task"]
    frame["host"] = [f"n{i}" for i in range(8)]
    assert "pooled-groups" not in rules_of(cw.read(frame))


def test_how_runs_ended_is_no_group():
    frame = {
        "model": ["a"] * 8,
        "seed": range(8),
        "status": ["ok"] * 8,
        "state": ["COMPLETE", "PRUNED"] * 4,
        "acc": np.arange(8) / 10,
    }
    assert "pooled-groups" not in rules_of(cw.read(frame))
    frame["place"] = frame["state"]
    assert "pooled-groups" in rules_of(cw.read(frame))


def test_many_columns_are_read_in_reasonable_time():
    frame = {f"x{i}": [float(i), 1.0, 2.0] for i in range(1500)}
    trials = cw.read(
        {"model": ["a", "a", "b"], "seed": [0, 1, 0], "acc": [0.1] * 3, **frame}
    )
    assert len(trials[0].labels) == 1501


def test_a_run_without_counts_at_a_size_has_failed(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(
        "learner,fold,size,tp,fp,fn,tn\n"
        "a,0,40,5,1,2,4\na,0,80,6,1,1,4\n"
        "a,1,40,5,2,2,3\na,1,80,,,,\n"
    )
    trials = cw.read(path)
    assert [trial.status for trial in trials] == ["ok", "failed"]
    assert trials[1].counts.shape == (1, 2, 2)
    answer = cw.confusion(trials, "error", failed="worst")
    assert answer.failed == 1
    assert answer.rows()[0]["value"] > 0.3  # all answers of the failed one are wrong


@pytest.mark.parametrize(
    ("cell", "told"), [("", "a row lacks one"), ("-3", "one is -3"), ("1.5", "is 1.5")]
)
def test_what_is_no_count_is_told(tmp_path, cell, told):
    path = tmp_path / "counts.csv"
    path.write_text(
        f"learner,fold,size,tp,fp,fn,tn\na,0,40,5,1,2,4\na,0,80,6,{cell},1,4\n"
    )
    with pytest.raises(CurvewiseError, match=told):
        cw.read(path)
