"""Power by resampling keeps the level where it should, and grows where it must."""

import time

import numpy as np
import pytest
from support import assert_at_most, assert_rate

from curvewise import CurvewiseError
from curvewise.stats.anova.power import Pool, both_f, stretch_power

RISE = 60 / (1 + np.exp(-np.linspace(-3, 3, 8)))


def curves(n=100, seed=1, steps=8):
    """Return S-shaped curves of scores, each line with an offset, a walk and noise."""
    rng = np.random.default_rng(seed)
    rise = np.interp(np.linspace(0, 1, steps), np.linspace(0, 1, 8), RISE)
    walk = rng.normal(0, 0.7, (n, steps)).cumsum(axis=1)
    return rise + rng.normal(0, 2.2, (n, 1)) + walk + rng.normal(0, 7, (n, steps))


def two_way(one, other):
    """Return both F of the two-way table, computed as textbooks do."""
    both = np.stack([one, other])
    _, size, k = both.shape
    cell, own, at = both.mean(axis=1), both.mean(axis=(1, 2)), both.mean(axis=(0, 1))
    grand = both.mean()
    algorithm = size * k * ((own - grand) ** 2).sum()
    shape = size * ((cell - own[:, None] - at + grand) ** 2).sum() / (k - 1)
    error = ((both - cell[:, None]) ** 2).sum() / (2 * k * (size - 1))
    return algorithm / error, shape / error


@pytest.mark.parametrize("steps", [8, 300])
def test_both_f_are_those_of_the_two_way_table(steps):
    lines = 1000 + curves(20, steps=steps)
    pool = Pool(lines, disjoint=False)
    rng = np.random.default_rng(2)
    index = pool.apart(5, 4, rng)
    both = np.concatenate([pool.values, 1.1 * pool.values])
    found = both_f(both - both.mean(axis=0), index, steps)
    copies = np.concatenate([lines, 1.1 * lines])
    expected = [two_way(copies[row[:4]], copies[row[4:]]) for row in index]
    np.testing.assert_allclose(found.T, expected, rtol=1e-6)


def test_draws_are_samples_without_replacement():
    rng = np.random.default_rng(3)
    for disjoint in (False, True):
        pool = Pool(curves(12), disjoint=disjoint)
        for chosen in (pool.mixed(500, 5, rng), pool.apart(500, 5, rng)):
            assert chosen.shape == (500, 10)
            assert all(len(set(row)) == 10 for row in chosen.tolist())
            if disjoint:
                assert all(len(set(row)) == 10 for row in (chosen % 12).tolist())
        assert (chosen[:, :5] < 12).all()
        assert (chosen[:, 5:] >= 12).all()
    everything = Pool(curves(6), disjoint=False).mixed(400, 6, rng)
    first = np.bincount(everything[:, :6].ravel(), minlength=12)
    assert_rate(first[0], 400, 0.5)
    assert_rate(first[11], 400, 0.5)


def test_stretching_by_one_gives_the_level():
    draws = 20_000
    found = stretch_power(
        *(curves(), 1.0), size=10, draws=draws, disjoint=True, null_draws=100_000,
        rng=np.random.default_rng(4),
    )  # fmt: skip
    for share in (found.algorithm, found.interaction):
        assert_rate(round(draws * share[0]), draws, 0.05, false_alarm=1e-7)


def test_samples_that_share_curves_give_less_than_the_level():
    """What the published procedure does; a hundred draws cannot tell."""
    draws = 20_000
    rng = np.random.default_rng(5)
    found = stretch_power(curves(), 1.0, size=[10, 40], draws=draws, rng=rng)
    assert_at_most(round(draws * found.interaction[0]), draws, 0.04)
    assert max(found.algorithm[1], found.interaction[1]) < 0.02
    as_published = stretch_power(curves(), 1.0, size=10, rng=rng)
    assert as_published.algorithm[0] <= 0.05 + 3 * as_published.algorithm_error[0]
    with pytest.raises(AssertionError):  # the negative control
        assert_rate(round(draws * found.algorithm[1]), draws, 0.05)


def test_power_grows_with_the_stretch_and_with_the_lines():
    rng = np.random.default_rng(6)
    along = {"draws": 2000, "rng": rng}
    by_stretch = stretch_power(curves(), [1.0, 1.1, 1.2, 1.4], size=10, **along)
    by_size = stretch_power(curves(), 1.1, size=[5, 10, 20, 40], **along)
    for found in (by_stretch, by_size):
        assert (np.diff(found.algorithm) > 0).all()
        assert (np.diff(found.interaction) > 0).all()
    # The point that both curves have: a stretch of 1.1 with 10 lines.
    for effect in ("algorithm", "interaction"):
        one, other = getattr(by_stretch, effect)[1], getattr(by_size, effect)[1]
        errors = getattr(by_stretch, f"{effect}_error")[1]
        assert abs(one - other) < 5 * np.hypot(
            errors, getattr(by_size, f"{effect}_error")[1]
        )
    assert by_stretch.algorithm[-1] > 0.99


def test_the_error_of_a_hundred_draws():
    rng = np.random.default_rng(7)
    found = stretch_power(curves(), [1.1, 1.17, 3.0], size=10, rng=rng)
    p = found.algorithm
    least = np.sqrt(p * (1 - p) / 100)
    assert (found.algorithm_error >= 0.95 * least).all()
    assert found.algorithm_error[1] == pytest.approx(0.04, abs=0.015)
    assert found.algorithm_error.max() < 0.08
    assert p[2] == 1
    assert found.algorithm_error[2] > 0  # never "certain" from a hundred draws


@pytest.mark.slow
def test_errors_are_how_far_repetitions_scatter():
    rng = np.random.default_rng(8)
    stretches = np.full(150, 1.12)
    few = {"null_draws": 1000, "draws": 2000}  # the critical value matters here
    found = stretch_power(curves(), stretches, size=10, rng=rng, **few)
    for effect in ("algorithm", "interaction"):
        scatter = getattr(found, effect).std(ddof=1)
        told = np.median(getattr(found, f"{effect}_error"))
        assert 0.7 < told / scatter < 1.5
    p = found.algorithm.mean()
    assert np.sqrt(p * (1 - p) / 2000) < 0.7 * found.algorithm.std(ddof=1)  # control


@pytest.mark.paper
def test_the_critical_value_is_the_mean_of_21_sorted_values():
    lines, rng = curves(30), np.random.default_rng(9)
    found = stretch_power(lines, 1.3, size=6, rng=rng)
    pool = Pool(lines, disjoint=False)
    both = np.concatenate([pool.values, 1.3 * pool.values])
    chosen = pool.mixed(10_000, 6, np.random.default_rng(9))
    values = np.sort(both_f(both - both.mean(axis=0), chosen, 8), axis=1)
    expected = values[:, 9489:9510].mean(axis=1)  # 9490th to 9510th, counted from 1
    assert found.algorithm_critical[0] == pytest.approx(expected[0])
    assert found.interaction_critical[0] == pytest.approx(expected[1])


def test_the_same_seed_gives_the_same_and_long_curves_cost_little():
    def asked(lines):
        return stretch_power(lines, 1.1, size=10, rng=np.random.default_rng(10))

    assert asked(curves()).algorithm == asked(curves()).algorithm
    assert asked(1e100 * curves()).algorithm == asked(curves()).algorithm
    long = curves(steps=10_000)
    begin = time.perf_counter()
    asked(long)
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"stretch": 0}, "stretch"),
        ({"stretch": "a"}, "stretch"),
        ({"size": 1}, "size"),
        ({"size": 2.5}, "size"),
        ({"size": 31}, "size"),
        ({"size": 16, "disjoint": True}, "size"),
        ({"stretch": [1, 2], "size": [3, 4, 5]}, "size"),
        ({"level": 0}, "level"),
        ({"null_draws": 150}, "null_draws"),
        ({"draws": 5}, "draws"),
        ({"rng": 3}, "rng"),
        ({"lines": [[1.0], [2.0]]}, "lines"),
        ({"lines": [[1.0, np.nan]] * 3}, "lines"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changed, argument):
    given = {
        "lines": curves(30),
        "stretch": 1.1,
        "size": 5,
        "rng": np.random.default_rng(1),
    } | changed
    lines, stretch = given.pop("lines"), given.pop("stretch")
    with pytest.raises(CurvewiseError) as refused:
        stretch_power(lines, stretch, **given)
    assert refused.value.argument == argument
