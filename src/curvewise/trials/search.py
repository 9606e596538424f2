"""How hyperparameters were searched: drawn at random, on a grid, by an optimiser.

Nothing here asks what the values look like alone: a list such as 32, 64, 128 may well
be drawn from at random. What random draws do not do is to hit every combination equally
often, or to change with the trial's number.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curvewise.metrics import Floats
from curvewise.trials import values
from curvewise.trials.cells import (
    ABSENT,
    Cell,
    Parsed,
    Repeated,
    coded,
    in_order,
    is_even,
    keyed,
    numbers_a_run,
    parsed,
    repetition,
)
from curvewise.trials.columns import Ints
from curvewise.trials.doors import last_values

if TYPE_CHECKING:
    from curvewise.trials.table import Trials

GRID_LEVEL = 1e-3  # of one cell, an upper bound over all laws of the draws
DRIFT_LEVEL = 1e-4  # of one check: divided by the number of tests
LEAST_DRIFT = 0.1  # rank correlation; less is no optimiser, whatever the p value
FEWEST_IN_ORDER = 30  # trials, from which on the p value of a drift is trusted


def searched(trials: "Trials") -> "Searched":
    """Return where params form a grid, go in even steps, or follow an optimiser."""
    labels = {own.cell: own for own in parsed(trials, "labels")}
    every = [settings_of(own, labels.get(own.cell)) for own in parsed(trials, "params")]
    varied = [s for s in every if s.varying]
    grids = [(s, grid) for s in varied if (grid := factorial(s.varying)) is not None]
    steps = [(s, hit) for s in varied if (hit := even_steps(s)) is not None]
    even = {id(s) for s, _ in (*grids, *steps)}
    free = [s for s in varied if id(s) not in even and s.n >= FEWEST_IN_ORDER]
    return Searched(varied, grids, steps, drifts(trials, free))


@dataclass(frozen=True, slots=True)
class Settings:
    """The params of a cell: a code per value, and numbers where all values are.

    A param that is absent in some trials (the degree of a kernel that has none) has a
    code of its own there, and NaN among the numbers. `rows` are the trials that have
    params at all: others of the cell lost them, as failed runs do. `setting` is a code
    for all params together, `repeated` how surely the same setting was run again by
    design, and `in_a_row` whether the runs of each setting stand next to each other.
    """

    source: Parsed
    rows: Ints
    varying: dict[str, Ints]
    numbers: dict[str, Floats]
    setting: Ints
    repeated: Repeated
    in_a_row: bool

    @property
    def n(self) -> int:
        """How many trials were looked at."""
        return len(self.rows)

    @property
    def once(self) -> bool:
        """Whether a setting counts once, where the order of runs is looked at."""
        return self.repeated == "surely" or (self.repeated != "never" and self.in_a_row)


def settings_of(source: Parsed, labels: Parsed | None = None) -> Settings:
    """Return the params of a cell as codes and numbers."""
    kept = _with_params(source.dicts)
    dicts = [source.dicts[i] for i in kept]
    names = sorted({name for d in dicts for name in d})
    runs = {name: dicts for name in names if numbers_a_run(name)}
    columns, varying, numbers = {}, {}, {}
    for name in names:
        if name in runs:
            continue
        column = [d.get(name, ABSENT) for d in dicts]
        codes = coded(map(keyed, column))
        if codes.any():
            columns[name], varying[name] = column, codes
            if (values := _as_numbers(column)) is not None:
                numbers[name] = values
    setting = (
        coded(zip(*varying.values(), strict=True))
        if varying
        else np.zeros(len(kept), int)
    )
    if labels is not None:
        told = [labels.dicts[i] for i in kept]
        runs |= {name: told for d in told for name in d if numbers_a_run(name)}
    by_run = [coded(keyed(d.get(name)) for d in own) for name, own in runs.items()]
    how, in_a_row = repetition(setting, columns, numbers, by_run)
    rows = source.rows.start + np.array(kept, np.int64)
    return Settings(source, rows, varying, numbers, setting, how, in_a_row)


def _with_params(dicts: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return which trials have params; all of them, where none has."""
    known: dict[int, bool] = {}  # the same text was parsed once, and is one object
    for d in dicts:
        if id(d) not in known:
            known[id(d)] = not all(map(numbers_a_run, d))
    kept = [i for i, d in enumerate(dicts) if known[id(d)]]
    return kept or list(range(len(dicts)))


def _as_numbers(column: list[Any]) -> Floats | None:
    plain = [v for v in column if v is not ABSENT]
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in plain):
        return None
    try:
        return np.array([math.nan if v is ABSENT else float(v) for v in column])
    except OverflowError:  # a whole number beyond the floats
        return None


class Searched(NamedTuple):
    """Cells with params that vary, those on a grid or in even steps, and what drifts."""

    varied: list[Settings]
    grids: "list[tuple[Settings, Grid]]"
    steps: list[tuple[Settings, tuple[str, Floats, float]]]
    drifts: "Drifts"


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


# --- one param in even steps ----------------------------------------------------------


def even_steps(settings: Settings) -> tuple[str, Floats, float] | None:
    """Return the one param that goes in even or round steps, its values, and p.

    k values, each equally often, come from k draws with probability at most k! / k^k.
    """
    if len(settings.varying) != 1:
        return None
    (name, codes), *_ = settings.varying.items()
    values = settings.numbers.get(name)
    if values is None or np.isnan(values).any():
        return None
    levels, times = np.unique(values, return_counts=True)
    k = len(levels)
    p = math.exp(math.lgamma(k + 1) - k * math.log(k))
    if k < 5 or (times != times[0]).any() or k != int(codes.max()) + 1:
        return None
    return (name, levels, p) if is_even(levels) or _round(levels) else None


def _round(levels: Floats) -> bool:
    return all(
        len(f"{v:.15e}".lstrip("-").split("e")[0].rstrip("0.")) <= 1 for v in levels
    )


# --- drift ----------------------------------------------------------------------------


class Drift(NamedTuple):
    """A param or score of a cell that changes with the trial's number."""

    p: float
    correlation: float
    label: str
    cell: Cell
    caveat: str


class Drifts(NamedTuple):
    """What drifts, surest first; of how many series; and cells that were sorted."""

    found: list[Drift]
    tests: int
    ordered: dict[str, list[Cell]]


def drifts(trials: "Trials", free: Sequence[Settings]) -> Drifts:
    """Return params and scores that change with the trial's number."""
    metrics = {m: last_values(trials, m) for m in scored(trials)} if free else {}
    series: list[tuple[Cell, str, Floats, str]] = []
    ordered: dict[str, list[Cell]] = {}
    for settings in free:
        mine = _series(settings, metrics)
        sorted_by = [
            label for label, x in mine if in_order(x) and len(np.unique(x)) > 2
        ]
        if sorted_by:
            ordered.setdefault(sorted_by[0], []).append(settings.source.cell)
            continue
        for label, x in mine:
            cell, caveat = settings.source.cell, settings.source.caveat
            series.append((cell, label, x, caveat))
            if label in settings.numbers and len(np.unique(x)) > 2:
                # An optimiser narrows its search: how far out values lie falls.
                middle = np.abs(x - np.median(x))
                series.append((cell, f"spread of {label}", middle, caveat))
    found = []
    for cell, label, x, caveat in series:
        rho, p = trend(x)
        if p * len(series) < DRIFT_LEVEL and abs(rho) >= LEAST_DRIFT:
            found.append(Drift(p, rho, label, cell, caveat))
    return Drifts(sorted(found, key=lambda hit: hit.p), len(series), ordered)


def _series(settings: Settings, metrics: dict[str, Floats]) -> list[tuple[str, Floats]]:
    """Return what may drift: numbers, the commonest choice, scores; by number.

    A setting that was run again by design counts once, or its runs would make a trend
    of whatever they share.
    """
    out: list[tuple[str, Floats]] = []
    once: Any = slice(None)
    if settings.once:
        once = np.unique(settings.setting, return_index=True)[1]
    for name, every in settings.varying.items():
        codes = every[once]
        if name in settings.numbers:
            x = settings.numbers[name][once]
            out.append((name, x[~np.isnan(x)]))
        else:
            common = codes == np.bincount(codes).argmax()
            out.append((name, common.astype(np.float64)))
    out += [(m, x) for m, full in metrics.items() if len(x := _finite(full, settings))]
    return [(name, x) for name, x in out if len(x) >= FEWEST_IN_ORDER]


def _finite(full: Floats, settings: Settings) -> Floats:
    scores = full[settings.rows]
    known = np.isfinite(scores)
    if not settings.once:
        return scores[known]
    of = settings.setting[known]
    sums, times = np.bincount(of, scores[known]), np.bincount(of)
    return np.asarray(sums[times > 0] / times[times > 0])


def scored(trials: "Trials") -> list[str]:
    """Return the metrics to look at; of what confusion counts tell, one is enough."""
    names = values.scored(trials)
    return names if any(name in trials.metrics for name in names) else names[:1]


def midranks(values: NDArray[Any]) -> Floats:
    """Return ranks around zero; values that are tied share their mean rank.

    >>> midranks(np.array([5, 7, 7])).tolist()
    [-1.0, 0.5, 0.5]
    """
    _, place, n = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(n) - (n - 1) / 2
    return np.asarray(rank[place] - (len(values) + 1) / 2, np.float64)


def trend(values: NDArray[Any]) -> tuple[float, float]:
    """Return Spearman's correlation of values with their order, and its p value.

    The p value is twice that of the usual t approximation, which is up to 1.6 times too
    small below 1e-3 with 20 to 60 values (measured).
    """
    from scipy import special

    x, t = midranks(values), np.arange(len(values)) - (len(values) - 1) / 2
    rho = float(x @ t / np.sqrt((x @ x) * (t @ t))) if np.any(x) else 0.0
    rest = max(1 - rho * rho, 1e-300)
    df = len(values) - 2
    return rho, min(4 * float(special.stdtr(df, -abs(rho) * np.sqrt(df / rest))), 1.0)
