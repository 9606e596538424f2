"""How good is it, and how hard to tune?"""

from curvewise._text import count, percent
from curvewise.analyses import plan
from curvewise.analyses._asking import crossed_factors
from curvewise.analyses.performance import Performance, performance
from curvewise.errors import listed
from curvewise.figures.performance import (
    best_chart,
    profile_chart,
    quantile_chart,
    tuning_chart,
)
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials


def performance_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return one section per metric: the distribution of scores on each task."""
    if crossed_factors(trials):
        return []  # trials that share draws: see `variance_sections`
    out: list[Section] = []
    for metric in settings.metrics:
        answer = performance(trials, metric, at=settings.at, failed=settings.failed)
        groups = [
            Group(f"Task {t}", _performance_blocks(answer, t)) for t in answer.tasks
        ]
        if answer.overall:
            groups.append(Group("", [_overall_block(answer)]))
        if answer.sharper is not None:
            groups.append(Group("", [_plan_block(trials, answer, settings)]))
        out.append(
            Section(
                f"performance-{len(out)}",
                f"How good is it, and how hard to tune? ({answer.metric.label})",
                f"{count(len(trials), 'trial')} of {listed(trials.algorithms)}; "
                f"{answer.metric.label}, {answer.metric.direction} is better.",
                groups=groups,
                notes=answer.notes(),
                provenance=str(answer.provenance),
            )
        )
    return out


def _performance_blocks(answer: Performance, task: str) -> list[Block]:
    label = answer.metric.label
    blocks = [
        Block(
            f"Task {task}",
            answer.verdict(task),
            quantile_chart(answer, task),
            answer.table(task),
            f"{label} of each algorithm on {task}",
        )
    ]
    if pairs := answer.contrast_table(task):
        caption = f"Each pair of algorithms on {task}, first minus second"
        where = " ".join(answer.where(task))
        blocks.append(Block(f"Who is ahead on {task}?", where, None, pairs, caption))
    return [
        *blocks,
        Block(
            f"The best trials on {task}",
            "",
            best_chart(answer, task),
            answer.best_table(task),
            f"Mean {label} of the best trials on {task}",
        ),
        Block(
            f"How many settings must be tried on {task}?",
            "",
            tuning_chart(answer, task),
            answer.tuning_table(task),
            f"{label} of the best of k trials on {task}",
        ),
    ]


def _overall_block(answer: Performance) -> Block:
    return Block(
        f"All {len(answer.tasks)} tasks",
        "Each task counts the same. This needs scores that mean the same on every task.",
        profile_chart(answer),
        answer.overall_table(),
        f"{answer.metric.label} over all tasks",
    )


def _plan_block(trials: Trials, answer: Performance, settings: Settings) -> Block:
    found = plan.trials(
        answer.sharper or 1.0,
        of="cvar",
        alpha=answer.alpha,
        pilot=trials,
        metric=answer.metric.name,
        at=settings.at,
        failed=settings.failed,
        confidence=answer.confidence,
    )
    return Block(
        "How many more trials?",
        f"To know the mean of the best {percent(1 - answer.alpha)} of the trials twice as "
        f"well as now, to within {found.half_width:g}. guaranteed: whatever the "
        f"distribution; asymptotic: for many trials, if they vary as these do.",
        None,
        found.table(),
        f"Trials of each algorithm on each task for a half-width of {found.half_width:g}",
    )
