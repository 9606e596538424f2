"""Actor-critic on the pendulum: features by addition of angles against a cosine each."""

import numpy as np
from ratio import Ratio, best_of

from curvewise_papers.pendulum import Episodes, Pendulum, actor_critic, ppo

TRIALS, EPISODES, STEPS = 20, 10, 2000


def measure() -> list[Ratio]:
    fast, slow = actor_critic(points=1), actor_critic(points=1, direct=True)
    ours, peer, proximal = best_of(
        7,
        lambda: returns(fast),
        lambda: returns(slow),
        lambda: returns(ppo(points=1)),
    )
    # Later the pendulum, which forgets no rounding, would go two ways.
    one, other = (
        returns(algorithm, episodes=1, steps=500) for algorithm in (fast, slow)
    )
    apart = np.abs(one - other).max()
    steps = TRIALS * EPISODES * STEPS
    return [
        Ratio(
            "actor-critic with features by addition of angles, faster than a cosine each",
            peer / ours,
            3,
            "at least",
            f"{steps / ours / 1e6:.1f} against {steps / peer / 1e6:.1f} million steps a "
            f"second on one core, {TRIALS} draws of the paper's hyperparameters; after 500 "
            f"steps returns differ by {apart:.0e} at most; PPO: "
            f"{steps / proximal / 1e6:.1f} million",
        )
    ]


def returns(algorithm, episodes: int = EPISODES, steps: int = STEPS) -> np.ndarray:
    """Return the score of each trial; both ways get the same draws and the same noise."""
    out = []
    for seed in range(TRIALS):
        params = algorithm.draw(np.random.default_rng(seed))
        data = Episodes(Pendulum(), episodes, steps, seed)
        ((_, told),) = algorithm.run(params, data, np.random.default_rng(seed))
        out.append(told["return"])
    return np.array(out)
