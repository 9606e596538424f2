"""The pendulum as a task: where its episodes start is the data of a trial."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curvewise._checks import whole
from curvewise.engine.experiment import Task
from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric, register
from curvewise.zoo.pendulum.dynamics import Pendulum

_SEEDS = 2**63

# How much of the time a learner had given up, its numbers out of bounds.
register(Metric("diverged", "lower", (0, 1), "fraction"))


@dataclass(frozen=True, slots=True)
class Episodes:
    """What a trial on the pendulum meets; the same for every algorithm.

    Parameters
    ----------
    pendulum : Pendulum
    number, steps : int
        How many episodes, and how long each is.
    seed : int
        Where the angles that they start from come from.
    """

    pendulum: Pendulum
    number: int
    steps: int
    seed: int

    def starts(self) -> NDArray[np.float64]:
        """Return the angle that each episode starts from, uniform from -pi to pi.

        Examples
        --------
        >>> Episodes(Pendulum(), 2, 100, seed=1).starts().round(3).tolist()
        [0.074, 2.83]
        """
        return np.random.default_rng(self.seed).uniform(-math.pi, math.pi, self.number)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Draws the seed of the starts."""

    pendulum: Pendulum
    number: int
    steps: int

    def __call__(self, rng: np.random.Generator) -> Episodes:
        seed = int(rng.integers(_SEEDS))
        return Episodes(self.pendulum, self.number, self.steps, seed)


def pendulum_task(
    episodes: int = 250,
    *,
    steps: int = 2000,
    pendulum: Pendulum | None = None,
    name: str = "pendulum",
) -> Task:
    """Return the pendulum that is to be swung up and kept upright.

    Jordan et al. (2018) took the task from Doya (2000), and say neither how long a trial
    is nor what is rewarded: the settings here give about their numbers.

    Parameters
    ----------
    episodes : int
        In a trial; the learner keeps what it has learned from one to the next.
    steps : int
        In an episode; then its time is up, wherever the pendulum is.
    pendulum : Pendulum, optional
        What it is like.
    name : str

    Examples
    --------
    >>> pendulum_task(episodes=10).name
    'pendulum'
    """
    whole(episodes, "episodes")
    whole(steps, "steps")
    if not isinstance(pendulum, Pendulum | None):
        raise CurvewiseError(
            f"pendulum is {type(pendulum).__name__}. Pass a Pendulum, or nothing."
        )
    return Task(name, _Drawn(pendulum or Pendulum(), episodes, steps))


def return_metric(steps: int = 2000) -> Metric:
    """Return what a return means where an episode has that many steps.

    A reward is a cosine, so that the return is between -steps and steps; intervals for
    means hold for certain if an experiment says so in its ``metrics``.

    Examples
    --------
    >>> print(return_metric(500))
    return (higher is better, -500 to 500)
    """
    return Metric("return", "higher", (-float(steps), float(steps)))
