"""From how many trials on intervals without a guarantee were measured to hold.

All numbers come from simulations at 95 % with uniform, Beta(5, 2), normal and exponential
scores, with tenths (ties) and with 5 % failures at 0: the smallest number of trials from
which on nearly all of them were covered 93 % of the time. Pareto tails are not among them;
no number that anybody runs is enough for those.

Intervals that are to hold together, over looks, algorithms or tasks, ask for more than
95 % each, and reach farther into tails that few trials have not shown: of intervals of
99 % that rest on 20 trials, 2.4 to 3.6 % missed where scores fail or are skewed, of those
that rest on 100, 1.1 to 1.7 %.
"""

import warnings
from typing import Literal, TypeAlias

from curvewise.errors import CurvewiseWarning

What: TypeAlias = Literal[
    "mean",
    "cvar",
    "difference of mean",
    "difference of cvar",
    "difference of quantile",
    "difference of quantile in pairs",
    "improvement",
    "improvement in pairs",
    "improvement over tasks",
    "dominance",
    "profile",
    "resampled profile",
    "over tasks",
    "mean of all tasks",
    "IQM of all tasks",
    "gap of all tasks",
    "resampled over tasks",
    "bootstrap",
    "levels",
]

# In one sample nothing cancels: at 95 % Student's interval held in .92 to .95 of all cases
# with 20 trials (5 % failures: .925, exponential: .920), in .934 and more with 40.
# In differences skewness cancels. Of a CVaR the trials in the tail count.
_ENOUGH: dict[What, int] = {
    "mean": 40,
    "cvar": 40,
    "difference of mean": 20,
    "difference of cvar": 10,
    # Joined order statistics held in .95 and more from 10 trials on; of pairs that
    # correlate by .95 and .99 in .90 and .93 at 10, .94 and .91 at 20, .99 and .96 at 50.
    "difference of quantile": 2,
    "difference of quantile in pairs": 50,
    "improvement": 10,
    "improvement in pairs": 20,
    "improvement over tasks": 3,  # runs of a task, as below
    "dominance": 50,
    "profile": 10,
    "resampled profile": 20,
    "over tasks": 3,
    # Scores of all tasks together: the IQM of 24 held in .93 to .97 of all cases, of 5 in
    # .86 to .89; the gap with 40 runs that fall short in .91 to .96, with 5 in .77 to .98.
    "IQM of all tasks": 24,
    "mean of all tasks": 40,
    "gap of all tasks": 40,
    "resampled over tasks": 20,
    "bootstrap": 40,
    # Of a factor; below, and for skewed effects always, see `variance.share_intervals`.
    "levels": 20,
}
TOGETHER = 100  # in the tail, of one sample or of the smaller one
# From which confidence on an interval is taken for one of many.
_MANY: dict[What, float] = {
    "mean": 0.95,
    "cvar": 0.95,
    "difference of mean": 0.98,
    "difference of cvar": 0.98,
    "difference of quantile in pairs": 0.98,
}


def enough(what: What, confidence: float = 0.95) -> int:
    """Return from how many trials (runs, levels) on intervals were measured to hold."""
    if confidence > _MANY.get(what, 1.0):
        return TOGETHER
    return _ENOUGH[what]


def is_few(n: float, least: int) -> bool:
    """Whether there are less than the least number; the tenth of 100 is ten, not less."""
    return n < least - 1e-9


def warn_if_few(
    n: float,
    what: What,
    subject: str,
    *,
    of: str = "trials",
    confidence: float = 0.95,
    depth: int = 3,
) -> None:
    """Warn where an asymptotic interval was seen to cover less than it says."""
    least = enough(what, confidence)
    if is_few(n, least):
        warnings.warn(
            f"{subject} rests on {n:g} {of} and may hold less often than it says; it was "
            f"measured to hold from {least} on. Run more, or ask for a guaranteed one.",
            CurvewiseWarning,
            stacklevel=depth,
        )
