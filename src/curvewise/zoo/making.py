"""The options that all learners of the zoo share."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from curvewise.engine.experiment import Algorithm
from curvewise.engine.spaces import Space
from curvewise.engine.spaces.drawing import When
from curvewise.engine.supervised.growing import growing
from curvewise.errors import unknown
from curvewise.zoo.fitting import Learner, names_of

Usual: TypeAlias = tuple[Learner, Mapping[str, Any]]


class Maker(Protocol):
    """What `learner` returns: a function that makes an algorithm."""

    def __call__(
        self,
        *,
        name: str | None = None,
        space: Space | None = None,
        validate: str | int = "test",
        examples: bool = False,
        **settings: Any,
    ) -> Algorithm:
        """Return the algorithm; `knn` says what the options are."""


def learner(usual: Callable[[], Usual]) -> Maker:
    """Return the function that makes an algorithm of a learner and what is drawn.

    It is for functions without arguments whose name is what to call the algorithm. What
    comes out has the options that all of them share, also for ``help`` and for editors.

    Examples
    --------
    >>> @learner
    ... def vote() -> Usual:
    ...     return Learner("sklearn.dummy.DummyClassifier", {}), {"constant": [0, 1]}
    >>> print(vote(strategy="constant", name="always the same"))
    always the same
      constant: one of 0, 1
    """
    kind = usual.__name__

    def make(
        *,
        name: str | None = None,
        space: Space | None = None,
        validate: str | int = "test",
        examples: bool = False,
        **settings: Any,
    ) -> Algorithm:
        fitter, drawn = usual()
        known = names_of(fitter.path) if settings else ()
        for setting in settings:
            if setting not in known:
                options = [name for name in signature.parameters if name != "settings"]
                raise unknown(f"setting of '{kind}'", setting, (*options, *known))
        if space is None:
            space = _space(drawn, settings)
        fit = Learner(fitter.path, {**fitter.settings, **settings})
        run = growing(fit, validate=validate, examples=examples)
        return Algorithm(name or kind, space, run)

    signature = inspect.signature(make)
    functools.update_wrapper(make, usual)
    make.__signature__ = signature  # type: ignore[attr-defined]  # for help and editors
    return make


def _space(drawn: Mapping[str, Any], settings: Mapping[str, Any]) -> Space:
    # What is fixed stays in the space, as its only value: others may hang on it.
    fixed = {key: [value] for key, value in settings.items() if key in drawn}
    return {**{k: v for k, v in drawn.items() if _possible(v, settings)}, **fixed}


def _possible(value: Any, settings: Mapping[str, Any]) -> bool:
    """Return whether a parameter can be there at all with these settings."""
    condition = value.condition if isinstance(value, When) else {}
    return all(
        settings[name] in wanted
        for name, wanted in condition.items()
        if name in settings
    )
