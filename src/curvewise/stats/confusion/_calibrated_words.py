"""What may be wrong with power laws on logits, in sentences."""

import numpy as np

from curvewise._text import step
from curvewise.stats._sample import Floats
from curvewise.stats.confusion._calibrated import CalibratedFit
from curvewise.stats.confusion._few_answers import few_answers
from curvewise.stats.confusion._lack_of_fit import lack_of_fit
from curvewise.stats.confusion._noise import is_one_test_set

_UNLIKELY = 0.05
_FEW_SIZES = 4
_FAR = 4.0  # times the largest size


def concerns_of(fit: CalibratedFit, sizes: Floats) -> tuple[tuple[str, ...], ...]:
    """Return the sentences of each curve, the most serious first."""
    p = lack_of_fit(fit)
    rising = (fit.exponents.weights * (fit.exponents.gammas > 0)).sum(-1)
    times = np.max(sizes, initial=0.0) / fit.table.largest
    told = few_answers(fit.table, "86 % of the time in simulations")
    return tuple(
        tuple(
            sentence
            for sentence in (
                _poor_fit(p[i]),
                _rising(rising[i]),
                _few_sizes(fit, i),
                _far(times[i]),
                *told[i],
                _assumed_examples(fit, i),
                _assumed_training(fit, i),
                _many_classes(fit),
            )
            if sentence
        )
        for i in range(len(fit.table))
    )


def _poor_fit(p: float) -> str:
    if not p < _UNLIKELY:
        return ""
    return (
        f"One power law for all sizes does not fit (p = {p:.2g}): bands between sizes may "
        f"be too narrow, and far more so beyond them."
    )


def _rising(weight: float) -> str:
    if weight < 0.25:
        return ""
    return (
        f"Exponents above 0 have a weight of {100 * weight:.0f} %: logits may grow without "
        f"end, and far sizes may look better than they will be."
    )


def _few_sizes(fit: CalibratedFit, i: int) -> str:
    count = int((fit.table.runs[i] > 0).sum())
    if count >= _FEW_SIZES:
        return ""
    return (
        f"There are {count} sizes: that logits are power laws of the size is assumed, and "
        f"the exponent mostly is."
    )


def _far(times: float) -> str:
    if times <= _FAR:
        return ""
    return (
        f"The question goes {step(float(f'{times:.3g}'))} times beyond the largest size. "
        f"That the same power law holds there, nothing in these counts can say."
    )


def _assumed_examples(fit: CalibratedFit, i: int) -> str:
    if not fit.noise.is_blind[i]:
        return ""
    return (
        "Nobody kept which examples were answered rightly: being right on one is taken to "
        "be correlated by 0.6 between models. "
    ) + (
        "All tests being of one size, they are taken to be one test set."
        if is_one_test_set(fit.table)[i]
        else "Tests of two sizes are taken to be on the same examples or on none in "
        "common, whichever is worse, and those of one size on different ones."
    )


def _assumed_training(fit: CalibratedFit, i: int) -> str:
    if fit.noise.freedom[i] >= 4:
        return ""
    return (
        f"There are {fit.noise.freedom[i]:g} runs beyond the first of each size: how much "
        f"models of different training sets differ is mostly assumed."
    )


def _many_classes(fit: CalibratedFit) -> str:
    if fit.table.classes == 2:
        return ""
    return "Coverage was measured on curves of two classes, not of more."
