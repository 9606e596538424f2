"""Judge learning algorithms by whole curves and distributions, not one lucky score.

The public names, and nothing else. Each is imported when it is first used, so that
``import curvewise`` costs little more than numpy.
"""

import importlib
from typing import TYPE_CHECKING

from curvewise.version import __version__

if TYPE_CHECKING:
    import curvewise_papers as papers  # noqa: F401  not in __all__: it may be missing
    from curvewise import figures, metrics, report, stats, store, zoo
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
    from curvewise.exchange.write import write
    from curvewise.flow.read import read
    from curvewise.flow.run import replay, run
    from curvewise.flow.slices import quantile_slices
    from curvewise.flow.until import until
    from curvewise.metrics import Metric
    from curvewise.questions import plan
    from curvewise.questions.audit import Audit, audit
    from curvewise.questions.confusion import Confusion, confusion
    from curvewise.questions.difference import Difference, difference
    from curvewise.questions.explain import Explanation, explain
    from curvewise.questions.learning import Learning, learning
    from curvewise.questions.performance import Performance, performance
    from curvewise.questions.robustness import Robustness, robustness
    from curvewise.questions.slices import Slices
    from curvewise.questions.variance import VarianceShares, variance_shares
    from curvewise.questions.versions import Versions, compare_versions
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
    "plan": "curvewise.questions.plan",
    "report": "curvewise.report",
    "stats": "curvewise.stats",
    "store": "curvewise.store",
    "zoo": "curvewise.zoo",
}
_HOMES = {
    "Algorithm": "curvewise.engine.experiment",
    "Audit": "curvewise.questions.audit",
    "Confusion": "curvewise.questions.confusion",
    "CurvewiseError": "curvewise.errors",
    "CurvewiseWarning": "curvewise.errors",
    "Difference": "curvewise.questions.difference",
    "Experiment": "curvewise.engine.experiment",
    "Explanation": "curvewise.questions.explain",
    "Learning": "curvewise.questions.learning",
    "Metric": "curvewise.metrics",
    "Performance": "curvewise.questions.performance",
    "Robustness": "curvewise.questions.robustness",
    "Slices": "curvewise.questions.slices",
    "Task": "curvewise.engine.experiment",
    "Trial": "curvewise.trials",
    "Trials": "curvewise.trials",
    "VarianceShares": "curvewise.questions.variance",
    "Versions": "curvewise.questions.versions",
    "audit": "curvewise.questions.audit",
    "check": "curvewise.review.check",
    "choice": "curvewise.engine.spaces",
    "compare_versions": "curvewise.questions.versions",
    "confusion": "curvewise.questions.confusion",
    "difference": "curvewise.questions.difference",
    "example": "curvewise.examples",
    "explain": "curvewise.questions.explain",
    "from_configspace": "curvewise.engine.spaces",
    "from_optuna": "curvewise.engine.spaces",
    "from_sets": "curvewise.engine.supervised.data",
    "growing": "curvewise.engine.supervised.growing",
    "integers": "curvewise.engine.spaces",
    "leaky": "curvewise.engine.supervised.tuning",
    "learning": "curvewise.questions.learning",
    "log_integers": "curvewise.engine.spaces",
    "loguniform": "curvewise.engine.spaces",
    "mixture": "curvewise.engine.spaces",
    "performance": "curvewise.questions.performance",
    "quantile_slices": "curvewise.flow.slices",
    "read": "curvewise.flow.read",
    "replay": "curvewise.flow.run",
    "robustness": "curvewise.questions.robustness",
    "run": "curvewise.flow.run",
    "sizes_for": "curvewise.engine.supervised.sizes",
    "split": "curvewise.engine.supervised.data",
    "tune_then_test": "curvewise.engine.supervised.tuning",
    "tuned": "curvewise.engine.supervised.tuning",
    "uniform": "curvewise.engine.spaces",
    "until": "curvewise.flow.until",
    "variance_shares": "curvewise.questions.variance",
    "when": "curvewise.engine.spaces",
    "write": "curvewise.exchange.write",
}


def __getattr__(name: str) -> object:
    if name == "papers":
        from curvewise.reproductions import papers

        return papers()
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name])
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'curvewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "papers"])
