"""The tests on these curves: how often each errs, and how often it finds something."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from curvewise.figures.series import Chart, Series, no_band
from curvewise.metrics import Floats
from curvewise.papers.claim import Claim
from curvewise.papers.piater1998.curves import SETTLED, curves, lines_of, missing
from curvewise.papers.piater1998.printed_tables import (
    EFFECTS,
    LINES,
    Effect,
    rows_of,
    text,
)
from curvewise.papers.results import Results
from curvewise.papers.study import Figure, Runner, Scale, Study
from curvewise.stats.anova import randomized_anova

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


def run(runner: Runner) -> Results:
    """Return how often each test rejects in each case."""
    lines = lines_of(curves(runner, ["A1", "A2"]))
    rng = np.random.default_rng(3)
    number, v = DATA_SETS[runner.scale], np.array(rows_of("table4")["v"], float)
    changes: dict[str, Callable[[Floats], Floats]] = {
        "A1 and A1": lambda own: own,
        "A1 and A1 + 10": lambda own: own + SHIFT,
        "A1 and A1 + v": lambda own: own + v,
        "A1 and 1.1 A1": lambda own: own * STRETCH,
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
    return Results(
        tables={"rates": _columns(rejected, number), "quantiles": _quantiles(p)}
    )


def _tested(pair: Pair, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return which tests reject which effects, and the p of those that are shown."""
    z, level = text()["shuffles"], text()["level"]
    published = randomized_anova(
        pair, null="joint", exact=False, shuffles=z, most=z, rng=rng
    )
    ours = randomized_anova(pair, exact=False, shuffles=999, most=999, rng=rng)
    decisions, shown = [], []
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
        shown.append((book, p, ours.p(effect)))
    return np.array(decisions, dtype=float).T, np.array(shown).T


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


def _columns(counts: Mapping[str, Any], number: int) -> dict[str, Any]:
    rows = []
    for case, found in counts.items():
        for i, test in enumerate(TESTS):
            for j, effect in enumerate(EFFECTS):
                rows.append((case, test, effect, int(found[i, j]), number))
    names = ("case", "test", "effect", "rejected", "data_sets")
    return {
        name: np.array(values)
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }


def rate(results: Results, case: str, test: str, effect: str) -> tuple[float, float]:
    """Return how often a test rejected, and the standard error."""
    kept = results.tables["rates"]
    is_it = np.asarray(kept["case"]) == case
    is_it &= np.asarray(kept["test"]) == test
    is_it &= np.asarray(kept["effect"]) == effect
    (place,) = np.flatnonzero(is_it)
    b, n = int(kept["rejected"][place]), int(kept["data_sets"][place])
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


def claims(results: Results) -> Sequence[Claim]:
    """Return the level of each test where nothing differs, and where something does."""
    return [*_levels(results), *_zero(results), *_crossed(results), *_found(results)]


def _levels(results: Results) -> Iterator[Claim]:
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
    said = text()["power"]
    for test in ("published rule", "default"):
        share, error = rate(results, "A1 and 1.1 A1", test, "algorithm")
        sd = np.sqrt(said["algorithm"] * (1 - said["algorithm"]) / said["draws"])
        yield Claim(
            "Section 4.2: power of the tests themselves",
            "A1 and 1.1 A1: algorithm",
            test,
            said["algorithm"],
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


def figures(results: Results) -> Sequence[Figure]:
    """Return the distribution of p where there is nothing to find."""
    charts = tuple(
        Chart(
            title=f"{case}: {effect}",
            x_label="share of data sets",
            y_label="p",
            series=tuple(
                Series(test, *_p_of(results, case, test, effect)) for test in SHOWN
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


def _p_of(
    results: Results, case: str, test: str, effect: str
) -> tuple[Floats, Floats, Floats, Floats]:
    kept = results.tables["quantiles"]
    own = np.asarray(kept["case"]) == case
    own &= np.asarray(kept["test"]) == test
    own &= np.asarray(kept["effect"]) == effect
    p: Floats = np.asarray(kept["p"], dtype=np.float64)[own]
    return np.asarray(kept["share"], dtype=np.float64)[own], p, *no_band(p)


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


STUDY = Study(
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
    run=run,
    claims=claims,
    figures=figures,
    missing=missing,
)
