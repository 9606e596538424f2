"""A pendulum to be swung up, and two learners for it, compiled.

What Jordan et al. (2018) ran in their Section 5.2. It needs the extra ``rl``: ``pip
install 'curvewise[rl]'``. Nothing is compiled, nor numba imported, before a trial runs.
"""

from curvewise.zoo.pendulum.actor_critic import actor_critic
from curvewise.zoo.pendulum.dynamics import Pendulum
from curvewise.zoo.pendulum.ppo import ppo
from curvewise.zoo.pendulum.task import Episodes, pendulum_task, return_metric

__all__ = [
    "Episodes",
    "Pendulum",
    "actor_critic",
    "pendulum_task",
    "ppo",
    "return_metric",
]
