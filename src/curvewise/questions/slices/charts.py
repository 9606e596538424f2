"""Pictures of `Slices`: where they were taken, how they learn, how they end."""

import numpy as np

from curvewise.figures.chart import Chart, Mark, Series, finite
from curvewise.figures.draw import Figure, draw_grid, one_legend, title_axes
from curvewise.questions.base import must_be
from curvewise.questions.performance.charts import quantile_chart
from curvewise.questions.sentences import on
from curvewise.questions.slices import Slices
from curvewise.text import percent

_GRID = np.linspace(0, 1, 513)


def original_chart(answer: Slices) -> Chart:
    """Return the inverse CDF that the slices were taken from, with their places."""
    must_be(answer, Slices, "quantile_slices")
    lower, upper = answer.original.band.quantile(_GRID)
    y = answer.original.quantile(_GRID)
    up = answer.metric.sign > 0
    marks = tuple(
        Mark(p / 100 if up else 1 - p / 100, f"p{p:g}") for p in answer.percentiles
    )
    better = "right" if up else "left"
    return Chart(
        title=f"{answer.algorithm}{on(answer.task)}",
        x_label="share of trials",
        y_label=f"{answer.metric.label} ({answer.metric.direction} is better)",
        series=(
            Series(answer.algorithm, _GRID, y, finite(lower), finite(upper)),
        ),
        caption=f"Inverse CDF of all trials; the better, the further to the {better}. "
        f"Dashed: where hyperparameters were taken to be run again. Shaded: "
        f"{percent(answer.original.band.confidence)} band.",
        marks=marks,
    )  # fmt: skip


def curve_chart(answer: Slices) -> Chart | None:
    """Return the mean learning curve of each slice; None where trials have one step."""
    must_be(answer, Slices, "quantile_slices")
    series = tuple(
        Series(
            s.chosen.name,
            s.curve.steps,
            s.curve.mean,
            s.curve.mean - s.curve.sd,
            s.curve.mean + s.curve.sd,
        )
        for s in answer.slices
        if s.curve is not None
    )
    if not series:
        return None
    return Chart(
        title="Learning curves, run again",
        x_label="step",
        y_label=f"{answer.metric.label} ({answer.metric.direction} is better)",
        series=series,
        caption="Mean over the reruns of each slice. Shaded: one standard deviation from "
        "rerun to rerun to either side, which is no doubt about the mean.",
        axis="linear",
        shape="line",
    )


def rerun_chart(answer: Slices) -> Chart:
    """Return the inverse CDF of each slice's reruns, with its band."""
    must_be(answer, Slices, "quantile_slices")
    return quantile_chart(answer.performance, answer.task)


def plot_slices(answer: Slices) -> "Figure":
    """Draw where slices were taken, how they learn when run again, and how they end.

    Left: the inverse CDF of all trials, dashed at the percentiles. Middle: the mean
    learning curve of each slice, and one standard deviation to either side; left out where
    trials have one step. Right: the inverse CDF of the reruns of each slice.

    Parameters
    ----------
    answer : Slices

    Returns
    -------
    matplotlib.figure.Figure
    """
    middle = curve_chart(answer)
    charts = [original_chart(answer), middle, rerun_chart(answer)]
    panels = [chart for chart in charts if chart is not None]
    figure, (original, *reruns) = draw_grid(panels, len(panels), is_one_scale=True)
    original.legend().remove()  # its one curve is what the title says
    one_legend(reruns, reruns[-1])  # which names the slices for both
    title_axes(reruns[-1], "Scores, run again")
    return figure
