"""Count curves of one learner or of many: rates, metrics, bands, and what may be wrong."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.confusion.calibrated import (
    CalibratedFit,
    fit_calibrated,
    lack_of_fit,
)
from curvewise.stats.confusion.data import CountTable
from curvewise.stats.confusion.draws import (
    CELLS,
    TARGETS,
    Asked,
    Fit,
    Target,
    as_counted,
    centred,
    draw_error_shares,
    draw_shares,
    draws_for,
    error_shares,
    even_points,
    matrices,
)
from curvewise.stats.confusion.drift import DriftFit
from curvewise.stats.confusion.paper import PaperFit
from curvewise.stats.counts.draws import metric_of
from curvewise.stats.interval import CurveBand
from curvewise.stats.validation import (
    Floats,
    checked_confidence,
    checked_sizes,
    is_number,
    one_of,
)
from curvewise.text import count

__all__ = [
    "ConfusionCurve",
    "ConfusionCurves",
    "CountBands",
]


@dataclass(frozen=True, slots=True, eq=False)
class CountBands:
    """Intervals of one metric, for several curves at several sizes.

    Parameters
    ----------
    value, lower, upper : ndarray, shape (curve, asked)
    """

    value: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionCurves:
    """Fitted count curves, one after another.

    Made by `fit_confusion_curves`.

    Parameters
    ----------
    method : str
        As asked for.
    parts : tuple of Fit
        Curves are fitted in blocks, so that memory stays flat.
    """

    method: str
    parts: tuple[Fit, ...]

    def __len__(self) -> int:
        return sum(len(part.table) for part in self.parts)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.parts[0].table.classes

    def recalls(self, n: ArrayLike) -> Floats:
        """Return how many of each class are called right, shape (curve, asked, class)."""
        sizes = checked_sizes(n, "n")
        return np.concatenate([part.recalls(sizes) for part in self.parts])

    def rates(self, n: ArrayLike, *, shares: ArrayLike | None = None) -> Floats:
        """Return matrices that sum to 1, shape (curve, asked, class, class)."""
        sizes = checked_sizes(n, "n")
        return np.concatenate([_rates(part, sizes, shares) for part in self.parts])

    def metric(
        self,
        name: str,
        n: ArrayLike,
        *,
        shares: ArrayLike | None = None,
        **settings: Any,
    ) -> Floats:
        """Return a metric along the curves, shape (curve, asked)."""
        return metric_of(name, settings)(self.rates(n, shares=shares))

    def lack_of_fit(self) -> Floats:
        """Return for each curve the p value of power laws with one exponent."""
        return np.concatenate([_lack_of_fit(part) for part in self.parts])

    def band(
        self,
        name: str,
        n: ArrayLike,
        *,
        target: Target = "mean",
        confidence: float = 0.95,
        test_size: float | None = None,
        runs: float | None = None,
        shares: ArrayLike | None = None,
        **settings: Any,
    ) -> CountBands:
        """Return intervals of a metric, each for one size of one curve.

        See `ConfusionCurve.band` for what may be asked.
        """
        return self.bands(
            {name: settings},
            n,
            target=target,
            confidence=confidence,
            test_size=test_size,
            runs=runs,
            shares=shares,
        )[name]

    def bands(
        self,
        metrics: dict[str, dict[str, Any]],
        n: ArrayLike,
        *,
        target: Target = "mean",
        confidence: float = 0.95,
        test_size: float | None = None,
        runs: float | None = None,
        shares: ArrayLike | None = None,
        is_joint: bool = False,
    ) -> dict[str, CountBands]:
        """Return intervals of several metrics, from the same draws.

        Parameters
        ----------
        metrics : dict
            From names to settings, such as ``{"f1": {"average": "micro"}}``.
        is_joint : bool
            Whether they hold for all metrics at once.
        """
        sizes = checked_sizes(n, "n")
        one_of("target", target, TARGETS)
        checked_confidence(confidence)
        for what, value in (("test_size", test_size), ("runs", runs)):
            if value is not None and not (is_number(value) and value >= 1):
                raise CurvewiseError(
                    f"{what} is {value!r}. Pass a number from 1 up.",
                    argument=what,
                    value=value,
                )
            if value is not None and target != "observed":
                raise CurvewiseError(
                    f"{what} is of what will be measured. Pass ",
                    {"target": "observed"},
                    f" with it, not '{target}'.",
                )
        functions = {key: metric_of(key, own) for key, own in metrics.items()}
        found = []
        for part in self.parts:
            if isinstance(part, PaperFit):
                ends = _published(part, metrics, sizes, confidence)
            else:
                asked = _asked(part, sizes, target, test_size, runs)
                ends = _drawn(part, functions, asked, shares, confidence, is_joint)
            rates = _rates(part, sizes, shares)
            values = np.array([told(rates) for told in functions.values()])
            found.append(np.stack([values, *ends]))
        # (value, lower or upper; metric, curve, size)
        joined = np.concatenate(found, axis=2)
        return {key: CountBands(*joined[:, i]) for i, key in enumerate(functions)}


def _lack_of_fit(fit: Fit) -> Floats:
    if isinstance(fit, CalibratedFit):
        return lack_of_fit(fit)
    return lack_of_fit(fit_calibrated(fit.table))


def _rates(fit: Fit, sizes: Floats, shares: ArrayLike | None) -> Floats:
    own = _shares(fit.table, shares)[:, None]
    return matrices(fit.recalls(sizes), own, error_shares(fit.table, sizes))


def _shares(table: CountTable, shares: ArrayLike | None) -> Floats:
    """Return how often classes occur, as observed or as the caller says."""
    if shares is None:
        return table.shares
    own = np.asarray(shares, dtype=np.float64)
    if own.shape != (table.classes,) or not (own >= 0).all() or own.sum() <= 0:
        raise CurvewiseError(
            f"shares is {shares!r}. Pass how often each of the {table.classes} classes "
            f"occurs, numbers >= 0.",
            argument="shares",
            value=shares,
        )
    return np.broadcast_to(own / own.sum(), table.shares.shape)


def _asked(
    fit: Fit,
    sizes: Floats,
    target: Target,
    test_size: float | None,
    runs: float | None,
) -> Asked:
    """Return the question, with the nearest size's test set where none was stated."""
    table = fit.table
    steps = np.where(table.runs > 0, np.log(table.sizes), np.inf)
    nearest = np.abs(steps[:, None] - np.log(sizes)[:, None]).argmin(-1)
    held = np.take_along_axis(table.test_size, nearest, 1)
    ran = np.take_along_axis(table.runs, nearest, 1)
    if isinstance(fit, DriftFit):
        held = np.full_like(held, np.nan)  # tested on what those seen were tested on
    return Asked(
        sizes,
        target,
        held if test_size is None else np.full_like(held, test_size),
        ran if runs is None else np.full_like(ran, runs),
    )


def _published(
    fit: PaperFit,
    metrics: dict[str, dict[str, Any]],
    sizes: Floats,
    confidence: float,
) -> tuple[Floats, Floats]:
    told = [
        fit.interval(name, sizes, None, confidence, own)
        for name, own in metrics.items()
    ]
    return np.array([low for low, _ in told]), np.array([high for _, high in told])


def _drawn(
    fit: Fit,
    functions: dict[str, Callable[[Floats], Floats]],
    asked: Asked,
    shares: ArrayLike | None,
    confidence: float,
    is_joint: bool,
) -> tuple[Floats, Floats]:
    """Return both ends for each metric, shape (metric, curve, asked)."""
    count = draws_for(confidence)
    lower, upper = zip(
        *(
            _ends(_draws(fit, functions, part, shares, count), confidence, is_joint)
            for part in _in_turn(fit.table, asked, count)
        ),
        strict=True,
    )
    return np.concatenate(lower, -1), np.concatenate(upper, -1)


def _in_turn(table: CountTable, asked: Asked, count: int) -> Iterator[Asked]:
    """Yield the question in pieces of a few sizes."""
    per_size = count * len(table) * table.classes**2
    step = max(1, CELLS // per_size)
    for start in range(0, len(asked.sizes), step):
        own = slice(start, start + step)
        yield Asked(
            asked.sizes[own],
            asked.target,
            asked.test_size[:, own],
            asked.runs[:, own],
        )


def _draws(
    fit: Fit,
    functions: dict[str, Callable[[Floats], Floats]],
    asked: Asked,
    shares: ArrayLike | None,
    count: int,
) -> Floats:
    """Return draws of the metrics, shape (metric, draw, curve, asked)."""
    classes = fit.table.classes
    points = even_points(2 + 3 * classes, count)
    recalls = fit.draw(asked, points[:, : 2 + 2 * classes])
    held = (
        draw_shares(fit.table, asked, points[:, 2 + 2 * classes :])
        if shares is None
        else _shares(fit.table, shares)[None, :, None]
    )
    likely = fit.recalls(asked.sizes)
    wrong = draw_error_shares(fit.table, asked, len(points), likely)
    drawn = matrices(recalls, np.broadcast_to(held, recalls.shape), wrong)
    drawn = as_counted(drawn, asked)
    if classes == 2:
        return np.array([told(drawn) for told in functions.values()])
    rates = _rates(fit, asked.sizes, shares)
    return np.array(
        [centred(key, told(drawn), told(rates)) for key, told in functions.items()]
    )


def _ends(draws: Floats, confidence: float, is_joint: bool) -> tuple[Floats, Floats]:
    """Return the quantiles of draws (metric, draw, curve, asked) that hold so often."""
    tail = (1.0 - confidence) / 2
    if not is_joint or len(draws) == 1:
        low, high = np.quantile(draws, [tail, 1 - tail], axis=1)
        return low, high
    # How extreme a draw is, is the rank of its most extreme metric; the least extreme
    # draws, as many as asked for, span the intervals.
    ranks = draws.argsort(1).argsort(1)
    depth = np.minimum(ranks, draws.shape[1] - 1 - ranks).min(0)
    outside = np.quantile(depth, 1.0 - confidence, axis=0, method="lower").astype(int)
    order = np.sort(draws, axis=1)
    low = np.take_along_axis(order, outside[None, None], 1)[:, 0]
    high = np.take_along_axis(order, order.shape[1] - 1 - outside[None, None], 1)[:, 0]
    return low, high


# --------------------------------------------------------------------------------------
# One count curve: its rates, its metrics, their bands and what may be wrong with it.


_ESTIMANDS: dict[Target, str] = {
    "mean": "{} averaged over training sets of that size, on all that could be tested",
    "observed": "{} that the mean over {runs} shows, tested {tested}",
    "model": "{} of one more model, on all that could be tested",
}
_GUARANTEES = {
    "paper": (
        "{:.4g} % of a posterior as published: too wide for small training sets and too "
        "narrow for large ones"
    ),
    "calibrated": (
        "{:.4g} % at each size by itself, where logits of the rates are power laws of the "
        "size"
    ),
    "drift": (
        "{:.4g} % at each size by itself, by how far real curves were from their forecasts"
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionCurve:
    """A fitted count curve: how the confusion matrix changes with training data.

    Made by `fit_confusion_curve`. Sizes `n` may be one number or many, within what was
    observed or beyond it.

    Parameters
    ----------
    curves : ConfusionCurves
        The fit, as the only one of its kind.
    """

    curves: ConfusionCurves

    @property
    def method(self) -> str:
        """How it was fitted."""
        return self.curves.method

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.curves.classes

    @property
    def sizes(self) -> Floats:
        """The sizes that were observed."""
        return np.asarray(self._table.sizes[0])

    @property
    def counts(self) -> Floats:
        """What was observed, summed over runs, shape (size, class, class)."""
        return np.asarray(self._table.counts[0])

    @property
    def runs(self) -> Floats:
        """How many runs there were at each size."""
        return np.asarray(self._table.runs[0])

    @property
    def _table(self) -> CountTable:
        return self.curves.parts[0].table

    @property
    def concerns(self) -> tuple[str, ...]:
        """What may be wrong with it, in words."""
        return self.curves.parts[0].concerns[0]

    def concerns_at(self, n: ArrayLike) -> tuple[str, ...]:
        """Return what may be wrong with it at these sizes, such as that they are far."""
        return self.curves.parts[0].concerns_at(checked_sizes(n, "n"))[0]

    def observed(self, name: str, **settings: Any) -> Floats:
        """Return a metric of what was observed at each size, runs taken together."""
        return metric_of(name, settings)(self.counts)

    def rates(self, n: ArrayLike, *, shares: ArrayLike | None = None) -> Floats:
        """Return matrices that sum to 1, shape of `n` and (class, class).

        Parameters
        ----------
        n : float or array_like
        shares : array_like, shape (class,), optional
            How often classes occur where the learner will be used; as in the test sets, if
            left out.
        """
        own = self.curves.rates(n, shares=shares)[0]
        return np.asarray(own[0] if np.ndim(n) == 0 else own)

    def metric(
        self,
        name: str,
        n: ArrayLike,
        *,
        shares: ArrayLike | None = None,
        **settings: Any,
    ) -> Floats:
        """Return a metric along the curve, an array like `n`.

        Parameters
        ----------
        name : str
            error, accuracy, precision, recall, specificity, f1, f_beta (with ``beta=``),
            jaccard, balanced_accuracy, mcc, kappa or cost (with ``costs=``).
        n : float or array_like
        shares : array_like, optional
            See `rates`.
        **settings
            Of the metric: ``average="macro"``, ``"micro"`` or ``"weighted"``, or
            ``positive=k`` for class k against the rest.
        """
        own = self.curves.metric(name, n, shares=shares, **settings)[0]
        return np.asarray(own[0] if np.ndim(n) == 0 else own)

    def band(
        self,
        name: str,
        n: ArrayLike,
        *,
        target: Target = "mean",
        confidence: float = 0.95,
        test_size: float | None = None,
        runs: float | None = None,
        shares: ArrayLike | None = None,
        **settings: Any,
    ) -> CurveBand:
        """Return a metric along the curve with intervals, each for one size.

        Parameters
        ----------
        name, n, shares, **settings
            See `metric`.
        target : {"mean", "observed", "model"}
            The unknown that the intervals are for. *mean*: averaged over training sets,
            on all that could be tested. *observed*: the mean of `runs` models on one test
            set of `test_size`, which is what will be measured. *model*: of one more model,
            on all that could be tested.
        confidence : float
        test_size, runs : float, optional
            Of *observed*; as at the nearest size that was observed, if left out, and then
            on the same kind of test sets. As published there is one band whatever the
            target: the posterior given n / 3 validated examples.

        Returns
        -------
        CurveBand
            Inside the range of the metric at any size.
        """
        told = self.curves.band(
            name,
            n,
            target=target,
            confidence=confidence,
            test_size=test_size,
            runs=runs,
            shares=shares,
            **settings,
        )
        return self._band(name, n, told, target, confidence, test_size, runs, "")

    def bands(
        self,
        metrics: dict[str, dict[str, Any]] | list[str] | tuple[str, ...],
        n: ArrayLike,
        *,
        target: Target = "mean",
        confidence: float = 0.95,
        test_size: float | None = None,
        runs: float | None = None,
        shares: ArrayLike | None = None,
    ) -> dict[str, CurveBand]:
        """Return several metrics with intervals that hold for all of them at once.

        At each size by itself. They come from the same draws of whole matrices, so that
        what moves together is not counted twice.

        Parameters
        ----------
        metrics : sequence of str or dict
            Names, or names with their settings.
        n, target, confidence, test_size, runs, shares
            See `band`.
        """
        named = metrics if isinstance(metrics, dict) else {name: {} for name in metrics}
        told = self.curves.bands(
            named,
            n,
            target=target,
            confidence=confidence,
            test_size=test_size,
            runs=runs,
            shares=shares,
            is_joint=True,
        )
        also = f", for all {len(named)} metrics at once" if len(named) > 1 else ""
        return {
            name: self._band(name, n, own, target, confidence, test_size, runs, also)
            for name, own in told.items()
        }

    def lack_of_fit(self) -> float:
        """Return the p value of logits being power laws that share their exponent.

        A small one says that the curve is of another form: beyond what was observed, only
        ``method="drift"`` can be trusted then.
        """
        return float(self.curves.lack_of_fit()[0])

    def _band(
        self,
        name: str,
        n: ArrayLike,
        told: CountBands,
        target: Target,
        confidence: float,
        test_size: float | None,
        runs: float | None,
        also: str,
    ) -> CurveBand:
        sizes = np.atleast_1d(np.asarray(n, dtype=np.float64))
        nearest = int(np.abs(np.log(self.sizes) - np.log(sizes[-1])).argmin())
        ran = self.runs[nearest] if runs is None else runs
        tested = "as those seen" if test_size is None else f"on {test_size:g} examples"
        estimand = _ESTIMANDS[target].format(
            name, runs=count(int(ran), "model"), tested=tested
        )
        return CurveBand(
            *(sizes, told.value[0], told.lower[0], told.upper[0], estimand),
            _GUARANTEES[self.method].format(100 * confidence) + also,
        )
