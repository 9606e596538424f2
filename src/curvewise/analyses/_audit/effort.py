"""How long an audit would take, about: what takes hours is refused before it begins."""

from math import comb

import numpy as np

from curvewise._text import count
from curvewise.errors import CurvewiseError, Message, Verbatim, trials_where
from curvewise.trials import Trials

FEWEST = 20  # repetitions; of fewer nothing can be told
_LONGEST = 3600.0  # seconds
# Seconds that one answer takes, measured on one core of a laptop.
_PER_VALUE, _PER_TRIAL_BOOTSTRAPPED = 2e-6, 3e-4
_PER_PAIR, _PER_PAIR_OF_CURVES = 1e-3, 2.5e-2
_PER_CELL, _PER_CELL_OF_CURVES = 1e-3, 1e-2


def refuse_hours(trials: Trials, metric: str, repetitions: int) -> None:
    """Raise if an audit would take more than an hour or so, with what to pass instead."""
    each = _seconds(trials, metric)
    if repetitions * each <= _LONGEST:
        return
    fewer = int(_LONGEST / each)
    instead = Message("a part of them: ", trials_where(task=..., algorithm=[...]))
    if fewer >= FEWEST:
        instead = Message(
            {"repetitions": Verbatim(f"{float(f'{fewer:.1g}'):.0f}")},
            " or fewer, or ",
            instead,
        )
    raise CurvewiseError(
        f"{count(repetitions, 'repetition')} with {count(len(trials), 'trial')} and "
        f"{count(_pairs(trials), 'pair')} of algorithms would take about "
        f"{_in_words(repetitions * each)}. Pass ",
        instead,
        ".",
    )


def _seconds(trials: Trials, metric: str) -> float:
    """Return how long one repetition takes, about: two answers of each analysis."""
    core, pairs = trials.core, _pairs(trials)
    cells = sum(len(own) for own in _algorithms(trials))
    each = _PER_VALUE * len(core.steps) + _PER_PAIR * pairs + _PER_CELL * cells
    if not trials.metric(metric).is_bounded:
        each += _PER_TRIAL_BOOTSTRAPPED * len(trials)
    if core.lengths.max(initial=0) > 1:
        each += _PER_PAIR_OF_CURVES * pairs + _PER_CELL_OF_CURVES * cells
    return 2 * each


def _algorithms(trials: Trials) -> list[np.ndarray]:
    """Return which algorithms met each task."""
    core = trials.core
    return [np.unique(core.algorithm[core.task == t]) for t in range(len(trials.tasks))]


def _pairs(trials: Trials) -> int:
    return sum(comb(len(own), 2) for own in _algorithms(trials))


def _in_words(seconds: float) -> str:
    """Return a time as people say it.

    >>> _in_words(5000), _in_words(200_000)
    ('1.4 hours', '56 hours')
    """
    hours = seconds / 3600
    return f"{hours:.1f} hours" if hours < 10 else f"{hours:,.0f} hours"
