"""Pilots: what they say about noise, about effects, and about lines to come."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from curvewise.stats.anova.draws import Split, batches, floored, welch_f
from curvewise.stats.anova.lines import Design, compact
from curvewise.stats.asymptotics import unit_of
from curvewise.stats.validation import Floats

_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Where lines come from: the mean line of each algorithm, and deviations to draw.

    Coordinates: the mean of a line times the root of the number of steps, then its shape.
    Where nobody asks about shapes there is only the first.
    """

    middles: Floats  # (algorithm, coordinate): mean lines, less their middle
    noise: list[Floats]  # (line, coordinate): deviations as large as of new lines
    steps: int
    freedom: float = math.inf  # with which the size of the noise is known

    def noise_sizes(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return how large the variance of lines may be, that of the pilot being 1."""
        if math.isinf(self.freedom):
            return np.ones(draws)
        return self.freedom / rng.chisquare(self.freedom, draws)

    def scaled(self, scale: Sequence[float]) -> "Population":
        """Return the same with smaller or larger effects: of means, and of shapes."""
        middles = self.middles.copy()
        middles[:, 0] *= scale[0]
        middles[:, 1:] *= scale[1]
        return replace(self, middles=middles)

    def drawn(self, sets: int, sizes: Sequence[int], rng: np.random.Generator) -> Split:
        """Return experiments with so many lines of each algorithm."""
        # Larger noise is a smaller effect: no statistic depends on the unit.
        unit = np.sqrt(self.noise_sizes(sets, rng))[:, None, None]
        parts = [
            middle / unit + noise[rng.integers(0, len(noise), (sets, size))]
            for middle, noise, size in zip(self.middles, self.noise, sizes, strict=True)
        ]
        values = np.concatenate(parts, axis=1)
        values -= values.mean(axis=1, keepdims=True)
        shapes = np.ascontiguousarray(values[:, :, 1:].transpose(0, 2, 1))
        return Split(values[:, :, 0].copy(), shapes, tuple(sizes), self.steps)


def population(
    design: Design, middles: Floats, *, shapes: bool, pooled: bool
) -> Population:
    """Return where new lines would come from, judged from a pilot."""
    m, steps = middles.shape
    apart = middles - middles.mean(axis=0)
    deviations = [g - g.mean(axis=0) for g in design.groups]
    values = np.concatenate([apart, *deviations])
    values = values / unit_of(values)
    means = values.mean(axis=1, keepdims=True)
    columns = [_not_rounding(np.sqrt(steps) * means)]
    if shapes:
        columns.append(compact(_not_rounding(values - means)))
    coordinates = np.hstack(columns)
    apart, rest = coordinates[:m], coordinates[m:]
    if pooled:
        rest = rest * np.sqrt(len(rest) / (len(rest) - m))
        return Population(apart, [rest] * m, steps)
    # Deviations from a mean of l lines are smaller than those of new lines from theirs.
    noise = [
        rest[s] * np.sqrt(n / (n - 1))
        for s, n in zip(design.slices, design.sizes, strict=True)
    ]
    return Population(apart, noise, steps)


def _not_rounding(values: Floats) -> Floats:
    """Return coordinates, 0 where all of them are what rounding left of values near 1."""
    return values if np.abs(values).max() > _ROUNDING else np.zeros_like(values)


# --------------------------------------------------------------------------------------
# What a pilot says about effects: how large they may be, what many lines would show.


MOST_LINES = 1_000_000  # lines that nobody runs
_LEAST_DRAWS, _MOST_DRAWS = 4_000, 20_000
_FLOPS = 2e8  # that draws may take
_PILOTS = 2_000
_STRETCHES = 200
_NEARLY = 1 - 1e-9  # ties differ in their last digits
_LARGEST = 2.0**20

Share: TypeAlias = Callable[[float], float]


class ManyLines:
    r"""The power of both tests where lines are many, in closed form but for normal draws.

    With l lines of each algorithm and effects :math:`c \mu`, both statistics tend to
    :math:`|z + c \sqrt l \mu|^2`, z normal with the covariance of the lines, and are
    compared with the quantile of :math:`|z|^2`. The same z serve all numbers of lines, so
    that power grows smoothly.

    Parameters
    ----------
    source : Population
    levels : sequence of float
        Of the test of each effect; 0 where it is not asked for.
    rng : numpy.random.Generator
    """

    def __init__(
        self, source: Population, levels: Sequence[float], rng: np.random.Generator
    ) -> None:
        from scipy.special import chdtri

        weights = _welch_weights(source)
        ones = np.ones_like(weights)
        parts = [(slice(0, 1), weights), (slice(1, None), ones)]
        # Roots of the covariances: no longer than lines, however many there are.
        roots = [np.linalg.qr(e / np.sqrt(len(e)), mode="r") for e in source.noise]
        width = 4 * source.middles.size
        flops = source.middles.size * source.middles.shape[1]
        self.draws = int(np.clip(_FLOPS // flops, _LEAST_DRAWS, _MOST_DRAWS))
        self.own, self.cross = np.zeros((2, 2, self.draws))
        self.square = np.zeros(2)
        begin = 0
        for now in batches(self.draws, width):
            z = np.stack([
                rng.standard_normal((now, len(root))) @ root for root in roots
            ])  # fmt: skip
            for effect, (columns, w) in enumerate(parts):
                x = _from_middle(z[:, :, columns], w)
                mu = _from_middle(source.middles[:, None, columns], w)
                at = slice(begin, begin + now)
                self.own[effect, at] = np.einsum("i,inc,inc->n", w, x, x)
                self.cross[effect, at] = np.einsum("i,inc,ioc->n", w, x, mu)
                self.square[effect] = np.einsum("i,ioc,ioc->", w, mu, mu)
            begin += now
        self.noise_sizes = source.noise_sizes(self.draws, rng)
        self.few_sizes = _noise_quantiles(source.freedom)
        self.levels = levels
        self.freedom = len(weights) - 1
        self.critical = [
            chdtri(self.freedom, levels[0]) if levels[0] else np.inf,
            np.quantile(self.own[1], 1 - levels[1]) if levels[1] else np.inf,
        ]

    def power(self, lines: float, scale: Sequence[float]) -> float:
        """Return how often an effect is found."""
        if not self.levels[1]:  # of line means alone the distribution is known
            from scipy.special import chndtr

            away = lines * scale[0] ** 2 * self.square[0] / self.few_sizes
            # Beyond this it takes long to compute that it is certain.
            away = np.minimum(away, 1e4)
            return 1 - float(chndtr(self.critical[0], self.freedom, away).mean())
        detected = np.zeros(self.draws, bool)
        for effect, (level, c) in enumerate(zip(self.levels, scale, strict=True)):
            if level:
                root = c * np.sqrt(lines / self.noise_sizes)
                value = self.own[effect] + 2 * root * self.cross[effect]
                value += root**2 * self.square[effect]
                detected |= value > self.critical[effect]
        return float(detected.mean())

    def lines(self, power: float, scale: Sequence[float]) -> float:
        """Return how many lines it takes, not rounded; infinite where no number does."""
        low, high = 1e-3, float(MOST_LINES)
        if self.power(high, scale) < power:
            return np.inf
        for _ in range(50):
            middle = np.sqrt(low * high)
            low, high = (
                (low, middle) if self.power(middle, scale) >= power else (middle, high)
            )
        return high


def _noise_quantiles(freedom: float) -> Floats:
    """Return sizes that the noise may have, each as likely as the other."""
    from scipy.special import gammaincinv

    if np.isinf(freedom):
        return np.ones(1)
    at = (np.arange(_STRETCHES) + 0.5) / _STRETCHES
    sizes: Floats = freedom / (2 * gammaincinv(freedom / 2, at))
    return sizes


def noise_freedom(source: Population, effect: str) -> float:
    r"""Return with how many degrees of freedom a pilot tells how large noise is.

    By Satterthwaite's rule, for the sum of all variances that a test takes; fewer where
    squares of lines scatter more than those of normal ones do.
    """
    columns = {"algorithm": slice(0, 1), "interaction": slice(1, None)}
    total, normal, observed = 0.0, 0.0, 0.0
    unit = unit_of(*source.noise)
    for e in source.noise:
        scaled = e[:, columns.get(effect, slice(None))] / unit
        gram = scaled.T @ scaled / len(e)
        total += float(np.trace(gram))
        normal += 2 * float((gram**2).sum()) / (len(e) - 1)
        observed += float((scaled**2).sum(axis=1).var(ddof=1)) / len(e)
    return 2 * total**2 / max(normal, observed) if total else math.inf


def _welch_weights(source: Population) -> Floats:
    variances = np.array([(e[:, 0] ** 2).mean() for e in source.noise])
    whole = variances.mean() + (source.middles[:, 0] ** 2).mean()
    weights: Floats = 1 / np.maximum(floored(variances, whole), np.finfo(float).tiny)
    return weights


def _from_middle(values: Floats, weights: Floats) -> Floats:
    """Return values less their weighted middle, axis 0 being the algorithm."""
    middle = np.tensordot(weights / weights.sum(), values, axes=1)
    centred: Floats = values - middle
    return centred


def effect_scales(
    source: Population,
    shares: Sequence[float],
    rng: np.random.Generator,
) -> Floats:
    """Return by which factor true effects may differ from those that a pilot shows.

    An observed effect is the true one and chance, hence on the whole too large. Factor c
    for share q: if the effects were c times the observed ones, a pilot like this would
    show at least as much as this one did in a share q of the cases. q = 1/2 gives the
    median unbiased estimate, small and large q the ends of a confidence interval; 0 where
    chance alone shows as much that often.
    """
    pilots = _Pilots(source, rng)
    return np.array([
        [_factor(test, share) for test in (pilots.welch(), pilots.ats())]
        for share in shares
    ])  # fmt: skip


class _Pilots:
    """Pilots like one that there is: its lines, drawn again with replacement."""

    def __init__(self, source: Population, rng: np.random.Generator) -> None:
        self.source = source
        self.sizes = np.array([len(e) for e in source.noise], dtype=np.float64)
        self.means, self.squares, self.norms = [], [], []
        for e in source.noise:
            n = len(e)
            times = rng.multinomial(n, np.full(n, 1 / n), _PILOTS).astype(np.float64)
            self.means.append(times @ e / n)
            self.squares.append(times @ e[:, 0] ** 2)
            self.norms.append(times @ (e[:, 1:] ** 2).sum(axis=1))

    def welch(self) -> Share:
        """Return how often Welch's F is as large as observed, with effects times c."""
        mu, n = self.source.middles[:, :1], self.sizes[:, None]
        noise = np.array([(e[:, 0] ** 2).mean() for e in self.source.noise])[:, None]
        means = np.stack(self.means)[:, :, 0]
        squares = (np.stack(self.squares) - n * means**2) / (n - 1)
        variances = floored(squares, noise.mean())
        observed, _ = welch_f(mu, floored(noise, noise.mean()), self.sizes)

        def share(c: float) -> float:
            f, _ = welch_f(c * mu + means, variances, self.sizes)
            return float((f >= observed * _NEARLY).mean())

        return share

    def ats(self) -> Share:
        """Return how often the ATS is as large as observed, with effects times c."""
        ones, n = np.ones(len(self.sizes)), self.sizes[:, None]
        means = np.stack(self.means)[:, :, 1:]
        mu = _from_middle(self.source.middles[:, None, 1:], ones)
        z = _from_middle(means, ones)
        chance, cross = (z**2).sum(axis=(0, 2)), (z * mu).sum(axis=(0, 2))
        square = float((mu**2).sum())
        traces = (np.stack(self.norms) - n * (means**2).sum(axis=2)) / (n - 1)
        noise = (traces / n).sum(axis=0)
        sums = np.array([(e[:, 1:] ** 2).sum() for e in self.source.noise])
        whole = float((sums / self.sizes**2).sum())

        def share(c: float) -> float:
            value = chance + 2 * c * cross + c**2 * square
            return float((value * whole >= square * noise * _NEARLY).mean())

        return share


def _factor(share_at: Share, share: float) -> float:
    if share_at(0.0) >= share:
        return 0.0
    low, high = 0.0, 1.0
    while share_at(high) < share and high < _LARGEST:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if share_at(middle) >= share else (middle, high)
    return high
