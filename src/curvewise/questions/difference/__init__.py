"""Do these learning curves differ, and where? Whole lines compared, task by task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError, is_whole, listed, whole
from curvewise.metrics import Metric
from curvewise.questions.base import TaskAnswer, of_task, pair_of
from curvewise.questions.difference import headline as headlines
from curvewise.questions.difference import text
from curvewise.questions.difference.fit import (
    LinePair,
    LineTask,
    LineTests,
    grid_setting,
    how_to_fill,
    line_task,
    lines_by_task,
)
from curvewise.questions.sampling import (
    Inquiry,
    failed_score,
    plain_setting,
)
from curvewise.questions.sentences import signed_cell, titled
from curvewise.stats.anova import Noise, Null, OverTasks, over_tasks
from curvewise.stats.interval import Interval
from curvewise.stats.validation import checked_level, is_number
from curvewise.text import Cell, Piece, Table
from curvewise.trials import Trials
from curvewise.trials.doors import Failed, Fill, Lines

__all__ = [
    "Difference",
    "LinePair",
    "LineTask",
    "difference",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(TaskAnswer):
    """The answer of `difference`: one analysis of variance per task, and what follows.

    Parameters
    ----------
    metric : Metric
    level : float
        Of each test; bands and intervals hold with confidence ``1 - level``.
    margin : float or None
        A difference that does not matter.
    failed_score : str
        What the rest of a failed line scores.
    found : tuple of LineTask
    overall : tuple of OverTasks
        Each pair of algorithms that met on several tasks.
    alone : tuple of str
        Tasks with one algorithm only, which were left out.
    provenance : Provenance
    """

    metric: Metric
    level: float
    margin: float | None
    failed_score: str
    found: tuple[LineTask, ...]
    overall: tuple[OverTasks, ...]
    alone: tuple[str, ...]
    provenance: Provenance

    @property
    def failed(self) -> int:
        """How many lines are of failed trials."""
        return sum(sum(result.lines.failed.values()) for result in self.found)

    def of(self, task: str | None = None) -> LineTask:
        """Return what was found on a task; it may be left out where there is one."""
        return of_task(self.found, task)[0]

    def pair(self, one: str, other: str, task: str | None = None) -> LinePair:
        """Return what was found about two algorithms, in the order of the trials."""
        result = self.of(task)
        return pair_of(result.pairs, result.algorithms, one, other)

    def rows(self) -> list[dict[str, Cell]]:
        """Return the analysis of variance, one row per task and source of variation.

        ``p`` is the larger one of ``p_shuffles`` and ``p_flips``; ``p_lower`` and
        ``p_upper`` say what the number of draws leaves open in it. ``p_parametric`` is the
        textbook's, which takes the steps of a line for independent.
        """
        out: list[dict[str, Cell]] = []
        for result in self.found:
            for row in result.anova.rows():
                effect = str(row["effect"])
                test = result.anova.tests.get(effect)
                ends = result.anova.p_interval(effect) if test else None
                out.append({
                    "task": result.task,
                    **row,
                    "p_lower": ends.lower if ends else None,
                    "p_upper": ends.upper if ends else None,
                    "statistic": test.statistic if test else None,
                    "decision": result.anova.decision(effect) if test else None,
                })  # fmt: skip
        return out

    def pair_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and pair of algorithms.

        ``difference`` is the mean of the first less that of the second over all steps;
        its interval, as all that ends in ``_lower`` and ``_upper``, holds for all pairs of
        the task at once. ``height_p`` and ``shape_p`` are adjusted for all pairs of the
        task; ``first_different`` and ``last_different`` bound where they differ.
        """
        out: list[dict[str, Cell]] = []
        for result, pair in self._pairs():
            row: dict[str, Cell] = {
                "task": result.task,
                "one": pair.one,
                "other": pair.other,
            }
            for name in ("difference", "standardised", "higher"):
                size: Interval = getattr(pair.effects, name)
                row |= {name: size.value, f"{name}_lower": size.lower}
                row[f"{name}_upper"] = size.upper
            for name, effect in (("height", "algorithm"), ("shape", "interaction")):
                row[f"{name}_p"] = pair.tested.adjusted_p(effect)
                row[f"{name}_p_alone"] = pair.tested.p(effect)
                row[f"{name}_decision"] = pair.decisions[effect]
            where = pair.where
            row["first_different"] = None if where is None else where.first_different
            row["last_different"] = None if where is None else where.last_different
            out.append(row)
        return out

    def _pairs(self) -> Iterator[tuple[LineTask, LinePair]]:
        return ((result, pair) for result in self.found for pair in result.pairs)

    def window_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, pair of algorithms and tested step or window.

        Its p is adjusted for all steps, and for all pairs of the task.
        """
        out: list[dict[str, Cell]] = []
        for result, pair in self._pairs():
            where, above = pair.where, pair.above()
            if where is None or pair.band is None:
                continue
            for i, first in enumerate(where.first):
                p = min(float(where.p[i]) * len(result.pairs), 1.0)
                who = (name for name, start, end in above if start <= first <= end)
                row: dict[str, Cell] = {
                    "task": result.task,
                    "one": pair.one,
                    "other": pair.other,
                    "from": float(first),
                    "to": float(where.last[i]),
                    "statistic": float(where.statistic[i]),
                    "p": p,
                    "different": bool(where.different[i]),
                    "above": next(who, None),
                    "hangs_on_one_line": bool(where.hangs_on_one_line[:, i].any()),
                }
                out.append(row)
        return out

    def curve_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, pair and step: the difference and its band."""
        return [
            {
                "task": result.task,
                "one": pair.one,
                "other": pair.other,
                "step": float(at),
                "difference": float(value),
                "difference_lower": float(lower),
                "difference_upper": float(upper),
            }
            for result, pair in self._pairs()
            if (band := pair.band) is not None
            for at, value, lower, upper in zip(
                band.at, band.value, band.lower, band.upper, strict=True
            )
        ]

    def line_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and algorithm: its lines, and how they were aligned."""
        return [
            {
                "task": result.task,
                "algorithm": name,
                "lines": len(curves),
                "failed": result.lines.failed[name],
                "steps": len(result.lines.steps),
                "rule": result.lines.rule,
            }
            for result in self.found
            for name, curves in result.lines.items()
        ]

    def task_rows(self) -> list[dict[str, Cell]]:
        """Return one row per pair and task: z is the difference without a scale."""
        return [
            {
                "one": overall.algorithms[0],
                "other": overall.algorithms[1],
                "task": task,
                "difference": float(difference),
                "z": float(z),
            }
            for overall in self.overall
            for task, difference, z in zip(
                overall.tasks, overall.difference, overall.z, strict=True
            )
        ]

    def overall_rows(self) -> list[dict[str, Cell]]:
        """Return one row per pair of algorithms, all tasks together; p adjusted."""
        return [
            {
                "one": overall.algorithms[0],
                "other": overall.algorithms[1],
                "tasks": len(overall.tasks),
                "whole_p": ahead,
                "somewhere_p": differ,
                "reversal_p": each_ahead,
            }
            for overall, (ahead, differ, each_ahead) in self._overall_p()
        ]

    def _overall_p(self) -> Iterator[tuple[OverTasks, tuple[float, float, float]]]:
        """Return each pair over all tasks with its three adjusted p values."""
        return zip(self.overall, text.adjusted_p(self.overall), strict=True)

    def _tables(self) -> dict[str, list[dict[str, Cell]]]:
        return {
            "pairs": self.pair_rows(),
            "windows": self.window_rows(),
            "curves": self.curve_rows(),
            "lines": self.line_rows(),
            "tasks": self.task_rows(),
            "overall": self.overall_rows(),
            "verdicts": self._verdict_rows(),
            "notes": [{"note": note} for note in self.notes()],
        }

    def _verdict_rows(self) -> list[dict[str, Cell]]:
        by_task = [(task, line) for task in self.tasks for line in self.verdicts(task)]
        overall = [("", line) for line in self.overall_verdicts()]
        return [{"task": t or None, "verdict": line} for t, line in by_task + overall]

    # --- for people ----------------------------------------------------------------------

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the analysis of variance of one task, as it is printed."""
        out: list[dict[str, Cell]] = []
        for row in self.of(task).anova.rows():
            effect, f, p = str(row["effect"]), row["f"], row["p"]
            is_effect = f is not None
            out.append({
                "source": effect.capitalize() if is_effect else effect,
                "df": row["df"],
                "SS": row["ss"],
                "MS": row["ms"],
                "F": f"{f:.2f}" if is_effect else None,
                "p": text.shown_p(p) if p is not None else "-" if is_effect else "",
            })  # fmt: skip
        return out

    def pair_table(self, task: str) -> list[dict[str, Cell]]:
        """Return the pairs of one task with headings for people."""
        metric = self.metric.on(task)
        ahead = f"{text.lead_word(metric)} at steps"
        return [
            {
                "pair": f"{pair.one} - {pair.other}",
                "difference": signed_cell(pair.effects.difference),
                "in sd": signed_cell(pair.effects.standardised),
                "height p": text.shown_p(pair.tested.adjusted_p("algorithm")),
                "shape p": text.shown_p(pair.tested.adjusted_p("interaction")),
                ahead: text.steps_cell(pair, metric),
            }
            for pair in self.of(task).pairs
        ]

    def overall_table(self) -> list[dict[str, Cell]]:
        """Return the pairs over all tasks with headings for people."""
        out: list[dict[str, Cell]] = []
        for overall, (ahead, differ, each_ahead) in self._overall_p():
            z_of = zip(overall.tasks, overall.z, strict=True)
            row: dict[str, Cell] = {"pair": " - ".join(overall.algorithms)}
            row |= {f"z, {task}": f"{z:.2f}" for task, z in z_of}
            row["ahead on the whole, p"] = text.shown_p(ahead)
            row["differ somewhere, p"] = text.shown_p(differ)
            row["each ahead somewhere, p"] = text.shown_p(each_ahead)
            out.append(row)
        return out

    def headline(self) -> str:
        """Return in one sentence whose curves are better, and how sure that is."""
        return headlines.headline(self)

    def would_change(self) -> str:
        """Return what would change that: more runs, another score of failed ones."""
        return headlines.would_change(self)

    def verdict(self, task: str) -> str:
        """Return in words whether and where the algorithms differ on a task."""
        return " ".join(self.verdicts(task))

    def verdicts(self, task: str) -> list[str]:
        """Return the same, a paragraph for all algorithms and one for each pair."""
        result = self.of(task)
        return [
            text.overall_verdict(result),
            *text.pair_verdicts(result.pairs, self.metric.on(task), self.margin),
        ]

    def overall_verdicts(self) -> list[str]:
        """Return in words what holds over all tasks, one sentence for each pair."""
        return [
            text.tasks_verdict(overall, p, self.level, self.metric)
            for overall, p in self._overall_p()
        ]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the tables."""
        return text.line_notes(
            self.found,
            self.metric,
            self.level,
            self.failed_score,
            self.alone,
            is_overall=bool(self.overall),
        )

    def _title(self) -> str:
        return f"{self.metric}, whole curves"

    def _heading(self, task: str) -> str:
        return f"{titled(task)}: {text.lines_in_words(self.of(task))}"

    def _records(self) -> Sequence[LineTask]:
        return self.found

    def _about(self, task: str) -> Iterator[Piece]:
        label = f"Analysis of variance, {self.metric}, {self._heading(task)}"
        yield Table(self.table(task), label)
        yield Table(self.pair_table(task), f"Pairs of algorithms, {titled(task)}")
        yield from self.verdicts(task)

    def _over_all(self) -> Iterator[Piece]:
        if self.overall:
            yield Table(self.overall_table(), f"All {len(self.found)} tasks")
            yield from self.overall_verdicts()


def difference(
    trials: Trials,
    metric: str | None = None,
    *,
    grid: int | ArrayLike | None = None,
    fill: Fill | None = None,
    windows: int | None = None,
    margin: float | None = None,
    failed: Failed = "raise",
    level: float = 0.05,
    null: Null = "separate",
    noise: Noise | None = None,
    shuffles: int = 9999,
    exact: bool | None = None,
    seed: int = 0,
    anyway: bool = False,
) -> Difference:
    """Return whether the learning curves of algorithms differ, which ones, and where.

    Parameters
    ----------
    trials : Trials
        Several runs of two or more algorithms, each with its whole curve.
    metric : str, optional
        May be left out where the trials have only one.
    grid : int or array_like of float, optional
        The steps at which curves are compared, or how many equally spaced ones over the
        range that all share. Needed where runs were recorded at different steps.
    fill : {"error", "last", "linear"}, optional
        How a curve meets a step at which it was not recorded: not at all, with its last
        value, or interpolated. If left out, "linear" with a grid, and "error" without.
    windows : int, optional
        In how many windows, of equally many steps, to look for where they differ. Choose
        before you look: more windows tell more exactly where, and find less. If left out,
        each step for itself, and 20 windows of more than 30 steps.
    margin : float, optional
        A difference that does not matter, in units of the metric: only with it may an
        answer say that a difference is gone.
    failed : {"raise", "worst"} or float
        What a failed run scores from where its curve breaks off.
    level : float
        Of the tests. Bands and intervals have the confidence ``1 - level``.
    null : {"separate", "joint"}
        Whether height and shape are tested apart, or with both F of one table, as published
        [1]_. That misleads where the other effect is real: see the explanation of curves.
    noise : {"unequal", "equal"}, optional
        Whether algorithms may be unequally noisy; they may, if it is left out. State that
        they are not before you look, never after: the tests then find a little more.
    shuffles : int
        How often lines are dealt anew, and their noise flipped, unless all deals are few
        enough to try. More are drawn where p is close to the level, or where many pairs
        share it.
    exact : bool, optional
        Whether to try all deals; if left out, where there are a million or fewer.
    seed : int
        For shuffles and flips.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Returns
    -------
    Difference

    See Also
    --------
    curvewise.performance : One score per run instead of its curve.
    curvewise.plan.lines : How many runs it takes to show a difference.

    Notes
    -----
    A line, that is a whole run, is what chance deals: points of a line hang together, and
    tests that take them for independent find differences that are none [1]_. Every line is
    split into its mean and its shape. Algorithms that differ in the first differ in height
    ("Algorithm" in the table), in the second in shape ("Interaction"). Pairs are always
    tested so; where they differ, bands and what holds over all tasks always allow unequal
    noise.

    References
    ----------
    .. [1] J. H. Piater, P. R. Cohen, X. Zhang and M. Atighetchi. "A randomized ANOVA
       procedure for comparing performance curves." ICML, 1998.

    Examples
    --------
    >>> import curvewise as cw
    >>> trials = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
    >>> answer = cw.difference(trials)
    >>> answer.of().anova.decision("algorithm")
    'rejected'
    >>> answer.pair("slow", "fast").where.stretches
    ((5000.0, 85000.0),)
    """
    checked_level(level)
    _check_margin(margin)
    _check_windows(windows)
    inquiry = Inquiry.of(
        trials,
        metric,
        "difference",
        anyway=anyway,
        is_directed=False,  # p values need none
    )
    meant = inquiry.metric
    by_task = lines_by_task(trials, meant.name, grid, fill, failed)
    several = {task: lines for task, lines in by_task.items() if len(lines) > 1}
    if not several:
        raise CurvewiseError(
            f"These trials are of one algorithm, {listed(trials.algorithms)}. Pass those "
            f"of two or more that met the same task."
        )
    tests = LineTests(
        level=level,
        null=null,
        noise=noise,
        windows=windows,
        shuffles=shuffles,
        exact=exact,
    )
    source = np.random.SeedSequence(whole(seed, "seed", 0))
    *of_tasks, of_all = (
        np.random.default_rng(s) for s in source.spawn(len(several) + 1)
    )
    results = tuple(
        _found(task, lines, tests, rng)
        for (task, lines), rng in zip(several.items(), of_tasks, strict=True)
    )
    settings: dict[str, Cell] = {
        "metric": meant.name,
        "grid": grid_setting(grid),
        "fill": how_to_fill(grid, fill),
        "windows": windows,
        "margin": margin,
        "failed": plain_setting(failed),
        "level": level,
        "null": null,
        "noise": results[0].anova.noise,
        "shuffles": shuffles,
        "exact": exact,
    }
    return Difference(
        metric=meant,
        level=level,
        margin=margin,
        failed_score=failed_score(meant, failed),
        found=results,
        # Where directions differ, scores of all tasks together say nothing.
        overall=()
        if meant.by_task and meant.direction is None
        else _overall(several, level, shuffles, exact, of_all),
        alone=tuple(task for task in by_task if task not in several),
        provenance=inquiry.provenance("difference", settings, seed),
    )


def _found(
    task: str, lines: Lines, tests: LineTests, rng: np.random.Generator
) -> LineTask:
    try:
        return line_task(task, lines, tests, rng)
    except CurvewiseError as problem:
        raise CurvewiseError(
            f"Task '{task}': ",
            problem.message,
            argument=problem.argument,
            value=problem.value,
        ) from None


def _overall(
    by_task: Mapping[str, Lines],
    level: float,
    shuffles: int,
    exact: bool | None,
    rng: np.random.Generator,
) -> tuple[OverTasks, ...]:
    """Return each pair of algorithms over the tasks on which both were run."""
    names = dict.fromkeys(name for lines in by_task.values() for name in lines)
    out = []
    for pair in combinations(names, 2):
        met = {
            task: {name: lines[name] for name in pair}
            for task, lines in by_task.items()
            if all(name in lines for name in pair)
        }
        if len(met) > 1:
            out.append(
                over_tasks(met, shuffles=shuffles, exact=exact, level=level, rng=rng)
            )
    return tuple(out)


def _check_margin(margin: float | None) -> None:
    if margin is not None and not (is_number(margin) and margin > 0):
        raise CurvewiseError(
            f"margin is {margin!r}. Pass a difference above 0 that does not matter.",
            argument="margin",
            value=margin,
        )


def _check_windows(windows: int | None) -> None:
    if windows is not None and not (is_whole(windows) and windows >= 1):
        raise CurvewiseError(
            f"windows is {windows!r}. Pass how many, 8 to 30 at best.",
            argument="windows",
            value=windows,
        )
