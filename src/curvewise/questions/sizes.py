"""Sizes of training sets: whether steps are such, and what is asked and said of them."""

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, listed
from curvewise.metrics import Floats
from curvewise.stats.interval import CurveBand, Interval
from curvewise.text import count, step
from curvewise.trials import Trials
from curvewise.trials.doors import flat_values

_MOST = 200  # sizes; epochs and time steps are more
_GROWTH = 1.2  # from a size to the next, where sizes are meant to tell of data
_FEW = 3  # sizes: fewer show no growth, and almost any curve fits through so many

# --- Are these sizes? --------------------------------------------------------------------


def could_be_sizes(trials: Trials, metric: str) -> bool:
    """Return whether the steps of these trials look like sizes of training sets.

    It is a guess, for rates only: three or more steps above 0, most of them at least a
    fifth larger than the one before. Epochs and time steps are evenly spaced. Steps that
    go up by one count something else: nobody adds one training example at a time.
    """
    return trials.metric(metric).is_rate and not against_sizes(trials, metric, _FEW)


def against_sizes(trials: Trials, metric: str, least: int) -> str:
    """Return what speaks against steps being sizes of training sets; empty if nothing.

    The rule of `could_be_sizes`, but for any metric and any number of sizes.
    """
    steps = _steps(trials, metric)
    if len(steps) < 2:
        return (
            "All scores are at one step: none says how many examples were trained on."
        )
    if steps[0] <= 0:
        return f"Step {step(steps[0])} is no size of a training set, which is above 0."
    span = f"Steps go from {step(steps[0])} to {step(steps[-1])}"
    if len(steps) > _MOST:
        return (
            f"{span}, {len(steps):,} of them: that is time, not sizes of training sets."
        )
    if not do_grow(steps):
        return (
            f"{span} without growing by a fifth from one to the next, as sizes of training "
            f"sets do: they look like epochs."
        )
    if len(steps) < least:
        return f"There are {len(steps)} sizes, and a curve needs {least}."
    return ""


def _steps(trials: Trials, metric: str) -> Floats:
    _, known = flat_values(trials, metric)
    steps: Floats = np.unique(trials.core.steps[known])
    return steps


def do_grow(sizes: Floats) -> bool:
    """Return whether most sizes are a fifth larger than the one before, and not by one."""
    is_count = bool((np.diff(sizes) == 1).all())
    return not is_count and bool(np.median(sizes[1:] / sizes[:-1]) >= _GROWTH)


# --- What is asked at sizes, and answered ------------------------------------------------


def asked_sizes(size: ArrayLike) -> Floats:
    """Return sizes that somebody asks about; refuse what is no number of examples."""
    try:
        sizes = np.atleast_1d(np.asarray(size, dtype=np.float64))
    except (TypeError, ValueError):
        sizes = np.array([])
    if (
        sizes.ndim != 1
        or not len(sizes)
        or not (np.isfinite(sizes) & (sizes > 0)).all()
    ):
        raise CurvewiseError(
            f"size is {size!r}. Pass one number of training examples, or several.",
            argument="size",
            value=size,
        )
    return sizes


def point_of(band: CurveBand, i: int = 0) -> Interval:
    """Return one point of a band as an interval."""
    ends = float(band.lower[i]), float(band.upper[i])
    return Interval(*ends, band.estimand, band.guarantee, float(band.value[i]))


# --- In words ----------------------------------------------------------------------------


TRAIN_ON_SIZES = (
    "Train on 3 sizes or more, such as a half, a quarter and an eighth of the data, too, "
    "and give the size as the step."
)
IF_SIZES = "If these steps are sizes of training sets, ask all the same."
PERHAPS_SIZES = (
    "Nothing but their growth says that these steps are sizes of training sets, so no "
    "report takes them for such."
)


def too_few_sizes(names: list[str], least: int) -> str:
    """Return who is left out for too few sizes, in a sentence."""
    if not names:
        return ""
    few = listed(dict.fromkeys(names), 4)
    return f"Not of {few}, with fewer than {least} sizes."


def from_size_to_size(sizes: list[Floats]) -> str:
    """Return how many sizes there are, from where to where."""
    fewest, most = min(map(len, sizes)), max(map(len, sizes))
    many = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    low, high = min(each[0] for each in sizes), max(each[-1] for each in sizes)
    return f"{many} sizes from {step(float(low))} to {step(float(high))}"


def strength_of_curves(sizes: int, runs: int) -> str:
    """Return how far curves through so many sizes can be trusted."""
    text = f"{count(runs, 'run')} at each size at least."
    if runs == 1:
        text += " With one run, its spread can only be estimated from the fit."
    if sizes <= _FEW:
        text += (
            f" Through {sizes} sizes almost any curve fits: with more it is seen whether "
            f"it does."
        )
    return text
