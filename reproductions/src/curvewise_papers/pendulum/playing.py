"""What all learners on the pendulum share: episodes in, returns out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from curvewise._checks import whole
from curvewise.engine.spaces import integers
from curvewise.errors import CurvewiseError
from curvewise.zoo.pendulum.dynamics import Pendulum
from curvewise.zoo.pendulum.fourier import Whole, coefficients
from curvewise.zoo.pendulum.task import Episodes

Floats = NDArray[np.float64]
World = tuple[tuple[float, ...], Whole, Whole, Floats, bool]

GAMMA = 0.99
ACTOR = coefficients(6, 5)  # the basis of the policy
CRITIC = {  # what the orders of the critic's basis are drawn from
    "critic_independent": integers(0, 10),
    "critic_dependent": integers(0, 10),
}
NO_PATH = np.empty((0, 3))


class Learner(Protocol):
    """Something that learns while it plays."""

    def play(
        self, start: float, noise: Floats, *, learn: bool = True, path: Floats = NO_PATH
    ) -> tuple[float, int]:
        """Play an episode.

        Parameters
        ----------
        start : float
            The angle that it begins with, at rest.
        noise : ndarray, shape (step,)
            Standard normal: what is random about each action.
        learn : bool
        path : ndarray, shape (step, 3)
            Is filled with angle, speed and reward of its first steps.

        Returns
        -------
        (float, int)
            The return, and in how many steps it learned: fewer than all if it diverged.
        """


Make = Callable[[Mapping[str, Any], Pendulum, np.random.Generator, bool], Learner]


@dataclass(frozen=True, slots=True)
class Run:
    """What an algorithm runs on the pendulum.

    Parameters
    ----------
    make : callable
        Returns a learner.
    points : int or None
        How many stretches of episodes there is a mean return of.
    direct : bool
        Whether each feature has a cosine of its own.
    warm : mapping
        Hyperparameters of the smallest kind, to compile with.
    """

    make: Make
    points: int | None
    direct: bool
    warm: Mapping[str, Any]

    def warm_up(self) -> None:
        """Load what is compiled, or compile it, before a trial's clock runs."""
        rng = np.random.default_rng(0)
        self.make(self.warm, Pendulum(), rng, self.direct).play(0.0, np.zeros(1))

    def __call__(
        self, params: Mapping[str, Any], data: Episodes, rng: np.random.Generator
    ) -> Iterator[tuple[int, dict[str, float]]]:
        """Yield the mean return of each stretch, and which share had diverged."""
        size = _stretch(data, self.points)
        learner = self.make(params, data.pendulum, rng, self.direct)
        learn, total, idle = True, 0.0, 0
        for episode, start in enumerate(data.starts(), start=1):
            own, learned = learner.play(
                start, rng.standard_normal(data.steps), learn=learn
            )
            learn = learned == data.steps
            total, idle = total + own, idle + data.steps - learned
            if episode % size == 0:
                share = idle / (size * data.steps)
                yield episode, {"return": total / size, "diverged": share}
                total, idle = 0.0, 0


def _stretch(data: Episodes, points: int | None) -> int:
    """Return how many episodes are in a stretch."""
    if not isinstance(data, Episodes):
        raise CurvewiseError(
            f"A learner on the pendulum got {type(data).__name__}. Let it run on a "
            f"pendulum_task()."
        )
    points = data.number if points is None else whole(points, "points")
    if data.number % points:
        raise CurvewiseError(
            f"points is {points}, and {data.number} episodes cannot be cut into as many "
            f"stretches of the same length. Pass a divisor of {data.number}."
        )
    return data.number // points


def world(params: Mapping[str, Any], pendulum: Pendulum, direct: bool) -> World:
    """Return what a compiled episode must know of the pendulum and of the bases."""
    critic = coefficients(params["critic_independent"], params["critic_dependent"])
    room = np.empty((4, int(max(ACTOR.max(), critic.max())) + 1))
    return pendulum.numbers, ACTOR, critic, room, direct


def kernels() -> Any:
    """Return what is compiled; raise if numba is not there."""
    from curvewise.zoo.pendulum import kernels as compiled

    return compiled
