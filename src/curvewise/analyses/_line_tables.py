"""The tables of `Difference`, for people and for programs."""

from collections.abc import Sequence

from curvewise._text import Cell, shown
from curvewise.analyses._line_tasks import LinePair, LineTask
from curvewise.analyses._tables import interval_cell
from curvewise.stats.anova import OverTasks
from curvewise.stats.comparison import holm

_QUESTIONS = ("whole", "somewhere", "reversal")


def anova_rows(found: LineTask) -> list[dict[str, Cell]]:
    """Return the analysis of variance of one task, for programs."""
    out: list[dict[str, Cell]] = []
    for row in found.anova.rows():
        effect = str(row["effect"])
        full: dict[str, Cell] = {"task": found.task, **row}
        if effect in found.anova.tests:
            ends = found.anova.p_interval(effect)
            full |= {"p_lower": ends.lower, "p_upper": ends.upper}
            full["statistic"] = found.anova.tests[effect].statistic
            full["decision"] = found.anova.decision(effect)
        out.append(full)
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
            "p": _p(row["p"]) if row["p"] is not None else "-" if is_effect else "",
        })  # fmt: skip
    return out


def pair_row(task: str, pair: LinePair) -> dict[str, Cell]:
    """Return two algorithms on one task, for programs."""
    row: dict[str, Cell] = {"task": task, "first": pair.one, "second": pair.other}
    for name, found in (
        ("difference", pair.sizes.difference),
        ("standardised", pair.sizes.standardised),
        ("higher", pair.sizes.higher),
    ):
        row |= {name: found.value, f"{name}_lower": found.lower}
        row[f"{name}_upper"] = found.upper
    for name, effect in (("level", "algorithm"), ("shape", "interaction")):
        row[f"{name}_p"] = pair.tested.adjusted_p(effect)
        row[f"{name}_p_alone"] = pair.tested.p(effect)
    where = pair.where
    row["first_different"] = None if where is None else where.first_different
    row["last_different"] = None if where is None else where.last_different
    return row


def pair_table(found: LineTask) -> list[dict[str, Cell]]:
    """Return the pairs of algorithms on one task, for people."""
    return [
        {
            "pair": f"{pair.one} - {pair.other}",
            "difference": interval_cell(pair.sizes.difference, sign=True),
            "in sd": interval_cell(pair.sizes.standardised, sign=True),
            "level p": _p(pair.tested.adjusted_p("algorithm")),
            "shape p": _p(pair.tested.adjusted_p("interaction")),
            "higher at steps": _steps(pair),
        }
        for pair in found.pairs
    ]


def _steps(pair: LinePair) -> str:
    if pair.where is None:
        return "too few lines"
    told = [
        f"{name} {a:g}" if a == b else f"{name} {a:g} to {b:g}"
        for name, a, b in pair.above()
    ]
    most = 3
    more = f" and {len(told) - most} more" if len(told) > most else ""
    return ", ".join(told[:most]) + more or "none found"


def window_rows(task: str, pair: LinePair) -> list[dict[str, Cell]]:
    """Return what was found at each tested step or window, for programs."""
    where = pair.where
    if where is None:
        return []
    return [
        {
            "task": task,
            "first": pair.one,
            "second": pair.other,
            "from": float(where.first[i]),
            "to": float(where.last[i]),
            "statistic": float(where.statistic[i]),
            "p": float(where.p[i]),
            "different": bool(where.different[i]),
            "hangs_on_one_line": bool(where.hangs_on_one_line[:, i].any()),
        }
        for i in range(len(where.p))
    ]


def adjusted_p(overall: Sequence[OverTasks]) -> list[tuple[float, float, float]]:
    """Return for each pair the three p over all tasks, adjusted for all pairs (Holm)."""
    if not overall:
        return []
    columns = (holm([getattr(one, name).p for one in overall]) for name in _QUESTIONS)
    return [(float(a), float(b), float(c)) for a, b, c in zip(*columns, strict=True)]


def task_rows(overall: Sequence[OverTasks]) -> list[dict[str, Cell]]:
    """Return each pair over all tasks, p adjusted for the pairs, for programs."""
    adjusted = adjusted_p(overall)
    return [
        {
            "first": one.algorithms[0],
            "second": one.algorithms[1],
            "tasks": len(one.tasks),
            **{f"z {t}": float(z) for t, z in zip(one.tasks, one.z, strict=True)},
            **{f"{n}_p": p for n, p in zip(_QUESTIONS, adjusted[i], strict=True)},
        }
        for i, one in enumerate(overall)
    ]


def task_table(overall: Sequence[OverTasks]) -> list[dict[str, Cell]]:
    """Return each pair over all tasks, for people."""
    return [
        {
            "pair": f"{row['first']} - {row['second']}",
            **{n: shown(v, 3) for n, v in row.items() if n.startswith("z ")},
            "ahead on the whole, p": _p(row["whole_p"]),
            "differ somewhere, p": _p(row["somewhere_p"]),
            "each ahead somewhere, p": _p(row["reversal_p"]),
        }
        for row in task_rows(overall)
    ]


def _p(p: Cell) -> str:
    return f"{p:.2g}" if isinstance(p, float) else ""
