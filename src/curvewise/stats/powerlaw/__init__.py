"""How error falls with data: power laws, with bands that hold."""

from curvewise.stats.powerlaw.batch import fit_power_laws
from curvewise.stats.powerlaw.bootstrap import bootstrap_band
from curvewise.stats.powerlaw.curve import PowerLaw
from curvewise.stats.powerlaw.curves import PowerLaws
from curvewise.stats.powerlaw.draws import PowerLawDraws
from curvewise.stats.powerlaw.fit import fit_power_law
from curvewise.stats.powerlaw.light import light_fit

__all__ = [
    "PowerLaw",
    "PowerLawDraws",
    "PowerLaws",
    "bootstrap_band",
    "fit_power_law",
    "fit_power_laws",
    "light_fit",
]
