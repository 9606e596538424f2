"""Pictures of `VarianceShares`: each source's share with its interval."""

import numpy as np

from curvewise.figures.chart import PALETTE
from curvewise.figures.draw import (
    Axes,
    is_alone,
    legend_above,
    literal,
    name_axes,
    new_axes,
)
from curvewise.questions.base import must_be, one_task
from curvewise.questions.sentences import on
from curvewise.questions.variance import VarianceShares

_APART = 0.6  # how much of the place of a source its algorithms take


def plot_variance_shares(
    answer: VarianceShares, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw the share of the variance that each source causes, with its interval.

    Parameters
    ----------
    answer : VarianceShares
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if left out.
    task : str, optional
        Needed where the answer has several.

    Returns
    -------
    matplotlib.axes.Axes
    """
    must_be(answer, VarianceShares, "variance_shares")
    task = one_task(answer.tasks, task)
    decompositions = answer.of(task)
    ax = new_axes() if ax is None else ax
    sources = list(dict.fromkeys(s.source for d in decompositions for s in d.shares))
    for i, d in enumerate(decompositions):
        shift = _APART * ((i + 0.5) / len(decompositions) - 0.5)
        at = np.array([sources.index(s.source) for s in d.shares]) + shift
        share = np.array([100 * s.interval.value for s in d.shares])
        lower, upper = (
            np.array([100 * getattr(s.interval, end) for s in d.shares])
            for end in ("lower", "upper")
        )
        ax.errorbar(
            share,
            at,
            xerr=[share - lower, upper - share],
            fmt="osD^v"[i % 5],
            color=PALETTE[i % len(PALETTE)],
            capsize=3,
            label=literal(d.algorithm),
        )
    ax.set_xlim(-2, 102)
    label = f"share of the variance of {answer.metric.label} (%), with "
    label += f"{100 * answer.confidence:g} % interval"
    name_axes(ax, label, "", f"What makes scores vary{on(task)}")
    ax.set_yticks(range(len(sources)), [literal(s) for s in sources])
    ax.invert_yaxis()  # the first source on top
    ax.spines[["top", "right"]].set_visible(False)
    # Not inside the axes, where its entries would look like intervals.
    if is_alone(ax):
        legend_above([ax])
    else:
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax
