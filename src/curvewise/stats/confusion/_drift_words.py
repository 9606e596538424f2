"""What may be wrong with curves whose logits drift, in sentences."""

import numpy as np
from numpy.typing import NDArray

from curvewise._text import step
from curvewise.stats._sample import Floats
from curvewise.stats.confusion._data import CountTable
from curvewise.stats.confusion._few_answers import few_answers

FURTHEST = 5.0  # octaves beyond the last size; real curves were followed so far
_FEW_RUNS, _FEW_SIZES = 3, 4
_WITH_FEW = (
    "85 % of the time in simulations, and below the smallest size as seldom as 62 %"
)


def concerns_of(
    table: CountTable, never: NDArray[np.bool_], furthest: Floats | None = None
) -> tuple[tuple[str, ...], ...]:
    """Return the sentences of each curve, most serious first.

    `never` (curve, class) are classes that nothing is called at the last size; `furthest`
    the octaves by which a question goes beyond it.
    """
    sizes = (table.runs > 0).sum(1)
    fewest = [own[own > 0].min() for own in table.runs]
    rare = few_answers(table, _WITH_FEW)
    out = []
    for i in range(len(table)):
        said = [
            f"At the largest size nothing is called class {k}: its recall is taken to "
            f"stay 0. Whether the learner finds the class again with more data, these "
            f"counts cannot say."
            for k in np.flatnonzero(never[i])
        ]
        if furthest is not None and furthest[i] > FURTHEST:
            times = step(float(f"{2 ** furthest[i]:.3g}"))
            said.append(
                f"The question goes {times} times beyond the largest size; real curves "
                f"were followed {2**FURTHEST:g} times."
            )
        if sizes[i] < _FEW_SIZES:
            said.append(
                f"There are {sizes[i]} sizes: how smooth the curve is, is mostly assumed."
            )
        if fewest[i] == 1:
            said.append(
                "A size has one run: how much models differ is assumed. On real curves "
                "bands of 95 % of single runs held 88 to 96 % of the time."
            )
        elif fewest[i] <= _FEW_RUNS:
            said.append(
                f"A size has {fewest[i]:g} runs: how much models differ is mostly assumed."
            )
        said += rare[i]
        if table.classes > 2:
            said.append("Bands were measured on curves of two classes, not of more.")
        out.append(tuple(said))
    return tuple(out)
