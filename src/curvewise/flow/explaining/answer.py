"""What trials can answer: one question after the other, in words."""

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from curvewise._answer import Answer, Provenance
from curvewise._text import Cell, Part, Table, joined
from curvewise.errors import unknown

Can: TypeAlias = Literal["yes", "in part", "no"]
_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and whether the trials can answer it.

    Parameters
    ----------
    analysis : str
        The function that answers it, such as ``"performance"`` or ``"plan.lines"``.
    question : str
        As people ask it.
    clause : str
        The same as a part of a sentence.
    can : {"yes", "in part", "no"}
        ``"in part"``: it is answered, but not for all that there is, or it says little.
    found : str
        From what it is answered; empty where it is not.
    why : str
        Why not, or why in part only; empty where it can be answered.
    strength : str
        How strong the answer can be.
    add : str
        What to add to the trials, so that it can be answered.
    command, python : str
        How to ask it, to be copied. A command cannot choose among the trials: where that
        is needed, there is a line of Python only.
    """

    analysis: str
    question: str
    clause: str
    can: Can
    found: str = ""
    why: str = ""
    strength: str = ""
    add: str = ""
    command: str = ""
    python: str = ""

    def row(self) -> dict[str, Cell]:
        """Return the question as one row of a table."""
        return {
            "question": self.question,
            "analysis": self.analysis,
            "can": self.can,
            "found": self.found,
            "why": self.why,
            "strength": self.strength,
            "add": self.add,
            "command": self.command,
            "python": self.python,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation(Answer):
    """The answer of `explain`: what the trials can and cannot answer.

    Parameters
    ----------
    subject : str
        What the trials are, in words.
    questions : tuple of Question
        In the order in which a reader would ask them.
    is_typed : bool
        Whether it is printed with commands, and not with lines of Python.
    provenance : Provenance
    design : str
        What replicates what, in one line.
    """

    subject: str
    questions: tuple[Question, ...]
    is_typed: bool
    provenance: Provenance
    design: str = ""

    def of(self, analysis: str) -> Question:
        """Return the question that an analysis answers, such as ``"performance"``."""
        for one in self.questions:
            if one.analysis == analysis:
                return one
        raise unknown("question", analysis, [one.analysis for one in self.questions])

    def those(self, can: Can) -> tuple[Question, ...]:
        """Return the questions that can be answered, in part, or not."""
        return tuple(one for one in self.questions if one.can == can)

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per question.

        ``can`` is "yes", "in part" or "no"; ``found`` is from what it is answered, ``why``
        what stands against it, ``strength`` how strong the answer can be, ``add`` what to
        add; ``command`` and ``python`` ask it.
        """
        return [one.row() for one in self.questions]

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""
        return [
            {
                "question": one.question,
                "can it be answered?": one.can,
                "from what, or why not": " ".join(
                    filter(None, [_sentence(one.found), one.why, one.strength])
                ),
                "what to add": one.add,
                "ask": self._ask(one),
            }
            for one in self.questions
        ]

    def _ask(self, one: Question) -> str:
        return one.command if self.is_typed and one.command else one.python

    def headline(self) -> str:
        """Return in one sentence what the trials can tell, and what they cannot."""
        verbs: dict[Can, str] = {
            "yes": "can tell",
            "in part": "can tell in part",
            "no": "cannot tell",
        }
        told = []
        for can, verb in verbs.items():
            if own := [one.clause for one in self.those(can)]:
                last = "or" if can == "no" else "and"
                told.append(f"{verb} {joined(own, last)}")
        return f"{self.subject} {f'; {self._they} '.join(told)}."

    def lacking(self) -> str:
        """Return in one sentence what the trials cannot tell, or in part only."""
        told = []
        if own := [one.clause for one in self.those("no")]:
            told.append(f"cannot tell {joined(own, 'or')}")
        if own := [one.clause for one in self.those("in part")]:
            told.append(f"can tell in part only {joined(own)}")
        return f"{self.subject} {f'; {self._they} '.join(told)}." if told else ""

    @property
    def _they(self) -> str:
        return "it" if self.subject.startswith("This ") else "they"

    def would_change(self) -> str:
        """Return what to add, for each question that they cannot answer."""
        return " ".join(
            f"To ask {one.clause}: {one.add}" for one in self.those("no") if one.add
        )

    def notes(self) -> list[str]:
        """Return what a reader must know to read it."""
        return [
            "in part: it is answered, but not for all that there is, or it says little. "
            "Whether trials are independent, and what their steps are, such numbers do not "
            "say: curvewise.check looks for what speaks against it."
        ]

    def to_json(self) -> str:
        """Return the questions, the design and provenance as JSON."""
        told = {"design": self.design, **json.loads(self._json())}
        return json.dumps(told, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        head = textwrap.fill(self.headline(), _WIDTH)
        design = textwrap.fill(f"Design: {self.design}.", _WIDTH) if self.design else ""
        meant = [textwrap.fill(line, _WIDTH) for line in self.cautions]
        parts = [
            *filter(None, [head, design, *meant]),
            *map(self._told, self.questions),
        ]
        return "\n\n".join([*parts, textwrap.fill(" ".join(self.notes()), _WIDTH)])

    __repr__ = __str__

    def _parts(self) -> Iterator[Part]:
        yield self.headline()
        if self.design:
            yield f"Design: {self.design}."
        yield Table(self.table(), "Which questions can these trials answer?")

    def _told(self, one: Question) -> str:
        lines = [f"{one.can}: {one.question}"]
        for name, text in (
            ("from", one.found),
            ("why", one.why),
            ("note", one.strength),
            ("add", one.add),
        ):
            if text:
                lines.append(_wrapped(name, text))
        if ask := self._ask(one):
            lines.append(f"  ask:   {ask}")  # on one line, to be copied
        return "\n".join(lines)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _wrapped(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=f"  {name}: ".ljust(9),
        subsequent_indent=" " * 9,
        break_on_hyphens=False,
    )
