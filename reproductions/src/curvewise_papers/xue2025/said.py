"""What the tables print, looked up."""

from typing import Any

import numpy as np

from curvewise.papers.printed import printed
from curvewise.papers.xue2025.answers import METRICS

LEARNERS = ("LDA", "NB", "TREE", "MLP")  # of the print
WORDS = {
    "error": "test error",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}


def wins_of(table: int, learner: str | None = None) -> dict[str, int]:
    """Return in how many cells of a printed table the paper's method is better.

    Of all learners, or of one where a table has several.

    >>> for table in (2, 4, 5):
    ...     print(wins_of(table))
    {'better': 86, 'tie': 2, 'worse': 8}
    {'better': 16, 'tie': 0, 'worse': 8}
    {'better': 10, 'tie': 0, 'worse': 10}
    """
    theirs, ours = (
        np.array([_flat(said_in(table, row, metric), learner) for metric in METRICS])
        for row in ("POW3", "matrices")
    )
    sign = np.sign(theirs - ours)
    return {
        name: int((sign == s).sum())
        for name, s in (("better", 1), ("tie", 0), ("worse", -1))
    }


def _flat(values: Any, learner: str | None) -> list[float]:
    if learner is not None:
        return list(values[learner])
    if isinstance(values, dict):
        return [x for own in values.values() for x in own]
    return list(values)


def said_in(table: int, row: str, name: str) -> Any:
    """Return what a table prints: a list by size, or one for each learner.

    >>> said_in(5, "POW3", "error")
    [2.74, 2.06, 1.07, 0.78, 1.01]
    """
    return printed("xue2025").tables[f"table{table}"][row][name]


def times(table: int) -> int:
    """Return how many replications a table is of.

    >>> times(2), times(4)
    (1000, 10)
    """
    return int(printed("xue2025").tables[f"table{table}"]["replications"])
