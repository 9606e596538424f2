"""What is PostgreSQL's own: URLs, schemas, what servers answer."""

import sys
import time
import traceback
from urllib.parse import quote

import numpy as np
import pytest
from postgres import GUARDED, server_url
from support import refused

from curvewise import CurvewiseError, Trial, Trials, store
from curvewise.errors import NoStoreError
from curvewise.store.address import address

ONE = Trials([Trial("t", "a", 0, {"loss": 1.0})])


# --- the address -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:S3cret@host/db",
        "postgres://ann:S3cret@host:5432/db?schema=moons",
        "postgresql://ann:S3cret%40%2F@host/db",
        "postgresql://ann:S3cret@S3cret@host/db",
        "postgresql://ann:S3cret/S3cret@host/db?sslmode=require",
        "postgresql://ann:S3cret?S3cret@host/db?schema=moons",
        "postgresql://:S3cret@/db",
        "postgresql:///db?host=/tmp&user=ann&password=S3cret",
        "postgresql:///db?sslpassword=S3cret&schema=moons",
    ],
)
def test_a_password_is_not_shown(url):
    where = address(url)
    assert "S3cret" not in where.shown + repr(where)
    assert where.schema == ("moons" if "moons" in url else "curvewise")
    assert "S3cret" in where.url
    assert "schema" not in where.url
    said = f'connection to "{where.url}" failed: user ann, password S3cret'
    assert "S3cret" not in where.cleaned(said)


def test_schemas_that_postgresql_would_cut_short():
    for schema in ("", "x" * 64, "ä" * 32):
        url = f"postgresql://host/db?schema={quote(schema)}"
        assert refused(address, url) == ("schema", schema)


def test_psycopg_is_asked_for_only_where_it_is_needed(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    store.write(ONE, tmp_path / "a.db")
    words = r"PostgreSQL needs psycopg: pip install 'curvewise\[postgres\]'"
    with pytest.raises(CurvewiseError, match=words):
        store.open("postgresql://localhost/db")


# --- servers that say no -----------------------------------------------------------------


def refused_by_server(url, words, secret="S3cret"):
    began = time.monotonic()
    with pytest.raises(CurvewiseError, match=words) as caught:
        store.write(ONE, url)
    assert time.monotonic() - began < 5
    assert secret not in "".join(traceback.format_exception(caught.value))


def test_a_server_that_does_not_run():
    pytest.importorskip("psycopg")
    words = (
        r"ann:\*\*\*@127\.0\.0\.1:1/db.*refused.*Check host and port, and that the se"
    )
    refused_by_server("postgresql://ann:S3cret@127.0.0.1:1/db", words)
    words = "resolve host.*Check host and port"
    refused_by_server("postgresql://ann:S3cret@host:port/db", words)
    refused_by_server("postgresql://ann:x@S3cret@localhost:1/db", words)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:S3cret@host/db?nonsense=1",
        "postgresql://ann:S3cret@[host/db",
    ],
)
def test_a_url_that_is_none(url):
    pytest.importorskip("psycopg")
    refused_by_server(url, r"\*\*\*.*Write it as postgresql://user@host:port/database")


@pytest.mark.service
def test_users_and_databases_that_are_not_there():
    url = server_url()
    refused_by_server(
        url.replace("postgres:@", "ann:S3cret@"),
        'role "ann" does not exist.*Check the user',
    )
    words = 'database "nowhere" does not exist.*Make the database first'
    refused_by_server(url.replace("/postgres?", "/nowhere?"), words)
    words = "password authentication failed.*Check user and password"
    refused_by_server(url.replace("postgres:@", "guarded:S3cret@"), words)


@pytest.mark.service
def test_a_user_who_may_not_make_a_schema():
    url = server_url().replace("postgres:@", f"guarded:{quote(GUARDED)}@")
    words = "permission denied.*name a schema of your own with [?]schema="
    refused_by_server(url + "&schema=not_mine", words, GUARDED)


@pytest.mark.service
def test_a_database_that_cannot_hold_every_name(postgres_url):
    import psycopg

    with psycopg.connect(server_url(), autocommit=True) as db:
        db.execute(
            "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'"
        )
        try:
            words = "has encoding LATIN1.*Make one with encoding UTF8"
            refused_by_server(server_url().replace("/postgres?", "/latin?"), words)
        finally:
            db.execute("DROP DATABASE latin WITH (FORCE)")


@pytest.mark.service
def test_a_schema_of_somebody_else_is_left_alone(postgres_url):
    import psycopg

    where = address(postgres_url)
    with psycopg.connect(where.url, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {where.schema}")
        with pytest.raises(NoStoreError, match=r"There is no store at .*Check the URL"):
            store.read(postgres_url)
        db.execute(f"CREATE TABLE {where.schema}.mine (x INTEGER)")
        words = rf"schema {where.schema} at .* has tables but no store of curvewise"
        with pytest.raises(CurvewiseError, match=words):
            store.write(ONE, postgres_url)
        db.execute(f"DROP TABLE {where.schema}.mine")
    store.write(ONE, postgres_url)  # an empty schema is as good as none
    assert store.read(postgres_url) == ONE


# --- what PostgreSQL has no room for, unless we make it ----------------------------------


@pytest.mark.service
def test_schemas_are_stores_of_their_own(postgres_url):
    odd = postgres_url + quote(' "odd" ünï')
    store.write(ONE, odd)
    store.write(Trials([Trial("u", "b", 1, {"loss": 2.0})]), postgres_url)
    assert store.read(odd) == ONE
    assert store.read(postgres_url).tasks == ("u",)


@pytest.mark.service
def test_names_and_lists_longer_than_an_index_holds(postgres_url):
    rng = np.random.default_rng(0)
    name = "".join(map(chr, rng.integers(0x4E00, 0x9FFF, 5000)))
    ids = rng.permutation(20_000)
    long = Trials(
        Trial(
            name, "a", i, {"loss": 1.0}, correct=rng.random(20_000) < 0.5, examples=ids
        )
        for i in range(2)
    )
    store.write(long, postgres_url)
    store.write(long, postgres_url)
    assert store.read(postgres_url) == long
    with store.open(postgres_url) as s:
        sets = s._db.execute("SELECT count(*) FROM example_sets").fetchone()
        assert sets == (1,)


@pytest.mark.service
def test_a_name_with_a_zero_byte_is_refused(postgres_url):
    with store.open(postgres_url) as s:
        with pytest.raises(CurvewiseError, match="cannot keep a name with a zero byte"):
            s.write(Trials([Trial("t\0", "a", 0, {"loss": 1.0})]))
        s.write(ONE)
        assert s.read() == ONE


@pytest.mark.service
def test_two_writers_at_once_agree_on_names(postgres_url):
    """Each adds the other's names in the other order: neither waits for ever."""
    from concurrent.futures import ThreadPoolExecutor

    def write(order):
        with store.open(postgres_url) as s:
            for i in range(20):
                cells = [(f"t{i}", "a"), (f"u{i}", "b")][::order]
                s.write(Trials(Trial(*c, order, {"loss": 1.0}) for c in cells), batch=1)

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, (1, -1)))
    with store.open(postgres_url) as s:
        assert {cell: n.tolist() for cell, n in s.numbers().items()} == {
            (f"{t}{i}", a): [-1, 1] for t, a in ("ta", "ub") for i in range(20)
        }
