"""How often stretched curves are told from their originals, and how often tests err."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from curvewise.figures.chart import Chart, Series
from curvewise.metrics import Floats
from curvewise.stats.anova import StretchPower, randomized_anova, stretch_power
from curvewise_papers.claims import Claim
from curvewise_papers.piater1998.tables import (
    EFFECTS,
    LINES,
    SETTLED,
    Effect,
    curves,
    lines_of,
    rows_of,
    text,
)
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
)

STRETCHES = tuple(round(1 + 0.02 * i, 2) for i in range(11))
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
_MANY = 10_000  # draws, where the paper has 100
_LEVEL_DRAWS = 1000  # of each pool, by the published procedure: a level takes more


def run(runner: Runner) -> Results:
    """Return the power by the published procedure and by ours."""
    paper = text()["power"]
    lines = lines_of(curves(runner, ["A1"]))["A1"]
    pools = np.split(lines, range(paper["pool"], len(lines), paper["pool"]))
    points = [
        *(("stretch", s, paper["lines"]) for s in STRETCHES),
        *(("size", paper["stretch"], n) for n in SIZES),
        ("level", 1.0, paper["lines"]),
    ]
    rng = np.random.default_rng(2)
    rows: list[dict[str, Any]] = []
    for along, stretch, size in runner.each(points, "points of the figures"):
        published = [
            stretch_power(
                pool, stretch, size=size,
                null_draws=paper["null_draws"],
                draws=_LEVEL_DRAWS if along == "level" else paper["draws"],
                rng=rng,
            )
            for pool in pools
        ]  # fmt: skip
        ours = stretch_power(
            lines,
            stretch,
            size=size,
            null_draws=_MANY,
            draws=_MANY,
            disjoint=True,
            rng=rng,
        )
        for effect in EFFECTS:
            point = {"along": along, "stretch": stretch, "size": size, "effect": effect}
            rows.append(point | _point(published, ours, effect))
    return Results(tables={"power": columns(rows)})


def _point(
    published: Sequence[StretchPower], ours: StretchPower, effect: str
) -> dict[str, float]:
    """Return power by both procedures; the published one over several pools."""
    power = np.array([getattr(one, effect)[0] for one in published])
    share = (power.mean() * len(power) + 0.5) / (len(power) + 1)
    # Few pools may agree by chance, but 100 draws of each cannot know better than this.
    least = np.sqrt(share * (1 - share) / published[0].draws)
    return {
        "published": float(power.mean()),
        "published_sd": float(max(power.std(ddof=1), least)),
        "pools": len(power),
        "ours": float(getattr(ours, effect)[0]),
        "ours_error": float(getattr(ours, f"{effect}_error")[0]),
    }


def _at(
    results: Results, along: str, effect: str, stretch: float, size: int
) -> dict[str, float]:
    """Return one point of a figure."""
    point = {"along": along, "effect": effect, "stretch": stretch, "size": size}
    row = part(results.tables["power"], **point)
    numbers = ("published", "published_sd", "pools", "ours", "ours_error")
    return {key: float(row[key].item()) for key in numbers}


def claims(results: Results) -> Sequence[Claim]:
    """Return the one power that is printed, and the levels that the captions state."""
    return [*_power(results), *_levels(results)]


def _power(results: Results) -> Iterator[Claim]:
    paper = text()["power"]
    title, row = "Section 4.2: power", "algorithm, stretched by 1.1, ten lines each"
    gap = 0.05
    rounded = (
        "half of a step of ten percent, which is how 'about 80 percent' is rounded"
    )
    for along, where in (("stretch", "Figure 6"), ("size", "Figure 7")):
        at = _at(results, along, "algorithm", paper["stretch"], paper["lines"])
        yield Claim(
            title,
            row,
            f"as published, {where}",
            paper["algorithm"],
            at["published"],
            error=at["published_sd"] / np.sqrt(at["pools"]),
            printed_error=at["published_sd"],
            gap=gap,
            reason="as published: the mean over pools of 100 curves and its standard "
            "error; the print is one pool and 100 draws, whose standard deviation over "
            f"ours it has; plus {rounded}.",
            digits=2,
        )
    sd = np.sqrt(paper["algorithm"] * (1 - paper["algorithm"]) / paper["draws"])
    at = _at(results, "stretch", "algorithm", paper["stretch"], paper["lines"])
    yield Claim(
        title,
        row,
        "different curves, 10,000 draws",
        paper["algorithm"],
        at["ours"],
        error=at["ours_error"],
        printed_error=float(sd),
        gap=gap,
        reason="different curves: the draws of ours and the 100 of the print; plus "
        f"{rounded}.",
        digits=2,
    )  # fmt: skip


def _levels(results: Results) -> Iterator[Claim]:
    level, size = text()["level"], text()["power"]["lines"]
    title = "Figures 6 and 7: Type I error, not stretched"
    for effect in EFFECTS:
        at = _at(results, "level", effect, 1.0, size)
        yield Claim(
            title,
            effect,
            "as published",
            level,
            at["published"],
            error=at["published_sd"] / np.sqrt(at["pools"]),
            reason="the draws made here: the print is the level that was asked for.",
            why="Both samples come from the same 100 curves and share some, so that the "
            "variance of their difference is 0.9 of what it should be.",
        )
        yield Claim(
            title,
            effect,
            "different curves",
            level,
            at["ours"],
            error=at["ours_error"],
            reason="the draws made here: the print is the level that was asked for.",
        )


# --- figures -----------------------------------------------------------------------------


def figures(results: Results) -> Sequence[Figure]:
    """Return power against the stretch, and against the number of lines."""
    paper = text()["power"]
    at = _at(results, "stretch", "algorithm", paper["stretch"], paper["lines"])
    shared = (
        f"At a stretch of 1.1 and ten lines the algorithm's is {at['published']:.2f} as "
        f"published (sd {at['published_sd']:.2f} from one pool to the next) and "
        f"{at['ours']:.2f} with different curves; the paper says about .80."
    )
    return [
        Figure(
            "figure-6",
            "Figure 6: power against the stretch, ten lines each",
            (_chart(results, "stretch", "stretch factor", "Ten lines of each"),),
            "The power of both F rises quickly with the stretch, that of the interaction "
            f"later, as in the paper. {shared}",
            1,
        ),
        Figure(
            "figure-7",
            "Figure 7: power against the number of lines, stretched by 1.1",
            (_chart(results, "size", "lines of each algorithm", "Stretched by 1.1"),),
            f"The same against the number of lines. {shared}",
            1,
        ),
    ]


def _chart(results: Results, along: str, label: str, title: str) -> Chart:
    series = []
    for look, effect in enumerate(("algorithm", "interaction")):
        points = part(results.tables["power"], along=along, effect=effect)
        x = points[along].astype(np.float64)
        for name, key, error in (
            ("different curves", "ours", points["ours_error"]),
            ("as published", "published", points["published_sd"]),
        ):
            low, high = (np.clip(points[key] + z * error, 0, 1) for z in (-2, 2))
            place = look + 2 * (key == "published")
            series.append(Series(f"{effect}, {name}", x, points[key], low, high, place))
    return Chart(
        title=title,
        x_label=label,
        y_label="power",
        series=tuple(series),
        caption="Different curves: bands of two standard errors. As published: the mean "
        "over pools of 100 curves, and two standard deviations of what one pool and 100 "
        "draws give.",
        axis="linear",
        shape="line",
        level=text()["level"],
        y_range=(0.0, 1.0),
    )


POWER = Study(
    name="power",
    title="Figures 6 and 7: the power of the test",
    about="Curves of A1 against curves of A1 that are stretched by a constant. The "
    "published procedure draws both from the same 100 curves, compares 100 draws with "
    "a critical value from 10,000 mixed ones, and is repeated here for as many pools of "
    "100 as there are. Beside it the same with curves that are all different, and 10,000 "
    "draws.",
    settled=(
        *SETTLED,
        "The figures are drawn without numbers; the text states one, at a stretch of 1.1 "
        "with ten lines. Stretches go from 1 to 1.2 here, and lines from 2 to 20.",
    ),
    cost={
        "quick": "200 curves: 20 seconds on one core",
        "kept": "2,000 curves: 3 minutes on one core",
        "full": "10,000 curves: about 15 minutes on one core; the paper has 100",
    },
    run=run,
    claims=claims,
    figures=figures,
    missing=lacks_numba,
)


# --- levels: how often each test errs, and how often it finds something ------------------


DATA_SETS: dict[Scale, int] = {"quick": 500, "kept": 5000, "full": 20_000}
SHIFT, STRETCH = 10.0, 1.1
TESTS = (
    "textbook F",
    "published rule",
    "published p",
    "published p of 0",
    "corrected p, whole lines",
    "default",
)

# What is compared, and which of its effects are there.
CASES: dict[str, tuple[str, ...]] = {
    "A1 and A1": (),
    "A1 and A1 + 10": ("algorithm",),
    "A1 and A1 + v": ("interaction",),
    "A1 and 1.1 A1": ("algorithm", "interaction"),
    "A1 and A2": ("algorithm", "interaction"),
}

SHOWN = (
    "textbook",
    "published",
    "default",
)  # of these the whole distribution of p is kept

Pair: TypeAlias = tuple[Floats, Floats]


def run_levels(runner: Runner) -> Results:
    """Return how often each test rejects in each case."""
    lines = lines_of(curves(runner, ["A1", "A2"]))
    rng = np.random.default_rng(3)
    number, v = DATA_SETS[runner.scale], np.array(rows_of("table4")["v"], float)
    changes: dict[str, Callable[[Floats], Floats]] = {
        "A1 and A1": lambda values: values,
        "A1 and A1 + 10": lambda values: values + SHIFT,
        "A1 and A1 + v": lambda values: values + v,
        "A1 and 1.1 A1": lambda values: values * STRETCH,
    }
    rejected = {case: np.zeros((len(TESTS), len(EFFECTS))) for case in CASES}
    p = {case: np.empty((number, len(SHOWN), len(EFFECTS))) for case in CASES}
    for i in runner.each(range(number), "data sets"):
        # Different curves, so that both samples are alike but for the change.
        chosen = rng.choice(len(lines["A1"]), 2 * LINES, replace=False)
        first, second = lines["A1"][chosen[:LINES]], lines["A1"][chosen[LINES:]]
        other = lines["A2"][rng.choice(len(lines["A2"]), LINES, replace=False)]
        for case in CASES:
            changed = changes[case](second) if case in changes else other
            decisions, p[case][i] = _tested((first, changed), rng)
            rejected[case] += decisions
    rates = [
        {
            "case": case,
            "test": test,
            "effect": effect,
            "rejected": int(times[i, j]),
            "data_sets": number,
        }
        for case, times in rejected.items()
        for i, test in enumerate(TESTS)
        for j, effect in enumerate(EFFECTS)
    ]
    return Results(tables={"rates": columns(rates), "quantiles": _quantiles(p)})


def _tested(pair: Pair, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return which tests reject which effects, and the p of those that are shown."""
    z, level = text()["shuffles"], text()["level"]
    published = randomized_anova(
        pair, null="joint", exact=False, shuffles=z, most=z, rng=rng
    )
    ours = randomized_anova(pair, exact=False, shuffles=999, most=999, rng=rng)
    decisions, rows = [], []
    for effect in EFFECTS:
        book, p = published.anova.p(effect), published.paper_p(effect)
        f = published.anova.f(effect)
        decisions.append(
            (
                book <= level,
                f > published.paper_critical_value(effect, level),
                p <= level,
                p == 0,
                published.p(effect) <= level,
                ours.p(effect) <= level,
            )
        )
        rows.append((book, p, ours.p(effect)))
    return np.array(decisions, dtype=float).T, np.array(rows).T


def _quantiles(p: Mapping[str, Any]) -> dict[str, Any]:
    """Return the distribution of p in each case, at every percent."""
    shares = np.linspace(0, 1, 101)
    parts = [
        (case, test, effect, np.quantile(values[:, i, j], shares, method="higher"))
        for case, values in p.items()
        for i, test in enumerate(SHOWN)
        for j, effect in enumerate(EFFECTS)
    ]
    return {
        "case": np.repeat([part[0] for part in parts], len(shares)),
        "test": np.repeat([part[1] for part in parts], len(shares)),
        "effect": np.repeat([part[2] for part in parts], len(shares)),
        "share": np.tile(shares, len(parts)),
        "p": np.concatenate([part[3] for part in parts]),
    }


def rate(results: Results, case: str, test: str, effect: str) -> tuple[float, float]:
    """Return how often a test rejected, and the standard error."""
    row = part(results.tables["rates"], case=case, test=test, effect=effect)
    b, n = int(row["rejected"].item()), int(row["data_sets"].item())
    # One more of either kind: that none was seen does not say that none ever is.
    share = (b + 1) / (n + 2)
    return b / n, float(np.sqrt(share * (1 - share) / n))


_CHANCE = (
    "the data sets drawn here; the print is the level that was asked for, and has no "
    "standard error."
)
_CARRY = (
    "It takes the points of a curve for independent. What a run is lucky in, it keeps, so "
    "that means of curves vary more than it thinks, and shapes less: F of shuffled curves "
    "is 1.9 on average for the algorithm and 0.9 for the interaction, where 1.01 is "
    "expected."
)


_LARGER = (
    "It takes the larger p of shuffles and flips, so that its level is at most .05: what "
    "is given away where noise is equal guards where it is not."
)
_BESIDE = {
    "textbook F": _CARRY,
    "published rule": "Whole lines are dealt, and the effect that is there, 10 points, "
    "goes into the error of the other one.",
    "default": _LARGER,
}


def level_claims(results: Results) -> Sequence[Claim]:
    """Return the level of each test where nothing differs, and where something does."""
    return [
        *_printed_levels(results),
        *_zero(results),
        *_crossed(results),
        *_found(results),
    ]


def _printed_levels(results: Results) -> Iterator[Claim]:
    level = text()["level"]
    whys = {"textbook F": _CARRY, "default": _LARGER}
    for test in TESTS:
        if test == "published p of 0":
            continue
        for effect in EFFECTS:
            share, error = rate(results, "A1 and A1", test, effect)
            yield Claim(
                "Section 4.2: Type I error at .05, A1 against A1",
                test,
                effect,
                level,
                share,
                error,
                reason=_CHANCE,
                why=whys.get(test, ""),
            )


def _zero(results: Results) -> Iterator[Claim]:
    z = text()["shuffles"]
    for effect in EFFECTS:
        share, error = rate(results, "A1 and A1", "published p of 0", effect)
        yield Claim(
            "Section 3: how often the published p is 0, A1 against A1",
            effect,
            "",
            1 / (z + 1),
            share,
            error,
            reason="the data sets drawn here; the other number is not printed but "
            "follows: the observed F is the largest of 1,001 one time in 1,001. (It may "
            "also be just below the largest one, so that ours may be up to twice that.)",
            digits=4,
        )


def _crossed(results: Results) -> Iterator[Claim]:
    """Yield how often a test finds the effect that is not there beside one that is."""
    level = text()["level"]
    for case, there in CASES.items():
        if len(there) != 1:
            continue
        (absent,) = set(EFFECTS) - set(there)
        for test in ("textbook F", "published rule", "default"):
            share, error = rate(results, case, test, absent)
            yield Claim(
                "Section 3: Type I error at .05 beside a real effect",
                f"{case}: {absent}",
                test,
                level,
                share,
                error,
                reason=_CHANCE,
                why=_BESIDE[test],
            )


def _found(results: Results) -> Iterator[Claim]:
    """Yield how often the tests find what is there: the one printed power, and others."""
    paper = text()["power"]
    for test in ("published rule", "default"):
        share, error = rate(results, "A1 and 1.1 A1", test, "algorithm")
        sd = np.sqrt(paper["algorithm"] * (1 - paper["algorithm"]) / paper["draws"])
        yield Claim(
            "Section 4.2: power of the tests themselves",
            "A1 and 1.1 A1: algorithm",
            test,
            paper["algorithm"],
            share,
            error,
            float(sd),
            gap=0.05,
            reason="the data sets drawn here, the 100 draws of the print, and half of a "
            "step of ten percent, which is how 'about 80 percent' is rounded.",
            digits=2,
        )


# Which p are shown: where nothing differs, and the effect that is not there.
_ABSENT: tuple[tuple[str, Effect], ...] = (
    ("A1 and A1", "algorithm"),
    ("A1 and A1", "interaction"),
    ("A1 and A1 + v", "algorithm"),
    ("A1 and A1 + 10", "interaction"),
)


def level_figures(results: Results) -> Sequence[Figure]:
    """Return the distribution of p where there is nothing to find."""
    quantiles = results.tables["quantiles"]
    charts = tuple(
        Chart(
            title=f"{case}: {effect}",
            x_label="share of data sets",
            y_label="p",
            series=tuple(
                line(test, points["share"], points["p"])
                for test in SHOWN
                for points in [part(quantiles, case=case, test=test, effect=effect)]
            ),
            caption="p of an effect that is not there, sorted. Right is the diagonal: "
            "below it the test errs too often, above it too rarely.",
            axis="share",
            level=text()["level"],
            y_range=(0.0, 1.0),
        )
        for case, effect in _ABSENT
    )
    return [
        Figure("levels", "p where there is nothing to find", charts, _told(results), 2)
    ]


def _told(results: Results) -> str:
    def share(case: str, test: str, effect: str) -> str:
        return f"{rate(results, case, test, effect)[0]:.3f}"

    parts = [
        f"{test} {share('A1 and A1', test, 'algorithm')} and "
        f"{share('A1 and A1', test, 'interaction')}"
        for test in ("textbook F", "published rule", "default")
    ]
    case = "A1 and A1 + 10"
    return (
        "How often each test calls curves of ten runs each different at .05. Of curves "
        f"that are alike, algorithm and interaction: {', '.join(parts)}. Beside a shift of "
        f"10 points the interaction, which is not there, is found in "
        f"{share(case, 'published rule', 'interaction')} by the published test and in "
        f"{share(case, 'default', 'interaction')} by the default, which tests the two "
        "apart."
    )


LEVELS = Study(
    name="levels",
    title="Section 4.2: the published tests and the corrected ones on these curves",
    about="Ten curves against ten, drawn without replacement from many: curves of A1 that "
    "are alike, shifted, tilted by v, or stretched, and curves of A1 against A2. Each data "
    "set is tested by a textbook's F, by the published rule (F above the 950th of 1,000 "
    "shuffled ones), by the published p, by the same shuffles with p counted right, and "
    "by the default of `curvewise.difference`, which tests height and shape apart and "
    "takes the larger p of shuffles and flips.",
    settled=SETTLED,
    cost={
        "quick": "500 data sets: 25 seconds on one core",
        "kept": "5,000 data sets: 3 minutes on one core",
        "full": "20,000 data sets: about 12 minutes on one core",
    },
    run=run_levels,
    claims=level_claims,
    figures=level_figures,
    missing=lacks_numba,
)
