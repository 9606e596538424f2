"""An Optuna storage of 10,000 trials into our trials, against its own trials_dataframe."""

import contextlib
import datetime as dt
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import optuna
import sqlalchemy
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from optuna.storages._rdb import models
from ratio import Ratio, best_of, typical_ratio

import curvewise as cw

MANY, STEPS = 10_000, 10
SPACE = {
    "rate": FloatDistribution(1e-5, 1e-1, log=True),
    "momentum": FloatDistribution(0, 1),
    "layers": IntDistribution(1, 8),
    "units": IntDistribution(8, 512, log=True),
    "optimizer": CategoricalDistribution(["sgd", "adam", "lion"]),
}


def make(path: Path, n: int) -> None:
    """Write a study of n trials with Optuna's tables, a tenth of them with a curve.

    All rows at once: Optuna commits each trial many times, and takes a quarter of an
    hour.
    """
    storage = optuna.storages.RDBStorage(address(path))
    study = optuna.create_study(storage=storage, study_name="search")
    rng = np.random.default_rng(0)
    begin = dt.datetime(2026, 1, 1)
    drawn = np.stack(
        [
            10 ** rng.uniform(-5, -1, n),
            rng.random(n),
            rng.integers(1, 9, n),
            rng.integers(8, 513, n),
            rng.integers(0, 3, n),
        ]
    )
    texts = {name: distribution_to_json(one) for name, one in SPACE.items()}
    ids = range(1, n + 1)
    curves = [(i, step) for i in ids if i % 10 == 0 for step in range(STEPS)]
    rows = {
        models.TrialModel: [
            {
                "trial_id": i,
                "number": i - 1,
                "study_id": study._study_id,
                "state": optuna.trial.TrialState.COMPLETE,
                "datetime_start": begin + dt.timedelta(seconds=60 * i),
                "datetime_complete": begin + dt.timedelta(seconds=60 * i + 30.5),
            }
            for i in ids
        ],
        models.TrialParamModel: [
            {
                "trial_id": i,
                "param_name": name,
                "param_value": float(drawn[place, i - 1]),
                "distribution_json": texts[name],
            }
            for i in ids
            for place, name in enumerate(SPACE)
        ],
        models.TrialValueModel: [
            {"trial_id": i, "objective": 0, "value": x, "value_type": "FINITE"}
            for i, x in zip(ids, rng.normal(size=n).tolist(), strict=True)
        ],
        models.TrialIntermediateValueModel: [
            {
                "trial_id": i,
                "step": step,
                "intermediate_value": x,
                "intermediate_value_type": "FINITE",
            }
            for (i, step), x in zip(
                curves, rng.normal(size=len(curves)).tolist(), strict=True
            )
        ],
        models.TrialUserAttributeModel: [
            {"trial_id": i, "key": "seed", "value_json": str(i)} for i in ids
        ],
    }
    with storage.engine.begin() as connection:
        for model, own in rows.items():
            connection.execute(sqlalchemy.insert(model.__table__), own)
    storage.engine.dispose()


def address(path: Path) -> str:
    return f"sqlite:///{path}"


def ours(path: Path) -> cw.Trials:
    with contextlib.redirect_stderr(io.StringIO()):  # what was understood
        trials = cw.read(path)
    trials.details()  # hyperparameters, which are in the peer's frame too
    return trials


def peer(path: Path):
    study = optuna.load_study(study_name="search", storage=address(path))
    return study.trials_dataframe()


# After a first, small file: what the libraries need themselves is not counted.
PEAK = """
import pathlib, re, sys
import curvewise as cw
def kilobytes(name):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(name + r":\\s+(\\d+) kB", status)[1])
cw.read(sys.argv[1]).details()
before = kilobytes("VmRSS")
trials = cw.read(sys.argv[2])
trials.details()
print(kilobytes("VmHWM") - before)
"""


def measure() -> list[Ratio]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.db", Path(folder) / "large.db"
        make(small, MANY)
        make(large, 10 * MANY)
        same_values(ours(small), peer(small))
        mine, theirs = best_of(3, lambda: ours(small), lambda: peer(small), warm=False)
        growth = typical_ratio(5, lambda: ours(large), lambda: ours(small))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, small, large],
            capture_output=True,
            text=True,
            check=True,
        )
        megabytes = large.stat().st_size / 1e6
    peak = float(done.stdout) / 1e3
    return [
        Ratio(
            f"{MANY:,} trials of {len(SPACE)} hyperparameters, faster than Optuna's "
            f"load_study and trials_dataframe",
            theirs / mine,
            10,
            "at least",
            f"ours {mine:.2f} s, Optuna {optuna.__version__} {theirs:.2f} s; a tenth of "
            f"the trials has {STEPS} intermediate values, which its frame leaves out",
        ),
        Ratio(
            "ten times the trials cost",
            growth,
            12,
            "at most",
            f"{10 * MANY:,} against {MANY:,}; median of 5 pairs",
        ),
        Ratio(
            "peak memory of reading, of the size of the file",
            peak / megabytes,
            2,
            "at most",
            f"{peak:.0f} MB for {10 * MANY:,} trials in {megabytes:.0f} MB",
        ),
    ]


def same_values(trials: cw.Trials, frame) -> None:
    """Raise unless both have read the same."""
    assert np.array_equal(trials.scores("value")["search"], frame["value"])
    for i in (0, MANY // 2, MANY - 1):
        row, params = frame.iloc[i], trials[i].params
        assert params == {name: row[f"params_{name}"] for name in SPACE}
