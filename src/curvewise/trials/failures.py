"""Two policies that live here and nowhere else.

A failed trial is part of the distribution: nothing is computed until somebody says what
a failure scores. And scores lie in their metric's range, or percent were mixed with
fractions.
"""

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Message, Verbatim, shortened
from curvewise.metrics import Floats, Metric
from curvewise.trials.columns import Bools
from curvewise.trials.trial import shown_key

if TYPE_CHECKING:
    from curvewise.trials.table import Trials

Failed: TypeAlias = Literal["raise", "worst"] | float


def refuse_outside(values: Floats, meant: Metric) -> None:
    """Raise if values are not in the metric's range."""
    low, high = meant.range
    slack = 1e-9 * max(1.0, abs(low) if math.isfinite(low) else 0.0)
    outside = (values < low - slack) | (values > high + slack)
    if not outside.any():
        return
    first = values[np.argmax(outside)]
    percent = meant.is_rate and 1 < first <= 100
    remedy = (
        Message("Read the results with ", {"unit": "percent"}, ".")
        if percent
        else Message(
            "Declare its range: ",
            {"metrics": {meant.name: f"{meant.direction or 'higher'}::"}},
            " has no ends.",
        )
    )
    raise CurvewiseError(
        f"{outside.sum()} of {len(values)} scores of '{meant.name}' are outside its "
        f"range {low:g} to {high:g}, first {first:g}. ",
        remedy,
    )


def broken_curves(
    trials: "Trials", meant: Metric, values: Floats, known: Bools, failed: Failed
) -> tuple[Bools, float]:
    """Return which trials failed along their curve, and what a failure scores."""
    broken = broke_off(trials, values, known)
    good = known & np.isfinite(values)
    refuse_outside(values[good], meant)
    where = "along the whole curve"
    score = score_of_failure(trials, meant, broken, values[good], failed, where)
    return broken, score


def broke_off(trials: "Trials", values: Floats, known: Bools) -> Bools:
    """Return which trials ended badly, or lack a finite score somewhere on their curve."""
    core = trials.core
    owner = np.repeat(np.arange(len(core)), core.lengths)
    broken = (core.status != 0) | (np.bincount(owner[known], minlength=len(core)) == 0)
    broken[owner[known & ~np.isfinite(values)]] = True
    return np.asarray(broken)


def score_of_failure(
    trials: "Trials",
    meant: Metric,
    broken: Bools,
    values: Floats,
    failed: Failed,
    where: str,
) -> float:
    """Return what a failed trial scores; raise if nobody said, and one did fail."""
    if failed == "worst" and not broken.any():
        return math.nan  # nothing failed: which way is better does not matter
    score = declared_score(meant, failed)
    if not broken.any() or (score is not None and math.isfinite(score)):
        return math.nan if score is None else score
    if score is not None:
        # A failed run's own values count too: no failure may score better than it did.
        known = values[np.isfinite(values)]
        if len(known) == 0:
            raise CurvewiseError(
                f"All {len(broken)} trials failed and '{meant.name}' has no bound, so "
                "there is no worst score. Pass ",
                {"failed": Verbatim("<score of a failed run>")},
                ".",
            )
        return float(known.min() if meant.direction == "higher" else known.max())
    row = int(np.argmax(broken))
    if trials.core.status[row] == 0:
        reason = "its value is missing or not finite"
    else:
        text = trials.details().error[row].tobytes().decode()
        reason = shortened(text, 200) or "no reason is given"
    raise CurvewiseError(
        f"{broken.sum()} of {len(broken)} trials have no score of '{meant.name}' ",
        where,
        f", first {shown_key(trials.key(row))}: {reason}. Pass ",
        {"failed": "worst"},
        " or ",
        {"failed": Verbatim("<score of a failed run>")},
        "; dropping them would flatter the algorithms that crash.",
    )


def declared_score(meant: Metric, failed: Failed) -> float | None:
    """Return what a failure scores: None for "raise", infinite for "worst" unbounded."""
    if isinstance(failed, str | bool):
        if failed not in ("raise", "worst"):
            raise CurvewiseError(
                f"failed is {failed!r}. Pass 'raise', 'worst' or the score of a failed "
                "run.",
                argument="failed",
                value=failed,
            )
        return meant.worst if failed == "worst" else None
    if not isinstance(failed, int | float | np.number) or not math.isfinite(failed):
        raise CurvewiseError(
            f"failed is {failed!r}. Pass 'raise', 'worst' or a finite number.",
            argument="failed",
            value=failed,
        )
    low, high = meant.range
    if not low <= failed <= high:
        raise CurvewiseError(
            f"failed is {failed:g}, outside the range {low:g} to {high:g} of "
            f"'{meant.name}'. Pass a score that a run can have.",
            argument="failed",
            value=failed,
        )
    return float(failed)
