"""The tables of a store, and the one number that says which version of them it has.

Names are integer codes, curves are little-endian float64 blobs, params and labels are
canonical JSON. Nothing is pickled, so a store can be opened by anyone, for ever.

A trial's ``scores`` blob is a matrix (metric, step) in the order of its metric set;
``steps`` is NULL for the single step 0; ``recorded`` (packed bits, the same matrix) is
NULL where every metric was recorded at every step. ``revision`` grows with every commit
that touches a row, so that a reader can tell whether a row changed since it looked.
Times are whole nanoseconds, because SQLite writes a REAL with 15 digits only.
"""

VERSION = 1

TABLES = """
CREATE TABLE curvewise (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE tasks (code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE algorithms (code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE metrics (
  code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, direction TEXT NOT NULL,
  low REAL NOT NULL, high REAL NOT NULL, unit TEXT NOT NULL, label TEXT NOT NULL
);
CREATE TABLE metric_sets (code INTEGER PRIMARY KEY, metrics TEXT NOT NULL UNIQUE);
CREATE TABLE example_sets (code INTEGER PRIMARY KEY, ids BLOB NOT NULL UNIQUE);
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL, algorithm INTEGER NOT NULL, number INTEGER NOT NULL,
  status INTEGER NOT NULL, metric_set INTEGER NOT NULL,
  steps BLOB, scores BLOB NOT NULL, recorded BLOB,
  params TEXT, labels TEXT, nanoseconds INTEGER, attempts INTEGER NOT NULL, error TEXT,
  counts BLOB, classes INTEGER NOT NULL,
  correct BLOB, asked BLOB, example_set INTEGER,
  revision INTEGER NOT NULL,
  UNIQUE (task, algorithm, number)
);
"""

COLUMNS = (
    *("task", "algorithm", "number", "status", "metric_set", "steps", "scores"),
    *("recorded", "params", "labels", "nanoseconds", "attempts", "error", "counts"),
    *("classes", "correct", "asked", "example_set", "revision"),
)

REPLACE = "ON CONFLICT (task, algorithm, number) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in COLUMNS[3:]
)

UPSERT = (
    f"INSERT INTO trials ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))}) "
    + REPLACE
)

# Which trials a driver has taken on. In PostgreSQL beside the other tables; in SQLite,
# which has one driver at a time, a temporary table that is never in the file.
CLAIMS = """
CREATE TABLE claims (
  task INTEGER NOT NULL, algorithm INTEGER NOT NULL, number INTEGER NOT NULL,
  driver INTEGER NOT NULL, ticket INTEGER NOT NULL,
  PRIMARY KEY (task, algorithm, number)
);
"""
