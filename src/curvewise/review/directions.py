"""A rule about meaning: which way is better, and who said so."""

from collections.abc import Iterator

from curvewise.errors import Message, listed, shortened
from curvewise.review.finding import Finding
from curvewise.trials import Trials
from curvewise.trials.values import meaning, scored


def assumed_directions(trials: Trials) -> Iterator[Finding]:
    """Yield metrics whose direction nobody knows, and those that only a name tells."""
    metrics = [
        meaning(trials, name) for name in scored(trials) if name in trials.metrics
    ]
    unknown = [m for m in metrics if not m.is_directed]
    if unknown:
        names = [m.name for m in unknown]
        fix = {"metrics": {names[0]: "lower"}}
        yield Finding(
            "unknown-direction",
            "tempers",
            f"No direction is declared for {listed(names, 4)}, and the "
            f"name does not tell.",
            listed(names),
            "Without it there is no better, no best and no winner: such answers are "
            "withheld.",
            Message("Say it when the results are read, such as ", fix, "."),
            brief=f"which way {listed(names, 2)} is better is unknown",
            metrics=tuple(names),
            fixes=tuple({"metrics": {names[0]: way}} for way in ("lower", "higher")),
        )
    assumed = [m for m in metrics if m.direction and m.assumption]
    if assumed:
        first = assumed[0]
        said = {"metrics": {first.name: first.direction}}
        yield Finding(
            "assumed-direction",
            "notes",
            "Which way is better was taken from names alone: "
            + "; ".join(f"{shortened(m.name)}, {m.direction}" for m in assumed[:4])
            + (f"; and {len(assumed) - 4} more." if len(assumed) > 4 else "."),
            listed([m.name for m in assumed]),
            "Were it the other way round, the worst would be called the best.",
            Message("Nothing, if it is right; ", said, " says it for good."),
        )
