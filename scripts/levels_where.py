"""Measure how often steps are found to differ that do not, and how often a band holds.

    python scripts/levels_where.py          # 2,000 data sets each, a few minutes
    python scripts/levels_where.py 200

What the documentation says about levels and coverage comes from here. Each rate stands
next to that of an independent simulation with other code and other seeds.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.draws import evidence, welch_f
from curvewise.stats.anova.steps import difference_band, where_different
from curvewise.stats.comparison import holm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from noisy_lines import noise

FLIPS = 399
LEVEL = 0.05
EARLY = 0.3  # the share of steps at which algorithms differ in a partial null
# By how much, in standard deviations of the noisiest: so much that it is nearly always
# found, which leaves the others the least protection. A smaller one costs fewer errors.
SHIFT = 4.0
# Where it is asked how much is found: the last steps, and by how much they differ, in
# standard deviations of the noise.
LATE, GAPS = 0.3, (1.0, 1.5, 2.0)


@dataclass(frozen=True)
class Cell:
    """A design, and the rates that another simulation found in how many data sets."""

    kind: str
    sizes: tuple[int, ...]
    sds: tuple[float, ...]
    steps: int = 8
    known: tuple[float, ...] = ()
    sets: int = 2000

    def __str__(self) -> str:
        sizes, sds = ("/".join(f"{x:g}" for x in xs) for xs in (self.sizes, self.sds))
        return f"{self.steps:4d} {self.kind:4s} l {sizes:10s} sd {sds:8s}"

    def draw(self, sets: int, rng: np.random.Generator) -> list[list[np.ndarray]]:
        """Return the lines of every algorithm, data set after data set."""
        groups = [
            sd * noise(self.kind, (sets, size, self.steps), rng)
            for sd, size in zip(self.sds, self.sizes, strict=True)
        ]
        return [list(one) for one in zip(*groups, strict=True)]


WHERE = (
    Cell("walk", (10, 10), (1, 1), known=(0.050, 0.050)),
    Cell("walk", (10, 10), (1, 4), known=(0.046, 0.044)),
    Cell("walk", (5, 5), (1, 4), known=(0.054, 0.042)),
    Cell("iid", (5, 5), (1, 4), known=(0.064, 0.052)),
    Cell("iid", (5, 15), (4, 1), known=(0.062, 0.042)),
    Cell("walk", (5, 5, 5), (1, 1, 4)),
    Cell("walk", (10, 10, 10, 10), (1, 1, 1, 4)),
    Cell("walk", (10, 10), (1, 1), 100, (0.054, 0.056), 500),
    Cell("walk", (5, 5), (1, 4), 100, (0.056, 0.044), 500),
    Cell("iid", (5, 5), (1, 4), 100, (0.086, 0.048), 500),
    Cell("iid", (5, 15), (4, 1), 100, (0.128, 0.086), 500),
)
BANDS = (
    Cell("walk", (5, 5), (1, 1), known=(0.964, 0.820)),
    Cell("walk", (5, 5), (4, 1), known=(0.941, 0.739)),
    Cell("iid", (5, 5), (1, 1), known=(0.951, 0.681)),
    Cell("walk", (10, 10), (1, 1), known=(0.947, 0.890)),
    Cell("iid", (10, 10), (4, 1), known=(0.948, 0.786)),
    Cell("walk", (20, 20), (1, 1), known=(0.952, 0.927)),
    Cell("iid", (5, 15), (4, 1), known=(0.934, 0.530)),
    Cell("walk", (5, 5), (1, 1), 100, (0.978, 0.716), 500),
    Cell("iid", (5, 5), (4, 1), 100, (0.922, 0.032), 500),
    Cell("walk", (10, 10), (4, 1), 100, (0.944, 0.768), 500),
)


def false_findings(cell: Cell, sets: int, rng, *, early: bool = False, flips=FLIPS):
    """Return in how many data sets a step was found that is none; failures count."""
    begin = int(EARLY * cell.steps) if early else 0
    shift = np.where(np.arange(cell.steps) < begin, SHIFT * max(cell.sds), 0.0)
    errors = 0
    for lines in cell.draw(sets, rng):
        lines[-1] = lines[-1] + shift
        try:
            found = where_different(lines, level=LEVEL, flips=flips, rng=rng)
            is_sound = np.isfinite(found.p).all()
            errors += not is_sound or found.different[begin:].any()
        except CurvewiseError:
            errors += 1
    return int(errors)


def uncorrected_findings(cell: Cell, sets: int, rng) -> int:
    """Return the same for a test of each step by itself: no correction."""
    from scipy.stats import ttest_ind

    draws = cell.draw(sets, rng)
    one, other = (np.stack([lines[i] for lines in draws]) for i in (0, 1))
    p = ttest_ind(one, other, axis=1, equal_var=False).pvalue
    return int((p <= LEVEL).any(axis=1).sum())


def shuffled_findings(cell: Cell, sets: int, rng, *, shuffles: int = FLIPS) -> int:
    """Return the same for lines that are shuffled between algorithms, not flipped."""
    first, sizes = cell.sizes[0], np.array(cell.sizes, float)
    errors = 0
    for lines in cell.draw(sets, rng):
        keys = rng.random((shuffles, sum(cell.sizes))).argsort(axis=1)
        deals = np.vstack([np.arange(sum(cell.sizes)), keys]) < first  # as came first
        values = np.concatenate(lines)
        values = values - values.mean(axis=0)
        sums = [d @ values for d in (deals * 1.0, ~deals * 1.0)]
        squares = [d @ values**2 for d in (deals * 1.0, ~deals * 1.0)]
        means = np.stack([s / n for s, n in zip(sums, sizes, strict=True)])
        spread = np.stack(squares) - sizes[:, None, None] * means**2
        f, df = welch_f(means, spread / (sizes[:, None, None] - 1), sizes)
        largest = evidence(f, df, 2).max(axis=1)
        errors += (largest >= largest[0]).sum() <= LEVEL * (1 + shuffles)
    return int(errors)


def late_findings(cell: Cell, sets: int, rng, gap: float, *, flips=FLIPS):
    """Return which share of the steps that differ is found, by flips and by Holm."""
    from scipy.stats import ttest_ind

    begin = cell.steps - int(LATE * cell.steps)
    shift = np.where(np.arange(cell.steps) < begin, 0.0, gap)
    by_flips = by_holm = 0.0
    for one, other in cell.draw(sets, rng):
        lines = [one, other + shift]
        found = where_different(lines, level=LEVEL, flips=flips, rng=rng)
        by_flips += found.different[begin:].mean()
        p = holm(ttest_ind(*lines, axis=0, equal_var=False).pvalue)
        by_holm += (p[begin:] <= LEVEL).mean()
    return by_flips / sets, by_holm / sets


def covered(cell: Cell, sets: int, rng, *, flips: int = FLIPS) -> tuple[int, float]:
    """Return how often the band holds the difference, 0, and its mean half-width."""
    hits, width = 0, 0.0
    for one, other in cell.draw(sets, rng):
        try:
            band = difference_band(one, other, flips=flips, rng=rng)
        except CurvewiseError:
            continue
        hits += ((band.lower <= 0) & (band.upper >= 0)).all()
        width += (band.upper - band.lower).mean() / 2
    return int(hits), width / sets


def covered_by_multipliers(cell: Cell, sets: int, rng, *, draws: int = FLIPS) -> int:
    """Return the same for normal multipliers, with standard errors that stay fixed."""
    place, hits = int(np.ceil((1 - LEVEL) * (draws + 1))) - 1, 0
    for lines in cell.draw(sets, rng):
        means = [x.mean(axis=0) for x in lines]
        se = np.sqrt(sum(x.var(axis=0, ddof=1) / len(x) for x in lines))
        drawn = [
            rng.standard_normal((draws, len(x))) @ (x - mean) / len(x)
            for x, mean in zip(lines, means, strict=True)
        ]
        c = np.sort(np.abs((drawn[0] - drawn[1]) / se).max(axis=1))[place]
        hits += (np.abs(means[0] - means[1]) <= c * se).all()
    return int(hits)


def agreement(rate: float, sets: int, known: float, known_sets: int) -> str:
    """Return whether two rates differ by no more than chance, three standard errors."""
    pooled = (rate * sets + known * known_sets) / (sets + known_sets)
    se = np.sqrt(max(pooled * (1 - pooled), 1e-4) * (1 / sets + 1 / known_sets))
    word = "agrees" if abs(rate - known) <= 3 * se else "DIFFERS"
    return f"{known:.3f} {word} ({(rate - known) / se:+.1f} se)"


def main(sets: int) -> None:
    rng = np.random.default_rng(20240501)
    print(f"False findings at level {LEVEL}, {sets} data sets, {FLIPS} flips")
    for cell in WHERE:
        for i, early in enumerate((False, True)):
            rate = false_findings(cell, sets, rng, early=early) / sets
            known = ""
            if cell.known:
                known = agreement(rate, sets, cell.known[i], cell.sets)
            print(cell, "early" if early else "null ", f"{rate:.4f}", known, flush=True)
    print("\nThe same without correction, and with shuffled lines (null)")
    for cell in WHERE[:5]:
        plain = uncorrected_findings(cell, sets, rng) / sets
        print(cell, f"{plain:.4f} {shuffled_findings(cell, sets, rng) / sets:.4f}")
    print("\nShare of steps found of those that differ, the last ones: flips, Holm")
    late = np.random.default_rng(20240502)
    for cell in (WHERE[0], WHERE[7]):
        for gap in GAPS:
            ours, holms = late_findings(cell, sets // 2, late, gap)
            print(cell, f"by {gap:g} sd: {ours:.3f} {holms:.3f}", flush=True)
    print("\nBands that hold, half-width; multipliers with fixed standard errors")
    for cell in BANDS:
        hits, width = covered(cell, sets, rng)
        fixed = covered_by_multipliers(cell, sets, rng) / sets
        ours = agreement(hits / sets, sets, cell.known[0], cell.sets)
        theirs = agreement(fixed, sets, cell.known[1], cell.sets)
        print(
            cell, f"{hits / sets:.4f} ({width:.3g}) {ours}; {fixed:.4f} {theirs}",
            flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
