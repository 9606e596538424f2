"""Names as a sentence can carry them: a few of many, and what stands for all."""

from collections.abc import Sequence

from curvewise._text import joined
from curvewise.trials.trial import ONLY

_MOST = 3  # names in a sentence; of more, how many more


def some(names: Sequence[str], *, most: int = _MOST) -> str:
    """Return names in a row, the first of them and how many more if there are many.

    >>> some(["a"]), some(list("abc")), some(list("abcde"))
    ('a', 'a, b and c', 'a, b and 3 more')
    """
    if len(names) <= most:
        return joined(names)
    return joined([*names[: most - 1], f"{len(names) - most + 1} more"])


def some_pairs(pairs: Sequence[str]) -> str:
    """Return pairs of names in a row, the first of them and how many more.

    >>> some_pairs(["a and b"]), some_pairs(["a and b", "a and c"])
    ('a and b', 'a and b, and a and c')
    >>> some_pairs([f"a and {x}" for x in "bcdef"])
    'a and b, a and c, and 3 more pairs'
    """
    shown = list(pairs)
    if len(shown) > _MOST:
        shown = [*shown[: _MOST - 1], f"{len(shown) - _MOST + 1} more pairs"]
    *first, last = shown
    return f"{', '.join(first)}, and {last}" if first else last


def on(task: str) -> str:
    """Return where something is so; nothing for the one task of a table that names none.

    >>> on("rings"), on("all")
    (' on rings', '')
    """
    return "" if task == ONLY else f" on {task}"


def titled(name: str) -> str:
    """Return what a task is called above its numbers.

    >>> titled("rings"), titled("task 7")
    ('task rings', 'task 7')
    """
    return name if name.lower().startswith("task") else f"task {name}"


def all_tasks(n: int) -> str:
    """Return what so many tasks are called together.

    >>> all_tasks(2), all_tasks(5)
    ('both tasks', 'all 5 tasks')
    """
    return "both tasks" if n == 2 else f"all {n} tasks"


def all_others(n: int) -> str:
    """Return what so many rivals are called together.

    >>> all_others(1), all_others(2), all_others(5)
    ('the other', 'both others', 'all 5 others')
    """
    return {1: "the other", 2: "both others"}.get(n, f"all {n} others")
