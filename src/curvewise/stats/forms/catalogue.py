"""The catalogue of learning-curve forms: what a form is, and the shape of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from curvewise.errors import unknown
from curvewise.stats.validation import Floats

__all__ = [
    "Design",
    "Form",
    "form_of",
]


Solves: TypeAlias = Literal["both", "amplitude", "offset", "last"]


@dataclass(frozen=True, slots=True)
class Design:
    """Where a curve was observed.

    Parameters
    ----------
    low : float
        The smallest size divided by the largest.
    top : float
        The largest size. Grids and shapes may use it only where the formula itself
        depends on the unit of size.
    may_rise : bool
        Whether the error may increase with size.
    """

    low: float
    top: float
    may_rise: bool = False


# (design) -> the values of each shape parameter that are tried, in its own coordinate
Axes: TypeAlias = Callable[[Design], tuple[Floats, ...]]
# (relative sizes, shape parameters, design) -> phi, by broadcasting
Basis: TypeAlias = Callable[[Floats, Sequence[Floats], Design], Floats]
# (c, b, shape parameters, design) -> the parameters of the formula
Natural: TypeAlias = Callable[
    [Floats, Floats, Sequence[Floats], Design], tuple[Floats, ...]
]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A form of a learning curve, e = c + b phi(n), linear in c and b.

    Parameters
    ----------
    name : str
        As in the literature: letters, then the number of parameters.
    parameters : tuple of str
        As they are called in the formula.
    formula : str
        The error at size n.
    axes, basis, natural : callable
        The grid of shape parameters, phi, and the way back to the formula. All see sizes
        divided by the largest one, so that the unit of size does not matter.
    solves : {"both", "amplitude", "offset", "last"}
        What is linear: c and b; b alone (c is 0); c alone (b is -1); or nothing, since
        the last value is repeated.
    aliases : tuple of str
        Other names.
    is_unit_free : bool
        Whether thousands of examples give the same curve as examples.
    only_interpolates : bool
        Whether the formula leaves 0 to 1 for large n, so that it says nothing there.
    may_fall_only : bool
        Whether b stays at least 0 even where errors may rise.
    """

    name: str
    parameters: tuple[str, ...]
    formula: str
    axes: Axes
    basis: Basis
    natural: Natural
    solves: Solves = "both"
    aliases: tuple[str, ...] = ()
    is_unit_free: bool = True
    only_interpolates: bool = False
    may_fall_only: bool = False

    def __repr__(self) -> str:
        return f"Form({self.name}: {self.formula})"

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self.parameters)

    def shapes(self, relative: Floats, design: Design) -> tuple[Floats, Floats]:
        """Return the grid and its basis.

        Parameters
        ----------
        relative : ndarray, shape (size,)
            Sizes divided by the largest one.
        design : forms.Design

        Returns
        -------
        ndarray, shape (shape parameter, shape)
        ndarray, shape (shape, size)
        """
        mesh = np.meshgrid(*self.axes(design), indexing="ij")
        # Nothing to search is one shape, too.
        grid = np.stack([m.ravel() for m in mesh]) if mesh else np.zeros((0, 1))
        columns = [g[:, None] for g in grid]
        basis = self.basis(relative[None, :], columns, design)
        return grid, np.broadcast_to(basis, (grid.shape[1], len(relative)))


# --------------------------------------------------------------------------------------
# The shapes of the catalogue: phi(t) of t = n/n_max, their grids, the way back to n.
#
# Every grid is made of what the relative sizes reach, from ``low`` = n_min/n_max to 1.


def no_axes(design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return nothing: there is no shape to search."""
    return ()


Shape = Sequence[Floats]


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


def power(t: Floats, shape: Shape, design: Design) -> Floats:  # noqa: ARG001
    """Return t^-g."""
    return np.asarray(np.exp(-_times(shape[0], np.log(t))))


def power2(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return b, g."""
    return b * design.top ** shape[0], shape[0]


def axes_pow3(design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return exponents; closer where they are small and the cost bends sharply."""
    return (np.geomspace(0.02, 2.0, 67),)


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
    return np.asarray(np.exp(-np.exp(shape[1]) * np.log(np.maximum(t + d, _TINY))))


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
    return np.asarray(1 / np.maximum(np.log(t * design.top), _TINY))


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


def exponential(t: Floats, shape: Shape, design: Design) -> Floats:
    """Return exp(-r t)."""
    return np.asarray(np.exp(-_rate(shape[0], np.ones(()), design) * t))


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


def axes_weibull(design: Design) -> tuple[Floats, ...]:  # noqa: ARG001
    """Return rates and powers."""
    return np.linspace(0, 1, 31), np.log(np.geomspace(0.1, 2, 16))


def weibull(t: Floats, shape: Shape, design: Design) -> Floats:
    """Return exp(-r t^d)."""
    d = np.exp(shape[1])
    return np.asarray(np.exp(-_rate(shape[0], d, design) * t**d))


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
    value: Floats = 1 / (1 + np.exp(np.minimum(rise, 700)))
    return np.where(np.isinf(rise), np.where(rise > 0, 0.0, 1.0), value)


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
    value: Floats = np.exp(np.minimum(log_phi, 700))
    return value


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
    return np.asarray(np.exp(np.minimum(log_phi, 700)))


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
    return np.asarray(np.exp(-np.where(u > 0, after, before) - rest))


def broken6(c: Floats, b: Floats, shape: Shape, design: Design) -> tuple[Floats, ...]:
    """Return a, b, c0, c1, d, f."""
    first, then, log_d, log_f = shape
    where = design.top * np.exp(log_d)
    return c, b * design.top**first, first, then - first, where, np.exp(log_f)


def _times(slope: Floats, log_t: Floats) -> Floats:
    """Return slope times ln t, where 0 times infinity is 0."""
    with np.errstate(invalid="ignore"):
        product = slope * log_t
    if not np.isfinite(log_t).all():
        product = np.where(slope == 0, 0.0, product)
    return np.asarray(product)


_TINY = 1e-300


def _rate(s: Floats, d: Floats, design: Design) -> Floats:
    return np.asarray(0.05 * (160 * design.low**-d) ** s)


# --- The catalogue of learning-curve forms ---------------------------------------------


_ENTRIES = (
    Form(
        name="LAST1",
        parameters=("c",),
        formula="the last value",
        axes=no_axes,
        basis=flat,
        natural=last,
        solves="last",
    ),
    Form(
        name="POW2",
        parameters=("b", "g"),
        formula="b n^-g",
        axes=axes_pow2,
        basis=power,
        natural=power2,
        solves="amplitude",
    ),
    Form(
        name="POW3",
        parameters=("c", "b", "g"),
        formula="c + b n^-g",
        axes=axes_pow3,
        basis=power,
        natural=power3,
    ),
    Form(
        name="POW4",
        parameters=("c", "b", "d", "g"),
        formula="c + b (n + d)^-g",
        axes=axes_pow4,
        basis=shifted,
        natural=shifted4,
    ),
    Form(
        name="LOG2",
        parameters=("c", "b"),
        formula="c - b ln n",
        axes=no_axes,
        basis=logarithm,
        natural=logarithm2,
        only_interpolates=True,
    ),
    Form(
        name="ILOG2",
        parameters=("c", "b"),
        formula="c + b/ln n",
        axes=no_axes,
        basis=inverse_logarithm,
        natural=offset_amplitude,
        is_unit_free=False,
    ),
    Form(
        name="LIN2",
        parameters=("c", "b"),
        formula="c - b n",
        axes=no_axes,
        basis=line,
        natural=line2,
        only_interpolates=True,
    ),
    Form(
        name="EXP2",
        parameters=("b", "r"),
        formula="b exp(-r n)",
        axes=axes_exp,
        basis=exponential,
        natural=exponential2,
        solves="amplitude",
    ),
    Form(
        name="EXP3",
        parameters=("c", "b", "r"),
        formula="c + b exp(-r n)",
        axes=axes_exp,
        basis=exponential,
        natural=exponential3,
        aliases=("EXPD3",),
    ),
    Form(
        name="EXP4",
        parameters=("c", "b", "r", "d"),
        formula="c + b exp(-r n^d), b >= 0",
        axes=axes_weibull,
        basis=weibull,
        natural=weibull4,
        may_fall_only=True,
    ),
    Form(
        name="WBL4",
        parameters=("c", "b", "r", "d"),
        formula="c + b exp(-r n^d)",
        axes=axes_weibull,
        basis=weibull,
        natural=weibull4,
        aliases=("WEIBULL4",),
    ),
    Form(
        name="LOGPOWER3",
        parameters=("b", "k", "d"),
        formula="b/(1 + (n/k)^d)",
        axes=axes_mmf,
        basis=mmf,
        natural=mmf3,
        solves="amplitude",
        aliases=("LOGP3",),
    ),
    Form(
        name="MMF4",
        parameters=("c", "b", "k", "d"),
        formula="c + b/(1 + (n/k)^d)",
        axes=axes_mmf,
        basis=mmf,
        natural=mmf4,
    ),
    Form(
        name="VAP3",
        parameters=("a", "b", "g"),
        formula="exp(a + b/n + g ln n)",
        axes=axes_vapour,
        basis=vapour,
        natural=vapour3,
        solves="amplitude",
    ),
    Form(
        name="EXPP3",
        parameters=("c", "a", "b"),
        formula="c - exp((n - b)^a)",
        axes=axes_expp,
        basis=double_exponential,
        natural=double_exponential3,
        solves="offset",
        is_unit_free=False,
        only_interpolates=True,
    ),
    Form(
        name="BNSL1",
        parameters=("a", "b", "c0", "c1", "d", "f"),
        formula="a + b n^-c0 (1 + (n/d)^(1/f))^(-c1 f)",
        axes=axes_broken,
        basis=broken,
        natural=broken6,
    ),
)

FORMS: MappingProxyType[str, Form] = MappingProxyType({f.name: f for f in _ENTRIES})
"""Every form by its name; `form_of` finds other spellings, too."""

_NAMES = {n.casefold(): f for f in _ENTRIES for n in (f.name, *f.aliases)}


def form_of(form: str | Form) -> Form:
    """Return a form of the catalogue by its name, in upper or lower case.

    Forms are those that fits to learning curves are compared by [1]_, with the error
    falling to an asymptote of at least 0; MMF4, WBL4 and LAST1 are of [2]_.

    Parameters
    ----------
    form : str or Form

    Notes
    -----
    EXP4 and WBL4 are one formula; EXP4 keeps b at least 0 even where the error may rise.
    LOGPOWER3 is MMF4 without an asymptote. ILOG2 and EXPP3 depend on the unit of size, and
    EXPP3 leaves 0 to 1 soon after the last size: they are here to be compared with. EXPP3
    is fitted to fractions, also where errors are in percent.

    References
    ----------
    .. [1] T. Viering, M. Loog. "The shape of learning curves: a review." IEEE TPAMI 45,
       2023.
    .. [2] F. Mohr, T. Viering, M. Loog, J. van Rijn. "LCDB 1.0: an extensive learning
       curves database for classification tasks." ECML-PKDD 2022.

    Examples
    --------
    >>> form_of("expd3")
    Form(EXP3: c + b exp(-r n))
    """
    if isinstance(form, Form):
        return form
    entry = _NAMES.get(str(form).casefold())
    if entry is None:
        raise unknown("form", form, FORMS)
    return entry
