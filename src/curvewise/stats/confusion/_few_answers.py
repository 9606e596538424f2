"""Classes of which so few answers were seen that bands may not hold."""

import numpy as np

from curvewise.stats.confusion._data import CountTable

# Answers of the rarer kind, right or wrong, at a middle size. With 12 to 22 of them bands
# of 95 % held less often than 92 % in simulations; with 28 and more, as often or more.
_FEW_ANSWERS = 25.0


def few_answers(table: CountTable, least: str) -> tuple[tuple[str, ...], ...]:
    """Return a sentence for each such class of each curve.

    `least` says how often bands held in the worst of the simulations.
    """
    right = np.where((table.runs > 0)[..., None], table.right, np.nan)
    rarer = np.nanmedian(np.minimum(right, table.total - right), axis=1)
    return tuple(
        tuple(
            f"Class {k} has {own[k]:.3g} answers of its rarer kind, right or wrong, at a "
            f"middle size. With so few, bands of 95 % held as seldom as {least}."
            for k in np.flatnonzero(own < _FEW_ANSWERS)
        )
        for own in rarer
    )
