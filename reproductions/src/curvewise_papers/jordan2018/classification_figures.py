"""Figure 1, and what tuning gains."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from curvewise._text import joined, percent
from curvewise.analyses.performance import performance
from curvewise.analyses.robustness import robustness
from curvewise.figures.performance import quantile_chart
from curvewise.figures.robustness import gain_chart
from curvewise.figures.series import Chart
from curvewise.papers.jordan2018.classification_numbers import LABELS, Variant
from curvewise.papers.results import Results
from curvewise.trials import Trials

if TYPE_CHECKING:
    from curvewise.papers.study import Figure

_ROWS: tuple[Variant, ...] = ("untuned", "tuned")
_MARGIN = 0.02


def figures(results: Results) -> "Sequence[Figure]":
    """Return Figure 1, untuned above tuned, and what tuning gains."""
    from curvewise.papers.study import Figure

    tasks = results.trials["untuned"].tasks
    charts = []
    for variant in _ROWS:
        answer = performance(
            results.trials[variant], "accuracy", band="equal_local_levels"
        )
        for task in tasks:
            chart = _named(quantile_chart(answer, task))
            title, ends = f"{task}, {variant}", _ends(results, task)
            charts.append(replace(chart, title=title, y_range=ends))
    gained = robustness(Trials.concat(_both(results)), "accuracy")
    return (
        Figure(
            "figure-1",
            "Figure 1: accuracy on the test set, inverse CDF",
            tuple(charts),
            "Above untuned, below tuned, each algorithm in the same colour. As in the "
            "paper, tuned algorithms have curves of one shape on each task, LR on circles "
            "and linear apart, and rare trials at either end are far better or worse than "
            f"all others.{_fallen(results)}",
            columns=len(tasks),
        ),
        Figure(
            "gains",
            "What tuning gains, from the worst trials to the best",
            tuple(_named(gain_chart(gained, task)) for task in tasks),
            "Not in the paper, which compares two plots by eye. Tuning removes bad trials: "
            "gains are large at the left, among the worst trials, and vanish at the right. "
            "Where a band lies above 0 the gain is sure at that quantile, for all "
            "algorithms and tasks at once.",
            columns=len(tasks),
        ),
    )


def _ends(results: Results, task: str) -> tuple[float, float]:
    """Return from where to where scores of a task go, the same in both rows.

    Bands go to 0 and 1 in the tails, which would flatten the curves.
    """
    own = [trials.where(task=task).scores("accuracy") for trials in _both(results)]
    scores = [values for by_name in own for values in by_name.values()]
    low = min(float(values.min()) for values in scores)
    high = max(float(values.max()) for values in scores)
    return low - _MARGIN, high + _MARGIN


def _fallen(results: Results) -> str:
    """Return how many untuned trials of the SVM are worse than k-NN ever is."""
    told = []
    for task in results.trials["untuned"].tasks:
        scores = results.trials["untuned"].where(task=task).scores("accuracy")
        if "svm" in scores and "knn" in scores:
            share = float((scores["svm"] < scores["knn"].min()).mean())
            told.append(f"{percent(round(share, 2))} on {task}")
    if not told:
        return ""
    return (
        f" Untuned, the SVM falls behind: of its trials, {joined(told)} are worse than "
        f"the worst of k-NN."
    )


def _both(results: Results) -> tuple[Trials, Trials]:
    return results.trials["untuned"], results.trials["tuned"]


def _named(chart: Chart) -> Chart:
    """Return a chart with the names of the paper, tuned or not in the same colours."""
    places = list(LABELS)
    own = [one.name.removesuffix(" tuned") for one in chart.series]
    series = [
        replace(one, name=LABELS[name], look=places.index(name))
        for one, name in zip(chart.series, own, strict=True)
    ]
    series.sort(key=lambda one: one.look or 0)
    leaders = tuple(LABELS[name.removesuffix(" tuned")] for name in chart.leaders)
    return replace(chart, series=tuple(series), leaders=leaders)
