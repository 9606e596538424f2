"""A stand-in for Optuna's trial: it suggests values from our generator."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from curvewise.engine.spaces.distributions import (
    integers,
    log_integers,
    loguniform,
    uniform,
)
from curvewise.engine.spaces.laws import Draw, below, inside, plain
from curvewise.errors import CurvewiseError, Keyword, Message, shortened
from curvewise.trials.trial import Value


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
        self, name: str, asked: tuple[Any, ...], law: Callable[[], Draw]
    ) -> Any:
        if name in self._asked:
            before, value = self._asked[name]
            if before != asked:
                raise self._refusal(
                    name, f"is suggested as {before} and as {asked}", "one of them"
                )
            return value
        try:
            value = law()(self._rng)
        except CurvewiseError as problem:
            raise CurvewiseError(
                f"{inside(self._where, name)}: ", problem.message
            ) from None
        self._asked[name] = asked, value
        self.params[name] = plain(value, inside(self._where, name))
        return value

    def _refusal(self, name: str, what: str, remedy: str) -> CurvewiseError:
        place = inside(self._where, name)
        told = what if isinstance(what, Message) else shortened(what, most=200)
        return CurvewiseError(f"{place} ", told, f". Pass {remedy}.")
