"""Pictures of `Performance`: the inverse CDF with its band."""

from typing import TYPE_CHECKING

import numpy as np

from curvewise._text import percent
from curvewise.analyses.performance import Performance
from curvewise.errors import CurvewiseError, listed
from curvewise.figures.draw import draw, new_axes
from curvewise.figures.series import Chart, Series, finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Three million trials drawn one by one would make a page of 86 MB; on this grid the
# picture is off by at most 1/512 of the trials.
_GRID = np.linspace(0, 1, 513)


def quantile_chart(answer: Performance, task: str | None = None) -> Chart:
    """Return the inverse CDF of each algorithm on one task, as numbers to draw.

    Parameters
    ----------
    answer : Performance
    task : str, optional
        Needed where the answer has several.
    """
    if not isinstance(answer, Performance):
        raise CurvewiseError(
            f"A figure shows an answer, and {type(answer).__name__} came. "
            f"Pass what curvewise.performance returns."
        )
    if task is None:
        if len(answer.tasks) > 1:
            raise CurvewiseError(
                f"One pair of axes shows one task, and the answer has {len(answer.tasks)}: "
                f"{listed(answer.tasks)}. Pass task=, or use plot_quantiles_by_task."
            )
        task = answer.tasks[0]
    chosen = answer.of(task)
    series = []
    for d in chosen:
        lower, upper = d.band.quantile(_GRID)
        series.append(
            Series(d.algorithm, _GRID, d.quantile(_GRID), finite(lower), finite(upper))
        )
    level = percent(chosen[0].band.confidence)
    better = "further up" if answer.metric.direction == "higher" else "further down"
    return Chart(
        title=f"Scores on {task}",
        x_label="share of trials",
        y_label=f"{answer.metric.label} ({answer.metric.direction} is better)",
        series=tuple(series),
        caption=f"Inverse CDF: a share x of the trials scores y or less; {better} is "
        f"better, and a flat curve is easy to tune. Shaded: {level} band, all quantiles of "
        f"one algorithm at once.",
    )


def plot_quantiles(
    answer: Performance, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw the inverse CDF of each algorithm with its band.

    Parameters
    ----------
    answer : Performance
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if left out.
    task : str, optional
        Needed where the answer has several.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    plot_quantiles_by_task : one panel per task.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
    >>> plot_quantiles(answer, task="rings").get_xlabel()
    'share of trials'
    """
    return draw(quantile_chart(answer, task), new_axes() if ax is None else ax)


def plot_quantiles_by_task(answer: Performance) -> "Figure":
    """Draw one panel per task, each as `plot_quantiles` draws it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    first = new_axes(columns=len(answer.tasks))
    figure: Figure = first.figure  # type: ignore[assignment]  # never a SubFigure
    for ax, task in zip(figure.axes, answer.tasks, strict=True):
        draw(quantile_chart(answer, task), ax)
        if ax is not figure.axes[0]:
            ax.set_ylabel("")
            ax.legend().remove()  # one legend, in the first panel, serves all
    return figure
