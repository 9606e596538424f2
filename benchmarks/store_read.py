"""Three million one-step trials from a store into scores, against fetchall."""

import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from ratio import Ratio, best_of, typical_ratio

from curvewise import Trials, store
from curvewise.metrics import find
from curvewise.trials.columns import Core, Details, from_texts, no_details

MANY = 3_000_000
COLUMNS = "task, algorithm, number, status, metric_set, steps, scores, recorded"


def make(path: Path, n: int) -> None:
    """Write n trials of three algorithms, 1 % of them failed."""
    rng = np.random.default_rng(0)
    scores = {"return": rng.normal(size=n)}
    none = no_details(n)
    texts = from_texts(f'{{"lr":{x:.6g}}}' for x in rng.random(n))
    core = Core(
        np.zeros(n, np.int32),
        (np.arange(n) % 3).astype(np.int32),
        np.arange(n) // 3,
        (rng.random(n) < 0.01).astype(np.int8),
        np.arange(n + 1),
        np.zeros(n),
        scores,
        {},
    )
    rest = (none.counts, none.classes, none.correct, none.asked, none.example_set, ())
    details = Details(
        texts, none.labels, none.error, rng.random(n), none.attempts, *rest
    )
    known = find("return")
    trials = Trials.from_columns(
        ["pendulum"], ["ac", "ppo", "sac"], {"return": known}, core, details
    )
    with store.Store(path) as target:
        target.write(trials, batch=20_000)


def ours(path: Path) -> object:
    return store.read(path).scores("return", failed="worst")


def peer(path: Path) -> object:
    db = sqlite3.connect(path)
    rows = db.execute(f"SELECT {COLUMNS} FROM trials").fetchall()
    db.close()
    return rows


# Not ru_maxrss: a child inherits that from the process that started it.
PEAK = """
import pathlib, re, sys
from curvewise import store
store.read(sys.argv[1]).scores("return", failed="worst")
status = pathlib.Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1e6)
"""


def measure() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.db", Path(folder) / "small.db"
        make(large, MANY)
        make(small, MANY // 10)
        mine, theirs = best_of(5, lambda: ours(large), lambda: peer(large))
        growth = 10 * typical_ratio(
            9, lambda: ours(large), lambda: [ours(small) for _ in range(10)]
        )
        peak = subprocess.run(
            [sys.executable, "-c", PEAK, large],
            capture_output=True,
            text=True,
            check=True,
        )
    return [
        Ratio(
            "3 million one-step trials, store to scores(), faster than fetchall()",
            theirs / mine,
            1.5,
            "at least",
            f"ours {mine:.2f} s, sqlite3 fetchall() of the same columns {theirs:.2f} s",
        ),
        Ratio(
            "ten times the trials cost",
            growth,
            11,
            "at most",
            f"{MANY:,} trials against {MANY // 10:,}, ten in a row; median of 9 pairs",
        ),
        Ratio(
            "peak memory of reading 3 million trials",
            float(peak.stdout),
            1.5,
            "at most",
            "the whole process",
            unit="GB",
        ),
    ]
