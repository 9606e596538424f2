"""Spaces of other tools, drawn from our generators: ConfigSpace, Optuna.

Neither tool is imported here: a ConfigurationSpace brings its own, and functions written
for Optuna call a stand-in of ours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from curvewise.engine.definitions import function_name, function_text
from curvewise.engine.spaces.laws import (
    MOST,
    Draw,
    Law,
    aligned,
    below,
    inside,
    integers,
    log_integers,
    loguniform,
    one_of,
    plain,
    plain_dict,
    shares,
    uniform,
)
from curvewise.errors import CurvewiseError, Keyword, Message, shortened
from curvewise.trials.trial import Value

TRIES = 10_000  # draws that forbidden clauses may refuse in a row


# --- ConfigSpace -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Configurations(Law):
    """What a `ConfigSpace.ConfigurationSpace` draws; see `from_configspace`."""

    space: Any

    def drawer(self, where: str) -> Draw:
        """Return the function of an rng that draws the active parameters."""
        space = self.space
        # Its own order puts parents before children.
        steps = [
            (space.index_of[name], name, one, tuple(space.parent_conditions_of[name]))
            for name, one in space.items()
        ]
        clauses = tuple(space.forbidden_clauses)

        def draw(rng: np.random.Generator) -> dict[str, Value]:
            chance = np.random.RandomState(rng.bit_generator)  # our stream, their calls
            for _ in range(TRIES):
                vector = np.full(len(steps), np.nan)  # NaN: inactive, as in ConfigSpace
                for place, _, one, conditions in steps:
                    if all(c.satisfied_by_vector(vector) for c in conditions):
                        vector[place] = one.sample_vector(seed=chance)
                if not any(clause.is_forbidden_vector(vector) for clause in clauses):
                    break
            else:
                raise CurvewiseError(
                    f"{where}: forbidden clauses refused {TRIES:,} draws in a row. "
                    f"Forbid less, or narrow the parameters instead."
                )
            active = {
                name: _configured(one, vector[place])
                for place, name, one, _ in steps
                if not np.isnan(vector[place])
            }
            return plain_dict(active, where)

        return draw

    def whole(self, where: str) -> Draw:
        """Return the same: it is a whole space."""
        return self.drawer(where)

    def rows(self, most: int | None = MOST) -> list[tuple[str, str]]:
        """Return names and laws, and what is forbidden."""
        rows = []
        for name, one in self.space.items():
            conditions = self.space.parent_conditions_of[name]
            when = " and ".join(_condition_text(c) for c in conditions)
            law = _configured_text(one, most)
            rows.append((name, f"{law} when {when}" if when else law))
        texts = (str(clause) for clause in self.space.forbidden_clauses)
        return rows + [("forbidden", t.replace("Forbidden: ", "")) for t in texts]

    def text(self, most: int | None = MOST) -> str:
        """Return the space in one line."""
        return "{" + "; ".join(f"{n}: {t}" for n, t in self.rows(most)) + "}"

    def lines(self, most: int | None = MOST) -> list[str]:
        """Return the space, a line for each parameter."""
        return aligned(self.rows(most))


def is_configspace(space: object) -> bool:
    """Return whether something is a ConfigurationSpace, without importing ConfigSpace.

    >>> is_configspace({"C": [1, 10]})
    False
    """
    return any(
        kind.__name__ == "ConfigurationSpace"
        and kind.__module__.partition(".")[0] == "ConfigSpace"
        for kind in type(space).__mro__
    )


def from_configspace(space: Any) -> Configurations:
    """Return a `ConfigSpace.ConfigurationSpace` as a space of ours.

    Each hyperparameter is drawn by ConfigSpace's own law, conditions decide which are
    active, and draws that a forbidden clause refuses are drawn again: the law of
    ``space.sample_configuration()``. Chance comes from our rng, never from the seed of
    the space. Inactive parameters are absent.

    Floats keep all their digits, where ConfigSpace rounds to 13 places, and options keep
    their types, where it has numpy's. Spaces may also be passed as they are, without
    this function.

    Examples
    --------
    >>> from ConfigSpace import ConfigurationSpace
    >>> space = from_configspace(ConfigurationSpace({"C": (0.1, 10.0), "n": [1, 2, 3]}))
    >>> print(space)
    {C: uniform from 0.1 to 10; n: one of 1, 2, 3}
    >>> sorted(space.rvs(random_state=np.random.default_rng(0)))
    ['C', 'n']
    """
    if not is_configspace(space):
        raise CurvewiseError(
            f"from_configspace was called with {shortened(space)}. Pass a "
            f"ConfigSpace.ConfigurationSpace.",
            argument="space",
            value=space,
        )
    if not hasattr(space, "parent_conditions_of"):
        raise CurvewiseError("This ConfigSpace is too old. Install ConfigSpace>=1.0.")
    return Configurations(space)


def _configured(one: Any, vector: Any) -> Any:
    """Return the value of a hyperparameter; options as they were given."""
    options = getattr(one, "choices", None) or getattr(one, "sequence", None)
    return options[int(vector)] if options else one.to_value(vector)


def _configured_text(one: Any, most: int | None) -> str:  # noqa: PLR0911  a kind each
    """Return the law of a hyperparameter in our words where we have them."""
    kind = type(one).__name__.removesuffix("Hyperparameter")
    if kind == "UniformFloat" and one.lower < one.upper:
        law = loguniform if one.log else uniform
        return law(one.lower, one.upper).text()
    if kind == "UniformInteger" and one.lower < one.upper:
        if one.log:  # its law at the ends is not that of our log_integers
            return f"log-uniform whole number from {one.lower} to {one.upper}"
        return integers(one.lower, one.upper).text()
    if kind == "Categorical":
        options = [repr(plain(option, one.name)) for option in one.choices]
        if one.weights is not None:
            pairs = zip(options, shares(one.weights), strict=True)
            options = [f"{option} ({share})" for option, share in pairs]
        return one_of(options, most, str)
    if kind == "Ordinal":
        return one_of([plain(option, one.name) for option in one.sequence], most)
    if kind == "Constant":
        return repr(plain(one.value, one.name))
    # Its name and its default, which is never drawn, aside.
    parts = str(one).split(", ")[1:]
    return "ConfigSpace " + ", ".join(p for p in parts if not p.startswith("Default"))


_RELATIONS = {
    "EqualsCondition": "is",
    "NotEqualsCondition": "is not",
    "LessThanCondition": "<",
    "GreaterThanCondition": ">",
}


def _condition_text(condition: Any) -> str:
    kind = type(condition).__name__
    if hasattr(condition, "components"):
        word = " or " if kind == "OrConjunction" else " and "
        return f"({word.join(map(_condition_text, condition.components))})"
    if kind == "InCondition":
        wanted = " or ".join(repr(plain(v, "condition")) for v in condition.values)
        return f"{condition.parent.name} is {wanted}"
    relation = _RELATIONS.get(kind, kind)
    return f"{condition.parent.name} {relation} {plain(condition.value, kind)!r}"


# --- Optuna ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Suggested(Law):
    """What a function written for Optuna suggests; see `from_optuna`."""

    function: Callable[[Any], Any]

    def drawer(self, where: str) -> Draw:
        """Return the function of an rng that draws what is suggested."""
        function = self.function

        def draw(rng: np.random.Generator) -> dict[str, Value]:
            trial = Suggest(rng, where)
            returned = function(trial)
            params = plain_dict(trial.params, where)
            if returned is not None and not _is_same(returned, params, where):
                raise CurvewiseError(
                    f"{where}: {function_name(function)} returned "
                    f"{shortened(repr(returned))} and suggested {shortened(params)}. The "
                    f"params are what was suggested: return just that, or nothing."
                )
            return params

        return draw

    def whole(self, where: str) -> Draw:
        """Return the same: it is a whole space."""
        return self.drawer(where)

    def text(self, most: int | None = MOST) -> str:  # noqa: ARG002
        """Return the function's name."""
        return f"what {function_name(self.function)} suggests"

    def lines(self, most: int | None = MOST) -> list[str]:  # noqa: ARG002
        """Return the function's docstring or source."""
        return function_text(self.function).splitlines()


def _is_same(returned: Any, params: dict[str, Value], where: str) -> bool:
    return isinstance(returned, Mapping) and plain_dict(returned, where) == params


def from_optuna(suggest: Callable[[Any], Any]) -> Suggested:
    """Return a function written for Optuna as a space; Optuna need not be installed.

    Examples
    --------
    >>> def svm(trial):
    ...     kernel = trial.suggest_categorical("kernel", ["linear", "poly"])
    ...     if kernel == "poly":
    ...         trial.suggest_int("degree", 2, 5)
    >>> from_optuna(svm).rvs(random_state=np.random.default_rng(0))
    {'degree': 3, 'kernel': 'poly'}
    """
    if not callable(suggest):
        raise CurvewiseError(
            f"from_optuna was called with {shortened(suggest)}. Pass a function of a "
            f"trial that calls trial.suggest_float and the like.",
            argument="suggest",
            value=suggest,
        )
    return Suggested(suggest)


# --- A stand-in for Optuna's trial: it suggests values from our generator --------------


class Suggest:
    """What a function written for Optuna gets as its trial: it suggests, and no more.

    The laws are those of Optuna's random search. A name that is suggested again gives
    the same value again. `params` holds what was suggested.

    Parameters
    ----------
    rng : numpy.random.Generator
    where : str
        For messages.

    Examples
    --------
    >>> trial = Suggest(np.random.default_rng(0))
    >>> trial.suggest_int("layers", 1, 3), trial.suggest_categorical("act", ["relu"])
    (2, 'relu')
    >>> trial.params
    {'layers': 2, 'act': 'relu'}
    """

    __slots__ = ("_asked", "_rng", "_where", "params")

    def __init__(self, rng: np.random.Generator, where: str = "The space") -> None:
        self._rng = rng
        self._where = where
        self._asked: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self.params: dict[str, Value] = {}

    def suggest_float(
        self,
        name: str,
        low: float,
        high: float,
        *,
        step: float | None = None,
        log: bool = False,
    ) -> float:
        """Return a number from `low` to `high`, on a grid from `low` on if `step`."""
        if step is not None and (log or not 0 < step < float("inf")):
            raise self._refusal(
                name,
                Message("has ", Keyword("step", step), " and ", Keyword("log", log)),
                "a step > 0, or log",
            )

        def law() -> Draw:
            if low == high:
                return lambda _: float(low)
            if step is None:
                return (loguniform if log else uniform)(low, high).drawer("")
            uniform(low, high)  # asks whether the ends are two numbers
            start, width = (Decimal(repr(float(x))) for x in (low, step))
            grid = below(int((Decimal(repr(float(high))) - start) // width) + 1)
            return lambda rng: float(start + grid(rng) * width)

        return float(self._suggested(name, ("float", low, high, step, log), law))

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        """Return a whole number from `low` to `high`, both included."""
        if step != int(step) or step < 1 or (log and step != 1):
            raise self._refusal(
                name,
                Message("has ", Keyword("step", step), " and ", Keyword("log", log)),
                "a whole step >= 1, or log",
            )

        def law() -> Draw:
            if low == high == int(low):
                return lambda _: int(low)
            if log:
                return log_integers(low, high).drawer("")
            ends = integers(low, high)
            grid = below((ends.high - ends.low) // int(step) + 1)
            return lambda rng: ends.low + int(step) * grid(rng)

        return int(self._suggested(name, ("int", low, high, step, log), law))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Return one of several values, each equally likely."""
        options = tuple(choices)
        if not options:
            raise self._refusal(name, "has no choices", "at least one")

        def law() -> Draw:
            place = below(len(options))
            return lambda rng: options[place(rng)]

        return self._suggested(name, ("categorical", options), law)

    def suggest_uniform(self, name: str, low: float, high: float) -> float:
        """Return what `suggest_float` returns; Optuna's older name."""
        return self.suggest_float(name, low, high)

    def suggest_loguniform(self, name: str, low: float, high: float) -> float:
        """Return what `suggest_float` returns with log; Optuna's older name."""
        return self.suggest_float(name, low, high, log=True)

    def suggest_discrete_uniform(
        self, name: str, low: float, high: float, q: float
    ) -> float:
        """Return what `suggest_float` returns with a step; Optuna's older name."""
        return self.suggest_float(name, low, high, step=q)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise CurvewiseError(
            f"{self._where}: the trial was asked for '{name}'. A space can only "
            f"suggest_float, suggest_int, suggest_categorical (and suggest_uniform, "
            f"suggest_loguniform, suggest_discrete_uniform), and look at params."
        )

    def _suggested(
        self, name: str, request: tuple[Any, ...], law: Callable[[], Draw]
    ) -> Any:
        if name in self._asked:
            before, value = self._asked[name]
            if before != request:
                raise self._refusal(
                    name, f"is suggested as {before} and as {request}", "one of them"
                )
            return value
        try:
            value = law()(self._rng)
        except CurvewiseError as problem:
            raise CurvewiseError(
                f"{inside(self._where, name)}: ", problem.message
            ) from None
        self._asked[name] = request, value
        self.params[name] = plain(value, inside(self._where, name))
        return value

    def _refusal(self, name: str, what: str, remedy: str) -> CurvewiseError:
        place = inside(self._where, name)
        reason = what if isinstance(what, Message) else shortened(what, most=200)
        return CurvewiseError(f"{place} ", reason, f". Pass {remedy}.")
