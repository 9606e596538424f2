"""Rules about runs: is every trial a run of its own, filed under its own name?"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import (
    Keyword,
    Message,
    Phrase,
    Verbatim,
    as_keywords,
    as_words,
    shortened,
)
from curvewise.metrics import Floats
from curvewise.review.finding import SCORES, Concern, Finding, Severity
from curvewise.text import count, some
from curvewise.trials import Trials, names
from curvewise.trials.columns import Ints
from curvewise.trials.doors import last_values
from curvewise.trials.settings import (
    MOST_PARSED,
    Cell,
    Parsed,
    cells,
    coded,
    hashes,
    in_order,
    keyed,
    metrics_to_check,
    midranks,
    numbers_a_run,
    parsed,
    trend,
    words,
)
from curvewise.trials.trial import ONLY

# A name for something that happens many times within one run.
WITHIN_A_RUN = frozenset(
    {"episode", "episodic", "ep", "epoch", "step", "timestep", "frame", "minibatch"}
    | {"batch", "checkpoint", "rollout"}
)
# The same, unless it counts the runs of a search.
PERHAPS_WITHIN = frozenset(
    {"iteration", "iter", "update", "round", "generation", "eval"}
)

ORDER_LEVEL = 1e-4  # of one check: divided by the number of tests
# At which scores are still in order within the groups of a label: 1 honest study in 500
# is then blocked, of those whose groups differ that much.
WITHIN_LEVEL = 1e-3

# Shares of the variance are told from a crossing, whose neighbours share their draws.
_ALL_BUT_VARIANCE: tuple[Concern, ...] = tuple(
    c for c in (*SCORES, "confusion") if c != "variance"
)
_INFLATED = (
    "Measurements within one run depend on each other; counted as runs they make the "
    "sample look larger than it is, and every band and p value too good."
)


def _as_curve(label: str) -> Message:
    return Message(
        f"Read the results again with {label!r} along the curve and the run as the "
        "trial: ",
        _read({"trial": Verbatim("<seed or run>"), "step": label}),
        ".",
    )


def _read(fix: Mapping[str, Any]) -> Phrase:
    return Phrase(f"read(..., {as_keywords(fix)})", " ".join(as_words(fix)))


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
    by_label: dict[tuple[str, str], list[tuple[Suspicion, Parsed]]] = {}
    clusters = _stated_clusters(trials)
    for labels in parsed(trials, "labels"):
        if clusters is not None and _distinct(clusters[labels.rows]) < len(
            labels.dicts
        ):
            continue  # what runs of a cluster share is known, and was averaged
        hit = _suspicion(trials, labels) if len(labels.dicts) > 1 else None
        if hit is not None:
            by_label.setdefault((hit.kind, hit.label), []).append((hit, labels))
    for hits in by_label.values():
        yield _axis_finding(*hits[0], some(labels.cell for _, labels in hits))


def _stated_clusters(trials: Trials) -> Ints | None:
    """Return the clusters that somebody stated, unless they are what is suspected."""
    design = trials.design
    within = WITHIN_A_RUN | PERHAPS_WITHIN
    if not design.stated.get("cluster") or any(
        words(name) & within for name in design.cluster
    ):
        return None
    return design.clusters(trials)


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
    why, do = _INFLATED, _as_curve(name)
    if suspicion.kind == "named":
        what = f"The {n:,} trials are told apart by '{name}', and by no seed or run"
        if not words(suspicion.label) & WITHIN_A_RUN:
            severity, fixes = "tempers", []  # it may count the runs of a search
            brief = f"{n:,} trials may be steps of one run: only '{name}' differs"
            scratch = (
                f" If each '{name}' was a run from scratch, there is nothing to do."
            )
            do = Message(do, scratch)
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
        do = Message(
            "If these are measurements within a run, read them as its curve (",
            Keyword("step"),
            "); if they are other problems, as tasks (",
            Keyword("task"),
            "). If each was a run from scratch, give it a seed of its own.",
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
        do = Message(
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


class Follow(NamedTuple):
    """A cell whose scores follow each other, and the label that goes with them."""

    p: float
    alike: float
    rho: float
    n: int
    cell: Cell
    label: str


def _told_by_order(trials: Trials) -> Iterator[Finding]:
    """Yield where one-step trials without params are a time series."""
    candidates = [c for c in cells(trials) if len(c) >= 30 and _is_plain(trials, c)]
    metrics = metrics_to_check(trials) if candidates else []
    groups = _stated_groups(trials) if candidates else []
    labels = {p.cell: p for p in parsed(trials, "labels")} if candidates else {}
    level = ORDER_LEVEL / max(2 * len(candidates) * len(metrics), 1)
    # A correlation of 0.2 shows in a thousand scores; a million take a while to rank.
    most = max(MOST_PARSED // max(len(candidates), 1), 1000)
    for metric in metrics:
        full = last_values(trials, metric)
        hits, ordered = [], []
        for cell in candidates:
            rows = np.arange(cell.start, min(cell.stop, cell.start + most))
            rows = rows[np.isfinite(full[rows])]
            scores = _means(full[rows], groups, rows)
            if len(scores) < 30:
                continue
            if in_order(scores):
                ordered.append(cell)
            elif (hit := _following(scores, level, cell)) is not None:
                label = _told_by(labels.get(cell), rows, full[rows])
                hits.append(hit._replace(label=label))
        yield from _follow_findings(metric, hits)
        if ordered:
            yield sorted_rows(metric, ordered)


def _following(scores: Floats, level: float, cell: Cell) -> Follow | None:
    (alike, p), (rho, q) = next_alike(scores), trend(scores)
    if (p < level and alike >= 0.2) or (q < level and abs(rho) >= 0.2):
        return Follow(min(p, q), alike, rho, len(scores), cell, "")
    return None


def _stated_groups(trials: Trials) -> list[Ints]:
    """Return the clusters and blocks that somebody stated: runs of one may be alike."""
    design, out = trials.design, []
    if (clusters := _stated_clusters(trials)) is not None:
        out.append(clusters)
    if design.stated.get("block"):
        blocks = design.blocks(trials)
        alone = blocks.max(initial=0) + 1 + np.arange(len(trials))
        out.append(np.where(blocks < 0, alone, blocks))
    return out


def _means(scores: Floats, groups: list[Ints], rows: Ints) -> Floats:
    """Return the mean of each of the fewest groups, in the order of their first runs."""
    codes = [coded(group[rows].tolist()) for group in groups]
    if not codes or not len(rows):
        return scores
    fewest = min(codes, key=lambda group: int(group.max()))
    return np.asarray(np.bincount(fewest, scores) / np.bincount(fewest))


def _told_by(labels: Parsed | None, rows: Ints, scores: Floats) -> str:
    """Return the label whose values stand together and explain the order, if any does.

    Within its groups scores then have no order, other than steps of a run.
    """
    if labels is None:
        return ""
    within = WITHIN_A_RUN | PERHAPS_WITHIN
    at = rows[rows < labels.rows.stop] - labels.rows.start
    explained: list[tuple[int, str]] = []
    for name in dict.fromkeys(name for d in labels.dicts for name in d):
        if words(name) & within:
            continue
        codes = coded(keyed(labels.dicts[i].get(name)) for i in at.tolist())
        many = int(codes.max(initial=0)) + 1
        together = bool((np.diff(codes) >= 0).all())  # counted as first met
        if together and 1 < many <= len(codes) / 2:
            p = _order_within(scores[: len(codes)], codes)
            explained += [(many, name)] if p >= WITHIN_LEVEL else []
    return min(explained)[1] if explained else ""


def _order_within(scores: Floats, codes: Ints) -> float:
    """Return the p value of an order of scores within groups that stand together."""
    times = np.bincount(codes)
    rest = scores - (np.bincount(codes, scores) / times)[codes]
    place = np.arange(len(codes)) - (np.cumsum(times) - times)[codes]
    by_place = rest[np.argsort(place, kind="stable")]
    return min(next_alike(rest)[1], trend(by_place)[1])


def _follow_findings(metric: str, follows: list[Follow]) -> Iterator[Finding]:
    surely = [hit for hit in follows if not hit.label]
    if surely:
        worst = min(surely)
        yield Finding(
            "replication-axis",
            "blocks",
            f"{_as_series(metric, worst)}.",
            some(hit.cell for hit in surely),
            "Independent runs have no order. Scores that follow each other are "
            "episodes or steps of few runs. " + _INFLATED,
            Message(
                "Read them as curves: ",
                _read(
                    {
                        "trial": Verbatim("<seed or run>"),
                        "step": Verbatim("<what the number counts>"),
                    }
                ),
                ". If the runs are independent, ask what changed meanwhile.",
            ),
            f"scores of '{shortened(metric, 30)}' follow each other like "
            "steps of a run",
            concerns=_ALL_BUT_VARIANCE,
            metrics=(metric,),
        )
    for label in dict.fromkeys(hit.label for hit in follows if hit.label):
        hits = [hit for hit in follows if hit.label == label]
        yield Finding(
            "replication-axis",
            "tempers",
            f"{_as_series(metric, min(hits))}. Rows of one '{shortened(label)}' stand "
            f"together, and within it there is no order.",
            some(hit.cell for hit in hits),
            "Runs that share a fold, a subject or a setting are alike, and no "
            "independent draws: bands and p values that count each one are too good.",
            Message(
                "Read them with ",
                {"cluster": label},
                ", so that each counts once; or with ",
                {"block": label},
                ", if it is the same for all algorithms and they differ in it only by "
                "chance.",
            ),
            Message(
                f"scores go with '{shortened(label, 20)}': say ",
                {"cluster": ...},
                " or ",
                {"block": shortened(label, 20)},
            ),
            concerns=_ALL_BUT_VARIANCE,
            metrics=(metric,),
            fixes=({"cluster": label},),
        )


def _as_series(metric: str, hit: Follow) -> str:
    return (
        f"In order of number, {hit.n:,} scores of '{shortened(metric)}' are a time "
        f"series: neighbours correlate {hit.alike:.2f}, number and score {hit.rho:.2f} "
        f"({chance(hit.p)}; strongest in {hit.cell})"
    )


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
        Message(
            "Read the file in the order of running, or name the seed with ",
            {"trial": ...},
            ".",
        ),
    )


def chance(p: float) -> str:
    """Return a p value that is small.

    >>> chance(3.2e-7), chance(1e-40)
    ('p = 3e-07', 'p < 1e-12')
    """
    return "p < 1e-12" if p < 1e-12 else f"p = {p:.0e}"


def next_alike(values: NDArray[Any]) -> tuple[float, float]:
    """Return the rank correlation of neighbours in order, and its one-sided p value.

    The circular serial correlation of Wald and Wolfowitz (1943) on ranks, with its
    permutation mean and variance: exact moments, whatever the ties. Where more than
    half of the values are equal its law is too skewed for a normal tail, and p is 1.
    """
    from scipy import special

    x = midranks(values)
    n, s2, s4 = len(x), float(x @ x), float(np.sum(x**4))
    if 2 * np.unique(x, return_counts=True)[1].max() > n:
        return 0.0, 1.0
    r = float(x @ np.roll(x, 1))
    mean = -s2 / (n - 1)
    variance = (s2**2 - s4) / (n - 1) + (s2**2 - 2 * s4) / ((n - 1) * (n - 2)) - mean**2
    return r / s2, float(special.ndtr(-(r - mean) / np.sqrt(variance)))


# --- The rule about names: is each trial filed under its own task and algorithm? -------


# Usual names of a task or an algorithm that may as well describe the machine.
_OF_MACHINES = ("system", "arch", "architecture", "environment")


def pooled_groups(trials: Trials) -> Iterator[Finding]:
    """Yield labels that look like a task or an algorithm that nobody declared."""
    # What makes blocks or clusters was named for that, and is neither.
    skip = {*trials.design.block, *trials.design.cluster}
    for source in parsed(trials, "labels"):
        unnamed = ONLY in (source.cell.task, source.cell.algorithm)
        for label in {name: None for labels in source.dicts for name in labels}:
            usual = bool(names.every((*names.TASK, *names.ALGORITHM), [label]))
            if label not in skip and (unnamed or usual) and _splits(source, label):
                skip.add(label)
                # Of a machine, where the task or algorithm that it would be is named.
                machine = bool(names.every(_OF_MACHINES, [label]))
                is_sure = not machine or any(True for _ in _roles(source, label))
                yield _finding(source, label, usual and is_sure)


def _splits(source: Parsed, label: str) -> bool:
    """Return whether a label cuts the trials of a cell into a few groups of texts."""
    if numbers_a_run(label) or names.every(names.STATUS, [label]):
        return False  # how a run ended says nothing of what it ran
    if _is_circumstance(label):
        return False
    values = [labels.get(label) for labels in source.dicts]
    if not all(isinstance(value, str) for value in values):
        return False
    groups = Counter(values)
    return len(groups) > 1 and len(values) >= 2 * len(groups)


def _is_circumstance(label: str) -> bool:
    """Return whether a label says where, when, by whom or with what something ran.

    >>> [_is_circumstance(n) for n in ("gpu_type", "Start Time", "version", "tags")]
    [True, True, False, True]
    >>> [_is_circumstance(n) for n in ("env_name", "dataset", "git_branch", "model")]
    [False, False, True, False]
    """
    return bool(words(label) & names.CIRCUMSTANCES)


def _finding(source: Parsed, label: str, is_sure: bool) -> Finding:
    groups = Counter(str(labels.get(label)) for labels in source.dicts)
    most = ", ".join(f"{shortened(v, 20)!r} {n}" for v, n in groups.most_common(4))
    pools = "pools" if is_sure else "may pool"
    return Finding(
        "pooled-groups",
        # Of a label that is not called like one, this is a guess.
        "blocks" if is_sure else "tempers",
        f"The trials of one algorithm on one task have {len(groups)} values of label "
        f"{shortened(label)!r}: {most}.",
        f"algorithm {shortened(source.cell.algorithm)!r}, "
        f"task {shortened(source.cell.task)!r}",
        "If they are different tasks or algorithms, their scores were pooled into one "
        "distribution, which describes neither.",
        Message(
            "Read the results again with ",
            {"task": label},
            " or ",
            {"algorithm": label},
            ". If the label says nothing about either, nothing is wrong.",
        ),
        f"one distribution {pools} {len(groups)} values of {shortened(label, 30)!r}",
        # Shares of the variance are told by labels: several values are what they need.
        concerns=("performance", "robustness", "plan"),
        fixes=tuple(_roles(source, label)) if is_sure else (),
    )


def _roles(source: Parsed, label: str) -> Iterator[dict[str, str]]:
    """Yield how to read a label as what it is called like, if that is not taken."""
    for role, name, usual in (
        ("task", source.cell.task, names.TASK),
        ("algorithm", source.cell.algorithm, names.ALGORITHM),
    ):
        if name == ONLY and names.every(usual, [label]):
            yield {role: label}
