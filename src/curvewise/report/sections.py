"""What a report contains: every question, and what is told of the trials themselves."""

import platform

import numpy as np
import scipy

from curvewise.errors import Message, as_keywords, as_words, listed, trials_where
from curvewise.questions.audit.section import audit_sections
from curvewise.questions.explain import explain
from curvewise.questions.registry import with_part
from curvewise.questions.sampling import failed_score
from curvewise.questions.section import (
    JORDAN,
    SEED,
    Block,
    Group,
    Method,
    Section,
    Settings,
    at_words,
)
from curvewise.review.check import Findings, check
from curvewise.review.finding import SEVERITIES, counted
from curvewise.text import Cell, count, joined
from curvewise.trials import Trials
from curvewise.trials.trial import STATUSES
from curvewise.version import __version__

# --- Which way is better? Asked for metrics of which nobody knows ----------------------


_DIRECTIONS_ASKED = (
    "Some metrics have no one direction: it is neither declared nor told by their names, "
    "or it differs by task. Without it nothing is said about who is better."
)
_DIRECTIONS_CAPTION = (
    "What to add when the results are read: lower, or higher in its place; and how to "
    "choose a task"
)


def _direction_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return the metrics without one direction, with the line to type for each."""
    sentences = []
    if settings.undirected:
        sentences.append(
            f"Whether a high or a low {listed(settings.undirected, 4)} is better is not "
            f"known: nothing is said of who is better until somebody says so."
        )
    if settings.by_task:
        sentences.append(
            f"Which way {listed(settings.by_task, 4)} is better differs by task: each task "
            f"is judged by itself. What takes tasks together is told of one task at a time."
        )
    if not sentences:
        return []
    rows = [
        *(_unsaid(name) for name in settings.undirected),
        *(_of_one_task(trials, name) for name in settings.by_task),
    ]
    return [
        Section(
            "directions",
            "Which way is better?",
            _DIRECTIONS_ASKED,
            " ".join(sentences),
            groups=[
                Group("", [Block("What to type", "", None, rows, _DIRECTIONS_CAPTION)])
            ],
            in_summary=not settings.judged,
        )
    ]


def _unsaid(name: str) -> dict[str, Cell]:
    fix = {"metrics": {name: "lower"}}
    return {
        "metric": name,
        "command line": " ".join(as_words(fix)),
        "Python": as_keywords(fix),
    }


def _of_one_task(trials: Trials, name: str) -> dict[str, Cell]:
    first = trials.metric(name).by_task[0][0]
    typed = Message(trials_where(task=first), "")
    return {"metric": name, "command line": "", "Python": typed}


# --- Which complete algorithms were compared? ------------------------------------------


_SPACES = Method(
    "What the experiment says that hyperparameters were drawn from.",
    "Whoever draws from other ranges measures another algorithm.",
    JORDAN,
)


def _space_sections(trials: Trials, _settings: Settings) -> list[Section]:
    """Return what the hyperparameters of each algorithm were drawn from, if known."""
    if not trials.spaces:
        return []
    rows: list[dict[str, Cell]] = [
        {"algorithm": name, "hyperparameters": line}
        for name, text in trials.spaces.items()
        for line in text.splitlines() or ["none"]
    ]
    n = sum(text.count("\n") + 1 for text in trials.spaces.values() if text)
    known = count(len(trials.spaces), "algorithm")
    unknown = len(trials.algorithms) - len(trials.spaces)
    without = (
        f"; of {count(unknown, 'algorithm')} they are not known" if unknown else ""
    )
    caption = "What each hyperparameter was drawn from"
    return [
        Section(
            "algorithms",
            "Which complete algorithms were compared?",
            "What were the hyperparameters of each algorithm drawn from? It is complete "
            "only with that: another range is another algorithm.",
            f"{count(n, 'hyperparameter')} of {known}, drawn from what the table "
            f"says{without}.",
            groups=[Group("", [Block("Hyperparameters", "", None, rows, caption)])],
            method=_SPACES,
            in_summary=False,
        )
    ]


# --- Can these results be trusted? -----------------------------------------------------


_CHECK = Method(
    "A list of rules, each looking for one thing that reviewers object to.",
    "None: a rule finds what it looks for, and that nothing was found proves nothing. "
    "No result is left out or changed.",
    "The rules are listed in the reference of curvewise.check.",
)


def _check_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return the findings about the results themselves."""
    findings = check(trials)
    caption = "What was found, where, why it matters and what to do"
    blocks = [Block("Findings", "", None, findings.rows(), caption)]
    return [
        Section(
            "check",
            "Can these results be trusted?",
            "Would a careful reviewer object to the results themselves: runs that are "
            "missing, duplicated or too few, groups that were pooled, scores that tie "
            "or leave their range, hyperparameters that were not drawn at random?",
            _check_answer(findings),
            _change(findings, settings),
            groups=[Group("", blocks)] if len(findings) else (),
            method=_CHECK,
            provenance=str(findings.provenance),
        )
    ]


def _check_answer(findings: Findings) -> str:
    if not len(findings):
        return (
            "Nothing was found that a careful reviewer would object to, which does not "
            "prove that there is nothing."
        )
    counts = {s: sum(f.severity == s for f in findings) for s in SEVERITIES}
    numbers = joined([counted(severity, n) for severity, n in counts.items() if n])
    worst = next(s for s in SEVERITIES if counts[s])
    first = next(iter(findings)).what.partition(";")[0].rstrip(".")
    verb = "is" if counts[worst] == 1 else "are"
    return f"There {verb} {numbers}; first: {first}."


def _change(findings: Findings, settings: Settings) -> str:
    """Return what to do about the gravest finding that is not settled on this page."""
    is_settled = settings.failed != "raise"  # somebody said what a failure scores
    grave = [
        f
        for f in findings
        if f.severity != "notes" and not (is_settled and f.rule == "failed-runs")
    ]
    return grave[0].do if grave else ""


# --- What can these data not answer? ---------------------------------------------------


_CANNOT = Method(
    "Every analysis is begun as it begins with these trials; where that stops, the "
    "reason is told.",
    "That a question can be answered does not say that its answer is sure.",
    "curvewise.explain.",
)


def _cannot_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return which questions these trials cannot answer, why, and what to add."""
    metric = settings.metrics[0] if len(settings.metrics) == 1 else None
    explanation = explain(trials, metric, anyway=settings.anyway)
    rows: list[dict[str, Cell]] = [
        {
            "question": one.question,
            "can it be answered?": one.can,
            "why not": one.why,
            "what to add": one.add,
        }
        for one in explanation.questions
        if one.can != "yes"
    ]
    if not rows:
        return []
    caption = (
        "Questions that these trials cannot answer, or in part only, and what to add"
    )
    block = Block("Questions without an answer", "", None, rows, caption)
    return [
        Section(
            "cannot",
            "What can these data not answer?",
            "Which questions would take other data, and what is missing?",
            explanation.lacking(),
            groups=[Group("", [block])],
            notes=explanation.notes(),
            method=_CANNOT,
            provenance=str(explanation.provenance),
        )
    ]


# --- Where do these numbers come from? -------------------------------------------------


_PROVENANCE_FILE = "experiment file"
_WORDS = {
    "ok": "ended well",
    "failed": "failed: raised an error",
    "crashed": "crashed: its process died",
    "timeout": "took too long, and was stopped",
    "cancelled": "was cancelled",
}
_PROVENANCE = Method(
    "The hash is SHA-256 of the results in a fixed order: keys, status, steps, scores, "
    "hyperparameters, labels and counts, not of how long they took.",
    "The same results have the same hash, in whichever order or format they were kept; "
    "the same results, settings and versions give the same numbers.",
    "Trials.digest; each section names its own settings and seed.",
)


def provenance_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what it takes to obtain these numbers again."""
    blocks = [
        Block(
            "What was used",
            "",
            None,
            _facts(trials, settings),
            "Data, experiment, settings and software behind this page",
        ),
        Block(
            "How the trials ended",
            _scored(trials, settings),
            None,
            _ends(trials),
            "How many trials ended how",
        ),
    ]
    if text := trials.about.get(_PROVENANCE_FILE):
        lines: list[dict[str, Cell]] = [
            {"line": i, "text": line} for i, line in enumerate(text.splitlines(), 1)
        ]
        caption = "The file that the experiment was run from, passwords left out"
        heading = "The experiment as it was written"
        blocks.append(Block(heading, "", None, lines, caption))
    return [
        Section(
            "provenance",
            "Where do these numbers come from?",
            "What would somebody need to obtain the same numbers again?",
            _provenance_answer(trials),
            groups=[Group("", blocks)],
            method=_PROVENANCE,
            in_summary=False,
        )
    ]


def _provenance_answer(trials: Trials) -> str:
    seed = trials.about.get("seed")
    drawn = "" if seed is None else f", run from seed {' and '.join(seed.splitlines())}"
    return (
        f"From {count(len(trials), 'trial')}{drawn}, with the hash "
        f"{trials.digest()[:12]}, by curvewise {__version__}."
    )


def _facts(trials: Trials, settings: Settings) -> list[dict[str, Cell]]:
    facts = {
        "hash of the data": trials.digest(),
        "read from": trials.origin or "nowhere: made in Python",
        **_experiment(trials),
        "design": str(trials.design),
        "score of a curve": at_words(settings.at),
        "seed of the analyses": f"{SEED}, wherever one uses chance",
        "software": (
            f"curvewise {__version__}, Python {platform.python_version()}, numpy "
            f"{np.__version__}, scipy {scipy.__version__}"
        ),
    }
    return [{"what": name, "value": text} for name, text in facts.items()]


def _experiment(trials: Trials) -> dict[str, str]:
    """Return what is known of the experiment; that nothing is, is worth a line."""
    known = {
        name if name.startswith("experiment") else f"experiment, {name}": text
        for name, text in trials.about.items()
        if name != _PROVENANCE_FILE
    }
    return known or {
        "experiment": "not known: results alone do not say how they were run"
    }


def _ends(trials: Trials) -> list[dict[str, Cell]]:
    counts = np.bincount(trials.core.status, minlength=len(STATUSES))
    rows: list[dict[str, Cell]] = [
        {"status": status, "meaning": _WORDS[status], "trials": int(n)}
        for status, n in zip(STATUSES, counts, strict=True)
        if n or status in ("ok", "failed")
    ]
    return [*rows, {"status": "all", "meaning": "", "trials": len(trials)}]


def _scored(trials: Trials, settings: Settings) -> str:
    """Return how failed trials were scored, a line for each metric."""
    lines = []
    for name in settings.metrics:
        metric, n = trials.metric(name), trials.count_failed(name)
        if not n:
            continue
        verb = "counts" if n == 1 else "count"
        lines.append(
            f"{count(n, 'trial')} without a finite {metric.label} {verb} with score "
            f"{failed_score(metric, settings.failed)} (failed={settings.failed!r}); none "
            f"was left out."
        )
    if lines:
        return "\n".join(lines)
    if not settings.metrics:
        return (
            "No trial has a score, so there is nothing that failures could count with."
        )
    return "No trial failed, and every one has its score."


# --- The page --------------------------------------------------------------------------


_OF_TRIALS = (
    audit_sections,
    _space_sections,
    _check_sections,
    _cannot_sections,
    provenance_sections,
)


def page_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return all sections of a page: every question, then the trials themselves.

    Which way is better is asked after the first question, where a reader looks for it.
    """
    first, *others = (each.part("section", "sections") for each in with_part("section"))
    makers = (first, _direction_sections, *others, *_OF_TRIALS)
    return [section for make in makers for section in make(trials, settings)]
