"""What questions about curves ask alike: which lines, on which steps, and how."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Message, listed, trials_where
from curvewise.metrics import Floats, Metric
from curvewise.questions.lead import Finding, sign_of
from curvewise.questions.sampling import clusters_of, quietly, refuse_crossed
from curvewise.stats.anova import (
    FEWEST_TO_FLIP,
    Decision,
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
    mean_band,
    noise_ratio,
    pair_of,
    randomized_anova,
    step_correlation,
    where_different,
)
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.interval import CurveBand
from curvewise.text import Cell
from curvewise.trials import Trials
from curvewise.trials.design import Design
from curvewise.trials.doors import Failed, Fill, Lines, flat_values, tasks_measured

# What a page may ask for unasked: a minute or so of shuffles.
_MOST_PAIRS = 300  # of algorithms, over all tasks
_MOST_LINES, _FEWEST_LINES = 1000, 50  # of an algorithm on a task
_WORK = 10_000  # lines of an algorithm, times pairs


def lines_by_task(
    trials: Trials,
    metric: str,
    grid: int | ArrayLike | None,
    fill: Fill | None,
    failed: Failed,
) -> dict[str, Lines]:
    """Return the lines of each algorithm on each task."""
    refuse_crossed(trials)
    rule = how_to_fill(grid, fill)
    return {
        task: _averaged(
            part, part.lines(metric, grid=grid, fill=rule, failed=failed), trials.design
        )
        for task in tasks_measured(trials, metric)
        for part in (trials.where(task=task),)
    }


def _averaged(trials: Trials, lines: Lines, design: Design) -> Lines:
    """Return one line for each cluster of runs, their mean; others as they are."""
    if design.unit != "cluster":
        return lines
    clusters = clusters_of(trials, design)
    means = {name: clusters[name].means(curves) for name, curves in lines.items()}
    return replace(lines, by_algorithm=means)


def how_to_fill(grid: int | ArrayLike | None, fill: Fill | None) -> Fill:
    """Return how lines meet a grid: as stated, or interpolated where there is one."""
    if fill is not None:
        return fill
    return "error" if grid is None else "linear"


def grid_setting(grid: int | ArrayLike | None) -> Cell:
    """Return the steps that were asked for as a setting to print."""
    if grid is None or isinstance(grid, int):
        return grid
    return f"{np.size(grid)} given steps"


def with_lines(trials: Trials) -> tuple[Trials, list[str]]:
    """Return the trials whose curves can be compared, and what was left out.

    Of every task the algorithms with two independent trials or more, failed ones among
    them, if there are two such algorithms and if anything is a curve at all. Of very
    many trials the first ones: whole lines are shuffled thousands of times, for each
    pair of algorithms.
    """
    core = trials.core
    if len(trials) == 0 or core.lengths.max() < 2:
        return trials.take(np.empty(0, np.int64)), []
    keep, left_out = np.zeros(len(trials), bool), []
    unit = trials.design.clusters(trials)
    for code, task in enumerate(trials.tasks):
        here = core.task == code
        met = np.unique(np.stack([core.algorithm[here], unit[here]]), axis=1)[0]
        sizes = np.bincount(met, minlength=len(trials.algorithms))
        many = np.flatnonzero(sizes > 1)
        lonely = [trials.algorithms[i] for i in np.flatnonzero(sizes == 1)]
        if core.lengths[here].max(initial=0) < 2:
            left_out.append(f"Left out: {task}, with single scores.")
        elif len(many) > 1:
            keep |= here & np.isin(core.algorithm, many)
            if lonely:
                left_out.append(f"Left out on {task}, with one line: {listed(lonely)}.")
        else:
            left_out.append(
                f"Left out: {task}, with lines of fewer than two algorithms."
            )
    rows = np.flatnonzero(keep)
    few, notes = _first_ones(trials.take(rows))
    return trials.take(rows[few]), [*left_out, *notes]


def too_many_pairs(trials: Trials) -> str:
    """Return why the curves of so many algorithms are not compared unasked; else ""."""
    pairs = _pairs_that_met(trials)
    if pairs <= _MOST_PAIRS:
        return ""
    return Message(
        f"These are {len(trials.algorithms)} algorithms on {len(trials.tasks)} "
        f"tasks, that is {pairs:,} pairs of mean curves, which share what may go "
        f"wrong; a page compares {_MOST_PAIRS} at most. Choose whom to compare "
        "before you look at who is ahead: ",
        trials_where(algorithm=[...]),
        ".",
    )


def _pairs_that_met(trials: Trials) -> int:
    """Return how many pairs of algorithms met on the same task, over all tasks."""
    cells = np.zeros((len(trials.tasks), len(trials.algorithms)), bool)
    cells[trials.core.task, trials.core.algorithm] = True
    sizes = cells.sum(axis=1)
    return int((sizes * (sizes - 1) // 2).sum())


def _first_ones(trials: Trials) -> tuple[NDArray[np.intp], list[str]]:
    """Return the rows of the first trials of each algorithm on each task, and how many."""
    core = trials.core
    most = max(
        min(_MOST_LINES, _WORK // max(_pairs_that_met(trials), 1)), _FEWEST_LINES
    )
    cell = core.task.astype(np.int64) * len(trials.algorithms) + core.algorithm
    begins = np.flatnonzero(np.r_[True, np.diff(cell) != 0])  # rows are kept by cell
    sizes = np.diff(np.r_[begins, len(cell)])
    place = np.arange(len(cell)) - np.repeat(begins, sizes)
    if sizes.max() <= most:
        return np.arange(len(cell)), []
    note = (
        f"Of up to {sizes.max():,} lines of an algorithm on a task the first {most:,} by "
        f"number are compared; difference(trials) takes all."
    )
    return np.flatnonzero(place < most), [note]


_MOST_STEPS = 600  # at which curves of different steps are compared by default


def grid_of(trials: Trials, metric: str) -> int | None:
    """Return at how many common steps to compare curves: those of the shortest one.

    None where all have the same steps.
    """
    _, known = flat_values(trials, metric)
    core, fewest = trials.core, []
    uneven = False
    for code in range(len(trials.tasks)):
        rows = np.flatnonzero((core.task == code) & (core.status == 0))
        ends = zip(core.offsets[rows], core.offsets[rows + 1], strict=True)
        steps = {core.steps[a:b][known[a:b]].tobytes() for a, b in ends}
        uneven |= len(steps) > 1
        fewest += [len(one) // core.steps.itemsize for one in steps]
    return min(max(min(fewest, default=2), 2), _MOST_STEPS) if uneven else None


# --- The lines of one task: all that is asked of them, and what was found --------------


EFFECTS = ("algorithm", "interaction")
_EACH, _WINDOWS = 30, 20  # steps are tested one by one; of more than 30, windows are
_FOR_A_MEAN = 5  # lines
_FOR_SHARES = 999  # shuffles: they make a picture, not a decision
_AT_THE_EDGE = 20  # flips beyond the edge of a level, at least
_MOST_FLIPS = 1_000_000
_NO_BAND = f"no band: {_FOR_A_MEAN} lines or more have one"


class LineTests(NamedTuple):
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
    decisions : dict of str to str
        What follows for "algorithm" and "interaction" at the level, for all pairs of the
        task: "rejected", "not rejected", "undecided" or "cannot reject".
    effects : EffectSizes
        How large the difference is, in three units; for all pairs of the task at once.
    band : CurveBand or None
        The difference of the mean curves, `one` minus `other`, at all steps and for all
        pairs of the task at once; None where there are too few lines.
    where : Where or None
        At which steps they differ; no false one among all steps of all pairs of the task;
        None where there are too few lines to tell so many pairs apart.
    """

    one: str
    other: str
    tested: Pair
    decisions: dict[str, Decision]
    effects: EffectSizes
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

    def finding(self, task: str, metric: Metric) -> Finding:
        """Return who is ahead on average over the steps; more, if none knows."""
        ahead = None
        if self.decisions["algorithm"] == "rejected":
            is_first = sign_of(metric) * self.effects.difference.value > 0
            ahead = self.one if is_first else self.other
        return Finding.of(task, (self.one, self.other), ahead)

    def ahead(self, metric: Metric) -> tuple[tuple[str, float, float], ...]:
        """Return the same stretches with whoever scores better; more, if none knows."""
        if sign_of(metric) > 0:
            return self.above()
        turned = {self.one: self.other, self.other: self.one}
        return tuple((turned[name], first, last) for name, first, last in self.above())


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
    def fewest(self) -> int:
        """How many lines the algorithm with the fewest has."""
        return min(len(curves) for curves in self.lines.values())


def line_task(
    task: str, lines: Lines, asked: LineTests, rng: np.random.Generator
) -> LineTask:
    """Return what the lines of one task show."""
    few = [name for name, curves in lines.items() if len(curves) < 2]
    if 0 < len(few) < len(lines):
        raise CurvewiseError(
            f"One line of {listed(few)}, which does not show how noisy an algorithm "
            "is. Run it again with other seeds, or leave it out: ",
            trials_where(algorithm=...),
            ".",
        )
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
    pairs = _pairs(lines, anova, asked, for_pairs)
    where = pairs[0].where
    if len(pairs) > 1:
        where = _where(lines, lines.steps, asked, 1, for_where)
    return LineTask(
        task=task,
        lines=lines,
        means={
            a: _mean(curves, lines.steps, asked, for_means)
            for a, curves in lines.items()
        },
        anova=anova,
        shares=effect_shares(
            lines,
            shuffles=min(asked.shuffles, _FOR_SHARES),
            confidence=1 - asked.level,
            rng=for_shares,
        ),
        where=where,
        pairs=pairs,
        noise_ratio=noise_ratio(lines),
        correlation=_neighbours(step_correlation(lines)),
        epsilon=greenhouse_geisser(lines),
    )


def _pairs(
    lines: Lines, anova: RandomizedAnova, tests: LineTests, rng: np.random.Generator
) -> tuple[LinePair, ...]:
    if len(lines) == 2 and anova.null == "separate":
        # The same question as that of the table: it must not get a second answer.
        one, other = lines
        tested: tuple[Pair, ...] = (pair_of(one, other, anova),)
        decisions = [{effect: anova.decision(effect) for effect in EFFECTS}]
    else:
        tested = all_pairs(
            lines,
            noise=anova.noise,
            shuffles=tests.shuffles,
            exact=tests.exact,
            level=tests.level,
            rng=rng,
        )
        decisions = [
            {effect: _decision(p, effect) for effect in EFFECTS} for p in tested
        ]
    seeds = rng.integers(2**63, size=len(tested))
    return tuple(
        _pair(pair, decided, lines, tests, len(tested), int(seed))
        for pair, decided, seed in zip(tested, decisions, seeds, strict=True)
    )


def _decision(pair: Pair, effect: str) -> Decision:
    if pair.is_rejected(effect):
        return "rejected"
    return "cannot reject" if pair.cannot_reject else "not rejected"


def _pair(
    pair: Pair,
    decisions: dict[str, Decision],
    lines: Lines,
    tests: LineTests,
    sharing: int,
    seed: int,
) -> LinePair:
    two = {name: lines[name] for name in (pair.one, pair.other)}
    confidence = shared_confidence(1 - tests.level, sharing)
    with quietly():
        effects = effect_sizes(*two.values(), confidence=confidence)
    band = None
    if min(map(len, two.values())) >= FEWEST_TO_FLIP:
        # The same flips for the band and for where: then they cannot contradict.
        band = difference_band(
            *two.values(),
            steps=lines.steps,
            confidence=confidence,
            flips=_flips(tests, sharing),
            rng=np.random.default_rng(seed),
        )
    where = None
    if (
        not pair.cannot_reject
    ):  # then flips, with no such floor, find more than they may
        where = _where(two, lines.steps, tests, sharing, np.random.default_rng(seed))
    return LinePair(
        one=pair.one,
        other=pair.other,
        tested=pair,
        decisions=decisions,
        effects=effects,
        band=band,
        where=where,
    )


def _flips(tests: LineTests, sharing: int) -> int:
    """Return how many flips can tell a level that so many questions share."""
    least = math.ceil(_AT_THE_EDGE * sharing / tests.level)
    if least > _MOST_FLIPS:
        raise CurvewiseError(
            f"level is {tests.level:g}, which {sharing} pairs share: it takes {least:,} "
            f"flips to tell. Pass a larger level, or fewer algorithms."
        )
    return max(tests.shuffles, least)


def _where(
    lines: Mapping[str, Floats],
    steps: Floats,
    tests: LineTests,
    sharing: int,
    rng: np.random.Generator,
) -> Where | None:
    if min(map(len, lines.values())) < FEWEST_TO_FLIP:
        return None
    return where_different(
        lines,
        steps=steps,
        windows=tests.windows or (None if len(steps) <= _EACH else _WINDOWS),
        level=tests.level / sharing,
        flips=_flips(tests, sharing),
        rng=rng,
    )


def _mean(
    curves: Floats, steps: Floats, tests: LineTests, rng: np.random.Generator
) -> CurveBand:
    if len(curves) >= _FOR_A_MEAN:
        return mean_band(
            curves,
            steps=steps,
            confidence=1 - tests.level,
            flips=_flips(tests, 1),
            rng=rng,
        )
    none = np.full(len(steps), np.nan)
    estimand = "the mean curve of all runs of the algorithm"
    return CurveBand(
        at=steps,
        value=curves.mean(axis=0),
        lower=none,
        upper=none,
        estimand=estimand,
        guarantee=_NO_BAND,
    )


def _neighbours(correlation: Floats) -> float:
    """Return the mean correlation of neighbouring steps."""
    beside = np.diag(correlation, 1)
    finite = beside[np.isfinite(beside)]
    return float(finite.mean()) if len(finite) else float("nan")
