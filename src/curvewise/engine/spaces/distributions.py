"""Laws of one number: uniform, log-uniform, whole, log-uniform whole."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.engine.spaces.laws import MOST, Draw, Law, below, number
from curvewise.errors import CurvewiseError, shortened

_INT64 = -(2**63), 2**63 - 1
_EXACT = 2**53  # up to here every whole number is a float


@dataclass(frozen=True, slots=True)
class Uniform(Law):
    """A number, uniform between two ends; see `uniform`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = real_ends(self.low, self.high, "uniform")
        if not math.isfinite(high - low):
            raise CurvewiseError(
                f"uniform goes from {low} to {high}, wider than a float can say. "
                f"Pass ends that are closer."
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def drawer(self, where: str) -> Draw:  # noqa: ARG002
        """Return the function of an rng that draws one value."""
        low, high, width = self.low, self.high, self.high - self.low
        # Rounding can pass the upper end by one float, never the lower one.
        return lambda rng: min(high, low + width * rng.random())

    def text(self, most: int | None = MOST) -> str:  # noqa: ARG002
        """Return the law in one line."""
        return f"uniform from {number(self.low)} to {number(self.high)}"


@dataclass(frozen=True, slots=True)
class LogUniform(Law):
    """A number whose logarithm is uniform; see `loguniform`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = real_ends(self.low, self.high, "loguniform")
        if low <= 0:
            raise CurvewiseError(
                f"loguniform goes from {number(low)} to {number(high)}. Pass ends above "
                f"0: other numbers have no logarithm."
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def drawer(self, where: str) -> Draw:  # noqa: ARG002
        """Return the function of an rng that draws one value."""
        low, high, start = self.low, self.high, math.log(self.low)
        width, exp = math.log(self.high) - start, math.exp
        return lambda rng: min(high, max(low, exp(start + width * rng.random())))

    def text(self, most: int | None = MOST) -> str:  # noqa: ARG002
        """Return the law in one line."""
        return f"log-uniform from {number(self.low)} to {number(self.high)}"


@dataclass(frozen=True, slots=True)
class Integers(Law):
    """A whole number, each equally likely; see `integers`."""

    low: int
    high: int

    def __post_init__(self) -> None:
        low, high = whole_ends(self.low, self.high, "integers")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def drawer(self, where: str) -> Draw:  # noqa: ARG002
        """Return the function of an rng that draws one value."""
        low, high = self.low, self.high
        if high - low < 2**63 - 1:
            draw = below(high - low + 1)
            return lambda rng: low + draw(rng)
        return lambda rng: int(rng.integers(low, high, endpoint=True))

    def text(self, most: int | None = MOST) -> str:  # noqa: ARG002
        """Return the law in one line."""
        return f"whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class LogIntegers(Law):
    """A whole number whose logarithm is about uniform; see `log_integers`."""

    low: int
    high: int

    def __post_init__(self) -> None:
        low, high = whole_ends(self.low, self.high, "log_integers")
        if low < 1 or high > _EXACT:
            raise CurvewiseError(
                f"log_integers goes from {low} to {high}. Pass ends from 1 to 2**53."
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def drawer(self, where: str) -> Draw:  # noqa: ARG002
        """Return the function of an rng that draws one value."""
        low, high, start = self.low, self.high, math.log2(self.low - 0.5)
        width = math.log2(self.high + 0.5) - start

        def draw(rng: np.random.Generator) -> int:
            drawn: float = 2.0 ** (start + width * rng.random())
            return min(high, max(low, round(drawn)))

        return draw

    def probability(self, k: int) -> float:
        """Return the probability of `k`.

        >>> log_integers(1, 4).probability(1)
        0.5
        """
        if k != int(k) or not self.low <= k <= self.high:
            return 0.0
        return math.log((k + 0.5) / (k - 0.5)) / math.log(
            (self.high + 0.5) / (self.low - 0.5)
        )

    def text(self, most: int | None = MOST) -> str:  # noqa: ARG002
        """Return the law in one line."""
        return f"log-uniform whole number from {self.low} to {self.high}"


def uniform(low: float, high: float) -> Uniform:
    """Return the law of a number that lies anywhere between two ends.

    ``low + (high - low) * U`` with U uniform on [0, 1).

    Examples
    --------
    >>> print(uniform(0, 0.5))
    uniform from 0 to 0.5
    >>> uniform(0, 0.5).rvs(random_state=np.random.default_rng(0))
    0.31848084366072715
    """
    return Uniform(low, high)


def loguniform(low: float, high: float) -> LogUniform:
    """Return the law of a positive number whose logarithm is uniform.

    ``exp(U)`` with U uniform between log(low) and log(high), so that
    P(X <= x) = log(x / low) / log(high / low): from 0.1 to 1 is as likely as from 1 to
    10. With another base of the logarithm it is the same law.

    Examples
    --------
    >>> print(loguniform(0.01, 100))
    log-uniform from 0.01 to 100
    >>> round(loguniform(0.01, 100).rvs(random_state=np.random.default_rng(0)), 9)
    3.53058563
    """
    return LogUniform(low, high)


def integers(low: int, high: int) -> Integers:
    """Return the law of a whole number from `low` to `high`, both included.

    Each has probability 1 / (high - low + 1). Ranges of Python and `scipy.stats.randint`
    leave the upper end out; this one does not.

    Examples
    --------
    >>> print(integers(1, 6))
    whole number from 1 to 6
    >>> integers(1, 6).rvs(random_state=np.random.default_rng(0))
    4
    """
    return Integers(low, high)


def log_integers(low: int, high: int) -> LogIntegers:
    """Return the law of a whole number from `low` to `high` on a logarithmic scale.

    ``2**U`` rounded to the nearest whole number, with U uniform between
    log2(low - 1/2) and log2(high + 1/2). Both ends can occur, and the probability falls
    smoothly, about as 1/k::

        P(k) = log((k + 1/2) / (k - 1/2)) / log((high + 1/2) / (low - 1/2))

    The half on either side is what gives the ends as much room as their neighbours have;
    Optuna's ``suggest_int(..., log=True)`` has the same law under random search.

    Examples
    --------
    >>> law = log_integers(1, 4)
    >>> [round(law.probability(k), 3) for k in (1, 2, 3, 4)]
    [0.5, 0.232, 0.153, 0.114]
    >>> law.rvs(random_state=np.random.default_rng(0))
    2
    """
    return LogIntegers(low, high)


# --- ends --------------------------------------------------------------------------------


def real_ends(low: Any, high: Any, what: str) -> tuple[float, float]:
    """Return the two ends as floats; raise if they are no numbers or in wrong order."""
    ends = _finite(low, high, what)
    _refuse_wrong_order(*ends, what)
    return ends


def _refuse_wrong_order(low: Any, high: Any, what: str) -> None:
    if low >= high:
        ends = f"{what} goes from {number(low)} to {number(high)}"
        raise CurvewiseError(
            f"{ends}. Pass the lower end first, and a higher one; write a plain value "
            f"for a constant."
        )


def _finite(low: Any, high: Any, what: str) -> tuple[float, float]:
    kinds = int | float | np.integer | np.floating
    fit = all(
        isinstance(end, kinds) and not isinstance(end, bool) for end in (low, high)
    )
    try:
        ends = (float(low), float(high)) if fit else (math.nan, math.nan)
    except OverflowError:
        ends = (math.nan, math.nan)
    if not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
        raise CurvewiseError(
            f"{what} goes from {shortened(repr(low))} to {shortened(repr(high))}. "
            f"Pass two finite numbers."
        )
    return ends


def whole_ends(low: Any, high: Any, what: str) -> tuple[int, int]:
    """Return the two ends as whole numbers; raise if they have fractions."""
    _finite(low, high, what)
    if low != int(low) or high != int(high):
        raise CurvewiseError(f"{what} goes from {low} to {high}. Pass whole numbers.")
    if low < _INT64[0] or high > _INT64[1]:
        raise CurvewiseError(
            f"{what} goes from {low} to {high}, which 64 bits cannot hold. Pass ends "
            f"that are closer to 0."
        )
    # As they are: large neighbours are one float.
    _refuse_wrong_order(int(low), int(high), what)
    return int(low), int(high)
