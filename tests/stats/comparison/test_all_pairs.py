"""All pairs at once are the pairs one by one, to the last digit."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from curvewise.stats.comparison import (
    all_differences,
    all_improvements,
    difference,
    probability_of_improvement,
)
from curvewise.stats.functionals import Functional

RNG = np.random.default_rng(0)
SAMPLES = {
    "smooth": [RNG.beta(5, 2 + i, 24) for i in range(5)],
    "ties": [RNG.integers(0, 3, 12) / 2 for _ in range(4)],
    "still": [np.full(9, 0.5), np.full(9, 0.5), np.full(9, 0.75), RNG.random(9)],
    "shifted": [np.linspace(0, 0.5, 9), np.linspace(0, 0.5, 9) + 0.25],
    "small": [RNG.random(3) for _ in range(3)],
    "one each": [np.array([0.5]), np.array([0.25])],
    "alone": [RNG.random(9)],
    "tiny": [1e-200 * RNG.random(9) for _ in range(3)],
}
UNEQUAL = [RNG.random(n) for n in (20, 9, 4, 2, 1)]


def one_by_one(compare, samples, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [compare(a, b, **options) for a, b in combinations(samples, 2)]


@pytest.mark.parametrize("support", [(0.0, 1.0), (-np.inf, np.inf)])
@pytest.mark.parametrize("functional", [Functional("mean"), Functional("cvar", 0.5)])
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("name", [*SAMPLES, "unequal"])
@pytest.mark.filterwarnings("ignore::curvewise.CurvewiseWarning")
def test_differences_are_those_of_each_pair(name, paired, functional, support):
    if name == "unequal" and paired:
        pytest.skip("pairs are as many of each")
    samples = SAMPLES.get(name, UNEQUAL)
    options = {"confidence": 0.99, "paired": paired, "support": support}
    found = all_differences(samples, functional, **options)
    kind = {"of": functional.of, "alpha": functional.alpha, "tail": functional.tail}
    assert found == one_by_one(difference, samples, **kind, **options)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("name", [*SAMPLES, "unequal"])
@pytest.mark.filterwarnings("ignore::curvewise.CurvewiseWarning")
def test_improvements_are_those_of_each_pair(name, paired):
    if name == "unequal" and paired:
        pytest.skip("pairs are as many of each")
    samples = SAMPLES.get(name, UNEQUAL)
    options = {"confidence": 0.99, "paired": paired}
    found = all_improvements(samples, **options)
    assert found == one_by_one(probability_of_improvement, samples, **options)


def test_a_pair_that_was_mixed_up_would_show():
    """The negative control: another order is another answer."""
    samples = SAMPLES["smooth"]
    options = {"paired": True, "confidence": 0.99}
    turned = all_differences(samples[::-1], Functional("mean"), **options)
    assert turned != one_by_one(difference, samples, of="mean", **options)
