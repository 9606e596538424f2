"""What intervals of a power law are for, and what they promise."""

from typing import TYPE_CHECKING

from curvewise.stats._words import percent

if TYPE_CHECKING:
    from curvewise.stats.powerlaw.curve import PowerLaw

PARAMETERS = {
    "e_N": "the mean error at {N:g} training examples",
    "beta_N": "the data-reliance at {N:g} training examples",
    "gamma": "the exponent",
    "alpha": "the error with infinitely much data, as the formula has it",
}
_CURVE = "the mean error over all runs"
_GIVEN = "for independent runs around a power law"


def pointwise(law: "PowerLaw", confidence: float) -> tuple[str, str]:
    """Return estimand and guarantee of intervals at sizes."""
    return _CURVE, f"{_level(law, confidence)}, at each size by itself{_clipped(law)}"


def simultaneous(law: "PowerLaw", confidence: float) -> tuple[str, str]:
    """Return estimand and guarantee of a band."""
    if law.method == "paper":
        how = f"{_level(law, confidence)}, at all sizes at once"
    else:
        how = (
            f"at least about {percent(confidence)}, at all sizes at once, {_GIVEN} "
            f"(likelihood region)"
        )
    return _CURVE, how + _clipped(law)


def parameter(law: "PowerLaw", name: str, confidence: float) -> str:
    """Return the guarantee of the interval of one parameter."""
    if name == "gamma" and (
        law.method == "paper" or law.terms in ("linear", "quadratic")
    ):
        return "none: the exponent is taken for known"
    return _level(law, confidence)


def _level(law: "PowerLaw", confidence: float) -> str:
    if law.method == "paper":
        return (
            f"{percent(confidence)} in name, {_GIVEN} whose exponent is known; it covers "
            f"less, as the exponent is not (Hoiem et al. 2021)"
        )
    return f"about {percent(confidence)}, {_GIVEN} (mixture of t over exponents)"


def _clipped(law: "PowerLaw") -> str:
    most = {"fraction": " and at 1", "percent": " and at 100", "loss": ""}[law.unit]
    return f"; cut off at 0{most}"
