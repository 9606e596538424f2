"""Rules about scores: their range and their meaning, ties, failures, curves."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curvewise.errors import (
    Keyword,
    Message,
    Phrase,
    Verbatim,
    listed,
    shortened,
    trials_where,
)
from curvewise.metrics import Floats, Metric
from curvewise.review.finding import SCORES, Finding
from curvewise.text import count, shown, some
from curvewise.trials import STATUSES, Trials
from curvewise.trials.columns import Bools, Ints, Ragged
from curvewise.trials.doors import flat_values, last_values, meaning, scored
from curvewise.trials.settings import (
    Cell,
    cell_codes,
    cells,
    edges,
    hashes,
    metrics_to_check,
)

# --- 6. units and ranges --------------------------------------------------------------


def units_and_ranges(trials: Trials) -> Iterator[Finding]:
    """Yield rates in percent, or partly so, and scores outside their metric's range."""
    for name in metrics_to_check(trials):
        metric = meaning(trials, name)
        values, known = flat_values(trials, name)
        known = known & np.isfinite(values)
        low, high = metric.range
        with np.errstate(invalid="ignore"):  # inf - inf where there is no bound
            outside = known & ((values < low - 1e-9) | (values > high + 1e-9))
        if not outside.any():
            continue
        top = values[known].max()
        # An accuracy of 1.02 is a mistake; an error of 1.02 may be percent.
        plausible = 2 if metric.direction == "higher" else 1
        if metric.is_rate and plausible < top <= 100 and values[known].min() >= -1e-9:
            yield _percent(trials, metric, values, known)
        else:
            yield _outside(trials, metric, values, outside, known)


def _percent(trials: Trials, metric: Metric, values: Floats, known: Bools) -> Finding:
    """Return the finding on a rate above 1; trials of zeros fit either unit."""
    above = per_trial(trials, known & (values > 1 + 1e-9)) > 0
    below = (per_trial(trials, known & (values > 0)) > 0) & ~above
    name = shortened(metric.name)
    percent, fractions = _cells_with(trials, above), _cells_with(trials, below)
    if not below.any():
        return Finding(
            "percent",
            "blocks",  # all answers refuse scores outside a rate's range
            f"'{name}' is in percent: values go up to "
            f"{shown(float(values[known].max()))}, and its range is 0 to 1.",
            some(cell for cell, _ in percent),
            "Rates are kept as fractions; bounds and bands that rely on the range 0 "
            "to 1 are refused or wrong.",
            Message("Read the results with ", {"unit": "percent"}, "."),
            f"'{name}' is in percent, and its range is 0 to 1",
            concerns=SCORES,
            metrics=(metric.name,),
            fixes=({"unit": "percent"},),
        )
    return Finding(
        "percent-and-fractions",
        "blocks",
        f"'{name}' mixes percent with fractions: {above.sum():,} trials have values "
        f"above 1, and {below.sum():,} none.",
        "percent: "
        + some((f"{cell} ({n:,})" for cell, n in percent), 3)
        + "; fractions: "
        + some((f"{cell} ({n:,})" for cell, n in fractions), 3),
        "90 and 0.9 are then counted as different scores: means, ranks and bands are "
        "meaningless.",
        Message(
            "Divide the ones in percent by 100 before reading. If the small ones are "
            "really below 1 %, all are in percent: read with ",
            {"unit": "percent"},
            ".",
        ),
        f"'{name}' mixes percent with fractions",
        concerns=SCORES,
        metrics=(metric.name,),
    )


def _outside(
    trials: Trials, metric: Metric, values: Floats, outside: Bools, known: Bools
) -> Finding:
    low, high = metric.range
    counts = _cells_with(trials, per_trial(trials, outside) > 0)
    extremes = (values[outside].min(), values[outside].max())
    name = shortened(metric.name)
    return Finding(
        "out-of-range",
        "blocks",
        f"{share(int(outside.sum()), int(known.sum()))} values of '{name}' are "
        f"outside its range {low:g} to {high:g}: from {extremes[0]:g} to "
        f"{extremes[1]:g}.",
        some(f"{cell} ({n:,} trials)" for cell, n in counts),
        "Either the values are wrong or the metric means something else; guaranteed "
        "intervals rely on the range.",
        Message(
            "Correct the values, or declare what it means: ",
            {"metrics": {name: f"{metric.direction or 'higher'}:LOW:HIGH"}},
            ".",
        ),
        f"'{name}' has values outside its range {low:g} to {high:g}",
        concerns=SCORES,
        metrics=(metric.name,),
    )


# --- 8. ties --------------------------------------------------------------------------


def ties(trials: Trials) -> Iterator[Finding]:
    """Yield metrics of which many last scores are tied."""
    for metric in metrics_to_check(trials):
        full = last_values(trials, metric)
        hits = []
        for cell in cells(trials):
            scores = full[cell.rows]
            scores = scores[np.isfinite(scores)]
            _, times = np.unique(scores, return_counts=True)
            tied = int(times[times > 1].sum())
            # All equal is another finding: constant scores.
            if len(scores) >= 10 and len(times) > 1 and 4 * tied >= len(scores):
                hits.append((cell, tied, len(scores), len(times)))
        if hits:
            tied, total = sum(f[1] for f in hits), sum(f[2] for f in hits)
            yield Finding(
                "ties",
                "notes",
                f"{share(tied, total)} last scores of '{shortened(metric)}' equal "
                "that of another trial of the same algorithm and task.",
                some(f"{c}: {k:,} values in {n:,} trials" for c, _, n, k in hits),
                "Where scores tie, quantiles jump from one value to the next, the "
                "band holds with more than its confidence (it is conservative), and "
                "the literal CVaR E[Z | Z >= quantile] takes in a whole tied block "
                "while the integral form does not.",
                "Nothing is wrong. Use the integral CVaR, which is the default, and "
                "name the one you report; a larger test set gives finer scores.",
            )


# --- 9. failed runs -------------------------------------------------------------------


def failed_runs(trials: Trials) -> Iterator[Finding]:
    """Yield runs that failed or have no finite score, and metrics that are missing."""
    if len(trials) == 0:
        yield Finding(
            *("no-trials", "blocks", "There are no trials.", "everywhere"),
            "There is nothing to judge.",
            "See that the file has rows, and what where(...) asked for.",
            "there are no trials",
        )
        return
    yield from _not_ok(trials)
    if not metrics_to_check(trials):
        if not (trials.details().example_set >= 0).any():
            yield Finding(
                *("no-metric", "blocks", "No trial has a score.", "everywhere"),
                "There is nothing to judge the algorithms by.",
                Message(
                    "Name the columns with scores: ",
                    Phrase("read(..., metrics=[...])", "--metrics NAME"),
                    ".",
                ),
                "no trial has a score",
            )
        return
    yield from _without_score(trials)


_DROPPED = (
    "A failed run is part of the distribution: leaving it out flatters the algorithms "
    "that crash or diverge."
)
_DECLARE = Message(
    "Say what a failure scores: ",
    {"failed": "worst"},
    ", or ",
    {"failed": Verbatim("<score of a failed run>")},
    ", such as that of guessing. Do not drop the rows.",
)


def _not_ok(trials: Trials) -> Iterator[Finding]:
    status = trials.core.status
    if not (status != 0).any():
        return
    counts = _cells_with(trials, status != 0)
    kinds = np.bincount(status[status != 0], minlength=len(STATUSES))
    each = [f"{n:,} {STATUSES[i]}" for i, n in enumerate(kinds.tolist()) if n]
    row = int(np.argmax(status != 0))
    text = shortened(
        trials.details().error[row].tobytes().decode(errors="replace"), 100
    )
    reason = f" The first says: {text}." if text else ""
    lost = [cell for cell, n in counts if n == len(cell)]
    all_of = f"; all of them in {some(lost, 2)}" if lost else ""
    yield Finding(
        "failed-runs",
        # What failures score, every answer asks and tells; that nothing is left, not.
        "tempers" if lost else "notes",
        f"{share(int((status != 0).sum()), len(trials))} trials did not end well: "
        f"{', '.join(each)}{all_of}.{reason}",
        _shares_of(counts),
        _DROPPED,
        _DECLARE,
        f"every run failed of {some(lost, 1)}",
    )


def _without_score(trials: Trials) -> Iterator[Finding]:
    ok, good = trials.core.status == 0, ~broken(trials)
    by_rows: dict[bytes, tuple[list[str], Bools]] = {}
    for metric in metrics_to_check(trials):
        values, known = flat_values(trials, metric)
        finite = per_cell(trials, per_trial(trials, known & np.isfinite(values)) > 0)
        recorded = per_cell(trials, per_trial(trials, known) > 0)
        everywhere = list(zip(cells(trials), finite, recorded, strict=True))
        measured = {cell.task for cell, n, _ in everywhere if n}
        lost = ok & ~np.isfinite(last_values(trials, metric))
        lacking = []
        for cell, n, cases in everywhere:
            # Trials that another metric can judge did not fail: this one is missing.
            if n == 0 and good[cell.rows].any():
                lost[cell.rows] = False
                if cases or cell.task in measured:
                    lacking.append(cell)
        if lacking:
            yield _missing_metric(metric, lacking)
        if lost.any():
            names, _ = by_rows.setdefault(np.packbits(lost).tobytes(), ([], lost))
            names.append(metric)
    for names, lost in by_rows.values():
        yield _diverged(trials, names, lost)


def _missing_metric(metric: str, where: list[Cell]) -> Finding:
    return Finding(
        "missing-metric",
        "tempers",
        f"'{shortened(metric)}' has no value in any trial of {len(where):,} pairs of "
        "task and algorithm, though these trials have other scores.",
        some(where),
        "These algorithms cannot be compared by this metric: by it, all their trials "
        "count as failed.",
        Message(
            "See whether the column has another name there, or leave these "
            "algorithms out of this comparison: ",
            trials_where(algorithm=[...]),
            ".",
        ),
        f"'{shortened(metric, 30)}' was never measured of {some(where, 1)}",
        concerns=SCORES,
        metrics=(metric,),
    )


def _diverged(trials: Trials, names: list[str], lost: Bools) -> Finding:
    counts = _cells_with(trials, lost)
    lost_cells = [cell for cell, n in counts if n == len(cell)]
    return Finding(
        "no-final-score",
        "tempers" if lost_cells else "notes",
        f"{share(int(lost.sum()), len(trials))} trials have no finite last score of "
        f"{listed(names, most=4)}: diverged, or not measured.",
        _shares_of(counts),
        _DROPPED,
        _DECLARE,
        f"no run has a last score of {some(lost_cells, 1)}",
        concerns=SCORES,
        metrics=tuple(names),
    )


# --------------------------------------------------------------------------------------
# Rules about curves: the same one twice, unequal lengths, scores that never move.


LONG = 5  # steps, and different values, from which on two equal curves are no chance

_COUNTED_TWICE = (
    "A run that is counted twice makes the sample look larger than it is, and every "
    "band and p value too good."
)


# --- 2. duplicates --------------------------------------------------------------------


def duplicates(trials: Trials) -> Iterator[Finding]:
    """Yield curves and rows that occur more than once."""
    if len(trials) == 0 or not metrics_to_check(trials):
        return
    yield from _same_curves(trials)
    yield from _same_rows(trials)


def _same_curves(trials: Trials) -> Iterator[Finding]:
    cell_of = cell_codes(trials)
    inside: list[Ints] = []
    across: list[Ints] = []
    alike: list[Ints] = []
    curves = _curves(trials)
    whole = per_cell(trials, (trials.core.lengths >= LONG) & ~broken(trials))
    # Groups of rows whose curves are equal, all metrics and steps, in order.
    rows = np.flatnonzero(trials.core.lengths >= LONG)
    rows = _ending_alike(curves, rows)
    code = hashes(rows, *curves)
    order = np.argsort(code, kind="stable")
    groups = np.split(rows[order], np.flatnonzero(np.diff(code[order])) + 1)
    # In order of rows: that of hashes is another in every process.
    copies = [group for group in groups if len(group) > 1]
    for group in sorted(copies, key=lambda group: int(group[0])):
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
    flats = [flat_values(trials, metric)[0] for metric in metrics_to_check(trials)]
    return [Ragged(trials.core.offsets, f) for f in (trials.core.steps, *flats)]


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
    hits: list[tuple[Cell, int, int]] = []
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
            hits.append((cell, same, n))
    if hits:
        extra = sum(same for _, same, _ in hits)
        yield Finding(
            "duplicate-rows",
            "tempers",  # a setting may be drawn again, and need no seed
            f"{extra:,} of {sum(n for *_, n in hits):,} trials have exactly the "
            "params and the scores of another trial of the same algorithm and task.",
            some(f"{cell} ({same:,})" for cell, same, _ in hits),
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
            core = trials.core
            rows = np.flatnonzero(good[cell.rows]) + cell.start
            stops = core.offsets[rows + 1]
            n, ends = stops - core.offsets[rows], core.steps[stops - 1]
            by_task.setdefault(cell.task, []).append(
                Span(
                    cell,
                    (int(n.min()), int(n.max())),
                    (float(ends.min()), float(ends.max())),
                )
            )
    uneven = {task: spans for task, spans in by_task.items() if _differ(spans)}
    if not uneven:
        return
    task, spans = next(iter(uneven.items()))
    low = min(span.ends[0] for span in spans)
    high = max(span.ends[1] for span in spans)
    on_task = good & (trials.core.task == trials.tasks.index(task))
    reached = per_trial(trials, trials.core.steps == low) > 0
    useful = 2 * low >= high and bool(reached[on_task].all())
    hint = Message(", such as ", {"at": Verbatim(f"{low:.10g}")}) if useful else ""
    yield Finding(
        "unequal-lengths",
        # Runs that stop early are common; an algorithm that had less time is not fair.
        "tempers" if any(map(_apart, uneven.values())) else "notes",
        f"On {share(len(uneven), len(by_task))} tasks the curves of finished runs do "
        f"not end alike; on '{shortened(task, 40)}': {some(spans)}.",
        f"task {listed(uneven, most=4)}",
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
    for metric in metrics_to_check(trials):
        full = last_values(trials, metric)
        alike = []
        for cell in cells(trials):
            scores = full[cell.rows]
            scores = scores[np.isfinite(scores)]
            if len(scores) >= 3 and (scores == scores[0]).all():
                alike.append((cell, float(scores[0]), len(scores)))
        if alike:
            n = sum(n for *_, n in alike)
            yield Finding(
                "constant-scores",
                "tempers",
                f"All last scores of '{shortened(metric)}' are the same in {len(alike):,} "
                f"pairs of task and algorithm ({n:,} trials).",
                some(
                    f"{cell}: {shown(value)} in {n:,} trials"
                    for cell, value, n in alike
                ),
                "Runs that never differ show no spread: the seed has no effect, the "
                "metric is at its end, or a default was written instead of a score.",
                "See that the seed reaches the run, that the score was measured, and that "
                "the task is neither solved by all nor by none.",
                f"all scores are the same in {some((cell for cell, *_ in alike), 1)}",
                concerns=("performance", "robustness", "plan", "versions"),
                metrics=(metric,),
            )


def flat_curves(trials: Trials) -> Iterator[Finding]:
    """Yield curves that never move."""
    for metric in metrics_to_check(trials):
        values, known = flat_values(trials, metric)
        known = known & np.isfinite(values)
        places = np.flatnonzero(known)
        owner = np.repeat(np.arange(len(trials)), trials.core.lengths)[places]
        at = values[places]
        moved = np.zeros(len(trials), bool)
        moved[owner[1:][(owner[1:] == owner[:-1]) & (at[1:] != at[:-1])]] = True
        flat = (per_trial(trials, known) >= LONG) & ~moved
        counts = _cells_with(trials, flat)
        if counts:
            whole = [cell for cell, n in counts if n == len(cell)]
            yield Finding(
                "flat-curves",
                "tempers" if whole else "notes",
                f"{share(int(flat.sum()), len(trials))} curves of '{shortened(metric)}' "
                "have the same value at every step.",
                _shares_of(counts),
                "A run that never moves did not learn, or its curve repeats one final "
                "value.",
                "See whether these runs collapsed (then keep them: they belong to the "
                "distribution) or whether a final score was written to every step (then "
                "read one row per run).",
                f"all curves are flat in {some(whole, 1)}",
                concerns=("difference", "learning"),
                metrics=(metric,),
            )


# --- A rule about meaning: which way is better, and who said so ------------------------


def assumed_directions(trials: Trials) -> Iterator[Finding]:
    """Yield metrics whose direction nobody knows, and those that only a name tells."""
    metrics = [
        meaning(trials, name) for name in scored(trials) if name in trials.metrics
    ]
    unknown = [m for m in metrics if not m.is_directed]
    if unknown:
        names = [m.name for m in unknown]
        fix = {"metrics": {names[0]: "lower"}}
        yield Finding(
            "unknown-direction",
            "tempers",
            f"No direction is declared for {listed(names, 4)}, and the "
            f"name does not tell.",
            listed(names),
            "Without it there is no better, no best and no winner: such answers are "
            "withheld.",
            Message("Say it when the results are read, such as ", fix, "."),
            brief=f"which way {listed(names, 2)} is better is unknown",
            metrics=tuple(names),
            fixes=tuple({"metrics": {names[0]: way}} for way in ("lower", "higher")),
        )
    assumed = [m for m in metrics if m.direction and m.assumption]
    if assumed:
        first = assumed[0]
        keyword = {"metrics": {first.name: first.direction}}
        yield Finding(
            "assumed-direction",
            "notes",
            "Which way is better was taken from names alone: "
            + "; ".join(f"{shortened(m.name)}, {m.direction}" for m in assumed[:4])
            + (f"; and {len(assumed) - 4} more." if len(assumed) > 4 else "."),
            listed([m.name for m in assumed]),
            "Were it the other way round, the worst would be called the best.",
            Message("Nothing, if it is right; ", keyword, " says it for good."),
        )


# --- What rules about scores count -----------------------------------------------------


def broken(trials: Trials) -> Bools:
    """Return which trials did not end well or have no finite last score at all."""
    finite = np.zeros(len(trials), bool)
    for metric in metrics_to_check(trials):
        finite |= np.isfinite(last_values(trials, metric))
    return np.asarray((trials.core.status != 0) | ~finite)


def per_cell(trials: Trials, mask: Bools) -> Ints:
    """Return how many rows of each cell are marked."""
    total = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.diff(total[edges(trials)])


def _cells_with(trials: Trials, mask: Bools) -> list[tuple[Cell, int]]:
    """Return the cells that have marked rows, and how many."""
    counts = per_cell(trials, mask).tolist()
    return [(cell, n) for cell, n in zip(cells(trials), counts, strict=True) if n]


def _shares_of(counts: list[tuple[Cell, int]]) -> str:
    return some(f"{cell} ({n:,} of {len(cell):,})" for cell, n in counts)


def per_trial(trials: Trials, mask: Bools) -> Ints:
    """Return how many places of each trial's curve are marked."""
    total = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.diff(total[trials.core.offsets])


def share(part: int, whole: int) -> str:
    """Return a part as numbers and percent.

    >>> share(1, 4)
    '1 of 4 (25 %)'
    """
    return f"{part:,} of {whole:,} ({100 * part / max(whole, 1):.0f} %)"
