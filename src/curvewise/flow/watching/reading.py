"""Reads a store a little at a time: what has come, and what was replaced.

What has come has a larger id than all before. What was replaced has only a later
revision, and is found by going through all trials. That is done at once when a commit has
brought nothing new, for then it has replaced something; and otherwise rarely, for a commit
may do both.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

from curvewise.store import AnyStore
from curvewise.store.news import News

_SHORT = 0.05  # seconds that a look reads,
_LONG = 0.25  # and the first ones, which have much to read
_SMALLEST, _LARGEST = 500, 100_000  # ids in a stretch
_RARELY = 300.0  # seconds between searches for what nobody expects to find


class AnotherStoreError(Exception):
    """What was seen is not there any more: somebody has begun anew."""


class Reader:
    """Remembers what of a store was seen.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

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
        """Yield news and whether they replace what was there, for a short time.

        Raises
        ------
        AnotherStoreError
            If the store has less than was seen.
        """
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


class _Search:
    """A search for what was replaced after one revision and up to another."""

    def __init__(self, since: int, revision: int, last: int, brought: int) -> None:
        self.since, self.revision, self.last = since, revision, last
        self.brought = brought
        self.at = 0
