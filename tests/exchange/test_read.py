import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from facts import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from support import data

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trial, Trials, store
from curvewise.metrics import is_quality

WIDE = """model,dataset,seed,lr,acc
a,d,0,0.1,0.9
a,d,1,0.2,0.8
b,d,0,0.3,0.7
b,d,1,0.4,
"""
LONG = """algo,env,seed,step,return
x,hop,3,0,1.0
x,hop,3,10,2.0
x,hop,4,0,1.5
x,hop,4,10,2.5
y,hop,3,0,0.0
y,hop,3,10,9.0
"""


def written(tmp_path, text, name="results.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# --- roles -------------------------------------------------------------------------------


def test_a_wide_table_is_understood_by_its_usual_names(tmp_path, capsys):
    trials = cw.read(written(tmp_path, WIDE))
    assert trials.tasks == ("d",)
    assert trials.algorithms == ("a", "b")
    assert trials.metrics["acc"].range == (0, 1)
    assert [t.params for t in trials] == [{"lr": x} for x in (0.1, 0.2, 0.3, 0.4)]
    assert [t.labels for t in trials] == [{"seed": s} for s in (0, 1, 0, 1)]
    said = capsys.readouterr().err
    assert "algorithm=model" in said
    assert "trial=seed" in said
    assert "metrics=acc" in said
    assert "algorithm=model" in str(trials)


def test_a_missing_score_is_a_failed_trial(tmp_path):
    trials = cw.read(written(tmp_path, WIDE))
    broken = trials[3]
    assert broken.status == "failed"
    assert broken.error
    with refused("failed", says=[1, 4, "acc"]):
        trials.scores("acc")
    assert trials.scores("acc", failed="worst")["b"].tolist() == [0.7, 0.0]


def test_a_long_table_gives_whole_curves(tmp_path):
    trials = cw.read(written(tmp_path, LONG))
    assert len(trials) == 3
    assert trials[0].steps.tolist() == [0, 10]
    assert trials.scores("return")["x"].tolist() == [2.0, 2.5]
    assert trials[1].number == 4


def test_rows_of_a_long_table_may_come_in_any_order(tmp_path):
    head, *rows = LONG.splitlines()
    shuffled = "\n".join([head, *np.random.default_rng(0).permutation(rows)])
    one = cw.read(written(tmp_path, LONG))
    other = cw.read(written(tmp_path, shuffled, "b.csv"))
    assert one == other


def test_keywords_state_what_the_names_do_not_say(tmp_path):
    text = "who,rep,pts\nu,1,91\nu,2,92\nv,1,81\n"
    trials = cw.read(
        written(tmp_path, text),
        algorithm="who",
        trial="rep",
        metrics={"pts": "higher"},
        unit="percent",
    )
    assert trials.scores("pts")["u"].tolist() == [0.91, 0.92]
    assert trials.metrics["pts"].range == (0, 1)


def test_everything_stated_is_not_said_again(tmp_path, capsys):
    cw.read(
        written(tmp_path, "who,rep,loss\nu,1,9\nu,2,8\n"),
        algorithm="who",
        trial="rep",
        metrics=["loss"],
    )
    assert capsys.readouterr().err == ""


def test_a_metric_whose_name_says_nothing_has_no_direction(tmp_path):
    text = "model,seed,score\na,0,1.5\na,1,2.5\n"
    trials = cw.read(written(tmp_path, text))
    assert trials.metrics["score"] == Metric("score")
    assert trials.metrics["score"].direction is None
    declared = cw.read(written(tmp_path, text), metrics={"score": "lower"})
    assert declared.metrics["score"] == Metric("score", "lower")
    own = Metric("score", "higher", (0, 5))
    assert (
        cw.read(written(tmp_path, text), metrics={"score": own}).metrics["score"] == own
    )


def test_a_file_without_names_of_tasks_or_algorithms_has_one_of_each(tmp_path):
    path = written(tmp_path, "loss\n1\n2\n3\n")
    with pytest.raises(CurvewiseError) as asked:
        cw.read(path)
    assert asked.value.fixes == ({"step": "row"}, {"trial": []})
    assert [len(t.steps) for t in cw.read(path, step="row")] == [3]
    trials = cw.read(path, trial=[])
    assert (trials.tasks, trials.algorithms) == (("all",), ("all",))
    assert [t.number for t in trials] == [0, 1, 2]


def test_labels_that_are_no_numbers_are_counted_over_all_algorithms(tmp_path):
    """So that equal seeds stay pairs."""
    text = "model,run,loss\na,blue,1\na,red,2\nb,red,3\nb,blue,4\n"
    trials = cw.read(written(tmp_path, text))
    assert {t.key[1:]: t.labels["run"] for t in trials} == {
        ("a", 0): "blue",
        ("a", 1): "red",
        ("b", 0): "blue",
        ("b", 1): "red",
    }


def test_seed_and_fold_together_tell_runs_apart(tmp_path):
    text = "model,seed,fold,loss\n" + "".join(
        f"a,{s},{f},{s + f}\n" for s in range(2) for f in range(3)
    )
    trials = cw.read(written(tmp_path, text))
    assert len(trials) == 6
    assert [t.labels for t in trials][4] == {"seed": 1, "fold": 1}


def test_a_column_that_looks_like_a_step_is_none_where_every_row_is_a_run(tmp_path):
    text = "model,trial,iteration,acc\na,0,5,0.5\na,1,9,0.6\n"
    trials = cw.read(written(tmp_path, text))
    assert [len(t.steps) for t in trials] == [1, 1]
    assert trials[0].labels["iteration"] == 5


def test_training_sizes_without_a_run_are_one_trial_each_if_one_says_so(tmp_path):
    text = "model,size,error\n" + "a,25,0.5\n" * 3 + "a,50,0.4\n" * 2
    with refused(fixes=[{"trial": []}]):
        cw.read(written(tmp_path, text))
    trials = cw.read(written(tmp_path, text), trial=[])
    assert [t.steps.tolist() for t in trials] == [[25]] * 3 + [[50]] * 2


def test_what_has_no_meaning_is_kept_as_a_label(tmp_path):
    text = "model,seed,acc,host,gpus\na,0,0.5,n1,4\n"
    assert cw.read(written(tmp_path, text))[0].labels == {
        "seed": 0,
        "host": "n1",
        "gpus": 4,
    }


def test_confusion_counts_are_recognised(tmp_path):
    text = "learner,fold,size,tp,fp,fn,tn\nu,0,40,4,3,2,1\nu,0,80,8,1,1,0\n"
    trials = cw.read(written(tmp_path, text))
    assert trials[0].counts.tolist() == [[[1, 3], [2, 4]], [[0, 1], [1, 8]]]
    assert trials.scores("precision")["u"].tolist() == [pytest.approx(8 / 9)]


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("COMPLETE", "ok"),
        ("TrialState.COMPLETE", "ok"),
        ("finished", "ok"),
        ("FAILED", "failed"),
        ("killed", "crashed"),
        ("timed out", "timeout"),
        ("pruned", "cancelled"),
    ],
)
def test_words_of_other_tools_for_how_a_run_ended(tmp_path, word, status):
    text = f"model,seed,acc,state\na,0,0.5,{word}\n"
    assert cw.read(written(tmp_path, text))[0].status == status


# --- gaps in curves ----------------------------------------------------------------------


def sparse(tmp_path, evals):
    rows = [
        f"a,0,{step},{step / 10},{'' if value is None else value}"
        for step, value in enumerate(evals)
    ]
    text = "model,seed,step,loss,acc\n" + "\n".join(rows) + "\n"
    return cw.read(written(tmp_path, text))


def test_a_metric_that_is_logged_now_and_then_is_no_failure(tmp_path):
    trials = sparse(tmp_path, [0.1, None, None, 0.4, None, None, 0.7, None])
    assert trials.scores("acc")["a"].tolist() == [0.7]
    assert trials.points("acc")["a"].size.tolist() == [0, 3, 6]


def test_a_curve_that_breaks_off_is_one(tmp_path):
    """Divergence must not pass as sparse logging: the last score would flatter."""
    trials = sparse(tmp_path, [0.1, 0.2, 0.9, None, None, None])
    with refused("failed", says=[1, 1, "acc"]):
        trials.scores("acc")


def test_nan_in_a_file_is_recorded_and_not_a_number(tmp_path):
    trials = cw.read(written(tmp_path, "model,seed,loss\na,0,nan\na,1,inf\na,2,1\n"))
    assert [t.status for t in trials] == ["ok"] * 3
    with refused("failed", says=[2, 3]):
        trials.scores("loss")


# --- two tables --------------------------------------------------------------------------


RUNS = "run,algo,env,seed,lr\n7,x,hop,3,0.1\n8,x,hop,4,0.2\n9,y,hop,3,0.3\n"
CURVES = "run,step,return\n7,0,1\n7,10,2\n9,0,5\n9,10,6\n"


def test_labels_in_one_table_and_curves_in_another(tmp_path):
    """A run without a curve is a failed trial, not a missing one."""
    trials = cw.read(
        written(tmp_path, CURVES, "curves.csv"),
        runs=written(tmp_path, RUNS, "runs.csv"),
        on="run",
    )
    assert [t.key for t in trials] == [
        ("hop", "x", 3),
        ("hop", "x", 4),
        ("hop", "y", 3),
    ]
    assert [t.status for t in trials] == ["ok", "failed", "ok"]
    assert [len(t.steps) for t in trials] == [2, 0, 2]
    assert trials[1].params == {"lr": 0.2}
    assert trials.scores("return", failed=0)["x"].tolist() == [2, 0]


def test_the_shared_column_need_not_be_named(tmp_path):
    trials = cw.read(
        pd.read_csv(written(tmp_path, CURVES)), runs=written(tmp_path, RUNS, "r.csv")
    )
    assert len(trials) == 3


@pytest.mark.parametrize(
    ("curves", "runs", "keywords", "words"),
    [
        (
            CURVES,
            RUNS + "7,z,hop,9,1\n",
            {"on": "run"},
            r"has more than one row with .*7",
        ),
        (
            CURVES + "5,0,1\n",
            RUNS,
            {"on": "run"},
            r"1 rows of c\.csv have no run in r\.csv",
        ),
        (CURVES, RUNS, {"on": "rum"}, r"no column 'rum'\. Did you mean 'run'\?"),
        (
            "a,b\n1,2\n",
            RUNS,
            {},
            r"Which column joins the two tables\? They share none",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, curves, runs, keywords, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.read(
            written(tmp_path, curves, "c.csv"),
            runs=written(tmp_path, runs, "r.csv"),
            **keywords,
        )


# --- sources -----------------------------------------------------------------------------


def sources(tmp_path):
    frame = pd.read_csv(written(tmp_path, WIDE))
    frame.to_parquet(tmp_path / "r.parquet")
    frame.to_json(tmp_path / "r.jsonl", orient="records", lines=True)
    (tmp_path / "r.json").write_text(frame.to_json(orient="records"))
    frame.to_csv(tmp_path / "r.tsv", sep="\t", index=False)
    frame.to_csv(tmp_path / "semicolon.csv", sep=";", index=False)
    with gzip.open(tmp_path / "r.csv.gz", "wt") as file:
        file.write(WIDE)
    (tmp_path / "bom.csv").write_text(WIDE, encoding="utf-8-sig")
    columns = {name: frame[name].tolist() for name in frame}
    arrays = {name: frame[name].to_numpy() for name in frame}
    store = tmp_path / "runs.db"
    cw.store.write(cw.read(frame), store)
    files = ("results.csv", "r.parquet", "r.jsonl", "r.json", "r.tsv", "semicolon.csv")
    return [
        *(tmp_path / name for name in (*files, "r.csv.gz", "bom.csv")),
        *(frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy()),
        *(pa.Table.from_pandas(frame), columns, arrays, store, str(store)),
    ]


def test_the_same_results_from_every_source(tmp_path):
    expected = cw.read(written(tmp_path, WIDE))
    for source in sources(tmp_path):
        assert cw.read(source) == expected, source


def test_a_store_knows_its_columns(tmp_path):
    cw.store.write(cw.example("search"), tmp_path / "a.db")
    with refused() as problem:
        cw.read(tmp_path / "a.db", algorithm="model")
    assert "is a store" in str(problem.value)


@pytest.mark.parametrize("name", ["search", "curves", "counts"])
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_ours_can_be_read_again(name, backend):
    trials = cw.example(name)
    assert cw.read(trials.to_frame(backend)) == trials


cells = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.integers(0, 3), st.floats(0, 1), st.floats(1e-6, 1.0)
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)


@settings(max_examples=40)
@given(cells)
def test_reading_is_the_inverse_of_writing_a_table(rows):
    algorithm, seed, acc, lr = zip(*rows, strict=True)
    trials = cw.read({"algorithm": algorithm, "seed": seed, "acc": acc, "lr": lr})
    expected = Trials(
        Trial("all", a, s, {"acc": v}, params={"lr": r}, labels={"seed": s})
        for a, s, v, r in rows
    )
    assert trials == expected


# --- bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "keywords", "words"),
    [
        ("", {}, r"results\.csv is empty\. Pass a file of results"),
        ("model,acc\n", {}, r"has no rows; its columns are 'model', 'acc'"),
        (WIDE, {"algorithm": "modle"}, r"no column 'modle'\. Did you mean 'model'\?"),
        (WIDE, {"metrics": ["accu"]}, r"no column 'accu'\. Did you mean 'acc'\?"),
        (
            WIDE,
            {"metrics": {"acc": "up"}},
            r"metrics says 'up' of 'acc'\. Say 'higher'",
        ),
        (
            WIDE,
            {"unit": "promille"},
            r"unit is 'promille'\. Pass 'fraction', 'percent' or 'mixed'",
        ),
        (
            WIDE,
            {"on": "seed"},
            r"on= names the column that joins two tables\. Pass runs=",
        ),
        ("model,x,y\na,1.5,2.5\n", {}, r"Which columns are scores\?.* 'x', 'y'\. Pass"),
        (
            "model,seed,acc\na,0,0.5\na,1,oops\n",
            {},
            r"'acc' should hold scores.*'oops'",
        ),
        (
            "model,seed,acc\na,0,0.5\na,1,oops\n",
            {"metrics": ["acc"]},
            r"Column 'acc' should hold numbers, but row 2 holds 'oops'",
        ),
        ("model,acc\na,0.5\n,0.6\n", {}, r"Column 'model' is empty in some rows"),
        (
            "model,seed,acc\na,0,0.5\na,0,0.6\n",
            {},
            r"1 of 2 rows repeat a row before them in .*Add a column",
        ),
        (
            LONG + "x,hop,3,10,2.0\n",
            {},
            r"1 of 7 rows repeat a row before them in .*Add a column",
        ),
        (LONG + "x,hop,3,,2.0\n", {}, r"Column 'step' is empty in a row of"),
        (LONG + "x,hop,3,inf,2.0\n", {}, r"Column 'step' holds infinite steps"),
        (
            "model,seed,acc,status\na,0,.5,meh\n",
            {"status": "status"},
            r"Column 'status' says 'meh'\. curvewise knows",
        ),
        (
            "model,seed,acc\na,0,190\n",
            {"unit": "percent"},
            r"unit='percent', but 'acc' holds",
        ),
        (
            "model,tp,fp,fn,tn\na,1,2,3.5,4\n",
            {},
            r"should hold counts, and one is 3.5",
        ),
        ("model,tp,fp,fn,tn\na,1,2,-3,4\n", {}, r"should hold counts, and one is -3"),
        ("acc,acc\n1,2\n", {}, r"more than one column 'acc'"),
        ("model,acc\na,1,2,3\n", {}, r"cannot be read as CSV: .*Expected 2 columns"),
    ],
)
def test_a_bad_file_is_named(tmp_path, text, keywords, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.read(written(tmp_path, text), **keywords)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (3, r"Results came as int\. Pass a path, a pandas"),
        ([1, 2], r"Results came as list\."),
        ({"a": [1, 2], "acc": [1]}, r"equally long, but 'a' has 2, 'acc' has 1"),
        ({"acc": [[1, 2]]}, r"Column 'acc' has 2 dimensions"),
        ({"acc": [1, "x"]}, r"Column 'acc' holds"),
        ({}, r"has no rows"),
        (pd.DataFrame({"acc": []}), r"has no rows"),
    ],
)
def test_a_bad_object_is_named(source, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.read(source)


def test_a_path_that_leads_nowhere_shows_what_is_beside_it(tmp_path):
    written(tmp_path, WIDE)
    with refused("source", tmp_path / "result.csv", says=["results.csv"]):
        cw.read(tmp_path / "result.csv")
    with pytest.raises(CurvewiseError, match="is a folder"):
        cw.read(tmp_path)
    with refused("source", says=[".xlsx", ".csv"]):
        cw.read(written(tmp_path, "x", "a.xlsx"))


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl", "a.csv.gz", "a.json"])
def test_a_corrupt_file_is_named(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"[\x00\xff\xfe garbage" * 9)
    with refused("source", path):
        cw.read(path)


def test_a_truncated_parquet_file_is_named(tmp_path):
    pq.write_table(pa.table({"acc": [0.1] * 1000}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:-20])
    with refused("source", tmp_path / "a.parquet"):
        cw.read(tmp_path / "a.parquet")


def test_names_in_any_script_and_of_any_length(tmp_path):
    names = ['日本語, "x"', "a" * 5000, "<script>", "ß\nnew line"]
    frame = pd.DataFrame(
        {"model": names, "seed": range(4), "acc": [0.1, 0.2, 0.3, 0.4]}
    )
    frame.to_csv(tmp_path / "r.csv", index=False)
    assert cw.read(tmp_path / "r.csv").algorithms == tuple(names)


# --- real data ---------------------------------------------------------------------------


def test_two_files_of_control_curves():
    trials = cw.read(
        data("control_curves/curves.parquet"),
        runs=data("control_curves/runs.csv"),
        on="run",
    )
    assert len(trials) == 96
    assert trials.algorithms == ("DDPG", "PPO", "SAC", "TD3")
    assert len(trials.tasks) == 3
    assert trials.metrics["return"].direction == "higher"
    assert int(trials.core.lengths.sum()) == 78_360
    assert [t.labels["seed"] for t in trials[:8]] == [20, 21, 22, 23, 25, 26, 27, 28]
    hopper = trials.where(task="Hopper-v2").lines("return", grid=61, fill="linear")
    assert {a: v.shape for a, v in hopper.items()} == dict.fromkeys(
        trials.algorithms, (8, 61)
    )


def test_a_random_search_with_49_diverged_runs():
    trials = cw.read(
        data("random_search/trials.csv"), algorithm="model", metrics={"final": "higher"}
    )
    assert len(trials) == 2560
    assert (trials.core.status != 0).sum() == 49
    with refused("failed", says=[49, 2560, "final"]):
        trials.scores("final")
    scores = trials.scores("final", failed=0.001)
    assert (scores["alexnet"] == 0.001).sum() >= 49
    assert set(trials[0].params) >= {"lr", "momentum", "batch_size"}
    assert "learning_rate" not in trials[0].params  # another model's


def test_the_same_search_with_its_curves():
    trials = cw.read(
        data("random_search/curves.parquet"),
        runs=data("random_search/trials.csv"),
        on="trial",
    )
    assert trials.metrics["score"].direction is None
    assert not is_quality("time_s")
    assert len(trials) == 2560
    last = trials.scores("score", failed=0.001)
    table = pd.read_csv(data("random_search/trials.csv"))
    for model, values in last.items():
        final = table[table.model == model].sort_values("trial").final.fillna(0.001)
        np.testing.assert_allclose(values, final)


def test_json_of_params_is_canonical(tmp_path):
    trials = cw.read(written(tmp_path, WIDE))
    text = trials.details().params[0].tobytes().decode()
    assert text == json.dumps({"lr": 0.1}, separators=(",", ":"))


def test_params_are_written_column_by_column_as_row_by_row():
    from curvewise.exchange.columns import as_json
    from curvewise.trials.columns import canonical, to_texts

    odd = 'ü"\\'
    table = pa.table(
        {
            "b": [1.5, None, 1e-5, float("nan"), 1e22],
            "a": [1, 2, None, 4, -(2**62)],
            odd: ["x", "", 'é\n"', "y", "x"],
            "c": [True, False, None, None, True],
        }
    )
    rows = [
        {k: v for k, v in row.items() if v is not None and v not in ("",) and v == v}
        for row in table.to_pylist()
    ]
    written = to_texts(as_json(table, {name: name for name in table.column_names}))
    assert written == [canonical(row) for row in rows]
    assert to_texts(as_json(pa.table({"a": [None, 1]}), {"a": "z"})) == ["", '{"z":1}']


def test_what_joins_the_tables_tells_runs_apart(tmp_path):
    """Two runs that share a seed and were logged at other steps stay two."""
    steps = {"r1": (10, 20, 30), "r2": (15, 25, 35), "r3": (10, 20, 30)}
    curves = [f"{run},{s},{s / 100}" for run, some in steps.items() for s in some]
    (tmp_path / "curves.csv").write_text("\n".join(["run,step,return", *curves]))
    runs = "run,algo,seed\nr1,a,3\nr2,a,3\nr3,b,3\n"
    (tmp_path / "runs.csv").write_text(runs)
    trials = cw.read(tmp_path / "curves.csv", runs=tmp_path / "runs.csv", on="run")
    assert {t.labels["run"]: t.steps.tolist() for t in trials} == {
        run: list(map(float, some)) for run, some in steps.items()
    }
    named = cw.read(
        *(tmp_path / "curves.csv",), runs=tmp_path / "runs.csv", on="run", trial="seed"
    )
    assert named == trials


def test_a_choice_of_rows_names_what_there_is(tmp_path):
    path = written(
        tmp_path, "experiment,model,seed,acc\nx,a,0,0.5\nx,a,1,0.6\ny,a,0,0.7\n"
    )
    assert len(cw.read(path, where={"experiment": ["x", "y"], "seed": 0})) == 2
    assert cw.read(path, where={"seed": "1"})[0].metrics["acc"].tolist() == [0.6]
    with pytest.raises(CurvewiseError) as asked:
        cw.read(path, where={"experiment": "z"})
    assert {"where": {"experiment": "x"}} in asked.value.fixes
    with refused("column or label", "zorp"):
        cw.read(path, where={"zorp": 1})
    with pytest.raises(CurvewiseError, match="has all of"):
        cw.read(path, where={"experiment": "y", "seed": 1})
    with pytest.raises(CurvewiseError, match="where is"):
        cw.read(path, where="x")


def test_a_store_is_chosen_from_alike(tmp_path):
    text = "task,model,seed,lr,acc\nt,a,0,0.1,0.5\nt,a,1,0.2,0.6\nt,b,0,0.1,0.7\n"
    trials = cw.read(written(tmp_path, text))
    store.write(trials, tmp_path / "runs.db")
    cw.write(trials, tmp_path / "runs.parquet")
    for kept in (tmp_path / "runs.db", tmp_path / "runs.parquet"):
        assert len(cw.read(kept, where={"algorithm": "a"})) == 2
        assert len(cw.read(kept, where={"lr": "0.1"})) == 2  # as a shell says it
        assert len(cw.read(kept, where={"lr": 0.1, "algorithm": "b"})) == 1
        with pytest.raises(CurvewiseError):
            cw.read(kept, where={"lr": 0.3})
        with pytest.raises(CurvewiseError):
            cw.read(kept, where={"zorp": 0.3})
