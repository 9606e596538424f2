"""What may be wrong with a fitted power law, in sentences."""

import numpy as np

from curvewise.stats.powerlaw.methods import (
    Fitted,
    Method,
    Observed,
    Terms,
    gammas_for,
    parameters_of,
)
from curvewise.stats.validation import Floats

FAR = 0.3
_RARE = 0.01


def concerns_of(
    seen: Observed, fitted: Fitted, terms: Terms, method: Method, is_held: bool
) -> tuple[str, ...]:
    """Return sentences about the first of the curves."""
    found = [
        _no_variation(seen),
        _no_repeats(seen, method, is_held),
        _noise_assumed(method, is_held, seen),
        _exponent(fitted, terms, method),
        _rising(seen, fitted),
        _below_zero(fitted),
        _poor_fit(seen, fitted, terms),
    ]
    return tuple(sentence for sentence in found if sentence)


def _no_variation(seen: Observed) -> str:
    if np.ptp(seen.means[0]) > 0:
        return ""
    told = "All mean errors are equal: there is no curve to see, and no exponent."
    if (seen.freedom[0] > 0).any() and not seen.squares[0].any():
        told += " Nor do runs differ: that intervals have no width makes nothing sure."
    return told


def _no_repeats(seen: Observed, method: Method, is_held: bool) -> str:
    if (seen.freedom[0] > 0).any():
        return ""
    if is_held:
        return (
            "No size has two runs, so nothing says how noisy a run is but the noise floor "
            "that was passed: intervals are as good as that is."
        )
    if method == "paper":
        return (
            "No size has two runs, so nothing says how noisy a run is: the noise floor is "
            "all that is assumed, and the band is far too narrow."
        )
    if seen.known[0] <= 3:
        return (
            "Three sizes with one run each fit any exponent: intervals rest on what is "
            "usual, and are a guess."
        )
    return (
        "No size has two runs: noise is judged by how badly the power law fits, and how it "
        "falls with size is assumed. Intervals are wider for it."
    )


def _noise_assumed(method: Method, is_held: bool, seen: Observed) -> str:
    if method != "paper" or is_held or not (seen.freedom[0] > 0).any():
        return ""
    return (
        "The noise floor, 0.02 squared percentage points, is the paper's and not estimated "
        "from these runs."
    )


def _exponent(fitted: Fitted, terms: Terms, method: Method) -> str:
    gammas, gamma = gammas_for(terms, method), float(fitted.gamma[0])
    if len(gammas) == 1:
        return ""
    if gamma in (gammas[0], gammas[-1]):
        return (
            f"The exponent is at the edge of those that are tried, {gamma:g}: the errors "
            f"want a curve that is no power law."
        )
    if abs(gamma + 0.5) > FAR:
        return (
            f"The exponent is {gamma:.2f}, far from the usual -0.5: look at how the "
            f"learner was tuned at the small and the large sizes."
        )
    return ""


def _rising(seen: Observed, fitted: Fitted) -> str:
    if fitted.theta[0, 1] > 0 or np.ptp(seen.means[0]) == 0:
        return ""
    if fitted.theta.shape[1] > 2:
        return ""
    return "The error does not fall with size: a power law says little of it."


def _below_zero(fitted: Fitted) -> str:
    if fitted.theta[0, 0] >= 0:
        return ""
    return (
        "The asymptote of the fit is below 0, where no error can be: the power law cannot "
        "go on for ever."
    )


def _poor_fit(seen: Observed, fitted: Fitted, terms: Terms) -> str:
    p = lack_of_fit(seen, fitted, terms)
    if not p[0] < _RARE:
        return ""
    return (
        f"The means lie further from the curve than runs of one size do from each other "
        f"(lack of fit, {_told(p[0])}): the curve is no such power law."
    )


def lack_of_fit(seen: Observed, fitted: Fitted, terms: Terms) -> Floats:
    """Return p values of the F test against the variance within sizes; NaN without."""
    from scipy.special import fdtrc

    sizes = len(seen.sizes)
    freedom = sizes - parameters_of(terms) - (terms in ("power", "full"))
    within = seen.freedom_within
    noise = fitted.floor[:, None] + fitted.slope[:, None] / seen.sizes
    if freedom < 1:
        return np.full(len(within), np.nan)
    x = (seen.scaled[None] ** fitted.gamma[:, None])[..., None]
    fit = (fitted.theta[:, None] * x ** np.arange(fitted.theta.shape[1])).sum(axis=-1)
    noise = np.maximum(noise, np.finfo(float).tiny)
    between = (seen.counts * (seen.means - fit) ** 2 / noise).sum(axis=1)
    inside = (seen.squares / noise).sum(axis=1)
    is_known = (within > 0) & (inside > 0)
    f = between / freedom / np.where(is_known, inside / np.maximum(within, 1), 1.0)
    return np.where(is_known, fdtrc(freedom, np.maximum(within, 1), f), np.nan)


def _told(p: float) -> str:
    """Return a p value as papers print it."""
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"


def linked_runs(table: Floats | None) -> str:
    """Return a sentence if runs that are high at one size are so at others.

    The F test of rows in a two-way layout of the residuals, each size in units of its
    standard deviation.
    """
    from scipy.special import fdtrc

    if table is None or table.shape[0] < 3 or not np.isfinite(table).all():
        return ""
    deviation = table.std(axis=0, ddof=1)
    if not (deviation > 0).all():
        return ""
    z = (table - table.mean(axis=0)) / deviation
    runs, sizes = z.shape
    rows = z.mean(axis=1, keepdims=True)
    rest = ((z - rows) ** 2).sum() / ((runs - 1) * (sizes - 1))
    f = sizes * rows.var(ddof=1) / max(rest, np.finfo(float).tiny)
    p = float(fdtrc(runs - 1, (runs - 1) * (sizes - 1), f))
    if p >= _RARE:
        return ""
    return (
        f"Runs that are high at one size are high at others ({_told(p)}), as where they "
        f"share a split: the height of the curve is less certain than intervals for "
        f"independent runs say."
    )
