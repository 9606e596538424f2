"""What follows from the printed numbers alone, and the effects of Figure 1."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from curvewise.figures.chart import Chart
from curvewise.metrics import Floats
from curvewise.stats.anova import Anova, two_way
from curvewise.stats.deals import assignments
from curvewise_papers.claims import Claim
from curvewise_papers.piater1998.tables import (
    EFFECTS,
    ROWS,
    TABLES,
    TITLES,
    anova_of,
    rows_of,
    second_table,
    text,
    third_side,
)
from curvewise_papers.study import Figure, Results, Runner, Study, columns, line

_HALF = 0.005  # of the last digit of a sum of squares
_ROUNDED = "the rounding of what is printed."


def run(_: Runner) -> Results:
    """Return the printed tables, computed again from their sums of squares."""
    rows = [
        {
            "table": TITLES[table],
            "row": row,
            "df": anova.df[row],
            "ss": anova.ss[row],
            "ms": anova.ms(row),
            "f": np.nan if row == "error" else anova.f(row),
            "p_textbook": np.nan if row == "error" else anova.p(row),
        }
        for table in TABLES
        for anova in [anova_of(table)]
        for row in ROWS
    ]
    return Results(tables={"recomputed": columns(rows)})


def claims(_: Results) -> Sequence[Claim]:
    """Return what the printed numbers say about each other."""
    return [
        *_tables(),
        *_second_table(),
        *_textbook(),
        *_rules(),
        *_coin(),
        *_deals(),
        *_effects(),
    ]


def _tables() -> Iterator[Claim]:
    more: dict[str, Any] = {"reason": _ROUNDED, "digits": 2}
    for table in TABLES:
        title = f"{TITLES[table]}, its arithmetic"
        rows, anova = rows_of(table), anova_of(table)
        for row in ROWS:
            theirs, ss = rows[row], anova.ss[row]
            gap = _HALF + _HALF / anova.df[row]
            yield Claim(title, row, "MS", theirs["ms"], anova.ms(row), gap=gap, **more)
            if "f" in theirs:
                f = anova.f(row)
                off = f * (_HALF / ss if ss else 0) + f * _HALF / anova.ss["error"]
                yield Claim(title, row, "F", theirs["f"], f, gap=_HALF + off, **more)
        total = sum(anova.ss[row] for row in ROWS)
        gap = 5 * _HALF
        yield Claim(title, "total", "SS", anova.ss["total"], total, gap=gap, **more)


def _second_table() -> Iterator[Claim]:
    ss, second = anova_of("table2").ss, second_table()
    title = "Table 2, from Tables 1, 3 and 4"
    why = (
        "Table 2 cannot be of the same curves as Tables 1, 3 and 4: its error is "
        f"{second.error / ss['error']:.0f} times too small, and no change of scale gives "
        "its F."
    )
    more: dict[str, Any] = {"reason": _ROUNDED, "digits": 2, "why": why}
    values = {
        "error": (ss["error"], second.error, 5 * _HALF),
        "algorithm, if means are close": (ss["algorithm"], *_with_gap("algorithm", 0)),
        "algorithm, if they are not": (ss["algorithm"], *_with_gap("algorithm", 1)),
        "interaction, at least": (ss["interaction"], *_with_gap("interaction", 0)),
    }
    for row, (theirs, ours, gap) in values.items():
        yield Claim(title, row, "SS", theirs, ours, gap=gap, **more)


def _with_gap(effect: str, which: int) -> tuple[float, float]:
    """Return a sum of squares that others force, and how far rounding moves it."""
    pair, three = (anova_of(table).ss[effect] for table in ("table1", "table3"))
    ours = third_side(pair, three)[which]
    moved = [
        third_side(pair + a, three + b)[which]
        for a in (-_HALF, _HALF)
        for b in (-_HALF, _HALF)
    ]
    return ours, _HALF + max(abs(one - ours) for one in moved)


def _textbook() -> Iterator[Claim]:
    for name, p in text()["textbook_p"].items():
        table, effect = name.split("_")
        anova = anova_of(table)
        ss = anova.ss[effect]
        ends = [
            Anova(anova.df, {**anova.ss, effect: ss + d}).p(effect)
            for d in (-_HALF, _HALF)
        ]
        digits = 4 if p < 0.01 else 3 if table == "table2" and p > 0.6 else 2
        yield Claim(
            "Section 4.1: p of a textbook",
            f"{TITLES[table]}, {effect}",
            "",
            p,
            anova.p(effect),
            gap=0.5 * 10**-digits + abs(ends[1] - ends[0]) / 2,
            reason="the rounding of p and of the sum of squares that it comes from.",
            digits=digits,
        )
    df, _ = text()["algorithm_df"]
    anova = anova_of("table1")
    with_two = Anova({**anova.df, "algorithm": df}, {
        **anova.ss, "algorithm": df * anova.ss["algorithm"],
    }).p("algorithm")  # fmt: skip
    yield Claim(
        "Section 4.1: p of a textbook",
        "degrees of freedom of the algorithm",
        "",
        df,
        anova.df["algorithm"],
        why=f"It is m - 1, as in Table 1; with 2, the p of .0016 would be {with_two:.2g}.",
        digits=0,
    )


def _rules() -> Iterator[Claim]:
    title, rank, level = "Section 3: rules", text()["rank"], text()["level"]
    z = text()["shuffles"]
    place, of = rank["place"], rank["of"]
    yield Claim(
        title, "p of rank 972, as published", "", rank["p"], (of - place) / of, digits=3
    )
    yield Claim(
        title,
        "p of rank 972, the observed one counted",
        "",
        rank["p"],
        (of - place + 1) / (of + 1),
        digits=4,
        why="The observed F is one of 1,001 and counts in both places, or p could be 0.",
    )
    above = z - round((1 - level) * z)
    yield Claim(
        title,
        "level of an F above the 950th of 1,000",
        "",
        level,
        (above + 1) / (z + 1),
        digits=4,
        why="51 of the 1,001 ranks that the observed F may have are above it.",
    )
    n = text()["power"]["null_draws"]
    at = round((1 - level) * n)
    yield Claim(
        title, "values that a critical value is the mean of", "", 21,
        len(range(at - 10, at + 11)), digits=0,
    )  # fmt: skip


def _coin() -> Iterator[Claim]:
    coin = text()["coin"]
    n, title = coin["tosses"], "Section 2: a coin"

    def at_least(heads: int) -> float:
        ways = sum(math.comb(n, k) for k in range(heads, n + 1))
        return float(ways / 2**n)

    p = at_least(coin["heads"])
    yield Claim(title, "p of 16 heads", "", coin["p"], p, gap=0.0005, reason=_ROUNDED)
    critical = next(h for h in range(n + 1) if at_least(h) <= text()["level"])
    yield Claim(
        title,
        "critical number of heads at .05",
        "",
        coin["critical"],
        critical,
        why=f"14 or more have probability {at_least(14):.4f}, 15 or more "
        f"{at_least(15):.4f}.",
        digits=0,
    )


def _deals() -> Iterator[Claim]:
    paper = text()["many_deals"]
    deals = {(m, lines): assignments(m, lines) for m, lines in paper["designs"]}
    listed = ", ".join(f"c({m},{lines}) = {c:,}" for (m, lines), c in deals.items())
    yield Claim(
        "Section 3: deals",
        f"of {listed}: more than 1,000",
        "",
        len(deals),
        sum(c > paper["more_than"] for c in deals.values()),
        digits=0,
    )


# --- Figure 1 ----------------------------------------------------------------------------

_LEVELS = np.linspace(0, 1, 41)
_LATE = _LEVELS >= 0.7
_PRESENT = 1e-9  # of all sums of squares: more than rounding

# Which effects the paper says there are, overall and late in training.
_SAID = {
    "a": ((1, None), (0, None)),
    "b": ((0, None), (1, None)),
    "c": ((1, None), (1, 0)),
    "d": ((1, 0), (1, 0)),
}


def _rise(until: float, height: float = 1.0) -> Floats:
    """Return a curve that rises to a height and stays there."""
    done = np.minimum(_LEVELS / until, 1)
    return np.asarray(height * (1 - (1 - done) ** 2))


def schematic() -> dict[str, tuple[Floats, Floats]]:
    """Return the two mean curves of each panel of Figure 1.

    >>> [name for name in schematic()]
    ['a', 'b', 'c', 'd']
    """
    rise = _rise(0.6)
    tilt = 0.5 * (_LEVELS - _LEVELS.mean())
    return {
        "a": (rise + 0.3, rise),
        "b": (rise + tilt, rise - tilt),
        "c": (rise, _rise(0.6, 0.7)),
        "d": (_rise(0.35), _rise(0.65)),
    }


def _effects() -> Iterator[Claim]:
    for panel, curves in schematic().items():
        for when, part in (("", slice(None)), (", late", _LATE)):
            ss = _squares([curve[part] for curve in curves])
            for effect, pair in zip(
                ("algorithm", "interaction"), _SAID[panel], strict=True
            ):
                printed = pair[bool(when)]
                if printed is not None:
                    present = int(ss[effect] > _PRESENT)
                    yield Claim(
                        "Figure 1", f"{panel}{when}", effect, printed, present, digits=0
                    )


def _squares(curves: Sequence[Floats]) -> dict[str, float]:
    """Return which share of what two algorithms do is height, and which shape."""
    # Two lines above and below each curve: something has to be left for the error.
    lines = [np.stack([curve - 1, curve + 1]) for curve in curves]
    ss = two_way(lines).ss
    return {effect: ss[effect] for effect in EFFECTS}


def figures(_: Results) -> Sequence[Figure]:
    """Return Figure 1."""
    says = {
        "a": "algorithm only",
        "b": "interaction only",
        "c": "both; the interaction goes",
        "d": "both, and both go",
    }
    charts = tuple(
        Chart(
            title=f"({panel}) {says[panel]}",
            x_label="training",
            y_label="performance",
            series=tuple(
                line(name, _LEVELS, curve)
                for name, curve in zip(("one", "other"), curves, strict=True)
            ),
            caption="Two mean curves without noise.",
            axis="linear",
            shape="line",
        )
        for panel, curves in schematic().items()
    )
    return [
        Figure(
            "figure-1",
            "Figure 1: ways to differ",
            charts,
            "Curves that differ in height (algorithm), in shape (interaction) or in both. "
            "The sums of squares of these very curves say which: those of (a) have no "
            "interaction and those of (b) none of the algorithm, up to rounding. As in the "
            "paper, late in training the interaction of (c) has gone, and both of (d).",
            2,
        )
    ]


STUDY = Study(
    name="arithmetic",
    title="Figure 1, the sums of Tables 1-4, and the examples of the text",
    about="What follows from the printed numbers alone: mean squares, F, the p of a "
    "textbook, what Tables 1, 3 and 4 leave for Table 2, and the examples of a coin, a "
    "rank and numbers of deals. Nothing is run.",
    settled=("The curves of Figure 1 are drawn, not printed; ours have the same effects.",),
    cost={"quick": "no time", "kept": "no time", "full": "no time"},
    run=run,
    claims=claims,
    figures=figures,
)  # fmt: skip
