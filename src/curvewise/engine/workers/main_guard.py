"""Workers import the script that starts them; one that would start more is refused."""

import ast
import multiprocessing
import sys
from pathlib import Path
from types import FrameType

from curvewise.errors import CurvewiseError, Message

_ADVICE = Message(
    "Worker processes import the script, and would start the run again. Put "
    "the call under\n\n    if __name__ == '__main__':\n\nor pass ",
    {"executor": "serial"},
    ".",
)
_here = {"is a worker": False}


def this_is_a_worker() -> None:
    """Note that this process was started by a run."""
    _here["is a worker"] = True


def refuse_unguarded_scripts() -> None:
    """Raise if workers would run the calling script's own top level again."""
    starting = getattr(multiprocessing.current_process(), "_inheriting", False)
    if starting or _here["is a worker"]:
        raise CurvewiseError("A worker was about to start workers. ", _ADVICE)
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    line = _top_level_line(sys._getframe(), path)
    if path is None or line is None:
        return  # a notebook or a prompt: there is no script to import
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    if not any(_guards(node, line) for node in ast.walk(tree)):
        raise CurvewiseError(
            f"{path}, line {line}, starts worker processes without a main guard. ",
            _ADVICE,
        )


def hide_main() -> str | None:
    """Take away the name of a main script that is no file, and return it.

    A script from standard input cannot be imported by workers, and need not be: its
    functions travel by value.
    """
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    if main is None or path is None or Path(path).exists():
        return None
    del main.__file__
    return str(path)


def show_main(path: str | None) -> None:
    """Give back what `hide_main` took."""
    if path is not None:
        sys.modules["__main__"].__file__ = path


def _top_level_line(frame: FrameType | None, path: str | None) -> int | None:
    """Return the line of the main script's top level that led here."""
    while frame is not None:
        is_top = frame.f_code.co_name == "<module>" and frame.f_code.co_filename == path
        if is_top and frame.f_globals.get("__name__") == "__main__":
            return frame.f_lineno
        frame = frame.f_back
    return None


def _guards(node: ast.AST, line: int) -> bool:
    if not isinstance(node, ast.If) or not node.lineno <= line <= (
        node.end_lineno or 0
    ):
        return False
    return any(
        isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test)
    )
