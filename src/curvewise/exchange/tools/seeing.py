"""What lies at a path, looked at once for all who may know it."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from curvewise.errors import CurvewiseError, shortened

_HEAD = 65_536
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Seen:
    """A file with its first bytes, or a folder with the files below it.

    Parameters
    ----------
    path : Path
    is_folder : bool
    head : bytes
        The first 64 kB of a file; empty for a folder.
    tables : frozenset of str
        The names of the tables, where the file is an SQLite database.
    files : tuple of str
        Paths of all files below a folder, relative to it, sorted; for a file, its name.
    unreadable : tuple of str
        Folders that may not be looked into.
    """

    path: Path
    is_folder: bool
    head: bytes = b""
    tables: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    def named(self, *names: str) -> list[str]:
        """Return the files with one of these names, whatever their folder."""
        wanted = set(names)
        return [file for file in self.files if file.rpartition("/")[2] in wanted]

    def place(self, file: str) -> Path:
        """Return where a file of `files` is."""
        return self.path / file if self.is_folder else self.path

    def summary(self) -> str:
        """Return what a folder holds, for a message.

        >>> Seen(Path("x"), True, files=("a.txt", "b.txt", "c")).summary()
        "3 files (2 '.txt', 1 without an ending)"
        """
        if not self.files:
            return "no files"
        ends = Counter(Path(file).suffix for file in self.files).most_common(4)
        kinds = ", ".join(f"{n:,} {_ending(end)}" for end, n in ends)
        more = len(self.files) - sum(n for _, n in ends)
        rest = f", {more:,} others" if more else ""
        s = "s" if len(self.files) > 1 else ""
        return f"{len(self.files):,} file{s} ({kinds}{rest})"


def _ending(end: str) -> str:
    return f"'{shortened(end)}'" if end else "without an ending"


def seen_at(path: Path) -> Seen:
    """Return what lies at a path that exists."""
    try:
        if path.is_dir():
            return _folder(path)
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as problem:
        raise CurvewiseError(
            f"{path} cannot be read: {problem.strerror}. Check its permissions."
        ) from problem
    tables = frozenset[str]()
    if head.startswith(_SQLITE):
        from curvewise.exchange.tools.databases import table_names

        tables = table_names(path)
    return Seen(path, is_folder=False, head=head, tables=tables, files=(path.name,))


def _folder(path: Path) -> Seen:
    files: list[str] = []
    closed: list[str] = []
    base = str(path)

    def refused(problem: OSError) -> None:
        closed.append(os.path.relpath(problem.filename, base))

    for folder, below, names in os.walk(base, onerror=refused):
        below.sort()
        inside = os.path.relpath(folder, base).replace(os.sep, "/")
        before = "" if inside == "." else f"{inside}/"
        files += [f"{before}{name}" for name in names]
    return Seen(
        path,
        is_folder=True,
        files=tuple(sorted(files)),
        unreadable=tuple(sorted(closed)),
    )
