"""Watches a store that is being filled: reads what is new, and says how far it is."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from curvewise.errors import CurvewiseError, NoStoreError, listed, unknown
from curvewise.flow.plan import ended, planned, target
from curvewise.flow.progress import Pace
from curvewise.flow.status import reached_end
from curvewise.flow.until import Until, until
from curvewise.flow.until.stopping import noted_before
from curvewise.flow.watch.moment import (
    BandForecast,
    Forecast,
    Inquiry,
    Moment,
    State,
    Unknowable,
    forecast,
)
from curvewise.flow.watch.reader import AnotherStoreError, Reader, Source
from curvewise.flow.watch.table import Drawn, Table, TaskView, may_need_counts, view_of
from curvewise.metrics import Metric
from curvewise.stats.validation import is_number
from curvewise.store import AnyStore
from curvewise.store.locks import Cell
from curvewise.store.news import News
from curvewise.trials.doors import At, Failed
from curvewise.trials.trial import STATUSES

EVERY = 1.0  # seconds between looks, at least,
COST = 20.0  # and times what the last one took: 5 % of the time at most
_NOTES = 3.0  # seconds between looks at a store's notes
_LONG_AGO = float("-inf")


class Watcher:
    """Reads a store while others fill it, and says how far it is.

    Nothing is ever written. Of each trial a few numbers are kept, so that a look costs
    what is new, however much there is already. One thread looks; others may call `view`
    and `answer` meanwhile.

    Parameters
    ----------
    where : str
        Path or URL. The store need not be there yet.
    metric : str, optional
        What curves are of; the metric that the run is to find out about, or the first
        one, if left out.
    at : {"last", "mean", "best"} or float, optional
        Which value of a curve is its score; that of the run's question, or the last, if
        left out.
    failed : {"worst"} or float
        What a failed trial scores. Where the metric has no worst score, ``"worst"``
        leaves failed trials out of the curves, and says so.
    asked : Until or str, optional
        What to find out; what the run itself is to find out, if left out.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> from curvewise import Trial, Trials, store
    >>> path = getfixture("tmp_path") / "runs.db"
    >>> store.write(Trials(Trial("t", "a", i, {"accuracy": 1}) for i in range(5)), path)
    >>> watcher = Watcher(str(path))
    >>> watcher.look().headline()
    '5 trials'
    >>> watcher.view("t").curves[0].trials
    5
    """

    def __init__(
        self,
        where: str,
        *,
        metric: str | None = None,
        at: At | None = None,
        failed: Failed = "worst",
        asked: Until | str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._clock = Source(where), clock
        self._metric, self._at, self._failed = metric, _checked_at(at), failed
        if not (failed == "worst" or is_number(failed)):
            raise CurvewiseError(
                f"failed is {failed!r}. Pass 'worst' or a number.",
                argument="failed",
                value=failed,
            )
        self._asked = until(asked) if isinstance(asked, str) else asked
        self._lock = threading.Lock()  # whoever holds it may look at the table
        self._took = 0.0
        self._forget()

    def _forget(self) -> None:
        """Begin anew: nothing was seen."""
        with self._lock:
            self._reader, self._pace = Reader(self._clock), Pace(clock=self._clock)
            self._table: Table | None = None
            self._notes: dict[str, str] = {}
            self._next_notes, self._has_notes = _LONG_AGO, False
            self._question = question_of(self._notes, self._asked)
            self._forecast: Forecast | None = None
            self._next_forecast, self._version_asked = _LONG_AGO, -1
            self._trouble = self._cannot_ask = ""
            self._has_ended = False
            self._driven: bool | None = None
            self._stamp: object = None
            self._identity: object = None

    # --- looking -----------------------------------------------------------------------

    def look(self) -> Moment:
        """Read what is new and return how far it is; whatever goes wrong is told in it."""
        begin = self._source.effort()
        try:
            self.read()
        except NoStoreError:
            if self._table is not None:
                self._forget()
        except CurvewiseError as problem:
            self._trouble = self._source.cleaned(problem)
        moment = self.moment()
        self._took = self._source.effort() - begin
        return moment

    def read(self) -> None:
        """Read what is new."""
        stamp, idle = self._source.stamp(), self._source.idle()
        is_same = stamp is not None and stamp == self._stamp
        is_sure = self._reader.is_sure
        if is_same and not is_sure and not self._reader.is_busy:
            self._reader.search()  # then the file can be left alone
        if not (is_same and is_sure and self._has_notes):
            with self._source.opened() as store:
                self._read_from(store, idle)
                self._driven = self._source.is_driven(store)
            self._stamp = stamp
        else:
            self._driven = self._source.is_driven(None)
        self._trouble = ""

    def _read_from(self, store: AnyStore, idle: float | None) -> None:
        identity = self._source.identity()
        if self._table is not None and identity != self._identity:
            self._forget()
        self._identity = identity
        try:
            self._read_new(store, idle)
        except AnotherStoreError:
            self._forget()
            self._identity = identity
            self._read_new(store, idle)

    def _read_new(self, store: AnyStore, idle: float | None) -> None:
        now = self._clock()
        # A file that rests may only be left alone if its last words were heard.
        self._has_notes = now >= self._next_notes
        if self._has_notes:
            self._read_notes(store)
            self._next_notes = now + _NOTES
        table, was_new, arrived = self._table_now(), self._reader.is_new, 0
        with_details = table.needs_counts
        for news, is_replaced in self._reader.read(store, with_details=with_details):
            whole = self._with_counts(store, table, news)
            with self._lock:
                arrived += table.take(whole, is_replaced=is_replaced)
        if was_new:
            # What was there before anybody watched says nothing about speed.
            self._pace.done += arrived
            if not self._reader.is_new:
                self._pace.restart(idle)
        elif arrived:
            self._pace.note(arrived, may_pause=True)

    def _read_notes(self, store: AnyStore) -> None:
        notes = store.notes()
        with self._lock:
            self._notes, self._question = notes, question_of(notes, self._asked)

    def _table_now(self) -> Table:
        if self._table is None:
            meant = self._question.until
            metric, at = self._metric, self._at
            if meant is not None:
                metric, at = metric or meant.metric, meant.at if at is None else at
            with self._lock:
                self._table = Table(metric, "last" if at is None else at)
        return self._table

    @staticmethod
    def _with_counts(store: AnyStore, table: Table, news: News) -> News:
        """Return news with their counts, where only those can tell a score."""
        if table.metric is not None or not may_need_counts(news, table.wanted):
            return news
        first, last = int(news.ids[0]), int(news.ids[-1])
        return store.news(first - 1, most=last - first + 1, with_details=True)

    def refuse_unknown_metric(self) -> None:
        """Raise if a metric was asked for that these trials do not have."""
        table = self._table
        if self._metric and table is not None and len(table) and table.metric is None:
            raise unknown("metric", self._metric, table.metrics)

    # --- how far it is -----------------------------------------------------------------

    def moment(self) -> Moment:
        """Return how far it was at the last look."""
        with self._lock:
            return self._moment(self._table or Table(None, "last"))

    def _moment(self, table: Table) -> Moment:
        plan, pace = planned(self._notes), self._pace
        cells = table.standings(plan)
        reached = reached_end(cells, ended(self._notes)) if cells else ""
        left = sum(max(0, (cell.planned or 0) - cell.done) for cell in cells)
        states, done = table.states.tolist(), len(table)
        state = state_of(
            is_there=self._table is not None,
            is_reading=self._reader.is_new,
            is_driven=self._driven,
            is_recent=self._reader.ahead > 0
            or (pace.is_fresh and bool(pace.batches or self._driven)),
            has_plan=bool(plan),
            is_complete=bool(reached) or (bool(plan) and not left),
        )
        is_going, self._has_ended = state in ("running", "quiet"), state == "ended"
        return Moment(
            store=self._source.name,
            state=state,
            trouble=self._trouble,
            done=done,
            failed=done - states[0],
            planned=sum(plan.values()) if plan else None,
            ahead=self._reader.ahead,
            rate=pace.rate if is_going and pace.batches else None,
            seconds_left=pace.seconds_for(left) if is_going and plan else None,
            idle=pace.idle,
            reached=reached,
            states=dict(zip(STATUSES, states, strict=True)),
            mishaps=table.messages.top(table.cells),
            other_mishaps=table.messages.other,
            tasks=table.tasks(cells),
            forecast=forecast_at_once(self._question, table.done, self._cannot_ask)
            or self._forecast,
        )

    def view(self, task: str) -> TaskView:
        """Return one task: how far each algorithm is, and its inverse CDF with its band."""
        with self._lock:
            table, plan = self._table or Table(None, "last"), planned(self._notes)
            cells = tuple(table.standings(plan, task))
            if not cells:
                names = dict.fromkeys(t for t, _ in [*plan, *table.cells])
                raise unknown("task", task, names)
            drawn, version = list(table.drawn(task).values()), table.version(task)
            metric, at = table.metric, table.at
        if metric is None and table.wanted and drawn:
            has = (
                f"there is {listed(table.metrics)}"
                if table.metrics
                else "there is none"
            )
            note = f"No trial has the metric '{table.wanted}'; {has}."
            return TaskView(
                task=task,
                version=version,
                metric=None,
                at=at,
                cells=cells,
                curves=(),
                notes=(note,),
            )
        return view_of(task, version, metric, at, self._failed, cells, drawn)

    # --- when it will be known ---------------------------------------------------------

    def inquiry(self) -> Inquiry | None:
        """Return what a forecast is to be made from; None while there is nothing to do.

        A forecast may take seconds, and looks should go on meanwhile: another thread may
        call `forecast` with this, and `answer` with what comes out.
        """
        table, question = self._table, self._question
        if question.until is None or table is None or table.metric is None:
            return None
        if self._clock() < self._next_forecast and not self._has_ended:
            return None
        with self._lock:
            version, drawn, notes = table.version(), table.drawn(), self._notes
        if version == self._version_asked:
            return None
        self._version_asked, self._cannot_ask = version, ""
        try:
            wanted = question.until.metric, question.until.at
            if wanted[0] not in (None, table.metric.name) or wanted[1] != table.at:
                raise CurvewiseError(
                    "This page shows another score than was asked about."
                )
            return inquiry_of(question, table.metric, drawn, notes)
        except CurvewiseError as problem:
            self._cannot_ask = f"Nobody can tell when: {problem}"
            return None

    def answer(self, found: Forecast, took: float) -> None:
        """Take what came out of an inquiry, and how long it took."""
        self._forecast = found
        self._next_forecast = self._clock() + max(2 * EVERY, COST * took)

    def foresee(self) -> None:
        """Ask and answer at once, for whoever has only one thread."""
        begin = self._clock()
        if (inquiry := self.inquiry()) is not None:
            self.answer(forecast(inquiry), self._clock() - begin)

    # --- when to look again ------------------------------------------------------------

    def pause(self) -> float:
        """Return how long to wait before the next look."""
        if self._table is not None and self._reader.is_new:
            return self._took  # half of the time, until all that there is was read
        return max(EVERY, COST * self._took)

    def close(self) -> None:
        """Close the connection, if there is one."""
        self._source.close()


def _checked_at(at: At | None) -> At | None:
    if at in (None, "last", "mean", "best") or is_number(at):
        return at
    raise CurvewiseError(
        f"at is {at!r}. Pass 'last', 'mean', 'best' or a step.", argument="at", value=at
    )


# --- What a run is to find out: as its store notes it, or as whoever watches asks ------


LEAST = 10  # trials of a cell that say anything about how they vary


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be found out, and of what."""

    until: Until | None
    text: str
    cells: tuple[Cell, ...]
    planned: int | None
    is_of_run: bool


def question_of(notes: Mapping[str, str], wanted: Until | None) -> Question:
    """Return what is asked: by whoever watches, or else by the run."""
    text, is_function, most, cells = target(notes)
    if wanted is not None:
        is_same = text == str(wanted)
        return Question(wanted, str(wanted), tuple(cells), most, is_same)
    if not text:
        return Question(None, "", tuple(cells), most, False)
    try:
        meant = None if is_function else until(text)
    except CurvewiseError:  # written by another version, or no text at all
        meant = None
    return Question(meant, text, tuple(cells), most, True)


def forecast_at_once(
    question: Question, done: Mapping[Cell, int], trouble: str
) -> Forecast | None:
    """Return a forecast that needs no computing; None where one does, or there is none."""
    if question.until is None and question.text:
        return Unknowable(
            question.text, "A function decides, and nobody can tell when."
        )
    if question.until is not None:
        return Unknowable(question.text, trouble) if trouble else None
    cells = question.cells or tuple(done)
    if not cells or question.planned is None:
        return None
    return BandForecast(min(done.get(cell, 0) for cell in cells), question.planned)


def inquiry_of(
    question: Question,
    metric: Metric,
    drawn: Mapping[Cell, Drawn],
    notes: Mapping[str, str],
) -> Inquiry | None:
    """Return what a forecast is made from; None while there is too little."""
    if question.until is None:
        return None
    until = replace(question.until, metric=metric.name)
    until.refuse_unbounded(metric)
    until.refuse_alone(len({name for _, name in question.cells or drawn}))
    cells = [cell for cell in question.cells or drawn if cell in drawn]
    samples = {}
    for cell in cells:
        rows = drawn[cell].rows
        if question.planned is not None:
            rows = rows[(rows["number"] >= 0) & (rows["number"] < question.planned)]
        one = replace(drawn[cell], rows=rows)
        if until.failed == "raise" and one.broken:
            raise CurvewiseError(
                f"{one.broken} of {len(rows)} trials of {cell[1]} on {cell[0]} failed, and "
                f"nobody has said what a failure scores: as a text, '{until} failed "
                f"{'worst' if np.isfinite(metric.worst) else '0'}'."
            )
        sample = one.sample(metric, until.failed)
        if len(sample.scores) >= LEAST:
            samples[cell] = sample
    if not samples:
        return None
    asked_of = question.cells or tuple(drawn)
    done = {cell: len(one.rows) for cell, one in drawn.items()}
    before = 0
    if question.is_of_run and question.planned is not None:
        before = noted_before(until, question.planned, asked_of, notes)
    return Inquiry(
        until=until,
        metric=metric,
        samples=samples,
        cells=asked_of,
        done=done,
        planned=question.planned,
        is_of_run=question.is_of_run,
        before=before,
    )


# --- What is going on ------------------------------------------------------------------


def state_of(
    *,
    is_there: bool,
    is_reading: bool,
    is_driven: bool | None,
    is_recent: bool,
    has_plan: bool,
    is_complete: bool,
) -> State:
    """Return what is going on."""
    if not is_there:
        return "waiting"
    if is_reading:
        return "reading"
    if is_complete and not is_driven:
        return "ended"
    if is_recent:
        return "running"
    if is_driven or (is_driven is None and has_plan):
        return "quiet"
    return "stopped" if has_plan else "idle"
