"""The compiled learners against plain ones, which step through gymnasium."""

import numpy as np
import pytest

from curvewise_papers.pendulum import ActorCritic, Pendulum, Proximal

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("numba")

STEPS = 1000
GAMMA = 0.99


def basis(independent, dependent):
    """Return the multipliers, written down anew: all pairs, then those left alone."""
    pairs = {(i, j) for i in range(dependent + 1) for j in range(dependent + 1)}
    pairs |= {(i, 0) for i in range(independent + 1)}
    pairs |= {(0, i) for i in range(independent + 1)}
    inside = sorted(p for p in pairs if max(p) <= dependent)
    return np.array(
        inside + sorted((p for p in pairs if max(p) > dependent), key=order)
    )


def order(pair):
    return max(pair), -pair[0]


def seen(observation, c):
    scaled = [(observation[0] + np.pi) / (2 * np.pi)]
    scaled += [(observation[1] + 4 * np.pi) / (8 * np.pi)]
    return np.cos(np.pi * (c @ np.array(scaled)))


def environment():
    from curvewise_papers.pendulum_environment import PendulumEnv

    return PendulumEnv(steps=STEPS)


def plain_actor_critic(params, start, noise):
    env = environment()
    actor_c = basis(6, 5)
    critic_c = basis(params["critic_independent"], params["critic_dependent"])
    theta, w = np.zeros(len(actor_c)), np.zeros(len(critic_c))
    e_theta, e_w = np.zeros_like(theta), np.zeros_like(w)
    observation, _ = env.reset(options={"angle": start})
    path = []
    for z in noise:
        phi, psi = seen(observation, actor_c), seen(observation, critic_c)
        observation, reward, terminated, _, _ = env.step([theta @ phi + z])
        assert not terminated
        path.append([*observation, reward])
        delta = reward + GAMMA * w @ seen(observation, critic_c) - w @ psi
        e_w = GAMMA * params["lambda"] * e_w + psi
        e_theta = GAMMA * params["lambda"] * e_theta + z * phi
        w = w + params["critic_rate"] * delta * e_w
        theta = theta + params["actor_rate"] * delta * e_theta
    return theta, w, np.array(path)


def plain_ppo(params, start, noise, state):
    """Return weights and path; `state` is what the shuffles begin with."""
    env = environment()
    actor_c = basis(6, 5)
    critic_c = basis(params["critic_independent"], params["critic_dependent"])
    mean_w, log_sigma, value_w = np.zeros(len(actor_c)), 0.0, np.zeros(len(critic_c))
    first, second, updates = 0.0, 0.0, 0
    observation, _ = env.reset(options={"angle": start})
    path, batch = [], []
    for z in noise:
        phi, psi = seen(observation, actor_c), seen(observation, critic_c)
        action = mean_w @ phi + np.exp(log_sigma) * z
        observation, reward, _, is_over, _ = env.step([action])
        path.append([*observation, reward])
        following = value_w @ seen(observation, critic_c)
        batch.append((phi, psi, action, reward, value_w @ psi, following, is_over))
        if len(batch) < params["steps"]:
            continue
        phis, psis, actions, rewards, values, nexts, ends = map(
            np.array, zip(*batch, strict=True)
        )
        batch = []
        chain, advantages = 0.0, np.zeros(len(rewards))
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + GAMMA * nexts[t] - values[t]
            chain = delta + GAMMA * params["lambda"] * (0.0 if ends[t] else chain)
            advantages[t] = chain
        targets = advantages + values
        advantages = (advantages - advantages.mean()) / advantages.std()
        old = log_density(actions, phis @ mean_w, log_sigma)
        size = min(params["batch"], params["steps"])
        places = np.arange(params["steps"])
        for _ in range(params["epochs"]):
            state = shuffled(places, state)
            for begin in range(0, len(places) - size + 1, size):
                i = places[begin : begin + size]
                off = actions[i] - phis[i] @ mean_w
                now = log_density(actions[i], phis[i] @ mean_w, log_sigma)
                ratio, a = np.exp(now - old[i]), advantages[i]
                clipped = np.clip(ratio, 1 - params["clip"], 1 + params["clip"])
                is_live = ratio * a <= clipped * a
                pull = -(ratio * a * is_live) / size
                z_now = off / np.exp(log_sigma)
                gradient = np.concatenate(
                    [
                        (pull * z_now / np.exp(log_sigma)) @ phis[i],
                        [pull @ (z_now**2 - 1)],
                        2 * (psis[i] @ value_w - targets[i]) @ psis[i] / size,
                    ]
                )
                updates += 1
                first = 0.9 * first + 0.1 * gradient
                second = 0.999 * second + 0.001 * gradient**2
                step = params["rate"] * np.sqrt(1 - 0.999**updates)
                step *= first / (np.sqrt(second) + 1e-5) / (1 - 0.9**updates)
                mean_w = mean_w - step[: len(mean_w)]
                log_sigma = log_sigma - step[len(mean_w)]
                value_w = value_w - step[len(mean_w) + 1 :]
    return np.concatenate([mean_w, [log_sigma], value_w]), np.array(path)


def log_density(actions, means, log_sigma):
    """Return the log-density of normal actions."""
    z = (actions - means) / np.exp(log_sigma)
    return -0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi)


def shuffled(places, state):
    """Shuffle in place with SplitMix64; return its next state."""
    mask = 2**64 - 1
    for i in range(len(places) - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) & mask
        bits = state
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & mask
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & mask
        j = (bits ^ (bits >> 31)) % (i + 1)
        places[[i, j]] = places[[j, i]]
    return state


# --- the comparisons ---------------------------------------------------------------------

# The pendulum forgets no rounding: near its top a difference grows 23-fold in a second.
# In these 20 seconds it has grown to 3e-11 at most, in 8 seeds tried.
ROUNDING = 1e-9


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("orders", [(7, 4), (2, 5)])
def test_a_plain_actor_critic_on_gymnasium_goes_the_same_way(direct, orders):
    params = {"lambda": 0.8, "actor_rate": 1e-3, "critic_rate": 1e-2}
    params |= dict(zip(("critic_independent", "critic_dependent"), orders, strict=True))
    start, noise = chance(1)
    actor, critic, path = plain_actor_critic(params, start, noise)
    learner = ActorCritic(params, Pendulum(), np.random.default_rng(0), direct)
    own = np.zeros((STEPS, 3))
    total, learned = learner.play(start, noise, path=own)
    assert learned == STEPS
    assert np.ptp(path[:, 0]) > 6  # it went around: not only the easy part was seen
    np.testing.assert_allclose(own, path, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(learner.actor, actor, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(learner.critic, critic, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(total, path[:, 2].sum(), rtol=0, atol=STEPS * ROUNDING)


@pytest.mark.parametrize("direct", [False, True])
def test_a_plain_ppo_on_gymnasium_goes_the_same_way(direct):
    params = {"lambda": 0.8, "rate": 3e-3, "clip": 0.2, "epochs": 4, "batch": 24}
    params |= {"steps": 64, "critic_independent": 7, "critic_dependent": 4}
    start, noise = chance(2)
    learner = Proximal(params, Pendulum(), np.random.default_rng(0), direct)
    # It draws one number at the beginning, for its shuffles.
    state = int(np.random.default_rng(0).integers(2**64, size=1, dtype=np.uint64)[0])
    own = np.zeros((STEPS, 3))
    learner.play(start, noise, path=own)
    weights, path = plain_ppo(params, start, noise, state)
    np.testing.assert_allclose(own, path, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(learner.weights, weights, rtol=0, atol=ROUNDING)
    assert abs(weights[38]) > 0.01  # the sd was learned, too


def test_a_learner_that_forgets_its_trace_is_noticed():
    params = {"lambda": 0.8, "actor_rate": 1e-3, "critic_rate": 1e-2}
    params |= {"critic_independent": 7, "critic_dependent": 4}
    start, noise = chance(1)
    actor, _, _ = plain_actor_critic({**params, "lambda": 0.79}, start, noise)
    learner = ActorCritic(params, Pendulum(), np.random.default_rng(0), False)
    learner.play(start, noise)
    assert abs(learner.actor - actor).max() > 1e6 * ROUNDING


def test_batches_of_ppo_run_on_into_the_next_episode():
    params = {"lambda": 0.5, "rate": 3e-3, "clip": 0.2, "epochs": 2, "batch": 8}
    params |= {"steps": 48, "critic_independent": 1, "critic_dependent": 1}
    learner = Proximal(params, Pendulum(), np.random.default_rng(0), False)
    _, noise = chance(3)
    learner.play(1.0, noise[:40])
    assert not learner.weights.any()  # 40 steps fill no batch of 48
    learner.play(1.0, noise[40:50])
    assert learner.weights.any()


def test_a_batch_larger_than_the_steps_has_all_of_them():
    params = {"lambda": 0.5, "rate": 3e-3, "clip": 0.2, "epochs": 2, "batch": 64}
    params |= {"steps": 16, "critic_independent": 1, "critic_dependent": 1}
    learner = Proximal(params, Pendulum(), np.random.default_rng(0), False)
    learner.play(1.0, chance(4)[1][:16])
    assert learner.weights.all()


def chance(seed):
    """Return an angle to start from, and noise."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-np.pi, np.pi), rng.standard_normal(STEPS)
