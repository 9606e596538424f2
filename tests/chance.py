"""How to call every public function that leaves something to chance, given an rng."""

import numpy as np

import curvewise as cw
from curvewise.stats import comparison, variance
from curvewise.stats.bootstrap import bootstrap_interval

SCORES = np.random.default_rng(0).normal(size=120)
TASKS = [SCORES[:60], SCORES[60:] ** 2]


def a_seed(rng):
    return int(rng.integers(1000))


def drawn_stream(*, rng):
    from curvewise.engine.seeding import stream

    return stream(a_seed(rng), "seed", "task", "algorithm", replicate=0).random()


def drawn_params(*, rng):
    from curvewise.engine import spaces

    return spaces.draw({"x": cw.uniform(0, 1)}, rng)


def drawn_split(*, rng):
    return cw.split(np.arange(20), [0, 1] * 10, rng=rng).train()[0].tolist()


def drawn_trials(*, rng):
    from sklearn.naive_bayes import GaussianNB

    X = np.random.default_rng(0).random((40, 2))
    plan = cw.zoo.experiment(
        *(X, [0, 1] * 20), {"bayes": GaussianNB()}, trials=3, seed=a_seed(rng)
    )
    return cw.run(plan, executor="serial", progress=False).digest()


def drawn_bootstrap(*, rng):
    return bootstrap_interval(SCORES, rng=rng)


def drawn_dominance(*, rng):
    return comparison.dominance(SCORES, SCORES[::2] - 0.1, rng=rng)


def drawn_iqm(*, rng):
    return comparison.iqm_bootstrap(TASKS, rng=rng)


def drawn_mean(*, rng):
    return comparison.mean_over_tasks_bootstrap(TASKS, rng=rng)


def drawn_gap(*, rng):
    return comparison.optimality_gap_bootstrap(TASKS, 1.0, rng=rng)


def drawn_profile(*, rng):
    found = comparison.performance_profile_bootstrap(TASKS, [0.0, 0.5], rng=rng)
    return found.lower, found.upper


def drawn_shares(*, rng):
    table = np.random.default_rng(0).normal(size=(20, 20))
    return variance.share_intervals(table, ("params", "seed"), rng=rng)


def searched(**design):
    def score(params, data, rng):
        yield 0, {"loss": params["x"] + rng.random()}

    return cw.Experiment(
        cw.Task("t", lambda rng: None),
        cw.Algorithm("a", {"x": cw.uniform(0, 1)}, score),
        **design,
    )


def drawn_variance_shares(*, rng):
    crossed = searched(cross={"params": 6, "seed": 4})
    trials = cw.run(crossed, executor="serial", progress=False)
    return cw.variance_shares(trials, seed=a_seed(rng)).rows()


def drawn_slices(*, rng):
    experiment = searched(trials=20)
    trials = cw.run(experiment, executor="serial", progress=False)
    return cw.quantile_slices(
        trials,
        experiment,
        percentiles=(50,),
        trials_each=5,
        seed=a_seed(rng),
        executor="serial",
        progress=False,
    ).rows()


def drawn_performance(*, rng):
    trials = cw.Trials(cw.Trial("t", "a", i, {"loss": z}) for i, z in enumerate(SCORES))
    return cw.performance(trials, seed=a_seed(rng)).rows()


RANDOM = {
    "curvewise.engine.seeding.stream": drawn_stream,
    "curvewise.engine.spaces.draw": drawn_params,
    "curvewise.engine.supervised.data.split": drawn_split,
    "curvewise.zoo.estimators.experiment": drawn_trials,
    "curvewise.analyses.performance.performance": drawn_performance,
    "curvewise.analyses.variance.variance_shares": drawn_variance_shares,
    "curvewise.flow.slices.quantile_slices": drawn_slices,
    "curvewise.stats.bootstrap.bootstrap_interval": drawn_bootstrap,
    "curvewise.stats.comparison.aso.dominance": drawn_dominance,
    "curvewise.stats.comparison.profiles.performance_profile_bootstrap": drawn_profile,
    "curvewise.stats.comparison.tasks.iqm_bootstrap": drawn_iqm,
    "curvewise.stats.comparison.tasks.mean_over_tasks_bootstrap": drawn_mean,
    "curvewise.stats.comparison.tasks.optimality_gap_bootstrap": drawn_gap,
    "curvewise.stats.variance.share_intervals": drawn_shares,
}
