"""What is kept of a run: how far methods miss, how often bands hold, who wins."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from curvewise.papers.results import Results
from curvewise.papers.study import Runner
from curvewise.papers.xue2025.answers import METRICS, Answers, answers
from curvewise.papers.xue2025.blocks import (
    GROUPS,
    LEARNERS,
    REPLICATIONS,
    SIZES,
    TASKS,
    experiment,
)
from curvewise.papers.xue2025.curves import CURVED, curves_of_one
from curvewise.papers.xue2025.foresee import (
    CALIBRATED,
    CORRECTED,
    DRIFT,
    ENTERED,
    OTHER_FORMS,
    POW3,
    POW3_CORRECTED,
    PRINTED,
    Floats,
    Target,
    Told,
    by_form,
    by_library,
    by_matrix,
    by_power_law,
    exponents,
    judged,
)
from curvewise.papers.xue2025.moved import HALF_STEPS, MOVED, moved, sensitivity

Columns: TypeAlias = dict[str, list[Any]]

PAIRS = {PRINTED: POW3, CORRECTED: POW3_CORRECTED}
RESAMPLED = 400


def run(runner: Runner) -> Results:
    """Run all replications, or what is left of them, and judge every method."""
    numbers = REPLICATIONS[runner.scale]
    trials = {
        group: runner.trials(experiment(learners, numbers[group]), group)
        for group, learners in GROUPS.items()
        if group in numbers
    }
    there = {
        which: runner.trials(moved(which, numbers["moved"]), f"moved-{which}")
        for which in HALF_STEPS
    }
    cells = [
        (task, learner, group)
        for task in TASKS
        for learner in LEARNERS
        for group, members in GROUPS.items()
        if learner in members and group in numbers
    ]
    found: list[dict[str, Columns]] = []
    for task, learner, group in runner.each(cells, "judge"):
        own = answers(trials[group].where(task=task, algorithm=learner))
        parts = tables(own)
        if learner in CURVED:
            parts["curves"] = curves_of_one(own)
        if task == "simple" and learner in MOVED:
            parts["sensitivity"] = _joined(
                [
                    sensitivity(
                        own.first(numbers["moved"]),
                        answers(trials_there.where(algorithm=learner)),
                        which,
                    )
                    for which, trials_there in there.items()
                ]
            )
        found.append(
            {name: _named(task, learner, part) for name, part in parts.items()}
        )
    return Results(
        tables={
            name: _joined([each[name] for each in found if name in each])
            for name in ("scores", "wins", "exponents", "curves", "sensitivity")
        }
    )


def tables(own: Answers) -> dict[str, Columns]:
    """Return how methods do on one task with one learner, and who wins."""
    plain = {
        PRINTED: by_matrix(own, PRINTED),
        ENTERED: by_matrix(own, ENTERED),
        CORRECTED: by_matrix(own, CORRECTED),
        POW3: by_power_law(own, is_corrected=False),
        POW3_CORRECTED: by_power_law(own, is_corrected=True),
    }
    mean = own.mean[:, None]
    truths: dict[Target, Floats] = {"observed": own.truth, "mean": mean}
    scores = [
        _scores(told, truth, method, target)
        for method, told in plain.items()
        for target, truth in truths.items()
    ]
    # What comes out if the models that tell the truth had two thirds of a block as well.
    scores += [
        {
            **_scores(plain[m], own.truth_part, m, "observed"),
            "target": 24 * ["two thirds"],
        }
        for m in (PRINTED, POW3)
    ]
    for library in (CALIBRATED, DRIFT):
        told = by_library(own, library)
        scores += [_scores(told[t], truths[t], library, t) for t in truths]
    scores += [
        _scores(by_form(own, form), own.truth, f"{form} alone", "observed")
        for form in OTHER_FORMS
    ]
    wins = [
        _wins(plain[ours], plain[theirs], own.truth, ours)
        for ours, theirs in PAIRS.items()
    ]
    return {
        "scores": _joined(scores),
        "wins": _joined(wins),
        "exponents": exponents(own),
    }


def _scores(told: Told, truth: Floats, method: str, target: Target) -> Columns:
    """Return a row for each metric and size; RMSE and bias in percentage points."""
    found = judged(told, truth, method, target)
    covered = found.covered
    columns: Mapping[str, Floats] = {
        "rmse": 100 * found.rmse,
        "rmse_error": 100 * found.rmse_error,
        "bias": 100 * found.bias,
        "covered": covered,
        "covered_error": np.sqrt(covered * (1 - covered) / found.replications),
        "length": found.length,
        "length_error": found.length_error,
    }
    rows = len(METRICS) * len(SIZES)
    return {
        "method": rows * [method],
        "target": rows * [target],
        "metric": [name for name in METRICS for _ in SIZES],
        "n": len(METRICS) * list(SIZES),
        **{
            name: np.round(values, 5).astype(np.float32).ravel().tolist()
            for name, values in columns.items()
        },
        "replications": rows * [found.replications],
    }


def _wins(ours: Told, theirs: Told, truth: Floats, method: str) -> Columns:
    """Return in how many of 24 cells RMSE, rounded as in print, is lower than POW3's.

    Standard errors are of replications drawn anew.
    """
    squares = np.stack([(told[0] - truth) ** 2 for told in (ours, theirs)])
    n = truth.shape[1]
    rng = np.random.default_rng(0)
    weights = rng.multinomial(n, np.full(n, 1 / n), RESAMPLED) / n
    weights = np.concatenate([np.full((1, n), 1 / n), weights])
    means = np.einsum("bj,wmjk->bwmk", weights, squares)
    rmse = np.round(100 * np.sqrt(means), 2)
    sign = np.sign(rmse[:, 1] - rmse[:, 0]).reshape(len(weights), -1)
    counts = {
        name: (sign == s).sum(1)
        for name, s in (("better", 1), ("tie", 0), ("worse", -1))
    }
    return {
        "method": [method],
        **{name: [int(count[0])] for name, count in counts.items()},
        **{f"{name}_error": [float(count[1:].std())] for name, count in counts.items()},
        "replications": [n],
    }


def _named(task: str, learner: str, columns: Columns) -> Columns:
    rows = len(next(iter(columns.values())))
    return {"task": rows * [task], "learner": rows * [learner], **columns}


def _joined(parts: Sequence[Columns]) -> Columns:
    return {name: [x for part in parts for x in part[name]] for name in parts[0]}
