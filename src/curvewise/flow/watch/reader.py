"""Reads a store a little at a time: what has come, and what was replaced.

What has come has a larger id than all before. What was replaced has only a later
revision, and is found by going through all trials. That is done at once when a commit has
brought nothing new, for then it has replaced something; and otherwise rarely, for a commit
may do both.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from curvewise import store as stores
from curvewise.errors import CurvewiseError, NoStoreError, shortened
from curvewise.flow.status import idle_seconds
from curvewise.store import AnyStore
from curvewise.store.address import is_url, shown_store
from curvewise.store.locks import is_locked
from curvewise.store.news import News

_SHORT = 0.05  # seconds that a look reads,
_LONG = 0.25  # and the first ones, which have much to read
_SMALLEST, _LARGEST = 500, 100_000  # ids in a stretch
_RARELY = 300.0  # seconds between searches for what nobody expects to find


class AnotherStoreError(Exception):
    """What was seen is not there any more: somebody has begun anew."""


class _Search:
    """A search for what was replaced after one revision and up to another."""

    def __init__(self, since: int, revision: int, last: int, brought: int) -> None:
        self.since, self.revision, self.last = since, revision, last
        self.brought = brought
        self.at = 0


class Reader:
    """Remembers what of a store was seen."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stretch = 4 * _SMALLEST
        self._last = self._newest = 0
        self._has_caught_up = False
        self._revision = 0
        # Everything replaced up to the first of these revisions was seen; and up to the
        # second, unless a commit has also brought something new. Since the latter, so many
        # commits have brought something new, the last of them `_counted`.
        self._sure = self._likely = -1
        self._brought = self._counted = 0
        self._search: _Search | None = None
        self._searched = clock()

    @property
    def ahead(self) -> int:
        """How many ids there are that were not looked at."""
        return self._newest - self._last

    @property
    def is_new(self) -> bool:
        """Whether all that there is was never read to its end so far."""
        return not self._has_caught_up

    @property
    def is_busy(self) -> bool:
        """Whether there is more to read than fitted into the last look."""
        return self.ahead > 0 or self._search is not None

    @property
    def is_sure(self) -> bool:
        """Whether all was seen that there was at the last look."""
        return not self.is_busy and self._sure == self._revision

    def search(self) -> None:
        """Look for what was replaced next time, as if it had not been done for long."""
        self._searched = self._clock() - _RARELY

    def read(
        self, store: AnyStore, *, with_details: bool
    ) -> Iterator[tuple[News, bool]]:
        """Yield news and whether they replace what was there, for a short time."""
        end = self._clock() + (_LONG if self.is_new else _SHORT)
        while True:
            read = partial(store.news, self._last, most=self._stretch)
            news = self._timed(partial(read, with_details=with_details))
            self._note(news)
            if len(news):
                yield news, False
            if not self.ahead or self._clock() > end:
                break
        self._has_caught_up = self._has_caught_up or not self.ahead
        if not self.ahead:
            yield from self._replaced(store, end, with_details)

    def _note(self, news: News) -> None:
        self._refuse_another(news)
        if self._sure < 0:
            self._sure = self._likely = self._counted = news.revision
        self._last, self._newest = news.last, news.newest
        self._revision = news.revision
        later = news.revisions[news.revisions > self._counted]
        if len(later):
            self._brought += len(later)
            self._counted = int(later[-1])

    def _refuse_another(self, news: News) -> None:
        if news.newest < self._last or news.revision < self._revision:
            raise AnotherStoreError

    # --- what was replaced -------------------------------------------------------------

    def _replaced(
        self, store: AnyStore, end: float, with_details: bool
    ) -> Iterator[tuple[News, bool]]:
        if self._search is None:
            self._search = self._begun()
        while self._search is not None:
            search = self._search
            most = min(4 * self._stretch, search.last - search.at)
            read = partial(store.news, search.at, most=most, since=search.since)
            news = self._timed(partial(read, with_details=with_details))
            self._refuse_another(news)
            if len(news):
                yield news, True
            search.at += most
            if search.at >= search.last:
                self._end(search)
            if self._clock() > end:
                return

    def _begun(self) -> "_Search | None":
        """Return a search, if there may be something to find."""
        if self._revision - self._likely > self._brought:
            since = self._likely
        else:
            self._likely, self._brought = self._revision, 0
            is_due = self._clock() - self._searched >= _RARELY
            if not is_due or self._sure == self._revision:
                return None
            since = self._sure
        if not self._last:
            return None
        return _Search(since, self._revision, self._last, self._brought)

    def _end(self, search: "_Search") -> None:
        if search.since == self._sure:
            self._sure, self._searched = search.revision, self._clock()
        self._likely, self._brought = search.revision, self._brought - search.brought
        self._search = None

    def _timed(self, read: Callable[[], News]) -> News:
        """Return what was read, and read more next time if that was quick."""
        begin = self._clock()
        news = read()
        took = self._clock() - begin
        if took < _SHORT / 2 and self.ahead:
            self._stretch = min(2 * self._stretch, _LARGEST)
        elif took > 2 * _SHORT:
            self._stretch = max(self._stretch // 2, _SMALLEST)
        return news


# --- A store that is opened for a moment at a time, and only read ----------------------


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
        """Return the store, for one look."""
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
