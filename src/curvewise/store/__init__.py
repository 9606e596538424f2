"""Keeps trials, in a SQLite file or in PostgreSQL. No other trials meet SQL.

A store can be read while it is written. One run at a time fills a SQLite file; several,
on as many machines, share a plan in PostgreSQL.
"""

from pathlib import Path

from curvewise.errors import CurvewiseError, shortened
from curvewise.store.address import is_url
from curvewise.store.base import AnyStore
from curvewise.store.sqlite import Store, is_sqlite
from curvewise.trials import Trials, must_be_trials

__all__ = ["AnyStore", "Store", "is_sqlite", "is_store", "open", "read", "write"]


def open(where: str | Path, *, create: bool = True) -> AnyStore:  # noqa: A001
    """Return the store at a path or a URL.

    Parameters
    ----------
    where : str or Path
        The path of a SQLite file, or the URL of a database of PostgreSQL such as
        ``postgresql://user@host/database?schema=moons``. There the trials are kept in
        the schema of that name, ``curvewise`` if none is given: one per experiment.
    create : bool
        Whether to make the store if it is not there.

    Examples
    --------
    >>> with open(getfixture("tmp_path") / "runs.db") as store:
    ...     len(store)
    0
    """
    if not is_url(where):
        if "://" in str(where):
            raise CurvewiseError(
                f"{shortened(where)} is no store. Pass a path, or postgresql://..."
            )
        return Store(where, create=create)
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise CurvewiseError(
            "PostgreSQL needs psycopg: pip install 'curvewise[postgres]'."
        ) from None
    from curvewise.store.postgres import PostgresStore

    return PostgresStore(str(where), create=create)


def is_store(source: object) -> bool:
    """Return whether a source is a store: a URL of PostgreSQL, or a SQLite file.

    >>> is_store("postgresql://localhost/runs"), is_store("results.csv")
    (True, False)
    """
    if isinstance(source, str | Path):
        return is_url(source) or is_sqlite(source)
    return False


def read(where: str | Path) -> Trials:
    """Return the trials of a store."""
    with open(where, create=False) as store:
        return store.read()


def write(trials: Trials, where: str | Path) -> None:
    """Add trials to a store, which is made if it is not there."""
    must_be_trials(trials)  # before a file is made
    with open(where) as store:
        store.write(trials)
