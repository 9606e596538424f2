"""Stores of MLflow that are damaged, locked, very old, or written while being read."""

import shutil
import sqlite3
import threading
from dataclasses import replace

import numpy as np
import pytest
from folder_runs import asked, omitted
from mlflow_stores import (
    changed,
    database,
    expected,
    files,
    n_recorded,
    quietly,
    run_folders,
)

from curvewise import CurvewiseError
from curvewise.exchange import tools
from curvewise.exchange.read import found_in
from curvewise.exchange.runs import Asked
from curvewise.exchange.tools.files import listing_at
from curvewise.exchange.tools.mlflow import meta_of


def test_a_database_that_was_cut(tmp_path):
    path = database("3.17.2", tmp_path)
    path.write_bytes(path.read_bytes()[:200_000])
    refusal = asked(path)
    assert (refusal.argument, refusal.value) == ("source", path)
    path.write_bytes(b"")
    with pytest.raises(CurvewiseError, match="is empty"):
        quietly(path)


def test_a_database_that_somebody_keeps_for_themselves(tmp_path, monkeypatch):
    monkeypatch.setattr("curvewise.exchange.tools.files._PATIENCE", 0.1)
    path = database("3.17.2", tmp_path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    refusal = asked(path)
    assert (refusal.argument, refusal.value) == ("source", path)
    assert isinstance(refusal.__cause__, sqlite3.OperationalError)
    other.execute("ROLLBACK")
    other.close()
    assert len(quietly(path)[0]) == 16


def test_a_database_that_grows_while_it_is_read(tmp_path):
    path = database("3.17.2", tmp_path)
    stop, wrote = threading.Event(), []

    def write():
        db = sqlite3.connect(path, timeout=30)
        while not stop.is_set():
            one = f"{len(wrote):032x}"
            row = (one, "more", "FINISHED", "active", 1)
            db.execute(
                "INSERT INTO runs (run_uuid, name, status, lifecycle_stage, experiment_id) "
                "VALUES (?, ?, ?, ?, ?)",
                row,
            )
            more = [("model", "more", one), ("seed", str(len(wrote)), one)]
            db.executemany("INSERT INTO params VALUES (?, ?, ?)", more)
            db.execute(
                "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan) "
                "VALUES ('acc', 0.5, 1, ?, 0, 0)",
                (one,),
            )
            db.commit()
            wrote.append(one)
            stop.wait(0.005)
        db.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        sizes = []
        for _ in range(5):
            trials, _ = quietly(path)
            more = [t for t in trials if t.algorithm == "more"]
            assert all(t.metrics["acc"].tolist() == [0.5] for t in more)
            sizes.append(len(more))
    finally:
        stop.set()
        writer.join()
    assert sizes == sorted(sizes)
    assert 0 < sizes[-1] <= len(wrote)


def test_scores_that_are_no_numbers(tmp_path):
    path = database("1.30.1", tmp_path)
    with changed(path) as db:
        db.execute("UPDATE metrics SET value = 'high' WHERE key = 'acc' AND step = 3")
    assert "'high'" in str(asked(path))


def test_runs_with_damaged_files(tmp_path):
    root = files("3.17.2", tmp_path)
    folders = run_folders(root)
    found = {name: folders[name] for name in ("net-0", "net-1", "net-2", "tree-0")}
    (found["net-0"] / "meta.yaml").write_text("artifact_uri: here\n\x00\x01garbage")
    (found["net-1"] / "meta.yaml").unlink()
    shutil.rmtree(found["net-2"] / "metrics")
    with (found["tree-0"] / "metrics/acc").open("a") as file:
        file.write("1700000000000 0.9")
    with (found["tree-0"] / "metrics/loss").open("a") as file:
        file.write("some words here\n1700000000000 high 3\n\n")
    trials, said = quietly(root)
    assert len(trials) == 14
    whys = {str(one.why): one.n for one in found_in(root, Asked(), None).left_out}
    assert [n for why, n in whys.items() if "meta.yaml" in why] == [1, 1]
    assert "1 metric file" in said
    assert "3 lines of metric files" in said
    by_id = {t.labels["run_uuid"]: t for t in trials}
    assert by_id[found["net-2"].name].status == "failed"
    whole = expected("3.17.2", "files")[found["tree-0"].name]["history"]
    tree = by_id[found["tree-0"].name]
    assert tree.metrics["acc"].tolist() == [value for _, value, _ in whole["acc"]]
    assert tree.metrics["loss"].tolist() == [value for _, value, _ in whole["loss"]]


def test_lines_of_metrics_of_other_versions(tmp_path):
    """Without a step before 1.0; with the name of a data set since 2.4."""
    root = files("1.30.1", tmp_path)
    folder = run_folders(root)["net-1"]
    (folder / "metrics/acc").write_text("1700000000000 0.25\n1700000000001 0.5\n")
    (folder / "metrics/loss").write_text("1700000000000 0.75 7 my data abc\n")
    trials, said = quietly(root)
    one = next(t for t in trials if t.labels["run_uuid"] == folder.name)
    curves = {int(s): i for i, s in enumerate(one.steps)}
    assert one.metrics["acc"][curves[0]] == 0.5
    assert one.metrics["loss"][curves[7]] == 0.75
    assert "metric file" not in said


def test_long_curves_come_whole(tmp_path):
    root = files("3.17.2", tmp_path)
    folder = run_folders(root)["net-1"]
    values = np.random.default_rng(0).random(5000)
    lines = [f"{1_700_000_000_000 + i} {v} {i}\n" for i, v in enumerate(values)]
    (folder / "metrics/acc").write_text("".join(lines))
    assert (folder / "metrics/acc").stat().st_size > 2 * 65_536
    trials, _ = quietly(root, metrics=["acc"])
    one = next(t for t in trials if t.labels["run_uuid"] == folder.name)
    assert one.steps.tolist() == list(range(5000))
    assert one.metrics["acc"].tolist() == values.tolist()


def test_folders_and_files_that_may_not_be_read(tmp_path, monkeypatch):
    root = files("3.17.2", tmp_path)
    folder = run_folders(root)["net-1"]
    listing = replace(listing_at(root), unreadable=("1/secret",))
    monkeypatch.setattr(tools, "listing_at", lambda path: listing)
    (folder / "params/lr").unlink()  # gone after it was seen
    (folder / "metrics/acc").unlink()
    trials, said = quietly(root)
    assert (1, "folder", ("1/secret",)) in omitted(root)
    assert "2 files" in said
    assert len(trials) == 16


def test_a_store_without_runs(tmp_path):
    path = database("3.17.2", tmp_path)
    with changed(path) as db:
        db.execute("DELETE FROM metrics")
    assert asked(path).argument == "source"
    with changed(path) as db:
        db.execute("UPDATE runs SET lifecycle_stage = 'deleted'")
    assert asked(path).argument == "source"
    assert sum(n for n, what, _ in omitted(path) if what == "run") > 16


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name: plain words\n", "plain words"),
        ("name: 'it''s: quoted'\n", "it's: quoted"),
        ('name: "tab\\tand \\u00e9"\n', "tab\tand é"),
        ("name: a long name that\n  goes on\nstatus: 3\n", "a long name that goes on"),
        ("name: ''\n", ""),
        ("name: 'torn\n", "'torn"),
    ],
    ids=["plain", "single", "double", "long", "empty", "torn"],
)
def test_names_in_a_meta_file(text, found):
    assert meta_of(text)["name"] == found


def test_a_meta_file_is_read_up_to_its_damage():
    merged = "\n".join(["status: 3", "<<<<<<< HEAD", "name: x", ""])
    assert meta_of(merged) == {"status": "3"}
    nothing = "\n".join(["end_time: null", "tags: []", ""])
    assert meta_of(nothing) == {"tags": "[]"}


def test_tables_of_the_first_versions(tmp_path):
    """Metrics had no column is_nan before 1.1, and no steps before 1.0."""
    path = database("1.30.1", tmp_path)
    whole, _ = quietly(path)
    kept = "key, value, timestamp, run_uuid"
    with changed(path) as db:
        db.execute("DELETE FROM metrics WHERE is_nan")
        db.execute(f"CREATE TABLE other AS SELECT {kept}, step FROM metrics")
        db.execute("DROP TABLE metrics")
        db.execute("ALTER TABLE other RENAME TO metrics")
    without_nan, _ = quietly(path)
    assert n_recorded(without_nan) == n_recorded(whole) - 1
    assert without_nan[0].metrics["acc"].tolist() == whole[0].metrics["acc"].tolist()
    with changed(path) as db:
        db.execute("ALTER TABLE metrics DROP COLUMN step")
    without_step, _ = quietly(path)
    assert without_step[0].steps.tolist() == [0]
    assert without_step[0].metrics["acc"].tolist() == [0.875]
