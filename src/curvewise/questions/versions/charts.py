"""Pictures of `Versions`: what each algorithm gained or lost, against the margin."""

from dataclasses import dataclass

import numpy as np

from curvewise.figures.chart import PALETTE
from curvewise.figures.draw import Axes, legend_above, literal, name_axes, new_axes
from curvewise.figures.styles import current
from curvewise.questions.base import must_be
from curvewise.questions.versions import Versions
from curvewise.questions.versions.fit import Change
from curvewise.text import percent, short_names

# Colours and signs that tell verdicts apart for any kind of colour vision.
_LOOKS = {
    "no worse": (PALETTE[2], "o"),
    "cannot tell": (PALETTE[6], "s"),
    "worse": (PALETTE[1], "v"),
}
_ROW, _ROWS = (
    0.32,
    8,
)  # inches of a row, and how many have room without a figure that grows
_LETTERS = 28  # of a name


@dataclass(frozen=True, slots=True)
class Strip:
    """One change as it is drawn.

    Parameters
    ----------
    name, verdict : str
    value, lower, upper : float
        The gain and its limits; infinite where nothing is known.
    margin : float
        Where the margin is, below 0 or at 0.
    """

    name: str
    verdict: str
    value: float
    lower: float
    upper: float
    margin: float


def version_strips(answer: Versions) -> tuple[Strip, ...]:
    """Return what each algorithm gained on each task, as numbers to draw.

    Gains are in units of the metric, or in percent of the base's mean where the margin is.
    """
    must_be(answer, Versions, "compare_versions")
    names = _names(answer)
    return tuple(
        Strip(
            name,
            change.verdict,
            *(
                _unit(answer, change) * x
                for x in (
                    change.interval.value,
                    change.interval.lower,
                    change.interval.upper,
                    -change.margin,
                )
            ),
        )
        for name, change in zip(names, answer.changes, strict=True)
    )


def _unit(answer: Versions, change: Change) -> float:
    if not answer.margin.is_share or change.base.mean == 0:
        return 1.0
    return 100 / abs(change.base.mean)


def _names(answer: Versions) -> list[str]:
    """Return what the rows are called: by what tells them apart."""
    algorithms = {c.new.algorithm for c in answer.changes}
    tasks = {c.task for c in answer.changes}
    names = []
    for change in answer.changes:
        parts = [change.new.algorithm] * (len(algorithms) > 1 or len(tasks) == 1)
        parts += [change.task] * (len(tasks) > 1)
        names.append(", ".join(parts))
    short = short_names(names, _LETTERS)
    return [short[name] for name in names]


def plot_versions(answer: Versions, ax: "Axes | None" = None) -> "Axes":
    """Draw what each algorithm gained on each task, with its limits and the margin.

    Parameters
    ----------
    answer : Versions
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    strips = version_strips(answer)
    if ax is None:
        ax = _axes(len(strips))
    ax.axvline(0, color="0.5", linewidth=1)
    _draw_margins(strips, ax)
    for verdict, (colour, sign) in _LOOKS.items():
        rows = [(i, one) for i, one in enumerate(strips) if one.verdict == verdict]
        if rows:
            _draw_gains(rows, ax, colour, sign, verdict)
    each = percent(answer.each)
    unit = "gain (% of base)" if answer.margin.is_share else "gain"
    label = (
        f"{unit} in {answer.metric.label}, one-sided {each} limits (above 0: better)"
    )
    name_axes(ax, label, "", f"New version against base: {answer.verdict}")
    ax.set_yticks(range(len(strips)), [literal(one.name) for one in strips])
    ax.set_ylim(len(strips) - 0.5, -0.5)  # the first on top
    ax.spines[["top", "right"]].set_visible(False)
    legend_above([ax])
    return ax


def _axes(rows: int) -> "Axes":
    """Return new axes, higher where there are many rows."""
    ax = new_axes()
    figure = ax.figure
    if rows > _ROWS and current().grows:
        width, height = figure.get_size_inches()  # type: ignore[union-attr]
        figure.set_size_inches(width, height + _ROW * (rows - _ROWS))  # type: ignore[union-attr]
    return ax


def _draw_margins(strips: tuple[Strip, ...], ax: "Axes") -> None:
    """Draw the margin of each row: one line, where they are the same."""
    at = np.array([one.margin for one in strips])
    edges = np.arange(len(strips) + 1) - 0.5
    ax.vlines(
        at,
        edges[:-1],
        edges[1:],
        color="0.35",
        linestyle="--",
        linewidth=1,
        label="margin",
    )


def _draw_gains(
    rows: list[tuple[int, Strip]], ax: "Axes", colour: str, sign: str, verdict: str
) -> None:
    value = np.array([one.value for _, one in rows])
    reach = np.array([
        [one.value - one.lower for _, one in rows],
        [one.upper - one.value for _, one in rows],
    ])  # fmt: skip
    # Where nothing is known there is no line; the sign alone would look sure.
    known = np.isfinite(reach).all(axis=0)
    ax.errorbar(
        value,
        [i for i, _ in rows],
        xerr=np.where(known, reach, 0.0),
        fmt=sign,
        color=colour,
        mfc=colour if known.all() else "none",
        capsize=3,
        label=verdict,
    )
