"""Count curves of many learners at once: rates, metrics and bands from one fit each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import checked_sizes
from curvewise.stats._named_metrics import metric_of
from curvewise.stats._sample import Floats, checked_confidence, is_number, one_of
from curvewise.stats.confusion._asked import (
    CELLS,
    TARGETS,
    Asked,
    Fit,
    Target,
    draws_for,
    even_points,
)
from curvewise.stats.confusion._calibrated import CalibratedFit, fit_calibrated
from curvewise.stats.confusion._centred import as_counted, centred
from curvewise.stats.confusion._data import CountTable
from curvewise.stats.confusion._drift import DriftFit
from curvewise.stats.confusion._errors import draw_error_shares, error_shares
from curvewise.stats.confusion._lack_of_fit import lack_of_fit
from curvewise.stats.confusion._paper import PaperFit
from curvewise.stats.confusion._rates import matrices
from curvewise.stats.confusion._shares import draw_shares

__all__ = ["ConfusionCurves", "CountBands"]


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
