"""From trials to tables: curves in three numbers, and pairs of them with intervals."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from curvewise.analyses.learning import learning
from curvewise.papers.hoiem2021.measuring import Rows, columns
from curvewise.papers.results import Table
from curvewise.stats.interval import Interval
from curvewise.stats.learning import data_multiplier
from curvewise.trials import Trials

# What is compared in which figure of the paper: curves, and pairs of them, of which the
# second is taken from the first.
GROUPS: dict[str, tuple[tuple[str, str], ...]] = {
    "Figure 3": (
        *(("logistic", "scratch"), ("tree", "scratch"), ("forest", "scratch")),
        *(("SVM", "scratch"), ("forest", "tree")),
    ),
    "Figure 4, from scratch": (
        *(("scratch, momentum", "scratch"), ("scratch, SGD", "scratch")),
        ("scratch, SGD", "scratch, momentum"),
    ),
    "Figure 4, pre-trained": (
        *(("tuned, momentum", "tuned"), ("tuned, SGD", "tuned")),
        ("tuned, SGD", "tuned, momentum"),
    ),
    "Figure 5": (
        *(("tuned", "scratch"), ("frozen", "random, frozen"), ("tuned", "frozen")),
    ),
    "Figure 6": (
        *(("tuned", "inputs, tuned"), ("inputs, tuned", "satellite, tuned")),
        *(("satellite, tuned", "scratch"), ("inputs, tuned", "scratch")),
    ),
    "Figure 7a": (
        *(("2 layers, tuned", "tuned"), ("3 layers, tuned", "2 layers, tuned")),
        ("3 layers, tuned", "tuned"),
    ),
    "Figure 7b": (
        *(("wide, tuned", "tuned"), ("wide, 2 layers, tuned", "2 layers, tuned")),
    ),
    "Figure 7c": (
        *(("6 tuned", "tuned"), ("3 layers, tuned", "6 tuned")),
        *(("wide, tuned", "6 tuned"), ("wide, 2 layers, tuned", "6 tuned")),
    ),
    "Figure 7d": (
        *(("2 layers, frozen", "frozen"), ("3 layers, frozen", "2 layers, frozen")),
        ("3 layers, frozen", "frozen"),
    ),
    "Figure 7e": (
        *(("wide, frozen", "frozen"), ("wide, 2 layers, frozen", "2 layers, frozen")),
    ),
    "Figure 8": (
        *(("scratch, jittered", "scratch"), ("tuned, jittered", "tuned")),
        ("frozen, jittered", "frozen"),
    ),
}
_POINTS = 100  # percentage points of 1
_PART = 4  # what a curve is worth in data is asked at N over this


def compared(trials: Mapping[str, Trials]) -> dict[str, Table]:
    """Return curves, pairs and means of all halves of the letters."""
    curves: Rows = []
    pairs: Rows = []
    means: Rows = []
    for half, own in trials.items():
        curves += _curves(half, own)
        means += _means(half, own)
        for figure, wanted in GROUPS.items():
            pairs += _pairs(half, figure, own, wanted)
    return {"curves": columns(curves), "pairs": columns(pairs), "means": columns(means)}


def _curves(half: str, trials: Trials) -> Rows:
    rows: Rows = []
    for name in trials.algorithms:
        (told,) = learning(trials.where(algorithm=name), "error").rows()
        row: dict[str, Any] = {"half": half, "algorithm": name}
        for key in ("error", "reliance", "asymptote"):
            for end in (key, f"{key}_lower", f"{key}_upper"):
                row[end] = _POINTS * _number(told[end])
        for end in ("exponent", "exponent_lower", "exponent_upper"):
            row[end] = _number(told[end])
        rows.append(row)
    return rows


def members(figure: str) -> tuple[str, ...]:
    """Return the curves of a figure, each once.

    >>> members("Figure 5")
    ('tuned', 'scratch', 'frozen', 'random, frozen')
    """
    return tuple(dict.fromkeys(name for pair in GROUPS[figure] for name in pair))


def _pairs(
    half: str, figure: str, trials: Trials, wanted: Sequence[tuple[str, str]]
) -> Rows:
    here = [name for name in members(figure) if name in trials.algorithms]
    if len(here) < 2:
        return []
    (found,) = learning(trials.where(algorithm=here), "error").found
    told = {(pair.one, pair.other): pair for pair in found.pairs}
    fits = {fit.algorithm: fit for fit in found.fits}
    rows: Rows = []
    for one, other in wanted:
        if one not in fits or other not in fits:
            continue
        is_turned = (one, other) not in told
        pair = told[(other, one) if is_turned else (one, other)]
        # Within what was tried, where power laws are held by the data.
        times = data_multiplier(fits[one].law, fits[other].law, found.size / _PART)
        cross = pair.crossing.at[0] if pair.crossing.at else None
        rows.append(
            {
                "half": half,
                "figure": figure,
                "first": one,
                "second": other,
                **_ends("error", pair.error, is_turned),
                **_ends("reliance", pair.reliance, is_turned),
                "crossing": math.nan if cross is None else float(cross.value),
                "times": float(times.value[0]),
                "times_lower": float(times.lower[0]),
                "times_upper": float(times.upper[0]),
            }
        )
    return rows


def _ends(name: str, told: Interval, is_turned: bool) -> dict[str, float]:
    """Return a difference and its interval in points, the other way round if asked for."""
    low, middle, high = (_POINTS * x for x in (told.lower, told.value, told.upper))
    if is_turned:
        low, middle, high = -high, -middle, -low
    return {name: middle, f"{name}_lower": low, f"{name}_upper": high}


def _means(half: str, trials: Trials) -> Rows:
    rows: Rows = []
    for name, points in trials.points("error").items():
        for n in np.unique(points.size):
            errors = _POINTS * points.value[points.size == n]
            sd = float(errors.std(ddof=1)) if len(errors) > 1 else math.nan
            rows.append(
                {
                    "half": half,
                    "algorithm": name,
                    "size": int(n),
                    "models": len(errors),
                    "error": float(errors.mean()),
                    "sd": sd,
                }
            )
    return rows


def _number(cell: Any) -> float:
    return math.nan if cell is None else float(cell)
