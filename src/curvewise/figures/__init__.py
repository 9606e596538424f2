"""Pictures of answers; the only room that knows matplotlib.

Each function takes an answer and, if you like, an Axes, and returns the Axes: size,
style, saving and showing are matplotlib's business and yours.
"""

from curvewise.figures.performance import plot_quantiles, plot_quantiles_by_task

__all__ = ["plot_quantiles", "plot_quantiles_by_task"]
