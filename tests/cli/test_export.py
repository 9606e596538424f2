import numpy as np
import pytest

import curvewise as cw
from curvewise import Trial, Trials

KEPT = Trials(
    [
        Trial(
            *("moons", "net", 0),
            {"accuracy": [0.1, 0.2, 1 / 3], "loss": [3, None, 1]},
            steps=[1, 2, 5],
            params={"lr": 1e-5 / 3, "width": 64, "act": "relu", "bias": True},
            labels={"outer": 1},
            seconds=1.5,
        ),
        Trial(
            *("moons", "net", 1),
            {"accuracy": [0.1], "loss": [2.0]},
            steps=[1],
            params={"lr": 0.1, "width": 128, "act": 'a, "b"', "bias": False},
            labels={"outer": 2},
            status="failed",
            error='ValueError: bad\n  a.py:1 in "f", and more',
            attempts=2,
        ),
        Trial("moons", "net", 2, {}, params={"lr": 0.3}, status="crashed", error="x"),
        Trial("moons", "svm", 0, {"accuracy": [0.1, np.nan, 0.3]}, steps=[1, 2, 5]),
        Trial("moons", "svm", 1, {"accuracy": [0.5, 0.6, np.nan]}, steps=[1, 2, 5]),
    ]
)
COUNTS = Trials(
    [
        *(
            Trial(
                "m",
                "knn",
                i,
                steps=[10, 20],
                counts=[[[5, 1], [2, 4]], [[5, i], [1, 5]]],
            )
            for i in range(3)
        ),
        Trial("m", "knn", 3, status="timeout", error="over its time"),
    ]
)
FORMS = ["x.parquet", "x.csv", "x.jsonl"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("out", FORMS)
@pytest.mark.parametrize("trials", [KEPT, COUNTS], ids=["scores", "counts"])
def test_what_is_exported_is_read_again(here, ran, out, trials):
    cw.store.write(trials, "x.db")
    done = ran("export", "x.db", out)
    assert done.exit_code == 0, done.output
    rows = trials.to_frame("pyarrow").num_rows
    assert done.stdout == f"wrote {out}: {len(trials)} trials in {rows} rows\n"
    again = cw.read(out)
    assert list(again) == list(trials)
    for one, other in zip(trials, again, strict=True):
        assert (one.error, one.attempts) == (other.error, other.attempts)
        assert (
            one.seconds == other.seconds or np.isnan([one.seconds, other.seconds]).all()
        )
    assert [p.name for p in here.iterdir() if p.name[0] == "."] == []


@pytest.mark.parametrize("out", FORMS)
def test_a_run_can_be_exported(folder, ran, out):
    ran("run", "plan.toml")
    assert ran("export", "plan.db", out).exit_code == 0
    assert cw.read(out) == cw.read("plan.db")


def test_a_metric_with_the_name_of_a_column_of_ours(here, ran):
    trials = Trials(
        [
            Trial("t", "a", i, {"status": [i, None, 2], "loss": [1, 2, 3]})
            for i in range(2)
        ]
    )
    cw.store.write(trials, "x.db")
    ran("export", "x.db", "x.csv")
    assert cw.read("x.csv") == trials


def test_a_file_is_replaced_only_on_demand(here, ran):
    cw.store.write(COUNTS, "x.db")
    (here / "x.csv").write_text("mine")
    done = ran("export", "x.db", "x.csv")
    assert done.exit_code == 1
    assert "--force" in done.stderr
    assert (here / "x.csv").read_text() == "mine"
    assert ran("export", "x.db", "x.csv", "--force").exit_code == 0
    assert cw.read("x.csv") == COUNTS


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("x.xlsx", "'.parquet', '.csv', '.jsonl'"),
        ("x", "'.parquet', '.csv', '.jsonl'"),
        ("sub/x.csv", "sub"),
        ("folder.csv", "folder.csv"),
    ],
)
def test_where_nothing_can_be_written(here, ran, out, words):
    cw.store.write(COUNTS, "x.db")
    (here / "folder.csv").mkdir()
    done = ran("export", "x.db", out)
    assert done.exit_code == 1
    assert words in done.stderr
