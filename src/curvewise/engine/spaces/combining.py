"""One of several: values, distributions or whole spaces, each with its weight."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.engine.spaces.describing import described, phrase
from curvewise.engine.spaces.drawing import (
    is_several,
    parameter_drawer,
    sampler,
)
from curvewise.engine.spaces.laws import (
    MOST,
    Draw,
    Law,
    checked_weights,
    fresh,
    index,
    one_of,
    plain,
    shares,
)


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

    Parameters
    ----------
    *options
        The values, or one list of them. An option may itself be a distribution or a
        dict of parameters; a list among several options is a value, not a choice.
    weights : sequence of float, optional
        How likely each is; they need not add up to 1. Equal if left out.

    Examples
    --------
    >>> print(choice("adam", "sgd", weights=[3, 1]))
    one of 'adam' (0.75), 'sgd' (0.25)
    >>> layers = choice([16], [32, 32])
    >>> layers.rvs(random_state=np.random.default_rng(0))
    [32, 32]
    """
    if len(options) == 1 and is_several(options[0]):
        given = options[0]
        options = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    return Choice(options, checked_weights(weights, len(options), "choice"))


def mixture(*spaces: Any, weights: Sequence[float] | None = None) -> Mixture:
    """Return the law that draws from one of several spaces.

    Parameters
    ----------
    *spaces
        Whole spaces (dicts, functions of an rng), or several laws of one parameter: a
        list is a choice among its values.
    weights : sequence of float, optional
        How likely each is; they need not add up to 1. Equal if left out.

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
