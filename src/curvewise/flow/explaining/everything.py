"""Every question, asked of a set of trials."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from curvewise._answer import Provenance
from curvewise.errors import Blocked, CurvewiseError, Message
from curvewise.flow.explaining.answer import Explanation, Question
from curvewise.flow.explaining.asking import Asked, subject
from curvewise.flow.explaining.curves import difference_question, plan_lines_question
from curvewise.flow.explaining.scores import (
    performance_question,
    plan_question,
    robustness_question,
    variance_question,
)
from curvewise.flow.explaining.sizes import confusion_question, learning_question
from curvewise.flow.sources import shown_store
from curvewise.metrics import Metric
from curvewise.review.finding import Concern
from curvewise.review.gate import gate
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.values import scored

# A new analysis adds its question here.
QUESTIONS: dict[Callable[[Asked], Question], Concern] = {
    performance_question: "performance",
    robustness_question: "robustness",
    difference_question: "difference",
    learning_question: "learning",
    confusion_question: "confusion",
    variance_question: "variance",
    plan_question: "plan",
    plan_lines_question: "difference",
}
_SOME_FILE = "results.csv"
_ALL_THE_SAME = Message("Pass ", {"anyway": True}, " to see it all the same.")


def explain(
    trials: Trials,
    metric: str | None = None,
    *,
    source: str | Path | Sequence[str] = "",
    anyway: bool = False,
) -> Explanation:
    """Return which questions these trials can answer, which they cannot, and why.

    Parameters
    ----------
    trials : Trials
    metric : str, optional
        The score to judge by. If left out, each question takes the first that will do.
    source : str, Path or sequence of str, optional
        Where the trials were read from, so that commands are printed to be copied, and not
        lines of Python; with the options that it took to read them, a list of words.
    anyway : bool
        Whether questions count as answered in spite of what `curvewise.check` objects to.

    Returns
    -------
    Explanation
        One row per question: whether it can be answered, from what or why not, how strong
        the answer can be, what to add, and the line that asks it.

    See Also
    --------
    curvewise.check : What a careful reviewer would object to.

    Notes
    -----
    Nothing is estimated here. Every question is begun as its analysis begins it, with the
    same functions; where that raises, what it says is the reason. Whether steps are
    epochs or sizes of training sets, nobody has told: sizes are those of which most are a
    fifth larger than the one before.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.explain(cw.example("search"))
    >>> [(one.analysis, one.can) for one in answer.questions][:3]
    [('performance', 'yes'), ('robustness', 'no'), ('difference', 'no')]
    >>> answer.of("performance").python
    'cw.performance(trials, "accuracy", failed="worst")'
    """
    must_be_trials(trials)
    if len(trials) == 0:
        raise CurvewiseError("There are no trials to explain. Check what was read.")
    scores = scored(trials) if metric is None else [trials.metric(metric).name]
    # What can be judged by comes first; of the others it is asked which way is better.
    metrics = tuple(sorted(scores, key=lambda n: _unknown(trials.metric(n))))
    words = _words(source, trials)
    asked = Asked(trials, metrics, words)
    who = f"These {subject(trials)}" if len(trials) > 1 else "This one trial"
    return Explanation(
        who,
        tuple(
            question(asked) if anyway else _guarded(asked, question, concern)
            for question, concern in QUESTIONS.items()
        ),
        bool(source),
        Provenance.of(
            trials,
            "explain",
            {"metric": metric},
            cautions=[
                line for n in metrics[:1] if (line := trials.metric(n).assumption)
            ],
        ),
        str(trials.design),
    )


def _unknown(metric: Metric) -> int:
    """Return how little is known of which way is better, to sort by."""
    return (metric.direction is None) + (not metric.is_directed)


def _guarded(
    asked: Asked, question: Callable[[Asked], Question], concern: Concern
) -> Question:
    """Return a question, asked by the metrics that `check` lets pass, if there are any."""
    problems: dict[str | None, Blocked] = {}
    for metric in (None,) if concern == "confusion" else asked.metrics:
        try:
            gate(asked.trials, concern, metric=metric)
        except Blocked as problem:
            problems[metric] = problem
    free = tuple(metric for metric in asked.metrics if metric not in problems)
    if not problems or (free and None not in problems):
        return question(replace(asked, metrics=free))
    found = question(asked)
    if found.can == "no" or not found.found:
        return (
            found  # for a reason that nothing gets past, or not told from these trials
        )
    first = next(iter(problems.values()))
    remedies = [fix for fix in first.fixes if "anyway" not in fix]
    is_final = len(remedies) == len(first.fixes)  # no answer whatever is said
    return replace(
        found,
        can="no",
        found="",
        strength="",
        why=first.text if is_final else Message(first.text, " ", _ALL_THE_SAME),
        add=_read_again(remedies),
        command="" if is_final else found.command and f"{found.command} --anyway",
        python="" if is_final else f"{found.python.removesuffix(')')}, anyway=True)",
    )


def _read_again(fixes: Sequence[Mapping[str, Any]]) -> str:
    if not fixes:
        return ""
    first, *more = fixes
    rest = (part for fix in more for part in (" or ", fix))
    return Message("Read the results with ", first, *rest, ".")


def _words(source: str | Path | Sequence[str], trials: Trials) -> tuple[str, ...]:
    """Return the source as it is typed; if nobody said, the file that was read."""
    if not source:
        name = trials.origin.partition(": ")[0]
        return (name if Path(name).suffix or "://" in name else _SOME_FILE,)
    first, *more = [str(source)] if isinstance(source, str | Path) else source
    return (shown_store(first), *more)
