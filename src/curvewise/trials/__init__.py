"""The waist: a run is one record with a whole curve in it; a set of them is passed on.

`Trial` is one run, `Trials` an immutable set of them with three doors into arrays:
`~Trials.scores`, `~Trials.points` and `~Trials.lines`. Everything below works on arrays,
everything above on answers.
"""

from curvewise.trials.doors import Lines, Points
from curvewise.trials.table import Trials, must_be_trials
from curvewise.trials.trial import STATUSES, Status, Trial

__all__ = ["STATUSES", "Lines", "Points", "Status", "Trial", "Trials", "must_be_trials"]
