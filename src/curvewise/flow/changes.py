"""Refuses to mix two definitions of one thing in one table."""

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from curvewise.engine.moved import current
from curvewise.errors import CurvewiseError


def agree(store: Any, texts: Mapping[str, str]) -> None:
    """Define things in a store; raise if it has trials of something defined otherwise.

    Called by a driver: a second one that starts now sees the first.

    Parameters
    ----------
    store : AnyStore
    texts : mapping of str to str
        What is defined, such as "algorithm svm", to its definition as text.
    """
    known = store.define(texts)
    if older := _older_names(known, texts):
        known = store.define({**texts, **older})  # or it would refuse what is new
    # What nobody has run yet, or is about to run, may be defined anew.
    if _changed(known, texts) and not store.others_drive():
        used = names_in(store.numbers())
        store.note({name: texts[name] for name in known if name not in used})
        known = store.define(texts)
    refuse_changes(known, texts, str(store))


def names_in(cells: Collection[tuple[str, str]]) -> set[str]:
    """Return the names of what these cells have trials of."""
    names = {f"task {task}" for task, _ in cells}
    names |= {f"algorithm {algorithm}" for _, algorithm in cells}
    return names | ({"streams"} if cells else set())


def _changed(known: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [
        name
        for name in now
        if name in known and not is_same_definition(known[name], now[name])
    ]


def _older_names(known: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return what is kept in other words, as modules were called when it was kept."""
    return {
        name: text
        for name, text in known.items()
        if text != now[name] and is_same_definition(text, now[name])
    }


def is_same_definition(before: str, after: str) -> bool:
    """Return whether two texts define the same, whatever our modules were called.

    >>> is_same_definition("curvewise.zoo.tabular.Table", "curvewise_papers.tasks.Table")
    True
    """
    return before == after or current(before) == current(after)


def refuse_changes(
    known: Mapping[str, str], now: Mapping[str, str], store: str
) -> None:
    """Raise if something that a store knows is defined differently now."""
    changed = _changed(known, now)
    if not changed:
        return
    shown = "\n".join(difference(name, known[name], now[name]) for name in changed)
    kind = changed[0].partition(" ")[0]
    other = f"another {kind} of the same name"
    if kind == "streams":
        other = "another seed, or with other things varied or crossed"
    raise CurvewiseError(
        f"{store} has trials of {other}. What changed:\n{shown}\n"
        f"Take the change back, give it another name, or use another store: two "
        f"definitions in one table are not one distribution."
    )


def difference(name: str, before: str, after: str) -> str:
    """Return what changed between two texts, line by line."""
    lines = difflib.unified_diff(
        before.splitlines(),
        after.splitlines(),
        f"{name}, in the store",
        f"{name}, now",
        n=1,
        lineterm="",
    )
    return "\n".join(f"  {line}" for line in lines)
