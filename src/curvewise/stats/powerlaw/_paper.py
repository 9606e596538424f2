"""The fit of Hoiem et al. (2021), to the letter."""

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.powerlaw._data import (
    PAPER_FLOOR,
    PENALTY,
    THEORY,
    Fitted,
    Observed,
    Terms,
    Weights,
    gammas_for,
    parameters_of,
)
from curvewise.stats.powerlaw._lines import columns, fit_lines
from curvewise.stats.powerlaw._mixture import Mixture


def fit_paper(
    seen: Observed, terms: Terms, weights: Weights, floor: float | None
) -> Fitted:
    """Return curves with the noise, the weights, the penalty and the band of the paper.

    Notes
    -----
    Eq. 2 prints n for n_i and the text 0.5 for -0.5; both are slips. The covariance
    M Sigma M' takes the exponent for known, which is why the band is too narrow.
    """
    low = PAPER_FLOOR if floor is None else floor
    slope = noise_slope(seen, low)
    noise = low + slope[:, None] / seen.sizes
    w = size_weights(weights, seen.counts, noise)
    gammas = gammas_for(terms, "paper")
    parameters = parameters_of(terms)
    lines = fit_lines(seen.scaled, seen.means, w, gammas, parameters)
    aim = lines.cost + PENALTY * np.abs(gammas - THEORY)
    best = aim.argmin(axis=1)
    row = np.arange(len(best))
    gamma, theta = gammas[best], lines.theta[row, best]
    a = columns(seen.scaled, gammas, parameters)[best]
    # M = (A'WA)^-1 A'W; the mean of F_i runs has variance sigma_i^2 / F_i.
    m = lines.inverse[row, best] @ (a * w[..., None]).swapaxes(-1, -2)
    covariance = (m * (noise / seen.counts)[:, None, :]) @ m.swapaxes(-1, -2)
    mixture = Mixture(
        gamma[:, None],
        np.ones((len(best), 1)),
        theta[:, None],
        covariance[:, None],
        lines.cost[row, best][:, None],
        np.ones((len(best), 1)),
        np.full(len(best), np.inf),
        float(seen.sizes[-1]),
    )
    return Fitted(
        gamma,
        lines.cost[row, best],
        theta,
        np.full(len(best), low),
        slope,
        w,
        mixture,
    )


def noise_slope(seen: Observed, floor: float) -> Floats:
    """Return sigma_hat^2 of sigma_i^2 = floor + sigma_hat^2 / n_i, by least squares.

    From the variances of sizes with two runs or more, weighted by F_i - 1; 0 where it
    would be negative, and where no size has two runs.
    """
    freedom = seen.freedom
    variance = seen.squares / np.maximum(freedom, 1)
    x = 1 / seen.scaled
    right = (freedom * (variance - floor) * x).sum(axis=1)
    left = (freedom * x**2).sum(axis=1)
    slope = np.where(left > 0, right / np.where(left > 0, left, 1), 0.0)
    return np.asarray(np.maximum(slope, 0.0) * seen.sizes[-1])


def size_weights(weights: Weights, counts: Floats, noise: Floats) -> Floats:
    """Return the weight of each mean: the number of runs times the weight of a run."""
    if weights == "equal":
        # 1 in squared percentage points: the penalty is weighed against these squares.
        return 1e4 * counts
    return counts / noise if weights == "efficient" else 1 / noise
