"""What answers have in common: how they are asked about one task, and its tables."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

from curvewise.answer import Answer
from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.questions.sentences import titled
from curvewise.text import Cell, Piece, Table, plain


class _OfTask(Protocol):
    @property
    def task(self) -> str: ...


class _Pair(Protocol):
    @property
    def one(self) -> str: ...
    @property
    def other(self) -> str: ...


class _OfAlgorithm(Protocol):
    @property
    def algorithm(self) -> str: ...


_Found = TypeVar("_Found", bound=_OfTask)
_Fit = TypeVar("_Fit", bound=_OfAlgorithm)
_Two = TypeVar("_Two", bound=_Pair)


def must_be(answer: object, kind: type, function: str) -> None:
    """Refuse to draw what is not the answer that a function of curvewise returns."""
    if not isinstance(answer, kind):
        raise CurvewiseError(
            f"A figure shows an answer, and {type(answer).__name__} came. "
            f"Pass what curvewise.{function} returns.",
            argument="answer",
            value=answer,
        )


def one_task(tasks: Sequence[str], task: str | None, instead: str = "") -> str:
    """Return the task that is asked about, which may be left out where there is one."""
    if task is not None:
        return task
    if len(tasks) > 1:
        raise CurvewiseError(
            f"Which task? The answer has {listed(tasks)}. Pass ",
            {"task": ...},
            f", or use {instead}." if instead else ".",
            argument="task",
        )
    return tasks[0]


def of_task(found: Sequence[_Found], task: str | None) -> tuple[_Found, ...]:
    """Return what was found on a task, which may be left out where there is one."""
    tasks = tuple(dict.fromkeys(one.task for one in found))
    task = one_task(tasks, task)
    own = tuple(one for one in found if one.task == task)
    if not own:
        raise unknown("task", task, tasks)
    return own


def of_algorithm(fits: Sequence[_Fit], algorithm: str) -> _Fit:
    """Return what was fitted to the results of an algorithm."""
    for fit in fits:
        if fit.algorithm == algorithm:
            return fit
    raise unknown("algorithm", algorithm, [fit.algorithm for fit in fits])


def pair_of(
    pairs: Sequence[_Two],
    algorithms: Sequence[str],
    one: str,
    other: str,
    *,
    lacking: str = "These two were not compared.",
) -> _Two:
    """Return the pair of two algorithms, in whichever order; say what is `lacking`."""
    for name in (one, other):
        if name not in algorithms:
            raise unknown("algorithm", name, algorithms)
    if one == other:
        raise CurvewiseError(f"A pair is of two algorithms, and '{one}' is one.")
    for pair in pairs:
        if {pair.one, pair.other} == {one, other}:
            return pair
    raise CurvewiseError(lacking)


class TaskTables(Answer):
    """An answer that is a table for each task, under a headline and above notes."""

    __slots__ = ()

    found: tuple[Any, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of the trials."""
        return tuple(dict.fromkeys(one.task for one in self.found))

    @abstractmethod
    def headline(self) -> str:
        """Return what was asked."""

    @abstractmethod
    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""

    def __str__(self) -> str:
        lines = [*self.cautions, self.headline()]
        for task in self.tasks:
            lines += ["", titled(task), plain(self.table(task), indent="  ")]
        return "\n".join([*lines, "", *self.notes(), str(self.provenance)])

    __repr__ = __str__

    def _parts(self) -> Iterator[Piece]:
        for task in self.tasks:
            yield Table(self.table(task), f"{self.headline()}, {titled(task)}")
