"""What may be wrong with a curve, in sentences: its power law, its forecast, its shape."""

from collections.abc import Mapping, Sequence

from curvewise.questions.learning.fit import CurveFit
from curvewise.questions.sentences import size_cell
from curvewise.stats.learning import Departure, Extrapolation, Shape, SizeFor
from curvewise.stats.powerlaw import PowerLaw
from curvewise.text import joined, shown, step


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
        *(_of_forecast(fit.forecast)[concern] for concern in fit.forecast.concerns),
    ]


def size_concerns(needed: SizeFor) -> list[str]:
    """Return what may be wrong with how much data an error takes."""
    sizes = needed.forecast.sizes
    smallest, largest = float(sizes[0]), float(sizes[-1])
    sentences = {
        "far": f"About {size_cell(needed.size)} examples are {needed.size / largest:.3g} "
        f"times what was tried: that rests on the form of the curve more than on data.",
        "below_smallest": f"Sizes below {step(smallest)}, the smallest that was tried, may "
        f"do; nothing is known of them.",
    }
    return [sentences[concern] for concern in needed.concerns]


def shape_concerns(shape: Shape) -> list[str]:
    """Return where a curve rises, or bends the wrong way."""
    sentences = []
    if shape.rises:
        sentences.append(f"The error rises with more data {_where(shape.rises)}.")
    if shape.bumps:
        sentences.append(
            f"The curve is not convex: it lies above a straight line "
            f"{_where(shape.bumps)}."
        )
    return sentences


_MOST = 3  # places that a sentence names


def _where(stretches: Sequence[Departure]) -> str:
    largest = sorted(stretches, key=lambda d: -d.amount)[:_MOST]
    parts = [
        f"from {step(d.first)} to {step(d.last)} by {_amount(d, d.amount)} "
        f"({_amount(d, d.lower)} to {_amount(d, d.upper)})"
        for d in sorted(largest, key=lambda d: d.first)
    ]
    more = len(stretches) - _MOST
    if more > 0:
        parts.append(
            "in one more stretch" if more == 1 else f"in {more} more stretches"
        )
    return joined(parts)


def _amount(stretch: Departure, value: float) -> str:
    """Return how much, with no more places than matter beside the largest end."""
    return f"{value:.4f}" if 1e-3 <= stretch.upper < 1 else shown(value)


def _of_forecast(ahead: Extrapolation) -> Mapping[str, str]:
    vainly = "the prediction is hardly better than repeating the last value."
    of = " of its largest loss" if ahead.unit == "loss" else ""
    least, most = ahead.sizes[0], ahead.sizes[-1]
    return {
        **dict(zip(ahead.shape.concerns, shape_concerns(ahead.shape), strict=True)),
        "losses": "Intervals were measured for error rates; for other losses nobody has "
        "measured how often they hold.",
        "climbed": f"The curve has climbed by {ahead.rise / ahead.scale:.2g}{of}: {vainly}",
        "flat_end": f"The curve does not fall at its end: {vainly}",
        "far": f"Size {ahead.to.max():g} is further off than any that was measured: sizes "
        f"seen go from {least:g} to {most:g} only.",
        "three_sizes": "There are three sizes only: 95 % intervals held in 91 to 93 % of "
        "such curves.",
        "no_repeats": "There is one error at each size. Where that is one run, and no mean "
        "of several, 95 % intervals held in 94 to 96 % of the curves.",
    }


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
