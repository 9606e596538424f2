"""Make files of Weights & Biases for the tests.

In a virtual environment of its own::

    python3 -m venv /tmp/venv_wandb
    /tmp/venv_wandb/bin/pip install wandb pandas pyarrow
    /tmp/venv_wandb/bin/python scripts/foreign/make_wandb.py tests/assets/foreign/wandb

An old version writes its own file, of the first run::

    python3 -m venv /tmp/venv_wandb_old
    /tmp/venv_wandb_old/bin/pip install wandb==0.13.11 'setuptools<70' 'numpy<2' \\
        'pandas<2.3' 'pyarrow<19'
    /tmp/venv_wandb_old/bin/python scripts/foreign/make_wandb.py \\
        tests/assets/foreign/wandb/old --offline-only --first 1

Two kinds of files, of the same runs:

- ``offline/`` is what the library itself writes on this machine (`mode="offline"`). What
  was logged is kept in ``expected.json`` by this script, not read back from the files.
- ``exports/`` has the *forms* that the web page and the server give out: the CSV of a
  chart, also of groups; the CSV of the table of runs; the history artifact in Parquet; a
  frame of ``run.history()``. These need the service, which cannot be asked from here. They
  are made by this script after the documentation and public examples of such files: names
  and order of columns, quotes, the dash for notes that are not there.
"""

import argparse
import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import wandb

RUNS = [
    {"algo": "ppo", "env": "CartPole", "seed": 0, "lr": 3e-4},
    {"algo": "ppo", "env": "CartPole", "seed": 1, "lr": 3e-4},
    {"algo": "dqn", "env": "CartPole", "seed": 0, "lr": 1e-3},
    {"algo": "dqn", "env": "CartPole", "seed": 1, "lr": 1e-3},
    {"algo": "sac", "env": "CartPole", "seed": 0, "lr": 1e-3},  # fails
    {"algo": "sac", "env": "CartPole", "seed": 1, "lr": 1e-3},  # is killed
]
IDS = ["k1aaaaaa", "k2bbbbbb", "k3cccccc", "k4dddddd", "k5eeeeee", "k6ffffff"]
STATES = ["finished", "finished", "finished", "finished", "failed", "crashed"]


def name_of(config: dict[str, object]) -> str:
    """Return the name of a run."""
    return f"{config['algo']}-{config['env']}-s{config['seed']}"


def history_of(config: dict[str, object]) -> list[dict[str, float]]:
    """Return what a run logs, step by step: a loss always, a return now and then."""
    n = 12 if config["algo"] == "sac" else 110 if config["seed"] else 40
    speed = {"ppo": 30, "dqn": 60, "sac": 90}[str(config["algo"])] + 7 * config["seed"]
    rows = []
    for step in range(n):
        row = {"train/loss": math.exp(-step / speed), "global_step": 64 * (step + 1)}
        if step % 5 == 4:
            row["eval/return"] = 500 * (1 - math.exp(-step / speed))
        if config["algo"] == "sac" and step > 8:
            row["train/loss"] = math.nan
        rows.append(row)
    return rows


def log_one(place: int, folder: str) -> None:
    """Log one run with the real library; the last one is killed before its end."""
    config = RUNS[place]
    run = wandb.init(
        project="cartpole",
        name=name_of(config),
        id=IDS[place],
        group=config["algo"],
        tags=["example"],
        config={**config, "net": {"width": 64, "depth": 2}},
        mode="offline",
        dir=folder,
        settings=quiet(),
    )
    for step, row in enumerate(history_of(config)):
        more = {}
        if step == 3:
            more["weights"] = wandb.Histogram([1, 2, 3])
            more["note"] = "warming up"
        run.log({**row, **more})
    if place == 5:
        time.sleep(3)  # until what was logged is on the disk
        os._exit(1)
    run.finish(exit_code=1 if place == 4 else 0)


def quiet() -> wandb.Settings:
    """Return settings that keep this machine out of the files."""
    wanted = {
        "x_disable_meta": True,
        "x_disable_stats": True,
        "x_disable_machine_info": True,
        "x_save_requirements": False,
        "disable_git": True,
        "console": "off",
        "host": "example",
        "username": "somebody",
        "email": "somebody@example.org",
    }
    known = getattr(wandb.Settings, "model_fields", None)
    if known is None:  # before version 0.19
        wanted = {"_disable_meta": True, "_disable_stats": True, "disable_git": True}
        wanted |= {"console": "off", "host": "example"}
        return wandb.Settings(**wanted)
    return wandb.Settings(**{k: v for k, v in wanted.items() if k in known})


def make_offline(out: Path, first: int) -> None:
    """Log all runs, each in a process of its own, and keep their files."""
    with tempfile.TemporaryDirectory() as folder:
        for place in range(first):
            command = [sys.executable, __file__, folder, "--run", str(place)]
            subprocess.run(command, check=place != 5, capture_output=True)
        for path in sorted(Path(folder).glob("wandb/offline-run-*/run-*.wandb")):
            kept = out / "offline" / f"offline-run-20260101_000000-{path.stem[4:]}"
            kept.mkdir(parents=True)
            shutil.copy(path, kept / path.name)
    told = {
        name_of(config): {"config": config, "id": own, "state": state, "history": rows}
        for config, own, state in zip(RUNS[:first], IDS, STATES, strict=False)
        for rows in [history_of(config)]
    }
    (out / "expected.json").write_text(json.dumps(told))


# --- forms that the service gives out ----------------------------------------------------


def frame_of(config: dict[str, object]) -> pd.DataFrame:
    """Return the history of a run as a frame with the service's own columns."""
    rows = [
        {"_step": i, "_runtime": 0.5 * i, "_timestamp": 1.7e9 + 0.5 * i, **row}
        for i, row in enumerate(history_of(config))
    ]
    return pd.DataFrame(rows)


def write_chart(
    path: Path, header: str, columns: dict[str, dict[float, float]]
) -> None:
    """Write a chart: one row per step, three columns per curve, every cell in quotes."""
    steps = sorted({step for own in columns.values() for step in own})
    names = [f"{c}{end}" for c in columns for end in ("", "__MIN", "__MAX")]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([header, *names])
        for step in steps:
            cells = [own.get(step, "") for own in columns.values() for _ in range(3)]
            writer.writerow([step, *cells])


def write_bucketed(path: Path) -> None:
    """Write a chart of a long curve: the last of every ten steps, and their ends."""
    curve = frame_of(RUNS[1])["train/loss"]
    groups = curve.groupby(curve.index // 10 * 10)
    name = f"{name_of(RUNS[1])} - train/loss"
    table = pd.DataFrame(
        {
            name: groups.last(),
            f"{name}__MIN": groups.min(),
            f"{name}__MAX": groups.max(),
        }
    )
    table.to_csv(path, index_label="Step", quoting=csv.QUOTE_ALL)


def write_runs(path: Path) -> None:
    """Write the table of runs: own columns, configuration, then the last of each metric."""
    lines = []
    for config, state in zip(RUNS, STATES, strict=True):
        last = frame_of(config).ffill().iloc[-1]
        fixed = {"Name": name_of(config), "State": state, "Notes": "-"}
        fixed |= {"User": "somebody", "Tags": "example"}
        fixed |= {"Created": "2026-01-01T00:00:00.000Z", "Runtime": 100, "Sweep": ""}
        logged = {
            "eval/return": "" if config["algo"] == "sac" else last["eval/return"],
            "global_step": int(last["global_step"]),
            "train/loss": last["train/loss"],
        }
        lines.append(fixed | dict(sorted(config.items())) | logged)
    pd.DataFrame(lines).to_csv(path, index=False, quoting=csv.QUOTE_ALL)


def make_exports(out: Path) -> None:
    """Write one file, or folder, of each form."""
    out.mkdir(parents=True)
    done = RUNS[:4]
    returns = {
        f"{name_of(c)} - eval/return": frame_of(c)["eval/return"].dropna().to_dict()
        for c in done
    }
    write_chart(out / "chart.csv", "Step", returns)
    by_step = {
        f"{name_of(c)} - {name}": dict(zip(f["global_step"], f[column], strict=True))
        for c in done
        for f in [frame_of(c).dropna(subset=["eval/return"])]
        for name, column in [("_step", "_step"), ("eval/return", "eval/return")]
    }
    write_chart(out / "chart-by-global-step.csv", "global_step", by_step)
    groups = {
        f"algo: {algo} - eval/return": pd.concat(
            [frame_of(c)["eval/return"].dropna() for c in done if c["algo"] == algo],
            axis=1,
        )
        .mean(axis=1)
        .to_dict()
        for algo in ("ppo", "dqn")
    }
    write_chart(out / "chart-of-groups.csv", "Step", groups)
    write_bucketed(out / "chart-of-buckets.csv")
    write_runs(out / "runs.csv")
    for config, own in zip(done, IDS, strict=False):
        folder = out / "artifacts" / f"run-{own}-history_v0"
        folder.mkdir(parents=True)
        frame_of(config).to_parquet(folder / "0000.parquet", index=False)
    whole = [frame_of(c).assign(run=name_of(c), **c) for c in done]
    pd.concat(whole).to_csv(out / "scan_history.csv")


def main() -> None:
    """Write everything, or log a single run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--run", type=int)
    parser.add_argument("--first", type=int, default=len(RUNS), help="so many runs")
    parser.add_argument("--offline-only", action="store_true")
    asked = parser.parse_args()
    if asked.run is not None:
        log_one(asked.run, str(asked.out))
        return
    shutil.rmtree(asked.out, ignore_errors=True)
    make_offline(asked.out, asked.first)
    if not asked.offline_only:
        make_exports(asked.out / "exports")
    (asked.out / "VERSIONS.txt").write_text(f"wandb {wandb.__version__}\n")


if __name__ == "__main__":
    main()
