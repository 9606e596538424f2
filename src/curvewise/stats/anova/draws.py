"""Shuffles and flips of whole lines: what they are judged by, and when they suffice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from curvewise.stats.anova.lines import EPS, Design, compact, relative, residuals
from curvewise.stats.deals import Labels
from curvewise.stats.validation import Floats

# A spread within algorithms below this share of the whole is what rounding left of none.
# Deals that are equally perfect are then judged equal.
NONE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Lines split into their means and their shapes, both less the mean of all lines."""

    means: Floats  # (data set, line): times the root of steps, so that squares add up
    shapes: Floats  # (data set, coordinate, line): inner products are kept
    sizes: tuple[int, ...]
    steps: int
    grain: Floats | float = EPS  # how far scores may be off for having been rounded

    @property
    def width(self) -> int:
        """How many floats a draw takes."""
        sets, d, n = map(int, self.shapes.shape)
        return n + 2 * sets * (d + 3) + 4 * sets * len(self.sizes)


def split(values: Floats, sizes: Sequence[int]) -> Split:
    """Return the split of a stack of data sets, shape (data set, line, step)."""
    apart = [_apart(one, sizes) for one in values]
    means, shapes = (np.stack(part) for part in list(zip(*apart, strict=True))[:2])
    grain = np.array([each for _, _, each in apart])
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
        means=means * np.sqrt(steps),
        shapes=np.ascontiguousarray(shapes.transpose(0, 2, 1)),
        sizes=tuple(sizes),
        steps=steps,
        grain=grain / unit,
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
    noise = np.maximum(of_means - alg, NONE * of_means) / (n - m)
    other = np.maximum(of_shapes - whole, NONE * of_shapes) / (n - m)
    return _ratio(alg / (m - 1), noise), _ratio(whole / (m - 1), other)


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
        heights, ours = x[:, begin:end], shapes[:, :, begin:end]
        means[i] = heights @ turned[begin:end] / size
        variances[i] = ((heights**2).sum(axis=1)[:, None] - size * means[i] ** 2) / (
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


# --- Welch's F for groups that are not equally noisy, for many draws at once -----------


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


# --- How far rounding may put apart statistics of draws that are the same --------------
#
# The r of `least`, for what is judged over all lines and steps at once.
#
# What is within algorithms is found as a difference of sums of squares, so that rounding of
# the whole T is all in W: relative to it, an error of a few units in the last place is
# :math:`T / W` times as large. Scores may have been rounded before, by `grain` each, which
# changes W by no more than :math:`2 g \sqrt{N k W}`. Hence, for N lines of k steps,
#
# .. math:: r = 4 N \epsilon \frac{T}{W} + 2 g \sqrt{\frac{N k}{W}}
#
# in units of what is within. Of deals that are the same, with 4 to 90 lines and effects up
# to 1e5 times the noise, none was put apart by more than an eighth of it.


Statistic: TypeAlias = Literal["joint", "plain", "studentised"]
_NOTHING = 1e-200  # in place of a whole of 0, so that ratios stay finite
# Where noise is hardly larger than what scores were rounded to, they are taken as they
# are: all that may have been tied before would be too much.
_COARSEST = 0.1


def rounding_of_deals(lines: Split, statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the rounding of both effects at the deal as it came, shape (data set,)."""
    whole = (lines.means**2).sum(axis=1), (lines.shapes**2).sum(axis=(1, 2))
    means, shapes = _within(lines)
    if statistic == "joint":
        every = whole[0] + whole[1]
        both = _rounding(lines, every, means.sum(axis=1) + shapes.sum(axis=1))
        return both, both
    if statistic == "plain":
        within = means.sum(axis=1), shapes.sum(axis=1)
    else:
        sizes = np.array(lines.sizes, dtype=np.float64)
        weights = 1 / (sizes * (sizes - 1))
        # Welch's F compares means: of two, the noisier one decides. Only if two are
        # without noise is the noise of their difference all rounding.
        second = np.sort(means * weights, axis=1)[:, 1]
        within = second / weights.max(), (shapes * weights).sum(axis=1) / weights.sum()
    return _rounding(lines, whole[0], within[0]), _rounding(lines, whole[1], within[1])


def rounding_of_flips(
    lines: Split, algorithm: Floats, shape: Floats
) -> tuple[Floats, Floats]:
    """Return the same for flips, of which only those as large as what was observed count.

    Flips keep sums of squares, so that the within of such a flip is known.
    """
    means, shapes = (part.sum(axis=1) for part in _within(lines))
    return (
        _rounding(lines, means, means / (1 + algorithm)),
        _rounding(lines, shapes, shapes / (1 + shape)),
    )


def _within(lines: Split) -> tuple[Floats, Floats]:
    """Return sums of squares within each algorithm, shape (data set, algorithm) each."""
    starts = np.cumsum((0, *lines.sizes[:-1]))
    x, shapes = residual_parts(lines)
    return (
        np.add.reduceat(x**2, starts, axis=1),
        np.add.reduceat((shapes**2).sum(axis=1), starts, axis=1),
    )


def _rounding(lines: Split, total: Floats, within: Floats) -> Floats:
    total = np.maximum(total, _NOTHING)
    within = np.maximum(within, NONE * total)
    n = lines.means.shape[1]
    before = 2 * lines.grain * np.sqrt(n * lines.steps / within)
    rounding: Floats = 4 * n * EPS * total / within
    rounding += np.minimum(before, _COARSEST)
    return rounding


# --------------------------------------------------------------------------------------
# Sign flips of whole residual lines: chance as each algorithm shows it, noise unequal.


FEWEST_TO_FLIP = 4  # lines of an algorithm: flips of two or three reach no level
BATCH = 1 << 22  # floats that a batch of draws may take, 32 MB


def batches(draws: int, width: int) -> Iterator[int]:
    """Yield how many draws to make at a time, if each takes `width` floats."""
    most = max(BATCH // max(width, 1), 1)
    while draws > 0:
        now = min(draws, most)
        draws -= now
        yield now


def random_signs(draws: int, lines: int, rng: np.random.Generator) -> Floats:
    """Return fair signs, shape (draw, line)."""
    bits = rng.integers(0, 256, (draws, -(-lines // 8)), dtype=np.uint8)
    signs = np.unpackbits(bits, axis=1, count=lines).astype(np.float64)
    signs *= 2
    signs -= 1
    return signs


class Residuals:
    r"""Residual lines of a design, ready to be flipped.

    Flipping does not change sums of squares, so that means are all that a flip costs:
    :math:`s_i^{*2} = (Q_i - l_i \bar x_i^{*2}) / (l_i - 1)`, step by step.
    """

    def __init__(self, design: Design) -> None:
        values = residuals(design)
        self.groups = [values[s] for s in design.slices]
        self.sizes = np.array(design.sizes, dtype=np.float64)
        self.squares = np.stack([(g**2).sum(axis=0) for g in self.groups])
        self.whole = self.squares.sum(axis=0) / max(len(values) - 1, 1)
        self.lines = len(values)
        self.width = max(values.shape[1] * len(self.groups), self.lines)
        self._slices = design.slices

    def flipped(self, signs: Floats) -> tuple[Floats, Floats]:
        """Return means and variances under each flip, shape (algorithm, draw, step)."""
        means = np.stack([
            signs[:, s] @ g / len(g)
            for s, g in zip(self._slices, self.groups, strict=True)
        ])  # fmt: skip
        sizes = self.sizes[:, None, None]
        spread = (self.squares[:, None] - sizes * means**2) / (sizes - 1)
        return means, floored(spread, self.whole)

    def observed_variances(self) -> Floats:
        """Return the variances of the lines as they came, shape (algorithm, step)."""
        return floored(self.squares / (self.sizes[:, None] - 1), self.whole)


# --- When draws are as large as what was observed, and p is within a level -------------
#
# Draws that are the same as the observed lines but for rounding are ties, and count. There
# are two rules. `least` is for statistics of whole lines, of which it is known how far
# rounding may put them apart: few numbers, and sums of squares to judge it by. `as_large`
# is for F at each step by itself: thousands of them, and how far rounding goes depends on
# F alone.


# What the rounding of scores, and that of variances which are nearly 0, make of a tie.
_TIE, _DIGITS = 1e-9, 1e-12


def least(observed: Floats, rounding: Floats | float) -> Floats:
    r"""Return from where on values are at least the observed ones, or tied with them.

    :math:`(v - r) / (1 + r)`: statistics are ratios of what is between algorithms to what
    is within, and r is how far rounding may have put off both, in units of the latter.
    """
    return np.asarray((observed - rounding) / (1 + rounding))


def exceeding(values: Floats, observed: float, rounding: float) -> int:
    """Return how many values are at least the observed one, ties counted."""
    return int(np.count_nonzero(values >= least(np.asarray(observed), rounding)))


def as_large(f: Floats) -> Floats:
    r"""Return from where on a drawn F counts as being as large as an observed one.

    .. math:: \frac{F}{1 + 10^{-9} + 10^{-12} F} - 10^{-12}

    The variance of a draw is a difference of sums of squares: the larger F, the smaller a
    part of them is left, and the fewer of its digits are right. What is beyond all digits
    is a tie too.

    Examples
    --------
    >>> (np.array([0.1 + 0.2]) >= as_large(np.array([0.3 + 1e-15]))).tolist()
    [True]
    >>> as_large(np.array([4.0, np.inf])).round(6).tolist()
    [4.0, 1000000000000.0]
    """
    finite = np.where(np.isinf(f), 0.0, f)
    low = np.where(np.isinf(f), 1 / _DIGITS, finite / (1 + _TIE + _DIGITS * finite))
    return low - _DIGITS


def larger(f: float) -> float:
    """Return the F from which on `as_large` is above a critical one.

    Examples
    --------
    >>> more = larger(4.0)
    >>> more > 4, round(float(as_large(np.array(more))), 12)
    (True, 4.0)
    """
    f += _DIGITS
    # Finite even where flips alone leave lines without any noise.
    return f * (1 + _TIE) / max(1 - _DIGITS * f, _DIGITS)


def is_within(p: float, level: float) -> bool:
    """Whether p is at most the level, safe against rounding."""
    return p <= level * (1 + 1e-12)
