"""Study `comparisons`: Figures 3 to 8 in form, with networks on half of the letters."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from curvewise.figures.chart import Chart, Mark, Series, no_band
from curvewise.metrics import Floats
from curvewise.questions.learning import learning
from curvewise.stats.interval import Interval
from curvewise.stats.learning import data_multiplier
from curvewise.stats.powerlaw import fit_power_law
from curvewise.trials import Trials
from curvewise_papers.claims import Claim
from curvewise_papers.hoiem2021.curves import Rows, lacks_tables, run_halves
from curvewise_papers.study import (
    Figure,
    Results,
    Runner,
    Study,
    Table,
    columns,
    line,
    part,
    printed,
)

# What is compared in which figure of the paper: curves, and pairs of them, of which the
# second is taken from the first.
GROUPS: dict[str, tuple[tuple[str, str], ...]] = {
    "Figure 3": (
        *(("logistic", "scratch"), ("tree", "scratch"), ("forest", "scratch")),
        *(("SVM", "scratch"), ("forest", "tree")),
    ),
    "Figure 4, from scratch": (
        *(("scratch, momentum", "scratch"), ("scratch, SGD", "scratch")),
        ("scratch, SGD", "scratch, momentum"),
    ),
    "Figure 4, pre-trained": (
        *(("tuned, momentum", "tuned"), ("tuned, SGD", "tuned")),
        ("tuned, SGD", "tuned, momentum"),
    ),
    "Figure 5": (
        *(("tuned", "scratch"), ("frozen", "random, frozen"), ("tuned", "frozen")),
    ),
    "Figure 6": (
        *(("tuned", "inputs, tuned"), ("inputs, tuned", "satellite, tuned")),
        *(("satellite, tuned", "scratch"), ("inputs, tuned", "scratch")),
    ),
    "Figure 7a": (
        *(("2 layers, tuned", "tuned"), ("3 layers, tuned", "2 layers, tuned")),
        ("3 layers, tuned", "tuned"),
    ),
    "Figure 7b": (
        *(("wide, tuned", "tuned"), ("wide, 2 layers, tuned", "2 layers, tuned")),
    ),
    "Figure 7c": (
        *(("6 tuned", "tuned"), ("3 layers, tuned", "6 tuned")),
        *(("wide, tuned", "6 tuned"), ("wide, 2 layers, tuned", "6 tuned")),
    ),
    "Figure 7d": (
        *(("2 layers, frozen", "frozen"), ("3 layers, frozen", "2 layers, frozen")),
        ("3 layers, frozen", "frozen"),
    ),
    "Figure 7e": (
        *(("wide, frozen", "frozen"), ("wide, 2 layers, frozen", "2 layers, frozen")),
    ),
    "Figure 8": (
        *(("scratch, jittered", "scratch"), ("tuned, jittered", "tuned")),
        ("frozen, jittered", "frozen"),
    ),
}
_POINTS = 100  # percentage points of 1
_PART = 4  # what a curve is worth in data is asked at N over this


def compared(trials: Mapping[str, Trials]) -> dict[str, Table]:
    """Return curves, pairs and means of all halves of the letters."""
    curves: Rows = []
    pairs: Rows = []
    means: Rows = []
    for half, one in trials.items():
        curves += _curves(half, one)
        means += _means(half, one)
        for figure, wanted in GROUPS.items():
            pairs += _pairs(half, figure, one, wanted)
    tables = {"curves": curves, "pairs": pairs, "means": means}
    return {name: columns(rows, real=np.float32) for name, rows in tables.items()}


def _curves(half: str, trials: Trials) -> Rows:
    rows: Rows = []
    for name in trials.algorithms:
        (numbers,) = learning(trials.where(algorithm=name), "error").rows()
        row: dict[str, Any] = {"half": half, "algorithm": name}
        for key in ("error", "reliance", "asymptote"):
            for end in (key, f"{key}_lower", f"{key}_upper"):
                row[end] = _POINTS * _number(numbers[end])
        for end in ("exponent", "exponent_lower", "exponent_upper"):
            row[end] = _number(numbers[end])
        rows.append(row)
    return rows


def members(figure: str) -> tuple[str, ...]:
    """Return the curves of a figure, each once.

    >>> members("Figure 5")
    ('tuned', 'scratch', 'frozen', 'random, frozen')
    """
    return tuple(dict.fromkeys(name for pair in GROUPS[figure] for name in pair))


def _pairs(
    half: str, figure: str, trials: Trials, wanted: Sequence[tuple[str, str]]
) -> Rows:
    here = [name for name in members(figure) if name in trials.algorithms]
    if len(here) < 2:
        return []
    (answer,) = learning(trials.where(algorithm=here), "error").found
    pairs = {(pair.one, pair.other): pair for pair in answer.pairs}
    fits = {fit.algorithm: fit for fit in answer.fits}
    rows: Rows = []
    for one, other in wanted:
        if one not in fits or other not in fits:
            continue
        is_turned = (one, other) not in pairs
        pair = pairs[(other, one) if is_turned else (one, other)]
        # Within what was tried, where power laws are held by the data.
        times = data_multiplier(fits[one].law, fits[other].law, answer.size / _PART)
        cross = pair.crossing.at[0] if pair.crossing.at else None
        rows.append(
            {
                "half": half,
                "figure": figure,
                "first": one,
                "second": other,
                **_ends("error", pair.error, is_turned),
                **_ends("reliance", pair.reliance, is_turned),
                "crossing": math.nan if cross is None else float(cross.value),
                "times": float(times.value[0]),
                "times_lower": float(times.lower[0]),
                "times_upper": float(times.upper[0]),
            }
        )
    return rows


def _ends(name: str, gap: Interval, is_turned: bool) -> dict[str, float]:
    """Return a difference and its interval in points, the other way round if asked for."""
    low, middle, high = (_POINTS * x for x in (gap.lower, gap.value, gap.upper))
    if is_turned:
        low, middle, high = -high, -middle, -low
    return {name: middle, f"{name}_lower": low, f"{name}_upper": high}


def _means(half: str, trials: Trials) -> Rows:
    rows: Rows = []
    for name, points in trials.points("error").items():
        for n in np.unique(points.size):
            errors = _POINTS * points.value[points.size == n]
            sd = float(errors.std(ddof=1)) if len(errors) > 1 else math.nan
            rows.append(
                {
                    "half": half,
                    "algorithm": name,
                    "size": int(n),
                    "models": len(errors),
                    "error": float(errors.mean()),
                    "sd": sd,
                }
            )
    return rows


def _number(cell: Any) -> float:
    return math.nan if cell is None else float(cell)


# --- what the tables say of each half of the letters -------------------------------------


_COLUMNS = tuple(
    f"{name}{end}"
    for name in ("error", "reliance", "times")
    for end in ("", "_lower", "_upper")
)


@dataclass(frozen=True, slots=True)
class Half:
    """What was found on one half of the letters."""

    name: str
    error: dict[str, float]
    reliance: dict[str, float]
    means: dict[str, Floats]
    sds: dict[str, Floats]
    pairs: dict[tuple[str, str], dict[str, float]]

    def has(self, *names: str) -> bool:
        """Return whether all of these were run."""
        return all(name in self.error for name in names)


def halves(tables: Mapping[str, Table]) -> list[Half]:
    """Return what the tables say of each half."""
    out = []
    for half in dict.fromkeys(tables["curves"]["half"]):
        curves, means, pairs = (
            part(tables[name], half=half) for name in ("curves", "means", "pairs")
        )
        at_largest = {
            key: dict(zip(curves["algorithm"], curves[key].tolist(), strict=True))
            for key in ("error", "reliance")
        }
        by_size = {
            name: part(means, algorithm=name)
            for name in dict.fromkeys(means["algorithm"])
        }
        names = zip(pairs["first"], pairs["second"], strict=True)
        differences = zip(*(pairs[key].tolist() for key in _COLUMNS), strict=True)
        out.append(
            Half(
                str(half),
                error=at_largest["error"],
                reliance=at_largest["reliance"],
                means={name: table["error"] for name, table in by_size.items()},
                sds={name: table["sd"] for name, table in by_size.items()},
                pairs={
                    pair: dict(zip(_COLUMNS, values, strict=True))
                    for pair, values in zip(names, differences, strict=True)
                },
            )
        )
    return out


def shown(found: Sequence[Half], names: Sequence[str], what: str = "error") -> str:
    """Return numbers of some curves at N on each half, in words."""
    parts = []
    for half in found:
        values = getattr(half, what)
        numbers = ", ".join(f"{n} {values[n]:.2f}" for n in names if n in values)
        parts.append(f"{half.name}: {numbers}")
    word = "Error" if what == "error" else "Data-reliance"
    return f"{word} at N: {'; '.join(parts)}."


def sure(found: Sequence[Half], figure: str, what: str = "error") -> str:
    """Return in words how many differences of a figure are more than noise."""
    pairs = [
        half.pairs[pair]
        for half in found
        for pair in GROUPS[figure]
        if pair in half.pairs
    ]
    number = sum(not p[f"{what}_lower"] <= 0 <= p[f"{what}_upper"] for p in pairs)
    word = "error" if what == "error" else "data-reliance"
    return f"Differences in {word} whose interval excludes 0: {number} of {len(pairs)}."


# --- figures: curves against n^-1/2, and pairs in words ----------------------------------


_TITLES = {
    "Figure 3": "families of learners",
    "Figure 4, from scratch": "optimisers, from scratch",
    "Figure 4, pre-trained": "optimisers, pre-trained",
    "Figure 5": "pre-training and fine-tuning",
    "Figure 6": "sources of pre-training",
    "Figure 7a": "depth, fine-tuned",
    "Figure 7b": "width, fine-tuned",
    "Figure 7c": "six networks, or a larger one",
    "Figure 7d": "depth, last layer only",
    "Figure 7e": "width, last layer only",
    "Figure 8": "jittered copies",
}
_BANDS = 4
_PAPER = {
    "Figure 3": "In the paper each advance of architecture up to ResNet lowers error and "
    "data-reliance.",
    "Figure 4, from scratch": "In the paper Ranger is best and SGD without momentum worst.",
    "Figure 4, pre-trained": "In the paper all optimisers do alike.",
    "Figure 5": "In the paper pre-training lowers error and data-reliance.",
    "Figure 6": "In the paper ImageNet is best, then MOCO, then Places, random far behind.",
    "Figure 7a": "In the paper deeper is better, with no more data-reliance.",
    "Figure 7b": "In the paper wider is better, with about the same data-reliance.",
    "Figure 7c": "In the paper larger networks beat six small ones.",
    "Figure 7d": "In the paper deeper is better.",
    "Figure 7e": "In the paper wider is no better, with less data-reliance.",
    "Figure 8": "In the paper augmentation is worth about 1.8 times the data.",
}


def figures(results: Results) -> Sequence[Figure]:
    """Return one figure for each comparison, a panel for each half of the letters."""
    pairs = results.tables["pairs"]
    names = dict.fromkeys(results.tables["curves"]["half"])
    trials = {str(h): results.trials[str(h).replace(" ", "-").lower()] for h in names}
    out = []
    for figure in GROUPS:
        charts = tuple(
            chart
            for half, one in trials.items()
            if (chart := _chart(half, one, figure))
        )
        if charts:
            slug = figure.lower().replace(", ", "-").replace(" ", "-")
            title = f"{figure.split(',')[0]}: {_TITLES[figure]}"
            says = f"{_PAPER[figure]} {_told(pairs, figure)}"
            out.append(Figure(slug, title, charts, says, columns=2))
    return out


def _chart(half: str, trials: Trials, figure: str) -> Chart | None:
    here = [name for name in members(figure) if name in trials.algorithms]
    if len(here) < 2:
        return None
    lines, dots = [], []
    limit, ticks = 0.0, np.empty(0)
    by_name = trials.where(algorithm=here).points("error")
    for look, name in enumerate(here):
        points = by_name[name]
        sizes = np.unique(points.size)
        errors = [100 * points.value[points.size == n] for n in sizes]
        law = fit_power_law(sizes, errors, unit="percent")
        limit, ticks = law.extrapolation_limit, sizes
        n = np.geomspace(sizes[0], limit, 60)
        band = law.band(n)
        # More than four bands leave no room for a legend.
        ends = (band.lower, band.upper) if len(here) <= _BANDS else no_band(n)
        label = f"{name}: {law.e_N:.1f}, {law.beta_N:.1f}, {law.gamma:.2f}"
        lines.append(Series(label, n, band.value, *ends, look))
        means = np.array([e.mean() for e in errors])
        dots.append(line(f"{name}, observed", sizes, means, look, is_dots=True))
    return Chart(
        title=half,
        x_label="training examples, drawn at n^(-1/2)",
        y_label="error in percent",
        series=(*lines, *dots),
        caption="Circles: mean error of the models of a size. Curves: power laws with 95 % "
        "bands, where there are four at most; in the legend error and data-reliance at N, "
        "and the exponent. Dashed: four times the data.",
        axis="root",
        shape="line",
        marks=(Mark(limit, "4 times the data"),),
        ticks=(float(ticks[0]), limit, *(float(n) for n in ticks[:0:-1])),
        y_range=(0.0, 1.1 * max(float(one.y.max()) for one in dots)),
    )


def _told(pairs: Table, figure: str) -> str:
    """Return pairs of one figure in words: differences at N, crossing, worth in data."""
    parts = []
    for i in range(len(pairs["figure"])):
        if pairs["figure"][i] != figure:
            continue
        row = {key: pairs[key][i] for key in pairs}
        text = (
            f"{row['half']}, {row['first']} less {row['second']}: error "
            f"{_range(row, 'error')}, data-reliance {_range(row, 'reliance')}"
        )
        if math.isfinite(row["crossing"]):
            text += f", they cross at {row['crossing']:,.0f}"
        if math.isfinite(row["times"]) and row["times"] > 0:
            text += (
                f", worth {row['times']:.2g} times the data at N/4 "
                f"({row['times_lower']:.2g} to {row['times_upper']:.2g})"
            )
        parts.append(text)
    if not parts:
        return ""
    return f"Ours, at N and with 95 % intervals, in points: {'; '.join(parts)}."


def _range(row: Table, name: str) -> str:
    low, middle, high = (row[f"{name}{end}"] for end in ("_lower", "", "_upper"))
    return f"{middle:+.2f} [{low:+.2f}, {high:+.2f}]"


# --- the study ---------------------------------------------------------------------------


_TABLE = "Figures 3 to 8 in words, counted over both halves of the letters"
_LARGER = ("3 layers, tuned", "wide, tuned", "wide, 2 layers, tuned")
_DEEPER = ("tuned", "2 layers, tuned", "3 layers, tuned")
_FROZEN = ("frozen", "2 layers, frozen", "3 layers, frozen")
_WIDER = (("tuned", "wide, tuned"), ("2 layers, tuned", "wide, 2 layers, tuned"))
_FROZEN_WIDER = (
    ("frozen", "wide, frozen"),
    ("2 layers, frozen", "wide, 2 layers, frozen"),
)
_JITTERED = ("scratch", "tuned", "frozen")


def run(runner: Runner) -> Results:
    """Return errors of all networks, and what their curves say together."""
    parts = run_halves(runner)
    by_slug = {half.replace(" ", "-").lower(): trials for half, trials in parts.items()}
    return Results(by_slug, compared(parts))


def claims(results: Results) -> Sequence[Claim]:
    """Return all claims of the study."""
    parts = halves(results.tables)
    return [
        *_families(parts),
        *_optimisers(parts),
        *_pretraining(parts),
        *_depth(parts),
        *_width(parts),
        *_ensembles(parts),
        *_augmentation(parts),
    ]


def _claim(figure: str, row: str, stated: int, ours: int, why: str) -> Claim:
    return Claim(_TABLE, f"{figure}: {row}", "", stated, ours, why=why, digits=0)


def _families(parts: Sequence[Half]) -> Iterator[Claim]:
    names = members("Figure 3")
    here = [h for h in parts if h.has(*names)]
    yield Claim(
        _TABLE,
        "Figure 3: each advance lowers error and data-reliance",
        "",
        2,
        None,
        why="Families of learners are no line of advances, so there are no steps to "
        "count; the next row asks what can be asked.",
        digits=0,
    )
    if not here:
        return
    same = sum(
        (h.error[a] < h.error[b]) == (h.reliance[a] < h.reliance[b])
        for h in here
        for a, b in combinations(names, 2)
    )
    row = f"pairs of {10 * len(here)} in which the better one has less data-reliance"
    why = (
        "Networks that learn the same way differ in one thing, families in all: a "
        f"logistic regression is bad with little data-reliance. {shown(here, names)} "
        f"{shown(here, names, 'reliance')}"
    )
    yield _claim("Figure 3", row, 7 * len(here), same, why)


def _optimisers(parts: Sequence[Half]) -> Iterator[Claim]:
    yield Claim(
        _TABLE,
        "Figure 4: Ranger is best from scratch",
        "",
        1,
        None,
        why="scikit-learn has no Ranger; Adam, SGD with momentum and SGD are compared.",
        digits=0,
    )
    raw, tuned = members("Figure 4, from scratch"), members("Figure 4, pre-trained")
    here = [h for h in parts if h.has(*raw, *tuned)]
    if not here:
        return
    apart = sum(
        not h.pairs[pair]["error_lower"] <= 0 <= h.pairs[pair]["error_upper"]
        for h in here
        for pair in h.pairs
        if set(pair) <= set(tuned)
    )
    row = f"pairs of {3 * len(here)} that differ in error when pre-trained"
    why = f"SGD with momentum has too large a learning rate, .3. {shown(here, tuned)}"
    yield _claim("Figure 4", row, 0, apart, why)
    plain = "scratch, SGD"
    worst = sum(h.error[plain] == max(h.error[n] for n in raw) for h in here)
    row = f"halves of {len(here)} where SGD without momentum is worst from scratch"
    why = (
        "Each has a learning rate of its own, chosen on 2,000 examples: 1 for SGD, and .3 "
        "with momentum, which is too large for 8,000: on another split it has 6.9 and 5.9 "
        f"there, and .1 has 4.0 and 2.5. {shown(here, raw)}"
    )
    yield _claim("Figure 4", row, len(here), worst, why)
    spread = [{n: float(np.nanmean(h.sds[n])) for n in raw} for h in here]
    widest = sum(s[plain] == max(s.values()) for s in spread)
    row = f"halves of {len(here)} where it varies most from block to block"
    words = "; ".join(", ".join(f"{n} {x:.2f}" for n, x in s.items()) for s in spread)
    why = f"Standard deviations between blocks, mean over sizes: {words}."
    yield _claim("Figure 4", row, len(here), widest, why)
    ranges = [np.ptp([h.means[n] for n in raw], axis=0) for h in here]
    more = sum(int(r[0] > r[-1]) for r in ranges)
    row = f"halves of {len(here)} where optimisers differ more with less data"
    words = "; ".join(f"{r[0]:.2f} points at N/16, {r[-1]:.2f} at N" for r in ranges)
    why = f"Best and worst are apart by {words}, where momentum has too large a rate."
    yield _claim("Figure 4", row, len(here), more, why)


def _pretraining(parts: Sequence[Half]) -> Iterator[Claim]:
    names = members("Figure 5")
    here = [h for h in parts if h.has(*names)]
    if not here:
        return
    sizes = 5 * len(here)
    for row, one, other in (
        (
            "pre-training lowers the error, last layer only",
            "frozen",
            "random, frozen",
        ),
        ("fine-tuning beats the last layer only", "tuned", "frozen"),
    ):
        lower = sum(int((h.means[one] < h.means[other]).sum()) for h in here)
        yield _claim(
            "Figure 5",
            f"sizes of {sizes} at which {row}",
            sizes,
            lower,
            shown(here, names),
        )
    both = sum(
        int(h.error["tuned"] < h.error["scratch"])
        + int(h.reliance["tuned"] < h.reliance["scratch"])
        for h in here
    )
    row = "errors and data-reliances that pre-training lowers when fine-tuned"
    pairs = ("tuned", "scratch")
    why = (
        f"{sure(here, 'Figure 5')} {shown(here, pairs)} "
        f"{shown(here, pairs, 'reliance')}"
    )
    yield _claim("Figure 5", f"of {2 * len(here)} {row}", 2 * len(here), both, why)
    gains = [h.means["scratch"] - h.means["tuned"] for h in here]
    fewer = sum(int(g[0] > g[-1]) for g in gains)
    row = f"halves of {len(here)} where it helps more with less data"
    words = "; ".join(f"{g[0]:.2f} points at N/16, {g[-1]:.2f} at N" for g in gains)
    yield _claim("Figure 5", row, len(here), fewer, f"It gains {words}.")
    yield from _sources(parts)


def _sources(parts: Sequence[Half]) -> Iterator[Claim]:
    order = ("tuned", "inputs, tuned", "satellite, tuned", "scratch")
    here = [h for h in parts if h.has(*order)]
    if not here:
        return
    row = "in the order of the sources (labels, inputs, elsewhere, none)"
    for what in ("error", "reliance"):
        values = [getattr(h, what) for h in here]
        right = sum(v[a] < v[b] for v in values for a, b in combinations(order, 2))
        word = "error" if what == "error" else "data-reliance"
        yield _claim(
            "Figure 6",
            f"pairs of {6 * len(here)} {row}: {word}",
            6 * len(here),
            right,
            "The source has 10,000 examples, no more than what it is for; ImageNet has "
            f"over a million. {sure(here, 'Figure 6', what)} "
            f"{shown(here, order, what)}",
        )


def _depth(parts: Sequence[Half]) -> Iterator[Claim]:
    for figure, names in (("Figure 7a", _DEEPER), ("Figure 7d", _FROZEN)):
        here = [h for h in parts if h.has(*names)]
        if not here:
            continue
        steps = 2 * len(here)
        lower = sum(h.error[b] < h.error[a] for h in here for a, b in pairwise(names))
        row = f"steps in depth of {steps} with a lower error"
        why = f"{sure(here, figure)} {shown(here, names)}"
        yield _claim(figure, row, steps, lower, why)
        if figure == "Figure 7a":
            no_more = sum(
                h.reliance[n] <= h.reliance[names[0]] for h in here for n in names[1:]
            )
            row = f"deeper networks of {steps} without more data-reliance"
            why = shown(here, names, "reliance")
            yield _claim(figure, row, steps, no_more, why)


def _width(parts: Sequence[Half]) -> Iterator[Claim]:
    for figure, pairs in (("Figure 7b", _WIDER), ("Figure 7e", _FROZEN_WIDER)):
        names = tuple(name for pair in pairs for name in pair)
        here = [h for h in parts if h.has(*names)]
        if not here:
            continue
        number = 2 * len(here)
        lower = sum(h.error[b] < h.error[a] for h in here for a, b in pairs)
        if figure == "Figure 7b":
            row = f"networks of {number} better when twice as wide"
            why = f"{sure(here, figure)} {shown(here, names)}"
            yield _claim(figure, row, number, lower, why)
            continue
        row = f"networks of {number} better when twice as wide, last layer only"
        why = (
            "64 units are few for 13 letters; the last layers of the paper have 512 or "
            f"2,048 inputs. {sure(here, figure)} {shown(here, names)}"
        )
        yield _claim(figure, row, 0, lower, why)
        less = sum(h.reliance[b] < h.reliance[a] for h in here for a, b in pairs)
        row = f"networks of {number} with less data-reliance when twice as wide"
        why = f"{sure(here, figure, 'reliance')} {shown(here, names, 'reliance')}"
        yield _claim(figure, row, number, less, why)


def _ensembles(parts: Sequence[Half]) -> Iterator[Claim]:
    names = ("6 tuned", "tuned", *_LARGER)
    here = [h for h in parts if h.has(*names)]
    if not here:
        return
    better = sum(h.error["6 tuned"] < h.error["tuned"] for h in here)
    row = f"halves of {len(here)} where six networks are better than one"
    yield _claim("Figure 7c", row, len(here), better, shown(here, names))
    number = 3 * len(here)
    for what, word in (("error", "error"), ("reliance", "data-reliance")):
        values = [getattr(h, what) for h in here]
        lower = sum(v[n] < v["6 tuned"] for v in values for n in _LARGER)
        row = f"larger networks of {number} that beat six small ones: {word}"
        why = f"{sure(here, 'Figure 7c', what)} {shown(here, names, what)}"
        yield _claim("Figure 7c", row, number, lower, why)


def _augmentation(parts: Sequence[Half]) -> Iterator[Claim]:
    kinds = [
        (h, kind)
        for h in parts
        for kind in _JITTERED
        if h.has(kind, f"{kind}, jittered")
    ]
    lower = sum(
        int((h.means[f"{kind}, jittered"] < h.means[kind]).sum()) for h, kind in kinds
    )
    names = [n for kind in _JITTERED for n in (kind, f"{kind}, jittered")]
    number = 5 * len(kinds)
    why = (
        "Noise on 16 numbers is another augmentation than crops and flips of images. "
        f"{sure(parts, 'Figure 8')} {shown(parts, names)}"
    )
    row = f"curves at sizes, of {number}, better with jittered copies"
    yield _claim("Figure 8", row, number, lower, why)
    tuned = [(h, k) for h, k in kinds if k != "frozen"]
    pairs = [h.pairs[f"{k}, jittered", k] for h, k in tuned]
    same = sum(p["reliance_lower"] <= 0 <= p["reliance_upper"] for p in pairs)
    row = f"curves of {len(tuned)} whose data-reliance may be the same"
    yield _claim("Figure 8", row, len(tuned), same, shown(parts, names, "reliance"))
    stated = printed("hoiem2021").tables["text"]["multiplier"]
    for half, kind in kinds:
        pair = half.pairs[f"{kind}, jittered", kind]
        low, middle, high = (pair[f"times{end}"] for end in ("_lower", "", "_upper"))
        is_known = math.isfinite(high) and low > 0
        yield Claim(
            "Section 4.2, data that augmentation is worth, at N/4",
            kind,
            half.name,
            stated,
            middle if is_known else None,
            error=(high - low) / 3.92 if is_known else 0.0,
            gap=0.05 if is_known else 0.0,
            reason="Width of the 95 % interval over 3.92; half of the printed digit."
            if is_known
            else "",
            why=f"95 % interval {low:.2g} to {high:.2g}. Jittered copies are another kind "
            f"of augmentation.",
            digits=1,
        )


STUDY = Study(
    "comparisons",
    "Figures 3 to 8: what curves say about design choices",
    "Small networks on one half of the letters of letter, 500 to 8,000 examples with 16 to "
    "1 models, that may have learnt the other half before: from scratch, fine-tuned, or "
    "with only the last layer trained; deeper, wider, six of them, with three optimisers, "
    "from three sources, with jittered copies; and four other families. Each pair of "
    "curves is compared in error and data-reliance with intervals, in where they cross, "
    "and in what one is worth in data. Agreement is in form only: neither networks nor "
    "data are those of the paper, whose CIFAR-100 and Places365 runs need weights and "
    "images that are not to be had here.",
    (
        "Pre-training on ImageNet: a network learns the other 13 letters (10,000 "
        "examples). Without labels, as MOCO: it restores inputs from noisy ones. On "
        "Places: it learns the soils of satellite, reduced to 16 components.",
        "Linear: hidden layers stay as they are, and only the last one is trained.",
        "Passes through the data grow as n^(-1/2), as the paper's patience does: 24 at "
        "8,000 examples. Learning rates are chosen for each optimiser.",
        "Augmentation: three copies of each example with normal noise of 0.2 standard "
        "deviations of each feature.",
        "Curves are fitted by the calibrated method; pairs of a figure share the "
        "confidence of 95 %.",
    ),
    {
        "quick": "2 minutes of one core (9 learners, one half)",
        "kept": "12 core-minutes",
        "full": "50 core-minutes (4 splits)",
    },
    run,
    claims,
    figures,
    lacks_tables,
)
