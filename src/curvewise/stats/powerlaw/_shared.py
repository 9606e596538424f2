"""What all sizes of a run share, such as an easy test split: it shifts a whole curve."""

import numpy as np

from curvewise.stats._sample import Floats

_FEW = 4.8  # (t / z)^2 at 95 % with two degrees of freedom: for three runs, or two
_LEAST = 0.05  # of the variance at a size is not shift


def shared_shift(table: Floats | None) -> tuple[float, float]:
    r"""Return the variance of a run's shift, and that of the mean of all runs.

    .. math:: e_{ji} = e(n_i) + t_j + \varepsilon_{ji}, \qquad
       \hat\sigma_t^2 = \overline{\mathrm{cov}(e_{\cdot i}, e_{\cdot k})}_{i \ne k}, \qquad
       \mathrm{var}(\bar t) \approx \frac{\hat\sigma_t^2}{R} \cdot \frac{R - 1}{R - 3}

    Parameters
    ----------
    table : ndarray of shape (run, size), optional
        None, or with gaps, where it is not known which run is which.

    Notes
    -----
    A shift moves alpha and nothing else: exponent and amplitude are judged by what is left
    of the noise. The last factor is what a t distribution of R - 1 degrees of freedom has
    more than a normal one, since the shift is known from R runs only; it is 4.8 for three
    runs and two, where that has no variance. Runs that share
    nothing have covariances around 0, and lose almost nothing by being taken for runs
    that do.
    """
    if table is None or len(table) < 2 or table.shape[1] < 2:
        return 0.0, 0.0
    if not np.isfinite(table).all():
        return 0.0, 0.0
    covariance = np.cov(table.T)
    runs, sizes = table.shape
    own = np.diag(covariance)
    between = (covariance.sum() - own.sum()) / (sizes * (sizes - 1))
    shift = max(float(between), 0.0)
    wider = (runs - 1) / (runs - 3) if runs > 3 else _FEW
    return shift, shift / runs * wider


def without_shift(errors: Floats, shift: float) -> float:
    """Return the sum of squares of the runs at a size that is not their shifts."""
    squares = float(((errors - errors.mean()) ** 2).sum())
    return max(squares - shift * (len(errors) - 1), _LEAST * squares)
