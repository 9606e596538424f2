"""How fast something goes of late."""

from collections import deque

WINDOW = 30.0  # seconds over which a rate is measured,
_LEAST = 50  # unless so few batches were finished in them
_LONG = 5  # times what usually passes between two batches: a pause, not a slow batch


class Pace:
    """Counts how many were done when, and says how many per second.

    Parameters
    ----------
    done : int
        How many were done before; they do not count as speed.
    now : float
        Seconds on any clock.

    Examples
    --------
    >>> pace = Pace(90, now=0.0)
    >>> for second in range(1, 5):
    ...     pace.note(90 + second, now=second)
    >>> pace.rate(now=4), pace.since(now=4.5), pace.batches
    (1.0, 0.5, 4)
    """

    def __init__(self, done: int, now: float) -> None:
        self._recent: deque[tuple[float, int]] = deque([(now, done)])
        self.begin = now
        self.batches = 0

    def note(self, done: int, now: float) -> None:
        """Note that so many are done by now."""
        self.batches += 1
        self._recent.append((now, done))
        while len(self._recent) > _LEAST and now - self._recent[0][0] > WINDOW:
            self._recent.popleft()

    def rate(self, now: float) -> float:
        """Return how many per second of late; it falls while nothing is done."""
        (begin, before), (end, after) = self._recent[0], self._recent[-1]
        span = (now if now - end > 2 * self.usual else end) - begin
        return (after - before) / span if span > 0 else 0.0

    def since(self, now: float) -> float:
        """Return how long ago the last were done."""
        return now - self._recent[-1][0]

    def has_paused(self, now: float) -> bool:
        """Return whether nothing was done for so long that this is another pace."""
        return self.since(now) > max(WINDOW, _LONG * self.usual)

    @property
    def usual(self) -> float:
        """Seconds between two batches, as it were."""
        return (self._recent[-1][0] - self._recent[0][0]) / len(self._recent)
