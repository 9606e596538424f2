"""From trials to arrays: what was validated, block by block, and what was true."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise import metrics
from curvewise.engine.experiment import Algorithm, Experiment
from curvewise.engine.supervised.data import Supervised
from curvewise.metrics import Metric
from curvewise.stats.confusion import Examples
from curvewise.trials import Trial
from curvewise.zoo import exp2_task, simple_task
from curvewise.zoo.estimators import Learner
from curvewise_papers.study import Scale

Ints: TypeAlias = NDArray[np.int64]

SIZES = (40, 80, 160, 320, 640, 1280)
TEST = 320
TASKS = ("simple", "exp2")
WHOLE, PART = "whole", "two thirds"  # of a block: what a model was trained on
CELLS = ("tn", "fp", "fn", "tp")
MEANS = ("precision", "f1")  # which are not linear in the counts
SEED = 2025

LEARNERS: dict[str, str] = {
    "LR": "sklearn.linear_model.LogisticRegression",
    "LDA": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "NB": "sklearn.naive_bayes.GaussianNB",
    "TREE": "sklearn.tree.DecisionTreeClassifier",
    "RF": "sklearn.ensemble.RandomForestClassifier",
    "MLP": "sklearn.neural_network.MLPClassifier",
}
# Learners that take about as long share a store, and a number of replications.
GROUPS: dict[str, tuple[str, ...]] = {
    "fast": ("LR", "LDA", "NB", "TREE"),
    "forests": ("RF",),
    "networks": ("MLP",),
}
REPLICATIONS: dict[Scale, dict[str, int]] = {
    "quick": {"fast": 60, "moved": 5},  # forests and networks take minutes each
    "kept": {"fast": 1000, "forests": 30, "networks": 80, "moved": 100},
    "full": {"fast": 1000, "forests": 1000, "networks": 1000, "moved": 100},
}


@dataclass(frozen=True, slots=True)
class Blocks:
    """Trains a learner on every disjoint block of every size: what a trial runs.

    Of each block a random third is held out. A model of the other two thirds is validated
    on it, and tested; a model of the whole block is tested. A trial yields for each size

    - ``counts``, ``correct``, ``examples``: of validation, all blocks together. The
      example at place i of the sample is 2 i if it is of class 0, 2 i + 1 if of class 1,
      so that blocks and classes can be told apart afterwards (`answers`);
    - ``trained_on``: how many examples of a block train where a third is held out;
    - ``whole tn``, ...: counts of the test set, summed over models; ``whole precision``
      and ``whole f1``, which are no sums, averaged over models; the same for the models of
      ``two thirds``.
    """

    fit: Learner
    sizes: tuple[int, ...] = SIZES

    def warm_up(self) -> None:
        """Import what trials need."""
        self.fit.warm_up()

    def __call__(
        self, params: Mapping[str, Any], data: Supervised, rng: np.random.Generator
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield what comes of each size."""
        X, y = data.train()
        X_test, y_test = data.test
        for size in self.sizes:
            tested: dict[str, list[Ints]] = {WHOLE: [], PART: []}
            ids, correct, counts = [], [], np.zeros((2, 2), np.int64)
            for start in range(0, len(y) - size + 1, size):
                block = start + rng.permutation(size)
                third, rest = block[: size // 3], block[size // 3 :]
                model = self.fit(params, X[rest], y[rest], rng)
                guesses = model(X[third])
                counts += counted(y[third], guesses)
                ids.append(2 * third + y[third])
                correct.append(guesses == y[third])
                tested[PART].append(counted(y_test, model(X_test)))
                model = self.fit(params, X[block], y[block], rng)
                tested[WHOLE].append(counted(y_test, model(X_test)))
            yield (
                size,
                {
                    "counts": counts,
                    "correct": np.concatenate(correct),
                    "examples": np.concatenate(ids),
                    "trained_on": size - size // 3,
                    **{k: v for name in tested for k, v in _told(name, tested[name])},
                },
            )


def counted(y: Ints, said: Ints) -> Ints:
    """Return the confusion matrix, [[tn, fp], [fn, tp]].

    >>> counted(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    [[1, 1], [0, 1]]
    """
    return np.bincount(2 * y + said, minlength=4).reshape(2, 2)


def experiment(learners: tuple[str, ...], replications: int) -> Experiment:
    """Return the trials of some learners on both tasks; a trial is one replication.

    >>> experiment(("LDA", "NB"), 1000).size
    4000
    """
    return Experiment(
        [simple_task(test=TEST), exp2_task(test=TEST)],
        [Algorithm(name, {}, Blocks(Learner(LEARNERS[name], {}))) for name in learners],
        trials=replications,
        seed=SEED,
        metrics=[
            Metric(f"{name} {metric}", "lower" if metric in ("fp", "fn") else "higher")
            for name in (WHOLE, PART)
            for metric in (*CELLS, *MEANS)
        ],
    )


def _told(name: str, tested: list[Ints]) -> Iterator[tuple[str, float]]:
    """Yield what models did on the test set, by name."""
    every = np.array(tested)
    for cell, count in zip(CELLS, every.sum(0).ravel().tolist(), strict=True):
        yield f"{name} {cell}", count
    for mean in MEANS:
        yield f"{name} {mean}", float(getattr(metrics, mean)(every).mean())


# --- from trials to arrays: what was validated, block by block, and what was true --------


Floats: TypeAlias = NDArray[np.float64]

METRICS = ("error", "precision", "recall", "f1")
SAMPLE = 1280


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a learner did on a task, replication by replication."""

    trained_on: Floats
    validated: tuple[Floats, ...]
    examples: tuple[Examples, ...]
    tested: Floats
    truth: Floats
    truth_part: Floats

    def __len__(self) -> int:
        return len(self.tested)

    def first(self, count: int) -> "Answers":
        """Return the first replications."""
        return Answers(
            self.trained_on,
            tuple(blocks[:count] for blocks in self.validated),
            self.examples[:count],
            self.tested[:count],
            self.truth[:, :count],
            self.truth_part[:, :count],
        )

    @property
    def summed(self) -> Floats:
        """Validation counts over all blocks, shape (replication, size, 2, 2)."""
        return np.stack([blocks.sum(1) for blocks in self.validated], axis=1)

    @property
    def mean(self) -> Floats:
        """Metrics of the matrix averaged over replications, shape (metric, size)."""
        every = self.tested.mean(0)
        return np.array([getattr(metrics, name)(every) for name in METRICS])


def answers(trials: Iterable[Trial]) -> Answers:
    """Return what trials of `Blocks` tell, one replication each."""
    every = list(trials)
    right, asked, classes = (
        np.array(part) for part in zip(*map(_marks, every), strict=True)
    )
    metrics = {
        name: np.array([np.asarray(trial.metrics[name]) for trial in every])
        for name in every[0].metrics
    }
    cells = np.stack([metrics[f"{WHOLE} {cell}"] for cell in CELLS], axis=-1)
    tested = (
        cells.reshape(*cells.shape[:2], 2, 2)
        / (SAMPLE / np.array(SIZES))[:, None, None]
    )
    return Answers(
        trained_on=metrics["trained_on"][0],
        validated=tuple(
            _by_block(right[:, k], asked[:, k], classes, size)
            for k, size in enumerate(SIZES)
        ),
        examples=tuple(map(Examples, classes, right, asked)),
        tested=tested,
        truth=_truth(metrics, WHOLE),
        truth_part=_truth(metrics, PART),
    )


def _marks(trial: Trial) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return who was right, who was asked (size, place), and the class of each place."""
    if trial.correct is None or trial.examples is None:
        raise TypeError("a trial without answers")
    place = trial.examples // 2
    is_asked = ~np.ma.getmaskarray(trial.correct)
    is_right = np.ma.getdata(trial.correct) & is_asked
    right, asked = np.zeros((2, len(is_asked), SAMPLE))
    right[:, place], asked[:, place] = is_right, is_asked
    # Who was never asked has no class here, and needs none.
    classes = np.zeros(SAMPLE, np.int64)
    classes[place] = trial.examples % 2
    return right, asked, classes


def _by_block(
    right: Floats, asked: Floats, classes: NDArray[np.int64], size: int
) -> Floats:
    shape = len(right), -1, size
    out = np.empty((len(right), right.shape[1] // size, 2, 2))
    for c in (0, 1):
        is_own = classes == c
        good = (right * is_own).reshape(shape).sum(-1)
        out[..., c, c] = good
        out[..., c, 1 - c] = (asked * is_own).reshape(shape).sum(-1) - good
    return out


def _truth(metrics: dict[str, Floats], of: str) -> Floats:
    """Return metrics averaged over models, shape (metric, replication, size)."""
    tn, fp, fn, tp = (metrics[f"{of} {cell}"] for cell in CELLS)
    wrong, recall = (fp + fn) / (tn + fp + fn + tp), tp / (tp + fn)
    precision, f1 = (metrics[f"{of} {mean}"] for mean in MEANS)
    return np.stack([wrong, precision, recall, f1])
