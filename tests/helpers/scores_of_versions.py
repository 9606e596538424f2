"""Scores of two versions whose true means are known: usual, skewed, bounded, failing."""

import numpy as np


def normal(rng, shape, sd=1.0):
    return sd * rng.normal(size=shape), 0.0


def heavy(rng, shape):
    return rng.standard_t(3, size=shape), 0.0


def skewed(rng, shape, sd=1.0, sigma=1.0):
    """Lognormal; a negative `sd` turns its tail to the bad side."""
    return sd * rng.lognormal(0, sigma, size=shape), sd * np.exp(sigma**2 / 2)


def rate(rng, shape, p):
    """The share right of 100 examples, which ties."""
    return rng.binomial(100, p, size=shape) / 100, p


def uneven_rate(rng, shape, good):
    """The same, of models that are unequally good; some are bad."""
    p = rng.beta(good, 1, size=shape)
    return rng.binomial(100, p) / 100, good / (good + 1)


def collapsing(rng, shape, share):
    """Scores of .95, of which a share collapses to .1."""
    good = 0.95 + 0.02 * rng.normal(size=shape)
    return (
        np.where(rng.random(shape) < share, 0.1, good),
        0.95 - 0.85 * share,
    )


# New version and base: how each is drawn, and with what.
SCENES = {
    "normal": ((normal, {}), (normal, {})),
    "normal, new sd x 3": ((normal, {"sd": 3.0}), (normal, {})),
    "normal, base sd x 3": ((normal, {}), (normal, {"sd": 3.0})),
    "heavy tails (t, 3 d.f.)": ((heavy, {}), (heavy, {})),
    "lognormal": ((skewed, {}), (skewed, {})),
    "lognormal downwards": ((skewed, {"sd": -1.0}), (skewed, {"sd": -1.0})),
    "lognormal downwards, new sd x 3": (
        (skewed, {"sd": -3.0}),
        (skewed, {"sd": -1.0}),
    ),
    "rates .97 and .97": ((rate, {"p": 0.97}), (rate, {"p": 0.97})),
    "rates .99 and .995": ((rate, {"p": 0.99}), (rate, {"p": 0.995})),
    "uneven rates .95 and .95": (
        (uneven_rate, {"good": 20}),
        (uneven_rate, {"good": 20}),
    ),
    "uneven rates .95 and .99": (
        (uneven_rate, {"good": 20}),
        (uneven_rate, {"good": 100}),
    ),
    "10 % collapse in both": (
        (collapsing, {"share": 0.1}),
        (collapsing, {"share": 0.1}),
    ),
    "30 % collapse, 10 % in base": (
        (collapsing, {"share": 0.3}),
        (collapsing, {"share": 0.1}),
    ),
    "10 % collapse, none in base": (
        (collapsing, {"share": 0.1}),
        (collapsing, {"share": 0.0}),
    ),
}


def draw(scene, new, base, rng):
    """Return scores of the new version and of the base, and how far apart they are.

    Parameters
    ----------
    scene : str
    new, base : int or tuple of int
        How many trials, or shapes.
    rng : numpy.random.Generator
    """
    (one, more), (other, rest) = SCENES[scene]
    (a, mean), (b, middle) = one(rng, new, **more), other(rng, base, **rest)
    return a, b, mean - middle
