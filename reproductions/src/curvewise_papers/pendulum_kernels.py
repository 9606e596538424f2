"""One episode of each learner on the pendulum, compiled.

All that is compiled is in this one file, because numba's cache looks at the file of the
function that is called, and would not notice a change in another. Motion and features are
those of `pendulum`, which says what they are; tests hold the two together.

Sums are added in the order in which they are written, without numba's fast maths: a seed
gives the same result whatever the width of a processor's vectors.
"""

import math
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError

try:
    from numba import njit
except ImportError as problem:
    raise CurvewiseError(
        "The pendulum's learners are compiled by numba, which is not installed. Run: "
        "pip install './reproductions[rl]'."
    ) from problem

LIMIT = 1e6  # of a weight or an error; what is honest stays below 1 / (1 - gamma) = 100
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-5  # of Adam, as in OpenAI Baselines
# Columns of what PPO remembers of a step.
_ACTION, _LOG_P, _REWARD, _VALUE, _NEXT, _LAST = range(6)


# --- motion and features -----------------------------------------------------------------


@njit
def _advance(angle: Any, speed: Any, action: Any, world: Any) -> Any:
    gravity, friction, torque, top_speed, dt = world[0]
    push = torque * min(max(action, -1.0), 1.0)
    pull = gravity * math.sin(angle) - friction * speed
    speed += dt * (pull + push)
    speed = min(max(speed, -top_speed), top_speed)
    angle += dt * speed
    if angle > math.pi:
        angle -= 2 * math.pi
    elif angle < -math.pi:
        angle += 2 * math.pi
    return angle, speed, math.cos(angle)


@njit
def _multiples(x: Any, tables: Any, row: Any) -> Any:
    """Fill two rows with cos(ix) and sin(ix), i = 0, 1, ..., by addition of angles."""
    once_cosine, once_sine = math.cos(x), math.sin(x)
    cosine, sine = 1.0, 0.0
    for i in range(tables.shape[1]):
        tables[row, i], tables[row + 1, i] = cosine, sine
        cosine, sine = (
            cosine * once_cosine - sine * once_sine,
            sine * once_cosine + cosine * once_sine,
        )


@njit
def _features(out: Any, c: Any, x: Any, y: Any, tables: Any, is_direct: Any) -> Any:
    """Fill cos(ix + jy), with two products each, or with a cosine each."""
    if is_direct:
        for k in range(len(out)):
            out[k] = math.cos(c[k, 0] * x + c[k, 1] * y)
    else:
        for k in range(len(out)):
            i, j = c[k, 0], c[k, 1]
            out[k] = tables[0, i] * tables[2, j] - tables[1, i] * tables[3, j]


@njit
def _see(actor: Any, critic: Any, angle: Any, speed: Any, world: Any) -> Any:
    """Fill the features of a state, those of the policy and those of the value."""
    numbers, actor_c, critic_c, tables, is_direct = world
    x = 0.5 * (angle + math.pi)
    y = 0.5 * math.pi * (speed / numbers[3] + 1.0)
    if not is_direct:
        _multiples(x, tables, 0)
        _multiples(y, tables, 2)
    _features(actor, actor_c, x, y, tables, is_direct)
    _features(critic, critic_c, x, y, tables, is_direct)


@njit
def _dot(a: Any, b: Any) -> Any:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit
def _are_sound(weights: Any) -> Any:
    for weight in weights:  # noqa: SIM110  numba knows no generators
        if not abs(weight) < LIMIT:  # so that NaN is not
            return False
    return True


@njit
def _copy(source: Any, target: Any) -> Any:
    # A loop of our own: numba compiles a copied slice, with all its checks, for seconds.
    for k in range(len(source)):
        target[k] = source[k]


# --- actor-critic ------------------------------------------------------------------------


@njit
def _follow(weights: Any, trace: Any, pair: Any, decay: Any, by: Any, step: Any) -> Any:
    """Move weights along their trace; return what they say of the next state."""
    now, then = pair
    for k in range(len(weights)):
        trace[k] = decay * trace[k] + by * now[k]
        weights[k] += step * trace[k]
    return _dot(weights, then)


@njit(cache=True)
def actor_critic_episode(
    world: Any,
    angle: Any,
    noise: Any,
    actor: Any,
    critic: Any,
    rates: Any,
    is_learning: Any,
    path: Any,
) -> Any:
    """Play an episode, learn on the way, return its return and how long it learned."""
    gamma, lamb, actor_rate, critic_rate = rates
    actor_trace, critic_trace = np.zeros(len(actor)), np.zeros(len(critic))
    actor_now, actor_then = np.empty(len(actor)), np.empty(len(actor))
    critic_now, critic_then = np.empty(len(critic)), np.empty(len(critic))
    speed, total, learned, decay = 0.0, 0.0, 0, gamma * lamb
    _see(actor_now, critic_now, angle, speed, world)
    mean, value = _dot(actor, actor_now), _dot(critic, critic_now)
    for t in range(len(noise)):
        action = mean + noise[t]
        angle, speed, reward = _advance(angle, speed, action, world)
        total += reward
        if t < len(path):
            path[t, 0], path[t, 1], path[t, 2] = angle, speed, reward
        _see(actor_then, critic_then, angle, speed, world)
        error = reward + gamma * _dot(critic, critic_then) - value
        is_learning = is_learning and abs(error) < LIMIT  # not if it is NaN
        if is_learning:
            learned += 1
            step = critic_rate * error
            pair = critic_now, critic_then
            value = _follow(critic, critic_trace, pair, decay, 1.0, step)
            step = actor_rate * error
            pair = actor_now, actor_then
            mean = _follow(actor, actor_trace, pair, decay, noise[t], step)
        else:
            mean = _dot(actor, actor_then)
        _copy(actor_then, actor_now)
        _copy(critic_then, critic_now)
    return total, learned


# --- PPO ---------------------------------------------------------------------------------


@njit
def _random(state: Any) -> Any:
    """Return 64 random bits: SplitMix64, whose state is one number."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def _shuffle(order: Any, state: Any) -> Any:
    for i in range(len(order) - 1, 0, -1):
        # The remainder favours small numbers by less than 1 in 2^55.
        j = np.int64(_random(state) % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]


@njit
def _advantages(memory: Any, gamma: Any, lamb: Any) -> Any:
    """Return generalised advantages, with mean 0 and sd 1, and what values should be."""
    n = len(memory)
    advantage, target = np.empty(n), np.empty(n)
    chain = 0.0
    for t in range(n - 1, -1, -1):
        error = memory[t, _REWARD] + gamma * memory[t, _NEXT] - memory[t, _VALUE]
        # An episode is over because its time is: the state that it ends in has a value.
        chain = error + gamma * lamb * (1.0 - memory[t, _LAST]) * chain
        advantage[t], target[t] = chain, chain + memory[t, _VALUE]
    mean = _dot(advantage, np.ones(n)) / n
    advantage -= mean
    sd = math.sqrt(_dot(advantage, advantage) / n)
    return advantage / (sd if sd > 0 else 1.0), target


@njit
def _learn(
    weights: Any,
    moments: Any,
    counts: Any,
    shuffles: Any,
    seen: Any,
    memory: Any,
    rates: Any,
    n_actor: Any,
) -> Any:
    """Improve on one batch of steps."""
    gamma, lamb, rate, clip, epochs, batch = rates
    advantage, target = _advantages(memory, gamma, lamb)
    n, log_sigma = len(memory), n_actor
    critic = weights[n_actor + 1 :]
    gradient, order = np.empty(len(weights)), np.arange(n)
    for _ in range(epochs):
        _shuffle(order, shuffles)
        for begin in range(0, n - batch + 1, batch):
            gradient.fill(0.0)
            sigma = math.exp(weights[log_sigma])
            for at in range(begin, begin + batch):
                i = order[at]
                actor_seen, critic_seen = seen[i, :n_actor], seen[i, n_actor + 1 :]
                mean = _dot(weights[:n_actor], actor_seen)
                z = (memory[i, _ACTION] - mean) / sigma
                log_p = -0.5 * z * z - weights[log_sigma]
                ratio = math.exp(log_p - memory[i, _LOG_P])
                # Beyond the clip the surrogate is flat, unless that would hide a loss.
                is_flat = ratio > 1 + clip if advantage[i] > 0 else ratio < 1 - clip
                if not is_flat:
                    pull = -advantage[i] * ratio
                    gradient[log_sigma] += pull * (z * z - 1.0)
                    pull *= z / sigma
                    for k in range(n_actor):
                        gradient[k] += pull * actor_seen[k]
                off = 2.0 * (_dot(critic, critic_seen) - target[i])
                for k in range(len(critic)):
                    gradient[n_actor + 1 + k] += off * critic_seen[k]
            counts[1] += 1
            updates = counts[1]
            step = rate * math.sqrt(1 - _BETA2**updates) / (1 - _BETA1**updates)
            for k in range(len(weights)):
                g = gradient[k] / batch
                moments[0, k] = _BETA1 * moments[0, k] + (1 - _BETA1) * g
                moments[1, k] = _BETA2 * moments[1, k] + (1 - _BETA2) * g * g
                root = math.sqrt(moments[1, k]) + _EPSILON
                weights[k] -= step * moments[0, k] / root


@njit(cache=True)
def ppo_episode(
    world: Any,
    angle: Any,
    noise: Any,
    weights: Any,
    moments: Any,
    counts: Any,
    shuffles: Any,
    seen: Any,
    memory: Any,
    rates: Any,
    is_learning: Any,
    path: Any,
) -> Any:
    """Play an episode, learn from each full batch, return as `actor_critic_episode` does.

    Batches run on from one episode into the next.
    """
    n_actor, n = len(world[1]), len(memory)
    place, speed, total, learned = counts[0], 0.0, 0.0, 0
    kept_weights = np.empty(len(weights))
    actor, critic = weights[:n_actor], weights[n_actor + 1 :]
    actor_seen, critic_seen = seen[:, :n_actor], seen[:, n_actor + 1 :]
    _see(actor_seen[place], critic_seen[place], angle, speed, world)
    mean, value = _dot(actor, actor_seen[place]), _dot(critic, critic_seen[place])
    for t in range(len(noise)):
        log_sigma = weights[n_actor]
        action = mean + math.exp(log_sigma) * noise[t]
        angle, speed, reward = _advance(angle, speed, action, world)
        total += reward
        if t < len(path):
            path[t, 0], path[t, 1], path[t, 2] = angle, speed, reward
        _see(actor_seen[place + 1], critic_seen[place + 1], angle, speed, world)
        following = _dot(critic, critic_seen[place + 1])
        memory[place, _ACTION] = action
        memory[place, _LOG_P] = -0.5 * noise[t] * noise[t] - log_sigma
        memory[place, _REWARD], memory[place, _VALUE] = reward, value
        memory[place, _NEXT], memory[place, _LAST] = following, t == len(noise) - 1
        place += 1
        learned += is_learning
        if place == n:
            if is_learning:
                _copy(weights, kept_weights)
                _learn(weights, moments, counts, shuffles, seen, memory, rates, n_actor)
                is_learning = _are_sound(weights)
                if not is_learning:
                    _copy(kept_weights, weights)
            _copy(seen[n], seen[0])
            place, following = 0, _dot(critic, critic_seen[0])
        mean, value = _dot(actor, actor_seen[place]), following
    counts[0] = place
    return total, learned
