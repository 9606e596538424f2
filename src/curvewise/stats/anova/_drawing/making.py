"""How shuffles and flips of lines are made and judged."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._labels import Labels, labels_as_they_lie, random_labels
from curvewise.stats._sample import Floats
from curvewise.stats.anova._drawing import rounding
from curvewise.stats.anova._drawing.effects import EFFECTS, Effect
from curvewise.stats.anova._drawing.piles import Pile
from curvewise.stats.anova._drawing.statistics import (
    Split,
    flipped,
    observed_for_flips,
    plain,
    studentised,
)
from curvewise.stats.anova._lines.designs import Design
from curvewise.stats.anova._lines.flips import BATCH, Residuals, batches, random_signs
from curvewise.stats.anova._lines.welch import welch_f
from curvewise.stats.anova.answers import Noise, Null
from curvewise.stats.deals import all_deals, number_of_deals

ENUMERATED = 1_000_000  # deals that are all tried unless asked otherwise
MOST_ENUMERATED = 50_000_000  # deals that are tried where it is asked
_F: dict[Null, rounding.Statistic] = {"joint": "joint", "separate": "plain"}


def shuffles_of(
    parts: Split,
    effects: Sequence[Effect],
    null: Null,
    noise: Noise,
    every: bool,
    rng: np.random.Generator,
) -> Pile:
    """Return a pile of shuffles, full where every deal is to be tried."""

    def judged(labels: Labels) -> dict[str, Floats]:
        if noise == "unequal":
            algorithm, shape = studentised(parts, labels)
        else:
            algorithm, shape = plain(parts, labels, joint=null == "joint")
        both = dict(zip(EFFECTS, (algorithm[0], shape[0]), strict=True))
        return {effect: both[effect] for effect in effects}

    at_once = max(BATCH // parts.width, 1)

    def all_of_them() -> Iterator[dict[str, Floats]]:
        for block in all_deals(parts.sizes):
            for i in range(0, len(block), at_once):
                yield judged(block[i : i + at_once])

    def some(number: int) -> Iterator[dict[str, Floats]]:
        for now in batches(number, parts.width):
            yield judged(random_labels(parts.sizes, now, rng))

    # The first of all deals is that of the lines as they came. Judged once more, by
    # itself, it could differ from the first in its last digits.
    deals = all_of_them() if every else iter(())
    came = next(deals) if every else judged(labels_as_they_lie(parts.sizes))
    statistic = "studentised" if noise == "unequal" else _F[null]
    ties = dict(zip(EFFECTS, rounding.of_deals(parts, statistic), strict=True))
    pile = Pile(
        {effect: float(values[0]) for effect, values in came.items()},
        {effect: float(ties[effect][0]) for effect in effects},
        number_of_deals(parts.sizes),
        some,
    )
    if every:
        pile.fill(chain([came], deals), holds_observed=True)
    return pile


def flips_of(
    parts: Split, peaks: Design | None, first: int, rng: np.random.Generator
) -> Pile:
    """Return a pile of flips, full where there are no more than are drawn at first.

    With `peaks`, the shapes of lines, the Interaction is judged by its largest Welch F.
    """
    algorithm, shape = observed_for_flips(parts)
    residuals = Residuals(peaks) if peaks is not None else None
    width = parts.width if residuals is None else parts.width + 4 * residuals.width
    if peaks is not None and residuals is not None:
        means = np.stack([group.mean(axis=0) for group in peaks.groups])
        f, _ = welch_f(means, residuals.observed_variances(), residuals.sizes)
        shape = f.max(keepdims=True)

    def judged(signs: Floats) -> dict[str, Floats]:
        algorithm, shape = flipped(parts, signs)
        if residuals is not None:
            f, _ = welch_f(*residuals.flipped(signs), residuals.sizes)
            shape = f.max(axis=1)[None]
        return {"algorithm": algorithm[0], "interaction": shape[0]}

    def some(number: int) -> Iterator[dict[str, Floats]]:
        for now in batches(number, width):
            yield judged(random_signs(now, sum(parts.sizes), rng))

    ties = rounding.of_flips(parts, algorithm, shape)
    n = sum(parts.sizes)
    pile = Pile(
        {"algorithm": float(algorithm[0]), "interaction": float(shape[0])},
        {"algorithm": float(ties[0][0]), "interaction": float(ties[1][0])},
        1 + 2 ** (n - 1),
        some,
    )
    if n <= 60 and 2 ** (n - 1) <= first:
        # Flipping all lines changes nothing, so that the first may keep its sign.
        at_once = max(BATCH // width, 1)
        pile.fill(map(judged, _all_signs(n, at_once)), holds_observed=False)
    return pile


def _all_signs(lines: int, at_once: int) -> Iterator[Floats]:
    places = np.arange(lines)
    for i in range(0, 2 ** (lines - 1), at_once):
        patterns = np.arange(i, min(i + at_once, 2 ** (lines - 1)))
        yield (1 - 2 * (patterns[:, None] >> places & 1)).astype(np.float64)


def is_exact(exact: Any, deals: float, most: int = MOST_ENUMERATED) -> bool:
    """Whether every deal is to be tried; refuse where there are too many for that.

    Parameters
    ----------
    exact : bool or None
        As asked; None where there are few enough.
    deals : int or float
        How many there are.
    most : int
        How many are tried where it is asked.
    """
    if exact is None:
        return deals <= ENUMERATED * (1 + 1e-9)  # some are counted by logarithms
    if not isinstance(exact, bool):
        raise CurvewiseError(
            f"exact is {exact!r}. Pass True, False or None.",
            argument="exact",
            value=exact,
        )
    if exact and deals > most * (1 + 1e-9):
        # Beyond a few thousand digits an integer cannot even be written.
        many = f"{deals:,.0f}" if deals < 1e15 else f"about 1e{math.log10(deals):.0f}"
        raise CurvewiseError(
            f"There are {many} deals, and at most {most:,} are tried one by one. Pass ",
            {"exact": False},
            " to draw some of them.",
        )
    return exact
