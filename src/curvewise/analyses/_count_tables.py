"""The tables of `Confusion`, for people and for programs."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from curvewise._text import Cell, percent, step
from curvewise.analyses._count_fits import TIMES, CountAsked, CountFit, CountTask
from curvewise.analyses._curve_tables import number_cell, point_of
from curvewise.analyses._tables import interval_cell
from curvewise.stats.interval import Interval

MOST_CLASSES = 12  # that are shown: more nobody reads
_OF_A_CLASS = ("recall", "precision", "f1")


def fit_rows(task: CountTask) -> list[dict[str, Cell]]:
    """Return one row per algorithm and metric for programs."""
    out: list[dict[str, Cell]] = []
    for fit in task.fits:
        for name, band in fit.told.items():
            row: dict[str, Cell] = {
                "task": task.task,
                "algorithm": fit.algorithm,
                "metric": name,
                "sizes": len(fit.counted.sizes),
                "runs": sum(fit.counted.runs),
                "failed": fit.counted.failed,
                "classes": fit.counted.classes,
                "smallest": float(fit.counted.trained_on[0]),
                "largest": fit.counted.largest,
                "method": fit.curve.method,
                "lack_of_fit": fit.lack_of_fit,
            }
            for i, suffix in enumerate(["", *(f"_{t:g}_times" for t in TIMES[1:])]):
                row |= {
                    f"size{suffix}": float(band.at[i]),
                    f"value{suffix}": float(band.value[i]),
                    f"lower{suffix}": float(band.lower[i]),
                    f"upper{suffix}": float(band.upper[i]),
                }
            out.append(row)
    return out


def size_rows(
    task: CountTask, fit: CountFit, asked: CountAsked
) -> list[dict[str, Cell]]:
    """Return what was observed at each size, and the fit."""
    out: list[dict[str, Cell]] = []
    own = fit.counted
    for name in asked.metrics:
        band = asked.band(fit.curve, name, own.trained_on)
        seen = fit.observed[name]
        columns = (own.sizes, own.trained_on, own.runs, seen)
        ends = (band.value, band.lower, band.upper)
        for n, saw, runs, value, *fitted in zip(*columns, *ends, strict=True):
            out.append(
                {
                    "task": task.task,
                    "algorithm": fit.algorithm,
                    "metric": name,
                    "size": float(n),
                    "trained_on": float(saw),
                    "runs": int(runs),
                    "observed": float(value),
                    "fitted": float(fitted[0]),
                    "lower": float(fitted[1]),
                    "upper": float(fitted[2]),
                }
            )
    return out


def class_rows(
    task: CountTask, asked: CountAsked, names: Sequence[str]
) -> list[dict[str, Cell]]:
    """Return recall, precision and F1 of each class, at the size of the tables."""
    out: list[dict[str, Cell]] = []
    for fit, k, told in _of_classes(task, asked):
        row: dict[str, Cell] = {
            "task": task.task,
            "algorithm": fit.algorithm,
            "class": names[k],
            "share": float(fit.shares[k]),
            "size": task.size,
        }
        for name, own in told.items():
            row |= {name: own.value, f"{name}_lower": own.lower}
            row[f"{name}_upper"] = own.upper
        out.append(row)
    return out


def class_table(
    task: CountTask, asked: CountAsked, names: Sequence[str]
) -> list[dict[str, Cell]]:
    """Return recall, precision and F1 of each class, or of the hardest, as printed."""
    return [
        {
            "algorithm": fit.algorithm,
            "class": names[k],
            "share": percent(round(float(fit.shares[k]), 3)),
            **{label(name): interval_cell(own) for name, own in told.items()},
        }
        for fit, k, told in _of_classes(task, asked, hardest(task))
    ]


def hardest(task: CountTask) -> list[int]:
    """Return the classes that are shown: all, or of many those of the lowest F1."""
    if task.classes <= MOST_CLASSES:
        return list(range(task.classes))
    f1 = [
        np.mean([fit.curve.metric("f1", task.size, positive=k) for fit in task.fits])
        for k in range(task.classes)
    ]
    return sorted(np.argsort(f1, kind="stable")[:MOST_CLASSES].tolist())


def _of_classes(
    task: CountTask, asked: CountAsked, classes: Sequence[int] | None = None
) -> Iterator[tuple[CountFit, int, dict[str, Interval]]]:
    for fit in task.fits:
        for k in range(task.classes) if classes is None else classes:
            yield fit, k, asked.of_class(fit.curve, _OF_A_CLASS, task.size, k)


def fit_table(task: CountTask) -> list[dict[str, Cell]]:
    """Return the curves of one task, as they are printed."""
    out: list[dict[str, Cell]] = []
    for fit in task.fits:
        own = fit.counted
        for name, band in fit.told.items():
            row: dict[str, Cell] = {
                "algorithm": fit.algorithm,
                "metric": label(name),
                f"seen at {step(float(own.trained_on[0]))}": _seen(
                    float(fit.observed[name][0])
                ),
                f"at {step(task.size)}": interval_cell(point_of(band)),
            }
            for i, times in enumerate(TIMES[1:], start=1):
                row[f"with {times:g} times the data"] = interval_cell(point_of(band, i))
            if own.failed:
                row["failed"] = own.failed
            out.append(row)
    return out


def _seen(value: float) -> str:
    return number_cell(value) if math.isfinite(value) else "?"


def label(name: str) -> str:
    """Return a metric's name as people write it.

    >>> label("f1"), label("balanced_accuracy")
    ('F1', 'balanced accuracy')
    """
    return _LABELS.get(name, name.replace("_", " "))


_LABELS = {"f1": "F1", "f_beta": "F-beta", "mcc": "MCC", "jaccard": "Jaccard"}
