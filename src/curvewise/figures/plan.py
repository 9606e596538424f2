"""Pictures of `Plan`: how much is known from how many trials."""

from typing import TYPE_CHECKING

import numpy as np

from curvewise._text import percent
from curvewise.analyses.plan import Plan
from curvewise.errors import CurvewiseError
from curvewise.figures.draw import draw, new_axes
from curvewise.figures.series import Chart, Series, finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plan_chart(answer: Plan) -> Chart:
    """Return the half-width of intervals over the number of trials, as numbers to draw."""
    if not isinstance(answer, Plan):
        raise CurvewiseError(
            f"A figure shows an answer, and {type(answer).__name__} came. "
            f"Pass what curvewise.plan.trials returns."
        )
    at = answer.sizes()
    none = np.full(len(at), np.nan)
    return Chart(
        title="What more trials would tell",
        x_label="trials",
        y_label="half-width",
        series=tuple(
            Series(name, at, finite(width), none, none)
            for name, width in answer.widths(at).items()
        ),
        caption=f"How far off an answer may be, with {percent(answer.confidence)} "
        f"confidence, from how many trials. The grey line is the "
        f"{answer.half_width:g} that was asked for.",
        axis="log",
        shape="line",
        level=answer.half_width,
    )


def plot_plan(answer: Plan, ax: "Axes | None" = None) -> "Axes":
    """Draw how much is known from how many trials.

    Parameters
    ----------
    answer : Plan
        What `curvewise.plan.trials` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if left out.

    Examples
    --------
    >>> import curvewise as cw
    >>> plot_plan(cw.plan.trials(half_width=0.05)).get_xlabel()
    'trials'
    """
    return draw(plan_chart(answer), new_axes() if ax is None else ax)
