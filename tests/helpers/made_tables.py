"""Tables made at random, each with the trials that it was made from.

A table is well formed if its columns have usual names and every row can be told apart
by them; others hold what people also write: names nobody knows, runs that share a seed,
steps without a count, scores in percent, and so on.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

ALGORITHM = (
    "algorithm",
    "model",
    "method",
    "agent",
    "Algo",
    "classifier",
    "Model Name",
)
TASK = ("task", "dataset", "env", "Environment", "benchmark", "game")
SEED = ("seed", "run", "Seed", "random_seed", "trial", "replicate", "fold", "run_id")
STEP = ("step", "epoch", "iteration", "timesteps", "global_step", "Epoch", "episode")
SIZE = ("n_train", "train_size", "n", "num_examples", "n_samples")
HIGH = ("accuracy", "acc", "f1", "auc", "val_accuracy", "test/acc", "Accuracy")
FREE = ("return", "reward", "episode_return", "loss", "val_loss", "rmse", "perplexity")
ODD = ("zorp", "quux", "who", "kind", "thing")
NAMES = ("ppo", "sac", "td3", "svm", "forest", "knn", "resnet-18", "a b", "ÄÖ", "x_1")
TASKS = ("Hopper-v4", "mnist", "cifar10", "circles", "Pong", "t1")


@dataclass
class Made:
    frame: pd.DataFrame
    truth: list[tuple]  # (algorithm, task, {metric: ((step, value), ...)})
    is_well_formed: bool
    what: str
    keywords: dict = field(default_factory=dict)


def _pick(rng, pool, n=None):
    if n is None:
        return str(pool[rng.integers(len(pool))])
    return [str(c) for c in rng.choice(pool, n, replace=False)]


def _runs(rng, metrics):
    """Return runs: who, on what, with which seed, params and curves."""
    algorithms = _pick(rng, NAMES, rng.integers(1, 5))
    tasks = _pick(rng, TASKS, rng.integers(1, 4))
    count = int(rng.integers(2, 7))
    shared = rng.choice(100, count, replace=False).tolist()
    own = rng.random() < 0.3  # every algorithm has seeds of its own
    kind = rng.choice(["score", "curve", "size"])
    n = int(rng.integers(3, 12))
    if kind == "score":
        steps = [0.0]
    elif kind == "curve":
        steps = (np.arange(n) * int(rng.choice([1, 5, 1000])) + 1.0).tolist()
    else:
        steps = (25.0 * 2 ** np.arange(min(n, 6))).tolist()
    runs = []
    for task in tasks:
        for k, algorithm in enumerate(algorithms):
            for seed in (np.arange(count) + count * k).tolist() if own else shared:
                curves = {}
                for m in metrics:
                    low, high = (0, 1) if m in HIGH else (0, 50)
                    values = rng.uniform(low, high, len(steps)).round(6)
                    curves[m] = list(zip(steps, values.tolist(), strict=True))
                runs.append((algorithm, task, seed, curves))
    return kind, runs


def made(rng):
    """Return one table and what it was made from."""
    metrics = _pick(rng, HIGH[:6] + FREE, rng.integers(1, 4))
    metrics = list({m.casefold(): m for m in metrics}.values())
    kind, runs = _runs(rng, metrics)
    shape = rng.choice(["plain", "melted", "odd names", "twins", "unnumbered", "parts"],
                       p=[0.55, 0.15, 0.1, 0.08, 0.07, 0.05])  # fmt: skip
    names = {
        "algorithm": _pick(rng, ALGORITHM),
        "task": _pick(rng, TASK),
        "seed": _pick(rng, SEED),
        "step": _pick(rng, SIZE if kind == "size" else STEP),
    }
    well = shape in ("plain", "melted")
    if shape == "odd names":
        role = str(rng.choice(["seed", "task", "algorithm"]))
        names[role] = _pick(rng, ODD)
        # A name that nobody knows and that is the same everywhere is no name.
        if len({run[1] for run in runs}) == 1 and role == "task":
            runs = [(a, "all", s, c) for a, _, s, c in runs]
        if len({run[0] for run in runs}) == 1 and role == "algorithm":
            runs = [("all", t, s, c) for _, t, s, c in runs]
    one_task = len({task for _, task, *_ in runs}) == 1
    rows = []
    for algorithm, task, seed, curves in runs:
        for i, (step, _) in enumerate(next(iter(curves.values()))):
            row = {names["algorithm"]: algorithm, names["task"]: task}
            row[names["seed"]] = seed
            if kind != "score":
                row[names["step"]] = step
            rows.append(row | {m: c[i][1] for m, c in curves.items()})
    frame = pd.DataFrame(rows)
    if one_task and rng.random() < 0.3:
        frame = frame.drop(columns=names["task"])
        runs = [(a, "all", s, c) for a, _, s, c in runs]
    truth = [
        (a, t, {m: tuple(c) for m, c in curves.items()}) for a, t, _, curves in runs
    ]
    per_run = max(len(c) for *_, curves in runs for c in curves.values())
    frame = _with_more(rng, frame, runs, per_run, well)
    if shape == "twins":  # two runs with the same seed, logged at other steps
        frame, truth = _twins(rng, frame, truth, names, kind)
    elif shape == "unnumbered" and kind != "score":
        frame = frame.drop(columns=names["step"])
    elif shape == "unnumbered":
        frame = frame.drop(columns=names["seed"])
    elif shape == "parts":  # the same rows again, for training data
        other = frame.copy()
        other[metrics] = rng.uniform(0, 1, (len(frame), len(metrics))).round(6)
        frame = pd.concat([frame.assign(phase="test"), other.assign(phase="train")])
    elif shape == "melted":
        keys = [c for c in frame.columns if c not in metrics]
        name, value = rng.choice([["metric", "value"], ["measure", "score"]])
        frame = frame.melt(keys, metrics, name, value)
    # In any other order, two runs without names could as well be one: nobody can tell.
    in_order = shape == "twins"
    if rng.random() < 0.3 and not in_order:
        frame = frame.sample(frac=1, random_state=int(rng.integers(2**31)))
    elif rng.random() < 0.2 and names["step"] in frame and not in_order:
        frame = frame.sort_values(names["step"], kind="stable")
    if rng.random() < 0.2:
        frame = frame.reset_index(drop=True).reset_index(names="Unnamed: 0")
    if rng.random() < 0.15:
        frame = frame[rng.permutation(frame.columns)]
    if shape == "plain" and rng.random() < 0.1:
        frame, truth, well = _failures(rng, frame, truth, metrics, kind, well)
    rates = [m for m in metrics if m in HIGH and m in frame]
    if rates and rng.random() < 0.08:
        frame[rates] = frame[rates] * 100
        well = False
    return Made(frame, truth, well, f"{shape}, {kind}")


def _with_more(rng, frame, runs, per_run, well):
    """Add columns that are no scores: params, hosts, times, commits."""
    each = np.repeat(np.arange(len(runs)), per_run)
    if rng.random() < 0.4:
        frame["lr"] = (10.0 ** rng.uniform(-5, -1, len(runs)))[each]
    if rng.random() < 0.2:
        frame["batch_size"] = rng.choice([32, 64, 128], len(runs))[each]
    if rng.random() < 0.2:
        frame["host"] = "node7"
    if rng.random() < 0.15:
        frame["timestamp"] = [
            f"2024-01-01 10:{i // 60:02}:{i % 60:02}" for i in range(len(frame))
        ]
    if rng.random() < 0.1:
        frame["commit"] = "abc123"
    if rng.random() < 0.1 and well:
        frame["status"] = "finished"
    return frame


def _twins(rng, frame, truth, names, kind):
    if kind != "curve":
        return frame, truth
    other, shifted = frame.copy(), []
    other[names["step"]] = other[names["step"]] + 0.5
    for algorithm, task, curves in truth:
        moved = {m: tuple((s + 0.5, v) for s, v in c) for m, c in curves.items()}
        shifted.append((algorithm, task, moved))
    if rng.random() < 0.5:
        column = str(rng.choice(["run", "id", "experiment", "wandb_run"]))
        if column not in frame:
            frame, other = (
                frame.assign(**{column: "r1"}),
                other.assign(**{column: "r2"}),
            )
    return pd.concat([frame, other]), [*truth, *shifted]


def _failures(rng, frame, truth, metrics, kind, well):
    """Empty the scores of one run that has one step."""
    if kind != "score":
        return frame, truth, well
    row = int(rng.integers(len(frame)))
    cells = {m: frame.iloc[row][m] for m in metrics}
    frame = frame.copy()
    frame.iloc[row, [frame.columns.get_loc(m) for m in metrics]] = np.nan
    for i, (a, t, curves) in enumerate(truth):
        if all(curves[m][0][1] == cells[m] for m in metrics):
            truth = [*truth[:i], (a, t, {}), *truth[i + 1 :]]
            break
    return frame, truth, well
