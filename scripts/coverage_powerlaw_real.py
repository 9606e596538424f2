"""How often intervals of power laws hold on real curves, where no curve is a power law.

The curves of LCDB 1.0 (Mohr et al., ECML-PKDD 2022), 25 runs each; 80 or 50 % of the sizes
are seen, and the mean error at the last size is asked for. CURVEWISE_DATA names the folder.

python scripts/coverage_powerlaw_real.py
"""

import numpy as np
from extrapolation_curves import Curve, load

from curvewise.stats.learning import extrapolate
from curvewise.stats.powerlaw import fit_power_law

SHARES = (0.8, 0.5)


def seen(curve: Curve, share: float):
    """Return the sizes that are seen, and their runs."""
    k = max(3, round(share * len(curve.sizes)))
    runs = [column[np.isfinite(column)] for column in curve.table.T[:k]]
    return curve.sizes[:k], runs


def tried(curves, share: float, method: str) -> np.ndarray:
    """Return off, inside, half-width for each curve; a curve that is refused is missed."""
    found = []
    for curve in curves:
        sizes, runs = seen(curve, share)
        last, truth = curve.sizes[-1], curve.truth[-1]
        if method == "extrapolate":
            told = extrapolate(sizes, runs, to=[last]).interval([last])
        else:
            told = fit_power_law(sizes, runs, method=method).interval([last])
        low, high = told.lower[0], told.upper[0]
        is_in = low <= truth <= high
        found.append((abs(told.value[0] - truth), is_in, (high - low) / 2))
    return np.array(found, dtype=float)


def main() -> None:
    """Print the table, in Markdown."""
    curves = [c for c in load() if c.table is not None and len(c.sizes) > 5]
    print(f"{len(curves)} curves\n")
    print("| seen | method | MAE | coverage | half-width mean, median |")
    print("|---|---|---:|---:|---|")
    for share in SHARES:
        for method in ("paper", "calibrated", "extrapolate"):
            off, is_in, half = tried(curves, share, method).T
            print(
                f"| {share:.0%} | {method} | {off.mean():.4f} | {is_in.mean():.3f} |"
                f" {half.mean():.4f}, {np.median(half):.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
