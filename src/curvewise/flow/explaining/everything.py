"""Every question, asked of a set of trials."""

from collections.abc import Callable, Sequence
from pathlib import Path

from curvewise._answer import Provenance
from curvewise.errors import CurvewiseError
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
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.values import scored

# A new analysis adds its question here.
QUESTIONS: tuple[Callable[[Asked], Question], ...] = (
    performance_question,
    robustness_question,
    difference_question,
    learning_question,
    confusion_question,
    variance_question,
    plan_question,
    plan_lines_question,
)
_SOME_FILE = "results.csv"


def explain(
    trials: Trials,
    metric: str | None = None,
    *,
    source: str | Path | Sequence[str] = "",
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
    metrics = tuple(scored(trials)) if metric is None else (trials.metric(metric).name,)
    words = _words(source, trials)
    asked = Asked(trials, metrics, words)
    who = f"These {subject(trials)}" if len(trials) > 1 else "This one trial"
    return Explanation(
        who,
        tuple(question(asked) for question in QUESTIONS),
        bool(source),
        Provenance.of(trials, "explain", {"metric": metric}),
    )


def _words(source: str | Path | Sequence[str], trials: Trials) -> tuple[str, ...]:
    """Return the source as it is typed; if nobody said, the file that was read."""
    if not source:
        name = trials.origin.partition(": ")[0]
        return (name if Path(name).suffix or "://" in name else _SOME_FILE,)
    first, *more = [str(source)] if isinstance(source, str | Path) else source
    return (shown_store(first), *more)
