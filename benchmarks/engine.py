"""What the engine costs around a trial, against joblib and Optuna; two workers each."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np
from ratio import Ratio, best_of

import curvewise as cw
from curvewise.engine.workers.local import Local

TINY, KNN, OPTUNA = 10_000, 20_000, 1_000
WORKERS = 2

nowhere = cw.Task("nowhere", lambda rng: None)


def no_op(params, data, rng):
    yield 0, {"accuracy": 0.5}


def peer_no_op(number):
    return number, 0.5


def measure() -> list[Ratio]:
    return [*tiny_trials(), inside_the_trials(), driver_memory()]


# --- 10,000 trials that do nothing -------------------------------------------------------


def tiny_trials() -> list[Ratio]:
    experiment = cw.Experiment([nowhere], [cw.Algorithm("no-op", {}, no_op)], TINY, 1)
    with tempfile.TemporaryDirectory() as folder, Local(WORKERS) as pool:
        stores = (Path(folder) / f"{i}.db" for i in itertools.count())

        def ours() -> None:
            cw.run(experiment, store=next(stores), executor=pool, progress=False)

        def peer() -> None:
            joblib.Parallel(n_jobs=WORKERS)(
                joblib.delayed(peer_no_op)(i) for i in range(TINY)
            )

        mine, theirs = best_of(5, ours, peer)
        optuna = optuna_seconds(Path(folder) / "optuna.db")
    each, scaled = mine / TINY, optuna / OPTUNA
    return [
        Ratio(
            "a trial that does nothing, streams and store included, more than joblib",
            (mine - theirs) / TINY * 1e6,
            60,
            "at most",
            f"ours {each * 1e6:.0f}, joblib.Parallel {theirs / TINY * 1e6:.0f} "
            f"microseconds of wall time; {TINY:,} trials, {WORKERS} workers",
            unit="microseconds",
        ),
        Ratio(
            "the same, faster than Optuna's RandomSampler with its SQLite storage",
            scaled / each,
            150,
            "at least",
            f"Optuna {scaled * 1e3:.1f} ms a trial; {OPTUNA:,} trials",
        ),
    ]


OPTUNA_RUN = """
import sys, time, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
def study(path):
    return optuna.create_study(
        storage=f"sqlite:///{path}", sampler=optuna.samplers.RandomSampler(seed=0)
    )
study(sys.argv[1] + "-warm").optimize(lambda trial: 0.5, n_trials=20)
one = study(sys.argv[1])
begin = time.perf_counter()
one.optimize(lambda trial: 0.5, n_trials=int(sys.argv[2]))
print(time.perf_counter() - begin)
"""


def optuna_seconds(path: Path) -> float:
    command = [sys.executable, "-c", OPTUNA_RUN, str(path), str(OPTUNA)]
    return float(subprocess.run(command, capture_output=True, check=True).stdout)


# --- how much of the time goes into the trials -------------------------------------------


class Timed:
    """A task that notes the CPU time at which its data were asked for."""

    def __init__(self, task: cw.Task) -> None:
        self.task = task

    def __call__(self, train_rng, test_rng):
        begin = time.process_time()
        return begin, self.task.sample(train_rng, test_rng)


class TimedRun:
    """An algorithm that says how much CPU time its trial took."""

    def __init__(self, algorithm: cw.Algorithm) -> None:
        self.algorithm = algorithm

    def __call__(self, params, data, rng):
        begin, inner = data
        for step, given in self.algorithm.run(params, inner, rng):
            last = step, dict(given)
        yield last[0], last[1] | {"cpu": time.process_time() - begin}


def inside_the_trials() -> Ratio:
    task, knn = cw.zoo.task("moons"), cw.zoo.algorithm("knn")
    experiment = cw.Experiment(
        [cw.Task("moons", Timed(task))],
        [cw.Algorithm("knn", knn.space, TimedRun(knn))],
        KNN,
        1,
        metrics=[cw.Metric("cpu", "lower")],
    )
    warm = cw.Experiment(experiment.tasks, experiment.algorithms, 50, 2)
    with tempfile.TemporaryDirectory() as folder, Local(WORKERS) as pool:
        warmed = [cw.Metric("cpu", "lower")]
        warm = cw.Experiment(warm.tasks, warm.algorithms, 50, 2, metrics=warmed)
        cw.run(warm, executor=pool, progress=False)
        before = cpu_seconds()
        trials = cw.run(
            experiment, store=Path(folder) / "knn.db", executor=pool, progress=False
        )
        spent = cpu_seconds() - before
        inside = float(trials.scores("cpu")["knn"].sum())
    return Ratio(
        "k-NN on moons, CPU time inside the trials",
        100 * inside / spent,
        90,
        "at least",
        f"{inside:.0f} of {spent:.0f} s of driver and {WORKERS} workers; {KNN:,} trials",
        unit="%",
    )


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its living children."""
    tick = os.sysconf("SC_CLK_TCK")
    total = time.process_time()
    for process in Path("/proc").iterdir():
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / tick
    return total


# --- memory of the driver ----------------------------------------------------------------

MEMORY_RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import curvewise as cw
from engine import no_op, nowhere
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(l for l in lines if l.startswith("VmHWM")).split()[1])
if __name__ == "__main__":
    experiment = cw.Experiment(
        [nowhere], [cw.Algorithm("no-op", {}, no_op)], int(sys.argv[3]), 1
    )
    cw.run(experiment, store=sys.argv[2], workers=2, progress=False)
    print(peak())
"""


def driver_memory() -> Ratio:
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "memory.py"
        script.write_text(MEMORY_RUN)
        for n in (10_000, 1_000_000):
            command = [sys.executable, str(script), str(Path(__file__).parent)]
            command += [f"{folder}/{n}.db", str(n)]
            done = subprocess.run(command, capture_output=True, check=True)
            peaks.append(float(done.stdout) / 1024)
    return Ratio(
        "peak memory of the driver, a million no-op trials against ten thousand",
        peaks[1] / peaks[0],
        1.3,
        "at most",
        f"{np.round(peaks[0]):.0f} MB and {np.round(peaks[1]):.0f} MB",
    )
