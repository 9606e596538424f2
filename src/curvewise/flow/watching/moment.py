"""How far a run is at one moment, in numbers and in words."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from curvewise._text import count
from curvewise.flow.progress import shown_rate, shown_time
from curvewise.flow.watching.forecast import Forecast, Now
from curvewise.store.tally import Mishap

State: TypeAlias = Literal[
    "waiting", "reading", "running", "quiet", "stopped", "idle", "ended"
]
_STATES: dict[State, str] = {
    "waiting": "waiting for the store",
    "reading": "reading what is there",
    "running": "running",
    "quiet": "running, nothing new",
    "stopped": "stopped before its end",
    "idle": "nobody is running it",
    "ended": "ended",
}


@dataclass(frozen=True, slots=True)
class TaskStanding:
    """How far one task is.

    Parameters
    ----------
    name : str
    done, failed : int
    planned : int or None
        As far as the store knows.
    version : int
        Grows with every change; another number means another curve.
    """

    name: str
    done: int
    failed: int
    planned: int | None
    version: int


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a run is.

    Parameters
    ----------
    store : str
        What people call it, without a password.
    state : {"waiting", "reading", "running", "quiet", "stopped", "idle", "ended"}
        "quiet": a process is at it, and nothing has come for a while. "stopped": none is,
        and the plan is not finished. "idle": none is, and there is no plan.
    trouble : str
        Why the store could not be read this time, if so.
    done, failed : int
    planned : int or None
        As far as the store knows.
    ahead : int
        How many more are in the store, while a watcher is still reading.
    rate : float or None
        Trials per second of late; None before anything has come.
    seconds_left : float or None
        Until the end of the plan at this rate; None where nobody knows.
    idle : float or None
        Seconds since something came; None where nobody knows.
    reached : str
        Until when it was run, if it ended because that is known.
    states : mapping of str to int
        How many ended in each way.
    mishaps : tuple of Mishap
        What went wrong most often.
    other_mishaps : int
        How many trials failed with other messages.
    tasks : tuple of TaskStanding
    forecast : Forecast or None
        When what was asked for will be known.
    """

    store: str
    state: State
    trouble: str
    done: int
    failed: int
    planned: int | None
    ahead: int
    rate: float | None
    seconds_left: float | None
    idle: float | None
    reached: str
    states: Mapping[str, int]
    mishaps: tuple[Mishap, ...]
    other_mishaps: int
    tasks: tuple[TaskStanding, ...]
    forecast: Forecast | None

    def state_words(self) -> str:
        """Return the state as people say it."""
        if self.state == "ended" and self.reached:
            return "ended: what was asked is known"
        if self.state == "quiet" and self.idle is not None:
            return f"running, nothing new for {shown_time(self.idle)}"
        return _STATES[self.state]

    def headline(self) -> str:
        """Return how many trials there are."""
        if self.state == "waiting":
            return f"waiting for {self.store} to appear"
        if self.planned:
            return f"{self.done:,} of {count(self.planned, 'trial')}"
        return count(self.done, "trial")

    def rate_words(self) -> str:
        """Return how fast it goes."""
        return shown_rate(self.rate) if self.rate else ""

    def left_words(self) -> str:
        """Return how long the rest of the plan takes."""
        if self.state == "ended":
            return "nothing"
        if self.seconds_left is None:
            return ""
        return f"about {shown_time(self.seconds_left)}"

    def failed_words(self) -> str:
        """Return how many trials failed, and how."""
        if not self.failed:
            return "none"
        how = [f"{n:,} {name}" for name, n in self.states.items() if n and name != "ok"]
        return ", ".join(how)

    def idle_words(self) -> str:
        """Return when something came last."""
        if self.idle is None:
            return ""
        return "just now" if self.idle < 2 else f"{shown_time(self.idle)} ago"

    def forecast_words(self) -> str:
        """Return when what was asked for will be known, in a sentence or two."""
        if self.forecast is None or self.state == "waiting":
            return ""
        is_over = self.state == "ended"
        now = Now(self.done, self.rate, self.seconds_left, is_over)
        return self.forecast.words(now)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for machines, and the words for people."""
        return {
            "store": self.store,
            "state": self.state,
            "trouble": self.trouble,
            "done": self.done,
            "failed": self.failed,
            "planned": self.planned,
            "ahead": self.ahead,
            "rate": self.rate,
            "seconds left": self.seconds_left,
            "seconds since last news": self.idle,
            "reached": self.reached,
            "states": dict(self.states),
            "errors": [asdict(mishap) for mishap in self.mishaps],
            "other errors": self.other_mishaps,
            "tasks": [asdict(task) for task in self.tasks],
            "words": {
                "state": self.state_words(),
                "headline": self.headline(),
                "rate": self.rate_words(),
                "left": self.left_words(),
                "failed": self.failed_words(),
                "idle": self.idle_words(),
                "forecast": self.forecast_words(),
            },
        }
