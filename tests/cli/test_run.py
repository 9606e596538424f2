import json
import signal
import time

import pytest
from commands import commands

import curvewise as cw
from curvewise.engine.drive import EXECUTORS
from curvewise.flow import run
from curvewise.flow.plan import planned
from curvewise.flow.toml import RUN


def test_run_ends_with_a_table_and_what_to_do_next(folder, ran):
    done = ran("run", "plan.toml")
    assert done.exit_code == 0, done.output
    head, row, _, advice = done.stdout.splitlines()
    assert head.split() == [
        *("task", "algorithm", "trials", "ok", "failed", "crashed", "timeout"),
        *("mean", "seconds"),
    ]
    assert row.split()[:7] == ["load", "net", "6", "6", "0", "0", "0"]
    assert advice.endswith("curvewise report plan.db -o report.html")
    assert len(cw.read(folder.store)) == 6


def test_the_second_run_has_nothing_to_do(folder, ran):
    ran("run", "plan.toml")
    before = cw.read(folder.store)
    done = ran("run", "plan.toml")
    assert done.exit_code == 0
    assert "Nothing left to do" in done.stdout
    assert cw.read(folder.store) == before


def test_options_override_the_file(folder, ran):
    done = ran("run", "plan.toml", "--trials", 2, "--store", "x.db", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert len(cw.read("x.db")) == 2
    assert not folder.store.exists()
    done = ran("run", "plan.toml", "--timeout", 1, "--memory", "1 GB")
    assert done.exit_code == 1
    assert "--memory" in done.stderr
    assert "--executor local" in done.stderr


def test_every_option_of_a_file_is_an_option_of_the_command():
    (run,) = (c for c in commands().values() if c.name == "run")
    names = {parameter.name for parameter in run.params}
    assert set(RUN) | {"trials"} <= names
    (executor,) = (p for p in run.params if p.name == "executor")
    assert tuple(executor.type.choices) == EXECUTORS


def test_a_python_object_can_be_run(folder, ran):
    done = ran("run", f"{folder.module}:experiment", "--executor", "serial")
    assert done.exit_code == 0, done.output
    assert len(cw.read(f"{folder.module}.db")) == 4
    assert ran("replay", f"{folder.module}.db", "data", "net", 3).exit_code == 0
    status = ran("status", f"{folder.module}.db", "--json")
    command = json.loads(status.stdout)["command"]
    assert command == f"curvewise run {folder.module}:experiment"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere.toml", "'plan.toml'"),
        ("MODULE.py", "MODULE:experiment"),
        (".", "folder"),
        ("MODULE:load", "MODULE:load"),
        ("MODULE:experiment_", "'experiment'"),
        ("nonexistent_zzz:experiment", "'nonexistent_zzz'"),
    ],
)
def test_what_is_no_experiment_says_what_would_be(folder, ran, source, words):
    done = ran("run", source.replace("MODULE", folder.module))
    assert done.exit_code == 1
    assert words.replace("MODULE", folder.module) in done.stderr
    assert done.stdout == ""


def test_a_warning_speaks_of_the_file(folder, ran):
    folder.change('"loss"', '"score"')
    done = ran("run", "plan.toml")
    assert 'score = "lower"' in done.stderr
    assert done.exit_code == 0


def test_a_changed_definition_is_refused_and_what_is_remembered_stays(folder, ran):
    ran("run", "plan.toml")
    folder.change("(1 + epoch)", "(2 + epoch)")
    done = ran("run", "plan.toml", "--trials", 50)
    assert done.exit_code == 1
    assert ran("run", "plan.toml", "--dry-run").stderr == done.stderr
    with cw.store.open(folder.store) as store:
        assert planned(store.notes()) == {("load", "net"): 6}


# --- failures ----------------------------------------------------------------------------


def test_failed_trials_are_status_3_and_status_says_what_went_wrong(folder, ran):
    folder.plan("shaky")
    done = ran("run", "plan.toml")
    assert done.exit_code == 3
    bad = cw.read(folder.store).where(status="failed")
    assert 0 < len(bad) < 6
    assert "curvewise status plan.db" in done.stdout
    assert "report.html --failed worst" in done.stdout
    status = ran("status", "plan.db")
    assert status.exit_code == 3
    first = bad[0].number
    lines = status.stdout.splitlines()
    assert lines[0].startswith("plan.db: 6 of 6")
    assert lines[3].split()[2:6] == ["6", "6", str(6 - len(bad)), str(len(bad))]
    assert f"{len(bad)} x ValueError: diverged (load net {first})" in [
        " ".join(line.split()) for line in lines
    ]
    assert lines[-1].endswith("curvewise run plan.toml --retry-failed")


def test_failed_trials_can_be_run_again(folder, ran):
    folder.plan("shaky")
    ran("run", "plan.toml")
    before = cw.read(folder.store)
    before.details()  # while they are there
    done = ran("run", "plan.toml", "--retry-failed", "--dry-run")
    assert f"{before.count_failed()} trials left" in done.stdout
    done = ran("run", "plan.toml", "--retry-failed")
    assert done.exit_code == 3
    assert cw.read(folder.store) == before  # chance is what it was


def test_a_score_that_is_no_number_is_a_failure_to_run_too(folder, ran):
    folder.change("+ OFFSET", "* float('nan')")
    assert ran("run", "plan.toml").exit_code == 3


# --- dry run -----------------------------------------------------------------------------


def test_a_dry_run_shows_the_plan_and_keeps_nothing(folder, ran):
    done = ran("run", "plan.toml", "--dry-run", "--trials", 1000)
    assert done.exit_code == 0, done.output
    assert not folder.store.exists()
    for words in (
        "seed: 1",
        "lr: log-uniform",
        "store: plan.db (new)",
        "executor: serial",
        "workers: 1",
        "1,000 trials left",
        "Probed: ",
    ):
        assert words in done.stdout
    assert done.stdout.splitlines()[-4].split()[:6] == [
        *("load", "net", "1000", "0", "1000", "4")
    ]


def test_a_dry_run_knows_what_is_there(folder, ran):
    ran("run", "plan.toml", "--trials", 4)
    before = cw.read(folder.store)
    done = ran("run", "plan.toml", "--dry-run")
    assert "2 trials left" in done.stdout
    assert "store: plan.db\n" in done.stdout
    assert cw.read(folder.store) == before
    ran("run", "plan.toml")
    done = ran("run", "plan.toml", "--dry-run")
    assert "trials left" not in done.stdout
    assert "Probed" not in done.stdout


@pytest.mark.parametrize(
    ("option", "value", "status", "words"),
    [
        ("--memory", "2 XB", 1, "memory is '2 XB'"),
        ("--timeout", "inf", 1, "timeout is inf"),
        ("--executor", "cloud", 2, "'cloud'"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would_refuse(
    folder, ran, option, value, status, words
):
    for more in ([], ["--dry-run"]):
        done = ran("run", "plan.toml", option, value, *more)
        assert done.exit_code == status
        assert words in done.stderr
    assert not folder.store.exists()


def test_a_dry_run_of_what_is_no_store(folder, ran):
    """Only a store that is not there yet is as good as an empty one."""
    folder.store.write_text("something else")
    done = ran("run", "plan.toml", "--dry-run")
    assert done.exit_code == 1
    assert "plan.db" in done.stderr
    assert folder.store.read_text() == "something else"


def test_a_probe_that_fails_shows_its_error(folder, ran):
    folder.change("yield epoch", "raise ValueError('no data'); yield epoch")
    done = ran("run", "plan.toml", "--dry-run")
    assert done.exit_code == 3
    assert "ValueError: no data" in done.stdout


def test_probes_are_short_and_an_estimate_says_when_it_is_a_lower_bound(
    folder, ran, monkeypatch
):
    monkeypatch.setattr(run, "FIRST_SECONDS", 0.05)
    folder.plan("slow")
    done = ran("run", "plan.toml", "--dry-run")
    assert "at least 0 s" in done.stdout
    assert done.exit_code == 0
    monkeypatch.setattr(run, "ALL_SECONDS", -1.0)
    done = ran("run", "plan.toml", "--dry-run")
    assert "no trial was probed" in done.stdout


def test_a_trial_over_the_time_of_the_run_is_a_failed_probe(folder, ran):
    folder.plan("slow")
    done = ran("run", "plan.toml", "--dry-run", "--timeout", 0.02)
    assert done.exit_code == 3
    assert "4 of 4 failed" in done.stdout


def test_the_estimate_is_what_is_left_times_the_mean_over_workers():
    def probe(left, *seconds):
        tried = [cw.Trial("t", "a", i, {}, seconds=s) for i, s in enumerate(seconds)]
        return run.Probe("t", "a", 100, left, tried)

    probes = [probe(50, 9.0, 2.0, 4.0), probe(10, 6.0), probe(0)]
    found = run.Estimate(probes, 4)
    assert found.seconds == (50 * 3 + 10 * 6) / 4
    assert f"about {found.seconds:.0f} s" in str(found)
    assert run.Estimate([probe(0)], 1).seconds is None


# --- in processes of their own -----------------------------------------------------------


def test_workers_find_modules_beside_the_file_from_any_folder(folder):
    process = folder.start("run", folder.path / "plan.toml", "--executor", "local")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert len(cw.read(folder.store)) == 6
    assert f"report {folder.store}" in out


@pytest.mark.slow
def test_workers_of_ray_get_modules_that_they_do_not_have(folder):
    pytest.importorskip("ray")
    process = folder.start("run", folder.path / "plan.toml", "--executor", "ray")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert len(cw.read(folder.store)) == 6


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(folder, ran):
    """The table at the end is that of a run which nobody disturbed."""
    folder.plan("slow", "workers = 2\n")
    arguments = (
        "run",
        folder.path / "plan.toml",
        "--executor",
        "local",
        "--trials",
        30,
    )
    process = folder.start(*arguments)
    _wait_for(lambda: folder.store.exists() and len(cw.store.read(folder.store)) > 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = len(cw.store.read(folder.store))
    assert 3 < kept < 30
    assert f"{kept} of 30" in err
    assert "Traceback" not in err
    done = ran(*arguments, "--executor", "serial")
    assert done.exit_code == 0, done.output
    ran(*arguments, "--executor", "serial", "--store", "undisturbed.db")
    assert cw.read(folder.store) == cw.read("undisturbed.db")


def _wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except cw.CurvewiseError:
            pass  # it is being made
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


# --- until -------------------------------------------------------------------------------

SCORING = """

def score(params, data, rng):
    yield 0, {"accuracy": rng.beta(30, 4)}

def breaking(params, data, rng):
    if rng.random() < 0.2:
        raise ValueError("diverged")
    yield 0, {"accuracy": rng.beta(30, 4)}
"""


@pytest.fixture
def scoring(folder):
    """A folder whose algorithm scores an accuracy."""
    file = folder.path / f"{folder.module}.py"
    file.write_text(file.read_text() + SCORING)
    folder.plan("score")
    return folder


def test_a_run_ends_when_it_is_certain_and_says_what_it_knows(scoring, ran):
    done = ran("run", "plan.toml", "--trials", 1000, "--until", "cvar 0.5 +- 0.05")
    assert done.exit_code == 0, done.output
    n = len(cw.read(scoring.store))
    assert n < 1000
    head, verdict, _, names, row = done.stdout.splitlines()[:5]
    assert head.endswith("cvar 0.5 +- 0.05 of accuracy")
    assert verdict.startswith(f"Reached with {n} ")
    assert names.split() == [
        *("task", "algorithm", "trials", "value", "interval", "half-width")
    ]
    assert row.split()[:3] == ["load", "net", str(n)]
    again = ran("run", "plan.toml", "--trials", 1000, "--until", "cvar 0.5 +- 0.05")
    assert again.stdout.splitlines()[:8] == done.stdout.splitlines()[:8]
    assert len(cw.read(scoring.store)) == n


def test_a_maximum_that_is_too_small_is_said_and_no_error(scoring, ran):
    done = ran("run", "plan.toml", "--trials", 50, "--until", "mean ± 0.01")
    assert done.exit_code == 0, done.output
    assert "Not reached with 50" in done.stdout


def test_status_says_that_fewer_trials_were_enough(scoring, ran):
    scoring.plan("score")
    ran("run", "plan.toml", "--trials", 1000, "--until", "mean +- 0.2")
    assert "enough for 'mean +- 0.2'" in ran("status", "plan.db").stdout
    assert json.loads(ran("status", "plan.db", "--json").stdout)["reached"]
    ran("run", "plan.toml", "--trials", 1000)  # somebody wanted all of them
    assert "enough" not in ran("status", "plan.db").stdout


def test_a_file_may_say_until_when(scoring, ran):
    scoring.plan("score", 'until = "mean +- 0.2"\n')
    done = ran("run", "plan.toml", "--trials", 1000)
    assert "+- 0.2 of accuracy\nReached with" in done.stdout
    assert len(cw.read(scoring.store)) < 1000
    done = ran("run", "plan.toml", "--trials", 1000, "--until", "mean +- 0.1")
    assert "+- 0.1 of accuracy\nReached with" in done.stdout


def test_a_dry_run_says_when_it_would_look(scoring, ran):
    done = ran("run", "plan.toml", "--dry-run", "--until", "ranking", "--trials", 160)
    assert done.exit_code == 1
    assert done.stdout == ""
    done = ran(
        "run", "plan.toml", "--dry-run", "--until", "mean +- 0.1", "--trials", 160
    )
    assert "10, 20, 40, 80, 160" in done.stdout


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_text_that_nobody_understands_teaches_the_grammar(scoring, ran, more):
    done = ran("run", "plan.toml", "--until", "cvar 0.5", *more)
    assert done.exit_code == 1
    assert "until is 'cvar 0.5'" in done.stderr
    assert "'+-'" in done.stderr
    assert not scoring.store.exists()


def test_a_mistake_in_the_file_is_named_with_the_file(scoring, ran):
    scoring.plan("score", 'until = "soon"\n')
    done = ran("run", "plan.toml")
    assert done.exit_code == 1
    assert "plan.toml: until is 'soon'" in done.stderr


def test_a_loss_without_bounds_is_refused_before_anything_is_run(folder, ran):
    done = ran("run", "plan.toml", "--until", "mean +- 0.1 of loss")
    assert done.exit_code == 1
    assert "loss method asymptotic'" in done.stderr
    assert not folder.store.exists()


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_worst_score_that_no_metric_has_is_refused(folder, ran, more):
    text = "quantile 0.5 +- 0.1 of loss failed worst"
    done = ran("run", "plan.toml", "--until", text, *more)
    assert done.exit_code == 1
    assert "loss failed 0'" in done.stderr
    assert not folder.store.exists()


def test_the_band_is_called_as_everywhere_else(scoring, ran):
    text = "mean +- 0.2 band kolmogorov"
    done = ran("run", "plan.toml", "--trials", 1000, "--until", text)
    assert "band kolmogorov\nReached with" in done.stdout
    assert "(exact Kolmogorov, " in done.stdout


def test_failures_without_a_score_do_not_lose_the_run(scoring, ran):
    scoring.plan("breaking")
    done = ran("run", "plan.toml", "--trials", 100, "--until", "mean +- 0.3")
    assert done.exit_code == 3
    assert len(cw.read(scoring.store)) == 100
    assert "Nobody can tell" in done.stderr
    assert "Nobody can tell: " in done.stdout
    done = ran(
        "run", "plan.toml", "--trials", 100, "--until", "mean +- 0.3 failed worst"
    )
    assert done.exit_code == 3
    assert "Reached with " in done.stdout


def test_quiet_is_quiet(scoring, ran):
    done = ran("run", "plan.toml", "--trials", 400, "--until", "mean +- 0.2", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
