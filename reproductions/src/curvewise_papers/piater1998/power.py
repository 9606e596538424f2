"""Figures 6 and 7: how often stretched curves are told from their originals."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from curvewise.figures.series import Chart, Series
from curvewise.metrics import Floats
from curvewise.papers.claim import Claim
from curvewise.papers.piater1998.curves import SETTLED, curves, lines_of, missing
from curvewise.papers.piater1998.printed_tables import EFFECTS, text
from curvewise.papers.results import Results, Table
from curvewise.papers.study import Figure, Runner, Study
from curvewise.stats.anova import StretchPower, stretch_power

STRETCHES = tuple(round(1 + 0.02 * i, 2) for i in range(11))
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
_MANY = 10_000  # draws, where the paper has 100
_LEVEL_DRAWS = 1000  # of each pool, by the published procedure: a level takes more


def run(runner: Runner) -> Results:
    """Return the power by the published procedure and by ours."""
    said = text()["power"]
    lines = lines_of(curves(runner, ["A1"]))["A1"]
    pools = np.split(lines, range(said["pool"], len(lines), said["pool"]))
    points = [
        *(("stretch", s, said["lines"]) for s in STRETCHES),
        *(("size", said["stretch"], n) for n in SIZES),
        ("level", 1.0, said["lines"]),
    ]
    rng = np.random.default_rng(2)
    found: list[dict[str, Any]] = []
    for along, stretch, size in runner.each(points, "points of the figures"):
        published = [
            stretch_power(
                pool, stretch, size=size,
                null_draws=said["null_draws"],
                draws=_LEVEL_DRAWS if along == "level" else said["draws"],
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
            found.append(point | _point(published, ours, effect))
    columns = {key: np.array([row[key] for row in found]) for key in found[0]}
    return Results(tables={"power": columns})


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


def _part(results: Results, along: str, effect: str) -> Table:
    """Return the points of one curve of a figure."""
    kept = results.tables["power"]
    own = np.asarray(kept["along"]) == along
    own &= np.asarray(kept["effect"]) == effect
    return {key: np.asarray(values)[own] for key, values in kept.items()}


def _at(
    results: Results, along: str, effect: str, stretch: float, size: int
) -> dict[str, float]:
    part = _part(results, along, effect)
    own = np.isclose(part["stretch"], stretch) & (part["size"] == size)
    (place,) = np.flatnonzero(own)
    numbers = ("published", "published_sd", "pools", "ours", "ours_error")
    return {key: float(part[key][place]) for key in numbers}


def claims(results: Results) -> Sequence[Claim]:
    """Return the one power that is printed, and the levels that the captions state."""
    return [*_power(results), *_levels(results)]


def _power(results: Results) -> Iterator[Claim]:
    said = text()["power"]
    title, row = "Section 4.2: power", "algorithm, stretched by 1.1, ten lines each"
    gap = 0.05
    rounded = (
        "half of a step of ten percent, which is how 'about 80 percent' is rounded"
    )
    for along, where in (("stretch", "Figure 6"), ("size", "Figure 7")):
        at = _at(results, along, "algorithm", said["stretch"], said["lines"])
        yield Claim(
            title,
            row,
            f"as published, {where}",
            said["algorithm"],
            at["published"],
            error=at["published_sd"] / np.sqrt(at["pools"]),
            printed_error=at["published_sd"],
            gap=gap,
            reason="as published: the mean over pools of 100 curves and its standard "
            "error; the print is one pool and 100 draws, whose standard deviation over "
            f"ours it has; plus {rounded}.",
            digits=2,
        )
    sd = np.sqrt(said["algorithm"] * (1 - said["algorithm"]) / said["draws"])
    at = _at(results, "stretch", "algorithm", said["stretch"], said["lines"])
    yield Claim(
        title,
        row,
        "different curves, 10,000 draws",
        said["algorithm"],
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
    said = text()["power"]
    at = _at(results, "stretch", "algorithm", said["stretch"], said["lines"])
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
        part = _part(results, along, effect)
        x = np.asarray(part[along], dtype=np.float64)
        for name, key, error in (
            ("different curves", "ours", part["ours_error"]),
            ("as published", "published", part["published_sd"]),
        ):
            band = _band(np.asarray(part[key]), np.asarray(error))
            place = look + 2 * (key == "published")
            series.append(Series(f"{effect}, {name}", x, part[key], *band, place))
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


def _band(values: Floats, error: Floats) -> tuple[Floats, Floats]:
    return np.clip(values - 2 * error, 0, 1), np.clip(values + 2 * error, 0, 1)


STUDY = Study(
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
    missing=missing,
)
