"""Sizes that curves were not shown: what was true there, and what was foreseen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise import metrics as meanings
from curvewise.errors import CurvewiseError, unknown
from curvewise.stats._curve.runs import checked_sizes
from curvewise.stats._named_metrics import metric_of
from curvewise.stats._sample import Floats, is_number
from curvewise.stats.confusion._asked import Target
from curvewise.stats.confusion._batch import count_tables
from curvewise.stats.confusion._examples import Examples
from curvewise.stats.confusion.fit import Method, fit_confusion_curves
from curvewise.stats.forms import FORMS, fit_forms, form_of

Settings: TypeAlias = dict[str, dict[str, Any]]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Replications:
    """The same curve, measured again and again.

    Parameters
    ----------
    order : ndarray of int, shape (size,)
        Where each of them was in what came.
    sizes, trained_on : ndarray, shape (size,)
        Increasing, as all that follows.
    counts : ndarray or list
        Of each replication, of each size: a matrix, or an array of them.
    summed : ndarray, shape (replication, size, class, class)
    examples : sequence of Examples, optional
    """

    order: Indices
    sizes: Floats
    trained_on: Floats
    counts: Any
    summed: Floats
    examples: Sequence[Examples] | None


@dataclass(frozen=True, slots=True)
class Question:
    """What is foreseen, and of which test sets."""

    metrics: Settings
    target: Target
    confidence: float
    test_size: Floats | None
    runs: Floats | None
    allow_increase: bool


def checked_replications(
    sizes: ArrayLike,
    counts: Any,
    trained_on: ArrayLike | None,
    examples: Sequence[Examples] | None,
) -> Replications:
    """Return replications over the same sizes, increasing; refuse what is none."""
    n = checked_sizes(sizes, "sizes")
    seen = n if trained_on is None else checked_sizes(trained_on, "trained_on")
    try:
        each = counts if isinstance(counts, np.ndarray) else [list(c) for c in counts]
        is_empty = len(each) == 0
    except TypeError:
        is_empty = True
    if is_empty:
        raise CurvewiseError(
            "counts holds no replications. Pass for each one what a curve takes: a matrix, "
            "or an array of them, for each size."
        )
    table = count_tables(n, each, trained_on=seen, examples=examples)
    order = np.argsort(seen, kind="stable")
    if (np.diff(n[order]) <= 0).any():
        raise CurvewiseError(
            "sizes and trained_on are in different orders. Pass both of the same models."
        )
    if examples is not None:
        examples = [_rows(own, order) for own in examples]
    own = _taken(each, order)
    return Replications(order, n[order], seen[order], own, table.counts, examples)


def checked_metrics(metrics: Any) -> Settings:
    """Return metrics by name, each with its settings."""
    if isinstance(metrics, str):
        metrics = [metrics]
    named = metrics if isinstance(metrics, Mapping) else {name: {} for name in metrics}
    for name, own in named.items():
        metric_of(name, dict(own))
    if not named:
        raise CurvewiseError("There are no metrics. Name one at least, such as 'f1'.")
    return {name: dict(own) for name, own in named.items()}


def true_values(truth: Any, told: Settings, known: Replications) -> Floats:
    """Return what was true, shape (metric, replication, size).

    From numbers by metric, or from counts, of which runs are summed.
    """
    values = _true_values(truth, told, known.summed.shape[:2])
    return values[:, :, known.order]


def _true_values(truth: Any, told: Settings, shape: tuple[int, int]) -> Floats:
    if not isinstance(truth, Mapping):
        summed = _summed_truth(truth, shape)
        return np.array([metric_of(name, own)(summed) for name, own in told.items()])
    missing = [name for name in told if name not in truth]
    if missing:
        raise CurvewiseError(
            f"truth says nothing about '{missing[0]}'. Pass numbers of shape "
            f"(replication, size) for each metric, or counts."
        )
    found = []
    for name in told:
        try:
            values = np.asarray(truth[name], dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != shape or not np.isfinite(values).all():
            raise CurvewiseError(
                f"The truth of '{name}' has shape {values.shape}. Pass finite numbers of "
                f"shape (replication, size) = {shape}."
            )
        found.append(values)
    return np.array(found)


def _summed_truth(truth: Any, shape: tuple[int, int]) -> Floats:
    """Return true counts, summed over runs: (replication, size, class, class)."""
    try:
        out = np.array([[_runs(own).sum(0) for own in each] for each in truth])
    except (TypeError, ValueError):
        out = np.empty(0)
    if out.ndim != 4 or out.shape[:2] != shape:
        raise CurvewiseError(
            f"truth holds no counts of {shape[0]} replications at {shape[1]} sizes. Pass a "
            f"matrix, or an array of them, for each; or numbers by metric."
        )
    return out


def _at(asked: Question, values: Floats | None, at: int) -> float | None:
    """Return what is stated of a size; only what is *observed* takes it."""
    is_of_tests = asked.target == "observed" and values is not None
    return float(values[at]) if is_of_tests and values is not None else None


def by_size(value: Any, name: str, known: Replications) -> Floats | None:
    """Return a number for each size, or None where nobody said."""
    if value is None:
        return None
    sizes = len(known.sizes)
    try:
        own = np.broadcast_to(np.asarray(value, dtype=np.float64), (sizes,))
    except (TypeError, ValueError):
        own = np.zeros(1)
    if not (is_number(float(own.sum())) and (own >= 1).all()):
        raise CurvewiseError(
            f"{name} is {value!r}. Pass a number from 1 up, or one for each of the "
            f"{sizes} sizes.",
            argument=name,
            value=value,
        )
    return own[known.order]


def foreseen(
    known: Replications, kept: Indices, at: int, method: str, asked: Question
) -> Floats:
    """Return (value, lower, upper) at one size from others, (3, metric, replication)."""
    if method in get_args(Method):
        return _by_counts(known, kept, at, method, asked)
    if str(method).casefold() not in {name.casefold() for name in FORMS}:
        form_names = [*get_args(Method), *FORMS]
        raise unknown("method", method, form_names)
    return _by_form(known, kept, at, method, asked)


def _by_counts(
    known: Replications, kept: Indices, at: int, method: Any, asked: Question
) -> Floats:
    examples = known.examples
    curves = fit_confusion_curves(
        known.sizes[kept],
        _taken(known.counts, kept),
        trained_on=known.trained_on[kept],
        method=method,
        examples=None if examples is None else [_rows(own, kept) for own in examples],
    )
    bands = curves.bands(
        asked.metrics,
        known.sizes[[at]],
        target=asked.target,
        confidence=asked.confidence,
        test_size=_at(asked, asked.test_size, at),
        runs=_at(asked, asked.runs, at),
    )
    told = [(b.value[:, 0], b.lower[:, 0], b.upper[:, 0]) for b in bands.values()]
    return np.array(told).swapaxes(0, 1)


def _by_form(
    known: Replications, kept: Indices, at: int, form: str, asked: Question
) -> Floats:
    """Fit a form to the metric itself, as if its noise were normal: no interval."""
    out = []
    for name, own in asked.metrics.items():
        values = metric_of(name, own)(known.summed[:, kept])
        best, worst = _ends(name)
        # A form falls to an asymptote from 0 up: what is missing of the best value.
        missing = (values - best) / (worst - best)
        unit: Any = "fraction" if np.isfinite(worst) else "loss"
        fits = fit_forms(
            known.trained_on[kept],
            missing if unit == "fraction" else values,
            form_of(form),
            unit=unit,
            allow_increase=asked.allow_increase,
        )
        found = fits.error(known.sizes[[at]])[:, 0]
        out.append(best + (worst - best) * found if unit == "fraction" else found)
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


def _taken(counts: Any, kept: Indices) -> Any:
    """Return the counts of some sizes."""
    if isinstance(counts, np.ndarray):
        return counts[:, kept]
    return [[own[k] for k in kept] for own in counts]


def _rows(examples: Examples, kept: Indices) -> Examples:
    return replace(
        examples,
        right=np.asarray(examples.right)[kept],
        asked=np.asarray(examples.asked)[kept],
    )


def _runs(counts: Any) -> Floats:
    """Return matrices as an array (run, class, class)."""
    own = np.asarray(counts, dtype=np.float64)
    return own[None] if own.ndim == 2 else own
