"""Let TensorBoard's writers write the event files that tests read.

    python3 -m venv /tmp/venv_tb
    /tmp/venv_tb/bin/pip install tensorboard tensorboardX torch==2.13.0
    cd tests/assets/foreign
    /tmp/venv_tb/bin/python ../../../scripts/foreign/make_tensorboard.py tensorboard

One folder of runs per writer: torch's, torch's with hyperparameters, tensorboardX's with
a resumed run, and TensorBoard's own with the tensors of TensorFlow 2. Each has an
`expected.json` with what TensorBoard's `EventAccumulator` says of every run. Times are
always the same, as far as the threads that write let them be.
"""

import json
import os
import shutil
import socket
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import tensorboardX
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util.tensor_util import make_ndarray
from torch.utils.tensorboard import SummaryWriter

TASKS = {"hill": 1.0, "maze": 0.6}
ALGORITHMS = {"ppo": 0.25, "sac": 0.4}
SEEDS = 3
STEPS = range(1000, 21_000, 2000)


def same_times() -> None:
    """Let a clock go on by a quarter of a second whenever somebody looks at it."""
    now = [1_700_000_000.0]

    def later() -> float:
        now[0] += 0.25
        return now[0]

    time.time = later
    socket.gethostname = lambda: "host"
    os.getpid = lambda: 7


def score(task: str, algorithm: str, step: int, rng: np.random.Generator) -> float:
    """Return a score that grows with the step, and has noise."""
    learned = 1 - np.exp(-ALGORITHMS[algorithm] * step / 2000)
    return float(100 * TASKS[task] * learned + rng.normal(0, 3))


def by_torch(folder: Path) -> None:
    for i, task in enumerate(TASKS):
        for j, algorithm in enumerate(ALGORITHMS):
            for seed in range(SEEDS):
                rng = np.random.default_rng([seed, i, j])
                run = folder / algorithm / task / f"seed_{seed}"
                with SummaryWriter(str(run)) as writer:
                    writer.add_text("settings", f"seed {seed}")
                    for step in STEPS:
                        value = score(task, algorithm, step, rng)
                        writer.add_scalar("eval/return", value, step)
                        loss = float("nan") if seed == 2 and step > 18_000 else 1 / step
                        writer.add_scalar("train/loss", loss, step)
                    if seed == 0:
                        writer.add_histogram("weights", rng.normal(size=9), 0, bins=9)
                        writer.add_image("picture", np.zeros((1, 4, 4), np.uint8), 0)


def by_torch_with_params(folder: Path) -> None:
    """Write runs that end with add_hparams, and a table of nothing but that."""
    for seed in range(2):
        for rate in (0.1, 0.01):
            rng = np.random.default_rng(seed)
            with SummaryWriter(str(folder / f"net-lr{rate}-s{seed}")) as writer:
                for step in range(10):
                    value = float(rng.random())
                    writer.add_scalar("accuracy", value, step, new_style=True)
                params = {"lr": rate, "seed": seed, "units": 64, "act": "relu"}
                params["bias"] = seed == 0
                writer.add_hparams(params, {"hparam/best": value})
    with SummaryWriter(str(folder / "table")) as writer:
        for i in range(3):
            writer.add_hparams({"lr": 0.1 * i, "seed": i}, {"hparam/best": i / 4})


def by_tensorboardx(folder: Path) -> None:
    """Write a run, one that was killed at step 30 and resumed at step 20, and one more."""
    for name, pieces in {
        "mlp_0": [(0, 40)],
        "mlp_1": [(0, 31), (20, 25)],
        "mlp_2": [(0, 30), (30, 31)],
    }.items():
        for i, (begin, end) in enumerate(pieces):
            purge = begin if i else None
            writer = tensorboardX.SummaryWriter(str(folder / name), purge_step=purge)
            for step in range(begin, end):
                writer.add_scalar("loss", 1 / (1 + step) + 10 * i, step)
                if step % 10 == 0:
                    writer.add_scalar("accuracy", step / 200, step)
                    writer.add_scalars("both", {"a": step, "b": -step}, step)
            writer.close()


def tensors() -> dict[str, TensorProto]:
    """Return the number 2.5 or 2 in the ways that tensors may hold it."""
    half = int(np.float16(2.5).view(np.uint16))
    return {
        "float": TensorProto(dtype=1, float_val=[2.5], tensor_shape=TensorShapeProto()),
        "content": TensorProto(dtype=1, tensor_content=np.float32(2.5).tobytes()),
        "double": TensorProto(dtype=2, double_val=[2.5]),
        "double_content": TensorProto(
            dtype=2, tensor_content=np.float64(2.5).tobytes()
        ),
        "half": TensorProto(dtype=19, half_val=[half]),
        "int": TensorProto(dtype=3, int_val=[-2]),
        "long": TensorProto(dtype=9, int64_val=[2**40]),
        "long_content": TensorProto(dtype=9, tensor_content=np.int64(-2).tobytes()),
        "yes": TensorProto(dtype=10, bool_val=[True]),
    }


def by_tensorboard(folder: Path) -> None:
    """Write what tf.summary.scalar of TensorFlow 2 writes, and other kinds of numbers."""
    for name in ("train", "validation"):
        writer = EventFileWriter(str(folder / "fit" / name))
        for step in range(100, 140):
            value = TensorProto(dtype=1, float_val=[1 / step if name == "train" else 2])
            writer.add_event(event("epoch_loss", value, step, "scalars"))
        writer.close()
    writer = EventFileWriter(str(folder / "kinds"))
    for step in (0, 1, 200):
        for tag, tensor in tensors().items():
            # A writer may name the plugin only where a tag is new.
            told = "scalars" if step == 0 or tag == "float" else None
            writer.add_event(event(tag, tensor, step, told))
    vector = TensorProto(dtype=1, tensor_content=np.float32([1, 2]).tobytes())
    writer.add_event(event("vector", vector, 0, "custom"))
    single = TensorProto(dtype=1, float_val=[1.0])
    writer.add_event(event("of_another_plugin", single, 0, "custom"))
    writer.add_event(event("of_nobody", single, 0, None))
    both = event("float", single, 201, "scalars")
    both.summary.value.add(tag="simple", simple_value=7)
    writer.add_event(both)
    writer.close()


def event(tag: str, tensor: TensorProto, step: int, plugin: str | None) -> Event:
    value = Summary.Value(tag=tag, tensor=tensor)
    if plugin is not None:
        data = SummaryMetadata.PluginData(plugin_name=plugin)
        value.metadata.CopyFrom(SummaryMetadata(plugin_data=data))
    return Event(wall_time=time.time(), step=step, summary=Summary(value=[value]))


def expected(folder: Path) -> dict[str, object]:
    """Return what TensorBoard itself finds in every folder with event files."""
    found = {}
    for run in sorted({path.parent for path in folder.rglob("*tfevents*")}):
        events = EventAccumulator(str(run), size_guidance={"scalars": 0, "tensors": 0})
        events.Reload()
        scalars = {
            tag: [[e.step, e.wall_time, e.value] for e in events.Scalars(tag)]
            for tag in events.Tags()["scalars"]
        }
        for tag in events.Tags()["tensors"]:
            if tag in of_plugin(events, "scalars"):
                scalars[tag] = [
                    [e.step, e.wall_time, float(make_ndarray(e.tensor_proto).item())]
                    for e in events.Tensors(tag)
                ]
        found[str(run.relative_to(folder))] = {
            "first": events.FirstEventTimestamp(),
            "scalars": scalars,
            "params": params(events),
        }
    return found


def of_plugin(events: EventAccumulator, plugin: str) -> dict[str, bytes]:
    try:
        return events.PluginTagToContent(plugin)
    except KeyError:
        return {}


def params(events: EventAccumulator) -> dict[str, object]:
    contents = of_plugin(events, "hparams")
    data = HParamsPluginData.FromString(
        contents.get("_hparams_/session_start_info", b"")
    )
    found = {}
    for name, value in data.session_start_info.hparams.items():
        found[name] = getattr(value, value.WhichOneof("kind"))
    return found


def main(target: Path) -> None:
    same_times()
    writers = {
        "torch": by_torch,
        "torch_hparams": by_torch_with_params,
        "tensorboardx": by_tensorboardx,
        "tensors": by_tensorboard,
    }
    for name, write in writers.items():
        shutil.rmtree(target / name, ignore_errors=True)
        write(target / name)
        told = json.dumps(expected(target / name))
        (target / name / "expected.json").write_text(told + "\n")
    versions = [f"{name} {version(name)}" for name in ("tensorboard", "tensorboardX")]
    versions.append(f"torch {torch.__version__.partition('+')[0]}")
    (target / "VERSIONS.txt").write_text("\n".join(versions) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
