"""What a callable is, as text that two processes agree on.

A store keeps these texts, so that a run can tell when somebody changed a training
function under the same name and would mix two algorithms in one table. Code, default
values, what a function closes over and what it calls in the user's own modules count;
comments, docstrings and layout do not.
"""

import ast
import dis
import functools
import hashlib
import inspect
import re
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType
from typing import Any, TypeAlias

import numpy as np

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
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
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


# --------------------------------------------------------------------------------------
# What a function is called, and what it says of itself; never where it lies in memory.


def function_name(function: Any) -> str:
    """Return what a function is called.

    >>> function_name(function_text)
    'function_text'
    """
    inner = getattr(function, "func", function)  # functools.partial
    return str(getattr(inner, "__qualname__", type(inner).__qualname__))


def function_text(function: Any) -> str:
    """Return what a function says of itself: its docstring, source or name.

    >>> function_text(len)
    'Return the number of items in a container.'
    """
    if isinstance(function, functools.partial):
        arguments = [repr(a) for a in function.args]
        arguments += [f"{name}={value!r}" for name, value in function.keywords.items()]
        listing = ", ".join(without_address(text) for text in arguments)
        return f"{function_text(function.func)}\nwith {listing}"
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


# --- What a callable is, as text that two processes agree on ---------------------------
#
# A store keeps these texts, so that a run can tell when somebody changed a training
# function under the same name and would mix two algorithms in one table. Code, default
# values, what a function closes over and what it calls in the user's own modules count;
# comments, docstrings and layout do not.


_DEEP = 20
_PLAIN = bool | int | float | complex | str | bytes | None

Go: TypeAlias = Callable[[Any], str]


def definition(value: object) -> str:
    """Return what a value is, deep enough to notice a change.

    Functions and classes of the user's own that it uses follow, each once.

    Examples
    --------
    >>> print(definition(functools.partial(round, ndigits=2)))
    partial(builtins.round, ndigits=2)
    """
    writer = _Writer()
    return "\n".join([writer.text(value, top=True), *writer.sections()])


def code_in(value: object) -> str:
    """Return the user's own functions and classes that a value holds, as text.

    >>> code_in({"C": [1, 2]})
    ''
    """
    writer = _Writer()
    writer.text(value)
    return "\n".join(writer.sections())


class _Writer:
    """Writes values as text, and remembers which functions and classes it came across."""

    def __init__(self) -> None:
        self.waiting: dict[str, Any] = {}
        self._met: set[int] = set()

    def text(self, value: Any, *, top: bool = False) -> str:
        """Return a value as text; a function or class of the user's own by its name."""
        if top:
            self._met.add(id(value))
            if inspect.isfunction(value):
                return _function(value, self._go(_DEEP, frozenset()))
            if inspect.isclass(value):
                return _class(value, self._go(_DEEP, frozenset()))
        return self._go(_DEEP, frozenset())(value)

    def sections(self) -> list[str]:
        """Return what was come across, and what that uses in turn, each once."""
        texts = []
        while self.waiting:
            name, used = self.waiting.popitem()
            texts.append(f"{name}:\n{self.text(used, top=True)}")
        return sorted(texts)

    def _go(self, depth: int, above: frozenset[int]) -> Go:
        def go(value: Any) -> str:
            if isinstance(value, _PLAIN):
                return repr(value)
            if inspect.isfunction(value) or inspect.isclass(value):
                return self._mentioned(value)
            if depth == 0 or id(value) in above:
                return f"<{type(value).__name__}>"
            self._mentioned(type(value))
            deeper = self._go(depth - 1, above | {id(value)})
            return next(write(value, deeper) for fits, write in _KINDS if fits(value))

        return go

    def _mentioned(self, value: Any) -> str:
        name = _name(value)
        if id(value) not in self._met and is_own(value):
            self._met.add(id(value))
            self.waiting[
                f"{name} {len(self._met)}" if name in self.waiting else name
            ] = value
        return name


# --- functions ---------------------------------------------------------------------------


def _function(function: Any, go: Go) -> str:
    parts = [source_of(function)]
    for values in (_defaults(function), _used(function)):
        parts += [f"{name} = {go(value)}" for name, value in sorted(values.items())]
    return "\n".join(parts)


def _class(cls: Any, go: Go) -> str:
    methods = [v for v in vars(cls).values() if inspect.isfunction(v)]
    used: dict[str, Any] = {}
    for method in methods:
        used |= _used(method)
    used |= {f"base {i}": base for i, base in enumerate(cls.__bases__) if is_own(base)}
    parts = [source_of(cls), *(f"{n} = {go(v)}" for n, v in sorted(used.items()))]
    return "\n".join(parts)


def _defaults(function: Any) -> dict[str, Any]:
    """Return defaults of arguments: their values, not the names they are spelt by."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _used(function: Any) -> dict[str, Any]:
    """Return what a function closes over, and what it uses of its module."""
    closed = zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=False
    )
    nonlocals = {name: _content(cell) for name, cell in closed}
    names, attributes = _names(function.__code__)
    used = {n: v for n, v in function.__globals__.items() if n in names}
    for name, value in list(used.items()):
        if inspect.ismodule(value) and is_own(value):  # helpers.train()
            inside = {n: vars(value)[n] for n in attributes if n in vars(value)}
            used |= {f"{name}.{n}": attribute for n, attribute in inside.items()}
    beside = {name: value for name, value in used.items() if _matters(name, value)}
    return beside | nonlocals


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # still empty
        return None


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the globals and the attributes that code uses, inner functions included."""
    names, attributes = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(step.argval)
    for inner in (c for c in code.co_consts if inspect.iscode(c)):
        more = _names(inner)
        names |= more[0]
        attributes |= more[1]
    return names, attributes


def _matters(name: str, value: Any) -> bool:
    """Return whether a global is a definition; a list that grows is no such thing."""
    if inspect.isfunction(value) or inspect.isclass(value):
        return is_own(value)
    if isinstance(value, list | dict):
        return name.rpartition(".")[2].isupper()
    if isinstance(value, _PLAIN | tuple | frozenset | functools.partial | np.ndarray):
        return True
    # Data frames and series, sparse matrices, estimators, settings in a dataclass.
    described = ("to_numpy", "tocsr", "get_params")
    return any(hasattr(value, n) for n in described) or is_dataclass(value)


# --- values ------------------------------------------------------------------------------


def _array(value: Any, go: Go) -> str:
    if value.dtype == object:
        return _hashed(f"objects{value.shape}", go(value.tolist()).encode())
    return _hashed(f"array{value.shape} {value.dtype}", np.ascontiguousarray(value))


def _sparse(value: Any, go: Go) -> str:
    matrix = value.tocsr()
    return f"sparse{value.shape} {go([matrix.data, matrix.indices, matrix.indptr])}"


def _frame(value: Any, go: Go) -> str:
    return f"frame {go(list(map(str, value.columns)))} {go(np.asarray(value))}"


def _mapping(value: Any, go: Go) -> str:
    return f"{{{', '.join(f'{go(k)}: {go(v)}' for k, v in value.items())}}}"


def _list(value: Any, go: Go) -> str:
    return f"[{', '.join(go(v) for v in value)}]"


def _set(value: Any, go: Go) -> str:
    return f"set[{', '.join(sorted(go(v) for v in value))}]"


def _partial(value: Any, go: Go) -> str:
    keywords = [f"{k}={go(v)}" for k, v in value.keywords.items()]
    return f"partial({', '.join([go(value.func), *map(go, value.args), *keywords])})"


def _method(value: Any, go: Go) -> str:
    return f"{go(value.__func__)}\nof {go(value.__self__)}"


def _dataclass(value: Any, go: Go) -> str:
    parts = [f"{f.name}={go(getattr(value, f.name))}" for f in fields(value)]
    return f"{_name(type(value))}({', '.join(parts)})"


def _estimator(value: Any, go: Go) -> str:
    """Write the parameters that are not defaults: those change with versions."""
    try:
        params = value.get_params(deep=False)
    except Exception:  # somebody else's code
        return _other(value, go)
    defaults = _defaults(type(value).__init__)
    changed = {
        name: setting
        for name, setting in params.items()
        if name not in defaults or go(setting) != go(defaults[name])
    }
    return f"{_name(type(value))}({go(changed)})"


def _other(value: Any, go: Go) -> str:
    text, state = repr(value), getattr(value, "__dict__", {})
    if not has_address(text) and not (state and is_own(type(value))):
        return text
    return f"{_name(type(value))}({go(dict(sorted(state.items())))})"


def _name(value: Any) -> str:
    module = getattr(value, "__module__", "") or ""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
    # A script's functions live in __main__ here and in __mp_main__ in its workers.
    return f"{module.replace('__mp_main__', '__main__')}.{name}".lstrip(".")


def _hashed(what: str, data: Any) -> str:
    return f"{what} {hashlib.sha256(data).hexdigest()[:16]}"


def _is(*kinds: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


# The first that fits says what a value is.
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Go], str]], ...] = (
    (_is(np.ndarray), _array),
    (lambda v: hasattr(v, "tocsr"), _sparse),
    (lambda v: hasattr(v, "columns") and hasattr(v, "__array__"), _frame),
    (lambda v: hasattr(v, "to_numpy"), lambda v, go: go(v.to_numpy())),
    (_is(Mapping), _mapping),
    (_is(list, tuple), _list),
    (_is(set, frozenset), _set),
    (_is(functools.partial), _partial),
    (inspect.ismethod, _method),
    (lambda v: inspect.isbuiltin(v) or inspect.ismodule(v), lambda v, _go: _name(v)),
    (is_dataclass, _dataclass),
    (lambda v: hasattr(v, "get_params"), _estimator),
    (lambda _: True, _other),
)
