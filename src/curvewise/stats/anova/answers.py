"""What an analysis of variance answers: its table, and a test of either effect."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Phrase
from curvewise.stats.anova.draws import (
    exceeding,
    is_within,
    least,
)
from curvewise.stats.anova.lines import Design, LinesLike, checked_lines
from curvewise.stats.asymptotics import unit_of
from curvewise.stats.deals import lines_to_reach
from curvewise.stats.distribution import rank
from curvewise.stats.interval import Interval, clopper_pearson
from curvewise.stats.validation import Floats, checked_level, one_of

__all__ = [
    "Anova",
    "Draws",
    "EffectTest",
    "RandomizedAnova",
    "two_way",
]


_WITH_F = ("interaction", "algorithm", "training")
ROWS = (*_WITH_F, "error", "total")
_TITLES = ("Interaction", "Algorithm", "Training", "error", "total")

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
        for name, title in zip(ROWS, _TITLES, strict=True):
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
            f"to compare. Check what was measured.",
            argument="lines",
            value=float(design.values[0, 0]),
        )
    if unit < _SMALLEST:
        raise CurvewiseError(
            f"The lines differ by about {unit:.0e}, of which squares vanish. Pass them "
            f"in a smaller unit.",
            argument="lines",
            value=unit,
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


# --- The two effects that draws are judged for, and where each has its place -----------


Effect: TypeAlias = Literal["algorithm", "interaction"]
EFFECTS: tuple[Effect, Effect] = ("algorithm", "interaction")


def place(effect: str) -> int:
    """Return where the number of an effect stands in a pair; refuse what is none."""
    one_of("effect", effect, EFFECTS)
    return EFFECTS.index(effect)


# --- How many draws are enough to decide, and what is known of p after them ------------


# The chance to stop on the wrong side of the level, whenever one looks.
RISK = 0.001


def _log_weight(n: int, b: int, level: float) -> float:
    """Return the logarithm of (n + 1) Binom(n, level).pmf(b)."""
    choose = math.lgamma(n + 1) - math.lgamma(b + 1) - math.lgamma(n - b + 1)
    hits = b * math.log(level) if b else 0.0
    misses = (n - b) * math.log1p(-level) if n - b else 0.0
    return math.log(n + 1) + choose + hits + misses


def side(n: int, b: int, level: float, risk: float = RISK) -> int:
    r"""Return on which side of the level p is: -1 below, 1 above, 0 open.

    It is settled once :math:`(n+1) \binom{n}{b} \alpha^b (1-\alpha)^{n-b} \le` `risk`.
    Whatever p is, that happens on the wrong side with probability `risk` at most over
    all n at once, so that one may look after every draw.
    """
    if _log_weight(n, b, level) > math.log(risk):
        return 0
    return -1 if b < n * level else 1


def at_any_time(b: int, n: int, miss: float) -> tuple[float, float]:
    """Return an interval for a chance that holds at all n at once, as `side` does."""
    from scipy.optimize import brentq

    def excess(q: float) -> float:
        return _log_weight(n, b, q) - math.log(miss)

    best, tiny = b / n, 1e-300
    low = brentq(excess, tiny, best, xtol=1e-15) if b else 0.0
    high = brentq(excess, best or tiny, 1 - 1e-16, xtol=1e-15) if b < n else 1.0
    return float(low), float(high)


# --- What a randomised analysis of variance answers ------------------------------------


Null: TypeAlias = Literal["separate", "joint"]
Noise: TypeAlias = Literal["unequal", "equal"]
Decision: TypeAlias = Literal["rejected", "not rejected", "undecided", "cannot reject"]
Stopped: TypeAlias = Literal["all", "fixed", "first look", "later look"]
_MISS = 0.01  # of intervals for p


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The values of a statistic under shuffles or flips, beside the observed one.

    Parameters
    ----------
    values : ndarray, shape (draw,)
        As drawn.
    observed : float
        The statistic of the lines as they came.
    stopped : {"all", "fixed", "first look", "later look"}
        "all": every draw there is, once. "fixed": a number set beforehand. Else drawn
        until the decision was settled, or no more were allowed.
    holds_observed : bool
        Whether the lines as they came are among the draws.
    rounding : float
        How far rounding may have put apart what is the same, in units of what is within
        algorithms.
    floor : float
        The p that all draws there are would give at least. Draws made at random can look
        rarer than anything is, by chance.
    """

    values: Floats
    observed: float
    stopped: Stopped
    holds_observed: bool
    rounding: float
    floor: float

    @property
    def number(self) -> int:
        """How many draws there are."""
        return len(self.values)

    @property
    def is_exact(self) -> bool:
        """Whether they are all that there are."""
        return self.stopped == "all"

    @property
    def exceeding(self) -> int:
        """How many are at least as large as the observed one, ties counted."""
        return exceeding(self.values, self.observed, self.rounding)

    @property
    def p(self) -> float:
        """The p value: (1 + exceeding) / (1 + number), the observed one counted once.

        Not below `floor`.
        """
        return self._p(self.exceeding)

    @property
    def smallest_p(self) -> float:
        """The smallest p that so many draws of this design can give."""
        return self._p(int(self.holds_observed))

    def _p(self, b: int) -> float:
        extra = 0 if self.holds_observed else 1
        return max((extra + b) / (extra + self.number), self.floor)

    def side(self, level: float) -> int:
        """Return on which side of the level p is: -1 at or below, 1 above, 0 open."""
        if self.stopped in ("all", "fixed"):
            return -1 if is_within(self.p, level) else 1
        return side(self.number, self.exceeding, level)

    def p_interval(self, miss: float) -> tuple[float, float]:
        """Return where the p of all draws there are lies, but with probability `miss`."""
        n, b = self.number, self.exceeding
        if self.is_exact:
            return self.p, self.p
        interval = at_any_time if self.stopped == "later look" else clopper_pearson
        # Half for the first look, half for all later ones.
        low, high = interval(b, n, miss if self.stopped == "fixed" else miss / 2)
        return max(low, self.floor), max(high, self.floor)

    def critical_value(self, level: float) -> float:
        """Return the smallest value that is rejected, inf where none is.

        Of all deals, it is one of their values, less what rounding may have added; of
        drawn ones, it is just above the largest drawn value that is too common.
        """
        if not is_within(self.smallest_p, level):
            return math.inf
        extra = 0 if self.holds_observed else 1
        allowed = math.floor(level * (extra + self.number) * (1 + 1e-12)) - extra
        at = self.number - 1 - allowed
        if at < 0:
            return -math.inf
        common = float(np.partition(self.values, at)[at])
        if not math.isfinite(common):
            return math.inf
        # What is tied with a value that is too common is too common.
        above = math.nextafter(common + self.rounding * (1 + common), math.inf)
        if not self.holds_observed:
            return above
        rare = self.values[self.values >= above]
        if not len(rare):
            return math.inf
        return max(above, float(least(rare.min(), self.rounding)))


@dataclass(frozen=True, slots=True, eq=False)
class EffectTest:
    """The test of one effect.

    Parameters
    ----------
    effect : {"algorithm", "interaction"}
    statistic : str
        What was computed, in words.
    shuffles : Draws or None
        What it came to when whole lines were dealt anew; None where it was not asked.
    flips : Draws or None
        What it came to when whole residual lines changed sign; None where it was not.
    """

    effect: Effect
    statistic: str
    shuffles: Draws | None
    flips: Draws | None

    @property
    def draws(self) -> tuple[Draws, ...]:
        """What there is of shuffles and flips."""
        return tuple(d for d in (self.shuffles, self.flips) if d is not None)

    @property
    def observed(self) -> float:
        """The statistic of the lines as they came, as the first kind of draws has it."""
        return self.draws[0].observed

    @property
    def p(self) -> float:
        """The p value: the larger of those of shuffles and flips."""
        return max(d.p for d in self.draws)

    @property
    def smallest_p(self) -> float:
        """The smallest p that such draws can give."""
        return max(d.smallest_p for d in self.draws)

    def p_interval(self) -> Interval:
        """Return where p lies: how much chance the number of draws has left in it."""
        miss = _MISS / max(sum(not d.is_exact for d in self.draws), 1)
        ends = [d.p_interval(miss) for d in self.draws]
        low, high = (max(side) for side in zip(*ends, strict=True))
        if all(d.is_exact for d in self.draws):
            how = "exact: every possible draw was made"
        else:
            how = f"holds with probability {1 - _MISS:g} over the draws made"
        estimand = f"p of the {self.effect} effect, were all possible draws made"
        return Interval(low, high, estimand, how, self.p)

    def decision(self, level: float) -> Decision:
        """Return what follows at a level; "undecided" where draws did not suffice."""
        if not is_within(self.smallest_p, level):
            return "cannot reject"
        sides = [d.side(level) for d in self.draws]
        if 1 in sides:
            return "not rejected"
        return "undecided" if 0 in sides else "rejected"


@dataclass(frozen=True, slots=True, eq=False)
class RandomizedAnova:
    """An analysis of variance whose p values come from shuffles of whole lines.

    Parameters
    ----------
    anova : Anova
        The table, with its parametric p values.
    sizes : tuple of int
        How many lines each algorithm has.
    null : {"separate", "joint"}
        What was shuffled: the means and the shapes of lines apart, or whole lines.
    noise : {"unequal", "equal"}
        Whether algorithms were allowed to be unequally noisy.
    is_guarded : bool
        Whether unequal noise was guarded against, by flips.
    level : float
        The level at which decisions were settled.
    tests : mapping of str to EffectTest
        Of "interaction" and "algorithm".
    """

    anova: Anova
    sizes: tuple[int, ...]
    null: Null
    noise: Noise
    is_guarded: bool
    level: float
    tests: Mapping[str, EffectTest]

    def p(self, effect: str) -> float:
        """Return the p value of an effect."""
        return self._test(effect).p

    def p_interval(self, effect: str) -> Interval:
        """Return a 99 % interval for the p that all possible draws would give."""
        return self._test(effect).p_interval()

    def decision(self, effect: str) -> Decision:
        """Return what follows at `level`.

        "cannot reject" where the design, or so few draws, could not have given a p as
        small as the level: then nothing was learned from not rejecting. "undecided"
        where p is so close to the level that no more draws were allowed to tell.
        """
        return self._test(effect).decision(self.level)

    def critical_value(
        self,
        effect: str,
        level: float | None = None,
        of: Literal["shuffles", "flips"] = "shuffles",
    ) -> float:
        """Return the smallest observed value with p at or below the level; inf if none.

        An effect is rejected where the observed value reaches it, for the shuffles and,
        where there are any, for the flips as well: these have values of their own, since
        they judge another statistic.
        """
        one_of("of", of, ("shuffles", "flips"))
        test = self._test(effect)
        draws = test.shuffles if of == "shuffles" else test.flips
        if draws is None:
            have = "flips" if of == "shuffles" else "shuffles"
            raise CurvewiseError(
                f"The {effect} effect was not tested by {of}. Pass ",
                {"of": have},
                ".",
                argument="of",
            )
        return draws.critical_value(
            checked_level(self.level if level is None else level)
        )

    def null_values(self, effect: str) -> Floats:
        """Return the statistic under all shuffles, sorted; flips where none were made."""
        return np.sort(self._test(effect).draws[0].values)

    @property
    def smallest_p(self) -> float:
        """The smallest p that any effect could have got, given lines and draws."""
        return max(test.smallest_p for test in self.tests.values())

    def can_reject(self, effect: str, level: float | None = None) -> bool:
        """Return whether p could have been as small as the level."""
        level = checked_level(self.level if level is None else level)
        return is_within(self._test(effect).smallest_p, level)

    def lines_to_reject(self, level: float | None = None) -> int:
        """Return how many lines of each algorithm it takes to reach the level at all.

        That many could reject; how many are likely to is a question of power.
        """
        level = checked_level(self.level if level is None else level)
        return lines_to_reach(len(self.sizes), level, is_guarded=self.is_guarded)

    def paper_critical_value(self, effect: str, level: float = 0.05) -> float:
        """Return the ((1 - level) z)-th of z sorted values, the 950th of 1000.

        The published rule rejects an F above it, which an F of equal algorithms is with
        probability 51/1001: slightly more often than asked. `critical_value` does not.
        """
        z = self._published(effect)
        place = int(rank(len(z), np.asarray(1 - checked_level(level))))
        return float(z[max(place, 1) - 1])

    def paper_p(self, effect: str) -> float:
        """Return (z - r) / z with r the rank of the shuffled F closest to the observed.

        The published p. It is 0 with probability 1 / (z + 1), which no p may be, and
        the closest F may be the larger neighbour. `p` has neither fault.
        """
        z = self._published(effect)
        r = int(np.abs(z - self.tests[effect].observed).argmin()) + 1
        return (len(z) - r) / len(z)

    def rows(self) -> list[dict[str, str | int | float | None]]:
        """Return the table with the p of draws, and the parametric one beside it."""
        rows = []
        for row in self.anova.rows():
            test = self.tests.get(str(row["effect"]))
            parametric = row.pop("p")
            shuffles, flips = (test.shuffles, test.flips) if test else (None, None)
            rows.append(row | {
                "p": test.p if test else None,
                "p_shuffles": shuffles.p if shuffles else None,
                "p_flips": flips.p if flips else None,
                "p_parametric": parametric,
            })  # fmt: skip
        return rows

    def __str__(self) -> str:
        p = {name: f"{test.p:.3g}" for name, test in self.tests.items()}
        return self.anova.printed(p | {"training": "-"})

    def _published(self, effect: str) -> Floats:
        if self.null != "joint":
            raise CurvewiseError(
                "The published rule is about F under shuffles of whole lines. Ask ",
                Phrase("randomized_anova(..., null='joint')"),
                " for it.",
                argument="null",
            )
        return self.null_values(effect)

    def _test(self, effect: str) -> EffectTest:
        return self.tests[EFFECTS[place(effect)]]
