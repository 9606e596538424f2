"""What an audit needs of an analysis: how to ask it, what it claims, what to draw."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from curvewise.analyses._audit.checks import Seen
from curvewise.trials import Trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed


class Asked(NamedTuple):
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


class Subject(ABC):
    """An analysis, with what it `found` in the real trials.

    It `pairs` where it compares trials of one number with each other, if they met the same
    data; otherwise it takes all runs for independent.
    """

    __slots__ = ()
    name: ClassVar[str]
    pairs: ClassVar[bool] = False
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
