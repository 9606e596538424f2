"""Piles of draws that grow until what they are asked is settled."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.anova._drawing.draws import exceeding, is_within
from curvewise.stats.anova._drawing.settling import side
from curvewise.stats.anova.answers import Draws, Stopped

Values = Mapping[str, Floats]  # of each effect, shape (draw,)


class Pile:
    """Draws of one kind, of all effects at once.

    Parameters
    ----------
    observed, rounding : mapping of str to float
        The statistic of each effect, for the lines as they came, and what ties may differ
        by, see `Draws`.
    kinds : int
        How many different draws there are, the lines as they came among them.
    make : callable
        Given a number, makes so many draws more.
    """

    def __init__(
        self,
        observed: Mapping[str, float],
        rounding: Mapping[str, float],
        kinds: int,
        make: Callable[[int], Iterable[Values]],
    ) -> None:
        self.observed = observed
        self._rounding, self._floor = rounding, 1 / kinds
        self.number = 0
        self.is_all = self.holds_observed = False
        self._make = make
        self._parts: dict[str, list[Floats]] = {effect: [] for effect in observed}
        self._above = dict.fromkeys(observed, 0)

    def fill(self, every: Iterable[Values], *, holds_observed: bool) -> None:
        """Take all draws that there are."""
        self._add(every)
        self.is_all, self.holds_observed = True, holds_observed

    def grow(self, to: int) -> None:
        """Draw until there are `to` of them."""
        if not self.is_all and to > self.number:
            self._add(self._make(to - self.number))

    def _add(self, batches: Iterable[Values]) -> None:
        for batch in batches:
            for effect, parts in self._parts.items():
                parts.append(batch[effect])
                self._above[effect] += exceeding(
                    batch[effect], self.observed[effect], self._rounding[effect]
                )
            self.number += len(parts[-1])

    def side(self, effect: str, level: float) -> int:
        """Return -1 where p is settled below the level, 1 where above, 0 else."""
        b = self._above[effect]
        if not self.is_all:
            return side(self.number, b, level)
        extra = 0 if self.holds_observed else 1
        return -1 if is_within((extra + b) / (extra + self.number), level) else 1

    def draws(self, effect: str, first: int, most: int) -> Draws:
        """Return the draws of an effect, frozen, once they are settled."""
        stopped: Stopped = "first look" if self.number == first else "later look"
        stopped = "fixed" if most == first else stopped
        values = np.concatenate(self._parts[effect])
        values.setflags(write=False)
        how: Stopped = "all" if self.is_all else stopped
        return Draws(
            values,
            self.observed[effect],
            how,
            self.holds_observed,
            self._rounding[effect],
            self._floor,
        )


def settle(piles: Sequence[Pile], level: float, first: int, most: int) -> None:
    """Let piles grow to `first` draws, and on to `most` while a decision is open.

    A decision is open unless one pile is settled above the level, or all are below. A
    pile that is settled for every open effect rests.
    """
    for pile in piles:
        pile.grow(first)
    while most > first:
        growing = [pile for pile in piles if _is_wanted(pile, piles, level, most)]
        if not growing:
            return
        for pile in growing:
            pile.grow(min(pile.number + max(first, pile.number // 2), most))


def _is_wanted(pile: Pile, piles: Sequence[Pile], level: float, most: int) -> bool:
    if pile.is_all or pile.number >= most:
        return False
    return any(
        pile.side(effect, level) == 0
        and all(p.side(effect, level) < 1 for p in piles if effect in p.observed)
        for effect in pile.observed
    )
