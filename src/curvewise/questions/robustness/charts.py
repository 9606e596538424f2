"""Pictures of `Robustness`: what tuning gains, from the worst trials to the best."""

from curvewise.figures.chart import Chart, Series, finite
from curvewise.figures.draw import Axes, Figure, draw, draw_grid, one_legend
from curvewise.questions.base import must_be, one_task
from curvewise.questions.robustness import Robustness
from curvewise.questions.sentences import on
from curvewise.text import percent


def gain_chart(answer: Robustness, task: str | None = None) -> Chart:
    """Return what tuning gains at each quantile, for each algorithm on one task."""
    must_be(answer, Robustness, "robustness")
    task = one_task(answer.tasks, task, "plot_gains_by_task")
    series = []
    for gap in answer.of(task):
        band = gap.shift.shift
        ends = finite(band.lower), finite(band.upper)
        series.append(Series(gap.algorithm, band.at, band.value, *ends))
    return Chart(
        title=f"Gain by tuning{on(task)}",
        x_label="share of trials, from the worst to the best",
        y_label=f"gain in {answer.metric.label} (above 0: tuning helps)",
        series=tuple(series),
        caption=f"What tuning gains, quantile by quantile: at the left the worst trials of "
        f"tuned and untuned are compared, at the right the best. Flat and near 0 is easy "
        f"to tune. Shaded: {percent(answer.confidence)} bands, all quantiles, algorithms "
        f"and tasks at once.",
        level=0.0,
    )


def plot_gains(
    answer: Robustness, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw what tuning gains from the worst trials to the best, with bands.

    Parameters
    ----------
    answer : Robustness
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if left out.
    task : str, optional
        Needed where the answer has several.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    plot_gains_by_task : one panel per task.
    """
    return draw(gain_chart(answer, task), ax)


def plot_gains_by_task(answer: Robustness) -> "Figure":
    """Draw one panel per task, each as `plot_gains` draws it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    must_be(answer, Robustness, "robustness")
    charts = [gain_chart(answer, task) for task in answer.tasks]
    figure, axes = draw_grid(charts, len(charts), is_one_scale=True)
    one_legend(axes, axes[0])
    return figure
