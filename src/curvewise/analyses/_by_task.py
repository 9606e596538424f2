"""How answers about several tasks are asked about one of them."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from curvewise.errors import CurvewiseError, listed, unknown


class _OfTask(Protocol):
    @property
    def task(self) -> str: ...


class _Pair(Protocol):
    @property
    def one(self) -> str: ...
    @property
    def other(self) -> str: ...


class _OfAlgorithm(Protocol):
    @property
    def algorithm(self) -> str: ...


_Found = TypeVar("_Found", bound=_OfTask)
_Fit = TypeVar("_Fit", bound=_OfAlgorithm)
_Two = TypeVar("_Two", bound=_Pair)


def of_task(found: Sequence[_Found], task: str | None) -> tuple[_Found, ...]:
    """Return what was found on a task, which may be left out where there is one."""
    tasks = tuple(dict.fromkeys(one.task for one in found))
    if task is None and len(tasks) > 1:
        raise CurvewiseError(
            f"Which task? The answer has {listed(tasks)}. Pass ", {"task": ...}, "."
        )
    own = tuple(one for one in found if task in (None, one.task))
    if not own:
        raise unknown("task", task, tasks)
    return own


def of_algorithm(fits: Sequence[_Fit], algorithm: str) -> _Fit:
    """Return what was fitted to the results of an algorithm."""
    for fit in fits:
        if fit.algorithm == algorithm:
            return fit
    raise unknown("algorithm", algorithm, [fit.algorithm for fit in fits])


def pair_of(
    pairs: Sequence[_Two],
    algorithms: Sequence[str],
    one: str,
    other: str,
    *,
    lacking: str = "These two were not compared.",
) -> _Two:
    """Return the pair of two algorithms, in whichever order; say what is `lacking`."""
    for name in (one, other):
        if name not in algorithms:
            raise unknown("algorithm", name, algorithms)
    if one == other:
        raise CurvewiseError(f"A pair is of two algorithms, and '{one}' is one.")
    for pair in pairs:
        if {pair.one, pair.other} == {one, other}:
            return pair
    raise CurvewiseError(lacking)
