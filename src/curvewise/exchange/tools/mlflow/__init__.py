"""MLflow: its database, its store of files, and frames of `mlflow.search_runs`.

The experiment is the task, unless a label such as ``params.dataset`` names one. Tags that
MLflow sets for itself (user, source, commit, ...) are not read, but for the name of a run
and its parent, which becomes the label "parent".
"""

from dataclasses import replace

import pyarrow as pa

from curvewise.exchange.runs import Asked, Runs
from curvewise.exchange.tools.mlflow import database, files, frame
from curvewise.exchange.tools.seeing import Seen

_FILE = "mlflow.db"  # what MLflow itself calls the database beside its mlruns


def fits_path(seen: Seen) -> bool:
    """Return whether this is a store of MLflow's: a database, or a folder of runs."""
    if not seen.is_folder:
        return seen.tables >= database.TABLES
    return _FILE in seen.files or files.holds_runs(seen)


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return the runs of a store, each metric with all its steps."""
    if not seen.is_folder:
        return database.read(seen.path, asked)
    if not files.holds_runs(seen):
        return database.read(seen.path / _FILE, asked)
    found = files.read(seen, asked)
    if _FILE not in seen.files:
        return found
    beside = f"{_FILE} lies there too, and was not read: pass it to read its runs."
    return replace(found, remarks=(*found.remarks, beside))


def fits_table(table: pa.Table) -> bool:
    """Return whether a table came from `mlflow.search_runs`."""
    return frame.fits(table)


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the runs of a table of `mlflow.search_runs`, each with its last scores."""
    return frame.read(table, name, asked)
