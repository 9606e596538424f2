"""`confusion` on trial: learners that do not differ, and what its rates contain."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from curvewise.metrics import Floats
from curvewise.questions.audit.checks import (
    Seen,
    Settings,
    Subject,
    claims_by_task,
    holds,
    misses_by_task,
)
from curvewise.questions.audit.draws import Cell, trials_of
from curvewise.questions.confusion import Confusion, confusion
from curvewise.questions.confusion.fit import TIMES, Counted, CountFit
from curvewise.questions.confusion.text import label, leading
from curvewise.questions.sampling import crossed_factors
from curvewise.questions.sizes import could_be_sizes, point_of
from curvewise.stats.interval import Interval
from curvewise.text import joined
from curvewise.trials import Trials
from curvewise.trials.columns import Ints

# How much answers of different models on one test example hang together, as the fit
# takes it where nobody says which examples were answered rightly.
TOGETHER = 0.6
_LEAST = 0.5  # answers that a rate is held away from 0 and 1


@dataclass(frozen=True, slots=True, eq=False)
class OfConfusion(Subject):
    """`confusion`, with the curves that new counts are drawn from."""

    name: ClassVar[str] = "confusion"
    note: ClassVar[str] = (
        "confusion compares no algorithms, but readers may, where intervals do not "
        "overlap. One of several intervals is wrong more often than any single one."
    )

    trials: Trials
    settings: Settings
    found: Confusion

    def ask(self, trials: Trials, seed: int) -> Confusion:  # noqa: ARG002  no chance in it
        """Return its answer about dealt trials: the metric that claims are about.

        Intervals of a metric are the same whichever others are asked for.
        """
        return confusion(
            trials,
            leading(self.found.asked),
            failed=_failed(self.settings),
            confidence=self.settings.confidence,
        )

    def ask_drawn(self, trials: Trials, seed: int) -> Confusion:  # noqa: ARG002  as above
        """Return its answer about drawn trials."""
        return confusion(trials, confidence=self.settings.confidence)

    def claims(self, answer: Confusion) -> list[Seen]:
        """Return whether intervals of two learners at one size do not even meet.

        The answer makes no comparison, but a reader will read one into it. Of m intervals,
        each of which may be wrong so often, one is wrong m times as often at most.
        """
        several = [one for one in answer.found if len(one.fits) > 1]
        if not several:
            return []
        name = leading(answer.asked)
        apart = [
            any(
                _are_apart(point_of(a.told[name]), point_of(b.told[name]))
                for a, b in combinations(one.fits, 2)
            )
            for one in several
        ]
        most = max(len(one.fits) for one in several)
        what = f"intervals of {label(name)} on a task do not meet"
        return [claims_by_task(what, apart, min(most * self.settings.level, 1.0))]

    def draw(self, rng: np.random.Generator) -> Trials:
        """Return counts drawn from the fitted matrices."""
        cells = []
        for one in self.found.found:
            for fit in one.fits:
                runs = [np.arange(len(counts)) for counts in fit.counted.counts]
                cells.append(
                    Cell.of_runs(
                        one.task,
                        fit.algorithm,
                        runs=np.concatenate(runs),
                        steps=np.repeat(fit.counted.trained_on, fit.counted.runs),
                        values=np.empty(0),
                        counts=np.concatenate(_counts(fit, rng)),
                    )
                )
        return trials_of(cells, None, self.trials)

    def misses(self, answer: Confusion) -> list[Seen]:
        """Return which rates are missed, at the size compared and with more data."""
        request = self.found.asked
        held: list[list[bool | None]] = [[] for _ in TIMES]
        for one, true in zip(answer.found, self.found.found, strict=True):
            curves = {fit.algorithm: fit.curve for fit in true.fits}
            for fit in one.fits:
                for name, band in fit.told.items():
                    curve = curves[fit.algorithm]
                    truth = curve.metric(name, band.at, **request.settings(name))
                    for i, each in enumerate(held):
                        each.append(holds(point_of(band, i), float(truth[i])))
        names = joined([label(name) for name in request.metrics])
        where = [
            "at the size compared",
            *(f"with {x:g} times the data" for x in TIMES[1:]),
        ]
        kinds = [(f"{names} {at}", each) for at, each in zip(where, held, strict=True)]
        return misses_by_task(kinds, self.settings.level, len(answer.found))


def _are_apart(one: Interval, other: Interval) -> bool:
    return one.upper < other.lower or other.upper < one.lower


def _counts(fit: CountFit, rng: np.random.Generator) -> list[Ints]:
    """Return new matrices for each size, shape (run, class, class).

    Every model has recalls of its own, and every test set its hard examples, which stay
    hard for all models that meet it.
    """
    counted = fit.counted
    totals = [counts.sum(-1) for counts in counted.counts]  # (run, class)
    rates = fit.curve.rates(counted.trained_on)
    recalls = np.diagonal(rates, axis1=-2, axis2=-1) / rates.sum(-1)
    spread = model_spread(counted, recalls)
    every = np.concatenate(totals)
    is_shared = bool((every == every[0]).all())
    most = every.max(axis=0).astype(int)
    tests = 1 if is_shared else max(map(len, totals))
    hard = [[_hard(n, rng) for n in most] for _ in range(tests)]
    out = []
    for i, total in enumerate(totals):
        models = _models(recalls[i], spread / counted.trained_on[i], len(total), rng)
        right = np.empty(total.shape, np.int64)
        for (run, k), n in np.ndenumerate(total.astype(int)):
            levels = hard[0 if is_shared else run][k]
            fixed = levels[: round(len(levels) * n / max(most[k], 1))]
            p = models[run, k]
            right[run, k] = (fixed < p).sum() + rng.binomial(n - len(fixed), p)
        out.append(_matrices(right, total.astype(np.int64), rates[i], rng))
    return out


def _hard(n: int, rng: np.random.Generator) -> Floats:
    """Return how good a model must be to know each of the examples that stay hard."""
    return rng.random(round(TOGETHER * n))


def model_spread(own: Counted, recalls: Floats) -> Floats:
    """Return how recalls vary between models, in p (1 - p) / n, shape (class,).

    What was seen between runs, less what finite test sets add to it; 0 where runs show no
    more than that, or where there is one of each size.
    """
    spread, weight = np.zeros(own.classes), np.zeros(own.classes)
    for n, counts, recall in zip(own.trained_on, own.counts, recalls, strict=True):
        total = counts.sum(-1)
        if len(counts) < 2 or not (total > 0).all():
            continue
        each = np.diagonal(counts, axis1=-2, axis2=-1) / total
        edge = _LEAST / total.mean(0)
        p = np.clip(recall, edge, 1 - edge)
        shared = TOGETHER if (total == total[0]).all() else 0.0
        chance = (1 - shared) * p * (1 - p) * (1 / total).mean(0)
        freedom = len(counts) - 1
        spread += freedom * n * (each.var(axis=0, ddof=1) - chance) / (p * (1 - p))
        weight += freedom
    return np.maximum(spread / np.maximum(weight, 1.0), 0.0)


def _models(
    recalls: Floats, spread: Floats, runs: int, rng: np.random.Generator
) -> Floats:
    """Return the recalls of new models, shape (run, class): beta distributed."""
    out = np.tile(recalls, (runs, 1))
    varies = (spread > 0) & (recalls > 0) & (recalls < 1)
    size = 1 / np.clip(spread[varies], 1e-12, 0.9) - 1
    p = recalls[varies]
    out[:, varies] = rng.beta(p * size, (1 - p) * size, (runs, int(varies.sum())))
    return out


def _matrices(
    right: Ints, total: Ints, rates: Floats, rng: np.random.Generator
) -> Ints:
    """Return matrices with so many right answers; wrong ones as the rates have them."""
    runs, classes = right.shape
    out = np.zeros((runs, classes, classes), np.int64)
    for k in range(classes):
        wrong = np.delete(rates[k], k)
        share = wrong / wrong.sum() if wrong.sum() > 0 else np.full(len(wrong), 1.0)
        others = np.delete(np.arange(classes), k)
        answers = rng.multinomial(total[:, k] - right[:, k], share / share.sum())
        out[:, k, others] = answers
        out[:, k, k] = right[:, k]
    return out


def _failed(settings: Settings) -> Literal["raise", "worst"]:
    return "raise" if settings.failed == "raise" else "worst"


def subject(trials: Trials, settings: Settings) -> OfConfusion | None:
    """Return `confusion` as it answered, where there are counts along sizes."""
    if crossed_factors(trials) or not trials.details().classes.any():
        return None
    if not could_be_sizes(trials, "error"):
        return None
    answer = confusion(trials, failed=_failed(settings), confidence=settings.confidence)
    sound = all(
        math.isfinite(float(fit.curve.rates(fit.counted.trained_on).sum()))
        for one in answer.found
        for fit in one.fits
    )
    return OfConfusion(trials, settings, answer) if sound else None
