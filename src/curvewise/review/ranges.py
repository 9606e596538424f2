"""Rules about scores: percent or fractions, ties, runs without a score."""

from collections.abc import Iterator

import numpy as np

from curvewise._text import shown
from curvewise.errors import Message, Phrase, Verbatim, listed, shortened, trials_where
from curvewise.metrics import Floats, Metric
from curvewise.review.finding import SCORES, Finding
from curvewise.review.looking import broken, per_cell, per_trial, share, some
from curvewise.trials import STATUSES, Trials
from curvewise.trials.cells import Cell, cells
from curvewise.trials.columns import Bools
from curvewise.trials.doors import last_values
from curvewise.trials.search import scored
from curvewise.trials.values import flat_values, meaning

# --- 6. units and ranges --------------------------------------------------------------


def units_and_ranges(trials: Trials) -> Iterator[Finding]:
    """Yield rates in percent, or partly so, and scores outside their metric's range."""
    for name in scored(trials):
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
    percent, fractions = per_cell(trials, above), per_cell(trials, below)
    everywhere = list(zip(cells(trials), percent, fractions, strict=True))
    if not below.any():
        return Finding(
            "percent",
            "blocks",  # all answers refuse scores outside a rate's range
            f"'{name}' is in percent: values go up to "
            f"{shown(float(values[known].max()))}, and its range is 0 to 1.",
            some(cell for cell, n, _ in everywhere if n),
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
        + some((f"{c} ({n:,})" for c, n, _ in everywhere if n), 3)
        + "; fractions: "
        + some((f"{c} ({n:,})" for c, _, n in everywhere if n), 3),
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
    hits = per_cell(trials, per_trial(trials, outside) > 0)
    extremes = (values[outside].min(), values[outside].max())
    name = shortened(metric.name)
    return Finding(
        "out-of-range",
        "blocks",
        f"{share(int(outside.sum()), int(known.sum()))} values of '{name}' are "
        f"outside its range {low:g} to {high:g}: from {extremes[0]:g} to "
        f"{extremes[1]:g}.",
        some(
            f"{c} ({n:,} trials)" for c, n in zip(cells(trials), hits, strict=True) if n
        ),
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
    for metric in scored(trials):
        full = last_values(trials, metric)
        found = []
        for cell in cells(trials):
            scores = full[cell.rows]
            scores = scores[np.isfinite(scores)]
            _, times = np.unique(scores, return_counts=True)
            tied = int(times[times > 1].sum())
            # All equal is another finding: constant scores.
            if len(scores) >= 10 and len(times) > 1 and 4 * tied >= len(scores):
                found.append((cell, tied, len(scores), len(times)))
        if found:
            tied, total = sum(f[1] for f in found), sum(f[2] for f in found)
            yield Finding(
                "ties",
                "notes",
                f"{share(tied, total)} last scores of '{shortened(metric)}' equal "
                "that of another trial of the same algorithm and task.",
                some(f"{c}: {k:,} values in {n:,} trials" for c, _, n, k in found),
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
    if not scored(trials):
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
    hits = per_cell(trials, status != 0)
    found = [(c, int(n)) for c, n in zip(cells(trials), hits, strict=True) if n]
    kinds = np.bincount(status[status != 0], minlength=len(STATUSES))
    each = [f"{n:,} {STATUSES[i]}" for i, n in enumerate(kinds.tolist()) if n]
    row = int(np.argmax(status != 0))
    text = shortened(
        trials.details().error[row].tobytes().decode(errors="replace"), 100
    )
    reason = f" The first says: {text}." if text else ""
    lost = [cell for cell, n in found if n == len(cell)]
    all_of = f"; all of them in {some(lost, 2)}" if lost else ""
    yield Finding(
        "failed-runs",
        # What failures score, every answer asks and tells; that nothing is left, not.
        "tempers" if lost else "notes",
        f"{share(int(hits.sum()), len(trials))} trials did not end well: "
        f"{', '.join(each)}{all_of}.{reason}",
        some(f"{cell} ({n:,} of {len(cell):,})" for cell, n in found),
        _DROPPED,
        _DECLARE,
        f"every run failed of {some(lost, 1)}",
    )


def _without_score(trials: Trials) -> Iterator[Finding]:
    ok, good = trials.core.status == 0, ~broken(trials)
    by_rows: dict[bytes, tuple[list[str], Bools]] = {}
    for metric in scored(trials):
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
    hits = per_cell(trials, lost)
    found = [(c, int(n)) for c, n in zip(cells(trials), hits, strict=True) if n]
    lost_cells = [cell for cell, n in found if n == len(cell)]
    return Finding(
        "no-final-score",
        "tempers" if lost_cells else "notes",
        f"{share(int(hits.sum()), len(trials))} trials have no finite last score of "
        f"{listed(names, most=4)}: diverged, or not measured.",
        some(f"{cell} ({n:,} of {len(cell):,})" for cell, n in found),
        _DROPPED,
        _DECLARE,
        f"no run has a last score of {some(lost_cells, 1)}",
        concerns=SCORES,
        metrics=tuple(names),
    )
