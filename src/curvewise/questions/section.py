"""What a section of the page is made of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from curvewise.answer import Provenance
from curvewise.errors import Blocked, CurvewiseError
from curvewise.figures.chart import Chart
from curvewise.metrics import Metric
from curvewise.questions.sampling import AT_WORDS
from curvewise.questions.sentences import capital, titled
from curvewise.text import Cell, step
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed, declared_score, scored
from curvewise.trials.trial import ONLY

SEED = 0  # of every analysis on the page that uses chance

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
    anyway : bool
        Whether to answer in spite of what `check` objects to.
    undirected : tuple of str
        Metrics of which nobody knows which way they are better: nothing is said of who is.
    by_task : tuple of str
        Metrics of which another way is better on each task: tasks are not taken together.
    answers : dict
        What was answered already: two sections may need the same.
    """

    metrics: tuple[str, ...]
    at: At
    failed: Failed
    audit: int = 0
    anyway: bool = False
    undirected: tuple[str, ...] = ()
    by_task: tuple[str, ...] = ()
    answers: dict[str, tuple[Trials, Any]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def of(
        cls,
        trials: Trials,
        metric: str | None,
        at: At,
        failed: Failed,
        *,
        audit: int = 0,
        anyway: bool = False,
    ) -> "Settings":
        """Return the settings for one metric; for all, or what counts can tell, if none."""
        declared_score(
            Metric("any", "higher"), failed
        )  # what no metric takes is refused
        every = [trials.metric(name) for name in _reported(trials, metric)]
        directed = [m for m in every if m.is_directed]
        return cls(
            metrics=tuple(m.name for m in directed if m.direction is not None),
            at=at,
            failed=failed,
            audit=audit,
            anyway=anyway,
            undirected=tuple(m.name for m in every if not m.is_directed),
            by_task=tuple(m.name for m in directed if m.direction is None),
        )

    @property
    def judged(self) -> tuple[str, ...]:
        """The metrics that say who is better, at least on each task by itself."""
        return *self.metrics, *self.by_task

    @property
    def every(self) -> tuple[str, ...]:
        """All metrics, for what needs no direction."""
        return *self.judged, *self.undirected


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
    cautions : sequence of str
        What tempers the answer: it stands above it wherever the answer does.
    in_summary : bool
        Whether its answer stands at the top of the page; not where another section says
        nearly the same, such as one of a further metric.
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
    cautions: Sequence[str] = ()
    in_summary: bool = True


def task_heading(task: str) -> str:
    """Return what stands above what is told of a task.

    >>> task_heading("rings"), task_heading("task 7"), task_heading("all")
    ('Task rings', 'task 7', '')
    """
    if task == ONLY:
        return ""
    heading = titled(task)
    return heading if heading == task else capital(heading)


def at_words(at: At) -> str:
    """Return which value of a curve is its score, in words."""
    return AT_WORDS[at] if isinstance(at, str) else f"at step {step(float(at))}"


class AnswerInWords(Protocol):
    """An answer that speaks for itself."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it is about."""

    @property
    def provenance(self) -> Provenance:
        """Where it came from."""

    def headline(self) -> str:
        """Return the answer in one sentence."""

    def would_change(self) -> str:
        """Return what would change it."""

    def notes(self) -> list[str]:
        """Return what a reader must know."""


def answered(
    asked: str,
    answer: AnswerInWords,
    blocks: Callable[[str], Sequence[Block]],
    method: Method,
) -> Section:
    """Return the section of an answer, with a group of blocks for each task.

    Its anchor and its question come with `attempted`.
    """
    return Section(
        "",
        "",
        asked,
        answer.headline(),
        answer.would_change(),
        groups=[Group(task_heading(task), blocks(task)) for task in answer.tasks],
        notes=answer.notes(),
        method=method,
        provenance=str(answer.provenance),
        cautions=answer.provenance.cautions,
    )


def attempted(
    anchor: str,
    question: str,
    asked: str,
    section: Callable[[], Section | None],
    refusal: Callable[[CurvewiseError], str],
) -> list[Section]:
    """Return a section; where there is no answer, one that says why there is none.

    `section` makes it of an answer, if there is anything to say, and `refusal` a sentence
    of what stands against one: it raises what is for the caller to decide, and is empty
    where nothing is to be said.
    """
    try:
        out = section()
    except Blocked as problem:
        why = f"Withheld. {problem.as_options()}"
    except CurvewiseError as problem:
        why = refusal(problem)
    else:
        return [] if out is None else [replace(out, anchor=anchor, question=question)]
    return [Section(anchor, question, asked, why, in_summary=False)] if why else []


def by_metric(
    name: str,
    question: str,
    asked: str,
    metrics: Iterable[Metric],
    section: Callable[[str], Section],
    refusal: Callable[[str, CurvewiseError], str],
) -> list[Section]:
    """Return one attempt per metric; of several answers the first is in the summary."""
    out: list[Section] = []
    for metric in metrics:
        sections = attempted(
            f"{name}-{len(out)}",
            f"{question} ({metric.label})",
            asked,
            partial(section, metric.name),
            partial(refusal, metric.name),
        )
        is_later = any(other.in_summary for other in out)
        out += [replace(one, in_summary=False) if is_later else one for one in sections]
    return out


def must_raise(trials: Trials, settings: Settings, metric: str) -> bool:
    """Return whether what went wrong is for the caller to decide: what a failure scores."""
    return settings.failed == "raise" and trials.count_failed(metric) > 0


def _reported(trials: Trials, metric: str | None) -> list[str]:
    if metric is not None:
        return [trials.metric(metric).name]
    return [
        name
        for name in scored(trials)
        if name in trials.metrics or name not in _TOLD_BY_OTHERS
    ]


JORDAN = (
    'S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance '
    'Analysis to Benchmark Models." 2018.'
)
ANDERSON = (
    'T. Anderson. "Confidence limits for the expected value of an arbitrary bounded '
    'random variable with a continuous distribution function." 1969.'
)
THOMAS = (
    'P. Thomas, E. Learned-Miller. "Concentration inequalities for conditional value at '
    'risk." ICML, 2019.'
)
EFRON = 'B. Efron. "Better bootstrap confidence intervals." JASA 82, 1987.'
