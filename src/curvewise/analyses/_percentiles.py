"""Which trials sit at given percentiles of the scores."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from curvewise.analyses._asking import metric_of, samples
from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.metrics import Floats
from curvewise.stats.distribution import rank
from curvewise.trials import Trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed
from curvewise.trials.trial import Value


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The trial that sits at a percentile.

    Parameters
    ----------
    percentile : float
        Out of 100; the higher, the better, whichever way the metric goes.
    name : str
        What its hyperparameters are called as an algorithm: "svm p99".
    number : int
        Of the trial.
    score : float
        Of the trial, when it was chosen.
    params : mapping
    """

    percentile: float
    name: str
    number: int
    score: float
    params: Mapping[str, Value]


def choose(
    trials: Trials,
    metric: str | None,
    *,
    task: str | None,
    algorithm: str | None,
    percentiles: Sequence[float],
    at: At,
    failed: Failed,
) -> tuple[Chosen, ...]:
    """Return the trials that sit at these percentiles of the scores.

    The trial at percentile p is the order statistic ``ceil(n p / 100)``, counted from the
    worst; of trials that score the same, the one of the lower number comes first.
    """
    name = metric_of(trials, metric)
    task = _only(trials.tasks, task, "task")
    algorithm = _only(trials.algorithms, algorithm, "algorithm")
    own = trials.where(task=task, algorithm=algorithm)
    sample = samples(own, name, at, failed, averaged=False)[task][algorithm]
    asked = _checked(percentiles)
    order = np.argsort(trials.metric(name).sign * sample.scores, kind="stable")
    places = order[np.maximum(rank(len(order), asked / 100), 1) - 1]
    twice = [
        (p, q)
        for (p, i), (q, j) in itertools.pairwise(zip(asked, places, strict=True))
        if i == j
    ]
    if twice:
        p, q = twice[0]
        raise CurvewiseError(
            f"Percentiles {p:g} and {q:g} of {len(order)} trials are the same trial. Pass "
            f"percentiles that are further apart, or run more trials."
        )
    rows = np.searchsorted(own.core.number, sample.numbers[places])
    return tuple(
        Chosen(
            float(p),
            f"{algorithm} p{p:g}",
            int(sample.numbers[place]),
            float(sample.scores[place]),
            own[int(row)].params,
        )
        for p, place, row in zip(asked, places, rows, strict=True)
    )


def _checked(percentiles: Sequence[float]) -> Floats:
    try:
        asked = np.unique(np.asarray(percentiles, dtype=np.float64))
    except (TypeError, ValueError):
        asked = np.empty(0)
    if asked.ndim != 1 or len(asked) == 0 or not ((asked >= 0) & (asked <= 100)).all():
        raise CurvewiseError(
            f"percentiles is {percentiles!r}. Pass numbers from 0 to 100, such as "
            f"(1, 50, 95, 99).",
            argument="percentiles",
            value=percentiles,
        )
    return asked


def _only(names: Sequence[str], asked: str | None, kind: str) -> str:
    if asked is None:
        if len(names) != 1:
            raise CurvewiseError(
                f"Which {kind}? These trials have {listed(names) or 'none'}.",
                fixes=[{kind: ...}],
            )
        return names[0]
    if asked not in names:
        raise unknown(kind, asked, names)
    return asked
