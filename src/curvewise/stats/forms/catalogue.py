"""The catalogue of learning-curve forms."""

from types import MappingProxyType

from curvewise.errors import unknown
from curvewise.stats.forms import _shapes as s
from curvewise.stats.forms.form import Form

__all__ = ["form_of"]

_ENTRIES = (
    Form(
        "LAST1",
        ("c",),
        "the last value",
        s.no_axes,
        s.flat,
        s.last,
        solves="last",
    ),
    Form(
        "POW2",
        ("b", "g"),
        "b n^-g",
        s.axes_pow2,
        s.power,
        s.power2,
        solves="amplitude",
    ),
    Form("POW3", ("c", "b", "g"), "c + b n^-g", s.axes_pow3, s.power, s.power3),
    Form(
        "POW4",
        ("c", "b", "d", "g"),
        "c + b (n + d)^-g",
        s.axes_pow4,
        s.shifted,
        s.shifted4,
    ),
    Form(
        "LOG2",
        ("c", "b"),
        "c - b ln n",
        s.no_axes,
        s.logarithm,
        s.logarithm2,
        only_interpolates=True,
    ),
    Form(
        "ILOG2",
        ("c", "b"),
        "c + b/ln n",
        s.no_axes,
        s.inverse_logarithm,
        s.offset_amplitude,
        is_unit_free=False,
    ),
    Form(
        "LIN2",
        ("c", "b"),
        "c - b n",
        s.no_axes,
        s.line,
        s.line2,
        only_interpolates=True,
    ),
    Form(
        "EXP2",
        ("b", "r"),
        "b exp(-r n)",
        s.axes_exp,
        s.exponential,
        s.exponential2,
        solves="amplitude",
    ),
    Form(
        "EXP3",
        ("c", "b", "r"),
        "c + b exp(-r n)",
        s.axes_exp,
        s.exponential,
        s.exponential3,
        aliases=("EXPD3",),
    ),
    Form(
        "EXP4",
        ("c", "b", "r", "d"),
        "c + b exp(-r n^d), b >= 0",
        s.axes_weibull,
        s.weibull,
        s.weibull4,
        may_fall_only=True,
    ),
    Form(
        "WBL4",
        ("c", "b", "r", "d"),
        "c + b exp(-r n^d)",
        s.axes_weibull,
        s.weibull,
        s.weibull4,
        aliases=("WEIBULL4",),
    ),
    Form(
        "LOGPOWER3",
        ("b", "k", "d"),
        "b/(1 + (n/k)^d)",
        s.axes_mmf,
        s.mmf,
        s.mmf3,
        solves="amplitude",
        aliases=("LOGP3",),
    ),
    Form(
        "MMF4",
        ("c", "b", "k", "d"),
        "c + b/(1 + (n/k)^d)",
        s.axes_mmf,
        s.mmf,
        s.mmf4,
    ),
    Form(
        "VAP3",
        ("a", "b", "g"),
        "exp(a + b/n + g ln n)",
        s.axes_vapour,
        s.vapour,
        s.vapour3,
        solves="amplitude",
    ),
    Form(
        "EXPP3",
        ("c", "a", "b"),
        "c - exp((n - b)^a)",
        s.axes_expp,
        s.double_exponential,
        s.double_exponential3,
        solves="offset",
        is_unit_free=False,
        only_interpolates=True,
    ),
    Form(
        "BNSL1",
        ("a", "b", "c0", "c1", "d", "f"),
        "a + b n^-c0 (1 + (n/d)^(1/f))^(-c1 f)",
        s.axes_broken,
        s.broken,
        s.broken6,
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
    found = _NAMES.get(str(form).casefold())
    if found is None:
        raise unknown("form", form, FORMS)
    return found
