"""Constants of curves whose level and slope drift, learnt on real curves.

Learnt by scripts/learn_drift.py on the 135 curves of two classes (45 data sets) of LCDB
1.0 (Mohr et al., ECML-PKDD 2022): those of DRIFT.drift by the error of metrics
predicted at the last size, from 80 % and 50 % of the sizes; `near` and `far` by how
wide bands must be to hold. scripts/coverage_drift.py prints how good they are on data
sets they were not learnt on. All others were set once by hand.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prior:
    """How the logit of a recall is thought to move with training data.

    Parameters
    ----------
    slowing, slowing_common : float
        How fast the clock slows down, for classes rarer than one half and for the others.
    rise, slope : float
        Mean and standard deviation of the slope, in logits per octave at the start.
    bend : float
        Standard deviation, per root octave, by which the slope drifts.
    wander : float
        Standard deviation, per root octave, by which the level walks.
    """

    slowing: float
    slowing_common: float
    rise: float
    slope: float
    bend: float
    wander: float


@dataclass(frozen=True, slots=True)
class DriftConstants:
    """All that drifting curves assume.

    Parameters
    ----------
    drift, law : Prior
        Of curves that drift; of curves that are almost power laws, with exponent -1/2.
    roughness, roughness_common, roughness_spread : float
        Mean, for classes rarer than one half and for the others, and standard deviation of
        the log of how much of its prior variance a curve shows.
    near, far : float
        Log of how much wider a band is than that says, at the last size, and more for
        every doubling of 1 + octaves ahead.
    together : float
        Correlation of the logits of two classes.
    nugget : float
        Standard deviation of what is neither noise of runs nor drift, at 16 examples.
    level : float
        Standard deviation of the logit at the start.
    """

    drift: Prior
    law: Prior
    roughness: float = -2.2
    roughness_common: float = -1.5
    roughness_spread: float = 1.0
    near: float = -0.714
    far: float = 0.482
    together: float = -0.3
    nugget: float = 0.022
    level: float = 5.0


DRIFT = DriftConstants(
    drift=Prior(
        slowing=0.111,
        slowing_common=0.258,
        rise=0.136,
        slope=0.05,
        bend=0.303,
        wander=0.489,
    ),
    law=Prior(
        slowing=0.5,
        slowing_common=0.5,
        rise=0.2,
        slope=0.3,
        bend=0.0282,
        wander=0.0439,
    ),
)
