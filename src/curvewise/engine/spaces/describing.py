"""Spaces in words: a line for each parameter, the same in every process."""

from collections.abc import Mapping
from typing import Any

from curvewise.engine.spaces.adapters import from_configspace, is_configspace
from curvewise.engine.spaces.drawing import (
    When,
    drawing_order,
    is_several,
    listed_options,
)
from curvewise.engine.spaces.functions import (
    function_text,
    has_address,
    without_address,
)
from curvewise.engine.spaces.laws import MOST, Law, aligned, one_of, plain
from curvewise.errors import shortened


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
        given = dict(zip([*names, *ends], law.args, strict=False))
        values = dict.fromkeys(names) | ends | given | law.kwds
        return f"scipy.stats {family.name}({_arguments(values)})"
    text = repr(law)
    if not has_address(text):
        return shortened(text, most=200)
    name = f"{type(law).__module__}.{type(law).__qualname__}"
    kept = {k: v for k, v in getattr(law, "__dict__", {}).items() if k[0] != "_"}
    return f"{name}({_arguments(kept)})"


def _arguments(values: Mapping[str, Any]) -> str:
    shown = ((n, v.tolist() if hasattr(v, "tolist") else v) for n, v in values.items())
    return ", ".join(f"{n}={without_address(repr(v))}" for n, v in shown)
