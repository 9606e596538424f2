"""A space of hyperparameters: how it is drawn from, combined, and put into words."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from curvewise.engine.definitions import (
    function_name,
    function_text,
    has_address,
    without_address,
)
from curvewise.engine.spaces.adapters import from_configspace, is_configspace
from curvewise.engine.spaces.laws import (
    MOST,
    Draw,
    Law,
    aligned,
    below,
    checked_weights,
    fresh,
    index,
    inside,
    one_of,
    plain,
    plain_dict,
    shares,
)
from curvewise.errors import CurvewiseError, shortened, unknown
from curvewise.trials.trial import Value

Space: TypeAlias = (
    Mapping[str, Any] | Callable[[np.random.Generator], Mapping[str, Any]] | Law
)
Sampler: TypeAlias = Callable[[np.random.Generator], dict[str, Value]]


@dataclass(frozen=True, slots=True)
class When:
    """A parameter that is there only under a condition; see `when`."""

    condition: Mapping[str, tuple[Value, ...]]
    space: Any

    def __post_init__(self) -> None:
        if not isinstance(self.condition, Mapping) or not self.condition:
            raise CurvewiseError(
                f"when was called with the condition {shortened(self.condition)}. Pass a "
                f"dict from other parameters to values, such as {{'kernel': 'poly'}}."
            )
        if isinstance(self.space, When):
            raise CurvewiseError(
                "when stands inside when. Put both conditions into one dict."
            )
        wanted = {n: _wanted(n, self.condition[n]) for n in sorted(self.condition)}
        object.__setattr__(self, "condition", wanted)


def when(condition: Mapping[str, Any], space: Any) -> When:
    """Return a parameter that is there only if others have certain values.

    Notes
    -----
    What a condition looks at is drawn before it and whatever comes of it, so conditions
    never change the law of other parameters. In scikit-learn's list of dicts they do:
    ``[{"kernel": ["linear", "poly", "rbf"]}, {"kernel": ["poly"], "degree": [2, 3]}]``
    draws one of the dicts first, and the polynomial kernel two times out of three.

    Examples
    --------
    >>> from curvewise.engine import spaces
    >>> svm = {"kernel": ["linear", "poly"], "degree": when({"kernel": "poly"}, [2, 3])}
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(3):
    ...     print(spaces.draw(svm, rng))
    {'degree': 2, 'kernel': 'poly'}
    {'kernel': 'linear'}
    {'kernel': 'linear'}
    """
    return When(condition, space)


def _wanted(name: object, values: Any) -> tuple[Value, ...]:
    if isinstance(values, list | tuple | range | np.ndarray):
        wanted = tuple(plain(value, f"when on '{name}'") for value in values)
    else:
        wanted = (plain(values, f"when on '{name}'"),)
    if not wanted:
        raise CurvewiseError(
            f"when on '{name}' has no values. Pass a value or a list of values."
        )
    return wanted


def sampler(space: Space, where: str = "The space") -> Sampler:
    """Return the function that draws from a space: checked once, then quick.

    It takes a numpy generator and returns plain values, sorted by name: what
    ``json.loads(canonical(params))`` would give. Later changes of the dict have no
    effect on it.

    Examples
    --------
    >>> draw_one = sampler({"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]})
    >>> draw_one(np.random.default_rng(0))
    {'C': 1, 'kernel': 'linear'}
    >>> sampler({"C": []}, "Algorithm 'svm'")
    Traceback (most recent call last):
    curvewise.errors.CurvewiseError: Algorithm 'svm', parameter 'C': the list is empty. \
Pass at least one value.
    """
    if is_configspace(space):
        return from_configspace(space).whole(where)
    if isinstance(space, Law):
        return space.whole(where)
    if isinstance(space, Mapping):
        return _dict_drawer(space, where)
    if isinstance(space, list | tuple) and any(isinstance(s, Mapping) for s in space):
        raise CurvewiseError(
            f"{where}: the space is a list of dicts. Write mixture(*spaces) to draw one "
            f"of several spaces, or one dict with when(...) for parameters that are "
            f"not always there."
        )
    if callable(space) and not hasattr(space, "rvs"):
        return _function_drawer(space, where)
    raise CurvewiseError(
        f"{where}: {shortened(space)} is no space. Pass a dict of lists and "
        f"distributions, or a function of an rng that returns a dict."
    )


def parameter_drawer(value: Any, where: str) -> Draw:
    """Return the function of an rng that draws one parameter of a dict."""
    if isinstance(value, Law):
        return value.drawer(where)
    if is_configspace(value) or isinstance(value, Mapping):
        return sampler(value, where)
    if is_several(value):
        return _list_drawer(value, where)
    if callable(getattr(value, "rvs", None)) and not isinstance(value, type):
        return lambda rng: plain(value.rvs(random_state=rng), where)
    if isinstance(value, When):
        raise CurvewiseError(
            f"{where}: when(...) stands inside something else. Let it be the value of a "
            f"parameter in a dict: {{'degree': when({{'kernel': 'poly'}}, [2, 3])}}."
        )
    if callable(value):
        raise CurvewiseError(
            f"{where}: {function_name(value)} is a function. Pass a list, a "
            f"distribution, a dict or a plain value; only a whole space is a function."
        )
    return fresh(plain(value, where))


def is_several(value: object) -> bool:
    """Return whether a value of a dict is a list to choose from."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, list | tuple | range)


def _list_drawer(value: Any, where: str) -> Draw:
    options = listed_options(value, where)
    if len(options) == 1:
        return fresh(options[0])
    draw = below(len(options))
    if not isinstance(options, range) and any(
        isinstance(option, list | dict) for option in options
    ):
        each = [fresh(option) for option in options]
        return lambda rng: each[draw(rng)](rng)
    return lambda rng: options[draw(rng)]


def listed_options(value: Any, where: str) -> Sequence[Any]:
    """Return the members of a list as plain values; a range stays one."""
    if isinstance(value, np.ndarray) and value.ndim != 1:
        raise CurvewiseError(
            f"{where}: an array of shape {value.shape} is no list of values. Pass one "
            f"of one dimension, or choice(...) of lists."
        )
    if len(value) == 0:
        raise CurvewiseError(
            f"{where}: the list is empty. Pass at least one value.",
            argument=where,
            value=value,
        )
    if isinstance(value, range):
        return value
    return [plain(one, where) for one in value]


def _function_drawer(function: Any, where: str) -> Draw:
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise CurvewiseError(
            f"{where}: the space {function_name(function)} cannot be called with one "
            f"argument. Write a function of an rng: space(rng)."
        ) from None
    except ValueError:  # some of C have no signature
        pass

    def draw(rng: np.random.Generator) -> dict[str, Value]:
        params = function(rng)
        if not isinstance(params, Mapping):
            raise CurvewiseError(
                f"{where}: the space {function_name(function)} returned "
                f"{shortened(repr(params))}. Return a dict of parameters."
            )
        return plain_dict(params, where)

    return draw


# --- dicts, and parameters that are there only sometimes ---------------------------------


def _dict_drawer(space: Mapping[str, Any], where: str) -> Draw:
    order = drawing_order(space, where)
    if not any(isinstance(value, When) for value in space.values()):
        pairs = [(n, parameter_drawer(space[n], inside(where, n))) for n in order]
        return lambda rng: {name: draw(rng) for name, draw in pairs}
    steps = []
    for name in order:
        value = space[name]
        conditions = value.condition if isinstance(value, When) else {}
        inner = value.space if isinstance(value, When) else value
        draw_one = parameter_drawer(inner, inside(where, name))
        steps.append((name, draw_one, tuple(conditions.items())))
    names = sorted(order)

    def draw(rng: np.random.Generator) -> dict[str, Value]:
        params: dict[str, Value] = {}
        for name, draw_one, conditions in steps:
            if not conditions or _hold(conditions, params):
                params[name] = draw_one(rng)
        return {name: params[name] for name in names if name in params}

    return draw


def _hold(
    conditions: tuple[tuple[str, tuple[Value, ...]], ...], params: dict[str, Value]
) -> bool:
    return all(name in params and _among(params[name], w) for name, w in conditions)


def _among(value: Value, wanted: Sequence[Any]) -> bool:
    """Return whether a value is one of several; 1 and True are not the same."""
    truth = isinstance(value, bool)
    return any(isinstance(w, bool) is truth and w == value for w in wanted)


def drawing_order(space: Mapping[str, Any], where: str) -> list[str]:
    """Return the names in the order in which they are drawn.

    It is the order of the alphabet, except that what a condition looks at comes first.
    It does not depend on the order in which the dict was written.

    Examples
    --------
    >>> drawing_order({"degree": when({"kernel": "poly"}, 2), "kernel": "poly"}, "svm")
    ['kernel', 'degree']
    """
    for name in space:
        if not isinstance(name, str) or not name:
            raise CurvewiseError(
                f"{where}: the name of a parameter is {name!r}. Pass a text, not empty."
            )
        plain(name, where)
    parents = {
        name: _checked_parents(name, value, space, where)
        for name, value in space.items()
    }
    order: list[str] = []
    waiting = sorted(space)
    while waiting:
        ready = [name for name in waiting if parents[name].issubset(order)]
        if not ready:
            around = ", ".join(f"'{name}'" for name in waiting)
            raise CurvewiseError(
                f"{where}: the conditions of {around} go round in a circle. Let at "
                f"least one of them have no condition."
            )
        order.append(ready[0])
        waiting.remove(ready[0])
    return order


def _checked_parents(
    name: str, value: Any, space: Mapping[str, Any], where: str
) -> set[str]:
    if not isinstance(value, When):
        return set()
    for parent, wanted in value.condition.items():
        if parent not in space:
            problem = unknown("parameter", parent, (n for n in space if n != name))
            raise CurvewiseError(
                f"{inside(where, name)} is there only when '{parent}' has a certain "
                f"value. {problem}"
            )
        possible = _possible(space[parent], inside(where, parent))
        for one in wanted if possible is not None else ():
            if not _among(one, possible or ()):
                problem = unknown(f"value of '{parent}'", one, possible or ())
                raise CurvewiseError(
                    f"{inside(where, name)} has a condition. {problem}"
                )
    return set(value.condition)


def _possible(value: Any, where: str) -> Sequence[Any] | None:
    """Return the only values a parameter can have, None if there is no short list."""
    if isinstance(value, When):
        return _possible(value.space, where)
    if isinstance(value, Law):
        return value.options(where)
    if is_several(value):
        return listed_options(value, where) if len(value) < 1000 else None
    if value is None or isinstance(value, str | int | float | np.generic):
        return [plain(value, where)]
    return None


# --- One of several: values, distributions or whole spaces, each with its weight -------


@dataclass(frozen=True, slots=True)
class Choice(Law):
    """One of several values or distributions for a parameter; see `choice`."""

    members: tuple[Any, ...]
    weights: tuple[float, ...]

    def drawer(self, where: str) -> Draw:
        """Return the function of an rng that draws one value."""
        each = [_option_drawer(member, where) for member in self.members]
        return _one_drawer(each, self.weights)

    def text(self, most: int | None = MOST) -> str:
        """Return the law in one line."""
        texts = [_option_text(member, most) for member in self.members]
        return _weighed(texts, self.weights, most)

    def options(self, where: str) -> Sequence[Any] | None:
        """Return the values if all members are plain ones."""
        if any(isinstance(m, Law | Mapping) or hasattr(m, "rvs") for m in self.members):
            return None
        return [
            plain(member, where)
            for member, weight in zip(self.members, self.weights, strict=True)
            if weight > 0
        ]


@dataclass(frozen=True, slots=True)
class Mixture(Law):
    """One of several whole spaces, or of several distributions; see `mixture`."""

    members: tuple[Any, ...]
    weights: tuple[float, ...]

    def drawer(self, where: str) -> Draw:
        """Return the function of an rng that draws one value."""
        each = [_member_drawer(member, where) for member in self.members]
        return _one_drawer(each, self.weights)

    def whole(self, where: str) -> Draw:
        """Return the function of an rng that draws from one of the spaces."""
        each = [sampler(member, where) for member in self.members]
        return _one_drawer(each, self.weights)

    def text(self, most: int | None = MOST) -> str:
        """Return the law in one line."""
        texts = [_in_brackets(phrase(member, most)) for member in self.members]
        return _weighed(texts, self.weights, most)

    def lines(self, most: int | None = MOST) -> list[str]:
        """Return the spaces one below the other, each with its probability."""
        lines = []
        words = ["either", *["or"] * (len(self.members) - 1)]
        for word, share, member in zip(
            words, shares(self.weights), self.members, strict=True
        ):
            inner = described(member, most) or ["no parameters"]
            lines += [f"{word}, with probability {share}:", *(f"  {x}" for x in inner)]
        return lines


def choice(*options: Any, weights: Sequence[float] | None = None) -> Choice:
    """Return the law of one of several values.

    Examples
    --------
    >>> print(choice("adam", "sgd", weights=[3, 1]))
    one of 'adam' (0.75), 'sgd' (0.25)
    >>> layers = choice([16], [32, 32])
    >>> layers.rvs(random_state=np.random.default_rng(0))
    [32, 32]
    """
    if len(options) == 1 and is_several(options[0]):
        values = options[0]
        options = tuple(values.tolist() if isinstance(values, np.ndarray) else values)
    return Choice(options, checked_weights(weights, len(options), "choice"))


def mixture(*spaces: Any, weights: Sequence[float] | None = None) -> Mixture:
    """Return the law that draws from one of several spaces.

    Examples
    --------
    >>> from curvewise.engine import spaces
    >>> either = mixture({"C": [1, 10]}, {"nu": [0.1]}, weights=[3, 1])
    >>> spaces.draw(either, np.random.default_rng(0))
    {'C': 1}
    >>> print(spaces.describe(either))
    either, with probability 0.75:
      C: one of 1, 10
    or, with probability 0.25:
      nu: 0.1
    """
    return Mixture(spaces, checked_weights(weights, len(spaces), "mixture"))


def _one_drawer(each: Sequence[Draw], weights: Sequence[float]) -> Draw:
    if len(each) == 1:
        return each[0]
    place = index(weights)
    return lambda rng: each[place(rng)](rng)


def _option_drawer(member: Any, where: str) -> Draw:
    if is_several(member):
        return fresh(plain(member, where))
    return parameter_drawer(member, where)


def _member_drawer(member: Any, where: str) -> Draw:
    if callable(member) and not hasattr(member, "rvs"):
        return sampler(member, where)
    return parameter_drawer(member, where)


def _option_text(member: Any, most: int | None) -> str:
    if is_several(member):
        return repr(plain(member, "choice"))
    return _in_brackets(phrase(member, most))


def _in_brackets(text: str) -> str:
    return f"({text})" if text.startswith("one of ") else text


def _weighed(texts: Sequence[str], weights: Sequence[float], most: int | None) -> str:
    if len(set(weights)) > 1:
        texts = [f"{t} ({s})" for t, s in zip(texts, shares(weights), strict=True)]
    return one_of(texts, most, str)


# --- Spaces in words: a line for each parameter, the same in every process -------------


def described(space: Any, most: int | None = MOST) -> list[str]:
    """Return a whole space in words, a line for each parameter.

    >>> described({"n": 5, "kernel": ["linear", "rbf"]})
    ["kernel: one of 'linear', 'rbf'", 'n:      5']
    """
    if is_configspace(space):
        return from_configspace(space).lines(most)
    if isinstance(space, Law):
        return space.lines(most)
    if isinstance(space, Mapping):
        return aligned(_rows(space, most))
    return function_text(space).splitlines()


def phrase(value: Any, most: int | None = MOST) -> str:  # noqa: PLR0911  a kind each
    """Return the law of one parameter in words, on one line.

    >>> phrase([1, 2, 3]), phrase({"lr": 0.1}), phrase(0.5)
    ('one of 1, 2, 3', '{lr: 0.1}', '0.5')
    """
    if is_configspace(value):
        return from_configspace(value).text(most)
    if isinstance(value, Law):
        return value.text(most)
    if isinstance(value, Mapping):
        return "{" + "; ".join(f"{n}: {t}" for n, t in _rows(value, most)) + "}"
    if is_several(value):
        return one_of(listed_options(value, "The space"), most)
    if callable(getattr(value, "rvs", None)):
        return distribution_text(value)
    if callable(value):
        return shortened(function_text(value).partition("\n")[0])
    return repr(plain(value, "The space"))


def _rows(
    space: Mapping[str, Any], most: int | None, prefix: str = "", suffix: str = ""
) -> list[tuple[str, str]]:
    rows = []
    for name in drawing_order(space, "The space"):
        value, more = space[name], suffix
        if isinstance(value, When):
            more = f" {_condition(value, prefix)}{suffix}"
            value = value.space
        if isinstance(value, Mapping) and value and not is_configspace(value):
            rows += _rows(value, most, f"{prefix}{name}.", more)
        else:
            rows.append((prefix + name, phrase(value, most) + more))
    return rows


def _condition(value: When, prefix: str) -> str:
    parts = (
        f"{prefix}{name} is {' or '.join(map(repr, wanted))}"
        for name, wanted in value.condition.items()
    )
    return "when " + " and ".join(parts)


def distribution_text(law: Any) -> str:
    """Return a distribution of scipy or of someone else in words.

    Examples
    --------
    >>> import scipy.stats
    >>> distribution_text(scipy.stats.uniform(0, 10))
    'scipy.stats uniform(loc=0, scale=10)'
    """
    family: Any = getattr(law, "dist", None)
    if type(family).__module__.startswith("scipy.stats") and hasattr(law, "kwds"):
        names = [name.strip() for name in (family.shapes or "").split(",") if name]
        ends = {"loc": 0, "scale": 1} if hasattr(family, "pdf") else {"loc": 0}
        positional = dict(zip([*names, *ends], law.args, strict=False))
        values = dict.fromkeys(names) | ends | positional | law.kwds
        return f"scipy.stats {family.name}({_arguments(values)})"
    text = repr(law)
    if not has_address(text):
        return shortened(text, most=200)
    name = f"{type(law).__module__}.{type(law).__qualname__}"
    fields = {k: v for k, v in getattr(law, "__dict__", {}).items() if k[0] != "_"}
    return f"{name}({_arguments(fields)})"


def _arguments(values: Mapping[str, Any]) -> str:
    pairs = ((n, v.tolist() if hasattr(v, "tolist") else v) for n, v in values.items())
    return ", ".join(f"{n}={without_address(repr(v))}" for n, v in pairs)
