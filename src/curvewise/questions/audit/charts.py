"""Pictures of `Audit`: how often each promise was broken, against how often it may be."""

import numpy as np

from curvewise.figures.chart import Chart, Series, no_band
from curvewise.figures.draw import Axes, draw
from curvewise.questions.audit import Audit
from curvewise.questions.audit.checks import Check
from curvewise.questions.base import must_be
from curvewise.text import percent


def audit_chart(answer: Audit) -> Chart:
    """Return how often each check erred, with its interval, by its number in the table."""
    must_be(answer, Audit, "audit")
    numbered = list(enumerate(answer.checks, start=1))
    series: list[Series] = []
    for look, name in enumerate(answer.analyses):
        checks = [(i, check) for i, check in numbered if check.analysis == name]
        series += [_intervals(name, checks, look), _rates(name, checks, look)]
    level = percent(1 - answer.confidence)
    return Chart(
        title="How often promises were broken",
        x_label="number of the promise in the table",
        y_label="share of wrong answers",
        series=tuple(series),
        caption=f"Of each promise, how often it was broken (circle) and where that rate "
        f"lies with 99 % confidence (line). An answer may be wrong in {level} of the cases "
        f"(grey). A promise is called broken where its whole line is above what it allows.",
        axis="linear",
        shape="line",
        level=1 - answer.confidence,
    )


def _intervals(name: str, checks: list[tuple[int, Check]], look: int) -> Series:
    """Return upright lines, one for each check, with a gap before the next."""
    x = np.array([i for i, _ in checks for _ in range(3)], dtype=np.float64)
    ends = [(*check.interval, np.nan) for _, check in checks]
    y = np.array(ends, dtype=np.float64).ravel()
    return Series(name, x, y, *no_band(y), look=look)


def _rates(name: str, checks: list[tuple[int, Check]], look: int) -> Series:
    x = np.array([i for i, _ in checks], dtype=np.float64)
    y = np.array([check.rate for _, check in checks])
    return Series(name, x, y, *no_band(y), look=look, is_dots=True)


def plot_audit(answer: Audit, ax: "Axes | None" = None) -> "Axes":
    """Draw how often each promise was broken, against how often it may be.

    Parameters
    ----------
    answer : Audit
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    from matplotlib.ticker import MaxNLocator

    ax = draw(audit_chart(answer), ax)
    ax.set_xlim(0.5, len(answer.checks) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return ax
