"""Simulated lines: what chance does to a curve, of four kinds, unit variance on average."""

from collections.abc import Sequence

import numpy as np

KINDS = ("iid", "walk", "t3", "skew")
_OFFSET = 1.5  # how much more a whole line varies than its points or steps do


def noise(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return noise of shape (..., line, step), variance 1 on average over the steps.

    iid: independent normal points. walk: a normal random walk and a normal offset of the
    line. t3: points and an offset of Student's t with 3 degrees of freedom. skew: a walk
    of centred exponentials and an exponential offset.
    """
    k, line = shape[-1], (*shape[:-1], 1)
    if kind == "iid":
        return rng.standard_normal(shape)
    if kind == "t3":
        points = rng.standard_t(3, shape) + _OFFSET * rng.standard_t(3, line)
        return points / np.sqrt(3 * (1 + _OFFSET**2))
    if kind == "walk":
        steps, offset = rng.standard_normal(shape), rng.standard_normal(line)
    elif kind == "skew":
        steps, offset = rng.exponential(size=shape) - 1, rng.exponential(size=line) - 1
    else:
        raise ValueError(kind)
    walk = steps.cumsum(axis=-1) + _OFFSET * offset
    return walk / np.sqrt((k + 1) / 2 + _OFFSET**2)


def lines(
    kind: str,
    sizes: Sequence[int],
    rng: np.random.Generator,
    *,
    sds: Sequence[float] | float = 1.0,
    shift: float = 0.0,
    ramp: float = 0.0,
    steps: int = 8,
) -> list[np.ndarray]:
    """Return lines of each algorithm, the last with a shift and a ramp from -ramp to ramp.

    Shift and ramp are in units of the noise of an algorithm whose sd is 1; the ramp sums
    to 0, so that it is interaction and nothing else.
    """
    sds = np.broadcast_to(np.asarray(sds, float), len(sizes))
    out = [
        sd * noise(kind, (size, steps), rng)
        for sd, size in zip(sds, sizes, strict=True)
    ]
    out[-1] = out[-1] + shift + ramp * np.linspace(-1, 1, steps)
    return out


# The sd of the noise behind the published table of what shuffling does to F: a walk with
# steps of sd 2 and an offset of sd 3. A shift of 5 there is one of 5 / SD_OF_TABLE here.
SD_OF_TABLE = float(np.sqrt(4 * 4.5 + 9))
