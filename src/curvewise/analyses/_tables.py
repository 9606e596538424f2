"""The tables of `Performance`, for people and for programs."""

import math
from collections.abc import Sequence

import numpy as np

from curvewise._text import Cell, percent, shown
from curvewise.analyses._contrasts import Contrast
from curvewise.analyses._distribution import Distribution
from curvewise.analyses._overall import Overall
from curvewise.stats.interval import CurveBand, Interval

_BEST = (1.0, 0.75, 0.5, 0.25, 0.1)  # shares of the trials
_TRIED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def interval_cell(interval: Interval, *, sign: bool = False, value: bool = True) -> str:
    """Return an estimate and its interval in one cell of a table.

    >>> interval_cell(Interval(0.1, 0.25, "", "", value=0.2))
    '0.2000 [0.100, 0.250]'
    >>> interval_cell(Interval(-math.inf, 0.25, "", "", value=0.2), sign=True)
    '+0.2000 [?, +0.250]'
    """
    ends = (interval.lower, interval.upper)
    # Beside an end of 0.02 nobody needs the fifth digit of 0.0009167.
    size = max((abs(e) for e in ends if math.isfinite(e)), default=0.0)
    is_narrow = interval.half_width < 0.005  # three digits would show no width
    digits = 4 if is_narrow else 3
    span = ", ".join(_signed(e, digits, sign, size) for e in ends)
    number = f"{_signed(interval.value, 4, sign, size)} " if value else ""
    return f"{number}[{span}]"


def _signed(value: float, digits: int, sign: bool, size: float) -> str:
    if not math.isfinite(value):
        return "?"
    is_noise = abs(value) < 1e-3 <= size
    text = f"{value:.{digits}f}" if is_noise else shown(value, digits)
    return ("+" if sign and value > 0 else "") + text


def table(
    own: Sequence[Distribution], alpha: float, threshold: float | None
) -> list[dict[str, Cell]]:
    """Return the algorithms on one task."""
    best, worst = f"best {percent(1 - alpha)}", f"worst {percent(alpha)}"
    out: list[dict[str, Cell]] = []
    for d in own:
        row: dict[str, Cell] = {
            "algorithm": d.algorithm,
            f"{d.unit}s": len(d.scores),
            "failed": d.failed,
            "mean": interval_cell(d.mean_interval),
            best: interval_cell(d.best_interval),
            worst: interval_cell(d.worst_interval),
            "median": interval_cell(d.median_interval),
        }
        if threshold is not None:
            found = d.reaching(threshold)
            row[f"reach {threshold:g}"] = found.probability
            row["mean of those"] = found.mean_reached
        out.append(row)
    return out


def best_table(own: Sequence[Distribution]) -> list[dict[str, Cell]]:
    """Return the mean of the best shares of the trials of each algorithm."""
    shares = np.array(_BEST[1:])
    out: list[dict[str, Cell]] = []
    for d in own:
        cells = _cells(d.best_curve(1 - shares))
        row: dict[str, Cell] = {"algorithm": d.algorithm}
        row[f"all {d.unit}s"] = interval_cell(d.mean_interval)
        out.append(
            row | {f"best {percent(s)}": c for s, c in zip(shares, cells, strict=True)}
        )
    return out


def tuning_table(own: Sequence[Distribution]) -> list[dict[str, Cell]]:
    """Return how good the best of k trials is on average."""
    out: list[dict[str, Cell]] = []
    for d in own:
        k = np.array([k for k in _TRIED if k <= len(d.scores)])
        row: dict[str, Cell] = {"algorithm": d.algorithm}
        cells = zip(k, _cells(d.tuning_curve(k)), strict=True)
        out.append(row | {f"best of {n}": cell for n, cell in cells})
    return out


def _cells(curve: CurveBand) -> list[str]:
    ends = zip(curve.lower, curve.upper, curve.value, strict=True)
    return [
        interval_cell(Interval(float(low), float(high), "", "", value=float(value)))
        for low, high, value in ends
    ]


def contrast_table(own: Sequence[Contrast], alpha: float) -> list[dict[str, Cell]]:
    """Return the pairs of algorithms on one task."""
    best = f"best {percent(1 - alpha)}, difference"
    return [
        {
            "pair": f"{c.one} - {c.other}",
            "first is better": interval_cell(c.improvement),
            best: interval_cell(c.best, sign=True),
            "guaranteed": ""
            if c.guaranteed is None
            else interval_cell(c.guaranteed, sign=True, value=False),
            "ahead": _ahead(c),
        }
        for c in own
    ]


def _ahead(c: Contrast) -> str:
    if c.probably_ahead:
        return f"probably {c.probably_ahead}"
    return c.ahead or "cannot tell"


def contrast_row(c: Contrast) -> dict[str, Cell]:
    """Return a pair of algorithms as a row for programs."""
    return {
        "task": c.task,
        "one": c.one,
        "other": c.other,
        "improvement": c.improvement.value,
        "improvement_lower": c.improvement.lower,
        "improvement_upper": c.improvement.upper,
        "cvar_best_difference": c.best.value,
        "cvar_best_difference_lower": c.best.lower,
        "cvar_best_difference_upper": c.best.upper,
        "guaranteed_lower": None if c.guaranteed is None else c.guaranteed.lower,
        "guaranteed_upper": None if c.guaranteed is None else c.guaranteed.upper,
        "ahead": c.ahead,
        "probably_ahead": c.probably_ahead,
    }


def overall_table(all_of_them: Sequence[Overall]) -> list[dict[str, Cell]]:
    """Return the algorithms over all tasks."""
    out: list[dict[str, Cell]] = []
    for one in all_of_them:
        row: dict[str, Cell] = {
            "algorithm": one.algorithm,
            "middle half (IQM)": interval_cell(one.iqm),
            "mean": interval_cell(one.mean),
        }
        if one.optimality_gap is not None:
            row["short of the best"] = interval_cell(one.optimality_gap)
        out.append(row)
    return out


def overall_rows(all_of_them: Sequence[Overall]) -> list[dict[str, Cell]]:
    """Return the algorithms over all tasks, for programs."""
    out: list[dict[str, Cell]] = []
    for one in all_of_them:
        row: dict[str, Cell] = {"algorithm": one.algorithm}
        for name in ("iqm", "mean", "optimality_gap"):
            found: Interval | None = getattr(one, name)
            if found is not None:
                row |= {name: found.value, f"{name}_lower": found.lower}
                row[f"{name}_upper"] = found.upper
        out.append(row)
    return out
