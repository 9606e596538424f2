"""What a question needs: how it is tried, of which trials, and in which words."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, Message, listed
from curvewise.questions.sampling import refuse_crossed
from curvewise.review.finding import Concern
from curvewise.stats.bands import half_width
from curvewise.stats.planning import trials_for_band
from curvewise.text import Cell, count, step
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed, tasks_measured

Can: TypeAlias = Literal["yes", "in part", "no"]


@dataclass(frozen=True, slots=True)
class Prospect:
    """What is to be expected of a question: whether the trials can answer it.

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


@dataclass(frozen=True, slots=True)
class Topic:
    """What people may ask of trials, and the analysis that answers it.

    Parameters
    ----------
    analysis, question, clause : str
        As in `Prospect`.
    """

    analysis: str
    question: str
    clause: str

    def unanswered(self, why: str = "", **more: str) -> Prospect:
        """Return that it is not answered, and why."""
        return Prospect(
            self.analysis, self.question, self.clause, "no", why=why, **more
        )

    def answered(self, found: str, *, why: str, **more: str) -> Prospect:
        """Return from what it is answered: in part, where something stands against it."""
        can: Can = "in part" if why else "yes"
        return Prospect(
            self.analysis, self.question, self.clause, can, found=found, why=why, **more
        )


_INDEPENDENT = Message(
    "Run independent trials: an Experiment without ", Keyword("cross"), "."
)

Probe: TypeAlias = Callable[[Trials, str, Failed], None]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is asked of every question.

    Parameters
    ----------
    trials : Trials
    metrics : tuple of str
        The scores to judge by; the first one that will do is used.
    words : tuple of str
        The source as it is typed after a command.
    """

    trials: Trials
    metrics: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """The trials, the metric and the score of a failure with which a question goes.

    Parameters
    ----------
    trials : Trials
        Some of the trials, or all.
    metric : str
    failed : {"raise", "worst"}
    problem : str
        Why others were left out; empty where none were.
    """

    trials: Trials
    metric: str
    failed: Failed
    problem: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """What to say about failures: nothing where there are none."""
        return {} if self.failed == "raise" else {"failed": self.failed}


def settled(
    request: Request,
    probe: Probe,
    *parts: Trials,
    is_directed: bool = True,
    by_task: bool = False,
) -> Settled | str:
    """Return how a question can be put, or in words why it cannot.

    What cannot be asked of all trials is asked of parts of them, and then of the tasks
    for which it can be.
    """

    def tried(part: Trials, metric: str, failed: Failed) -> None:
        meant = part.metric(metric)
        if is_directed and not (by_task and meant.is_directed):
            _ = meant.known_direction  # or it is asked for
        probe(part, metric, failed)

    whole = parts or (request.trials,)
    first = ""
    for part in whole:
        for metric in request.metrics:
            problem, failed = _tried(part, metric, tried)
            if problem is None:
                return Settled(_measured(part, metric), metric, failed)
            first = first or problem
    part = whole[-1]
    for metric in request.metrics if len(part.tasks) > 1 else ():
        each = {task: part.where(task=task) for task in tasks_measured(part, metric)}
        outcomes = {task: _tried(one, metric, tried) for task, one in each.items()}
        good = [task for task, (problem, _) in outcomes.items() if problem is None]
        if good:
            worst: Failed = "worst"
            is_worst = any(outcomes[task][1] == worst for task in good)
            failed = worst if is_worst else "raise"
            problem = next((text for text, _ in outcomes.values() if text), "")
            if not problem:  # each is well by itself: directions differ
                good, problem = good[:1], first
            return Settled(part.where(task=good), metric, failed, problem)
    return first or Message(
        "There are no scores in these trials. Read them with ", {"metrics": ...}, "."
    )


def _measured(trials: Trials, metric: str) -> Trials:
    here = tasks_measured(trials, metric)
    return trials if here == trials.tasks else trials.where(task=here)


def _tried(part: Trials, metric: str, probe: Probe) -> tuple[str | None, Failed]:
    """Return what stands against it, and what a failure has to score."""
    problem: str = "There are no such trials."
    failures: tuple[Failed, ...] = ("raise", "worst")
    for failed in failures if len(part) else ():
        try:
            probe(part, metric, failed)
        except CurvewiseError as refusal:
            problem = refusal.message
        else:
            return None, failed
    return problem, "raise"


# How to tell what is to be expected, and what `check` may object to.
Needs: TypeAlias = Mapping[Callable[[Request], Prospect], Concern]


# --- in words ----------------------------------------------------------------------------


def basis(settled: Settled, at: At = "last") -> str:
    """Return from what a question is answered."""
    part = settled.trials
    metric = part.metric(settled.metric)
    when = "" if isinstance(at, str) else f" at step {step(at)}"
    failed = part.count_failed(settled.metric)
    lost = "" if not failed else f"; {failed:,} failed, and score the worst"
    return f"{subject(part)}{when}, {metric.label}{lost}"


def subject(trials: Trials) -> str:
    """Return what trials are, in words.

    >>> from curvewise.trials import Trial
    >>> subject(Trials([Trial("t", "a", 0, {"loss": 1.0})]))
    '1 trial of 1 algorithm on 1 task'
    """
    return (
        f"{count(len(trials), 'trial')} of {count(len(trials.algorithms), 'algorithm')} "
        f"on {count(len(trials.tasks), 'task')}"
    )


def others(request: Request, metric: str) -> str:
    """Return which metrics the same can be asked about."""
    rest = [name for name in request.metrics if name != metric]
    return f"It can be asked about {listed(rest, 4)}, too." if rest else ""


def in_part(settled: Settled, request: Request, what: str = "") -> str:
    """Return what was left out, and why; empty where nothing was."""
    missing = [t for t in request.trials.tasks if t not in settled.trials.tasks]
    lost = f"Not on {listed(missing, 4)}." if missing else ""
    return sentences(lost, settled.problem or what)


def fewest(trials: Trials) -> int:
    """Return how many independent trials the algorithm with the fewest has on a task."""
    if trials.design.unit == "cluster":
        return trials.design.units[0]
    core = trials.core
    cell = core.task.astype(np.int64) * len(trials.algorithms) + core.algorithm
    return int(np.unique(cell, return_counts=True)[1].min())


# --- to be copied ------------------------------------------------------------------------


def command(request: Request, name: str, options: Mapping[str, Any]) -> str:
    """Return a command with the source and its options, quoted for a shell."""
    words = ["curvewise", name, *request.words]
    for option, value in options.items():
        words += [f"--{option.replace('_', '-')}", _typed(value)]
    return shlex.join(words)


def _typed(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def python(function: str, *first: str, **options: Any) -> str:
    """Return a line of Python that calls a function of `curvewise as cw`.

    >>> python("performance", "trials", failed="worst")
    'cw.performance(trials, failed="worst")'
    """
    parts = [*first, *(f"{name}={literal(value)}" for name, value in options.items())]
    return f"cw.{function}({', '.join(parts)})"


def literal(value: Any) -> str:
    """Return a text or a number as Python writes it."""
    if isinstance(value, str):
        # The escapes of JSON are Python's, too.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


def expression(part: Trials, trials: Trials) -> str:
    """Return the Python that chooses a part, whole tasks and algorithms, of trials."""
    if len(part) == len(trials):
        return "trials"
    codes = np.unique(np.stack([part.core.task, part.core.algorithm]), axis=1).T
    chosen: dict[str, list[str]] = {}
    for task, algorithm in codes.tolist():
        chosen.setdefault(part.tasks[task], []).append(part.algorithms[algorithm])
    groups: dict[tuple[str, ...], list[str]] = {}
    for task, names in chosen.items():
        groups.setdefault(tuple(names), []).append(task)
    return " + ".join(_where(tasks, names, trials) for names, tasks in groups.items())


def _where(tasks: Sequence[str], names: Sequence[str], trials: Trials) -> str:
    options = []
    if len(tasks) < len(trials.tasks):
        options.append(f"task={_one_or_list(tasks)}")
    if len(names) < len(trials.algorithms):
        options.append(f"algorithm={_one_or_list(names)}")
    return f"trials.where({', '.join(options)})"


def _one_or_list(names: Sequence[str]) -> str:
    return literal(names[0] if len(names) == 1 else list(names))


def calls(
    request: Request,
    settled: Settled,
    function: str,
    options: Mapping[str, Any],
    *,
    typed: str | None = None,
) -> dict[str, str]:
    """Return the command and the line of Python that put a question."""
    # Analyses leave out by themselves where nothing was measured.
    chosen = expression(settled.trials, _measured(request.trials, settled.metric))
    line = python(function, chosen, literal(settled.metric), **options)
    if chosen != "trials":
        return {"python": line}
    typed_options = {"metric": settled.metric, **options}
    return {
        "command": command(request, typed or function, typed_options),
        "python": line,
    }


def sentences(*parts: str) -> str:
    """Return the sentences that are there, in a row."""
    first, *more = [part for part in parts if part] or [""]
    return Message(first, *(piece for part in more for piece in (" ", part)))


def refused(trials: Trials) -> dict[str, str]:
    """Return why trials of a crossed design are refused, and what to add."""
    try:
        refuse_crossed(trials)
    except CurvewiseError as problem:
        return {"why": problem.message, "add": _INDEPENDENT}
    return {}


CLOSE = 0.05  # a half-width that most people call close enough

# --- what they share ---------------------------------------------------------------------

ALL_FAILED = "Every trial failed: there is no score but that of a failure."
ONE_TRIAL = "One trial does not show how scores vary."


def known_to_within(n: int, unit: str) -> str:
    """Return how well so many runs know a distribution, in a sentence."""
    clause = (
        f"With {count(n, unit)} of each, the share of {unit}s at or below any score is "
        f"known to within {half_width(n):.2g} (95 % confidence)"
    )
    if half_width(n) <= CLOSE:
        return f"{clause}."
    return f"{clause}; {trials_for_band(CLOSE):,} of each make it {CLOSE:g}."


def usual_at(trials: Trials) -> At:
    """Return which value of a curve to ask about: the last, but of single sizes one."""
    core = trials.core
    if core.lengths.max() != 1:
        return "last"
    codes = np.repeat(core.task, core.lengths)
    by_task = [np.unique(core.steps[codes == code]) for code in np.unique(codes)]
    if all(len(steps) == 1 for steps in by_task):
        return "last"
    common = set(by_task[0].tolist()).intersection(*(each.tolist() for each in by_task))
    return max(common) if common else "last"


def with_at(at: At) -> dict[str, Any]:
    """Return `at` as a keyword, where it is not the usual one."""
    return {} if at == "last" else {"at": at}


def at_step(case: Settled, at: At) -> Settled:
    """Return only the trials of that size, where there is one for each trial."""
    if isinstance(at, str):
        return case
    core = case.trials.core
    owner = np.repeat(np.arange(len(core)), core.lengths)
    keep = core.lengths == 0
    keep[owner[core.steps == at]] = True
    return Settled(case.trials.take(np.flatnonzero(keep)), case.metric, case.failed)
