"""How far a run is at one moment, and when what was asked for will be known."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias

from curvewise.errors import CurvewiseError
from curvewise.flow.progress import shown_rate, shown_time
from curvewise.flow.until import Until
from curvewise.flow.until.looks import Samples, rounded_down, rounded_up
from curvewise.flow.until.stopping import needed_trials
from curvewise.metrics import Metric
from curvewise.questions.sampling import Sample
from curvewise.stats.bands import half_width
from curvewise.stats.planning import planned_looks
from curvewise.store.locks import Cell
from curvewise.store.news import Mishap
from curvewise.text import count, percent

_PILOT = 5_000  # trials of a cell that say how much they vary: more would tell the same
_AT_ONCE = 3_000_000  # trials that are looked at for one forecast


class Forecast(Protocol):
    """When what was asked for will be known."""

    def words(self, now: "Moment") -> str:
        """Return it in words, as things are now."""


@dataclass(frozen=True, slots=True)
class Unknowable:
    """Nobody can tell when what was asked for will be known, and why."""

    until: str
    why: str

    def words(self, now: "Moment") -> str:  # noqa: ARG002
        """Return why."""
        return f"Asked: {self.until}. {self.why}"


@dataclass(frozen=True, slots=True)
class BandForecast:
    """How wide the bands will be at the plan's end, where no precision was asked."""

    fewest: int
    planned: int

    def words(self, now: "Moment") -> str:
        """Return how wide the bands will be, and when."""
        width = self._width(self.fewest)
        if now.state == "ended" or self.fewest >= self.planned:
            return (
                f"Each band is at most ± {width} of the trials wide." if width else ""
            )
        if not (end := self._width(self.planned)):
            return ""  # a handful of trials, of which no band says anything
        then = f"At the plan's end each band is at most ± {end} of the trials wide"
        then += f" (now ± {width})" if width else ""
        if now.seconds_left is None:
            return f"{then}."
        return f"{then}: in about {shown_time(now.seconds_left)}, at this rate."

    @staticmethod
    def _width(n: int) -> str:
        width = half_width(n, kind="anytime") if n else 1.0
        return percent(float(f"{width:.2g}")) if width < 1 else ""


@dataclass(frozen=True, slots=True)
class PrecisionForecast:
    """When a precision or a ranking that was asked for will probably be reached."""

    until: str
    now: str
    is_enough: bool
    needed: int | None
    look: int | None
    planned: int | None
    left: int | None
    done: int
    missing: int

    def words(self, now: "Moment") -> str:
        """Return when it will be known, as an estimate."""
        head = f"Asked: {self.until}; now {self.now}. "
        some = " (of the cells that have trials)" if self.missing else ""
        if self.is_enough:
            if now.state == "ended" or not self.left:
                return f"{head}That is enough{some}."
            return f"{head}That is enough{some}; {self._when(now)}."
        if self.needed is None:
            return f"{head}Too early to say how many trials it takes{some}."
        enough = f"About {self.needed:,} trials of each would probably do{some}"
        if self.planned is not None and self.needed > self.planned:
            return f"{head}{enough}, and {self.planned:,} are planned."
        if now.state == "ended":
            return f"{head}{enough}."
        return f"{head}{enough}; {self._when(now)}, if trials keep varying as they do."

    def _when(self, now: "Moment") -> str:
        at = "" if self.look is None else f"the run looks at {self.look:,} of each"
        if not now.rate or self.left is None:
            return at or "nobody knows how fast it goes"
        left = max(0, self.left - (now.done - self.done))
        within = f"in about {shown_time(left / now.rate)}"
        return f"{at}, {within}" if at else within


# --- what is asked, with all that an answer needs ----------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Inquiry:
    """What was asked for, and the scores so far: all that a forecast is made from."""

    until: Until
    metric: Metric
    samples: Samples
    cells: Sequence[Cell]
    done: Mapping[Cell, int]
    planned: int | None
    is_of_run: bool = False
    before: int = 0


def forecast(inquiry: Inquiry) -> Forecast:
    """Return when what was asked for will be known; it takes a while for many cells."""
    try:
        return _forecast(inquiry)
    except CurvewiseError as problem:
        return Unknowable(str(inquiry.until), f"Nobody can tell when: {problem}")


def _forecast(inquiry: Inquiry) -> PrecisionForecast:
    until, metric = inquiry.until, inquiry.metric
    sizes: list[int] = []
    budget = until.budget()
    if inquiry.is_of_run and inquiry.planned:
        sizes = planned_looks(inquiry.planned)
        budget = until.budget(len(sizes), inquiry.before)
    missing = len(inquiry.cells) - len(inquiry.samples)
    samples = _shortened(inquiry.samples)
    look = until.look(samples, metric, budget)
    fewest = min(inquiry.done.get(cell, 0) for cell in inquiry.cells)
    needed = None
    if look.is_enough:
        needed = fewest
    else:
        pilots = {cell: _first(sample, _PILOT) for cell, sample in samples.items()}
        needed = needed_trials(until.question(metric), look, pilots, budget)
    at = next((size for size in sizes if needed is not None and size >= needed), None)
    return PrecisionForecast(
        until=str(until),
        now=str(look),
        is_enough=look.is_enough and not missing,
        needed=None if needed is None else rounded_up(needed),
        look=at,
        planned=inquiry.planned,
        left=_left(inquiry, at or needed),
        done=sum(inquiry.done.values()),
        missing=missing,
    )


def _left(inquiry: Inquiry, size: int | None) -> int | None:
    """Return how many trials are missing until each cell has so many."""
    if size is None:
        return None
    return sum(max(0, size - inquiry.done.get(cell, 0)) for cell in inquiry.cells)


def _shortened(samples: Samples) -> dict[Cell, Sample]:
    """Return as many trials of each cell, a round number: one band serves them all."""
    fewest = min(len(sample.scores) for sample in samples.values())
    most = max(_AT_ONCE // len(samples), 100)
    return {
        cell: _first(sample, rounded_down(min(fewest, most)))
        for cell, sample in samples.items()
    }


def _first(sample: Sample, n: int) -> Sample:
    if len(sample.scores) <= n:
        return sample
    return replace(sample, scores=sample.scores[:n], numbers=sample.numbers[:n])


# --- How far a run is at one moment, in numbers and in words ---------------------------


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
    """How far one task is."""

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
        return self.forecast.words(self)

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
