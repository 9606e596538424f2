"""How error falls with data: power laws, with bands that hold."""

from curvewise.stats.powerlaw.curve import PowerLaw, PowerLawDraws
from curvewise.stats.powerlaw.fit import (
    bootstrap_band,
    fit_power_law,
    fit_power_laws,
    light_fit,
)

__all__ = [
    "PowerLaw",
    "PowerLawDraws",
    "bootstrap_band",
    "fit_power_law",
    "fit_power_laws",
    "light_fit",
]
