"""Models of a learning curve by name: power laws and the forms of the catalogue."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from curvewise.errors import unknown
from curvewise.stats._curve.runs import Unit
from curvewise.stats._sample import Floats

Model: TypeAlias = Callable[[Floats, Sequence[Floats]], Any]

# The rows of Figure 2 of Hoiem et al.: three weightings of one law, then three other laws.
_PAPER: Mapping[str, Mapping[str, Any]] = {
    "paper": {"terms": "power", "weights": "per_size"},
    "paper, efficient weights": {"terms": "power", "weights": "efficient"},
    "paper, equal weights": {"terms": "power", "weights": "equal"},
    "paper, linear": {"terms": "linear", "weights": "per_size"},
    "paper, quadratic": {"terms": "quadratic", "weights": "per_size"},
    "paper, full": {"terms": "full", "weights": "per_size"},
}


def known_model(name: str, unit: Unit = "fraction") -> Model:
    """Return the model of a name; refuse an unknown one."""
    known = known_models(unit)
    if name not in known:
        raise unknown("model", name, known)
    return known[name]


def known_models(unit: Unit = "fraction") -> Mapping[str, Model]:
    """Return every model that has a name, by name."""
    from curvewise.stats.forms import FORMS, fit_form
    from curvewise.stats.powerlaw import fit_power_law

    laws: dict[str, Model] = {"power law": partial(fit_power_law, unit=unit)}
    for name, options in _PAPER.items():
        laws[name] = partial(fit_power_law, method="paper", unit=unit, **options)
    forms = {name: partial(fit_form, form=name, unit=unit) for name in FORMS}
    return {**laws, **forms}
