"""The pendulum: its motion and its features."""

import math

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise_papers.pendulum import (
    ActorCritic,
    Pendulum,
    coefficients,
    count,
    features,
)

pytest.importorskip("numba")

GOOD = {"actor_rate": 1e-3, "critic_rate": 1e-2, "lambda": 0.5}
GOOD |= {"critic_independent": 5, "critic_dependent": 5}


# --- motion ------------------------------------------------------------------------------


def energies(pendulum, angle, seconds):
    speed, out = 0.0, []
    for _ in range(round(seconds / pendulum.dt)):
        angle, speed, _ = pendulum.advance(angle, speed, 1.0)
        out.append(pendulum.energy(angle, speed))
    return np.array(out)


def free(dt=0.02, friction=0.0):
    return Pendulum(friction=friction, torque=0.0, dt=dt)


def test_without_friction_and_motor_energy_stays():
    at_first = free().energy(2.0, 0.0)
    off = np.abs(energies(free(), 2.0, 200) - at_first) / at_first
    # It swings about the true energy, and does so in the last seconds as in the first.
    assert off.max() < 0.05
    assert off[-500:].max() == pytest.approx(off[:500].max(), rel=0.02)


def test_an_explicit_step_would_gain_energy():
    angle, speed, dt = 2.0, 0.0, 0.02
    for _ in range(10_000):
        angle, speed = angle + dt * speed, speed + dt * 9.8 * math.sin(angle)
    assert free().energy(angle, speed) > 2 * free().energy(2.0, 0.0)


def test_half_the_step_has_half_the_error():
    at_first = free().energy(2.0, 0.0)
    off = [np.abs(energies(free(dt), 2.0, 20) - at_first).max() for dt in (0.02, 0.01)]
    assert off[0] / off[1] == pytest.approx(2, rel=0.02)


def test_friction_takes_energy():
    found = energies(free(friction=0.1), 2.0, 20)
    # Speed fades as exp(-0.1 t / 2), energy as its square.
    assert found[-1] / found[0] == pytest.approx(math.exp(-2), rel=0.25)


def test_small_swings_have_the_period_of_a_pendulum():
    pendulum, angle, speed, crossings = free(0.001), math.pi - 0.01, 0.0, []
    for step in range(10_000):
        before = angle
        angle, speed, _ = pendulum.advance(angle, speed, 0.0)
        if before * angle < 0:  # from one side of the bottom to the other
            crossings.append(step * pendulum.dt)
    half = np.diff(crossings).mean()
    assert half == pytest.approx(math.pi / math.sqrt(9.8), rel=1e-3)


def test_the_motor_cannot_lift_it_without_a_swing():
    angle, speed, highest = math.pi, 0.0, -1.0
    for _ in range(5_000):
        angle, speed, reward = Pendulum().advance(angle, speed, 1.0)
        highest = max(highest, reward)
    assert highest < 0.5


def test_speed_and_action_are_cut_and_the_angle_goes_around():
    pendulum = Pendulum(gravity=0.0, friction=0.0, torque=100.0)
    angle, speed = 3.0, 0.0
    for _ in range(20):
        angle, speed, _ = pendulum.advance(angle, speed, 9.0)
    assert speed == pendulum.top_speed
    assert -math.pi <= angle <= math.pi
    assert Pendulum().advance(1.0, 0.0, 7.0) == Pendulum().advance(1.0, 0.0, 1.0)


def test_the_compiled_motion_is_the_same():
    own = np.zeros((500, 3))
    learner = ActorCritic(GOOD, Pendulum(), np.random.default_rng(0), False)
    learner.play(2.0, np.full(500, 0.7), learn=False, path=own)  # weights stay 0
    angle, speed, path = 2.0, 0.0, []
    for _ in range(500):
        path.append(Pendulum().advance(angle, speed, 0.7))
        angle, speed, _ = path[-1]
    np.testing.assert_allclose(own, path, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"dt": 0.0}, "dt is 0.0"),
        ({"friction": -1.0}, "friction is -1.0"),
        ({"gravity": math.nan}, "gravity is nan"),
        ({"dt": 1.0}, "half around"),
    ],
)
def test_a_pendulum_that_cannot_be_is_refused(settings, says):
    with pytest.raises(CurvewiseError, match=says):
        Pendulum(**settings)


# --- features ----------------------------------------------------------------------------


@pytest.mark.paper
def test_the_policy_has_38_features():
    assert len(coefficients(6, 5)) == count(6, 5) == 38


@pytest.mark.parametrize(
    ("independent", "dependent", "expected"),
    [
        (0, 0, 1),
        (3, 0, 7),
        (0, 3, 16),
        (3, 3, 16),
        (2, 3, 16),
        (10, 0, 21),
        (10, 9, 102),
    ],
)
def test_what_is_in_both_orders_counts_once(independent, dependent, expected):
    c = coefficients(independent, dependent)
    assert len(c) == count(independent, dependent) == expected
    assert len(np.unique(c, axis=0)) == expected
    wanted = {(i, j) for i in range(dependent + 1) for j in range(dependent + 1)}
    wanted |= {(i, 0) for i in range(independent + 1)}
    wanted |= {(0, i) for i in range(independent + 1)}
    assert {tuple(own) for own in c.tolist()} == wanted


def test_features_of_a_state_are_cosines():
    c = coefficients(2, 1)
    own = features(-math.pi / 2, 2 * math.pi, c, 4 * math.pi)
    expected = [math.cos(math.pi * (0.25 * i + 0.75 * j)) for i, j in c.tolist()]
    np.testing.assert_allclose(own, expected, atol=1e-15)
    many = features([0.1, 0.2], [1.0, 2.0], c, 4 * math.pi)
    assert many.shape == (2, 6)


@pytest.mark.parametrize("orders", [(0, 0), (9, 2), (3, 10)])
def test_addition_of_angles_gives_the_same_features(orders):
    names = "critic_independent", "critic_dependent"
    params = {**GOOD, "lambda": 0.0, **dict(zip(names, orders, strict=True))}
    found = []
    for direct in (False, True):
        learner = ActorCritic(params, Pendulum(), np.random.default_rng(0), direct)
        learner.play(1.1, np.zeros(1))  # one step moves weights along the features
        found.append(learner.critic / learner.critic[0])
    plain = features(1.1, 0.0, coefficients(*orders), 4 * math.pi)
    # Ten additions of angles lose ten roundings or so.
    np.testing.assert_allclose(found[0], plain, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[1], plain, rtol=0, atol=1e-14)


def test_an_order_below_0_is_refused():
    with pytest.raises(CurvewiseError, match="dependent order is -1"):
        coefficients(3, -1)
