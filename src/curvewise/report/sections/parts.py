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
    """What the reader of the page asked for.

    Parameters
    ----------
    metrics : tuple of str
    at, failed
        As in `curvewise.Trials.scores`.
    audit : int
        How often the pipeline is tried on shuffled and on simulated trials; 0 for never.
    """

    metrics: tuple[str, ...]
    at: At
    failed: Failed
    audit: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """A chart with its numbers beside it, or either alone."""

    heading: str
    sentence: str
    chart: Chart | None
    table: Sequence[dict[str, Cell]]
    caption: str


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks that belong together: those of one task, under its name, or of none."""

    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Method:
    """How an answer was obtained, for whoever knows statistics.

    Parameters
    ----------
    name : str
        What was computed.
    guarantee : str
        What holds, under which conditions, and what simulations have shown.
    reference : str
        Where it is from.
    """

    name: str
    guarantee: str
    reference: str


@dataclass(frozen=True, slots=True)
class Section:
    """One question and its answer.

    Parameters
    ----------
    anchor : str
        The section's name in links.
    question : str
        Its heading.
    asked : str
        What was asked, in words that need no statistics.
    answer : str
        The answer in one sentence, with its uncertainty; it also stands in the summary
        at the top of the page. Empty where there is none.
    change : str
        What would change the answer, such as more trials; empty where nothing would.
    groups : sequence of Group
    notes : sequence of str
        What a reader must know to read it.
    method : Method or None
    provenance : str
    """

    anchor: str
    question: str
    asked: str
    answer: str = ""
    change: str = ""
    groups: Sequence[Group] = ()
    notes: Sequence[str] = ()
    method: Method | None = None
    provenance: str = ""


def chosen_metrics(trials: Trials, metric: str | None) -> tuple[str, ...]:
    """Return the metrics to report: the one asked for, all, or what counts can tell."""
    if metric is not None:
        return (trials.metric(metric).name,)
    return tuple(
        name
        for name in scored(trials)
        if name in trials.metrics or name not in _TOLD_BY_OTHERS
    )
