"""Proximal policy optimisation, linear in a Fourier basis."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from curvewise.engine.experiment import Algorithm
from curvewise.engine.spaces import Space, integers, log_integers, loguniform, uniform
from curvewise.zoo.pendulum.dynamics import Pendulum
from curvewise.zoo.pendulum.playing import (
    CRITIC,
    GAMMA,
    NO_PATH,
    Floats,
    Run,
    kernels,
    world,
)

_WARM = {"rate": 1e-3, "clip": 0.2, "lambda": 0.5, "epochs": 1, "batch": 1, "steps": 1}
_WARM |= dict.fromkeys(CRITIC, 0)
_REMEMBERED = 6  # numbers of a step


def ppo(
    *,
    points: int | None = None,
    direct: bool = False,
    space: Space | None = None,
    name: str = "ppo",
) -> Algorithm:
    """Return the PPO of Jordan et al. (2018), to be run on `pendulum_task`.

    The policy is normal around a mean that is linear in 38 Fourier features, with an sd
    whose logarithm is learned, from 0 on; the value is linear in the features of the
    critic. Weights begin at 0, the discount is 0.99. All else is as in OpenAI Baselines
    (``ppo1``): advantages by GAE, standardised in each batch of steps; the clipped
    surrogate and the squared error of the value, added, without entropy; Adam with betas
    0.9 and 0.999 and epsilon 1e-5; steps shuffled in each epoch, those left out that fill
    no batch. An episode that is out of time is no end, unlike there: its last state
    keeps its value.

    A trial whose weights pass a million, or are no numbers any more, has diverged: it
    learns no more, and plays on with the weights that it had before.

    Parameters
    ----------
    points, direct, name
        As in `actor_critic`.
    space : Space, optional
        Another distribution of hyperparameters. The usual one is the paper's: step size
        log-uniform from 1e-5 to 0.01, steps that are learned from together log-uniform
        from 16 to 256, 1 to 15 epochs, batches of 8 to 64 steps, clip uniform from 0.1 to
        0.3, lambda uniform from 0 to 1, both orders of the critic's basis from 0 to 10.

    Notes
    -----
    A batch may be drawn larger than the steps that there are to learn from; Baselines
    would then never learn. Here such a batch has all of these steps.

    Examples
    --------
    >>> print(ppo())
    ppo
      batch:              whole number from 8 to 64
      clip:               uniform from 0.1 to 0.3
      critic_dependent:   whole number from 0 to 10
      critic_independent: whole number from 0 to 10
      epochs:             whole number from 1 to 15
      lambda:             uniform from 0 to 1
      rate:               log-uniform from 1e-05 to 0.01
      steps:              log-uniform whole number from 16 to 256
    """
    usual = {
        "rate": loguniform(1e-5, 1e-2),
        "steps": log_integers(16, 256),
        "epochs": integers(1, 15),
        "batch": integers(8, 64),
        "clip": uniform(0.1, 0.3),
        "lambda": uniform(0, 1),
        **CRITIC,
    }
    run = Run(Proximal, points, direct, _WARM)
    return Algorithm(name, usual if space is None else space, run)


class Proximal:
    """A PPO learner with weights of its own.

    Parameters
    ----------
    params : mapping
        Hyperparameters, by the names that `ppo` prints.
    pendulum : Pendulum
    rng : Generator
        Where the order of steps within a batch comes from.
    direct : bool
    """

    def __init__(
        self,
        params: Mapping[str, Any],
        pendulum: Pendulum,
        rng: np.random.Generator,
        direct: bool,
    ) -> None:
        self._episode = kernels().ppo_episode
        self._world = world(params, pendulum, direct)
        steps = int(params["steps"])
        self._rates = (
            GAMMA,
            float(params["lambda"]),
            float(params["rate"]),
            float(params["clip"]),
            int(params["epochs"]),
            min(int(params["batch"]), steps),
        )
        # Mean of the policy, logarithm of its sd, value.
        self.weights = np.zeros(len(self._world[1]) + 1 + len(self._world[2]))
        self._moments = np.zeros((2, len(self.weights)))
        self._counts = np.zeros(2, dtype=np.int64)
        self._seen = np.zeros((steps + 1, len(self.weights)))
        self._memory = np.zeros((steps, _REMEMBERED))
        self._shuffles = rng.integers(2**64, size=1, dtype=np.uint64)

    def play(
        self, start: float, noise: Floats, *, learn: bool = True, path: Floats = NO_PATH
    ) -> tuple[float, int]:
        """Play an episode, as `Learner` says."""
        total, learned = self._episode(
            self._world,
            float(start),
            noise,
            self.weights,
            self._moments,
            self._counts,
            self._shuffles,
            self._seen,
            self._memory,
            self._rates,
            learn,
            path,
        )
        return total, learned
