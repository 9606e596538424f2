"""block= and cluster= of `read`, and designs that travel with tables and stores."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from facts import facts, holds

import curvewise as cw
from curvewise.cli import main
from curvewise.errors import CurvewiseError, as_words
from curvewise.store import schema

ASSETS = Path(__file__).parents[1] / "assets"


def table(settings=4, seeds=3, **more):
    """Return a table as people write it: the same seeds for every setting."""
    rng = np.random.default_rng(0)
    rows = [
        {"model": m, "lr": lr, "config": f"{m}{i}", "seed": s, "acc": rng.random()}
        for m in ("a", "b")
        for i, lr in enumerate(rng.uniform(size=settings).tolist())
        for s in range(seeds)
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return columns | {name: make(rows) for name, make in more.items()}


FOLDS = {
    "model": ["a"] * 5 + ["b"] * 5,
    "fold": [*range(5)] * 2,
    "split": [*range(5)] * 2,
    "acc": [i / 10 for i in range(10)],
}


def test_the_same_seeds_of_every_setting_are_clusters():
    trials = cw.read(table(), trial=["lr", "seed"])
    assert trials.design.cluster == ("params",)
    assert trials.design.units == (4, 4)
    assert trials[0].params.keys() == {"lr"}


@pytest.mark.parametrize("cluster", ["config", "lr", ["config", "lr"], "params"])
def test_a_stated_cluster_tells_the_runs_of_one_seed_apart(cluster):
    trials = cw.read(table(), cluster=cluster)
    assert len(trials) == 24
    assert trials.design.known["cluster"] == "stated"
    assert trials.design.units == (4, 4)
    assert (trials[0].params.keys(), trials[0].labels.keys()) == (
        {"lr"},
        {"config", "seed"},
    )


def test_columns_of_a_design_are_neither_scores_nor_names():
    """A column called data would be the task; one of numbers might be a score."""
    columns = table(data=lambda rows: [row["seed"] for row in rows])
    trials = cw.read(columns, cluster="config", block="data", metrics="acc")
    assert trials.tasks == ("all",)
    assert trials[0].labels["data"] == 0
    scored = table(score=lambda rows: [float(row["seed"]) for row in rows])
    assert cw.read(scored, cluster="config", block="score").metrics.keys() == {"acc"}


def test_a_column_with_a_prefix_is_called_by_either_name():
    columns = {("param.lr" if c == "lr" else c): v for c, v in table().items()}
    for name in ("param.lr", "lr"):
        trials = cw.read(columns, cluster=name, trial=["config", "seed"])
        assert trials.design.cluster == ("lr",)
    assert cw.read(columns, cluster="param.lr").design.units == (4, 4)


def test_folds_are_blocks_where_somebody_says_so():
    assert cw.read(FOLDS).design.block == ()
    trials = cw.read(FOLDS, block="fold")
    assert trials.design.block == ("fold",)
    assert trials.design.blocks_met == (5, 5)
    assert trials[0].labels["fold"] == 0
    assert cw.read(FOLDS, block=["fold", "split"]).design.block == ("fold", "split")


def test_errors_name_what_there_is_and_how_to_go_on():
    with pytest.raises(CurvewiseError, match="'fold'"):
        cw.read(FOLDS, block="flod")
    columns = FOLDS | {"host": [f"h{i}" for i in range(10)]}
    with pytest.raises(CurvewiseError) as told:
        cw.read(columns, block="host")
    assert {"block": "fold"} in told.value.fixes
    for fix in told.value.fixes:
        assert len(cw.read(columns, **({"block": "host"} | fix))) == 10


# --- round trips -----------------------------------------------------------------------

DESIGNS = {
    "stated": {"cluster": "config"},
    "both": {"block": "seed", "cluster": "params"},
    "inferred": {"trial": ["lr", "seed"]},
    "independent": {"trial": ["lr", "seed"], "cluster": []},
}


@pytest.mark.parametrize("stated", DESIGNS.values(), ids=DESIGNS)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.db"])
def test_files_and_stores_keep_the_design(stated, name, tmp_path):
    trials = cw.read(table(), **stated)
    save = cw.store.write if name.endswith("db") else cw.write
    save(trials, tmp_path / name)
    again = cw.read(tmp_path / name)
    assert again == trials
    assert again.design == trials.design
    # A part of it, in which nothing may be certain any more.
    part = trials.take(np.arange(0, len(trials), 2))
    save(part, tmp_path / f"part-{name}")
    assert cw.read(tmp_path / f"part-{name}").design == part.design


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_frames_note_the_design_beside_them(backend):
    trials = cw.read(FOLDS, block="fold")
    frame = trials.to_frame(backend)
    assert cw.read(frame).design.record() == trials.design.record()
    assert cw.read(frame).metrics == trials.metrics


def test_an_experiment_that_was_exported_is_still_paired(tmp_path):
    plan = cw.Experiment(
        cw.Task("t", lambda rng: rng.random()),
        cw.Algorithm("a", {}, lambda params, data, rng: {"loss": data}),
        trials=4,
    )
    path = tmp_path / "runs.db"
    trials = cw.run(plan, store=path, executor="serial", progress=False)
    with cw.store.open(path) as store:
        assert "design" not in store.notes()  # it follows from the experiment
    done = CliRunner().invoke(main, ["export", str(path), str(tmp_path / "t.csv")])
    assert done.exit_code == 0, done.output
    for again in (cw.read(tmp_path / "t.csv"), cw.read(path)):
        assert again.design == trials.design
        assert again.design.known["block"] == "engine"


def test_a_store_takes_block_and_cluster_too(tmp_path):
    path = tmp_path / "t.db"
    cw.store.write(cw.read(table(), trial=["config", "seed"]), path)
    trials = cw.read(path, cluster="config", block="seed")
    assert (trials.design.block, trials.design.cluster) == (("seed",), ("config",))
    with pytest.raises(CurvewiseError, match="'config'"):
        cw.read(path, cluster="confg")
    with pytest.raises(CurvewiseError, match="trial="):
        cw.read(path, trial="seed")


def test_a_store_refuses_a_design_that_contradicts_its_own(tmp_path):
    path = tmp_path / "t.db"
    trials = cw.read(FOLDS, block="fold")
    cw.store.write(trials.where(algorithm="a"), path)
    with pytest.raises(CurvewiseError, match="Read them alike"):
        cw.store.write(trials.where(algorithm="b").with_design(block=[]), path)
    cw.store.write(trials.where(algorithm="b"), path)
    assert cw.read(path) == trials
    assert cw.read(path).design == trials.design


def test_tables_of_a_store_are_those_of_version_1(tmp_path):
    """The design is a note like others, which readers of version 1 skip."""
    path = tmp_path / "t.db"
    cw.store.write(cw.read(FOLDS, block="fold"), path)
    found = []
    for one in (path, ASSETS / "store-v1.db"):
        copy = tmp_path / f"copy-{one.name}"
        copy.write_bytes(one.read_bytes())
        with sqlite3.connect(copy) as db:
            rows = db.execute("SELECT name, sql FROM sqlite_master ORDER BY name")
            found.append(rows.fetchall())
            keys = {key for (key,) in db.execute("SELECT key FROM curvewise")}
        db.close()
    assert found[0] == found[1]
    assert {key for key in keys if not key.startswith("note:")} == {
        *("version", "made by", "revision")
    }
    assert schema.VERSION == 1


def test_a_store_of_version_1_has_a_design(tmp_path):
    path = tmp_path / "v1.db"
    path.write_bytes((ASSETS / "store-v1.db").read_bytes())
    assert str(cw.read(path).design)


# --- the command line ------------------------------------------------------------------


@pytest.fixture
def csv(tmp_path):
    import pyarrow as pa
    from pyarrow.csv import write_csv

    path = tmp_path / "t.csv"
    write_csv(pa.table(table()), path)
    return str(path)


def test_options_say_what_replicates_what(csv):
    words = [csv, "--cluster", "config", "--block", "seed"]
    done = CliRunner().invoke(main, ["explain", *words])
    assert done.exit_code == 0, done.output
    flat = " ".join(done.output.split())
    assert holds(flat, 4, 3)
    assert "--block seed" in flat  # commands to copy repeat them
    assert "--cluster config" in flat
    alone = ["--trial", "config", "--trial", "seed", "--cluster", "row"]
    none = CliRunner().invoke(main, ["performance", csv, *alone])
    assert none.exit_code == 0, none.output
    assert "averaged" not in none.output
    done = CliRunner().invoke(main, ["performance", *words])
    assert facts(done.output)[:2] == [3, 4]


def test_fixes_can_be_typed(csv):
    done = CliRunner().invoke(
        main, ["explain", csv, "--cluster", "seed", "--block", "lr"]
    )
    assert done.exit_code == 1
    assert as_words({"block": []}) == ["--block", "row"]
    again = ["explain", csv, "--trial", "lr", "--trial", "seed", "--block", "row"]
    assert CliRunner().invoke(main, again).exit_code == 0
