"""A claim of speed: ours against a named peer, measured together."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Ratio:
    """What was measured and what must hold.

    `value` is ours divided by the peer (or whatever `unit` says); `bound` is what it must
    stay below, or above where `must` says so.
    """

    name: str
    value: float
    bound: float
    must: Literal["at least", "at most"]
    detail: str
    unit: str = "times"

    @property
    def holds(self) -> bool:
        """Whether the claim holds."""
        at_least = self.must == "at least"
        return self.value >= self.bound if at_least else self.value <= self.bound

    def __str__(self) -> str:
        verdict = "" if self.holds else "  MISSED"
        return (
            f"{self.name}: {self.value:.2f} {self.unit}, {self.must} {self.bound:g} "
            f"({self.detail}){verdict}"
        )


def typical_ratio(
    rounds: int, one: Callable[[], object], other: Callable[[], object]
) -> float:
    """Return the median of one's time over the other's, measured side by side.

    Where the two are close, the drift of a shared machine is larger than what is asked;
    two measurements in a row share it.
    """
    ratios = []
    for _ in range(rounds):
        times = best_of(1, other, one, warm=False)
        ratios.append(times[1] / times[0])
    return statistics.median(ratios)


def best_of(
    rounds: int, *calls: Callable[[], object], warm: bool = True
) -> list[float]:
    """Return each call's shortest time; the calls take turns, after a warm round."""
    for call in calls if warm else ():
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, own in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            own.append(time.perf_counter() - begin)
    return [min(own) for own in times]
