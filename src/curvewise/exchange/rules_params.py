"""The rule about params: were they drawn at random, as a distribution of scores needs?

Nothing here asks what the values look like alone: a list such as 32, 64, 128 may well
be drawn from at random. What random draws do not do is to hit every combination equally
often, or to change with the trial's number.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.errors import shortened
from curvewise.exchange.finding import Finding
from curvewise.exchange.looking import (
    ABSENT,
    Cell,
    Parsed,
    chance,
    coded,
    in_order,
    keyed,
    numbers_a_run,
    parsed,
    scored,
    some,
    trend,
)
from curvewise.exchange.rules_axis import sorted_rows
from curvewise.metrics import Floats
from curvewise.trials import Trials
from curvewise.trials.columns import Ints
from curvewise.trials.doors import last_values

GRID_LEVEL = 1e-3  # of one cell, an upper bound over all laws of the draws
DRIFT_LEVEL = 1e-4  # of one check: divided by the number of tests
LEAST_DRIFT = 0.1  # rank correlation; less is no optimiser, whatever the p value
FEWEST_IN_ORDER = 30  # trials, from which on the p value of a drift is trusted

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
    designs = [d for d in map(_design, parsed(trials, "params")) if d.varying]
    grids = [(d, grid) for d in designs if (grid := factorial(d.varying)) is not None]
    if grids:
        yield _grid_finding(grids)
    steps = [(d, hit) for d in designs if (hit := even_steps(d)) is not None]
    if steps:
        yield _steps_finding(steps)
    found = {id(d) for d, _ in (*grids, *steps)}
    free = [d for d in designs if id(d) not in found and d.n >= FEWEST_IN_ORDER]
    yield from _drifts(trials, free)


@dataclass(frozen=True, slots=True)
class Design:
    """The params of a cell: a code per value, and numbers where all values are.

    A param that is absent in some trials (the degree of a kernel that has none) has a
    code of its own there, and NaN among the numbers.
    """

    source: Parsed
    varying: dict[str, Ints]
    numbers: dict[str, Floats]

    @property
    def n(self) -> int:
        """How many trials were looked at."""
        return len(self.source.dicts)


def _design(source: Parsed) -> Design:
    names = sorted(
        {name for d in source.dicts for name in d if not numbers_a_run(name)}
    )
    varying, numbers = {}, {}
    for name in names:
        column = [d.get(name, ABSENT) for d in source.dicts]
        codes = coded(map(keyed, column))
        if codes.any():
            varying[name] = codes
            if (values := _as_numbers(column)) is not None:
                numbers[name] = values
    return Design(source, varying, numbers)


def _as_numbers(column: list[Any]) -> Floats | None:
    plain = [v for v in column if v is not ABSENT]
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in plain):
        return None
    try:
        return np.array([math.nan if v is ABSENT else float(v) for v in column])
    except OverflowError:  # a whole number beyond the floats
        return None


# --- grids ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grid:
    """A factorial design: combinations there are and were met, and its probability."""

    combinations: int
    met: int
    times: int
    p: float


def factorial(varying: dict[str, Ints]) -> Grid | None:
    """Return the grid that params form, or None if they may have been drawn at random.

    Notes
    -----
    D draws from K combinations are all different with probability at most
    K! / ((K - D)! K^D), whatever the law of the draws: equal probabilities make it
    largest. Runs of the same combination with several seeds are taken as one draw,
    which only makes this larger. One param alone is no grid: continuous draws never
    repeat.
    """
    if len(varying) < 2:
        return None
    n = len(next(iter(varying.values())))
    combinations, place = 1, np.zeros(n, np.int64)
    for codes in varying.values():
        k = int(codes.max()) + 1
        combinations *= k
        if combinations > 2 * n:
            return None
        place = place * k + codes
    times = np.unique(place, return_counts=True)[1]
    met, most = len(times), int(times.max())
    if 4 * met < 3 * combinations or np.mean(times == most) < 0.9:
        return None
    log_p = (
        math.lgamma(combinations + 1)
        - math.lgamma(combinations - met + 1)
        - met * math.log(combinations)
    )
    if log_p > math.log(GRID_LEVEL):
        return None
    return Grid(combinations, met, most, math.exp(log_p))


def _grid_finding(grids: list[tuple[Design, Grid]]) -> Finding:
    design, grid = grids[0]
    sizes = " x ".join(
        f"{shortened(name, 30)} ({int(codes.max()) + 1})"
        for name, codes in list(design.varying.items())[:6]
    )
    often = "once" if grid.times == 1 else f"{grid.times:,} times"
    return Finding(
        "params-grid",
        "warning",
        f"Params form a grid: {grid.met:,} of {grid.combinations:,} combinations of "
        f"{sizes} occur, each {often}. Random draws do that with probability "
        f"{_at_most(grid.p)}{design.source.caveat}.",
        some(d.source.cell for d, _ in grids),
        _WHY
        + "A grid weighs every combination alike, whatever the person who chose its "
        "edges had in mind, and its trials are no sample.",
        _REUSE,
    )


def _at_most(p: float) -> str:
    return "below 1e-12" if p < 1e-12 else f"at most {p:.0e}"


# --- one param in even steps ----------------------------------------------------------


def even_steps(design: Design) -> tuple[str, Floats, float] | None:
    """Return the one param that goes in even or round steps, its values, and p.

    k values, each equally often, come from k draws with probability at most k! / k^k.
    """
    if len(design.varying) != 1:
        return None
    (name, codes), *_ = design.varying.items()
    values = design.numbers.get(name)
    if values is None or np.isnan(values).any():
        return None
    levels, times = np.unique(values, return_counts=True)
    k = len(levels)
    p = math.exp(math.lgamma(k + 1) - k * math.log(k))
    if k < 5 or (times != times[0]).any() or k != int(codes.max()) + 1:
        return None
    return (name, levels, p) if _even(levels) or _round(levels) else None


def _even(levels: Floats) -> bool:
    forms: list[Callable[[Floats], Floats]] = [np.asarray]
    if levels[0] > 0:
        forms.append(np.log)
    for form in forms:
        with np.errstate(all="ignore"):
            gaps = np.diff(form(levels))
            if np.isfinite(gaps).all() and np.ptp(gaps) <= 0.01 * gaps.mean():
                return True
    return False


def _round(levels: Floats) -> bool:
    return all(
        len(f"{v:.15e}".lstrip("-").split("e")[0].rstrip("0.")) <= 1 for v in levels
    )


def _steps_finding(found: list[tuple[Design, tuple[str, Floats, float]]]) -> Finding:
    design, (name, levels, p) = found[0]
    often = design.n // len(levels)
    shown = some((f"{v:g}" for v in levels), 5)
    return Finding(
        "params-steps",
        "warning" if p < GRID_LEVEL else "note",
        f"'{shortened(name)}' takes {len(levels):,} values in even steps ({shown}), "
        f"each {'once' if often == 1 else f'{often:,} times'}. Random draws do that "
        f"with probability {_at_most(p)}{design.source.caveat}.",
        some(d.source.cell for d, _ in found),
        _WHY + "A sweep in even steps is no sample.",
        _REUSE + " If this compares settings, read it as algorithm= instead.",
    )


# --- drift ----------------------------------------------------------------------------


def _drifts(trials: Trials, designs: list[Design]) -> Iterator[Finding]:
    """Yield params and scores that change with the trial's number."""
    metrics = {m: last_values(trials, m) for m in scored(trials)} if designs else {}
    series: list[tuple[Cell, str, Floats, str]] = []
    ordered: dict[str, list[Cell]] = {}
    for design in designs:
        mine = _series(design, metrics)
        sorted_by = [
            label for label, x in mine if in_order(x) and len(np.unique(x)) > 2
        ]
        if sorted_by:
            ordered.setdefault(sorted_by[0], []).append(design.source.cell)
            continue
        for label, x in mine:
            cell, caveat = design.source.cell, design.source.caveat
            series.append((cell, label, x, caveat))
            if label in design.numbers and len(np.unique(x)) > 2:
                # An optimiser narrows its search: how far out values lie falls.
                middle = np.abs(x - np.median(x))
                series.append((cell, f"spread of {label}", middle, caveat))
    hits: list[tuple[float, float, str, Cell, str]] = []
    for cell, label, x, caveat in series:
        rho, p = trend(x)
        if p * len(series) < DRIFT_LEVEL and abs(rho) >= LEAST_DRIFT:
            hits.append((p, rho, label, cell, caveat))
    if hits:
        yield _drift_finding(sorted(hits, key=lambda hit: hit[0]), len(series))
    for label, found in ordered.items():
        yield sorted_rows(label, found)


def _series(design: Design, metrics: dict[str, Floats]) -> list[tuple[str, Floats]]:
    """Return what may drift: numbers, the commonest choice, scores; by number."""
    out: list[tuple[str, Floats]] = []
    for name, codes in design.varying.items():
        if name in design.numbers:
            x = design.numbers[name]
            out.append((name, x[~np.isnan(x)]))
        else:
            common = codes == np.bincount(codes).argmax()
            out.append((name, common.astype(np.float64)))
    out += [(m, x) for m, full in metrics.items() if len(x := _finite(full, design))]
    return [(name, x) for name, x in out if len(x) >= FEWEST_IN_ORDER]


def _finite(full: Floats, design: Design) -> Floats:
    scores = full[design.source.rows]
    return scores[np.isfinite(scores)]


def _drift_finding(
    hits: list[tuple[float, float, str, Cell, str]], tests: int
) -> Finding:
    each = [
        f"'{shortened(label, 40)}' {rho:+.2f} ({chance(p)}) in {cell}{caveat}"
        for p, rho, label, cell, caveat in hits
    ]
    return Finding(
        "params-drift",
        "warning",
        f"{len(hits):,} of {tests:,} params and scores change with the trial's number, "
        f"which random draws cannot: rank correlation {some(each, 3)}.",
        some(dict.fromkeys(str(cell) for *_, cell, _ in hits)),
        _WHY + "An optimiser such as TPE or CMA-ES moves to where scores are good: its "
        "later trials are better than those of the declared distribution.",
        _REUSE + " If trials are numbered by when they ended, number them by when they "
        "started: quick settings end first.",
    )
