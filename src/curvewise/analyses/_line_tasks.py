"""The lines of one task: all that is asked of them, and what was found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curvewise.analyses._asking import quietly
from curvewise.metrics import Floats
from curvewise.stats.anova import (
    EffectShares,
    EffectSizes,
    Noise,
    Null,
    Pair,
    RandomizedAnova,
    Where,
    all_pairs,
    difference_band,
    effect_shares,
    effect_sizes,
    greenhouse_geisser,
    level_correlation,
    mean_band,
    noise_ratio,
    randomized_anova,
    where_different,
)
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.interval import CurveBand
from curvewise.trials.doors import Lines

_EACH, _WINDOWS = 30, 20  # steps are tested one by one; of more than 30, windows are
FEWEST_TO_FLIP, _FOR_A_MEAN = 4, 5  # lines


class Asked(NamedTuple):
    """What to ask of the lines of every task."""

    level: float
    null: Null
    noise: Noise | None
    windows: int | None
    shuffles: int
    exact: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class LinePair:
    """Two algorithms on one task.

    Parameters
    ----------
    one, other : str
    tested : Pair
        The p-values of both effects, alone and adjusted for all pairs of the task.
    sizes : EffectSizes
        How large the difference is, in three units; for all pairs of the task at once.
    band : CurveBand or None
        The difference of the mean curves, `one` minus `other`, at all steps and for all
        pairs of the task at once; None where there are too few lines.
    where : Where or None
        At which steps they differ; no false one among all steps of all pairs of the task;
        None where there are too few lines.
    """

    one: str
    other: str
    tested: Pair
    sizes: EffectSizes
    band: CurveBand | None
    where: Where | None

    def above(self) -> tuple[tuple[str, float, float], ...]:
        """Return who scores more from which step to which, where that was found.

        Neighbouring windows with the same algorithm above are one stretch.
        """
        where, band = self.where, self.band
        if where is None or band is None:
            return ()
        out: list[tuple[str, float, float]] = []
        is_next = False
        for i, differs in enumerate(where.different):
            if differs:
                first, last = float(where.first[i]), float(where.last[i])
                inside = (band.at >= first) & (band.at <= last)
                name = self.one if band.value[inside].mean() > 0 else self.other
                if is_next and out[-1][0] == name:
                    first = out.pop()[1]
                out.append((name, first, last))
            is_next = bool(differs)
        return tuple(out)


@dataclass(frozen=True, slots=True, eq=False)
class LineTask:
    """The lines of one task.

    Parameters
    ----------
    task : str
    lines : Lines
        Of each algorithm, on common steps.
    means : dict of str to CurveBand
        The mean curve of each algorithm with a band, at all its steps at once; without
        ends where there are too few lines.
    anova : RandomizedAnova
    shares : EffectShares
        How much of what algorithms do is done at which step.
    where : Where or None
        At which steps not all algorithms are alike; None where there are too few lines.
    pairs : tuple of LinePair
    noise_ratio : float
        The largest standard deviation of line means over the smallest.
    correlation : float
        Between neighbouring steps of a line, on average; NaN where nothing varies.
    epsilon : float
        Greenhouse and Geisser's: 1 where all steps vary and hang together alike, towards
        1 / (steps - 1) where one pattern makes a line what it is.
    """

    task: str
    lines: Lines
    means: dict[str, CurveBand]
    anova: RandomizedAnova
    shares: EffectShares
    where: Where | None
    pairs: tuple[LinePair, ...]
    noise_ratio: float
    correlation: float
    epsilon: float

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms, in the order of the trials."""
        return tuple(self.lines)

    @property
    def told(self) -> str:
        """How many lines there are, and how they came on common steps."""
        sizes = ", ".join(f"{name} {len(own)}" for name, own in self.lines.items())
        return f"lines of {sizes}; {self.lines.rule}"

    @property
    def fewest(self) -> int:
        """How many lines the algorithm with the fewest has."""
        return min(len(own) for own in self.lines.values())


def line_task(
    task: str, lines: Lines, asked: Asked, rng: np.random.Generator
) -> LineTask:
    """Return what the lines of one task show."""
    for_anova, for_shares, for_where, for_pairs, for_means = rng.spawn(5)
    anova = randomized_anova(
        lines,
        null=asked.null,
        noise=asked.noise,
        shuffles=asked.shuffles,
        exact=asked.exact,
        level=asked.level,
        rng=for_anova,
    )
    pairs = _pairs(lines, asked, for_pairs)
    where = pairs[0].where if len(pairs) == 1 else _where(lines, asked, 1, for_where)
    return LineTask(
        task,
        lines,
        {a: _mean(own, lines.steps, asked, for_means) for a, own in lines.items()},
        anova,
        effect_shares(lines, confidence=1 - asked.level, rng=for_shares),
        where,
        pairs,
        noise_ratio(lines),
        _neighbours(level_correlation(lines)),
        greenhouse_geisser(lines),
    )


def _pairs(
    lines: Lines, asked: Asked, rng: np.random.Generator
) -> tuple[LinePair, ...]:
    tested = all_pairs(
        lines,
        noise=asked.noise or "unequal",
        shuffles=asked.shuffles,
        exact=asked.exact,
        level=asked.level,
        rng=rng,
    )
    confidence = shared_confidence(1 - asked.level, len(tested))
    out = []
    for pair, own in zip(tested, rng.spawn(len(tested)), strict=True):
        two = {name: lines[name] for name in (pair.first, pair.second)}
        with quietly():
            sizes = effect_sizes(*two.values(), confidence=confidence)
        band = None
        if min(map(len, two.values())) >= FEWEST_TO_FLIP:
            band = difference_band(
                *two.values(), steps=lines.steps, confidence=confidence, rng=own
            )
        where = _where(two, asked, len(tested), own, lines.steps)
        out.append(LinePair(pair.first, pair.second, pair, sizes, band, where))
    return tuple(out)


def _where(
    lines: Mapping[str, Floats],
    asked: Asked,
    sharing: int,
    rng: np.random.Generator,
    steps: Floats | None = None,
) -> Where | None:
    if min(map(len, lines.values())) < FEWEST_TO_FLIP:
        return None
    at = lines.steps if isinstance(lines, Lines) else steps
    k = len(next(iter(lines.values()))[0])
    windows = asked.windows or (None if k <= _EACH else _WINDOWS)
    level = asked.level / sharing
    return where_different(lines, steps=at, windows=windows, level=level, rng=rng)


def _mean(
    own: Floats, steps: Floats, asked: Asked, rng: np.random.Generator
) -> CurveBand:
    if len(own) >= _FOR_A_MEAN:
        return mean_band(own, steps=steps, confidence=1 - asked.level, rng=rng)
    none = np.full(len(steps), np.nan)
    return CurveBand(steps, own.mean(axis=0), none, none, "", "no band: few lines")


def _neighbours(correlation: Floats) -> float:
    """Return the mean correlation of neighbouring steps."""
    beside = np.diag(correlation, 1)
    known = beside[np.isfinite(beside)]
    return float(known.mean()) if len(known) else float("nan")
