"""How estimators of scikit-learn are trained: seeded by the trial, quietly."""

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise.zoo.tasks import SEEDS

_SEED = "random_state"


@dataclass(frozen=True, slots=True)
class Learner:
    """Trains a classifier of scikit-learn: ``fit(params, X, y, rng)`` for `growing`.

    Examples
    --------
    >>> fit = Learner("sklearn.neighbors.KNeighborsClassifier", {"n_jobs": 1})
    >>> X, y = np.array([[0.0], [1.0]]), np.array(["a", "b"])
    >>> predict = fit({"n_neighbors": 1}, X, y, np.random.default_rng(0))
    >>> predict([[0.2], [0.9]])
    array(['a', 'b'], dtype='<U1')
    """

    path: str
    settings: dict[str, Any]

    def warm_up(self) -> None:
        """Import what trials need."""
        _class_at(self.path)

    def __call__(
        self,
        params: Mapping[str, Any],
        X: Any,
        y: NDArray[Any],
        rng: np.random.Generator,
    ) -> Callable[[Any], NDArray[Any]]:
        """Return the trained model's predictions as a function."""
        kind = _class_at(self.path)
        settings = {**self.settings, **params}
        if _SEED in names_of(self.path):
            settings.setdefault(_SEED, int(rng.integers(SEEDS)))
        return trained(kind(**settings), X, y, labels=True)


@dataclass(frozen=True, slots=True, eq=False)
class Clone:
    """Trains a copy of an estimator: ``fit(params, X, y, rng)`` for `growing`."""

    estimator: Any
    labels: bool

    def __call__(
        self,
        params: Mapping[str, Any],
        X: Any,
        y: NDArray[Any],
        rng: np.random.Generator,
    ) -> Callable[[Any], NDArray[Any]]:
        """Return the trained model's predictions as a function."""
        from sklearn.base import clone

        model = clone(self.estimator).set_params(**params)
        seeds = [n for n in sorted(model.get_params()) if n.split("__")[-1] == _SEED]
        if seeds:
            model.set_params(**{name: int(rng.integers(SEEDS)) for name in seeds})
        return trained(model, X, y, labels=self.labels)


def trained(
    model: Any, X: Any, y: NDArray[Any], *, labels: bool
) -> Callable[[Any], NDArray[Any]]:
    """Return the predictions of a model after training, as a function.

    A training set with a single class gives a constant, where many classifiers would
    raise. That a model has not converged is not worth a warning: with hyperparameters
    drawn at random this happens, and shows in the score.

    >>> predict = trained(None, [[0], [1]], np.array(["a", "a"]), labels=True)
    >>> predict([[2], [3], [4]]).tolist()
    ['a', 'a', 'a']
    """
    if labels and (y == y[0]).all():
        return functools.partial(_constant, y[0])
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        predict: Callable[[Any], NDArray[Any]] = model.fit(X, y).predict
    return predict


def _constant(label: Any, X: Any) -> NDArray[Any]:
    return np.full(np.shape(X)[0], label)


@functools.cache
def _class_at(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@functools.cache
def names_of(path: str) -> tuple[str, ...]:
    """Return the settings that a class takes.

    >>> "gamma" in names_of("sklearn.svm.SVC")
    True
    """
    return tuple(inspect.signature(_class_at(path)).parameters)
