"""Rules about the design: which trials are missing, and are there enough?"""

from collections.abc import Iterator

import numpy as np

from curvewise._text import count
from curvewise.errors import Keyword, Message, listed, shortened, trials_where
from curvewise.review.finding import Finding
from curvewise.review.looking import ranges, some
from curvewise.trials import Trials
from curvewise.trials.cells import Cell, cells
from curvewise.trials.columns import Ints

# --- 4. missing seeds -----------------------------------------------------------------


def missing_seeds(trials: Trials) -> Iterator[Finding]:
    """Yield where algorithms do not have the same numbers on a task."""
    by_task: dict[str, list[Cell]] = {}
    for cell in cells(trials):
        by_task.setdefault(cell.task, []).append(cell)
    found: dict[str, list[tuple[str, str]]] = {}
    for task, group in by_task.items():
        for kind, text in _lacking(trials, group):
            found.setdefault(kind, []).append((task, text))
    for kind, hits in found.items():
        where = f"task {listed((task for task, _ in hits), most=4)}"
        more = f"; the like on {len(hits) - 1:,} more of the tasks" if hits[1:] else ""
        yield _missing_finding(kind, f"{hits[0][1]}{more}.", where)
    yield from _missing_cells(by_task)


def _lacking(trials: Trials, group: list[Cell]) -> Iterator[tuple[str, str]]:
    numbers = [trials.core.number[cell.rows] for cell in group]
    sizes = [len(n) for n in numbers]
    gaps = [(c, _gaps(n)) for c, n in zip(group, numbers, strict=True)]
    named = [shortened(cell.algorithm, 40) for cell in group]
    union, copies = np.unique(np.concatenate(numbers), return_counts=True)
    paired = int((copies == len(group)).sum())
    mostly = 2 * min(sizes) > len(union)
    if len(group) > 1 and paired == 0 and not mostly:
        yield "unpaired", f"No number is shared by all {len(group)} algorithms"
    elif copies.min() < len(group) and mostly:
        lacks = [
            f"'{a}' lacks {ranges(gap.tolist())}"
            for a, n in zip(named, numbers, strict=True)
            if len(gap := np.setdiff1d(union, n, assume_unique=True))
        ]
        yield "missing", f"Of {len(union):,} numbers {some(lacks)}"
        gaps = []
    if min(sizes) < max(sizes) and gaps:
        least = sorted(zip(sizes, named, strict=True))
        each = [f"'{a}' {n:,}" for n, a in least]
        yield "unequal", f"Numbers of trials differ: {some(each)}"
    holes = [(c, g) for c, g in gaps if len(g)]
    if holes:
        cell, gap = holes[0]
        n = len(cell) + len(gap)
        yield (
            "gaps",
            f"'{shortened(cell.algorithm, 40)}' has all but {ranges(gap.tolist())} of "
            f"{n:,} numbers in a row",
        )


def _gaps(numbers: Ints) -> Ints:
    """Return what is missing in an otherwise complete run of numbers."""
    span = int(numbers[-1]) - int(numbers[0]) + 1
    missing = span - len(numbers)
    if missing == 0 or missing > max(1, span // 10) or len(numbers) < 4:
        return np.empty(0, np.int64)
    every = np.arange(span) + numbers[0]
    return np.setdiff1d(every, numbers, assume_unique=True)


def _missing_finding(kind: str, what: str, where: str) -> Finding:
    dropped = (
        "Runs that crashed are often the ones that are missing, and leaving them out "
        "flatters the algorithm. "
    )
    pairs = "A comparison can only be paired where both algorithms have the number."
    rerun = Message(
        "Run what is missing; or, if it failed, keep the row without a score "
        '(status "failed") and say what it scores with ',
        {"failed": ...},
        ".",
    )
    if kind == "missing":
        return Finding(
            "missing-seeds",
            "tempers",
            what,
            where,
            dropped + pairs,
            rerun,
            "some algorithms lack runs that others have, perhaps those that crashed",
            concerns=("performance", "robustness", "difference", "versions"),
        )
    if kind == "gaps":
        return Finding("missing-seeds", "notes", what, where, dropped.strip(), rerun)
    if kind == "unequal":
        why = dropped + "The algorithm with fewer trials also has the wider band."
        return Finding("unequal-trials", "notes", what, where, why, rerun)
    do = Message(
        "If algorithms met the same seeds or data, read the column that says so as ",
        Keyword("trial"),
        ". If not, nothing is wrong: compare them as independent.",
    )
    return Finding("unpaired", "notes", what, where, pairs, do)


def _missing_cells(by_task: dict[str, list[Cell]]) -> Iterator[Finding]:
    have = sum(map(len, by_task.values()))
    algorithms = dict.fromkeys(c.algorithm for group in by_task.values() for c in group)
    wanted = len(by_task) * len(algorithms)
    # A table that is half empty was never meant to be full.
    if have == wanted or 2 * have <= wanted:
        return
    absent = [
        f"'{shortened(a, 40)}' on '{shortened(task, 40)}'"
        for task, group in by_task.items()
        for a in algorithms.keys() - {c.algorithm for c in group}
    ]
    yield Finding(
        "missing-cells",
        "tempers",
        f"{len(absent):,} of {wanted:,} pairs of task and algorithm have no trials.",
        some(sorted(absent)),
        "A mean or rank over tasks then compares algorithms on different tasks.",
        Message(
            "Run them, or compare only on the tasks that all algorithms have: ",
            trials_where(task=[...]),
            ".",
        ),
        "not every algorithm met every task: sums over tasks compare unlike ones",
        concerns=("performance", "difference"),
    )


# --- 5. too few runs ------------------------------------------------------------------


def few_runs(trials: Trials) -> Iterator[Finding]:
    """Yield cells with a single trial, or with two to four."""
    one, few = [], []
    design = trials.design
    is_clustered = design.unit == "cluster"
    codes = design.clusters(trials) if is_clustered else None
    noun = design.noun if is_clustered else "trial"
    each = "run" if codes is None else noun
    for cell in cells(trials):
        n = _runs(trials, cell) if codes is None else len(np.unique(codes[cell.rows]))
        if n == 1:
            one.append(cell)
        elif n < 5:
            few.append((cell, n))
    total = len(cells(trials))
    if one:
        size = " (at each training size)" if any(len(c) > 1 for c in one) else ""
        yield Finding(
            "one-run",
            "tempers",  # every answer is as wide as one run makes it, or refuses
            f"{len(one):,} of {count(total, 'pair')} of task and algorithm have one "
            f"{noun}{size}.",
            some(one),
            f"One {each} shows neither spread nor chance: no band, no test and no ranking "
            f"can be had from it.",
            "Run each algorithm several times with other seeds."
            if codes is None
            else f"Run each algorithm on several {noun}s.",
            f"a single {each} of {some(one, 1)}: no spread is known",
            # Error curves have points enough of one run at each size.
            concerns=("performance", "robustness", "difference", "plan", "versions"),
        )
    if few:
        low, high = min(n for _, n in few), max(n for _, n in few)
        many = f"{low}" if low == high else f"{low} to {high}"
        yield Finding(
            "few-runs",
            "notes",
            f"{len(few):,} of {count(total, 'pair')} of task and algorithm have only "
            f"{many} {noun}s.",
            some(cell for cell, _ in few),
            f"With so few {each}s bands are wide, and some tests cannot reject whatever "
            "the scores are: four against four have only 70 ways to be dealt.",
            "Run more, or show every run instead of a summary.",
        )


def _runs(trials: Trials, cell: Cell) -> int:
    """Return the trials of a cell; at each size, where trials are single points."""
    offsets = trials.core.offsets[cell.start : cell.stop + 1]
    steps = trials.core.steps[offsets[0] : offsets[-1]]
    if len(steps) < 2 or (np.diff(offsets) > 1).any():
        return len(cell)
    return max(len(cell) // len(np.unique(steps)), 1)
