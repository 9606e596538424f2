"""How well curves foresee sizes that they were not shown, and how often bands hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from curvewise import metrics as meanings
from curvewise.errors import CurvewiseError, unknown
from curvewise.stats.confusion.curve import Method, fit_confusion_curves
from curvewise.stats.confusion.data import Examples, count_tables
from curvewise.stats.confusion.draws import TARGETS, Target
from curvewise.stats.counts.draws import metric_of
from curvewise.stats.forms import FORMS, fit_forms, form_of
from curvewise.stats.validation import (
    Floats,
    as_floats,
    bad_value,
    checked_confidence,
    checked_sizes,
    is_number,
    one_of,
)

__all__ = [
    "ForeseenSizes",
    "foresee_last",
    "leave_one_size_out",
]


_Settings: TypeAlias = dict[str, dict[str, Any]]
_Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Replications:
    """The same curve, measured again and again; sizes are increasing."""

    order: _Indices  # (size,): where each of them was in what came
    sizes: Floats
    trained_on: Floats
    counts: Any  # of each replication, of each size: a matrix, or an array of them
    summed: Floats  # (replication, size, class, class)
    examples: Sequence[Examples] | None


@dataclass(frozen=True, slots=True)
class _Question:
    """What is foreseen, and of which test sets."""

    metrics: _Settings
    target: Target
    confidence: float
    test_size: Floats | None
    runs: Floats | None
    allow_increase: bool


PAPERS = ("error", "precision", "recall", "f1")
_SURE = 0.95  # of the intervals for shares of replications


@dataclass(frozen=True, slots=True, eq=False)
class ForeseenSizes:
    """What was foreseen at sizes that were left out, and what was true there.

    Parameters
    ----------
    method : str
        Of fitting: a count curve, or a form of the metric's own curve.
    target : {"mean", "observed", "model"}
        The unknown that was foreseen.
    confidence : float
        Of the intervals.
    sizes : ndarray, shape (size,)
        Those that were left out.
    shown : tuple of ndarray
        For each of them, the sizes that were shown.
    metrics : tuple of str
    truth, value, lower, upper : ndarray, shape (metric, replication, size)
        Ends are NaN where the method has no interval.
    """

    method: str
    target: Target
    confidence: float
    sizes: Floats
    shown: tuple[Floats, ...]
    metrics: tuple[str, ...]
    truth: Floats
    value: Floats
    lower: Floats
    upper: Floats

    @property
    def replications(self) -> int:
        """How often everything was measured again."""
        return int(self.truth.shape[1])

    @property
    def rmse(self) -> Floats:
        r"""Root of the mean square of what was missed, shape (metric, size).

        .. math:: \sqrt{\frac{1}{J} \sum_j (\hat m_j - m_j)^2}

        Xue et al. (2025) print their Eq. (29) without 1/J; their tables have it.
        """
        return np.asarray(np.sqrt(((self.value - self.truth) ** 2).mean(1)))

    @property
    def rmse_error(self) -> Floats:
        """The standard error of `rmse`, from replication to replication."""
        squares = (self.value - self.truth) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.rmse > 0, _error(squares) / (2 * self.rmse), 0.0)

    @property
    def bias(self) -> Floats:
        """The mean of what was foreseen less what was true, shape (metric, size)."""
        return np.asarray((self.value - self.truth).mean(1))

    @property
    def covered(self) -> Floats:
        """Degree of confidence: the share of intervals that hold, shape (metric, size).

        NaN where there are no intervals.
        """
        holds = (self.lower <= self.truth) & (self.truth <= self.upper)
        return np.where(np.isnan(self.lower).any(1), np.nan, holds.mean(1))

    @property
    def covered_interval(self) -> tuple[Floats, Floats]:
        """Both ends of Wilson's 95 % interval for `covered`."""
        z = float(ndtri((1 + _SURE) / 2)) ** 2 / self.replications
        share = self.covered
        middle = (share + z / 2) / (1 + z)
        reach = np.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
        return np.minimum(middle - reach, share), np.maximum(middle + reach, share)

    @property
    def length(self) -> Floats:
        """The mean length of the intervals, shape (metric, size)."""
        return np.asarray((self.upper - self.lower).mean(1))

    @property
    def length_error(self) -> Floats:
        """The standard error of `length`."""
        return _error(self.upper - self.lower)

    def rows(self) -> list[dict[str, float | str]]:
        """Return a row for each metric and size."""
        low, high = self.covered_interval
        columns = {
            "rmse": self.rmse,
            "rmse se": self.rmse_error,
            "bias": self.bias,
            "covered": self.covered,
            "covered from": low,
            "covered to": high,
            "length": self.length,
            "length se": self.length_error,
        }
        return [
            {
                "metric": name,
                "n": float(n),
                **{key: float(column[i, k]) for key, column in columns.items()},
            }
            for i, name in enumerate(self.metrics)
            for k, n in enumerate(self.sizes)
        ]


def leave_one_size_out(
    sizes: ArrayLike,
    counts: Any,
    truth: Any,
    *,
    method: str = "drift",
    metrics: Sequence[str] | Mapping[str, dict[str, Any]] = PAPERS,
    target: Target = "observed",
    confidence: float = 0.95,
    trained_on: ArrayLike | None = None,
    examples: Sequence[Examples] | None = None,
    test_size: ArrayLike | None = None,
    runs: ArrayLike | None = None,
    allow_increase: bool = False,
) -> ForeseenSizes:
    """Return how well curves foresee each size from all others, over replications.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        The same in all replications, three at least; what is foreseen is at these.
    counts : array_like, shape (replication, size, K, K) or with runs before K, or lists
        What curves are fitted to.
    truth : mapping of str to array_like, or counts
        What was true: by metric, numbers (replication, size); or counts like those above,
        of which runs are summed. It decides about `target`: from many models and a large
        test set it is the *mean*, from those that were run it is *observed*, from single
        models on a large test set it is *model*.
    method : str
        ``"drift"``, ``"calibrated"``, ``"paper"``; or a form of the catalogue,
        such as ``"POW3"`` or ``"LAST1"``, fitted to each metric's own curve as if its
        noise were normal, without intervals.
    metrics : sequence of str, or dict
        Names, or names with their settings, such as ``{"f1": {"average": "micro"}}``.
    target : {"mean", "observed", "model"}
    confidence : float
    trained_on : array_like, optional
        On how many examples the models of `counts` were trained, where some were kept for
        validation.
    examples : sequence of Examples, optional
        For each replication.
    test_size, runs : float or array_like of shape (size,), optional
        Of the truth, where the target is *observed*. As in `counts`, if left out.
    allow_increase : bool
        Whether forms may get worse with size.

    Returns
    -------
    ForeseenSizes

    Notes
    -----
    The protocol of Xue et al. [1]_. Their truth, the mean of the models of all blocks on
    one test set, is *observed*. It varies itself: no method's RMSE falls below that, and
    differences between methods look smaller than they are. Pass one from a large test set,
    too.

    References
    ----------
    .. [1] See `fit_confusion_curve`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> n = np.array([40, 80, 160, 320, 640])
    >>> recall = 1 / (1 + np.exp(-2 + 9 * n**-0.5))
    >>> right = rng.binomial(100, recall, size=(20, 2, 5)).swapaxes(1, 2)
    >>> wrong = 100 - right
    >>> rows = [[right[..., 0], wrong[..., 0]], [wrong[..., 1], right[..., 1]]]
    >>> counts = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
    >>> truth = {"error": np.tile(1 - recall, (20, 1))}
    >>> found = leave_one_size_out(
    ...     n, counts, truth, method="POW3", metrics=["error"], target="mean"
    ... )
    >>> found.rmse.shape
    (1, 5)
    """
    data = _replications(sizes, counts, trained_on, examples)
    every = np.arange(len(data.sizes))
    if len(every) < 3:
        raise CurvewiseError(
            f"Of {len(every)} sizes none can be left out: that takes three. Train on more "
            f"sizes.",
            argument="sizes",
        )
    folds = [(np.delete(every, i), i) for i in every.tolist()]
    question = _question(
        data, metrics, target, confidence, test_size, runs, allow_increase
    )
    return _validated(data, folds, truth, method, question)


def foresee_last(
    sizes: ArrayLike,
    counts: Any,
    truth: Any,
    *,
    share: float = 0.8,
    method: str = "drift",
    metrics: Sequence[str] | Mapping[str, dict[str, Any]] = PAPERS,
    target: Target = "observed",
    confidence: float = 0.95,
    trained_on: ArrayLike | None = None,
    examples: Sequence[Examples] | None = None,
    test_size: ArrayLike | None = None,
    runs: ArrayLike | None = None,
    allow_increase: bool = False,
) -> ForeseenSizes:
    """Return how well curves foresee the last size from the first ones.

    Parameters
    ----------
    share : float
        Of the sizes, so many are shown: rounded down, two at least, never the last.
    sizes, counts, truth, method, metrics, target, confidence
        See `leave_one_size_out`.
    trained_on, examples, test_size, runs, allow_increase
        See there.

    Examples
    --------
    >>> counts = [[[[30, 10], [12, 28]], [[33, 7], [9, 31]], [[35, 5], [6, 34]]]]
    >>> found = foresee_last([40, 80, 160], counts, counts, method="LAST1")
    >>> found.metrics, found.value[:, 0, 0].round(3).tolist()
    (('error', 'precision', 'recall', 'f1'), [0.2, 0.816, 0.775, 0.795])
    """
    if not (is_number(share) and 0 < share < 1):
        raise bad_value("share", share, "Pass one between 0 and 1.")
    data = _replications(sizes, counts, trained_on, examples)
    last = len(data.sizes) - 1
    if last < 2:
        raise CurvewiseError(
            f"Of {last + 1} sizes the last cannot be foreseen: that takes three. Train on "
            f"more sizes.",
            argument="sizes",
        )
    count = min(max(int(share * (last + 1) + 1e-9), 2), last)
    question = _question(
        data, metrics, target, confidence, test_size, runs, allow_increase
    )
    return _validated(data, [(np.arange(count), last)], truth, method, question)


def _question(
    data: _Replications,
    metrics: Any,
    target: Target,
    confidence: float,
    test_size: Any,
    runs: Any,
    allow_increase: bool,
) -> _Question:
    one_of("target", target, TARGETS)
    return _Question(
        metrics=_settings(metrics),
        target=target,
        confidence=checked_confidence(confidence),
        test_size=_by_size(test_size, "test_size", data),
        runs=_by_size(runs, "runs", data),
        allow_increase=allow_increase,
    )


def _validated(
    data: _Replications,
    folds: Sequence[tuple[_Indices, int]],
    truth: Any,
    method: str,
    question: _Question,
) -> ForeseenSizes:
    if method in get_args(Method):
        foreseen = _by_counts
    elif str(method).casefold() in {name.casefold() for name in FORMS}:
        foreseen = _by_form
    else:
        raise unknown("method", method, [*get_args(Method), *FORMS])
    places = [at for _, at in folds]
    true = _true_values(truth, question.metrics, data)[:, :, places]
    ends = [foreseen(data, train, at, method, question) for train, at in folds]
    value, lower, upper = np.stack(ends, axis=-1)
    return ForeseenSizes(
        method=str(method),
        target=question.target,
        confidence=question.confidence,
        sizes=data.sizes[places],
        shown=tuple(data.sizes[train] for train, _ in folds),
        metrics=tuple(question.metrics),
        truth=true,
        value=value,
        lower=lower,
        upper=upper,
    )


def _error(values: Floats) -> Floats:
    """Return the standard error of the mean over replications; NaN with one of them."""
    n = values.shape[1]
    if n < 2:
        return np.full((values.shape[0], values.shape[2]), np.nan)
    return np.asarray(values.std(1, ddof=1) / np.sqrt(n))


# --- Sizes that curves were not shown: what was true there, and what was foreseen ------


def _replications(
    sizes: ArrayLike,
    counts: Any,
    trained_on: ArrayLike | None,
    examples: Sequence[Examples] | None,
) -> _Replications:
    """Return replications over the same sizes, increasing; refuse what is none."""
    n = checked_sizes(sizes, "sizes")
    amounts = n if trained_on is None else checked_sizes(trained_on, "trained_on")
    try:
        each = counts if isinstance(counts, np.ndarray) else [list(c) for c in counts]
        is_empty = len(each) == 0
    except TypeError:
        is_empty = True
    if is_empty:
        raise CurvewiseError(
            "counts holds no replications. Pass for each one what a curve takes: a matrix, "
            "or an array of them, for each size.",
            argument="counts",
        )
    table = count_tables(n, each, trained_on=amounts, examples=examples)
    order = np.argsort(amounts, kind="stable")
    if (np.diff(n[order]) <= 0).any():
        raise CurvewiseError(
            "sizes and trained_on are in different orders. Pass both of the same models.",
            argument="trained_on",
        )
    if examples is not None:
        examples = [_rows(one, order) for one in examples]
    return _Replications(
        order=order,
        sizes=n[order],
        trained_on=amounts[order],
        counts=_taken(each, order),
        summed=table.counts,
        examples=examples,
    )


def _settings(metrics: Any) -> _Settings:
    """Return metrics by name, each with its settings."""
    if isinstance(metrics, str):
        metrics = [metrics]
    by_name = (
        metrics if isinstance(metrics, Mapping) else {name: {} for name in metrics}
    )
    for name, settings in by_name.items():
        metric_of(name, dict(settings))
    if not by_name:
        raise CurvewiseError(
            "There are no metrics. Name one at least, such as 'f1'.", argument="metrics"
        )
    return {name: dict(settings) for name, settings in by_name.items()}


def _true_values(truth: Any, metrics: _Settings, data: _Replications) -> Floats:
    """Return what was true, shape (metric, replication, size).

    From numbers by metric, or from counts, of which runs are summed.
    """
    shape = data.summed.shape[:2]
    if not isinstance(truth, Mapping):
        summed = _summed_truth(truth, shape)
        rates = [metric_of(*metric)(summed) for metric in metrics.items()]
        return np.array(rates)[:, :, data.order]
    missing = [name for name in metrics if name not in truth]
    if missing:
        raise CurvewiseError(
            f"truth says nothing about '{missing[0]}'. Pass numbers of shape "
            f"(replication, size) for each metric, or counts.",
            argument="truth",
        )
    every = []
    for name in metrics:
        values = as_floats(truth[name])
        if values is None or values.shape != shape or not np.isfinite(values).all():
            raise CurvewiseError(
                f"The truth of '{name}' has shape {np.shape(truth[name])}. Pass finite "
                f"numbers of shape (replication, size) = {shape}.",
                argument="truth",
            )
        every.append(values)
    return np.array(every)[:, :, data.order]


def _summed_truth(truth: Any, shape: tuple[int, int]) -> Floats:
    """Return true counts, summed over runs: (replication, size, class, class)."""
    try:
        out = np.array([[_runs(counts).sum(0) for counts in each] for each in truth])
    except (TypeError, ValueError):
        out = np.empty(0)
    if out.ndim != 4 or out.shape[:2] != shape:
        raise CurvewiseError(
            f"truth holds no counts of {shape[0]} replications at {shape[1]} sizes. Pass a "
            f"matrix, or an array of them, for each; or numbers by metric.",
            argument="truth",
        )
    return out


def _at(question: _Question, values: Floats | None, at: int) -> float | None:
    """Return what is stated of a size; only what is *observed* takes it."""
    is_of_tests = question.target == "observed" and values is not None
    return float(values[at]) if is_of_tests and values is not None else None


def _by_size(value: Any, name: str, data: _Replications) -> Floats | None:
    """Return a number for each size, or None where nobody said."""
    if value is None:
        return None
    sizes = len(data.sizes)
    try:
        numbers = np.broadcast_to(np.asarray(value, dtype=np.float64), (sizes,))
    except (TypeError, ValueError):
        numbers = np.zeros(1)
    if not (is_number(float(numbers.sum())) and (numbers >= 1).all()):
        raise bad_value(
            name,
            value,
            f"Pass a number from 1 up, or one for each of the {sizes} sizes.",
        )
    return numbers[data.order]


def _by_counts(
    data: _Replications, train: _Indices, at: int, method: str, question: _Question
) -> Floats:
    examples = data.examples
    curves = fit_confusion_curves(
        data.sizes[train],
        _taken(data.counts, train),
        trained_on=data.trained_on[train],
        method=cast(Method, method),
        examples=None if examples is None else [_rows(one, train) for one in examples],
    )
    bands = curves.bands(
        question.metrics,
        data.sizes[[at]],
        target=question.target,
        confidence=question.confidence,
        test_size=_at(question, question.test_size, at),
        runs=_at(question, question.runs, at),
        is_joint=False,
    )
    ends = [(b.value[:, 0], b.lower[:, 0], b.upper[:, 0]) for b in bands.values()]
    return np.array(ends).swapaxes(0, 1)


def _by_form(
    data: _Replications, train: _Indices, at: int, method: str, question: _Question
) -> Floats:
    """Fit a form to the metric itself, as if its noise were normal: no interval."""
    out = []
    for name, settings in question.metrics.items():
        values = metric_of(name, settings)(data.summed[:, train])
        best, worst = _ends(name)
        # A form falls to an asymptote from 0 up: what is missing of the best value.
        missing = (values - best) / (worst - best)
        unit: Any = "fraction" if np.isfinite(worst) else "loss"
        fits = fit_forms(
            data.trained_on[train],
            missing if unit == "fraction" else values,
            form_of(method),
            unit=unit,
            allow_increase=question.allow_increase,
        )
        error = fits.error(data.sizes[[at]])[:, 0]
        out.append(best + (worst - best) * error if unit == "fraction" else error)
    value = np.array(out)
    none = np.full_like(value, np.nan)
    return np.stack([value, none, none])


def _ends(name: str) -> tuple[float, float]:
    """Return the best and the worst value of a metric."""
    meaning = meanings.find(name) if name not in ("f_beta", "cost") else None
    if meaning is None:
        return (1.0, 0.0) if name == "f_beta" else (0.0, np.inf)
    low, high = meaning.range
    return (high, low) if meaning.sign > 0 else (low, high)


def _taken(counts: Any, places: _Indices) -> Any:
    """Return the counts of some sizes."""
    if isinstance(counts, np.ndarray):
        return counts[:, places]
    return [[row[k] for k in places] for row in counts]


def _rows(examples: Examples, places: _Indices) -> Examples:
    return replace(
        examples,
        right=np.asarray(examples.right)[places],
        asked=np.asarray(examples.asked)[places],
    )


def _runs(counts: Any) -> Floats:
    """Return matrices as an array (run, class, class)."""
    matrices = np.asarray(counts, dtype=np.float64)
    return matrices[None] if matrices.ndim == 2 else matrices
