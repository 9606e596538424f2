"""The paper's four tables as analyses of variance, and what one says about another."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from curvewise.papers.printed import printed
from curvewise.stats.anova import Anova

Effect: TypeAlias = Literal["interaction", "algorithm"]

PAPER = "piater1998"
TABLES = ("table1", "table2", "table3", "table4")
TITLES = dict(zip(TABLES, ("Table 1", "Table 2", "Table 3", "Table 4"), strict=True))
EFFECTS: tuple[Effect, ...] = ("interaction", "algorithm")
ROWS = ("interaction", "algorithm", "training", "error")
LINES, STEPS = 10, 8


def text() -> dict[str, Any]:
    """Return the numbers that stand in the text."""
    found: dict[str, Any] = printed(PAPER).tables["text"]
    return found


def rows_of(table: str) -> dict[str, Any]:
    """Return the rows of a printed table."""
    found: dict[str, Any] = printed(PAPER).tables[table]
    return found


def anova_of(table: str) -> Anova:
    """Return a printed table as an analysis of variance: its df and sums of squares.

    >>> print(anova_of("table1").f("algorithm").__round__(2))
    10.31
    """
    rows = rows_of(table)
    every = (*ROWS, "total")
    return Anova(
        {name: rows[name]["df"] for name in every},
        {name: rows[name]["ss"] for name in every},
    )


@dataclass(frozen=True, slots=True)
class SecondTable:
    """What Tables 1, 3 and 4 leave for Table 2, of A1 and A3.

    Parameters
    ----------
    errors : tuple of float
        Sums of squares within A1, A2 and A3.
    algorithm : tuple of float
        The two values that are possible for the algorithm.
    interaction : float
        The least one for the interaction.
    """

    errors: tuple[float, float, float]
    algorithm: tuple[float, float]
    interaction: float

    @property
    def error(self) -> float:
        """What the error of Table 2 has to be."""
        return self.errors[0] + self.errors[2]


def second_table() -> SecondTable:
    r"""Return what the other tables say about Table 2.

    Errors add over algorithms; Table 4 has A1 twice. A sum of squares of three
    algorithms with equally many lines is two thirds of the sum over their pairs, and
    that of a pair is :math:`l k d^2 / 2` for means a distance d apart. On a line
    :math:`d_{23} = |d_{12} \pm d_{13}|`; shapes obey :math:`d_{23} \le d_{12} + d_{13}`.

    >>> found = second_table()
    >>> round(found.error, 1), [round(x, 2) for x in found.algorithm]
    (9073.9, [1.06, 573.81])
    """
    ss = {table: anova_of(table).ss for table in ("table1", "table3", "table4")}
    one = ss["table4"]["error"] / 2
    two = ss["table1"]["error"] - one
    three = ss["table3"]["error"] - one - two
    lower, upper = third_side(ss["table1"]["algorithm"], ss["table3"]["algorithm"])
    least, _ = third_side(ss["table1"]["interaction"], ss["table3"]["interaction"])
    return SecondTable((one, two, three), (lower, upper), least)


def third_side(pair: float, three: float) -> tuple[float, float]:
    """Return the sums of squares of 1 and 3 for which 1, 2 and 3 lie on one line.

    Parameters
    ----------
    pair, three : float
        Sums of squares of 1 and 2, and of all three.

    Notes
    -----
    With a, b and c the square roots of those of the pairs, a^2 + b^2 + c^2 is 3/2 of
    that of all three. On a line, b + c or |b - c| is a, and both have the two solutions
    of 2 b^2 - 2 a b + a^2 = b^2 + c^2. Off it, b is between them.
    """
    a, rest = math.sqrt(pair), 1.5 * three - pair
    root = math.sqrt(2 * rest - pair)
    near, far = sorted((abs((a - root) / 2), (a + root) / 2))
    return near**2, far**2
