"""Folders of runs drawn at random: never wrong trials, and answers to every question."""

import json
import random

import pytest
from folder_runs import quietly

from curvewise import CurvewiseError

ALGORITHMS = ("ppo", "sac", "resnet18", "mixup", "net-a", "MLP", "tree_big", "A2C")
TASKS = ("Hopper-v4", "Walker2d", "cifar10", "mnist", "maze", "CartPole-v1", "task_a")
WORDS = ("seed", "s", "seed_", "run", "seed-", "run_", "")
NAMES = (
    *("{a}{p}{t}{p}{w}{s}", "{t}{p}{a}{p}{w}{s}", "{w}{s}{p}{a}{p}{t}"),
    *("{a}/{t}/{w}{s}", "{a}/{t}{p}{w}{s}", "exp{i}", "algo={a},env={t},seed={s}"),
)
FILES = ("metrics.csv", "log.jsonl", "history.json", "results.json", ".csv")


def configured(kind, a, t, s):
    return {
        "none": None,
        "seed": {"seed": s, "lr": 0.1},
        "full": {"algo": a, "env": t, "seed": s, "lr": 0.1},
        "nested": {"model": {"name": a}, "dataset": {"name": t}, "train": {"seed": s}},
    }[kind]


def written(file, scores):
    records = [{"epoch": e, "acc": score} for e, score in enumerate(scores)]
    if file.endswith(".csv"):
        return "epoch,acc\n" + "".join(f"{r['epoch']},{r['acc']!r}\n" for r in records)
    if file.endswith("jsonl"):
        return "\n".join(map(json.dumps, records))
    if file == "history.json":
        return json.dumps({"history": {"acc": scores, "val_acc": scores}})
    return json.dumps(records)


def draw(rng, top):
    """Write the runs of a drawn layout; return their curves by algorithm and task."""
    algorithms = rng.sample(ALGORITHMS, rng.randint(1, 3))
    tasks = rng.sample(TASKS, rng.randint(1, 3))
    seeds = range(rng.choice([0, 42]), 1000)[: rng.randint(2, 4)]
    form, sign, word = rng.choice(NAMES), rng.choice("-_/."), rng.choice(WORDS)
    kinds = ("full", "nested") if "{i}" in form else ("none", "seed", "full", "nested")
    kind, file = rng.choice(kinds), rng.choice(FILES)
    groups = {}
    cases = [(a, t, s) for a in algorithms for t in tasks for s in seeds]
    for i, (a, t, s) in enumerate(cases):
        run = form.format(a=a, t=t, s=s, p=sign, w=word, i=i)
        path = top / (f"{run}.csv" if file == ".csv" else f"{run}/{file}")
        path.parent.mkdir(parents=True, exist_ok=True)
        scores = [rng.random() for _ in range(rng.randint(2, 4))]
        path.write_text(written(file, scores))
        groups.setdefault((a, t), set()).add(tuple(scores))
        if (config := configured(kind, a, t, s)) is not None:
            lone = path.with_suffix(".json")
            beside = lone if file == ".csv" else path.parent / "config.yaml"
            beside.write_text(json.dumps(config))
    return groups


def grouped(source, **stated):
    trials, _ = quietly(source, metrics={"acc": "higher"}, **stated)
    groups = {}
    for trial in trials:
        key = (trial.algorithm, trial.task)
        groups.setdefault(key, set()).add(tuple(trial.metrics["acc"]))
    assert sum(map(len, groups.values())) == len(trials)
    return sorted(map(sorted, groups.values()))


def read_or_asked(source):
    """Return the groups that are read, or all those that fixes of the question give."""
    try:
        return [grouped(source)]
    except CurvewiseError as problem:
        fixes = problem.fixes
    out = []
    for fix in fixes:
        try:
            out.append(grouped(source, **fix))
        except CurvewiseError:
            continue
    return out


@pytest.mark.parametrize("seed", range(8))
def test_drawn_folders_are_read_rightly_or_asked_about(tmp_path, seed):
    for case in range(12):
        top = tmp_path / str(case) / "logs"
        groups = draw(random.Random(f"{seed} {case}"), top)
        assert sorted(map(sorted, groups.values())) in read_or_asked(top), case
