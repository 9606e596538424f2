"""One thread that looks at the store for all who watch, and keeps the latest moment."""

import asyncio
import json
import secrets
import threading
import time
import traceback
from dataclasses import replace
from typing import Any

from curvewise.flow.watching import Moment, Watcher, forecast
from curvewise.stats.bands import half_width

_HEARTBEAT = 5.0  # seconds after which a moment is told that says nothing new
_UNWATCHED = 5.0  # seconds between looks, at least, while nobody watches


class Lookout:
    """Looks again and again; whoever asks gets the latest moment, and never an old one.

    Parameters
    ----------
    watcher : Watcher

    Attributes
    ----------
    number : int
        Of the latest moment.
    text : str
        The latest moment as JSON.
    boot : str
        Another one after each start: numbers begin anew then.
    has_ended : bool
        Whether nothing more will come.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher, self.boot = watcher, secrets.token_hex(4)
        self.number, self.text, self.watching = 0, "", 0
        self._told: Moment | None = None
        self._told_at, self._glanced = 0.0, -_UNWATCHED
        self._changed = asyncio.Event()
        self._wanted = threading.Event()
        self.has_ended = False
        self._foreseeing: threading.Thread | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._post(watcher.moment())

    # --- in the server's loop ----------------------------------------------------------

    def start(self) -> None:
        """Begin to look; called in the loop that serves."""
        self.loop = asyncio.get_running_loop()
        # As daemons: Ctrl-C does not wait for a server that does not answer.
        threading.Thread(target=self._look_on, name="lookout", daemon=True).start()

    def stop(self) -> None:
        """Look no more, and let everybody go."""
        self.has_ended = True
        self._wanted.set()
        self._changed.set()

    async def after(self, number: int) -> int:
        """Wait for another moment than this one, or the end; return its number."""
        while self.number == number and not self.has_ended:
            await self._changed.wait()
        return self.number

    def come(self) -> None:
        """Note that somebody watches from now on."""
        self.watching += 1
        self._wanted.set()  # who has slept looks at once

    def leave(self) -> None:
        """Note that somebody has gone."""
        self.watching -= 1

    def glance(self) -> str:
        """Return the latest moment to somebody who does not stay."""
        self._glanced = time.monotonic()
        self._wanted.set()
        return self.text

    def _post(self, moment: Moment) -> None:
        self._told, self._told_at = moment, time.monotonic()
        self.number += 1
        self.text = as_json(moment.to_dict() | {"boot": self.boot})
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    # --- in the thread that looks ------------------------------------------------------

    def _look_on(self) -> None:
        half_width(2, kind="anytime")  # loads what takes a while, before somebody waits
        while not self.has_ended:
            moment = self._looked()
            if self._is_news(moment) and self.loop is not None:
                try:
                    self.loop.call_soon_threadsafe(self._post, moment)
                except RuntimeError:  # the loop has ended a moment ago
                    return
            time.sleep(self.watcher.pause())
            if not self._is_watched:
                self._wanted.clear()
                self._wanted.wait(_UNWATCHED)

    def _looked(self) -> Moment:
        try:
            moment = self.watcher.look()
            self._foresee()
        except Exception as problem:  # nobody would see that the page stands still
            traceback.print_exc()
            trouble = f"The store could not be looked at: {type(problem).__name__}."
            return replace(self.watcher.moment(), trouble=trouble)
        return moment

    @property
    def _is_watched(self) -> bool:
        return self.watching > 0 or time.monotonic() - self._glanced < _UNWATCHED

    def _is_news(self, moment: Moment) -> bool:
        if time.monotonic() - self._told_at > _HEARTBEAT or self._told is None:
            return True
        return _lasting(moment) != _lasting(self._told)

    def _foresee(self) -> None:
        """Find out when it will be known, in a thread of its own: it may take long."""
        if self._foreseeing is not None and self._foreseeing.is_alive():
            return
        begin = time.monotonic()
        inquiry = self.watcher.inquiry()
        if inquiry is None:
            return

        def answer() -> None:
            found = forecast(inquiry)
            self.watcher.answer(found, time.monotonic() - begin)

        self._foreseeing = threading.Thread(target=answer, name="forecast", daemon=True)
        self._foreseeing.start()


def _lasting(moment: Moment) -> Moment:
    """Return a moment without what changes with every second."""
    return replace(moment, idle=None, rate=None, seconds_left=None)


def as_json(value: Any) -> str:
    r"""Return a value as JSON that can be in any text, also in a page.

    >>> print(as_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
