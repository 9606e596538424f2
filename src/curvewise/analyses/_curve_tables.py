"""The tables of `Learning`, for people and for programs."""

import math

import numpy as np

from curvewise._text import Cell, joined, percent, shown, step
from curvewise.analyses._curve_fits import CurveFit, CurvePair, CurveTask
from curvewise.analyses._tables import interval_cell
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.learning import Crossing

_NOTHING = 1e-12  # what is below is a rounding error


def fit_row(task: str, fit: CurveFit, confidence: float) -> dict[str, Cell]:
    """Return one curve for programs."""
    law, counts = fit.law, fit.measured.counts
    told = law.parameters(confidence)
    row: dict[str, Cell] = {
        "task": task,
        "algorithm": fit.algorithm,
        "sizes": len(counts),
        "runs": sum(counts),
        "failed": fit.measured.failed,
        "smallest": float(fit.measured.sizes[0]),
        "largest": fit.largest,
        "size": float(law.size),
    }
    for name, key in _KEYS.items():
        row |= {
            name: told[key].value,
            f"{name}_lower": told[key].lower,
            f"{name}_upper": told[key].upper,
        }
    return row | {
        "amplitude": float(law.eta),
        "r_squared": float(law.r_squared),
        "rises": fit.shape.is_nonmonotone,
        "is_convex": not fit.shape.is_nonconvex,
    }


_KEYS = {
    "error": "e_N",
    "reliance": "beta_N",
    "exponent": "gamma",
    "asymptote": "alpha",
}


def fit_table(found: CurveTask, confidence: float) -> list[dict[str, Cell]]:
    """Return the curves of one task, as they are printed."""
    size, out = step(found.size), []
    for fit in found.fits:
        told = fit.law.parameters(confidence)
        beyond = fit.law.extrapolation_limit
        row: dict[str, Cell] = {
            "algorithm": fit.algorithm,
            "sizes": len(fit.measured.sizes),
            "runs": _runs(fit.measured.counts),
            f"error at {size}": interval_cell(told["e_N"]),
            "data-reliance": interval_cell(_rounded(told["beta_N"])),
            "exponent": _exponent(told["gamma"]),
            "with 4 times the data": at_cell(fit.forecast.interval(beyond, confidence)),
        }
        if fit.measured.failed:
            row["failed"] = fit.measured.failed
        out.append(row)
    return out


def _exponent(told: Interval) -> str:
    """Return an exponent, of which two digits are more than is known."""
    return f"{told.value:.2f} [{told.lower:.2f}, {told.upper:.2f}]"


def _rounded(interval: Interval, places: int = 4) -> Interval:
    """Return an interval as it is read: nobody needs a reliance of 4.152e-06."""
    if interval.half_width > 1:
        return interval  # a loss has a scale of its own
    if interval.half_width > _NOTHING:  # small ones keep two digits
        places = max(places, 1 - math.floor(math.log10(interval.half_width)))
    numbers = (interval.lower, interval.upper, interval.value)
    # Adding 0 makes 0 of -0.
    low, high, value = (round(x, places) + 0.0 for x in numbers)
    return Interval(low, high, interval.estimand, interval.guarantee, value)


def _runs(counts: list[int]) -> str:
    """Return how many runs there are at the sizes: 10, or 16 to 1."""
    first, last = counts[0], counts[-1]
    low, high = min(counts), max(counts)
    if low == high:
        return str(low)
    return f"{first} to {last}" if {first, last} == {low, high} else f"{low} to {high}"


def at_cell(band: CurveBand) -> str:
    """Return the first point of a band in one cell of a table."""
    return interval_cell(point_of(band))


def point_of(band: CurveBand, i: int = 0) -> Interval:
    """Return one point of a band as an interval."""
    ends = float(band.lower[i]), float(band.upper[i])
    return Interval(*ends, band.estimand, band.guarantee, float(band.value[i]))


def size_rows(task: str, fit: CurveFit, confidence: float) -> list[dict[str, Cell]]:
    """Return the sizes of one curve for programs: what was observed, and the fit."""
    own = fit.measured
    band = fit.band(own.sizes, confidence)
    columns = (own.sizes, own.errors, band.value, band.lower, band.upper)
    return [
        {
            "task": task,
            "algorithm": fit.algorithm,
            "size": float(n),
            "runs": len(errors),
            "error": float(errors.mean()),
            "sd": float(errors.std(ddof=1)) if len(errors) > 1 else None,
            "fitted": float(fitted),
            "band_lower": float(lower),
            "band_upper": float(upper),
        }
        for n, errors, fitted, lower, upper in zip(*columns, strict=True)
    ]


def beyond_table(found: CurveTask, confidence: float) -> list[dict[str, Cell]]:
    """Return what more data would buy, as it is printed."""
    out: list[dict[str, Cell]] = []
    for fit in found.fits:
        times = np.array(_TIMES)
        band = fit.forecast.interval(times * fit.largest, confidence)
        row: dict[str, Cell] = {
            "algorithm": fit.algorithm,
            "now": number_cell(float(fit.forecast.predict(fit.largest)[0])),
        }
        for i, factor in enumerate(_TIMES):
            row[f"with {factor} times the data"] = interval_cell(point_of(band, i))
        out.append(row)
    return out


_TIMES = (2, 4, 10)
_MANY_TIMES = 1000  # beyond, the factor itself means nothing


def pair_row(task: str, size: float, pair: CurvePair) -> dict[str, Cell]:
    """Return one pair of curves for programs."""
    at = pair.crossing.at[0] if pair.crossing.at else None
    factor = pair.multiplier
    return {
        "task": task,
        "first": pair.one,
        "second": pair.other,
        "size": size,
        "error_difference": pair.error.value,
        "error_difference_lower": pair.error.lower,
        "error_difference_upper": pair.error.upper,
        "reliance_difference": pair.reliance.value,
        "reliance_difference_lower": pair.reliance.lower,
        "reliance_difference_upper": pair.reliance.upper,
        "crossings": len(pair.crossing.at),
        "crossing": None if at is None else at.value,
        "crossing_lower": None if at is None else at.lower,
        "crossing_upper": None if at is None else at.upper,
        "multiplier": float(factor.value[0]),
        "multiplier_lower": float(factor.lower[0]),
        "multiplier_upper": float(factor.upper[0]),
        "noise_correlation": pair.correlation,
    }


def pair_table(found: CurveTask) -> list[dict[str, Cell]]:
    """Return the pairs of one task, as they are printed."""
    return [
        {
            "first": pair.one,
            "second": pair.other,
            f"difference in error at {step(found.size)}": interval_cell(
                _rounded(pair.error), sign=True
            ),
            "in data-reliance": interval_cell(_rounded(pair.reliance), sign=True),
            "they cross at": crossing_cell(pair.crossing),
            "second needs": multiplier_cell(pair),
        }
        for pair in found.pairs
    ]


def crossing_cell(crossing: Crossing) -> str:
    """Return where two curves cross in one cell of a table."""
    if not crossing.at:
        return f"not up to {size_cell(float(crossing.sizes[-1]))}"
    return "; ".join(
        f"{places} [{_end(low)}, {_end(high)}]"
        if low > 0 or math.isfinite(high)
        else "cannot be told"
        for places, low, high in crossing_places(crossing)
    )


def crossing_places(crossing: Crossing) -> list[tuple[str, float, float]]:
    """Return where two curves cross, and the sizes at which that cannot be told.

    Crossings between which nobody is surely better share these sizes.
    """
    together: dict[tuple[float, float], list[str]] = {}
    for one in crossing.at:
        together.setdefault((one.lower, one.upper), []).append(size_cell(one.value))
    return [(joined(places), *ends) for ends, places in together.items()]


def multiplier_cell(pair: CurvePair) -> str:
    """Return how many times the data the second of a pair needs."""
    told = pair.multiplier
    middle, low, high = (float(x[0]) for x in (told.value, told.lower, told.upper))
    ends = f"[{_times(low)}, {_times(high)}]"
    if middle == 0:
        return "less than was tried" if high == 0 else f"less than was tried {ends}"
    if math.isinf(middle):
        return f"never enough {ends}"
    return f"{_times(middle)} times the data {ends}"


def _times(factor: float) -> str:
    if not 0 < factor < math.inf:
        return "?"
    return f"{factor:.3g}" if factor < _MANY_TIMES else f"over {_MANY_TIMES:,}"


def size_cell(n: float) -> str:
    """Return a size that was computed, with three digits that matter.

    >>> size_cell(12345.6), size_cell(math.inf)
    ('12,300', 'never')
    """
    return step(float(f"{n:.3g}")) if math.isfinite(n) else "never"


def _end(n: float) -> str:
    return size_cell(n) if 0 < n < math.inf else "?"


def headline(label: str, confidence: float) -> str:
    """Return what the tables are of."""
    return (
        f"{label} against the size of the training set, {percent(confidence)} intervals"
    )


def chance_cell(p: float) -> str:
    """Return a probability, never rounded to certainty.

    >>> chance_cell(0.5), chance_cell(0.9999), chance_cell(0.0001)
    ('50 %', 'over 99 %', 'under 1 %')
    """
    if p > 0.99:
        return "over 99 %"
    return "under 1 %" if p < 0.01 else f"{100 * p:.0f} %"


def number_cell(value: float, beside: float = 0.0) -> str:
    """Return a number of a sentence, beside one next to which it may be noise.

    >>> number_cell(0.00012345), number_cell(0.00012345, beside=0.02), number_cell(1e-18)
    ('0.0001234', '0.0001', '0.0000')
    """
    is_noise = abs(value) < (1e-3 if abs(beside) >= 1e-3 else _NOTHING)
    return f"{value:.4f}" if is_noise else shown(float(value))
