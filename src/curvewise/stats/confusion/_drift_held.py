"""Curves that nothing can be learnt from but that they stay as they are."""

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._data import CountTable


def last_of(table: CountTable, values: Floats) -> Floats:
    """Return values (curve, size, class) at the last size that tested the class."""
    place = np.arange(values.shape[1])[:, None]
    last = np.where(table.total > 0, place, -1).max(1)
    return np.take_along_axis(values, last[:, None], 1)[:, 0]


def never_called(table: CountTable) -> NDArray[np.bool_]:
    """Return which classes no run called any example at the last size."""
    last = (table.runs > 0).sum(1) - 1
    called = np.take_along_axis(table.counts.sum(-2), last[:, None, None], 1)[:, 0]
    return np.asarray(called < 1)


def is_stuck(table: CountTable) -> NDArray[np.bool_]:
    """Return whose recall stays: of a class never called; of two, the other's with it."""
    never = never_called(table)
    return never | never[:, ::-1] if table.classes == 2 else never


def is_constant(table: CountTable) -> NDArray[np.bool_]:
    """Return which recalls are the same at every size."""
    there = table.total > 0
    rate = table.right / np.where(there, table.total, 1.0)
    high = np.where(there, rate, -np.inf).max(1)
    low = np.where(there, rate, np.inf).min(1)
    return np.asarray(high - low < 1e-12)
