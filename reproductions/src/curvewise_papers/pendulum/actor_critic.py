"""Actor-critic with eligibility traces, linear in a Fourier basis."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from curvewise.engine.experiment import Algorithm
from curvewise.engine.spaces import Space, loguniform, uniform
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

_WARM = {"actor_rate": 0.1, "critic_rate": 0.1, "lambda": 0.5}
_WARM |= dict.fromkeys(CRITIC, 0)


def actor_critic(
    *,
    points: int | None = None,
    direct: bool = False,
    space: Space | None = None,
    name: str = "actor-critic",
) -> Algorithm:
    """Return the actor-critic of Jordan et al. (2018), to be run on `pendulum_task`.

    Actions are normal with sd 1 around a mean that is linear in 38 Fourier features, and
    so is the value in the features of the critic. Both follow the error of temporal
    differences along accumulating traces (Sutton and Barto 1998); the discount is 0.99.
    Weights begin at 0. An episode that is out of time is no end: its last state keeps its
    value.

    A trial whose error passes a million has diverged. It learns no more, plays on with
    the weights that it has, and scores what it gets; the metric ``diverged`` says for
    which share of the steps.

    Parameters
    ----------
    points : int, optional
        How many numbers to keep of a trial: the mean returns of as many stretches of
        episodes, all as long. Each episode's own if left out; 1 for the mean alone.
    direct : bool
        Compute one cosine for each feature. Without it features come from angle
        addition, two products each: several times faster, and equal to rounding.
    space : Space, optional
        Another distribution of hyperparameters. The usual one is the paper's: step sizes
        log-uniform from 1e-4 to 0.1, lambda uniform from 0 to 1, both orders of the
        critic's basis whole numbers from 0 to 10.
    name : str

    Examples
    --------
    >>> print(actor_critic())
    actor-critic
      actor_rate:         log-uniform from 0.0001 to 0.1
      critic_dependent:   whole number from 0 to 10
      critic_independent: whole number from 0 to 10
      critic_rate:        log-uniform from 0.0001 to 0.1
      lambda:             uniform from 0 to 1
    """
    usual = {
        "actor_rate": loguniform(1e-4, 1e-1),
        "critic_rate": loguniform(1e-4, 1e-1),
        "lambda": uniform(0, 1),
        **CRITIC,
    }
    run = Run(ActorCritic, points, direct, _WARM)
    return Algorithm(name, usual if space is None else space, run)


class ActorCritic:
    """An actor-critic with weights of its own.

    Parameters
    ----------
    params : mapping
        Hyperparameters, by the names that `actor_critic` prints.
    pendulum : Pendulum
    rng : Generator
        Not used: all that is random is the noise that `play` gets.
    direct : bool
    """

    def __init__(
        self,
        params: Mapping[str, Any],
        pendulum: Pendulum,
        rng: np.random.Generator,  # noqa: ARG002  every learner gets one
        direct: bool,
    ) -> None:
        self._episode = kernels().actor_critic_episode
        self._world = world(params, pendulum, direct)
        self._rates = (
            GAMMA,
            float(params["lambda"]),
            float(params["actor_rate"]),
            float(params["critic_rate"]),
        )
        self.actor, self.critic = (np.zeros(len(c)) for c in self._world[1:3])

    def play(
        self, start: float, noise: Floats, *, learn: bool = True, path: Floats = NO_PATH
    ) -> tuple[float, int]:
        """Play an episode, as `Learner` says."""
        total, learned = self._episode(
            self._world,
            float(start),
            noise,
            self.actor,
            self.critic,
            self._rates,
            learn,
            path,
        )
        return total, learned
