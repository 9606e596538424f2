"""Table 1 as numbers: as printed, from our trials, and drawn."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from curvewise import zoo
from curvewise.engine.experiment import Experiment, Task
from curvewise.engine.supervised.data import Supervised
from curvewise.figures.chart import Chart
from curvewise.metrics import Floats
from curvewise.questions.performance import performance
from curvewise.questions.performance.charts import quantile_chart
from curvewise.questions.robustness import robustness
from curvewise.questions.robustness.charts import gain_chart
from curvewise.stats.functionals import Functional
from curvewise.text import joined, percent
from curvewise.trials import Trials
from curvewise_papers.study import Figure, Results, Runner, Table, columns, printed

SEED = 2018  # of every experiment here, so that a moved setting meets the same draws
BEST_HALF = Functional("cvar", 0.5)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a generator that the paper leaves out."""

    task: str
    name: str
    value: float
    moved: float

    def apart(self) -> Task:
        """Return the task with the setting moved, under the same name.

        Data hang on the name of their task: the moved task draws the same points, with
        more noise, so that trials with the same number are pairs.
        """
        if self.task == "linear":
            task = zoo.task(self.task)
            # Uniform noise of width w has the variance w^2 / 12.
            sd = float(np.sqrt((self.moved**2 - self.value**2) / 12))
            return Task(task.name, Blurred(task.sample, sd))
        return zoo.task(self.task, **{self.name: self.moved})


SETTINGS = (
    Setting("moons", "noise", 0.3, 0.35),
    Setting("circles", "noise", 0.2, 0.25),
    Setting("circles", "factor", 0.5, 0.55),
    Setting("linear", "width", 2.0, 2.5),
)


@dataclass(frozen=True, slots=True)
class Blurred:
    """Draws what another sampler draws, with normal noise on every number."""

    sample: Any
    sd: float

    def warm_up(self) -> None:
        """Import what trials need."""
        self.sample.warm_up()

    def __call__(
        self, train_rng: np.random.Generator, test_rng: np.random.Generator
    ) -> Supervised:
        """Return the data, blurred."""
        data: Supervised = self.sample(train_rng, test_rng)
        noise = self.sd * train_rng.standard_normal(data.X.shape)
        return replace(data, X=data.X + noise)


_SETTINGS_COLUMNS = ("task", "setting", "algorithm", "trials", "change", "error")


def settings_table(runner: Runner, untuned: Trials, trials: int) -> Table:
    """Return how the mean of the best half changes when a setting is moved."""
    rows = []
    for setting in SETTINGS:
        if setting.task not in untuned.tasks:
            continue
        before = untuned.where(task=setting.task).scores("accuracy")
        plain = [zoo.algorithm(name) for name in before]
        moved = Experiment([setting.apart()], plain, trials, SEED)
        name = f"{setting.task}-{setting.name}-{setting.moved:g}"
        after = runner.trials(moved, name).scores("accuracy")
        for algorithm in before:
            change, error = _change(before[algorithm][:trials], after[algorithm])
            row = (setting.task, setting.name, algorithm, trials, change, error)
            rows.append(dict(zip(_SETTINGS_COLUMNS, row, strict=True)))
    return columns(rows, _SETTINGS_COLUMNS)


def _change(before: Floats, after: Floats) -> tuple[float, float]:
    """Return the change of the mean of the best half, and its standard error."""
    n = min(len(before), len(after))
    changes = BEST_HALF.contributions(after[:n]) - BEST_HALF.contributions(before[:n])
    return float(changes.mean()), float(changes.std(ddof=1) / n**0.5)


def slopes(table: Mapping[str, Any]) -> dict[Setting, dict[str, float]]:
    """Return by how much a number changes when a setting grows by 1, for each algorithm.

    Examples
    --------
    >>> row = {"task": ["moons"], "setting": ["noise"], "algorithm": ["knn"]}
    >>> found = slopes(row | {"change": [-0.02]})
    >>> round(found[SETTINGS[0]]["knn"], 3)
    -0.4
    """
    by_setting: dict[Setting, dict[str, float]] = {setting: {} for setting in SETTINGS}
    settings = {(setting.task, setting.name): setting for setting in SETTINGS}
    columns = (table[key] for key in ("task", "setting", "algorithm", "change"))
    for task, name, algorithm, change in zip(*columns, strict=True):
        setting = settings[str(task), str(name)]
        by = setting.moved - setting.value
        by_setting[setting][str(algorithm)] = float(change) / by
    return by_setting


# --- Table 1 as printed, and from our trials ---------------------------------------------


Variant: TypeAlias = Literal["untuned", "tuned"]
Key: TypeAlias = tuple[Variant, str, str]  # variant, algorithm, task

VARIANTS: tuple[Variant, ...] = ("tuned", "untuned")
LABELS = {
    "knn": "k-NN",
    "forest": "RF",
    "svm": "SVM",
    "logistic": "LR",
    "network": "NN",
}
ROUNDING = 0.0005  # half a unit of the last printed digit


class Number(NamedTuple):
    """The mean of the best half of a cell's trials."""

    value: float
    error: float
    trials: int
    configs: int
    moved: float = 0.0
    luck: float = 0.0

    def error_of(self, trials: int) -> float:
        """Return what the standard error is with another number of trials."""
        return self.error * math.sqrt(self.trials / trials)


def table1() -> Mapping[str, Any]:
    """Return Table 1 with its tasks and numbers of trials."""
    table: Mapping[str, Any] = printed("jordan2018").tables["table1"]
    return table


def printed_numbers() -> dict[Key, float]:
    """Return the numbers of Table 1, cell by cell.

    >>> printed_numbers()["tuned", "svm", "faces"]
    0.796
    """
    table = table1()
    return {
        (variant, name, task): value
        for variant in VARIANTS
        for name in LABELS
        for task, value in zip(table["tasks"], table[variant][name], strict=True)
    }


def named(variant: Variant, algorithm: str) -> str:
    """Return what an algorithm is called among the trials.

    >>> named("tuned", "svm")
    'svm tuned'
    """
    return f"{algorithm} tuned" if variant == "tuned" else algorithm


def our_numbers(results: Results) -> dict[Key, Number]:
    """Return the same numbers from our trials, for the cells that were run."""
    cells = results.tables["cells"]
    configs = {
        (str(task), str(name)): int(tried)
        for task, name, tried in zip(
            cells["task"], cells["algorithm"], cells["configs"], strict=True
        )
    }
    untuned = results.trials["untuned"]
    numbers: dict[Key, Number] = {}
    for variant in VARIANTS:
        for task in results.trials[variant].tasks:
            for name in LABELS:
                scores = _numbered(results.trials[variant], task, named(variant, name))
                if scores:
                    numbers[variant, name, task] = Number(
                        *_best_half(np.array(list(scores.values()))),
                        len(scores),
                        configs[task, named(variant, name)],
                        luck=_luck(_numbered(untuned, task, "forest"), scores),
                    )
    moved = _moved(numbers, results.tables["settings"])
    return {key: one._replace(moved=moved[key]) for key, one in numbers.items()}


def _numbered(trials: Trials, task: str, algorithm: str) -> dict[int, float]:
    """Return the scores of a cell by the numbers of its trials; none if it was not run."""
    if task not in trials.tasks or algorithm not in trials.algorithms:
        return {}
    cell = trials.where(task=task, algorithm=algorithm)
    if not len(cell):
        return {}
    scores = cell.scores("accuracy")[algorithm]
    return dict(zip(cell.core.number.tolist(), scores.tolist(), strict=True))


def _luck(everywhere: Mapping[int, float], numbers: Iterable[int]) -> float:
    """Return how much better the best half of some trials is than that of all."""
    same = [everywhere[number] for number in numbers if number in everywhere]
    if not same:
        return 0.0
    return BEST_HALF.value(same) - BEST_HALF.value(list(everywhere.values()))


def _moved(numbers: Mapping[Key, Number], settings: Table) -> dict[Key, float]:
    """Return how far each number moves with the settings of its task.

    The settings were chosen so that a column of Table 1 comes out; how well it tells them
    follows from the standard errors of its ten numbers, as for any slope through 0.
    """
    trials = table1()["trials"]
    moved = dict.fromkeys(numbers, 0.0)
    for setting, slope in slopes(settings).items():
        column = [key for key in numbers if key[2] == setting.task]
        errors = {key: _error(numbers[key], trials) for key in column}
        effects = {key: slope.get(key[1], 0.0) for key in column}
        information = sum((effects[key] / errors[key]) ** 2 for key in column)
        for key in column if information else ():
            moved[key] += abs(effects[key]) / math.sqrt(information)
    return moved


def _error(number: Number, trials: int) -> float:
    """Return the standard error of ours less the print, whose digits end somewhere."""
    return max(math.hypot(number.error, number.error_of(trials)), ROUNDING)


def _best_half(scores: Floats) -> tuple[float, float]:
    """Return the mean of the best half of the trials, and its standard error."""
    n = len(scores)
    spread = np.std(BEST_HALF.contributions(scores), ddof=1) if n > 1 else 0.0
    return BEST_HALF.value(scores), float(spread) / n**0.5


def gains(numbers: Mapping[Key, float]) -> dict[tuple[str, str], float]:
    """Return what tuning gains: (algorithm, task) to tuned less untuned.

    >>> gain = gains(printed_numbers())
    >>> round(gain["svm", "circles"], 3)
    0.083
    """
    return {
        (name, task): value - numbers["untuned", name, task]
        for (variant, name, task), value in numbers.items()
        if variant == "tuned" and ("untuned", name, task) in numbers
    }


# --- Figure 1, and what tuning gains -----------------------------------------------------


_ROWS: tuple[Variant, ...] = ("untuned", "tuned")
_MARGIN = 0.02


def figures(results: Results) -> Sequence[Figure]:
    """Return Figure 1, untuned above tuned, and what tuning gains."""
    tasks = results.trials["untuned"].tasks
    charts = []
    for variant in _ROWS:
        answer = performance(
            results.trials[variant], "accuracy", band="equal_local_levels"
        )
        for task in tasks:
            chart = _named(quantile_chart(answer, task))
            title, ends = f"{task}, {variant}", _ends(results, task)
            charts.append(replace(chart, title=title, y_range=ends))
    gained = robustness(Trials.concat(_both(results)), "accuracy")
    return (
        Figure(
            "figure-1",
            "Figure 1: accuracy on the test set, inverse CDF",
            tuple(charts),
            "Above untuned, below tuned, each algorithm in the same colour. As in the "
            "paper, tuned algorithms have curves of one shape on each task, LR on circles "
            "and linear apart, and rare trials at either end are far better or worse than "
            f"all others.{_fallen(results)}",
            columns=len(tasks),
        ),
        Figure(
            "gains",
            "What tuning gains, from the worst trials to the best",
            tuple(_named(gain_chart(gained, task)) for task in tasks),
            "Not in the paper, which compares two plots by eye. Tuning removes bad trials: "
            "gains are large at the left, among the worst trials, and vanish at the right. "
            "Where a band lies above 0 the gain is sure at that quantile, for all "
            "algorithms and tasks at once.",
            columns=len(tasks),
        ),
    )


def _ends(results: Results, task: str) -> tuple[float, float]:
    """Return from where to where scores of a task go, the same in both rows.

    Bands go to 0 and 1 in the tails, which would flatten the curves.
    """
    rows = [trials.where(task=task).scores("accuracy") for trials in _both(results)]
    scores = [values for by_name in rows for values in by_name.values()]
    low = min(float(values.min()) for values in scores)
    high = max(float(values.max()) for values in scores)
    return low - _MARGIN, high + _MARGIN


def _fallen(results: Results) -> str:
    """Return how many untuned trials of the SVM are worse than k-NN ever is."""
    parts = []
    for task in results.trials["untuned"].tasks:
        scores = results.trials["untuned"].where(task=task).scores("accuracy")
        if "svm" in scores and "knn" in scores:
            share = float((scores["svm"] < scores["knn"].min()).mean())
            parts.append(f"{percent(round(share, 2))} on {task}")
    if not parts:
        return ""
    return (
        f" Untuned, the SVM falls behind: of its trials, {joined(parts)} are worse than "
        f"the worst of k-NN."
    )


def _both(results: Results) -> tuple[Trials, Trials]:
    return results.trials["untuned"], results.trials["tuned"]


def _named(chart: Chart) -> Chart:
    """Return a chart with the names of the paper, tuned or not in the same colours."""
    places = list(LABELS)
    names = [one.name.removesuffix(" tuned") for one in chart.series]
    series = [
        replace(one, name=LABELS[name], look=places.index(name))
        for one, name in zip(chart.series, names, strict=True)
    ]
    series.sort(key=lambda one: one.look or 0)
    leaders = tuple(LABELS[name.removesuffix(" tuned")] for name in chart.leaders)
    return replace(chart, series=tuple(series), leaders=leaders)
