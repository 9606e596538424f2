"""What lies at a path, looked at once for all who may know it."""

import contextlib
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from curvewise.errors import CurvewiseError, shortened
from curvewise.exchange.runs import LeftOut, left_out, utf8
from curvewise.text import count

_HEAD = 65_536
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies at a path: a file and its first bytes, or a folder and the files below."""

    path: Path
    is_folder: bool
    head: bytes = b""  # the first 64 kB of a file
    tables: frozenset[str] = frozenset()  # their names, where a file is of SQLite's
    # Paths of all files below a folder, relative to it, sorted; for a file, its name.
    files: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()  # folders that may not be looked into
    odd: Mapping[str, str] = field(default_factory=dict)  # names that are no UTF-8
    hollow: tuple[str, ...] = ()  # folders with nothing in them

    def named(self, *names: str) -> list[str]:
        """Return the files with one of these names, whatever their folder."""
        wanted = set(names)
        return [file for file in self.files if file.rpartition("/")[2] in wanted]

    def place(self, file: str) -> Path:
        """Return where a file of `files` is."""
        return self.path / self.odd.get(file, file) if self.is_folder else self.path

    def summary(self) -> str:
        """Return what a folder holds, for a message.

        >>> Listing(Path("x"), True, files=("a.txt", "b.txt", "c")).summary()
        "3 files (2 '.txt', 1 without an ending)"
        """
        closed = len(self.unreadable)
        shut = (
            f", and {count(closed, 'folder')} that may not be opened" if closed else ""
        )
        if not self.files:
            return f"no files{shut}"
        ends = Counter(Path(file).suffix for file in self.files).most_common(4)
        kinds = ", ".join(f"{n:,} {_ending(end)}" for end, n in ends)
        more = len(self.files) - sum(n for _, n in ends)
        rest = f", {more:,} others" if more else ""
        s = "s" if len(self.files) > 1 else ""
        return f"{len(self.files):,} file{s} ({kinds}{rest}){shut}"

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the folders that may not be opened, as something left out."""
        return left_out(self.unreadable, "without permission to look in", "folder")


def unreadable(path: Path, problem: OSError) -> CurvewiseError:
    """Return the error for a file that cannot be opened or read."""
    return CurvewiseError(
        f"{path} cannot be read: {problem.strerror}. Check it and its permissions.",
        argument="source",
        value=path,
    )


def _ending(end: str) -> str:
    return f"'{shortened(end)}'" if end else "without an ending"


def listing_at(path: Path) -> Listing:
    """Return what lies at a path that exists."""
    if path.name in ("", ".."):  # runs are called by the folder they are in
        path = path.resolve()
    if path.is_dir():
        return _folder(path)
    if not path.is_file():  # reading a pipe would wait, and could not be done twice
        raise CurvewiseError(
            f"{path} is no file but a pipe or a device. Save what comes out of it as a "
            f"file, and pass that.",
            argument="source",
            value=path,
        )
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as problem:
        raise unreadable(path, problem) from problem
    tables = frozenset[str]()
    if head.startswith(_SQLITE):
        tables = table_names(path)
    return Listing(path, is_folder=False, head=head, tables=tables, files=(path.name,))


def listing_among(paths: Sequence[Path]) -> Listing:
    """Return what lies at several paths, as if it were one folder without the rest."""
    for path in paths:
        if not path.exists():
            raise CurvewiseError(
                f"There is no file {path}. Check the path.",
                argument="source",
                value=path,
            )
    whole = _each_once(path.absolute() for path in paths)
    top = Path(os.path.commonpath([p if p.is_dir() else p.parent for p in whole]))
    if len(whole) == 1 and whole[0].is_dir():
        return listing_at(whole[0])
    files: list[str] = []
    closed: list[str] = []
    hollow: list[str] = []
    for path in whole:
        inside = path.relative_to(top).as_posix()
        if not path.is_dir():
            files.append(inside)
            continue
        before = "" if inside == "." else f"{inside}/"
        folder = _folder(path)
        closed += [f"{before}{one}" for one in folder.unreadable]
        hollow += [f"{before}{one}".rstrip("/") for one in folder.hollow]
        files += [f"{before}{folder.odd.get(name, name)}" for name in folder.files]
    return _listing(top, files, closed, hollow)


def _listing(
    top: Path, files: Iterable[str], closed: Iterable[str], hollow: Iterable[str]
) -> Listing:
    """Return a folder with what is below it, by names as they stand there."""
    names = {utf8(file): file for file in files}
    return Listing(
        top,
        is_folder=True,
        files=tuple(sorted(names)),
        unreadable=tuple(sorted(map(utf8, closed))),
        odd={name: file for name, file in names.items() if name != file},
        hollow=tuple(sorted(map(utf8, hollow))),
    )


def _each_once(paths: Iterable[Path]) -> list[Path]:
    """Return paths without second names of the same place, such as a link to the latest."""
    real: dict[str, Path] = {}
    for path in paths:
        place = os.path.realpath(path)
        if place not in real or str(path) == place:
            real[place] = path
    return list(real.values())


class _Homes:
    """Folders that are looked through, with all below them."""

    def __init__(self) -> None:
        self._folders: set[Path] = set()
        self._above: set[Path] = set()

    def add(self, folder: Path) -> None:
        """Note a folder that is looked through."""
        self._folders.add(folder)
        self._above.update(folder.parents)

    def cover(self, path: Path) -> bool:
        """Return whether a path is in one of the folders, or has one of them in it."""
        return path in self._above or not self._folders.isdisjoint(
            (path, *path.parents)
        )


def _folder(path: Path) -> Listing:
    files: list[str] = []
    closed: list[str] = []
    hollow: list[str] = []
    homes = _Homes()
    homes.add(path.resolve())
    waiting = [(str(path), "")]
    while waiting:
        folder, before = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                inside = list(entries)
        except OSError:
            closed.append(before.rstrip("/") or ".")
            continue
        if not inside:
            hollow.append(before.rstrip("/"))
        for entry in inside:
            kind = _kind(entry, homes)
            if kind == "folder":
                waiting.append((entry.path, f"{before}{entry.name}/"))
            elif kind == "file":
                files.append(f"{before}{entry.name}")
    return _listing(path, files, closed, hollow)


def _kind(entry: os.DirEntry[str], homes: _Homes) -> str:
    """Return "file", "folder", or nothing for what is not looked at.

    Pipes and devices would keep a reader waiting. A link to nothing is called a file:
    whoever would read it says what is wrong.
    """
    try:
        if entry.is_symlink() and _is_second_name(Path(entry.path), homes):
            return ""
        if entry.is_dir():
            return "folder"
        return "file" if entry.is_file() or not Path(entry.path).exists() else ""
    except OSError:
        return "file"


def _is_second_name(link: Path, homes: _Homes) -> bool:
    """Return whether a link leads to what is looked at anyway, or around in a circle.

    A link to a folder elsewhere becomes one of the homes.
    """
    if not link.exists():
        return False
    real = link.resolve()
    if homes.cover(real):
        return True
    if real.is_dir():
        homes.add(real)
    return False


# --- Other tools' SQLite databases, opened to look and never to touch ------------------


Connection = sqlite3.Connection  # for those who may not import sqlite3
_PATIENCE = 5.0  # seconds to wait for somebody who is writing


def table_names(path: Path) -> frozenset[str]:
    """Return the names of the tables of an SQLite file."""
    with opened(path) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return frozenset(name for (name,) in rows)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading, in one transaction: all rows are of one moment.

    Whoever is writing goes on; what they commit meanwhile is not seen. A database that
    is damaged, or that somebody keeps for themselves, is an error that says so.
    """
    try:
        with contextlib.closing(_connected(path)) as database:
            database.execute("BEGIN")
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        # SQLite quotes damaged texts in its own errors, which Python then cannot decode.
        reason = f"{path} {_reason(problem)}"
        raise CurvewiseError(reason, argument="source", value=path) from problem


def _connected(path: Path) -> sqlite3.Connection:
    address = f"file:{quote(str(path.resolve()))}"
    database = _tried(f"{address}?mode=ro")
    try:
        database.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as problem:
        if "unable to open" not in str(problem) and "readonly" not in str(problem):
            database.close()
            raise
        # In a folder that may not be written, a journal cannot be opened: take what is in
        # the file itself.
        database.close()
        database = _tried(f"{address}?mode=ro&immutable=1")
    return database


def _tried(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)


def _reason(problem: Exception) -> str:
    text = str(problem)
    if "locked" in text or "busy" in text:
        return (
            f"is locked: somebody is writing to it and did not finish in {_PATIENCE:g} s. "
            f"Try again, or copy the file and read the copy."
        )
    signs = ("malformed", "not a database", "disk I/O", "decode")
    if any(sign in text for sign in signs):
        return (
            f"is damaged: {shortened(text)}. Restore it from a copy, or rescue what is in "
            f"it with: sqlite3 FILE .recover | sqlite3 rescued.db"
        )
    return f"cannot be read: {shortened(text, 200)}. Is it of a version we do not know?"
