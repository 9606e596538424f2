"""Tuned against untuned: which belong together, and what tuning gains, by statistic."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.analyses._asking import Sample
from curvewise.analyses._stretches import Comparison, shift_of
from curvewise.errors import CurvewiseError, CurvewiseWarning, listed, unknown
from curvewise.metrics import Metric
from curvewise.stats.bands import Kind, Support
from curvewise.stats.comparison import difference
from curvewise.stats.distribution import cvar, quantile
from curvewise.stats.interval import Interval

Statistic: TypeAlias = Literal["mean", "median", "cvar_best", "cvar_worst"]
STATISTICS: tuple[Statistic, ...] = ("mean", "median", "cvar_best", "cvar_worst")

_TUNED = " tuned"
FEW = 10  # trials in a tail, below which approximate intervals were seen to fall short


def tuned_pairs(
    names: Sequence[str], pairs: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return which algorithm is the tuned one of which: untuned name to tuned name.

    "NAME tuned" is the tuned one of "NAME", in capitals or not; `pairs` says what other
    names belong together.

    >>> tuned_pairs(["knn", "svm", "SVM Tuned"])
    {'svm': 'SVM Tuned'}
    >>> tuned_pairs(["svm", "svm grid"], {"svm": "svm grid"})
    {'svm': 'svm grid'}
    """
    if pairs is not None:
        if not isinstance(pairs, Mapping):
            raise CurvewiseError(
                f"pairs is {pairs!r}. Pass a dict such as {{'svm': 'svm grid'}}."
            )
        for name in (n for pair in pairs.items() for n in pair):
            if name not in names:
                raise unknown("algorithm", name, names)
        return dict(pairs)
    tuned = {name.casefold(): name for name in names}
    return {
        name: tuned[name.casefold() + _TUNED]
        for name in names
        if name.casefold() + _TUNED in tuned
    }


@dataclass(frozen=True, slots=True)
class Gain:
    """What tuning gains in one statistic; above 0 where the tuned one is better.

    Parameters
    ----------
    statistic : {"mean", "median", "cvar_best", "cvar_worst"}
    untuned, tuned : float
        The statistic itself, in the metric's own direction.
    interval : Interval
        By the central limit theorem, paired where trials are.
    guaranteed : Interval
        From two bands or order statistics: for any number of trials, any distribution
        and any dependence.
    """

    statistic: Statistic
    untuned: float
    tuned: float
    interval: Interval
    guaranteed: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """What tuning gains for one algorithm on one task.

    Parameters
    ----------
    task, algorithm, tuned : str
        `algorithm` is the untuned one.
    trials, tuned_trials : int
    failed, tuned_failed : int
        How many of them failed; they count with what a failure scores.
    paired : bool
        Whether trials of both have the same numbers, and so met the same data.
    gains : tuple of Gain
    shift : Comparison
        Quantile by quantile, from the worst trials to the best; above 0 where the tuned
        one is better.
    """

    task: str
    algorithm: str
    tuned: str
    trials: int
    tuned_trials: int
    failed: int
    tuned_failed: int
    paired: bool
    gains: tuple[Gain, ...]
    shift: Comparison

    def gain(self, statistic: Statistic) -> Gain:
        """Return what tuning gains in one statistic."""
        for one in self.gains:
            if one.statistic == statistic:
                return one
        raise unknown("statistic", statistic, STATISTICS)

    @property
    def is_one_trial(self) -> bool:
        """Whether one trial is all there is of either, so that nothing can be told."""
        return min(self.trials, self.tuned_trials) == 1


def gap_of(
    names: tuple[str, str, str],
    untuned: Sample,
    tuned: Sample,
    metric: Metric,
    *,
    alpha: float,
    confidence: float,
    band: Kind,
) -> Gap:
    """Return what tuning gains; `names` are task, algorithm and its tuned one."""
    paired = bool(np.array_equal(untuned.numbers, tuned.numbers))
    return Gap(
        *names,
        len(untuned.scores),
        len(tuned.scores),
        untuned.failed,
        tuned.failed,
        paired,
        tuple(
            _gain(one, untuned, tuned, metric, alpha, confidence, paired, band)
            for one in STATISTICS
        ),
        _shift(names, untuned, tuned, metric, confidence),
    )


def _gain(
    statistic: Statistic,
    untuned: Sample,
    tuned: Sample,
    metric: Metric,
    alpha: float,
    confidence: float,
    paired: bool,
    band: Kind,
) -> Gain:
    up = metric.sign
    a, b = up * tuned.scores, up * untuned.scores  # higher is better from here on
    asked: dict[str, Any] = _asked(statistic, alpha) | {
        "confidence": confidence, "paired": paired, "support": _support(metric)
    }  # fmt: skip
    with warnings.catch_warnings():  # few trials are a note of the answer
        warnings.simplefilter("ignore", CurvewiseWarning)
        interval = difference(a, b, method="asymptotic", **asked)
    if statistic != "median" and not all(map(math.isfinite, metric.range)):
        reason = f"cannot tell: {metric.label} has no bounds"
        guaranteed = Interval(-math.inf, math.inf, interval.estimand, reason)
    else:
        guaranteed = difference(a, b, method="guaranteed", kind=band, **asked)
    return Gain(
        statistic,
        up * _value(b, statistic, alpha),
        up * _value(a, statistic, alpha),
        interval,
        guaranteed,
    )


def _asked(statistic: Statistic, alpha: float) -> dict[str, Any]:
    if statistic == "mean":
        return {"of": "mean"}
    if statistic == "median":
        return {"of": "quantile", "alpha": 0.5}
    tail = "upper" if statistic == "cvar_best" else "lower"
    return {"of": "cvar", "alpha": alpha, "tail": tail}


def _value(z: Any, statistic: Statistic, alpha: float) -> float:
    if statistic == "mean":
        return float(z.mean())
    if statistic == "median":
        return float(quantile(z, 0.5))
    return float(cvar(z, alpha, tail="upper" if statistic == "cvar_best" else "lower"))


def _support(metric: Metric) -> Support:
    low, high = metric.range
    return (low, high) if metric.sign > 0 else (-high, -low)


def _shift(
    names: tuple[str, str, str],
    untuned: Sample,
    tuned: Sample,
    metric: Metric,
    confidence: float,
) -> Comparison:
    shift = shift_of(
        metric.sign * tuned.scores,
        metric.sign * untuned.scores,
        confidence=confidence,
        kind="equal_local_levels",  # sees into the tail of bad hyperparameters
    )
    return Comparison(names[2], names[1], shift)


def no_pairs(names: Sequence[str]) -> CurvewiseError:
    """Return the error for algorithms none of which is the tuned one of another."""
    first = names[0] if names else "svm"
    return CurvewiseError(
        f"No algorithm is the tuned one of another: there are {listed(names) or 'none'}. "
        f"Name them 'NAME' and 'NAME tuned', or pass pairs={{'{first}': "
        f"<its tuned one>}}."
    )
