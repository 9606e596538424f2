"""How good is it, and how hard to tune? The distribution of scores, task by task."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from curvewise._answer import Answer, Provenance
from curvewise._text import Cell, count, html_table, percent, plain, shown
from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.metrics import Floats, Metric
from curvewise.stats.bands import Band, Kind, cdf_band
from curvewise.stats.distribution import Threshold, cvar, quantile, threshold
from curvewise.stats.interval import Interval
from curvewise.trials import Trials, doors, must_be_trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed
from curvewise.trials.values import scored


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """The scores of one algorithm on one task, failures included.

    Parameters
    ----------
    task, algorithm : str
    metric : Metric
    band : Band
        Holds the scores, in ascending order, and the band around their distribution.
    failed : int
        How many of the trials failed; they are in the scores with what a failure scores.
    """

    task: str
    algorithm: str
    metric: Metric
    band: Band
    failed: int

    @property
    def scores(self) -> Floats:
        """The scores in ascending order."""
        return self.band.scores

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    def quantile(self, p: ArrayLike) -> Floats:
        """Return the score that a share `p` of the trials do not exceed."""
        return quantile(self.scores, p)

    @property
    def median(self) -> float:
        """The score that half of the trials, or just less, are better than.

        Of an even number of trials it is the worse one of the two in the middle, so
        that an accuracy and its error have the same median.
        """
        up = self.metric.sign
        return up * float(quantile(up * self.scores, 0.5))

    def best(self, alpha: float) -> float:
        """Return the mean of the best ``1 - alpha`` of the trials (upper CVaR)."""
        up = self.metric.sign
        return up * cvar(up * self.scores, alpha, tail="upper")

    def worst(self, alpha: float) -> float:
        """Return the mean of the worst ``alpha`` of the trials (lower CVaR)."""
        up = self.metric.sign
        return up * cvar(up * self.scores, alpha, tail="lower")

    def median_interval(self) -> Interval:
        """Return the band at the median."""
        return self.band.quantile_interval(0.5)

    def reaching(self, z: float) -> Threshold:
        """Return how many trials are at least as good as `z`, and how good those are."""
        up = self.metric.sign
        found = threshold(up * self.scores, up * z)
        return Threshold(
            found.probability, up * found.mean_reached, up * found.partial, found.excess
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Performance(Answer):
    """The answer of `performance`: one distribution per task and algorithm."""

    metric: Metric
    alpha: float
    threshold: float | None
    failed_score: str
    distributions: tuple[Distribution, ...]
    provenance: Provenance

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of the trials."""
        return tuple(dict.fromkeys(d.task for d in self.distributions))

    def of(self, task: str) -> tuple[Distribution, ...]:
        """Return the distributions of one task."""
        own = tuple(d for d in self.distributions if d.task == task)
        if not own:
            raise unknown("task", task, self.tasks)
        return own

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and algorithm.

        ``cvar_best`` is the mean of the best ``1 - alpha`` of the trials, ``cvar_worst``
        that of the worst ``alpha``; ``median_lower`` and ``median_upper`` are the band at
        the median. With a threshold: ``reached`` is the share of trials that are at least
        as good, ``mean_reached`` how good those are on average, ``partial`` the paper's
        partial expectation, ``excess`` by how much the threshold is passed on average.
        """
        return [self._row(d) for d in self.distributions]

    def _row(self, d: Distribution) -> dict[str, Cell]:
        median = d.median_interval()
        row: dict[str, Cell] = {
            "task": d.task,
            "algorithm": d.algorithm,
            "trials": len(d.scores),
            "failed": d.failed,
            "mean": d.mean,
            "median": d.median,
            "median_lower": median.lower,
            "median_upper": median.upper,
            "cvar_best": d.best(self.alpha),
            "cvar_worst": d.worst(self.alpha),
        }
        if self.threshold is not None:
            found = d.reaching(self.threshold)
            row |= {
                "reached": found.probability,
                "mean_reached": found.mean_reached,
                "partial": found.partial,
                "excess": found.excess,
            }
        return row

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""
        level = percent(self.distributions[0].band.confidence)
        best, worst = f"best {percent(1 - self.alpha)}", f"worst {percent(self.alpha)}"
        out: list[dict[str, Cell]] = []
        for d in self.of(task):
            median = d.median_interval()
            row: dict[str, Cell] = {
                "algorithm": d.algorithm,
                "trials": len(d.scores),
                "failed": d.failed,
                "mean": d.mean,
                best: d.best(self.alpha),
                worst: d.worst(self.alpha),
                "median": d.median,
                f"{level} band of the median": _span(median),
            }
            if self.threshold is not None:
                found = d.reaching(self.threshold)
                row[f"reach {self.threshold:g}"] = found.probability
                row["mean of those"] = found.mean_reached
            out.append(row)
        return out

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        band = self.distributions[0].band
        failed = sum(d.failed for d in self.distributions)
        notes = [
            f"best and worst: the mean of the best {percent(1 - self.alpha)} and of the "
            f"worst {percent(self.alpha)} of the trials (CVaR {self.alpha:g}).",
            f"band: with {percent(band.confidence)} confidence all quantiles of one "
            f"algorithm on one task lie in its band at once, if trials are independent "
            f"({_BANDS[band.kind]}).",
        ]
        if failed:
            notes.append(
                f"{count(failed, 'failed trial')} counted with score {self.failed_score}."
            )
        return notes

    def verdict(self, task: str) -> str:
        """Return in words who is ahead on a task, and what the bands tell apart."""
        own = self.of(task)
        up, top = self.metric.sign, percent(1 - self.alpha)
        best = {d.algorithm: d.best(self.alpha) for d in own}
        mean = {d.algorithm: d.mean for d in own}
        if len(own) == 1:
            (name,) = best
            return (
                f"{name} scores {shown(mean[name])} on average, and {shown(best[name])} "
                f"over the best {top} of its trials."
            )
        return (
            f"Over the best {top} of the trials {_ahead(best, up)}, over all trials "
            f"{_ahead(mean, up)}. {_apart(own)}"
        )

    def __str__(self) -> str:
        at = self.provenance.settings["at"]
        lines = [f"{self.metric}, {_AT.get(str(at), f'at step {at}')}"]
        for task in self.tasks:
            lines += ["", f"task {task}", plain(self.table(task), indent="  ")]
        return "\n".join([*lines, "", *self.notes(), str(self.provenance)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables = [
            html_table(self.table(t), f"{self.metric}, task {t}") for t in self.tasks
        ]
        return "".join(tables)


_AT = {"last": "last step", "mean": "mean over the steps", "best": "best step"}
_BANDS = {"kolmogorov": "exact Kolmogorov", "dkw": "DKW"}


def _ahead(scores: dict[str, float], up: int) -> str:
    top = max(scores.values(), key=lambda score: up * score)
    first = [name for name, score in scores.items() if score == top]
    if len(first) == len(scores):
        return f"all are level ({shown(top)})"
    verb = "is ahead" if len(first) == 1 else "are ahead"
    return f"{' and '.join(first)} {verb} ({shown(top)})"


def _apart(own: Sequence[Distribution]) -> str:
    """Return which medians the bands tell apart; nothing more is claimed."""
    spans = [(d.algorithm, d.median_interval()) for d in own]
    apart = [
        f"{a} and {b}"
        for i, (a, one) in enumerate(spans)
        for b, other in spans[i + 1 :]
        if one.lower > other.upper or other.lower > one.upper
    ]
    if not apart:
        return "The bands tell no two medians apart: more trials may."
    return f"The bands tell the medians of {listed(apart)} apart."


def _span(interval: Interval) -> str:
    ends = (interval.lower, interval.upper)
    return " to ".join(shown(e) if math.isfinite(e) else "?" for e in ends)


def performance(
    trials: Trials,
    metric: str | None = None,
    *,
    alpha: float = 0.5,
    threshold: float | None = None,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    band: Kind = "kolmogorov",
) -> Performance:
    """Return the distribution of scores of each algorithm on each task.

    Parameters
    ----------
    trials : Trials
    metric : str, optional
        May be left out where the trials have only one.
    alpha : float
        Where the trials are cut: the mean of the best ``1 - alpha`` and of the worst
        ``alpha`` are reported (CVaR, both tails).
    threshold : float, optional
        A score worth reaching: how many trials do, and how good those are.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores.
    confidence : float
        Of the band.
    band : {"kolmogorov", "dkw"}

    Notes
    -----
    The unit is the trial: its hyperparameters, seed and data were drawn anew. How good an
    algorithm is, is the whole distribution; how hard it is to tune, is how far the best
    trials are from the rest [1]_. "Best" follows the metric's direction.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
    >>> answer.tasks
    ('rings', 'waves')
    """
    must_be_trials(trials)
    if len(trials) == 0:
        raise CurvewiseError("There are no trials to judge. Check what was read.")
    name = _metric_of(trials, metric)
    if isinstance(alpha, str) or not 0 < alpha < 1:
        raise CurvewiseError(f"alpha is {alpha!r}. Pass a share between 0 and 1.")
    if threshold is not None and (
        isinstance(threshold, str) or not math.isfinite(threshold)
    ):
        raise CurvewiseError(
            f"threshold is {threshold!r}. Pass a score worth reaching."
        )
    meant = trials.metric(name)
    found = []
    for task in trials.tasks:
        own = trials.where(task=task) if len(trials.tasks) > 1 else trials
        scores, broken = doors.scores(own, name, at, failed)
        for algorithm, values in scores.items():
            around = cdf_band(
                values, confidence=confidence, kind=band, support=meant.range
            )
            n = int(broken[algorithm].sum())
            found.append(Distribution(task, algorithm, meant, around, n))
    settings: dict[str, Cell] = {
        "metric": name,
        "alpha": alpha,
        "threshold": threshold,
        "at": _plain(at),
        "failed": _plain(failed),
        "confidence": confidence,
        "band": band,
    }
    return Performance(
        meant,
        alpha,
        threshold,
        _failed_score(meant, failed),
        tuple(found),
        Provenance.of(trials, "performance", settings),
    )


def _plain(value: At | Failed) -> Cell:
    return value if isinstance(value, str) else float(value)


def _metric_of(trials: Trials, metric: str | None) -> str:
    if metric is not None:
        return metric
    scores = scored(trials)
    if len(scores) == 1:
        return scores[0]
    raise CurvewiseError(
        f"Which metric? These trials have {listed(scores) or 'none'}. Pass one."
    )


def _failed_score(metric: Metric, failed: Failed) -> str:
    if failed == "worst" and not math.isfinite(metric.worst):
        return "as bad as the worst of their task"
    score = metric.worst if failed == "worst" else failed
    return score if isinstance(score, str) else f"{score:g}"
