"""Do the curves differ, and where?"""

from collections.abc import Sequence

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._line_asking import (
    fewest_steps,
    too_many_pairs,
    with_lines,
)
from curvewise.analyses._line_tables import adjusted_p
from curvewise.analyses._naming import all_tasks, on
from curvewise.analyses.difference import Difference, difference
from curvewise.errors import Blocked, CurvewiseError
from curvewise.figures.difference import lines_chart, where_chart
from curvewise.report.sections.methods import DIFFERENCE
from curvewise.report.sections.parts import (
    SEED,
    Block,
    Group,
    Section,
    Settings,
    task_heading,
    unanswered,
    withheld,
)
from curvewise.review.gate import gate, ungated
from curvewise.trials import Trials

_SENTENCES = 10  # about pairs; the table has all of them
_STEPS = 600  # at which curves of different steps are compared, at most
_ASKED = (
    "Every run has a curve. Whole runs are compared, since points of one run hang "
    "together: in height, that is their means over the steps, and in shape, that is how "
    "their distance changes along the steps; and then where."
)
_OVERALL = (
    "Each pair of algorithms over all tasks: Welch's z of each task, above 0 where the "
    "first has higher scores, and p for all pairs at once"
)


def difference_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return whether and where curves differ, where there are curves to compare."""
    whole = trials
    trials, left_out = with_lines(trials)
    if len(trials) == 0 or crossed_factors(trials):
        return []
    out: list[Section] = []
    for metric in settings.every:
        anchor = f"difference-{len(out)}"
        question = f"Do the curves differ, and where? ({trials.metric(metric).label})"
        if told := too_many_pairs(trials):
            out.append(unanswered(anchor, question, _ASKED, told))
            continue
        recorded = fewest_steps(trials, metric)
        grid = None if recorded is None else min(recorded, _STEPS)
        try:
            cautions = gate(whole, "difference", metric=metric, anyway=settings.anyway)
            with ungated():  # of which these are a part
                answer = difference(
                    trials, metric, grid=grid, failed=settings.failed, seed=SEED
                )
        except Blocked as problem:
            out.append(withheld(anchor, question, _ASKED, problem))
            continue
        except CurvewiseError as problem:  # such as curves that share no steps
            told = f"These curves cannot be compared. {problem}"
            out.append(unanswered(anchor, question, _ASKED, told))
            continue
        groups = [
            Group(task_heading(t), _difference_blocks(answer, t)) for t in answer.tasks
        ]
        if answer.overall:
            groups.append(Group("", [_overall_block(answer)]))
        out.append(
            Section(
                anchor,
                question,
                _ASKED,
                answer.headline(),
                answer.would_change(),
                groups=groups,
                notes=[*answer.notes(), *left_out],
                method=DIFFERENCE,
                provenance=str(answer.provenance),
                cautions=(*cautions, *answer.cautions),
                in_summary=not any(section.in_summary for section in out),
            )
        )
    return out


def _overall_block(answer: Difference) -> Block:
    return Block(
        f"Curves over {all_tasks(len(answer.tasks))}",
        _first(_surest(answer)),
        None,
        answer.overall_table(),
        _OVERALL,
    )


def _surest(answer: Difference) -> list[str]:
    """Return what holds over all tasks, what is surest first where pairs are many."""
    told = answer.overall_verdicts()
    if len(told) <= _SENTENCES:
        return told
    least = [min(p) for p in adjusted_p(answer.overall)]
    return [told[i] for i in sorted(range(len(told)), key=least.__getitem__)]


def _first(lines: Sequence[str]) -> str:
    """Return sentences about pairs, line by line: of many the first ones."""
    if len(lines) <= _SENTENCES:
        return "\n".join(lines)
    more = f"The table below tells of the others, {len(lines) - _SENTENCES} more."
    return "\n".join([*lines[:_SENTENCES], more])


def _difference_blocks(answer: Difference, task: str) -> list[Block]:
    label = answer.metric.label
    whole, *pairs = answer.verdicts(task)
    return [
        Block(
            f"Curves{on(task)}",
            whole,
            lines_chart(answer, task),
            answer.table(task),
            f"Analysis of variance of {label}{on(task)}; {answer.of(task).told}",
        ),
        Block(
            f"Who differs{on(task)}, and where?",
            _first(pairs),
            where_chart(answer, task),
            answer.pair_table(task),
            f"Each pair of algorithms{on(task)}, first minus second",
        ),
    ]
