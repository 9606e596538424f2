"""Which order statistics surround a quantile."""

import functools
import math

import numpy as np


@functools.cache  # cells of one study mostly have the same number of trials
def order_statistics(n: int, p: float, confidence: float) -> tuple[int, int]:
    """Return which order statistics surround a quantile; 0 and n + 1: none does."""
    from scipy.special import bdtr, bdtrc

    each = (1 - confidence) / 2
    # Forty standard deviations around the mean hold every rank that can be asked for.
    reach = 40 * (1 + math.sqrt(n * p * (1 - p)))
    i = np.arange(
        max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1
    )
    first = i[0] + np.searchsorted(bdtr(i, n, p), each, side="right")
    last = i[0] + np.searchsorted(-bdtrc(i, n, p), -each) + 1
    return int(first), int(last)
