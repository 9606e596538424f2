"""What every store can do, in statements that every database understands."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, unknown, whole
from curvewise.store import columns, locks, news, schema
from curvewise.store.columns import Codes
from curvewise.store.locks import Cell
from curvewise.store.news import News, Tally, counted
from curvewise.store.notes import about, checked, design, noted
from curvewise.store.schema import Database, Row
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.columns import Core, Details, Ints
from curvewise.trials.design import from_record, joined
from curvewise.trials.trial import STATUSES, Key
from curvewise.version import __version__

T = TypeVar("T")

_NEVER = 2**62


class Driven(ABC):
    """A store of which drivers claim trials, so that no two run the same."""

    #: Whether several drivers may share a plan; if not, `driving` refuses the second.
    shared: ClassVar[bool]

    _db: Database
    _driver = 0  # none
    _began = _NEVER

    def __init__(self) -> None:
        self._tickets = itertools.count()

    # --- what a store has for it -------------------------------------------------------

    @property
    @abstractmethod
    def _codes(self) -> Codes: ...

    @abstractmethod
    def _do(self, action: Callable[[], T]) -> T:
        """Return what an action returns, and explain what goes wrong in it."""

    @abstractmethod
    def _naming(self, action: Callable[[], T]) -> T:
        """Return what an action returns that may give names their codes."""

    @abstractmethod
    def _cells(self, condition: str, *values: object) -> Iterator[Row]:
        """Return (task, algorithm, numbers) of the trials for which something holds."""

    # --- what each store does in its own way -------------------------------------------

    @abstractmethod
    def driving(self) -> AbstractContextManager[None]:
        """Return a context in which this process may `claim` trials.

        Whatever ends the process, its claims end with it.
        """

    def others_drive(self) -> bool:
        """Return whether another process is driving this store, too."""
        return False

    @abstractmethod
    def is_driven(self) -> bool | None:
        """Return whether any process is driving this store; None where nobody knows."""

    @abstractmethod
    def _claiming(self, ticket: int) -> AbstractContextManager[None]:
        """Return a transaction in which nobody else claims trials."""

    # --- claiming ----------------------------------------------------------------------

    def claim(
        self,
        cell: Cell,
        numbers: ArrayLike,
        limit: int | None = None,
        *,
        redo: Collection[str] = (),
    ) -> Ints:
        """Return the first trials that nobody has run or claimed, and claim them."""
        if not self._driver:
            raise CurvewiseError(
                "Only a driver can claim trials. Call claim() inside of "
                "`with store.driving():`."
            )
        wanted, statuses = np.asarray(numbers, np.int64), codes_of(redo)
        most = len(wanted) if limit is None else limit
        # If the connection breaks, nobody knows whether the claim was committed. The
        # ticket tells its rows from others, so that it can be made again.
        ticket = next(self._tickets)

        def take() -> Ints:
            codes = self._cell(cell)
            with self._claiming(ticket):
                return locks.take(
                    self._db,
                    codes,
                    wanted,
                    most,
                    is_done=locks.done(statuses),
                    began=self._began,
                    owner=(self._driver, ticket),
                )

        return self._do(take)

    def unfinished(
        self, cell: Cell, numbers: ArrayLike, *, redo: Collection[str] = ()
    ) -> Ints:
        """Return those of the wanted trials that are not in the store yet.

        A driver that can claim nothing more waits until nothing is unfinished: other
        drivers are at it, and if one of them dies, its trials can be claimed again.
        """
        wanted, statuses = np.asarray(numbers, np.int64), codes_of(redo)
        condition = (
            "task = (SELECT code FROM tasks WHERE name = ?) AND "
            "algorithm = (SELECT code FROM algorithms WHERE name = ?) AND "
            + locks.done(statuses)
        )

        def rest() -> Ints:
            rows = self._cells(condition, *cell, self._began)
            finished = [self._db.parsed(numbers) for _, _, numbers in rows]
            return wanted[~np.isin(wanted, finished[0])] if finished else wanted

        return self._do(rest)

    def _cell(self, cell: Cell) -> tuple[int, int]:
        task, algorithm = cell
        codes = self._codes
        if task not in codes.tasks or algorithm not in codes.algorithms:
            self._naming(lambda: self._name(task, algorithm))
        return self._codes.tasks[task], self._codes.algorithms[algorithm]

    def _name(self, task: str, algorithm: str) -> None:
        columns.name_code(self._db, "tasks", task, self._codes.tasks)
        columns.name_code(self._db, "algorithms", algorithm, self._codes.algorithms)


def codes_of(statuses: Collection[str]) -> list[int]:
    """Return the codes of statuses, or say which is none."""
    names = [statuses] if isinstance(statuses, str) else list(statuses)
    for name in names:
        if name not in STATUSES:
            raise unknown("status", name, STATUSES)
    return [STATUSES.index(name) for name in names]


# --- What every store can do, in statements that every database understands ------------


BLOCK = 50_000
_SPACE, _NOTE = "space ", "note:"


class AnyStore(Driven):
    """Trials in a database: what the stores in SQLite and PostgreSQL have in common."""

    def __init__(self) -> None:
        super().__init__()
        self._known: Codes | None = None
        self._spaces: dict[str, str] = {}  # those that were kept already
        self._design: dict[str, Any] = {}  # of the trials that were written last

    # --- what each store does in its own way -------------------------------------------

    @abstractmethod
    def _reopener(self) -> Callable[[], "AnyStore"]:
        """Return what opens this store once more, also after a change of folder."""

    @abstractmethod
    def __str__(self) -> str: ...

    # --- writing -----------------------------------------------------------------------

    def write(self, trials: Trials, *, batch: int = 1000) -> None:
        """Add trials; one whose key is there already replaces it."""
        must_be_trials(trials)
        batch = whole(batch, "batch")
        self._keep_spaces(trials.spaces)
        self._keep_design(trials.design_record())
        # A block of rows at a time, so that memory does not grow with the trials.
        block = max(BLOCK // batch, 1) * batch
        for start in range(0, len(trials), block):
            fits = len(trials) <= block
            part = trials if fits else trials[start : start + block]
            rows = self._do(partial(self._encoded, part))
            while some := list(itertools.islice(rows, batch)):
                self._do(partial(self._commit, some))

    def introduce(self, tasks: Iterable[str], algorithms: Iterable[str]) -> None:
        """Make names known before their trials are: they are listed in this order."""
        names: dict[Literal["tasks", "algorithms"], list[str]]
        names = {"tasks": list(tasks), "algorithms": list(algorithms)}

        def add() -> None:
            for table, new in names.items():
                for name in new:
                    columns.name_code(
                        self._db, table, name, getattr(self._codes, table)
                    )

        self._do(lambda: self._naming(add))

    def _keep_spaces(self, spaces: Mapping[str, str]) -> None:
        new = {_SPACE + name: text for name, text in spaces.items()}
        if not new.items() <= self._spaces.items():
            self.note(new)
            self._spaces |= new

    def _keep_design(self, record: dict[str, Any]) -> None:
        """Note what replicates what, where the store does not know it already."""
        if not record or record == self._design:
            return
        before, new = design(self.notes()), from_record(record)
        is_empty = not before.record() and len(self) == 0
        both = new if is_empty else joined([before, new])
        if both.record() != before.record():
            self.note(noted(both))
        self._design = record

    def _commit(self, rows: list[Row]) -> None:
        with self._db.alone():
            self._db.upsert(rows, self._next_revision())

    def _encoded(self, trials: Trials) -> Iterator[Row]:
        # New names come first, in a commit of their own.
        return self._naming(lambda: columns.encode(self._db, trials, self._codes))

    def _naming(self, action: Callable[[], T]) -> T:
        try:
            with self._db.alone():
                return action()
        except BaseException:
            self._known = None  # names that were not committed after all
            raise

    @property
    def _codes(self) -> Codes:
        if self._known is None:
            self._known = columns.load_codes(self._db)
        return self._known

    def _next_revision(self) -> int:
        self._db.execute(
            "INSERT INTO curvewise VALUES ('revision', '1') ON CONFLICT (key) "
            "DO UPDATE SET value = CAST(CAST(curvewise.value AS BIGINT) + 1 AS TEXT)"
        )
        return self._revision()

    def _revision(self) -> int:
        """Return how many batches were committed so far."""
        return int(self._fact("revision") or 0)

    def _fact(self, key: str) -> str | None:
        query = "SELECT value FROM curvewise WHERE key = ?"
        row = self._db.execute(query, (key,)).fetchone()
        return row[0] if row else None

    # --- reading -----------------------------------------------------------------------

    def read(self) -> Trials:
        """Return all trials; params, labels, counts and the like are read when needed."""
        codes, last, revision, core = self._do(self._read)
        reopened = self._reopener()

        def details() -> Details:
            with reopened() as again:
                return again._do(lambda: again._details(last, revision))

        notes = self.notes()
        return Trials.from_columns(
            codes.tasks,
            codes.algorithms,
            columns.meanings(codes, list(core.values)),
            core,
            details,
            origin=str(self),
            spaces={
                key.removeprefix(_SPACE): text
                for key, text in notes.items()
                if key.startswith(_SPACE)
            },
            about=about(notes, core),
            design=design(notes),
        )

    def _read(self) -> tuple[Codes, int, int, Core]:
        with self._db.snapshot():
            codes = columns.load_codes(self._db)
            newest = "SELECT coalesce(max(id), 0) FROM trials"
            last = int(self._db.execute(newest).fetchone()[0])
            return codes, last, self._revision(), columns.core(self._db, codes, last)

    def _details(self, last: int, revision: int) -> Details:
        with self._db.snapshot():
            changed = self._db.execute(
                "SELECT count(*) FROM trials WHERE id <= ? AND revision > ?",
                (last, revision),
            ).fetchone()[0]
            if changed:
                raise CurvewiseError(
                    f"{changed} trials in {self} were replaced since it was read. "
                    f"Read the store again."
                )
            return columns.details(self._db, last)

    def news(
        self,
        after: int = 0,
        *,
        most: int = 100_000,
        since: int | None = None,
        with_details: bool = False,
    ) -> News:
        """Return the trials with the next ids, read in one short snapshot."""

        def look() -> News:
            with self._db.snapshot():
                return news.news(
                    self._db,
                    self._revision(),
                    after=after,
                    most=most,
                    since=since,
                    with_details=with_details,
                )

        return self._do(look)

    def keys(self) -> set[Key]:
        """Return (task, algorithm, number) of every trial in the store."""
        cells = self.numbers().items()
        return {(t, a, n) for (t, a), numbers in cells for n in numbers.tolist()}

    def numbers(self, status: Collection[str] | None = None) -> dict[Cell, Ints]:
        """Return the numbers of the trials of each task and algorithm, sorted."""
        chosen = "true" if status is None else f"status IN ({_listed(status)})"
        return self._do(lambda: self._numbers(chosen))

    def _numbers(self, condition: str) -> dict[Cell, Ints]:
        with self._db.snapshot():
            codes = columns.load_codes(self._db)
            tasks = {code: name for name, code in codes.tasks.items()}
            algorithms = {code: name for name, code in codes.algorithms.items()}
            return {
                (tasks[task], algorithms[algorithm]): np.sort(self._db.parsed(cell))
                for task, algorithm, cell in self._cells(condition)
            }

    def _cells(self, condition: str, *values: object) -> Iterator[Row]:
        """Return (task, algorithm, numbers) of the trials for which something holds."""
        numbers = self._db.ints("number", ordered=False)
        yield from self._db.execute(
            f"SELECT task, algorithm, {numbers} FROM trials WHERE {condition} "
            "GROUP BY task, algorithm ORDER BY task, algorithm",
            values,
        )

    def __len__(self) -> int:
        count = "SELECT count(*) FROM trials"
        return int(self._do(lambda: self._db.execute(count).fetchone())[0])

    def tally(self) -> Tally:
        """Return how trials ended and what went wrong most often; none of them is read."""
        return self._do(self._tally)

    def _tally(self) -> Tally:
        with self._db.snapshot():
            return counted(self._db)

    # --- notes -------------------------------------------------------------------------

    def notes(self) -> dict[str, str]:
        """Return the texts that the store keeps beside its trials."""
        return self._do(self._notes)

    def _notes(self) -> dict[str, str]:
        rows = self._db.execute("SELECT key, value FROM curvewise ORDER BY key")
        return {
            key.removeprefix(_NOTE): text for key, text in rows if key.startswith(_NOTE)
        }

    def note(self, texts: Mapping[str, str]) -> None:
        """Keep small texts about the trials; one that is there already is replaced."""
        new = checked(texts)
        keep = (
            "INSERT INTO curvewise VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        )

        def put() -> None:
            with self._db.alone():
                for key, text in new.items():
                    self._db.execute(keep, (_NOTE + key, text))

        self._do(put)

    def define(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep texts that are new, unless one contradicts; return what the store has.

        Of two processes that define the same thing at once, one is first; the other gets
        what that one wrote, and can compare.
        """
        new = checked(texts)

        def keep() -> dict[str, str]:
            with self._db.alone():
                there = self._notes()
                before = {key: there[key] for key in new if key in there}
                if not before.items() <= new.items():
                    return before
                for key in new.keys() - before.keys():
                    add = "INSERT INTO curvewise VALUES (?, ?)"
                    self._db.execute(add, (_NOTE + key, new[key]))
                return new

        return self._do(keep)

    # --- care --------------------------------------------------------------------------

    def _make_tables(self, tables: str) -> None:
        for statement in tables.strip().split(";\n"):
            self._db.execute(statement)
        facts = {"version": schema.VERSION, "made by": __version__, "revision": 0}
        for key, value in facts.items():
            self._db.execute("INSERT INTO curvewise VALUES (?, ?)", (key, str(value)))

    def _check_version(self) -> None:
        version = self._fact("version")
        if version != str(schema.VERSION):
            raise CurvewiseError(
                f"{self} is a store of version {version or 'unknown'}; "
                f"this curvewise ({__version__}) knows version {schema.VERSION}. "
                f"Open it with the curvewise that wrote it, or a newer one."
            )

    def refuse_writes(self) -> Self:
        """Let nothing be changed through this store from now on, and return it."""
        self._do(self._db.refuse_writes)
        return self

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _listed(statuses: Collection[str]) -> str:
    return ", ".join(map(str, [-1, *codes_of(statuses)]))
