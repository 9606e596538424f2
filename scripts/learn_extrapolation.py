"""Learn the factors of `extrapolate` on all real curves, and print them for _constants.py.

python scripts/learn_extrapolation.py    (CURVEWISE_DATA names the folder of the data)
"""

import numpy as np
from extrapolation_curves import LEVELS, cases, learn, learning_weights, load, rows

from curvewise.stats.learning.outlook import TERMS_DOWN, TERMS_UP


def learnt() -> tuple[np.ndarray, np.ndarray]:
    """Return the factors, with those of the median (0) first."""
    curves = load()
    found = cases(curves)
    table = rows(found)
    sides = learn(table, learning_weights(curves, found, table))
    return tuple(np.round(np.vstack([np.zeros(s.shape[1]), s]), 4) for s in sides)


def main() -> None:
    for name, terms, side in zip(
        ("UP", "DOWN"), (TERMS_UP, TERMS_DOWN), learnt(), strict=True
    ):
        print(f"{name} = np.array(\n    [\n        # {', '.join(terms)}")
        for level, factors in zip((0.5, *LEVELS), side, strict=True):
            print(f"        [{', '.join(f'{x:g}' for x in factors)}],  # {level:g}")
        print("    ]\n)")


if __name__ == "__main__":
    main()
