"""Names as a sentence or a legend can carry them: short, and still told apart."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from curvewise._text import joined
from curvewise.trials.trial import ONLY

LETTERS = 40  # of a name in a sentence
_MOST = 3  # names in a sentence; of more, how many more


def short_names(names: Iterable[str], most: int = LETTERS) -> dict[str, str]:
    """Return names of about so many letters at most, and no two of them alike.

    A name that is too long loses its end, its middle, or what it has in common with
    others, whichever is the first that tells it from them.

    >>> short_names(["a long name", "b"], 10)
    {'a long name': 'a long na…', 'b': 'b'}
    >>> list(short_names(["network of 64 units", "network of 128 units"], 12).values())
    ['…64 units', '…128 units']
    >>> list(short_names(["a long name, one", "a long name, two"], 10).values())
    ['a lon… one', 'a lon… two']
    """
    one_line = {name: " ".join(name.split()) for name in names}
    told = _told_apart(list(dict.fromkeys(one_line.values())), most)
    return {name: told[text] for name, text in one_line.items()}


def _told_apart(names: list[str], most: int) -> dict[str, str]:
    for shortened in (_without_end, _without_middle):
        out = {name: shortened(name, most) for name in names}
        if len(set(out.values())) == len(names):
            return out
    by_cut: dict[str, list[str]] = {}
    for name in names:
        by_cut.setdefault(_without_end(name, most), []).append(name)
    out = {}
    for cut, own in by_cut.items():
        if len(own) == 1:
            out[own[0]] = cut
            continue
        # They begin alike, for longer than may be shown: that is what is left out.
        ends = zip(min(own), max(own), strict=False)
        shared = sum(1 for _ in takewhile(lambda two: two[0] == two[1], ends))
        rest = _told_apart([name[shared:] for name in own], most)
        out |= {name: f"…{rest[name[shared:]]}" for name in own}
    return out


def _without_end(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _without_middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    first = most // 2
    return f"{name[:first]}…{name[first + 1 - most :]}"


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
