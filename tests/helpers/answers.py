"""One of each kind of answer, with names of one's choice."""

import functools
from dataclasses import replace
from unittest.mock import patch

import numpy as np

import curvewise as cw
from curvewise.answer import Provenance
from curvewise.questions.plan import line_plan
from curvewise_papers.claims import Claim, Claims

QUIET = {"executor": "serial", "progress": False}


def accuracy(suffix=""):
    return cw.Metric(f"accuracy{suffix}", "higher", (0, 1))


@functools.cache
def searched(suffix=""):
    """Scores of three algorithms, one of them with a tuned one, on two tasks."""
    rng = np.random.default_rng(0)
    shapes = {
        f"net{suffix}": (8, 3),
        f"net{suffix} tuned": (20, 3),
        f"forest{suffix}": (9, 2),
    }
    metric = accuracy(suffix)
    return cw.Trials(
        [
            cw.Trial(
                *(f"{task}{suffix}", name, i),
                {metric.name: float(rng.beta(*shape))},
                status="ok" if i else "failed",
                error="" if i else f"diverged{suffix}",
            )
            for task in ("rings", "waves")
            for name, shape in shapes.items()
            for i in range(30)
        ],
        metrics=[metric],
    )


@functools.cache
def curved(suffix=""):
    """Curves of two algorithms on two tasks."""
    rng = np.random.default_rng(1)
    return cw.Trials(
        [
            cw.Trial(
                *(f"{task}{suffix}", f"{name}{suffix}", i),
                {f"return{suffix}": height + rng.normal(size=6).cumsum()},
            )
            for task in ("hill", "swamp")
            for name, height in (("slow", 0.0), ("fast", 9.0))
            for i in range(5)
        ],
        metrics=[cw.Metric(f"return{suffix}", "higher")],
    )


@functools.cache
def counts(suffix="", classes=2):
    """Confusion counts of two algorithms along growing training sets."""
    rng = np.random.default_rng(2)
    sizes = (50, 100, 200, 400)

    def matrix(size):
        right = [rng.binomial(60, 1 - 0.4 * size**-0.15) for _ in range(classes)]
        counts = np.diag(right)
        for k, n in enumerate(right):
            counts[k, (k + 1) % classes] += 60 - n
        return counts

    return cw.Trials(
        cw.Trial(
            *(f"all{suffix}", f"{name}{suffix}", i, {}),
            steps=sizes,
            counts=[matrix(n) for n in sizes],
            seconds=1.0,
        )
        for name in ("trees", "bayes")
        for i in range(3)
    )


def net(name):
    def train(params, data, rng):
        for step in range(2):
            yield step, {name: float(np.clip(params["lr"] + 0.1 * rng.normal(), 0, 1))}

    return train


def experiment(suffix="", **options):
    metric = accuracy(suffix)
    return cw.Experiment(
        cw.Task(f"t{suffix}", lambda rng: None),
        cw.Algorithm(f"net{suffix}", {"lr": cw.uniform(0, 1)}, net(metric.name)),
        metrics=[metric],
        **options,
    )


@functools.cache
def crossed(suffix=""):
    plan = experiment(suffix, cross={"params": 4, "seed": 3})
    return cw.run(plan, **QUIET)


@functools.cache
def sliced(suffix=""):
    plan = experiment(suffix, trials=30)
    trials = cw.run(plan, **QUIET)
    asked = {"percentiles": (5, 95), "trials_each": 10}
    return cw.quantile_slices(trials, plan, **asked, **QUIET)


@functools.cache
def reached(suffix=""):
    plan = experiment(suffix, trials=64)
    until = cw.until("mean", half_width=0.2, metric=accuracy(suffix).name)
    return until.reached(plan, cw.run(plan, until=until, **QUIET))


def planned_lines(suffix=""):
    with patch.object(line_plan, "SIMULATIONS", 100):  # quick, not exact
        pilot = curved(suffix)
        return cw.plan.lines(pilot.where(task=pilot.tasks[0]), shift=4.0)


def learnt(suffix=""):
    return cw.learning(counts(suffix), "error")


def of_scores(suffix=""):
    asked = {"pilot": searched(suffix), "metric": accuracy(suffix).name}
    return cw.plan.trials(0.02, of="cvar", failed="worst", **asked)


def audited(suffix=""):
    return cw.audit(curved(suffix).where(task=f"hill{suffix}"), repetitions=20)


def versions(suffix=""):
    """Three algorithms on two tasks; the new version of one of them is worse."""
    base = searched(suffix)
    new = cw.Trials(
        (
            replace(one, metrics={n: 0.6 * z for n, z in one.metrics.items()})
            if one.algorithm == f"forest{suffix}"
            else one
            for one in base
        ),
        metrics=[accuracy(suffix)],
    )
    return cw.compare_versions(base, new, failed="worst")


def claimed(suffix=""):
    return Claims(
        (
            Claim("Table 1", f"net{suffix}", "rings", 0.5, 0.5),
            Claim(
                "Table 1", f"net{suffix}", "waves", 0.5, 0.9, why="A misprint of 0.4."
            ),
            Claim("Section 2", "tasks", "", 2, None, why="Nobody counted."),
        ),
        Provenance("paper toy", {}, None, "0" * 64),
    )


ANSWERS = {
    "Performance": lambda s="": cw.performance(searched(s), failed="worst"),
    "Robustness": lambda s="": cw.robustness(searched(s), failed="worst"),
    "Difference": lambda s="": cw.difference(curved(s), shuffles=99),
    "Learning": learnt,
    "Forecasts": lambda s="": learnt(s).at([1000, 4000]),
    "SizesNeeded": lambda s="": learnt(s).size_for(0.1),
    "NextRuns": lambda s="": learnt(s).next_run(4000),
    "Confusion": lambda s="": cw.confusion(counts(s, 3)),
    "CountForecasts": lambda s="": cw.confusion(counts(s), "f1").at(4000),
    "VarianceShares": lambda s="": cw.variance_shares(crossed(s)),
    "Slices": sliced,
    "Audit": audited,
    "BandPlan": lambda _s="": cw.plan.trials(0.05),
    "ScorePlan": of_scores,
    "TopPlan": lambda _s="": cw.plan.top(0.05),
    "LinesPlan": planned_lines,
    "Telling": lambda _s="": cw.plan.tell(200),
    "Versions": versions,
    "Findings": lambda s="": cw.check(searched(s)),
    "Reached": reached,
    "Explanation": lambda s="": cw.explain(searched(s)),
    "Claims": claimed,
}


@functools.cache
def answer(kind, suffix=""):
    """Return the answer of a kind, made once."""
    return ANSWERS[kind](suffix)
