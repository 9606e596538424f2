"""A learner run over growing training sets, scored by confusion counts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.engine.supervised.data import Supervised, code
from curvewise.engine.trial_run import warm_up
from curvewise.errors import CurvewiseError, Keyword, is_whole, shortened

Predict: TypeAlias = Callable[[Any], Any]
Fit: TypeAlias = Callable[
    [Mapping[str, Any], Any, NDArray[Any], np.random.Generator], Predict
]


@dataclass(frozen=True, slots=True)
class Growing:
    """Runs a learner at every size of its data; made by `growing`."""

    fit: Fit
    validate: str | int
    examples: bool

    def warm_up(self) -> None:
        """Import what trials need."""
        warm_up(self.fit)

    def __call__(
        self, params: Mapping[str, Any], data: Supervised, rng: np.random.Generator
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the size and what was scored there, size by size."""
        for n in data.sizes:
            yield n, self._at(n, params, data, _stream(rng, n))

    def _at(
        self,
        n: int,
        params: Mapping[str, Any],
        data: Supervised,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        parts = _parts(n, self.validate, data, rng)
        truth, called, ids, trained = [], [], [], 0
        for part in parts:
            X, y = part.train()
            predict = self.fit(params, X, y, rng)
            X_test, y_test = part.test
            called.append(_called(predict(X_test), len(y_test)))
            truth.append(y_test)
            ids.append(part.test_ids)
            trained += len(y)
        scored = _scored(np.concatenate(truth), np.concatenate(called), data.classes)
        correct = scored.pop("correct", None)
        if self.examples and correct is not None:
            scored |= {"correct": correct, "examples": np.concatenate(ids)}
        if trained != n * len(parts):
            scored["trained_on"] = trained / len(parts)
        return scored


def growing(
    fit: Fit, *, validate: str | int = "test", examples: bool = True
) -> Growing:
    """Return what an `Algorithm` runs: a learner over all sizes of a supervised task.

    Parameters
    ----------
    fit : callable
        ``fit(params, X, y, rng)`` trains a model and returns its ``predict(X)``.
    validate : {"test", "third"} or int
        - ``"test"``: train on all n examples of a size, score on the test set.
        - ``"third"``: train on two thirds of the n, score on the others, drawn at random:
          n // 3 of them, the rest trains, as Xue et al. (2025) do.
        - k: cross-validation with k folds within the n; counts are summed over folds.
    examples : bool
        Whether to yield, beside counts, who was answered correctly.

    Returns
    -------
    Growing
        Yields (n, scores) for every n of ``data.sizes``. Scores are ``"counts"``, the
        confusion matrix over ``data.classes``, from which accuracy, error, precision,
        recall and F1 follow; with `examples`, ``"correct"`` and ``"examples"``, one
        boolean and one id for each. Where there are no classes they are ``"rmse"`` and
        ``"r2"``. Where fewer than n examples were trained on, ``"trained_on"`` says how
        many, on average over folds; curves over n should be fitted at that number.

    Notes
    -----
    Each size has a stream of its own, which hangs on the trial's stream and on n: what
    happens at a size does not depend on which other sizes there are.

    Examples
    --------
    >>> from curvewise.engine.supervised.data import from_sets
    >>> def majority(params, X, y, rng):
    ...     labels, number = np.unique(y, return_counts=True)
    ...     return lambda X: np.full(len(X), labels[number.argmax()])
    >>> data = from_sets((np.eye(3), [0, 1, 1]), (np.eye(3), [0, 0, 1]), sizes=[1, 3])
    >>> run = growing(majority, examples=False)
    >>> for n, scores in run({}, data, np.random.default_rng(0)):
    ...     print(n, scores["counts"].tolist())
    1 [[2, 0], [1, 0]]
    3 [[0, 2], [0, 1]]
    """
    if not callable(fit):
        raise CurvewiseError(
            f"fit is {shortened(fit)}, which cannot be called. Pass a function "
            f"fit(params, X, y, rng) that returns predict(X).",
            argument="fit",
            value=fit,
        )
    if is_whole(validate, 2):
        validate = int(validate)
    elif validate not in ("test", "third"):
        raise CurvewiseError(
            f"validate is {validate!r}. Pass 'test', 'third', or a number of folds "
            f"from 2 on.",
            argument="validate",
            value=validate,
        )
    return Growing(fit, validate, bool(examples))


def _stream(rng: np.random.Generator, n: int) -> np.random.Generator:
    """Return the stream of size `n`, keyed by n itself, not by its place among sizes."""
    bits: Any = rng.bit_generator
    seed = bits.seed_seq
    key = (*seed.spawn_key, n)
    child = np.random.SeedSequence(
        seed.entropy, spawn_key=key, pool_size=seed.pool_size
    )
    return np.random.Generator(type(bits)(child))


def _parts(
    n: int, validate: str | int, data: Supervised, rng: np.random.Generator
) -> list[Supervised]:
    """Return what to train and to score on at size `n`."""
    block = data.block(n)
    if validate == "test":
        if not len(block.held):
            raise CurvewiseError(
                "There is no test set. Hold examples out, or pass ",
                {"validate": "third"},
                ".",
            )
        return [block]
    if validate == "third":
        if n < 3:
            raise CurvewiseError(
                Keyword("validate", "third"),
                f" needs at least 3 examples, and a size is {n}.",
            )
        return [block.held_out(n // 3, rng)]
    return block.folds(int(validate), rng)


def _called(answers: Any, n: int) -> NDArray[Any]:
    called = np.asarray(answers)
    if called.shape != (n,):
        raise CurvewiseError(
            f"predict answered with shape {called.shape} to {n} examples. "
            f"Return one label or number for each."
        )
    return called


def _scored(
    truth: NDArray[Any], called: NDArray[Any], classes: NDArray[Any] | None
) -> dict[str, Any]:
    if classes is None:
        return _numeric(truth, called.astype(np.float64))
    true, answered = (_codes(labels, classes) for labels in (truth, called))
    k = len(classes)
    counts = np.bincount(true * k + answered, minlength=k * k).reshape(k, k)
    return {"counts": counts, "correct": true == answered}


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    codes = code(labels, classes)
    wrong = classes[codes] != labels
    if wrong.any():
        raise CurvewiseError(
            f"{shortened(repr(labels[wrong][0]))} was predicted, and the classes are "
            f"{shortened(classes.tolist())}. Predict one of them."
        )
    return codes


def _numeric(
    truth: NDArray[np.float64], called: NDArray[np.float64]
) -> dict[str, float]:
    squares = float(((truth - called) ** 2).sum())
    total = float(((truth - truth.mean()) ** 2).sum())
    # Where all numbers are the same there is nothing to explain: 1 if hit, 0 if not.
    r2 = 1 - squares / total if total > 0 else float(squares == 0)
    return {"rmse": (squares / len(truth)) ** 0.5, "r2": r2}
