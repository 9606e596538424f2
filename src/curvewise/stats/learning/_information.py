"""What runs tell about a power law, to first order, and what they cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats

# A Laplace prior on gamma around -1/2 of rate 5/2, the one that the fits use, has the
# variance 2 / 2.5^2. It keeps gamma in reach where few sizes say nothing of it.
PRIOR = 2.5**2 / 2


@dataclass(frozen=True, slots=True)
class Law:
    """A power law e = alpha + eta n^gamma, and the variance s0 + s / n of a run."""

    alpha: float
    eta: float
    gamma: float
    s0: float
    s: float

    def slopes(self, n: Floats) -> Floats:
        """Return how the error at sizes n moves with alpha, eta and gamma."""
        power = n**self.gamma
        return np.stack([np.ones_like(n), power, self.eta * power * np.log(n)], axis=-1)

    def variance(self, n: Floats) -> Floats:
        """Return the variance of the error of one run at sizes n."""
        return self.s0 + self.s / n


def information(law: Law, n: Floats, counts: Floats) -> Floats:
    r"""Return :math:`\sum_i F_i x_i x_i' / \sigma^2(n_i)` plus the prior on gamma."""
    x = law.slopes(n)
    result: Floats = x.T @ ((counts / law.variance(n))[:, None] * x)
    result[2, 2] += PRIOR
    return result


def variance_at(inverse: Floats, law: Law, target: Floats) -> Floats:
    """Return the variance of the fitted error at target sizes."""
    g = law.slopes(target)
    result: Floats = np.einsum("ti,ij,tj->t", g, inverse, g)
    return result


def variance_after(
    inverse: Floats, law: Law, target: float, n: Floats, repeats: Floats
) -> Floats:
    r"""Return the variance at the target after more runs, shape (size, repeat).

    .. math:: v - \frac{(g' I^{-1} x)^2}{\sigma^2(n) / r + x' I^{-1} x}

    which is the inverse of the information after an update of rank one, without one.
    """
    g = law.slopes(np.array([target]))[0]
    x = law.slopes(n)
    before = g @ inverse @ g
    shared = (x @ inverse @ g)[:, None] ** 2
    own = np.einsum("ni,ij,nj->n", x, inverse, x)[:, None]
    result: Floats = before - shared / (law.variance(n)[:, None] / repeats + own)
    return np.maximum(result, 0.0)


def inverse_of(matrix: Floats) -> Floats:
    """Return the inverse of an information matrix, whatever the scale of its parts."""
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    inner = np.linalg.pinv(matrix * np.outer(scale, scale), rcond=1e-13, hermitian=True)
    result: Floats = inner * np.outer(scale, scale)
    return result


def seconds_at(sizes: Floats, seconds: Any) -> Callable[[Floats], Floats]:
    """Return the seconds of a run at any size: what was measured, a power law elsewhere."""
    if callable(seconds):
        return lambda n: _checked_seconds(seconds(n), n)
    known = _checked_seconds(seconds, sizes)
    x, y = np.log(sizes), np.log(known)
    middle = x.mean()
    spread = ((x - middle) ** 2).sum()
    # More data never takes less time; one size alone says nothing: as long as it is.
    slope = max(float(((x - middle) * y).sum() / spread), 0.0) if spread > 0 else 1.0

    def at(n: Floats) -> Floats:
        fitted = np.exp(y.mean() + slope * (np.log(n) - middle))
        place = np.minimum(np.searchsorted(sizes, n), len(sizes) - 1)
        return np.where(sizes[place] == n, known[place], fitted)

    return at


def _checked_seconds(seconds: Any, n: Floats) -> Floats:
    try:
        found = np.asarray(seconds, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != n.shape or not (np.isfinite(found) & (found > 0)).all():
        raise CurvewiseError(
            f"seconds is {seconds!r}. Pass the seconds of one run at each size, above 0, "
            f"or a function of the size.",
            argument="seconds",
            value=seconds,
        )
    return found
