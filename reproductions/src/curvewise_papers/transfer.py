"""Small networks that start from what they learnt elsewhere: frozen, or tuned further."""

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.zoo.tasks import SEEDS
from curvewise_papers.tasks import standardised, table_file, table_of

Floats: TypeAlias = NDArray[np.float64]
Layers: TypeAlias = tuple[tuple[Floats, Floats], ...]

_BATCH = 64
_SEED = 2021  # of what is learnt elsewhere: one network, as those that are published
_SOURCE_EPOCHS = 20


@dataclass(frozen=True, slots=True)
class Source:
    """Where the hidden layers of a network come from.

    Parameters
    ----------
    table : str
        A table of `curvewise_papers.tasks`.
    labels : tuple, optional
        Only its examples of these.
    by : {"labels", "inputs"}
        Whether the network learnt to tell these labels, or, without any, to restore
        inputs to which noise was added.
    features : int, optional
        Reduce the table to as many principal components, each of variance 1.
    """

    table: str
    labels: tuple[Any, ...] | None = None
    by: Literal["labels", "inputs"] = "labels"
    features: int | None = None

    def examples(self) -> tuple[Floats, NDArray[Any]]:
        """Return what there is to learn from."""
        X, y = table_of(str(table_file(self.table)), self.labels)
        X = standardised(X, X)
        if self.features is not None:
            left, size, _ = np.linalg.svd(X, full_matrices=False)
            X = standardised(*(2 * [(left * size)[:, : self.features]]))
        return X, y


@dataclass(frozen=True, slots=True)
class Network:
    """Trains a network whose hidden layers may come from elsewhere; for `growing`."""

    layers: tuple[int, ...]
    source: Source | None = None
    is_tuned: bool = True
    solver: Literal["adam", "sgd"] = "adam"
    momentum: float = 0.0
    rate: float = 0.01
    passes: float = 24.0
    copies: int = 0
    jitter: float = 0.2
    members: int = 1

    @property
    def parameters(self) -> int:
        """How many numbers are between 16 inputs and 13 classes, over all members."""
        units = (16, *self.layers, 13)
        return self.members * sum((a + 1) * b for a, b in itertools.pairwise(units))

    def warm_up(self) -> None:
        """Import what trials need, and learn what is learnt elsewhere."""
        import sklearn.neural_network  # noqa: F401

        if self.source is not None:
            learnt(self.source, self.layers)

    def __call__(
        self,
        _params: Mapping[str, Any],
        X: Floats,
        y: NDArray[Any],
        rng: np.random.Generator,
    ) -> Callable[[Floats], NDArray[Any]]:
        """Return the predictions of a trained network as a function."""
        start = None if self.source is None else learnt(self.source, self.layers)
        passes = self.passes * math.sqrt(8000 / len(y))
        if self.copies:
            X, y = jittered(X, y, self.copies, self.jitter, rng)
            passes /= 1 + self.copies
        models = [self._member(X, y, start, passes, rng) for _ in range(self.members)]
        return functools.partial(_vote, models)

    def _member(
        self,
        X: Floats,
        y: NDArray[Any],
        start: Layers | None,
        passes: float,
        rng: np.random.Generator,
    ) -> Callable[[Floats], Any]:
        frozen: Layers = ()
        hidden = self.layers
        if not self.is_tuned:
            frozen = start if start is not None else random_layers(X, hidden, rng)
            start, hidden = None, ()
        model = _classifier(self, hidden, passes, min(_BATCH, len(y)), rng)
        inputs = through(frozen, X)
        if start is not None:
            # One step makes layers of the right shape, to be replaced and gone on from.
            model.partial_fit(inputs[:_BATCH], y[:_BATCH], classes=np.unique(y))
            model.set_params(warm_start=True)
            for i, (weights, shifts) in enumerate(start):
                model.coefs_[i], model.intercepts_[i] = weights.copy(), shifts.copy()
        _quietly(model, inputs, y)
        return functools.partial(_answered, model, frozen)


def _classifier(
    net: Network,
    hidden: tuple[int, ...],
    passes: float,
    batch: int,
    rng: np.random.Generator,
) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        hidden,
        solver=net.solver,
        learning_rate_init=net.rate,
        momentum=net.momentum,
        nesterovs_momentum=net.momentum > 0,
        batch_size=batch,
        max_iter=max(1, round(passes)),
        n_iter_no_change=10**6,  # passes are what was asked for
        random_state=int(rng.integers(SEEDS)),
    )


def _quietly(model: Any, X: Floats, y: Any) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def _answered(model: Any, frozen: Layers, X: Floats) -> tuple[Floats, NDArray[Any]]:
    return model.predict_proba(through(frozen, X)), model.classes_


def _vote(models: list[Callable[[Floats], Any]], X: Floats) -> NDArray[Any]:
    votes = [model(X) for model in models]
    classes: NDArray[Any] = votes[0][1]
    best = np.mean([chances for chances, _ in votes], axis=0).argmax(axis=1)
    return np.asarray(classes[best])


def through(layers: Layers, X: Floats) -> Floats:
    """Return what rectified layers make of inputs.

    >>> identity = (np.eye(2), np.zeros(2))
    >>> through((identity,), np.array([[1.0, -1.0]])).tolist()
    [[1.0, 0.0]]
    """
    for weights, shifts in layers:
        X = np.maximum(X @ weights + shifts, 0.0)
    return X


def jittered(
    X: Floats, y: NDArray[Any], copies: int, sd: float, rng: np.random.Generator
) -> tuple[Floats, NDArray[Any]]:
    """Return examples followed by copies to which noise was added.

    >>> rng = np.random.default_rng(0)
    >>> X, y = jittered(np.zeros((2, 1)), np.array([0, 1]), 2, 0.1, rng)
    >>> X.shape, y.tolist(), X[:2].tolist()
    ((6, 1), [0, 1, 0, 1, 0, 1], [[0.0], [0.0]])
    """
    noise = sd * rng.standard_normal((copies, *X.shape))
    more = (X + noise).reshape(-1, X.shape[1])
    return np.concatenate([X, more]), np.tile(y, 1 + copies)


def random_layers(
    X: Floats, layers: tuple[int, ...], rng: np.random.Generator
) -> Layers:
    """Return layers as networks begin: uniform numbers, narrower the more inputs."""
    units = (X.shape[1], *layers)
    weights = []
    for before, after in itertools.pairwise(units):
        bound = math.sqrt(6 / (before + after))
        size = rng.uniform(-bound, bound, (before + 1, after))
        weights.append((size[:-1], size[-1]))
    return tuple(weights)


@functools.lru_cache(maxsize=64)
def learnt(source: Source, layers: tuple[int, ...]) -> Layers:
    """Return the hidden layers of a network that learnt from a source, always the same."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    X, y = source.examples()
    options: dict[str, Any] = {
        "batch_size": _BATCH,
        "learning_rate_init": 0.003,
        "max_iter": _SOURCE_EPOCHS,
        "n_iter_no_change": 10**6,
        "random_state": _SEED,
    }
    if source.by == "labels":
        model = MLPClassifier(layers, **options)
    elif source.by == "inputs":
        rng = np.random.default_rng(_SEED)
        y = np.tile(X, (4, 1))
        X = y + 0.5 * rng.standard_normal(y.shape)
        # The way back mirrors the way in.
        options["max_iter"] = _SOURCE_EPOCHS // 4
        model = MLPRegressor(hidden_layer_sizes=(*layers, *layers[-2::-1]), **options)
    else:
        raise CurvewiseError(f"Source: by is {source.by!r}. Pass 'labels' or 'inputs'.")
    _quietly(model, X, y)
    depth = len(layers)
    return tuple(zip(model.coefs_[:depth], model.intercepts_[:depth], strict=True))
