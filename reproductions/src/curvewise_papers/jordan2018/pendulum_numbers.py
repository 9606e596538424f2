"""What is kept of the pendulum, as numbers: ours, and those in print."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.jordan2018.pendulum_running import told
from curvewise.papers.printed import printed
from curvewise.papers.results import Results, Table
from curvewise.stats.distribution import quantile

LABELS = {"actor-critic": "Actor-Critic", "ppo": "PPO"}
HALVES = {"mean": "mean", "best": "CVaR .5", "worst": "worse half"}
_KEYS = {"actor-critic": "actor_critic", "ppo": "ppo"}
_NEXT = 200  # half a step of the calibration away from 250 episodes


def table2() -> Mapping[str, Any]:
    """Return the printed table."""
    table: Mapping[str, Any] = printed("jordan2018").tables["table2"]
    return table


def printed_number(name: str, half: str) -> float:
    """Return a number of Table 2; the worse half's follows from the other two.

    >>> round(printed_number("ppo", "worst"), 1)
    -1048.0
    """
    mean = float(table2()["mean"][_KEYS[name]])
    best = float(table2()["cvar"][_KEYS[name]])
    return {"mean": mean, "best": best, "worst": 2 * mean - best}[half]


def printed_trials(name: str) -> int:
    """Return how many trials of an algorithm the paper ran."""
    return int(table2()["trials"][_KEYS[name]])


class Number(NamedTuple):
    """One of our numbers, with its standard error.

    Parameters
    ----------
    value, error : float
    moved : float
        How far it goes if the last 50 of a trial's episodes are left out.
    """

    value: float
    error: float
    moved: float


def scores(results: Results, name: str) -> Floats:
    """Return the mean return of each trial of an algorithm."""
    return np.asarray(results.tables[name]["return"], dtype=np.float64)


def our_numbers(results: Results, name: str) -> dict[str, Number]:
    """Return mean and halves of an algorithm's scores."""
    now = told(scores(results, name))
    fewer = by_episodes(results, name)
    place = int(np.searchsorted(fewer["episodes"], _NEXT))
    place = min(place, len(fewer["episodes"]) - 2)
    return {
        half: Number(
            now[half],
            now[f"{half}_error"],
            abs(float(fewer[half][place]) - now[half]),
        )
        for half in HALVES
    }


def by_episodes(results: Results, name: str) -> dict[str, Floats]:
    """Return the numbers of an algorithm, had a trial had fewer episodes."""
    return of(results.tables["episodes"], algorithm=name)


def reruns(results: Results, name: str, percentile: float) -> Floats:
    """Return the scores of the hyperparameters at a percentile, from worst to best."""
    found = of(results.tables["reruns"], algorithm=name, percentile=percentile)
    return np.asarray(found["return"])


def of(table: Table, **wanted: Any) -> dict[str, Any]:
    """Return the rows of a table that have these values, floats in full length.

    >>> of({"a": np.array(["x", "y"]), "b": np.array([1.5, 2.5])}, a="y")["b"]
    array([2.5])
    """
    keep = np.ones(len(next(iter(table.values()))), dtype=bool)
    for key, value in wanted.items():
        column = np.asarray(table[key])
        is_number = column.dtype.kind == "f"
        keep &= np.isclose(column, value) if is_number else column == value
    out = {}
    for key, values in table.items():
        chosen = np.asarray(values)[keep]
        out[key] = chosen.astype(np.float64) if chosen.dtype.kind == "f" else chosen
    return out


def behind(one: Floats, other: Floats) -> float:
    """Return at which share of the quantiles one sample is below another.

    Examples
    --------
    >>> behind(np.array([0.0, 5.0, 6.0, 7.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    0.25
    """
    at = (np.arange(1000) + 0.5) / 1000
    return float((quantile(one, at) < quantile(other, at)).mean())


def beats(one: Floats, other: Floats) -> float:
    """Return how often a score of one is above one of the other; ties count half.

    Examples
    --------
    >>> beats(np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    0.5
    """
    order = np.sort(other)
    below = np.searchsorted(order, one, "left") + np.searchsorted(order, one, "right")
    return float(below.mean() / (2 * len(order)))


class Share(NamedTuple):
    """A share with its standard error, and how it differs between hyperparameters."""

    value: float
    error: float
    between: float


def fallen(results: Results) -> Share:
    """Return which share of PPO's reruns at percentile 99 fall behind those at 95."""
    top, lower = reruns(results, "ppo", 99), reruns(results, "ppo", 95)
    value = behind(top, lower)
    # Where two inverse CDFs cross, both shares are uncertain.
    error = math.sqrt(value * (1 - value) * (1 / len(top) + 1 / len(lower)))
    around = results.tables.get("around")
    if around is None:
        return Share(value, error, 0.0)
    found = [
        behind(of(around, percentile=percentile)["return"], lower)
        for percentile in np.unique(around["percentile"])
    ]
    return Share(value, error, float(np.std(found, ddof=1)))
