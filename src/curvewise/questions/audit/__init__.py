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
from curvewise.questions.audit.checks import (
    SURENESS,
    Check,
    Kind,
    Seen,
    Settings,
    Subject,
    begun,
    counted,
    refused,
)
from curvewise.questions.audit.draws import Dealing, dealing_of
from curvewise.questions.registry import with_part
from curvewise.questions.sampling import (
    cluster_cautions,
    metric_of,
    plain_setting,
    quietly,
    refuse_crossed,
)
from curvewise.review.check import ungated
from curvewise.stats.interval import clopper_pearson
from curvewise.stats.validation import checked_confidence
from curvewise.text import Cell, Piece, Table, count, joined, percent, plain
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At, Failed

__all__ = [
    "Audit",
    "Check",
    "audit",
]


REPETITIONS = 200  # that tell a rate of 5 % to within 5 points
_ON = {"shuffled": "shuffled names", "simulated": "simulated trials"}
_FEW_DEALS = 1000
_ENOUGH = 1000  # repetitions, after which a rate of 5 % is known to within 2 points
_MOST_TOLD = 3  # broken promises in a sentence
_RARE = 0.05  # a rate that is worth knowing
_LIMITS = (
    "An audit tries the analyses on as many trials, with such ties and failures. It "
    "takes trials for independent, and what was fitted for true: it cannot show that "
    "they are."
)


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
        checks = tuple(
            check
            for check in self.checks
            if check.analysis == analysis and kind in (None, check.kind)
        )
        if not checks:
            raise CurvewiseError(
                f"There is no check of '{analysis}'. There are those of "
                f"{listed(self.analyses)}, on shuffled and on simulated trials.",
                argument="analysis",
                value=analysis,
            )
        return checks

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
        """Return the checks with headings for people, numbered."""
        return [_line(i, check) for i, check in enumerate(self.checks, start=1)]

    def headline(self) -> str:
        """Return in one sentence whether what was promised was kept."""
        n = len(self.checks)
        where = f"in {count(self.repetitions, 'repetition')} on trials like these"
        if not self.broken:
            warned = len([c for c in self.checks if c.verdict == "as warned"])
            how_many = f"{n - warned} of {n}" if warned else f"all {n}"
            but = f", and warn of the other {warned} themselves" if warned else ""
            return (
                f"The analyses kept {how_many} promises {where}{but}; a rate of "
                f"{percent(_RARE)} is known to within {_known(self.repetitions)} "
                f"points."
            )
        first = [_broken(check) for check in self.broken[:_MOST_TOLD]]
        more = len(self.broken) - len(first)
        rest = f"; and {more} more" if more else ""
        return (
            f"The analyses broke {len(self.broken)} of {count(n, 'promise')} {where}: "
            f"{'; '.join(first)}{rest}."
        )

    def would_change(self) -> str:
        """Return what would change the verdicts."""
        parts = []
        if self.repetitions < _ENOUGH:
            parts.append(
                f"More repetitions tell rates more exactly: {_ENOUGH:,} would tell one "
                f"of {percent(_RARE)} to within {_known(_ENOUGH)} points."
            )
        if self.broken:
            parts.append(
                "A promise that is broken with more repetitions, too, is not to be "
                "relied on for trials like these: use what is guaranteed, or run more "
                "trials."
            )
        return " ".join(parts)

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        n = len(self.checks)
        kinds = {check.kind for check in self.checks}
        out = [
            f"observed, in brackets: where the rate lies with {percent(SURENESS)} "
            f"confidence (Clopper and Pearson). broken: even the near end breaks the "
            f"promise. conservative: wrong surely less often than promised, at most "
            f"half as often. By chance of the draws alone, one of {n} promises that "
            f"are just kept is called broken in up to "
            f"{percent(round(1 - (1 - (1 - SURENESS) / 2) ** n, 2))} of all audits."
        ]
        if "shuffled" in kinds:
            out.append(
                "shuffled names: whole trials under names dealt anew within each task, "
                "so that no algorithm is better and every claim is false. Rates are of "
                "deals of these very scores: tests by shuffles keep their promise in "
                "each such set of scores, other claims on average over studies."
            )
        if "simulated" in kinds:
            out.append(
                "simulated trials: as many as there are, drawn from what each analysis "
                "fitted, so that the truth is known. Cases that were drawn together "
                "count as one for the brackets; no answer counts as a wrong one."
            )
        if any(check.verdict == "as warned" for check in self.checks):
            out.append(
                "as warned: the answer itself calls this probable, or its intervals "
                "too short, with so few trials."
            )
        if any(check.verdict == "says nothing" for check in self.checks):
            out.append("says nothing: most of these intervals have no ends at all.")
        if lost := sum(check.refused for check in self.checks):
            out.append(f"In {count(lost, 'case')} there was no answer.")
        return [*out, *self.told, _LIMITS]

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


def _line(i: int, check: Check) -> dict[str, Cell]:
    promised, observed, low, high = check.shown
    most = "at most" if check.kind == "shuffled" else "at least"
    what = "claims" if check.kind == "shuffled" else "holds"
    return {
        "no.": str(i),
        "analysis": check.analysis,
        "on": _ON[check.kind],
        "what it does": f"{what}: {check.what}",
        "promised": f"{most} {percent(promised)}",
        "observed": f"{_rate(observed)} ({_rate(low)} to {_rate(high)})",
        "verdict": check.verdict,
    }


def _broken(check: Check) -> str:
    promised, observed, low, high = check.shown
    rate = f"{_rate(observed)} ({_rate(low)} to {_rate(high)})"
    whose = f"'{check.what}' ({check.analysis})"
    if check.kind == "shuffled":
        return (
            f"{whose} was claimed in {rate} of the shuffles, where at most "
            f"{percent(promised)} was promised"
        )
    return (
        f"{whose} held in {rate} of the cases, where {percent(promised)} was promised"
    )


def _rate(value: float) -> str:
    """Return a rate in percent, as exactly as some hundred repetitions know it.

    >>> _rate(0.0512), _rate(0.9999), _rate(0.0), _rate(0.0001)
    ('5.1 %', '>99.9 %', '0 %', '<0.1 %')
    """
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if not 0.0005 <= value < 0.9995:
        return "<0.1 %" if value < 0.5 else ">99.9 %"
    return f"{100 * value:.1f} %"


def _known(repetitions: int) -> str:
    """Return how well a rate of 5 % is known, in points.

    >>> _known(200), _known(1000)
    ('5.4', '2.1')
    """
    _, high = clopper_pearson(_RARE * repetitions, repetitions, 1 - SURENESS)
    return f"{100 * (high - _RARE):.1f}"


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
    subjects, problems = subjects_of(trials, Settings(name, at, failed, confidence))
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
    notes = (
        *_dealing_notes(dealing, [s.name for s in subjects if s.pairs]),
        *(subject.note for subject in subjects if subject.note),
        *(f"Not tried: {name}. {problem}" for name, problem in problems.items()),
    )
    return Audit(
        meant,
        repetitions,
        confidence,
        tuple(checks),
        notes,
        Provenance.of(
            trials, "audit", settings, seed, cautions=cluster_cautions(trials)
        ),
    )


def _dealing_notes(dealing: Dealing, paired: Sequence[str]) -> list[str]:
    """Return how names were dealt, where that matters; `paired` compare by number."""
    if not dealing.is_possible:
        return [
            "No names were shuffled: there are no two algorithms on one task, so "
            "nobody can be told apart falsely."
        ]
    out = []
    if dealing.paired and paired:
        out.append(
            f"Trials of one number met the same data. Names were dealt within each number "
            f"for {joined(paired)}, where trials are compared pair by pair, and among all "
            f"trials of a task for the others, which take runs as independent."
        )
    if dealing.by_size:
        out.append(
            f"Each trial of {listed(dealing.by_size)} has one step: names were dealt "
            f"among the trials of each step."
        )
    few = {t: n for t, n in dealing.different.items() if min(n) < _FEW_DEALS}
    if few:
        deals = joined([_deals(t, *n) for t, n in list(few.items())[:_MOST_TOLD]])
        more = f" and as few on {len(few) - _MOST_TOLD} more" * (len(few) > _MOST_TOLD)
        out.append(
            f"So few trials can be dealt in few different ways, {deals}{more}: rates on "
            f"shuffled names are of these deals, and repetitions see the same ones "
            f"again."
        )
    return out


def _deals(task: str, among: int, within: int) -> str:
    """Return how many different deals a task has.

    >>> _deals("moons", 462, 32), _deals("moons", 10, 10)
    ('462 (32 within numbers) on moons', '10 on moons')
    """
    inside = f" ({within:,} within numbers)" if within != among else ""
    return f"{among:,}{inside} on {task}"


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
    cells = sum(len(names) for names in _algorithms(trials))
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
    return sum(comb(len(names), 2) for names in _algorithms(trials))


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
    trials: Trials, settings: Settings
) -> tuple[list[Subject], dict[str, CurvewiseError]]:
    """Return the analyses that these trials can carry, and why others refuse them."""
    subjects, problems = [], {}
    for question in with_part("audit"):
        try:
            with quietly(), ungated():
                subject = question.part("audit", "subject")(trials, settings)
        except CurvewiseError as problem:
            problems[question.name] = problem
            continue
        if subject is not None:
            subjects.append(subject)
    return subjects, problems


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
            usual = subject.claims(subject.found)
            tally = begun(subject.name, "shuffled", usual)
            for one in next(sources).spawn(repetitions):
                counts = _claims(subject, dealing, np.random.default_rng(one))
                tally = _counted(tally, usual, counts, is_wrong=False)
                next(rounds)
            out += tally
        for subject in subjects:
            usual = subject.misses(subject.found)
            tally = begun(subject.name, "simulated", usual)
            for one in next(sources).spawn(repetitions):
                counts = _misses(subject, np.random.default_rng(one))
                tally = _counted(tally, usual, counts, is_wrong=True)
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
        draw = subject.draw(rng)
        return subject.misses(subject.ask_drawn(draw, int(rng.integers(2**31))))
    except CurvewiseError:
        return None


def _counted(
    tally: list[Check], usual: list[Seen], counts: list[Seen] | None, *, is_wrong: bool
) -> list[Check]:
    if counts is None:
        return refused(tally, usual, is_wrong=is_wrong)
    return counted(tally, counts)


def _rounds(total: int, progress: Progress | None) -> Iterator[None]:
    """Tell how far it is, once for each answer."""
    for done in range(1, total + 1):
        if progress is not None:
            progress(done, total)
        yield
    yield
