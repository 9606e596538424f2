"""Tables 1-4 and Figures 3-5, as distributions over many replications."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.engine.experiment import Experiment
from curvewise.figures.chart import Chart, Series
from curvewise.metrics import Floats
from curvewise.questions.difference import Difference, difference
from curvewise.questions.difference.charts import lines_chart, null_chart
from curvewise.stats.anova import Anova, randomized_anova
from curvewise.trials import Trials
from curvewise_papers.claims import Claim
from curvewise_papers.study import (
    Figure,
    Results,
    Runner,
    Scale,
    Study,
    columns,
    lacks_numba,
    line,
    part,
    printed,
)
from curvewise_papers.tictactoe import SCORE, td_learner, tictactoe_task

Effect: TypeAlias = Literal["interaction", "algorithm"]

PAPER = "piater1998"
TABLES = ("table1", "table2", "table3", "table4")
TITLES = dict(zip(TABLES, ("Table 1", "Table 2", "Table 3", "Table 4"), strict=True))
EFFECTS: tuple[Effect, ...] = ("interaction", "algorithm")
ROWS = ("interaction", "algorithm", "training", "error")
LINES, STEPS = 10, 8


def text() -> dict[str, Any]:
    """Return the numbers that stand in the text."""
    numbers: dict[str, Any] = printed(PAPER).tables["text"]
    return numbers


def rows_of(table: str) -> dict[str, Any]:
    """Return the rows of a printed table."""
    rows: dict[str, Any] = printed(PAPER).tables[table]
    return rows


def anova_of(table: str) -> Anova:
    """Return a printed table as an analysis of variance: its df and sums of squares.

    >>> print(anova_of("table1").f("algorithm").__round__(2))
    10.31
    """
    rows = rows_of(table)
    every = (*ROWS, "total")
    return Anova(
        {name: rows[name]["df"] for name in every},
        {name: rows[name]["ss"] for name in every},
    )


@dataclass(frozen=True, slots=True)
class SecondTable:
    """What Tables 1, 3 and 4 leave for Table 2, of A1 and A3."""

    errors: tuple[float, float, float]
    algorithm: tuple[float, float]
    interaction: float

    @property
    def error(self) -> float:
        """What the error of Table 2 has to be."""
        return self.errors[0] + self.errors[2]


def second_table() -> SecondTable:
    r"""Return what the other tables say about Table 2.

    Errors add over algorithms; Table 4 has A1 twice. A sum of squares of three
    algorithms with equally many lines is two thirds of the sum over their pairs, and
    that of a pair is :math:`l k d^2 / 2` for means a distance d apart. On a line
    :math:`d_{23} = |d_{12} \pm d_{13}|`; shapes obey :math:`d_{23} \le d_{12} + d_{13}`.

    >>> found = second_table()
    >>> round(found.error, 1), [round(x, 2) for x in found.algorithm]
    (9073.9, [1.06, 573.81])
    """
    ss = {table: anova_of(table).ss for table in ("table1", "table3", "table4")}
    one = ss["table4"]["error"] / 2
    two = ss["table1"]["error"] - one
    three = ss["table3"]["error"] - one - two
    lower, upper = third_side(ss["table1"]["algorithm"], ss["table3"]["algorithm"])
    least, _ = third_side(ss["table1"]["interaction"], ss["table3"]["interaction"])
    return SecondTable((one, two, three), (lower, upper), least)


def third_side(pair: float, three: float) -> tuple[float, float]:
    """Return the sums of squares of 1 and 3 for which 1, 2 and 3 lie on one line.

    Notes
    -----
    With a, b and c the square roots of those of the pairs, a^2 + b^2 + c^2 is 3/2 of
    that of all three. On a line, b + c or |b - c| is a, and both have the two solutions
    of 2 b^2 - 2 a b + a^2 = b^2 + c^2. Off it, b is between them.
    """
    a, rest = math.sqrt(pair), 1.5 * three - pair
    root = math.sqrt(2 * rest - pair)
    near, far = sorted((abs((a - root) / 2), (a + root) / 2))
    return near**2, far**2


# --- the learning curves that every study starts from ------------------------------------


SEED = 1998
# How many times the paper's ten curves of each algorithm are run.
REPLICATIONS: dict[Scale, int] = {"quick": 20, "kept": 200, "full": 1000}

SETTLED = (
    "The paper says TD(0), the rates, the levels of training and the score. The learner "
    "here keeps a value for each board after its own move, 0 at first, also for boards "
    "with which it has won; boards that are turned or mirrored share one; ties are broken "
    "at random, a coin says who begins, and one move in ten explores, from which nothing "
    "is learned (`curvewise_papers.tictactoe.td_learner`).",
    "Of some thirty variants that were tried, most in 20 replications, this is among the "
    "nearest to the sums of squares of Tables 1, 3 and 4; one that explores with three "
    "moves in ten is as near. That these sums agree is therefore partly our choice; the p "
    "of the printed F and the power of Section 4.2 had no part in it. Learning from "
    "exploring moves too, or playing training games at random, makes A2 worse than A1 by 5 "
    "to 8 points of 100, where Table 1 has 3.95, and the "
    "printed sum of squares of training larger than in any of 20 replications; values "
    "that are known for finished boards begin at 40 points, and leave a quarter of the "
    "printed sum of squares of training; without symmetry the rise is slower: 11 points "
    "after 200 games, where it is 47 with it.",
    "Each run has opponents of its own, so that curves of different algorithms share no "
    "luck.",
)


def experiment(algorithms: Iterable[str], trials: int) -> Experiment:
    """Return the runs of some of A1, A2 and A3, by their learning rates.

    >>> experiment(["A1", "A2"], 10).size
    20
    """
    paper = text()
    task = tictactoe_task(paper["levels"], tests=paper["tests"])
    learners = [td_learner(paper["rates"][name], name=name) for name in algorithms]
    return Experiment([task], learners, trials, SEED, metrics=[SCORE])


def curves(runner: Runner, algorithms: Iterable[str]) -> Trials:
    """Return the runs of some algorithms, ten for each replication."""
    number = LINES * REPLICATIONS[runner.scale]
    return runner.trials(experiment(algorithms, number), "curves")


def lines_of(trials: Trials) -> dict[str, Floats]:
    """Return the curves of each algorithm, shape (line, step)."""
    lines = trials.lines("score")
    return {name: np.asarray(lines[name]) for name in lines}


# --- Figures 3-5, and the tables as distributions ----------------------------------------


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
    for row, what, name in _PANELS:
        ours = part(results.tables["replications"], table=table, row=row)
        values = ours[what]
        theirs = rows_of(table)[row][what]
        share = _below(values, theirs)
        low, middle, high = (_short(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
        places.append(f"{name} {middle} ({low} to {high}), {share:.0%}")
        if np.ptp(values) < _SAME:
            continue
        series = [_quantiles("as published" if what == "p" else "replications", values)]
        if what == "p":
            series.append(_quantiles("corrected", ours["p_corrected"]))
        charts.append(
            Chart(
                title=name,
                x_label="share of replications",
                y_label=name,
                series=tuple(series),
                caption=f"Level line: the print, {theirs:g}, above {share:.0%} of them.",
                axis="share",
                level=theirs,
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


def _below(values: Floats, theirs: float) -> float:
    """Return the share of values below the print, half of the ties counted."""
    near = np.isclose(values, theirs, rtol=0, atol=1e-9)
    return float(((values < theirs) & ~near).mean() + near.mean() / 2)


def _short(value: float) -> str:
    """Return a number with three digits, or none behind the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _quantiles(name: str, values: Floats) -> Series:
    shares = np.arange(1, len(values) + 1) / len(values)
    return line(name, shares, np.sort(values))


# --- the study ---------------------------------------------------------------------------


_SIZES = (0.5, 1.0, 1.5, 2.0)  # of v, beside that of the paper
_WITH_P = ("ss", "f", "p", "p_corrected", "p_textbook", "null_mean", "p_of_print")


def run(runner: Runner) -> Results:
    """Run the curves, and every table on each ten of them."""
    trials = curves(runner, ("A1", "A2", "A3"))
    lines = lines_of(trials)
    rng = np.random.default_rng(1)
    every = range(len(lines["A1"]) // LINES)
    records: list[dict[str, Any]] = []
    sizes: list[dict[str, float]] = []
    for replication in runner.each(every, "replications"):
        place = slice(LINES * replication, LINES * (replication + 1))
        ten = {name: curve[place] for name, curve in lines.items()}
        for table in TABLES:
            which = {"replication": replication, "table": table}
            rows = _tested(_chosen(ten, table), rows_of(table), rng)
            records += [which | row for row in rows]
        sizes += _with_sizes(ten["A1"], replication, rng)
    tables = {"replications": columns(records), "sizes": columns(sizes)}
    return Results({"curves": trials}, tables)


def _chosen(lines: Mapping[str, Floats], table: str) -> dict[str, Floats]:
    """Return the lines that a table compares."""
    rows = rows_of(table)
    if "v" in rows:
        return {"A1": lines["A1"], "A1 + v": lines["A1"] + np.array(rows["v"])}
    return {name: lines[name] for name in rows["algorithms"]}


def _tested(
    lines: Mapping[str, Floats], rows: Mapping[str, Any], rng: np.random.Generator
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
                "p_of_print": (null > rows[row]["f"] + 1e-9).mean(),
            }
        yield out


def _with_sizes(
    lines: Floats, replication: int, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return the p of the interaction of Table 4 where v is smaller or larger."""
    v, z = np.array(rows_of("table4")["v"]), text()["shuffles"]
    out = []
    for size in _SIZES:
        anova = randomized_anova(
            [lines, lines + size * v],
            null="joint",
            exact=False,
            shuffles=z,
            most=z,
            rng=rng,
        )
        p = anova.paper_p("interaction")
        out.append({"replication": replication, "size": size, "p": p})
    return out


# --- what it says about the print --------------------------------------------------------


def values(results: Results, table: str, row: str, what: str) -> Floats:
    """Return a number of a table in all replications."""
    numbers: Floats = part(results.tables["replications"], table=table, row=row)[what]
    return numbers


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
        rows = rows_of(table)
        for row in ROWS:
            out += _row(results, table, row, rows[row])
    out += _means(results)
    out += _words(results)
    return out


_COLUMNS = {"ss": ("SS", 2), "f": ("F", 2), "p": ("p", 3)}


def _row(
    results: Results, table: str, row: str, theirs: Mapping[str, float]
) -> Iterator[Claim]:
    for key, (column, digits) in _COLUMNS.items():
        if key == "ss" and table == "table2":
            yield Claim(
                TITLES[table],
                row,
                column,
                theirs[key],
                None,
                why=_OTHER_CURVES,
                digits=2,
            )
        elif key in theirs:
            ours = values(results, table, row, key)
            yield _claim(TITLES[table], row, column, theirs[key], ours, digits, table)
    if "p" in theirs:
        for key, column in _MORE_P.items():
            ours = values(results, table, row, key)
            yield _claim(TITLES[table], row, column, theirs["p"], ours, 3, table)


def _claim(
    title: str,
    row: str,
    column: str,
    theirs: float,
    ours: Floats,
    digits: int,
    table: str,
) -> Claim:
    median, sd = float(np.median(ours)), float(ours.std(ddof=1))
    if sd < 1e-9:  # the same in every replication: no draw at all
        more: dict[str, Any] = {"gap": 0.5 * 10**-digits, "reason": _DRAW}
    else:
        more = {"error": median_error(ours), "printed_error": sd, "reason": _DRAW}
        more["gap"] = 0.5 * 10**-digits
    spread = 3 * sd + more["gap"]
    if column in ("p", "p, corrected") and spread > 0.5:
        why = (
            f"Nearly any p would agree: over replications it has a standard "
            f"deviation of {sd:.2f} around a median of {median:.3f}. The p of the "
            f"printed F says more."
        )
        return Claim(title, row, column, theirs, None, why=why, digits=digits)
    if table == "table4" and row == "algorithm":
        why = _TIED
    else:
        below = int((ours < theirs).sum())
        why = f"{below} of {len(ours)} replications are below the print."
    return Claim(title, row, column, theirs, median, digits=digits, why=why, **more)


def _means(results: Results) -> Iterator[Claim]:
    for effect, theirs in text()["null_mean"].items():
        ours = values(results, "table1", effect, "null_mean")
        yield _claim(
            "Section 4.1: mean of shuffled F", effect, "", theirs, ours, 2, "table1"
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
    medians = [np.median(part(sizes, size=size)["p"]) for size in _SIZES]
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
    missing=lacks_numba,
)
