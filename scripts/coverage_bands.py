"""Measure how often bands hold everywhere at once, and how wide they are.

    python scripts/coverage_bands.py          # 4,000 samples each, a minute or two
    python scripts/coverage_bands.py 500

The table in the documentation comes from here.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from curvewise.stats.bands import ANYWHERE, KINDS, Support, cdf_band, half_width

SIZES = (5, 20, 100, 2000)
FAILING = 0.2
QUANTILES = (0.5, 0.95)  # at which widths are looked at
AT_ONCE = 1_000_000  # scores that are held at a time


@dataclass(frozen=True)
class Law:
    """A distribution that is known."""

    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
    cdf: Callable[[np.ndarray], np.ndarray]
    before: Callable[[np.ndarray], np.ndarray] | None = None  # P(Z < z), if not the CDF
    support: Support = (0.0, 1.0)

    @property
    def is_continuous(self) -> bool:
        """Whether scores never tie."""
        return self.before is None


def some_fail(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Return scores of which one in five is 0, and the others have density 2z."""
    return np.where(rng.random(shape) < FAILING, 0.0, np.sqrt(1 - rng.random(shape)))


def some_fail_cdf(z: np.ndarray) -> np.ndarray:
    """Return P(Z <= z)."""
    return FAILING + (1 - FAILING) * z**2


LAWS = {
    "uniform": Law(lambda rng, shape: rng.random(shape), lambda z: z),
    "Beta(2, 5)": Law(lambda rng, shape: rng.beta(2, 5, shape), stats.beta(2, 5).cdf),
    "tenths (ties)": Law(
        lambda rng, shape: rng.integers(1, 11, shape) / 10,
        lambda z: z,
        lambda z: z - 0.1,
    ),
    "Cauchy (heavy tails)": Law(
        lambda rng, shape: rng.standard_cauchy(shape),
        lambda z: 0.5 + np.arctan(z) / np.pi,
        support=ANYWHERE,
    ),
    "20 % fail (mixed)": Law(
        some_fail, some_fail_cdf, lambda z: np.where(z > 0, some_fail_cdf(z), 0.0)
    ),
}


@dataclass(frozen=True)
class Found:
    """How often a band held, and how wide it was at two quantiles."""

    hits: int
    samples: int
    at_median: float
    at_95: float

    def __str__(self) -> str:
        return (
            f"{self.hits / self.samples:.4f} ({self.at_median:.3g}, {self.at_95:.3g})"
        )


def kind_levels(kind: str, n: int, confidence: float = 0.95):
    """Return the levels of a band of some kind, which no score moves."""
    start = n if kind == "anytime" else 1  # the best it can do at one look
    band = cdf_band(np.arange(n), kind=kind, confidence=confidence, start=start)
    return band.lower, band.upper


def pointwise_levels(n: int, level: float = 0.05):
    """Return intervals that hold with 1 - level at each score: no band at all."""
    lower = stats.beta.ppf(level / 2, np.arange(1, n + 1), n - np.arange(n))
    return np.r_[0.0, lower], np.r_[1 - lower[::-1], 1.0]


def covered(law: Law, bands, n: int, samples: int, rng: np.random.Generator):
    """Return how often the CDF lies between the levels of each band, everywhere."""
    hits, widths = np.zeros(len(bands), int), [[] for _ in bands]
    for z in _sorted_samples(law, n, samples, rng):
        at = law.cdf(z)
        before = at if law.is_continuous else law.before(z)
        ends = (np.full((len(z), 1), end) for end in law.support)
        padded = np.hstack([next(ends), z, next(ends)])
        for i, (lower, upper) in enumerate(bands):
            # Between two scores the CDF is least at the first, most before the second.
            above = (at >= lower[1:] - 1e-12).all(axis=1)
            below = (before <= upper[:-1] + 1e-12).all(axis=1)
            hits[i] += (above & below).sum()
            low, high = (np.searchsorted(level, QUANTILES) for level in (upper, lower))
            widths[i].append(padded[:, high] - padded[:, low])
    # The median over samples: a mean of Cauchy's extremes says nothing.
    typical = [np.median(np.vstack(w), axis=0).tolist() for w in widths]
    return [Found(int(h), samples, *w) for h, w in zip(hits, typical, strict=True)]


def _sorted_samples(law: Law, n: int, samples: int, rng) -> Iterator[np.ndarray]:
    at_once = max(1, AT_ONCE // n)
    for begin in range(0, samples, at_once):
        shape = (min(at_once, samples - begin), n)
        yield np.sort(law.draw(rng, shape), axis=1)


def misses_on_the_way(
    radius: np.ndarray, start: int, paths: int, rng: np.random.Generator
) -> int:
    """Return how many paths of uniform scores leave their band at some time.

    Entry t of `radius` is the half-width of the band at t trials; the first look is at
    `start` of them.
    """
    return sum(leaves(radius, start, rng.random(len(radius) - 1)) for _ in range(paths))


def leaves(radius: np.ndarray, t: int, u: np.ndarray) -> bool:
    """Return whether a path leaves its band at any time from t on."""
    order = np.argsort(u)
    ascending, last = u[order], len(u)
    while t <= last:
        z, share = ascending[order < t], np.arange(1, t + 1) / t
        off = max((share - z).max(), (z - share).max() + 1 / t)
        if off > radius[t]:
            return True
        # s more trials move the empirical CDF by s / (t + s) at most: where that cannot
        # reach the band's end there is no need to look.
        later = np.arange(t + 1, last + 1)
        may_leave = off + (later - t) / later > radius[t + 1 :]
        t = int(later[may_leave.argmax()]) if may_leave.any() else last + 1
    return False


def radii(last: int, start: int, kind: str = "anytime") -> np.ndarray:
    """Return the half-width at every number of trials from `start` to `last`."""
    radius = np.full(last + 1, np.nan)
    for t in range(start, last + 1):
        radius[t] = half_width(t, kind=kind, start=start)
    return radius


def main(samples: int) -> None:
    """Print the tables, in Markdown."""
    rng = np.random.default_rng(20_26)
    print(
        "Coverage of 95 % bands, and in brackets the typical width at the median and at"
    )
    print(f"the 95 % quantile; {samples:,} samples each.\n")
    print("| distribution | n |", " | ".join([*KINDS, "pointwise, no band"]), "|")
    print("|---|---:|" + "---|" * (len(KINDS) + 1))
    for name, law in LAWS.items():
        for n in SIZES:
            bands = [kind_levels(kind, n) for kind in KINDS] + [pointwise_levels(n)]
            cells = map(str, covered(law, bands, n, samples, rng))
            print(f"| {name} | {n} |", " | ".join(cells), "|", flush=True)
    print("\nLooking at every number of trials from 100 to 2,000:\n")
    print("| band | paths | never left |\n|---|---:|---:|")
    for kind in ("anytime", "kolmogorov"):
        missed = misses_on_the_way(radii(2000, 100, kind), 100, samples, rng)
        print(f"| {kind} | {samples} | {1 - missed / samples:.4f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
