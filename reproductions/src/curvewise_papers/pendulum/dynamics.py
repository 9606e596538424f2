"""A pendulum that a weak motor swings up: its equation of motion, and its energy.

The angle is 0 where the pendulum stands upright and pi where it hangs; it is kept from
-pi to pi. This file says what the motion is; `kernels` has the same, compiled.
"""

import math
from dataclasses import dataclass, fields

from curvewise.errors import CurvewiseError


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
