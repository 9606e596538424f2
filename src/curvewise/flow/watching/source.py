"""A store that is opened for a moment at a time, and only read."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curvewise import store as stores
from curvewise.errors import CurvewiseError, NoStoreError, shortened
from curvewise.flow.sources import shown_store
from curvewise.flow.standing import idle_seconds
from curvewise.store import AnyStore
from curvewise.store.address import is_url
from curvewise.store.driver_lock import is_locked


class Source:
    """Where trials come from: a SQLite file, or a database of PostgreSQL.

    A file is opened for each look and closed again. Whoever closes it last moves its log
    into it: a watcher that kept it open would leave a run's last trials in the log, and
    who copies the file without its log would lose them. A server is asked over one
    connection.

    Parameters
    ----------
    where : str
        Path or URL.
    """

    def __init__(self, where: str) -> None:
        if "://" in where and not is_url(where):
            raise CurvewiseError(
                f"{shortened(where)} is no store. Pass a path, or postgresql://..."
            )
        self._where = (
            where if is_url(where) else str(Path(where).expanduser().absolute())
        )
        self._connection: AnyStore | None = None
        self._path = None if is_url(where) else Path(self._where)

    @property
    def name(self) -> str:
        """What people call it; without a password, and without folders."""
        return self._path.name if self._path else shown_store(self._where)

    @contextmanager
    def opened(self) -> Iterator[AnyStore]:
        """Return the store, for one look.

        Raises
        ------
        NoStoreError
            If it is not there, or is still being made.
        """
        if self._path is not None:
            self._refuse_unfinished(self._path)
            with stores.open(self._where, create=False) as store:
                yield store.refuse_writes()
            return
        if self._connection is None:
            self._connection = stores.open(self._where, create=False).refuse_writes()
        yield self._connection

    @staticmethod
    def _refuse_unfinished(path: Path) -> None:
        """Raise as if there were no file while a run is only about to fill it."""
        if not path.parent.is_dir():
            raise CurvewiseError(
                f"There is no folder {path.parent} in which {path.name} could appear. "
                f"Check the path."
            )
        if path.is_file() and path.stat().st_size == 0:
            raise NoStoreError(f"There is no store {path} yet.")

    def stamp(self) -> Any:
        """Return what stays the same while nothing is written; None where nobody knows.

        Only of a file without a log, which nobody has open: the times of others are not
        to be relied on.
        """
        if self._path is None or self._log.exists():
            return None
        try:
            now = self._path.stat()
        except OSError:
            return None
        return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns

    def identity(self) -> Any:
        """Return what changes when another file takes the place of this one."""
        if self._path is None:
            return None
        try:
            now = self._path.stat()
        except OSError:  # gone a moment ago, as the next look will tell
            return None
        return now.st_dev, now.st_ino

    @property
    def _log(self) -> Path:
        return Path(f"{self._where}-wal")

    def effort(self) -> float:
        """Return what a look has cost, as seconds on a clock.

        Of a file, what this thread has computed: where others compute, too, it waits
        longer than it works. What a server has computed, nobody here knows: all the time.
        """
        return time.monotonic() if self._path is None else time.thread_time()

    def is_driven(self, store: AnyStore | None) -> bool | None:
        """Return whether a run is filling it; None where nobody knows."""
        if self._path is not None:
            return is_locked(self._path)
        return None if store is None else store.is_driven()

    def idle(self) -> float | None:
        """Return how many seconds ago a file was written to; None for a server."""
        return None if self._path is None else idle_seconds(self._where)

    def cleaned(self, problem: CurvewiseError) -> str:
        """Return what went wrong without the folders that the store is in."""
        text = str(problem)
        if self._path is None:
            return text
        return text.replace(self._where, self.name).replace(
            str(self._path.parent), "its folder"
        )

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
