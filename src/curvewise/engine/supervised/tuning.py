"""Algorithms that choose their own hyperparameters before they are scored."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from curvewise.engine import spaces
from curvewise.engine.experiment import Algorithm
from curvewise.engine.recording import Record
from curvewise.engine.trial_run import items, warm_up
from curvewise.errors import CurvewiseError, listed, shortened, unknown, whole
from curvewise.metrics import FROM_COUNTS, Metric, find, is_quality
from curvewise.trials.columns import canonical
from curvewise.trials.trial import Value

Yielded: TypeAlias = tuple[float | None, dict[str, Any]]
Kept = TypeVar("Kept")

# From params and a stream to a score, higher is better, and what to keep if it is best.
Scored: TypeAlias = Callable[
    [dict[str, Value], np.random.Generator], tuple[float, Kept]
]


def tuned(
    algorithm: Algorithm,
    configs: int = 50,
    folds: int = 3,
    metric: str | Metric | None = None,
) -> Algorithm:
    """Return the algorithm with a random search inside, named "... tuned".

    It draws configurations from the algorithm's own space, scores each by
    cross-validation within the training set, takes the best, trains it on the whole
    training set and yields what it yields there. This is the tuned variant of Jordan et
    al. (2018): 50 configurations, 3 folds.

    Parameters
    ----------
    algorithm : Algorithm
        One that scores on ``data.test``.
    configs : int
        How many configurations to draw. One that is drawn twice is scored once.
    folds : int
        All configurations are scored on the same ones.
    metric : str or Metric, optional
        What decides; its last value on each fold counts. One that is not registered is
        passed as a Metric, which says which way is better. If left out, the first that the
        algorithm yields, accuracy where it yields counts only.

    Notes
    -----
    A configuration that fails in a fold (raises, yields nothing, or a score that is not
    finite) loses; if all fail, the trial fails. Chosen hyperparameters become the
    trial's. If the data have several sizes, the choice is made once, on the whole
    training set.

    Data, configurations, folds and fits have streams of their own: more configurations
    or folds change neither the first ones nor the final fit.

    Examples
    --------
    >>> def guess(params, data, rng):
    ...     yield 0, {"accuracy": params["p"]}
    >>> tuned(Algorithm("guess", {"p": [0.3, 0.5]}, guess)).name
    'guess tuned'
    """
    run = TunedByFolds(
        _checked(algorithm),
        whole(configs, "configs"),
        whole(folds, "folds", 2),
        _meaning(metric),
    )
    return Algorithm(f"{algorithm.name} tuned", {}, run)


def tune_then_test(
    algorithm: Algorithm,
    configs: int = 50,
    splits: int = 3,
    parts: int = 3,
    metric: str | Metric | None = None,
) -> Algorithm:
    """Return the classic baseline, named "... tune-then-test".

    In the notation of Jordan et al. (2018), Section 2: the configuration with the best
    mean of h over draws (D'_train, D_val, S) from d_train, then one number h(x, d_train,
    d_test, s). It differs from `tuned` in the draws only: each is a random split of its
    own, with one part in `parts` to validate on, where the folds of `tuned` together
    hold every example once. What makes it classic is the experiment around it: freeze
    the data (``vary="seed"``), and all its trials hang on one training and one test set.

    Parameters
    ----------
    algorithm, configs, metric
        As in `tuned`.
    splits : int
        How many draws; all configurations are scored on the same ones.
    parts : int
        One part in this many validates.
    """
    run = TunedBySplits(
        algorithm=_checked(algorithm),
        configs=whole(configs, "configs"),
        parts=whole(parts, "parts", 2),
        metric=_meaning(metric),
        splits=whole(splits, "splits"),
    )
    return Algorithm(f"{algorithm.name} tune-then-test", {}, run)


def leaky(
    algorithm: Algorithm, configs: int = 50, metric: str | Metric | None = None
) -> Algorithm:
    """Return the search that looks at the test set, named "... leaky": a warning.

    It trains each configuration on the training set and keeps the run that is best *on
    the test set*. What it yields is too good on average: by how much shows beside
    `tune_then_test`. Do not report it as a result.

    Parameters
    ----------
    algorithm, configs, metric
        As in `tuned`. The number that wins is the number that is yielded, as in practice
        where this happens; nothing is run again with another seed.
    """
    run = TunedOnTest(_checked(algorithm), whole(configs, "configs"), _meaning(metric))
    return Algorithm(f"{algorithm.name} leaky", {}, run)


class _Around:
    """An algorithm around another."""

    __slots__ = ()
    algorithm: Algorithm

    def warm_up(self) -> None:
        """Import what trials need."""
        warm_up(self.algorithm.run)


@dataclass(frozen=True, slots=True)
class TunedByFolds(_Around):
    """What `tuned` runs."""

    algorithm: Algorithm
    configs: int
    folds: int
    metric: Metric | None

    def __call__(
        self, _: Mapping[str, Any], data: Any, rng: np.random.Generator
    ) -> Iterator[Yielded]:
        """Yield what was chosen, then what the algorithm yields with it."""
        draws, dealer, scorer, final = rng.spawn(4)
        folds = data.folds(self.folds, dealer)
        search = _Search(self.algorithm, self.configs, self.metric, draws)
        best, _kept = search.best(search.mean_over(folds), scorer)
        yield from _chosen(self.algorithm, best, data, final)


@dataclass(frozen=True, slots=True)
class TunedBySplits(_Around):
    """What `tune_then_test` runs."""

    algorithm: Algorithm
    configs: int
    parts: int
    metric: Metric | None
    splits: int

    def __call__(
        self, _: Mapping[str, Any], data: Any, rng: np.random.Generator
    ) -> Iterator[Yielded]:
        """Yield what was chosen, then what the algorithm yields with it."""
        draws, dealer, scorer, final = rng.spawn(4)
        dealers = dealer.spawn(self.splits)
        splits = [data.folds(self.parts, each)[0] for each in dealers]
        search = _Search(self.algorithm, self.configs, self.metric, draws)
        best, _kept = search.best(search.mean_over(splits), scorer)
        yield from _chosen(self.algorithm, best, data, final)


@dataclass(frozen=True, slots=True)
class TunedOnTest(_Around):
    """What `leaky` runs."""

    algorithm: Algorithm
    configs: int
    metric: Metric | None

    def __call__(
        self, _: Mapping[str, Any], data: Any, rng: np.random.Generator
    ) -> Iterator[Yielded]:
        """Yield what was chosen, then what that run had yielded."""
        draws, _dealer, scorer, _final = rng.spawn(4)
        search = _Search(self.algorithm, self.configs, self.metric, draws)

        def on_test(
            params: dict[str, Value], stream: np.random.Generator
        ) -> tuple[float, list[Yielded]]:
            yielded = list(items(self.algorithm.run(dict(params), data, stream)))
            return search.score(yielded), yielded

        best, yielded = search.best(on_test, scorer)
        yield None, {"chosen": best}
        yield from (item for item in yielded if "chosen" not in item[1])


class _NoMetricError(CurvewiseError):
    """Raised where no configuration can be scored, whatever it does."""


class _Search:
    """A random search: which configurations there are, and what decides."""

    def __init__(
        self,
        algorithm: Algorithm,
        configs: int,
        metric: Metric | None,
        rng: np.random.Generator,
    ) -> None:
        self._algorithm, self._configs, self._metric = algorithm, configs, metric
        self._draw, self._rng = spaces.sampler(algorithm.space), rng

    def best(
        self, scored: Scored[Kept], rng: np.random.Generator
    ) -> tuple[dict[str, Value], Kept]:
        """Return the configuration of the highest score, the first of equals.

        With it comes what `scored` returned beside that score; the others' is forgotten.
        """
        best: tuple[dict[str, Value], Kept] | None = None
        highest = -np.inf
        problem: Exception | None = None
        keys = set()
        for stream in rng.spawn(self._configs):
            params = self._draw(self._rng)
            key = canonical(params)
            if key in keys:
                continue
            keys.add(key)
            try:
                score, beside = scored(params, stream)
            except _NoMetricError:
                raise  # not this configuration's fault: the others would not do better
            except Exception as raised:  # a configuration's own failure
                problem = raised
                continue
            if score > highest:
                best, highest = (params, beside), score
        if best is None:
            raise CurvewiseError(
                f"All of {self._configs} configurations of '{self._algorithm.name}' "
                f"failed, the last with {type(problem).__name__}: {shortened(problem)}"
            ) from problem
        return best

    def mean_over(self, parts: list[Any]) -> Scored[None]:
        """Return what scores by the mean over parts of the training set."""
        run = self._algorithm.run

        def mean(
            params: dict[str, Value], rng: np.random.Generator
        ) -> tuple[float, None]:
            scores = [
                self.score(items(run(dict(params), part, stream)))
                for part, stream in zip(parts, rng.spawn(len(parts)), strict=True)
            ]
            return float(np.mean(scores)), None

        return mean

    def score(self, yielded: Iterable[Yielded]) -> float:
        """Return the last value of the metric that decides, higher is better."""
        record = Record(0)
        for item in yielded:
            record.add(item)
        meaning = self._metric or _known(_first(record))
        metric = meaning.name
        if metric in record.values:
            value = record.values[metric][-1]
        elif record.counts and metric in FROM_COUNTS:
            value = float(FROM_COUNTS[metric](record.counts[-1]))
        else:
            have = [*record.values, *(FROM_COUNTS if record.counts else ())]
            text = unknown("metric to tune by", metric, have).text
            raise _NoMetricError(text, argument="metric", value=metric)
        if value is None or not np.isfinite(value):
            raise CurvewiseError(f"The last '{metric}' is {value}.")
        return meaning.sign * value


def _first(record: Record) -> str:
    metric = next((name for name in record.values if is_quality(name)), None)
    if metric is None and not record.counts:
        raise CurvewiseError("Nothing was yielded.")
    return metric or "accuracy"


def _chosen(
    algorithm: Algorithm, params: dict[str, Value], data: Any, rng: np.random.Generator
) -> Iterator[Yielded]:
    yield None, {"chosen": params}
    yield from items(algorithm.run(dict(params), data, rng))


def _checked(algorithm: Algorithm) -> Algorithm:
    if not isinstance(algorithm, Algorithm):
        raise CurvewiseError(
            f"{type(algorithm).__name__} {shortened(algorithm)} is to be tuned. Pass an "
            f"Algorithm."
        )
    if not algorithm.space:
        raise CurvewiseError(
            f"Algorithm '{algorithm.name}' has no hyperparameters to tune. "
            f"Give it a space."
        )
    return algorithm


def _meaning(metric: str | Metric | None) -> Metric | None:
    """Return the metric of a name: workers may not know what was registered here."""
    if metric is None or isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str):
        raise CurvewiseError(
            f"metric is {shortened(repr(metric))}. Pass the name of a metric or a Metric.",
            argument="metric",
            value=metric,
        )
    return _known(metric)


def _known(name: str) -> Metric:
    metric = find(name)
    if metric is None:
        raise _NoMetricError(
            f"No direction is declared for '{shortened(name)}', so it cannot be "
            f"tuned by. Pass a Metric, such as Metric({shortened(name)!r}, 'lower'), or "
            f"tune by one of {listed(FROM_COUNTS)}."
        )
    return metric
