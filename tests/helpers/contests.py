"""Algorithms that meet on tasks, some ahead of others: what sentences are said of."""

import math

import numpy as np
from noisy_lines import lines as noisy_lines

from curvewise import Metric, Trial, Trials

CLEAR = {"a": 0.95, "b": 0.6, "c": 0.2}
TURNED = {"a": 0.5, "b": 0.9, "c": 0.6}
TIE = {"a": 0.8, "b": 0.8, "c": 0.8}
RETURN, LOSS = Metric("return", "higher"), Metric("loss", "lower")
ACCURACY = Metric("accuracy", "higher", (0, 1))
STEPS = np.linspace(0, 1, 8)
SIZES = np.array([40, 80, 160, 320])
LONG = [f"a network that has a long name and ends with version {i}" for i in (1, 2)]


# --- scores ------------------------------------------------------------------------------


def trials_of(scores, metrics=(), name="accuracy"):
    """Return trials from {(task, algorithm): scores}; a score of None is a failure."""
    return Trials(
        (
            Trial(task, algorithm, i, {name: z})
            if z is not None
            else Trial(task, algorithm, i, {}, status="failed", error="boom")
            for (task, algorithm), own in scores.items()
            for i, z in enumerate(own)
        ),
        metrics=metrics,
    )


def drawn(means, tasks=("t",), n=60, seed=0, spread=0.03):
    """Return scores of algorithms with these means; a dict of means is one per task."""
    rng = np.random.default_rng(seed)
    return {
        (task, name): np.clip(rng.normal(mean, spread, n), 0, 1).tolist()
        for task in tasks
        for name, mean in means.get(task, means).items()
    }


def scored(means, tasks=("t",), n=60, *, name="accuracy", metrics=()):
    """Return trials of algorithms with these means."""
    return trials_of(drawn(means, tasks, n), metrics, name)


def many_tasks():
    """Return four tasks that a wins, three that b wins, and five that nobody wins."""
    means = {f"t{i}": CLEAR for i in range(4)}
    means |= {f"t{i}": TURNED for i in range(4, 7)}
    means |= {f"t{i}": TIE for i in range(7, 12)}
    return scored(means, tasks=list(means), n=150)


def failing():
    """Return an algorithm that is better than another where it does not fail."""
    scores = drawn({"a": 0.9, "b": 0.8}, n=100)
    scores["t", "a"] = [z if i % 4 else None for i, z in enumerate(scores["t", "a"])]
    return trials_of(scores)


def losses(n):
    """Return losses, which have no bound."""
    return scored({"a": 0.2, "b": 0.8}, n=n, metrics=[LOSS], name="loss")


def long_names():
    """Return algorithms whose names are alike but for their ends."""
    means = dict(zip(LONG, (0.9, 0.5), strict=True))
    return scored(means, tasks=["x" * 10_000])


def tuned(gain, tasks=("t",), n=150, seed=0):
    """Return algorithms and the same ones tuned, which gain so much."""
    rng = np.random.default_rng(seed)
    scores = {}
    for task in tasks:
        for name, more in gain.items():
            data = rng.uniform(0.5, 0.7, n)
            scores[task, name] = (data + 0.02 * rng.random(n)).tolist()
            scores[task, f"{name} tuned"] = (
                data + more + 0.02 * rng.random(n)
            ).tolist()
    return trials_of(scores)


def sloppy(n=60, seed=0, loss=0.3):
    """Return scores of an algorithm that needs tuning, and of one that does not."""
    rng = np.random.default_rng(seed)
    data = 0.6 + 0.2 * rng.random(n)
    noise = [0.02 * rng.random(n) for _ in range(4)]
    return {
        "svm": data + noise[0] - loss * (rng.random(n) < 0.4),
        "svm tuned": data + noise[1],
        "knn": data + noise[2],
        "knn tuned": data + noise[3],
    }


def on_task(scores, task="t", name="accuracy"):
    """Return trials from {algorithm: scores}."""
    own = {(task, algorithm): list(z) for algorithm, z in scores.items()}
    return trials_of(own, name=name)


def crossed(scale, levels=(20, 8), seed=0):
    """Return crossed trials in which hyperparameters make so much of the spread."""
    rng = np.random.default_rng(seed)
    params, seeds = scale * rng.normal(size=levels[0]), rng.normal(size=levels[1])
    return Trials(
        (
            Trial(
                "t", "net", i * levels[1] + j,
                {"loss": p + s + 0.1 * rng.normal()},
                labels={"params": i, "seed": j},
            )
            for i, p in enumerate(params)
            for j, s in enumerate(seeds)
        ),
        metrics=[LOSS],
    )  # fmt: skip


def grid(scores):
    """Return crossed trials with these scores, hyperparameters by seeds."""
    return Trials(
        Trial("t", "a", i * 100 + j, {"return": s}, labels={"params": i, "seed": j})
        for (i, j), s in np.ndenumerate(np.asarray(scores, float))
    )


def noisy_grid(spread, shape, seed=0):
    """Return crossed trials of noise, with so much spread from hyperparameters."""
    rng = np.random.default_rng(seed)
    return grid(spread * rng.normal(size=(shape[0], 1)) + rng.normal(size=shape))


# --- versions ----------------------------------------------------------------------------


def version(scores, metric=RETURN, algorithm="ppo", task="Hopper", first=0):
    """Return one algorithm's trials, one score each."""
    return Trials(
        [
            Trial(task, algorithm, first + i, {metric.name: float(z)})
            for i, z in enumerate(scores)
        ],
        metrics=[metric],
    )


def noisy(mean, n=12, sd=1.0, seed=0):
    """Return scores of exactly this mean and about this spread, without skewness."""
    z = np.random.default_rng(seed).normal(size=n // 2)
    return mean + sd * np.r_[z, -z]


def several(names, tasks, shift=0.0, n=10, seed=0):
    """Return a version of several algorithms on several tasks."""
    rng = np.random.default_rng(seed)
    return Trials(
        [
            Trial(t, a, i, {"return": 50 + shift + rng.normal()})
            for t in tasks
            for a in names
            for i in range(n)
        ],
        metrics=[RETURN],
    )


def diverging(failed, n=12, metric=ACCURACY, good=0.9):
    """Return a version of which so many trials failed."""
    return Trials(
        [
            Trial(
                *("moons", "svm", i),
                {metric.name: math.nan if i < failed else good + 0.001 * (i % 3)},
                status="failed" if i < failed else "ok",
                error="diverged" if i < failed else "",
            )
            for i in range(n)
        ],
        metrics=[metric],
    )


def ending(last):
    """Return curves that end at a step."""
    return Trials(
        [
            Trial("Hopper", "ppo", i, {"return": [i, i + 1.0]}, steps=[1, last])
            for i in range(5)
        ],
        metrics=[RETURN],
    )


# --- curves ------------------------------------------------------------------------------


def lines_of(effects, *, n=8, seed=0, metric=RETURN, noise=1.0):
    """Return runs from {(task, algorithm): mean curve}, a number for a level one."""
    rng = np.random.default_rng(seed)
    return Trials(
        (
            Trial(task, name, i, {metric.name: mean + noise * _noise(rng)})
            for (task, name), mean in effects.items()
            for i in range(n)
        ),
        metrics=[metric],
    )


def _noise(rng):
    return rng.normal() + 0.3 * rng.normal(size=len(STEPS)).cumsum()


def on_four_tasks(heights):
    """Return runs of algorithms with these heights on each of four tasks."""
    return lines_of(
        {(task, name): height for task in "stuv" for name, height in heights.items()}
    )


def shapes():
    """Return curves that cross in the middle, of the same height."""
    return lines_of({("t", "a"): 6 * (STEPS - 0.5), ("t", "b"): -6 * (STEPS - 0.5)})


def turning():
    """Return curves of which now the one, now the other is ahead, task by task."""
    effects = {}
    for i, task in enumerate("stuv"):
        effects[task, "a"], effects[task, "b"] = 5 if i % 2 else -5, 0
    return lines_of(effects)


def without_common_pairs():
    """Return two tasks that no pair of algorithms has in common."""
    return lines_of({("s", "a"): 0, ("s", "b"): 20, ("t", "c"): 0, ("t", "d"): 0})


def broken():
    """Return runs of two algorithms, and one more that failed."""
    trials = lines_of({("t", "a"): 0, ("t", "b"): 3})
    failed = [Trial("t", "a", 99, {}, status="failed", error="boom")]
    return trials + Trials(failed, metrics=[RETURN])


def errors_of(floors, *, tasks=("t",), n=6, seed=0):
    """Return errors that fall towards each algorithm's floor."""
    rng = np.random.default_rng(seed)
    curve = 1.2 * SIZES**-0.5
    return Trials(
        Trial(
            task,
            name,
            i,
            {"error": np.clip(floor + curve + 0.01 * rng.normal(size=4), 0, 1)},
            steps=SIZES,
        )
        for task in tasks
        for name, floor in floors.items()
        for i in range(n)
    )


def on_tasks(trials, tasks="stuv"):
    """Return the same counts on several tasks."""
    return Trials(
        Trial(task, one.algorithm, one.number, {}, steps=one.steps, counts=one.counts)
        for task in tasks
        for one in trials
    )


# --- walks: lines whose points hang together ---------------------------------------------

HUNDREDS = np.arange(0, 800, 100)


def lines_by_task(by_task, metric="return", steps=HUNDREDS):
    """Return trials from {task: {algorithm: (line, step) array}}."""
    return Trials(
        Trial(task, name, i, {metric: line}, steps=steps)
        for task, own in by_task.items()
        for name, table in own.items()
        for i, line in enumerate(np.asarray(table))
    )


def walks(shift=0.0, ramp=0.0, sizes=(10, 10), seed=0, sds=1.0, names="ab"):
    """Return lines of two algorithms, or of more, by name."""
    rng = np.random.default_rng(seed)
    lines = noisy_lines("walk", sizes, rng, shift=shift, ramp=ramp, sds=sds)
    return dict(zip(names, lines, strict=True))


def walked(metric="return", **options):
    """Return trials of walks on one task."""
    return lines_by_task({"t": walks(**options)}, metric)


def bumped(until, height, after=0.0, metric="return"):
    """Return walks of which the second is moved, by so much until a step and after it."""
    own = walks(seed=4)
    own["b"] = own["b"] + np.where(until > HUNDREDS, height, after)
    return lines_by_task({"t": own}, metric)


def stretched():
    """Return walks of eighty steps, ten of which are alike."""
    own = {name: table.repeat(10, axis=1) for name, table in walks(shift=3.0).items()}
    return lines_by_task({"t": own}, steps=np.arange(80))


def noise_of(steps):
    """Return five lines of two algorithms that are nothing but noise."""
    noise = np.random.default_rng(1).normal(size=(2, 5, steps))
    own = dict(zip("ab", noise, strict=True))
    return lines_by_task({"t": own}, steps=np.arange(steps))


def stairs(lines=4):
    """Return four algorithms, each far above the one before, of few lines."""
    rng = np.random.default_rng(0)
    own = {c: 9 * i + rng.normal(size=(lines, 8)) for i, c in enumerate("abcd")}
    return lines_by_task({"t": own})


def ragged():
    """Return walks of which every other one begins a step later."""
    return Trials(
        Trial("t", name, i, {"return": line[i % 2 :]}, steps=HUNDREDS[i % 2 :])
        for name, table in walks(shift=2.0).items()
        for i, line in enumerate(table)
    )


def cut_off():
    """Return walks of which one failed after three steps."""
    failed = {"error": "out of memory", "status": "failed"}
    return Trials(
        Trial(
            *("t", name, i),
            {"return": line[:3] if is_cut else line},
            steps=HUNDREDS[:3] if is_cut else HUNDREDS,
            **(failed if is_cut else {}),
        )
        for name, table in walks(shift=2.0).items()
        for i, line in enumerate(table)
        for is_cut in [(name, i) == ("b", 0)]
    )
