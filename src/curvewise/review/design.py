"""Rules about the design: what was repeated, shared, drawn at random, or is missing."""

from collections.abc import Iterator, Sequence

import numpy as np

from curvewise.errors import Keyword, Message, listed, shortened, trials_where
from curvewise.metrics import Floats
from curvewise.review.finding import DISTRIBUTION, Finding
from curvewise.review.replication import chance, sorted_rows
from curvewise.text import count, some
from curvewise.trials import Trials
from curvewise.trials.columns import Ints
from curvewise.trials.design import PARAMS
from curvewise.trials.settings import (
    GRID_LEVEL,
    Cell,
    Drift,
    Grid,
    Settings,
    cells,
    searched,
)


def runs_that_are_not_independent(trials: Trials) -> Iterator[Finding]:
    """Yield clusters and blocks that the trials show and nobody has stated."""
    design = trials.design
    where = f"the {count(len(trials), 'trial')}"
    if design.unit == "cluster" and design.known["cluster"] == "inferred":
        yield Finding(
            "clusters",
            "notes",
            f"The same settings were run again: {design}.",
            where,
            "Runs of one setting share its hyperparameters. Counted as independent "
            "draws they make every interval too narrow.",
            Message(
                "Nothing: answers take the mean of each setting. If every run was a "
                "draw of its own, read them with ",
                {"cluster": []},
                ".",
            ),
        )
    for part, name in design.suggested:
        if (part, name) == ("cluster", PARAMS):
            yield from _likely(trials)
        elif part == "cluster":
            yield Finding(
                "clusters",
                "notes",
                f"The same values of '{shortened(name)}' come again.",
                where,
                "Runs that share a setting by design are no independent draws, and make "
                "every interval too narrow.",
                Message(
                    "If they were repeated by design, read them with ",
                    {"cluster": name},
                    "; if not, with ",
                    {"cluster": []},
                    ".",
                ),
            )
        else:
            yield Finding(
                "blocks",
                "notes",
                f"All algorithms have the same values of '{shortened(name)}'.",
                where,
                "Runs that met the same data can be compared with each other, which "
                "takes fewer of them.",
                Message(
                    "If algorithms met the same data, read them with ",
                    {"block": name},
                    ".",
                ),
            )


def _likely(trials: Trials) -> Iterator[Finding]:
    """Yield where settings come again, and hardly by chance.

    Draws from a few choices coincide, too, and nothing is wrong with them.
    """
    likely = [s for s in trials.once(searched).varied if s.repeated == "likely"]
    if not likely:
        return
    first = likely[0]
    settings = int(first.setting.max()) + 1
    yield Finding(
        "clusters",
        "tempers",
        f"{first.n:,} runs have {settings:,} settings, and runs of one setting stand "
        f"together, or share no seed, more than chance would have it"
        f"{first.source.caveat}.",
        some(s.source.cell for s in likely),
        "Runs of a setting that was repeated by design share its hyperparameters. "
        "Counted as independent draws they make every interval too narrow.",
        Message(
            "If settings were repeated, read them with ",
            {"cluster": "params"},
            ". If every run was a draw of its own, from few choices, and the rows "
            "were sorted, with ",
            {"cluster": []},
            ".",
        ),
        Message(
            "the same settings come again: by design (",
            {"cluster": "params"},
            "), or by chance (",
            {"cluster": []},
            ")?",
        ),
        concerns=DISTRIBUTION,
    )


# --------------------------------------------------------------------------------------
# The rule about params: were they drawn at random, as a distribution of scores needs?.


_WHY = (
    "A distribution over hyperparameters can only be read off trials whose params were "
    "drawn from it, each independently of the others and of the scores so far. "
)
_REUSE = (
    "Draw params at random from the ranges that you would tune over and run those. Do "
    "not report mean, quantiles, CVaR or bands of these trials as the algorithm's; "
    "the best setting found may be reported as such."
)


def params_not_drawn_at_random(trials: Trials) -> Iterator[Finding]:
    """Yield where params form a grid, go in even steps, or follow an optimiser."""
    search = trials.once(searched)
    if search.grids:
        yield _grid_finding(search.grids)
    if search.steps:
        yield _steps_finding(search.steps)
    if search.drifts.found:
        yield _drift_finding(search.drifts.found, search.drifts.tests)
    for label, places in search.drifts.ordered.items():
        yield sorted_rows(label, places)


# --- grids ----------------------------------------------------------------------------


def _grid_finding(grids: list[tuple[Settings, Grid]]) -> Finding:
    settings, grid = grids[0]
    sizes = " x ".join(
        f"{shortened(name, 30)} ({int(codes.max()) + 1})"
        for name, codes in list(settings.varying.items())[:6]
    )
    often = "once" if grid.times == 1 else f"{grid.times:,} times"
    return Finding(
        "params-grid",
        "tempers",  # a grid still covers the space; an optimiser does not
        f"Params form a grid: {grid.met:,} of {grid.combinations:,} combinations of "
        f"{sizes} occur, each {often}. Random draws do that with probability "
        f"{_at_most(grid.p)}{settings.source.caveat}.",
        some(d.source.cell for d, _ in grids),
        _WHY
        + "A grid weighs every combination alike, whatever the person who chose its "
        "edges had in mind, and its trials are no sample.",
        _REUSE,
        "hyperparameters form a grid, not a random sample",
        concerns=DISTRIBUTION,
    )


def _at_most(p: float) -> str:
    return "below 1e-12" if p < 1e-12 else f"at most {p:.0e}"


# --- one param in even steps ----------------------------------------------------------


def _steps_finding(hits: list[tuple[Settings, tuple[str, Floats, float]]]) -> Finding:
    settings, (name, levels, p) = hits[0]
    often = settings.n // len(levels)
    values = some((f"{v:g}" for v in levels), 5)
    return Finding(
        "params-steps",
        "tempers" if p < GRID_LEVEL else "notes",
        f"'{shortened(name)}' takes {len(levels):,} values in even steps ({values}), "
        f"each {'once' if often == 1 else f'{often:,} times'}. Random draws do that "
        f"with probability {_at_most(p)}{settings.source.caveat}.",
        some(d.source.cell for d, _ in hits),
        _WHY + "A sweep in even steps is no sample.",
        Message(
            _REUSE + " If this compares settings, read it as ",
            Keyword("algorithm"),
            " instead.",
        ),
        f"'{shortened(name, 30)}' goes in even steps, not at random",
        concerns=DISTRIBUTION,
    )


# --- drift ----------------------------------------------------------------------------


def _drift_finding(hits: list[Drift], tests: int) -> Finding:
    each = [
        f"'{shortened(label, 40)}' {rho:+.2f} ({chance(p)}) in {cell}{caveat}"
        for p, rho, label, cell, caveat in hits
    ]
    return Finding(
        "params-drift",
        "blocks",
        f"{len(hits):,} of {tests:,} params and scores change with the trial's number, "
        f"which random draws cannot: rank correlation {some(each, 3)}.",
        some(dict.fromkeys(str(cell) for *_, cell, _ in hits)),
        _WHY + "An optimiser such as TPE or CMA-ES moves to where scores are good: its "
        "later trials are better than those of the declared distribution.",
        _REUSE + " If trials are numbered by when they ended, number them by when they "
        "started: quick settings end first.",
        "hyperparameters or scores drift with the trial's number, as an optimiser's do",
        concerns=DISTRIBUTION,
    )


# --- Rules about the design: which trials are missing, and are there enough? -----------


# --- 4. missing seeds -----------------------------------------------------------------


def missing_seeds(trials: Trials) -> Iterator[Finding]:
    """Yield where algorithms do not have the same numbers on a task."""
    by_task: dict[str, list[Cell]] = {}
    for cell in cells(trials):
        by_task.setdefault(cell.task, []).append(cell)
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for task, group in by_task.items():
        for kind, text in _lacking(trials, group):
            by_kind.setdefault(kind, []).append((task, text))
    for kind, hits in by_kind.items():
        where = f"task {listed((task for task, _ in hits), most=4)}"
        more = f"; the like on {len(hits) - 1:,} more of the tasks" if hits[1:] else ""
        yield _missing_finding(kind, f"{hits[0][1]}{more}.", where)
    yield from _missing_cells(by_task)


def _lacking(trials: Trials, group: list[Cell]) -> Iterator[tuple[str, str]]:
    numbers = [trials.core.number[cell.rows] for cell in group]
    sizes = [len(n) for n in numbers]
    gaps = [(c, _gaps(n)) for c, n in zip(group, numbers, strict=True)]
    names = [shortened(cell.algorithm, 40) for cell in group]
    union, copies = np.unique(np.concatenate(numbers), return_counts=True)
    paired = int((copies == len(group)).sum())
    mostly = 2 * min(sizes) > len(union)
    if len(group) > 1 and paired == 0 and not mostly:
        yield "unpaired", f"No number is shared by all {len(group)} algorithms"
    elif copies.min() < len(group) and mostly:
        lacks = [
            f"'{a}' lacks {ranges(gap.tolist())}"
            for a, n in zip(names, numbers, strict=True)
            if len(gap := np.setdiff1d(union, n, assume_unique=True))
        ]
        yield "missing", f"Of {len(union):,} numbers {some(lacks)}"
        gaps = []
    if min(sizes) < max(sizes) and gaps:
        least = sorted(zip(sizes, names, strict=True))
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


def ranges(numbers: Sequence[int], most: int = 4) -> str:
    """Return whole numbers with stretches written short.

    >>> ranges([1, 2, 3, 7, 9, 10])
    '1 to 3, 7, 9, 10'
    """
    array = np.unique(np.asarray(numbers, np.int64))
    breaks = np.flatnonzero(np.diff(array) != 1) + 1
    texts: list[str] = []
    for part in np.split(array, breaks)[: most + 1]:
        texts += (
            [str(n) for n in part] if len(part) < 3 else [f"{part[0]} to {part[-1]}"]
        )
    more = ", …" if len(breaks) > most else ""
    return ", ".join(texts) + more
