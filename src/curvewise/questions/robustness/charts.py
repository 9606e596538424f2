"""Pictures of `Robustness`: what tuning gains, from the worst trials to the best."""

from typing import TYPE_CHECKING

from curvewise.errors import CurvewiseError, listed
from curvewise.figures.chart import Chart, Series, finite
from curvewise.figures.draw import draw, new_axes, starts_row
from curvewise.figures.labels import one_legend
from curvewise.questions.robustness import Robustness
from curvewise.questions.sentences import on
from curvewise.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def gain_chart(answer: Robustness, task: str | None = None) -> Chart:
    """Return what tuning gains at each quantile, for each algorithm on one task."""
    _must_be_robustness(answer)
    if task is None:
        if len(answer.tasks) > 1:
            raise CurvewiseError(
                "One pair of axes shows one task, and the answer has "
                f"{len(answer.tasks)}: {listed(answer.tasks)}. Pass ",
                {"task": ...},
                ", or use plot_gains_by_task.",
            )
        task = answer.tasks[0]
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
    return draw(gain_chart(answer, task), new_axes() if ax is None else ax)


def plot_gains_by_task(answer: Robustness) -> "Figure":
    """Draw one panel per task, each as `plot_gains` draws it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    _must_be_robustness(answer)
    first = new_axes(columns=len(answer.tasks))
    figure: Figure = first.figure  # type: ignore[assignment]  # never a SubFigure
    for ax, task in zip(figure.axes, answer.tasks, strict=True):
        draw(gain_chart(answer, task), ax)
        if not starts_row(ax):
            ax.set_ylabel("")
    one_legend(figure.axes, first)
    return figure


def _must_be_robustness(answer: Robustness) -> None:
    if not isinstance(answer, Robustness):
        raise CurvewiseError(
            f"A figure shows an answer, and {type(answer).__name__} came. "
            f"Pass what curvewise.robustness returns."
        )
