"""How many trials a band takes, and how many until the best is among the top."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from curvewise._answer import Answer, Provenance
from curvewise._text import Cell, Part, Table, percent, plain
from curvewise.metrics import Floats
from curvewise.stats import bands
from curvewise.stats.bands import Kind


class Plan(Answer):
    """How many trials it takes; all answers of `trials` have what a picture needs."""

    __slots__ = ()

    half_width: float
    confidence: float

    @abstractmethod
    def widths(self, n: ArrayLike) -> dict[str, Floats]:
        """Return the half-width at each number of trials, for every line of a picture."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The largest number of trials in the answer."""

    @abstractmethod
    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""

    @abstractmethod
    def _head(self) -> str:
        """Return what was asked."""

    def __str__(self) -> str:
        told = [*self.cautions, self._head(), "", plain(self.table()), ""]
        return "\n".join([*told, *self.notes()])

    __repr__ = __str__

    def _parts(self) -> Iterator[Part]:
        yield Table(self.table(), self._head())

    def sizes(self, points: int = 60) -> Floats:
        """Return numbers of trials to draw the widths at, from few to twice the most."""
        ends = max(self.most / 50, 10), max(2 * self.most, 20)
        return np.unique(np.geomspace(*ends, points).round())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BandPlan(Plan):
    """How many trials a band around the whole distribution takes.

    Parameters
    ----------
    half_width, confidence : float
    looks : int
        How many planned looks it is compared with.
    exact, dkw, one_sided, planned, anytime : int
        Trials for one look at the end, with the exact band, with the closed form, and for
        one side only; for so many planned looks; for looks at any time.
    """

    half_width: float
    confidence: float
    looks: int
    exact: int
    dkw: int
    one_sided: int
    planned: int
    anytime: int
    provenance: Provenance

    @property
    def most(self) -> int:
        """The largest number of trials in the answer."""
        return max(self.dkw, self.planned, self.anytime)

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per kind of band: ``kind``, ``side``, ``looks``, ``trials``."""
        return [
            _kind_row("kolmogorov", "both", 1, self.exact),
            _kind_row("dkw", "both", 1, self.dkw),
            _kind_row("dkw", "one", 1, self.one_sided),
            _kind_row("kolmogorov", "both", self.looks, self.planned),
            _kind_row("anytime", "both", None, self.anytime),
        ]

    def widths(self, n: ArrayLike) -> dict[str, Floats]:
        """Return the half-width at each number of trials: one look, planned, anytime."""
        sizes = [int(size) for size in np.atleast_1d(n)]
        each = 1 - (1 - self.confidence) / self.looks
        first = max(1, self._first_look())
        return {
            "one look at the end": _band_widths(sizes, self.confidence, "kolmogorov"),
            f"{self.looks} planned looks": _band_widths(sizes, each, "kolmogorov"),
            "looks at any time": _band_widths(
                sizes, self.confidence, "anytime", min(first, *sizes)
            ),
        }

    def _first_look(self) -> int:
        return -(-self.exact // 16)

    def table(self) -> list[dict[str, Cell]]:
        """Return the rows with headings for people."""
        return [
            {"how": "one look at the end, exact", "trials": self.exact},
            {"how": "one look at the end, closed form (DKW)", "trials": self.dkw},
            {"how": "one side of the band only (DKW)", "trials": self.one_sided},
            {"how": f"{self.looks} planned looks", "trials": self.planned},
            {"how": "a look at any time", "trials": self.anytime},
        ]

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return [
            f"With so many independent trials the share of trials at or below any score "
            f"is known to within {self.half_width:g}, at all scores at once, with "
            f"{percent(self.confidence)} confidence, whatever the distribution.",
            f"Planned looks: at 1/16, 1/8, 1/4, 1/2 and all of the trials, say; whoever "
            f"stops at the first of {self.looks} that pleases needs intervals that hold at "
            f"all of them. At any time: from {self._first_look():,} trials on, as often as "
            f"one likes.",
        ]

    def _head(self) -> str:
        level = percent(self.confidence)
        return (
            f"Trials for a band of half-width {self.half_width:g} ({level} confidence)"
        )


def _kind_row(kind: str, side: str, looks: int | None, n: int) -> dict[str, Cell]:
    return {"kind": kind, "side": side, "looks": looks, "trials": n}


def _band_widths(
    sizes: list[int], confidence: float, kind: Kind, start: int = 1
) -> Floats:
    return np.array(
        [
            bands.half_width(n, confidence=confidence, kind=kind, start=start)
            for n in sizes
        ]
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopPlan(Answer):
    """How many trials it takes until the best of them is among the top of all.

    Parameters
    ----------
    share : float
        The top, 0.05 for the top 5 %.
    confidence : float
    trials : int
    """

    share: float
    confidence: float
    trials: int
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row: ``share``, ``confidence``, ``trials``."""
        return [
            {
                "share": self.share,
                "confidence": self.confidence,
                "trials": self.trials,
            }
        ]

    def __str__(self) -> str:
        return (
            f"The best of {self.trials:,} independent trials is in the top "
            f"{percent(self.share)} of all that there could be, with "
            f"{percent(self.confidence)} confidence."
        )

    __repr__ = __str__

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        yield Table(self.rows())
