"""A store in one SQLite file: one writer, any number of readers meanwhile."""

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from curvewise._version import __version__
from curvewise.errors import CurvewiseError, shortened
from curvewise.store import codes, reading, schema, writing
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.columns import Details
from curvewise.trials.trial import Key

_MAGIC = b"SQLite format 3\0"
_WAIT_SECONDS = 30.0
_BLOCK = 50_000


class Store:
    """Trials in a SQLite file.

    Parameters
    ----------
    path : str or Path
        Where the file is, or will be.
    create : bool
        Whether to make it if it is not there.

    Notes
    -----
    Write-ahead logging lets readers work while one process writes; a batch is either in
    the file or not, whatever kills the process.

    Examples
    --------
    >>> from curvewise import Trial, Trials
    >>> path = getfixture("tmp_path") / "runs.db"
    >>> with Store(path) as store:
    ...     store.write(Trials([Trial("moons", "svm", 0, {"accuracy": 0.9})]))
    ...     len(store.read())
    1
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        _refuse_what_is_no_store(self.path, create=create)
        with self._explained():
            self._db = _connected(self.path)
            try:
                if create and self._is_blank():
                    self._make()
                self._check_version()
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._seen = self._data_version()  # before the codes, or one is missed
                self._codes = codes.load(self._db)
            except BaseException:
                self._db.close()
                raise

    def _is_blank(self) -> bool:
        return self._db.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def _make(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        with self._transaction():
            if not self._is_blank():
                return  # another process was faster
            for statement in schema.TABLES.split(";\n"):
                self._db.execute(statement)
            facts = [("version", str(schema.VERSION)), ("made by", __version__)]
            self._db.executemany("INSERT INTO curvewise VALUES (?, ?)", facts)

    def _check_version(self) -> None:
        has = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'curvewise'"
        if self._db.execute(has).fetchone() is None:
            raise CurvewiseError(
                f"{self.path} is a SQLite file but no store of curvewise. "
                f"Pass the path of a store, or of a file that does not exist yet."
            )
        found = self._db.execute(
            "SELECT value FROM curvewise WHERE key = 'version'"
        ).fetchone()
        if found is None or found[0] != str(schema.VERSION):
            raise CurvewiseError(
                f"{self.path} is a store of version {found[0] if found else 'unknown'}; "
                f"this curvewise ({__version__}) knows version {schema.VERSION}. "
                f"Open it with the curvewise that wrote it, or a newer one."
            )

    # --- writing -----------------------------------------------------------------------

    def write(self, trials: Trials, *, batch: int = 1000) -> None:
        """Add trials; one whose key is there already replaces it.

        Parameters
        ----------
        trials : Trials
        batch : int
            How many go into one commit.
        """
        must_be_trials(trials)
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise CurvewiseError(f"batch is {batch!r}. Pass a whole number from 1 on.")
        with self._explained():
            # A block of rows at a time, so that memory does not grow with the trials.
            block = max(_BLOCK // batch, 1) * batch
            for start in range(0, len(trials), block):
                whole = len(trials) <= block
                rows = self._encoded(trials if whole else trials[start : start + block])
                while some := list(itertools.islice(rows, batch)):
                    self._commit(some)

    def _commit(self, rows: list[writing.Row]) -> None:
        with self._transaction():
            revision = (self._next_revision(),)
            self._db.executemany(schema.UPSERT, [row + revision for row in rows])

    def _encoded(self, trials: Trials) -> Iterator[writing.Row]:
        try:
            with self._transaction():  # new names come first, in a commit of their own
                self._refresh()
                return writing.encode(self._db, trials, self._codes)
        except BaseException:
            self._codes = codes.load(self._db)
            raise

    def _next_revision(self) -> int:
        self._db.execute(
            "INSERT INTO curvewise VALUES ('revision', 1) "
            "ON CONFLICT (key) DO UPDATE SET value = value + 1"
        )
        return self._revision()

    def _revision(self) -> int:
        """Return how many batches were committed so far."""
        found = self._db.execute("SELECT value FROM curvewise WHERE key = 'revision'")
        row = found.fetchone()
        return int(row[0]) if row else 0

    def _refresh(self) -> None:
        # Another process may have added names since; codes must be the file's. Inside
        # the transaction, so that none is added between the look and the writing.
        if (now := self._data_version()) != self._seen:
            self._seen, self._codes = now, codes.load(self._db)

    def _data_version(self) -> int:
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    # --- reading -----------------------------------------------------------------------

    def read(self) -> Trials:
        """Return all trials; params, labels, counts and the like are read when needed."""
        with self._explained(), self._snapshot():
            known = codes.load(self._db)
            last, revision = self._last_id(), self._revision()
            core = reading.core(self._db, known, last)
        path = self.path.absolute()  # somebody may change the folder before asking

        def details() -> Details:
            with Store(path, create=False) as again:
                return again._details(last, revision)

        return Trials.from_columns(
            known.tasks,
            known.algorithms,
            reading.meanings(known, list(core.values)),
            core,
            details,
            origin=str(self.path),
        )

    def _details(self, last: int, revision: int) -> Details:
        with self._explained(), self._snapshot():
            changed = self._db.execute(
                "SELECT count(*) FROM trials WHERE id <= ? AND revision > ?",
                (last, revision),
            ).fetchone()[0]
            if changed:
                raise CurvewiseError(
                    f"{changed} trials in {self.path} were replaced since it was read. "
                    f"Read the store again."
                )
            return reading.details(self._db, codes.load(self._db), last)

    def _last_id(self) -> int:
        return int(
            self._db.execute("SELECT ifnull(max(id), 0) FROM trials").fetchone()[0]
        )

    def keys(self) -> set[Key]:
        """Return (task, algorithm, number) of every trial in the store."""
        with self._explained(), self._snapshot():
            known = codes.load(self._db)
            tasks = {code: name for name, code in known.tasks.items()}
            algorithms = {code: name for name, code in known.algorithms.items()}
            rows = self._db.execute("SELECT task, algorithm, number FROM trials")
            return {(tasks[t], algorithms[a], n) for t, a, n in rows}

    def __len__(self) -> int:
        with self._explained():
            return int(self._db.execute("SELECT count(*) FROM trials").fetchone()[0])

    # --- care --------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            raise _explanation(self.path, problem) from problem

    def close(self) -> None:
        """Close the file."""
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


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as problem:
        db.close()
        shut_out = any(w in str(problem) for w in ("readonly", "unable to open"))
        busy = path.with_name(path.name + "-wal").exists()
        if not shut_out or busy or not path.exists():
            raise
        # A colleague's folder that we may not write to: nobody is writing there now.
        uri = f"{path.absolute().as_uri()}?immutable=1"
        db = sqlite3.connect(uri, uri=True, isolation_level=None)
    return db


def is_sqlite(path: str | Path) -> bool:
    """Return whether a file begins as SQLite files do."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):  # ValueError: no system has such a path
        return False


def _refuse_what_is_no_store(path: Path, *, create: bool) -> None:
    if path.is_dir():
        raise CurvewiseError(f"{path} is a folder. Pass the path of a store's file.")
    if not path.exists():
        if not create:
            raise CurvewiseError(f"There is no store {path}. Check the path.")
        if not path.parent.is_dir():
            raise CurvewiseError(
                f"There is no folder {path.parent} for the store {path.name}. "
                f"Make it first."
            )
    elif not is_sqlite(path) and not (create and path.stat().st_size == 0):
        raise CurvewiseError(
            f"{path} is no store: it is not a SQLite file. Pass the path of a store, or "
            f"of a file that does not exist yet."
        )


def _explanation(path: Path, problem: sqlite3.Error) -> CurvewiseError:
    text = str(problem)
    if "locked" in text or "busy" in text:
        remedy = f"Another process has been writing to it for {_WAIT_SECONDS:.0f} s."
    elif "malformed" in text or "not a database" in text or "corrupt" in text:
        remedy = "The file is damaged or cut short. Restore it from a copy."
    elif "readonly" in text or "unable to open" in text:
        remedy = "Check that you may write to the file and to its folder."
    elif "full" in text:
        remedy = "The disk is full; what was committed is safe."
    elif isinstance(problem, sqlite3.ProgrammingError):
        remedy = "Open a Store in each thread, and use it before it is closed."
    else:
        remedy = "What was committed is safe."
    reason = shortened(text, 200).rstrip(".")
    return CurvewiseError(f"The store {path}: {reason}. {remedy}")
