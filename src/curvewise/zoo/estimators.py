"""From estimators of scikit-learn to an experiment."""

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from curvewise.engine.experiment import Algorithm, Experiment
from curvewise.engine.spaces import Space
from curvewise.engine.supervised.data import checked
from curvewise.engine.supervised.growing import growing
from curvewise.engine.supervised.sizes import Sizes, held_size, sizes_for
from curvewise.errors import CurvewiseError, listed, shortened, unknown
from curvewise.zoo.fitting import Clone
from curvewise.zoo.tasks import Lines, data_task


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
    drawn = _spaces(spaces or {}, estimators)
    algorithms = [
        Algorithm(
            own,
            drawn.get(own, {}),
            growing(Clone(estimator, labels), validate=validate, examples=examples),
        )
        for own, estimator in estimators.items()
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
        known = estimators[name].get_params()
        for parameter in space if isinstance(space, Mapping) else ():
            if parameter not in known:
                raise unknown(f"parameter of estimator '{name}'", parameter, known)
    return spaces
