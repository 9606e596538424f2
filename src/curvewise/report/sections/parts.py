"""What a section of the page is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from curvewise._text import Cell
from curvewise.figures.series import Chart
from curvewise.trials import Trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed
from curvewise.trials.values import scored

# Of what counts can tell, those that say nearly the same as others.
_TOLD_BY_OTHERS = frozenset({"jaccard", "balanced_accuracy", "mcc", "kappa"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What the reader of the page asked for."""

    metrics: tuple[str, ...]
    at: At
    failed: Failed


@dataclass(frozen=True, slots=True)
class Block:
    """A chart with its numbers beside it, or either alone."""

    heading: str
    sentence: str
    chart: Chart | None
    table: Sequence[dict[str, Cell]]
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """One question and its answer.

    Parameters
    ----------
    anchor : str
        The section's name in links.
    question : str
        What was asked.
    sentence : str
        The answer in one sentence.
    blocks : sequence of Block
    notes : sequence of str
        What a reader must know to read it.
    provenance : str
    """

    anchor: str
    question: str
    sentence: str
    blocks: Sequence[Block]
    notes: Sequence[str]
    provenance: str


def chosen_metrics(trials: Trials, metric: str | None) -> tuple[str, ...]:
    """Return the metrics to report: the one asked for, all, or what counts can tell."""
    if metric is not None:
        return (trials.metric(metric).name,)
    return tuple(
        name
        for name in scored(trials)
        if name in trials.metrics or name not in _TOLD_BY_OTHERS
    )
