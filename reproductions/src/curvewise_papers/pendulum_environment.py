"""The pendulum as an environment of gymnasium, for agents from elsewhere."""

import math
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise_papers.pendulum import Pendulum

try:
    import gymnasium
except ImportError as problem:
    raise CurvewiseError(
        "The pendulum's environment is one of gymnasium, which is not installed. Run: "
        "pip install './reproductions[rl]'."
    ) from problem


class PendulumEnv(gymnasium.Env[Any, Any]):
    """The pendulum of `pendulum_task`, step by step.

    An observation is angle and speed, an action one number; actions beyond -1 and 1
    count as these. Nothing ends an episode but time: it is truncated after `steps`.

    Parameters
    ----------
    pendulum : Pendulum, optional
    steps : int
        In an episode.

    Examples
    --------
    >>> env = PendulumEnv(steps=2)
    >>> observation, _ = env.reset(options={"angle": 0.0})
    >>> observation, reward, terminated, truncated, _ = env.step([0.5])
    >>> observation.round(6).tolist(), terminated, truncated
    ([0.001, 0.05], False, False)
    """

    def __init__(self, pendulum: Pendulum | None = None, steps: int = 2000) -> None:
        self.pendulum, self.steps = pendulum or Pendulum(), steps
        ends = np.array([math.pi, self.pendulum.top_speed])
        self.observation_space = gymnasium.spaces.Box(-ends, ends, dtype=np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), dtype=np.float64)
        self._angle, self._speed, self._taken = math.pi, 0.0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode at rest."""
        super().reset(seed=seed)
        angle = self.np_random.uniform(-math.pi, math.pi)
        self._angle = float((options or {}).get("angle", angle))
        self._speed, self._taken = 0.0, 0
        return self._observed(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action; return what is then, and the reward."""
        self._angle, self._speed, reward = self.pendulum.advance(
            self._angle, self._speed, float(np.ravel(action)[0])
        )
        self._taken += 1
        return self._observed(), reward, False, self._taken >= self.steps, {}

    def _observed(self) -> Any:
        return np.array([self._angle, self._speed])
