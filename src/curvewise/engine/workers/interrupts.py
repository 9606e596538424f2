"""Ctrl-C once: finish what runs and stop. Twice: stop at once."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from curvewise.engine.workers.queue import Stop


@contextlib.contextmanager
def draining(stop: Stop) -> Iterator[None]:
    """Turn the first Ctrl-C into `stop.asked`; a second raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True
        sys.stderr.write(
            "\ncurvewise: finishing the trials that run; Ctrl-C again stops at once.\n"
        )

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
