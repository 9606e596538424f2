"""What may be wrong with a curve, in sentences: its power law, its forecast, its shape."""

from collections.abc import Mapping

from curvewise.questions.learning.fit import CurveFit
from curvewise.stats.powerlaw import PowerLaw
from curvewise.text import step


def concerns_of(fit: CurveFit) -> list[str]:
    """Return what may be wrong with a curve, the most serious first."""
    law, largest = fit.law, fit.largest
    beyond = (
        f"{step(law.size)} examples are more than the {step(largest)} that it had: error, "
        f"data-reliance and their intervals hold there only if the curve goes on as a "
        f"power law, which few do. Ask for a forecast instead."
    )
    return [
        *([beyond] if law.size > largest else []),
        *(_of_law(law)[concern] for concern in law.concerns),
        *fit.forecast.concerns,
    ]


def _of_law(law: PowerLaw) -> Mapping[str, str]:
    equal = "All mean errors are equal: there is no curve to see, and no exponent."
    return {
        "equal_means": equal,
        "equal_errors": f"{equal} Nor do runs differ: that intervals have no width makes "
        f"nothing sure.",
        "no_repeats": "No size has two runs: noise is judged by how badly the power law "
        "fits, and how it falls with size is assumed. Intervals are wider for it.",
        "three_errors": "Three sizes with one run each fit any exponent: intervals rest on "
        "what is usual, and are a guess.",
        "no_repeats_floor_passed": "No size has two runs, so nothing says how noisy a run "
        "is but the noise floor that was passed: intervals are as good as that is.",
        "no_repeats_floor_assumed": "No size has two runs, so nothing says how noisy a run "
        "is: the noise floor is all that is assumed, and the band is far too narrow.",
        "floor_assumed": "The noise floor, 0.02 squared percentage points, is the paper's "
        "and not estimated from these runs.",
        "exponent_at_edge": f"The exponent is at the edge of those that are tried, "
        f"{law.gamma:g}: the errors want a curve that is no power law.",
        "exponent_far": f"The exponent is {law.gamma:.2f}, far from the usual -0.5: look "
        f"at how the learner was tuned at the small and the large sizes.",
        "rising": "The error does not fall with size: a power law says little of it.",
        "asymptote_below_0": "The asymptote of the fit is below 0, where no error can be: "
        "the power law cannot go on for ever.",
        "misfit": f"The means lie further from the curve than runs of one size do from "
        f"each other (lack of fit, {_p(law.p_misfit)}): the curve is no such power law.",
        "linked_runs": f"Runs that are high at one size are high at others "
        f"({_p(law.p_linked_runs)}), as where they share a split: the height of the curve "
        f"is less certain than intervals for independent runs say.",
    }


def _p(value: float) -> str:
    """Return a p value as papers print it."""
    return f"p = {value:.2g}" if value >= 1e-4 else "p < 0.0001"
