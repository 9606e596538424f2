"""The rule about the design: settings that were repeated, folds that are shared."""

from collections.abc import Iterator

from curvewise._text import count
from curvewise.errors import shortened
from curvewise.review.finding import Finding
from curvewise.trials import Trials
from curvewise.trials.design import PARAMS


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
            "Nothing: answers take the mean of each setting. If every run was a draw of "
            "its own, read them with cluster=[].",
        )
    for part, name in design.suggested:
        if (part, name) == ("cluster", PARAMS):
            continue  # draws from a few choices coincide, and nothing is wrong
        if part == "cluster":
            yield Finding(
                "clusters",
                "notes",
                f"The same values of '{shortened(name)}' come again.",
                where,
                "Runs that share a setting by design are no independent draws, and make "
                "every interval too narrow.",
                f"If they were repeated by design, read them with cluster={name!r}; if "
                f"not, with cluster=[].",
            )
        else:
            yield Finding(
                "blocks",
                "notes",
                f"All algorithms have the same values of '{shortened(name)}'.",
                where,
                "Runs that met the same data can be compared with each other, which "
                "takes fewer of them.",
                f"If algorithms met the same data, read them with block={name!r}.",
            )
