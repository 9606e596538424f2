"""What a run is to find out: as its store notes it, or as whoever watches asks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.flow.plan import asked, planned
from curvewise.flow.until import Until, until
from curvewise.flow.until.stopping import noted_before
from curvewise.flow.watching.forecast import BandForecast, Forecast, Inquiry, Unknowable
from curvewise.flow.watching.view import Drawn
from curvewise.metrics import Metric
from curvewise.store.claims import Cell

LEAST = 10  # trials of a cell that say anything about how they vary


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be found out, and of what.

    Parameters
    ----------
    until : Until or None
        None where nobody has asked for a precision, or where only a function knows.
    text : str
        What was asked, for people.
    cells : tuple of (task, algorithm)
        That it is asked of; empty for all that are there.
    planned : int or None
        How many trials of each are planned, at most.
    is_of_run : bool
        Whether the run itself ends when it is known.
    """

    until: Until | None
    text: str
    cells: tuple[Cell, ...]
    planned: int | None
    is_of_run: bool


def question_of(notes: Mapping[str, str], own: Until | None) -> Question:
    """Return what is asked: by whoever watches, or else by the run."""
    run, plan = asked(notes), planned(notes)
    cells = tuple(plan) if run is None else tuple(run.cells)
    most = max(plan.values(), default=None) if run is None else run.trials
    if own is not None:
        is_same = run is not None and run.until == str(own)
        return Question(own, str(own), cells, most, is_same)
    if run is None or not run.until:
        return Question(None, "", cells, most, False)
    try:
        meant = None if run.is_function else until(run.until)
    except CurvewiseError:  # written by another version, or no text at all
        meant = None
    return Question(meant, run.until, cells, most, True)


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
    """Return what a forecast is made from; None while there is too little.

    Raises
    ------
    CurvewiseError
        If it cannot be asked of this metric, or of trials that failed.
    """
    if question.until is None:
        return None
    named = replace(question.until, metric=metric.name)
    named.refuse_unbounded(metric)
    named.refuse_alone(len({name for _, name in question.cells or drawn}))
    cells = [cell for cell in question.cells or drawn if cell in drawn]
    samples = {}
    for cell in cells:
        rows = drawn[cell].rows
        if question.planned is not None:
            rows = rows[(rows["number"] >= 0) & (rows["number"] < question.planned)]
        own = replace(drawn[cell], rows=rows)
        if named.failed == "raise" and own.broken:
            raise CurvewiseError(
                f"{own.broken} of {len(rows)} trials of {cell[1]} on {cell[0]} failed, and "
                f"nobody has said what a failure scores: as a text, '{named} failed "
                f"{'worst' if np.isfinite(metric.worst) else '0'}'."
            )
        sample = own.sample(metric, named.failed)
        if len(sample.scores) >= LEAST:
            samples[cell] = sample
    if not samples:
        return None
    asked_of = question.cells or tuple(drawn)
    done = {cell: len(own.rows) for cell, own in drawn.items()}
    before = 0
    if question.is_of_run and question.planned is not None:
        before = noted_before(named, question.planned, asked_of, notes)
    return Inquiry(
        named,
        metric,
        samples,
        asked_of,
        done,
        question.planned,
        question.is_of_run,
        before,
    )
