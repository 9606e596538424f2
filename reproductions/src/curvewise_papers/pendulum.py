"""A pendulum to be swung up by a weak motor, and two learners for it, compiled.

What Jordan et al. (2018) ran in their Section 5.2.

The angle is 0 where the pendulum stands upright and pi where it hangs; it is kept from
-pi to pi. This file says what the motion is; `pendulum_kernels` has the same, compiled.

It needs the extra ``rl``: ``pip install './reproductions[rl]'``. Nothing is compiled, nor
numba imported, before a trial runs.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.engine.experiment import Algorithm, Task
from curvewise.engine.spaces import Space, integers, log_integers, loguniform, uniform
from curvewise.errors import CurvewiseError, whole
from curvewise.metrics import Metric, register


@dataclass(frozen=True, slots=True)
class Pendulum:
    """What a pendulum is like; its mass and its length are 1.

    Parameters
    ----------
    gravity : float
    friction : float
        How much of its speed it loses in a second.
    torque : float
        What the motor has, at an action of 1; larger actions count as 1. With the usual
        gravity it takes 9.8 to lift the pendulum without swinging.
    top_speed : float
        Which it never passes.
    dt : float
        Seconds in a step.

    Examples
    --------
    >>> Pendulum(friction=0.0).gravity
    9.8
    """

    gravity: float = 9.8
    friction: float = 0.01
    torque: float = 5.0
    top_speed: float = 4 * math.pi
    dt: float = 0.02

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            needed = field.name in ("dt", "top_speed")
            if not (math.isfinite(value) and value >= 0) or (needed and value == 0):
                least = "above 0" if needed else "from 0 on"
                raise CurvewiseError(
                    f"Pendulum: {field.name} is {value!r}. Pass a finite number {least}."
                )
        if self.dt * self.top_speed > math.pi:
            raise CurvewiseError(
                f"Pendulum: in a step of {self.dt:g} s it could go half around. Pass a "
                f"dt of at most {math.pi / self.top_speed:g}."
            )

    @property
    def numbers(self) -> tuple[float, ...]:
        """All of it, in the order of the fields."""
        return tuple(float(getattr(self, field.name)) for field in fields(self))

    def advance(
        self, angle: float, speed: float, action: float
    ) -> tuple[float, float, float]:
        """Return angle, speed and reward one step later.

        The step is a semi-implicit Euler's: first the speed changes, then the angle with
        the new speed. The reward is the cosine of the new angle: 1 if it stands.

        Examples
        --------
        >>> angle, speed, reward = Pendulum().advance(0.0, 0.0, 0.5)
        >>> round(angle, 6), round(speed, 6), round(reward, 6)
        (0.001, 0.05, 1.0)
        """
        push = self.torque * min(max(action, -1.0), 1.0)
        pull = self.gravity * math.sin(angle) - self.friction * speed
        speed += self.dt * (pull + push)
        speed = min(max(speed, -self.top_speed), self.top_speed)
        angle += self.dt * speed
        if angle > math.pi:
            angle -= 2 * math.pi
        elif angle < -math.pi:
            angle += 2 * math.pi
        return angle, speed, math.cos(angle)

    def energy(self, angle: float, speed: float) -> float:
        """Return its energy, 0 where it hangs still.

        Examples
        --------
        >>> Pendulum().energy(0.0, 0.0)
        19.6
        """
        return 0.5 * speed**2 + self.gravity * (1 + math.cos(angle))


# --- the Fourier basis -------------------------------------------------------------------
#
# A feature is cos(pi c·x), where x is angle and speed, each scaled to 0 to 1, and c are
# two whole numbers. The basis, of Konidaris et al. (2011), has all c with both numbers up
# to the dependent order, and those with one number up to the independent order and the
# other 0; what is in both counts once.


Floats = NDArray[np.float64]
Whole = NDArray[np.uint32]


def count(independent: int, dependent: int) -> int:
    """Return how many features a basis of these orders has.

    Examples
    --------
    >>> count(6, 5)  # 36, and one more for each of the two numbers
    38
    >>> count(3, 5) == count(0, 5) == 36
    True
    """
    return (dependent + 1) ** 2 + 2 * max(0, independent - dependent)


def coefficients(independent: int, dependent: int) -> Whole:
    """Return c of each feature, shape (feature, 2).

    Examples
    --------
    >>> coefficients(2, 1).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [0, 2]]
    """
    whole(independent, "independent order", least=0)
    whole(dependent, "dependent order", least=0)
    both = [(i, j) for i in range(dependent + 1) for j in range(dependent + 1)]
    alone = [c for i in range(dependent + 1, independent + 1) for c in ((i, 0), (0, i))]
    return np.array(both + alone, dtype=np.uint32)


def features(angle: ArrayLike, speed: ArrayLike, c: Whole, top_speed: float) -> Floats:
    """Return the features of a state, or of many, shape (..., feature).

    Examples
    --------
    >>> features(np.pi, 0.0, coefficients(1, 1), 4 * np.pi).round(9) + 0.0
    array([ 1.,  0., -1.,  0.])
    """
    x = (np.asarray(angle, dtype=np.float64) + np.pi) / (2 * np.pi)
    y = (np.asarray(speed, dtype=np.float64) + top_speed) / (2 * top_speed)
    out: Floats = np.cos(np.pi * (x[..., None] * c[:, 0] + y[..., None] * c[:, 1]))
    return out


# --- the task: where its episodes start is the data of a trial ---------------------------


_SEEDS = 2**63

# How much of the time a learner had given up, its numbers out of bounds.
register(Metric("diverged", "lower", (0, 1), "fraction"))


@dataclass(frozen=True, slots=True)
class Episodes:
    """What a trial on the pendulum meets; the same for every algorithm."""

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


# --- what all learners share: episodes in, returns out -----------------------------------


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
        """Play an episode."""


Make = Callable[[Mapping[str, Any], Pendulum, np.random.Generator, bool], Learner]


@dataclass(frozen=True, slots=True)
class Run:
    """What an algorithm runs on the pendulum."""

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
            reward, learned = learner.play(
                start, rng.standard_normal(data.steps), learn=learn
            )
            learn = learned == data.steps
            total, idle = total + reward, idle + data.steps - learned
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
            f"stretches of the same length. Pass a divisor of {data.number}.",
            argument="points",
            value=points,
        )
    return data.number // points


def world(params: Mapping[str, Any], pendulum: Pendulum, direct: bool) -> World:
    """Return what a compiled episode must know of the pendulum and of the bases."""
    critic = coefficients(params["critic_independent"], params["critic_dependent"])
    room = np.empty((4, int(max(ACTOR.max(), critic.max())) + 1))
    return pendulum.numbers, ACTOR, critic, room, direct


def kernels() -> Any:
    """Return what is compiled; raise if numba is not there."""
    from curvewise_papers import pendulum_kernels as compiled

    return compiled


# --- actor-critic, linear in a Fourier basis ---------------------------------------------


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
    """An actor-critic with weights of its own."""

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


# --- proximal policy optimisation, linear in a Fourier basis -----------------------------


_WARM_PPO = {
    "rate": 1e-3,
    "clip": 0.2,
    "lambda": 0.5,
    "epochs": 1,
    "batch": 1,
    "steps": 1,
}
_WARM_PPO |= dict.fromkeys(CRITIC, 0)
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
    run = Run(Proximal, points, direct, _WARM_PPO)
    return Algorithm(name, usual if space is None else space, run)


class Proximal:
    """A PPO learner with weights of its own."""

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
