"""Folders as they are found: links, pipes, odd names, closed doors, huge files."""

import errno
import os
import socket

import pytest
from click.testing import CliRunner
from facts import refused
from folder_runs import asked, omitted

import curvewise as cw
from curvewise import CurvewiseError, CurvewiseWarning
from curvewise.cli import main
from curvewise.exchange.tools import files
from curvewise.exchange.tools.files import listing_at

HEADER = '#{"t_start": 1.0, "env_id": "CartPole-v1"}\nr,l,t\n'
MONITOR = HEADER + "10,10,1\n12,12,2\n"
ROLES = "{algorithm}-s{seed}"
GIGABYTES = 10 * 2**30


@pytest.fixture
def logs(tmp_path):
    """Return a folder with three runs."""
    for run in ("ppo-s0", "ppo-s1", "dqn-s0"):
        (tmp_path / "logs" / run).mkdir(parents=True)
        (tmp_path / "logs" / run / "monitor.csv").write_text(MONITOR)
    return tmp_path / "logs"


def huge(path):
    """Make a file that only seems to be large."""
    with path.open("wb") as file:
        file.truncate(GIGABYTES)


# --- links -------------------------------------------------------------------------------


def test_a_link_to_a_run_is_no_run_of_its_own(logs):
    (logs / "latest").symlink_to("ppo-s1")
    (logs / "dqn-s0" / "best.monitor.csv").symlink_to("monitor.csv")
    (logs / "ppo-s0" / "up").symlink_to("../..")
    assert len(cw.read(logs, roles=ROLES)) == 3


def test_links_to_runs_elsewhere_are_followed_once(logs, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    for run in logs.iterdir():
        (home / run.name).symlink_to(run)
    (home / "again-s7").symlink_to(logs / "ppo-s0")
    (logs / "ppo-s0" / "back").symlink_to(home)
    assert len(cw.read(home, roles={"algorithm": "ppo"})) == 3


def test_a_link_that_leads_nowhere_is_told(logs):
    (logs / "ppo-s2").mkdir()
    (logs / "ppo-s2" / "monitor.csv").symlink_to("gone.csv")
    (logs / "ppo-s3").mkdir()
    (logs / "ppo-s3" / "monitor.csv").symlink_to("monitor.csv")
    with pytest.warns(CurvewiseWarning):
        assert len(cw.read(logs, roles=ROLES)) == 3
    assert [one[:2] for one in omitted(logs)] == [(2, "file")]


# --- what is no file ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["monitor.csv", "events.out.tfevents.1", "0.parquet"])
def test_a_pipe_in_a_folder_is_not_waited_for(logs, name):
    (logs / "ppo-s2").mkdir()
    os.mkfifo(logs / "ppo-s2" / name)
    assert len(cw.read(logs, roles=ROLES)) == 3


def test_sockets_are_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # addresses of sockets are short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("monitor.csv")
        assert asked(tmp_path).argument == "source"


@pytest.mark.parametrize("name", ["x.csv", "x.db", "run-x.wandb"])
def test_a_pipe_is_refused(tmp_path, name):
    os.mkfifo(tmp_path / name)
    assert asked(tmp_path / name).value == tmp_path / name


# --- names -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["a b", "line\nbreak", "größe", ".hidden", "x" * 200, "a,b", "'quoted'", "[0]"],
    ids=["space", "newline", "umlaut", "hidden", "long", "comma", "quotes", "brackets"],
)
def test_runs_may_be_called_anything(logs, name):
    (logs / "dqn-s0").rename(logs / name)
    trials = cw.read(logs, roles=lambda run: {"algorithm": run})
    assert set(trials.algorithms) == {"ppo-s0", "ppo-s1", name}


def test_a_name_that_is_no_utf8_is_read_under_an_escape(logs):
    (logs / "dqn-s0").rename(logs / os.fsdecode(b"net\xe9"))
    trials = cw.read(logs, roles=lambda run: {"algorithm": run})
    assert set(trials.algorithms) == {"ppo-s0", "ppo-s1", "net\\udce9"}


def test_deep_folders(tmp_path):
    deep = tmp_path.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    (deep / "monitor.csv").write_text(MONITOR)
    trials = cw.read(tmp_path, roles={"algorithm": "ppo"})
    assert trials[0].labels["run"].count("/") == 299


def test_a_path_that_no_system_has_is_refused(tmp_path):
    path = tmp_path / ("x" * 300 + ".csv")
    with refused("source", path) as problem:
        cw.read(path)
    assert os.strerror(errno.ENAMETOOLONG) in str(problem.value)


# --- closed doors ------------------------------------------------------------------------


@pytest.fixture
def closed(monkeypatch):
    """Close folders of a name: to root, who runs tests in a container, all are open."""
    look = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    monkeypatch.setattr(files.os, "scandir", refuse)


@pytest.mark.usefixtures("closed")
def test_a_closed_folder_is_counted(logs):
    (logs / "closed").mkdir()
    with pytest.warns(CurvewiseWarning):
        assert len(cw.read(logs, roles=ROLES)) == 3
    assert omitted(logs) == [(1, "folder", ("closed",))]


@pytest.mark.usefixtures("closed")
def test_a_folder_of_which_nothing_can_be_seen(tmp_path):
    (tmp_path / "closed").mkdir()
    words = "it has no files, and 1 folder that may not be opened"
    with pytest.raises(CurvewiseError, match=words):
        cw.read(tmp_path / "closed")


def test_what_vanishes_meanwhile_is_told(logs, monkeypatch):
    listing = listing_at(logs)
    (logs / "ppo-s1" / "monitor.csv").unlink()
    monkeypatch.setattr("curvewise.exchange.tools.listing_at", lambda _: listing)
    with pytest.warns(CurvewiseWarning, match="No such file"):
        assert len(cw.read(logs, roles=ROLES)) == 2


# --- large and many ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["monitor.csv", "run-x.wandb", "evaluations.npz"])
def test_of_a_large_file_of_another_kind_only_the_head_is_read(logs, name):
    (logs / "odd").mkdir()
    huge(logs / "odd" / name)
    tool = "wandb" if name.endswith("wandb") else "sb3"
    if tool == "wandb":
        with pytest.raises(CurvewiseError, match="begins with"):
            cw.read(logs, tool=tool)
        return
    with pytest.warns(CurvewiseWarning, match="1 file"):
        trials = cw.read(logs, roles={"algorithm": "ppo"}, tool=tool)
    assert len(trials) == 3


def test_what_does_not_fit_into_memory_is_said(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("model,acc\na,1\n")

    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("pyarrow.csv.read_csv", full)
    with pytest.raises(CurvewiseError, match=r"14 bytes"):
        cw.read(tmp_path / "x.csv")


@pytest.mark.slow
def test_a_hundred_thousand_files_are_looked_through(tmp_path):
    for i in range(100):
        (tmp_path / f"d{i}").mkdir()
        for j in range(1000):
            (tmp_path / f"d{i}" / f"{j}.log").touch()
    (tmp_path / "d7" / "monitor.csv").write_text(MONITOR)
    assert len(listing_at(tmp_path).files) == 100_001
    assert len(cw.read(tmp_path, roles={"algorithm": "ppo"})) == 1


# --- damaged monitors --------------------------------------------------------------------


def test_a_line_without_end_is_damage(logs):
    (logs / "ppo-s1" / "monitor.csv").write_text(HEADER + '"' + "x" * 200_000)
    with pytest.warns(CurvewiseWarning, match="1 file"):
        assert len(cw.read(logs, roles=ROLES)) == 2


# --- what is asked for and is not there --------------------------------------------------


def test_a_metric_that_nobody_logged_is_refused_with_those_that_there_are(logs):
    with pytest.raises(CurvewiseError, match=r"no metric 'retrun'.*'return'"):
        cw.read(logs, roles=ROLES, metrics=["retrun"])
    assert list(cw.read(logs, roles=ROLES, metrics=["return"]).metrics) == ["return"]


def test_a_run_without_algorithm_is_named(logs):
    def told(run):
        return {"algorithm": None if run == "dqn-s0" else "ppo"}

    words = "1 of 3 runs have nothing in 'algorithm'.*such as 'dqn-s0'"
    with pytest.raises(CurvewiseError, match=words):
        cw.read(logs, roles=told)


def test_labels_are_joined_by_the_name_of_the_run(logs):
    labels = {"run": ["ppo-s0", "ppo-s1", "dqn-s0"], "algorithm": ["p", "p", "d"]}
    assert set(cw.read(logs, runs=labels).algorithms) == {"p", "d"}
    other = {"algorithm": ["p", "p", "d"], "id": ["ppo-s0", "ppo-s1", "dqn-s0"]}
    assert cw.read(logs, runs=other) == cw.read(logs, runs=labels | {"id": other["id"]})
    other["id"] = ["x", "y", "z"]
    assert asked(logs, runs=other).argument == "runs"


def test_the_folder_that_one_is_in_has_a_name(logs, monkeypatch):
    monkeypatch.chdir(logs / "dqn-s0")
    for path in (".", "../dqn-s0/"):
        trials = cw.read(path, roles=ROLES)
        assert trials.algorithms == ("dqn",)
        assert "dqn-s0: 1 run" in trials.origin


def test_two_folders_are_two_algorithms(logs):
    both = cw.read(logs / "ppo-s0", roles={"algorithm": "ppo"})
    both += cw.read(logs / "dqn-s0", roles={"algorithm": "dqn"})
    assert both.algorithms == ("ppo", "dqn")
    assert both.origin.count("none left out") == 2


# --- at the command line -----------------------------------------------------------------


def checked(*arguments):
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def test_what_was_left_out_is_always_printed(logs):
    """Also where the caller has stated everything."""
    stated = ("--roles", ROLES, "--task", "env", "--algorithm", "algorithm")
    stated += ("--trial", "seed", "--metrics", "return=higher")
    assert "3 runs," in checked(logs, *stated).stderr
    (logs / "ppo-s1" / "monitor.csv").write_text("damaged")
    done = checked(logs, *stated)
    assert done.stderr.count("1 file") == 2


def test_messages_speak_of_options(logs):
    said = checked(logs, "--roles", "{algorithm}/{seed}").stderr
    assert "'{algorithm}/{seed}'" in said
    (logs / "ppo-s0" / "monitor.csv").write_text(HEADER.replace("t\n", "t,score_x\n"))
    said = checked(logs, "--roles", ROLES).stderr
    assert "--metrics return=higher --metrics" in said
