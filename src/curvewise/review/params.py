"""The rule about params: were they drawn at random, as a distribution of scores needs?"""

from collections.abc import Iterator

from curvewise.errors import Keyword, Message, shortened
from curvewise.metrics import Floats
from curvewise.review.axis import sorted_rows
from curvewise.review.finding import DISTRIBUTION, Finding
from curvewise.review.looking import chance, some
from curvewise.trials import Trials
from curvewise.trials.search import GRID_LEVEL, Drift, Grid, Settings, searched

_WHY = (
    "A distribution over hyperparameters can only be read off trials whose params were "
    "drawn from it, each independently of the others and of the scores so far. "
)
_REUSE = (
    "Draw params at random from the ranges that you would tune over and run those. Do "
    "not report mean, quantiles, CVaR or bands of these trials as the algorithm's; "
    "the best setting found may be reported as such."
)


def params_not_drawn_at_random(trials: Trials) -> Iterator[Finding]:
    """Yield where params form a grid, go in even steps, or follow an optimiser."""
    search = trials.once(searched)
    if search.grids:
        yield _grid_finding(search.grids)
    if search.steps:
        yield _steps_finding(search.steps)
    if search.drifts.found:
        yield _drift_finding(search.drifts.found, search.drifts.tests)
    for label, places in search.drifts.ordered.items():
        yield sorted_rows(label, places)


# --- grids ----------------------------------------------------------------------------


def _grid_finding(grids: list[tuple[Settings, Grid]]) -> Finding:
    settings, grid = grids[0]
    sizes = " x ".join(
        f"{shortened(name, 30)} ({int(codes.max()) + 1})"
        for name, codes in list(settings.varying.items())[:6]
    )
    often = "once" if grid.times == 1 else f"{grid.times:,} times"
    return Finding(
        "params-grid",
        "tempers",  # a grid still covers the space; an optimiser does not
        f"Params form a grid: {grid.met:,} of {grid.combinations:,} combinations of "
        f"{sizes} occur, each {often}. Random draws do that with probability "
        f"{_at_most(grid.p)}{settings.source.caveat}.",
        some(d.source.cell for d, _ in grids),
        _WHY
        + "A grid weighs every combination alike, whatever the person who chose its "
        "edges had in mind, and its trials are no sample.",
        _REUSE,
        "hyperparameters form a grid, not a random sample",
        concerns=DISTRIBUTION,
    )


def _at_most(p: float) -> str:
    return "below 1e-12" if p < 1e-12 else f"at most {p:.0e}"


# --- one param in even steps ----------------------------------------------------------


def _steps_finding(found: list[tuple[Settings, tuple[str, Floats, float]]]) -> Finding:
    settings, (name, levels, p) = found[0]
    often = settings.n // len(levels)
    shown = some((f"{v:g}" for v in levels), 5)
    return Finding(
        "params-steps",
        "tempers" if p < GRID_LEVEL else "notes",
        f"'{shortened(name)}' takes {len(levels):,} values in even steps ({shown}), "
        f"each {'once' if often == 1 else f'{often:,} times'}. Random draws do that "
        f"with probability {_at_most(p)}{settings.source.caveat}.",
        some(d.source.cell for d, _ in found),
        _WHY + "A sweep in even steps is no sample.",
        Message(
            _REUSE + " If this compares settings, read it as ",
            Keyword("algorithm"),
            " instead.",
        ),
        f"'{shortened(name, 30)}' goes in even steps, not at random",
        concerns=DISTRIBUTION,
    )


# --- drift ----------------------------------------------------------------------------


def _drift_finding(hits: list[Drift], tests: int) -> Finding:
    each = [
        f"'{shortened(label, 40)}' {rho:+.2f} ({chance(p)}) in {cell}{caveat}"
        for p, rho, label, cell, caveat in hits
    ]
    return Finding(
        "params-drift",
        "blocks",
        f"{len(hits):,} of {tests:,} params and scores change with the trial's number, "
        f"which random draws cannot: rank correlation {some(each, 3)}.",
        some(dict.fromkeys(str(cell) for *_, cell, _ in hits)),
        _WHY + "An optimiser such as TPE or CMA-ES moves to where scores are good: its "
        "later trials are better than those of the declared distribution.",
        _REUSE + " If trials are numbered by when they ended, number them by when they "
        "started: quick settings end first.",
        "hyperparameters or scores drift with the trial's number, as an optimiser's do",
        concerns=DISTRIBUTION,
    )
