"""The rule about the axis of replication: is every trial a run of its own?"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from curvewise._text import count
from curvewise.errors import shortened
from curvewise.review.finding import SCORES, Concern, Finding, Severity
from curvewise.review.looking import chance, next_alike, some
from curvewise.trials import Trials
from curvewise.trials.cells import (
    MOST_PARSED,
    Cell,
    Parsed,
    cells,
    coded,
    hashes,
    keyed,
    numbers_a_run,
    parsed,
    words,
)
from curvewise.trials.columns import Ints
from curvewise.trials.doors import last_values
from curvewise.trials.search import in_order, scored, trend

# A name for something that happens many times within one run.
WITHIN_A_RUN = frozenset(
    {"episode", "episodic", "ep", "epoch", "step", "timestep", "frame", "minibatch"}
    | {"batch", "checkpoint", "rollout"}
)
# The same, unless it counts the runs of a search.
PERHAPS_WITHIN = frozenset(
    {"iteration", "iter", "update", "round", "generation", "eval"}
)

# Shares of the variance are told from a crossing, whose neighbours share their draws.
_ALL_BUT_VARIANCE: tuple[Concern, ...] = tuple(
    c for c in (*SCORES, "confusion") if c != "variance"
)
_INFLATED = (
    "Measurements within one run depend on each other; counted as runs they make the "
    "sample look larger than it is, and every band and p value too good."
)
_AS_CURVE = (
    "Read the results again with {label!r} along the curve and the run as the trial: "
    "read(..., trial=<seed or run>, step={label!r})."
)


# --- 1. episodes stacked as runs ------------------------------------------------------


def wrong_replication_axis(trials: Trials) -> Iterator[Finding]:
    """Yield where episodes, steps or folds of one run were counted as runs."""
    yield from _told_by_labels(trials)
    yield from _told_by_order(trials)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why a cell's trials may not be runs of their own.

    named: only a label such as "episode" tells them apart. stacked: it tells apart
    trials of one seed. repeated: something else does. nested: seeds cross folds.
    by_run: the labels that number the runs.
    """

    kind: Literal["named", "stacked", "repeated", "nested"]
    label: str
    runs: int
    by_run: tuple[str, ...] = ()


def _told_by_labels(trials: Trials) -> Iterator[Finding]:
    found: dict[tuple[str, str], list[tuple[Suspicion, Parsed]]] = {}
    for labels in parsed(trials, "labels"):
        hit = _suspicion(trials, labels) if len(labels.dicts) > 1 else None
        if hit is not None:
            found.setdefault((hit.kind, hit.label), []).append((hit, labels))
    for hits in found.values():
        yield _axis_finding(*hits[0], some(labels.cell for _, labels in hits))


def _suspicion(trials: Trials, labels: Parsed) -> Suspicion | None:
    n = len(labels.dicts)
    rows = np.arange(labels.rows.start, labels.rows.stop)
    setting = coded(hashes(rows, trials.details().params).tolist())
    if _distinct(setting) == n:
        return None  # every trial has params of its own: it is a run of its own
    # Readers keep every column that is left over as a label: many say nothing here.
    names = dict.fromkeys(name for d in labels.dicts for name in d)
    column = {name: coded(keyed(d.get(name)) for d in labels.dicts) for name in names}
    varying = [name for name in names if column[name].any()]
    by_run = [name for name in names if numbers_a_run(name)]
    by_run = [name for name in by_run if name in varying or "seed" in words(name)]
    within = [name for name in varying if words(name) & (WITHIN_A_RUN | PERHAPS_WITHIN)]
    if not by_run:
        numbers = trials.core.number[labels.rows].tolist()
        alone = [name for name in within if _counts(labels, name, numbers)]
        return Suspicion("named", alone[0], 1) if alone else None
    runs = [_distinct(column[name], setting) for name in by_run]
    together = _distinct(*(column[name] for name in by_run), setting)
    if max(runs) < n == together:
        return Suspicion("nested", " and ".join(by_run), min(runs))

    def tells_apart(name: str) -> bool:
        """Return whether a label takes its values anew in each run, each once."""
        by_both = _distinct(*(column[run] for run in by_run), column[name], setting)
        return by_both == n and _distinct(column[name]) * together <= 2 * n

    inside = [name for name in within if name not in by_run and tells_apart(name)]
    if inside and n >= 2 * together:
        return Suspicion("stacked", inside[0], together, tuple(by_run))
    if n >= 5 * together:
        others = [n for n in varying if n not in by_run and tells_apart(n)]
        return Suspicion("repeated", (others or [""])[0], together)
    return None


def _counts(labels: Parsed, name: str, numbers: list[int]) -> bool:
    """Return whether a label is the trial's number, or rises with it."""
    values = [d.get(name) for d in labels.dicts]
    if values == numbers:
        return True
    plain = [v for v in values if isinstance(v, int | float)]
    rises = all(a < b for a, b in pairwise(plain))
    return rises and len(plain) == len(values) >= 5


def _distinct(*columns: Ints) -> int:
    return int(np.unique(np.stack(columns), axis=1).shape[1])


def _axis_finding(suspicion: Suspicion, labels: Parsed, where: str) -> Finding:
    n, runs, name = len(labels.dicts), suspicion.runs, shortened(suspicion.label)
    severity: Severity = "blocks"
    concerns: tuple[Concern, ...] = ()
    fixes: list[dict[str, Any]] = [{"step": suspicion.label}]
    brief = f"{n:,} trials seem to be steps of {count(runs, 'run')} ('{name}')"
    why, do = _INFLATED, _AS_CURVE.format(label=name)
    if suspicion.kind == "named":
        what = f"The {n:,} trials are told apart by '{name}', and by no seed or run"
        if not words(suspicion.label) & WITHIN_A_RUN:
            severity, fixes = "tempers", []  # it may count the runs of a search
            brief = f"{n:,} trials may be steps of one run: only '{name}' differs"
            do += f" If each '{name}' was a run from scratch, there is nothing to do."
    elif suspicion.kind == "stacked":
        what = f"{n:,} trials come from {count(runs, 'run')}; '{name}' tells them apart"
        fixes = [{"trial": [*suspicion.by_run], "step": suspicion.label}]
    elif suspicion.kind == "repeated":
        severity, fixes = "tempers", []  # they may be other problems, or other runs
        brief = f"{n:,} trials share {count(runs, 'run')} or seeds: perhaps not runs"
        apart = f"'{name}'" if name else "their number"
        what = (
            f"{n:,} trials with the same params come from {count(runs, 'run')} or "
            f"seeds; only {apart} tells them apart"
        )
        do = (
            "If these are measurements within a run, read them as its curve (step=); "
            "if they are other problems, as tasks (task=). If each was a run from "
            "scratch, give it a seed of its own."
        )
    else:
        severity, fixes = "tempers", []
        concerns = _ALL_BUT_VARIANCE
        brief = f"trials share {name}: as few as {runs:,} are independent"
        what = (
            f"{n:,} trials come from crossing {name}: as few as "
            f"{count(runs, 'independent group')}"
        )
        why = (
            "Folds or runs that share a seed or data are not independent: bands and p "
            "values that count each one are too good."
        )
        do = (
            "Average within a group before comparing, or say in the text that "
            "intervals are for these groups only."
        )
    return Finding(
        "replication-axis",
        severity,
        f"{what}{labels.caveat}.",
        where,
        why,
        do,
        brief,
        concerns=concerns,
        fixes=tuple(fixes),
    )


def _told_by_order(trials: Trials) -> Iterator[Finding]:
    """Yield where one-step trials without params are a time series."""
    candidates = [c for c in cells(trials) if len(c) >= 30 and _is_plain(trials, c)]
    metrics = scored(trials) if candidates else []
    level = 1e-4 / max(2 * len(candidates) * len(metrics), 1)
    # A correlation of 0.2 shows in a thousand scores; a million take a while to rank.
    most = max(MOST_PARSED // max(len(candidates), 1), 1000)
    for metric in metrics:
        full = last_values(trials, metric)
        series, ordered = [], []
        for cell in candidates:
            scores = full[cell.start : min(cell.stop, cell.start + most)]
            scores = scores[np.isfinite(scores)]
            if len(scores) < 30:
                continue
            if in_order(scores):
                ordered.append(cell)
                continue
            (alike, p), (rho, q) = next_alike(scores), trend(scores)
            if (p < level and alike >= 0.2) or (q < level and abs(rho) >= 0.2):
                series.append((cell, alike, rho, min(p, q), len(scores)))
        if series:
            worst, alike, rho, p, n = min(series, key=lambda hit: hit[3])
            yield Finding(
                "replication-axis",
                "blocks",
                f"In order of number, {n:,} scores of '{shortened(metric)}' are a "
                f"time series: neighbours correlate {alike:.2f}, number and score "
                f"{rho:.2f} ({chance(p)}; strongest in {worst}).",
                some(cell for cell, *_ in series),
                "Independent runs have no order. Scores that follow each other are "
                "episodes or steps of few runs. " + _INFLATED,
                "Read them as curves: read(..., trial=<seed or run>, step=<what the "
                "number counts>). If the runs are independent, ask what changed "
                "meanwhile.",
                f"scores of '{shortened(metric, 30)}' follow each other like "
                "steps of a run",
                concerns=_ALL_BUT_VARIANCE,
                metrics=(metric,),
            )
        if ordered:
            yield sorted_rows(metric, ordered)


def _is_plain(trials: Trials, cell: Cell) -> bool:
    """Return whether a cell has one step per trial, the same, and one setting."""
    offsets, params = trials.core.offsets, trials.details().params
    if (np.diff(offsets[cell.start : cell.stop + 1]) > 1).any():
        return False
    steps = trials.core.steps[offsets[cell.start] : offsets[cell.stop]]
    head = np.arange(cell.start, min(cell.stop, cell.start + 2000))
    same_step = len(steps) > 0 and bool((steps == steps[0]).all())
    return same_step and len(np.unique(hashes(head, params))) == 1


def sorted_rows(what: str, found: list[Cell]) -> Finding:
    """Return the note that trials are numbered in order of a score or a param."""
    return Finding(
        "sorted-rows",
        "notes",
        f"The trials are numbered in order of '{shortened(what)}': it only rises, or "
        "only falls.",
        some(found),
        "The rows seem to have been sorted. Their order then says nothing about when "
        "they were run, numbers of two algorithms do not form pairs, and neither "
        "episodes counted as runs nor an optimiser can be seen.",
        "Read the file in the order of running, or name the seed with trial=.",
    )
