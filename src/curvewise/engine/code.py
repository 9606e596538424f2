"""The code of functions and classes as text, without comments, docstrings and layout."""

import ast
import hashlib
import inspect
import sys
import sysconfig
import textwrap
from pathlib import Path
from types import CodeType
from typing import Any

_HOME = Path(__file__).parents[1]
_PAPERS = "curvewise_papers"  # ours too, wherever it is installed
_STANDARD = sysconfig.get_path("stdlib")


def is_own(value: Any) -> bool:
    """Return whether a function, class or module was written by the user.

    What is installed changes with versions, and is not the user's to define.
    """
    if getattr(value, "__module__", None) in ("__main__", "__mp_main__"):
        return True
    return is_own_file(_file(value))


def is_own_file(file: str) -> bool:
    """Return whether a file is neither installed nor ours nor Python's."""
    path = Path(file)
    if not file or file.startswith("<frozen"):
        return False
    if {"site-packages", "dist-packages"}.intersection(path.parts):
        return False
    return not is_ours(file) and not path.is_relative_to(_STANDARD)


def is_ours(file: str) -> bool:
    """Return whether a file belongs to curvewise, or to its reproductions of papers."""
    papers = getattr(sys.modules.get(_PAPERS), "__file__", None)
    homes = [_HOME, Path(papers).parent] if papers else [_HOME]
    return any(Path(file).is_relative_to(home) for home in homes)


def _file(value: Any) -> str:
    """Return where something was written; nothing if it was built in."""
    if inspect.ismodule(value):
        return getattr(value, "__file__", None) or ""
    if inspect.isclass(value):
        module = sys.modules.get(value.__module__)
        if file := getattr(module, "__file__", None):
            return str(file)
        everything = [v for one in value.__mro__ for v in vars(one).values()]
        value = next(filter(inspect.isfunction, everything), None)
    code = getattr(value, "__code__", None)
    return code.co_filename if code is not None else ""


def source_of(value: Any) -> str:
    """Return the source of a function or class; a hash of its code if there is none.

    Examples
    --------
    >>> print(source_of(lambda rng: rng.random()))
    lambda rng: rng.random()
    """
    try:
        if inspect.isclass(value):
            return _bare(inspect.getsource(value))
        if value.__name__ == "<lambda>":
            return _lambda(value)
        # Of the code: the source of a decorated function would be that of the inner one.
        return _bare(inspect.getsource(value.__code__))
    except (OSError, TypeError, SyntaxError, LookupError):
        return _compiled(value)


def _bare(source: str) -> str:
    tree = ast.parse(textwrap.dedent(source))
    for node in ast.walk(tree):
        named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        if isinstance(node, named) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _lambda(function: Any) -> str:
    """Return a lambda's own text, without the statement that it stands in."""
    lines, _ = inspect.findsource(function)
    code = function.__code__
    places = set(code.co_positions())
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            body = node.body
            ends = body.end_lineno, body.col_offset, body.end_col_offset
            if (body.lineno, *ends) in places:
                return ast.unparse(node)
    raise LookupError("The source does not have this lambda any more.")


def _compiled(value: Any) -> str:
    name = f"{value.__module__}.{value.__qualname__}"
    parts = vars(value).values() if inspect.isclass(value) else [value]
    text = " ".join(_code(part.__code__) for part in parts if inspect.isfunction(part))
    return f"{name}, compiled {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _code(code: CodeType) -> str:
    constants = [
        _code(c) if inspect.iscode(c) else _constant(c) for c in code.co_consts
    ]
    return f"{code.co_code!r} {constants} {code.co_names}"


def _constant(value: object) -> str:
    if isinstance(value, frozenset):  # whose order hangs on the process
        return repr(sorted(map(repr, value)))
    return repr(value)
