"""How to call every public function that leaves something to chance, given an rng."""

import numpy as np

import curvewise as cw
from curvewise.stats import anova, comparison, deals, learning, powerlaw, variance
from curvewise.stats.bootstrap import bootstrap_interval

SCORES = np.random.default_rng(0).normal(size=120)
TASKS = [SCORES[:60], SCORES[60:] ** 2]
CURVE = ([50, 100, 200], [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
LINES = {"a": SCORES[:40].reshape(10, 4), "b": 0.4 + SCORES[40:80].reshape(10, 4)}


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


def drawn_deals(*, rng):
    return np.concatenate(list(deals.random_deals((10, 10), 50, rng=rng)))


def drawn_anova(*, rng):
    found = anova.randomized_anova(LINES, exact=False, shuffles=199, rng=rng)
    return found.null_values("algorithm"), found.tests["interaction"].flips.values


def drawn_where(*, rng):
    return anova.where_different(LINES, flips=199, rng=rng).p


def drawn_effect_shares(*, rng):
    found = anova.effect_shares(LINES, shuffles=199, rng=rng)
    return found.cumulated_lower, found.cumulated_upper


def drawn_difference_band(*, rng):
    return anova.difference_band(*LINES.values(), flips=199, rng=rng).lower


def drawn_mean_band(*, rng):
    return anova.mean_band(LINES["a"], flips=199, rng=rng).lower


def drawn_pairs(*, rng):
    lines = LINES | {"c": LINES["a"] * 2}
    return [
        (pair.p("algorithm"), pair.p("interaction"))
        for pair in anova.all_pairs(lines, exact=False, shuffles=199, rng=rng)
    ]


def drawn_contrast(*, rng):
    found = anova.contrast(LINES, (1, -1), draws=199, rng=rng)
    return found.p("algorithm"), found.p("interaction")


def drawn_over_tasks(*, rng):
    weak = {"a": LINES["a"], "b": LINES["b"] - 0.3}
    tasks = {"t": weak, "u": {name: own[:, :2] for name, own in weak.items()}}
    found = anova.over_tasks(tasks, exact=False, shuffles=199, rng=rng)
    return found.whole.p, found.somewhere.p


def drawn_stretch_power(*, rng):
    found = anova.stretch_power(
        LINES["b"] + 5, 1.1, size=5, null_draws=500, draws=100, rng=rng
    )
    return found.algorithm_critical, found.interaction_critical


def drawn_line_plan(*, rng):
    return anova.lines_for_power(LINES, shift=0.8, rng=rng).powers.tolist()


def curve_trials():
    return cw.Trials(
        cw.Trial("t", name, i, {"return": line})
        for name, table in LINES.items()
        for i, line in enumerate(table)
    )


def drawn_difference(*, rng):
    answer = cw.difference(curve_trials(), exact=False, shuffles=199, seed=a_seed(rng))
    return answer.window_rows()


def drawn_audit(*, rng):
    trials = cw.Trials(
        cw.Trial("t", name, i, {"accuracy": 0.5 + z / 20})
        for name, own in (("a", SCORES[:60]), ("b", SCORES[60:]))
        for i, z in enumerate(own)
    )
    return cw.audit(trials, repetitions=40, seed=a_seed(rng)).rows()


def drawn_lines_plan(*, rng):
    return cw.plan.lines(curve_trials(), shift=0.8, seed=a_seed(rng)).rows()


def drawn_law_band(*, rng):
    law = powerlaw.fit_power_law(*CURVE)
    return powerlaw.bootstrap_band(law, [50, 800], resamples=100, rng=rng).upper


def drawn_stability(*, rng):
    sizes, errors = CURVE
    means, sds = np.mean(errors, axis=1), np.std(errors, axis=1)
    return learning.stability(sizes, means, sds, repeats=30, rng=rng).rows()


def drawn_matrices(*, rng):
    from curvewise.stats.counts import draw_matrices

    return draw_matrices([[9, 3], [2, 8]], draws=5, rng=rng).tolist()


def drawn_metric_interval(*, rng):
    from curvewise.stats.counts import metric_interval

    return list(metric_interval("mcc", [[9, 3], [2, 8]], draws=200, rng=rng))


def drawn_jitter(*, rng):
    from curvewise_papers.transfer import jittered

    return jittered(np.zeros((3, 2)), np.arange(3), 2, 1.0, rng)[0].tolist()


def drawn_layers(*, rng):
    from curvewise_papers.transfer import random_layers

    return [part.tolist() for part in random_layers(np.zeros((1, 3)), (4,), rng)[0]]


RANDOM = {
    "curvewise.engine.seeding.stream": drawn_stream,
    "curvewise.engine.spaces.draw": drawn_params,
    "curvewise.engine.supervised.data.split": drawn_split,
    "curvewise.zoo.estimators.experiment": drawn_trials,
    "curvewise_papers.transfer.jittered": drawn_jitter,
    "curvewise_papers.transfer.random_layers": drawn_layers,
    "curvewise.questions.audit.audit": drawn_audit,
    "curvewise.questions.difference.difference": drawn_difference,
    "curvewise.questions.performance.performance": drawn_performance,
    "curvewise.questions.plan.lines": drawn_lines_plan,
    "curvewise.questions.variance.variance_shares": drawn_variance_shares,
    "curvewise.flow.slices.quantile_slices": drawn_slices,
    "curvewise.stats.counts.draws.draw_matrices": drawn_matrices,
    "curvewise.stats.counts.draws.metric_interval": drawn_metric_interval,
    "curvewise.stats.anova.steps.difference_band": drawn_difference_band,
    "curvewise.stats.anova.contrasts.contrast": drawn_contrast,
    "curvewise.stats.anova.steps.mean_band": drawn_mean_band,
    "curvewise.stats.anova.contrasts.all_pairs": drawn_pairs,
    "curvewise.stats.anova.planning.lines_for_power": drawn_line_plan,
    "curvewise.stats.anova.power.stretch_power": drawn_stretch_power,
    "curvewise.stats.anova.randomized.randomized_anova": drawn_anova,
    "curvewise.stats.anova.effects.effect_shares": drawn_effect_shares,
    "curvewise.stats.anova.tasks.over_tasks": drawn_over_tasks,
    "curvewise.stats.anova.steps.where_different": drawn_where,
    "curvewise.stats.bootstrap.bootstrap_interval": drawn_bootstrap,
    "curvewise.stats.comparison.quantiles.dominance": drawn_dominance,
    "curvewise.stats.comparison.profiles.performance_profile_bootstrap": drawn_profile,
    "curvewise.stats.comparison.tasks.iqm_bootstrap": drawn_iqm,
    "curvewise.stats.comparison.tasks.mean_over_tasks_bootstrap": drawn_mean,
    "curvewise.stats.comparison.tasks.optimality_gap_bootstrap": drawn_gap,
    "curvewise.stats.deals.random_deals": drawn_deals,
    "curvewise.stats.learning.validation.stability": drawn_stability,
    "curvewise.stats.powerlaw.fit.bootstrap_band": drawn_law_band,
    "curvewise.stats.variance.share_intervals": drawn_shares,
}
