"""Which test examples were answered rightly: what sizes have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Which test examples were answered rightly, size by size.

    What is known of one example at several sizes is correlated: hard examples stay hard.
    With this, bands know how much; without, they assume it.

    Parameters
    ----------
    truth : ndarray of int, shape (example,), or None
        The class of each example; None where nobody kept it, and classes are taken to be
        alike in how their examples are correlated.
    right, asked : ndarray, shape (size, example)
        By how many of the models of each size it was answered rightly, and by how many it
        was answered at all.
    """

    truth: Ints | None
    right: Floats
    asked: Floats

    def membership(self, shares: Floats) -> Floats:
        """Return how much of each example is of each class, shape (example, class).

        Parameters
        ----------
        shares : ndarray, shape (class,)
            How often classes occur: what is known of an example without its class.
        """
        if self.truth is None:
            return np.broadcast_to(shares, (self.asked.shape[1], len(shares)))
        return np.asarray(self.truth[:, None] == np.arange(len(shares)), np.float64)


def checked_examples(
    examples: Examples, order: Ints, matrices: Sequence[Floats]
) -> Examples:
    """Return examples in the order of sizes; refuse those of other counts."""
    if not isinstance(examples, Examples):
        raise CurvewiseError(
            f"examples is {examples!r}. Pass Examples of the curve.",
            argument="examples",
            value=examples,
        )
    truth, right, asked = _arrays(examples)
    shape = (len(order), right.shape[-1] if truth is None else len(truth))
    if right.shape != shape or asked.shape != shape:
        raise CurvewiseError(
            f"examples has right of shape {right.shape} and asked of {asked.shape}. Pass "
            f"(size, example) = {shape} for both."
        )
    right, asked = right[order], asked[order]
    if not ((right >= 0) & (right <= asked)).all():
        raise CurvewiseError(
            "An example was answered rightly more often than it was asked. Check right "
            "and asked of examples."
        )
    kept = Examples(truth, right, asked)
    summed = np.array([own.sum(0) for own in matrices])
    seen = np.diagonal(summed, axis1=-2, axis2=-1), summed.sum(-1)
    told = right, asked
    if truth is None:
        seen = seen[0].sum(-1), seen[1].sum(-1)
        told = right.sum(-1), asked.sum(-1)
    else:
        own = kept.membership(np.ones(summed.shape[-1]))
        told = right @ own, asked @ own
    if not np.array_equal(told[0], seen[0]):
        raise CurvewiseError(
            "What examples says was right is not what the counts have on the diagonal. "
            "Pass both of the same models and test sets."
        )
    if not np.array_equal(told[1], seen[1]):
        raise CurvewiseError(
            "What examples says was asked is not what the rows of the counts sum to. Pass "
            "both of the same models and test sets."
        )
    return kept


def _arrays(examples: Examples) -> tuple[Ints | None, Floats, Floats]:
    truth: NDArray[Any]
    try:
        right = np.asarray(examples.right, dtype=np.float64)
        asked = np.asarray(examples.asked, dtype=np.float64)
        if examples.truth is None and right.ndim == 2:
            return None, right, asked
        truth = np.asarray(examples.truth)
    except (TypeError, ValueError):
        truth = right = asked = np.empty((0, 0))
    if truth.ndim != 1 or truth.dtype.kind not in "iu":
        raise CurvewiseError(
            f"The truth of examples has shape {truth.shape} and type {truth.dtype}. Pass "
            f"the number of each example's class, and right and asked as numbers."
        )
    return truth.astype(np.int64), right, asked
