"""Tables 1-4 and Figures 3-5, as distributions over many replications."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.claim import Claim
from curvewise.papers.piater1998.curves import (
    SETTLED,
    curves,
    lines_of,
    missing,
)
from curvewise.papers.piater1998.printed_tables import (
    EFFECTS,
    LINES,
    ROWS,
    TABLES,
    TITLES,
    rows_of,
    text,
)
from curvewise.papers.piater1998.table_figures import figures
from curvewise.papers.results import Results, Table
from curvewise.papers.study import Runner, Study
from curvewise.stats.anova import randomized_anova

_SIZES = (0.5, 1.0, 1.5, 2.0)  # of v, beside that of the paper
_WITH_P = ("ss", "f", "p", "p_corrected", "p_textbook", "null_mean", "p_of_print")


def run(runner: Runner) -> Results:
    """Run the curves, and every table on each ten of them."""
    trials = curves(runner, ("A1", "A2", "A3"))
    lines = lines_of(trials)
    rng = np.random.default_rng(1)
    every = range(len(lines["A1"]) // LINES)
    found: list[dict[str, Any]] = []
    sizes: list[dict[str, float]] = []
    for replication in runner.each(every, "replications"):
        place = slice(LINES * replication, LINES * (replication + 1))
        own = {name: curve[place] for name, curve in lines.items()}
        for table in TABLES:
            which = {"replication": replication, "table": table}
            rows = _tested(_chosen(own, table), rows_of(table), rng)
            found += [which | row for row in rows]
        sizes += _with_sizes(own["A1"], replication, rng)
    kept = {"replications": _columns(found), "sizes": _columns(sizes)}
    return Results({"curves": trials}, kept)


def _chosen(own: Mapping[str, Floats], table: str) -> dict[str, Floats]:
    """Return the lines that a table compares."""
    said = rows_of(table)
    if "v" in said:
        return {"A1": own["A1"], "A1 + v": own["A1"] + np.array(said["v"])}
    return {name: own[name] for name in said["algorithms"]}


def _tested(
    lines: Mapping[str, Floats], said: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Yield each row of a table, with p as published, corrected, and of a textbook.

    And with the p that the printed F would have among the shuffled ones.
    """
    z = text()["shuffles"]
    published = randomized_anova(
        lines, null="joint", exact=False, shuffles=z, most=z, rng=rng
    )
    corrected = randomized_anova(lines, exact=False, rng=rng)
    anova = published.anova
    for row in ROWS:
        out: dict[str, Any] = dict.fromkeys(_WITH_P, np.nan)
        out |= {"row": row, "ss": anova.ss[row]}
        if row != "error":
            out |= {"f": anova.f(row), "p_textbook": anova.p(row)}
        if row in EFFECTS:
            null = published.null_values(row)
            out |= {
                "p": published.paper_p(row),
                "p_corrected": corrected.p(row),
                "null_mean": null.mean(),
                "p_of_print": (null > said[row]["f"] + 1e-9).mean(),
            }
        yield out


def _with_sizes(
    lines: Floats, replication: int, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return the p of the interaction of Table 4 where v is smaller or larger."""
    v, z = np.array(rows_of("table4")["v"]), text()["shuffles"]
    out = []
    for size in _SIZES:
        found = randomized_anova(
            [lines, lines + size * v],
            null="joint",
            exact=False,
            shuffles=z,
            most=z,
            rng=rng,
        )
        p = found.paper_p("interaction")
        out.append({"replication": replication, "size": size, "p": p})
    return out


def _columns(rows: Sequence[Mapping[str, Any]]) -> Table:
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


# --- what it says about the print --------------------------------------------------------


def values(results: Results, table: str, row: str, what: str) -> Floats:
    """Return a number of a table in all replications."""
    kept = results.tables["replications"]
    own = (np.asarray(kept["table"]) == table) & (np.asarray(kept["row"]) == row)
    found: Floats = np.asarray(kept[what], dtype=np.float64)[own]
    return found


def median_error(values: Floats) -> float:
    """Return the standard error of a median, from the values around it.

    Half of what lies between those whose ranks are a standard deviation, sqrt(n) / 2,
    below and above the middle.

    >>> median_error(np.arange(100.0))
    5.0
    """
    n = len(values)
    apart = np.sqrt(n) / 2
    at = np.clip(np.round([n / 2 - apart, n / 2 + apart]), 0, n - 1).astype(int)
    low, high = np.sort(values)[at]
    return float(high - low) / 2


_DRAW = (
    "ours is the median over replications, and its standard error; the print is one draw, "
    "whose standard error is the standard deviation of one replication; plus half of its "
    "last digit."
)
_TIED = (
    "F is 0, the smallest there is, so that every shuffled F is at least as large and p is "
    "1. The print leaves out exact ties: curves and their copies have equal means, and "
    "0.55 % of all deals part every pair."
)
_MORE_P = {"p_corrected": "p, corrected", "p_of_print": "p of the printed F"}
_OTHER_CURVES = (
    "The error of Table 2 is 64 times smaller than Tables 1, 3 and 4 allow, so that its "
    "sums of squares are of other curves, on another scale; F and p have none."
)


def claims(results: Results) -> Sequence[Claim]:
    """Return each printed number beside the median of ours."""
    out: list[Claim] = []
    for table in TABLES:
        said = rows_of(table)
        for row in ROWS:
            out += _row(results, table, row, said[row])
    out += _means(results)
    out += _words(results)
    return out


def _row(
    results: Results, table: str, row: str, said: Mapping[str, float]
) -> Iterator[Claim]:
    columns = {"ss": ("SS", 2), "f": ("F", 2), "p": ("p", 3)}
    for key, (column, digits) in columns.items():
        if key == "ss" and table == "table2":
            yield Claim(
                TITLES[table], row, column, said[key], None, why=_OTHER_CURVES, digits=2
            )
        elif key in said:
            own = values(results, table, row, key)
            yield _claim(TITLES[table], row, column, said[key], own, digits, table)
    if "p" in said:
        for key, column in _MORE_P.items():
            own = values(results, table, row, key)
            yield _claim(TITLES[table], row, column, said["p"], own, 3, table)


def _claim(
    title: str, row: str, column: str, said: float, own: Floats, digits: int, table: str
) -> Claim:
    sd = float(own.std(ddof=1))
    if sd < 1e-9:  # the same in every replication: no draw at all
        told: dict[str, Any] = {"gap": 0.5 * 10**-digits, "reason": _DRAW}
    else:
        told = {"error": median_error(own), "printed_error": sd, "reason": _DRAW}
        told["gap"] = 0.5 * 10**-digits
    spread = 3 * sd + told["gap"]
    if column in ("p", "p, corrected") and spread > 0.5:
        why = (
            f"Nearly any p would agree: over replications it has a standard "
            f"deviation of {sd:.2f} around a median of {np.median(own):.3f}. The p of the "
            f"printed F says more."
        )
        return Claim(title, row, column, said, None, why=why, digits=digits)
    if table == "table4" and row == "algorithm":
        why = _TIED
    else:
        below = int((own < said).sum())
        why = f"{below} of {len(own)} replications are below the print."
    return Claim(
        title, row, column, said, float(np.median(own)), digits=digits, why=why, **told
    )


def _means(results: Results) -> Iterator[Claim]:
    for effect, said in text()["null_mean"].items():
        own = values(results, "table1", effect, "null_mean")
        yield _claim(
            "Section 4.1: mean of shuffled F", effect, "", said, own, 2, "table1"
        )


def _words(results: Results) -> Iterator[Claim]:
    """Yield what the paper says in words about its one draw, as shares of ours."""
    p = {
        table: values(results, table, "algorithm", "p")
        for table in ("table1", "table3")
    }
    title = "Section 4.1, in words"
    book = values(results, "table1", "algorithm", "p_textbook")
    shares = {
        "three algorithms less significant than two": p["table3"] > p["table1"],
        "a textbook's p of the algorithm too small": book < p["table1"],
    }
    for row, is_so in shares.items():
        why = (
            f"The paper has one draw, and it is so. It is so in {is_so.mean():.0%} of our "
            f"{len(is_so)} replications, and one draw can contradict no share."
        )
        yield Claim(title, row, "", 1, None, why=why, digits=0)
    sizes = results.tables["sizes"]
    medians = [
        np.median(np.asarray(sizes["p"])[np.asarray(sizes["size"]) == size])
        for size in _SIZES
    ]
    falls = int((np.diff(medians) < 0).sum())
    row = "steps of v, half to twice as large, at which p of the interaction falls"
    yield Claim(title, row, "", len(_SIZES) - 1, falls, digits=0)


STUDY = Study(
    name="tables",
    title="Tables 1-4 and Figures 3-5: three learners of tic-tac-toe",
    about="A learner by TD(0) plays tic-tac-toe against a random opponent, with a "
    "learning rate of .001 (A1), .8 (A2) or .1 (A3), and is tested in 100 games after 0 to "
    "8,000 games of training. The paper has ten curves of each and one analysis of them. "
    "Here the whole is done again and again with fresh curves, since one draw says little: "
    "each table is a distribution, in which the print has its place. Nor does one p say "
    "much; the sharp comparison is the p that the printed F has among our shuffled ones.",
    settled=SETTLED,
    cost={
        "quick": "20 replications: 12 seconds on one core",
        "kept": "200 replications: 2 minutes on one core",
        "full": "1,000 replications: about 8 minutes on one core; the paper has one",
    },
    run=run,
    claims=claims,
    figures=figures,
    missing=missing,
)
