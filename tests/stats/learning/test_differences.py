"""Differences of power laws: closed forms, coverage, and what shared noise does."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from support import assert_at_most, assert_rate

from curvewise import CurvewiseError
from curvewise.stats.learning import compare_summaries, shared_noise
from curvewise.stats.powerlaw import fit_power_law

N = np.array([25.0, 50, 100, 200])
COUNTS = (16, 8, 4, 4)


class NormalLaw:
    """A law whose summaries are normal."""

    asymptote = 0.0
    sizes = N

    def __init__(self, error, reliance, gamma, sd):
        self.middle, self.sd = (error, reliance, gamma), sd

    def _of(self, k, p):
        return self.middle[k] + self.sd * ndtri(np.asarray(p))

    def quantile(self, p, n):
        return self._of(0, p)[:, None]

    def reliance_quantile(self, p, n):
        return self._of(1, p)[:, None]

    def exponent_quantile(self, p):
        return self._of(2, p)


@pytest.mark.parametrize("rho", [0.0, 0.7, -0.5])
def test_differences_of_normal_laws(rho):
    a, b = NormalLaw(0.3, 0.1, -0.5, 0.02), NormalLaw(0.25, 0.14, -0.4, 0.01)
    found = compare_summaries(a, b, confidence=0.9, correlation=rho)
    sd = math.sqrt(0.02**2 + 0.01**2 - 2 * rho * 0.02 * 0.01)
    parts = (found.error, found.reliance, found.exponent)
    for part, middle in zip(parts, (0.05, -0.04, -0.1), strict=True):
        assert part.value == pytest.approx(middle, abs=1e-6)
        assert part.lower == pytest.approx(middle + ndtri(0.05) * sd, abs=1e-5)
        assert part.upper == pytest.approx(middle + ndtri(0.95) * sd, abs=1e-5)
    assert found.n == 200


def test_words_and_rows():
    a, b = NormalLaw(0.3, 0.1, -0.5, 0.002), NormalLaw(0.25, 0.1, -0.4, 0.001)
    found = compare_summaries(a, b)
    assert str(found) == (
        "The first, against the second at 200 examples: its error is higher by 0.0500 "
        "(0.0456 to 0.0544); its data-reliance may be the same (-0.0044 to 0.0044); its "
        "exponent is steeper by 0.1000 (-0.1044 to -0.0956); each at 95 % confidence."
    )
    assert [row["of"] for row in found.rows()] == ["error", "data-reliance", "exponent"]


def test_what_is_refused():
    a = NormalLaw(0.3, 0.1, -0.5, 0.002)
    with pytest.raises(CurvewiseError, match="b is list"):
        compare_summaries(a, [1, 2])
    with pytest.raises(CurvewiseError, match="correlation is 1"):
        compare_summaries(a, a, correlation=1)
    with pytest.raises(CurvewiseError, match=r"n is \[50, 100\]. Pass one number"):
        compare_summaries(a, a, n=[50, 100])


# --- coverage ----------------------------------------------------------------------------

LAWS = ((0.1, 1.5, -0.5), (0.12, 1.2, -0.45))


def truth(n=200.0):
    (a, b, g), (c, d, h) = LAWS
    return (
        a + b * n**g - c - d * n**h,
        -2 * b * g * n**g + 2 * d * h * n**h,
        g - h,
    )


def two_curves(rng, rho):
    """Return runs of both whose noise has this correlation at every size."""
    one, other = [], []
    for n, runs in zip(N, COUNTS, strict=True):
        noise = rng.normal(size=(2, runs))
        noise[1] = rho * noise[0] + math.sqrt(1 - rho**2) * noise[1]
        sd = math.sqrt(2e-5 + 4e-3 / n)
        one.append(LAWS[0][0] + LAWS[0][1] * n ** LAWS[0][2] + sd * noise[0])
        other.append(LAWS[1][0] + LAWS[1][1] * n ** LAWS[1][2] + sd * noise[1])
    return one, other


def covered(rng, times, rho, assumed=None):
    """Return how often each interval holds the truth, and their mean widths."""
    hits, width = np.zeros(3, dtype=int), np.zeros(3)
    for _ in range(times):
        one, other = two_curves(rng, rho)
        known = shared_noise(N, one, other) if assumed is None else assumed
        found = compare_summaries(
            fit_power_law(N, one), fit_power_law(N, other), correlation=known
        )
        parts = (found.error, found.reliance, found.exponent)
        hits += [t in part for t, part in zip(truth(), parts, strict=True)]
        width += [part.upper - part.lower for part in parts]
    return hits, width / times


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_intervals_cover_the_difference(rho):
    hits, _ = covered(np.random.default_rng(1), 25, rho)
    for hit in hits:
        assert_rate(hit, 25, 0.95)


def test_shared_noise_makes_intervals_of_the_error_narrower():
    _, shared = covered(np.random.default_rng(2), 8, 0.8)
    _, apart = covered(np.random.default_rng(2), 8, 0.8, assumed=0.0)
    assert shared[0] < 0.7 * apart[0]


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_coverage_at_length(rho):
    hits, width = covered(np.random.default_rng(3), 2_000, rho)
    print(f"\nrho = {rho}: coverage {hits / 2_000}, widths {width}")
    for hit in hits:
        assert 0.92 <= hit / 2_000 <= 0.98


@pytest.mark.slow
def test_a_correlation_that_is_not_there_breaks_coverage():
    """The negative control: independent noise, taken for shared."""
    hits, _ = covered(np.random.default_rng(4), 300, 0.0, assumed=0.9)
    assert_at_most(hits[0], 300, 0.85)
