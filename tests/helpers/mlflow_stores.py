"""MLflow's stores as MLflow wrote them, unpacked for a test, and what its client says."""

import contextlib
import gzip
import json
import math
import sqlite3
import tarfile
import warnings
from pathlib import Path

import numpy as np

import curvewise as cw
from curvewise import CurvewiseWarning

ASSETS = Path(__file__).parents[1] / "assets/foreign/mlflow"
VERSIONS = ("1.30.1", "3.17.2")
KINDS = ("db", "files")
OURS = {
    "FINISHED": "ok",
    "FAILED": "failed",
    "KILLED": "crashed",
    "RUNNING": "cancelled",
}


def database(version, folder):
    path = folder / "mlflow.db"
    path.write_bytes(gzip.decompress((ASSETS / version / "mlflow.db.gz").read_bytes()))
    return path


def files(version, folder):
    with tarfile.open(ASSETS / version / "mlruns.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder / "mlruns"


def store(version, kind, folder):
    return (database if kind == "db" else files)(version, folder)


def expected(version, kind="db"):
    """Return what MLflow says of each run that is neither deleted nor a mere parent."""
    told = json.loads((ASSETS / version / "expected.json").read_text())[kind]
    return {run["run_id"]: run for run in told if not run["name"].startswith("search-")}


def quietly(source, **stated):
    """Read a source; return its trials, and what was warned of as one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # What old versions of frames' libraries say to each other is not about MLflow.
        warnings.simplefilter("ignore", DeprecationWarning)
        trials = cw.read(source, **stated)
    assert all(issubclass(w.category, CurvewiseWarning) for w in caught)
    return trials, "\n".join(str(w.message) for w in caught)


@contextlib.contextmanager
def changed(path):
    """Open a database to change it by hand."""
    db = sqlite3.connect(path)
    yield db
    db.commit()
    db.close()


def run_folders(root):
    """Return the folders of runs by their names; those of deleted experiments too."""
    return {
        (found / "tags/mlflow.runName").read_text(): found
        for found in sorted(root.glob("[0-9]*/*"))
        if (found / "meta.yaml").exists()
    }


def n_recorded(trials):
    """Return how many scores there are."""
    everywhere = np.ones(len(trials.core.steps), bool)
    recorded = trials.core.recorded
    return sum(int(recorded.get(m, everywhere).sum()) for m in trials.metrics)


def same(value, stored):
    """Return whether a score is what MLflow says; an infinite one it says as a number."""
    if math.isnan(stored):
        return math.isnan(value)
    if math.isinf(value):
        return abs(stored) > 1e308 and (stored > 0) == (value > 0)
    return value == stored
