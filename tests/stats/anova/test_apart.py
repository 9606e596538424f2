"""Lines without their origin: what is rounding is 0, and what is not keeps its digits."""

import numpy as np
import pytest

from curvewise.stats.anova.lines import apart, checked_lines


def parts(*groups):
    return apart(checked_lines(groups))


@pytest.mark.parametrize("kind", ["all steps", "line_means", "centred"])
def test_means_and_residuals_are_those_of_the_lines(kind):
    rng = np.random.default_rng(1)
    groups = [rng.normal(size=(n, 6)) + n for n in (4, 7, 5)]
    own, expected = parts(*groups), groups
    if kind == "line_means":
        own, expected = (
            own.line_means(),
            [g.mean(axis=1, keepdims=True) for g in groups],
        )
    if kind == "centred":
        own, expected = own.centred(), [g - g.mean(axis=1)[:, None] for g in groups]
    means = np.stack([g.mean(axis=0) for g in expected])
    np.testing.assert_allclose(own.means - own.means[0], means - means[0], atol=1e-14)
    rest = np.concatenate([g - g.mean(axis=0) for g in expected])
    np.testing.assert_allclose(own.residuals, rest, atol=1e-14)


@pytest.mark.parametrize("seed", range(60))
def test_shifts_and_equal_means_are_told_from_noise(seed):
    """Whatever the sizes of heights and of shapes, and however long the lines."""
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(2, (12, 200, 3000)[seed % 3]))
    heights = rng.normal(size=(5, 1)) * 10 ** rng.uniform(-3, 3)
    shape = rng.normal(size=steps) * 10 ** rng.uniform(-3, 3)
    own = parts(heights + shape, heights[::-1] + shape + 5).centred()
    assert not own.residuals.any()
    assert not own.middles.any()
    same = rng.permuted(np.tile(shape + 3, (2, 5, 1)), axis=2)
    own = parts(*same).line_means()
    assert not own.residuals.any()
    assert not own.middles.any()


def test_a_diverged_line_costs_the_others_no_digits():
    rng = np.random.default_rng(2)
    one, other, third = rng.normal(size=(3, 6, 4))
    one[2] = 1e20
    third += 1e20
    own = parts(one, other, third)
    rest = np.delete(one, 2, axis=0)
    for way in (own, own.line_means()):
        kept = np.delete(way.design.groups[0], 2, axis=0)
        assert (kept.any(axis=1)).sum() >= 4
    np.testing.assert_allclose(
        np.delete(own.design.groups[0], 2, axis=0) - own.design.groups[0][0],
        rest - rest[0],
        atol=1e-14,
    )


def test_a_start_that_all_share_costs_the_others_no_digits():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(2, 6, 4))
    plain = parts(one[:, 1:], other[:, 1:]).line_means()
    one[:, 0] = other[:, 0] = 1e17
    own = parts(one, other).line_means()
    np.testing.assert_allclose(own.residuals * 4 / 3, plain.residuals, atol=1e-14)
