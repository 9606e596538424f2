"""The two effects that draws are judged for, and where each has its place."""

from typing import Literal, TypeAlias

from curvewise.stats._sample import one_of

Effect: TypeAlias = Literal["algorithm", "interaction"]
EFFECTS: tuple[Effect, Effect] = ("algorithm", "interaction")


def place(effect: str) -> int:
    """Return where the number of an effect stands in a pair; refuse what is none."""
    one_of("effect", effect, EFFECTS)
    return EFFECTS.index(effect)
