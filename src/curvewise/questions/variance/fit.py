"""Scores of a crossed design by what was crossed, and their variance by source."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Phrase, listed, unknown
from curvewise.metrics import Floats
from curvewise.questions.sampling import Sample, quietly
from curvewise.stats.interval import Interval
from curvewise.stats.variance import Components, Source, components, share_intervals
from curvewise.trials import Trials
from curvewise.trials.columns import Ints, to_texts
from curvewise.trials.view import as_cell

# What an experiment can cross, and what people call it.
ROLES = {
    "params": "hyperparameters",
    "train": "training set",
    "test": "test set",
    "data": "data",
    "seed": "seed",
}
_MOST_CELLS = 10**6  # of which most may be empty; more would not fit into memory


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """The scores of one algorithm on one task, one for each cell.

    Parameters
    ----------
    task, algorithm : str
    factors : tuple of str
        The labels that are crossed.
    scores : ndarray, shape (level of factor 1, level of factor 2, ...)
    failed : int
        How many of the trials failed.
    """

    task: str
    algorithm: str
    factors: tuple[str, ...]
    scores: Floats
    failed: int


def crossing(
    trials: Trials,
    task: str,
    algorithm: str,
    sample: Sample,
    factors: Sequence[str] | None,
) -> Crossing:
    """Return the scores of a cell laid out; raise if its trials are not crossed."""
    whose = f"'{algorithm}' on '{task}'"
    labels = _labels(trials.where(task=task, algorithm=algorithm), sample.numbers)
    chosen = _factors(labels, factors, whose)
    scores = _laid_out(labels, chosen, sample.scores, whose)
    return Crossing(
        task=task,
        algorithm=algorithm,
        factors=chosen,
        scores=scores,
        failed=sample.failed,
    )


def _labels(trials: Trials, numbers: Ints) -> list[dict[str, Any]]:
    """Return what tells the trials of these numbers apart, hyperparameters included."""
    rows = np.searchsorted(trials.core.number, numbers).tolist()
    details = trials.details()
    labels, params = to_texts(details.labels), to_texts(details.params)
    parsed = [json.loads(labels[row]) if labels[row] else {} for row in rows]
    return [{"params": params[r], **one} for r, one in zip(rows, parsed, strict=True)]


def _factors(
    labels: list[dict[str, Any]], factors: Sequence[str] | None, whose: str
) -> tuple[str, ...]:
    names = dict.fromkeys(name for one in labels for name in one)
    levels = {name: len({as_cell(one.get(name)) for one in labels}) for name in names}
    several = [name for name in levels if levels[name] > 1]
    if factors is None:
        crossed = [name for name in ROLES if 1 < levels.get(name, 1) < len(labels)]
        chosen = tuple(crossed if len(crossed) > 1 else several)
    else:
        chosen = tuple(factors)
        for name in chosen:
            if name not in levels:
                raise unknown("label", name, levels)
    if len(chosen) < 2 or min(levels[name] for name in chosen) < 2:
        raise CurvewiseError(
            f"The trials of {whose} are not crossed: what differs between them is "
            f"{listed(several) or 'nothing'}. Run them with ",
            Phrase("Experiment(..., cross={'params': 10, 'seed': 5})"),
            ", or pass ",
            {"factors": ...},
            ", two labels or more.",
        )
    return chosen


def _laid_out(
    labels: list[dict[str, Any]], factors: tuple[str, ...], scores: Floats, whose: str
) -> Floats:
    levels: list[dict[Any, int]] = [{} for _ in factors]
    places = [
        tuple(
            codes.setdefault(as_cell(one.get(name)), len(codes))
            for codes, name in zip(levels, factors, strict=True)
        )
        for one in labels
    ]
    _refuse_many(math.prod(map(len, levels)), len(scores), factors, whose)
    table = np.full([len(codes) for codes in levels], np.nan)
    met = np.zeros(table.shape, np.int64)
    for place, score in zip(places, scores, strict=True):
        table[place] = score
        met[place] += 1
    _refuse_holes(met, factors, [list(codes) for codes in levels], whose)
    return table


def _refuse_many(cells: int, trials: int, factors: tuple[str, ...], whose: str) -> None:
    """Raise where nearly all cells are empty, and too many to be looked at one by one."""
    if cells > max(trials, _MOST_CELLS):
        raise CurvewiseError(
            f"{cells - trials:,} or more of {cells:,} cells of {' x '.join(factors)} "
            f"have no trial of {whose}. Pass ",
            {"factors": ...},
            " that are crossed.",
        )


def _refuse_holes(
    met: Ints, factors: tuple[str, ...], levels: list[list[Any]], whose: str
) -> None:
    def first(which: Any) -> str:
        place = np.argwhere(which)[0].tolist()
        axes = zip(factors, levels, place, strict=True)
        return ", ".join(f"{name}={values[i]}" for name, values, i in axes)

    if (met > 1).any():
        raise CurvewiseError(
            f"{met.max()} trials of {whose} have {first(met > 1)}. Pass ",
            {"factors": ...},
            " that tell all trials apart, one in each cell.",
        )
    if (met == 0).any():
        raise CurvewiseError(
            f"{(met == 0).sum()} of {met.size} cells of {' x '.join(factors)} have "
            f"no trial of {whose}, first {first(met == 0)}. Run the experiment to "
            "its end (the same call goes on), or pass ",
            {"factors": ...},
            " that are crossed.",
        )


# --- The variance of the scores of one algorithm on one task, source by source ---------


Interactions: TypeAlias = Literal["together", "each"]

INTERACTION = "interaction"


@dataclass(frozen=True, slots=True)
class Share:
    """What one source adds to the variance of scores.

    Parameters
    ----------
    source : str
        "hyperparameters", "seed", "training set", "test set", "data", "interaction", or
        what the labels say.
    levels : int or None
        How many draws of it there are; None for an interaction.
    variance : float
        Unbiased, and so below 0 at times; a share is then 0.
    interval : Interval
        For its share of the variance, with the share itself as its value.
    """

    source: str
    levels: int | None
    variance: float
    interval: Interval

    @property
    def sd(self) -> float:
        """The standard deviation, in the unit of the metric; 0 for variances below 0."""
        return math.sqrt(max(self.variance, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """The variance of the scores of one algorithm on one task, source by source.

    Parameters
    ----------
    task, algorithm : str
    shares : tuple of Share
        They add up to all of the variance.
    components : Components
        Every set of factors by itself, with its mean square.
    failed : int
        How many of the trials failed; they are in it with what a failure scores.
    """

    task: str
    algorithm: str
    shares: tuple[Share, ...]
    components: Components
    failed: int

    @property
    def sd(self) -> float:
        """The standard deviation of a score, all sources together."""
        return math.sqrt(self.components.total)

    @property
    def largest(self) -> Share | None:
        """The source with the largest share; None where all scores are the same."""
        if not self.components.total > 0:
            return None
        return max(self.shares, key=lambda share: share.interval.value)


def decomposition(
    cell: Crossing,
    interactions: Interactions,
    confidence: float,
    rng: np.random.Generator,
) -> Decomposition:
    """Return the shares of the variance of a crossed design."""
    parts = components(cell.scores, cell.factors)
    groups = [[source] for source in parts.sources]
    if interactions == "together":
        alone = len(cell.factors)
        groups = [*groups[:alone], list(parts.sources[alone:])]
    with quietly():
        intervals = share_intervals(
            cell.scores, cell.factors, groups, confidence=confidence, rng=rng
        )
    shares = tuple(
        _share(cell, parts, group, interval)
        for group, interval in zip(groups, intervals, strict=True)
    )
    return Decomposition(
        task=cell.task,
        algorithm=cell.algorithm,
        shares=shares,
        components=parts,
        failed=cell.failed,
    )


def _share(
    cell: Crossing, parts: Components, group: list[Source], interval: Interval
) -> Share:
    places = [parts.sources.index(source) for source in group]
    variance = float(parts.variances[places].sum())
    if len(group[0]) == 1:
        axis = cell.factors.index(group[0][0])
        return Share(_word(group[0]), cell.scores.shape[axis], variance, interval)
    is_all = len(group) > 1 or len(cell.factors) == 2
    return Share(INTERACTION if is_all else _word(group[0]), None, variance, interval)


def _word(source: Source) -> str:
    return " x ".join(ROLES.get(name, name) for name in source)
