"""One task at one moment: how far each algorithm is, and its inverse CDF with its band."""

import math
from dataclasses import dataclass

import numpy as np

from curvewise._text import count, percent
from curvewise.analyses._asking import Sample
from curvewise.errors import CurvewiseError
from curvewise.flow.standing import CellStanding
from curvewise.flow.watching.kept import Rows
from curvewise.metrics import Floats, Metric
from curvewise.stats.bands import Band, cdf_band
from curvewise.stats.distribution import quantile
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed, declared_score, refuse_outside

CONFIDENCE = 0.95
GRID = np.linspace(0, 1, 201)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The inverse CDF of one algorithm, with a band that holds at every look.

    Parameters
    ----------
    algorithm : str
    look : int
        Its place among all algorithms: whose colour it has.
    trials : int
        How many are in it.
    failed : int
        How many of these failed, with what a failure scores.
    left_out : int
        How many failed and have no score.
    y, lower, upper : ndarray, shape (point,)
        At the shares of `GRID`.
    half_width : float
        How far the true CDF may be from the empirical one, as a share of the trials.
    """

    algorithm: str
    look: int
    trials: int
    failed: int
    left_out: int
    y: Floats
    lower: Floats
    upper: Floats
    half_width: float


@dataclass(frozen=True, slots=True, eq=False)
class TaskView:
    """One task: how far each algorithm is, and how its scores are distributed.

    Parameters
    ----------
    task : str
    version : int
        As in `TaskStanding`.
    metric : Metric or None
        None before the first score.
    at : {"last", "mean", "best"} or float
    cells : tuple of CellStanding
    curves : tuple of Curve
        Of the algorithms that have scores.
    notes : tuple of str
        What a reader must know.
    """

    task: str
    version: int
    metric: Metric | None
    at: At
    cells: tuple[CellStanding, ...]
    curves: tuple[Curve, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The trials of one algorithm on one task, as a watcher has them.

    Parameters
    ----------
    algorithm : str
    look : int
    rows : structured ndarray
    is_sized : bool
        Whether each trial of the task is at one size, and sizes differ.
    """

    algorithm: str
    look: int
    rows: Rows
    is_sized: bool

    def sample(self, metric: Metric, failed: Failed) -> Sample:
        """Return its scores in the order of their numbers.

        A failure scores what `failed` says; ``"worst"`` only where the metric has a worst
        score, which does not move from look to look; else failures are left out.
        """
        rows = self.rows[~self.rows["elsewhere"]] if self.is_sized else self.rows
        if (np.diff(rows["number"]) < 0).any():
            rows = rows[np.argsort(rows["number"], kind="stable")]
        scores, broken = rows["score"], np.isnan(rows["score"])
        refuse_outside(scores[~broken], metric)
        scores = np.clip(scores, *metric.range)
        score = _score_of_failure(metric, failed)
        if score is None or math.isinf(score):
            return Sample(scores[~broken], rows["number"][~broken], 0)
        scores[broken] = score
        return Sample(scores, rows["number"].copy(), int(broken.sum()))

    @property
    def broken(self) -> int:
        """How many trials have no score."""
        rows = self.rows[~self.rows["elsewhere"]] if self.is_sized else self.rows
        return int(np.isnan(rows["score"]).sum())


def _score_of_failure(metric: Metric, failed: Failed) -> float | None:
    """Return what a failure scores; nothing where nobody said which way is better."""
    if failed == "worst" and metric.direction is None:
        return None
    return declared_score(metric, failed)


def curve_of(drawn: Drawn, metric: Metric, failed: Failed) -> Curve | None:
    """Return the inverse CDF of one algorithm; None where it has no score."""
    own = drawn.sample(metric, failed)
    if not len(own.scores):
        return None
    band = band_of(own.scores, metric)
    lower, upper = band.quantile(GRID)
    return Curve(
        drawn.algorithm,
        drawn.look,
        len(own.scores),
        own.failed,
        drawn.broken - own.failed,
        np.asarray(quantile(band.scores, GRID)),
        lower,
        upper,
        band.half_width,
    )


def band_of(scores: Floats, metric: Metric) -> Band:
    """Return the band: whoever looks at every trial that comes may look again."""
    return cdf_band(scores, confidence=CONFIDENCE, kind="anytime", support=metric.range)


def _notes(
    curves: tuple[Curve, ...], broken: int, metric: Metric, failed: Failed
) -> list[str]:
    """Return what a reader of the curves must know."""
    level = percent(CONFIDENCE)
    found = [
        f"The band holds with {level} confidence at all quantiles of one algorithm and at "
        f"every look, for independent trials of any distribution. Trials that are still "
        f"running are not in it: where slow ones score differently, early curves are off."
    ]
    scoring = sum(curve.failed for curve in curves)
    left_out = broken - scoring
    if scoring:
        score = declared_score(metric, failed)
        found.insert(0, f"{count(scoring, 'failed trial')} counted as {score:g}.")
    if left_out:
        found.insert(
            0,
            f"{count(left_out, 'failed trial')} left out, which flatters the algorithms "
            f"that fail: '{metric.label}' has no worst score. Say what a failure scores "
            f"with --failed SCORE.",
        )
    return found


def view_of(
    task: str,
    version: int,
    metric: Metric | None,
    at: At,
    failed: Failed,
    cells: tuple[CellStanding, ...],
    drawn: list[Drawn],
) -> TaskView:
    """Return one task at one moment."""
    if metric is None:
        return TaskView(task, version, None, at, cells, (), ("No score has come yet.",))
    if any(own.is_sized for own in drawn) and isinstance(at, str):
        note = (
            "Each trial was run at one training size, and sizes differ: their scores are "
            "not of one distribution. Choose a size with --at SIZE."
        )
        return TaskView(task, version, metric, at, cells, (), (note,))
    try:
        found = [curve_of(own, metric, failed) for own in drawn]
    except CurvewiseError as problem:
        return TaskView(task, version, metric, at, cells, (), (str(problem),))
    curves = tuple(curve for curve in found if curve is not None)
    notes = ["No score has come yet."]
    if curves:
        notes = _notes(curves, sum(own.broken for own in drawn), metric, failed)
    return TaskView(task, version, metric, at, cells, curves, tuple(notes))
