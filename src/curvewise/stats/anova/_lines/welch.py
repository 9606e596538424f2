"""Welch's F for groups that are not equally noisy, for many draws at once."""

import numpy as np

from curvewise.stats._sample import Floats

# A variance below this share of the whole is what rounding left of none.
_ROUNDING = 1e-20


def floored(variances: Floats, whole: Floats | float) -> Floats:
    """Return variances that are not below rounding, given the variance of all lines."""
    return np.maximum(variances, _ROUNDING * whole)


def welch_f(means: Floats, variances: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    r"""Return Welch's F and its second degrees of freedom.

    .. math:: F = \frac{\sum_i w_i (\bar x_i - \tilde x)^2 / (m-1)}
       {1 + 2 (m-2) h / (m^2-1)}, \quad w_i = \frac{l_i}{s_i^2}, \quad
       \tilde x = \frac{\sum w_i \bar x_i}{W}, \quad
       h = \sum_i \frac{(1 - w_i / W)^2}{l_i - 1}, \quad f_2 = \frac{m^2 - 1}{3 h}

    Parameters
    ----------
    means, variances : ndarray, shape (algorithm, ...)
        Of each algorithm; without any variance F is infinite where means differ, else 0.
    sizes : ndarray, shape (algorithm,)
        How many lines each has, two or more.
    """
    if len(means) == 2:
        # The same as below, without its divisions: t squared, and Satterthwaite's freedom.
        u, v = variances[0] / sizes[0], variances[1] / sizes[1]
        total = u + v
        with np.errstate(divide="ignore", invalid="ignore"):
            f = (means[0] - means[1]) ** 2 / total
            df = total**2 / (u**2 / (sizes[0] - 1) + v**2 / (sizes[1] - 1))
        return _defined(f, 0.0), _defined(df, 1.0)
    f, df = _of_several(means, variances, sizes)
    lost = np.isnan(f)  # a weight is infinite
    if lost.any():
        means, variances = means[:, lost], variances[:, lost]
        noise = variances.max(axis=0)
        some, freedom = _of_several(means, floored(variances, noise), sizes)
        none = np.where(np.ptp(means, axis=0) > 0, np.inf, 0.0)
        f[lost] = np.where(noise > 0, some, none)
        df[lost] = freedom
    return f, _defined(df, 1.0)


def _of_several(
    means: Floats, variances: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    m = len(means)
    sizes = sizes.reshape(-1, *(1,) * (means.ndim - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        w = sizes / variances
        share = w / w.sum(axis=0)
        # The centred form: the expanded one cancels, and turns negative.
        middle = (share * means).sum(axis=0)
        between = (w * (means - middle) ** 2).sum(axis=0) / (m - 1)
        h = ((1 - share) ** 2 / (sizes - 1)).sum(axis=0)
        f = between / (1 + 2 * (m - 2) * h / (m**2 - 1))
        df = (m**2 - 1) / (3 * h)
    return np.asarray(f), np.asarray(df)


def evidence(f: Floats, df: Floats, algorithms: int) -> Floats:
    r"""Return how strongly each F speaks against equality, given its own freedom.

    For two algorithms the normal deviate of Welch's t,
    :math:`z = \sqrt{f \log(1 + F/f)}\,(8f+1)/(8f+3)`; for more, :math:`-\log p`.
    Draws differ in their degrees of freedom, so that F alone does not compare them.
    """
    if algorithms == 2:
        z: Floats = np.sqrt(df * np.log1p(f / df)) * (8 * df + 1) / (8 * df + 3)
        return z
    from scipy.special import fdtrc

    p = fdtrc(algorithms - 1, df, f)
    with np.errstate(divide="ignore"):
        # Where p is too small for a float, F still orders.
        beyond = 1000 + np.log(np.maximum(f, 1.0))
        return np.where(p > 0, -np.log(p), beyond)


def _defined(values: Floats, otherwise: float) -> Floats:
    """Return values with something in place of 0/0: groups without any spread."""
    return np.where(np.isnan(values), otherwise, values)
