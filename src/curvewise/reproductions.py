"""The package of reproductions, which is installed beside this one, or is not."""

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

from curvewise.errors import CurvewiseError

PACKAGE = "curvewise_papers"
HINT = (
    "The reproductions of papers are a package of their own, curvewise-papers, which is "
    "not installed. In a clone of curvewise: pip install ./reproductions"
)


class NoPapers(CurvewiseError, AttributeError):  # noqa: N818  as Python's own
    """Raised where the package of reproductions is asked for, and is not installed."""


def papers(module: str = PACKAGE) -> ModuleType:
    """Return the package, or a module of it; say how to get it if it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError as problem:
        if problem.name != PACKAGE:
            raise
        raise NoPapers(HINT) from None


class OfPapers:
    """A function of the package, imported when it is called or looked into."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *args: Any, **settings: Any) -> Any:
        """Call the function."""
        return self._function(*args, **settings)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @property
    def _function(self) -> Any:
        return getattr(papers(f"{PACKAGE}.{self._module}"), self._name)
