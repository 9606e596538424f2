"""Whose results these are, and what happens where nobody knows."""

import importlib
import sqlite3
import time
from pathlib import Path

import pyarrow as pa
import pytest
from facts import holds
from folder_runs import asked

import curvewise as cw
from curvewise import CurvewiseError
from curvewise.exchange.tables import load
from curvewise.exchange.tools import (
    FOLDERS,
    MODULES,
    TOOLS,
    folders,
    is_plain_file,
    is_plain_table,
)
from curvewise.exchange.tools.files import listing_at

FOREIGN = Path(__file__).parents[1] / "assets/foreign"


def test_a_folder_without_results_says_what_it_holds(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt", "sub/c.png", "sub/noend"):
        (tmp_path / name).write_text("x")
    for stated in ({}, {"tool": "tensorboard"}):
        refusal = asked(tmp_path, **stated)
        assert (refusal.argument, refusal.value) == ("source", tmp_path)
        assert holds(refusal, 4, 2, ".txt", 1, ".png", 1)


def test_an_empty_folder(tmp_path):
    assert asked(tmp_path).argument == "source"


def test_a_tool_that_nobody_reads():
    refusal = asked({"acc": [0.5]}, tool="tensorbord")
    assert (refusal.argument, refusal.value) == ("tool", "tensorbord")


@pytest.mark.parametrize("tool", ["mlflow", "optuna", "wandb"])
def test_a_table_that_is_not_of_the_tool_asked_for(tmp_path, tool):
    (tmp_path / "x.csv").write_text("model,seed,acc\na,0,0.5\n")
    refusal = asked(tmp_path / "x.csv", tool=tool)
    assert (refusal.argument, refusal.value) == ("tool", tool)


def test_a_database_of_nobody(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE mine (a)")
    with pytest.raises(CurvewiseError, match=r"x\.db"):
        cw.read(tmp_path / "x.db")


def test_a_damaged_database(tmp_path):
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)
    refusal = asked(tmp_path / "x.db")
    assert (refusal.argument, refusal.value) == ("source", tmp_path / "x.db")


def test_a_store_of_ours_is_still_a_store(tmp_path):
    trials = cw.Trials([cw.Trial("t", "a", 0, {"acc": 0.5})])
    cw.store.write(trials, tmp_path / "x.db")
    assert cw.read(tmp_path / "x.db") == trials


@pytest.mark.slow
def test_a_hundred_thousand_files(tmp_path):
    for i in range(100):
        folder = tmp_path / f"{i:02}"
        folder.mkdir()
        for j in range(1000):
            (folder / f"{j}.bin").touch()
    start = time.process_time()
    listing = listing_at(tmp_path)
    assert len(listing.files) == 100_000
    with pytest.raises(CurvewiseError, match="100,000 files"):
        cw.read(tmp_path)
    print(f"{time.process_time() - start:.1f} s")


def test_every_tool_says_how_it_is_recognised():
    assert set(TOOLS) == {*MODULES, *FOLDERS}
    assert set(folders.ENDINGS) == set(FOLDERS)
    for name in MODULES.values():
        module = importlib.import_module(f"curvewise.exchange.tools.{name}")
        kinds = [k for k in ("path", "table", "object") if hasattr(module, f"fits_{k}")]
        assert kinds, name
        assert all(hasattr(module, f"read_{k}") for k in kinds), name


def readers(kind):
    modules = [
        importlib.import_module(f"curvewise.exchange.tools.{name}")
        for name in (*MODULES.values(), "folders")
    ]
    return [one for one in modules if hasattr(one, f"fits_{kind}")]


def test_what_a_tool_reads_never_passes_for_a_plain_table(tmp_path):
    files = [path for path in FOREIGN.rglob("*.[ct]sv") if path.stat().st_size]
    (tmp_path / "journal.csv").write_text(' {"op_code": 0, "worker_id": "a"}\n')
    (tmp_path / "progress.csv").write_text("a,time/total_timesteps\n1,2\n")
    (tmp_path / "events.csv").write_bytes(b"\0\n\x18brain.Event:2")
    (tmp_path / "x.tfevents.csv").write_text("a,b\n1,2\n")
    (tmp_path / "keras.TSV").write_text("epoch\tloss\n0\t1\n1\t2\n")
    with sqlite3.connect(tmp_path / "optuna.csv") as database:
        for table in ("studies", "trials", "trial_values", "trial_params"):
            database.execute(f"CREATE TABLE {table} (a)")
    known, plain = set(), set()
    for path in [*files, *tmp_path.iterdir()]:
        listing = listing_at(path)
        if any(one.fits_path(listing) for one in readers("path")):
            known.add(path)
        if is_plain_file(listing):
            plain.add(path)
    assert not known & plain
    assert {path.parent for path in known} > {tmp_path}
    assert plain
    frames = [load(path)[0] for path in plain]
    frames.append(pa.table({"Step": [1], "a - loss": [0.5]}))
    frames.append(pa.table({"x": [1], "y": [0.5], "y__MIN": [0.5]}))
    frames.append(pa.table({"_step": [1], "_runtime": [0.5]}))
    frames.append(pa.table({"a": [1], "b": [0.5]}))
    fits = [any(one.fits_table(table) for one in readers("table")) for table in frames]
    assert sum(fits) >= 7
    assert not any(
        is_plain_table(table) for table, fit in zip(frames, fits, strict=True) if fit
    )
    assert is_plain_table(frames[-1])
