"""The curves of this paper: whose they are, what is measured of them, those in print."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.engine.experiment import Algorithm, Experiment, Task
from curvewise.engine.supervised.growing import Growing, growing
from curvewise.engine.supervised.sizes import sizes_for
from curvewise.metrics import Floats
from curvewise.stats.learning import LeftOut, extrapolate, leave_one_size_out, stability
from curvewise.stats.powerlaw import PowerLaw, fit_power_law, light_fit
from curvewise.trials import Trials
from curvewise.zoo.estimators import Learner
from curvewise_papers.study import Runner, Scale, Table, columns, printed
from curvewise_papers.tasks import tabular_task
from curvewise_papers.transfer import Network, Source

# Pools of training examples that halve six times, about four fifths of each table.
POOLS = {"letter": 16_000, "magic": 15_232, "adult": 24_128}
ROWS = {"letter": 20_000, "magic": 19_020, "adult": 30_162}
STEPS = 7

_NETWORK = "sklearn.neural_network.MLPClassifier"
_TREES = "sklearn.ensemble"
_LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "naive Bayes": ("sklearn.naive_bayes.GaussianNB", {"var_smoothing": 1e-2}),
    "LDA": (
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        {"solver": "lsqr", "shrinkage": "auto"},
    ),
    "logistic": ("sklearn.linear_model.LogisticRegression", {"max_iter": 200}),
    "logistic, C 0.01": (
        "sklearn.linear_model.LogisticRegression",
        {"C": 0.01, "max_iter": 200},
    ),
    "1-NN": ("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 1}),
    "15-NN": ("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 15}),
    "tree": ("sklearn.tree.DecisionTreeClassifier", {}),
    "tree, leaves of 10": (
        "sklearn.tree.DecisionTreeClassifier",
        {"min_samples_leaf": 10},
    ),
    "forest": (f"{_TREES}.RandomForestClassifier", {"n_estimators": 100}),
    "extra trees": (f"{_TREES}.ExtraTreesClassifier", {"n_estimators": 100}),
    "boosting": (
        f"{_TREES}.HistGradientBoostingClassifier",
        {"max_iter": 30, "learning_rate": 0.2, "early_stopping": False},
    ),
    "SVM": ("sklearn.svm.SVC", {}),
    "SVM, C 10": ("sklearn.svm.SVC", {"C": 10.0}),
    "network": (_NETWORK, {"hidden_layer_sizes": (64,), "max_iter": 40}),
    "network, wide": (_NETWORK, {"hidden_layer_sizes": (128,), "max_iter": 40}),
    "network, deep": (_NETWORK, {"hidden_layer_sizes": (64, 64), "max_iter": 40}),
}


@dataclass(frozen=True, slots=True)
class Errors:
    """Runs a learner over growing training sets, and keeps the error only."""

    run: Growing

    def warm_up(self) -> None:
        """Import what trials need."""
        self.run.warm_up()

    def __call__(
        self, params: Mapping[str, Any], data: Any, rng: np.random.Generator
    ) -> Iterator[tuple[int, dict[str, float]]]:
        """Yield the size and the share of test examples that were called wrongly."""
        for n, scores in self.run(params, data, rng):
            counts = scores["counts"]
            yield n, {"error": float(1 - counts.trace() / counts.sum())}


def errors_of(name: str, fit: Any) -> Algorithm:
    """Return the algorithm that trains by `fit` at every size."""
    return Algorithm(name, {}, Errors(growing(fit, examples=False)))


def learners() -> list[Algorithm]:
    """Return sixteen learners and settings, in an order of their own."""
    return [
        errors_of(name, Learner(path, settings))
        for name, (path, settings) in _LEARNERS.items()
    ]


def table_task(name: str) -> Task:
    """Return a table in seven sizes that double, with every disjoint block of each."""
    pool = POOLS[name]
    design = sizes_for(pool, "doubling", steps=STEPS)
    return tabular_task(name, test=ROWS[name] - pool, sizes=design, lines="all")


# --- networks on half of the letters that may have learnt the other half before ----------


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
    others = {name: Learner(*settings) for name, settings in _FAMILIES.items()}
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


# --- how many trials at each scale, from which seeds -------------------------------------


_SPLITS: dict[Scale, int] = {"quick": 1, "kept": 1, "full": 4}
_LINES, _HALF_LINES = 2 ** (STEPS - 1), 16
_QUICK_TABLES = ("letter", "magic")
_QUICK_LEARNERS = (
    *("naive Bayes", "LDA", "logistic", "1-NN", "15-NN"),
    *("tree", "tree, leaves of 10", "SVM, C 10"),
)
_QUICK_NETWORKS = (
    *("scratch", "tuned", "random, frozen", "frozen"),
    *("scratch, jittered", "frozen, jittered", "logistic", "tree", "SVM"),
)


def run_tables(runner: Runner) -> Trials:
    """Return sixteen learners on three tables, every disjoint block of seven sizes."""
    quick = runner.scale == "quick"
    tables = _QUICK_TABLES if quick else tuple(POOLS)
    chosen = [a for a in learners() if not quick or a.name in _QUICK_LEARNERS]
    trials = _LINES * _SPLITS[runner.scale]
    plan = Experiment([table_task(t) for t in tables], chosen, trials, seed=2021)
    return runner.trials(plan, "tables")


def run_halves(runner: Runner) -> dict[str, Trials]:
    """Return networks and others on either half of the letters, by half."""
    quick = runner.scale == "quick"
    by_half = {}
    for seed, half in enumerate(HALVES):
        if quick and seed == 0:
            continue
        chosen = [a for a in algorithms(half) if not quick or a.name in _QUICK_NETWORKS]
        trials = _HALF_LINES * _SPLITS[runner.scale]
        plan = Experiment([half_task(half)], chosen, trials, seed=2022 + seed)
        by_half[half] = runner.trials(plan, half.replace(" ", "-").lower())
    return by_half


def lacks_tables() -> str:
    """Return what is missing of the tables that are learnt from."""
    folder = os.environ.get("CURVEWISE_DATA")
    wanted = [f"tabular/{name}.parquet" for name in (*POOLS, "satellite")]
    lacking = [w for w in wanted if not folder or not (Path(folder) / w).is_file()]
    if not lacking:
        return ""
    return (
        f"the files {', '.join(lacking)} in the folder that the environment variable "
        f"CURVEWISE_DATA names"
    )


# --- what models of a curve miss, how they move, what bands hold -------------------------


Rows: TypeAlias = list[dict[str, Any]]
Key: TypeAlias = tuple[str, str, int]

SHARES = (25.0, 50.0, 100.0, 200.0, 400.0)  # of the pool, in 400ths: the paper's axis
LEVELS = 7  # sizes: the pool over 64, 32, ..., 1
_LEVEL_LINES = 2 ** (LEVELS - 1)
_POOLS = 4  # quarters of the pool, each a design of its own
_SEED = 2021
_DIVERGED = 2.0  # times the error of half the data
TERMS: dict[str, Literal["power", "linear", "quadratic", "full"]] = {
    "alpha, eta, gamma": "power",
    "alpha, eta": "linear",
    "alpha, eta, delta": "quadratic",
    "alpha, eta, delta, gamma": "full",
}


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The errors of one learner on one table and split, in percent."""

    sizes: Floats
    errors: tuple[Floats, ...]

    @property
    def largest(self) -> list[Floats]:
        """The errors at the five largest sizes: 16, 8, 4, 2 and 1 of them."""
        return list(self.errors[-len(SHARES) :])

    @property
    def is_diverged(self) -> bool:
        """Whether more data made a model far worse: its training went wrong."""
        means = np.array([e.mean() for e in self.errors])
        return bool((means[1:] > _DIVERGED * means[:-1]).any())

    def quarter(self, i: int) -> list[Floats]:
        """Return those of one quarter of the pool: 16, 8, 4, 2 and 1 of them."""
        parts = self.errors[: LEVELS - 2]
        return [e[i * len(e) // _POOLS : (i + 1) * len(e) // _POOLS] for e in parts]

    def others(self, i: int) -> list[Floats]:
        """Return those of the other quarters."""
        parts = self.errors[: LEVELS - 2]
        return [
            np.delete(e, np.arange(i * len(e) // _POOLS, (i + 1) * len(e) // _POOLS))
            for e in parts
        ]


def blocks_of(trials: Trials) -> dict[Key, Blocks]:
    """Return the errors by table, learner and split."""
    blocks: dict[Key, Blocks] = {}
    for task in trials.tasks:
        for learner, points in trials.where(task=task).points("error").items():
            split, line = np.divmod(points.trial, _LEVEL_LINES)
            for draw in np.unique(split):
                here = split == draw
                size, place = points.size[here], line[here]
                value = 100 * points.value[here]
                sizes = np.unique(size)
                errors = tuple(
                    value[size == n][np.argsort(place[size == n])] for n in sizes
                )
                blocks[task, learner, int(draw)] = Blocks(sizes, errors)
    return blocks


def measured(trials: Trials) -> dict[str, Table]:
    """Return all tables of the study, without curves of which a model diverged."""
    blocks = {k: one for k, one in blocks_of(trials).items() if not one.is_diverged}
    return {
        "left_out": columns(_left_out(blocks), real=np.float32),
        "stability": columns(_stability(blocks), real=np.float32),
        "light": columns(_light(blocks), real=np.float32),
        "coverage": columns(list(_coverage(blocks)), real=np.float32),
    }


def _about(key: Key) -> dict[str, Any]:
    return dict(zip(("table", "learner", "split"), key, strict=True))


def _left_out(blocks: Mapping[Key, Blocks]) -> Rows:
    """Return what each model of Figure 2 predicts at a size that was left out."""
    models = printed("hoiem2021").tables["figure2"]["model"]
    check = leave_one_size_out(
        SHARES, [curve.largest for curve in blocks.values()], models, unit="percent"
    )
    return [
        {
            **_about(key),
            "model": model,
            "share": share,
            "observed": float(check.observed[c, i]),
            "predicted": float(check.predicted[m, c, i]),
        }
        for c, key in enumerate(blocks)
        for m, model in enumerate(models)
        for i, share in enumerate(SHARES)
    ]


def left_out_of(table: Table, tables: Sequence[str] | None = None) -> LeftOut:
    """Return what was left out again as one object, of all tables or of some."""
    here = np.ones(len(table["table"]), bool)
    if tables is not None:
        here = np.isin(np.asarray(table["table"], dtype=str), tables)
    models = tuple(dict.fromkeys(table["model"]))
    shape = (-1, len(models), len(SHARES))
    observed = np.asarray(table["observed"], np.float64)[here].reshape(shape)[:, 0]
    predicted = np.asarray(table["predicted"], np.float64)[here].reshape(shape)
    curves = tuple(f"curve {i + 1}" for i in range(len(observed)))
    return LeftOut(
        np.array(SHARES), models, curves, observed, predicted.transpose(1, 0, 2)
    )


def _stability(blocks: Mapping[Key, Blocks]) -> Rows:
    """Return how refits of four resampled points move, and what they miss beyond.

    One point at each of the pool over 32, 16, 8 and 4; what is looked at beyond are half
    of the smallest and four times the largest, as 25 and 1600 are in the paper.
    """
    rows: Rows = []
    for key, curve in blocks.items():
        means = np.array([e.mean() for e in curve.errors])
        inner = slice(1, LEVELS - 2)
        sds = np.array([e.std(ddof=1) for e in curve.errors[inner]])
        for name, terms in TERMS.items():
            refits = stability(
                curve.sizes[inner],
                means[inner],
                sds,
                to=curve.sizes[[0, -1]],
                unit="percent",
                method="paper",
                terms=terms,
                rng=np.random.default_rng(_SEED),
            )
            sd = [float(x[0]) for x in refits.sd.values()]
            missed = refits.predictions[0] - means[[0, -1]]
            off = np.sqrt((missed**2).mean(axis=0))
            rows.append(
                {
                    **_about(key),
                    "model": name,
                    **dict(zip(("e_N", "beta_N", "gamma", "alpha"), sd, strict=False)),
                    "below": float(off[0]),
                    "beyond": float(off[1]),
                }
            )
    return rows


def _light(blocks: Mapping[Key, Blocks]) -> Rows:
    """Return error and data-reliance of the full and of the light fit."""
    rows: Rows = []
    for key, curve in blocks.items():
        full = _paper(curve.sizes[-5:], curve.largest)
        line = light_fit(
            curve.sizes[-5:], curve.largest, unit="percent", method="paper"
        )
        rows.append(
            {
                **_about(key),
                "e_N": full.e_N,
                "beta_N": full.beta_N,
                "gamma": full.gamma,
                "light_e_N": line.e_N,
                "light_beta_N": line.beta_N,
            }
        )
    return rows


def _paper(sizes: Floats, errors: Sequence[Floats]) -> PowerLaw:
    return fit_power_law(sizes, errors, unit="percent", method="paper")


def _coverage(blocks: Mapping[Key, Blocks]) -> Iterator[dict[str, Any]]:
    """Yield intervals from one quarter of the pool, and what the rest of it says."""
    for key, curve in blocks.items():
        noise = fit_power_law(curve.sizes, curve.errors, unit="percent").noise(
            curve.sizes
        )
        for i in range(_POOLS):
            rest = [*curve.others(i), *curve.errors[LEVELS - 2 :]]
            quarter, sizes = curve.quarter(i), curve.sizes[: LEVELS - 2]
            bounds = {
                "printed": _paper(sizes, quarter).interval(curve.sizes),
                "calibrated": fit_power_law(sizes, quarter, unit="percent").interval(
                    curve.sizes
                ),
                "forecast": extrapolate(
                    sizes, quarter, to=curve.sizes[-1], unit="percent"
                ).interval(curve.sizes),
            }
            for method, band in bounds.items():
                for k in range(LEVELS):
                    yield {
                        **_about(key),
                        "quarter": i,
                        "method": method,
                        "level": k,
                        "observed": float(rest[k].mean()),
                        "noise": float(np.sqrt(noise[k] / len(rest[k]))),
                        "value": float(band.value[k]),
                        "lower": float(band.lower[k]),
                        "upper": float(band.upper[k]),
                    }


def holds(table: Table, level: float = 1.96) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return whether each interval holds what was observed, whose noise makes it wider.

    >>> bounds = {"value": [1.0, 1.0], "lower": [0.9, 0.9], "upper": [1.1, 1.1]}
    >>> holds({**bounds, "observed": [1.15, 1.15], "noise": [0.0, 0.1]}).tolist()
    [False, True]
    """
    names = ("observed", "value", "lower", "upper", "noise")
    observed, value, lower, upper, noise = (np.asarray(table[n]) for n in names)
    apart = observed - value
    room = np.where(apart < 0, value - lower, upper - value)
    return np.asarray(np.abs(apart) <= np.hypot(room, level * noise))


# --- Table 3 as curves, and what its identities say of them ------------------------------


N = 400  # images of each class
SIZES = (25, 50, 100, 200, 400)
HALF = 0.005  # of the last printed digit
_SWAPPED = ("Pretr on Places", "Pretr on Imagenet with MOCO")


@dataclass(frozen=True, slots=True)
class Columns:
    """One fit of Table 3: a number for each row."""

    alpha: Floats
    eta: Floats
    gamma: Floats
    error: Floats
    reliance: Floats

    @property
    def error_off(self) -> Floats:
        """The printed error less that of the printed curve at 400."""
        return self.error - self.alpha - self.eta * N**self.gamma

    @property
    def reliance_off(self) -> Floats:
        """The printed data-reliance less that of the printed curve at 400."""
        return self.reliance + 2 * self.eta * self.gamma * N**self.gamma

    @property
    def error_rounding(self) -> Floats:
        """How far rounding of three numbers can take the first."""
        return np.asarray(HALF * (2 + N**self.gamma))

    @property
    def reliance_rounding(self) -> Floats:
        """How far rounding of two numbers can take the second."""
        return np.asarray(HALF * (1 + 2 * np.abs(self.gamma) * N**self.gamma))


def _column(name: str) -> Floats:
    return np.array(printed("hoiem2021").tables["table3"][name], dtype=np.float64)


def full() -> Columns:
    """Return the power laws of Table 3.

    >>> columns = full()
    >>> len(columns.alpha), bool((abs(columns.error_off) < 0.0105).all())
    (42, True)
    """
    return Columns(*(_column(n) for n in ("alpha", "eta", "gamma", "e400", "beta400")))


def light(*, put_right: bool = False) -> Columns:
    """Return its lines through three sizes, two swapped rows put right if asked for."""
    names = ("light_alpha", "light_eta", "light_e400", "light_beta400")
    alpha, eta, error, reliance = (_column(n) for n in names)
    order = np.arange(len(alpha))
    if put_right:
        labels = printed("hoiem2021").tables["table3"]["label"]
        one, other = (labels.index(name) for name in _SWAPPED)
        order[[one, other]] = other, one
    gamma = np.full(len(alpha), -0.5)
    return Columns(alpha[order], eta[order], gamma, error[order], reliance[order])


def apart(one: Columns, other: Columns) -> tuple[float, float]:
    """Return the root mean square difference of errors and of data-reliances.

    >>> [round(x, 4) for x in apart(light(), full())]
    [0.4187, 0.9459]
    """
    error = np.sqrt(np.mean((one.error - other.error) ** 2))
    reliance = np.sqrt(np.mean((one.reliance - other.reliance) ** 2))
    return float(error), float(reliance)


@cache
def laws() -> dict[tuple[str, str], PowerLaw]:
    """Return the printed curves by block and label, from alpha, eta and gamma.

    >>> round(float(laws()["DEPTH_FT", "Resnet-18"].error(1600)), 2)
    15.38
    """
    theirs = printed("hoiem2021").tables["table3"]
    keys = zip(theirs["block"], theirs["label"], strict=True)
    table = full()
    return {
        key: PowerLaw(alpha, eta, 0.0, gamma, float(N), "percent")
        for key, alpha, eta, gamma in zip(
            keys,
            table.alpha.tolist(),
            table.eta.tolist(),
            table.gamma.tolist(),
            strict=True,
        )
    }
