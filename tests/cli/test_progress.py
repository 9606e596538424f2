import os
import pty
import re
import subprocess
import sys

import pytest

import curvewise as cw
from curvewise.flow import progress
from curvewise.flow.progress import Lines, Progress, display, fitted


class Clock:
    """Time that passes when told."""

    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def batch(n=1, status="ok"):
    return cw.Trials([cw.Trial("t", "a", i, {}, status=status) for i in range(n)])


def going(clock, total, batches, seconds, n=1):
    run = Progress(total, 0)
    for _ in range(batches):
        clock.now += seconds
        run.add(batch(n))
    return run


def test_nobody_says_how_long_it_takes_before_it_is_known(clock):
    assert going(clock, 100, 0, 0).seconds_left is None
    slow = going(clock, 100, 2, 5)
    assert slow.seconds_left is None
    assert slow.rate == pytest.approx(12 / 60)
    assert going(clock, 100, 10, 0.1).seconds_left is None
    assert going(clock, 100, 10, 1).seconds_left == pytest.approx(90)


def test_the_rate_is_that_of_late(clock):
    run = going(clock, 10_000, 60, 1)
    for _ in range(100):
        clock.now += 0.5
        run.add(batch(5))
    assert run.rate == pytest.approx(10)


def test_a_burst_at_the_end_of_long_trials_is_no_rate(clock):
    """Eight workers finish together every ten minutes: eight in ten minutes."""
    run = Progress(80, 0)
    for _ in range(3):
        clock.now += 600
        for _ in range(8):
            run.add(batch())
            clock.now += 0.01
    assert run.rate == pytest.approx(8 / 600, rel=0.01)
    assert run.seconds_left == pytest.approx((80 - 24) / 8 * 600, rel=0.01)


def test_time_runs_while_nothing_is_finished(clock):
    run = going(clock, 100, 40, 1)
    assert run.seconds_left == pytest.approx(60)
    clock.now += 1
    assert run.seconds_left == pytest.approx(59)
    clock.now += 159
    assert run.rate == pytest.approx(40 / 200)


def test_the_end_says_how_long_it_took(clock):
    run = going(clock, 10, 9, 7)
    run.add(batch(1, "failed"))
    assert str(run) == "10 of 10 trials in 63 s; 1 failed"


@pytest.mark.parametrize("room", range(20, 140))
def test_a_line_is_never_wider_than_the_terminal(clock, room):
    run = Progress(600, 100)
    for status in ("ok", "failed", "crashed", "timeout"):
        clock.now += 3
        run.add(batch(20, status))
    texts, width = fitted(run, room)
    length = sum(len(text) + 2 for text, _ in texts) - 2 + (width + 2 if width else 0)
    assert length <= room
    assert texts[0][0].split()[:3] == ["180", "of", "600"]
    joined = " ".join(text for text, _ in texts)
    if room >= 32:
        assert "60 not ok" in joined or "20 crashed, 20 timeout" in joined
    if room >= 100:
        assert width >= 10
        assert "per second" in joined
        assert "left" in joined


def test_logs_of_long_runs_are_short(clock, capsys):
    run, lines = Progress(10**6, 0), Lines()
    lines.start(run)
    ten = batch(10)
    for _ in range(3600):  # ten hours
        clock.now += 10
        run.add(ten)
        lines.update(run)
    lines.finish(run)
    said = capsys.readouterr().err.splitlines()
    assert 50 < len(said) < 110
    assert "36,000 of 1,000,000" in said[-1]


def test_a_run_that_is_over_at_once_says_nothing(clock, capsys):
    run, lines = Progress(3, 0), display(None)
    lines.start(run)
    run.add(batch(3))
    lines.update(run)
    lines.finish(run)
    assert capsys.readouterr().err == ""


def test_in_a_terminal_there_is_a_bar(folder):
    folder.plan("shaky")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "curvewise", "run", "plan.toml"],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 10_000)
        except OSError:  # so ends a terminal whose program is gone
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(timeout=30) == 3
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "━━━━" in text
    assert re.search(r"\d failed", text)
