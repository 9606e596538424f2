"""Make logs of Stable-Baselines3 for the tests, and what it says itself is in them.

In a virtual environment of its own::

    python3 -m venv /tmp/venv_sb3
    /tmp/venv_sb3/bin/pip install torch==2.13.0 stable-baselines3 matplotlib pandas
    /tmp/venv_sb3/bin/python scripts/foreign/make_sb3.py tests/assets/foreign/sb3

Two algorithms, two seeds each, on CartPole: two environments side by side, each with its
`Monitor`, and an `EvalCallback`. `expected.json` has what `load_results` and numpy read.
"""

import argparse
import json
import shutil
from pathlib import Path

import gymnasium
import numpy as np
import stable_baselines3
import torch
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.results_plotter import load_results, ts2xy

STEPS = 2_000
ALGORITHMS = {"ppo": (PPO, {"n_steps": 128}), "a2c": (A2C, {"n_steps": 16})}


def train(folder: Path, name: str, seed: int) -> None:
    """Train one agent for a short while, with all logs in a folder."""
    algorithm, settings = ALGORITHMS[name]
    env = make_vec_env("CartPole-v1", n_envs=2, seed=seed, monitor_dir=str(folder))
    other = make_vec_env("CartPole-v1", n_envs=1, seed=100 + seed)
    model = algorithm("MlpPolicy", env, seed=seed, device="cpu", **settings)
    model.set_logger(configure(str(folder), ["csv"]))
    watch = EvalCallback(
        other,
        log_path=str(folder),
        eval_freq=250,
        n_eval_episodes=3,
        verbose=0,
    )
    model.learn(STEPS, callback=watch)
    env.close()
    other.close()


def expected(folder: Path) -> dict[str, object]:
    """Return what the tool's own functions read from a folder."""
    steps, returns = ts2xy(load_results(str(folder)), "timesteps")
    with np.load(folder / "evaluations.npz") as arrays:
        evaluated = {name: arrays[name].tolist() for name in arrays.files}
    return {
        "steps": steps.tolist(),
        "returns": returns.tolist(),
        "lengths": load_results(str(folder))["l"].tolist(),
        "evaluations": evaluated,
    }


def main() -> None:
    """Write the folders of all runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    shutil.rmtree(out, ignore_errors=True)
    torch.set_num_threads(1)
    found = {}
    for name in ALGORITHMS:
        for seed in (0, 1):
            run = f"{name}/CartPole-v1_{seed}"
            train(out / "logs" / run, name, seed)
            found[run] = expected(out / "logs" / run)
    (out / "expected.json").write_text(json.dumps(found))
    (out / "VERSIONS.txt").write_text(
        f"stable-baselines3 {stable_baselines3.__version__}\n"
        f"gymnasium {gymnasium.__version__}\n"
    )


if __name__ == "__main__":
    main()
