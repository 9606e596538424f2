"""Figures 3-5, and Tables 1-4 as distributions over replications."""

from collections.abc import Sequence

import numpy as np

from curvewise.analyses.difference import Difference, difference
from curvewise.figures.difference import lines_chart, null_chart
from curvewise.figures.series import Chart, Series, no_band
from curvewise.metrics import Floats
from curvewise.papers.piater1998.printed_tables import (
    EFFECTS,
    LINES,
    TABLES,
    TITLES,
    rows_of,
    text,
)
from curvewise.papers.results import Results
from curvewise.papers.study import Figure


def figures(results: Results) -> Sequence[Figure]:
    """Return the curves, what shuffles make of them, and each table's distribution."""
    first, second = (_answer(results, names) for names in (("A1", "A2"), ("A1", "A3")))
    shuffled = tuple(null_chart(first, effect) for effect in EFFECTS)
    return [
        Figure(
            "figure-3",
            "Figure 3: ten curves each of A1 and A2",
            (lines_chart(first),),
            "The first ten runs of two learners whose rates are .001 and .8. As in the "
            "paper, all of them rise from about 0 to about 85 of 100, and no eye could say "
            "that the two differ. " + _p_of(first),
            1,
        ),
        Figure(
            "figure-4",
            "Figure 4: what shuffles make of both F",
            shuffled,
            "F of the interaction and of the algorithm under 1,000 shuffles of the curves "
            "of Figure 3, the F of a textbook, what was observed and what it takes at .05. "
            "The paper says that shuffled and textbook's distributions look the same but "
            "differ in their means. That of the algorithm is wider than the textbook's, "
            "that of the interaction about as wide.",
            2,
        ),
        Figure(
            "figure-5",
            "Figure 5: ten curves each of A1 and A3",
            (lines_chart(second),),
            "The first ten runs of learners with rates .001 and .1, which the paper cannot "
            "tell apart. " + _p_of(second),
            1,
        ),
        *(_distribution(results, table) for table in TABLES),
    ]


def _answer(results: Results, names: tuple[str, str]) -> Difference:
    """Return the published test of the first ten curves of two algorithms."""
    trials = results.trials["curves"].where(algorithm=names, number=range(LINES))
    z = text()["shuffles"]
    return difference(trials, "score", null="joint", shuffles=z, exact=False)


def _p_of(answer: Difference) -> str:
    anova = answer.of(None).anova
    height, shape = (f"{anova.paper_p(effect):.3f}" for effect in EFFECTS[::-1])
    return (
        f"By the published test p is {height} for the algorithm and {shape} for the "
        "interaction."
    )


_SAME = 1e-6  # what rounding may leave between replications that are alike
_PANELS = (
    ("algorithm", "ss", "SS, algorithm"),
    ("interaction", "ss", "SS, interaction"),
    ("training", "ss", "SS, training"),
    ("error", "ss", "SS, error"),
    ("algorithm", "p", "p, algorithm"),
    ("interaction", "p", "p, interaction"),
)


def _distribution(results: Results, table: str) -> Figure:
    """Return the distributions of a table's numbers, the print marked in each."""
    places, charts = [], []
    kept = results.tables["replications"]
    for row, what, name in _PANELS:
        own = (np.asarray(kept["table"]) == table) & (np.asarray(kept["row"]) == row)
        values = np.asarray(kept[what], dtype=np.float64)[own]
        said = rows_of(table)[row][what]
        share = _below(values, said)
        low, middle, high = (_short(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
        places.append(f"{name} {middle} ({low} to {high}), {share:.0%}")
        if np.ptp(values) < _SAME:
            continue
        series = [_quantiles("as published" if what == "p" else "replications", values)]
        if what == "p":
            corrected = np.asarray(kept["p_corrected"], dtype=np.float64)[own]
            series.append(_quantiles("corrected", corrected))
        charts.append(
            Chart(
                title=name,
                x_label="share of replications",
                y_label=name,
                series=tuple(series),
                caption=f"Level line: the print, {said:g}, above {share:.0%} of them.",
                axis="share",
                level=said,
            )
        )
    return Figure(
        f"distribution-{table}",
        f"{TITLES[table]} as a distribution",
        tuple(charts),
        "Each number of the table in all replications, sorted; the level line is the "
        "print. Median (quartiles), and how many replications are below the print: "
        f"{'; '.join(places)}.{_REMARKS.get(table, '')}",
        3,
    )


_REMARKS = {
    "table2": " The sums of squares are of other curves than those of Tables 1, 3 and 4; "
    "only its p can be compared.",
    "table4": " Those of algorithm and interaction hang on v alone and are the same in "
    "every replication.",
}


def _below(values: Floats, said: float) -> float:
    """Return the share of values below the print, half of the ties counted."""
    near = np.isclose(values, said, rtol=0, atol=1e-9)
    return float(((values < said) & ~near).mean() + near.mean() / 2)


def _short(value: float) -> str:
    """Return a number with three digits, or none behind the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _quantiles(name: str, values: Floats) -> Series:
    shares = np.arange(1, len(values) + 1) / len(values)
    return Series(name, shares, np.sort(values), *no_band(values))
