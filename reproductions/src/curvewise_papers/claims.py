"""A printed number beside ours, whether the two agree, and all of a paper as an answer."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from curvewise.answer import Answer, Provenance
from curvewise.errors import CurvewiseError, unknown
from curvewise.text import Cell, Piece, Table, count, joined, plain

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
                f"{self.name}: a tolerance without a reason. Say where it comes from.",
                argument="reason",
                value=self.reason,
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


# --- an answer ---------------------------------------------------------------------------


# Of one number, and of several.
_WORDS: dict[Verdict, tuple[str, str]] = {
    "agrees": ("agrees", "agree"),
    "differs": ("differs", "differ"),
    "unchecked": ("cannot be checked", "cannot be checked"),
}
_NAMED = 4  # numbers with one cause that are named
_BOLD = "A star is for what is in bold by the paper's own rule, in print and here."
_SIGNS: dict[Verdict, str] = {"agrees": "", "differs": " ≠", "unchecked": ""}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Claims(Answer):
    """The printed numbers of a study beside ours.

    Parameters
    ----------
    claims : tuple of Claim
    provenance : Provenance
    """

    claims: tuple[Claim, ...]
    provenance: Provenance

    @property
    def tables(self) -> tuple[str, ...]:
        """Where the numbers are printed, in order."""
        return tuple(dict.fromkeys(claim.table for claim in self.claims))

    def of(self, table: str) -> tuple[Claim, ...]:
        """Return the claims about one table."""
        claims = tuple(claim for claim in self.claims if claim.table == table)
        if not claims:
            raise unknown("table", table, self.tables)
        return claims

    def reasons(self, table: str) -> str:
        """Return where the tolerances of a table come from, each said once."""
        reasons = dict.fromkeys(claim.reason for claim in self.of(table))
        return " ".join(filter(None, reasons))

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per claim."""
        return [
            {
                "table": claim.table,
                "row": claim.row,
                "column": claim.column,
                "printed": claim.printed,
                "ours": claim.ours,
                "error": claim.error,
                "printed_error": claim.printed_error,
                "gap": claim.gap,
                "tolerance": claim.tolerance,
                "verdict": claim.verdict,
                "reason": claim.reason,
                "explanation": claim.explanation,
                "printed_bold": claim.printed_bold,
                "ours_bold": claim.ours_bold,
            }
            for claim in self.claims
        ]

    def beside(self, table: str) -> list[dict[str, Cell]]:
        """Return a printed table with ours beside each number, for people.

        A cell is ``printed | ours ± standard error``, with ``≠`` where they differ.
        """
        claims = self.of(table)
        if not any(claim.column for claim in claims):
            return [
                {
                    "what": claim.row,
                    "printed": claim.printed_text,
                    "ours": claim.ours_text,
                    "may differ by": f"{claim.tolerance:.3g}",
                    "verdict": claim.verdict,
                }
                for claim in claims
            ]
        rows: dict[str, dict[str, Cell]] = {}
        names = tuple(dict.fromkeys(claim.column for claim in claims))
        for claim in claims:
            row = rows.setdefault(
                claim.row, {"": claim.row, **dict.fromkeys(names, "")}
            )
            row[claim.column] = _cell(claim)
        return list(rows.values())

    def tally(self, table: str | None = None) -> dict[Verdict, int]:
        """Return how many claims there are of each verdict."""
        claims = self.claims if table is None else self.of(table)
        counts = Counter(claim.verdict for claim in claims)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    def differing(self, table: str | None = None) -> list[Claim]:
        """Return the claims that do not agree, those that cannot be checked last."""
        claims = self.claims if table is None else self.of(table)
        return [
            claim
            for verdict in ("differs", "unchecked")
            for claim in claims
            if claim.verdict == verdict
        ]

    def headline(self, table: str | None = None) -> str:
        """Return in one sentence how many agree, of all or of one table."""
        counts = self.tally(table)
        total = sum(counts.values())
        if counts["agrees"] == total > 1:
            return f"{count(total, 'number')}: all agree."
        parts = [
            f"{counts[v]:,} {_WORDS[v][counts[v] > 1]}" for v in VERDICTS if counts[v]
        ]
        return f"{count(total, 'number')}: {joined(parts)}."

    def notes(self) -> list[str]:
        """Return what a reader must know to read the tables."""
        return [
            "printed | ours ± standard error. Two numbers agree if they are no further "
            "apart than three standard errors (of ours and, where its number of runs is "
            "known, of the print) plus a gap that is stated beforehand: half of the last "
            "digit that is printed, or what a setting that the paper leaves out is worth.",
            *(
                [_BOLD]
                if any(c.printed_bold or c.ours_bold for c in self.claims)
                else []
            ),
            *dict.fromkeys(
                f"{claim.table}: {claim.reason}"
                for claim in self.claims
                if claim.reason
            ),
        ]

    def explanations(self, table: str) -> list[str]:
        """Return why numbers of a table differ or cannot be checked, said once each."""
        by_cause: dict[str, list[Claim]] = {}
        for claim in self.differing(table):
            by_cause.setdefault(claim.cause, []).append(claim)
        return [_explained(cause, claims) for cause, claims in by_cause.items()]

    def __str__(self) -> str:
        blocks = []
        for table in self.tables:
            lines = [f"{table}: {self.headline(table)}", plain(self.beside(table))]
            lines += self.explanations(table)
            blocks.append("\n".join(lines))
        notes = "\n".join(self.notes())
        return "\n\n".join([self.headline(), *blocks, notes, str(self.provenance)])

    __repr__ = __str__

    def _parts(self) -> Iterator[Piece]:
        yield self.headline()
        for table in self.tables:
            yield Table(self.beside(table), f"{table}: {self.headline(table)}")
            yield from self.explanations(table)


def _cell(claim: Claim) -> str:
    if claim.ours is None:
        return f"{claim.printed_text} | ?"
    if claim.printed is None:
        return f"| {claim.ours_text}"
    return f"{claim.printed_text} | {claim.ours_text}{_SIGNS[claim.verdict]}"


def _explained(cause: str, claims: Sequence[Claim]) -> str:
    """Return a cause with what it explains before it."""
    names = [
        " ".join(filter(None, [", ".join(filter(None, (c.row, c.column))), c.distance]))
        for c in claims
    ]
    if len(names) > _NAMED + 1:
        names = [*names[:_NAMED], f"{len(names) - _NAMED} more"]
    return f"{joined(names)}: {cause}"
