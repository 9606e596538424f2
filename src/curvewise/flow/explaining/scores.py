"""Questions about scores: how good, what tuning gains, where spread is from, how many."""

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from curvewise._text import count
from curvewise.analyses._asking import Sample, crossed_factors, samples, unit_of
from curvewise.analyses._crossed import crossing
from curvewise.analyses.robustness import tuned_pairs
from curvewise.errors import CurvewiseError, Message, Phrase, Verbatim, listed
from curvewise.flow.explaining.answer import Question
from curvewise.flow.explaining.asking import (
    Asked,
    Settled,
    calls,
    command,
    expression,
    fewest,
    in_part,
    others,
    python,
    refused,
    sentences,
    settled,
    told,
)
from curvewise.metrics import Floats
from curvewise.stats.bands import half_width
from curvewise.stats.planning import trials_for_band
from curvewise.trials import Trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed
from curvewise.trials.ragged import to_texts

_CROSS = Message(
    "Cross what is drawn: ",
    Phrase("Experiment(..., cross={'params': 10, 'seed': 5})"),
    " runs every draw of one with every draw of the other.",
)
_RUN_TWO = "Run two trials or more of each algorithm, to judge from."
_CLOSE = 0.05  # a half-width that most people call close enough
_FEW = 5  # draws of a source; from fewer, shares of the variance are anybody's guess
_NOT_CROSSED = (
    "These trials are not crossed: no draw of one source, such as a seed, meets every draw "
    "of another."
)

_PERFORMANCE = (
    "performance",
    "How good is it, and how hard to tune?",
    "how good and how hard to tune each algorithm is",
)
_ROBUSTNESS = ("robustness", "What does tuning gain?", "what tuning gains")
_VARIANCE = (
    "variance_shares",
    "Where does the spread come from?",
    "where the spread of scores comes from",
)
_PLAN = (
    "plan.trials",
    "How many more trials do I need?",
    "how many trials are enough",
)


def performance_question(asked: Asked) -> Question:
    """Return whether the distribution of scores can be told."""
    at = usual_at(asked.trials)

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        samples(part, metric, at, failed)

    found = settled(asked, probe, by_task=True)
    if isinstance(found, str):
        return Question(*_PERFORMANCE, "no", **refused(asked.trials) or {"why": found})
    own = _at_step(found, at)
    n = fewest(own.trials)
    few = _ONE_TRIAL if n == 1 else ""
    if own.trials.count_failed(found.metric) == len(own.trials):
        few = _ALL_FAILED
    why = in_part(found, asked, few)
    return Question(
        *_PERFORMANCE,
        "in part" if why else "yes",
        found=told(own, at),
        why=why,
        strength=sentences(
            _known_to_within(n, unit_of(own.trials)), others(asked, found.metric)
        ),
        **calls(asked, found, "performance", _with_at(at) | found.options),
    )


def robustness_question(asked: Asked) -> Question:
    """Return whether it can be told what tuning gains."""
    trials = asked.trials
    pairs = tuned_pairs(trials.algorithms)
    if not pairs:
        name = trials.algorithms[0]
        return Question(
            *_ROBUSTNESS,
            "no",
            why=f"No algorithm is the tuned one of another: there "
            f"{'is' if len(trials.algorithms) == 1 else 'are'} "
            f"{listed(trials.algorithms)}.",
            add=Message(
                f"Run one with its hyperparameters tuned, too, and call it '{name} "
                "tuned'. If one is there by another name, say so with ",
                {"pairs": {name: Verbatim("<it>")}},
                ".",
            ),
        )
    at = usual_at(trials)

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        names = {name for pair in pairs.items() for name in pair} & {*part.algorithms}
        met = samples(part.where(algorithm=names), metric, at, failed) if names else {}
        both = [own for own in met.values() if _pairs_in(own, pairs)]
        if not both:
            first = next(iter(pairs.items()))
            raise CurvewiseError(
                f"'{first[0]}' and '{first[1]}' have no task in common. Pass trials of "
                f"both on the same task."
            )

    found = settled(asked, probe)
    if isinstance(found, str):
        return Question(*_ROBUSTNESS, "no", **refused(trials) or {"why": found})
    part = found.trials.where(algorithm={*pairs, *pairs.values()})
    n = fewest(part)
    rest = [a for a in trials.algorithms if a not in part.algorithms]
    has = "has" if len(rest) == 1 else "have"
    alone = f"Not of {listed(rest, 4)}, which {has} no tuned one." if rest else ""
    why = in_part(found, asked, _ONE_TRIAL if n == 1 else alone)
    own = Settled(part, found.metric, found.failed)
    return Question(
        *_ROBUSTNESS,
        "in part" if why else "yes",
        found=told(own, at),
        why=why,
        strength=_known_to_within(n, unit_of(part)),
        **calls(asked, found, "robustness", _with_at(at) | found.options),
    )


def _pairs_in(own: dict[str, Sample], pairs: dict[str, str]) -> bool:
    return any(one in own and tuned in own for one, tuned in pairs.items())


def variance_question(asked: Asked) -> Question:
    """Return whether sources of chance can be told from each other."""
    if not may_be_crossed(asked.trials):
        return Question(*_VARIANCE, "no", why=_NOT_CROSSED, add=_CROSS)
    at = usual_at(asked.trials)
    draws: dict[str, tuple[int, ...]] = {}

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        raw = samples(part, metric, at, failed, crossed=True, averaged=False)
        for task, own in raw.items():
            for algorithm, sample in own.items():
                cell = crossing(part, task, algorithm, sample, None)
                draws[task] = cell.scores.shape

    found = settled(asked, probe, is_directed=False)
    if isinstance(found, str):
        is_crossed = bool(crossed_factors(asked.trials))
        return Question(
            *_VARIANCE,
            "no",
            why=found if is_crossed else _NOT_CROSSED,
            add=_CROSS,
        )
    shape = draws[found.trials.tasks[0]]
    strength = f"{' x '.join(map(str, shape))} draws of each algorithm."
    if min(shape) < _FEW:
        strength += (
            f" From fewer than {_FEW} draws of a source intervals are very wide."
        )
    why = in_part(found, asked)
    made = calls(asked, found, "variance_shares", _with_at(at) | found.options)
    if "command" in made:  # there is none of its own; the report has it
        options = {"metric": found.metric, **_with_at(at), **found.options}
        made["command"] = command(asked, "report", options)
    return Question(
        *_VARIANCE,
        "in part" if why else "yes",
        found=told(found, at),
        why=why,
        strength=strength,
        **made,
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
    told = [json.loads(text) if text else {} for text in labels]
    by_name: dict[str, list[str]] = {"params": params} if any(params) else {}
    for name in dict.fromkeys(name for one in told for name in one):
        by_name[name] = [json.dumps(one.get(name)) for one in told]
    return any(len({*drawn}) < len(rows) for drawn in by_name.values())


def plan_question(asked: Asked) -> Question:
    """Return whether it can be told how many trials are enough."""
    at = usual_at(asked.trials)
    scores: list[Floats] = []

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        scores.clear()
        for own in samples(part, metric, at, failed).values():
            scores.extend(sample.scores for sample in own.values())

    found = settled(asked, probe)
    if isinstance(found, str):
        return _no_pilot(asked, found)
    aim = worth_planning(scores)
    failed = found.trials.count_failed(found.metric)
    if aim is None or failed == len(found.trials):
        return _no_pilot(asked, "These trials do not show how scores vary.")
    options: dict[str, Any] = {"of": "mean", **_with_at(at), **found.options}
    chosen = expression(found.trials, asked.trials)
    named = {"metric": found.metric, **options}
    is_whole = chosen == "trials"
    typed = command(asked, "plan", {"half_width": aim, **named}) if is_whole else ""
    why = in_part(found, asked)
    return Question(
        *_PLAN,
        "in part" if why else "yes",
        found=told(_at_step(found, at), at),
        why=why,
        strength=f"For means to within {aim:g}, about twice as well as they are known now.",
        command=typed,
        python=python(
            "plan.trials",
            repr(aim),
            f"pilot={chosen}",
            **named,
        ),
    )


def _no_pilot(asked: Asked, why: str) -> Question:
    """Return that nothing can be planned from these trials, and what can without any."""
    bare = Asked(asked.trials, asked.metrics, ())
    unsaid = [
        name for name in asked.metrics if not asked.trials.metric(name).is_directed
    ]
    is_asked = bool(unsaid) and len(unsaid) == len(asked.metrics)  # what is better
    return Question(
        *_PLAN,
        "no",
        why=sentences(why, "Without a pilot, numbers are for the worst distribution."),
        add="" if is_asked else _RUN_TWO,
        command=command(bare, "plan", {"half_width": _CLOSE}),
        python=python("plan.trials", str(_CLOSE)),
    )


def worth_planning(scores: Iterable[Floats]) -> float | None:
    """Return a half-width of a mean that is worth planning; None where nothing varies.

    Half of what a mean is known to now, by the rule of thumb.
    """
    errors = [own.std(ddof=1) / math.sqrt(len(own)) for own in scores if len(own) > 1]
    widths = [error for error in errors if 0 < error < math.inf]
    return float(f"{np.median(widths):.1g}") if widths else None


# --- what they share ---------------------------------------------------------------------

_ALL_FAILED = "Every trial failed: there is no score but that of a failure."
_ONE_TRIAL = "One trial does not show how scores vary."


def _known_to_within(n: int, unit: str) -> str:
    told = (
        f"With {count(n, unit)} of each, the share of {unit}s at or below any score is "
        f"known to within {half_width(n):.2g} (95 % confidence)"
    )
    if half_width(n) <= _CLOSE:
        return f"{told}."
    return f"{told}; {trials_for_band(_CLOSE):,} of each make it {_CLOSE:g}."


def usual_at(trials: Trials) -> At:
    """Return which value of a curve to ask about: the last, but of single sizes one."""
    core = trials.core
    if core.lengths.max() != 1:
        return "last"
    codes = np.repeat(core.task, core.lengths)
    by_task = [np.unique(core.steps[codes == code]) for code in np.unique(codes)]
    if all(len(steps) == 1 for steps in by_task):
        return "last"
    common = set(by_task[0].tolist()).intersection(*(own.tolist() for own in by_task))
    return max(common) if common else "last"


def _with_at(at: At) -> dict[str, Any]:
    return {} if at == "last" else {"at": at}


def _at_step(found: Settled, at: At) -> Settled:
    """Return only the trials of that size, where there is one for each trial."""
    if isinstance(at, str):
        return found
    core = found.trials.core
    owner = np.repeat(np.arange(len(core)), core.lengths)
    keep = core.lengths == 0
    keep[owner[core.steps == at]] = True
    return Settled(found.trials.take(np.flatnonzero(keep)), found.metric, found.failed)
