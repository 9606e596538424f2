"""Pictures of the study `comparisons`: curves against n^-1/2, and pairs in words."""

import math
from collections.abc import Sequence

import numpy as np

from curvewise.figures.series import Chart, Mark, Series, no_band
from curvewise.papers.hoiem2021.comparing import GROUPS, members
from curvewise.papers.results import Results, Table
from curvewise.papers.study import Figure
from curvewise.stats.powerlaw import fit_power_law
from curvewise.trials import Trials

_TITLES = {
    "Figure 3": "families of learners",
    "Figure 4, from scratch": "optimisers, from scratch",
    "Figure 4, pre-trained": "optimisers, pre-trained",
    "Figure 5": "pre-training and fine-tuning",
    "Figure 6": "sources of pre-training",
    "Figure 7a": "depth, fine-tuned",
    "Figure 7b": "width, fine-tuned",
    "Figure 7c": "six networks, or a larger one",
    "Figure 7d": "depth, last layer only",
    "Figure 7e": "width, last layer only",
    "Figure 8": "jittered copies",
}
_BANDS = 4
_PAPER = {
    "Figure 3": "In the paper each advance of architecture up to ResNet lowers error and "
    "data-reliance.",
    "Figure 4, from scratch": "In the paper Ranger is best and SGD without momentum worst.",
    "Figure 4, pre-trained": "In the paper all optimisers do alike.",
    "Figure 5": "In the paper pre-training lowers error and data-reliance.",
    "Figure 6": "In the paper ImageNet is best, then MOCO, then Places, random far behind.",
    "Figure 7a": "In the paper deeper is better, with no more data-reliance.",
    "Figure 7b": "In the paper wider is better, with about the same data-reliance.",
    "Figure 7c": "In the paper larger networks beat six small ones.",
    "Figure 7d": "In the paper deeper is better.",
    "Figure 7e": "In the paper wider is no better, with less data-reliance.",
    "Figure 8": "In the paper augmentation is worth about 1.8 times the data.",
}


def figures(results: Results) -> Sequence[Figure]:
    """Return one figure for each comparison, a panel for each half of the letters."""
    pairs = results.tables["pairs"]
    names = dict.fromkeys(results.tables["curves"]["half"])
    trials = {str(h): results.trials[str(h).replace(" ", "-").lower()] for h in names}
    found = []
    for figure in GROUPS:
        charts = tuple(
            chart
            for half, own in trials.items()
            if (chart := _chart(half, own, figure))
        )
        if charts:
            slug = figure.lower().replace(", ", "-").replace(" ", "-")
            title = f"{figure.split(',')[0]}: {_TITLES[figure]}"
            says = f"{_PAPER[figure]} {_told(pairs, figure)}"
            found.append(Figure(slug, title, charts, says, columns=2))
    return found


def _chart(half: str, trials: Trials, figure: str) -> Chart | None:
    here = [name for name in members(figure) if name in trials.algorithms]
    if len(here) < 2:
        return None
    lines, dots = [], []
    limit, ticks = 0.0, np.empty(0)
    found = trials.where(algorithm=here).points("error")
    for look, name in enumerate(here):
        points = found[name]
        sizes = np.unique(points.size)
        errors = [100 * points.value[points.size == n] for n in sizes]
        law = fit_power_law(sizes, errors, unit="percent")
        limit, ticks = law.extrapolation_limit, sizes
        n = np.geomspace(sizes[0], limit, 60)
        band = law.band(n)
        # More than four bands leave no room for a legend.
        ends = (band.lower, band.upper) if len(here) <= _BANDS else no_band(n)
        told = f"{name}: {law.e_N:.1f}, {law.beta_N:.1f}, {law.gamma:.2f}"
        lines.append(Series(told, n, band.value, *ends, look))
        means = np.array([e.mean() for e in errors])
        dots.append(
            Series(
                f"{name}, observed", sizes, means, *no_band(sizes), look, is_dots=True
            )
        )
    return Chart(
        title=half,
        x_label="training examples, drawn at n^(-1/2)",
        y_label="error in percent",
        series=(*lines, *dots),
        caption="Circles: mean error of the models of a size. Curves: power laws with 95 % "
        "bands, where there are four at most; in the legend error and data-reliance at N, "
        "and the exponent. Dashed: four times the data.",
        axis="root",
        shape="line",
        marks=(Mark(limit, "4 times the data"),),
        ticks=(float(ticks[0]), limit, *(float(n) for n in ticks[:0:-1])),
        y_range=(0.0, 1.1 * max(float(one.y.max()) for one in dots)),
    )


def _told(pairs: Table, figure: str) -> str:
    """Return pairs of one figure in words: differences at N, crossing, worth in data."""
    parts = []
    for i in range(len(pairs["figure"])):
        if pairs["figure"][i] != figure:
            continue
        row = {key: pairs[key][i] for key in pairs}
        text = (
            f"{row['half']}, {row['first']} less {row['second']}: error "
            f"{_range(row, 'error')}, data-reliance {_range(row, 'reliance')}"
        )
        if math.isfinite(row["crossing"]):
            text += f", they cross at {row['crossing']:,.0f}"
        if math.isfinite(row["times"]) and row["times"] > 0:
            text += (
                f", worth {row['times']:.2g} times the data at N/4 "
                f"({row['times_lower']:.2g} to {row['times_upper']:.2g})"
            )
        parts.append(text)
    if not parts:
        return ""
    return f"Ours, at N and with 95 % intervals, in points: {'; '.join(parts)}."


def _range(row: Table, name: str) -> str:
    low, middle, high = (row[f"{name}{end}"] for end in ("_lower", "", "_upper"))
    return f"{middle:+.2f} [{low:+.2f}, {high:+.2f}]"
