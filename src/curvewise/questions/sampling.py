"""What answers ask alike: which metric, of which trials, what a failure scores."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError, CurvewiseWarning, listed, unknown
from curvewise.metrics import NOT_SCORES, Floats, Metric
from curvewise.review.check import gate
from curvewise.review.finding import Concern
from curvewise.text import Cell
from curvewise.trials import Trials, doors, must_be_trials
from curvewise.trials.columns import Bools, Ints
from curvewise.trials.design import Design
from curvewise.trials.doors import At, Failed, scored, tasks_measured

_TUNED = " tuned"
AT_WORDS = {"last": "last step", "mean": "mean over the steps", "best": "best step"}


def score_title(metric: Metric, at: Cell) -> str:
    """Return what scores are: values of which metric, at which step."""
    return f"{metric}, {AT_WORDS.get(str(at), f'at step {at}')}"


@dataclass(frozen=True, slots=True, eq=False)
class Inquiry:
    """Trials that are asked about one of their metrics, and what tempers the answer."""

    trials: Trials
    metric: Metric
    cautions: tuple[str, ...]

    @classmethod
    def of(
        cls,
        trials: Trials,
        metric: str | None,
        question: Concern,
        *,
        anyway: bool,
        is_directed: bool = True,
        by_task: bool = False,
        is_averaged: bool = True,
    ) -> "Inquiry":
        """Return what is asked; raise where there is nothing to answer it from.

        `is_averaged` says whether an answer takes the mean of each cluster of runs.
        """
        must_be_trials(trials)
        if len(trials) == 0:
            raise CurvewiseError("There are no trials to judge. Check what was read.")
        name = metric_of(trials, metric, is_directed=is_directed, by_task=by_task)
        cautions = gate(trials, question, metric=name, anyway=anyway)
        of_clusters = cluster_cautions(trials) if is_averaged else ()
        return cls(trials, trials.metric(name), (*cautions, *of_clusters))

    def provenance(
        self, method: str, settings: Mapping[str, Cell], seed: int | None = None
    ) -> Provenance:
        """Return where the answer came from."""
        return Provenance.of(
            self.trials, method, settings, seed, cautions=self.cautions
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The scores of one algorithm on one task, as they were drawn.

    Parameters
    ----------
    scores : ndarray, shape (trial,)
        In the order of the trials' numbers, failures with what a failure scores; where
        runs are clustered, the mean of each cluster.
    numbers : ndarray of int, shape (trial,)
        Trials of the same number met the same data: across algorithms they are pairs.
    failed : int
        How many runs failed.
    is_numbered : bool
        Whether the numbers were given; rows of a file that were merely counted are no
        pairs, and neither are clusters unless they are blocks.
    broken : ndarray of bool, shape (trial,), optional
        Which of the scores are those of failures.
    """

    scores: Floats
    numbers: Ints
    failed: int
    is_numbered: bool = True
    broken: Bools | None = None


def samples(
    trials: Trials,
    metric: str,
    at: At,
    failed: Failed,
    *,
    crossed: bool = False,
    averaged: bool = True,
) -> dict[str, dict[str, Sample]]:
    """Return the scores of each algorithm on each task."""
    if not crossed:
        refuse_crossed(trials)
    return {
        task: _of_task(trials, task, metric, at, failed, averaged)
        for task in tasks_measured(trials, metric)
    }


def refuse_crossed(trials: Trials) -> None:
    """Raise where trials share their draws."""
    if factors := crossed_factors(trials):
        raise CurvewiseError(
            f"These trials are crossed ({' x '.join(factors)}): they share draws, and are "
            f"not independent, as all that is computed here takes them to be. Ask "
            f"curvewise.variance_shares, or keep one trial of each draw."
        )


def crossed_factors(trials: Trials) -> tuple[str, ...]:
    """Return which draws the trials share, where no cluster takes them together."""
    design = trials.design
    return design.crossed if design.unit == "crossed" else ()


def unit_of(trials: Trials) -> str:
    """Return what each score is of: a trial, or the setting or cluster of several runs."""
    design = trials.design
    return design.noun if design.unit == "cluster" else "trial"


def cluster_cautions(trials: Trials) -> tuple[str, ...]:
    """Return what an answer has to say whose values are the means of clusters."""
    return tuple(filter(None, [trials.design.caution]))


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The runs of one algorithm on one task, cluster by cluster.

    Parameters
    ----------
    place : ndarray of int, shape (run,)
        Which of the clusters a run is of.
    numbers : ndarray of int, shape (cluster,)
        What pairs a cluster with another: its own code where clusters are blocks, and
        the number of its first run where they are not.
    are_paired : bool
        Whether clusters of the same number are pairs, as far as clusters can tell.
    """

    place: Ints
    numbers: Ints
    are_paired: bool

    @property
    def sizes(self) -> Ints:
        """How many runs each cluster has."""
        return np.bincount(self.place)

    def means(self, values: Floats) -> Floats:
        """Return the mean of each cluster, of values of shape (run, ...)."""
        if len(self.numbers) == len(self.place):
            return values[np.argsort(self.place)]
        sums = np.zeros((len(self.numbers), *values.shape[1:]))
        np.add.at(sums, self.place, values)
        return sums / self.sizes.reshape(-1, *[1] * (values.ndim - 1))


def clusters_of(trials: Trials, design: Design) -> dict[str, Clusters]:
    """Return the clusters of each algorithm, of trials of one task."""
    core = trials.core
    codes = design.clusters(trials)
    edges = np.searchsorted(core.algorithm, np.arange(len(trials.algorithms) + 1))
    are_blocks = bool(design.cluster) and set(design.cluster) <= set(design.block)
    out = {}
    for i, name in enumerate(trials.algorithms):
        rows = slice(int(edges[i]), int(edges[i + 1]))
        units, first, place = np.unique(
            codes[rows], return_index=True, return_inverse=True
        )
        alone = len(units) == len(place)
        numbers = units if are_blocks and not alone else core.number[rows][first]
        out[name] = Clusters(place, numbers, alone or are_blocks)
    return out


def _of_task(
    trials: Trials, task: str, metric: str, at: At, failed: Failed, averaged: bool
) -> dict[str, Sample]:
    one_task = trials.where(task=task) if len(trials.tasks) > 1 else trials
    scores, broken = doors.scores(one_task, metric, at, failed)
    numbers = doors.numbers(one_task, at)
    is_numbered = are_numbered(trials)
    by_name = {
        name: Sample(
            values, numbers[name], int(broken[name].sum()), is_numbered, broken[name]
        )
        for name, values in scores.items()
        if len(values)
    }
    if not averaged or trials.design.unit != "cluster":
        return by_name
    if sum(map(len, numbers.values())) < len(one_task):  # those of one size
        chosen = [
            (one_task.core.algorithm == one_task.algorithms.index(name))
            & np.isin(one_task.core.number, allowed)
            for name, allowed in numbers.items()
        ]
        one_task = one_task.take(np.flatnonzero(np.logical_or.reduce(chosen)))
    clusters = clusters_of(one_task, trials.design)
    return {name: _mean_of(one, clusters[name]) for name, one in by_name.items()}


def _mean_of(sample: Sample, clusters: Clusters) -> Sample:
    """Return one score for each cluster: the mean of its runs, failures among them."""
    broken = np.zeros(len(sample.scores)) if sample.broken is None else sample.broken
    return Sample(
        clusters.means(sample.scores),
        clusters.numbers,
        sample.failed,
        sample.is_numbered and clusters.are_paired,
        clusters.means(broken.astype(np.float64)) == 1,
    )


def are_numbered(trials: Trials) -> bool:
    """Return whether the numbers of the trials were given, and not merely counted."""
    return "trial=(counted)" not in trials.origin


def metric_of(
    trials: Trials,
    metric: str | None,
    *,
    is_directed: bool = True,
    by_task: bool = False,
) -> str:
    """Return the metric that was asked for, or the only one that is a quality."""
    name = metric if metric is not None else _only_score(trials)
    meant = trials.metric(name)
    if is_directed and not (by_task and meant.is_directed):
        _ = meant.known_direction  # or it is asked for
    return name


def _only_score(trials: Trials) -> str:
    scores = scored(trials)
    if len(scores) == 1:
        return scores[0]
    if not scores and (others := [n for n in trials.metrics if n not in NOT_SCORES]):
        raise CurvewiseError(
            f"Which metric? None of {listed(others)} is a quality by its name. Name one, "
            f"and say which way is better.",
            fixes=[{"metric": others[0], "metrics": {others[0]: "lower"}}],
        )
    raise CurvewiseError(
        f"Which metric? These trials have {listed(scores) or 'none'}.",
        fixes=[{"metric": name} for name in scores[:4]],
    )


def failed_score(metric: Metric, failed: Failed) -> str:
    """Return what a failed trial scores, in words."""
    if failed == "worst" and metric.direction is None:
        return "as bad as is possible on their task"
    if failed == "worst" and not math.isfinite(metric.worst):
        return "as bad as the worst of their task, which bands take as given"
    score = metric.worst if failed == "worst" else failed
    return score if isinstance(score, str) else f"{score:g}"


def plain_setting(value: At | Failed) -> Cell:
    """Return `at` or `failed` as a setting to print."""
    return value if isinstance(value, str) else float(value)


def are_paired(one: Sample, other: Sample) -> bool:
    """Return whether entry i of both is the same trial: those of one number met one data.

    Samples of which only some have a partner are compared as independent ones. What they
    share, such as hard data, makes both better or worse together: intervals are then wider
    than need be, not narrower.
    """
    is_numbered = one.is_numbered and other.is_numbered
    return is_numbered and bool(np.array_equal(one.numbers, other.numbers))


@contextmanager
def quietly() -> Iterator[None]:
    """Ask without warnings that there are few trials: an answer says so in its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CurvewiseWarning)
        yield


def tuned_pairs(
    names: Sequence[str], pairs: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return which algorithm is the tuned one of which: untuned name to tuned name.

    "NAME tuned" is the tuned one of "NAME", in capitals or not; `pairs` says what other
    names belong together.

    >>> tuned_pairs(["knn", "svm", "SVM Tuned"])
    {'svm': 'SVM Tuned'}
    >>> tuned_pairs(["svm", "svm grid"], {"svm": "svm grid"})
    {'svm': 'svm grid'}
    """
    if pairs is not None:
        if not isinstance(pairs, Mapping):
            raise CurvewiseError(
                f"pairs is {pairs!r}. Pass a dict such as {{'svm': 'svm grid'}}.",
                argument="pairs",
                value=pairs,
            )
        for name in (n for pair in pairs.items() for n in pair):
            if name not in names:
                raise unknown("algorithm", name, names)
        return dict(pairs)
    tuned = {name.casefold(): name for name in names}
    return {
        name: tuned[name.casefold() + _TUNED]
        for name in names
        if name.casefold() + _TUNED in tuned
    }
