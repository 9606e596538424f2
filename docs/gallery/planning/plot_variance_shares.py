"""
Where does the spread come from?
================================

How much of the spread of scores is due to the hyperparameters, and how much to the
seed. More seeds help against the one, a better search against the other.
"""

import curvewise as cw


def train(params, data, rng):
    """Yield a loss that hangs on the learning rate, and on luck."""
    yield 0, {"loss": params["lr"] + 0.3 * rng.normal()}


experiment = cw.Experiment(
    cw.Task("plain", lambda rng: None),
    [
        cw.Algorithm("narrow space", {"lr": cw.uniform(0, 0.5)}, train),
        cw.Algorithm("wide space", {"lr": cw.uniform(0, 2)}, train),
    ],
    cross={"params": 20, "seed": 5},
)
trials = cw.run(experiment, executor="serial", progress=False)
cw.figures.plot_variance_shares(cw.variance_shares(trials, "loss"))
