"""What a store does for those who fill it: several drivers of one plan."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, unknown
from curvewise.store import claims, codes
from curvewise.store.claims import Cell, Claim
from curvewise.store.codes import Codes
from curvewise.store.database import Database, Row
from curvewise.trials.columns import Ints
from curvewise.trials.trial import STATUSES

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
        """Return the first trials that nobody has run or claimed, and claim them.

        Parameters
        ----------
        cell : tuple of str
            Task and algorithm.
        numbers : array_like of int, shape (trial,)
            Which trials are wanted, each once. It is quick if most are still to be had:
            pass what `unfinished` returned if some were done already.
        limit : int, optional
            How many to claim at most; all if left out.
        redo : collection of str
            Run trials again that had ended so before this driver began.
        """
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
            task, algorithm = self._cell(cell)
            with self._claiming(ticket):
                who = self._began, self._driver, ticket
                asked = Claim(task, algorithm, statuses, *who)
                return claims.take(self._db, asked, wanted, most)

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
            + claims.done(statuses)
        )

        def rest() -> Ints:
            rows = self._cells(condition, *cell, self._began)
            found = [self._db.parsed(numbers) for _, _, numbers in rows]
            return wanted[~np.isin(wanted, found[0])] if found else wanted

        return self._do(rest)

    def _cell(self, cell: Cell) -> tuple[int, int]:
        task, algorithm = cell
        known = self._codes
        if task not in known.tasks or algorithm not in known.algorithms:
            self._naming(lambda: self._name(task, algorithm))
        return self._codes.tasks[task], self._codes.algorithms[algorithm]

    def _name(self, task: str, algorithm: str) -> None:
        codes.of_name(self._db, "tasks", task, self._codes.tasks)
        codes.of_name(self._db, "algorithms", algorithm, self._codes.algorithms)


def codes_of(statuses: Collection[str]) -> list[int]:
    """Return the codes of statuses, or say which is none."""
    names = [statuses] if isinstance(statuses, str) else list(statuses)
    for name in names:
        if name not in STATUSES:
            raise unknown("status", name, STATUSES)
    return [STATUSES.index(name) for name in names]
