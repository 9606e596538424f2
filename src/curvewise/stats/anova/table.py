"""The table of a two-way analysis of variance: algorithms against steps of training."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import one_of
from curvewise.stats._student import unit_of
from curvewise.stats.anova._lines.designs import Design, LinesLike, checked_lines

__all__ = ["Anova", "two_way"]

_WITH_F = ("interaction", "algorithm", "training")
ROWS = (*_WITH_F, "error", "total")
_SHOWN = ("Interaction", "Algorithm", "Training", "error", "total")

# A share of the total below this is what rounding left of nothing.
_ROUNDING = 1e-28
_SMALLEST = 1e-145  # differences of which squares are still numbers


@dataclass(frozen=True, slots=True, eq=False)
class Anova:
    """A two-way analysis of variance with replication, as a table.

    Parameters
    ----------
    df : mapping of str to int
        Degrees of freedom of "interaction", "algorithm", "training", "error", "total".
    ss : mapping of str to float
        Sums of squares; the first four add up to the last.
    """

    df: Mapping[str, int]
    ss: Mapping[str, float]

    def ms(self, effect: str) -> float:
        """Return the mean square: sum of squares over degrees of freedom."""
        one_of("effect", effect, ROWS)
        return self.ss[effect] / self.df[effect]

    def f(self, effect: str) -> float:
        """Return F: the mean square over that of the error, inf where there is none."""
        one_of("effect", effect, _WITH_F)
        if self.ss["error"] == 0:
            return math.inf if self.ss[effect] > 0 else 0.0
        return self.ms(effect) / self.ms("error")

    def p(self, effect: str) -> float:
        """Return P(F' >= F) for an F' of the two degrees of freedom.

        It takes the points of a line for independent. They are not: what a run has
        learned by one step it carries over to the next.
        """
        from scipy.special import fdtrc

        f = self.f(effect)
        p = fdtrc(self.df[effect], self.df["error"], f) if math.isfinite(f) else 0.0
        return float(p)

    def rows(self) -> list[dict[str, str | int | float | None]]:
        """Return the table, one dict per row: effect, df, ss, ms, f, p."""
        rows: list[dict[str, str | int | float | None]] = []
        for name in ROWS:
            tested = name in _WITH_F
            rows.append({
                "effect": name,
                "df": self.df[name],
                "ss": self.ss[name],
                "ms": self.ms(name) if name != "total" else None,
                "f": self.f(name) if tested else None,
                "p": self.p(name) if tested else None,
            })  # fmt: skip
        return rows

    def __str__(self) -> str:
        return self.printed({name: f"{self.p(name):.3g}" for name in _WITH_F})

    def printed(self, p: Mapping[str, str]) -> str:
        """Return the table in columns, with what is to stand in its last one."""
        lines = [("", "df", "SS", "MS", "F", "p")]
        for name, title in zip(ROWS, _SHOWN, strict=True):
            ms = f"{self.ms(name):.2f}" if name != "total" else ""
            f = f"{self.f(name):.2f}" if name in _WITH_F else ""
            ss = f"{self.ss[name]:.2f}"
            lines.append((title, str(self.df[name]), ss, ms, f, p.get(name, "")))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.rjust(w) if i else cell.ljust(w)
                for i, (cell, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def two_way(lines: LinesLike) -> Anova:
    r"""Return the analysis of variance of lines: algorithm, training, interaction.

    With :math:`\bar y_{ih}` the mean of algorithm i at step h, :math:`l_i` its lines, N
    all lines and k steps,

    .. math::
       SS_{alg} = k \sum_i l_i (\bar y_{i} - \bar y)^2, \quad
       SS_{train} = N \sum_h (\bar y_{h} - \bar y)^2,

       SS_{int} = \sum_{i,h} l_i (\bar y_{ih} - \bar y_i - \bar y_h + \bar y)^2, \quad
       SS_{err} = \sum_{i,j,h} (y_{ijh} - \bar y_{ih})^2

    and each F is a mean square over that of the error.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        The lines of each algorithm, all on the same steps.

    Returns
    -------
    Anova

    Notes
    -----
    An Algorithm effect is a difference between means over the whole of training, an
    Interaction a difference in shape. Numbers of lines may differ: every line has every
    step, so that the sums of squares still add up, with means weighted by lines.

    The p values of this table take all points for independent. Points of one line are
    not, and the p values are wrong by a large factor, in opposite directions for the two
    effects [1]_: `randomized_anova` gives those to use.

    References
    ----------
    .. [1] J. H. Piater, P. R. Cohen, X. Zhang and M. Atighetchi. "A randomized ANOVA
       procedure for comparing performance curves." ICML, 1998.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a = rng.normal(size=(10, 4)).cumsum(axis=1)
    >>> b = rng.normal(0.5, size=(10, 4)).cumsum(axis=1)
    >>> print(two_way({"a": a, "b": b}))
                 df      SS     MS     F        p
    Interaction   3    2.09   0.70  0.27    0.848
    Algorithm     1   23.73  23.73  9.15  0.00345
    Training      3    6.19   2.06  0.79    0.501
    error        72  186.74   2.59
    total        79  218.74
    """
    design = checked_lines(lines)
    offset = float(np.abs(design.values).max())
    small, unit = _scaled(design)
    values, sizes = small.values, np.array(design.sizes)
    m, n, k = len(sizes), len(values), values.shape[1]
    total = float((values**2).sum())
    if math.sqrt(total / values.size) <= 1e-15 * offset / unit:
        raise CurvewiseError(
            f"All {n} lines have the same value at every step, so that there is nothing "
            f"to compare. Check what was measured."
        )
    if unit < _SMALLEST:
        raise CurvewiseError(
            f"The lines differ by about {unit:.0e}, of which squares vanish. Pass them "
            f"in a smaller unit."
        )
    means = np.stack([group.mean(axis=0) for group in small.groups])
    of_algorithms, of_steps = means.mean(axis=1), values.mean(axis=0)
    shapes = means - of_algorithms[:, None] - of_steps
    error = sum(((g - g.mean(axis=0)) ** 2).sum() for g in small.groups)
    ss = {
        "interaction": float((sizes[:, None] * shapes**2).sum()),
        "algorithm": float(k * (sizes * of_algorithms**2).sum()),
        "training": float(n * (of_steps**2).sum()),
        "error": float(error),
    }
    ss = {name: x if x > _ROUNDING * total else 0.0 for name, x in ss.items()}
    ss["total"] = total
    df = {
        "interaction": (m - 1) * (k - 1),
        "algorithm": m - 1,
        "training": k - 1,
        "error": k * (n - m),
        "total": n * k - 1,
    }
    return Anova(df, {name: x * unit**2 for name, x in ss.items()})


def _scaled(design: Design) -> tuple[Design, float]:
    """Return lines less their grand mean, in a unit that keeps squares finite.

    The unit is a power of two, so that no digit is lost; all statistics of tests are
    the same in any unit and from any origin.
    """
    values = design.values
    unit = unit_of(values)
    values = values / unit
    values = values - values.mean()
    spread = unit_of(values)
    return design.with_values(values / spread), unit * spread
