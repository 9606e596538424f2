"""Small studies of every shape, clean and not, for tests of what is answered."""

import numpy as np

import curvewise as cw
from curvewise import Trial, Trials

RNG_SEED = 20


def _rng():
    return np.random.default_rng(RNG_SEED)


def scores(n=20, algorithms="ab", task="t", **fields):
    """Return independent runs of two algorithms."""
    rng = _rng()
    return Trials(
        Trial(task, name, i, {"accuracy": 0.5 + 0.4 * rng.random()}, **fields)
        for name in algorithms
        for i in range(n)
    )


def one_run_each():
    return scores(n=1, algorithms="abc")


def curves(n=8, algorithms="ab"):
    rng = _rng()
    steps = list(range(1, 11))
    return Trials(
        Trial(
            "t",
            name,
            i,
            {"accuracy": [*(0.3 + 0.04 * np.arange(10) + 0.1 * rng.random(10))]},
            steps=steps,
        )
        for name in algorithms
        for i in range(n)
    )


def sizes(runs=3):
    """Return errors at sizes of training sets, a run each."""
    rng = _rng()
    return Trials(
        Trial(
            "t", name, 10 * s + i, {"error": e * 2**-s + 0.01 * rng.random()}, steps=[m]
        )
        for name, e in (("a", 0.5), ("b", 0.4))
        for s, m in enumerate((100, 200, 400, 800, 1600))
        for i in range(runs)
    )


def drift(n=60):
    """Return what an optimiser leaves behind."""
    rng = _rng()
    return Trials(
        Trial(
            "t",
            name,
            i,
            {"accuracy": 0.4 + 0.4 * i / n + 0.05 * rng.random()},
            params={"lr": float((1.5 - i / n) * rng.random())},
        )
        for name in ("a", "a tuned")
        for i in range(n)
    )


def pooled(label="model", task="t", algorithm="all"):
    rng = _rng()
    return Trials(
        Trial(
            task,
            algorithm,
            i,
            {"accuracy": 0.3 + 0.4 * (i % 2) + 0.1 * rng.random()},
            labels={label: ("ppo", "sac")[i % 2]},
        )
        for i in range(40)
    )


def grid():
    rng = _rng()
    return Trials(
        Trial(
            "t",
            "a",
            6 * i + j,
            {"accuracy": float(rng.random())},
            params={"lr": 10.0**-i, "width": 2**j},
        )
        for i in range(6)
        for j in range(6)
    )


def steps_as_runs():
    """Return four runs of ten episodes, each episode filed as a run."""
    rng = _rng()
    return Trials(
        Trial(
            "t",
            name,
            i,
            {"accuracy": float(rng.random())},
            labels={"seed": i // 10, "episode": i % 10},
        )
        for name in "ab"
        for i in range(40)
    )


def walk(n=100):
    """Return scores that follow each other."""
    path = np.cumsum(_rng().normal(size=n))
    return Trials(
        (Trial("t", "a", i, {"score": float(x)}) for i, x in enumerate(path)),
        [cw.Metric("score", "higher")],
    )


def crossed():
    rng = _rng()
    of_params, of_seed = rng.normal(size=8), rng.normal(size=5)
    return Trials(
        (
            Trial(
                "t",
                "a",
                5 * p + s,
                {"loss": float(of_params[p] + of_seed[s] + rng.normal())},
                labels={"params": p, "seed": s},
            )
            for p in range(8)
            for s in range(5)
        ),
        [cw.Metric("loss", "lower")],
    )


def percent_and_fractions():
    rng = _rng()
    return Trials(
        Trial("t", name, i, {"accuracy": scale * (0.8 + 0.1 * rng.random())})
        for name, scale in (("a", 1), ("b", 100))
        for i in range(10)
    )


def copies():
    """Return curves of which every second is a copy of the one before."""
    once = curves(n=8)
    rows = [row for row in once for _ in range(2)]
    return Trials(
        Trial(
            row.task,
            row.algorithm,
            2 * row.number + i % 2,
            row.metrics,
            steps=row.steps,
        )
        for i, row in enumerate(rows)
    )


def copies_of_counts():
    """Return confusion counts along sizes, every run filed twice."""
    return Trials(
        Trial(
            row.task,
            row.algorithm,
            2 * row.number + i,
            row.metrics,
            steps=row.steps,
            counts=row.counts,
        )
        for row in cw.example("counts")
        for i in range(2)
    )


def failures():
    rng = _rng()
    return Trials(
        Trial("t", name, i, {"accuracy": float(rng.random())})
        if i % 4
        else Trial("t", name, i, {}, status="failed", error="nan")
        for name in "ab"
        for i in range(20)
    )


CLEAN = {
    "search": lambda: cw.example("search"),
    "example curves": lambda: cw.example("curves"),
    "counts": lambda: cw.example("counts"),
    "scores": scores,
    "one algorithm": lambda: scores(algorithms="a"),
    "curves": curves,
    "sizes": sizes,
    "failures": failures,
}
TEMPERED = {"one run each": one_run_each, "grid": grid, "crossed": crossed}
BLOCKED = {
    "drift": drift,
    "pooled": pooled,
    "steps as runs": steps_as_runs,
    "walk": walk,
    "percent and fractions": percent_and_fractions,
    "copies": copies,
    "copies of counts": copies_of_counts,
}
STUDIES = CLEAN | TEMPERED | BLOCKED


def counts_along_sizes():
    """Return counts of two and of three classes, with all that notes must speak of.

    One run failed, one learner saw fewer sizes, others were held out to validate; one
    learner and one task have a single size.
    """
    rng, sizes = _rng(), np.array([40.0, 80, 160, 320])
    trials = []
    for task, classes in (("two", 2), ("three", 3)):
        for name, level, seen in (("good", 2.5, sizes), ("poor", 1.5, sizes[:3])):
            right = 1 / (1 + np.exp(9 * seen[:, None] ** -0.5 - level))
            right = right ** np.linspace(1, 1.5, classes)
            for i in range(3):
                hits = rng.binomial(60, right)
                counts = np.full((len(seen), classes, classes), 60) - hits[..., None]
                counts //= classes - 1
                each = np.arange(classes)
                counts[:, each, each] = hits
                own = {"trained_on": 2 * seen / 3} if task == "three" else {}
                trials.append(Trial(task, name, i, own, steps=seen, counts=counts))
    one = {"steps": [40.0], "counts": np.array([[[30, 10], [12, 28]]])}
    lost = Trial("two", "good", 3, {}, status="crashed", error="out of memory")
    late, alone = Trial("two", "late", 0, {}, **one), Trial("one", "good", 0, {}, **one)
    return Trials([*trials, lost, late, alone])
