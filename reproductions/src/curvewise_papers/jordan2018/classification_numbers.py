"""Table 1 as printed, and the same numbers from our trials."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.jordan2018.classification_settings import BEST_HALF, slopes
from curvewise.papers.printed import printed
from curvewise.papers.results import Results, Table
from curvewise.trials import Trials

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
    """The mean of the best half of a cell's trials.

    Parameters
    ----------
    value, error : float
        It, and its standard error.
    trials : int
    configs : int
        How many configurations each trial tried; 0 where it took the first.
    moved : float
        How far it moves with the settings that the paper leaves out: by one standard
        error of each, as the whole column tells it.
    luck : float
        How much better untuned RF, which varies least, is on the same data than on all
        there are: trials of the same number share them.
    """

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
    found: dict[Key, Number] = {}
    for variant in VARIANTS:
        for task in results.trials[variant].tasks:
            for name in LABELS:
                own = _numbered(results.trials[variant], task, named(variant, name))
                if own:
                    found[variant, name, task] = Number(
                        *_best_half(np.array(list(own.values()))),
                        len(own),
                        configs[task, named(variant, name)],
                        luck=_luck(_numbered(untuned, task, "forest"), own),
                    )
    moved = _moved(found, results.tables["settings"])
    return {key: one._replace(moved=moved[key]) for key, one in found.items()}


def _numbered(trials: Trials, task: str, algorithm: str) -> dict[int, float]:
    """Return the scores of a cell by the numbers of its trials; none if it was not run."""
    if task not in trials.tasks or algorithm not in trials.algorithms:
        return {}
    own = trials.where(task=task, algorithm=algorithm)
    if not len(own):
        return {}
    scores = own.scores("accuracy")[algorithm]
    return dict(zip(own.core.number.tolist(), scores.tolist(), strict=True))


def _luck(everywhere: Mapping[int, float], numbers: Iterable[int]) -> float:
    """Return how much better the best half of some trials is than that of all."""
    same = [everywhere[number] for number in numbers if number in everywhere]
    if not same:
        return 0.0
    return BEST_HALF.value(same) - BEST_HALF.value(list(everywhere.values()))


def _moved(found: Mapping[Key, Number], settings: Table) -> dict[Key, float]:
    """Return how far each number moves with the settings of its task.

    The settings were chosen so that a column of Table 1 comes out; how well it tells them
    follows from the standard errors of its ten numbers, as for any slope through 0.
    """
    trials = table1()["trials"]
    moved = dict.fromkeys(found, 0.0)
    for setting, slope in slopes(settings).items():
        column = [key for key in found if key[2] == setting.task]
        errors = {key: _error(found[key], trials) for key in column}
        own = {key: slope.get(key[1], 0.0) for key in column}
        information = sum((own[key] / errors[key]) ** 2 for key in column)
        for key in column if information else ():
            moved[key] += abs(own[key]) / math.sqrt(information)
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
