"""Whose error is lowest and what more data would buy, in one sentence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curvewise._text import count, joined, short_names, step
from curvewise.analyses._curve_fits import CurveFit, CurveTask
from curvewise.analyses._curve_questions import Advice
from curvewise.analyses._curve_tables import point_of, size_cell
from curvewise.analyses._curve_telling import advised
from curvewise.analyses._curve_words import with_more_data
from curvewise.analyses._naming import all_others, some, some_pairs
from curvewise.analyses._saying import confidently, estimate, said, sentence, span
from curvewise.errors import CurvewiseError
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.analyses.learning import Learning

_MOST_TASKS = 3  # that are told one by one


@dataclass(frozen=True, slots=True, eq=False)
class ErrorLead:
    """Whose error is lowest on a task at the size at which curves are compared.

    Parameters
    ----------
    found : CurveTask
    leader : CurveFit
    ahead_of, open : tuple of str
        Rivals that it was told apart from, all pairs of the task at once; and the others.
    """

    found: CurveTask
    leader: CurveFit
    ahead_of: tuple[str, ...]
    open: tuple[str, ...]


def leads(answer: "Learning") -> tuple[ErrorLead, ...]:
    """Return whose error is lowest on each task."""
    return tuple(_lead(found) for found in answer.found)


def _lead(found: CurveTask) -> ErrorLead:
    first = min(found.fits, key=lambda fit: fit.law.e_N)
    name = first.algorithm
    ahead = []
    for pair in found.pairs:
        if name == pair.one and pair.error.upper < 0:
            ahead.append(pair.other)
        elif name == pair.other and pair.error.lower > 0:
            ahead.append(pair.one)
    rivals = [n for n in found.algorithms if n not in (name, *ahead)]
    return ErrorLead(found, first, tuple(ahead), tuple(rivals))


def headline(answer: "Learning") -> str:
    """Return in one sentence whose error is lowest, and what more data would buy."""
    found = leads(answer)
    if len(found) > _MOST_TASKS:
        return _counted(answer, found)
    tasks = short_names([one.found.task for one in found])
    parts = []
    for i, one in enumerate(found):
        name = one.found.task
        where = "" if len(found) == 1 and name == ONLY else f"on {tasks[name]}, "
        parts.append(f"{where}{_clause(answer, one, is_first=i == 0)}")
    return sentence(f"{'; '.join(parts)}.")


def _clause(answer: "Learning", one: ErrorLead, *, is_first: bool) -> str:
    names = short_names(one.found.algorithms)
    own = one.leader.law.parameters(answer.confidence)["e_N"]
    sure = f" {confidently(answer.confidence, sure=False)}" if is_first else ""
    how = f"{_error(answer)} {estimate(own)}, {span(own)}{sure}"
    at = f"with {step(one.found.size)} examples"
    who = names[one.leader.algorithm]
    beyond = _beyond(answer, one.leader)
    if len(one.found.fits) == 1:
        return f"{who} has {how}, {at}; {beyond}"
    if not one.open:
        rivals = len(one.ahead_of)
        of = names[one.ahead_of[0]] if rivals == 1 else all_others(rivals)
        return f"{who} is better than {of} {at} ({how}); {beyond}"
    rest = some([names[n] for n in one.open])
    only = ""
    if one.ahead_of:
        only = f", only from {some([names[n] for n in one.ahead_of])}"
    return (
        f"there is no clear winner: {who} is in front {at} ({how}), but cannot be told "
        f"apart yet from {rest}{only}; {beyond}"
    )


def _error(answer: "Learning") -> str:
    label = answer.scale.label
    return label if label == answer.metric.label else f"error ({label})"


def _beyond(answer: "Learning", fit: CurveFit) -> str:
    """Return what four times the data would bring, with how sure that is."""
    beyond, gain = with_more_data(fit, answer.confidence)
    told = f"four times the data would probably bring it to {estimate(beyond)}"
    told += f" ({span(beyond)})"
    if gain == "gain":
        return told
    if gain == "perhaps":
        return f"{told}, which may be no gain at all"
    return f"{told}, no gain as far as these runs can tell"


def _counted(answer: "Learning", found: Sequence[ErrorLead]) -> str:
    """Return on how many tasks somebody is better, and where more data would help."""
    n = len(found)
    names = short_names(one.leader.algorithm for one in found)
    first, times = Counter(one.leader.algorithm for one in found).most_common(1)[0]
    contested = [one for one in found if len(one.found.fits) > 1]
    told = sum(not one.open for one in contested)
    gains = sum(
        with_more_data(one.leader, answer.confidence)[1] == "gain" for one in found
    )
    parts = [f"{names[first]} has the lowest {_error(answer)} most often, on {times}"]
    if contested:
        sure = confidently(answer.confidence)
        # The tests of a task know nothing of the other tasks.
        luck = said(len(contested) * (1 - answer.confidence), 2)
        chance = f" (of equal ones about {luck} would be, by chance)" if told else ""
        parts.append(
            f"the lowest one is told apart from all others on {told or 'none'}, each "
            f"task judged by itself {sure}{chance}"
        )
    parts.append(
        f"four times the data would probably lower it on {gains}, perhaps on the others"
        if gains
        else "on none is it sure that four times the data would lower it"
    )
    return f"Of {count(n, 'task')}, {'; '.join(parts)}."


# --- what would change it ----------------------------------------------------------------


def would_change(answer: "Learning") -> str:
    """Return which run would tell most about more data, and what the answer rests on."""
    return " ".join(filter(None, [_next(answer), _open(answer), _rests_on(answer)]))


def most_telling(
    found: Sequence[CurveTask], unit: Literal["fraction", "loss"], confidence: float
) -> Advice | None:
    """Return the run that tells most of what four times the data would bring."""
    one = max(map(_lead, found), key=lambda lead: _width(lead, confidence))
    to = float(one.leader.law.extrapolation_limit)
    try:
        # Examples are counted: how long they take is not known of all.
        advice = advised(one.found, to, None, None, unit, is_known=False)
    except CurvewiseError:  # so few runs that nothing is known of their noise
        return None
    return next(own for own in advice if own.algorithm == one.leader.algorithm)


def _next(answer: "Learning") -> str:
    if answer.advice is None:
        return ""
    own, run = answer.of(answer.advice.task), answer.advice.run
    to = answer.curve(answer.advice.algorithm, own.task).law.extrapolation_limit
    name = short_names(own.algorithms)[answer.advice.algorithm]
    several = len(answer.found) > 1
    on = f" on {short_names(answer.tasks)[own.task]}" if several else ""
    return (
        f"Of what could be trained next, {count(run.best.repeats, 'more run')} of "
        f"{name}{on} with {size_cell(run.best.size)} examples would tell most: the "
        f"error with {step(to)} would be known to within {said(run.best.half_width)} "
        f"instead of {said(run.half_width)}, were the curve a power law."
    )


def _width(one: ErrorLead, confidence: float) -> float:
    to = one.leader.law.extrapolation_limit
    return point_of(one.leader.forecast.interval(to, confidence)).half_width


def _open(answer: "Learning") -> str:
    several = len(answer.found) > 1
    tasks = short_names(answer.tasks)
    pairs: list[str] = []
    for one in leads(answer):
        names: Mapping[str, str] = short_names(one.found.algorithms)
        where = f" on {tasks[one.found.task]}" if several else ""
        who = names[one.leader.algorithm]
        pairs += [f"{joined([who, names[n]])}{where}" for n in one.open]
    if not pairs:
        return ""
    return f"More runs at each size may tell apart {some_pairs(pairs)}."


def _rests_on(answer: "Learning") -> str:
    failed = ""
    if answer.failed:
        verb = "counts" if answer.failed == 1 else "count"
        failed = (
            f" {count(answer.failed, 'failed trial')} {verb} with score "
            f"{answer.failed_score}; another score would move the curves."
        )
    return (
        f"A forecast takes it that the curve goes on as it began: a turn that has not "
        f"begun cannot be foreseen.{failed}"
    )
