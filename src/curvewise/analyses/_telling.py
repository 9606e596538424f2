"""What a number of trials can tell, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curvewise._answer import Answer, Provenance
from curvewise._text import Cell, Part, Table, count, percent, plain, shown
from curvewise.stats.planning import LooksCost, Told


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Telling(Answer):
    """What a number of trials can tell, whatever the distribution of their scores.

    Parameters
    ----------
    told : Told
    cost : LooksCost
        What looks before the end cost.
    """

    told: Told
    cost: LooksCost
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per quantity: ``quantity``, ``value``."""
        told, cost = self.told, self.cost
        values: dict[str, Cell] = {
            "half_width": told.half_width,
            "half_width_one_sided": told.one_sided,
            "half_width_planned_looks": cost.planned,
            "half_width_anytime": cost.anytime,
            "top": told.top,
            "failures": told.failures,
            "quantile_lowest": told.quantiles[0],
            "quantile_highest": told.quantiles[1],
        }
        return [{"quantity": name, "value": value} for name, value in values.items()]

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows in words."""
        told, cost = self.told, self.cost
        low, high = told.quantiles
        lines = {
            "share of trials at or below any score: known to within": shown(
                told.half_width
            ),
            "... if only one side is asked for": shown(told.one_sided),
            f"... at {cost.looks} planned looks, at the last of them": shown(
                cost.planned
            ),
            "... at any time that one looks": shown(cost.anytime),
            "the best of them is among the top": _rate(told.top),
            "if none of them fails: of all trials there fail at most": _rate(
                told.failures
            ),
            "quantiles that lie between two scores, from to": (
                "none" if np.isnan(low) else f"{_rate(low)} to {_rate(high)}"
            ),
        }
        return [{"what": name, "value": value} for name, value in lines.items()]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            f"Each with {percent(self.told.confidence)} confidence, for independent trials "
            f"of any distribution. A mean of scores between 0 and 1 is known to within the "
            f"first number, or better; that of the best half to within twice that."
        ]

    def __str__(self) -> str:
        return "\n".join([self._head(), "", plain(self.table()), "", *self.notes()])

    __repr__ = __str__

    def _head(self) -> str:
        return f"What {count(self.told.trials, 'trial')} can tell"

    def _parts(self) -> Iterator[Part]:
        yield Table(self.table(), self._head())


def _rate(share: float) -> str:
    """Return a share as percent, to three digits, and never 100."""
    if share > 0.5:
        return f"{100 - float(f'{100 * (1 - share):.3g}'):.10g} %"
    return f"{100 * share:.3g} %"
