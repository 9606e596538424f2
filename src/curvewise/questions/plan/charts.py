"""Pictures of plans: how much is known from how many trials, found with how many lines."""

import numpy as np

from curvewise.errors import CurvewiseError, Message
from curvewise.figures.chart import Chart, Series, finite
from curvewise.figures.draw import Axes, draw
from curvewise.questions.base import must_be
from curvewise.questions.plan.line_plan import LinesPlan
from curvewise.questions.plan.score_plan import Plan
from curvewise.text import percent

_FAR = 20  # times as many lines at one end, where curves need a logarithmic axis


def plan_chart(answer: Plan) -> Chart:
    """Return the half-width of intervals over the number of trials, as numbers to draw."""
    must_be(answer, Plan, "plan.trials")
    at = answer.sizes()
    none = np.full(len(at), np.nan)
    return Chart(
        title="What more trials would tell",
        x_label="trials",
        y_label="half-width",
        series=tuple(
            Series(name, at, finite(width), none, none)
            for name, width in answer.widths(at).items()
        ),
        caption=f"How far off an answer may be, with {percent(answer.confidence)} "
        f"confidence, from how many trials. The grey line is the "
        f"{answer.half_width:g} that was asked for.",
        axis="log",
        shape="line",
        level=answer.half_width,
    )


def plot_plan(answer: Plan, ax: "Axes | None" = None) -> "Axes":
    """Draw how much is known from how many trials.

    Examples
    --------
    >>> import curvewise as cw
    >>> plot_plan(cw.plan.trials(half_width=0.05)).get_xlabel()
    'trials'
    """
    return draw(plan_chart(answer), ax)


def power_chart(answer: LinesPlan) -> Chart:
    """Return the power of a test over the number of lines, as numbers to draw.

    One curve per pair of algorithms and task, with what the chance of the simulation
    leaves open.
    """
    must_be(answer, LinesPlan, "plan.lines")
    pairs = [pair for pair in answer.pairs if len(pair.plan.sizes)]
    if not pairs:
        raise CurvewiseError(
            "So small a difference takes more lines than power is computed for. Plan for "
            "a larger one."
            if any(pair.plan.is_beyond for pair in answer.pairs)
            else Message(
                "No pair of this pilot shows more than chance does, so there is no "
                "power to draw. State the difference that is worth finding, with ",
                {"shift": ...},
                " or ",
                {"stretch": ...},
                ".",
            )
        )
    several = len({pair.task for pair in answer.pairs}) > 1
    series = []
    for pair in pairs:
        plan = pair.plan
        name = f"{pair.one} - {pair.other}"
        series.append(
            Series(
                f"{pair.task}, {name}" if several else name,
                plan.sizes.astype(np.float64),
                plan.powers,
                plan.powers_lower,
                plan.powers_upper,
            )
        )
    far = max(one.x[-1] for one in series) / min(one.x[0] for one in series)
    left = len(answer.pairs) - len(pairs)
    without = ""
    if left:
        without = f" {left} of {len(answer.pairs)} pairs have no number of lines."
    return Chart(
        title="What more lines would find",
        x_label="lines of each algorithm",
        y_label="power",
        series=tuple(series),
        caption=f"How often a test at level {answer.level:g} would find the difference, "
        f"with how many lines of each algorithm. Bands: what the simulation leaves open "
        f"(95 %). The grey line is the {answer.power:g} that was asked for.{without}",
        axis="log" if far > _FAR else "linear",
        shape="line",
        level=answer.power,
    )


def plot_power(answer: LinesPlan, ax: "Axes | None" = None) -> "Axes":
    """Draw how often a difference is found with how many lines.

    Examples
    --------
    >>> import curvewise as cw
    >>> pilot = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
    >>> plot_power(cw.plan.lines(pilot, shift=50)).get_ylabel()
    'power'
    """
    return draw(power_chart(answer), ax)
