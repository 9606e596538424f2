"""What a report contains: one function per section, one line each in `SECTIONS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curvewise._text import Cell, count
from curvewise.analyses.performance import Performance, performance
from curvewise.errors import listed
from curvewise.exchange.check import check
from curvewise.figures.performance import quantile_chart
from curvewise.figures.series import Chart
from curvewise.trials import Trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed
from curvewise.trials.values import scored


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
    return tuple(name for name in scored(trials) if name != "jaccard")


# --- how good is it ----------------------------------------------------------------------


def performance_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return one section per metric: the distribution of scores on each task."""
    out: list[Section] = []
    for metric in settings.metrics:
        answer = performance(trials, metric, at=settings.at, failed=settings.failed)
        blocks = [_performance_block(answer, task) for task in answer.tasks]
        out.append(
            Section(
                f"performance-{len(out)}",
                f"How good is it, and how hard to tune? ({answer.metric.label})",
                f"{count(len(trials), 'trial')} of {listed(trials.algorithms)}; "
                f"{answer.metric.label}, {answer.metric.direction} is better.",
                blocks,
                answer.notes(),
                str(answer.provenance),
            )
        )
    return out


def _performance_block(answer: Performance, task: str) -> Block:
    return Block(
        f"Task {task}",
        answer.verdict(task),
        quantile_chart(answer, task),
        answer.table(task),
        f"{answer.metric.label} of each algorithm on {task}",
    )


# --- what was compared -------------------------------------------------------------------


def space_sections(trials: Trials, _settings: Settings) -> list[Section]:
    """Return what the hyperparameters of each algorithm were drawn from, if known."""
    if not trials.spaces:
        return []
    rows: list[dict[str, Cell]] = [
        {"algorithm": name, "hyperparameters": line}
        for name, text in trials.spaces.items()
        for line in text.splitlines() or ["none"]
    ]
    return [
        Section(
            "algorithms",
            "Which complete algorithms were compared?",
            "An algorithm is complete only with the distribution that its "
            "hyperparameters are drawn from: another range is another algorithm.",
            [Block("Hyperparameters", "", None, rows, _SPACES)],
            [],
            "",
        )
    ]


_SPACES = "What each hyperparameter was drawn from"


# --- what a careful reader would ask -----------------------------------------------------


_FINDINGS = "What was found, where, why it matters and what to do"


def check_sections(trials: Trials, _settings: Settings) -> list[Section]:
    """Return the findings about the results themselves."""
    found = check(trials)
    n = len(found)
    sentence = (
        f"{count(n, 'finding')} that a careful reviewer would raise."
        if n
        else "Nothing that a careful reviewer would object to was found."
    )
    return [
        Section(
            "check",
            "Can these results be trusted?",
            sentence,
            [Block("Findings", "", None, found.rows(), _FINDINGS)] if n else [],
            [],
            str(found.provenance),
        )
    ]


# A new analysis adds its line here.
SECTIONS: tuple[Callable[[Trials, Settings], list[Section]], ...] = (
    performance_sections,
    space_sections,
    check_sections,
)
