"""The learners whose curves are made here, and the tables that they learn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.engine.experiment import Algorithm, Task
from curvewise.engine.supervised.growing import Growing, growing
from curvewise.engine.supervised.sizes import sizes_for
from curvewise.zoo.fitting import Learner
from curvewise.zoo.tabular import tabular_task

# Pools of training examples that halve six times, about four fifths of each table.
POOLS = {"letter": 16_000, "magic": 15_232, "adult": 24_128}
ROWS = {"letter": 20_000, "magic": 19_020, "adult": 30_162}
STEPS = 7

_NETWORK = "sklearn.neural_network.MLPClassifier"
_TREES = "sklearn.ensemble"
_LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "naive Bayes": ("sklearn.naive_bayes.GaussianNB", {"var_smoothing": 1e-2}),
    "LDA": (
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        {"solver": "lsqr", "shrinkage": "auto"},
    ),
    "logistic": ("sklearn.linear_model.LogisticRegression", {"max_iter": 200}),
    "logistic, C 0.01": (
        "sklearn.linear_model.LogisticRegression",
        {"C": 0.01, "max_iter": 200},
    ),
    "1-NN": ("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 1}),
    "15-NN": ("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 15}),
    "tree": ("sklearn.tree.DecisionTreeClassifier", {}),
    "tree, leaves of 10": (
        "sklearn.tree.DecisionTreeClassifier",
        {"min_samples_leaf": 10},
    ),
    "forest": (f"{_TREES}.RandomForestClassifier", {"n_estimators": 100}),
    "extra trees": (f"{_TREES}.ExtraTreesClassifier", {"n_estimators": 100}),
    "boosting": (
        f"{_TREES}.HistGradientBoostingClassifier",
        {"max_iter": 30, "learning_rate": 0.2, "early_stopping": False},
    ),
    "SVM": ("sklearn.svm.SVC", {}),
    "SVM, C 10": ("sklearn.svm.SVC", {"C": 10.0}),
    "network": (_NETWORK, {"hidden_layer_sizes": (64,), "max_iter": 40}),
    "network, wide": (_NETWORK, {"hidden_layer_sizes": (128,), "max_iter": 40}),
    "network, deep": (_NETWORK, {"hidden_layer_sizes": (64, 64), "max_iter": 40}),
}


@dataclass(frozen=True, slots=True)
class Errors:
    """Runs a learner over growing training sets, and keeps the error only."""

    run: Growing

    def warm_up(self) -> None:
        """Import what trials need."""
        self.run.warm_up()

    def __call__(
        self, params: Mapping[str, Any], data: Any, rng: np.random.Generator
    ) -> Iterator[tuple[int, dict[str, float]]]:
        """Yield the size and the share of test examples that were called wrongly."""
        for n, scores in self.run(params, data, rng):
            counts = scores["counts"]
            yield n, {"error": float(1 - counts.trace() / counts.sum())}


def errors_of(name: str, fit: Any) -> Algorithm:
    """Return the algorithm that trains by `fit` at every size."""
    return Algorithm(name, {}, Errors(growing(fit, examples=False)))


def learners() -> list[Algorithm]:
    """Return sixteen learners and settings, in an order of their own."""
    return [
        errors_of(name, Learner(path, settings))
        for name, (path, settings) in _LEARNERS.items()
    ]


def table_task(name: str) -> Task:
    """Return a table in seven sizes that double, with every disjoint block of each."""
    pool = POOLS[name]
    design = sizes_for(pool, "doubling", steps=STEPS)
    return tabular_task(name, test=ROWS[name] - pool, sizes=design, lines="all")
