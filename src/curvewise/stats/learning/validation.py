"""Curves on trial: sizes that they were not shown, and points moved by their noise."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Keyword, unknown
from curvewise.stats.curves import UNITS, Runs, Unit, checked_runs, scale_of
from curvewise.stats.forms import FORMS, fit_form
from curvewise.stats.powerlaw import fit_power_law, fit_power_laws
from curvewise.stats.validation import (
    LARGEST_LOSS,
    Floats,
    as_floats,
    bad_value,
    checked_chance,
    checked_sizes,
    checked_table,
    one_of,
)

__all__ = [
    "LeftOut",
    "Stability",
    "average_rmse",
    "leave_one_size_out",
    "stability",
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
        return np.asarray(np.sqrt(((self.predicted - self.observed) ** 2).mean(axis=1)))

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
    by_name = _named(curves)
    runs = [
        checked_runs(sizes, errors, unit=unit, fewest=4) for errors in by_name.values()
    ]
    fits = _fits(models, unit)
    n = runs[0].sizes
    predicted = np.array([[_predicted(fit, r) for r in runs] for fit in fits.values()])
    scale = scale_of(unit)
    observed = np.stack([r.means for r in runs])
    return LeftOut(
        sizes=n,
        models=tuple(fits),
        curves=tuple(by_name),
        observed=scale * observed,
        predicted=scale * predicted,
    )


def average_rmse(rmse: ArrayLike) -> Floats:
    """Return the mean over sizes, the last axis, of root mean squares.

    Every size counts the same, so that a few large misses at the smallest size do not
    decide alone, as they would in the root of the mean of all squares.

    Examples
    --------
    >>> round(float(average_rmse([2.40, 0.86, 0.54, 0.57, 0.85])), 3)
    1.044
    """
    values = as_floats(rmse)
    if values is None or values.size == 0:
        raise bad_value("rmse", rmse, "Pass one number for each size.")
    return np.asarray(np.mean(np.atleast_1d(values), axis=-1))


def _predicted(fit: Model, runs: Runs) -> Floats:
    """Return what a model predicts at each size from all others."""
    values = []
    for i, size in enumerate(runs.sizes):
        rest = np.delete(np.arange(len(runs.sizes)), i)
        law = fit(runs.sizes[rest], [runs.errors[k] for k in rest])
        error = getattr(law, "error", law)
        if not callable(error):
            raise CurvewiseError(
                f"A model returned {type(law).__name__}. Return a function of the size, or "
                f"what has a method `error`."
            )
        prediction = error(np.array([size]))
        value = as_floats(prediction)
        if value is None or value.size != 1 or not np.isfinite(value).all():
            raise CurvewiseError(
                f"A model predicts {prediction!r} at size {size:g}. Return one finite "
                f"number for each size."
            )
        values.append(value.item())
    return np.array(values)


def _named(curves: Any) -> dict[str, Any]:
    if not isinstance(curves, Iterable):
        raise bad_value(
            "curves", curves, "Pass the errors of each learner, by name or in a list."
        )
    by_name = (
        {str(k): v for k, v in curves.items()}
        if isinstance(curves, Mapping)
        else {str(i + 1): errors for i, errors in enumerate(curves)}
    )
    if not by_name:
        raise CurvewiseError("There are no curves. Pass the errors of one at least.")
    return by_name


def _fits(models: Any, unit: Unit) -> dict[str, Model]:
    """Return functions that fit a curve, by name; refuse what is none."""
    fits: dict[str, Model] = {}
    if isinstance(models, Mapping):
        fits = dict(models)
    elif isinstance(models, Iterable):
        # Percentages are fractions by now.
        catalogue = known_models("loss" if unit == "loss" else "fraction")
        for name in [models] if isinstance(models, str) else models:
            if name not in catalogue:
                raise unknown("model", name, catalogue)
            fits[name] = catalogue[name]
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


def known_models(unit: Unit = "fraction") -> Mapping[str, Model]:
    """Return every model that has a name."""
    laws: dict[str, Model] = {"power law": partial(fit_power_law, unit=unit)}
    for name, options in _PAPER.items():
        laws[name] = partial(fit_power_law, method="paper", unit=unit, **options)
    forms = {name: partial(fit_form, form=name, unit=unit) for name in FORMS}
    return {**laws, **forms}


# --- How much summaries move when points of a curve move with their noise ---------------


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """What power laws say when each point of a curve is drawn anew.

    Parameters
    ----------
    n : float
        The size that error and data-reliance are of.
    to : ndarray, shape (target,)
    errors, reliances, exponents, asymptotes : ndarray, shape (curve, repeat)
        e_N, beta_N, gamma and alpha of each refit.
    predictions : ndarray, shape (curve, repeat, target)
        The error at other sizes.
    """

    n: float
    to: Floats
    errors: Floats
    reliances: Floats
    exponents: Floats
    asymptotes: Floats
    predictions: Floats

    @property
    def sd(self) -> dict[str, Floats]:
        """The standard deviation over repeats of each number, for each curve."""
        parts = {
            "e_N": self.errors,
            "beta_N": self.reliances,
            "gamma": self.exponents,
            "alpha": self.asymptotes,
        }
        for i, size in enumerate(self.to):
            parts[f"e at {size:,.12g}"] = self.predictions[:, :, i]
        return {name: np.std(x, axis=1, ddof=1) for name, x in parts.items()}

    def rows(self) -> list[dict[str, float | str]]:
        """Return a row for each number: its spread, as a mean over curves."""
        return [
            {"of": name, "sd": float(sd.mean()), "largest sd": float(sd.max())}
            for name, sd in self.sd.items()
        ]


def stability(
    sizes: ArrayLike,
    means: ArrayLike,
    sds: ArrayLike,
    *,
    repeats: int = 100,
    to: ArrayLike = (25, 1600),
    n: float | None = None,
    unit: Unit = "fraction",
    rng: np.random.Generator,
    **options: Any,
) -> Stability:
    r"""Return how much e_N, beta_N and gamma move with the noise of single runs.

    Draws one point at each size from :math:`N(\bar e_i, s_i^2)`, fits a power law, and
    repeats.

    Parameters
    ----------
    sizes : array_like, shape (size,)
    means, sds : array_like, shape (size,) or (curve, size)
        Mean error at each size, and the standard deviation from run to run.
    repeats : int
    to : array_like, shape (target,)
        Sizes to extrapolate to.
    n : float, optional
        N, the size that error and data-reliance are of; the largest if left out.
    unit : {"fraction", "percent", "loss"}
    rng : numpy.random.Generator
    **options
        Of `fit_power_laws`: method, weights, terms.

    Returns
    -------
    Stability

    Notes
    -----
    The experiment of Figures 2 (right) and 9 of Hoiem et al. [1]_, who use n = 50, 100,
    200 and 400. It shows why they speak of e_N and beta_N rather than of alpha and gamma:
    these move far more. Draws that leave what an error can be are put back to its edge.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis
       of Deep Networks." ICML 2021.

    Examples
    --------
    >>> size = np.array([50, 100, 200, 400])
    >>> rng = np.random.default_rng(1)
    >>> found = stability(size, 0.1 + size**-0.5, [0.01, 0.007, 0.005, 0.004], rng=rng)
    >>> bool(found.sd["e_N"][0] < found.sd["alpha"][0])
    True
    """
    repeats = checked_chance(repeats, rng, least=2, name="repeats")
    at = checked_sizes(sizes)
    order = np.argsort(at, kind="stable")
    middle = _checked_rows(means, len(at), "means")[:, order]
    spread = _checked_rows(sds, len(at), "sds")[:, order]
    if len(spread) not in (1, len(middle)):
        raise CurvewiseError(
            f"There are means of {len(middle)} curves and sds of {len(spread)}. Pass one "
            f"row for each curve, or one for all."
        )
    spread = np.broadcast_to(spread, middle.shape)
    if not (spread >= 0).all():
        raise CurvewiseError("sds holds a number below 0. Pass standard deviations.")
    targets = checked_sizes(to, "to")
    one_of("unit", unit, UNITS)
    top = {"fraction": 1.0, "percent": 100.0}.get(unit, LARGEST_LOSS)
    if not ((middle >= 0) & (middle <= top)).all():
        raise CurvewiseError(
            f"means go from {middle.min():g} to {middle.max():g}, which are no "
            "errors in ",
            Keyword("unit", unit),
            ". Pass another unit.",
        )
    curves = len(middle)
    samples = middle[:, None] + spread[:, None] * rng.standard_normal(
        (curves, repeats, len(at))
    )
    samples = np.clip(samples, 0.0, top).reshape(-1, len(at))
    laws = fit_power_laws(at[order], samples, unit=unit, size=n, **options)

    def shaped(x: Floats) -> Floats:
        return x.reshape(curves, repeats, *x.shape[1:])

    return Stability(
        n=laws.size,
        to=targets,
        errors=shaped(laws.e_N),
        reliances=shaped(laws.beta_N),
        exponents=shaped(laws.gamma),
        asymptotes=shaped(laws.alpha),
        predictions=shaped(laws.error(targets)),
    )


def _checked_rows(values: Any, sizes: int, name: str) -> Floats:
    rows = checked_table([values] if np.ndim(values) == 1 else values, name, sizes)
    if not np.isfinite(rows).all():
        raise CurvewiseError(
            f"{name} hold numbers that are not finite. Pass one for each size."
        )
    return rows
