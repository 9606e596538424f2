"""The command that says what tuning gains."""

from typing import Any

import click

from curvewise.questions.commands import (
    answer_options,
    anyway_option,
    as_json,
    band_option,
    leave,
    number_or_word,
    read_source,
    source_options,
)


@click.command()
@source_options
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
    metric: str | None,
    at: str,
    failed: str,
    pairs: tuple[str, ...],
    alpha: float,
    margin: float | None,
    confidence: float,
    band: Any,
    anyway: bool,
    as_json: bool,
    **keywords: Any,
) -> None:
    """Is it easy to tune, and what does tuning gain?

    Compares each algorithm with its tuned one, task by task: mean, median, both tails
    (CVaR) and every quantile, with intervals for all of them at once.

    \b
    Example:
      curvewise robustness results.csv --metric acc --failed worst
      curvewise robustness results.csv --pair "svm=svm grid" --margin 0.01
    """
    from curvewise.questions.robustness import robustness as gains

    trials = read_source(**keywords)
    answer = gains(
        trials,
        metric,
        pairs=_pairs(pairs),
        alpha=alpha,
        margin=margin,
        at=number_or_word(at),
        failed=number_or_word(failed),
        confidence=confidence,
        band=band,
        anyway=anyway,
    )
    click.echo(answer.to_json() if as_json else str(answer))
    leave(sum(g.failed + g.tuned_failed for g in answer.gaps))


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
