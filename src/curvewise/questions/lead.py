"""Who is ahead of whom, and how surely: what headlines, verdicts and pages are made of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from curvewise.metrics import Metric
from curvewise.questions.sentences import some
from curvewise.text import joined

Surety: TypeAlias = Literal["sure", "probable", "open"]
Standing: TypeAlias = Literal["alone", "level", "sure", "probable", "open"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about two algorithms: who is ahead of whom, and how surely.

    Where that is open, they stand in the order of their pair.
    """

    task: str
    ahead: str
    behind: str
    surety: Surety

    @classmethod
    def of(
        cls,
        task: str,
        pair: tuple[str, str],
        ahead: str | None,
        surety: Surety = "sure",
    ) -> "Finding":
        """Return who of a pair is ahead; None where nobody can tell."""
        if ahead is None:
            return cls(task, *pair, "open")
        one, other = pair
        return cls(task, ahead, other if ahead == one else one, surety)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Who is in front on a task, and from which rivals that one is told apart.

    Parameters
    ----------
    task : str
        Empty for all tasks on the whole.
    leader : str
    sure, probable, open : tuple of str
        Rivals that the leader is ahead of; probably; not as far as anybody can tell.
    level : tuple of str
        Those that score just as well.
    """

    task: str
    leader: str
    sure: tuple[str, ...] = ()
    probable: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    level: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        leader: str,
        findings: Iterable[Finding],
        task: str = "",
        level: Sequence[str] = (),
    ) -> "Lead":
        """Return how an algorithm stands, its rivals in the order of the findings."""
        rivals: dict[Surety, list[str]] = {"sure": [], "probable": [], "open": []}
        for one in findings:
            if one.ahead == leader:
                rivals[one.surety].append(one.behind)
            elif one.behind == leader:
                rivals["open"].append(one.ahead)
        return cls(
            task=task,
            leader=leader,
            sure=tuple(rivals["sure"]),
            probable=tuple(rivals["probable"]),
            open=tuple(rivals["open"]),
            level=tuple(level),
        )

    @property
    def ahead_of(self) -> tuple[str, ...]:
        """Rivals that the leader is ahead of, surely or probably."""
        return *self.sure, *self.probable

    @property
    def standing(self) -> Standing:
        """Whether there is a winner, and how sure that is."""
        rivals = len(self.ahead_of) + len(self.open)
        if rivals == 0:
            return "alone"
        if len(self.level) == rivals:
            return "level"
        if self.open:
            return "open"
        return "probable" if self.probable else "sure"

    def whom(self, names: Mapping[str, str]) -> str:
        """Return whom the leader is ahead of, where that is everybody.

        >>> Lead(task="", leader="a", sure=("b", "c")).whom({})
        'both others'
        """
        rivals = self.ahead_of
        if len(rivals) == 1:
            return names[rivals[0]]
        return "both others" if len(rivals) == 2 else f"all {len(rivals)} others"

    def not_from(self, names: Mapping[str, str]) -> str:
        """Return from whom the leader is not told apart, and from whom it is.

        >>> lead = Lead(task="", leader="a", open=("b",), sure=("c",), probable=("d",))
        >>> lead.not_from({name: name for name in "bcd"})
        'cannot be told apart yet from b, only from c and probably from d'
        """
        clause = f"cannot be told apart yet from {some([names[n] for n in self.open])}"
        groups = (("from", self.sure), ("probably from", self.probable))
        parts = [
            f"{word} {some([names[n] for n in who])}" for word, who in groups if who
        ]
        return f"{clause}, only {joined(parts)}" if parts else clause


def lead_on(
    task: str, scores: Mapping[str, float], findings: Iterable[Finding]
) -> Lead:
    """Return who has the highest score on a task, and what was found about that one."""
    leader = max(scores, key=scores.__getitem__)
    level = [n for n in scores if scores[n] == scores[leader] and n != leader]
    return Lead.of(leader, findings, task, level)


def sign_of(metric: Metric) -> int:
    """Return -1 where lower is ahead, else 1: where nobody knows, more is."""
    return 1 if metric.direction is None else metric.sign


def ranked(scores: Mapping[str, float]) -> tuple[str, ...]:
    """Return names by their scores, the highest first.

    >>> ranked({"a": 0.1, "b": 0.3, "c": 0.1})
    ('b', 'a', 'c')
    """
    return tuple(sorted(scores, key=lambda name: -scores[name]))
