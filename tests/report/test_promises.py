"""What explain promises of small studies of every kind is on the page."""

import re

import explained_pages
import numpy as np
import pytest

import curvewise as cw
from curvewise import Metric, Trial, Trials
from curvewise.report.page import render

# How many more runs tell curves apart stands where they are compared.
ANCHORS = {**explained_pages.ANCHORS, "plan.lines": "difference"}
WAYS = {"up": "higher", "down": "lower"}
SIZES = (50, 100, 200, 400, 800)


def study(
    metric="accuracy", n=8, steps=(), algorithms="ab", tasks=("t",), broken=0, noise=0.1
):
    """Return runs of a curve, or of one score, of which some failed."""
    rng = np.random.default_rng(0)
    return Trials(
        Trial(task, name, i, {}, status="failed", error="no GPU")
        if i < broken
        else Trial(
            *(task, name, i, {metric: values(rng, steps, noise) + (name == "b") / 20}),
            steps=list(steps) or None,
        )
        for task in tasks
        for name in algorithms
        for i in range(n)
    )


def values(rng, steps, noise):
    """Return a curve that falls with size, or one score."""
    if not len(steps):
        return 0.5 + noise * rng.random()
    return 0.1 + 2 / np.sqrt(steps) + noise / 10 * rng.random(len(steps))


def by_task(metric="value", **rest):
    made = study(metric, tasks=tuple(WAYS), **rest)
    return made.with_metrics({metric: Metric.of_tasks(metric, WAYS)})


def clusters(metric="accuracy", steps=(), seeds=4):
    """Return settings of which each was run with several seeds."""
    rng = np.random.default_rng(1)
    lrs = {name: rng.random(8) for name in "ab"}
    return Trials(
        Trial(
            *("t", name, seeds * c + seed, {metric: values(rng, steps, 0.1)}),
            steps=list(steps) or None,
            params={"lr": float(lr)},
            labels={"seed": seed},
        )
        for name in "ab"
        for c, lr in enumerate(lrs[name])
        for seed in range(seeds)
    )


def crossed(metric):
    """Return trials of which every setting met every seed, with either name."""
    rng = np.random.default_rng(2)
    return Trials(
        Trial(
            *("t", "a", 5 * p + s, {metric: rng.random()}),
            params={"lr": p / 10},
            labels={"seed": s},
        )
        for p in range(6)
        for s in range(5)
    )


EPOCHS = range(1, 9)
STUDIES = {
    "directed": study,
    "undirected": lambda: study("value"),
    "by task": by_task,
    "by task, curves": lambda: by_task(steps=EPOCHS),
    "by task, sizes": lambda: by_task(steps=SIZES, n=5),
    "by task, tuned": lambda: by_task(algorithms=("svm", "svm tuned")),
    "by task, one known": lambda: study("value", tasks=("up", "down")).with_metrics(
        {"value": Metric.of_tasks("value", {"up": "higher"})}
    ),
    "tuned, undirected": lambda: study("value", algorithms=("svm", "svm tuned")),
    "one run each": lambda: study(n=1),
    "one run each, undirected": lambda: study("value", n=1),
    "two runs each": lambda: study(n=2),
    "two runs each, unbounded": lambda: study("return", n=2),
    "one trial": lambda: study(n=1, algorithms="a"),
    "no noise": lambda: study(noise=0),
    "curves": lambda: study(steps=EPOCHS),
    "curves, undirected": lambda: study("value", steps=EPOCHS),
    "one curve each": lambda: study("value", steps=EPOCHS, n=1),
    "sizes": lambda: study("error", steps=SIZES, n=4),
    "sizes, undirected": lambda: study("value", steps=SIZES, n=4),
    "counts": lambda: cw.example("counts"),
    "some failed": lambda: study(broken=2),
    "some failed, undirected": lambda: study("value", broken=2, steps=EPOCHS),
    "all failed": lambda: study(n=4, broken=4),
    "clusters": clusters,
    "clusters, undirected": lambda: clusters("value"),
    "clusters of curves": lambda: clusters(steps=EPOCHS),
    "clusters of curves, undirected": lambda: clusters("value", EPOCHS),
    "clusters of sizes": lambda: clusters("error", SIZES),
    "crossed": lambda: crossed("accuracy"),
    "crossed, undirected": lambda: crossed("value"),
    "search": lambda: cw.example("search"),
}


def anchors(trials):
    """Return the sections of the page, without their numbers."""
    page = render(trials, failed="worst")
    return {name.partition("-")[0] for name in re.findall(r'<section id="(.+?)"', page)}


def broken_promises(answer, found):
    """Return the questions that can be answered, and are not on the page."""
    asked = [one.analysis for one in answer.questions if one.can != "no"]
    assert set(asked) <= set(ANCHORS)
    return [name for name in asked if ANCHORS[name] not in found]


@pytest.mark.parametrize("kind", STUDIES)
def test_what_can_be_answered_is_on_the_page(kind):
    trials = STUDIES[kind]()
    assert broken_promises(cw.explain(trials), anchors(trials)) == []


@pytest.mark.parametrize("kind", STUDIES)
def test_a_question_that_the_page_lacks_would_be_found(kind):
    """The negative control: without its section, a promise is broken."""
    trials = STUDIES[kind]()
    answer = cw.explain(trials)
    for anchor in {ANCHORS[q.analysis] for q in answer.questions if q.can != "no"}:
        assert broken_promises(answer, anchors(trials) - {anchor})


def test_the_studies_have_every_promise_and_every_lack():
    """Each question is answered for one of them, and is not for another."""
    kinds = ("directed", "undirected", "curves", "sizes", "counts", "crossed")
    more = ("by task, tuned",)
    found = [cw.explain(STUDIES[kind]()) for kind in (*kinds, *more)]
    for name in ANCHORS:
        assert {answer.of(name).can == "no" for answer in found} == {True, False}
