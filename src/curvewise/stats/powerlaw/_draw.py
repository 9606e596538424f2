"""Drawing curves from what is known of one."""

import numpy as np

from curvewise.stats.powerlaw._mixture import Mixture
from curvewise.stats.powerlaw.draws import PowerLawDraws


def draw_curves(
    known: Mixture, k: int, scale: float, rng: np.random.Generator
) -> PowerLawDraws:
    """Return k curves of a mixture of one curve."""
    which = rng.choice(known.gammas.shape[1], size=k, p=known.weights[0])
    gamma = known.gammas[0, which]
    parameters = known.theta.shape[-1]
    z = rng.standard_normal((k, parameters, 1))
    freedom = float(known.freedom[0])
    shrink = (
        np.sqrt(rng.chisquare(freedom, k) / freedom) if np.isfinite(freedom) else 1.0
    )
    # Cholesky of tiny numbers: of the correlations, then back.
    covariance = known.inverse[0] * known.scale[0][:, None, None]
    deviation = np.sqrt(np.einsum("gii->gi", covariance))
    unit = np.where(deviation > 0, deviation, 1.0)
    values, vectors = np.linalg.eigh(covariance / unit[:, :, None] / unit[:, None, :])
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    moved = unit[which] * (root[which] @ z)[..., 0] / np.reshape(shrink, (-1, 1))
    theta = scale * (known.theta[0, which] + moved)
    powers = known.unit_size ** -(gamma[:, None] * np.arange(parameters))
    theta = np.hstack([theta * powers, np.zeros((k, 3 - parameters))])
    return PowerLawDraws(theta[:, 0], theta[:, 1], theta[:, 2], gamma)
