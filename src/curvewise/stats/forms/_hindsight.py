"""How forms are weighed against each other: by likelihood, and by hindsight."""

from collections.abc import Sequence

import numpy as np

from curvewise.stats._curve.runs import Unit
from curvewise.stats._sample import Floats
from curvewise.stats.forms._batch import fitted
from curvewise.stats.forms.answers import FittedForms
from curvewise.stats.forms.form import Form

FEWEST = 3  # sizes to foresee from
# A mean absolute error in hindsight of .001 is as good as none.
_LUCK = 1e-3
_CUTS = 4  # times that a curve is cut off; on real curves, more of them change little


def weighed(
    forms: Sequence[Form],
    n: Floats,
    means: Floats,
    w: Floats,
    unit: Unit,
    may_rise: bool,
    by: str,
    selects: bool,
) -> tuple[tuple[FittedForms, ...], Floats, Floats]:
    """Return each form's fits, scores (less is better) and weights: (form, curve)."""
    fits = tuple(fitted(f, n, means, w, unit, may_rise) for f in forms)
    if by == "likelihood":
        scores = np.stack([fit.aic for fit in fits])
    else:
        scores = np.stack([_backtest(f, n, means, w, unit, may_rise) for f in forms])
    return fits, scores, _weights(scores, by, unit, selects)


def _weights(scores: Floats, by: str, unit: Unit, selects: bool) -> Floats:
    has_say = np.isfinite(scores)
    least = np.where(has_say, scores, np.inf).min(axis=0)
    rest = np.where(has_say, scores, np.inf) - np.where(np.isfinite(least), least, 0)
    if selects:
        raw = np.zeros_like(scores)
        raw[rest.argmin(axis=0), np.arange(scores.shape[1])] = 1.0
    elif by == "likelihood":
        raw = np.exp(-rest / 2)
    else:
        luck = _LUCK * (100 if unit == "percent" else 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            raw = np.where(has_say, (least + luck) / (scores + luck), 0.0) ** 2
    raw = np.where(has_say.any(axis=0), raw, np.nan)
    found: Floats = raw / raw.sum(axis=0)
    return found


def _cuts(sizes: int) -> list[int]:
    """Return how many sizes are shown each time: from half of them to all but one."""
    ends = np.linspace(max(FEWEST, sizes // 2), sizes - 1, _CUTS)
    return [int(cut) for cut in np.unique(ends.round())]


def _backtest(
    form: Form, n: Floats, means: Floats, w: Floats, unit: Unit, may_rise: bool
) -> Floats:
    """Return the mean absolute error of each curve at sizes that were hidden."""
    total, count = np.zeros((2, len(means)))
    for cut in _cuts(len(n)):
        if form.size > cut:
            return np.full(len(means), np.nan)
        shown = fitted(form, n[:cut], means[:, :cut], w[:, :cut], unit, may_rise)
        # Where a curve has no size, nothing is to be foreseen.
        is_there = np.broadcast_to(w[:, cut:] > 0, (len(means), len(n) - cut))
        missed = np.abs(shown.error(n[cut:]) - means[:, cut:])
        total += np.where(is_there, missed, 0.0).sum(axis=1)
        count += is_there.sum(axis=1)
    nothing = np.full(len(means), np.nan)
    found: Floats = np.divide(total, count, out=nothing, where=count > 0)
    return found
