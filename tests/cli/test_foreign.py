"""Commands on what other tools kept: the same options as for a file."""

import json

import pytest

RUNS = """run,accuracy
ppo-Hopper-s0,0.5
ppo-Hopper-s1,0.6
sac-Hopper-s0,0.7
sac-Hopper-s1,0.9
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text(RUNS)
    return tmp_path


def test_roles_by_a_pattern(here, ran):
    done = ran(
        "performance", "runs.csv", "--roles", "{algorithm}-{task}-s{seed}", "--json"
    )
    assert done.exit_code == 0, done.output
    assert {row["algorithm"] for row in json.loads(done.stdout)["rows"]} == {
        "ppo",
        "sac",
    }
    assert "task=task; algorithm=algorithm; trial=seed" in done.stderr


def test_roles_that_all_runs_share(here, ran):
    done = ran(
        "export", "runs.csv", "out.csv", "--roles", "algorithm=mine, task=Hopper"
    )
    assert done.exit_code == 0, done.output
    assert (here / "out.csv").read_text().count('"Hopper","mine"') == 4


def test_a_pattern_that_does_not_fit_is_one_line(here, ran):
    done = ran("check", "runs.csv", "--roles", "{algorithm}_{seed}")
    assert done.exit_code == 1
    assert "{algorithm}_{seed}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_tool_that_nobody_reads(here, ran):
    done = ran("check", "runs.csv", "--tool", "excel")
    assert done.exit_code == 1
    assert "'excel'" in done.stderr


def test_a_folder_without_results(here, ran):
    done = ran("check", ".")
    assert done.exit_code == 1
    assert "Traceback" not in done.stderr


def test_help_names_the_tools(ran):
    text = " ".join(ran("performance", "--help").stdout.split())
    for tool in ("mlflow", "optuna", "wandb", "tensorboard", "sb3", "ray"):
        assert tool in text
    assert "'{algorithm}-{task}-s{seed}'" in text


def test_questions_are_put_as_options(here, ran):
    header = '#{"t_start": 1.0, "env_id": "Hopper"}\nr,l,t\n1.5,10,0.1\n'
    for name in ("a", "b"):
        (here / "logs" / name).mkdir(parents=True)
        (here / "logs" / name / "monitor.csv").write_text(header)
    done = ran("check", "logs")
    assert done.exit_code == 1
    assert "--roles algorithm=mine" in done.stderr
    assert "--roles '{algorithm}-{task}-s{seed}'" in done.stderr
