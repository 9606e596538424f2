"""Write the table of local levels that is read beyond 5,000 trials.

The file is committed; run this only to change it on purpose. It takes about five minutes
of one core, and says how far the interpolation is off between the nodes, where it is
farthest from them.
"""

import math
from pathlib import Path

import numpy as np

from curvewise.stats import local_level_table as table
from curvewise.stats import local_levels as levels

FILE = Path(table.__file__)
SIZES, CONFIDENCES = (levels.EXACT_UP_TO, 200_000), (0.5, 0.99999)
NODES = (6, 10)


def between(ends: np.ndarray, count: int) -> np.ndarray:
    """Return Chebyshev's points, ascending, the ends among them."""
    x = -np.cos(np.pi * np.arange(count) / (count - 1))
    return (ends[0] + ends[1]) / 2 + (ends[1] - ends[0]) / 2 * x


def confidence_at(scale: np.ndarray) -> np.ndarray:
    """Return the confidences at places on the scale of `confidence_scale`."""
    return np.exp(-np.exp(levels._ORIGIN - np.exp(scale)))


def main() -> None:
    """Make the table, measure its error, write it."""
    sizes = [round(n) for n in np.exp(between(np.log(SIZES), NODES[0]))]
    scale = between(levels.confidence_scale(CONFIDENCES), NODES[1])
    confidences = [round(c, 8) for c in confidence_at(scale).tolist()]
    rows = made(sizes, confidences)
    table.SIZES, table.CONFIDENCES, table.LEVELS = sizes, confidences, rows
    table.SHAVED = 0.0
    off = measured(sizes, confidences)
    FILE.write_text(page(sizes, confidences, rows, off), encoding="utf-8")


def made(sizes: list[int], confidences: list[float]) -> list[list[float]]:
    """Return the level at every node; smaller sizes say where to look for larger ones."""
    rows: list[list[float]] = []
    for n in sizes:
        row = []
        for j, c in enumerate(confidences):
            guess = None
            if len(rows) > 1:
                known = [math.log(levels.intervals(r[j], c)) for r in rows]
                nodes = np.log(sizes[: len(rows)])
                guess = math.exp(levels.lagrange(nodes, math.log(n)) @ known)
            row.append(float(f"{levels.exact(n, c, guess):.12g}"))
        rows.append(row)
        print(n, row, flush=True)
    return rows


def measured(sizes: list[int], confidences: list[float]) -> float:
    """Return the largest relative error of a level, halfway between all nodes.

    One evaluation of the coverage each: a miss that is larger by a share e comes from a
    level that is larger by as much, up to a tenth.
    """
    worst = 0.0
    halfway = levels.confidence_scale(confidences)
    halfway = confidence_at((halfway[1:] + halfway[:-1]) / 2)
    for n in np.round(np.sqrt(np.multiply(sizes[1:], sizes[:-1]))).astype(int).tolist():
        for c in halfway.tolist():
            found = levels.coverage(n, levels._interpolated(n, c))
            off = math.log(found) / math.log(c) - 1
            print(f"{n:7d} {c:.7f} {off:+.1e}", flush=True)
            worst = max(worst, abs(off))
    return worst


def page(
    sizes: list[int], confidences: list[float], rows: list[list[float]], off: float
) -> str:
    """Return the module that holds the table."""
    shaved = float(f"{2 * off:.0e}")
    lines = [
        '"""Local levels beyond 5,000 trials. scripts/make_local_levels.py wrote this."""',
        "",
        f"SIZES = {tuple(sizes)}",
        "CONFIDENCES = (",
        *(f"    {c!r}," for c in confidences),
        ")",
        "# One row per size, one column per confidence.",
        "LEVELS = (",
    ]
    for row in rows:
        lines += ["    (", *(f"        {level!r}," for level in row), "    ),"]
    lines += [
        ")",
        f"# Between the nodes the interpolation was off by a share of {off:.1e} at",
        "# most; twice that is taken off every level, so that no band is too narrow.",
        f"SHAVED = {shaved!r}",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
