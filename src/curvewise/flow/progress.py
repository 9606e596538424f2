"""How far a run is: a bar where somebody watches, plain lines where nobody does."""

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from curvewise.text import count
from curvewise.trials import STATUSES, Trials

_SILENT = 1.0  # seconds before anything is said
_EVERY = 10.0  # seconds between lines, at first
_RARELY = 600.0  # seconds between lines of a run of hours
_SURE = 3  # batches, and seconds, before anybody says how long it will take
_WINDOW = 30.0  # seconds over which a rate is measured,
_LEAST = 50  # unless so few batches were finished in them
_LONG = 5  # times what usually passes between two batches: a pause, not a slow batch
_AGAIN = 3  # times as long as the last pause, and it is another pause
_RECENT = 10.0  # seconds for which something that came says that somebody is at it
_USUALLY = 4  # times as long as usually passes between two batches


class Pace:
    """How many are done, how fast they come of late, and how long the rest will take.

    Examples
    --------
    >>> seconds = iter([0, 1, 2, 3, 4, 4, 4.5])
    >>> pace = Pace(90, lambda: next(seconds))
    >>> for _ in range(4):
    ...     pace.note(1)
    >>> pace.done, pace.batches, pace.rate, pace.idle
    (94, 4, 1.0, 0.5)
    """

    def __init__(self, done: int = 0, clock: Callable[[], float] | None = None) -> None:
        self.done = done
        self._clock = clock or time.monotonic
        self._pause = 0.0  # before it was measured anew
        self.restart()

    def restart(self, idle: float | None = None) -> None:
        """Measure anew; the last came so many seconds ago, if that is known."""
        self.begin = self._clock()
        self.batches = 0
        self._last = None if idle is None else self.begin - idle
        self._recent = deque([(self.begin, self.done)])

    def note(self, number: int, *, may_pause: bool = False) -> None:
        """Note that so many more are done; after a pause, it is another pace."""
        now = self._clock()
        self.done += number
        pause = now - self._recent[-1][0]
        has_paused = pause > max(_WINDOW, _LONG * self._usual)
        if may_pause and has_paused and not pause < _AGAIN * self._pause:
            self._pause = pause  # if the next is as long, they simply take so long
            self.restart(0.0)
            return
        self.batches += 1
        self._last = now
        self._recent.append((now, self.done))
        while len(self._recent) > _LEAST and now - self._recent[0][0] > _WINDOW:
            self._recent.popleft()

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return self._clock() - self.begin

    @property
    def _usual(self) -> float:
        """Seconds between two batches, as it were."""
        return (self._recent[-1][0] - self._recent[0][0]) / len(self._recent)

    @property
    def rate(self) -> float:
        """How many per second of late; it falls while nothing is done."""
        now = self._clock()
        (begin, before), (end, after) = self._recent[0], self._recent[-1]
        span = (now if now - end > 2 * self._usual else end) - begin
        return (after - before) / span if span > 0 else 0.0

    @property
    def idle(self) -> float | None:
        """Seconds since something was done; None where nobody knows."""
        return None if self._last is None else max(0.0, self._clock() - self._last)

    @property
    def is_fresh(self) -> bool:
        """Whether something was done lately, or nobody knows when."""
        idle = self.idle
        return idle is None or idle < max(_RECENT, _USUALLY * self._usual)

    def seconds_for(self, number: int) -> float | None:
        """Return how long so many take at this rate; None while nobody knows."""
        rate = self.rate
        if self.batches < _SURE or self.seconds < _SURE or not rate:
            return None
        since = self._clock() - self._recent[-1][0]
        return max(0.0, number / rate - since)


class Progress(Pace):
    """How far a run is: how many are finished, in which state, how fast."""

    def __init__(self, total: int, done: int) -> None:
        super().__init__(done)
        self.total = total
        self.certainty, self.is_enough = "", False
        self.states: Counter[str] = Counter()

    def add(self, trials: Trials) -> None:
        """Count finished trials."""
        per_state = np.bincount(trials.core.status, minlength=len(STATUSES)).tolist()
        self.states.update(dict(zip(STATUSES, per_state, strict=True)))
        self.note(len(trials))

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        return self.is_enough or self.done >= self.total

    @property
    def seconds_left(self) -> float | None:
        """How long it will take at this rate; None while nobody knows."""
        return 0.0 if self.is_over else self.seconds_for(self.total - self.done)

    def shown_states(self) -> str:
        """Return how many ended in each state but "ok"."""
        bad = [(s, n) for s, n in self.states.items() if n and s != "ok"]
        return ", ".join(f"{n:,} {state}" for state, n in bad)

    def parts(self) -> list[str]:
        """Return what there is to say, most important first; parts may be empty."""
        left = self.seconds_left
        return [
            f"{self.done:,} of {count(self.total, 'trial')}",
            f"in {shown_time(self.seconds)}"
            if self.is_over
            else f"{shown_time(left)} left"
            if left is not None
            else "",
            self.certainty,
            self.shown_states(),
            shown_rate(self.rate) if self.rate and not self.is_over else "",
        ]

    def __str__(self) -> str:
        done, left, certainty, states, rate = self.parts()
        if self.is_over:
            return "; ".join(filter(None, [f"{done} {left}", certainty, states]))
        speed = ", ".join(filter(None, [done, rate, left]))
        return "; ".join(filter(None, [speed, certainty, states]))


class Display(Protocol):
    """Shows a run's progress."""

    def start(self, progress: Progress) -> None:
        """Begin to show."""

    def update(self, progress: Progress) -> None:
        """Show where it is now."""

    def finish(self, progress: Progress) -> None:
        """Show the end."""


class Silence:
    """Shows nothing."""

    def start(self, progress: Progress) -> None:
        """Do nothing."""

    def update(self, progress: Progress) -> None:
        """Do nothing."""

    def finish(self, progress: Progress) -> None:
        """Do nothing."""


class Lines:
    """A line now and then, for logs."""

    def start(self, progress: Progress) -> None:
        """Remember when."""
        self._next = progress.begin + _SILENT
        self._said = False

    def update(self, progress: Progress) -> None:
        """Print a line if the last one is old."""
        if (now := time.monotonic()) >= self._next:
            # A tenth of what has passed: a night's log fits on a screen.
            self._next = now + min(max(_EVERY, progress.seconds / 10), _RARELY)
            self._say(progress)

    def finish(self, progress: Progress) -> None:
        """Print the last line of a run that said something or had failures."""
        if self._said or progress.shown_states():
            self._say(progress)

    def _say(self, progress: Progress) -> None:
        self._said = True
        if sys.stderr is not None:
            sys.stderr.write(f"curvewise: {progress}\n")
            sys.stderr.flush()


class Bar:
    """One line in a terminal: a bar, time left, the number in each state, the rate.

    It never gets longer than the terminal is wide, because a line that wraps cannot be
    drawn over: the bar gets shorter, then what matters least is left out.
    """

    def start(self, progress: Progress) -> None:
        """Draw the bar, if there is anything to do."""
        self._live: Any = None
        if progress.done >= progress.total:
            return
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            console=Console(stderr=True),
            get_renderable=lambda: _Line(progress),
            refresh_per_second=4,
        )
        self._live.start()

    def update(self, progress: Progress) -> None:
        """Do nothing: the bar looks for itself, also while nothing is finished."""

    def finish(self, progress: Progress) -> None:  # noqa: ARG002
        """Leave the bar as it is."""
        if self._live is not None:
            self._live.stop()


_NARROWEST, _WIDEST = 10, 40  # of the bar, in characters


class _Line:
    """What the bar shows now, in as much room as there is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        texts, width = fitted(self._progress, options.max_width)
        cells: list[Any] = [Text(*text) for text in texts]
        line = Table.grid(padding=(0, 2, 0, 0))
        if width:
            total, done = self._progress.total, self._progress.done
            cells.insert(0, ProgressBar(total, done, width, complete_style="cyan"))
            line.add_column(width=width)
        line.add_row(*cells)
        yield line


def fitted(progress: Progress, room: int) -> tuple[list[tuple[str, str]], int]:
    """Return what fits into a line, each part with its style, and the bar's width.

    Parts keep their places while numbers grow; the bar has no width where there is no
    room for one.

    >>> fitted(Progress(200, 20), 80)
    ([(' 20 of 200 trials', '')], 40)
    >>> fitted(Progress(200, 20), 20)
    ([(' 20 of 200 trials', '')], 0)
    """
    done, left, certainty, states, rate = progress.parts()
    widest = len(f"{progress.total:,} of {count(progress.total, 'trial')}")
    all_of_it = (done.rjust(widest), ""), (left.ljust(10) if left else "", "")
    speed = rate.ljust(14) if rate else "", "bright_black"
    bad = sum(n for state, n in progress.states.items() if state != "ok")
    few = f"{bad:,} not ok" if bad else ""
    sure = certainty, "cyan"
    for parts in (
        [*all_of_it, sure, (states, "red"), speed],
        [*all_of_it, sure, (states, "red")],
        [*all_of_it, sure, (few, "red")],
        [all_of_it[0], sure, (few, "red")],
        [all_of_it[0], (few, "red")],
        [all_of_it[0]],
    ):
        texts = [(text, style) for text, style in parts if text]
        width = min(room - _length(texts) - 2, _WIDEST)
        if _length(texts) <= room:
            break
    return texts, width if width >= _NARROWEST else 0


def _length(texts: list[tuple[str, str]]) -> int:
    return sum(len(text) + 2 for text, _ in texts) - 2


def display(wanted: bool | None) -> Display:
    """Return a bar for a terminal, lines for a log, silence where asked for."""
    if wanted is False or sys.stderr is None:
        return Silence()
    return Bar() if sys.stderr.isatty() else Lines()


def shown_rate(rate: float) -> str:
    """Return trials per second, or per minute or hour where they are slow.

    >>> shown_rate(0.5)
    '30 per minute'
    """
    for unit, seconds in (("second", 1), ("minute", 60), ("hour", 3600)):
        if rate * seconds >= 1 or unit == "hour":
            n = rate * seconds
            return f"{n:,.0f} per {unit}" if n >= 10 else f"{n:.2g} per {unit}"
    raise AssertionError


def shown_time(seconds: float) -> str:
    """Return a duration as people say it.

    >>> shown_time(3725)
    '1 h 2 min'
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} days {hours % 24} h"


# --- How far a long computation is that runs no trials ---------------------------------


Item = TypeVar("Item")


def each(
    items: Sequence[Item], what: str, wanted: bool | None = None
) -> Iterator[Item]:
    """Yield items, and say on standard error how far it is and how long it will take.

    Examples
    --------
    >>> list(each([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    if wanted is False or sys.stderr is None:
        yield from items
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(items, what, console=Console(stderr=True), transient=True)
    else:
        pace, last = Pace(), 0.0
        for done, item in enumerate(items):
            seconds = pace.seconds
            if done and seconds - last > _EVERY:
                left = shown_time(left_at_mean(seconds, done, len(items)))
                sys.stderr.write(
                    f"curvewise: {what}, {done:,} of {len(items):,}, {left} left\n"
                )
                last = seconds
            yield item


def left_at_mean(seconds: float, done: int, total: int) -> float:
    """Return how long the rest takes if each takes as long as those before did.

    >>> left_at_mean(10.0, 100, 400)
    30.0
    """
    return seconds / done * (total - done)
