"""One count curve: its rates, its metrics, their bands and what may be wrong with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise._text import count
from curvewise.stats._curve.runs import checked_sizes
from curvewise.stats._named_metrics import metric_of
from curvewise.stats._sample import Floats
from curvewise.stats.confusion._asked import Target
from curvewise.stats.confusion._data import CountTable
from curvewise.stats.confusion.curves import ConfusionCurves, CountBands
from curvewise.stats.interval import CurveBand

__all__ = ["ConfusionCurve"]

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
