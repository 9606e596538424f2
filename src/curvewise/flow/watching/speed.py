"""How fast trials come, and what that says about the run."""

from collections.abc import Callable

from curvewise.flow.pace import Pace
from curvewise.flow.watching.moment import State

_SURE = 3  # batches, and seconds, before anybody says how long it will take
_RECENT = 10.0  # seconds for which something that came says that a run is at it
_AGAIN = 3  # times as long as the last pause, and it is another pause
_USUALLY = 4  # times as long as usually passes between two arrivals


class Speed:
    """How fast trials come, by when a watcher has seen them.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._arrived = 0
        self._pace = Pace(0, clock())
        self._last: float | None = None  # when something came
        self._gap = 0.0  # before the pace was measured anew

    def begin(self, idle: float | None) -> None:
        """Begin to measure; something came last so many seconds ago, if that is known."""
        now = self._clock()
        self._pace = Pace(self._arrived, now)
        self._last = None if idle is None else now - idle

    def note(self, arrived: int, *, is_old: bool) -> None:
        """Note that so many have come, or were there before."""
        now = self._clock()
        self._arrived += arrived
        if is_old:
            return
        gap = self._pace.since(now)
        if self._pace.has_paused(now) and not gap < _AGAIN * self._gap:
            self._pace = Pace(self._arrived, now)
            self._gap = gap  # if the next is as long, trials simply take so long
        else:
            self._pace.note(self._arrived, now)
        self._last = now

    @property
    def idle(self) -> float | None:
        """Seconds since something came; None where nobody knows."""
        return None if self._last is None else max(0.0, self._clock() - self._last)

    @property
    def rate(self) -> float | None:
        """Trials per second of late; None before anything has come."""
        return self._pace.rate(self._clock()) if self._pace.batches else None

    @property
    def is_recent(self) -> bool:
        """Whether something was seen to come so lately that somebody must be at it."""
        return bool(self._pace.batches) and self.is_fresh

    @property
    def is_fresh(self) -> bool:
        """Whether something was written lately, or nobody knows when."""
        idle = self.idle
        return idle is None or idle < max(_RECENT, _USUALLY * self._pace.usual)

    def seconds_for(self, trials: int) -> float | None:
        """Return how long so many take at this rate; None while nobody knows."""
        now = self._clock()
        few = self._pace.batches < _SURE or now - self._pace.begin < _SURE
        rate = self.rate
        if few or not rate:
            return None
        return max(0.0, trials / rate - self._pace.since(now))


def state_of(
    *,
    is_there: bool,
    is_reading: bool,
    is_driven: bool | None,
    is_recent: bool,
    has_plan: bool,
    is_complete: bool,
) -> State:
    """Return what is going on.

    Parameters
    ----------
    is_there : bool
        Whether there is a store.
    is_reading : bool
        Whether it has more than was read so far.
    is_driven : bool or None
        Whether a run is filling it; None where nobody knows.
    is_recent : bool
        Whether something came lately.
    has_plan, is_complete : bool
        Whether it knows how many trials are to come, and whether all have.
    """
    if not is_there:
        return "waiting"
    if is_reading:
        return "reading"
    if is_complete and not is_driven:
        return "ended"
    if is_recent:
        return "running"
    if is_driven or (is_driven is None and has_plan):
        return "quiet"
    return "stopped" if has_plan else "idle"
