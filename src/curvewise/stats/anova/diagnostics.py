"""What the noise of lines looks like: how steps hang together, who is noisier."""

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.anova._lines.apart import apart
from curvewise.stats.anova._lines.designs import LinesLike, checked_lines, compact

__all__ = ["greenhouse_geisser", "noise_ratio", "step_correlation"]


def step_correlation(lines: LinesLike, *, pooled: bool = True) -> Floats:
    r"""Return how lines of an algorithm hang together from step to step.

    .. math:: r_{gh} = \frac{\sum_{ij} e_{ijg} e_{ijh}}
       {\sqrt{\sum_{ij} e_{ijg}^2 \sum_{ij} e_{ijh}^2}}, \quad
       e_{ijh} = y_{ijh} - \bar y_{ih}

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
    pooled : bool
        Whether deviations from the mean line of each algorithm are taken together.

    Returns
    -------
    ndarray, shape (step, step) or (algorithm, step, step)
        1 on the diagonal. NaN in the row and the column of a step at which lines do
        not vary, which correlates with nothing.

    Notes
    -----
    What a classical analysis of variance takes for granted is that all correlations
    between steps are equal, and 0 for its test of algorithms. Lines that carry over what
    they learnt correlate, more between neighbours than between far steps. With thousands
    of steps the table itself is large: 10,000 take 800 MB.

    References
    ----------
    Piater and Cohen (1998), on covariances that are not homogeneous.

    Examples
    --------
    >>> import numpy as np
    >>> walks = np.random.default_rng(1).normal(size=(2, 50, 4)).cumsum(axis=-1)
    >>> step_correlation(walks).round(1)[0]
    array([1. , 0.7, 0.5, 0.5])
    """
    design = checked_lines(lines, least_steps=1, least_lines=1 if pooled else 2)
    deviations = apart(design).residuals
    if pooled:
        return _correlation(deviations)
    return np.stack([_correlation(deviations[s]) for s in design.slices])


def _correlation(deviations: Floats) -> Floats:
    largest = np.abs(deviations).max(axis=0)
    varies = largest > 0
    # Of about 1, so that squares neither overflow nor vanish; 0/0 where none varies.
    own = deviations / np.where(varies, largest, np.nan)
    own /= np.sqrt((own**2).sum(axis=0))
    found: Floats = np.clip(own.T @ own, -1.0, 1.0)
    at = np.flatnonzero(varies)
    found[at, at] = 1.0
    return found


def greenhouse_geisser(lines: LinesLike) -> float:
    r"""Return epsilon: how far lines are from equal correlations between all steps.

    .. math:: \varepsilon = \frac{(\operatorname{tr} S)^2}{(k-1) \operatorname{tr} S^2},
       \quad S = \text{pooled covariance of lines less their own means}

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)

    Returns
    -------
    float
        From 1/(k-1), all deviation in one direction, to 1, none preferred; NaN where
        lines differ in nothing but their means.

    Notes
    -----
    By this factor the degrees of freedom of the parametric test of the interaction are
    too many. It is estimated, and too small where lines are few: N lines of m algorithms
    have no more than N - m directions, so that epsilon cannot exceed (N - m)/(k-1). Both
    traces are those of a table of lines by lines, so that long curves cost no more than
    short ones.

    References
    ----------
    Greenhouse and Geisser (1959), *On methods in the analysis of profile data*;
    Box (1954).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> points = rng.normal(size=(2, 500, 8))
    >>> round(greenhouse_geisser(points), 2)
    0.99
    >>> round(greenhouse_geisser(points.cumsum(axis=-1)), 2)
    0.33
    """
    design = checked_lines(lines)
    k = design.values.shape[1]
    deviations = apart(design).centred().residuals
    if not deviations.any():
        return float("nan")
    # The size of tr S does not matter, and squares of what is tiny would vanish.
    found = compact(deviations / np.abs(deviations).max())
    gram = found @ found.T if len(found) <= found.shape[1] else found.T @ found
    epsilon = float(np.trace(gram)) ** 2 / ((k - 1) * float((gram**2).sum()))
    return float(np.clip(epsilon, 1 / (k - 1), 1.0))


def noise_ratio(lines: LinesLike) -> float:
    r"""Return how many times noisier the noisiest algorithm is than the quietest.

    .. math:: \max_i s_i / \min_i s_i, \quad s_i = \text{standard deviation of the means
       of the lines of algorithm } i

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        Two lines or more of each algorithm.

    Returns
    -------
    float
        1 or more; infinite where the lines of one algorithm all have the same mean, NaN
        where those of all have.

    Notes
    -----
    Few lines say little about noise: of two equally noisy algorithms with 5 lines each
    one looks twice as noisy as the other in one data set of five. It is a description,
    and no test should be chosen by it.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(1).normal(size=(2, 500, 8))
    >>> round(noise_ratio({"quiet": points[0], "loud": 4 * points[1]}), 1)
    3.9
    """
    design = checked_lines(lines, least_steps=1, least_lines=2)
    own, _ = apart(design).line_means().in_unit()
    spreads = np.array([group.std(ddof=1) for group in own.design.groups])
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(spreads.max() / spreads.min())
