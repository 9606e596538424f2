"""The rule about the design: settings that were repeated, folds that are shared."""

from collections.abc import Iterator

from curvewise._text import count
from curvewise.errors import Message, shortened
from curvewise.review.finding import DISTRIBUTION, Finding
from curvewise.review.looking import some
from curvewise.trials import Trials
from curvewise.trials.design import PARAMS
from curvewise.trials.search import searched


def runs_that_are_not_independent(trials: Trials) -> Iterator[Finding]:
    """Yield clusters and blocks that the trials show and nobody has stated."""
    design = trials.design
    where = f"the {count(len(trials), 'trial')}"
    if design.unit == "cluster" and design.known["cluster"] == "inferred":
        yield Finding(
            "clusters",
            "notes",
            f"The same settings were run again: {design}.",
            where,
            "Runs of one setting share its hyperparameters. Counted as independent "
            "draws they make every interval too narrow.",
            Message(
                "Nothing: answers take the mean of each setting. If every run was a "
                "draw of its own, read them with ",
                {"cluster": []},
                ".",
            ),
        )
    for part, name in design.suggested:
        if (part, name) == ("cluster", PARAMS):
            yield from _likely(trials)
        elif part == "cluster":
            yield Finding(
                "clusters",
                "notes",
                f"The same values of '{shortened(name)}' come again.",
                where,
                "Runs that share a setting by design are no independent draws, and make "
                "every interval too narrow.",
                Message(
                    "If they were repeated by design, read them with ",
                    {"cluster": name},
                    "; if not, with ",
                    {"cluster": []},
                    ".",
                ),
            )
        else:
            yield Finding(
                "blocks",
                "notes",
                f"All algorithms have the same values of '{shortened(name)}'.",
                where,
                "Runs that met the same data can be compared with each other, which "
                "takes fewer of them.",
                Message(
                    "If algorithms met the same data, read them with ",
                    {"block": name},
                    ".",
                ),
            )


def _likely(trials: Trials) -> Iterator[Finding]:
    """Yield where settings come again, and hardly by chance.

    Draws from a few choices coincide, too, and nothing is wrong with them.
    """
    found = [s for s in trials.once(searched).varied if s.repeated == "likely"]
    if not found:
        return
    first = found[0]
    settings = int(first.setting.max()) + 1
    yield Finding(
        "clusters",
        "tempers",
        f"{first.n:,} runs have {settings:,} settings, and runs of one setting stand "
        f"together, or share no seed, more than chance would have it"
        f"{first.source.caveat}.",
        some(s.source.cell for s in found),
        "Runs of a setting that was repeated by design share its hyperparameters. "
        "Counted as independent draws they make every interval too narrow.",
        Message(
            "If settings were repeated, read them with ",
            {"cluster": "params"},
            ". If every run was a draw of its own, from few choices, and the rows "
            "were sorted, with ",
            {"cluster": []},
            ".",
        ),
        Message(
            "the same settings come again: by design (",
            {"cluster": "params"},
            "), or by chance (",
            {"cluster": []},
            ")?",
        ),
        concerns=DISTRIBUTION,
    )
