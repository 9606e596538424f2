"""Tuned against untuned: which belong together, and what tuning gains, by statistic."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from curvewise.errors import CurvewiseError, Verbatim, listed, unknown
from curvewise.metrics import Floats, Metric
from curvewise.questions.performance.fit import Comparison, comparison_of
from curvewise.questions.sampling import Sample, are_paired, quietly
from curvewise.stats.bands import Kind, tail_kind
from curvewise.stats.comparison import difference, has_few
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import Interval

Statistic: TypeAlias = Literal["mean", "median", "cvar_best", "cvar_worst"]
STATISTICS: tuple[Statistic, ...] = ("mean", "median", "cvar_best", "cvar_worst")


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
    is_few : bool
        Whether there are fewer trials than the central limit theorem was measured to need
        at this confidence.
    """

    statistic: Statistic
    untuned: float
    tuned: float
    interval: Interval
    guaranteed: Interval
    is_few: bool

    @property
    def believed(self) -> Interval:
        """The interval that a verdict may rest on: with few trials, the guaranteed."""
        return self.guaranteed if self.is_few else self.interval


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
    is_paired = are_paired(untuned, tuned)
    b, a = metric.sign * untuned.scores, metric.sign * tuned.scores
    return Gap(
        *names,
        len(untuned.scores),
        len(tuned.scores),
        untuned.failed,
        tuned.failed,
        is_paired,
        tuple(
            _gain(
                one,
                b,
                a,
                metric,
                alpha,
                confidence,
                is_paired,
                band,
            )
            for one in STATISTICS
        ),
        _shift(names, untuned, tuned, metric, confidence),
    )


def _gain(
    statistic: Statistic,
    b: Floats,
    a: Floats,
    metric: Metric,
    alpha: float,
    confidence: float,
    is_paired: bool,
    band: Kind,
) -> Gain:
    """Return what tuning gains: `a` are the tuned scores, higher is better."""
    f = functional_of(statistic, alpha)
    ask = functools.partial(
        difference,
        *(a, b),
        of=f.of,
        alpha=f.alpha,
        tail=f.tail,
        confidence=confidence,
        paired=is_paired,
        support=metric.upward,
    )
    with quietly():
        interval = ask(method="asymptotic")
    if f.lacks(metric.upward):
        reason = f"cannot tell: {metric.label} has no bounds"
        guaranteed = Interval(-math.inf, math.inf, interval.estimand, reason)
    else:
        guaranteed = ask(method="guaranteed", kind=band)
    return Gain(
        statistic,
        metric.sign * f.value(b),
        metric.sign * f.value(a),
        interval,
        guaranteed,
        is_few=has_few(f, min(len(a), len(b)), confidence=confidence),
    )


def functional_of(statistic: Statistic, alpha: float) -> Functional:
    """Return a statistic as what `curvewise.stats` knows it by."""
    if statistic == "mean":
        return Functional("mean")
    if statistic == "median":
        return Functional("quantile", 0.5)
    return Functional("cvar", alpha, "upper" if statistic == "cvar_best" else "lower")


def _shift(
    names: tuple[str, str, str],
    untuned: Sample,
    tuned: Sample,
    metric: Metric,
    confidence: float,
) -> Comparison:
    most = max(len(untuned.scores), len(tuned.scores))
    return comparison_of(
        (names[2], names[1]),
        (metric.sign * tuned.scores, metric.sign * untuned.scores),
        confidence=confidence,
        # Bad hyperparameters are in the lower tail.
        kind=tail_kind(most, confidence=(1 + confidence) / 2),
    )


def no_pairs(names: Sequence[str]) -> CurvewiseError:
    """Return the error for algorithms none of which is the tuned one of another."""
    first = names[0] if names else "svm"
    return CurvewiseError(
        "No algorithm is the tuned one of another: there are "
        f"{listed(names) or 'none'}. Name them 'NAME' and 'NAME tuned', or pass ",
        {"pairs": {first: Verbatim("<its tuned one>")}},
        ".",
    )
