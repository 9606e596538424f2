"""A printed number of a paper beside ours, and whether the two agree."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from curvewise.errors import CurvewiseError

Verdict: TypeAlias = Literal["agrees", "differs", "unchecked"]

VERDICTS: tuple[Verdict, ...] = ("agrees", "differs", "unchecked")
_ERRORS = 3  # standard errors that chance may take
_STAR = "*"  # which terminals, Markdown and pages show alike


@dataclass(frozen=True, slots=True)
class Claim:
    """A printed number beside ours.

    They agree if they are no further apart than chance and what is stated beforehand
    explain::

        |printed - ours| <= 3 * sqrt(error^2 + printed_error^2) + gap

    Parameters
    ----------
    table : str
        Where it is printed, such as ``"Table 1"``.
    row, column : str
        What it is about; together with `table` they name the number.
    printed : float or None
        None where the paper draws it, or says it in words, and prints no number.
    ours : float or None
        None where it cannot be checked.
    error : float
        Standard error of ours; 0 where it is arithmetic.
    printed_error : float
        Standard error of the printed number, from the number of its own runs.
    gap : float
        What may differ beyond chance: the rounding of the print, or how far a setting
        that the paper leaves out moves the number.
    reason : str
        Where `error` and `gap` come from.
    why : str
        Why the two differ, or why ours cannot be had.
    digits : int
        Decimals of the print.
    printed_bold, ours_bold : bool
        Whether each of the two is in bold by the paper's own rule.

    Examples
    --------
    >>> claim = Claim(
    ...     "Table 1", "k-NN", "moons", 0.914, 0.9146, error=0.0009, reason="400 trials"
    ... )
    >>> claim.verdict, round(claim.tolerance, 4)
    ('agrees', 0.0027)
    >>> Claim("Table 1", "k-NN", "moons", 0.814, 0.9146, why="A misprint.").verdict
    'differs'
    """

    table: str
    row: str
    column: str
    printed: float | None
    ours: float | None
    error: float = 0.0
    printed_error: float = 0.0
    gap: float = 0.0
    reason: str = ""
    why: str = ""
    digits: int = 3
    printed_bold: bool = False
    ours_bold: bool = False

    def __post_init__(self) -> None:
        for name in ("error", "printed_error", "gap"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise CurvewiseError(
                    f"{self.name}: {name} is {value}. Pass a finite number from 0 on."
                )
        if self.error + self.printed_error + self.gap > 0 and not self.reason:
            raise CurvewiseError(
                f"{self.name}: a tolerance without a reason. Say where it comes from."
            )

    @property
    def name(self) -> str:
        """What the number is, in one line."""
        return ", ".join(part for part in (self.table, self.row, self.column) if part)

    @property
    def tolerance(self) -> float:
        """How far apart the two may be."""
        return _ERRORS * math.hypot(self.error, self.printed_error) + self.gap

    @property
    def difference(self) -> float:
        """Ours less the printed one; NaN where one of them is not there."""
        if self.printed is None or self.ours is None:
            return math.nan
        return self.ours - self.printed

    @property
    def verdict(self) -> Verdict:
        """Whether they agree; an answer that is no finite number does not."""
        if self.printed is None or self.ours is None:
            return "unchecked"
        # Printed digits have no exact binary form: 0.1625 - 0.16 is a hair over 0.0025.
        hair = 1e-9 * max(1.0, abs(self.printed))
        return "agrees" if abs(self.difference) <= self.tolerance + hair else "differs"

    @property
    def distance(self) -> str:
        """How far they are apart and may be, if they differ; else empty."""
        if self.verdict != "differs":
            return ""
        allowed = f"{self.tolerance:.2g}" if self.tolerance else "nothing"
        return f"(off by {self.difference:+.3g}, {allowed} allowed)"

    @property
    def cause(self) -> str:
        """Why they differ, or why ours cannot be had; empty if they agree."""
        if self.verdict == "agrees":
            return ""
        return self.why or "Nobody has explained it."

    @property
    def explanation(self) -> str:
        """Both of them in one line."""
        return " ".join(filter(None, [self.distance, self.cause]))

    @property
    def printed_text(self) -> str:
        """The printed number, with its digits, and a star if it is in bold."""
        if self.printed is None:
            return ""
        return f"{self.printed:.{self.digits}f}{_STAR * self.printed_bold}"

    @property
    def ours_text(self) -> str:
        """Our number with its standard error, to one digit more than the print.

        A star says that it would be in bold.
        """
        if self.ours is None:
            return ""
        places = self.digits + (1 if self.error else 0)
        text = f"{self.ours:.{places}f}{_STAR * self.ours_bold}"
        return f"{text} ± {self.error:.{places}f}" if self.error else text
