"""Pictures of the study `validation`."""

from collections.abc import Sequence

import numpy as np

from curvewise.figures.series import Chart, Mark, Series, no_band
from curvewise.papers.hoiem2021.measuring import (
    LEVELS,
    SHARES,
    TERMS,
    Blocks,
    blocks_of,
    holds,
    left_out_of,
)
from curvewise.papers.printed import printed
from curvewise.papers.results import Results, Table
from curvewise.papers.study import Figure
from curvewise.stats.learning import stability

_SHOWN = (
    "forest",
    "SVM, C 10",
    "SVM",
    "tree",
)  # whose refits are drawn: the first there is
_REFITS = 40


def figures(results: Results) -> Sequence[Figure]:
    """Return Figure 2, Figure 9 and how often bounds hold."""
    tables = results.tables
    names = tuple(dict.fromkeys(tables["left_out"]["table"]))
    return [
        Figure(
            "figure-2",
            "Figure 2: what six models of a curve miss at a size left out",
            tuple(_missed(tables["left_out"], name) for name in names),
            "As in the paper, sizes at the ends are missed most, the smallest above all. "
            "The straight line (alpha, eta) misses more than most on letter and magic, "
            "and four parameters miss most where the smallest size is left out. Between "
            "weights there is little.",
            columns=3,
        ),
        _refits(results),
        Figure(
            "bands",
            "How often 95 % bounds hold on real curves",
            (_held(tables["coverage"]),),
            "Bounds from a pool of N examples. The printed band holds too seldom, most of "
            "all beyond N; mixing over the exponent mends a part; the rest is that real "
            "curves are no power laws, which forecasts allow for.",
            columns=1,
        ),
    ]


def _missed(table: Table, name: str) -> Chart:
    found = left_out_of(table, (name,))
    labels = printed("hoiem2021").tables["figure2"]["label"]
    shares = np.array(SHARES)
    return Chart(
        title=name,
        x_label="size left out, in 400ths of all",
        y_label="RMSE in percentage points",
        series=tuple(
            Series(label, shares, rmse, *no_band(shares), look)
            for look, (label, rmse) in enumerate(zip(labels, found.rmse, strict=True))
        ),
        caption=f"Leave-one-size-out RMSE over {len(found.curves)} curves.",
        axis="log",
        shape="line",
        ticks=SHARES,
    )


def _refits(results: Results) -> Figure:
    blocks = blocks_of(results.trials["curves"])
    learners = {learner for _, learner, _ in blocks}
    learner = next(name for name in _SHOWN if name in learners)
    own = blocks["letter", learner, 0]
    return Figure(
        "figure-9",
        f"Figure 9: refits of four resampled points, {learner} on letter",
        tuple(_refitted(name, own) for name in TERMS),
        "As in the paper, refits agree where the four points are, and go apart beyond "
        "them: error and data-reliance at N are stable, the asymptote is not.",
        columns=4,
    )


def _refitted(name: str, own: Blocks) -> Chart:
    means = np.array([e.mean() for e in own.errors])
    inner = slice(1, LEVELS - 2)
    n = np.geomspace(own.sizes[0], own.sizes[-1], 40)
    found = stability(
        own.sizes[inner],
        means[inner],
        np.array([e.std(ddof=1) for e in own.errors[inner]]),
        repeats=_REFITS,
        to=n,
        unit="percent",
        method="paper",
        terms=TERMS[name],
        rng=np.random.default_rng(9),
    )
    sd = {key: float(x[0]) for key, x in found.sd.items()}
    lines = [
        Series("refit", n, curve, *no_band(n), 0, is_faint=True)
        for curve in found.predictions[0]
    ]
    middle = np.median(found.predictions[0], axis=0)
    told = ", ".join(f"{sd[key]:.2f}" for key in ("e_N", "beta_N", "gamma"))
    observed = Series(
        "observed", own.sizes, means, *no_band(own.sizes), 1, is_dots=True
    )
    return Chart(
        title=name,
        x_label="training examples, drawn at n^(-1/2)",
        y_label="error in percent",
        series=(*lines, Series(f"sd {told}", n, middle, *no_band(n), 0), observed),
        caption=f"{_REFITS} refits to one point at each of four sizes, their median, and "
        f"the mean error at all sizes as circles. In the legend: standard deviations of "
        f"error, data-reliance and exponent.",
        axis="root",
        shape="line",
        marks=(Mark(float(own.sizes[LEVELS - 3]), "largest size used"),),
        ticks=(float(own.sizes[0]), float(own.sizes[-1]), float(own.sizes[2])),
        y_range=(0.0, float(1.15 * means.max())),
    )


def _held(table: Table) -> Chart:
    inside, level = holds(table), np.asarray(table["level"])
    method = np.asarray(table["method"], dtype=str)
    series = []
    for look, name in enumerate(dict.fromkeys(method.tolist())):
        first = LEVELS - 2 if name == "forecast" else 0
        at = np.arange(first, LEVELS)
        share = np.array([inside[(method == name) & (level == k)].mean() for k in at])
        x = np.exp2(np.asarray(at - LEVELS + 3, np.float64))
        series.append(Series(name, x, share, *no_band(x), look))
    return Chart(
        title="How often bounds hold",
        x_label="size over N, the largest that was used",
        y_label="share of bounds",
        series=tuple(series),
        caption="Grey: the 95 % that are promised.",
        axis="log",
        shape="line",
        level=0.95,
        y_range=(0.4, 1.02),
        ticks=(1 / 16, 4.0, 1.0, 1 / 4),
    )
