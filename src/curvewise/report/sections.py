"""What a report contains: one function per section, one line each in `SECTIONS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curvewise._text import Cell, count, percent
from curvewise.analyses import plan
from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._line_asking import fewest_steps, with_lines
from curvewise.analyses.difference import Difference, difference
from curvewise.analyses.performance import Performance, performance
from curvewise.analyses.robustness import robustness, tuned_pairs
from curvewise.analyses.variance import variance_shares
from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.check import check
from curvewise.figures.difference import lines_chart, where_chart
from curvewise.figures.performance import (
    best_chart,
    profile_chart,
    quantile_chart,
    tuning_chart,
)
from curvewise.figures.robustness import gain_chart
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
    if crossed_factors(trials):
        return []  # trials that share draws: see `variance_sections`
    out: list[Section] = []
    for metric in settings.metrics:
        answer = performance(trials, metric, at=settings.at, failed=settings.failed)
        blocks = [b for task in answer.tasks for b in _performance_blocks(answer, task)]
        if answer.overall:
            blocks.append(_overall_block(answer))
        if answer.sharper is not None:
            blocks.append(_plan_block(trials, answer, settings))
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


def _performance_blocks(answer: Performance, task: str) -> list[Block]:
    label = answer.metric.label
    blocks = [
        Block(
            f"Task {task}",
            answer.verdict(task),
            quantile_chart(answer, task),
            answer.table(task),
            f"{label} of each algorithm on {task}",
        )
    ]
    if pairs := answer.contrast_table(task):
        caption = f"Each pair of algorithms on {task}, first minus second"
        where = " ".join(answer.where(task))
        blocks.append(Block(f"Who is ahead on {task}?", where, None, pairs, caption))
    return [
        *blocks,
        Block(
            f"The best trials on {task}",
            "",
            best_chart(answer, task),
            answer.best_table(task),
            f"Mean {label} of the best trials on {task}",
        ),
        Block(
            f"How many settings must be tried on {task}?",
            "",
            tuning_chart(answer, task),
            answer.tuning_table(task),
            f"{label} of the best of k trials on {task}",
        ),
    ]


def _overall_block(answer: Performance) -> Block:
    return Block(
        f"All {len(answer.tasks)} tasks",
        "Each task counts the same. This needs scores that mean the same on every task.",
        profile_chart(answer),
        answer.overall_table(),
        f"{answer.metric.label} over all tasks",
    )


def _plan_block(trials: Trials, answer: Performance, settings: Settings) -> Block:
    found = plan.trials(
        answer.sharper or 1.0,
        of="cvar",
        alpha=answer.alpha,
        pilot=trials,
        metric=answer.metric.name,
        at=settings.at,
        failed=settings.failed,
        confidence=answer.confidence,
    )
    return Block(
        "How many more trials?",
        f"To know the mean of the best {percent(1 - answer.alpha)} of the trials twice as "
        f"well as now, to within {found.half_width:g}. guaranteed: whatever the "
        f"distribution; asymptotic: for many trials, if they vary as these do.",
        None,
        found.table(),
        f"Trials of each algorithm on each task for a half-width of {found.half_width:g}",
    )


# --- what tuning gains -------------------------------------------------------------------


def robustness_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what tuning gains, where algorithms have tuned ones: "svm", "svm tuned"."""
    if not tuned_pairs(trials.algorithms) or crossed_factors(trials):
        return []
    out: list[Section] = []
    for metric in settings.metrics:
        answer = robustness(trials, metric, at=settings.at, failed=settings.failed)
        blocks = [
            Block(
                f"Tuning on {task}",
                answer.verdict(task),
                gain_chart(answer, task),
                answer.table(task),
                f"What tuning gains in {answer.metric.label} on {task}",
            )
            for task in answer.tasks
        ]
        out.append(
            Section(
                f"robustness-{len(out)}",
                f"What does tuning gain? ({answer.metric.label})",
                "An algorithm that gains little by tuning is good as it comes: it is "
                "robust to its hyperparameters.",
                blocks,
                answer.notes(),
                str(answer.provenance),
            )
        )
    return out


# --- do the curves differ ----------------------------------------------------------------


def difference_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return whether and where curves differ, where there are curves to compare."""
    trials, left_out = with_lines(trials)
    if len(trials) == 0 or crossed_factors(trials):
        return []
    out: list[Section] = []
    for metric in settings.metrics:
        question = f"Do the curves differ, and where? ({trials.metric(metric).label})"
        recorded = fewest_steps(trials, metric)
        grid = None if recorded is None else min(recorded, _STEPS)
        try:
            answer = difference(trials, metric, grid=grid, failed=settings.failed)
        except CurvewiseError as problem:  # such as curves that share no steps
            told = f"These curves cannot be compared. {problem}"
            out.append(Section(f"difference-{len(out)}", question, told, [], [], ""))
            continue
        blocks = [b for task in answer.tasks for b in _difference_blocks(answer, task)]
        if answer.overall:
            blocks.append(
                Block(
                    f"Curves over all {len(answer.tasks)} tasks",
                    "\n".join(answer.overall_verdicts()),
                    None,
                    answer.overall_table(),
                    "Each pair of algorithms over all tasks: Welch's z of each task, above "
                    "0 where the first has higher scores, and p for all pairs at once",
                )
            )
        out.append(
            Section(
                f"difference-{len(out)}",
                question,
                "Whole runs are compared, since points of one run hang together: in height "
                "(their means over the steps) and in shape (how their distance changes).",
                blocks,
                [*answer.notes(), *left_out],
                str(answer.provenance),
            )
        )
    return out


_STEPS = 600  # at which curves of different steps are compared, at most


def _difference_blocks(answer: Difference, task: str) -> list[Block]:
    label = answer.metric.label
    whole, *pairs = answer.verdicts(task)
    return [
        Block(
            f"Curves on {task}",
            whole,
            lines_chart(answer, task),
            answer.table(task),
            f"Analysis of variance of {label} on {task}; {answer.of(task).told}",
        ),
        Block(
            f"Who differs on {task}, and where?",
            "\n".join(pairs),
            where_chart(answer, task),
            answer.pair_table(task),
            f"Each pair of algorithms on {task}, first minus second",
        ),
    ]


# --- where the spread comes from ---------------------------------------------------------


def variance_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what the spread of scores is due to, where trials are crossed."""
    if not crossed_factors(trials):
        return []
    out: list[Section] = []
    for metric in settings.metrics:
        answer = variance_shares(trials, metric, at=settings.at, failed=settings.failed)
        out.append(
            Section(
                f"variance-{len(out)}",
                f"Where does the spread come from? ({metric})",
                "These trials are crossed: they share draws, so that each source of chance "
                "can be told from the others.",
                [Block("Shares of the variance", "", None, answer.rows(), _SHARES)],
                answer.notes(),
                str(answer.provenance),
            )
        )
    return out


_SHARES = "How much of the variance of the score each source explains"


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
    robustness_sections,
    difference_sections,
    variance_sections,
    space_sections,
    check_sections,
)
