"""Where does the spread of scores come from?"""

from functools import partial

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._naming import on
from curvewise.analyses.variance import VarianceShares, variance_shares
from curvewise.errors import Blocked, CurvewiseError
from curvewise.flow.explaining import may_be_crossed
from curvewise.report.sections.methods import VARIANCE
from curvewise.report.sections.parts import (
    SEED,
    Block,
    Section,
    Settings,
    answered,
    must_raise,
    unanswered,
    withheld,
)
from curvewise.trials import Trials

_ASKED = (
    "These trials are crossed: every draw of one source of chance, such as the "
    "hyperparameters, meets every draw of the others, such as the seed. So it can be "
    "told how much of the variation of scores comes from which."
)


def variance_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what the spread of scores is due to, where trials are crossed."""
    is_declared = bool(crossed_factors(trials))
    if not is_declared and not may_be_crossed(trials):
        return []
    out: list[Section] = []
    for metric in settings.every:
        anchor = f"variance-{len(out)}"
        question = f"Where does the spread come from? ({trials.metric(metric).label})"
        try:
            answer = variance_shares(
                trials,
                metric,
                at=settings.at,
                failed=settings.failed,
                seed=SEED,
                anyway=settings.anyway,
            )
        except Blocked as problem:
            out.append(withheld(anchor, question, _ASKED, problem))
            continue
        except CurvewiseError as problem:  # such as a crossing with a hole
            if must_raise(trials, settings, metric):
                raise
            if not is_declared:  # labels that cross nothing
                continue
            told = f"Where the spread comes from cannot be told. {problem}"
            out.append(unanswered(anchor, question, _ASKED, told))
            continue
        out.append(
            answered(
                anchor,
                question,
                _ASKED,
                answer,
                partial(_block, answer),
                VARIANCE,
                in_summary=not any(section.in_summary for section in out),
            )
        )
    return out


def _block(answer: VarianceShares, task: str) -> Block:
    return Block(
        "Shares of the variance",
        answer.verdict(task),
        None,
        answer.table(task),
        f"How much of the variance of {answer.metric.label} each source explains"
        f"{on(task)}",
    )
