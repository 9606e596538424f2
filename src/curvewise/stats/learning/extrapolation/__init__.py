"""What error will more data give? Curves continued, with intervals that were measured."""

from curvewise.stats.learning.extrapolation.answer import Extrapolation, Extrapolations
from curvewise.stats.learning.extrapolation.many import extrapolate_many
from curvewise.stats.learning.extrapolation.predicting import extrapolate

__all__ = ["Extrapolation", "Extrapolations", "extrapolate", "extrapolate_many"]
