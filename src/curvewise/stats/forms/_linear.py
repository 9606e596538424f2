"""Asymptote and amplitude, once the shape of each curve is known."""

from dataclasses import dataclass

import numpy as np

from curvewise.stats._curve.grid import GridFit, fit_amplitudes, fit_grid
from curvewise.stats._sample import Floats
from curvewise.stats.forms.form import Form


@dataclass(frozen=True, slots=True)
class Rule:
    """What c and b may be.

    Parameters
    ----------
    solves : str
        As in `Form`.
    may_rise : bool
        Whether b may be below 0.
    highest : float
        The largest c: 1 for fractions, infinite for losses.
    """

    solves: str
    may_rise: bool
    highest: float

    @classmethod
    def of(cls, form: Form, *, may_rise: bool, highest: float) -> "Rule":
        """Return the rule of a form."""
        return cls(form.solves, may_rise and not form.may_fall_only, highest)


def solve_grid(basis: Floats, errors: Floats, weights: Floats, rule: Rule) -> GridFit:
    """Return c, b and the cost of every curve and shape.

    Parameters
    ----------
    basis : ndarray, shape (shape, size)
    errors : ndarray, shape (curve, size)
    weights : ndarray, shape (curve, size) or (1, size)
    rule : Rule
    """
    if rule.solves == "amplitude":
        return fit_amplitudes(basis, errors, weights)
    if rule.solves == "offset":
        return _offsets(basis, errors, weights)
    if not rule.may_rise:
        return fit_grid(basis, errors, weights, is_bounded=True)
    found = fit_grid(basis, errors, weights)
    outside = (found.asymptote < 0) | (found.asymptote > rule.highest)
    if outside.any():
        for edge in (0.0, rule.highest):
            here = outside & ((found.asymptote > edge) == (edge > 0))
            if here.any():
                fixed = fit_amplitudes(basis, errors - edge, weights)
                np.copyto(found.cost, fixed.cost, where=here)
                np.copyto(found.amplitude, fixed.amplitude, where=here)
        np.clip(found.asymptote, 0, rule.highest, out=found.asymptote)
    return found


def _offsets(basis: Floats, errors: Floats, weights: Floats) -> GridFit:
    """Return c of ``e = c - phi``."""
    total = weights.sum(axis=1, keepdims=True)
    middle = basis.mean(axis=1, keepdims=True)
    x = basis - middle
    c = ((weights * errors).sum(axis=1, keepdims=True) + weights @ x.T) / total
    squares = (weights * errors**2).sum(axis=1, keepdims=True)
    cross = 2 * (weights * errors) @ x.T + weights @ (x**2).T
    cost = np.maximum(squares + cross - total * c**2, 0.0)
    return GridFit(cost, c + middle.T, np.full_like(c, -1.0))


def solve_each(
    phi: Floats, errors: Floats, weights: Floats, rule: Rule
) -> tuple[Floats, Floats, Floats]:
    """Return the cost, c and b of each curve with a shape of its own.

    Parameters
    ----------
    phi, errors : ndarray, shape (size, curve)
        Sizes come first, so that sums over a few sizes run along whole rows of curves.
    weights : ndarray, shape (size, curve) or (size, 1)
    rule : Rule
    """
    if rule.solves == "amplitude":
        b = _amplitude(phi, errors, weights)
        c = np.zeros_like(b)
    elif rule.solves == "offset":
        b = np.full(phi.shape[1], -1.0)
        c = (weights * (errors + phi)).sum(axis=0) / weights.sum(axis=0)
    else:
        c, b = _line(phi, errors, weights, rule)
    rest = errors - c - b * phi
    cost: Floats = (weights * rest * rest).sum(axis=0)
    return cost, c, b


def _line(
    phi: Floats, errors: Floats, weights: Floats, rule: Rule
) -> tuple[Floats, Floats]:
    total = weights.sum(axis=0)
    y = (weights * errors).sum(axis=0) / total
    x = (weights * phi).sum(axis=0) / total
    apart = phi - x
    weighed = weights * apart
    sxx = (weighed * apart).sum(axis=0)
    sxy = (weighed * errors).sum(axis=0)
    # What is flat on the sizes of a curve, but for rounding, has no slope.
    is_flat = sxx <= 1e-24 * total * x * x
    b = np.where(is_flat, 0.0, sxy / np.where(is_flat, 1.0, sxx))
    if not rule.may_rise:
        b = np.maximum(b, 0.0)
    c = y - b * x
    if (c < 0).any():
        b = np.where(c < 0, _amplitude(phi, errors, weights), b)
        c = np.maximum(c, 0.0)
    if rule.may_rise and (c > rule.highest).any():
        at_most = _amplitude(phi, errors - rule.highest, weights)
        b = np.where(c > rule.highest, at_most, b)
        c = np.minimum(c, rule.highest)
    return c, b


def _amplitude(phi: Floats, errors: Floats, weights: Floats) -> Floats:
    weighed = weights * phi
    sxx = (weighed * phi).sum(axis=0)
    found: Floats = (weighed * errors).sum(axis=0) / np.where(sxx > 0, sxx, 1.0)
    return found
