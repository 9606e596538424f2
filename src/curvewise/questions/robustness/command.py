"""The command that says what tuning gains."""

from typing import Any

import click

import curvewise as cw
from curvewise.questions.commands import (
    answer_options,
    anyway_option,
    as_json,
    band_option,
    show,
    with_trials,
)
from curvewise.trials import Trials


@click.command()
@with_trials
@answer_options
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="NAME=TUNED",
    help="Which is the tuned one of which; repeat for several. If left out, "
    "'NAME tuned' is that of 'NAME'.",
)
@click.option(
    "--alpha", default=0.5, show_default=True, help="Best 1 - alpha, worst alpha."
)
@click.option("--margin", type=float, help="A gain that is not worth the trouble.")
@click.option(
    "--confidence",
    default=0.95,
    show_default=True,
    help="Of all algorithms and tasks together.",
)
@band_option
@anyway_option
@as_json
def robustness(
    trials: Trials, *, pairs: tuple[str, ...], as_json: bool, **keywords: Any
) -> None:
    """Is it easy to tune, and what does tuning gain?

    Compares each algorithm with its tuned one, task by task: mean, median, both tails
    (CVaR) and every quantile, with intervals for all of them at once.

    \b
    Example:
      curvewise robustness results.csv --metric acc --failed worst
      curvewise robustness results.csv --pair "svm=svm grid" --margin 0.01
    """
    answer = cw.robustness(trials, pairs=_pairs(pairs), **keywords)
    show(answer, as_json, sum(g.failed + g.tuned_failed for g in answer.gaps))


def _pairs(texts: tuple[str, ...]) -> dict[str, str] | None:
    """Return the pairs as the Python API takes them.

    >>> _pairs(("svm=svm grid",)), _pairs(())
    ({'svm': 'svm grid'}, None)
    """
    pairs = {}
    for text in texts:
        name, equals, tuned = text.partition("=")
        if not (name and equals and tuned):
            raise click.BadParameter(
                f"'{text}' is no pair. Write NAME=TUNED, such as \"svm=svm grid\".",
                param_hint="--pair",
            )
        pairs[name] = tuned
    return pairs or None
