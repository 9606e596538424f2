"""What went wrong and how often, kept up to date without reading it again."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from curvewise.errors import shortened
from curvewise.flow.watching.kept import Kept, Rows
from curvewise.store.claims import Cell
from curvewise.store.news import News
from curvewise.store.tally import Mishap
from curvewise.trials.columns import Ints

_MOST = 1000  # different messages that are told apart
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
        self._counts = np.zeros(_MOST + 2, np.int64)
        self._first: dict[int, Place] = {}

    def with_room(self) -> Ints | None:
        """Forget what came least often where there is no room for more.

        Returns which code each one has become, if anything was forgotten.
        """
        if len(self._lines) - 2 <= _MOST // 2:
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
            if len(self._codes) == _MOST:
                return _OTHER
            self._codes[line] = len(self._lines)
            self._lines.append(line)
        return self._codes[line]

    def add(self, kept: Kept, rows: Rows) -> None:
        """Count the messages of trials of one cell."""
        bad = rows[rows["message"] > _FINE]
        if not len(bad):
            return
        before = self._counts.copy()
        self._counts += np.bincount(bad["message"], minlength=len(self._counts))
        for code in np.unique(bad["message"]).tolist():
            number = int(bad["number"][bad["message"] == code].min())
            place = (*kept.place, number)
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

    def top(self, cells: Mapping[Cell, Kept]) -> tuple[Mishap, ...]:
        """Return what went wrong most often, and in which trial first."""
        names = {kept.place: cell for cell, kept in cells.items()}
        found = []
        for code in self._most_frequent():
            if code not in self._first:
                self._first[code] = _searched(code, cells.values())
            task, algorithm, number = self._first[code]
            many, cell = int(self._counts[code]), names[task, algorithm]
            found.append(Mishap(self._lines[code], many, *cell, number))
        return tuple(found)


def _searched(code: int, cells: Iterable[Kept]) -> Place:
    """Return the first trial that has a message."""
    found = []
    for kept in cells:
        numbers = kept.rows["number"][kept.rows["message"] == code]
        if len(numbers):
            found.append((*kept.place, int(numbers.min())))
    return min(found)
