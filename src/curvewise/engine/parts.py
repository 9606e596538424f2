"""What an experiment is made of, checked where it is made."""

import inspect
import math
from collections.abc import Iterable, Mapping
from typing import Any

from curvewise._checks import is_name, whole
from curvewise.errors import CurvewiseError, listed, shortened, unknown
from curvewise.metrics import Metric

VARIED = ("params", "train", "test", "seed")


def check_name(name: object, kind: str) -> None:
    """Raise if a name is no text."""
    if not is_name(name):
        raise CurvewiseError(
            f"The name of {kind} is {name!r}. Pass a text in valid Unicode, not empty."
        )


def check_arguments(run: Any, whose: str) -> None:
    """Raise if an algorithm cannot be called as it will be."""
    try:
        inspect.signature(run).bind(None, None, None)
    except TypeError as problem:
        raise CurvewiseError(
            f"{whose}: run cannot be called with three arguments ({problem}). "
            f"Write run(params, data, rng)."
        ) from None
    except ValueError:  # nobody knows its signature
        return


def meanings(metrics: Any) -> tuple[Metric, ...]:
    """Return the metrics that were declared."""
    given = (metrics,) if isinstance(metrics, Metric) else tuple(metrics)
    for metric in given:
        if not isinstance(metric, Metric):
            raise CurvewiseError(
                f"metrics holds {metric!r}. Pass Metric objects, such as "
                f"Metric('loss', 'lower')."
            )
    return given


def check_callable(value: object, whose: str, what: str, form: str) -> None:
    """Raise if something is no function."""
    if not callable(value):
        raise CurvewiseError(
            f"{whose}: {what} is {shortened(value)}, which cannot be called. "
            f"Pass a function {form}."
        )


def members(given: Any, kind: type[Any], what: str) -> tuple[Any, ...]:
    """Return tasks or algorithms, each with a name of its own."""
    try:
        members = (given,) if isinstance(given, kind) else tuple(given)
    except TypeError:
        members = (given,)
    if not members:
        raise CurvewiseError(f"{what} is empty. Pass at least one {kind.__name__}.")
    for member in members:
        if not isinstance(member, kind):
            raise CurvewiseError(
                f"{what} holds {shortened(member)}. Pass {kind.__name__} objects."
            )
    names = [member.name for member in members]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise CurvewiseError(
            f"{what} has {listed(twice)} twice. Give each its own name."
        )
    return members


def crossed(cross: Mapping[str, int]) -> dict[str, int]:
    """Return a crossed design, its roles known."""
    for role, count in cross.items():
        if role not in (*VARIED, "data"):
            raise unknown("role to cross", role, (*VARIED, "data"))
        whole(count, f"cross['{role}']")
    if "data" in cross and {"train", "test"} & set(cross):
        raise CurvewiseError("cross has 'data' and 'train' or 'test'. Data is both.")
    return dict(cross)


def number_of_trials(trials: object, cross: Mapping[str, int]) -> int:
    """Return how many trials there are of each algorithm on each task."""
    product = math.prod(cross.values())
    if trials is None:
        if not cross:
            raise CurvewiseError(
                "trials is missing. Say how many, such as ", {"trials": 100}, "."
            )
        return product
    number = whole(trials, "trials")
    if cross and number != product:
        raise CurvewiseError(
            f"trials is {trials}, and {dict(cross)} crosses to {product}. Leave it out.",
            argument="trials",
            value=trials,
        )
    return number


def varied(vary: Iterable[str]) -> tuple[str, ...]:
    """Return the roles that are drawn anew in each trial, in their order."""
    try:
        asked = {vary} if isinstance(vary, str) else set(vary)
    except TypeError:
        raise CurvewiseError(
            f"vary is {vary!r}. Pass a list of {VARIED}.", argument="vary", value=vary
        ) from None
    for role in asked:
        if role not in (*VARIED, "data"):
            raise unknown("role to vary", role, (*VARIED, "data"))
    if "data" in asked:
        asked |= {"train", "test"}
    return tuple(role for role in VARIED if role in asked)
