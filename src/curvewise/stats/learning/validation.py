"""How well curves predict a size that they were not shown, model against model."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, unknown
from curvewise.stats.curves import Runs, Unit, checked_runs, scale_of
from curvewise.stats.validation import Floats, bad_value, one_of

__all__ = [
    "LeftOut",
    "average_rmse",
    "leave_one_size_out",
]


Model: TypeAlias = Callable[[Floats, Sequence[Floats]], Any]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """What models predicted at a size that they were not shown.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
    models, curves : tuple of str
    observed : ndarray, shape (curve, size)
        The mean error there.
    predicted : ndarray, shape (model, curve, size)
    """

    sizes: Floats
    models: tuple[str, ...]
    curves: tuple[str, ...]
    observed: Floats
    predicted: Floats

    @property
    def rmse(self) -> Floats:
        """Root of the mean square, over curves, of what was missed, (model, size)."""
        missed: Floats = np.sqrt(((self.predicted - self.observed) ** 2).mean(axis=1))
        return missed

    @property
    def average(self) -> Floats:
        """The mean of `rmse` over sizes, shape (model,)."""
        return average_rmse(self.rmse)

    @property
    def r2(self) -> Floats:
        """Share of the spread of all errors that is predicted, shape (model,)."""
        missed = ((self.predicted - self.observed) ** 2).sum(axis=(1, 2))
        total = ((self.observed - self.observed.mean()) ** 2).sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - np.asarray(missed / total)

    def p(self, model: str, other: str, *, over: str = "all") -> float:
        """Return the two-sided p value of a paired t test of what two models missed.

        Parameters
        ----------
        model, other : str
        over : {"all", "curves"}
            Whether each curve at each size counts as one pair, as in the paper, or each
            curve as one, which is right where one curve misses at all sizes alike.
        """
        one_of("over", over, ("all", "curves"))
        one, two = (self._place(name) for name in (model, other))
        missed = np.abs(self.predicted - self.observed)
        apart = missed[one] - missed[two]
        return _t_test(apart.ravel() if over == "all" else apart.mean(axis=1))

    def _place(self, name: str) -> int:
        one_of("model", name, self.models)
        return self.models.index(name)

    @property
    def best(self) -> str:
        """The model with the smallest average."""
        return self.models[int(np.argmin(self.average))]

    def rows(self) -> list[dict[str, float | str]]:
        """Return a row for each model, tested against the first one."""
        table = zip(self.models, self.rmse, self.average, self.r2, strict=True)
        return [
            {
                "model": name,
                "R2": float(r2),
                **{f"n={n:g}": float(e) for n, e in zip(self.sizes, rmse, strict=True)},
                "average": float(average),
                "p": math.nan
                if name == self.models[0]
                else self.p(name, self.models[0]),
            }
            for name, rmse, average, r2 in table
        ]


def leave_one_size_out(
    sizes: ArrayLike,
    curves: Any,
    models: Mapping[str, Model] | Sequence[str],
    *,
    unit: Unit = "fraction",
) -> LeftOut:
    r"""Return how well models predict the mean error at a size they were not shown.

    .. math:: \mathrm{RMSE}_i = \sqrt{ \tfrac1C \sum_c
       (\hat e^{(-i)}_c(n_i) - \bar e_{ci})^2 }

    Parameters
    ----------
    sizes : array_like, shape (size,)
        The same for all curves, at least four.
    curves : mapping or sequence
        For each learner what `errors` is elsewhere: one array of runs for each size.
    models : mapping of str to callable, or sequence of str
        A model fits: from sizes and a list of runs for each to what has a method
        ``error(n)``, or is itself a function of n. Names stand for models that are known:
        ``"power law"``; ``"paper"`` and its other rows in Figure 2, ``"paper, efficient
        weights"``, ``"paper, equal weights"``, ``"paper, linear"``, ``"paper, quadratic"``
        and ``"paper, full"``; and the forms of the catalogue, such as ``"POW3"``.
    unit : {"fraction", "percent", "loss"}

    Returns
    -------
    LeftOut
        In the unit given.

    Notes
    -----
    The protocol of Figure 2 of Hoiem et al. [1]_. Leaving out the first or the last size
    tests extrapolation, the others interpolation. What is compared with is a mean over few
    runs itself, so that even the true curve would miss a little.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis
       of Deep Networks." ICML 2021.

    Examples
    --------
    >>> n = np.array([25.0, 50, 100, 200])
    >>> runs = [[e, e + 0.01] for e in 0.1 + n**-0.5]
    >>> def mean(sizes, errors):
    ...     middle = np.mean([np.mean(e) for e in errors])
    ...     return lambda n: 0 * n + middle
    >>> found = leave_one_size_out(n, {"a": runs}, {"mean": mean})
    >>> found.rmse.round(3).tolist()
    [[0.096, 0.018, 0.037, 0.076]]
    """
    given = _named(curves)
    runs = [
        checked_runs(sizes, errors, unit=unit, fewest=4) for errors in given.values()
    ]
    fits = _fits(models, unit)
    n = runs[0].sizes
    predicted = np.array([[_predicted(fit, r) for r in runs] for fit in fits.values()])
    scale = scale_of(unit)
    observed = np.stack([r.means for r in runs])
    return LeftOut(n, tuple(fits), tuple(given), scale * observed, scale * predicted)


def average_rmse(rmse: ArrayLike) -> Floats:
    """Return the mean over sizes, the last axis, of root mean squares.

    Every size counts the same, so that a few large misses at the smallest size do not
    decide alone, as they would in the root of the mean of all squares.

    Examples
    --------
    >>> round(float(average_rmse([2.40, 0.86, 0.54, 0.57, 0.85])), 3)
    1.044
    """
    try:
        values = np.atleast_1d(np.asarray(rmse, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape[-1] == 0:
        raise bad_value("rmse", rmse, "Pass one number for each size.")
    return np.asarray(np.mean(values, axis=-1))


def _predicted(fit: Model, runs: Runs) -> Floats:
    """Return what a model predicts at each size from all others."""
    found = []
    for i, size in enumerate(runs.sizes):
        kept = np.delete(np.arange(len(runs.sizes)), i)
        law = fit(runs.sizes[kept], [runs.errors[k] for k in kept])
        error = getattr(law, "error", law)
        if not callable(error):
            raise CurvewiseError(
                f"A model returned {type(law).__name__}. Return a function of the size, or "
                f"what has a method `error`."
            )
        said = error(np.array([size]))
        try:
            value = np.asarray(said, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            value = np.empty(0)
        if len(value) != 1 or not np.isfinite(value[0]):
            raise CurvewiseError(
                f"A model predicts {said!r} at size {size:g}. Return one finite number for "
                f"each size."
            )
        found.append(float(value[0]))
    return np.array(found)


def _named(curves: Any) -> dict[str, Any]:
    if not isinstance(curves, Iterable):
        raise bad_value(
            "curves", curves, "Pass the errors of each learner, by name or in a list."
        )
    named = (
        {str(k): v for k, v in curves.items()}
        if isinstance(curves, Mapping)
        else {str(i + 1): errors for i, errors in enumerate(curves)}
    )
    if not named:
        raise CurvewiseError("There are no curves. Pass the errors of one at least.")
    return named


def _fits(models: Any, unit: Unit) -> dict[str, Model]:
    # Percentages are fractions by now.
    within: Unit = "loss" if unit == "loss" else "fraction"
    fits: dict[str, Model] = {}
    if isinstance(models, str):
        fits = {models: known_model(models, within)}
    elif isinstance(models, Mapping):
        fits = dict(models)
    elif isinstance(models, Iterable):
        fits = {name: known_model(name, within) for name in models}
    if not fits or not all(callable(fit) for fit in fits.values()):
        raise bad_value(
            "models", models, "Pass names, or functions that fit a curve, by name."
        )
    return fits


def _t_test(apart: Floats) -> float:
    """Return the two-sided p value that the mean is 0; 1 where nothing differs."""
    from scipy.special import stdtr

    n = len(apart)
    spread = float(apart.std(ddof=1)) if n > 1 else 0.0
    if spread == 0:
        return 1.0 if n < 2 or apart.mean() == 0 else 0.0
    t = float(apart.mean()) / (spread / math.sqrt(n))
    return float(2 * stdtr(n - 1, -abs(t)))


# --- Models of a learning curve by name: power laws and the forms of the catalogue -----


# The rows of Figure 2 of Hoiem et al.: three weightings of one law, then three other laws.
_PAPER: Mapping[str, Mapping[str, Any]] = {
    "paper": {"terms": "power", "weights": "per_size"},
    "paper, efficient weights": {"terms": "power", "weights": "efficient"},
    "paper, equal weights": {"terms": "power", "weights": "equal"},
    "paper, linear": {"terms": "linear", "weights": "per_size"},
    "paper, quadratic": {"terms": "quadratic", "weights": "per_size"},
    "paper, full": {"terms": "full", "weights": "per_size"},
}


def known_model(name: str, unit: Unit = "fraction") -> Model:
    """Return the model of a name; refuse an unknown one."""
    known = known_models(unit)
    if name not in known:
        raise unknown("model", name, known)
    return known[name]


def known_models(unit: Unit = "fraction") -> Mapping[str, Model]:
    """Return every model that has a name, by name."""
    from curvewise.stats.forms import FORMS, fit_form
    from curvewise.stats.powerlaw import fit_power_law

    laws: dict[str, Model] = {"power law": partial(fit_power_law, unit=unit)}
    for name, options in _PAPER.items():
        laws[name] = partial(fit_power_law, method="paper", unit=unit, **options)
    forms = {name: partial(fit_form, form=name, unit=unit) for name in FORMS}
    return {**laws, **forms}
