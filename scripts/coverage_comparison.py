"""How often do the intervals of stats.comparison hold, and how long are they?

    python scripts/coverage_comparison.py improvement
    python scripts/coverage_comparison.py difference mean
    python scripts/coverage_comparison.py shift | dominance | tasks | profiles | null

Every table has one row per distribution and one column per number of trials; a cell is
"coverage / median length" of 95 % intervals.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import special

from curvewise.errors import CurvewiseWarning
from curvewise.stats import comparison as c
from curvewise.stats.interval import Interval

SIZES = (5, 20, 100, 2000)
REPS = 2000
GRID = (np.arange(200_000) + 0.5) / 200_000  # quantiles at which truth is computed


def failing(share, p):
    """Return quantiles of an algorithm that fails sometimes and scores 0 then."""
    inside = np.clip((p - share) / (1 - share), 0, 1)
    return np.where(p < share, 0.0, special.betaincinv(8, 3, inside))


# Quantile functions of A and B. Truth is computed from them, draws are made with them.
PAIRS: dict[str, tuple[Callable, Callable]] = {
    "uniform, same": (lambda p: p, lambda p: p),
    "uniform, shifted": (lambda p: 0.3 + 0.7 * p, lambda p: 0.7 * p),
    "Beta(5,2), Beta(2,2)": (
        partial(special.betaincinv, 5, 2),
        partial(special.betaincinv, 2, 2),
    ),
    "ties: fifths, squared": (
        lambda p: np.floor(5 * p) / 4,
        lambda p: np.floor(5 * p**2) / 4,
    ),
    "heavy: t3": (
        lambda p: special.stdtrit(3, p) + 0.5,
        lambda p: 2 * special.stdtrit(3, p),
    ),
    "mixed: fails 10 %, 30 %": (partial(failing, 0.1), partial(failing, 0.3)),
}
BOUNDED = [name for name in PAIRS if not name.startswith("heavy")]


def draws(rng, n, correlation):
    """Return uniform numbers for A and B, with a Gaussian copula where correlated."""
    if correlation == 0:
        return rng.random(n), rng.random(n)
    x = rng.standard_normal((2, n))
    y = correlation * x[0] + np.sqrt(1 - correlation**2) * x[1]
    return special.ndtr(x[0]), special.ndtr(y)


def cell(interval, pair, truth, n, correlation=0.0, reps=REPS):
    """Return coverage and median length over many samples."""
    rng = np.random.default_rng([n, len(pair), int(100 * correlation) % 97])
    hits, lengths = 0, []
    for _ in range(reps):
        u, v = draws(rng, n, correlation)
        found = interval(PAIRS[pair][0](u), PAIRS[pair][1](v))
        hits += found.lower - 1e-9 <= truth <= found.upper + 1e-9
        lengths.append(found.upper - found.lower)
    return hits / reps, float(np.median(lengths))


def table(title, rows, columns, entry):
    print(f"\n### {title}\n")
    print(f"| |{'|'.join(f' {name} ' for name in columns)}|")
    print(f"|---|{'---|' * len(columns)}")
    for row in rows:
        cells = [entry(row, column) for column in columns]
        text = "|".join(
            " - " if found is None else f" {found[0]:.3f} / {found[1]:.3g} "
            for found in cells
        )
        print(f"| {row} |{text}|", flush=True)


def paired_truth(pair, correlation):
    rng = np.random.default_rng(1)
    u, v = draws(rng, 4_000_000, correlation)
    a, b = PAIRS[pair][0](u), PAIRS[pair][1](v)
    return float(((1 + np.sign(a - b)) / 2).mean())


def improvement() -> None:
    truth = {}
    for pair, (a, b) in PAIRS.items():
        x, y = a(GRID), np.sort(b(GRID))
        below = np.searchsorted(y, x, "left") + np.searchsorted(y, x, "right")
        truth[pair] = float(below.mean() / (2 * len(y)))
    for method in ("asymptotic", "guaranteed"):
        find = partial(c.probability_of_improvement, method=method)
        table(
            f"probability of improvement, {method}",
            PAIRS,
            (5, 10, *SIZES[1:]),
            lambda pair, n, find=find: cell(find, pair, truth[pair], n),
        )
    together = {pair: paired_truth(pair, 0.8) for pair in PAIRS}
    for method in ("asymptotic", "guaranteed"):
        find = partial(c.probability_of_improvement, method=method, paired=True)
        table(
            f"probability of improvement, paired (correlation .8), {method}",
            PAIRS,
            (5, 10, *SIZES[1:]),
            lambda pair, n, find=find: cell(find, pair, together[pair], n, 0.8),
        )


STATISTICS = {
    "mean": {"of": "mean"},
    "cvar-upper": {"of": "cvar", "alpha": 0.5},
    "cvar-lower": {"of": "cvar", "alpha": 0.5, "tail": "lower"},
    "cvar-0.9": {"of": "cvar", "alpha": 0.9},
    "median": {"of": "quantile", "alpha": 0.5},
    "quantile-0.9": {"of": "quantile", "alpha": 0.9},
}


def true_statistic(quantiles, of, alpha=0.5, tail="upper"):
    if of == "quantile":
        return float(quantiles(np.array(alpha)))
    p = GRID
    if of == "cvar":
        p = alpha + (1 - alpha) * GRID if tail == "upper" else alpha * GRID
    return float(quantiles(p).mean())


def difference(*names: str) -> None:
    for name in names or STATISTICS:
        asked = STATISTICS[name]
        truth = {
            pair: true_statistic(a, **asked) - true_statistic(b, **asked)
            for pair, (a, b) in PAIRS.items()
        }
        for method, correlation in (
            ("asymptotic", 0.0),
            ("asymptotic", 0.8),
            ("asymptotic", -0.5),
            ("guaranteed", 0.0),
            ("guaranteed", 0.8),
        ):
            options = {**asked, "method": method, "paired": correlation != 0}
            if method == "guaranteed":
                options["support"] = (0, 1)
            find = partial(c.difference, **options)
            title = f"difference of {name}, {method}"
            title += f", paired (correlation {correlation:g})" if correlation else ""
            table(
                title,
                BOUNDED if method == "guaranteed" else PAIRS,
                (5, 10, *SIZES[1:]),
                lambda pair, n, f=find, r=correlation, truth=truth: cell(
                    f, pair, truth[pair], n, r, reps=REPS if n < 2000 else 500
                ),
            )


def shift() -> None:
    p = np.arange(1, 100) / 100

    def coverage(pair, n, kind):
        rng = np.random.default_rng(n)
        a, b = PAIRS[pair]
        truth, hits, lengths = a(p) - b(p), 0, []
        for _ in range(REPS):
            found = c.quantile_shift(a(rng.random(n)), b(rng.random(n)), p, kind=kind)
            inside = (found.lower <= truth + 1e-9) & (truth - 1e-9 <= found.upper)
            hits += inside.all()
            lengths.append(found.upper[49] - found.lower[49])
        return hits / REPS, float(np.median(lengths))

    for kind in ("kolmogorov", "equal_local_levels"):
        table(
            f"quantile shift, all of 99 quantiles at once, {kind}; length at the median",
            PAIRS,
            SIZES,
            lambda pair, n, kind=kind: coverage(pair, n, kind),
        )


CROSSING: dict[str, tuple[Callable, Callable]] = {
    "uniform in uniform": (lambda p: p, lambda p: 0.2 + 0.4 * p),
    "Beta(5,2), Beta(2,1)": (
        partial(special.betaincinv, 5, 2),
        partial(special.betaincinv, 2, 1),
    ),
    "normal, wide": (
        lambda p: 0.5 + special.ndtri(p),
        lambda p: 1.5 * special.ndtri(p),
    ),
    "normal, narrow": (lambda p: 0.3 + 2 * special.ndtri(p), special.ndtri),
    "ties": (lambda p: np.floor(3 * p) + 1, lambda p: 0.8 * np.floor(6 * p)),
    "heavy: t3": (
        lambda p: 0.4 + 0.7 * special.stdtrit(3, p),
        partial(special.stdtrit, 3),
    ),
    "mixed: fails 10 %": (
        lambda p: np.where(p < 0.1, 0, 0.8 + (p - 0.1) / 9),
        lambda p: 0.6 + 0.2 * p,
    ),
}


def true_violation(a, b):
    p = (np.arange(2_000_000) + 0.5) / 2_000_000
    gap = a(p) - b(p)
    return float((np.minimum(gap, 0) ** 2).sum() / (gap**2).sum())


def dominance() -> None:
    def coverage(pair, n):
        rng = np.random.default_rng(n)
        a, b = CROSSING[pair]
        truth, reps = true_violation(a, b), 500 if n < 2000 else 60
        upper = np.array(
            [
                c.dominance(
                    a(rng.random(n)), b(rng.random(n)), resamples=400, rng=rng
                ).upper
                for _ in range(reps)
            ]
        )
        return (upper >= truth).mean(), upper.mean() - truth

    table(
        "violation ratio, one-sided; how far above the truth on average",
        CROSSING,
        (5, 20, 50, 100, 2000),
        coverage,
    )


# Quantile functions of task t of 8; tasks differ in scale and location.
TASKS: dict[str, Callable] = {
    "uniform": lambda p, t: t / 4 + p,
    "Beta": lambda p, t: special.betaincinv(1 + t / 2, 2, p),
    "ties": lambda p, t: np.floor(5 * p) / 4 + np.floor(t / 3),
    "gamma": lambda p, t: (1 + t / 4) * special.gammaincinv(2, p),
    "heavy: t3": lambda p, t: t / 2 + special.stdtrit(3, p),
    "mixed: fails": lambda p, t: failing(0.05 + t / 20, p) * (1 + t / 8),
}
RUNS = (3, 5, 10, 20, 100)


def many(shape, rng, runs, tasks=8):
    u = rng.random((runs, tasks))
    return np.stack([TASKS[shape](u[:, t], t) for t in range(tasks)], axis=1)


def tasks() -> None:
    def coverage(shape, runs, find, value, reps):
        grid = (np.arange(20_000) + 0.5) / 20_000
        truth = value(np.stack([TASKS[shape](grid, t) for t in range(8)], axis=1))
        rng, hits, lengths = np.random.default_rng(runs), 0, []
        for _ in range(reps):
            found = find(many(shape, rng, runs), rng)
            hits += found.lower - 1e-9 <= truth <= found.upper + 1e-9
            lengths.append(found.upper - found.lower)
        return hits / reps, float(np.median(lengths))

    def without(find):
        return lambda scores, rng: find(scores)

    for name, find, value, reps in (
        ("IQM, closed form", without(c.iqm_interval), c.iqm, REPS),
        (
            "IQM, bootstrap",
            lambda z, rng: c.iqm_bootstrap(z, resamples=500, rng=rng),
            c.iqm,
            300,
        ),
        ("mean", without(c.mean_over_tasks_interval), c.mean_over_tasks, REPS),
        ("optimality gap", without(c.optimality_gap_interval), c.optimality_gap, REPS),
    ):
        table(
            f"{name} over 8 tasks; columns are runs of each",
            TASKS,
            RUNS,
            lambda shape, runs, f=find, v=value, k=reps: coverage(shape, runs, f, v, k),
        )
    for method in ("asymptotic", "guaranteed"):
        table(
            f"probability of improvement over 8 tasks, {method}",
            TASKS,
            RUNS,
            lambda shape, runs, m=method: improvement_coverage(shape, runs, m),
        )


def improvement_coverage(shape, runs, method):
    """A is the shape, B the same but for one task fewer to the right."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    truth = c.improvement_over_tasks(
        np.stack([TASKS[shape](grid, t) for t in range(8)], axis=1),
        np.stack([TASKS[shape](grid, max(t - 1, 0)) for t in range(8)], axis=1),
    ).value
    rng, hits, lengths, reps = np.random.default_rng(runs), 0, [], 1000
    for _ in range(reps):
        u, v = rng.random((2, runs, 8))
        a = np.stack([TASKS[shape](u[:, t], t) for t in range(8)], axis=1)
        b = np.stack([TASKS[shape](v[:, t], max(t - 1, 0)) for t in range(8)], axis=1)
        found = c.improvement_over_tasks(a, b, method=method)
        hits += found.lower - 1e-9 <= truth <= found.upper + 1e-9
        lengths.append(found.upper - found.lower)
    return hits / reps, float(np.median(lengths))


def profiles() -> None:
    def coverage(shape, runs, find, reps):
        grid = (np.arange(20_000) + 0.5) / 20_000
        every = np.stack([TASKS[shape](grid, t) for t in range(8)], axis=1)
        # Between the atoms of the discrete ones, so that rounding decides nothing.
        at = np.quantile(every, np.arange(0.5, 20) / 20) + 1e-7
        truth = np.array([(every > z).mean() for z in at])
        rng, hits, lengths = np.random.default_rng(runs), 0, []
        for _ in range(reps):
            found = find(many(shape, rng, runs), at, rng)
            inside = (found.lower <= truth + 1e-4) & (truth - 1e-4 <= found.upper)
            is_pointwise = "by itself" in found.guarantee
            hits += inside.mean() if is_pointwise else inside.all()
            lengths.append((found.upper - found.lower).mean())
        return hits / reps, float(np.median(lengths))

    for name, find, reps in (
        (
            "closed form, pointwise",
            lambda z, at, rng: c.performance_profile(z, at, pointwise=True),
            REPS,
        ),
        ("closed form", lambda z, at, rng: c.performance_profile(z, at), REPS),
        (
            "guaranteed",
            lambda z, at, rng: c.performance_profile(z, at, method="guaranteed"),
            100,
        ),
        (
            "bootstrap",
            lambda z, at, rng: c.performance_profile_bootstrap(
                z, at, resamples=500, rng=rng
            ),
            300,
        ),
    ):
        table(
            f"performance profile at 20 thresholds over 8 tasks, {name}",
            TASKS,
            RUNS,
            lambda shape, runs, f=find, k=reps: coverage(shape, runs, f, k),
        )


def null() -> None:
    """How often an interval excludes "no difference" where there is none."""
    reps = 4000

    def rate(shape, n, find, nothing):
        rng, quantiles = np.random.default_rng(n), PAIRS[shape][0]
        hits, lengths = 0, []
        for _ in range(reps):
            found = find(quantiles(rng.random(n)), quantiles(rng.random(n)))
            hits += not found.lower <= nothing <= found.upper
            lengths.append(found.upper - found.lower)
        return hits / reps, float(np.median(lengths))

    better, differ = c.probability_of_improvement, c.difference
    for name, find, nothing in (
        ("probability of improvement, asymptotic", better, 0.5),
        ("the same, paired", partial(better, paired=True), 0.5),
        ("the same, guaranteed", partial(better, method="guaranteed"), 0.5),
        ("difference of means, asymptotic", differ, 0.0),
        ("the same, paired", partial(differ, paired=True), 0.0),
        ("difference of CVaR 0.5", partial(differ, of="cvar"), 0.0),
        ("difference of medians", partial(differ, of="quantile"), 0.0),
        ("negative control: normal, not Student", normal_interval, 0.0),
    ):
        table(
            f"how often the interval excludes {nothing:g} under no difference, {name}",
            PAIRS,
            (5, 20, 100),
            lambda shape, n, f=find, x=nothing: rate(shape, n, f, x),
        )


def normal_interval(a, b):
    gap = a.mean() - b.mean()
    reach = 1.96 * np.sqrt(a.var() / len(a) + b.var() / len(b))
    return Interval(gap - reach, gap + reach, "", "")


SECTIONS = {
    "improvement": improvement,
    "difference": difference,
    "shift": shift,
    "dominance": dominance,
    "tasks": tasks,
    "profiles": profiles,
    "null": null,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", CurvewiseWarning)
    SECTIONS[sys.argv[1]](*sys.argv[2:])
