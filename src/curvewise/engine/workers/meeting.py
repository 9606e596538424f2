"""The folder in which driver and workers meet, and those that killed drivers left."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "curvewise-run-"
_LOCK = "driver"


class Meeting:
    """A folder of this process's own; it is removed when closed.

    A driver that is killed cannot remove its folder, which holds the pickled experiment
    and maybe a whole data set. The next one does: it can lock what nobody holds.
    """

    def __init__(self) -> None:
        parent = Path(tempfile.gettempdir())
        for path in parent.glob(f"{_PREFIX}*"):
            _remove_if_left(path)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self._lock = _locked(self.path)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _locked(folder: Path) -> IO[bytes] | None:
    """Return the file whose lock says that a driver lives; None if another has it."""
    file = (folder / _LOCK).open("wb")
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    return file


def _remove_if_left(folder: Path) -> None:
    with contextlib.suppress(OSError):  # somebody else's, or gone meanwhile
        owner = folder.stat().st_uid if hasattr(os, "getuid") else None
        if fcntl is None or owner != os.getuid() or not (folder / _LOCK).exists():
            return
        if (lock := _locked(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()
