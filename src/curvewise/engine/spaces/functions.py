"""What a function is called, and what it says of itself; never where it lies in memory."""

import functools
import inspect
import re
import textwrap
from typing import Any


def function_name(function: Any) -> str:
    """Return what a function is called.

    >>> function_name(function_text)
    'function_text'
    """
    named = getattr(function, "func", function)  # functools.partial
    return str(getattr(named, "__qualname__", type(named).__qualname__))


def function_text(function: Any) -> str:
    """Return what a function says of itself: its docstring, source or name.

    >>> function_text(len)
    'Return the number of items in a container.'
    """
    if isinstance(function, functools.partial):
        given = [repr(a) for a in function.args]
        given += [f"{name}={value!r}" for name, value in function.keywords.items()]
        kept = ", ".join(without_address(text) for text in given)
        return f"{function_text(function.func)}\nwith {kept}"
    doc = inspect.getdoc(function)
    if doc:
        return doc
    is_plain = inspect.isroutine(function) or inspect.isclass(function)
    try:
        source = inspect.getsource(function if is_plain else type(function))
    except (OSError, TypeError):
        return function_name(function)
    return textwrap.dedent(source).strip()


_ADDRESS = re.compile(r"\s*\bat 0x[0-9a-fA-F]+")


def has_address(text: str) -> bool:
    """Return whether a text names a place in memory, and so is another in every process.

    >>> has_address("<Law object at 0x7f3a>"), has_address("Law(3)")
    (True, False)
    """
    return _ADDRESS.search(text) is not None


def without_address(text: str) -> str:
    """Return a text without places in memory.

    >>> without_address("<Law object at 0x7f3a>")
    '<Law object>'
    """
    return _ADDRESS.sub("", text)
