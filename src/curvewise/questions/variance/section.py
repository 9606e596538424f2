"""Where does the spread of scores come from? What that needs, and its section."""

import json
import math

import numpy as np

from curvewise.errors import CurvewiseError, Message, Phrase
from curvewise.questions.needs import (
    Needs,
    Prospect,
    Request,
    Topic,
    basis,
    calls,
    command,
    in_part,
    settled,
    usual_at,
    with_at,
)
from curvewise.questions.sampling import crossed_factors, samples
from curvewise.questions.section import (
    JORDAN,
    SEED,
    Block,
    Method,
    Section,
    Settings,
    answered,
    by_metric,
    must_raise,
)
from curvewise.questions.sentences import on
from curvewise.questions.variance import VarianceShares, variance_shares
from curvewise.questions.variance.fit import crossing
from curvewise.trials import Trials
from curvewise.trials.columns import to_texts
from curvewise.trials.doors import Failed

_CROSS = Message(
    "Cross what is drawn: ",
    Phrase("Experiment(..., cross={'params': 10, 'seed': 5})"),
    " runs every draw of one with every draw of the other.",
)
_FEW = 5  # draws of a source; from fewer, shares of the variance are anybody's guess
_NOT_CROSSED = (
    "These trials are not crossed: no draw of one source, such as a seed, meets every draw "
    "of another."
)

_TOPIC = Topic(
    "variance_shares",
    "Where does the spread come from?",
    "where the spread of scores comes from",
)


def prospect(request: Request) -> Prospect:
    """Return whether sources of chance can be told from each other."""
    if not may_be_crossed(request.trials):
        return _TOPIC.unanswered(why=_NOT_CROSSED, add=_CROSS)
    at = usual_at(request.trials)
    draws: dict[str, tuple[int, ...]] = {}

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        raw = samples(part, metric, at, failed, crossed=True, averaged=False)
        for task, by_algorithm in raw.items():
            for algorithm, sample in by_algorithm.items():
                cell = crossing(part, task, algorithm, sample, None)
                draws[task] = cell.scores.shape

    case = settled(request, probe, is_directed=False)
    if isinstance(case, str):
        is_crossed = bool(crossed_factors(request.trials))
        return _TOPIC.unanswered(
            why=case if is_crossed else _NOT_CROSSED,
            add=_CROSS,
        )
    shape = draws[case.trials.tasks[0]]
    strength = f"{' x '.join(map(str, shape))} draws of each algorithm."
    if min(shape) < _FEW:
        strength += (
            f" From fewer than {_FEW} draws of a source intervals are very wide."
        )
    why = in_part(case, request)
    ways = calls(request, case, "variance_shares", with_at(at) | case.options)
    if "command" in ways:  # there is none of its own; the report has it
        options = {"metric": case.metric, **with_at(at), **case.options}
        ways["command"] = command(request, "report", options)
    return _TOPIC.answered(
        found=basis(case, at),
        why=why,
        strength=strength,
        **ways,
    )


def may_be_crossed(trials: Trials) -> bool:
    """Return False where a few trials show that they cannot be; a million take a while.

    Of n trials that are crossed, some source has the root of n draws at most, and one of
    them comes twice among any more trials.
    """
    core = trials.core
    cell = (core.task == core.task[0]) & (core.algorithm == core.algorithm[0])
    rows = np.flatnonzero(cell)
    rows = rows[: math.isqrt(len(rows)) + 1]
    details = trials.details()
    labels, params = (
        to_texts(kind.take(rows)) for kind in (details.labels, details.params)
    )
    parsed = [json.loads(text) if text else {} for text in labels]
    by_name: dict[str, list[str]] = {"params": params} if any(params) else {}
    for name in dict.fromkeys(name for one in parsed for name in one):
        by_name[name] = [json.dumps(one.get(name)) for one in parsed]
    return any(len({*values}) < len(rows) for values in by_name.values())


_ASKED = (
    "These trials are crossed: every draw of one source of chance, such as the "
    "hyperparameters, meets every draw of the others, such as the seed. So it can be "
    "told how much of the variation of scores comes from which."
)


NEEDS: Needs = {prospect: "variance"}


def sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what the spread of scores is due to, where trials are crossed."""
    is_declared = bool(crossed_factors(trials))
    if not is_declared and not may_be_crossed(trials):
        return []

    def section(metric: str) -> Section:
        answer = variance_shares(
            trials,
            metric,
            at=settings.at,
            failed=settings.failed,
            seed=SEED,
            anyway=settings.anyway,
        )
        return answered(_ASKED, answer, lambda task: [_block(answer, task)], VARIANCE)

    def refusal(metric: str, problem: CurvewiseError) -> str:
        if must_raise(trials, settings, metric):
            raise problem
        if not is_declared:  # labels that cross nothing
            return ""
        return f"Where the spread comes from cannot be told. {problem}"

    every = map(trials.metric, settings.every)
    return by_metric("variance", _TOPIC.question, _ASKED, every, section, refusal)


def _block(answer: VarianceShares, task: str) -> Block:
    return Block(
        "Shares of the variance",
        answer.verdict(task),
        None,
        answer.table(task),
        f"How much of the variance of {answer.metric.label} each source explains"
        f"{on(task)}",
    )


VARIANCE = Method(
    "Variance components of a crossed design: every draw of one source with every draw "
    "of the others, one trial in each cell.",
    "Estimates are unbiased for any distribution. Intervals are approximate, each share "
    "by itself: of 95 % intervals 96 % or more held for normal effects, down to 89 % "
    "for skewed ones, and 72 % where one draw in ten diverges.",
    f'S. Searle, G. Casella, C. McCulloch. "Variance Components." Wiley, 1992. S. '
    f'Weerahandi. "Generalized confidence intervals." JASA 88, 1993. {JORDAN}',
)
