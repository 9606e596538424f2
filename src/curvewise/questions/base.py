"""What answers have in common: columns, tables and sentences, task by task."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from curvewise.answer import Answer
from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.questions.sentences import interval_cell, titled
from curvewise.stats.interval import Interval
from curvewise.text import Cell, Piece, Table, plain

# --- Columns: what is known of each record, for programs and for people ----------------


@dataclass(frozen=True, slots=True)
class Column:
    """What is known of each record: a key of rows, a heading of tables, or both.

    A record may have several parts, such as an algorithm and one of its gains.

    Parameters
    ----------
    name : str
        For programs. An interval has three keys: ``x``, ``x_lower`` and ``x_upper``.
    label : str
        For people, who see an interval in one cell.
    value : callable, optional
        From the parts of a record; what they have by this name, if left out.
    show : callable, optional
        How people see the value.
    """

    name: str = ""
    label: str = ""
    value: Callable[..., Any] | None = None
    show: Callable[[Any], Cell] | None = None

    def of(self, record: Any) -> Any:
        """Return the value of a record."""
        parts = record if type(record) is tuple else (record,)
        if self.value is not None:
            return self.value(*parts)
        return next(getattr(p, self.name) for p in parts if hasattr(p, self.name))

    def cells(self, record: Any) -> dict[str, Cell]:
        """Return what a row for programs has of a record."""
        value = self.of(record)
        if not isinstance(value, Interval):
            return {self.name: value}
        ends = {f"{self.name}_lower": value.lower, f"{self.name}_upper": value.upper}
        return {self.name: value.value, **ends}

    def shown(self, record: Any) -> Cell:
        """Return what a table for people has of a record."""
        value = self.of(record)
        if self.show is not None:
            return self.show(value)
        cell: Cell = interval_cell(value) if isinstance(value, Interval) else value
        return cell


Columns: TypeAlias = Sequence[Column]
_TASK = Column("task")


def rows_of(columns: Columns, records: Iterable[Any]) -> list[dict[str, Cell]]:
    """Return records for programs."""
    with_name = [column for column in columns if column.name]
    rows: list[dict[str, Cell]] = []
    for record in records:
        row: dict[str, Cell] = {}
        for column in with_name:
            row |= column.cells(record)
        rows.append(row)
    return rows


def table_of(columns: Columns, records: Iterable[Any]) -> list[dict[str, Cell]]:
    """Return records for people."""
    headed = [column for column in columns if column.label]
    return [{column.label: column.shown(one) for column in headed} for one in records]


# --- What was found: on a task, of an algorithm, about a pair --------------------------


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
    records = tuple(one for one in found if one.task == task)
    if not records:
        raise unknown("task", task, tasks)
    return records


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


# --- Answers task by task --------------------------------------------------------------


class TaskAnswer(Answer):
    """An answer task by task: tables and sentences about each, and notes below."""

    __slots__ = ()

    @abstractmethod
    def _records(self) -> Sequence[Any]:
        """Return what was found, each with its task, in the order of the trials."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of the trials."""
        return tuple(dict.fromkeys(map(_TASK.of, self._records())))

    @abstractmethod
    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""

    @abstractmethod
    def headline(self) -> str:
        """Return the answer in one sentence."""

    def _title(self) -> str:
        """Return what stands above all tables in print."""
        return self.headline()

    def _heading(self, task: str) -> str:
        """Return what stands above the tables of a task."""
        return titled(task)

    def _about(self, task: str) -> Iterator[Piece]:
        """Return tables and sentences about a task."""
        yield Table(self.table(task), f"{self._title()}, {titled(task)}")

    def _over_all(self) -> Iterator[Piece]:
        """Return tables and sentences about all tasks together; none, for some."""
        yield from ()

    def __str__(self) -> str:
        lines = [*self.cautions, self._title()]
        for task in self.tasks:
            lines += ["", self._heading(task), *printed(self._about(task))]
        if overall := printed(self._over_all()):
            lines += ["", f"all {len(self.tasks)} tasks", *overall]
        return "\n".join([*lines, "", *self.notes(), str(self.provenance)])

    def _parts(self) -> Iterator[Piece]:
        if self.headline() != self._title():  # which is in the captions
            yield self.headline()
        for task in self.tasks:
            yield from self._about(task)
        yield from self._over_all()


class TaskTable(TaskAnswer):
    """An answer that is one row for each record, in columns that are declared once."""

    __slots__ = ()

    @abstractmethod
    def _columns(self) -> Columns:
        """Return what is known of each record."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return the numbers, one dict per row, keys that a program can rely on."""
        return rows_of(self._columns(), self._records())

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the rows of one task with headings for people."""
        records = [record for record in self._records() if _TASK.of(record) == task]
        if not records:
            raise unknown("task", task, self.tasks)
        return table_of(self._columns(), records)


def marked(concerns: Sequence[str]) -> list[str]:
    """Return what may be wrong as lines of their own, below a blank one."""
    return ["", *(f"! {concern}" for concern in concerns)] if concerns else []


def printed(pieces: Iterable[Piece]) -> list[str]:
    """Return tables and sentences as lines, with room above and below each table.

    >>> printed(["One.", Table([{"n": 1}]), "Two.", "Three."])[3:]
    ['', 'Two.', 'Three.']
    """
    lines: list[str] = []
    is_below_table = False
    for piece in pieces:
        is_table = isinstance(piece, Table)
        if lines and (is_table or is_below_table):
            lines.append("")
        if isinstance(piece, Table):
            lines += [f"  {piece.caption}"] if piece.is_titled else []
            lines.append(plain(piece.rows, indent="  "))
        else:
            lines.append(piece)
        is_below_table = is_table
    return lines
