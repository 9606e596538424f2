import json
import sqlite3
from dataclasses import replace

import pytest

import curvewise as cw
from curvewise.flow import plan
from curvewise.store import address


def test_status_is_for_machines_too(folder, ran):
    ran("run", "plan.toml", "--trials", 4, "--store", "x.db")
    found = json.loads(ran("status", "x.db", "--json").stdout)
    (cell,) = found["cells"]
    assert (cell["task"], cell["algorithm"]) == ("load", "net")
    assert (cell["planned"], cell["done"], cell["states"]["ok"]) == (4, 4, 4)
    assert 0 < cell["mean"] <= cell["longest"]
    assert found["errors"] == []
    assert found["command"].endswith("plan.toml --store x.db")
    assert found["seconds since last written"] >= 0


def test_status_of_a_store_that_python_filled(folder, ran):
    bad = cw.Trial("t", "a", 1, {}, status="cancelled")
    trials = cw.Trials([cw.Trial("t", "a", 0, {"loss": 1.0}), bad])
    cw.store.write(trials, "x.db")
    done = ran("status", "x.db")
    assert done.stdout.startswith("x.db: 2 trials")
    assert "planned" not in done.stdout
    assert "cancelled" in done.stdout
    assert "(t a 1)" in done.stdout
    assert 'run(experiment, store="x.db", retry_failed=True)' in done.stdout
    cw.store.write(cw.Trials(), "empty.db")
    assert ran("status", "empty.db").stdout.startswith("empty.db: 0 trials")


def test_status_reads_no_trials(folder, ran, monkeypatch):
    """Of a store with millions of them, the database counts."""
    folder.plan("shaky")
    ran("run", "plan.toml")
    before = ran("status", "plan.db").stdout.splitlines()[1:]

    def read(self):
        raise AssertionError("it was read")

    monkeypatch.setattr(cw.store.AnyStore, "read", read)
    assert ran("status", "plan.db").stdout.splitlines()[1:] == before
    assert "ValueError: diverged" in "\n".join(before)


def test_cells_that_are_planned_and_cells_that_are_not(folder, ran):
    ran("run", "plan.toml", "--trials", 4)
    cw.store.write(cw.Trials([cw.Trial("extra", "net", 0, {"loss": 1.0})]), "plan.db")
    lines = ran("status", "plan.db").stdout.splitlines()
    assert lines[0].startswith("plan.db: 5 of 4")
    assert lines[2].split()[:4] == ["task", "algorithm", "planned", "done"]
    assert lines[3].split()[:5] == ["load", "net", "4", "4", "4"]
    assert lines[4].split()[:4] == ["extra", "net", "1", "1"]
    done = ran("run", "plan.toml", "--trials", 4)
    assert "extra" not in done.stdout


def test_status_needs_a_store(folder, ran):
    done = ran("status", "nowhere.db")
    assert done.exit_code == 1
    assert "nowhere.db" in done.stderr


def test_status_can_be_asked_while_a_run_holds_the_store(folder, ran):
    ran("run", "plan.toml")
    with cw.store.open(folder.store) as store, store.driving():
        writer = sqlite3.connect(folder.store, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE trials SET status = 1")
        done = ran("status", "plan.db")
        writer.execute("ROLLBACK")
        writer.close()
    assert done.exit_code == 0
    assert done.stdout.startswith("plan.db: 6 of 6")


@pytest.mark.service
def test_a_server_can_be_filled_and_asked(folder, ran, postgres_url):
    done = ran("run", "plan.toml", "--store", postgres_url)
    assert done.exit_code == 0, done.output
    found = json.loads(ran("status", postgres_url, "--json").stdout)
    assert (found["done"], found["planned"]) == (6, 6)
    assert found["seconds since last written"] is None
    assert ran("replay", postgres_url, "load", "net", 2).exit_code == 0
    assert ran("export", postgres_url, "x.csv").exit_code == 0
    assert ran("run", "plan.toml", "--store", postgres_url, "--dry-run").exit_code == 0


def test_passwords_are_not_shown_nor_kept(folder):
    url = "postgresql://ann:secret@host/runs"
    assert "secret" not in address.shown_store(url)
    recipe = replace(plan.recipe_of("plan.toml", cw.zoo), text=f'store = "{url}"')
    assert "secret" not in "".join(plan.notes_of(recipe, url).values())
