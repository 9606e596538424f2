"""Networks on half of the letters that may have learnt the other half before."""

from collections.abc import Mapping
from typing import Any

from curvewise.engine.experiment import Algorithm, Task
from curvewise.papers.hoiem2021.learners import errors_of
from curvewise.zoo.fitting import Learner
from curvewise.zoo.tabular import tabular_task
from curvewise.zoo.transfer import Network, Source

POOL = 8_000
HALVES = {"A to M": tuple("ABCDEFGHIJKLM"), "N to Z": tuple("NOPQRSTUVWXYZ")}
_ROWS = {"A to M": 9_940, "N to Z": 10_060}
_FEATURES = 16

_SMALL, _DEEPER, _DEEPEST = (64,), (64, 64), (64, 64, 64)
_WIDE, _WIDE_DEEPER = (128,), (128, 128)
# Learning rates were chosen by the mean error of two quarters of each half, of another
# split, from scratch and tuned: Adam .01 (of .001 to .03), these .3 (of .03 to .3) and 1
# (of .1 to 1).
_MOMENTUM: dict[str, Any] = {"solver": "sgd", "momentum": 0.9, "rate": 0.3}
_SGD: dict[str, Any] = {"solver": "sgd", "rate": 1.0}

_FAMILIES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "logistic": ("sklearn.linear_model.LogisticRegression", {"max_iter": 200}),
    "tree": ("sklearn.tree.DecisionTreeClassifier", {}),
    "forest": ("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 100}),
    "SVM": ("sklearn.svm.SVC", {"C": 10.0}),
}


def networks(half: str) -> dict[str, Network]:
    """Return networks for one half of the letters, by name."""
    other = next(name for name in HALVES if name != half)
    labels = Source("letter", HALVES[other])
    inputs = Source("letter", HALVES[other], "inputs")
    elsewhere = Source("satellite", features=_FEATURES)
    return {
        "scratch": Network(_SMALL),
        "scratch, momentum": Network(_SMALL, **_MOMENTUM),
        "scratch, SGD": Network(_SMALL, **_SGD),
        "tuned": Network(_SMALL, labels),
        "tuned, momentum": Network(_SMALL, labels, **_MOMENTUM),
        "tuned, SGD": Network(_SMALL, labels, **_SGD),
        "random, frozen": Network(_SMALL, is_tuned=False),
        "frozen": Network(_SMALL, labels, is_tuned=False),
        "inputs, tuned": Network(_SMALL, inputs),
        "satellite, tuned": Network(_SMALL, elsewhere),
        "2 layers, tuned": Network(_DEEPER, labels),
        "3 layers, tuned": Network(_DEEPEST, labels),
        "2 layers, frozen": Network(_DEEPER, labels, is_tuned=False),
        "3 layers, frozen": Network(_DEEPEST, labels, is_tuned=False),
        "wide, tuned": Network(_WIDE, labels),
        "wide, 2 layers, tuned": Network(_WIDE_DEEPER, labels),
        "wide, frozen": Network(_WIDE, labels, is_tuned=False),
        "wide, 2 layers, frozen": Network(_WIDE_DEEPER, labels, is_tuned=False),
        "6 tuned": Network(_SMALL, labels, members=6),
        "scratch, jittered": Network(_SMALL, copies=3),
        "tuned, jittered": Network(_SMALL, labels, copies=3),
        "frozen, jittered": Network(_SMALL, labels, is_tuned=False, copies=3),
    }


def algorithms(half: str) -> list[Algorithm]:
    """Return the networks for one half of the letters, and four other families."""
    others = {name: Learner(*told) for name, told in _FAMILIES.items()}
    return [errors_of(name, fit) for name, fit in {**networks(half), **others}.items()]


def half_task(half: str) -> Task:
    """Return one half of the letters: 500 to 8,000 examples, with 16 to 1 models."""
    return tabular_task(
        "letter",
        labels=HALVES[half],
        test=_ROWS[half] - POOL,
        sizes="cifar100",
        lines="all",
        name=half,
    )
