"""Whether a power law on the logits holds at all: what is left, against the noise."""

import numpy as np
from scipy.special import expit, fdtrc

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._calibrated import CalibratedFit

_NOTHING = 1e9  # variance of a logit of which nothing was seen


def lack_of_fit(fit: CalibratedFit) -> Floats:
    r"""Return p values of "one power law on the logits, one exponent for all classes".

    .. math:: Q = \min_{\gamma, \theta} r^\top V^{-1} r, \quad r = z - X_\gamma \theta

    z are the logits of all sizes and classes that were seen, made linear at the fit, and V
    is their covariance: test examples, which sizes may share, and training sets. If the law
    holds, Q / df is about F with df = K C - 2 C - 1 and :math:`f / \phi^2` degrees of
    freedom: V is estimated, its part :math:`\phi` from training sets with f of them.

    Where nobody kept which examples were answered rightly, all models are taken to be
    tested on different ones: if they were not, p values are too large.

    Parameters
    ----------
    fit : CalibratedFit

    Returns
    -------
    ndarray, shape (curve,)
        NaN where a curve has no more numbers than parameters.
    """
    table, noise = fit.table, fit.noise
    curves, sizes, classes = table.right.shape
    logistic, best = fit.exponents.logistic, fit.exponents.best
    logit = logistic.logits(table.sizes)[np.arange(curves), best]
    rate = expit(np.clip(logit, -12.0, 12.0))
    shape = np.maximum(rate * (1 - rate), 1e-12)
    total = table.total
    is_there = (total > 0).swapaxes(1, 2).reshape(curves, -1)
    some = np.maximum(total, 1.0)
    # One step of Newton's method from the fit; rates of 0 and 1 stay finite.
    z = logit + (table.right - total * rate) / (some * shape)
    z = np.where(is_there, z.swapaxes(1, 2).reshape(curves, -1), 0.0)
    v, trained = _covariance(fit, shape, some)
    known = noise.freedom + 2.0
    v = np.where(is_there[:, :, None] & is_there[:, None, :], v, 0.0)
    each = np.arange(sizes * classes)
    v[:, each, each] += np.where(is_there, 1e-9, _NOTHING)
    x = logistic.basis(table.sizes)
    design = np.zeros((*x.shape[:2], classes, sizes, classes, 2))
    for c in range(classes):
        design[:, :, c, :, c, 0] = 1.0
        design[:, :, c, :, c, 1] = x
    design = design.reshape(*x.shape[:2], classes * sizes, 2 * classes)
    design = np.where(is_there[:, None, :, None], design, 0.0)
    precision = np.linalg.inv(v)
    weighted = precision @ z[..., None]
    inner = design.swapaxes(-1, -2) @ (precision[:, None] @ design)
    inner += 1e-10 * np.eye(2 * classes)
    right = design.swapaxes(-1, -2) @ weighted[:, None]
    explained = (right * np.linalg.solve(inner, right)).sum((-1, -2))
    whole = (z[..., None] * weighted).sum((-1, -2))
    left = np.maximum((whole[:, None] - explained).min(-1), 0.0)
    freedom = is_there.sum(-1) - 2.0 * classes - 1.0
    some_freedom = np.maximum(freedom, 1.0)
    p = fdtrc(some_freedom, np.maximum(known / trained**2, 3.0), left / some_freedom)
    return np.asarray(np.where(freedom >= 1, p, np.nan))


def _covariance(
    fit: CalibratedFit, shape: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """Return the covariance of logits, and which share of it comes from training sets.

    Shapes (curve, class x size, class x size) and (curve,).
    """
    table, noise = fit.table, fit.noise
    curves, sizes, classes = shape.shape
    seen = np.sqrt(noise.rates * (1 - noise.rates)).swapaxes(1, 2)
    scale = 1.0 / (total * np.sqrt(shape)).swapaxes(1, 2) / seen
    own = noise.testing * scale[..., None] * scale[..., None, :]
    apart = (noise.alone * scale**2)[..., None] * np.eye(sizes)
    own = np.where(noise.is_blind[:, None, None, None], apart, own)
    luck = 1.0 / (table.sizes * np.maximum(table.runs, 1.0))
    root = 1.0 / np.sqrt(shape)
    moved = (
        noise.omega[:, None] * (luck[..., None] * root)[..., None] * root[..., None, :]
    )
    k = np.arange(sizes)
    v = np.zeros((curves, classes, sizes, classes, sizes))
    for c in range(classes):
        v[:, c, :, c, :] = own[:, c]
        for d in range(classes):
            v[:, c, k, d, k] += moved[..., c, d]
    is_there = table.total > 0
    tested = np.diagonal(own, axis1=-2, axis2=-1).swapaxes(1, 2)
    trained = np.diagonal(moved, axis1=-2, axis2=-1)
    share = (trained / (trained + tested)).mean(axis=(1, 2), where=is_there)
    return v.reshape(curves, classes * sizes, classes * sizes), np.asarray(share)
