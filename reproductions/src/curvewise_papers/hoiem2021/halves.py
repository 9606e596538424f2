"""What the tables of the study `comparisons` say of each half of the letters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.hoiem2021.comparing import GROUPS
from curvewise.papers.results import Table

_COLUMNS = tuple(
    f"{name}{end}"
    for name in ("error", "reliance", "times")
    for end in ("", "_lower", "_upper")
)


@dataclass(frozen=True, slots=True)
class Half:
    """What was found on one half of the letters.

    Parameters
    ----------
    name : str
    error, reliance : dict of str to float
        At N, in percentage points, by algorithm.
    means, sds : dict of str to ndarray
        By size.
    pairs : dict of (str, str) to dict of str to float
    """

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
    curves, means, pairs = (tables[name] for name in ("curves", "means", "pairs"))
    found = []
    for half in dict.fromkeys(curves["half"]):
        here = np.flatnonzero(np.asarray(curves["half"], dtype=str) == half)
        own = np.flatnonzero(np.asarray(means["half"], dtype=str) == half)
        names = np.asarray(means["algorithm"], dtype=str)[own]
        by_size = {
            column: {
                str(name): np.asarray(means[column], np.float64)[own[names == name]]
                for name in dict.fromkeys(names.tolist())
            }
            for column in ("error", "sd")
        }
        at_largest = {
            key: {str(curves["algorithm"][i]): float(curves[key][i]) for i in here}
            for key in ("error", "reliance")
        }
        found.append(
            Half(
                str(half),
                at_largest["error"],
                at_largest["reliance"],
                by_size["error"],
                by_size["sd"],
                {
                    (str(pairs["first"][i]), str(pairs["second"][i])): {
                        key: float(pairs[key][i]) for key in _COLUMNS
                    }
                    for i in range(len(pairs["half"]))
                    if pairs["half"][i] == half
                },
            )
        )
    return found


def shown(found: Sequence[Half], names: Sequence[str], what: str = "error") -> str:
    """Return numbers of some curves at N on each half, in words."""
    parts = []
    for half in found:
        values = getattr(half, what)
        told = ", ".join(f"{n} {values[n]:.2f}" for n in names if n in values)
        parts.append(f"{half.name}: {told}")
    word = "Error" if what == "error" else "Data-reliance"
    return f"{word} at N: {'; '.join(parts)}."


def sure(found: Sequence[Half], figure: str, what: str = "error") -> str:
    """Return in words how many differences of a figure are more than noise."""
    told = [
        half.pairs[pair]
        for half in found
        for pair in GROUPS[figure]
        if pair in half.pairs
    ]
    number = sum(not p[f"{what}_lower"] <= 0 <= p[f"{what}_upper"] for p in told)
    word = "error" if what == "error" else "data-reliance"
    return f"Differences in {word} whose interval excludes 0: {number} of {len(told)}."
