"""How much the summaries of a learning curve move when its points move with their noise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Keyword
from curvewise.stats.curves import UNITS, Unit
from curvewise.stats.validation import (
    LARGEST_LOSS,
    Floats,
    checked_chance,
    checked_sizes,
    checked_table,
    one_of,
)

__all__ = ["Stability", "stability"]


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
    from curvewise.stats.powerlaw import fit_power_laws

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
    drawn = middle[:, None] + spread[:, None] * rng.standard_normal(
        (curves, repeats, len(at))
    )
    drawn = np.clip(drawn, 0.0, top).reshape(-1, len(at))
    laws = fit_power_laws(at[order], drawn, unit=unit, size=n, **options)

    def shaped(x: Floats) -> Floats:
        return x.reshape(curves, repeats, *x.shape[1:])

    return Stability(
        laws.size,
        targets,
        shaped(laws.e_N),
        shaped(laws.beta_N),
        shaped(laws.gamma),
        shaped(laws.alpha),
        shaped(laws.error(targets)),
    )


def _checked_rows(values: Any, sizes: int, name: str) -> Floats:
    rows = checked_table([values] if np.ndim(values) == 1 else values, name, sizes)
    if not np.isfinite(rows).all():
        raise CurvewiseError(
            f"{name} hold numbers that are not finite. Pass one for each size."
        )
    return rows
