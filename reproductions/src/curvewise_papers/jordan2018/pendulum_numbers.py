"""Actor-critic and PPO on the pendulum: what is run, and what is kept of it as numbers."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from curvewise.engine.experiment import Algorithm, Experiment
from curvewise.flow.slices import quantile_slices
from curvewise.metrics import Floats
from curvewise.questions.slices import Slices
from curvewise.stats.distribution import quantile
from curvewise.stats.functionals import Functional
from curvewise.trials import Trials
from curvewise_papers.pendulum import (
    Pendulum,
    actor_critic,
    pendulum_task,
    ppo,
    return_metric,
)
from curvewise_papers.study import (
    Results,
    Runner,
    Scale,
    Table,
    columns,
    part,
    printed,
)

EPISODES, STEPS = 250, 2000
PERCENTILES = (1, 50, 95, 99)
AROUND = tuple(98.55 + 0.1 * i for i in range(9))  # ranks 986 to 994 of 1,000
SEED = 20180
_POINTS = 25  # stretches of ten episodes: Table 2 for other numbers of episodes
_FEW = 1000  # trials, below which percentiles around the 99th are the same trial


@dataclass(frozen=True, slots=True)
class Size:
    """How many trials there are."""

    actor_critic: int
    ppo: int
    actor_critic_slice: int
    ppo_slice: int
    around: int
    actor_critic_torque: int
    ppo_torque: int


SIZES: Mapping[Scale, Size] = {
    "quick": Size(300, 60, 20, 15, 0, 40, 10),
    "kept": Size(10_000, 1_000, 250, 250, 20, 400, 100),
    "full": Size(3_041_685, 17_415, 1_000, 1_000, 100, 1_000, 200),
}
TORQUES = (4.0, 6.0)  # a fifth less and a fifth more than the usual one


def run(runner: Runner) -> Results:
    """Run both learners, then the hyperparameters at four percentiles of each again."""
    return run_size(runner, SIZES[runner.scale])


def run_size(
    runner: Runner, size: Size, episodes: int = EPISODES, steps: int = STEPS
) -> Results:
    """Run as many trials as `size` says."""
    parts = _Parts(runner, episodes, steps)
    searches = {
        "actor-critic": parts.search("actor-critic", size.actor_critic),
        "ppo": parts.search("ppo", size.ppo),
    }
    each = {"actor-critic": size.actor_critic_slice, "ppo": size.ppo_slice}
    slices = [
        parts.slices(trials, name, each[name], PERCENTILES)
        for name, trials in searches.items()
    ]
    tables: dict[str, Table] = {n: _kept(trials) for n, trials in searches.items()}
    tables["episodes"] = _by_episodes(searches)
    tables["speed"] = _speed(searches, episodes * steps)
    tables |= _of_slices(slices)
    if size.around and size.ppo >= _FEW:
        around = parts.slices(searches["ppo"], "ppo", size.around, AROUND, "-around")
        tables["around"] = _reruns([around])
    each = {"actor-critic": size.actor_critic_torque, "ppo": size.ppo_torque}
    tables["torques"] = columns(
        [
            {"algorithm": name, "torque": torque, "trials": n, **told(scores)}
            for name, n in each.items()
            for torque in TORQUES
            for scores in [
                parts.search(name, n, torque).scores("return", at="mean")[name]
            ]
        ],
        real=np.float32,
    )
    return Results(tables=tables)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The experiments, on episodes of one length."""

    runner: Runner
    episodes: int
    steps: int

    def _experiment(
        self, algorithm: Algorithm, trials: int, pendulum: Pendulum | None = None
    ) -> Experiment:
        task = pendulum_task(self.episodes, steps=self.steps, pendulum=pendulum)
        metrics = (return_metric(self.steps),)
        return Experiment(task, algorithm, trials, SEED, metrics=metrics)

    def search(self, name: str, trials: int, torque: float | None = None) -> Trials:
        """Run trials with hyperparameters drawn at random; the same for each torque."""
        learner = _learner(name, min(_POINTS, self.episodes))
        if torque is None:
            return self.runner.trials(self._experiment(learner, trials), name)
        experiment = self._experiment(learner, trials, Pendulum(torque=torque))
        return self.runner.trials(experiment, f"{name}-torque-{torque:g}")

    def slices(
        self,
        trials: Trials,
        name: str,
        each: int,
        percentiles: Sequence[float],
        what: str = "",
    ) -> Slices:
        """Run the hyperparameters at percentiles again, and keep every episode."""
        return quantile_slices(
            trials,
            self._experiment(_learner(name, None), len(trials)),
            metric="return",
            at="mean",
            percentiles=percentiles,
            trials_each=each,
            # Another scale has another trial at each percentile.
            store=self.runner.store(f"{name}-slices{what}-{self.runner.scale}"),
            **self.runner.options,
        )


def _learner(name: str, points: int | None) -> Algorithm:
    make = actor_critic if name == "actor-critic" else ppo
    return make(points=points, name=name)


# --- small tables ------------------------------------------------------------------------


def _kept(trials: Trials) -> Table:
    """Return scores and hyperparameters of all trials."""
    (name,) = trials.algorithms
    params = [trial.params for trial in trials]
    columns: dict[str, Any] = {
        metric: trials.scores(metric, at="mean")[name].astype(np.float32)
        for metric in ("return", "diverged")
    }
    for key in params[0]:
        values = np.array([one[key] for one in params])
        kind = np.int16 if values.dtype.kind == "i" else np.float32
        columns[key] = values.astype(kind)
    return columns


def _by_episodes(searches: Mapping[str, Trials]) -> Table:
    """Return mean and tails, had a trial had fewer episodes."""
    rows: list[dict[str, Any]] = []
    for name, trials in searches.items():
        lines = trials.lines("return")
        curves = lines[name]
        until = np.cumsum(curves, axis=1) / np.arange(1, curves.shape[1] + 1)
        for episodes, scores in zip(lines.steps, until.T, strict=True):
            rows.append({"algorithm": name, "episodes": int(episodes), **told(scores)})
    return columns(rows, real=np.float32)


def told(scores: Floats) -> dict[str, float]:
    """Return mean, and mean of the best and the worst half, with standard errors."""
    out = {}
    for key, of in _NUMBERS.items():
        parts = of.contributions(scores)
        out[key] = float(parts.mean())
        out[f"{key}_error"] = float(parts.std(ddof=1) / np.sqrt(len(parts)))
    return out


_NUMBERS = {
    "mean": Functional("mean"),
    "best": Functional("cvar", 0.5),
    "worst": Functional("cvar", 0.5, "lower"),
}


def _speed(searches: Mapping[str, Trials], steps: int) -> Table:
    rows: list[dict[str, Any]] = []
    for name, trials in searches.items():
        seconds = float(np.nanmean(trials.details().seconds))
        rows.append(
            {
                "algorithm": name,
                "trials": len(trials),
                "seconds": seconds,
                "steps_per_second": steps / seconds,
            }
        )
    return columns(rows, real=np.float32)


def _of_slices(answers: Sequence[Slices]) -> dict[str, Table]:
    chosen: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    for answer in answers:
        for one in answer.slices:
            key = {"algorithm": answer.algorithm, "percentile": one.chosen.percentile}
            numbers = {"number": one.chosen.number, "score": one.chosen.score}
            chosen.append(
                {**key, **numbers, "params": json.dumps(dict(one.chosen.params))}
            )
            if one.curve is not None:
                curve = zip(one.curve.steps, one.curve.mean, one.curve.sd, strict=True)
                curves += [
                    {**key, "episode": int(at), "mean": mean, "sd": sd}
                    for at, mean, sd in curve
                ]
    return {
        "slices": columns(chosen, real=np.float32),
        "curves": columns(curves, real=np.float32),
        "reruns": _reruns(answers),
    }


def _reruns(answers: Sequence[Slices]) -> Table:
    """Return the scores of all reruns, each slice from the worst to the best."""
    rows: list[dict[str, Any]] = []
    for answer in answers:
        diverged = answer.trials.scores("diverged", at="mean")
        scores = answer.trials.scores("return", at="mean")
        for one in answer.slices:
            name, percentile = one.chosen.name, round(one.chosen.percentile, 2)
            key = {"algorithm": answer.algorithm, "percentile": percentile}
            order = np.argsort(scores[name], kind="stable")
            rows += [
                {**key, "return": score, "diverged": share}
                for score, share in zip(
                    scores[name][order].tolist(),
                    diverged[name][order].tolist(),
                    strict=True,
                )
            ]
    return columns(rows, real=np.float32)


# --- numbers: ours, and those in print ---------------------------------------------------


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
    """One of our numbers, with its standard error."""

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
    return part(results.tables["episodes"], algorithm=name)


def reruns(results: Results, name: str, percentile: float) -> Floats:
    """Return the scores of the hyperparameters at a percentile, from worst to best."""
    rows = part(results.tables["reruns"], algorithm=name, percentile=percentile)
    return np.asarray(rows["return"])


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
    shares = [
        behind(part(around, percentile=percentile)["return"], lower)
        for percentile in np.unique(around["percentile"])
    ]
    return Share(value, error, float(np.std(shares, ddof=1)))
