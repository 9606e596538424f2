"""Judge learning algorithms by whole curves and distributions, not one lucky score.

The public names, and nothing else. Each is imported when it is first used, so that
``import curvewise`` costs little more than numpy.
"""

import importlib
from typing import TYPE_CHECKING

from curvewise._version import __version__

if TYPE_CHECKING:
    import curvewise_papers as papers
    from curvewise import figures, metrics, report, stats, store, zoo
    from curvewise.analyses import plan
    from curvewise.analyses.audit import Audit, audit
    from curvewise.analyses.confusion import Confusion, confusion
    from curvewise.analyses.difference import Difference, difference
    from curvewise.analyses.learning import Learning, learning
    from curvewise.analyses.performance import Performance, performance
    from curvewise.analyses.robustness import Robustness, robustness
    from curvewise.analyses.slices import Slices
    from curvewise.analyses.variance import VarianceShares, variance_shares
    from curvewise.analyses.versions import Versions, compare_versions
    from curvewise.engine.experiment import Algorithm, Experiment, Task
    from curvewise.engine.spaces import (
        choice,
        from_configspace,
        from_optuna,
        integers,
        log_integers,
        loguniform,
        mixture,
        uniform,
        when,
    )
    from curvewise.engine.supervised.data import from_sets, split
    from curvewise.engine.supervised.growing import growing
    from curvewise.engine.supervised.sizes import sizes_for
    from curvewise.engine.supervised.tuning import leaky, tune_then_test, tuned
    from curvewise.errors import CurvewiseError, CurvewiseWarning
    from curvewise.examples import example
    from curvewise.exchange.writing import write
    from curvewise.flow.explaining import Explanation, explain
    from curvewise.flow.reading import read
    from curvewise.flow.replaying import replay
    from curvewise.flow.running import run
    from curvewise.flow.slices import quantile_slices
    from curvewise.flow.until import until
    from curvewise.metrics import Metric
    from curvewise.review.check import check
    from curvewise.trials import Trial, Trials

__all__ = [
    "Algorithm",
    "Audit",
    "Confusion",
    "CurvewiseError",
    "CurvewiseWarning",
    "Difference",
    "Experiment",
    "Explanation",
    "Learning",
    "Metric",
    "Performance",
    "Robustness",
    "Slices",
    "Task",
    "Trial",
    "Trials",
    "VarianceShares",
    "Versions",
    "__version__",
    "audit",
    "check",
    "choice",
    "compare_versions",
    "confusion",
    "difference",
    "example",
    "explain",
    "figures",
    "from_configspace",
    "from_optuna",
    "from_sets",
    "growing",
    "integers",
    "leaky",
    "learning",
    "log_integers",
    "loguniform",
    "metrics",
    "mixture",
    "papers",
    "performance",
    "plan",
    "quantile_slices",
    "read",
    "replay",
    "report",
    "robustness",
    "run",
    "sizes_for",
    "split",
    "stats",
    "store",
    "tune_then_test",
    "tuned",
    "uniform",
    "until",
    "variance_shares",
    "when",
    "write",
    "zoo",
]

_ROOMS = {
    "figures": "curvewise.figures",
    "metrics": "curvewise.metrics",
    "plan": "curvewise.analyses.plan",
    "report": "curvewise.report",
    "stats": "curvewise.stats",
    "store": "curvewise.store",
    "zoo": "curvewise.zoo",
}
_HOMES = {
    "Algorithm": "curvewise.engine.experiment",
    "Audit": "curvewise.analyses.audit",
    "Confusion": "curvewise.analyses.confusion",
    "CurvewiseError": "curvewise.errors",
    "CurvewiseWarning": "curvewise.errors",
    "Difference": "curvewise.analyses.difference",
    "Experiment": "curvewise.engine.experiment",
    "Explanation": "curvewise.flow.explaining",
    "Learning": "curvewise.analyses.learning",
    "Metric": "curvewise.metrics",
    "Performance": "curvewise.analyses.performance",
    "Robustness": "curvewise.analyses.robustness",
    "Slices": "curvewise.analyses.slices",
    "Task": "curvewise.engine.experiment",
    "Trial": "curvewise.trials",
    "Trials": "curvewise.trials",
    "VarianceShares": "curvewise.analyses.variance",
    "Versions": "curvewise.analyses.versions",
    "audit": "curvewise.analyses.audit",
    "check": "curvewise.review.check",
    "choice": "curvewise.engine.spaces",
    "compare_versions": "curvewise.analyses.versions",
    "confusion": "curvewise.analyses.confusion",
    "difference": "curvewise.analyses.difference",
    "example": "curvewise.examples",
    "explain": "curvewise.flow.explaining",
    "from_configspace": "curvewise.engine.spaces",
    "from_optuna": "curvewise.engine.spaces",
    "from_sets": "curvewise.engine.supervised.data",
    "growing": "curvewise.engine.supervised.growing",
    "integers": "curvewise.engine.spaces",
    "leaky": "curvewise.engine.supervised.tuning",
    "learning": "curvewise.analyses.learning",
    "log_integers": "curvewise.engine.spaces",
    "loguniform": "curvewise.engine.spaces",
    "mixture": "curvewise.engine.spaces",
    "performance": "curvewise.analyses.performance",
    "quantile_slices": "curvewise.flow.slices",
    "read": "curvewise.flow.reading",
    "replay": "curvewise.flow.replaying",
    "robustness": "curvewise.analyses.robustness",
    "run": "curvewise.flow.running",
    "sizes_for": "curvewise.engine.supervised.sizes",
    "split": "curvewise.engine.supervised.data",
    "tune_then_test": "curvewise.engine.supervised.tuning",
    "tuned": "curvewise.engine.supervised.tuning",
    "uniform": "curvewise.engine.spaces",
    "until": "curvewise.flow.until",
    "variance_shares": "curvewise.analyses.variance",
    "when": "curvewise.engine.spaces",
    "write": "curvewise.exchange.writing",
}


def __getattr__(name: str) -> object:
    if name == "papers":
        from curvewise._papers import papers

        return papers()
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name])
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'curvewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
