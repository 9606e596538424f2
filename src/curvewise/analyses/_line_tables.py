"""The tables of `Difference`, for people and for programs."""

from collections.abc import Sequence

from curvewise._text import Cell, step
from curvewise.analyses._line_tasks import LinePair, LineTask
from curvewise.analyses._tables import interval_cell
from curvewise.metrics import Metric
from curvewise.stats.anova import OverTasks
from curvewise.stats.comparison import holm

_NEAR = (0.01, 0.1)  # where a level is likely to be
_QUESTIONS = ("whole", "somewhere", "reversal")


def anova_rows(found: LineTask) -> list[dict[str, Cell]]:
    """Return the analysis of variance of one task, for programs."""
    out: list[dict[str, Cell]] = []
    for row in found.anova.rows():
        effect = str(row["effect"])
        tested = effect in found.anova.tests
        ends = found.anova.p_interval(effect) if tested else None
        out.append({
            "task": found.task,
            **row,
            "p_lower": ends.lower if ends else None,
            "p_upper": ends.upper if ends else None,
            "statistic": found.anova.tests[effect].statistic if tested else None,
            "decision": found.anova.decision(effect) if tested else None,
        })  # fmt: skip
    return out


def anova_table(found: LineTask) -> list[dict[str, Cell]]:
    """Return the analysis of variance of one task, as it is printed."""
    out: list[dict[str, Cell]] = []
    for row in found.anova.rows():
        effect = str(row["effect"])
        is_effect = row["f"] is not None
        out.append({
            "source": effect.capitalize() if is_effect else effect,
            "df": row["df"],
            "SS": row["ss"],
            "MS": row["ms"],
            "F": None if not is_effect else f"{row['f']:.2f}",
            "p": shown_p(row["p"]) if row["p"] is not None else "-" if is_effect else "",
        })  # fmt: skip
    return out


def pair_row(task: str, pair: LinePair) -> dict[str, Cell]:
    """Return two algorithms on one task, for programs."""
    row: dict[str, Cell] = {"task": task, "one": pair.one, "other": pair.other}
    for name, found in (
        ("difference", pair.effects.difference),
        ("standardised", pair.effects.standardised),
        ("higher", pair.effects.higher),
    ):
        row |= {name: found.value, f"{name}_lower": found.lower}
        row[f"{name}_upper"] = found.upper
    for name, effect in (("height", "algorithm"), ("shape", "interaction")):
        row[f"{name}_p"] = pair.tested.adjusted_p(effect)
        row[f"{name}_p_alone"] = pair.tested.p(effect)
        row[f"{name}_decision"] = pair.decisions[effect]
    where = pair.where
    row["first_different"] = None if where is None else where.first_different
    row["last_different"] = None if where is None else where.last_different
    return row


def lead_word(metric: Metric) -> str:
    """Return what whoever leads is: nobody is ahead where better is not known."""
    return "above" if metric.direction is None else "ahead"


def pair_table(found: LineTask, metric: Metric) -> list[dict[str, Cell]]:
    """Return the pairs of algorithms on one task, for people."""
    return [
        {
            "pair": f"{pair.one} - {pair.other}",
            "difference": interval_cell(pair.effects.difference, sign=True),
            "in sd": interval_cell(pair.effects.standardised, sign=True),
            "height p": shown_p(pair.tested.adjusted_p("algorithm")),
            "shape p": shown_p(pair.tested.adjusted_p("interaction")),
            f"{lead_word(metric)} at steps": _steps(pair, metric),
        }
        for pair in found.pairs
    ]


def _steps(pair: LinePair, metric: Metric) -> str:
    if pair.where is None:
        return "too few lines"
    told = [
        f"{name}: {step(a)}" if a == b else f"{name}: {step(a)} to {step(b)}"
        for name, a, b in pair.ahead(metric)
    ]
    most = 3
    more = f" and {len(told) - most} more" if len(told) > most else ""
    return "; ".join(told[:most]) + more or "none found"


def window_rows(task: str, pair: LinePair, pairs: int) -> list[dict[str, Cell]]:
    """Return what was found at each tested step or window, for programs.

    Its p is adjusted for all steps, and for how many pairs share the level.
    """
    where, band = pair.where, pair.band
    if where is None or band is None:
        return []
    above = pair.above()
    return [
        {
            "task": task,
            "one": pair.one,
            "other": pair.other,
            "from": float(where.first[i]),
            "to": float(where.last[i]),
            "statistic": float(where.statistic[i]),
            "p": min(float(where.p[i]) * pairs, 1.0),
            "different": bool(where.different[i]),
            "above": next(
                (name for name, a, b in above if a <= where.first[i] <= b), None
            ),
            "hangs_on_one_line": bool(where.hangs_on_one_line[:, i].any()),
        }
        for i in range(len(where.p))
    ]


def curve_rows(task: str, pair: LinePair) -> list[dict[str, Cell]]:
    """Return the difference of the mean curves with its band, for programs."""
    band = pair.band
    if band is None:
        return []
    points = zip(band.at, band.value, band.lower, band.upper, strict=True)
    return [
        {
            "task": task,
            "one": pair.one,
            "other": pair.other,
            "step": float(at),
            "difference": float(value),
            "difference_lower": float(lower),
            "difference_upper": float(upper),
        }
        for at, value, lower, upper in points
    ]


def line_rows(found: LineTask) -> list[dict[str, Cell]]:
    """Return how many lines each algorithm has, and how they came on common steps."""
    return [
        {
            "task": found.task,
            "algorithm": name,
            "lines": len(own),
            "failed": found.lines.failed[name],
            "steps": len(found.lines.steps),
            "rule": found.lines.rule,
        }
        for name, own in found.lines.items()
    ]


def adjusted_p(overall: Sequence[OverTasks]) -> list[tuple[float, float, float]]:
    """Return for each pair the three p over all tasks, adjusted for all pairs (Holm)."""
    if not overall:
        return []
    columns = (holm([getattr(one, name).p for one in overall]) for name in _QUESTIONS)
    return [(float(a), float(b), float(c)) for a, b, c in zip(*columns, strict=True)]


def task_rows(overall: Sequence[OverTasks]) -> list[dict[str, Cell]]:
    """Return each pair on each task, without a scale, for programs."""
    return [
        {
            "one": one.algorithms[0],
            "other": one.algorithms[1],
            "task": task,
            "difference": float(difference),
            "z": float(z),
        }
        for one in overall
        for task, difference, z in zip(one.tasks, one.difference, one.z, strict=True)
    ]


def overall_rows(overall: Sequence[OverTasks]) -> list[dict[str, Cell]]:
    """Return each pair over all tasks, p adjusted for the pairs, for programs."""
    return [
        {
            "one": one.algorithms[0],
            "other": one.algorithms[1],
            "tasks": len(one.tasks),
            **{f"{name}_p": p for name, p in zip(_QUESTIONS, adjusted, strict=True)},
        }
        for one, adjusted in zip(overall, adjusted_p(overall), strict=True)
    ]


def overall_table(overall: Sequence[OverTasks]) -> list[dict[str, Cell]]:
    """Return each pair over all tasks, for people."""
    out: list[dict[str, Cell]] = []
    for one, (whole, somewhere, reversal) in zip(
        overall, adjusted_p(overall), strict=True
    ):
        row: dict[str, Cell] = {"pair": " - ".join(one.algorithms)}
        row |= {f"z, {t}": f"{z:.2f}" for t, z in zip(one.tasks, one.z, strict=True)}
        row["ahead on the whole, p"] = shown_p(whole)
        row["differ somewhere, p"] = shown_p(somewhere)
        row["each ahead somewhere, p"] = shown_p(reversal)
        out.append(row)
    return out


def shown_p(p: Cell) -> str:
    """Return a p value with two digits, and three where a level may be near.

    >>> shown_p(0.04963), shown_p(0.000123), shown_p(0.51), shown_p(None)
    ('0.0496', '0.00012', '0.51', '')
    """
    if not isinstance(p, float):
        return ""
    return f"{p:.3g}" if _NEAR[0] <= p <= _NEAR[1] else f"{p:.2g}"
