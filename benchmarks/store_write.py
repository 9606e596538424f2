"""100,000 trials from memory to disk in batches of 100, against executemany."""

import itertools
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
from ratio import Ratio, best_of

from curvewise import Trial, Trials
from curvewise.store import Store, columns, schema

MANY, BATCH = 100_000, 100


def records() -> Trials:
    rng = np.random.default_rng(0)
    return Trials(
        Trial(
            "moons",
            f"a{i % 5}",
            i // 5,
            {"accuracy": score},
            params={"lr": lr, "width": int(width)},
            labels={"seed": i // 5},
            seconds=float(seconds),
        )
        for i, (score, lr, seconds, width) in enumerate(
            zip(
                rng.random(MANY),
                rng.random(MANY).tolist(),
                rng.random(MANY),
                rng.integers(1, 99, MANY),
                strict=True,
            )
        )
    )


def measure() -> list[Ratio]:
    trials = records()
    with tempfile.TemporaryDirectory() as folder:
        names = (Path(folder) / f"{i}.db" for i in itertools.count())
        model = next(names)
        with Store(model) as store:
            encoded = columns.encode(store._db, trials, columns.load_codes(store._db))
            rows = [(*row, 1) for row in encoded]

        def ours() -> None:
            with Store(next(names)) as store:
                store.write(trials, batch=BATCH)

        def peer() -> None:
            db = sqlite3.connect(next(names), isolation_level=None)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(schema.TABLES)
            for i in range(0, MANY, BATCH):
                db.execute("BEGIN IMMEDIATE")
                db.executemany(schema.UPSERT, rows[i : i + BATCH])
                db.execute("COMMIT")
            db.close()

        mine, theirs = best_of(3, ours, peer)
    return [
        Ratio(
            "100,000 trials to disk in batches of 100, slower than executemany()",
            mine / theirs,
            2.5,
            "at most",
            f"ours {mine:.2f} s, executemany() with ready-made rows {theirs:.2f} s",
        )
    ]
