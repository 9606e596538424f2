"""What a report contains: one function per section, one line each in `SECTIONS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curvewise._text import Cell, count, shown
from curvewise.analyses.performance import Distribution, Performance, performance
from curvewise.errors import listed
from curvewise.exchange.check import check
from curvewise.figures.performance import quantile_chart
from curvewise.figures.series import Chart
from curvewise.metrics import FROM_COUNTS
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed


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
    return tuple(trials.metrics) or tuple(FROM_COUNTS)[:6]


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
    own = answer.of(task)
    up = answer.metric.sign
    best = max(own, key=lambda d: up * d.best(answer.alpha))
    mean = max(own, key=lambda d: up * d.mean)
    top = f"{1 - answer.alpha:.0%}".replace("%", " %")
    if len(own) == 1:
        sentence = (
            f"{best.algorithm} scores {shown(mean.mean)} on average, and "
            f"{shown(best.best(answer.alpha))} in the best {top} of its trials."
        )
    else:
        sentence = (
            f"Over the best {top} of its trials {best.algorithm} is ahead "
            f"({shown(best.best(answer.alpha))} on average), over all trials "
            f"{mean.algorithm} is ({shown(mean.mean)}). {_verdict(own)}"
        )
    heading = f"Task {task}"
    caption = f"{answer.metric.label} of each algorithm on {task}"
    chart = quantile_chart(answer, task)
    return Block(heading, sentence, chart, answer.table(task), caption)


def _verdict(own: Sequence[Distribution]) -> str:
    """Return which medians the bands tell apart; nothing more is claimed."""
    apart = [
        f"{a.algorithm} and {b.algorithm}"
        for i, a in enumerate(own)
        for b in own[i + 1 :]
        if a.median_interval().lower > b.median_interval().upper
        or b.median_interval().lower > a.median_interval().upper
    ]
    if not apart:
        return "The bands tell no two medians apart: more trials may."
    return f"The bands tell the medians of {listed(apart)} apart."


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
    check_sections,
)
