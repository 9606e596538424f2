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
    assert advice == "Now: curvewise report plan.db -o report.html"
    assert len(cw.read(folder.store)) == 6


def test_the_second_run_has_nothing_to_do(folder, ran):
    ran("run", "plan.toml")
    before = cw.read(folder.store)
    done = ran("run", "plan.toml")
    assert done.exit_code == 0
    assert done.stdout.startswith("Nothing left to do: all 6 trials are there.")
    assert cw.read(folder.store) == before


def test_options_override_the_file(folder, ran):
    done = ran("run", "plan.toml", "--trials", 2, "--store", "x.db", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert len(cw.read("x.db")) == 2
    assert not folder.store.exists()
    done = ran("run", "plan.toml", "--timeout", 1, "--memory", "1 GB")
    assert done.exit_code == 1
    assert "Leave --memory out, or pass --executor local." in done.stderr


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
        ("nowhere.toml", "There is no file nowhere.toml. There is 'plan.toml'. Pass a"),
        (
            "MODULE.py",
            "is a Python file. Pass 'MODULE:experiment' for the experiment of",
        ),
        (".", ". is a folder. Pass a TOML file, or module:experiment."),
        ("MODULE:load", "MODULE:load is of type function. Name an Experiment."),
        ("MODULE:experiment_", "'experiment_'. Did you mean 'experiment'?"),
        ("nonexistent_zzz:experiment", "There is no module 'nonexistent_zzz'"),
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
    assert (
        'State it in the file: [metrics], and below it score = "lower".' in done.stderr
    )
    assert done.exit_code == 0


def test_a_changed_definition_is_refused_and_what_is_remembered_stays(folder, ran):
    ran("run", "plan.toml")
    folder.change("(1 + epoch)", "(2 + epoch)")
    done = ran("run", "plan.toml", "--trials", 50)
    assert done.exit_code == 1
    assert "plan.db has trials of another algorithm of the same name" in done.stderr
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
    assert "What went wrong: curvewise status plan.db" in done.stdout
    assert "report plan.db -o report.html --failed worst" in done.stdout
    status = ran("status", "plan.db")
    assert status.exit_code == 3
    first = bad[0].number
    lines = status.stdout.splitlines()
    assert lines[0].startswith("plan.db: 6 of 6 trials, last written ")
    assert lines[3].split()[2:6] == ["6", "6", str(6 - len(bad)), str(len(bad))]
    assert f"  {len(bad)} x  ValueError: diverged  (load net {first})" in lines
    assert lines[-1] == "To run them again: curvewise run plan.toml --retry-failed"


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
        "1,000 trials: 1,000 of each algorithm on each task",
        "seed: 1",
        "lr: log-uniform from 0.01 to 1",
        "store: plan.db (new)",
        "executor: serial, workers: 1",
        "1,000 trials left, about 0 s with 1 worker.",
        "Probed: up to 4 trials of each",
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
    assert "nothing left to do." in done.stdout
    assert "Probed" not in done.stdout


@pytest.mark.parametrize(
    ("option", "value", "status", "words"),
    [
        ("--memory", "2 XB", 1, "memory is '2 XB'. Pass bytes, or a text such as"),
        ("--timeout", "inf", 1, "timeout is inf. Pass seconds above 0."),
        ("--executor", "cloud", 2, "'cloud' is not one of 'local', 'serial', 'ray'"),
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
    assert "plan.db is no store: it is not a SQLite file" in done.stderr


def test_a_probe_that_fails_shows_its_error(folder, ran):
    folder.change("yield epoch", "raise ValueError('no data'); yield epoch")
    done = ran("run", "plan.toml", "--dry-run")
    assert done.exit_code == 3
    assert "load, net: 4 of 4 failed: ValueError: no data" in done.stdout


def test_probes_are_short_and_an_estimate_says_when_it_is_a_lower_bound(
    folder, ran, monkeypatch
):
    monkeypatch.setattr(run, "FIRST_SECONDS", 0.05)
    folder.plan("slow")
    done = ran("run", "plan.toml", "--dry-run")
    assert "6 trials left, at least 0 s with 1 worker." in done.stdout
    assert done.exit_code == 0
    monkeypatch.setattr(run, "ALL_SECONDS", -1.0)
    done = ran("run", "plan.toml", "--dry-run")
    assert "no trial was probed, so nobody knows how long it takes." in done.stdout


def test_a_trial_over_the_time_of_the_run_is_a_failed_probe(folder, ran):
    folder.plan("slow")
    done = ran("run", "plan.toml", "--dry-run", "--timeout", 0.02)
    assert done.exit_code == 3
    assert "load, net: 4 of 4 failed: It was stopped after its limit" in done.stdout


def test_the_estimate_is_what_is_left_times_the_mean_over_workers():
    def probe(left, *seconds):
        tried = [cw.Trial("t", "a", i, {}, seconds=s) for i, s in enumerate(seconds)]
        return run.Probe("t", "a", 100, left, tried)

    probes = [probe(50, 9.0, 2.0, 4.0), probe(10, 6.0), probe(0)]
    found = run.Estimate(probes, 4)
    assert found.seconds == (50 * 3 + 10 * 6) / 4
    assert str(found) == f"60 trials left, about {found.seconds:.0f} s with 4 workers"
    assert str(run.Estimate([probe(0)], 1)) == "nothing left to do"


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
    assert "finishing the trials that run; Ctrl-C again stops at once" in err
    assert f"curvewise: {kept} of 30 trials are kept; the same command goes on." in err
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
    assert head == "until cvar 0.5 +- 0.05 of accuracy"
    assert verdict.startswith(f"Reached with {n} of 1,000 trials of each (look ")
    assert names.split() == [
        *("task", "algorithm", "trials", "value", "interval", "half-width")
    ]
    assert row.split()[:3] == ["load", "net", str(n)]
    assert "with at least 95 % confidence" in done.stdout
    assert "Now: curvewise report plan.db" in done.stdout
    again = ran("run", "plan.toml", "--trials", 1000, "--until", "cvar 0.5 +- 0.05")
    assert again.stdout.splitlines()[:8] == done.stdout.splitlines()[:8]
    assert len(cw.read(scoring.store)) == n


def test_a_maximum_that_is_too_small_is_said_and_no_error(scoring, ran):
    done = ran("run", "plan.toml", "--trials", 50, "--until", "mean ± 0.01")
    assert done.exit_code == 0, done.output
    assert (
        "Not reached with 50 of 50 trials of each (look 5 of 5): ± 0.1" in done.stdout
    )
    assert "of each would probably do." in done.stdout


def test_status_says_that_fewer_trials_were_enough(scoring, ran):
    scoring.plan("score")
    ran("run", "plan.toml", "--trials", 1000, "--until", "mean +- 0.2")
    said = ran("status", "plan.db").stdout.splitlines()[0]
    assert "of 1,000 trials, enough for 'mean +- 0.2', last written" in said
    assert json.loads(ran("status", "plan.db", "--json").stdout)["reached"]
    ran("run", "plan.toml", "--trials", 1000)  # somebody wanted all of them
    assert "enough" not in ran("status", "plan.db").stdout


def test_a_file_may_say_until_when(scoring, ran):
    scoring.plan("score", 'until = "mean +- 0.2"\n')
    done = ran("run", "plan.toml", "--trials", 1000)
    assert "until mean +- 0.2 of accuracy\nReached with" in done.stdout
    assert len(cw.read(scoring.store)) < 1000
    done = ran("run", "plan.toml", "--trials", 1000, "--until", "mean +- 0.1")
    assert "until mean +- 0.1 of accuracy\nReached with" in done.stdout


def test_a_dry_run_says_when_it_would_look(scoring, ran):
    done = ran("run", "plan.toml", "--dry-run", "--until", "ranking", "--trials", 160)
    assert done.exit_code == 1
    assert "A ranking needs two algorithms, and there is 1." in done.stderr
    done = ran(
        "run", "plan.toml", "--dry-run", "--until", "mean +- 0.1", "--trials", 160
    )
    assert (
        "until: mean +- 0.1; looks at 10, 20, 40, 80, 160 trials of each" in done.stdout
    )


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_text_that_nobody_understands_teaches_the_grammar(scoring, ran, more):
    done = ran("run", "plan.toml", "--until", "cvar 0.5", *more)
    assert done.exit_code == 1
    assert "until is 'cvar 0.5', and it does not say '+-'" in done.stderr
    assert "'ranking cvar 0.5 within 0.01'" in done.stderr
    assert not scoring.store.exists()


def test_a_mistake_in_the_file_is_named_with_the_file(scoring, ran):
    scoring.plan("score", 'until = "soon"\n')
    done = ran("run", "plan.toml")
    assert done.exit_code == 1
    assert "plan.toml: until is 'soon', and it begins with 'soon'." in done.stderr


def test_a_loss_without_bounds_is_refused_before_anything_is_run(folder, ran):
    done = ran("run", "plan.toml", "--until", "mean +- 0.1 of loss")
    assert done.exit_code == 1
    assert "'loss' ranges from -inf to inf" in done.stderr
    assert "'mean +- 0.1 of loss method asymptotic'" in done.stderr
    assert not folder.store.exists()


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_worst_score_that_no_metric_has_is_refused(folder, ran, more):
    text = "quantile 0.5 +- 0.1 of loss failed worst"
    done = ran("run", "plan.toml", "--until", text, *more)
    assert done.exit_code == 1
    assert "has no worst score that is the same at every look" in done.stderr
    assert "'quantile 0.5 +- 0.1 of loss failed 0'" in done.stderr
    assert not folder.store.exists()


def test_the_band_is_called_as_everywhere_else(scoring, ran):
    text = "mean +- 0.2 band kolmogorov"
    done = ran("run", "plan.toml", "--trials", 1000, "--until", text)
    assert "until mean +- 0.2 of accuracy band kolmogorov\nReached with" in done.stdout
    assert "(exact Kolmogorov, " in done.stdout


def test_failures_without_a_score_do_not_lose_the_run(scoring, ran):
    scoring.plan("breaking")
    done = ran("run", "plan.toml", "--trials", 100, "--until", "mean +- 0.3")
    assert done.exit_code == 3
    assert len(cw.read(scoring.store)) == 100
    assert (
        "curvewise: Nobody can tell whether it is enough, and the run goes on to all "
        in (done.stderr)
    )
    assert "Nobody can tell: " in done.stdout
    done = ran(
        "run", "plan.toml", "--trials", 100, "--until", "mean +- 0.3 failed worst"
    )
    assert done.exit_code == 3
    assert "Reached with " in done.stdout


def test_quiet_is_quiet(scoring, ran):
    done = ran("run", "plan.toml", "--trials", 400, "--until", "mean +- 0.2", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
