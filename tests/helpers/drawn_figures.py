"""Every public figure, drawn of something that it has to show."""

import functools
from unittest.mock import patch

import numpy as np

import curvewise as cw
from curvewise import figures
from curvewise.questions.plan import line_plan

QUIET = {"executor": "serial", "progress": False}


@functools.cache
def searched():
    return cw.performance(cw.example("search"), "accuracy", failed="worst")


@functools.cache
def tuned():
    rng = np.random.default_rng(0)
    trials = cw.Trials(
        cw.Trial(task, name, i, {"accuracy": float(rng.beta(*shape))})
        for task in ("rings", "waves", "spirals")
        for name, shape in {
            "net": (8, 3),
            "forest": (9, 2),
            "net tuned": (20, 3),
            "forest tuned": (12, 2),
        }.items()
        for i in range(40)
    )
    return cw.performance(trials), cw.robustness(trials)


@functools.cache
def compared():
    return cw.difference(cw.example("curves"), shuffles=199)


@functools.cache
def learnt():
    return cw.learning(cw.example("counts"), "error")


@functools.cache
def counted():
    return cw.confusion(cw.example("counts"))


@functools.cache
def of_classes():
    rng = np.random.default_rng(4)
    sizes = (50, 100, 200, 400, 800)

    def matrix(size):
        right = [rng.binomial(60, 1 - (0.3 + 0.1 * k) * size**-0.15) for k in range(3)]
        counts = np.diag(right)
        for k, n in enumerate(right):
            counts[k, (k + 1) % 3] = 60 - n
        return counts

    return cw.confusion(
        cw.Trials(
            cw.Trial("t", name, i, {}, steps=sizes, counts=[matrix(n) for n in sizes])
            for name in ("trees", "naive Bayes")
            for i in range(3)
        )
    )


@functools.cache
def crossed():
    def net(params, data, rng):
        yield 0, {"loss": params["lr"] + 0.3 * rng.normal()}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None),
        [
            cw.Algorithm(name, {"lr": cw.uniform(0, width)}, net)
            for name, width in (("narrow net", 0.5), ("wide net", 2.0))
        ],
        cross={"params": 6, "seed": 4},
    )
    return cw.variance_shares(cw.run(experiment, **QUIET), "loss")


@functools.cache
def sliced():
    def net(params, data, rng):
        for step in range(3):
            good = (1 - (params["lr"] - 0.3) ** 2) * (step + 1) / 3
            yield step, {"accuracy": 0.9 * good + 0.1 * rng.random()}

    plan = cw.Experiment(
        cw.Task("t", lambda rng: None),
        cw.Algorithm("net", {"lr": cw.uniform(0, 1)}, net),
        50,
    )
    return cw.quantile_slices(
        cw.run(plan, **QUIET), plan, percentiles=(5, 50, 95), trials_each=30, **QUIET
    )


@functools.cache
def planned():
    pilot = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
    with patch.object(line_plan, "SIMULATIONS", 100):  # a picture, not an answer
        return cw.plan.lines(pilot, shift=50)


@functools.cache
def many():
    """Twelve algorithms with long names."""
    rng = np.random.default_rng(1)
    return cw.performance(
        cw.Trials(
            cw.Trial("a task", f"{name} with depth {depth}", i, {"accuracy": z})
            for name in ("gradient boosting", "random forest", "neural network")
            for depth in (1, 2, 4, 8)
            for i, z in enumerate(rng.beta(5 + depth, 3, 25).tolist())
        )
    )


@functools.cache
def audited():
    curves = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
    return cw.audit(curves, repetitions=20)


@functools.cache
def versions():
    """Two algorithms on three tasks: better, worse, and open."""
    rng = np.random.default_rng(3)

    def version(sac):
        return cw.Trials(
            cw.Trial(task, name, i, {"return": height + shift + 20 * rng.normal()})
            for task, height in (("Hopper", 400), ("Walker", 800), ("Ant", 1200))
            for name, shift in (("ppo", 0), ("sac", sac))
            for i in range(10)
        )

    return cw.compare_versions(version(0), version(-40))


FIGURES = {
    "plot_audit": lambda: figures.plot_audit(audited()),
    "plot_best": lambda: figures.plot_best(searched(), task="rings"),
    "plot_confusion": lambda: figures.plot_confusion(counted()),
    "plot_confusion_classes": lambda: figures.plot_confusion_classes(of_classes()),
    "plot_confusion_metrics": lambda: figures.plot_confusion_metrics(counted()),
    "plot_crossing": lambda: figures.plot_crossing(learnt()),
    "plot_effect_shares": lambda: figures.plot_effect_shares(compared(), task="hill"),
    "plot_forecast": lambda: figures.plot_forecast(learnt()),
    "plot_gains": lambda: figures.plot_gains(tuned()[1], task="rings"),
    "plot_gains_by_task": lambda: figures.plot_gains_by_task(tuned()[1]),
    "plot_learning": lambda: figures.plot_learning(learnt()),
    "plot_lines": lambda: figures.plot_lines(compared(), task="hill"),
    "plot_null": lambda: figures.plot_null(compared(), task="hill"),
    "plot_nulls": lambda: figures.plot_nulls(compared(), task="hill"),
    "plot_plan": lambda: figures.plot_plan(cw.plan.trials(0.05)),
    "plot_power": lambda: figures.plot_power(planned()),
    "plot_profiles": lambda: figures.plot_profiles(searched()),
    "plot_quantiles": lambda: figures.plot_quantiles(searched(), task="rings"),
    "plot_quantiles_by_task": lambda: figures.plot_quantiles_by_task(tuned()[0]),
    "plot_shift": lambda: figures.plot_shift(searched(), "net", "svm", task="rings"),
    "plot_size_for": lambda: figures.plot_size_for(learnt().size_for(0.08)),
    "plot_slices": lambda: figures.plot_slices(sliced()),
    "plot_tuning": lambda: figures.plot_tuning(searched(), task="rings"),
    "plot_variance_shares": lambda: figures.plot_variance_shares(crossed()),
    "plot_versions": lambda: figures.plot_versions(versions()),
    "plot_where": lambda: figures.plot_where(compared(), task="hill"),
    # The same functions with more to show.
    "learning on log scales": lambda: figures.plot_learning(learnt(), scale="log"),
    "many names": lambda: figures.plot_quantiles(many()),
}
