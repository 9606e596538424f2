"""Progress: how many, how fast, how long; a bar, lines, or nothing."""

import io
import sys
import types

import pytest

import curvewise
from curvewise import Algorithm, Experiment, Metric, Task, Trial, Trials
from curvewise.flow import progress
from curvewise.flow import progress as module
from curvewise.flow.progress import (
    Bar,
    Lines,
    Progress,
    Silence,
    display,
    fitted,
    shown_rate,
    shown_time,
)


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that goes when it is told to."""
    clock = Clock()
    monkeypatch.setattr(
        module, "time", types.SimpleNamespace(monotonic=clock.monotonic)
    )
    return clock


def some(n, status="ok", start=0):
    trials = (
        Trial("t", "a", start + i, {"accuracy": 1}, status=status) for i in range(n)
    )
    return Trials(trials)


# --- counting ------------------------------------------------------------------------


def test_before_the_first_trial_nobody_knows_how_fast_it_is(clock):
    progress = Progress(100, 0)
    assert (progress.rate, progress.seconds_left) == (0.0, None)
    assert str(progress) == "0 of 100 trials"


def passed(clock, progress, seconds, each=1):
    """Let a batch be finished every second."""
    for _ in range(seconds):
        clock.now += 1
        progress.add(some(each))


def test_a_rate_is_trials_per_second_and_says_how_long_it_will_take(clock):
    progress = Progress(100, 0)
    passed(clock, progress, 4, each=10)
    assert (progress.rate, progress.seconds_left) == (10.0, 6.0)
    assert str(progress) == "40 of 100 trials, 10 per second, 6 s left"


@pytest.mark.parametrize(("batches", "seconds"), [(1, 9), (2, 9), (5, 2)])
def test_nobody_says_how_long_it_will_take_before_it_is_known(clock, batches, seconds):
    """Three batches and three seconds: the first are slower than the rest."""
    progress = Progress(100, 0)
    clock.now += seconds
    for _ in range(batches):
        progress.add(some(1))
    assert progress.rate == batches / seconds
    assert progress.seconds_left is None
    assert "left" not in str(progress)


def test_what_was_there_before_does_not_count_as_speed(clock):
    """A run that is resumed at 90 % is not quick for it."""
    progress = Progress(100, 90)
    passed(clock, progress, 4)
    assert (progress.rate, progress.seconds_left) == (1.0, 6.0)


def test_a_rate_is_of_late(clock):
    """Trials get slower, and the time left should say so."""
    progress = Progress(10_000, 0)
    passed(clock, progress, 1, each=1_000)
    passed(clock, progress, 60)
    assert progress.rate == pytest.approx(1.0)


def test_a_rate_falls_while_nothing_is_finished(clock):
    """A trial that hangs is seen: not a speed of long ago."""
    progress = Progress(100, 0)
    passed(clock, progress, 10)
    assert progress.rate == pytest.approx(1.0)
    clock.now += 20
    assert progress.rate == pytest.approx(10 / 30)
    assert progress.seconds_left == pytest.approx(90 * 3 - 20)


def test_time_left_is_never_less_than_nothing(clock):
    progress = Progress(11, 0)
    passed(clock, progress, 10)
    clock.now += 1.5
    assert progress.seconds_left == 0.0


def test_a_long_silence_still_has_a_rate(clock):
    progress = Progress(10, 0)
    for _ in range(3):
        clock.now += 3600
        progress.add(some(1))
    assert progress.rate == pytest.approx(1 / 3600)
    assert str(progress) == "3 of 10 trials, 1 per hour, 7 h 0 min left"


def test_a_clock_that_stands_still_is_no_problem(clock):
    progress = Progress(10, 0)
    progress.add(some(1))
    assert progress.rate == 0.0
    assert str(progress) == "1 of 10 trials"


def test_at_the_end_it_says_how_long_it_took(clock):
    progress = Progress(1, 0)
    clock.now += 1
    progress.add(some(1))
    assert progress.seconds_left == 0.0
    assert str(progress) == "1 of 1 trial in 1 s"


def test_how_trials_ended_is_counted(clock):
    progress = Progress(5_000, 0)
    clock.now += 4
    progress.add(some(2_000, "failed"))
    progress.add(some(3, "timeout", start=2_000))
    progress.add(some(2))
    assert progress.states["ok"] == 2
    assert progress.shown_states() == "2,000 failed, 3 timeout"
    assert str(progress) == (
        "2,005 of 5,000 trials, 501 per second, 6 s left; 2,000 failed, 3 timeout"
    )


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (12_345, "12,345 per second"),
        (10, "10 per second"),
        (9.87, "9.9 per second"),
        (1, "1 per second"),
        (0.99, "59 per minute"),
        (1 / 60, "1 per minute"),
        (0.5 / 60, "30 per hour"),
        (1e-5, "0.036 per hour"),
        (0, "0 per hour"),
    ],
)
def test_a_rate_is_said_in_the_unit_that_fits(rate, text):
    assert shown_rate(rate) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (119, "119 s"),
        (120, "2 min"),
        (149, "2 min"),
        (3_540, "59 min"),
        (3_599, "1 h 0 min"),
        (3_725, "1 h 2 min"),
        (47 * 3_600, "47 h 0 min"),
        (50 * 3_600, "2 days 2 h"),
        (1e7, "115 days 17 h"),
    ],
)
def test_a_time_is_said_as_people_say_it(seconds, text):
    assert shown_time(seconds) == text


# --- lines ---------------------------------------------------------------------------


def test_a_short_run_says_nothing(clock, capsys):
    progress, lines = Progress(10, 0), Lines()
    lines.start(progress)
    clock.now += 0.5
    progress.add(some(10))
    lines.update(progress)
    lines.finish(progress)
    assert capsys.readouterr() == ("", "")


def test_a_short_run_with_failures_says_so_at_its_end(clock, capsys):
    progress, lines = Progress(2, 0), Lines()
    lines.start(progress)
    clock.now += 0.75
    progress.add(some(2, "failed"))
    lines.update(progress)
    lines.finish(progress)
    expected = "curvewise: 2 of 2 trials in 1 s; 2 failed\n"
    assert capsys.readouterr() == ("", expected)


def test_a_long_run_says_a_line_now_and_then_and_the_last_one(clock, capsys):
    progress, lines = Progress(100, 0), Lines()
    lines.start(progress)
    for _ in range(100):
        clock.now += 0.5
        progress.add(some(1))
        lines.update(progress)
    lines.finish(progress)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "curvewise: 2 of 100 trials, 2 per second"
    assert said[1] == "curvewise: 22 of 100 trials, 2 per second, 39 s left"
    assert said[-1] == "curvewise: 100 of 100 trials in 50 s"
    assert len(said) == 6  # after 1, 11, 21, 31, 41 s, and at the end


def test_a_night_fits_on_a_few_screens(clock, capsys):
    """Lines come more rarely as a run gets longer, but every ten minutes at least."""
    progress, lines = Progress(10_000, 0), Lines()
    one = some(1)
    lines.start(progress)
    silences, last = [], clock.now
    for _ in range(4_000):
        clock.now += 9
        progress.add(one)
        lines.update(progress)
        if capsys.readouterr().err:
            silences.append(clock.now - last)
            last = clock.now
    assert len(silences) < 150
    assert max(silences) <= 609
    assert silences[:3] == [9, 18, 18]


# --- which of them -------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_a_log_gets_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(display(None), Bar)
    assert isinstance(display(True), Bar)
    assert isinstance(display(False), Silence)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(display(None), Lines)
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    assert isinstance(display(None), Silence)


def test_lines_where_there_is_no_standard_error_say_nothing(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    progress, lines = Progress(2, 0), Lines()
    lines.start(progress)
    progress.add(some(2, "failed"))
    lines.finish(progress)


def watched(monkeypatch):
    """Return a terminal that now stands in the place of standard error.

    No fixture: pytest puts its own standard error back between set-up and test.
    """
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return terminal


def test_a_bar_ends_with_what_a_line_would_say(clock, monkeypatch):
    terminal = watched(monkeypatch)
    progress, bar = Progress(4, 0), Bar()
    bar.start(progress)
    clock.now += 1
    progress.add(some(3))
    bar.update(progress)
    progress.add(some(1, "crashed", start=3))
    bar.finish(progress)
    text = terminal.getvalue()
    assert "4 of 4 trials" in text
    assert "in 1 s" in text
    assert "1 crashed" in text


def test_a_bar_with_nothing_to_do_is_not_drawn(clock, monkeypatch):
    terminal = watched(monkeypatch)
    progress, bar = Progress(4, 4), Bar()
    bar.start(progress)
    bar.finish(progress)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("room", range(25, 140, 3))
def test_a_bar_is_never_wider_than_its_terminal(clock, room):
    """A line that wraps cannot be drawn over."""
    progress = Progress(5_000_000, 0)
    clock.now += 4
    progress.add(some(20, "failed"))
    progress.add(some(3, "timeout", start=20))
    progress.add(some(2))
    texts, bar = fitted(progress, room)
    shown = [*(["x" * bar] if bar else []), *(text for text, _ in texts)]
    assert "25 of 5,000,000 trials" in texts[0][0]
    assert len("  ".join(shown)) <= max(room, len(texts[0][0]))


def test_silence_is_silent(capsys):
    progress, silence = Progress(2, 0), Silence()
    silence.start(progress)
    progress.add(some(2, "failed"))
    silence.update(progress)
    silence.finish(progress)
    assert capsys.readouterr() == ("", "")


# --- in a run ------------------------------------------------------------------------


def ran(progress, fails=False):
    def run(params, data, rng):
        if fails:
            raise ValueError
        return {"accuracy": 1.0}

    experiment = Experiment(
        Task("t", lambda rng: 0), Algorithm("a", {}, run), 3, metrics=[Metric("x")]
    )
    curvewise.run(experiment, executor="serial", progress=progress)


def test_a_run_that_failed_says_so_on_standard_error_and_nowhere_else(capsys):
    ran(None, fails=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("curvewise: 3 of 3 trials")
    assert err.endswith("; 3 failed\n")


def test_a_run_that_is_told_to_be_silent_is(capsys):
    ran(False, fails=True)
    assert capsys.readouterr() == ("", "")


def test_a_quick_run_that_went_well_has_nothing_to_say(capsys):
    ran(None)
    assert capsys.readouterr() == ("", "")


# --- how certain ---------------------------------------------------------------------


def test_a_line_says_how_certain_it_is(clock):
    progress = Progress(100, 0)
    passed(clock, progress, 4, each=10)
    progress.certainty = "± 0.018 of 0.01"
    assert str(progress) == (
        "40 of 100 trials, 10 per second, 6 s left; ± 0.018 of 0.01"
    )
    progress.add(some(2, "failed", start=40))
    assert str(progress).endswith("; ± 0.018 of 0.01; 2 failed")


def test_a_run_that_knows_enough_is_over(clock):
    progress = Progress(100, 0)
    clock.now += 4
    progress.add(some(40))
    progress.certainty, progress.is_enough = "± 0.009 of 0.01", True
    assert progress.seconds_left == 0.0
    assert str(progress) == "40 of 100 trials in 4 s; ± 0.009 of 0.01"


@pytest.mark.parametrize("room", range(25, 160, 3))
def test_a_bar_has_room_for_how_certain_it_is_before_other_things(clock, room):
    progress = Progress(5_000, 0)
    passed(clock, progress, 4, each=2)
    progress.add(some(20, "failed", start=40))
    progress.certainty = "± 0.018 of 0.01"
    texts, bar = fitted(progress, room)
    shown = [*(["x" * bar] if bar else []), *(text for text, _ in texts)]
    assert len("  ".join(shown)) <= room
    if room >= 50:
        assert ("± 0.018 of 0.01", "cyan") in texts
    if room >= 120:
        assert any("per second" in text for text, _ in texts)


# --- How far a computation is that runs no trials -------------------------------------


def test_it_says_how_far_it_is_and_how_long_it_will_take(monkeypatch, capsys):
    seconds = iter(range(0, 1000, 7))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(seconds)))
    assert list(progress.each(["a", "b", "c", "d"], "power")) == ["a", "b", "c", "d"]
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "curvewise: power, 1 of 4, 42 s left"
    assert len(said) == 2  # not more often than every ten seconds


def test_what_is_quick_or_not_wanted_says_nothing(capsys):
    assert list(progress.each([1, 2], "power")) == [1, 2]
    assert list(progress.each([1, 2], "power", False)) == [1, 2]
    assert capsys.readouterr().err == ""
