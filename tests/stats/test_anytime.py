import math
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest

from curvewise.stats import bands
from curvewise.stats.bands import cdf_band, half_width

SCRIPT = Path(__file__).parents[2] / "scripts" / "coverage_bands.py"
simulation = SimpleNamespace(**runpy.run_path(str(SCRIPT)))


def test_the_constant_is_the_published_one():
    assert bands._anytime_constant(0.05) == pytest.approx(8.1227, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "radius"),
    [(100, 0.242253), (738, 0.095012), (2000, 0.058607), (100_000, 0.008581)],
)
def test_radii_are_the_tabulated_ones(n, radius):
    assert half_width(n, kind="anytime", start=100) == pytest.approx(radius, abs=5e-7)


@pytest.mark.parametrize("delta", [0.99, 0.5, 0.05, 1e-4, 1e-9])
def test_no_other_free_parameter_needs_a_smaller_constant(delta):
    """The bound on a miss, on a grid that knows nothing of how we minimise it."""
    c = bands._anytime_constant(delta)
    eta = np.linspace(1, 2, 200_001)[1:]
    square = 2 / eta * (0.85 - np.sqrt(2 * (eta - 1) / c)) ** 2
    valid = (square > 1) & (np.sqrt(2 * (eta - 1) / c) < 0.85)
    miss = 4 * np.exp(-square * c) * (1 + 1 / ((square - 1) * np.log(eta)))
    assert miss[valid].min() == pytest.approx(delta, rel=1e-6)


def test_looking_whenever_you_like_costs_about_twice_the_width():
    assert 1.8 < half_width(2000, kind="anytime", start=100) / half_width(2000) < 2


def test_the_radius_never_exceeds_one():
    assert half_width(1, kind="anytime") == 1


def test_the_band_is_as_wide_as_its_radius():
    band = cdf_band(np.arange(500) / 500, kind="anytime", start=100)
    radius = half_width(500, kind="anytime", start=100)
    assert band.upper[100] - 0.2 == pytest.approx(radius)
    assert 0.8 - band.lower[400] == pytest.approx(radius)
    assert "at every number of trials" in band.guarantee


def never_left(kind, last, start, paths):
    radius = simulation.radii(last, start, kind)
    rng = np.random.default_rng(2026)
    return paths - simulation.misses_on_the_way(radius, start, paths, rng)


def test_it_holds_at_all_times_at_once():
    held = never_left("anytime", 400, 20, 500)
    assert binomtest(held, 500, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
def test_it_holds_at_all_times_at_once_to_the_end():
    """2,000 paths of 2,000 trials, looked at after each of them from the 100th on."""
    held = never_left("anytime", 2000, 100, 2000)
    assert binomtest(held, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_a_band_for_one_look_does_not():
    """The negative control: the exact band of every t, looked at at every t."""
    assert never_left("kolmogorov", 600, 150, 300) / 300 < 0.85


def test_skipping_looks_that_cannot_matter_skips_none_that_does():
    """The simulation looks only where the band may be left; here, everywhere."""
    rng = np.random.default_rng(5)
    radius = simulation.radii(150, 10, "dkw")

    def leaves(u):
        for t in range(10, 151):
            z, share = np.sort(u[:t]), np.arange(1, t + 1) / t
            if max((share - z).max(), (z - share).max() + 1 / t) > radius[t]:
                return True
        return False

    paths = rng.random((60, 150))
    found = [simulation.leaves(radius, 10, u) for u in paths]
    assert found == [leaves(u) for u in paths]
    assert 0 < sum(found) < 60


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: half_width(50, kind="anytime", start=100),
            r"An anytime band that starts at 100 trials says nothing about 50\. Pass a "
            r"smaller start",
        ),
        (
            lambda: half_width(50, kind="anytime", start=0),
            r"start is 0\. Pass a number of trials, at least 1",
        ),
        (
            lambda: half_width(50, kind="anytime", side="lower"),
            r"A band of kind anytime has two sides\. Pass side='both'",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_later_start_is_narrower_later():
    """What is not spent on early looks is left for late ones."""
    late = [half_width(1000, kind="anytime", start=m) for m in (1, 10, 100, 1000)]
    assert (np.diff(late) < 0).all()
    assert not math.isclose(late[0], late[-1])
