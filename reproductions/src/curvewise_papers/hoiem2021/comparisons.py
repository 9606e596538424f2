"""Study `comparisons`: Figures 3 to 8 in form, with networks on half of the letters."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from curvewise.papers.claim import Claim
from curvewise.papers.hoiem2021 import comparisons_figures
from curvewise.papers.hoiem2021.comparing import compared, members
from curvewise.papers.hoiem2021.halves import Half, halves, shown, sure
from curvewise.papers.hoiem2021.running import lacks_tables, run_halves
from curvewise.papers.printed import printed
from curvewise.papers.results import Results
from curvewise.papers.study import Runner, Study

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
    found = run_halves(runner)
    kept = {half.replace(" ", "-").lower(): trials for half, trials in found.items()}
    return Results(kept, compared(found))


def claims(results: Results) -> Sequence[Claim]:
    """Return all claims of the study."""
    found = halves(results.tables)
    return [
        *_families(found),
        *_optimisers(found),
        *_pretraining(found),
        *_depth(found),
        *_width(found),
        *_ensembles(found),
        *_augmentation(found),
    ]


def _claim(figure: str, row: str, stated: int, ours: int, why: str) -> Claim:
    return Claim(_TABLE, f"{figure}: {row}", "", stated, ours, why=why, digits=0)


def _families(found: Sequence[Half]) -> Iterator[Claim]:
    names = members("Figure 3")
    here = [h for h in found if h.has(*names)]
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


def _optimisers(found: Sequence[Half]) -> Iterator[Claim]:
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
    here = [h for h in found if h.has(*raw, *tuned)]
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
    told = "; ".join(", ".join(f"{n} {x:.2f}" for n, x in s.items()) for s in spread)
    why = f"Standard deviations between blocks, mean over sizes: {told}."
    yield _claim("Figure 4", row, len(here), widest, why)
    ranges = [np.ptp([h.means[n] for n in raw], axis=0) for h in here]
    more = sum(int(r[0] > r[-1]) for r in ranges)
    row = f"halves of {len(here)} where optimisers differ more with less data"
    told = "; ".join(f"{r[0]:.2f} points at N/16, {r[-1]:.2f} at N" for r in ranges)
    why = f"Best and worst are apart by {told}, where momentum has too large a rate."
    yield _claim("Figure 4", row, len(here), more, why)


def _pretraining(found: Sequence[Half]) -> Iterator[Claim]:
    names = members("Figure 5")
    here = [h for h in found if h.has(*names)]
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
    told = "; ".join(f"{g[0]:.2f} points at N/16, {g[-1]:.2f} at N" for g in gains)
    yield _claim("Figure 5", row, len(here), fewer, f"It gains {told}.")
    yield from _sources(found)


def _sources(found: Sequence[Half]) -> Iterator[Claim]:
    order = ("tuned", "inputs, tuned", "satellite, tuned", "scratch")
    here = [h for h in found if h.has(*order)]
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


def _depth(found: Sequence[Half]) -> Iterator[Claim]:
    for figure, names in (("Figure 7a", _DEEPER), ("Figure 7d", _FROZEN)):
        here = [h for h in found if h.has(*names)]
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


def _width(found: Sequence[Half]) -> Iterator[Claim]:
    for figure, pairs in (("Figure 7b", _WIDER), ("Figure 7e", _FROZEN_WIDER)):
        names = tuple(name for pair in pairs for name in pair)
        here = [h for h in found if h.has(*names)]
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


def _ensembles(found: Sequence[Half]) -> Iterator[Claim]:
    names = ("6 tuned", "tuned", *_LARGER)
    here = [h for h in found if h.has(*names)]
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


def _augmentation(found: Sequence[Half]) -> Iterator[Claim]:
    kinds = [
        (h, kind)
        for h in found
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
        f"{sure(found, 'Figure 8')} {shown(found, names)}"
    )
    row = f"curves at sizes, of {number}, better with jittered copies"
    yield _claim("Figure 8", row, number, lower, why)
    tuned = [(h, k) for h, k in kinds if k != "frozen"]
    pairs = [h.pairs[f"{k}, jittered", k] for h, k in tuned]
    same = sum(p["reliance_lower"] <= 0 <= p["reliance_upper"] for p in pairs)
    row = f"curves of {len(tuned)} whose data-reliance may be the same"
    yield _claim("Figure 8", row, len(tuned), same, shown(found, names, "reliance"))
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
    comparisons_figures.figures,
    lacks_tables,
)
