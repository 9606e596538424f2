"""The claims of a paper as an answer: its tables, ours beside them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from curvewise._answer import Answer, Provenance
from curvewise._text import Cell, Part, Table, count, joined, plain
from curvewise.errors import unknown
from curvewise.papers.claim import VERDICTS, Claim, Verdict

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
        own = tuple(claim for claim in self.claims if claim.table == table)
        if not own:
            raise unknown("table", table, self.tables)
        return own

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
        own = self.of(table)
        if not any(claim.column for claim in own):
            return [
                {
                    "what": claim.row,
                    "printed": claim.printed_text,
                    "ours": claim.ours_text,
                    "may differ by": f"{claim.tolerance:.3g}",
                    "verdict": claim.verdict,
                }
                for claim in own
            ]
        rows: dict[str, dict[str, Cell]] = {}
        names = tuple(dict.fromkeys(claim.column for claim in own))
        for claim in own:
            row = rows.setdefault(
                claim.row, {"": claim.row, **dict.fromkeys(names, "")}
            )
            row[claim.column] = _cell(claim)
        return list(rows.values())

    def tally(self, table: str | None = None) -> dict[Verdict, int]:
        """Return how many claims there are of each verdict."""
        own = self.claims if table is None else self.of(table)
        found = Counter(claim.verdict for claim in own)
        return {verdict: found[verdict] for verdict in VERDICTS}

    def differing(self, table: str | None = None) -> list[Claim]:
        """Return the claims that do not agree, those that cannot be checked last."""
        own = self.claims if table is None else self.of(table)
        return [
            claim
            for verdict in ("differs", "unchecked")
            for claim in own
            if claim.verdict == verdict
        ]

    def headline(self, table: str | None = None) -> str:
        """Return in one sentence how many agree, of all or of one table."""
        found = self.tally(table)
        total = sum(found.values())
        if found["agrees"] == total > 1:
            return f"{count(total, 'number')}: all agree."
        parts = [
            f"{found[v]:,} {_WORDS[v][found[v] > 1]}" for v in VERDICTS if found[v]
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
        said: dict[str, list[Claim]] = {}
        for claim in self.differing(table):
            said.setdefault(claim.cause, []).append(claim)
        return [_explained(cause, claims) for cause, claims in said.items()]

    def __str__(self) -> str:
        blocks = []
        for table in self.tables:
            lines = [f"{table}: {self.headline(table)}", plain(self.beside(table))]
            lines += self.explanations(table)
            blocks.append("\n".join(lines))
        notes = "\n".join(self.notes())
        return "\n\n".join([self.headline(), *blocks, notes, str(self.provenance)])

    __repr__ = __str__

    def _parts(self) -> Iterator[Part]:
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
