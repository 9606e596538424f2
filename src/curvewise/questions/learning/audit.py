"""`learning` on trial: learners that do not differ, and what its curves contain."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from curvewise.metrics import Floats
from curvewise.questions.audit.checks import (
    Seen,
    Settings,
    Subject,
    band_holds,
    claims_by_task,
    holds,
    leaves_out,
    misses_by_task,
    together,
)
from curvewise.questions.audit.draws import Cell, trials_of
from curvewise.questions.learning import Learning, learning
from curvewise.questions.learning.fit import (
    CurveFit,
    CurveTask,
)
from curvewise.questions.sampling import crossed_factors
from curvewise.questions.sizes import could_be_sizes, point_of
from curvewise.stats.powerlaw import PowerLaw
from curvewise.trials import Trials
from curvewise.trials.columns import Ints

_MOST_SHARED = 0.99
_LEAST = 1e-9  # of a variance: less is none
_WIDEST = 0.9  # of the variance that a rate with this mean can have at all


@dataclass(frozen=True, slots=True, eq=False)
class OfLearning(Subject):
    """`learning`, with the power laws that new errors are drawn around."""

    name: ClassVar[str] = "learning"

    trials: Trials
    settings: Settings
    found: Learning

    def ask(self, trials: Trials, seed: int) -> Learning:  # noqa: ARG002  no chance in it
        """Return its answer about dealt trials."""
        settings = self.settings
        return learning(
            trials,
            settings.metric,
            failed=settings.failed,
            confidence=settings.confidence,
        )

    def ask_drawn(self, trials: Trials, seed: int) -> Learning:  # noqa: ARG002  as above
        """Return its answer about drawn trials."""
        return learning(
            trials, self.settings.metric, confidence=self.settings.confidence
        )

    def claims(self, answer: Learning) -> list[Seen]:
        """Return whether one of a pair is said to be better, or to need data more."""
        several = [one for one in answer.found if one.pairs]
        if not several:
            return []
        level = self.settings.level
        better = [any(leaves_out(p.error) for p in one.pairs) for one in several]
        reliant = [any(leaves_out(p.reliance) for p in one.pairs) for one in several]
        return [
            claims_by_task("one of a pair on a task is better", better, level),
            claims_by_task("one of a pair on a task needs data more", reliant, level),
        ]

    def draw(self, rng: np.random.Generator) -> Trials:
        """Return errors drawn around the power laws, as noisy as the fits found them."""
        scale = self.found.scale
        cells = []
        for one in self.found.found:
            shared = _shared(one, rng)
            for fit in one.fits:
                runs, sizes, errors = _errors(fit, shared, rng)
                scores = scale.zero - scale.sign * errors
                cells.append(Cell.of_runs(one.task, fit.algorithm, runs, sizes, scores))
        return trials_of(cells, self.found.metric, self.trials)

    def misses(self, answer: Learning) -> list[Seen]:
        """Return which errors, curves, forecasts and differences are missed."""
        confidence, level = self.settings.confidence, self.settings.level
        now, along, beyond, better, reliant = [], [], [], [], []
        for one, true in zip(answer.found, self.found.found, strict=True):
            laws = {fit.algorithm: fit.law for fit in true.fits}
            for fit in one.fits:
                law, sizes = laws[fit.algorithm], fit.measured.sizes
                error = fit.law.parameters(confidence)["e_N"]
                now.append(holds(error, float(law.error(one.size))))
                band = fit.band(sizes, confidence)
                along.append(band_holds(band, law.error(sizes)))
                limit = law.extrapolation_limit
                far = point_of(fit.forecast.interval(limit, confidence))
                beyond.append(holds(far, float(law.error(limit))))
            if one.pairs:
                gaps = [(p, laws[p.one], laws[p.other]) for p in one.pairs]
                better.append(
                    together(
                        holds(p.error, float(a.error(one.size) - b.error(one.size)))
                        for p, a, b in gaps
                    )
                )
                reliant.append(
                    together(
                        holds(p.reliance, _reliance(a, b, one.size)) for p, a, b in gaps
                    )
                )
        kinds = [
            ("error at the size compared", now),
            ("curve at the sizes observed, all at once", along),
            ("forecast for four times the data, were the law true", beyond),
        ]
        if better:
            kinds += [
                ("difference of errors, all pairs of a task at once", better),
                ("difference of data-reliances, all pairs of a task at once", reliant),
            ]
        return misses_by_task(kinds, level, len(answer.found))


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """What the runs of one number have in common, in standard deviations.

    Parameters
    ----------
    numbers, sizes : ndarray
        Of all algorithms of the task, increasing.
    shifts : ndarray, shape (number,)
        Of a whole run.
    noise : ndarray, shape (number, size)
    share : float
        Of the variance that is shared.
    """

    numbers: Ints
    sizes: Floats
    shifts: Floats
    noise: Floats
    share: float

    def mixed(self, common: Floats, rng: np.random.Generator) -> Floats:
        """Return what is shared with what is not."""
        alone = rng.normal(size=common.shape)
        mixed = math.sqrt(self.share) * common + math.sqrt(1 - self.share) * alone
        return np.asarray(mixed)


def _shared(one: CurveTask, rng: np.random.Generator) -> _Shared:
    numbers = np.unique(np.concatenate([r for f in one.fits for r in f.measured.runs]))
    sizes = np.unique(np.concatenate([f.measured.sizes for f in one.fits]))
    shares = [pair.correlation for pair in one.pairs]
    share = float(np.clip(np.mean(shares), 0.0, _MOST_SHARED)) if shares else 0.0
    shifts = rng.normal(size=len(numbers))
    noise = rng.normal(size=(len(numbers), len(sizes)))
    return _Shared(
        numbers=numbers, sizes=sizes, shifts=shifts, noise=noise, share=share
    )


def _errors(
    fit: CurveFit, shared: _Shared, rng: np.random.Generator
) -> tuple[Ints, Floats, Floats]:
    """Return run, size and error of each new measurement."""
    measured, law = fit.measured, fit.law
    runs = np.concatenate(measured.runs)
    sizes = np.repeat(measured.sizes, measured.counts)
    noise, shift = law.noise(sizes), law.run_shift
    spread = noise + shift
    row = np.searchsorted(shared.numbers, runs)
    column = np.searchsorted(shared.sizes, sizes)
    every = shared.mixed(shared.shifts, rng)[row]
    each = shared.mixed(shared.noise, rng)[row, column]
    part = np.where(spread > 0, shift / np.where(spread > 0, spread, 1.0), 0.0)
    z = np.sqrt(part) * every + np.sqrt(1 - part) * each
    unit = "loss" if law.unit == "loss" else "fraction"
    return runs, sizes, _around(law.error(sizes), spread, z, unit)


def _around(mean: Floats, variance: Floats, z: Floats, unit: str) -> Floats:
    """Return errors with these means and variances that no error is outside of.

    Beta or gamma distributed: cutting off a normal distribution would move its mean.

    >>> _around(np.array([0.0, 0.5]), np.array([0.1, 0.0]), np.array([2.0, 2.0]), "loss")
    array([0. , 0.5])
    """
    from scipy.special import betaincinv, gammaincinv, ndtr

    widest = mean * (1 - mean) if unit == "fraction" else np.full_like(mean, np.inf)
    variance = np.minimum(variance, _WIDEST * widest)
    some = (variance > _LEAST * mean**2) & (mean > 0)
    m, v, p = mean[some], variance[some], ndtr(z[some])
    out = mean.copy()
    if unit == "loss":
        out[some] = gammaincinv(m**2 / v, p) * v / m
    else:
        size = m * (1 - m) / v - 1
        out[some] = betaincinv(m * size, (1 - m) * size, p)
    return out


def _reliance(one: PowerLaw, other: PowerLaw, n: float) -> float:
    return float(one.data_reliance(n) - other.data_reliance(n))


def subject(trials: Trials, settings: Settings) -> OfLearning | None:
    """Return `learning` as it answered, where steps look like sizes of training sets."""
    if crossed_factors(trials) or not could_be_sizes(trials, settings.metric):
        return None
    answer = learning(
        trials, settings.metric, failed=settings.failed, confidence=settings.confidence
    )
    fits: Sequence[CurveFit] = [fit for one in answer.found for fit in one.fits]
    noisy = all(np.isfinite(fit.law.noise(fit.measured.sizes)).all() for fit in fits)
    return OfLearning(trials, settings, answer) if noisy else None
