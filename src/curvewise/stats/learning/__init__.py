"""How error falls with data: shape, extrapolation, and questions about it."""

from curvewise.stats.learning.advice import NextRun, Suggestion, next_run
from curvewise.stats.learning.amount import (
    Multiplier,
    SizeFor,
    data_multiplier,
    point_multiplier,
    size_for,
)
from curvewise.stats.learning.comparison import (
    SummaryDifference,
    chance_best,
    chance_better,
    compare_summaries,
    shared_noise,
)
from curvewise.stats.learning.crossing import Crossing, Stretch, crossing
from curvewise.stats.learning.extrapolation import (
    Extrapolation,
    extrapolate,
    extrapolate_many,
)
from curvewise.stats.learning.forecast import Forecast
from curvewise.stats.learning.shape import Departure, Shape, shape
from curvewise.stats.learning.validation import (
    LeftOut,
    Stability,
    average_rmse,
    leave_one_size_out,
    stability,
)

__all__ = [
    "Crossing",
    "Departure",
    "Extrapolation",
    "Forecast",
    "LeftOut",
    "Multiplier",
    "NextRun",
    "Shape",
    "SizeFor",
    "Stability",
    "Stretch",
    "Suggestion",
    "SummaryDifference",
    "average_rmse",
    "chance_best",
    "chance_better",
    "compare_summaries",
    "crossing",
    "data_multiplier",
    "extrapolate",
    "extrapolate_many",
    "leave_one_size_out",
    "next_run",
    "point_multiplier",
    "shape",
    "shared_noise",
    "size_for",
    "stability",
]
