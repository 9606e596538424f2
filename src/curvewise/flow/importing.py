"""From ``"module:name"`` to the object, with messages that name the way out."""

import contextlib
import importlib
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from curvewise.engine.moved import current
from curvewise.errors import CurvewiseError, shortened, unknown

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_reference(text: str) -> bool:
    """Return whether a text has the form ``module:name``.

    >>> is_reference("train:net"), is_reference("net"), is_reference("C:/net")
    (True, False, False)
    """
    return _REFERENCE.fullmatch(text) is not None


def imported(reference: str, folder: Path) -> Any:
    """Return the object that ``module:name`` names.

    Parameters
    ----------
    reference : str
    folder : Path
        Where modules are looked for first, as Python does for a script. It stays on
        ``sys.path``: worker processes and late imports need it too.

    Examples
    --------
    >>> imported("math:sqrt", Path())
    <built-in function sqrt>
    """
    if not is_reference(reference):
        raise CurvewiseError(
            f"'{shortened(reference)}' names no function. Write 'module:function'."
        )
    name, _, path = reference.partition(":")
    value: Any = _module(current(name), folder.resolve())
    for part in path.split("."):
        if not hasattr(value, part):
            known = [n for n in vars(value) if n[0] != "_"] if path == part else []
            raise unknown(f"name in {_shown(name, value)}:", part, known)
        value = getattr(value, part)
    return value


def send_whole(folder: Path) -> None:
    """Let what was imported from a folder travel whole, to machines without the folder.

    Functions are pickled by the name of their module otherwise. A module that a function
    imports only when it runs must be installed on those machines.
    """
    import cloudpickle

    folder = folder.resolve()
    for name, module in list(sys.modules.items()):
        files = _files(name.partition(".")[0], folder)
        top = getattr(sys.modules.get(name.partition(".")[0]), "__file__", None)
        if top and Path(top) in files:
            cloudpickle.register_pickle_by_value(module)


def _files(top: str, folder: Path) -> tuple[Path, Path]:
    """Return where a folder would have a module, or a package."""
    return folder / f"{top}.py", folder / top / "__init__.py"


def _module(name: str, folder: Path) -> ModuleType:
    _refuse_another(name.partition(".")[0], folder)
    with contextlib.suppress(ValueError):
        sys.path.remove(str(folder))
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()  # the file may be younger than Python's list of files
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
        if missing and (name == missing or name.startswith(f"{missing}.")):
            raise _no_module(missing, folder) from None
        raise CurvewiseError(
            f"Module '{name}' cannot be imported. {_said(problem, folder)}"
        ) from problem


def _no_module(name: str, folder: Path) -> CurvewiseError:
    beside = sorted(p.stem for p in folder.glob("*.py") if p.stem.isidentifier())
    problem = unknown("module", name, beside) if beside else None
    first = str(problem).replace(" There are:", f" In {folder} are:") if problem else ""
    return CurvewiseError(
        f"{first or f'There is no module {name!r}.'} It is looked for in {folder}, and "
        f"among what is installed."
    )


def _refuse_another(top: str, folder: Path) -> None:
    """Raise if a module beside the file would be hidden by one that is in use."""
    own = next((file for file in _files(top, folder) if file.exists()), None)
    used = sys.modules.get(top)
    if own is None or used is None:
        return
    place = getattr(used, "__file__", None)
    if place is None or not own.samefile(place):
        raise CurvewiseError(
            f"{own} has the name of a module that is in use already "
            f"({place or 'a part of Python'}). Give the file another name."
        )


def _said(problem: BaseException, folder: Path) -> str:
    """Return what an import raised, and on which line of whose file."""
    if isinstance(problem, SyntaxError) and problem.filename:
        place = f"{_short(problem.filename, folder)}, line {problem.lineno}"
        return f"{place}: {problem.msg}."
    message = "".join(traceback.format_exception_only(problem)).strip()
    frames = traceback.extract_tb(problem.__traceback__)
    theirs = [f for f in frames if Path(f.filename).is_relative_to(folder)]
    text = shortened(message, 300)
    if not theirs:
        return text
    last = theirs[-1]
    return f"{_short(last.filename, folder)}, line {last.lineno}: {text}"


def _short(file: str, folder: Path) -> str:
    with contextlib.suppress(ValueError):
        return str(Path(file).relative_to(folder))
    return file


def _shown(name: str, value: Any) -> str:
    file = getattr(value, "__file__", None)
    return os.path.relpath(file) if file and Path(file).suffix == ".py" else name
