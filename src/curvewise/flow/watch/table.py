"""What a watcher has seen: trials in columns, failures, each task with its curves."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, shortened
from curvewise.flow.status import CellStanding, shown_states
from curvewise.flow.watch.moment import TaskStanding
from curvewise.metrics import FROM_COUNTS, Floats, Metric, find
from curvewise.questions.sampling import Sample
from curvewise.stats.bands import Band, cdf_band
from curvewise.stats.distribution import quantile
from curvewise.store.locks import Cell
from curvewise.store.news import Mishap, News
from curvewise.text import count, percent
from curvewise.trials.columns import Core, Ints, was_recorded
from curvewise.trials.doors import (
    At,
    Failed,
    declared_score,
    from_counts,
    may_judge,
    refuse_outside,
    values_at,
)
from curvewise.trials.trial import STATUSES

# The score is NaN where a trial has none, whatever the reason. `elsewhere` says that it
# was run at one size only, and at another one than was asked for.
TRIAL = np.dtype([
    ("id", "i8"), ("number", "i8"), ("score", "f8"), ("seconds", "f4"),
    ("message", "i4"), ("status", "i1"), ("elsewhere", "?"),
])  # fmt: skip
Rows = NDArray[np.void]


class CellTrials:
    """The trials of one algorithm on one task."""

    def __init__(self, place: tuple[int, int]) -> None:
        self.place = place
        self._rows = np.empty(16, TRIAL)
        self._size = self.version = 0
        self._seconds, self._timed = 0.0, 0
        self.states = np.zeros(len(STATUSES), np.int64)
        self._longest_curve, self._sizes = 0, (np.inf, -np.inf)

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> Rows:
        """The trials, ordered by their ids; not to be kept, for they grow."""
        return self._rows[: self._size]

    @property
    def mean_seconds(self) -> float | None:
        """How long a trial took on average; None where nobody knows."""
        return self._seconds / self._timed if self._timed else None

    def met(self, core: Core, places: Ints) -> None:
        """Remember how long the curves of trials are, and where those of one step are."""
        lengths = core.lengths[places]
        self._longest_curve = max(self._longest_curve, int(lengths.max()))
        steps = core.steps[core.offsets[places[lengths == 1]]]
        if len(steps):
            low, high = self._sizes
            self._sizes = min(low, float(steps.min())), max(high, float(steps.max()))

    @property
    def longest_curve(self) -> int:
        """How many steps the longest curve has."""
        return self._longest_curve

    @property
    def sizes(self) -> tuple[float, float]:
        """The smallest and the largest step of curves of one; infinite without any."""
        return self._sizes

    def add(self, rows: Rows) -> None:
        """Add trials with larger ids than all before."""
        end = self._size + len(rows)
        if end > len(self._rows):
            self._rows = np.resize(self._rows, max(end, 3 * len(self._rows) // 2))
        self._rows[self._size : end] = rows
        self._size = end
        self._count(rows, 1)

    def replace(self, rows: Rows) -> tuple[Rows, Rows]:
        """Replace trials by what was written since.

        Returns what those that have changed were, and what they are.
        """
        place = np.searchsorted(self.rows["id"], rows["id"])
        known = place < self._size
        known[known] = self.rows["id"][place[known]] == rows["id"][known]
        place, rows = place[known], rows[known]
        before = self.rows[place]
        changed = (_bytes(before) != _bytes(rows)).any(axis=1)
        place, rows, before = place[changed], rows[changed], before[changed]
        if len(rows):
            self._rows[place] = rows
            self._count(before, -1)
            self._count(rows, 1)
        return before, rows

    def relabel(self, lookup: Ints) -> None:
        """Give messages other codes."""
        self._rows["message"][: self._size] = lookup[self.rows["message"]]

    def _count(self, rows: Rows, sign: int) -> None:
        self.states += sign * np.bincount(rows["status"], minlength=len(STATUSES))
        timed = np.isfinite(rows["seconds"])
        self._seconds += sign * float(rows["seconds"][timed].sum(dtype=np.float64))
        self._timed += sign * int(timed.sum())
        self.version += 1


def _bytes(rows: Rows) -> NDArray[np.uint8]:
    """Return trials as bytes: what is no number equals itself in them."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), TRIAL.itemsize)


def rows_of(news: News, metric: Metric | None, at: At, messages: Ints) -> Rows:
    """Return what is kept of new trials, in the order of their ids."""
    core = news.core
    rows = np.empty(len(news), TRIAL)
    rows["id"], rows["number"], rows["status"] = news.ids, core.number, core.status
    rows["seconds"], rows["message"] = news.seconds, messages
    rows["score"] = _scores(news, metric, at)
    rows["elsewhere"] = _elsewhere(core, at)
    return rows


def _scores(news: News, metric: Metric | None, at: At) -> Floats:
    core = news.core
    if metric is None:
        return np.full(len(core), np.nan)
    if metric.name in core.values:
        values, recorded = core.values[metric.name], was_recorded(core, metric.name)
    elif news.details is not None and metric.name in FROM_COUNTS:
        values, recorded = from_counts(core, news.details, metric.name)
    else:
        return np.full(len(core), np.nan)
    scores = values_at(core, values, recorded, metric, at)
    return np.where((core.status == 0) & np.isfinite(scores), scores, np.nan)


def _elsewhere(core: Core, at: At) -> NDArray[np.bool_]:
    out = np.zeros(len(core), bool)
    if not isinstance(at, str):
        single = core.lengths == 1
        out[single] = core.steps[core.offsets[:-1][single]] != at
    return out


def by_cell(news: News) -> Iterator[tuple[Cell, Ints]]:
    """Yield each cell that has news, and the places of its trials in them."""
    core = news.core
    if not len(news):
        return
    code = core.task.astype(np.int64) * len(news.algorithms) + core.algorithm
    order = np.argsort(code, kind="stable")
    cuts = np.flatnonzero(np.diff(code[order])) + 1
    for places in np.split(order, cuts):
        first = places[0]
        yield (
            (news.tasks[core.task[first]], news.algorithms[core.algorithm[first]]),
            places,
        )


# --- What went wrong and how often, kept up to date without reading it again -----------


MOST_MESSAGES = 1000  # different messages that are told apart
_TOLD = 8
_FINE, _OTHER = 0, 1  # codes of no message, and of those beyond the thousandth

Place: TypeAlias = tuple[
    int, int, int
]  # of a trial: task and algorithm by code, number


class Messages:
    """The first lines of errors, by code; how often each came, and where first."""

    def __init__(self) -> None:
        self._lines = ["", ""]
        self._codes: dict[str, int] = {}
        self._counts = np.zeros(MOST_MESSAGES + 2, np.int64)
        self._first: dict[int, Place] = {}

    def with_room(self) -> Ints | None:
        """Forget what came least often where there is no room for more.

        Returns which code each one has become, if anything was forgotten.
        """
        if len(self._lines) - 2 <= MOST_MESSAGES // 2:
            return None
        rare = np.argsort(self._counts[2 : len(self._lines)], kind="stable")
        forgotten = set((rare[: len(rare) // 2] + 2).tolist())
        lookup = np.full(len(self._counts), _OTHER, np.int64)
        lookup[_FINE] = _FINE
        lines, first = ["", ""], {}
        for code, line in enumerate(self._lines):
            if code > _OTHER and code not in forgotten:
                lookup[code] = len(lines)
                if code in self._first:
                    first[len(lines)] = self._first[code]
                lines.append(line)
        self._counts = np.bincount(lookup, self._counts, len(lookup)).astype(np.int64)
        self._lines, self._first = lines, first
        self._codes = {line: code for code, line in enumerate(lines) if code > _OTHER}
        return lookup

    def codes(self, news: News) -> Ints:
        """Return the code of each trial's message; 0 for a trial that ended well."""
        out = np.zeros(len(news), np.int64)
        for line, ids in sorted(news.errors, key=lambda error: -len(error[1])):
            out[np.searchsorted(news.ids, ids)] = self._code(shortened(line, 200))
        return out

    def _code(self, line: str) -> int:
        if line not in self._codes:
            if len(self._codes) == MOST_MESSAGES:
                return _OTHER
            self._codes[line] = len(self._lines)
            self._lines.append(line)
        return self._codes[line]

    def add(self, trials: CellTrials, rows: Rows) -> None:
        """Count the messages of trials of one cell."""
        bad = rows[rows["message"] > _FINE]
        if not len(bad):
            return
        before = self._counts.copy()
        self._counts += np.bincount(bad["message"], minlength=len(self._counts))
        for code in np.unique(bad["message"]).tolist():
            number = int(bad["number"][bad["message"] == code].min())
            place = (*trials.place, number)
            if code in self._first or not before[code]:
                self._first[code] = min(self._first.get(code, place), place)

    def remove(self, rows: Rows) -> None:
        """Take away what trials had said that were replaced since."""
        bad = rows["message"][rows["message"] > _FINE]
        self._counts -= np.bincount(bad, minlength=len(self._counts))
        for code in np.unique(bad).tolist():
            self._first.pop(
                code, None
            )  # perhaps; it is looked for when it is asked for

    @property
    def other(self) -> int:
        """How many trials have messages that `top` does not tell."""
        failed = int(self._counts[_OTHER:].sum())
        return failed - int(self._counts[self._most_frequent()].sum())

    def _most_frequent(self) -> list[int]:
        order = np.argsort(-self._counts[_OTHER + 1 :], kind="stable")[:_TOLD]
        codes = order + _OTHER + 1
        return [code for code in codes.tolist() if self._counts[code]]

    def top(self, cells: Mapping[Cell, CellTrials]) -> tuple[Mishap, ...]:
        """Return what went wrong most often, and in which trial first."""
        names = {trials.place: cell for cell, trials in cells.items()}
        mishaps = []
        for code in self._most_frequent():
            if code not in self._first:
                self._first[code] = _searched(code, cells.values())
            task, algorithm, number = self._first[code]
            many, cell = int(self._counts[code]), names[task, algorithm]
            mishaps.append(Mishap(self._lines[code], many, *cell, number))
        return tuple(mishaps)


def _searched(code: int, cells: Iterable[CellTrials]) -> Place:
    """Return the first trial that has a message."""
    places = []
    for trials in cells:
        numbers = trials.rows["number"][trials.rows["message"] == code]
        if len(numbers):
            places.append((*trials.place, int(numbers.min())))
    return min(places)


# --------------------------------------------------------------------------------------
# Which score curves are of: the one asked for, the first one, or what counts tell.


def chosen(news: News, wanted: str | None) -> Metric | None:
    """Return what curves are of; None where these trials cannot tell."""
    name = wanted or _first(news)
    if name is not None and name in news.metrics:
        return news.metrics[name]
    if news.details is None or not news.details.classes.any():
        return None
    name = name or next(iter(FROM_COUNTS))
    return find(name) if name in FROM_COUNTS else None


def may_need_counts(news: News, wanted: str | None) -> bool:
    """Return whether only confusion counts, which were not read, could tell."""
    if news.details is not None or not len(news):
        return False
    if wanted is None:
        return _first(news) is None
    return wanted not in news.metrics and wanted in FROM_COUNTS


def _first(news: News) -> str | None:
    """Return the first metric to judge by; one of known direction goes before."""
    scores = [name for name, metric in news.metrics.items() if may_judge(metric)]
    directed = (name for name in scores if news.metrics[name].direction is not None)
    return next(directed, next(iter(scores), None))


# --------------------------------------------------------------------------------------
# One task at one moment: how far each algorithm is, and its inverse CDF with its band.


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
    """The trials of one algorithm on one task, as a watcher has them."""

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
    sample = drawn.sample(metric, failed)
    if not len(sample.scores):
        return None
    band = band_of(sample.scores, metric)
    lower, upper = band.quantile(GRID)
    return Curve(
        algorithm=drawn.algorithm,
        look=drawn.look,
        trials=len(sample.scores),
        failed=sample.failed,
        left_out=drawn.broken - sample.failed,
        y=np.asarray(quantile(band.scores, GRID)),
        lower=lower,
        upper=upper,
        half_width=band.half_width,
    )


def band_of(scores: Floats, metric: Metric) -> Band:
    """Return the band: whoever looks at every trial that comes may look again."""
    return cdf_band(scores, confidence=CONFIDENCE, kind="anytime", support=metric.range)


def _notes(
    curves: tuple[Curve, ...], broken: int, metric: Metric, failed: Failed
) -> list[str]:
    """Return what a reader of the curves must know."""
    level = percent(CONFIDENCE)
    notes = [
        f"The band holds with {level} confidence at all quantiles of one algorithm and at "
        f"every look, for independent trials of any distribution. Trials that are still "
        f"running are not in it: where slow ones score differently, early curves are off."
    ]
    scoring = sum(curve.failed for curve in curves)
    left_out = broken - scoring
    if scoring:
        score = declared_score(metric, failed)
        notes.insert(0, f"{count(scoring, 'failed trial')} counted as {score:g}.")
    if left_out:
        notes.insert(
            0,
            f"{count(left_out, 'failed trial')} left out, which flatters the algorithms "
            f"that fail: '{metric.label}' has no worst score. Say what a failure scores "
            f"with --failed SCORE.",
        )
    return notes


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
    view = partial(TaskView, task=task, version=version, at=at, cells=cells)
    if metric is None:
        return view(metric=None, curves=(), notes=("No score has come yet.",))
    if any(trials.is_sized for trials in drawn) and isinstance(at, str):
        note = (
            "Each trial was run at one training size, and sizes differ: their scores are "
            "not of one distribution. Choose a size with --at SIZE."
        )
        return view(metric=metric, curves=(), notes=(note,))
    try:
        all_curves = [curve_of(trials, metric, failed) for trials in drawn]
    except CurvewiseError as problem:
        return view(metric=metric, curves=(), notes=(str(problem),))
    curves = tuple(curve for curve in all_curves if curve is not None)
    notes = ["No score has come yet."]
    if curves:
        notes = _notes(curves, sum(trials.broken for trials in drawn), metric, failed)
    return view(metric=metric, curves=curves, notes=tuple(notes))


# --------------------------------------------------------------------------------------
# All that a watcher has seen: the trials of each cell, how they ended, what they said.


class Table:
    """The trials that were seen, cell by cell."""

    def __init__(self, wanted: str | None, at: At) -> None:
        self.wanted, self.at = wanted, at
        self.metric: Metric | None = None
        self.metrics: Mapping[str, Metric] = {}
        self.messages = Messages()
        self._algorithms: tuple[str, ...] = ()
        self._cells: dict[Cell, CellTrials] = {}

    def __len__(self) -> int:
        return sum(map(len, self._cells.values()))

    @property
    def needs_counts(self) -> bool:
        """Whether scores are told by confusion counts."""
        return self.metric is not None and self.metric.name not in self.metrics

    @property
    def cells(self) -> Mapping[Cell, CellTrials]:
        """The trials of each cell."""
        return self._cells

    @property
    def done(self) -> dict[Cell, int]:
        """How many trials each cell has."""
        return {cell: len(trials) for cell, trials in self._cells.items()}

    @property
    def states(self) -> Ints:
        """How many trials ended in each way, in the order of `STATUSES`."""
        none = np.zeros(len(STATUSES), np.int64)
        return sum((trials.states for trials in self._cells.values()), none)

    def take(self, news: News, *, is_replaced: bool) -> int:
        """Keep what is new, or what was written in place of something; say how many."""
        if (lookup := self.messages.with_room()) is not None:
            for trials in self._cells.values():
                trials.relabel(lookup)
        self._algorithms, self.metrics = news.algorithms, news.metrics
        if self.metric is None:
            self.metric = chosen(news, self.wanted)
        rows = rows_of(news, self.metric, self.at, self.messages.codes(news))
        core, total = news.core, 0
        for cell, places in by_cell(news):
            if cell not in self._cells:
                task, algorithm = core.task[places[0]], core.algorithm[places[0]]
                self._cells[cell] = CellTrials((int(task), int(algorithm)))
            trials, batch = self._cells[cell], rows[places]
            trials.met(core, places)
            if is_replaced:
                before, batch = trials.replace(batch)
                self.messages.remove(before)
            else:
                trials.add(batch)
            self.messages.add(trials, batch)
            total += len(batch)
        return total

    # --- how far it is -----------------------------------------------------------------

    def standings(
        self, plan: Mapping[Cell, int], task: str | None = None
    ) -> list[CellStanding]:
        """Return how far each cell is, of one task or of all: planned ones first."""
        cells = dict.fromkeys([*plan, *self._cells])
        return [
            self._standing(cell, plan.get(cell))
            for cell in cells
            if task in (None, cell[0])
        ]

    def _standing(self, cell: Cell, planned: int | None) -> CellStanding:
        trials = self._cells.get(cell)
        counts = [0] * len(STATUSES) if trials is None else trials.states.tolist()
        states = shown_states(dict(zip(STATUSES, counts, strict=True)))
        mean = None if trials is None else trials.mean_seconds
        return CellStanding(*cell, planned, states, mean, None)

    def tasks(self, standings: Iterable[CellStanding]) -> tuple[TaskStanding, ...]:
        """Return how far each task is."""
        by_task: dict[str, list[CellStanding]] = {}
        for cell in standings:
            by_task.setdefault(cell.task, []).append(cell)
        return tuple(self._task(name, cells) for name, cells in by_task.items())

    def _task(self, name: str, cells: list[CellStanding]) -> TaskStanding:
        plans = [cell.planned for cell in cells if cell.planned is not None]
        return TaskStanding(
            name=name,
            done=sum(cell.done for cell in cells),
            failed=sum(cell.failed for cell in cells),
            planned=sum(plans) if plans else None,
            version=self.version(name),
        )

    def version(self, task: str | None = None) -> int:
        """Return a number that grows whenever something about a task, or any, changes."""
        cells = (
            trials for (name, _), trials in self._cells.items() if task in (None, name)
        )
        return sum(trials.version for trials in cells)

    # --- scores ------------------------------------------------------------------------

    def drawn(self, task: str | None = None) -> dict[Cell, Drawn]:
        """Return a copy of the trials of one task, or of all."""
        chosen = {
            c: trials for c, trials in self._cells.items() if task in (None, c[0])
        }
        sized = {name: self._is_sized(name) for name in {name for name, _ in chosen}}
        look = {name: place for place, name in enumerate(self._algorithms)}
        return {
            (name, algorithm): Drawn(
                algorithm, look[algorithm], trials.rows.copy(), sized[name]
            )
            for (name, algorithm), trials in chosen.items()
        }

    def _is_sized(self, task: str) -> bool:
        """Whether each trial of a task is at one size, and sizes differ."""
        cells = [trials for (name, _), trials in self._cells.items() if name == task]
        low = min(trials.sizes[0] for trials in cells)
        high = max(trials.sizes[1] for trials in cells)
        return max(trials.longest_curve for trials in cells) == 1 and low < high
