"""Keeps trials: one SQLite file, readable while it is written. Nothing else knows SQL."""

from pathlib import Path

from curvewise.store.sqlite import Store, is_sqlite
from curvewise.trials import Trials, must_be_trials

__all__ = ["Store", "is_sqlite", "read", "write"]


def read(path: str | Path) -> Trials:
    """Return the trials of a store."""
    with Store(path, create=False) as store:
        return store.read()


def write(trials: Trials, path: str | Path) -> None:
    """Add trials to a store, which is made if it is not there."""
    must_be_trials(trials)  # before a file is made
    with Store(path) as store:
        store.write(trials)
