"""What a space is made of: something that draws one plain value and can be printed."""

import bisect
import copy
import functools
import itertools
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, shortened
from curvewise.trials.trial import Value, canonical

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
        """Draw one value, called as scikit-learn calls distributions of scipy.

        Parameters
        ----------
        size : None
            There for the form; one value is drawn at a time.
        random_state : numpy.random.Generator, numpy.random.RandomState or int
            Required: chance is never global.
        """
        if size is not None:
            raise CurvewiseError(
                "rvs was called with ",
                Keyword("size", size),
                ". One value is drawn at a time: leave size out and call it again.",
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
    found: dict[str, Value] = _through_json(dict(values), where)
    return found


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
    given = _numbers(weights)
    if given is None or len(given) != n:
        came = shortened(weights) if given is None else f"{len(given)} numbers"
        raise CurvewiseError(
            f"{what} has {n} options, and weights are {came}. Pass one number for each."
        )
    total = math.fsum(given) if all(map(math.isfinite, given)) else math.nan
    if min(given) < 0 or not 0 < total < math.inf:
        raise CurvewiseError(
            f"{what} has weights {shortened(list(given))}. Pass finite numbers >= 0, at "
            f"least one of them above 0."
        )
    return given


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
