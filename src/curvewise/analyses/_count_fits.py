"""Count curves of a task: fitted, and told at the sizes that the tables speak of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from curvewise.analyses._count_asking import Counted
from curvewise.errors import CurvewiseError
from curvewise.metrics import Average, Floats
from curvewise.stats.confusion import (
    ConfusionCurve,
    Method,
    Target,
    fit_confusion_curve,
)
from curvewise.stats.interval import CurveBand, Interval

AVERAGED = frozenset(
    {"precision", "recall", "specificity", "f1", "f_beta", "jaccard"}
)  # those that are of one class, or a mean over classes
FEWEST = 2  # sizes of a curve
TIMES = (1.0, 2.0, 10.0)  # the largest size: what the tables tell

MetricSettings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class CountAsked:
    """What is asked of every curve.

    Parameters
    ----------
    metrics : dict
        From names to settings.
    target : {"mean", "observed", "model"}
    confidence : float
    test_size, runs : float, optional
        Of *observed*.
    method : str
    """

    metrics: Mapping[str, MetricSettings]
    target: Target
    confidence: float
    test_size: float | None
    runs: float | None
    method: Method

    def settings(self, name: str, positive: int | None = None) -> dict[str, Any]:
        """Return the settings of a metric, or those of it for one class."""
        own = dict(self.metrics.get(name, {}))
        if positive is None:
            return own
        return {key: own[key] for key in own if key != "average"} | {
            "positive": positive
        }

    def band(
        self, curve: ConfusionCurve, name: str, n: Floats, positive: int | None = None
    ) -> CurveBand:
        """Return a metric along a curve, as it was asked for, or that of one class."""
        return curve.band(
            name,
            n,
            target=self.target,
            confidence=self.confidence,
            test_size=self.test_size,
            runs=self.runs,
            **self.settings(name, positive),
        )

    def of_class(
        self, curve: ConfusionCurve, names: Sequence[str], n: float, k: int
    ) -> dict[str, Interval]:
        """Return metrics of class k against the rest at a size, from the same draws."""
        told = curve.curves.bands(
            {name: self.settings(name, k) for name in names},
            n,
            target=self.target,
            confidence=self.confidence,
            test_size=self.test_size,
            runs=self.runs,
        )
        return {
            name: Interval(
                *(float(own.lower[0, 0]), float(own.upper[0, 0])),
                f"{name} of class {k}",
                f"{100 * self.confidence:.4g} % by itself",
                float(own.value[0, 0]),
            )
            for name, own in told.items()
        }


@dataclass(frozen=True, slots=True, eq=False)
class CountFit:
    """The count curve of one algorithm on one task.

    Parameters
    ----------
    counted : Counted
        What was observed.
    curve : ConfusionCurve
    told : dict
        Each metric at the reference size and at multiples of the largest one.
    observed : dict
        Each metric at the sizes that were observed, runs taken together; NaN where a class
        that it is of was not in the test sets.
    lack_of_fit : float
        p value of the power law on the logits.
    """

    counted: Counted
    curve: ConfusionCurve
    told: dict[str, CurveBand]
    observed: dict[str, Floats]
    lack_of_fit: float

    @property
    def algorithm(self) -> str:
        """Whose curve it is."""
        return self.counted.algorithm

    @property
    def shares(self) -> Floats:
        """How often each class occurs in the test sets."""
        by_class = self.curve.counts.sum((0, 2))
        return np.asarray(by_class / by_class.sum())

    @property
    def concerns(self) -> tuple[str, ...]:
        """What may be wrong, in sentences."""
        return self.curve.concerns


@dataclass(frozen=True, slots=True, eq=False)
class CountTask:
    """The count curves of one task.

    Parameters
    ----------
    task : str
    size : float
        At which algorithms are told beside each other.
    fits : tuple of CountFit
    left_out : tuple of str
        Algorithms that were trained on one size only.
    """

    task: str
    size: float
    fits: tuple[CountFit, ...]
    left_out: tuple[str, ...]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Whose curves there are."""
        return tuple(fit.algorithm for fit in self.fits)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.fits[0].counted.classes


def settings_of(
    names: Sequence[str], average: Average | None, positive: int | None, beta: float
) -> dict[str, dict[str, Any]]:
    """Return each metric with the settings that it takes."""
    out: dict[str, dict[str, Any]] = {}
    for name in names:
        own: dict[str, Any] = {}
        if name in AVERAGED and average is not None:
            own["average"] = average
        if name in AVERAGED and positive is not None:
            own["positive"] = positive
        if name == "f_beta":
            own["beta"] = beta
        out[name] = own
    return out


def has_curves(counted: Sequence[Counted]) -> bool:
    """Return whether anybody was trained on enough sizes."""
    return any(len(own.sizes) >= FEWEST for own in counted)


def count_task(
    task: str, counted: Sequence[Counted], size: float | None, asked: CountAsked
) -> CountTask:
    """Return the fitted curves of a task."""
    enough = [own for own in counted if len(own.sizes) >= FEWEST]
    if not enough:
        raise CurvewiseError(
            f"Task '{task}' has counts at 1 size, and a curve needs {FEWEST}. Train on "
            f"parts of the data, too: a half and a quarter. curvewise.stats.counts has "
            f"intervals for one size."
        )
    common = min(own.largest for own in enough) if size is None else float(size)
    return CountTask(
        task,
        common,
        tuple(_fitted(own, common, asked) for own in enough),
        tuple(own.algorithm for own in counted if len(own.sizes) < FEWEST),
    )


def _fitted(own: Counted, size: float, asked: CountAsked) -> CountFit:
    try:
        curve = fit_confusion_curve(
            own.sizes,
            own.counts,
            own.trained_on,
            method=asked.method,
            examples=own.examples,
        )
    except CurvewiseError as problem:
        raise CurvewiseError(
            f"'{own.algorithm}' on '{own.task}': ", problem.message
        ) from problem
    n = np.array([size, *(times * own.largest for times in TIMES[1:])])
    told = {name: asked.band(curve, name, n) for name in asked.metrics}
    seen = {name: observed(curve, name, how) for name, how in asked.metrics.items()}
    return CountFit(own, curve, told, seen, curve.lack_of_fit())


def observed(curve: ConfusionCurve, name: str, settings: MetricSettings) -> Floats:
    """Return a metric of what was observed; NaN where a class of it was not there.

    By convention 0/0 is the worst score, but where a class did not occur in the test sets
    nobody has seen how well it is found.
    """
    seen = curve.observed(name, **settings)
    is_there = curve.counts.sum(-1) > 0  # (size, class)
    if name == "balanced_accuracy" or (name in AVERAGED and _is_macro(curve, settings)):
        return np.where(is_there.all(1), seen, np.nan)
    if name in AVERAGED and "average" not in settings:
        k = settings.get("positive", 1)
        others = np.delete(is_there, k, axis=1).any(1)
        return np.where(
            others if name == "specificity" else is_there[:, k], seen, np.nan
        )
    return seen


def _is_macro(curve: ConfusionCurve, settings: MetricSettings) -> bool:
    if curve.classes > 2 and not {"average", "positive"} & set(settings):
        return True
    return settings.get("average") == "macro"
