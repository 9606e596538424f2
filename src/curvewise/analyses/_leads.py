"""Who is in front on each task by the scores, and from whom that one is told apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from curvewise._text import Cell
from curvewise.analyses._contrasts import Contrast
from curvewise.analyses._distribution import Distribution
from curvewise.analyses._saying import share_of_trials
from curvewise.analyses._tables import interval_cell

if TYPE_CHECKING:
    from curvewise.analyses.performance import Performance

Standing: TypeAlias = Literal["alone", "level", "sure", "probable", "open"]


@dataclass(frozen=True, slots=True, eq=False)
class Lead:
    """Who is in front on a task, and from whom that one can be told apart.

    Parameters
    ----------
    task : str
    leader : Distribution
        The one with the best mean over the best ``1 - alpha`` of its trials.
    level : tuple of str
        Those that score just as well.
    sure, probable, open : tuple of str
        Rivals that the leader is told apart from; probably; not yet.
    """

    task: str
    leader: Distribution
    level: tuple[str, ...]
    sure: tuple[str, ...]
    probable: tuple[str, ...]
    open: tuple[str, ...]

    @property
    def standing(self) -> Standing:
        """Whether there is a winner, and how sure that is."""
        rivals = len(self.sure) + len(self.probable) + len(self.open)
        if rivals == 0:
            return "alone"
        if len(self.level) == rivals:
            return "level"
        if self.open:
            return "open"
        return "probable" if self.probable else "sure"


def leads(answer: "Performance") -> tuple[Lead, ...]:
    """Return who is in front on each task."""
    pairs: dict[tuple[str, frozenset[str]], Contrast] = {
        (c.task, frozenset((c.one, c.other))): c for c in answer.contrasts
    }
    by_task: dict[str, list[Distribution]] = {}
    for d in answer.distributions:
        by_task.setdefault(d.task, []).append(d)
    return tuple(
        _lead(task, own, pairs, own[0].metric.sign) for task, own in by_task.items()
    )


def _lead(
    task: str,
    own: Sequence[Distribution],
    pairs: Mapping[tuple[str, frozenset[str]], Contrast],
    up: int,
) -> Lead:
    first = max(own, key=lambda d: up * d.best_interval.value)
    found: dict[str, list[str]] = {"sure": [], "probable": [], "open": []}
    for d in own:
        if d is not first:
            told = pairs[task, frozenset((first.algorithm, d.algorithm))]
            found[_told(told, first.algorithm)].append(d.algorithm)
    top = first.best_interval.value
    level = [
        d.algorithm for d in own if d.best_interval.value == top and d is not first
    ]
    return Lead(task, first, tuple(level), *(tuple(f) for f in found.values()))


def _told(c: Contrast, leader: str) -> str:
    if c.ahead == leader:
        return "sure"
    return "probable" if c.probably_ahead == leader else "open"


def lead_table(answer: "Performance") -> list[dict[str, Cell]]:
    """Return who is in front on each task, with headings for people."""
    best = share_of_trials(answer.alpha).removesuffix(" of its trials")
    return [
        {
            "task": one.task,
            "in front": one.leader.algorithm,
            best: interval_cell(one.leader.best_interval),
            "told apart from": len(one.sure),
            "probably from": len(one.probable),
            "not yet from": len(one.open),
        }
        for one in leads(answer)
    ]
