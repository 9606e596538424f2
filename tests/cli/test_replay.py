import pytest

import curvewise as cw


def test_a_trial_that_comes_out_the_same_agrees(folder, ran):
    ran("run", "plan.toml")
    done = ran("replay", "plan.db", "load", "net", 3)
    assert done.exit_code == 0
    assert "does NOT agree" not in done.stdout
    assert done.stderr == ""


def test_one_that_does_not_is_shown_twice_with_what_changed(folder, ran):
    ran("run", "plan.toml")
    folder.change("OFFSET = 0.0", "OFFSET = 1e-9")
    done = ran("replay", "plan.db", "load", "net", 3)
    assert done.exit_code == 1
    assert "does NOT agree" in done.stdout
    assert "  kept:  Trial(" in done.stdout
    assert "  again: Trial(" in done.stdout
    assert "-OFFSET = 0.0" in done.stderr
    assert "+OFFSET = 1e-09" in done.stderr


def test_a_store_remembers_the_file_as_it_was(folder, ran):
    ran("run", "plan.toml")
    (folder.path / "plan.toml").unlink()
    assert ran("replay", "plan.db", "load", "net", 0).exit_code == 0


def test_a_store_that_python_filled_asks_for_its_experiment(folder, ran):
    ran("run", "plan.toml", "--store", "a.db")
    cw.store.write(cw.read("a.db"), "b.db")
    done = ran("replay", "b.db", "load", "net", 0)
    assert done.exit_code == 1
    assert "--experiment" in done.stderr
    done = ran("replay", "b.db", "load", "net", 0, "--experiment", "plan.toml")
    assert done.exit_code == 0


def test_replay_warns_of_a_trial_that_crashed(folder, ran):
    ran("run", "plan.toml")
    with cw.store.open(folder.store) as store:
        store.write(cw.Trials([cw.Trial("load", "net", 1, {}, status="crashed")]))
    done = ran("replay", "plan.db", "load", "net", 1)
    assert "no limit" in done.stderr
    assert done.exit_code == 1


@pytest.mark.parametrize(
    ("key", "words"),
    [(("load", "nett", 0), "'nett'"), (("load", "net", 99), "('load', 'net', 99)")],
)
def test_replay_of_what_is_not_there(folder, ran, key, words):
    ran("run", "plan.toml")
    done = ran("replay", "plan.db", *key)
    assert done.exit_code == 1
    assert words in done.stderr
