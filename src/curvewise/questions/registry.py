"""Every question that trials can be asked, in the order in which a page shows them.

A question is the folder of its name beside this file, and one entry below. `explain`, the
page, `audit` and the command line go through the entries, and take what a folder has for
them from its modules:

- `section.NEEDS`: what the question needs of trials, for `explain`;
- `section.sections`: its sections of the page;
- `audit.subject`: how its promises are put on trial;
- `command`: its command, a function of the command's name.

Nothing is imported before it is asked for: the list of commands loads no statistics.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

Part: TypeAlias = Literal["needs", "section", "audit"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and which of the others its folder has something for.

    Parameters
    ----------
    name : str
        Of its folder.
    asks : str
        What it asks, as the list of commands says it.
    command : str
        The name of its command; empty where it has none.
    parts : tuple of {"needs", "section", "audit"}
    """

    name: str
    asks: str
    command: str = ""
    parts: tuple[Part, ...] = ()

    def part(self, module: str, name: str) -> Any:
        """Return what a module of the folder defines."""
        return getattr(import_module(f"{__package__}.{self.name}.{module}"), name)


QUESTIONS = (
    Question(
        "performance",
        "How good is it, and how hard to tune?",
        "performance",
        ("needs", "section", "audit"),
    ),
    Question(
        "robustness",
        "Is it easy to tune, and what does tuning gain?",
        "robustness",
        ("needs", "section", "audit"),
    ),
    Question(
        "difference",
        "Do these learning curves differ, and where?",
        "difference",
        ("needs", "section", "audit"),
    ),
    Question(
        "learning",
        "How does error fall with data, and what would more data buy?",
        "learning",
        ("needs", "section", "audit"),
    ),
    Question(
        "confusion",
        "How do precision, recall and F1 move with data?",
        "confusion",
        ("needs", "section", "audit"),
    ),
    Question(
        "variance",
        "Where does the spread of scores come from?",
        parts=("needs", "section"),
    ),
    Question(
        "versions",
        "Is the new version of an algorithm worse?",
        "compare-versions",
    ),
    Question("plan", "How many trials are enough?", "plan", ("needs", "section")),
    Question("slices", "What is at a percentile of the scores?"),
)


def with_part(part: Part) -> Iterator[Question]:
    """Return the questions whose folder has something for one of the others."""
    return (question for question in QUESTIONS if part in question.parts)
