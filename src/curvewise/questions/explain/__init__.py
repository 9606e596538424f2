"""What can these trials answer, and what can they not? Every question, asked of them."""

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from curvewise.answer import Answer, Provenance
from curvewise.errors import Blocked, CurvewiseError, Message, unknown
from curvewise.metrics import Metric
from curvewise.questions.needs import Can, Prospect, Request, subject
from curvewise.questions.registry import with_part
from curvewise.review.check import gate
from curvewise.review.finding import SCORES, Concern
from curvewise.store.address import shown_store
from curvewise.text import Cell, Piece, Table, joined
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import scored

_SOME_FILE = "results.csv"
_ALL_THE_SAME = Message("Pass ", {"anyway": True}, " to see it all the same.")


# --- What trials can answer: one question after the other, in words --------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation(Answer):
    """The answer of `explain`: what the trials can and cannot answer.

    Parameters
    ----------
    subject : str
        What the trials are, in words.
    questions : tuple of Prospect
        In the order in which a reader would ask them.
    is_typed : bool
        Whether it is printed with commands, and not with lines of Python.
    provenance : Provenance
    design : str
        What replicates what, in one line.
    """

    subject: str
    questions: tuple[Prospect, ...]
    is_typed: bool
    provenance: Provenance
    design: str = ""

    def of(self, analysis: str) -> Prospect:
        """Return the question that an analysis answers, such as ``"performance"``."""
        for one in self.questions:
            if one.analysis == analysis:
                return one
        raise unknown("question", analysis, [one.analysis for one in self.questions])

    def those(self, can: Can) -> tuple[Prospect, ...]:
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

    def _ask(self, one: Prospect) -> str:
        return one.command if self.is_typed and one.command else one.python

    def headline(self) -> str:
        """Return in one sentence what the trials can tell, and what they cannot."""
        verbs: dict[Can, str] = {
            "yes": "can tell",
            "in part": "can tell in part",
            "no": "cannot tell",
        }
        parts = []
        for can, verb in verbs.items():
            if clauses := [one.clause for one in self.those(can)]:
                last = "or" if can == "no" else "and"
                parts.append(f"{verb} {joined(clauses, last)}")
        return f"{self.subject} {f'; {self._they} '.join(parts)}."

    def lacking(self) -> str:
        """Return in one sentence what the trials cannot tell, or in part only."""
        parts = []
        if clauses := [one.clause for one in self.those("no")]:
            parts.append(f"cannot tell {joined(clauses, 'or')}")
        if clauses := [one.clause for one in self.those("in part")]:
            parts.append(f"can tell in part only {joined(clauses)}")
        return f"{self.subject} {f'; {self._they} '.join(parts)}." if parts else ""

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
        content = {"design": self.design, **json.loads(Answer.to_json(self))}
        return json.dumps(content, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        head = textwrap.fill(self.headline(), _WIDTH)
        design = textwrap.fill(f"Design: {self.design}.", _WIDTH) if self.design else ""
        meant = [textwrap.fill(line, _WIDTH) for line in self.cautions]
        parts = [
            *filter(None, [head, design, *meant]),
            *map(self._told, self.questions),
        ]
        return "\n\n".join([*parts, textwrap.fill(" ".join(self.notes()), _WIDTH)])

    def _parts(self) -> Iterator[Piece]:
        yield self.headline()
        if self.design:
            yield f"Design: {self.design}."
        yield Table(self.table(), "Which questions can these trials answer?")

    def _told(self, one: Prospect) -> str:
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


def explain(
    trials: Trials,
    metric: str | None = None,
    *,
    source: str | Path | Sequence[str] = "",
    anyway: bool = False,
) -> Explanation:
    """Return which questions these trials can answer, which they cannot, and why.

    Parameters
    ----------
    trials : Trials
    metric : str, optional
        The score to judge by. If left out, each question takes the first that will do.
    source : str, Path or sequence of str, optional
        Where the trials were read from, so that commands are printed to be copied, and not
        lines of Python; with the options that it took to read them, a list of words.
    anyway : bool
        Whether questions count as answered in spite of what `curvewise.check` objects to.

    Returns
    -------
    Explanation
        One row per question: whether it can be answered, from what or why not, how strong
        the answer can be, what to add, and the line that asks it.

    See Also
    --------
    curvewise.check : What a careful reviewer would object to.

    Notes
    -----
    Nothing is estimated here. Every question is begun as its analysis begins it, with the
    same functions; where that raises, what it says is the reason. Whether steps are
    epochs or sizes of training sets, nobody has told: sizes are those of which most are a
    fifth larger than the one before.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.explain(cw.example("search"))
    >>> [(one.analysis, one.can) for one in answer.questions][:3]
    [('performance', 'yes'), ('robustness', 'no'), ('difference', 'no')]
    >>> answer.of("performance").python
    'cw.performance(trials, "accuracy", failed="worst")'
    """
    must_be_trials(trials)
    if len(trials) == 0:
        raise CurvewiseError("There are no trials to explain. Check what was read.")
    scores = scored(trials) if metric is None else [trials.metric(metric).name]
    # What can be judged by comes first; of the others it is asked which way is better.
    metrics = tuple(sorted(scores, key=lambda n: _unknown(trials.metric(n))))
    words = _words(source, trials)
    request = Request(trials, metrics, words)
    who = f"These {subject(trials)}" if len(trials) > 1 else "This one trial"
    return Explanation(
        who,
        tuple(
            prospect(request) if anyway else _guarded(request, prospect, concern)
            for each in with_part("needs")
            for prospect, concern in each.part("section", "NEEDS").items()
        ),
        bool(source),
        Provenance.of(
            trials,
            "explain",
            {"metric": metric},
            cautions=[
                line for n in metrics[:1] if (line := trials.metric(n).assumption)
            ],
        ),
        str(trials.design),
    )


def _unknown(metric: Metric) -> int:
    """Return how little is known of which way is better, to sort by."""
    return (metric.direction is None) + (not metric.is_directed)


def _guarded(
    request: Request, prospect: Callable[[Request], Prospect], concern: Concern
) -> Prospect:
    """Return a prospect by the metrics that `check` lets pass, if there are any."""
    problems: dict[str | None, Blocked] = {}
    for metric in request.metrics if concern in SCORES else (None,):
        try:
            gate(request.trials, concern, metric=metric)
        except Blocked as problem:
            problems[metric] = problem
    free = tuple(metric for metric in request.metrics if metric not in problems)
    if not problems or (free and None not in problems):
        return prospect(replace(request, metrics=free))
    usual = prospect(request)
    if usual.can == "no" or not usual.found:
        return (
            usual  # for a reason that nothing gets past, or not told from these trials
        )
    first = next(iter(problems.values()))
    remedies = [fix for fix in first.fixes if "anyway" not in fix]
    is_final = len(remedies) == len(first.fixes)  # no answer whatever is said
    return replace(
        usual,
        can="no",
        found="",
        strength="",
        why=first.text if is_final else Message(first.text, " ", _ALL_THE_SAME),
        add=_read_again(remedies),
        command="" if is_final else usual.command and f"{usual.command} --anyway",
        python="" if is_final else f"{usual.python.removesuffix(')')}, anyway=True)",
    )


def _read_again(fixes: Sequence[Mapping[str, Any]]) -> str:
    if not fixes:
        return ""
    first, *more = fixes
    rest = (part for fix in more for part in (" or ", fix))
    return Message("Read the results with ", first, *rest, ".")


def _words(source: str | Path | Sequence[str], trials: Trials) -> tuple[str, ...]:
    """Return the source as it is typed; if nobody said, the file that was read."""
    if not source:
        name = trials.origin.partition(": ")[0]
        return (name if Path(name).suffix or "://" in name else _SOME_FILE,)
    first, *more = [str(source)] if isinstance(source, str | Path) else source
    return (shown_store(first), *more)


_WIDTH = 88


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
