"""Figures 2 and 3, and Table 2 over the length of a trial."""

from collections.abc import Sequence

import numpy as np

from curvewise.figures.series import Chart, Mark, Series, finite, no_band
from curvewise.metrics import Floats
from curvewise.papers.jordan2018.pendulum_numbers import (
    HALVES,
    LABELS,
    behind,
    by_episodes,
    of,
    printed_number,
    reruns,
    scores,
)
from curvewise.papers.jordan2018.pendulum_running import PERCENTILES, STEPS
from curvewise.papers.results import Results
from curvewise.papers.study import Figure
from curvewise.stats.bands import Kind, cdf_band
from curvewise.stats.distribution import cvar, quantile

_GRID = np.linspace(0, 1, 513)
_SUPPORT = -float(STEPS), float(STEPS)
_RETURN = "mean return of an episode (higher is better)"
_SAME_COLOUR = 7  # looks further on a curve has the same colour, and is dashed
_BAND = (
    "Inverse CDF: a share x of the trials scores y or less. Shaded: 95 % band, all "
    "quantiles of one curve at once."
)


def figures(results: Results) -> Sequence[Figure]:
    """Return Figure 2, Figure 3 of both algorithms, and what episodes do."""
    one, other = (scores(results, name) for name in LABELS)
    # Bands of many trials are dear: once for all panels.
    every = tuple(
        _inverse(label, z, "kolmogorov")
        for label, z in zip(LABELS.values(), (one, other), strict=True)
    )
    return (
        Figure(
            "figure-2",
            "Figure 2: mean return of the trials, inverse CDF",
            (_all(every, "Scores on the pendulum"),),
            f"Actor-Critic lies above PPO at {1 - behind(one, other):.0%} of the "
            f"quantiles, by far among the better trials: its upper quartile is "
            f"{quantile(one, 0.75):.0f}, PPO's {quantile(other, 0.75):.0f}. Its worse half "
            f"has a mean of {_worst(one):.0f}, PPO's {_worst(other):.0f}; in print, where "
            f"Actor-Critic leads in both halves, they have {_printed_worst()}.",
            columns=1,
        ),
        _third(
            results,
            every,
            "ppo",
            "figure-3",
            "Figure 3: PPO at four percentiles, run again",
        ),
        _third(
            results,
            every,
            "actor-critic",
            "figure-3-actor-critic",
            "The same for Actor-Critic, which the paper does not show",
        ),
        Figure(
            "pendulum-episodes",
            "Table 2, had a trial had fewer episodes",
            tuple(_episodes(results, name) for name in LABELS),
            "Dashed: as printed. Not in the paper, which does not say how long a trial is. "
            "Where a curve meets its dashed line, that number of episodes would give the "
            f"printed value: {_nearest(results)}.",
            columns=2,
        ),
    )


def _worst(z: Floats) -> float:
    return cvar(z, 0.5, tail="lower")


def _printed_worst() -> str:
    return " and ".join(f"{printed_number(name, 'worst'):.0f}" for name in LABELS)


def _nearest(results: Results) -> str:
    """Return after how many episodes our means are nearest to the printed ones."""
    out = []
    for name, label in LABELS.items():
        own = by_episodes(results, name)
        away = np.abs(own["mean"] - printed_number(name, "mean"))
        out.append(f"for the mean of {label} {own['episodes'][np.argmin(away)]}")
    return " and ".join(out)


def _third(
    results: Results, every: tuple[Series, ...], name: str, file: str, title: str
) -> Figure:
    charts = [_all(every, "All trials", marks=True), _learning(results, name)]
    again = {p: reruns(results, name, p) for p in PERCENTILES}
    told = ", ".join(f"{z.mean():.0f} ± {z.std():.0f} (p{p})" for p, z in again.items())
    says = (
        f"Left: the distribution that hyperparameters were taken from. Middle: their mean "
        f"learning curves. Right: the distributions of their reruns, with means and "
        f"standard deviations of {told}. The middle hides what the right one shows: how "
        f"much one set of hyperparameters owes to chance, and where curves cross. At "
        f"{behind(again[99], again[95]):.0%} of the quantiles p99 is below p95."
    )
    return Figure(file, title, (*charts, _again(results, name)), says, columns=3)


def _all(every: tuple[Series, ...], title: str, *, marks: bool = False) -> Chart:
    caption = f"{_BAND} Dashed: where hyperparameters were taken to be run again."
    return Chart(
        title=title,
        x_label="share of trials",
        y_label=_RETURN,
        series=every,
        caption=caption if marks else _BAND,
        marks=tuple(Mark(p / 100, f"p{p}") for p in PERCENTILES if marks),
    )


def _inverse(name: str, z: Floats, kind: Kind) -> Series:
    band = cdf_band(z, kind=kind, support=_SUPPORT)
    lower, upper = map(finite, band.quantile(_GRID))
    return Series(name, _GRID, quantile(z, _GRID), lower, upper)


def _learning(results: Results, name: str) -> Chart:
    series = []
    for percentile in PERCENTILES:
        own = of(results.tables["curves"], algorithm=name, percentile=percentile)
        ends = own["mean"] - own["sd"], own["mean"] + own["sd"]
        x = own["episode"].astype(np.float64)
        series.append(Series(_named(name, percentile), x, own["mean"], *ends))
    return Chart(
        title="Learning curves, run again",
        x_label="episode",
        y_label="return (higher is better)",
        series=tuple(series),
        caption="Mean over the reruns. Shaded: one standard deviation from rerun to rerun "
        "to either side, which is no doubt about the mean.",
        axis="linear",
        shape="line",
    )


def _again(results: Results, name: str) -> Chart:
    return Chart(
        title="Scores, run again",
        x_label="share of reruns",
        y_label=_RETURN,
        series=tuple(
            _inverse(_named(name, p), reruns(results, name, p), "equal_local_levels")
            for p in PERCENTILES
        ),
        caption=_BAND,
    )


def _named(name: str, percentile: int) -> str:
    return f"{LABELS[name]} p{percentile}"


def _episodes(results: Results, name: str) -> Chart:
    own = by_episodes(results, name)
    x = own["episodes"].astype(np.float64)
    series = []
    for look, (half, words) in enumerate(HALVES.items()):
        wide = 3 * own[f"{half}_error"]
        ends = own[half] - wide, own[half] + wide
        series.append(Series(words, x, own[half], *ends, look))
        flat = np.full(len(x), printed_number(name, half))
        dashed = look + _SAME_COLOUR
        series.append(Series(f"{words}, printed", x, flat, *no_band(flat), dashed))
    return Chart(
        title=LABELS[name],
        x_label="episodes in a trial",
        y_label=_RETURN,
        series=tuple(series),
        caption="Of the trials' mean returns. Shaded: three standard errors.",
        axis="linear",
        shape="line",
    )
