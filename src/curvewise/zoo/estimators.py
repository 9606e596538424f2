"""Estimators of scikit-learn: how they are trained, and experiments made of them."""

import contextlib
import functools
import importlib
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.engine.experiment import Algorithm, Experiment
from curvewise.engine.spaces import Space
from curvewise.engine.supervised.data import checked
from curvewise.engine.supervised.growing import growing
from curvewise.engine.supervised.sizes import Sizes, held_size, sizes_for
from curvewise.errors import CurvewiseError, listed, shortened, unknown
from curvewise.zoo.tasks import SEEDS, Lines, data_task

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


# --- An experiment that trains estimators on growing parts of a data set ---------------


def experiment(
    X: Any,
    y: ArrayLike,
    estimators: Mapping[str, Any],
    *,
    sizes: Sizes = "auto",
    trials: int = 10,
    seed: int = 0,
    test: float | int = 0.25,
    spaces: Mapping[str, Space] | None = None,
    validate: str | int = "test",
    lines: Lines = 1,
    stratify: bool = False,
    examples: bool = True,
    vary: Iterable[str] = ("params", "data", "seed"),
    name: str = "data",
) -> Experiment:
    """Return the experiment that trains estimators on growing parts of a data set.

    Each trial splits the data anew, and trains a copy of the estimator on each of the
    sizes, one within the next. All estimators meet the same splits.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> plan = experiment(X, y, {"bayes": GaussianNB()}, trials=3)
    >>> run = plan.algorithms[0].run
    >>> data = plan.tasks[0].sample(*np.random.default_rng(0).spawn(2))
    >>> for size, scores in run({}, data, np.random.default_rng(0)):
    ...     print(size, scores["counts"].trace() / scores["counts"].sum() > 0.8)
    14 True
    28 True
    56 True
    112 True
    """
    labels = _predict_labels(estimators)
    X, y, classes = checked(X, y, labels=labels)
    labels = classes is not None
    if isinstance(sizes, str) and sizes == "auto":
        n = len(y) - held_size(len(y), test)
        sizes = sizes_for(n, smallest=25 * (1 if classes is None else len(classes)))
    task = data_task(
        *(X, y),
        test=test,
        sizes=sizes,
        lines=lines,
        stratify=stratify,
        labels=labels,
        name=name,
    )
    spaces = _spaces(spaces or {}, estimators)
    algorithms = [
        Algorithm(
            estimator_name,
            spaces.get(estimator_name, {}),
            growing(Clone(estimator, labels), validate=validate, examples=examples),
        )
        for estimator_name, estimator in estimators.items()
    ]
    return Experiment([task], algorithms, trials, seed, vary=vary)


def _predict_labels(estimators: Mapping[str, Any]) -> bool | None:
    """Return whether all are classifiers, all regressors (False), or nobody knows."""
    from sklearn.base import is_classifier, is_regressor

    if not isinstance(estimators, Mapping) or not estimators:
        raise CurvewiseError(
            f"estimators is {shortened(estimators)}. Pass a dict from names to "
            f"estimators, such as {{'svm': SVC()}}.",
            argument="estimators",
            value=estimators,
        )
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for name, estimator in estimators.items():
        parts = ("fit", "predict", "get_params", "set_params")
        missing = [part for part in parts if not hasattr(estimator, part)]
        if missing or isinstance(estimator, type):
            why = "is a class" if isinstance(estimator, type) else "has no "
            raise CurvewiseError(
                f"Estimator '{shortened(name)}' {why}"
                f"{'' if isinstance(estimator, type) else listed(missing)}. Pass an "
                f"object made like scikit-learn's, such as SVC()."
            )
        for kind, test in ((True, is_classifier), (False, is_regressor)):
            with contextlib.suppress(AttributeError):  # not derived from scikit-learn's
                if test(estimator):
                    kinds[kind].append(name)
    if kinds[True] and kinds[False]:
        raise CurvewiseError(
            f"{listed(kinds[True])} predict labels, {listed(kinds[False])} predict "
            f"numbers. Make an experiment of each kind."
        )
    return True if kinds[True] else False if kinds[False] else None


def _spaces(
    spaces: Mapping[str, Space], estimators: Mapping[str, Any]
) -> Mapping[str, Space]:
    for name, space in spaces.items():
        if name not in estimators:
            raise unknown("estimator for the space", name, estimators)
        params = estimators[name].get_params()
        for parameter in space if isinstance(space, Mapping) else ():
            if parameter not in params:
                raise unknown(f"parameter of estimator '{name}'", parameter, params)
    return spaces
