"""What shuffles and flips of whole lines are judged by, for many draws at once.

Everything here takes a stack of data sets of one design, and the same draws serve them
all: one data set is a stack of one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from curvewise.stats._labels import Labels
from curvewise.stats._sample import Floats
from curvewise.stats.anova._lines.designs import EPS, Design, compact, relative
from curvewise.stats.anova._lines.welch import evidence, floored, welch_f

# A spread within algorithms below this share of the whole is what rounding left of none.
# Deals that are equally perfect are then judged equal.
NONE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Lines split into their means and their shapes, both less the mean of all lines.

    Parameters
    ----------
    means : ndarray, shape (data set, line)
        Means of lines, times the root of the number of steps, so that squares add up.
    shapes : ndarray, shape (data set, coordinate, line)
        Lines less their own means, in coordinates that keep inner products.
    sizes : tuple of int
    steps : int
    grain : ndarray, shape (data set,), or float
        How far scores may be off for having been rounded when they were written down.
    """

    means: Floats
    shapes: Floats
    sizes: tuple[int, ...]
    steps: int
    grain: Floats | float = EPS

    @property
    def width(self) -> int:
        """How many floats a draw takes."""
        sets, d, n = map(int, self.shapes.shape)
        return n + 2 * sets * (d + 3) + 4 * sets * len(self.sizes)


def split(values: Floats, sizes: Sequence[int]) -> Split:
    """Return the split of a stack of data sets, shape (data set, line, step)."""
    apart = [_apart(one, sizes) for one in values]
    means, shapes = (np.stack(part) for part in list(zip(*apart, strict=True))[:2])
    grain = np.array([own for _, _, own in apart])
    # What is as small as the rounding of its making is none.
    means[np.abs(means).max(axis=1) <= _rounded(grain)] = 0
    shapes[np.abs(shapes).max(axis=(1, 2)) <= _rounded(grain)] = 0
    spread = np.maximum(np.abs(means).max(axis=1), np.abs(shapes).max(axis=(1, 2)))
    unit = np.ldexp(1.0, np.frexp(spread)[1])
    means, shapes = means / unit[:, None], shapes / unit[:, None, None]
    steps = shapes.shape[2]
    if steps > shapes.shape[1]:
        shapes = np.stack([compact(one) for one in shapes])
    return Split(
        means * np.sqrt(steps),
        np.ascontiguousarray(shapes.transpose(0, 2, 1)),
        tuple(sizes),
        steps,
        grain / unit,
    )


def shapes_at_steps(design: Design) -> Design:
    """Return lines less their own means and less the mean of all, 0 for rounding."""
    _, shapes, grain = _apart(design.values, design.sizes)
    shapes[:, np.abs(shapes).max(axis=0) <= _rounded(np.asarray(grain))] = 0
    return design.with_values(shapes)


def _apart(values: Floats, sizes: Sequence[int]) -> tuple[Floats, Floats, float]:
    """Return means and shapes of lines, both less those of all lines, and their grain."""
    # Lines are compared with lines: sums of what they share would cost them digits.
    lines, unit = relative(Design((), values, tuple(sizes)))
    means = lines.values.mean(axis=1)
    shapes = lines.values - means[:, None]
    grain = EPS * max(float(np.abs(values).max()) / unit, 1.0)
    return means - means.mean(), shapes - shapes.mean(axis=0), grain


def _rounded(grain: Floats) -> Floats:
    """Return what may be left of the same means, or shapes: rounding, here and before."""
    return 1e-14 + 4 * grain


def plain(lines: Split, labels: Labels, *, joint: bool) -> tuple[Floats, Floats]:
    """Return F of both effects under deals, shape (data set, draw) each.

    Joint: both over the error of the two-way table. Else each over the error of its own
    kind, that of line means or of shapes.
    """
    m, n, k = len(lines.sizes), lines.means.shape[1], lines.steps
    sets = len(lines.means)
    columns = np.concatenate((lines.means[:, None], lines.shapes), axis=1)
    alg, whole = np.zeros((2, sets, len(labels)))
    for i, sums in _sums(columns, labels, m):
        size = lines.sizes[i]
        alg += sums[:, 0] ** 2 / size
        whole += np.einsum("bdn,bdn->bn", sums[:, 1:], sums[:, 1:]) / size
    of_means = (lines.means**2).sum(axis=1)[:, None]
    of_shapes = (lines.shapes**2).sum(axis=(1, 2))[:, None]
    if joint:
        every = of_means + of_shapes
        error = np.maximum(every - alg - whole, NONE * every) / (k * (n - m))
        return _ratio(alg / (m - 1), error), _ratio(whole / ((m - 1) * (k - 1)), error)
    own = np.maximum(of_means - alg, NONE * of_means) / (n - m)
    other = np.maximum(of_shapes - whole, NONE * of_shapes) / (n - m)
    return _ratio(alg / (m - 1), own), _ratio(whole / (m - 1), other)


def studentised(lines: Split, labels: Labels) -> tuple[Floats, Floats]:
    """Return Welch's evidence and the ATS under deals, shape (data set, draw) each."""
    m, n = len(lines.sizes), lines.means.shape[1]
    sets, draws = len(lines.means), len(labels)
    x = lines.means
    norms = (lines.shapes**2).sum(axis=1)
    columns = np.concatenate((np.stack((x, x**2, norms), 1), lines.shapes), axis=1)
    of_means = (x**2).sum(axis=1)[:, None] / (n - 1)
    of_shapes = norms.sum(axis=1)[:, None] / (n - 1)
    means, variances = np.empty((2, m, sets, draws))
    middle = _Middle(lines.sizes)
    noise = np.zeros((sets, draws))
    for i, sums in _sums(columns, labels, m):
        size = lines.sizes[i]
        means[i] = sums[:, 0] / size
        variances[i] = (sums[:, 1] - sums[:, 0] * means[i]) / (size - 1)
        square = np.einsum("bdn,bdn->bn", sums[:, 3:], sums[:, 3:])
        trace = (sums[:, 2] - square / size) / (size - 1)
        noise += trace / size
        middle.add(sums[:, 3:], square, size)
    np.maximum(variances, NONE * of_means, out=variances)
    f, df = welch_f(means, variances, np.array(lines.sizes, dtype=np.float64))
    # The whole noise, not each part of it: one without any is no reason to change others.
    np.maximum(noise, NONE * of_shapes, out=noise)
    return evidence(f, df, m), _ratio(middle.spread(), (1 - 1 / m) * noise)


def flipped(lines: Split, signs: Floats) -> tuple[Floats, Floats]:
    """Return Welch's F and the ATS under flips, shape (data set, draw) each.

    Signs have shape (draw, line): what is flipped is each line less the mean line of its
    algorithm, and sums of squares do not change.
    """
    m, sets, draws = len(lines.sizes), len(lines.means), len(signs)
    n = lines.means.shape[1]
    turned = np.ascontiguousarray(signs.T)
    means, variances = np.empty((2, m, sets, draws))
    noise = np.zeros((sets, draws))
    middle = _Middle(lines.sizes, is_centred=False)
    x, shapes = residual_parts(lines)
    of_means = (x**2).sum(axis=1) / (n - 1)
    of_shapes = (shapes**2).sum(axis=(1, 2)) / (n - 1)
    end = 0
    for i, size in enumerate(lines.sizes):
        begin, end = end, end + size
        own, ours = x[:, begin:end], shapes[:, :, begin:end]
        means[i] = own @ turned[begin:end] / size
        variances[i] = ((own**2).sum(axis=1)[:, None] - size * means[i] ** 2) / (
            size - 1
        )
        sums = ours.reshape(-1, size) @ turned[begin:end]
        sums = sums.reshape(sets, -1, draws)
        square = np.einsum("bdn,bdn->bn", sums, sums)
        whole = (ours**2).sum(axis=(1, 2))[:, None]
        trace = (whole - square / size) / (size - 1)
        noise += np.maximum(trace, 0.0) / size
        middle.add(sums, square, size)
    variances = floored(variances, of_means[None, :, None])
    np.maximum(noise, NONE * of_shapes[:, None], out=noise)
    f, _ = welch_f(means, variances, np.array(lines.sizes, dtype=np.float64))
    return f, _ratio(middle.spread(), (1 - 1 / m) * noise)


def observed_for_flips(lines: Split) -> tuple[Floats, Floats]:
    """Return Welch's F and the ATS of the lines as they came, shape (data set,) each."""
    m, n = len(lines.sizes), lines.means.shape[1]
    sizes = np.array(lines.sizes, dtype=np.float64)
    starts = np.cumsum((0, *lines.sizes[:-1]))
    x, shapes = residual_parts(lines)
    means = np.add.reduceat(lines.means, starts, axis=1) / sizes
    squares = np.add.reduceat(x**2, starts, axis=1)
    variances = floored(squares / (sizes - 1), (squares.sum(axis=1) / (n - 1))[:, None])
    f, _ = welch_f(means.T, variances.T, sizes)
    curves = np.add.reduceat(lines.shapes, starts, axis=2) / sizes
    apart = ((curves - curves.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2))
    within = np.add.reduceat((shapes**2).sum(axis=1), starts, axis=1)
    noise = (within / (sizes - 1) / sizes).sum(axis=1)
    return f, _ratio(apart, (1 - 1 / m) * noise)


class _Middle:
    """How far the mean lines of algorithms are from their unweighted middle."""

    def __init__(self, sizes: Sequence[int], *, is_centred: bool = True) -> None:
        self.m = len(sizes)
        # Means of equally many centred lines are centred: there is nothing to subtract.
        self.is_zero = is_centred and len(set(sizes)) == 1
        self.squares: Floats | float = 0.0
        self.middle: Floats | float = 0.0

    def add(self, sums: Floats, square: Floats, size: int) -> None:
        self.squares = self.squares + square / size**2
        if not self.is_zero:
            self.middle = self.middle + sums / size

    def spread(self) -> Floats:
        """Return the sum of squared distances, shape (data set, draw)."""
        spread: Floats = np.asarray(self.squares)
        if not self.is_zero:
            u = np.asarray(self.middle)
            spread = spread - np.einsum("bdn,bdn->bn", u, u) / self.m
        np.maximum(spread, 0.0, out=spread)
        return spread


def _sums(columns: Floats, labels: Labels, m: int) -> Iterator[tuple[int, Floats]]:
    """Yield sums over the lines of each algorithm, shape (data set, column, draw)."""
    sets, width, n = columns.shape
    flat, dealt = columns.reshape(-1, n), labels.T
    # What the others leave is the first algorithm's: one product is saved.
    left = np.repeat(flat.sum(axis=1)[:, None], len(labels), axis=1)
    for i in range(1, m):
        hot = (dealt if m == 2 else dealt == i).astype(np.float64)
        sums = flat @ hot
        left -= sums
        yield i, sums.reshape(sets, width, -1)
    yield 0, left.reshape(sets, width, -1)


def residual_parts(lines: Split) -> tuple[Floats, Floats]:
    """Return means and shapes of lines less those of their algorithms."""
    x, shapes, end = lines.means.copy(), lines.shapes.copy(), 0
    for size in lines.sizes:
        begin, end = end, end + size
        x[:, begin:end] -= x[:, begin:end].mean(axis=1, keepdims=True)
        shapes[..., begin:end] -= shapes[..., begin:end].mean(axis=2, keepdims=True)
    return x, shapes


def _ratio(over: Floats, under: Floats) -> Floats:
    """Return a ratio, 0 where there is nothing over nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.asarray(over / under)
    return np.where(np.isnan(ratio), 0.0, ratio)
