"""Where do these numbers come from?"""

import platform

import numpy as np
import scipy

from curvewise._text import Cell, count
from curvewise._version import __version__
from curvewise.analyses._asking import failed_score
from curvewise.report.sections.methods import PROVENANCE
from curvewise.report.sections.parts import (
    SEED,
    Block,
    Group,
    Section,
    Settings,
    at_words,
)
from curvewise.trials import Trials
from curvewise.trials.trial import STATUSES

_FILE = "experiment file"
_WORDS = {
    "ok": "ended well",
    "failed": "failed: raised an error",
    "crashed": "crashed: its process died",
    "timeout": "took too long, and was stopped",
    "cancelled": "was cancelled",
}


def provenance_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what it takes to obtain these numbers again."""
    blocks = [
        Block("What was used", "", None, _facts(trials, settings), _FACTS),
        Block(
            "How the trials ended",
            _scored(trials, settings),
            None,
            _ends(trials),
            _ENDS,
        ),
    ]
    if text := trials.about.get(_FILE):
        lines: list[dict[str, Cell]] = [
            {"line": i, "text": line} for i, line in enumerate(text.splitlines(), 1)
        ]
        blocks.append(Block("The experiment as it was written", "", None, lines, _TEXT))
    return [
        Section(
            "provenance",
            "Where do these numbers come from?",
            "What would somebody need to obtain the same numbers again?",
            _answer(trials),
            groups=[Group("", blocks)],
            method=PROVENANCE,
            in_summary=False,
        )
    ]


_FACTS = "Data, experiment, settings and software behind this page"
_ENDS = "How many trials ended how"
_TEXT = "The file that the experiment was run from, passwords left out"


def _answer(trials: Trials) -> str:
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
        if name != _FILE
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
