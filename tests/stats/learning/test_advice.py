"""Which run to do next: the information by brute force, and what following it brings."""

import numpy as np
import pytest

from curvewise import CurvewiseError
from curvewise.stats.learning import next_run
from curvewise.stats.learning.advice import (
    PRIOR,
    information,
    inverse_of,
    seconds_at,
    variance_after,
    variance_at,
)
from curvewise.stats.powerlaw import PowerLaw, fit_power_law

LAW = PowerLaw(0.1, 1.5, 0.0, -0.5, 200, noise_floor=2e-5, noise_slope=4e-3)
N = np.array([25.0, 50, 100, 200])
COUNTS = np.array([8.0, 4, 2, 1])


def by_hand(law, n, counts, target):
    """Return the variance at the target: run for run, slopes by finite differences."""

    def slopes(at):
        def error(theta):
            return theta[0] + theta[1] * at ** theta[2]

        theta = np.array([law.alpha, law.eta, law.gamma])
        steps = 1e-6 * np.eye(3)
        return np.array([(error(theta + h) - error(theta - h)) / 2e-6 for h in steps])

    total = np.diag([0, 0, PRIOR])
    for at, times in zip(n, counts, strict=True):
        for _ in range(int(times)):
            x = slopes(at)
            total = total + np.outer(x, x) / (law.noise_floor + law.noise_slope / at)
    g = slopes(target)
    return g @ np.linalg.inv(total) @ g


def simulated(rng, n=N, counts=COUNTS, law=LAW):
    return [
        law.alpha
        + law.eta * at**law.gamma
        + np.sqrt(law.noise_floor + law.noise_slope / at) * rng.normal(size=int(c))
        for at, c in zip(n, counts, strict=True)
    ]


@pytest.mark.parametrize("target", [25.0, 400.0, 5000.0])
def test_the_variance_is_that_of_brute_force(target):
    inverse = inverse_of(information(LAW, N, COUNTS))
    now = variance_at(inverse, LAW, np.array([target]))[0]
    assert now == pytest.approx(by_hand(LAW, N, COUNTS, target), rel=1e-6)
    sizes, repeats = np.array([25.0, 75, 400]), np.array([1.0, 3, 10])
    after = variance_after(inverse, LAW, target, sizes, repeats)
    for i, size in enumerate(sizes):
        for j, times in enumerate(repeats):
            more = by_hand(LAW, np.r_[N, size], np.r_[COUNTS, times], target)
            assert after[i, j] == pytest.approx(more, rel=1e-5)


def test_errors_without_noise_are_refused():
    with pytest.raises(CurvewiseError, match="no noise"):
        next_run(N, [[0.3, 0.3]] * 4, [1, 2, 4, 8], target=800)


def test_seconds_are_those_measured_and_a_power_law_elsewhere():
    at = seconds_at(np.array([10.0, 100]), [1, 10])
    np.testing.assert_allclose(
        at(np.array([10.0, 100, 1000, 31.6227766])), [1, 10, 100, 3.16227766]
    )
    at = seconds_at(np.array([10.0, 100]), [5, 4])  # never less with more data
    assert at(np.array([1000.0]))[0] == pytest.approx(np.sqrt(20))
    assert seconds_at(N, lambda n: n / 2)(np.array([8.0]))[0] == 4
    for seconds in ([1, 2, 3, 0], [1, 2]):
        with pytest.raises(CurvewiseError) as refused:
            seconds_at(N, seconds)
        assert refused.value.argument == "seconds"


def test_the_best_comes_first():
    errors = simulated(np.random.default_rng(2))
    found = next_run(N, errors, [1, 2, 4, 8], target=800)
    per_second = [s.per_second for s in found.suggestions]
    assert per_second == sorted(per_second, reverse=True)
    assert found.best.repeats == 1
    assert found.best.half_width < found.half_width
    assert found.rows()[0]["per second"] == per_second[0]
    assert {s.size for s in found.suggestions} >= {25, 35, 50, 71, 100, 141, 200, 400}


def test_a_budget_is_spent_well():
    errors = simulated(np.random.default_rng(2))
    found = next_run(N, errors, [1, 2, 4, 8], target=800, budget=20)
    assert all(s.seconds <= 20 for s in found.suggestions)
    widths = [s.half_width for s in found.suggestions]
    assert widths == sorted(widths)
    with pytest.raises(CurvewiseError, match="cheapest"):
        next_run(N, errors, [1, 2, 4, 8], target=800, budget=0.5)


def test_dear_runs_are_not_advised():
    """The same curve, but a run on much data takes a year."""
    errors = simulated(np.random.default_rng(3))
    cheap = next_run(N, errors, lambda n: 0 * n + 1, target=800).best.size
    dear = next_run(
        N, errors, lambda n: np.where(n > 150, 1e7, 1), target=800
    ).best.size
    assert cheap > 150 > dear


def test_percent_are_fractions_times_100():
    errors = simulated(np.random.default_rng(4))
    one = next_run(N, errors, [1, 2, 4, 8], target=800)
    other = next_run(
        N, [100 * e for e in errors], [1, 2, 4, 8], target=800, unit="percent"
    )
    assert other.half_width == pytest.approx(100 * one.half_width)
    assert other.best.size == one.best.size


def test_sizes_in_any_order():
    errors = simulated(np.random.default_rng(5))
    one = next_run(N, errors, [1, 2, 4, 8], target=800)
    other = next_run(N[::-1], errors[::-1], [8, 4, 2, 1], target=800)
    assert one.rows() == other.rows()


@pytest.mark.parametrize(
    "change",
    [
        {"target": 0},
        {"target": [400, 800]},
        {"repeats": [0]},
        {"repeats": []},
        {"repeats": np.inf},
        {"repeats": "many"},
        {"candidates": [-1]},
        {"budget": -1},
        {"seconds": "long"},
    ],
)
def test_what_is_refused(change):
    question = {"target": 800, "seconds": [1, 2, 4, 8], **change}
    with pytest.raises(CurvewiseError, match=next(iter(change))):
        next_run(N, simulated(np.random.default_rng(6)), **question)


def width_after(rng, errors, size, repeats, target=800.0):
    """Return the width of the interval at the target once those runs are done."""
    more = simulated(rng, np.array([size]), [repeats])[0]
    sizes = np.unique(np.r_[N, size])
    by_size = dict(zip(N.tolist(), errors, strict=True))
    by_size[size] = np.r_[by_size.get(size, np.empty(0)), more]
    band = fit_power_law(sizes, [by_size[n] for n in sizes.tolist()]).interval([target])
    return float(band.upper[0] - band.lower[0])


def gains(rng, times):
    """Return how much intervals shrink for the same seconds: best and worst advice."""
    seconds = N / 25
    found = []
    for _ in range(times):
        errors = simulated(rng)
        now = fit_power_law(N, errors).interval([800.0])
        advice = next_run(
            N, errors, seconds, target=800, candidates=[25, 50, 100, 200], repeats=[1]
        )
        best, worst = advice.suggestions[0].size, advice.suggestions[-1].size
        # 16 seconds of either.
        found.append(
            [
                float(now.upper[0] - now.lower[0])
                - width_after(rng, errors, size, max(1, round(16 / (size / 25))))
                for size in (best, worst)
            ]
        )
    return np.array(found)


def test_following_the_advice_shrinks_the_interval_more_than_the_opposite():
    """The same seconds spent where it says, and where it says last."""
    best, worst = gains(np.random.default_rng(7), 40).T
    assert best.mean() > 0
    assert best.mean() > 1.5 * worst.mean()


@pytest.mark.slow
def test_following_the_advice_at_length():
    best, worst = gains(np.random.default_rng(8), 400).T
    apart = best - worst
    error = apart.std(ddof=1) / np.sqrt(len(apart))
    print(
        f"\nshrinks by {best.mean():.4f}, opposite {worst.mean():.4f}, se {error:.4f}"
    )
    assert apart.mean() > 5 * error


def test_sizes_in_thousands_have_candidates_between_them():
    errors = [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]]
    one = next_run([250, 500, 1000], errors, [1, 2, 4], target=4000)
    other = next_run([0.25, 0.5, 1], errors, [1, 2, 4], target=4)
    assert other.half_width == pytest.approx(one.half_width, rel=1e-6)
    sizes = sorted({s.size for s in other.suggestions})
    assert sizes == pytest.approx([0.25, 0.125**0.5, 0.5, 0.5**0.5, 1, 2])
