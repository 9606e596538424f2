"""TensorBoard's event files to trials, against TensorBoard's own EventAccumulator."""

import contextlib
import io
import shutil
import tempfile
import tracemalloc
from pathlib import Path

import peers
from ratio import Ratio, typical_ratio

import curvewise as cw

PEER = ["tensorboard==2.21.0"]
RUNS, TAGS, STEPS = 20, 5, 10_000
SHORT = 1_000  # runs of ten steps: what a file costs, however short
TOLD = {
    "tool": "tensorboard",
    "roles": "{algorithm}-s{seed}",
    "metrics": {f"train/metric_{i}": "higher" for i in range(TAGS)},
}

# One run by its own writer; the others are copies.
WRITE = """
import json, sys
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

args = json.loads(sys.argv[1])
writer = EventFileWriter(args["folder"])
for step in range(args["steps"]):
    for i in range(args["tags"]):
        value = Summary.Value(tag=f"train/metric_{i}", simple_value=step / (i + 1))
        summary = Summary(value=[value])
        writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=summary))
writer.close()
print("{}")
"""

READ = """
import json, sys, time
from pathlib import Path
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

def scalars(folder):
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return sum(len(events.Scalars(tag)) for tag in events.Tags()["scalars"])

args = json.loads(sys.argv[1])
scalars(args["warm"])
begin = time.perf_counter()
n = sum(map(scalars, Path(args["folder"]).iterdir()))
print(json.dumps({"seconds": time.perf_counter() - begin, "n": n}))
"""


def make(folder: Path, python: Path, runs: int, steps: int, tags: int = TAGS) -> Path:
    """Write runs with as many steps and tags, and return their folder."""
    first = folder / "ppo-s0"
    peers.run(python, WRITE, folder=str(first), steps=steps, tags=tags)
    for seed in range(1, runs):
        shutil.copytree(first, folder / f"ppo-s{seed}")
    return folder


def ours(folder: Path) -> cw.Trials:
    with contextlib.redirect_stderr(io.StringIO()):  # what was understood
        return cw.read(str(folder), **TOLD)


def measure() -> list[Ratio]:
    python = peers.environment("tensorboard", PEER)
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        many = make(room / "many", python, RUNS, STEPS)
        few = make(room / "few", python, 2, STEPS)
        short = make(room / "short", python, SHORT, 10)
        return [
            _against_tensorboard(python, many, RUNS * TAGS * STEPS, 15),
            _against_tensorboard(python, short, SHORT * TAGS * 10, 5),
            *_growth(many, few),
        ]


def _against_tensorboard(python: Path, many: Path, n: int, bound: float) -> Ratio:
    told: list[dict] = []

    def theirs() -> dict:
        warm = str(many / "ppo-s0")
        told.append(peers.run(python, READ, folder=str(many), warm=warm))
        return told[-1]

    mine, peer = peers.taking_turns(2, lambda: ours(many), theirs)
    runs = len(ours(many))
    assert told[0]["n"] == n
    return Ratio(
        f"{n:,} scalars of {runs:,} runs to trials, faster than EventAccumulator",
        peer / mine,
        bound,
        "at least",
        f"ours {mine:.2f} s with all checksums, TensorBoard {PEER[0][13:]} without "
        f"TensorFlow {peer:.1f} s",
    )


def _growth(many: Path, few: Path) -> list[Ratio]:
    time = typical_ratio(7, lambda: ours(many), lambda: ours(few))
    tracemalloc.start()
    trials = ours(many)
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(trials) == RUNS
    return [
        Ratio(
            "ten times the runs cost",
            time,
            15,
            "at most",
            f"{RUNS} runs against {RUNS // 10}; median of 7 pairs",
        ),
        Ratio(
            "memory at the peak, for each scalar",
            peak / (RUNS * TAGS * STEPS),
            100,
            "at most",
            f"{peak / 1e6:.0f} MB at the peak, for an answer of {left / 1e6:.0f} MB and "
            f"files of {_size(many) / 1e6:.0f} MB",
            "bytes",
        ),
    ]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
