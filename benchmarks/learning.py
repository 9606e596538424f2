"""Learning curves by the thousand, against a loop of scipy's curve_fit."""

import tracemalloc
import warnings

import numpy as np
from ratio import Ratio, best_of, typical_ratio

from curvewise.stats.forms import fit_forms

CURVES = 10_000
SIZES = np.array([25.0, 50, 100, 200, 400])
# The bounds of POW3, for both: c, b, g; sizes relative to the largest one.
LOWEST, HIGHEST = (0.0, 0.0, 0.02), (1.0, np.inf, 2.0)
# Costs below this are 0: a root mean square of 1e-5 at five sizes.
FLOOR = 5e-10


def measure() -> list[Ratio]:
    return [*_power_laws(), *_growth()]


def _curves(count: int) -> np.ndarray:
    """Return power laws with noise: a third without asymptote, some that do not fall."""
    rng = np.random.default_rng(1)
    c = rng.uniform(0, 0.4, (count, 1)) * (rng.random((count, 1)) < 2 / 3)
    b, g = rng.uniform(0, 0.4, (count, 1)), rng.uniform(0, 1.5, (count, 1))
    errors = c + b * (SIZES / SIZES[0]) ** -g
    return np.clip(errors + rng.normal(0, 0.01, errors.shape), 0, 1)


def _power(t: np.ndarray, c: float, b: float, g: float) -> np.ndarray:
    return c + b * t**-g


def _by_scipy(curves: np.ndarray, is_bounded: bool = True) -> np.ndarray:
    """Return the cost of each curve, NaN where curve_fit gives up."""
    from scipy.optimize import curve_fit

    t = SIZES / SIZES[-1]
    bounds = (LOWEST, HIGHEST) if is_bounded else (-np.inf, np.inf)
    cost = np.full(len(curves), np.nan)
    for i, y in enumerate(curves):
        # From what the eye would say: a little below the last error, falling by half.
        start = (0.9 * y[-1], max(y[0] - y[-1], 1e-3) / 3, 0.5)
        try:
            found, _ = curve_fit(_power, t, y, p0=start, bounds=bounds)
        except (RuntimeError, ValueError):
            continue
        cost[i] = ((y - _power(t, *found)) ** 2).sum()
    return cost


def _power_laws() -> list[Ratio]:
    curves = _curves(CURVES)
    theirs: list[np.ndarray] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # covariances that cannot be estimated
        _by_scipy(curves[:100])  # warm
        (slow,) = best_of(1, lambda: theirs.append(_by_scipy(curves)), warm=False)
        free: list[np.ndarray] = []
        part = curves[: CURVES // 5]
        (loose,) = best_of(1, lambda: free.append(_by_scipy(part, False)), warm=False)
    (fast,) = best_of(3, lambda: fit_forms(SIZES, curves, "POW3"))
    ours = fit_forms(SIZES, curves, "POW3").cost
    if not np.isfinite(ours).all():
        raise AssertionError("a curve was not fitted")
    cost = theirs[0]
    failed = np.isnan(cost)
    above = (ours - cost)[~failed] / np.maximum(cost[~failed], FLOOR)
    below = ((cost - ours)[~failed] > 1e-3 * np.maximum(cost[~failed], FLOOR)).sum()
    return [
        Ratio(
            f"POW3 of {CURVES:,} curves of 5 sizes, grid and one refinement, faster than "
            "a loop of curve_fit",
            slow / fast,
            200,
            "at least",
            f"ours {1e3 * fast:.0f} ms, scipy's curve_fit with the same bounds, on all of "
            f"them, {slow:.1f} s",
        ),
        Ratio(
            "the same, faster than curve_fit without bounds (Levenberg-Marquardt)",
            5 * loose / fast,
            40,
            "at least",
            f"{len(part):,} of the curves in {loose:.1f} s; it gives up on "
            f"{np.isnan(free[0]).sum()} of them, where ours are finite",
        ),
        Ratio(
            "sum of squares above scipy's, the worst of the curves",
            100 * above.max(),
            0.1,
            "at most",
            f"sums below {FLOOR:g} are 0; curve_fit gave up on {failed.sum()} curves, and "
            f"is more than .1 % worse on {below}",
            "%",
        ),
    ]


def _growth() -> list[Ratio]:
    few, many = _curves(CURVES), _curves(10 * CURVES)

    def space(curves: np.ndarray) -> float:
        """Return bytes a curve at the peak, less what the answer keeps."""
        tracemalloc.start()
        kept = fit_forms(SIZES, curves, "POW3")
        left, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert kept.is_fitted.all()
        return peak - left

    time = typical_ratio(
        9,
        lambda: fit_forms(SIZES, many, "POW3"),
        lambda: fit_forms(SIZES, few, "POW3"),
    )
    one, ten = space(few), space(many)
    return [
        Ratio(
            "ten times the curves cost",
            time,
            12,
            "at most",
            f"{10 * CURVES:,} curves against {CURVES:,}; median of 9 pairs",
        ),
        Ratio(
            "memory beside the answer, of the curves' own size",
            (ten - one) / (many.nbytes - few.nbytes),
            3,
            "at most",
            f"{one / 1e6:.1f} MB and {ten / 1e6:.1f} MB at the peak, for curves of "
            f"{few.nbytes / 1e6:.1f} MB and {many.nbytes / 1e6:.1f} MB",
        ),
    ]
