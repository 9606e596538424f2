"""Kept tables, looked up by what their numbers are about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.papers.results import Results
from curvewise.papers.xue2025.answers import METRICS
from curvewise.papers.xue2025.blocks import LEARNERS, SIZES, TASKS
from curvewise.papers.xue2025.foresee import Floats

_VALUES = ("rmse", "rmse_error", "bias", "covered", "covered_error", "length")


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """How a method did on one task with one learner, for one metric; by size.

    Parameters
    ----------
    rmse, rmse_error, bias : ndarray, shape (size,)
        In percentage points.
    covered, covered_error : ndarray, shape (size,)
        The share of bands that held; NaN where there are none.
    length, length_error : ndarray, shape (size,)
    replications : int
    """

    rmse: Floats
    rmse_error: Floats
    bias: Floats
    covered: Floats
    covered_error: Floats
    length: Floats
    length_error: Floats
    replications: int


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The scores of all methods, and what the generator is worth."""

    cells: Mapping[tuple[str, ...], Cell]
    moves: Mapping[tuple[str, str], Floats]

    @classmethod
    def of(cls, results: Results) -> "Kept":
        """Return what the results of a run have kept."""
        scores = {k: np.asarray(v) for k, v in results.tables["scores"].items()}
        return cls(_cells(scores), _moves(results.tables["sensitivity"]))

    def cell(
        self,
        learner: str,
        method: str,
        metric: str = "error",
        *,
        task: str = "simple",
        target: str = "observed",
    ) -> Cell | None:
        """Return one of them, None where it was not run."""
        return self.cells.get((task, learner, method, target, metric))

    def methods(self) -> tuple[str, ...]:
        """Return all methods that foresaw what was observed."""
        return tuple(
            dict.fromkeys(key[2] for key in self.cells if key[3] == "observed")
        )

    def learners(self, task: str) -> tuple[str, ...]:
        """Return the learners that were run, in the paper's order."""
        run = {key[1] for key in self.cells if key[0] == task}
        return tuple(name for name in LEARNERS if name in run)

    def tasks(self) -> tuple[str, ...]:
        """Return the tasks that were run."""
        run = {key[0] for key in self.cells}
        return tuple(name for name in TASKS if name in run)

    def move(self, learner: str, metric: str) -> Floats:
        """Return by which share a number moves with half a step of the generator.

        For a learner that was not run with other parameters, the mean over those that
        were.
        """
        own = self.moves.get((learner, metric))
        if own is not None:
            return own
        every = [move for (_, name), move in self.moves.items() if name == metric]
        return np.asarray(np.mean(every, axis=0))


def _cells(scores: dict[str, Any]) -> dict[tuple[str, ...], Cell]:
    names = ("task", "learner", "method", "target", "metric")
    # Rows come in runs of the six sizes.
    firsts = range(0, len(scores["n"]), len(SIZES))
    out = {}
    for first in firsts:
        own = slice(first, first + len(SIZES))
        key = tuple(str(scores[name][first]) for name in names)
        values = {name: scores[name][own].astype(float) for name in _VALUES}
        out[key] = Cell(
            **values,
            length_error=scores["length_error"][own].astype(float),
            replications=int(scores["replications"][first]),
        )
    return out


def _moves(table: Mapping[str, Any]) -> dict[tuple[str, str], Floats]:
    """Return the larger of the changes of length with either parameter, as a share."""
    columns = {name: np.asarray(values) for name, values in table.items()}
    share = np.abs(columns["change"]) / columns["length"]
    out = {}
    for learner in dict.fromkeys(columns["learner"].tolist()):
        for metric in METRICS:
            is_own = (columns["learner"] == learner) & (columns["metric"] == metric)
            out[learner, metric] = share[is_own].reshape(-1, len(SIZES)).max(0)
    return out
