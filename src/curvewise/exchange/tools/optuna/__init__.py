"""Optuna: its SQLite storage, its journal, its frames, and a study in memory.

A study is an algorithm, and a trial of it a trial. Numbers of trials only count: trial 3 of
one study and trial 3 of another are no pair.
"""

from typing import Any

import pyarrow as pa

from curvewise.exchange.runs import Asked, Runs
from curvewise.exchange.tools.optuna import (
    database,
    frame,
    journal,
    memory,
)
from curvewise.exchange.tools.optuna.studies import as_runs, refuse_step
from curvewise.exchange.tools.seeing import Seen


def fits_path(seen: Seen) -> bool:
    """Return whether this is a storage of Optuna's: a database or a journal."""
    if seen.is_folder:
        return False
    return seen.tables >= database.TABLES or journal.fits(seen.head)


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return the trials of all studies of a storage."""
    refuse_step(asked)
    if seen.tables:
        kept = database.read(seen.path)
        return as_runs(kept, f"Optuna storage {seen.path.name}", asked)
    kept = journal.read(seen.path)
    return as_runs(kept, f"Optuna journal {seen.path.name}", asked)


def fits_table(table: pa.Table) -> bool:
    """Return whether a table came from `study.trials_dataframe()`."""
    return frame.fits(table)


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the trials of a table of `study.trials_dataframe()`."""
    refuse_step(asked)
    return frame.read(table, name, asked)


def fits_object(source: object) -> bool:
    """Return whether this is a study, or its frame with columns of two levels."""
    return memory.is_study(source) or frame.has_two_levels(source)


def read_object(source: Any, asked: Asked) -> Runs:
    """Return the trials of a study in memory."""
    refuse_step(asked)
    if memory.is_study(source):
        kept = memory.read(source)
        return as_runs(kept, f"Optuna study {kept.studies[0].name}", asked)
    return frame.read(*frame.on_one_level(source), asked)
