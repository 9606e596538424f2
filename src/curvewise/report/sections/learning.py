"""How does error fall with data, and what would more data buy?"""

from dataclasses import replace

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._curve_asking import could_be_sizes
from curvewise.analyses._naming import on
from curvewise.analyses.learning import Learning, learning
from curvewise.errors import Blocked, CurvewiseError, UnknownDirection
from curvewise.figures.learning import (
    crossing_chart,
    forecast_chart,
    learning_chart,
    size_for_chart,
)
from curvewise.report.sections.methods import LEARNING
from curvewise.report.sections.parts import (
    Block,
    Group,
    Section,
    Settings,
    task_heading,
    unanswered,
    withheld,
)
from curvewise.trials import Trials


def learning_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how errors fall with data, where steps look like sizes of training sets."""
    if crossed_factors(trials):
        return []
    out: list[Section] = []
    # Of what counts can tell, the error is what power laws were made for.
    metrics = ("error",) if "error" in settings.metrics else settings.judged
    for metric in metrics:
        if not could_be_sizes(trials, metric):
            continue
        anchor = f"learning-{len(out)}"
        question = f"How does error fall with data? ({trials.metric(metric).label})"
        try:
            answer = learning(
                trials, metric, failed=settings.failed, anyway=settings.anyway
            )
        except Blocked as problem:
            out.append(withheld(anchor, question, _ASKED, problem))
            continue
        except UnknownDirection as problem:  # another one on each task
            out.append(unanswered(anchor, question, _ASKED, str(problem)))
            continue
        except CurvewiseError as problem:  # such as too few sizes on each task
            told = f"These errors make no curve. {problem}"
            out.append(unanswered(anchor, question, _ASKED, told))
            continue
        out.append(
            Section(
                anchor,
                question,
                _ASKED,
                answer.headline(),
                answer.would_change(),
                groups=[
                    Group(task_heading(t), _learning_blocks(answer, t))
                    for t in answer.tasks
                ],
                notes=answer.notes(),
                method=LEARNING,
                provenance=str(answer.provenance),
                cautions=answer.cautions,
                in_summary=not any(section.in_summary for section in out),
            )
        )
    return out


_ASKED = (
    "Steps are taken for sizes of training sets. How much of the error is left to more "
    "data, who is better with how much of it, and what would more bring? What lies "
    "beyond the largest size that was tried is a forecast."
)


def _learning_blocks(answer: Learning, task: str) -> list[Block]:
    own, label = answer.of(task), answer.scale.label
    told = answer.verdicts(task)
    curves, pairs = told[: len(own.fits)], told[len(own.fits) :]
    blocks = [
        Block(
            f"Error and data{on(task)}",
            "\n".join([*curves, *answer.concerns(task)]),
            learning_chart(answer, task),
            answer.table(task),
            f"{label} of each algorithm{on(task)}",
        ),
        Block(
            f"What would more data buy{on(task)}?",
            "",
            forecast_chart(answer, task),
            answer.beyond_table(task),
            f"{label} with more data{on(task)}",
        ),
    ]
    half = min(fit.law.e_N for fit in own.fits) / 2
    if half > 0:
        # Of this task alone: half of the error is another one on each.
        needed = replace(answer, found=(own,)).size_for(half)
        blocks.append(
            Block(
                f"How much data would half of the error take{on(task)}?",
                f"Half of the lowest error so far is {half:.3g}.",
                size_for_chart(needed, task),
                needed.table(task),
                f"Training examples that {label} {half:.3g} takes{on(task)}",
            )
        )
    if own.pairs:
        blocks.append(
            Block(
                f"Who is better with more data{on(task)}?",
                "\n".join(pairs),
                crossing_chart(answer, task),
                answer.pair_table(task),
                f"Each pair of algorithms{on(task)}, first minus second",
            )
        )
    return blocks
