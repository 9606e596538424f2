"""Experiments as Ray Tune writes them, and how tests look at what was read."""

import json
from pathlib import Path

import numpy as np

from curvewise.exchange.runs import Asked
from curvewise.exchange.tools import ray_tune
from curvewise.exchange.tools.files import listing_at

ASSETS = Path(__file__).parents[1] / "assets" / "foreign" / "ray_tune"


def found(path, **asked):
    return ray_tune.read_path(listing_at(path), Asked(**asked))


def rows(runs):
    return {row["run"]: row for row in runs.table.to_pylist()}


def same(one, other):
    """Return whether points are the same, but for digits that old Ray rounds off."""
    one, other = np.array(one, float), np.array(other, float)
    close = np.allclose(one, other, rtol=1e-12, atol=0, equal_nan=True)
    return one.shape == other.shape and close


def make(folder, name="net_0a1b2_00000_0_lr=1", *, reports=(), state=None, **files):
    """Write a trial as Ray does: reports are dicts, or lines as they stand."""
    trial = folder / name
    trial.mkdir(parents=True)
    if reports is not None:
        lines = [r if isinstance(r, str) else json.dumps(r) for r in reports]
        (trial / "result.json").write_text("".join(f"{line}\n" for line in lines))
    files.setdefault("params", {"lr": 1})
    if files["params"] is not None:
        (trial / "params.json").write_text(json.dumps(files["params"]))
    if "error" in files:
        (trial / "error.txt").write_text(files["error"])
    if state is not None:
        told = {"relative_logdir": name, "status": state, "trainable_name": "net"}
        add_state(folder, told)
    return trial


def add_state(folder, *trials, name="experiment_state-1.json", resumed=False):
    path = folder / name
    data = json.loads(path.read_text())["trial_data"] if path.exists() else []
    data += [[json.dumps(trial), "{}"] for trial in trials]
    runner = {"_resumed": resumed}
    path.write_text(json.dumps({"trial_data": data, "runner_data": runner}))


def report(i, **more):
    return {"acc": i / 10, "training_iteration": i, "time_total_s": 2.0 * i, **more}


def told_of(name, status, tag):
    return {"relative_logdir": name, "status": status, "experiment_tag": tag}
