"""Whose curves are better, in one sentence that claims no more than the tests show."""

from typing import TYPE_CHECKING

from curvewise._text import count, short_names
from curvewise.analyses._line_lead import can_show_nothing, lines_to_show, on_one_task
from curvewise.analyses._lines_over_tasks import over_tasks, task_by_task, tested
from curvewise.analyses._naming import some_pairs
from curvewise.analyses._saying import confidently, sentence

if TYPE_CHECKING:
    from curvewise.analyses.difference import Difference


def headline(answer: "Difference") -> str:
    """Return in one sentence whose curves are better, by how much, and how sure that is."""
    if answer.metric.direction is None:
        told = _without_direction(answer)
    elif len(answer.found) == 1:
        told = on_one_task(answer)
    elif answer.overall:
        told = over_tasks(answer)
    else:
        told = task_by_task(answer)
    return sentence(f"{told}.")


def _without_direction(answer: "Difference") -> str:
    """Return how many pairs differ, and nothing about who is better."""
    pairs = [pair for found in answer.found for pair in found.pairs]
    # All tasks at once: each pair pays for all of them.
    n = len(answer.found)
    shown = sum(n * p.tested.adjusted_p("algorithm") <= answer.level for p in pairs)
    verb = "differs" if shown == 1 else "differ"
    why = "differs by task" if answer.metric.is_directed else "is not known"
    return (
        f"{shown or 'none'} of {count(len(pairs), 'pair')} {verb} in height, "
        f"{confidently(1 - answer.level, sure=False)}; which way {answer.metric.label} is "
        f"better {why}"
    )


def would_change(answer: "Difference") -> str:
    """Return what would change it: more runs, another score of failures, other steps."""
    parts = [
        _more_runs(answer),
        "Every step counts the same: another range of steps is another question.",
    ]
    if answer.failed:
        verb = "counts" if answer.failed == 1 else "count"
        parts.append(
            f"{count(answer.failed, 'failed run')} {verb} with score "
            f"{answer.failed_score} where there is no value; another score would move "
            f"the curves."
        )
    return " ".join(parts)


def _more_runs(answer: "Difference") -> str:
    lines = [len(own) for found in answer.found for own in found.lines.values()]
    least, most = min(lines), max(lines)
    now = (
        f"{least} of each algorithm" if least == most else f"{least} to {most} of each"
    )
    if few := [found for found in answer.found if can_show_nothing(found)]:
        could = max(map(lines_to_show, few))
        where = "" if len(answer.found) == 1 else f" on {count(len(few), 'task')}"
        return (
            f"More runs would: with {now} no difference can be shown{where}, however "
            f"large; {could} of each could show one."
        )
    longer = f"there are {now}, and about 4 times as many make intervals half as long"
    if open_ones := _open_pairs(answer):
        between = some_pairs(open_ones)
        return f"More runs may: who is ahead is open between {between}; {longer}."
    return f"More runs would sharpen the numbers: {longer}."


def _open_pairs(answer: "Difference") -> list[str]:
    """Return the pairs of which nobody was shown to be ahead."""
    names = short_names(n for found in answer.found for n in found.algorithms)
    if len(answer.found) > 1 and answer.overall:
        return [
            " and ".join(names[n] for n in one.algorithms)
            for one, whole, _, _ in tested(answer)
            if whole > answer.level
        ]
    return [
        f"{names[pair.one]} and {names[pair.other]}"
        for found in answer.found
        for pair in found.pairs
        if pair.decisions["algorithm"] != "rejected"
    ]
