"""Rules about curves: the same one twice, unequal lengths, scores that never move."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curvewise._text import count, shown
from curvewise.errors import Keyword, Message, Verbatim, listed, shortened
from curvewise.review.finding import Finding
from curvewise.review.looking import broken, per_cell, per_trial, share, some
from curvewise.trials import Trials
from curvewise.trials.cells import Cell, cells, edges, hashes
from curvewise.trials.columns import Bools, Ints
from curvewise.trials.doors import last_values
from curvewise.trials.ragged import Ragged
from curvewise.trials.search import scored
from curvewise.trials.values import flat_values

LONG = 5  # steps, and different values, from which on two equal curves are no chance

_COUNTED_TWICE = (
    "A run that is counted twice makes the sample look larger than it is, and every "
    "band and p value too good."
)


# --- 2. duplicates --------------------------------------------------------------------


def duplicates(trials: Trials) -> Iterator[Finding]:
    """Yield curves and rows that occur more than once."""
    if len(trials) == 0 or not scored(trials):
        return
    yield from _same_curves(trials)
    yield from _same_rows(trials)


def _same_curves(trials: Trials) -> Iterator[Finding]:
    cell_of = np.repeat(np.arange(len(edges(trials)) - 1), np.diff(edges(trials)))
    inside: list[Ints] = []
    across: list[Ints] = []
    alike: list[Ints] = []
    curves = _curves(trials)
    whole = per_cell(trials, (trials.core.lengths >= LONG) & ~broken(trials))
    for group in _equal(curves, np.flatnonzero(trials.core.lengths >= LONG)):
        if _moves(curves, int(group[0])):
            at = int(cell_of[group[0]])
            one_cell = (cell_of[group] == at).all()
            entire = one_cell and len(group) == whole[at]
            (alike if entire else inside if one_cell else across).append(group)
    # An algorithm without chance stands out among others that have it.
    if sum(whole > 1) == len(alike):
        inside, alike = [*inside, *alike], []
    if inside:
        extra = sum(len(group) - 1 for group in inside)
        rest = len(trials) - sum(map(len, alike))
        yield Finding(
            "duplicate-curves",
            # Sure, but a stray copy among many runs hardly moves an answer.
            "blocks" if 10 * extra >= rest else "tempers",
            f"{extra:,} trials have exactly the curve of another trial of the same "
            f"algorithm and task.",
            some(_names(trials, group) for group in inside),
            _COUNTED_TWICE,
            "If the rows were copied, remove the copies. If the seed has no effect on "
            "the run, see that it reaches the algorithm and its data.",
            f"{extra:,} of {rest:,} curves are copies of others",
        )
    if alike:
        yield _all_alike(trials, alike)
    if across:
        yield Finding(
            "duplicate-curves",
            "tempers",  # the untuned and the tuned one may well be the same once
            f"{len(across):,} curves occur under several names of algorithms or tasks, "
            f"equal to the last digit.",
            some(_names(trials, group) for group in across),
            "Either one run was filed under two names, or an option had no effect; a "
            "comparison of the two compares nothing.",
            Message(
                "See which name is right and remove the other, or correct the column "
                "that was read as ",
                Keyword("algorithm"),
                " or ",
                Keyword("task"),
                ".",
            ),
            f"{len(across):,} curves occur under several names",
        )


def _all_alike(trials: Trials, groups: list[Ints]) -> Finding:
    """Return the objection that all runs of an algorithm have the same curve."""
    where = [Cell(*trials.key(int(group[0]))[:2], 0, 0) for group in groups]
    return Finding(
        "duplicate-curves",
        "tempers",
        f"All runs of {count(len(groups), 'pair')} of task and algorithm have the same "
        f"curve, to the last digit.",
        some(where),
        "An algorithm that chance has no part in is the same in every run, and then "
        "nothing is wrong; but copies look like that, too, and so does a seed that never "
        "reached the algorithm.",
        "If it is deterministic, say so, and compare others with it as with a fixed "
        "curve. If it is not, see that its seed has an effect.",
        f"all runs of {some(where, 1)} are the same: deterministic, or copies",
    )


def _curves(trials: Trials) -> list[Ragged]:
    """Return the steps and every metric, to be told apart trial by trial."""
    flats = [flat_values(trials, metric)[0] for metric in scored(trials)]
    return [Ragged(trials.core.offsets, f) for f in (trials.core.steps, *flats)]


def _equal(curves: list[Ragged], rows: Ints) -> list[Ints]:
    """Return groups of rows whose curves are equal, all metrics and steps, in order."""
    rows = _ending_alike(curves, rows)
    code = hashes(rows, *curves)
    order = np.argsort(code, kind="stable")
    groups = np.split(rows[order], np.flatnonzero(np.diff(code[order])) + 1)
    # In order of rows: that of hashes is another in every process.
    found = [group for group in groups if len(group) > 1]
    return sorted(found, key=lambda group: int(group[0]))


def _ending_alike(curves: list[Ragged], rows: Ints) -> Ints:
    """Return the rows whose last and middle values others have, too: mostly none."""
    for curve in curves[1:]:
        for back in (1, 2):
            begins, ends = curve.offsets[rows], curve.offsets[rows + 1]
            at = ends - 1 - (ends - 1 - begins) * (back - 1) // 2
            _, place, times = np.unique(
                curve.flat[at], return_inverse=True, return_counts=True
            )
            rows = rows[times[place] > 1]
    return rows


def _moves(curves: list[Ragged], row: int) -> bool:
    values = [curve[row] for curve in curves[1:]]
    return max(len(np.unique(v[np.isfinite(v)])) for v in values) >= LONG


def _names(trials: Trials, group: Ints) -> str:
    task, algorithm, number = trials.key(int(group[0]))
    other = trials.key(int(group[1]))
    cell = Cell(task, algorithm, 0, 0)
    more = f" ({len(group)} in all)" if len(group) > 2 else ""
    if other[:2] == (task, algorithm):
        return f"{cell}: numbers {number} and {other[2]}{more}"
    return (
        f"{cell}, number {number} = {Cell(*other[:2], 0, 0)}, number {other[2]}{more}"
    )


def _same_rows(trials: Trials) -> Iterator[Finding]:
    params, curves = trials.details().params, _curves(trials)
    short = (params.lengths > 0) & (trials.core.lengths < LONG) & ~broken(trials)
    rows = np.flatnonzero(short)
    setting = hashes(rows, params)
    found: list[tuple[Cell, int, int]] = []
    for cell in cells(trials):
        mine = slice(*np.searchsorted(rows, [cell.start, cell.stop]))
        settings, place = np.unique(setting[mine], return_inverse=True)
        n = len(place)
        # One setting for all is a study of seeds: equal scores are ties or constants.
        if len(settings) < 2 or len(settings) == n:
            continue
        shared = np.bincount(place)[place] > 1
        results = hashes(rows[mine][shared], params, *curves)
        again = int(shared.sum()) - len(np.unique(place[shared]))
        same = len(results) - len(np.unique(results))
        # Coarse scores tie now and then; copies always do.
        if same and 2 * same >= again:
            found.append((cell, same, n))
    if found:
        extra = sum(same for _, same, _ in found)
        yield Finding(
            "duplicate-rows",
            "tempers",  # a setting may be drawn again, and need no seed
            f"{extra:,} of {sum(n for *_, n in found):,} trials have exactly the "
            "params and the scores of another trial of the same algorithm and task.",
            some(f"{cell} ({same:,})" for cell, same, _ in found),
            _COUNTED_TWICE,
            "Remove copied rows. If the same setting was really drawn again, then the "
            "run does not depend on its seed: say so, and see that the data are drawn "
            "anew.",
            f"{extra:,} trials have the params and scores of another",
        )


# --- 3. unequal lengths ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """From how many to how many steps the curves of a cell have, and where they end."""

    cell: Cell
    lengths: tuple[int, int]
    ends: tuple[float, float]

    def __str__(self) -> str:
        name = shortened(self.cell.algorithm, 40)
        return f"'{name}' {_from_to(*self.lengths)} steps, to {_from_to(*self.ends)}"


def unequal_lengths(trials: Trials) -> Iterator[Finding]:
    """Yield tasks on which the curves of finished runs end at different steps."""
    good = ~broken(trials) & (trials.core.lengths > 0)
    by_task: dict[str, list[Span]] = {}
    for cell in cells(trials):
        if good[cell.rows].any():
            by_task.setdefault(cell.task, []).append(_span(trials, cell, good))
    found = {task: spans for task, spans in by_task.items() if _differ(spans)}
    if not found:
        return
    task, spans = next(iter(found.items()))
    low = min(span.ends[0] for span in spans)
    high = max(span.ends[1] for span in spans)
    on_task = good & (trials.core.task == trials.tasks.index(task))
    reached = per_trial(trials, trials.core.steps == low) > 0
    useful = 2 * low >= high and bool(reached[on_task].all())
    hint = Message(", such as ", {"at": Verbatim(f"{low:.10g}")}) if useful else ""
    yield Finding(
        "unequal-lengths",
        # Runs that stop early are common; an algorithm that had less time is not fair.
        "tempers" if any(map(_apart, found.values())) else "notes",
        f"On {share(len(found), len(by_task))} tasks the curves of finished runs do "
        f"not end alike; on '{shortened(task, 40)}': {some(spans)}.",
        f"task {listed(found, most=4)}",
        "The last score of a short run is compared with a later score of a long one, "
        "and lines of different lengths have no common steps.",
        Message(
            "Compare at a step that all reach",
            hint,
            ", or give lines a common grid: ",
            {"grid": Verbatim("<number of steps>")},
            " with ",
            {"fill": "linear"},
            " or ",
            {"fill": "last"},
            ". If runs broke off, read that as ",
            Keyword("status"),
            ".",
        ),
        "last scores are of different steps: some algorithms ran for longer",
        concerns=("performance", "robustness", "plan", "versions"),
    )


def _span(trials: Trials, cell: Cell, good: Bools) -> Span:
    core = trials.core
    rows = np.flatnonzero(good[cell.rows]) + cell.start
    stops = core.offsets[rows + 1]
    n, ends = stops - core.offsets[rows], core.steps[stops - 1]
    return Span(
        cell,
        (int(n.min()), int(n.max())),
        (float(ends.min()), float(ends.max())),
    )


def _differ(spans: list[Span]) -> bool:
    lengths = {n for span in spans for n in span.lengths}
    # One step each is a point at its size, and sizes may well differ.
    return lengths != {1} and (
        len(lengths) > 1 or len({end for span in spans for end in span.ends}) > 1
    )


def _apart(spans: list[Span]) -> bool:
    """Return whether one algorithm's longest curve ends before another's shortest."""
    return max(span.ends[0] for span in spans) > min(span.ends[1] for span in spans)


def _from_to(low: float, high: float) -> str:
    return f"{low:.10g}" if low == high else f"{low:.10g} to {high:.10g}"


# --- 7. constant scores ---------------------------------------------------------------


def constant_scores(trials: Trials) -> Iterator[Finding]:
    """Yield algorithms that always score the same."""
    for metric in scored(trials):
        yield from _always_the_same(trials, metric)


def flat_curves(trials: Trials) -> Iterator[Finding]:
    """Yield curves that never move."""
    for metric in scored(trials):
        yield from _never_moving(trials, metric)


def _always_the_same(trials: Trials, metric: str) -> Iterator[Finding]:
    full = last_values(trials, metric)
    found = []
    for cell in cells(trials):
        scores = full[cell.rows]
        scores = scores[np.isfinite(scores)]
        if len(scores) >= 3 and (scores == scores[0]).all():
            found.append((cell, float(scores[0]), len(scores)))
    if found:
        n = sum(n for *_, n in found)
        yield Finding(
            "constant-scores",
            "tempers",
            f"All last scores of '{shortened(metric)}' are the same in {len(found):,} "
            f"pairs of task and algorithm ({n:,} trials).",
            some(f"{cell}: {shown(value)} in {n:,} trials" for cell, value, n in found),
            "Runs that never differ show no spread: the seed has no effect, the "
            "metric is at its end, or a default was written instead of a score.",
            "See that the seed reaches the run, that the score was measured, and that "
            "the task is neither solved by all nor by none.",
            f"all scores are the same in {some((cell for cell, *_ in found), 1)}",
            concerns=("performance", "robustness", "plan", "versions"),
            metrics=(metric,),
        )


def _never_moving(trials: Trials, metric: str) -> Iterator[Finding]:
    values, known = flat_values(trials, metric)
    known = known & np.isfinite(values)
    places = np.flatnonzero(known)
    owner = np.repeat(np.arange(len(trials)), trials.core.lengths)[places]
    at = values[places]
    moved = np.zeros(len(trials), bool)
    moved[owner[1:][(owner[1:] == owner[:-1]) & (at[1:] != at[:-1])]] = True
    flat = (per_trial(trials, known) >= LONG) & ~moved
    hits = per_cell(trials, flat)
    found = [(c, int(n)) for c, n in zip(cells(trials), hits, strict=True) if n]
    if found:
        whole = any(n == len(cell) for cell, n in found)
        yield Finding(
            "flat-curves",
            "tempers" if whole else "notes",
            f"{share(int(hits.sum()), len(trials))} curves of '{shortened(metric)}' "
            "have the same value at every step.",
            some(f"{cell} ({n:,} of {len(cell):,})" for cell, n in found),
            "A run that never moves did not learn, or its curve repeats one final "
            "value.",
            "See whether these runs collapsed (then keep them: they belong to the "
            "distribution) or whether a final score was written to every step (then "
            "read one row per run).",
            f"all curves are flat in "
            f"{some((cell for cell, n in found if n == len(cell)), 1)}",
            concerns=("difference", "learning"),
            metrics=(metric,),
        )
