"""Judge learning algorithms by whole curves and distributions, not one lucky score.

The public names, and nothing else. Each is imported when it is first used, so that
``import curvewise`` costs little more than numpy.
"""

import importlib
from typing import TYPE_CHECKING

from curvewise._version import __version__

if TYPE_CHECKING:
    from curvewise import figures, metrics, report, stats, store
    from curvewise.analyses.performance import Performance, performance
    from curvewise.errors import CurvewiseError, CurvewiseWarning
    from curvewise.examples import example
    from curvewise.exchange.check import check
    from curvewise.flow import read
    from curvewise.metrics import Metric
    from curvewise.trials import Trial, Trials

__all__ = [
    "CurvewiseError",
    "CurvewiseWarning",
    "Metric",
    "Performance",
    "Trial",
    "Trials",
    "__version__",
    "check",
    "example",
    "figures",
    "metrics",
    "performance",
    "read",
    "report",
    "stats",
    "store",
]

_ROOMS = ("figures", "metrics", "report", "stats", "store")
_HOMES = {
    "CurvewiseError": "curvewise.errors",
    "CurvewiseWarning": "curvewise.errors",
    "Metric": "curvewise.metrics",
    "Performance": "curvewise.analyses.performance",
    "Trial": "curvewise.trials",
    "Trials": "curvewise.trials",
    "check": "curvewise.exchange.check",
    "example": "curvewise.examples",
    "performance": "curvewise.analyses.performance",
    "read": "curvewise.flow",
}


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return importlib.import_module(f"curvewise.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'curvewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
