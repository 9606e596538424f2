"""Promises of an analysis on trial, and how often they were kept."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from curvewise.metrics import Floats
from curvewise.stats.interval import CurveBand, Interval, clopper_pearson
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed


class Settings(NamedTuple):
    """The settings that every analysis is tried with."""

    metric: str
    at: At
    failed: Failed
    confidence: float

    @property
    def level(self) -> float:
        """How often an answer may be wrong."""
        # 1 - 0.95 is not quite 0.05, which p is compared with.
        return round(1 - self.confidence, 12)


# --- Promises, and how often they were kept: counts, their intervals, and verdicts -----


class Seen(NamedTuple):
    """What one repetition showed of one promise.

    Parameters
    ----------
    what : str
        What was promised, in words.
    wrong, asked : int
        How many of the claims or intervals were wrong, of how many.
    apart : int
        How many of them had chance of their own: what was drawn together counts once.
    promised : float
        How often they may be wrong at most.
    silent : int
        How many said nothing at all, such as an interval without ends.
    is_warned : bool
        Whether the answer itself says that the promise may not hold here.
    """

    what: str
    wrong: int
    asked: int
    apart: int
    promised: float
    silent: int = 0
    is_warned: bool = False


class Subject(ABC):
    """An analysis, with what it `found` in the real trials.

    It `pairs` where it compares trials of one number with each other, if they met the same
    data; otherwise it takes all runs for independent. A `note` says in what it was tried in
    another way than usual.
    """

    __slots__ = ()
    name: ClassVar[str]
    pairs: ClassVar[bool] = False
    note: ClassVar[str] = ""
    found: Any

    @abstractmethod
    def ask(self, trials: Trials, seed: int) -> Any:
        """Return its answer about trials that are the real ones under other names."""

    @abstractmethod
    def ask_drawn(self, trials: Trials, seed: int) -> Any:
        """Return its answer about trials that were drawn."""

    @abstractmethod
    def claims(self, answer: Any) -> list[Seen]:
        """Return what an answer claims about algorithms of which none is better."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Trials:
        """Return trials drawn from what was found."""

    @abstractmethod
    def misses(self, answer: Any) -> list[Seen]:
        """Return which intervals of an answer miss what its trials were drawn from."""


def one_claim(what: str, is_claimed: bool, level: float, **more: Any) -> Seen:
    """Return a claim that may be wrong for all algorithms and tasks at once."""
    return Seen(what, int(is_claimed), 1, 1, level, **more)


def claims_by_task(what: str, claimed: list[bool], level: float, **more: Any) -> Seen:
    """Return claims that may be wrong on each task: deals of tasks are independent."""
    return Seen(what, sum(claimed), len(claimed), len(claimed), level, **more)


Kind: TypeAlias = Literal["shuffled", "simulated"]
Verdict: TypeAlias = Literal[
    "kept", "conservative", "as warned", "broken", "says nothing"
]
SURENESS = 0.99  # of the interval around each observed rate
_FAR = 0.5  # of what may go wrong: below, a promise is more than kept
_ROUNDING = 1e-9  # of a number that both sides computed


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of one analysis, and how often it was broken.

    Parameters
    ----------
    analysis : str
    kind : {"shuffled", "simulated"}
        Whether labels were shuffled, so that any claim is false, or trials were drawn from
        what was fitted, so that intervals have something to contain.
    what : str
        What was promised, in words.
    promised : float
        How often it may be wrong at most.
    wrong, asked : int
        How often it was, of how many.
    apart : int
        How many of those had chance of their own.
    refused : int
        In how many repetitions there was no answer.
    silent : int
        How many claims or intervals said nothing.
    is_warned : bool
        Whether the answer itself says that the promise may not hold here.
    """

    analysis: str
    kind: Kind
    what: str
    promised: float
    wrong: int = 0
    asked: int = 0
    apart: int = 0
    refused: int = 0
    silent: int = 0
    is_warned: bool = False

    @property
    def rate(self) -> float:
        """How often it was wrong."""
        return self.wrong / self.asked if self.asked else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Between what that rate lies with 99 % confidence (Clopper and Pearson)."""
        return clopper_pearson(self.rate * self.apart, self.apart, 1 - SURENESS)

    @property
    def shown(self) -> tuple[float, float, float, float]:
        """What was promised and observed, and its ends: errors, or intervals that held."""
        low, high = self.interval
        if self.kind == "shuffled":
            return self.promised, self.rate, low, high
        return 1 - self.promised, 1 - self.rate, 1 - high, 1 - low

    @property
    def verdict(self) -> Verdict:
        """Whether the promise was kept.

        *broken* where even the lower end of how often it was wrong is more than promised;
        *as warned* where the answer itself says that this may be so; *conservative* where
        it was wrong surely less often than it may be, and at most half as often.
        """
        low, high = self.interval
        if 2 * self.silent > self.asked:
            return "says nothing"
        if low > self.promised:
            return "as warned" if self.is_warned else "broken"
        if high < self.promised and self.rate <= _FAR * self.promised:
            return "conservative"
        return "kept"


def begun(analysis: str, kind: Kind, seen: Iterable[Seen]) -> list[Check]:
    """Return the checks that an answer can be asked for, with nothing counted yet."""
    return [
        Check(analysis, kind, one.what, one.promised, is_warned=one.is_warned)
        for one in seen
    ]


def counted(checks: Sequence[Check], seen: Sequence[Seen]) -> list[Check]:
    """Return checks with one more repetition; what came in another order finds its own."""
    by_name = {one.what: one for one in seen}
    return [_more(check, by_name.get(check.what)) for check in checks]


def _more(check: Check, one: Seen | None) -> Check:
    if one is None:  # an answer that did not speak of it
        return replace(check, refused=check.refused + 1)
    return replace(
        check,
        wrong=check.wrong + one.wrong,
        asked=check.asked + one.asked,
        apart=check.apart + one.apart,
        silent=check.silent + one.silent,
    )


def refused(
    checks: Sequence[Check], usual: Sequence[Seen], *, is_wrong: bool
) -> list[Check]:
    """Return checks with one more repetition in which there was no answer at all.

    No claim is no false claim; an interval that is not there contains nothing.
    """
    lost = [one._replace(wrong=one.asked if is_wrong else 0, silent=0) for one in usual]
    return [
        replace(check, refused=check.refused + 1) for check in counted(checks, lost)
    ]


def misses(
    what: str,
    held: Sequence[bool | None],
    promised: float,
    *,
    apart: int,
    is_warned: bool = False,
) -> Seen:
    """Return how many of some intervals missed; None stands for one that says nothing."""
    wrong = sum(one is False for one in held)
    silent = sum(one is None for one in held)
    return Seen(what, wrong, len(held), apart, promised, silent, is_warned)


def misses_by_task(
    told: Iterable[tuple[str, Sequence[bool | None]]], promised: float, tasks: int
) -> list[Seen]:
    """Return how many intervals of each kind missed; those of a task hang together."""
    return [
        misses(what, held, promised, apart=min(tasks, len(held))) for what, held in told
    ]


def together(held: Iterable[bool | None]) -> bool | None:
    """Return whether all hold at once; None where all of them say nothing.

    >>> together([True, None]), together([True, False]), together([None, None])
    (True, False, None)
    """
    every = list(held)
    if every and all(one is None for one in every):
        return None
    return all(one is not False for one in every)


def holds(interval: Interval, truth: float) -> bool | None:
    """Return whether an interval contains a number; None where it has no ends.

    >>> holds(Interval(0, 1, "", ""), 0.5), holds(Interval(0, 1, "", ""), 2)
    (True, False)
    >>> print(holds(Interval(-math.inf, math.inf, "", ""), 2))
    None
    """
    low, high = interval.lower, interval.upper
    if math.isnan(low) or math.isnan(high):
        return False
    if low == -math.inf and high == math.inf:
        return None
    slack = _ROUNDING * max(1.0, abs(truth))
    return low - slack <= truth <= high + slack


def band_holds(band: CurveBand, truth: Floats) -> bool | None:
    """Return whether a curve lies in a band everywhere; None where there is no band."""
    if np.isnan(band.lower).all() and np.isnan(band.upper).all():
        return None
    slack = _ROUNDING * np.maximum(1.0, np.abs(truth))
    inside = (band.lower - slack <= truth) & (truth <= band.upper + slack)
    return bool(inside.all())


def leaves_out(interval: Interval | None, value: float = 0.0) -> bool:
    """Return whether an interval claims that a number is not this one."""
    if interval is None or math.isnan(interval.lower) or math.isnan(interval.upper):
        return False
    return not interval.lower <= value <= interval.upper
