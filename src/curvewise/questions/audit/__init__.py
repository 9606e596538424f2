"""Do the analyses keep their promises on trials like these? They are tried on such."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import TypeAlias

import numpy as np

from curvewise.answer import Answer, Provenance
from curvewise.errors import (
    CurvewiseError,
    Message,
    Verbatim,
    listed,
    trials_where,
    whole,
)
from curvewise.metrics import Metric
from curvewise.questions.audit import text
from curvewise.questions.audit.checks import (
    Asked,
    Check,
    Kind,
    Seen,
    Subject,
    begun,
    counted,
    refused,
)
from curvewise.questions.audit.deals import Dealing, dealing_of
from curvewise.questions.registry import with_part
from curvewise.questions.sampling import (
    cluster_cautions,
    metric_of,
    plain_setting,
    quietly,
    refuse_crossed,
)
from curvewise.review.check import ungated
from curvewise.stats.validation import checked_confidence
from curvewise.text import Cell, Piece, Table, count, plain
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At, Failed

__all__ = [
    "Audit",
    "Check",
    "audit",
]


REPETITIONS = 200  # that tell a rate of 5 % to within 5 points


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Audit(Answer):
    """The answer of `audit`: how often each promise was broken, where the truth is known.

    Parameters
    ----------
    metric : Metric
    repetitions : int
        How often each analysis was tried on shuffled names, and on simulated trials.
    confidence : float
        What the analyses promise.
    checks : tuple of Check
    told : tuple of str
        How names were dealt, and which analyses could not be tried.
    provenance : Provenance
    """

    metric: Metric
    repetitions: int
    confidence: float
    checks: tuple[Check, ...]
    told: tuple[str, ...]
    provenance: Provenance

    @property
    def broken(self) -> tuple[Check, ...]:
        """The promises that were not kept."""
        return tuple(check for check in self.checks if check.verdict == "broken")

    @property
    def analyses(self) -> tuple[str, ...]:
        """The analyses that were tried."""
        return tuple(dict.fromkeys(check.analysis for check in self.checks))

    def of(self, analysis: str, kind: Kind | None = None) -> tuple[Check, ...]:
        """Return the checks of one analysis, of both kinds or of one."""
        own = tuple(
            check
            for check in self.checks
            if check.analysis == analysis and kind in (None, check.kind)
        )
        if not own:
            raise CurvewiseError(
                f"There is no check of '{analysis}'. There are those of "
                f"{listed(self.analyses)}, on shuffled and on simulated trials."
            )
        return own

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per check.

        ``promised`` and ``observed`` are how often an answer about shuffled names makes a
        false claim, at most, or how often intervals contain what simulated trials were
        drawn from, at least; ``observed_lower`` and ``observed_upper`` are the ends of a
        99 % interval. ``wrong`` of ``asked`` were wrong, with ``apart`` of them by chance
        of their own; ``refused`` repetitions had no answer.
        """
        return [_row(check) for check in self.checks]

    def table(self) -> list[dict[str, Cell]]:
        """Return the checks with headings for people."""
        return text.table(self.checks)

    def headline(self) -> str:
        """Return in one sentence whether the promises were kept."""
        return text.headline(self)

    def would_change(self) -> str:
        """Return what would change the verdicts."""
        return text.would_change(self)

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return text.notes(self, self.told)

    def _tables(self) -> dict[str, list[dict[str, Cell]]]:
        return {"notes": [{"note": note} for note in self.notes()]}

    def __str__(self) -> str:
        lines = [
            *self.cautions,
            self.headline(),
            "",
            plain(self.table(), indent="  "),
            "",
        ]
        return "\n".join([*lines, *self.notes(), str(self.provenance)])

    def _parts(self) -> Iterator[Piece]:
        yield self.headline()
        yield Table(self.table(), "How often each promise was kept")


def _row(check: Check) -> dict[str, Cell]:
    promised, observed, low, high = check.shown
    return {
        "analysis": check.analysis,
        "kind": check.kind,
        "check": check.what,
        "promised": promised,
        "observed": observed,
        "observed_lower": low,
        "observed_upper": high,
        "wrong": check.wrong,
        "asked": check.asked,
        "apart": check.apart,
        "refused": check.refused,
        "warned": check.is_warned,
        "verdict": check.verdict,
    }


def audit(
    trials: Trials,
    metric: str | None = None,
    *,
    repetitions: int = REPETITIONS,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Audit:
    """Return how often the analyses of these trials err, measured on trials like them.

    Parameters
    ----------
    trials : Trials
    metric : str, optional
        May be left out where the trials have only one.
    repetitions : int
        How often each analysis is tried on shuffled names, and on simulated trials; 20 or
        more. 200 tell a rate of 5 % to within 5 points, 1,000 to within 2.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores.
    confidence : float
        With which the analyses are asked; tests have the level ``1 - confidence``.
    seed : int
        For deals and draws.
    progress : callable, optional
        Called with how many answers were found, and how many there will be.

    Returns
    -------
    Audit

    See Also
    --------
    curvewise.check : What a careful reviewer would ask about the trials themselves.

    Notes
    -----
    Each analysis that the trials can carry is asked with the settings of a report.

    *Shuffled names.* Within each task the names of the algorithms are dealt anew among
    whole trials, so that no algorithm is better. The same analysis then claims a difference
    anyway in some of the deals: its type I error on these scores. Analyses that compare
    trials of one number pair by pair are dealt names within each number, others among all
    trials of a task.

    *Simulated trials.* As many trials are drawn from what was fitted: scores from their own
    distribution, between the scores seen where none tie; curves around their means, with
    noise of the covariance seen; errors around their power law; counts from the fitted
    confusion matrices. How often intervals contain what was drawn from, is their coverage.

    What is promised for all at once is counted as kept where all of it holds. No answer, or
    one that is not a number, counts as missed.

    An audit takes trials for independent and what was fitted for true. It cannot show that
    they are; see the explanation of the self-audit.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.audit(cw.example("search"), failed="worst", repetitions=20)
    >>> answer.broken
    ()
    """
    must_be_trials(trials)
    if len(trials) == 0:
        raise CurvewiseError("There are no trials to audit. Check what was read.")
    name = metric_of(trials, metric)
    meant = trials.metric(name)
    repetitions = whole(repetitions, "repetitions", FEWEST)
    seed = whole(seed, "seed", 0)
    checked_confidence(confidence)
    refuse_crossed(trials)
    refuse_hours(trials, name, repetitions)
    subjects, problems = subjects_of(trials, Asked(name, at, failed, confidence))
    if not subjects:
        raise next(iter(problems.values()))
    dealing = dealing_of(trials)
    checks = audited(subjects, dealing, repetitions, seed, progress)
    settings: dict[str, Cell] = {
        "metric": name,
        "repetitions": repetitions,
        "at": plain_setting(at),
        "failed": plain_setting(failed),
        "confidence": confidence,
    }
    told = (
        *text.dealing_notes(dealing),
        *text.subject_notes([s.name for s in subjects], problems),
    )
    return Audit(
        meant,
        repetitions,
        confidence,
        tuple(checks),
        told,
        Provenance.of(
            trials, "audit", settings, seed, cautions=cluster_cautions(trials)
        ),
    )


# --------------------------------------------------------------------------------------
# How long an audit would take, about: what takes hours is refused before it begins.


FEWEST = 20  # repetitions; of fewer nothing can be told
_LONGEST = 3600.0  # seconds
# Seconds that one answer takes, measured on one core of a laptop.
_PER_VALUE, _PER_TRIAL_BOOTSTRAPPED = 2e-6, 3e-4
_PER_PAIR, _PER_PAIR_OF_CURVES = 1e-3, 2.5e-2
_PER_CELL, _PER_CELL_OF_CURVES = 1e-3, 1e-2


def refuse_hours(trials: Trials, metric: str, repetitions: int) -> None:
    """Raise if an audit would take more than an hour or so, with what to pass instead."""
    each = _seconds(trials, metric)
    if repetitions * each <= _LONGEST:
        return
    fewer = int(_LONGEST / each)
    instead = Message("a part of them: ", trials_where(task=..., algorithm=[...]))
    if fewer >= FEWEST:
        instead = Message(
            {"repetitions": Verbatim(f"{float(f'{fewer:.1g}'):.0f}")},
            " or fewer, or ",
            instead,
        )
    raise CurvewiseError(
        f"{count(repetitions, 'repetition')} with {count(len(trials), 'trial')} and "
        f"{count(_pairs(trials), 'pair')} of algorithms would take about "
        f"{_in_words(repetitions * each)}. Pass ",
        instead,
        ".",
    )


def _seconds(trials: Trials, metric: str) -> float:
    """Return how long one repetition takes, about: two answers of each analysis."""
    core, pairs = trials.core, _pairs(trials)
    cells = sum(len(own) for own in _algorithms(trials))
    each = _PER_VALUE * len(core.steps) + _PER_PAIR * pairs + _PER_CELL * cells
    if not trials.metric(metric).is_bounded:
        each += _PER_TRIAL_BOOTSTRAPPED * len(trials)
    if core.lengths.max(initial=0) > 1:
        each += _PER_PAIR_OF_CURVES * pairs + _PER_CELL_OF_CURVES * cells
    return 2 * each


def _algorithms(trials: Trials) -> list[np.ndarray]:
    """Return which algorithms met each task."""
    core = trials.core
    return [np.unique(core.algorithm[core.task == t]) for t in range(len(trials.tasks))]


def _pairs(trials: Trials) -> int:
    return sum(comb(len(own), 2) for own in _algorithms(trials))


def _in_words(seconds: float) -> str:
    """Return a time as people say it.

    >>> _in_words(5000), _in_words(200_000)
    ('1.4 hours', '56 hours')
    """
    hours = seconds / 3600
    return f"{hours:.1f} hours" if hours < 10 else f"{hours:,.0f} hours"


# --------------------------------------------------------------------------------------
# The repetitions of an audit: dealt and drawn, one after another, counted as they
# come.


Progress: TypeAlias = Callable[[int, int], object]


def subjects_of(
    trials: Trials, asked: Asked
) -> tuple[list[Subject], dict[str, CurvewiseError]]:
    """Return the analyses that these trials can carry, and why others refuse them."""
    found, problems = [], {}
    for question in with_part("audit"):
        try:
            with quietly(), ungated():
                subject = question.part("audit", "subject")(trials, asked)
        except CurvewiseError as problem:
            problems[question.name] = problem
            continue
        if subject is not None:
            found.append(subject)
    return found, problems


def audited(
    subjects: Sequence[Subject],
    dealing: Dealing,
    repetitions: int,
    seed: int,
    progress: Progress | None,
) -> list[Check]:
    """Return every check of every analysis."""
    dealt = [s for s in subjects if dealing.is_possible and s.claims(s.found)]
    rounds = _rounds(repetitions * (len(dealt) + len(subjects)), progress)
    sources = iter(np.random.SeedSequence(seed).spawn(len(dealt) + len(subjects)))
    out = []
    with quietly(), ungated():
        for subject in dealt:
            found = subject.claims(subject.found)
            tally = begun(subject.name, "shuffled", found)
            for one in next(sources).spawn(repetitions):
                seen = _claims(subject, dealing, np.random.default_rng(one))
                tally = _counted(tally, found, seen, is_wrong=False)
                next(rounds)
            out += tally
        for subject in subjects:
            found = subject.misses(subject.found)
            tally = begun(subject.name, "simulated", found)
            for one in next(sources).spawn(repetitions):
                seen = _misses(subject, np.random.default_rng(one))
                tally = _counted(tally, found, seen, is_wrong=True)
                next(rounds)
            out += tally
    return out


def _claims(
    subject: Subject, dealing: Dealing, rng: np.random.Generator
) -> list[Seen] | None:
    """Return what an analysis claims of a deal; None where it refuses to answer."""
    dealt = dealing.deal(rng, within_numbers=subject.pairs)
    try:
        return subject.claims(subject.ask(dealt, int(rng.integers(2**31))))
    except CurvewiseError:
        return None


def _misses(subject: Subject, rng: np.random.Generator) -> list[Seen] | None:
    """Return what an analysis misses of a draw; None where it refuses to answer."""
    try:
        drawn = subject.draw(rng)
        return subject.misses(subject.ask_drawn(drawn, int(rng.integers(2**31))))
    except CurvewiseError:
        return None


def _counted(
    tally: list[Check], usual: list[Seen], seen: list[Seen] | None, *, is_wrong: bool
) -> list[Check]:
    if seen is None:
        return refused(tally, usual, is_wrong=is_wrong)
    return counted(tally, seen)


def _rounds(total: int, progress: Progress | None) -> Iterator[None]:
    """Tell how far it is, once for each answer."""
    for done in range(1, total + 1):
        if progress is not None:
            progress(done, total)
        yield
    yield
