"""What is asked of count curves: at which sizes, for which unknown, how surely."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats
from curvewise.stats.confusion._data import CountTable

Target: TypeAlias = Literal["mean", "observed", "model"]
TARGETS = ("mean", "observed", "model")
DRAWS = 2048  # points of the rule by which draws are averaged
_BEYOND, _MOST_DRAWS = 20, 2**16
CELLS = 2**22  # numbers held at once, so that memory stays flat


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question about curves.

    Parameters
    ----------
    sizes : ndarray, shape (asked,)
        Training examples that the models would see.
    target : {"mean", "observed", "model"}
        The rates averaged over training sets; those that the mean of `runs` models would
        show on one test set of `test_size` examples; or those of one more model.
    test_size, runs : ndarray, shape (curve, asked)
        Of *observed*; a test size of NaN stands for tests like those that were seen.
    """

    sizes: Floats
    target: Target
    test_size: Floats
    runs: Floats


class Fit(Protocol):
    """What every method of fitting gives: points and draws, for all curves at once."""

    @property
    def table(self) -> CountTable:
        """What was fitted."""

    @property
    def concerns(self) -> tuple[tuple[str, ...], ...]:
        """What may be wrong with each curve, in words."""

    def concerns_at(self, sizes: Floats) -> tuple[tuple[str, ...], ...]:
        """Return what may be wrong with each curve where sizes are asked for."""

    def recalls(self, sizes: Floats) -> Floats:
        """Return the recall of each class, shape (curve, asked, class)."""

    def draw(self, asked: Asked, points: Floats) -> Floats:
        """Return draws of the recalls, shape (draw, curve, asked, class).

        `points`, shape (draw, 2 + 2 x class), are evenly spread over the unit cube: one
        column for what both the shape and the rest take, and so on, as the method says.
        """


@lru_cache(maxsize=8)
def even_points(dimensions: int, count: int = DRAWS) -> Floats:
    """Return points evenly spread over the unit cube, shape (count, dimensions).

    Always the same ones: what is averaged over them leaves nothing to chance. They are
    Sobol points with a fixed scramble, none of them on the boundary.
    """
    from scipy.stats import qmc  # takes most of a second

    points = qmc.Sobol(dimensions, scramble=True, seed=0).random(count)
    out: Floats = np.clip(points, 1e-12, 1 - 1e-12)
    out.setflags(write=False)
    return out


def draws_for(confidence: float) -> int:
    """Return how many draws it takes to know both ends: twenty beyond each at least."""
    beyond = (1.0 - confidence) / 2
    count = int(2 ** math.ceil(math.log2(_BEYOND / beyond)))
    if count > _MOST_DRAWS:
        raise CurvewiseError(
            f"confidence is {confidence!r}. So far out bands by draws are not known; pass "
            f"0.999 at most.",
            argument="confidence",
            value=confidence,
        )
    return max(DRAWS, count)


def blocks(count: int, classes: int, most: int = 64) -> list[slice]:
    """Return slices of curves, few enough that draws of a block stay small."""
    step = max(1, min(most, CELLS // (DRAWS * classes**2)))
    return [slice(start, start + step) for start in range(0, count, step)]
