"""What does tuning gain?"""

from functools import partial

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._naming import on
from curvewise.analyses.robustness import Robustness, robustness, tuned_pairs
from curvewise.errors import Blocked, CurvewiseError, UnknownDirection
from curvewise.figures.robustness import gain_chart
from curvewise.report.sections.methods import ROBUSTNESS
from curvewise.report.sections.parts import (
    Block,
    Section,
    Settings,
    answered,
    must_raise,
    unanswered,
    withheld,
)
from curvewise.trials import Trials


def robustness_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what tuning gains, where algorithms have tuned ones: "svm", "svm tuned"."""
    if not tuned_pairs(trials.algorithms) or crossed_factors(trials):
        return []
    out: list[Section] = []
    for metric in settings.judged:
        anchor = f"robustness-{len(out)}"
        question = f"What does tuning gain? ({trials.metric(metric).label})"
        try:
            answer = robustness(
                trials,
                metric,
                at=settings.at,
                failed=settings.failed,
                anyway=settings.anyway,
            )
        except Blocked as problem:
            out.append(withheld(anchor, question, _ASKED, problem))
            continue
        except UnknownDirection as problem:  # another one on each task
            out.append(unanswered(anchor, question, _ASKED, str(problem)))
            continue
        except CurvewiseError as problem:  # such as a tuned one that met other tasks
            if must_raise(trials, settings, metric):
                raise
            told = f"What tuning gains cannot be told. {problem}"
            out.append(unanswered(anchor, question, _ASKED, told))
            continue
        out.append(
            answered(
                anchor,
                question,
                _ASKED,
                answer,
                partial(_block, answer),
                ROBUSTNESS,
                in_summary=not any(section.in_summary for section in out),
            )
        )
    return out


_ASKED = (
    "Each algorithm was run as it comes, with hyperparameters drawn at random, and "
    "tuned. One that gains little by tuning is good with almost any hyperparameters: it "
    "is robust."
)


def _block(answer: Robustness, task: str) -> Block:
    return Block(
        f"Tuning{on(task)}",
        answer.verdict(task),
        gain_chart(answer, task),
        answer.table(task),
        f"What tuning gains in {answer.metric.label}{on(task)}",
    )
