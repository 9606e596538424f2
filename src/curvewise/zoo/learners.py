"""Classifiers with the distributions of hyperparameters that papers gave them.

Each function returns an `Algorithm` that runs along all sizes of its data, one unless
the task has more, and yields confusion counts: accuracy, error, precision, recall and F1
follow from them. Spaces are those of Jordan et al. (2018), Appendix A, where they have
the algorithm; everything else is scikit-learn's default.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from curvewise.engine.experiment import Algorithm
from curvewise.engine.spaces import Space, log_integers, loguniform, when
from curvewise.engine.spaces.space import When
from curvewise.engine.supervised.growing import growing
from curvewise.errors import unknown
from curvewise.zoo.estimators import Learner, names_of

Usual: TypeAlias = tuple[Learner, Mapping[str, Any]]


class Maker(Protocol):
    """What `learner` returns: a function that makes an algorithm."""

    def __call__(
        self,
        *,
        name: str | None = None,
        space: Space | None = None,
        validate: str | int = "test",
        examples: bool = False,
        **settings: Any,
    ) -> Algorithm:
        """Return the algorithm; `knn` says what the options are."""


def learner(usual: Callable[[], Usual]) -> Maker:
    """Return the function that makes an algorithm of a learner and what is drawn.

    It is for functions without arguments whose name is what to call the algorithm. What
    comes out has the options that all of them share, also for ``help`` and for editors.

    Examples
    --------
    >>> @learner
    ... def vote() -> Usual:
    ...     return Learner("sklearn.dummy.DummyClassifier", {}), {"constant": [0, 1]}
    >>> print(vote(strategy="constant", name="always the same"))
    always the same
      constant: one of 0, 1
    """
    kind = usual.__name__

    def make(
        *,
        name: str | None = None,
        space: Space | None = None,
        validate: str | int = "test",
        examples: bool = False,
        **settings: Any,
    ) -> Algorithm:
        fitter, laws = usual()
        names = names_of(fitter.path) if settings else ()
        for setting in settings:
            if setting not in names:
                options = [name for name in signature.parameters if name != "settings"]
                raise unknown(f"setting of '{kind}'", setting, (*options, *names))
        if space is None:
            space = _space(laws, settings)
        fit = Learner(fitter.path, {**fitter.settings, **settings})
        run = growing(fit, validate=validate, examples=examples)
        return Algorithm(name or kind, space, run)

    signature = inspect.signature(make)
    functools.update_wrapper(make, usual)
    make.__signature__ = signature  # type: ignore[attr-defined]  # for help and editors
    return make


def _space(laws: Mapping[str, Any], settings: Mapping[str, Any]) -> Space:
    # What is fixed stays in the space, as its only value: others may hang on it.
    fixed = {key: [value] for key, value in settings.items() if key in laws}
    return {**{k: v for k, v in laws.items() if _possible(v, settings)}, **fixed}


def _possible(value: Any, settings: Mapping[str, Any]) -> bool:
    """Return whether a parameter can be there at all with these settings."""
    condition = value.condition if isinstance(value, When) else {}
    return all(
        settings[name] in wanted
        for name, wanted in condition.items()
        if name in settings
    )


# --- Classifiers with the distributions of hyperparameters that papers gave them -------
#
# Each function returns an `Algorithm` that runs along all sizes of its data, one unless
# the task has more, and yields confusion counts: accuracy, error, precision, recall and F1
# follow from them. Spaces are those of Jordan et al. (2018), Appendix A, where they have
# the algorithm; everything else is scikit-learn's default.


_LAYERS = (50, 100, 150)


@learner
def knn() -> Usual:
    """Return k nearest neighbours: k is 3, 4, 5, 10, 25 or 50.

    Parameters
    ----------
    name : str
        What to call it; ``"knn"`` if left out.
    space : Space, optional
        Another distribution of hyperparameters; ``{}`` for none.
    validate : {"test", "third"} or int
        What to score on; see `curvewise.engine.supervised.growing.growing`.
    examples : bool
        Whether to yield who was answered correctly, too.
    **settings
        Any setting of the classifier, such as ``n_neighbors=5``: the same in every trial,
        and no longer drawn.

    Examples
    --------
    >>> print(knn(weights="distance"))
    knn
      n_neighbors: one of 3, 4, 5, 10, 25, 50
    """
    usual = Learner("sklearn.neighbors.KNeighborsClassifier", {"n_jobs": 1})
    laws = {"n_neighbors": [3, 4, 5, 10, 25, 50]}
    return usual, laws


@learner
def forest() -> Usual:
    """Return a random forest.

    10 to 100 trees, log-uniform; Gini or entropy; at least 2, 4, 8 or 16 examples to
    split and 1, 3 or 5 in a leaf.

    Parameters
    ----------
    name, space, validate, examples, **settings
        As in `knn`.
    """
    laws = {
        "n_estimators": log_integers(10, 100),
        "criterion": ["gini", "entropy"],
        "min_samples_split": [2, 4, 8, 16],
        "min_samples_leaf": [1, 3, 5],
    }
    return Learner("sklearn.ensemble.RandomForestClassifier", {"n_jobs": 1}), laws


@learner
def svm() -> Usual:
    """Return a support vector machine.

    C is log-uniform from 0.01 to 100; the kernel is linear, polynomial of degree 2 to 5,
    radial or sigmoid. Gamma is one over the number of features, scikit-learn's default
    when the paper was written; today's default gives other scores.

    Parameters
    ----------
    name, space, validate, examples, **settings
        As in `knn`.
    """
    laws = {
        "C": loguniform(0.01, 100),
        "kernel": ["linear", "poly", "rbf", "sigmoid"],
        "degree": when({"kernel": "poly"}, [2, 3, 4, 5]),
    }
    return Learner("sklearn.svm.SVC", {"gamma": "auto"}), laws


@learner
def logistic() -> Usual:
    """Return logistic regression with an l2 penalty, C log-uniform from 1e-4 to 1e4.

    Solved by saga in at most 1000 passes. The paper prints the range as "[0.0001, 1,
    0000]"; ours is the reading with one comma misplaced.

    Parameters
    ----------
    name, space, validate, examples, **settings
        As in `knn`.
    """
    fixed = {"solver": "saga", "max_iter": 1000}
    usual = Learner("sklearn.linear_model.LogisticRegression", fixed)
    laws = {"C": loguniform(1e-4, 1e4)}
    return usual, laws


@learner
def network() -> Usual:
    """Return a network of one or two hidden layers.

    Layers of 50, 100 or 150 units, all 12 combinations equally likely; logistic, tanh or
    relu units; Adam with a constant step size, log-uniform from 1e-4 to 0.1; at most 200
    epochs, stopped early.

    Parameters
    ----------
    name, space, validate, examples, **settings
        As in `knn`.
    """
    one = [[a] for a in _LAYERS]
    laws = {
        "hidden_layer_sizes": one + [[a, b] for a in _LAYERS for b in _LAYERS],
        "activation": ["logistic", "tanh", "relu"],
        "learning_rate_init": loguniform(1e-4, 1e-1),
    }
    fixed = {"solver": "adam", "early_stopping": True, "max_iter": 200}
    return Learner("sklearn.neural_network.MLPClassifier", fixed), laws


@learner
def lda() -> Usual:
    """Return linear discriminant analysis, which has no hyperparameters here.

    Parameters
    ----------
    name, space, validate, examples, **settings
        As in `knn`.
    """
    return Learner("sklearn.discriminant_analysis.LinearDiscriminantAnalysis", {}), {}


@learner
def naive_bayes() -> Usual:
    """Return naive Bayes with Gaussian features, which has no hyperparameters here.

    Parameters
    ----------
    name, space, validate, examples, **settings
        As in `knn`.
    """
    return Learner("sklearn.naive_bayes.GaussianNB", {}), {}


@learner
def tree() -> Usual:
    """Return a decision tree, grown to the end, which has no hyperparameters here.

    Parameters
    ----------
    name, space, validate, examples, **settings
        As in `knn`.
    """
    return Learner("sklearn.tree.DecisionTreeClassifier", {}), {}
