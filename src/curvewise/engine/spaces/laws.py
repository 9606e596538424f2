"""What a space is made of: laws that draw one plain value and can be printed."""

import bisect
import copy
import functools
import itertools
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, shortened
from curvewise.trials.columns import canonical
from curvewise.trials.trial import Value

Draw: TypeAlias = Callable[[np.random.Generator], Any]
Shown: TypeAlias = Callable[[Any], str]

MOST = 12  # options of a list that are printed


class Law(ABC):
    """How a value is drawn: what `uniform`, `choice` and the like return."""

    __slots__ = ()

    @abstractmethod
    def drawer(self, where: str) -> Draw:
        """Return the function of an rng that draws one plain value.

        All checks that cost time are made here, once. `where` is for messages.
        """

    @abstractmethod
    def text(self, most: int | None = MOST) -> str:
        """Return the law in one line, long lists cut after `most` options."""

    def whole(self, where: str) -> Draw:
        """Return the drawer of a whole space, which gives a dict of parameters."""
        raise CurvewiseError(
            f"{where}: '{shortened(self.text())}' is the law of one parameter. Put it "
            f"into a dict under the parameter's name."
        )

    def lines(self, most: int | None = MOST) -> list[str]:
        """Return the law of a whole space, a line for each parameter."""
        return [self.text(most)]

    def options(self, where: str) -> Sequence[Any] | None:  # noqa: ARG002
        """Return the only plain values that can come, None if there is no list."""
        return None

    def rvs(
        self,
        *,
        size: None = None,
        random_state: np.random.Generator | np.random.RandomState | int,
    ) -> Any:
        """Draw one value, called as scikit-learn calls distributions of scipy."""
        if size is not None:
            raise CurvewiseError(
                "rvs was called with ",
                Keyword("size", size),
                ". One value is drawn at a time: leave size out and call it again.",
                argument="size",
                value=size,
            )
        return self.drawer("rvs")(_generator(random_state))

    def __str__(self) -> str:
        return self.text()


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=4, dtype=np.uint64)
        return np.random.default_rng(words)
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return np.random.default_rng(random_state)
    raise CurvewiseError(
        "rvs was called with ",
        Keyword("random_state", random_state),
        ". Pass a numpy generator, a RandomState or a whole number from 0 on.",
        argument="random_state",
        value=random_state,
    )


# --- plain values ------------------------------------------------------------------------


def plain(value: Any, where: str) -> Any:  # noqa: PLR0911  a kind each, the usual first
    """Return a value as JSON would give it back: what `canonical` makes of it.

    What is plain already passes quickly; only the rest goes through JSON.

    Examples
    --------
    >>> plain((np.float64(0.5), 1), "C")
    [0.5, 1]
    """
    kind = type(value)
    if kind is float:
        if math.isfinite(value):
            return value
    elif kind is int:
        if -(2**63) <= value < 2**64:
            return value
    elif kind is str:
        if value.isascii():
            return value
    elif kind is bool or value is None:
        return value
    elif kind is np.float64 or kind is np.int64 or kind is np.bool_:
        return plain(value.item(), where)
    elif kind is list or kind is tuple:
        return [plain(one, where) for one in value]
    return _through_json(value, where)


def plain_dict(values: Mapping[Any, Any], where: str) -> dict[str, Value]:
    """Return parameters as plain values in order of their names.

    >>> plain_dict({"b": np.int64(2), "a": (1,)}, "params")
    {'a': [1], 'b': 2}
    """
    if all(type(name) is str and name.isascii() for name in values):
        return {n: plain(values[n], inside(where, n)) for n in sorted(values)}
    decoded: dict[str, Value] = _through_json(dict(values), where)
    return decoded


def inside(where: str, name: object) -> str:
    """Return the place of a parameter for messages.

    >>> inside(inside("Algorithm 'net'", "optimizer"), "lr")
    "Algorithm 'net', parameter 'optimizer', parameter 'lr'"
    """
    return f"{where}, parameter '{name}'"


def _through_json(value: Any, where: str) -> Any:
    if isinstance(value, Law) or callable(getattr(value, "rvs", None)):
        raise CurvewiseError(
            f"{where}: {shortened(value)} is a distribution where a plain value must "
            f"be. Write choice(...) to choose among distributions."
        )
    return json.loads(canonical({"value": value}, where))["value"]


def fresh(value: Any) -> Draw:
    """Return the drawer of a constant; lists and dicts are copied for each draw."""
    if isinstance(value, list | dict):
        return lambda _: copy.deepcopy(value)
    return lambda _: value


# --- one of several ----------------------------------------------------------------------


def below(n: int) -> Callable[[np.random.Generator], int]:
    """Return the drawer of a whole number from 0 to `n` - 1, each equally likely.

    Up to 2**20 it is one float times `n`, rounded down: quick, and no probability is off
    by more than 2**-52.

    >>> below(3)(np.random.default_rng(0))
    1
    """
    if n <= 2**20:
        return lambda rng: int(rng.random() * n)
    return lambda rng: int(rng.integers(n))


def index(weights: Sequence[float]) -> Callable[[np.random.Generator], int]:
    """Return the drawer of a place, each with its weight; weight 0 is never drawn.

    >>> index((0, 1, 0))(np.random.default_rng(0))
    1
    """
    places = [i for i, weight in enumerate(weights) if weight > 0]
    if len({weights[i] for i in places}) == 1:
        quick = below(len(places))
        return quick if len(places) == len(weights) else lambda rng: places[quick(rng)]
    total = math.fsum(weights)
    ends = [end / total for end in itertools.accumulate(weights[i] for i in places)]
    ends[-1] = 1.0  # whatever the rounding
    find = functools.partial(bisect.bisect_right, ends)
    return lambda rng: places[find(rng.random())]


def checked_weights(weights: Any, n: int, what: str) -> tuple[float, ...]:
    """Return one weight for each of `n` options; all 1 where `weights` is None."""
    if n == 0:
        raise CurvewiseError(f"{what} has no options. Pass at least one.")
    if weights is None:
        return (1.0,) * n
    numbers = _numbers(weights)
    if numbers is None or len(numbers) != n:
        came = shortened(weights) if numbers is None else f"{len(numbers)} numbers"
        raise CurvewiseError(
            f"{what} has {n} options, and weights are {came}. Pass one number for each."
        )
    total = math.fsum(numbers) if all(map(math.isfinite, numbers)) else math.nan
    if min(numbers) < 0 or not 0 < total < math.inf:
        raise CurvewiseError(
            f"{what} has weights {shortened(list(numbers))}. Pass finite numbers >= 0, at "
            f"least one of them above 0."
        )
    return numbers


def _numbers(values: Any) -> tuple[float, ...] | None:
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        return None


# --- words -------------------------------------------------------------------------------


def number(value: float) -> str:
    """Return a number without loss and without ``.0``.

    >>> number(100.0), number(0.01), number(1e-05)
    ('100', '0.01', '1e-05')
    """
    return repr(value).removesuffix(".0")


def one_of(options: Sequence[Any], most: int | None = MOST, shown: Shown = repr) -> str:
    """Return options as words; where there are more than `most`, the ends and how many.

    >>> one_of(range(9), most=4)
    'one of 0, 1, 2, … 8 (9 values)'
    """
    n = len(options)
    if n == 1:
        return shown(options[0])
    if most is None or n <= most:
        return f"one of {', '.join(map(shown, options))}"
    first = ", ".join(map(shown, options[: most - 1]))
    return f"one of {first}, … {shown(options[-1])} ({n:,} values)"


def aligned(rows: Iterable[tuple[str, str]]) -> list[str]:
    r"""Return names and texts as lines, the texts below each other.

    >>> print("\n".join(aligned([("C", "1"), ("gamma", "2")])))
    C:     1
    gamma: 2
    """
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0) + 1
    return [f"{name + ':':{width}} {text}" for name, text in rows]


def shares(weights: Sequence[float]) -> list[str]:
    """Return the probability of each option as text.

    >>> shares((1, 3))
    ['0.25', '0.75']
    """
    total = math.fsum(weights)
    return [number(weight / total) for weight in weights]


# --- Laws of one number: uniform, log-uniform, whole, log-uniform whole ----------------


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
            value: float = 2.0 ** (start + width * rng.random())
            return min(high, max(low, round(value)))

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
