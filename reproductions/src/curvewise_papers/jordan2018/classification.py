"""Table 1 and Figure 1: five classifiers on four tasks, with and without tuning."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from curvewise import zoo
from curvewise.engine.experiment import Experiment
from curvewise.engine.supervised.tuning import tuned
from curvewise.papers.jordan2018.classification_claims import claims
from curvewise.papers.jordan2018.classification_figures import figures
from curvewise.papers.jordan2018.classification_settings import SEED, settings_table
from curvewise.papers.results import Results, Table
from curvewise.papers.study import Runner, Scale, Study
from curvewise.trials import Trial, Trials
from curvewise.trials.trial import Value
from curvewise.zoo.faces import has_faces

ALGORITHMS = ("knn", "forest", "svm", "logistic", "network")
GENERATED = ("moons", "circles", "linear")


class Size(NamedTuple):
    """How much of the study is run.

    Parameters
    ----------
    untuned, tuned : int
        Trials of each algorithm on each task.
    configs : int
        How many configurations a tuned trial tries.
    settings : int
        Trials with each of the generators' settings moved.
    """

    untuned: int
    tuned: int
    configs: int
    settings: int


SIZES: dict[Scale, Size] = {
    "quick": Size(untuned=30, tuned=6, configs=8, settings=8),
    "kept": Size(untuned=400, tuned=60, configs=50, settings=60),
    "full": Size(untuned=2000, tuned=2000, configs=50, settings=100),
}


def run(runner: Runner) -> Results:
    """Run what the scale asks for, on faces too where the images are here."""
    return run_size(runner, SIZES[runner.scale], faces=has_faces())


def run_size(
    runner: Runner,
    size: Size,
    *,
    faces: bool,
    generated: Iterable[str] = GENERATED,
    algorithms: Iterable[str] = ALGORITHMS,
) -> Results:
    """Run both variants and the moved settings, and keep an accuracy for each trial."""
    names, kinds = tuple(generated), tuple(algorithms)
    tasks = [zoo.task(name) for name in (*names, *(("faces",) if faces else ()))]
    plain = [zoo.algorithm(name) for name in kinds]
    untuned = slim(
        runner.trials(Experiment(tasks, plain, size.untuned, SEED), "untuned")
    )
    # A store's name tells how many it tries: a smaller search is another algorithm.
    searching = [tuned(one, size.configs) for one in plain]
    searched = slim(
        runner.trials(
            Experiment(tasks, searching, size.tuned, SEED), f"tuned-{size.configs}"
        )
    )
    tables = {
        "cells": _cells([(untuned, 0), (searched, size.configs)]),
        "settings": settings_table(runner, untuned, size.settings),
    }
    return Results({"untuned": untuned, "tuned": searched}, tables)


def slim(trials: Trials) -> Trials:
    """Return the trials with their accuracy in place of confusion counts.

    One number instead of up to 49, and all that the paper tells.
    """
    accuracy = {
        task: {
            name: iter(values)
            for name, values in trials.where(task=task)
            .scores("accuracy", failed="worst")
            .items()
        }
        for task in trials.tasks
    }
    return Trials(
        Trial(
            *trial.key,
            {"accuracy": next(accuracy[trial.task][trial.algorithm])},
            steps=trial.steps,
            params={name: _flat(value) for name, value in trial.params.items()},
            seconds=trial.seconds,
        )
        for trial in trials
    )


def _flat(value: Value) -> Value:
    """Return the layers of a network as one text, which a table can hold."""
    return "-".join(map(str, value)) if isinstance(value, list) else value


def _cells(parts: Iterable[tuple[Trials, int]]) -> Table:
    """Return how many trials each cell has, what each tried, and how long it took."""
    rows = []
    for trials, configs in parts:
        cells = dict.fromkeys(trial.key[:2] for trial in trials)
        for task, name in cells:
            own = trials.where(task=task, algorithm=name)
            seconds = [trial.seconds for trial in own]
            rows.append((task, name, len(own), configs, float(np.mean(seconds))))
    columns = zip(*rows, strict=True)
    names = ("task", "algorithm", "trials", "configs", "seconds")
    return dict(zip(names, map(np.array, columns), strict=True))


STUDY = Study(
    name="classification",
    title="Table 1 and Figure 1: five classifiers on four tasks",
    about="k-NN, random forests, SVM, logistic regression and networks on moons, circles, "
    "four classes in ten dimensions, and faces. Untuned, each trial draws its "
    "hyperparameters, its data and its seed; tuned, it draws data and seed, tries 50 "
    "configurations by 3-fold cross-validation within its training set, and trains the "
    "best on all of it. What counts is the mean accuracy of the better half of the trials "
    "(CVaR at 0.5), and what tuning gains.",
    settled=(
        "The generators' settings are not told. Moons have noise 0.3; circles noise 0.2 "
        "and an inner radius of 0.5; the linear task has ten informative features, and "
        "uniform noise from 0 to 2 on each. With these the numbers of the table come out.",
        "Faces are the 1,288 grey images of 50 x 37 pixels that scikit-learn makes of "
        "Labeled Faces in the Wild for people with 70 or more, and 150 whitened principal "
        "components of the training images.",
        "The SVM's gamma is one over the number of features, the default of 2018.",
        "Networks have one of the 12 combinations of one or two layers, all as likely.",
        "C of logistic regression is log-uniform from 1e-4 to 1e4.",
        "Folds have equal shares of each class; of configurations with the same accuracy "
        "the first wins.",
        "Training and test set of a generated task are two draws, not the parts of one, so "
        "that either can be frozen. It shows in one place: logistic regression on circles.",
        "How far the generators' settings matter is measured: each is moved in 60 trials "
        "that are otherwise the same. The ten numbers of a column tell a setting up to a "
        "standard error, and what that moves a number by is allowed for.",
    ),
    cost={
        "quick": "4 minutes on 2 cores: 30 untuned and 6 tuned trials of each, 8 "
        "configurations",
        "kept": "10 core-hours: 400 untuned and 60 tuned trials of each",
        "full": "150 to 250 core-hours, 3 to 5 days on 2 cores: 2,000 trials of each. One "
        "tuned trial of all 20 took 442 seconds, 243 of them for logistic regression on "
        "faces; one untuned trial of all took 4",
    },
    run=run,
    claims=claims,
    figures=figures,
)
