"""The best shape of each curve: a grid for all, then one local refinement of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curvewise.stats.curves import GridFit, blocks, fit_amplitudes, fit_grid
from curvewise.stats.forms.catalogue import Design, Form
from curvewise.stats.validation import Floats


@dataclass(frozen=True, slots=True)
class Rule:
    """What c and b may be."""

    solves: str  # as in `Form`
    may_rise: bool  # whether b may be below 0
    highest: float  # the largest c: 1 for fractions, infinite for losses

    @classmethod
    def of(cls, form: Form, *, may_rise: bool, highest: float) -> "Rule":
        """Return the rule of a form."""
        return cls(form.solves, may_rise and not form.may_fall_only, highest)


# Refinement works on (size, curve) temporaries: a block of them stays in the cache.
_CELLS = 1 << 13
_LOOKS = 18  # at the cost of one parameter
_POLISH = 2  # steps after that
_STEPS = 16  # of several parameters together
_H = 1e-6  # for slopes, in coordinates whose cells are about .1 wide


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best shape of each curve."""

    shape: Floats  # (shape parameter, curve)
    cost: Floats
    asymptote: Floats
    amplitude: Floats


def search(
    form: Form,
    relative: Floats,
    errors: Floats,
    weights: Floats,
    design: Design,
    rule: Rule,
) -> Found:
    """Return the best shape of each curve, with its c and b."""
    curves, sizes = errors.shape
    grid, basis = form.shapes(relative, design)
    shape = np.empty((len(grid), curves))
    cost, c, b = np.empty((3, curves))
    step = max(1, _CELLS // sizes)
    for first in range(0, curves, step):
        rows = slice(first, first + step)
        # One row of weights serves all curves.
        w = weights if len(weights) == 1 else weights[rows]
        start = grid[:, _best(basis, errors[rows], w, rule)]
        cost_of = _Costs(
            form=form,
            relative=relative,
            errors=errors[rows].T.copy(),
            weights=w.T,
            design=design,
            rule=rule,
        )
        shape[:, rows] = _refined(cost_of, form.axes(design), start)
        cost[rows], c[rows], b[rows], _ = cost_of.solved(shape[:, rows])
    return Found(shape, cost, c, b)


def _best(
    basis: Floats, errors: Floats, weights: Floats, rule: Rule
) -> NDArray[np.int64]:
    """Return the number of the best shape of the grid for each curve."""
    best = np.zeros(len(errors), dtype=np.int64)
    if len(basis) > 1:
        for rows in blocks(len(errors), len(basis)):
            w = weights if len(weights) == 1 else weights[rows]
            fit = solve_grid(basis, errors[rows], w, rule)
            best[rows] = fit.cost.argmin(axis=1)
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Costs:
    """What is left of each curve's errors, as a function of its shape."""

    form: Form
    relative: Floats
    errors: Floats  # (size, curve)
    weights: Floats  # (size, curve) or (size, 1)
    design: Design
    rule: Rule

    def __call__(self, shape: Floats) -> Floats:
        return self.solved(shape)[0]

    def phi(self, shape: Floats) -> Floats:
        values = self.form.basis(self.relative[:, None], list(shape), self.design)
        return np.broadcast_to(values, self.errors.shape)

    def solved(self, shape: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        phi = self.phi(shape)
        return *solve_each(phi, self.errors, self.weights, self.rule), phi

    def slopes(
        self, shape: Floats, c: Floats, b: Floats, phi: Floats, high: Floats
    ) -> tuple[Floats, Floats]:
        """Return what a shape parameter changes that c and b cannot, and what is left."""
        root = np.sqrt(self.weights)
        slopes = np.empty((len(shape), *phi.shape))
        for k in range(len(shape)):
            there = shape.copy()
            h = np.where(shape[k] + _H > high[k], -_H, _H)
            there[k] += h
            slopes[k] = root * (b / h) * (self.phi(there) - phi)
        is_free = (c > 0) & (c < self.rule.highest)
        has_c = is_free if self.rule.solves == "both" else self.rule.solves == "offset"
        ones = _unit(np.broadcast_to(root * has_c, phi.shape))
        weighed = root * phi * (self.rule.solves != "offset")
        other = _unit(weighed - ones * (ones * weighed).sum(axis=0))
        for along in (ones, other):
            slopes -= along * (along * slopes).sum(axis=1, keepdims=True)
        return slopes, root * (self.errors - c - b * phi)


def _unit(x: Floats) -> Floats:
    """Return columns of length 1; those of length 0 stay."""
    length = np.sqrt((x**2).sum(axis=0))
    return np.asarray(x / np.where(length > 1e-12, length, np.inf))


def _refined(cost_of: "_Costs", axes: Sequence[Floats], start: Floats) -> Floats:
    """Return shapes nearer to the minimum than the grid, and never worse."""
    if len(axes) == 0:
        return start
    ends = np.array([(axis[0], axis[-1]) for axis in axes])
    step = _spacing(axes, start)
    if len(axes) == 1:
        near = _bracketed(cost_of, start[0], step[0], ends[0])[None]
        return _descended(cost_of, near, step, ends, _POLISH)
    return _descended(cost_of, start, step, ends, _STEPS)


def _descended(
    cost_of: "_Costs", start: Floats, reach: Floats, ends: Floats, steps: int
) -> Floats:
    """Return where steps of Gauss and Newton lead, damped so that each is an improvement.

    c and b are solved for in every step (variable projection), so that a step is about
    the shape alone: slopes of phi, less what c and b would make good for.
    """
    low, high = ends[:, :1], ends[:, 1:]
    best = start.copy()
    cost, c, b, phi = cost_of.solved(best)
    damping = np.full(len(cost), 1e-2)
    for _ in range(steps):
        slopes, rest = cost_of.slopes(best, c, b, phi, high)
        pull = np.einsum("ksc,sc->kc", slopes, rest)
        # At an edge, what pulls outwards stays where it is.
        is_held = ((best <= low) & (pull < 0)) | ((best >= high) & (pull > 0))
        slopes = np.where(is_held[:, None], 0.0, slopes)
        bend = np.einsum("ksc,lsc->ckl", slopes, slopes)
        diagonal = np.einsum("ckk->ck", bend)  # a view of the diagonal
        diagonal *= 1 + damping[:, None]
        diagonal += 1e-14 * diagonal.max(axis=1, keepdims=True) + 1e-200
        pulls = np.where(is_held, 0.0, pull).T[:, :, None]
        move = np.linalg.solve(bend, pulls)[:, :, 0].T
        there = np.clip(best + np.clip(move, -reach, reach), low, high)
        new, new_c, new_b, new_phi = cost_of.solved(there)
        is_better = new < cost
        damping *= np.where(is_better, 0.2, 5.0)
        best = np.where(is_better, there, best)
        phi = np.where(is_better, new_phi, phi)
        cost, c, b = (
            np.where(is_better, x, y) for x, y in ((new, cost), (new_c, c), (new_b, b))
        )
    return best


def _bracketed(cost_of: "_Costs", best: Floats, step: Floats, ends: Floats) -> Floats:
    """Return where the cost of one parameter is lowest, in the cells around the best one.

    Parabolas and golden sections take turns: the cost bends differently on the two sides
    of where a bound begins to hold, and parabolas alone creep there.
    """
    left, right = np.clip(best - step, *ends), np.clip(best + step, *ends)
    at_left, cost, at_right = (cost_of(x[None]) for x in (left, best, right))
    for look in range(_LOOKS):
        is_right = right - best > best - left
        wide = np.where(is_right, right - best, left - best)  # with its sign
        there = best + 0.382 * wide
        if look % 2 == 0:
            bottom = _vertex(left, best, right, at_left, cost, at_right)
            is_inside = (bottom > left) & (bottom < right)
            # A bottom that is where we are says so: a look beside it closes the bracket.
            is_near = np.abs(bottom - best) < 0.01 * np.abs(wide)
            bottom = np.where(is_near, best + 0.02 * wide, bottom)
            there = np.where(is_inside, bottom, there)
        new = cost_of(there[None])
        is_better, is_above = new < cost, there > best
        # The worse of the two is the new end of the bracket, on its side of the better.
        end, at_end = np.where(is_better, best, there), np.where(is_better, cost, new)
        moves_left = is_better == is_above
        left, at_left = (
            np.where(moves_left, end, left),
            np.where(moves_left, at_end, at_left),
        )
        right, at_right = (
            np.where(moves_left, right, end),
            np.where(moves_left, at_right, at_end),
        )
        best, cost = np.where(is_better, there, best), np.where(is_better, new, cost)
    return best


def _vertex(
    left: Floats, here: Floats, right: Floats, fl: Floats, f: Floats, fr: Floats
) -> Floats:
    """Return where the parabola through three points is lowest, or the middle one."""
    p, q = here - left, here - right
    above, below = p * (f - fr), q * (f - fl)
    bend = 2 * (above - below)
    is_cup = np.abs(bend) > 0
    move = (p * above - q * below) / np.where(is_cup, bend, 1.0)
    return np.asarray(np.where(is_cup, here - move, here))


def _spacing(axes: Sequence[Floats], at: Floats) -> Floats:
    """Return how far the next value of each axis is from where curves are."""
    spacing = np.zeros_like(at)
    for k, axis in enumerate(axes):
        gaps = np.diff(axis)
        wide = np.maximum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
        place: NDArray[np.int64] = np.searchsorted(axis, at[k] - 1e-12)
        spacing[k] = wide[np.minimum(place, len(axis) - 1)]
    return spacing


# --- Asymptote and amplitude, once the shape of each curve is known --------------------


def solve_grid(basis: Floats, errors: Floats, weights: Floats, rule: Rule) -> GridFit:
    """Return c, b and the cost of every curve and shape."""
    if rule.solves == "amplitude":
        return fit_amplitudes(basis, errors, weights)
    if rule.solves == "offset":
        return _offsets(basis, errors, weights)
    if not rule.may_rise:
        return fit_grid(basis, errors, weights, is_bounded=True)
    fit = fit_grid(basis, errors, weights)
    outside = (fit.asymptote < 0) | (fit.asymptote > rule.highest)
    if outside.any():
        for edge in (0.0, rule.highest):
            here = outside & ((fit.asymptote > edge) == (edge > 0))
            if here.any():
                fixed = fit_amplitudes(basis, errors - edge, weights)
                np.copyto(fit.cost, fixed.cost, where=here)
                np.copyto(fit.amplitude, fixed.amplitude, where=here)
        np.clip(fit.asymptote, 0, rule.highest, out=fit.asymptote)
    return fit


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
    """Return the cost, c and b of each curve with a shape of its own."""
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
    return np.asarray((weighed * errors).sum(axis=0) / np.where(sxx > 0, sxx, 1.0))
