"""Count curves, one or many: fitted, their rates, metrics, bands and what may be wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.confusion.calibrated import (
    CalibratedFit,
    fit_calibrated,
    lack_of_fit,
)
from curvewise.stats.confusion.data import (
    Concern,
    CountTable,
    Examples,
    count_table,
    count_tables,
    subset,
)
from curvewise.stats.confusion.draws import (
    TARGETS,
    Asked,
    Fit,
    Target,
    blocks,
    intervals_of,
    rates_of,
)
from curvewise.stats.confusion.drift import DriftFit, fit_drift
from curvewise.stats.confusion.paper import PaperFit, fit_paper
from curvewise.stats.counts.draws import metric_of
from curvewise.stats.interval import CurveBand
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_confidence,
    checked_sizes,
    is_number,
    one_of,
)

__all__ = [
    "ConfusionCurve",
    "fit_confusion_curve",
    "fit_confusion_curves",
]

Method: TypeAlias = Literal["drift", "calibrated", "paper"]
METHODS = ("drift", "calibrated", "paper")

_ESTIMANDS: dict[Target, str] = {
    "mean": "{} averaged over training sets of that size, on all that could be tested",
    "observed": "{} that the mean over {models} shows, tested {tested}",
    "model": "{} of one more model, on all that could be tested",
}
_GUARANTEES: dict[Method, str] = {
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
    """A fitted count curve, or many: how confusion matrices change with training data.

    Made by `fit_confusion_curve`, and by `fit_confusion_curves` of many. Arrays of many
    begin with an axis of curves; ``curves[i]`` is one of them. Sizes `n` may be one number
    or many, within what was observed or beyond it.

    Parameters
    ----------
    method : {"drift", "calibrated", "paper"}
        How it was fitted.
    parts : tuple of Fit
        Curves are fitted in blocks, so that memory stays flat.
    shape : tuple of int
        ``()`` for one curve, ``(curve,)`` for many.
    """

    method: Method
    parts: tuple[Fit, ...]
    shape: tuple[int, ...] = ()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(
                "This is one curve. Those of fit_confusion_curves are many."
            )
        return self.shape[0]

    def __getitem__(self, place: int) -> "ConfusionCurve":
        at = range(len(self))[place]
        for part in self.parts:
            if at < len(part.table):
                break
            at -= len(part.table)
        return ConfusionCurve(self.method, (subset(part, slice(at, at + 1)),))

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.parts[0].table.classes

    @property
    def sizes(self) -> Floats:
        """The sizes that were observed; of many, shorter ones are padded."""
        return self._seen("sizes")

    @property
    def counts(self) -> Floats:
        """What was observed, summed over runs, shape (..., size, class, class)."""
        return self._seen("counts")

    @property
    def runs(self) -> Floats:
        """How many runs there were at each size; 0 where padded."""
        return self._seen("runs")

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """What may be wrong with it."""
        return self._concerns(np.empty(0))

    def concerns_at(self, n: ArrayLike) -> tuple[Concern, ...]:
        """Return what may be wrong with it at these sizes, such as that they are far."""
        return self._concerns(checked_sizes(n, "n"))

    def observed(self, name: str, **settings: Any) -> Floats:
        """Return a metric of what was observed at each size, runs taken together."""
        values = metric_of(name, settings)(self.counts)
        return np.where(self.runs > 0, values, np.nan)

    def recalls(self, n: ArrayLike) -> Floats:
        """Return how many of each class are called right, shape of `n` and (class,)."""
        sizes = checked_sizes(n, "n")
        return self._shaped((part.recalls(sizes) for part in self.parts), np.shape(n))

    def rates(self, n: ArrayLike, *, shares: ArrayLike | None = None) -> Floats:
        """Return matrices that sum to 1, shape of `n` and (class, class).

        Parameters
        ----------
        n : float or array_like
        shares : array_like, shape (class,), optional
            How often classes occur where the learner will be used; as in the test sets, if
            left out.
        """
        sizes = checked_sizes(n, "n")
        every = (rates_of(part, sizes, shares) for part in self.parts)
        return self._shaped(every, np.shape(n))

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
        return np.asarray(metric_of(name, settings)(self.rates(n, shares=shares)))

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
        metrics: Mapping[str, dict[str, Any]] | Sequence[str],
        n: ArrayLike,
        *,
        target: Target = "mean",
        confidence: float = 0.95,
        test_size: float | None = None,
        runs: float | None = None,
        shares: ArrayLike | None = None,
        is_joint: bool = True,
    ) -> dict[str, CurveBand]:
        """Return several metrics with intervals that hold for all of them at once.

        At each size by itself. They come from the same draws of whole matrices, so that
        what moves together is not counted twice.

        Parameters
        ----------
        metrics : sequence of str or dict
            Names, or names with their settings, such as ``{"f1": {"average": "micro"}}``.
        n, target, confidence, test_size, runs, shares
            See `band`.
        is_joint : bool
            Whether they hold for all metrics at once, or each by itself.
        """
        by_name = (
            metrics if isinstance(metrics, Mapping) else {name: {} for name in metrics}
        )
        sizes = checked_sizes(n, "n")
        _check_question(target, confidence, test_size, runs)
        functions = {
            name: metric_of(name, settings) for name, settings in by_name.items()
        }
        questions = [
            _asked(part, sizes, target, test_size, runs) for part in self.parts
        ]
        ends = []
        for part, question in zip(self.parts, questions, strict=True):
            if isinstance(part, PaperFit):
                lower, upper = _published(part, by_name, sizes, confidence)
            else:
                lower, upper = intervals_of(
                    part, functions, question, shares, confidence, is_joint
                )
            rates = rates_of(part, sizes, shares)
            value = np.array([function(rates) for function in functions.values()])
            ends.append(np.stack([value, lower, upper]))
        # (value, lower or upper; metric, curve, size)
        joined = np.concatenate(ends, axis=2)
        joined = joined.reshape(*joined.shape[:2], *self.shape, len(sizes))
        guarantee = _GUARANTEES[self.method].format(100 * confidence)
        if is_joint and len(by_name) > 1:
            guarantee += f", for all {len(by_name)} metrics at once"
        return {
            name: CurveBand(
                at=sizes,
                value=joined[0, i],
                lower=joined[1, i],
                upper=joined[2, i],
                estimand=_estimand(name, questions, test_size),
                guarantee=guarantee,
            )
            for i, name in enumerate(by_name)
        }

    def lack_of_fit(self) -> Floats:
        """Return the p value of logits being power laws that share their exponent.

        A small one says that the curve is of another form: beyond what was observed, only
        ``method="drift"`` can be trusted then.
        """
        every = (
            part if isinstance(part, CalibratedFit) else fit_calibrated(part.table)
            for part in self.parts
        )
        return self._shaped(lack_of_fit(fit) for fit in every)[()]

    def _seen(self, name: str) -> Floats:
        """Return an array of the tables; that of one curve without padding."""
        every = np.concatenate([getattr(part.table, name) for part in self.parts])
        return every if self.shape else every[0, self.parts[0].table.runs[0] > 0]

    def _shaped(self, parts: Iterable[Floats], axes: tuple[int, ...] = ()) -> Floats:
        """Return arrays (curve, asked, ...) as one, with the axes that there are."""
        whole = np.concatenate(list(parts))
        return whole.reshape((*self.shape, *axes, *whole.shape[2:]))

    def _concerns(self, sizes: Floats) -> tuple[Concern, ...]:
        before = np.cumsum([0, *(len(part.table) for part in self.parts)]).tolist()
        return tuple(
            replace(concern, curve=first + concern.curve)
            for first, part in zip(before, self.parts, strict=False)
            for concern in part.concerns_at(sizes)
        )


def fit_confusion_curve(
    sizes: ArrayLike,
    counts: ArrayLike | Sequence[ArrayLike],
    trained_on: ArrayLike | None = None,
    *,
    method: Method = "drift",
    examples: Examples | None = None,
    test_size: float | None = None,
    tau: float = 5.0,
) -> ConfusionCurve:
    r"""Fit how the confusion matrix changes with training data.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Sizes of training sets, at least two.
    counts : sequence of array_like
        For each size a matrix of K x K counts, or an array (run, K, K) of those of several
        runs. Rows are true classes, columns what they were called; of two classes, 1 is
        the positive one. `curvewise.stats.counts.counts_matrix` makes them of TP, FP, FN
        and TN.
    trained_on : array_like, shape (size,), optional
        How many examples models saw, where that is less than the size because some were
        held out to validate. All sizes `n` that are asked about are examples seen.
    method : {"drift", "calibrated", "paper"}
        *drift*: level and slope of the logits of recalls may drift, as those of real
        curves do; power laws are among them, and weigh the more the better they predict.
        *calibrated*: logits are power laws of the size with one exponent, which makes
        bands shorter where that is known. *paper*: as published, with bands that do not
        hold.
    examples : Examples, optional
        Which test examples were answered rightly. Without, answers of different sizes on
        the same test examples are taken to be correlated by 0.6.
    test_size : float, optional
        How many examples every run was tested on, to be checked.
    tau : float
        Of *paper*: how strongly the exponent is drawn to -1/2.

    Returns
    -------
    ConfusionCurve
        Ask it for `ConfusionCurve.metric` and `ConfusionCurve.band`.

    Notes
    -----
    Of true class c, the share that is called right is modelled as [1]_

    .. math:: \operatorname{logit} \Pi_c(n) = \alpha_c + \eta_c n^\gamma

    with one exponent for all classes. The shares of classes, and what wrong answers are
    called, make it a whole matrix; every metric follows from that. Real curves are no
    power laws over all sizes: *drift* puts a smoothing spline in the place of the right
    side, learnt on 135 real curves of two classes.

    References
    ----------
    .. [1] Xue et al., 2025.

    Examples
    --------
    >>> sizes = [40, 80, 160, 320, 640]
    >>> right = [120, 132, 140, 146, 149]
    >>> counts = [[[n, 160 - n], [160 - n, n]] for n in right]
    >>> curve = fit_confusion_curve(sizes, counts)
    >>> bool(0.92 < curve.metric("f1", 1280) < 0.97)
    True
    >>> band = curve.band("f1", [640, 1280], target="observed", test_size=320)
    >>> bool((band.lower < band.upper).all() and band.upper.max() <= 1)
    True
    """
    table = count_table(
        sizes, counts, trained_on=trained_on, examples=examples, test_size=test_size
    )
    return ConfusionCurve(method, (_fitted(table, method, tau),))


def fit_confusion_curves(
    sizes: ArrayLike | Sequence[ArrayLike],
    counts: ArrayLike | Sequence[Any],
    trained_on: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    method: Method = "drift",
    examples: Sequence[Examples | None] | None = None,
    tau: float = 5.0,
) -> ConfusionCurve:
    """Fit many count curves at once.

    Parameters
    ----------
    sizes : array_like, shape (size,), or a sequence of them
        The same for all curves, or one array for each.
    counts : ndarray, shape (curve, size, K, K) or (curve, size, run, K, K), or a list
        An array where all curves have the same sizes and numbers of runs, which is
        fastest; a list of what `fit_confusion_curve` takes elsewhere.
    trained_on, examples
        As `fit_confusion_curve` takes them, for all curves or one for each.
    method, tau
        See `fit_confusion_curve`.

    Returns
    -------
    ConfusionCurve
        With an axis of curves; ``curves[i]`` is one of them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> right = rng.binomial(160, [0.75, 0.82, 0.87, 0.9], (1000, 4))
    >>> counts = np.stack([right, 160 - right, 160 - right, right], -1)
    >>> counts = counts.reshape(1000, 4, 2, 2)
    >>> curves = fit_confusion_curves([40, 80, 160, 320], counts)
    >>> curves.metric("f1", [320, 640]).shape
    (1000, 2)
    """
    table = count_tables(sizes, counts, trained_on=trained_on, examples=examples)
    parts = tuple(
        _fitted(subset(table, block), method, tau)
        for block in blocks(len(table), table.classes)
    )
    return ConfusionCurve(method, parts, (len(table),))


def _fitted(table: CountTable, method: Method, tau: float) -> Fit:
    one_of("method", method, METHODS)
    if not (is_number(tau) and tau >= 0):
        raise bad_value("tau", tau, "Pass a number from 0 up; 5 as published.")
    if method == "paper":
        return fit_paper(table, tau=float(tau))
    if method == "calibrated":
        return fit_calibrated(table)
    return fit_drift(table)


def _check_question(
    target: Target, confidence: float, test_size: float | None, runs: float | None
) -> None:
    one_of("target", target, TARGETS)
    checked_confidence(confidence)
    for name, value in (("test_size", test_size), ("runs", runs)):
        if value is not None and not (is_number(value) and value >= 1):
            raise bad_value(name, value, "Pass a number from 1 up.")
        if value is not None and target != "observed":
            raise CurvewiseError(
                f"{name} is of what will be measured. Pass ",
                {"target": "observed"},
                f" with it, not '{target}'.",
            )


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
    tests = np.take_along_axis(table.test_size, nearest, 1)
    ran = np.take_along_axis(table.runs, nearest, 1)
    if isinstance(fit, DriftFit):
        tests = np.full_like(tests, np.nan)  # tested on what those seen were tested on
    return Asked(
        sizes,
        target,
        tests if test_size is None else np.full_like(tests, test_size),
        ran if runs is None else np.full_like(ran, runs),
    )


def _estimand(name: str, questions: Sequence[Asked], test_size: float | None) -> str:
    runs = {int(n) for question in questions for n in question.runs[:, -1]}
    models = "its models"
    if len(runs) == 1:
        models = "1 model" if runs == {1} else f"{runs.pop():,} models"
    tested = "as those seen" if test_size is None else f"on {test_size:g} examples"
    return _ESTIMANDS[questions[0].target].format(name, models=models, tested=tested)


def _published(
    fit: PaperFit,
    metrics: Mapping[str, dict[str, Any]],
    sizes: Floats,
    confidence: float,
) -> tuple[Floats, Floats]:
    ends = np.array(
        [
            fit.interval(name, sizes, None, confidence, settings)
            for name, settings in metrics.items()
        ]
    )
    return ends[:, 0], ends[:, 1]
