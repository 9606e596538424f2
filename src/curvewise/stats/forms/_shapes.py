"""The shapes of the catalogue: phi(t) of t = n/n_max, their grids, the way back to n.

Every grid is made of what the relative sizes reach, from ``low`` = n_min/n_max to 1.
"""

from collections.abc import Sequence

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.forms.form import Design

Shape = Sequence[Floats]
_TINY = 1e-300


def no_axes(design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return nothing: there is no shape to search."""
    return ()


def flat(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return phi of LAST1, whose amplitude is 0."""
    return np.zeros_like(t)


def last(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return the last value."""
    return (c,)


# Power laws: t^-g


def axes_pow2(design: Design) -> tuple[Floats, ...]:
    """Return exponents; below 0 where the error may rise, as b alone cannot say so."""
    return (np.linspace(-1.0 if design.may_rise else 0.0, 2.0, 61),)


def axes_pow3(design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return exponents; closer where they are small and the cost bends sharply."""
    return (np.geomspace(0.02, 2.0, 67),)


def power(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return t^-g."""
    found: Floats = np.exp(-_times(shape[0], np.log(t)))
    return found


def power2(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return b, g."""
    return b * design.top ** shape[0], shape[0]


def power3(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:
    """Return c, b, g."""
    return c, b * design.top ** shape[0], shape[0]


# POW4: (t + d)^-g. Coordinates: ln(d + low), so that d > -low, and ln g.


def axes_pow4(design: Design) -> tuple[Floats, ...]:
    """Return offsets from -.9 n_min to 16 n_max, 0 among them, and exponents."""
    offsets = np.concatenate([[-0.9, -0.6, 0], design.low * 4.0 ** np.arange(1, 20)])
    offsets[:2] *= design.low
    offsets = np.append(offsets[offsets < 16], 16.0)
    return np.log(offsets + design.low), np.log(np.geomspace(0.02, 2, 24))


def shifted(t: Floats, shape: Shape, design: Design) -> Floats:
    """Return (t + d)^-g."""
    d = np.exp(shape[0]) - design.low
    found: Floats = np.exp(-np.exp(shape[1]) * np.log(np.maximum(t + d, _TINY)))
    return found


def shifted4(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:
    """Return c, b, d, g."""
    g = np.exp(shape[1])
    return c, b * design.top**g, design.top * (np.exp(shape[0]) - design.low), g


# Logarithms and lines: e(n_max) is what the bound c >= 0 is about


def logarithm(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return -ln t, 0 at the largest size."""
    return -np.log(t)


def logarithm2(
    c: Floats,
    b: Floats,
    shape: Shape,  # noqa: ARG001
    design: Design,
) -> tuple[Floats, ...]:
    """Return c, b."""
    return c + b * np.log(design.top), b


def inverse_logarithm(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return 1/ln n, which no change of unit leaves as it is; infinite up to n = 1."""
    found: Floats = 1 / np.maximum(np.log(t * design.top), _TINY)
    return found


def offset_amplitude(
    c: Floats,
    b: Floats,
    shape: Shape,  # noqa: ARG001
    design: Design,  # noqa: ARG001
) -> tuple[Floats, ...]:
    """Return c, b as they are."""
    return c, b


def line(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return 1 - t, 0 at the largest size."""
    return 1 - t


def line2(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return c, b."""
    return c + b, b / design.top


# Exponentials: exp(-r t^d). Coordinate s from 0 to 1: r from .05 (nearly t^d itself) to
# 8 low^-d (gone before the second size), evenly in ln r.


def axes_exp(design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return rates."""
    return (np.linspace(0, 1, 61),)


def axes_weibull(design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return rates and powers."""
    return np.linspace(0, 1, 31), np.log(np.geomspace(0.1, 2, 16))


def _rate(s: Floats, d: Floats, design: Design) -> Floats:
    found: Floats = 0.05 * (160 * design.low**-d) ** s
    return found


def exponential(t: Floats, shape: Shape, design: Design) -> Floats:
    """Return exp(-r t)."""
    found: Floats = np.exp(-_rate(shape[0], np.ones(()), design) * t)
    return found


def exponential2(
    c: Floats,  # noqa: ARG001
    b: Floats,
    shape: Shape,
    design: Design,
) -> tuple[Floats, ...]:
    """Return b, r."""
    return b, _rate(shape[0], np.ones(()), design) / design.top


def exponential3(
    c: Floats, b: Floats, shape: Shape, design: Design
) -> tuple[Floats, ...]:
    """Return c, b, r."""
    return c, b, _rate(shape[0], np.ones(()), design) / design.top


def weibull(t: Floats, shape: Shape, design: Design) -> Floats:
    """Return exp(-r t^d)."""
    d = np.exp(shape[1])
    found: Floats = np.exp(-_rate(shape[0], d, design) * t**d)
    return found


def weibull4(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:
    """Return c, b, r, d."""
    d = np.exp(shape[1])
    return c, b, _rate(shape[0], d, design) / design.top**d, d


# Morgan-Mercer-Flodin: 1/(1 + (t/k)^d). Coordinates: ln k, ln d.


def axes_mmf(design: Design) -> tuple[Floats, ...]:
    """Return half-way sizes from a tenth of n_min to ten times n_max, and powers."""
    log_k = np.linspace(np.log(design.low / 10), np.log(10), 25)
    return log_k, np.log(np.geomspace(0.2, 4, 16))


def mmf(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return 1/(1 + (t/k)^d)."""
    rise = np.exp(shape[1]) * (np.log(t) - shape[0])
    found: Floats = 1 / (1 + np.exp(np.minimum(rise, 700)))
    return np.where(np.isinf(rise), np.where(rise > 0, 0.0, 1.0), found)


def mmf3(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return b, k, d."""
    return b, design.top * np.exp(shape[0]), np.exp(shape[1])


def mmf4(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:
    """Return c, b, k, d."""
    return c, *mmf3(c, b, shape, design)


# Vapour pressure: exp(a + b/n + g ln n). Coordinates g and q, with b = low (g + q): the
# error falls at every size from the smallest on where g <= 0 and q >= 0.


def axes_vapour(design: Design) -> tuple[Floats, ...]:
    """Return powers and what the smallest sizes add."""
    q = np.concatenate([[0], np.geomspace(0.05, 8, 16)])
    if not design.may_rise:
        return np.linspace(-2, 0, 31), q
    return np.linspace(-2, 1, 46), np.concatenate([-q[:0:-1], q])


def vapour(t: Floats, shape: Shape, design: Design) -> Floats:
    """Return exp(b/t + g ln t), 1 at the largest size."""
    g, q = shape
    log_phi = design.low * (g + q) * (1 / t - 1) + _times(g, np.log(t))
    found: Floats = np.exp(np.minimum(log_phi, 700))
    return found


def vapour3(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return a, b, g."""
    g, q = shape
    beta = design.low * (g + q)
    log_b = np.log(np.maximum(b, _TINY))
    return log_b - beta - g * np.log(design.top), beta * design.top, g


# c - exp((n - b)^a): the amplitude is -1. Coordinates: a ln(n_max) and ln(low - b).


def axes_expp(design: Design) -> tuple[Floats, ...]:
    """Return powers up to n_max^a = e^2, and offsets below the smallest size."""
    reach = np.linspace(0.0, 2.0, 41)
    if design.may_rise:
        reach = np.concatenate([-reach[:0:-1], reach])
    return reach, np.log(design.low * np.geomspace(0.05, 20 / design.low, 16))


def double_exponential(t: Floats, shape: Shape, design: Design) -> Floats:
    """Return exp((n - b)^a)."""
    a = shape[0] / max(np.log(design.top), 1.0)
    apart = np.maximum(t - design.low + np.exp(shape[1]), _TINY) * design.top
    log_phi = np.exp(np.minimum(_times(a, np.log(apart)), 6.5))
    found: Floats = np.exp(np.minimum(log_phi, 700))
    return found


def double_exponential3(
    c: Floats,
    b: Floats,  # noqa: ARG001
    shape: Shape,
    design: Design,
) -> tuple[Floats, ...]:
    """Return c, a, b."""
    a = shape[0] / max(np.log(design.top), 1.0)
    return c, a, design.top * (design.low - np.exp(shape[1]))


# A power law that breaks once: slopes c0, then s = c0 + c1, at d, with sharpness f.
# Coordinates: c0, s, ln d, ln f. Neither slope is below 0, so that the error falls.


def axes_broken(design: Design) -> tuple[Floats, ...]:
    """Return slopes before and after the break, where it is, and how sharp."""
    slopes = np.array([0.0, 0.1, 0.25, 0.5, 0.8, 1.2, 2.0])
    middle = np.log(design.low) * np.array([1.0, 0.8, 0.6, 0.4, 0.2, 0.0])
    return slopes, slopes, np.sort(middle), np.log(np.array([0.1, 0.3, 1.0]))


def broken(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return t^-c0 (1 + (t/d)^(1/f))^(-c1 f)."""
    first, then, log_d, f = shape[0], shape[1], shape[2], np.exp(shape[3])
    log_t = np.log(t)
    # f ln(1 + (t/d)^(1/f)) = max(u, 0) + f ln(1 + exp(-|u|/f)), u = ln(t/d): the rest is
    # bounded, and the slopes multiply ln t once each.
    u = log_t - log_d
    rest = (then - first) * f * np.log1p(np.exp(-np.abs(u) / f))
    before = _times(first, log_t)
    after = _times(then, log_t) + (first - then) * log_d
    found: Floats = np.exp(-np.where(u > 0, after, before) - rest)
    return found


def broken6(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:
    """Return a, b, c0, c1, d, f."""
    first, then, log_d, log_f = shape
    where = design.top * np.exp(log_d)
    return c, b * design.top**first, first, then - first, where, np.exp(log_f)


def _times(slope: Floats, log_t: Floats) -> Floats:
    """Return slope times ln t, where 0 times infinity is 0."""
    with np.errstate(invalid="ignore"):
        found = slope * log_t
    if not np.isfinite(log_t).all():
        found = np.where(slope == 0, 0.0, found)
    return np.asarray(found)
