"""What may be wrong with a curve continued, in sentences."""

import math

from curvewise.stats._curve.runs import Unit
from curvewise.stats._sample import Floats

CLIMB = 0.03  # on the scale of fractions
FURTHEST = 2.0  # ranges of ln n: 99 % of the predictions that were measured are nearer


def concerns(
    *,
    sizes: Floats,
    furthest: float,
    span: float,
    rise: float,
    flat: float,
    runs: float,
    unit: Unit,
) -> tuple[str, ...]:
    """Return the sentences, most serious first."""
    said = []
    if unit == "loss":
        said.append(
            "Intervals were measured for error rates; for other losses nobody has "
            "measured how often they hold."
        )
    if rise > CLIMB:
        said.append(
            f"The curve has climbed by {rise:.2g}"
            f"{' of its largest loss' if unit == 'loss' else ''}: the prediction is hardly "
            f"better than repeating the last value."
        )
    elif flat > 0.5:
        said.append(
            "The curve does not fall at its end: the prediction is hardly better than "
            "repeating the last value."
        )
    if math.log(furthest / sizes[-1]) > FURTHEST * span:
        said.append(
            f"Size {furthest:g} is further off than any that was measured: sizes seen go "
            f"from {sizes[0]:g} to {sizes[-1]:g} only."
        )
    if len(sizes) == 3:
        said.append(
            "There are three sizes only: 95% intervals held in 91 to 93% of such curves."
        )
    if runs <= 1:
        said.append(
            "There is one error at each size. Where that is one run, and no mean of "
            "several, 95% intervals held in 94 to 96% of the curves."
        )
    return tuple(said)
