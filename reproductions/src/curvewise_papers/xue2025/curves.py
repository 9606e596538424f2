"""One replication in full: its curves with their bands, as the paper draws them."""

from typing import Any

import numpy as np

from curvewise.papers.xue2025.answers import METRICS, Answers
from curvewise.papers.xue2025.bands import corrected_bands, printed_bands
from curvewise.papers.xue2025.blocks import SIZES, TEST
from curvewise.papers.xue2025.foresee import (
    CALIBRATED,
    CORRECTED,
    POW3,
    PRINTED,
    N,
    metrics_of,
    moments,
)
from curvewise.stats.confusion import fit_confusion_curves
from curvewise.stats.powerlaw import fit_power_laws

CURVED = ("LDA", "TREE")  # whose curves are kept
SHOWN = ("error", "f1")
VALIDATED, TESTED = "validated", "tested"  # what was seen
GRID = np.round(np.geomspace(SIZES[0], SIZES[-1], 21), 1)


def curves_of_one(own: Answers, which: int = 0) -> dict[str, list[Any]]:
    """Return curves through all sizes of one replication, and what was seen of it."""
    place = [METRICS.index(name) for name in SHOWN]
    summed = own.summed[which : which + 1]
    blocks = [[v[which] for v in own.validated]]
    rows: list[tuple[Any, ...]] = []

    def add(method: str, sizes: Any, value: Any, low: Any, high: Any) -> None:
        for name, *ends in zip(SHOWN, value, low, high, strict=True):
            rows.extend(
                (method, name, *told) for told in zip(sizes, *ends, strict=True)
            )

    for method, entered, band in (
        (PRINTED, N, printed_bands),
        (CORRECTED, own.trained_on, corrected_bands),
    ):
        rates = fit_confusion_curves(entered, summed, method="paper").rates(GRID)[0]
        ends = band(rates * GRID[:, None, None] / 3)
        add(method, GRID, *(e[place] for e in (metrics_of(rates), *ends)))
    curves = fit_confusion_curves(
        N, blocks, own.trained_on, method="calibrated", examples=[own.examples[which]]
    )
    bands = curves.bands(
        {name: {} for name in SHOWN}, GRID, target="observed", test_size=TEST, runs=1
    ).values()
    add(
        CALIBRATED,
        GRID,
        *([getattr(b, e)[0] for b in bands] for e in ("value", "lower", "upper")),
    )
    means, spread = (
        m.reshape(len(METRICS), len(own), -1)[place, which] for m in moments(own)
    )
    laws = fit_power_laws(N, means, N[-1] // N, spread, method="paper")
    value, low, high = laws.error(GRID), *laws.interval(GRID)
    for e in (value, low, high):
        e[1] = 1 - e[1]
    low[1], high[1] = high[1].copy(), low[1].copy()
    add(POW3, GRID, value, low, high)
    nothing = np.full((len(SHOWN), len(N)), np.nan)
    add(VALIDATED, own.trained_on, metrics_of(summed[0])[place], nothing, nothing)
    add(TESTED, N, own.truth[place, which], nothing, nothing)
    names = ("method", "metric", "n", "value", "lower", "upper")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    for name in names[2:]:
        columns[name] = np.round(columns[name], 5).tolist()
    return columns
