"""Ten thousand runs of MLflow into our trials, against its own frames."""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import peers
from ratio import Ratio, typical_ratio

import curvewise as cw

RUNS, FILED, FEW = 10_000, 2_000, 300
MLFLOW = ["mlflow==3.17.2"]
# MLflow makes its tables; its own log_batch would take minutes for the rows.
MAKE = """
import json, os, random, sqlite3, sys
args = json.loads(sys.argv[1])
import mlflow
mlflow.set_tracking_uri("sqlite:///" + args["path"])
experiment = mlflow.create_experiment("bench")
n, drawn = args["n"], random.Random(0)
ids = ["%032x" % drawn.getrandbits(128) for _ in range(n)]
runs, params, tags, metrics, latest = [], [], [], [], []
for i, one in enumerate(ids):
    begin = 1_700_000_000_000 + 1000 * i
    runs.append((one, f"run-{i}", "FINISHED", begin, begin + 900, "active", experiment,
                 "me", "LOCAL", ""))
    model, seed = ("net", "tree")[i % 2], str(i // 2)
    own = {"model": model, "seed": seed}
    own |= {f"p{k}": repr(drawn.random()) for k in range(8)}
    params += [(key, value, one) for key, value in own.items()]
    told = {"mlflow.runName": f"run-{i}", "mlflow.user": "me", "team": "vision"}
    tags += [(key, value, one) for key, value in told.items()]
    for k in range(5):
        for step in range(args["steps"]):
            row = (f"m{k}_acc", drawn.random(), begin + step, one, step, 0)
            metrics.append(row)
        latest.append(row)
db = sqlite3.connect(args["path"])
def insert(table, columns, rows):
    marks = ", ".join("?" * len(rows[0]))
    db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
insert("runs", "run_uuid, name, status, start_time, end_time, lifecycle_stage, "
       "experiment_id, user_id, source_type, artifact_uri", runs)
insert("params", "key, value, run_uuid", params)
insert("tags", "key, value, run_uuid", tags)
for table, rows in (("metrics", metrics), ("latest_metrics", latest)):
    insert(table, "key, value, timestamp, run_uuid, step, is_nan", rows)
db.commit()
print(json.dumps({"runs": n}))
"""
SEARCH = """
import json, os, sys, time
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
args = json.loads(sys.argv[1])
import mlflow
mlflow.set_tracking_uri(args["address"])
mlflow.search_runs(experiment_names=["bench"], max_results=10)
begin = time.perf_counter()
frame = mlflow.search_runs(experiment_names=["bench"], max_results=50_000)
seconds = time.perf_counter() - begin
assert len(frame) == args["n"]
print(json.dumps({"seconds": seconds, "total": float(frame["metrics.m0_acc"].sum())}))
"""
# The same curves, by MLflow's own client.
HISTORY = """
import json, sys, time
args = json.loads(sys.argv[1])
import mlflow
mlflow.set_tracking_uri(args["address"])
client = mlflow.MlflowClient()
experiment = client.get_experiment_by_name("bench").experiment_id
client.search_runs([experiment], max_results=10)
begin = time.perf_counter()
runs = client.search_runs([experiment], max_results=50_000)
curves = [
    [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, key)]
    for run in runs for key in run.data.metrics
]
seconds = time.perf_counter() - begin
assert len(curves) == 5 * args["n"]
last = sum(run.data.metrics["m0_acc"] for run in runs)
print(json.dumps({"seconds": seconds, "total": last}))
"""
# Not ru_maxrss: a child inherits that from the process that started it.
PEAK = """
import pathlib, re, sys, warnings
import curvewise as cw
cw.read(sys.argv[1]).details()
status = pathlib.Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1e6)
"""
META = """artifact_uri: {path}/artifacts
end_time: {end}
entry_point_name: ''
experiment_id: '1'
lifecycle_stage: active
run_id: {one}
run_name: run-{i}
source_name: ''
source_type: 4
source_version: ''
start_time: {begin}
status: 3
tags: []
user_id: me
"""


def make_files(root: Path, n: int) -> None:
    """Write a store of files as MLflow does, 20 files a run."""
    rng = np.random.default_rng(0)
    home = root / "1"
    home.mkdir(parents=True)
    stage = f"artifact_location: {home}\nexperiment_id: '1'\nlifecycle_stage: active\n"
    (home / "meta.yaml").write_text(f"{stage}name: bench\n")
    for i in range(n):
        one, begin = f"a{i:031x}", 1_700_000_000_000 + 1000 * i
        folder = home / one
        for kind in ("metrics", "params", "tags", "artifacts"):
            (folder / kind).mkdir(parents=True)
        meta = META.format(path=folder, one=one, i=i, begin=begin, end=begin + 900)
        (folder / "meta.yaml").write_text(meta)
        params = {"model": ("net", "tree")[i % 2], "seed": i // 2}
        params |= {f"p{k}": rng.random() for k in range(8)}
        for key, value in params.items():
            (folder / "params" / key).write_text(str(value))
        for key in ("mlflow.runName", "mlflow.user", "team", "note"):
            (folder / "tags" / key).write_text(f"run-{i}")
        for k in range(5):
            lines = [f"{begin + s} {rng.random()} {s}\n" for s in range(10)]
            (folder / "metrics" / f"m{k}_acc").write_text("".join(lines))


def ours(path: Path) -> dict[str, np.ndarray]:
    trials = cw.read(path)
    trials.details()  # params and labels, which are in the peer's frame too
    return trials.scores("m0_acc")


def against(script: str, path: Path, n: int) -> tuple[float, float]:
    """Return our time and the peer's, who must agree on the last scores."""
    address = f"sqlite:///{path}" if path.is_file() else str(path)
    python, found = peers.environment("mlflow", MLFLOW), []

    def theirs():
        found.append(peers.run(python, script, address=address, n=n))
        return found[-1]

    mine, peer = peers.taking_turns(2, lambda: ours(path), theirs)
    total = sum(float(scores.sum()) for scores in ours(path).values())
    assert abs(total - found[0]["total"]) < 1e-6
    return mine, peer


def speed(room: Path) -> list[Ratio]:
    frame, last = "mlflow.search_runs", "mlflow.search_runs, which has last scores only"
    ratios = []
    for what, steps, script, name, n, than, bound in (
        ("a database, scores", 1, SEARCH, "once.db", RUNS, frame, 10),
        ("a database, curves", 10, SEARCH, "large.db", RUNS, last, 4),
        ("a database, curves", 10, HISTORY, "few.db", FEW, "mlflow's client", 20),
        ("a store of files, curves", 10, SEARCH, "mlruns", FILED, last, 2),
    ):
        mine, peer = against(script, room / name, n)
        ratios.append(
            Ratio(
                f"{n:,} runs of {what}, to trials, faster than {than}",
                peer / mine,
                bound,
                "at least",
                f"ours {mine:.2f} s, mlflow 3.17.2 {peer:.1f} s; 10 params, 3 tags and 5 "
                f"metrics a run, each logged {'once' if steps == 1 else f'{steps} times'}",
            )
        )
    return ratios


def measure() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in which direction a metric is good
        room = Path(folder)
        large, small = room / "large.db", room / "small.db"
        python = peers.environment("mlflow", MLFLOW)
        for name, n, steps in (
            ("once", RUNS, 1),
            ("large", RUNS, 10),
            ("small", RUNS // 10, 10),
            ("few", FEW, 10),
        ):
            peers.run(python, MAKE, path=str(room / f"{name}.db"), n=n, steps=steps)
        make_files(room / "mlruns", FILED)
        ratios = speed(room)
        growth = 10 * typical_ratio(
            9, lambda: ours(large), lambda: [ours(small) for _ in range(10)]
        )
        peak = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PEAK, large],
            capture_output=True,
            text=True,
            check=True,
        )
    return [
        *ratios,
        Ratio(
            "ten times the runs cost",
            growth,
            12,
            "at most",
            f"{RUNS:,} runs against {RUNS // 10:,}, ten in a row; median of 9 pairs",
        ),
        Ratio(
            "peak memory of reading them",
            float(peak.stdout),
            0.5,
            "at most",
            "the whole process",
            unit="GB",
        ),
    ]
