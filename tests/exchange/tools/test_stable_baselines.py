"""Logs that Stable-Baselines3 wrote, against what its own functions read from them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from folder_runs import asked, omitted

import curvewise as cw
from curvewise import CurvewiseError, CurvewiseWarning

ASSETS = Path(__file__).parents[2] / "assets/foreign/sb3"
LOGS = ASSETS / "logs"
EXPECTED = json.loads((ASSETS / "expected.json").read_text())
PATTERN = "{algorithm}/{task}_{seed}"
ONE = {"algorithm": "ppo"}
HEADER = '#{"t_start": 100.0, "env_id": "Toy-v0"}\n'


def run_of(trials, name):
    return next(t for t in trials if t.labels["run"] == name)


def written(folder, text, name="monitor.csv"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def recorded(trial, metric):
    known = ~np.isnan(trial.metrics[metric])
    return trial.steps[known], trial.metrics[metric][known]


@pytest.fixture
def logs(tmp_path):
    return Path(shutil.copytree(LOGS, tmp_path / "logs"))


# --- what the tool itself reads ----------------------------------------------------------


@pytest.mark.parametrize("run", sorted(EXPECTED))
def test_curves_are_those_that_the_tool_plots(run):
    trial = run_of(cw.read(LOGS, roles=PATTERN), run)
    steps, returns = recorded(trial, "return")
    assert steps.tolist() == EXPECTED[run]["steps"]
    assert returns.tolist() == EXPECTED[run]["returns"]
    evaluated = EXPECTED[run]["evaluations"]
    steps, returns = recorded(trial, "eval_return")
    assert steps.tolist() == evaluated["timesteps"]
    np.testing.assert_allclose(returns, np.mean(evaluated["results"], axis=1))


def test_runs_get_their_roles_from_their_folders():
    trials = cw.read(LOGS, roles=PATTERN)
    assert {t.key for t in trials} == {
        ("CartPole-v1", name, seed) for name in ("ppo", "a2c") for seed in (0, 1)
    }
    assert trials[0].labels["environments"] == 2
    assert trials[0].labels["eval_episodes"] == 3
    assert trials[0].seconds > 0
    assert omitted(LOGS) == []


def test_the_environment_is_the_task():
    trials = cw.read(LOGS, roles=lambda run: {"algorithm": run.split("/")[0]}, trial=[])
    assert trials.tasks == ("CartPole-v1",)


def test_without_a_pattern_it_asks_for_the_algorithm():
    assert all(fix.keys() & {"algorithm", "roles"} for fix in asked(LOGS).fixes)


def test_lengths_are_read_if_they_are_asked_for():
    trials = cw.read(LOGS, roles=PATTERN, metrics=["return", "length", "eval_length"])
    trial = run_of(trials, "ppo/CartPole-v1_0")
    assert (
        recorded(trial, "length")[1].tolist()
        == (EXPECTED["ppo/CartPole-v1_0"]["lengths"])
    )
    assert list(cw.read(LOGS, roles=PATTERN).metrics) == ["return", "eval_return"]


def test_steps_may_be_episodes_or_seconds():
    with pytest.warns(CurvewiseWarning, match=r"by timesteps"):
        trials = cw.read(LOGS, roles=PATTERN, step="episode")
    assert trials[0].steps.tolist() == list(range(1, len(trials[0].steps) + 1))
    with pytest.warns(CurvewiseWarning, match=r"by timesteps"):
        trials = cw.read(LOGS, roles=PATTERN, step="seconds")
    assert (np.diff(trials[0].steps) >= 0).all()
    with pytest.raises(CurvewiseError) as raised:
        cw.read(LOGS, roles=PATTERN, step="epoch")
    assert (raised.value.argument, raised.value.value) == ("step", "epoch")
    path = LOGS / "ppo/CartPole-v1_0/evaluations.npz"
    with pytest.raises(CurvewiseError) as raised:
        cw.read(path, step="episode")
    assert (raised.value.argument, raised.value.value) == ("step", "episode")


def test_single_files_are_runs_too():
    folder = LOGS / "ppo/CartPole-v1_0"
    trials = cw.read(folder / "evaluations.npz")
    expected = EXPECTED["ppo/CartPole-v1_0"]["evaluations"]["timesteps"]
    assert trials[0].steps.tolist() == expected
    trials = cw.read(folder / "0.monitor.csv")
    assert trials[0].labels["run"] == "0"
    assert 0 < len(trials[0].steps) < len(EXPECTED["ppo/CartPole-v1_0"]["steps"])
    assert trials.tasks == ("CartPole-v1",)


def test_the_loggers_table_is_read_where_there_is_nothing_else(logs):
    for path in [*logs.rglob("*monitor.csv"), *logs.rglob("evaluations.npz")]:
        path.unlink()
    names = ["rollout/ep_rew_mean", "eval/mean_reward"]
    trials = cw.read(logs, roles=PATTERN, metrics=names)
    trial = run_of(trials, "ppo/CartPole-v1_1")
    evaluated = EXPECTED["ppo/CartPole-v1_1"]["evaluations"]
    steps, means = recorded(trial, "eval/mean_reward")
    np.testing.assert_allclose(means, np.mean(evaluated["results"], axis=1))
    assert steps.tolist() == evaluated["timesteps"]
    by = cw.read(
        logs,
        roles=PATTERN,
        metrics={"eval/mean_reward": "higher"},
        step="train/n_updates",
    )
    assert run_of(by, "ppo/CartPole-v1_1").steps.max() < steps.max()
    refusal = asked(logs, roles=PATTERN, step="epochs")
    assert (refusal.argument, refusal.value) == ("step", "epochs")
    one = logs / "ppo/CartPole-v1_1/progress.csv"
    (alone,) = cw.read(one, metrics=names)
    assert alone.steps.tolist() == trial.steps.tolist()


# --- files of our own making -------------------------------------------------------------


def test_environments_of_a_run_are_put_in_order_of_time(tmp_path):
    written(tmp_path / "r", HEADER + "r,l,t\n1,10,1.0\n2,20,4.0\n", "0.monitor.csv")
    later = HEADER.replace("100.0", "101.0")  # its clock began a second later
    written(tmp_path / "r", later + "r,l,t\n3,30,0.5\n4,40,9.0\n", "1.monitor.csv")
    (trial,) = cw.read(tmp_path, roles=ONE)
    assert trial.metrics["return"].tolist() == [1, 3, 2, 4]
    assert trial.steps.tolist() == [10, 40, 60, 100]
    assert trial.seconds == 10.0


def test_other_names_in_one_folder_are_runs_of_their_own(tmp_path):
    for name in ("ppo_0", "ppo_1", "dqn_0"):
        written(tmp_path, HEADER + "r,l,t\n1,10,1.0\n", f"{name}.monitor.csv")
    trials = cw.read(tmp_path, roles="{algorithm}_{seed}")
    assert [t.key for t in trials] == [
        ("Toy-v0", "dqn", 0), ("Toy-v0", "ppo", 0), ("Toy-v0", "ppo", 1)
    ]  # fmt: skip


def test_a_resumed_run_goes_on(tmp_path):
    """`Monitor(..., override_existing=False)` appends, and its clock starts again."""
    written(tmp_path / "r", HEADER + "r,l,t\n1,5,10\n2,5,20\n3,5,1\n4,5,2\n")
    (trial,) = cw.read(tmp_path, roles=ONE)
    assert trial.metrics["return"].tolist() == [1, 2, 3, 4]
    (trial,) = cw.read(tmp_path, roles=ONE, step="seconds")
    assert trial.steps.tolist() == [10, 20, 21, 22]


def test_a_line_that_was_cut_is_read_up_to(tmp_path):
    written(tmp_path / "a", HEADER + "r,l,t\n1,5,10\n2,5,20\n3,")
    with pytest.warns(CurvewiseWarning, match=r"monitor.csv is cut"):
        (trial,) = cw.read(tmp_path, roles=ONE)
    assert trial.metrics["return"].tolist() == [1, 2]
    written(tmp_path / "a", HEADER + "r,l,t\n1,5,10\nx,5,20\n3,5,30\n4,y,40\n")
    with pytest.warns(CurvewiseWarning, match=r"2 lines.*line 4"):
        (trial,) = cw.read(tmp_path, roles=ONE)
    assert trial.metrics["return"].tolist() == [1, 3]


@pytest.mark.parametrize("text", [HEADER + "r,l,t\n", HEADER, ""])
def test_a_run_without_an_episode_has_failed(tmp_path, text):
    written(tmp_path / "a", HEADER + "r,l,t\n1,5,10\n")
    written(tmp_path / "b", text)
    trials = cw.read(tmp_path, roles=ONE | {"task": "Toy-v0"})
    assert [t.status for t in trials] == ["ok", "failed"]


def test_what_the_environment_told_is_read_if_its_meaning_is_known(tmp_path):
    text = HEADER + "r,l,t,is_success,power,name\n1,5,10,True,3,x\n2,5,20,False,4,y\n"
    written(tmp_path / "a", text)
    with pytest.warns(CurvewiseWarning) as told:
        trials = cw.read(tmp_path, roles=ONE, metrics=["return", "power"])
    assert trials[0].metrics["power"].tolist() == [3, 4]
    assert any("'name' hold text" in str(w.message) for w in told)
    with pytest.warns(CurvewiseWarning) as told:
        trials = cw.read(tmp_path, roles=ONE)
    assert any("what 'power' mean" in str(w.message) for w in told)
    assert trials[0].metrics["is_success"].tolist() == [1, 0]


def test_evaluations_in_a_folder_of_their_own_belong_to_the_run_above(logs):
    whole = cw.read(logs, roles=PATTERN)
    for path in list(logs.rglob("evaluations.npz")):
        (path.parent / "eval").mkdir()
        path.rename(path.parent / "eval" / path.name)
    trials = cw.read(logs, roles=PATTERN)
    assert len(trials) == 4
    for one, other in zip(whole, trials, strict=True):
        assert recorded(one, "eval_return")[1].tolist() == (
            recorded(other, "eval_return")[1].tolist()
        )


def test_successes_are_rates(tmp_path):
    np.savez(
        tmp_path / "evaluations.npz",
        timesteps=np.array([10, 20]),
        results=np.array([[1.0, 3.0], [5.0, 5.0]]),
        ep_lengths=np.array([[4, 6], [8, 8]]),
        successes=np.array([[False, True], [True, True]]),
    )
    (trial,) = cw.read(tmp_path, roles=ONE)
    assert trial.metrics["eval_success"].tolist() == [0.5, 1.0]
    assert trial.metrics["eval_return"].tolist() == [2.0, 5.0]


# --- damage ------------------------------------------------------------------------------


def test_a_file_that_cannot_be_read_is_left_out_and_told(logs):
    whole = cw.read(logs, roles=PATTERN)
    path = logs / "ppo/CartPole-v1_0/evaluations.npz"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.warns(CurvewiseWarning):
        trials = cw.read(logs, roles=PATTERN)
    assert len(trials) == len(whole)
    assert [one[:2] for one in omitted(logs)] == [(1, "file")]
    refusal = asked(path)
    assert (refusal.argument, refusal.value) == ("source", path)


def test_foreign_files_say_what_they_hold(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.ones(3), b=np.ones(2))
    assert "'a', 'b'" in str(asked(tmp_path / "other.npz"))
    np.savez(tmp_path / "flat.npz", timesteps=np.arange(3), results=np.ones(3))
    assert asked(tmp_path / "flat.npz").value == tmp_path / "flat.npz"
    ragged = np.array([[1.0], [1.0, 2.0]], dtype=object)
    np.savez(tmp_path / "ragged.npz", timesteps=np.arange(2), results=ragged)
    with pytest.raises(CurvewiseError, match=r"only pickle"):
        cw.read(tmp_path / "ragged.npz")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("r,l,t\n1,2,3\n", "'r,l,t'"),
        ("#{broken\nr,l,t\n1,2,3\n", "'#{broken'"),
        (HEADER + "a,b\n1,2\n", "'a', 'b'"),
    ],
)
def test_a_strange_monitor_is_refused(tmp_path, text, shown):
    refusal = asked(written(tmp_path, text), roles=ONE)
    assert refusal.argument == "source"
    assert shown in str(refusal)


def test_a_file_that_may_not_be_read_is_told(logs, monkeypatch):
    """As root, who runs tests in a container, nothing is closed; so it is said here."""
    closed, read = logs / "ppo/CartPole-v1_0/0.monitor.csv", Path.open

    def refuse(path, *args, **kwargs):
        if path == closed:
            raise PermissionError(13, "Permission denied")
        return read(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.warns(CurvewiseWarning, match=r"Permission denied"):
        cw.read(logs, roles=PATTERN)


def test_a_table_that_is_only_called_like_a_monitor_is_a_table(tmp_path):
    written(tmp_path, "model,acc\na,0.5\n")
    assert cw.read(tmp_path / "monitor.csv").algorithms == ("a",)


def test_a_folder_without_logs_is_refused(tmp_path):
    written(tmp_path, "hello", "notes.md")
    assert asked(tmp_path, tool="sb3").argument == "source"
