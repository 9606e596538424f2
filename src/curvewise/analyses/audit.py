"""Do the analyses keep their promises on trials like these? They are tried on such."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from curvewise._answer import Answer, Provenance
from curvewise._checks import whole
from curvewise._text import Cell, Part, Table, plain
from curvewise.analyses._asking import (
    cluster_cautions,
    metric_of,
    plain_setting,
    refuse_crossed,
)
from curvewise.analyses._audit import words
from curvewise.analyses._audit.checks import Check, Kind
from curvewise.analyses._audit.dealing import dealing_of
from curvewise.analyses._audit.effort import FEWEST, refuse_hours
from curvewise.analyses._audit.running import audited, subjects_of
from curvewise.analyses._audit.subject import Asked
from curvewise.errors import CurvewiseError, listed
from curvewise.metrics import Metric
from curvewise.stats.checks import checked_confidence
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed

__all__ = ["Audit", "Check", "audit"]

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
        return words.table(self.checks)

    def headline(self) -> str:
        """Return in one sentence whether the promises were kept."""
        return words.headline(self)

    def would_change(self) -> str:
        """Return what would change the verdicts."""
        return words.would_change(self)

    def notes(self) -> list[str]:
        """Return what a reader must know to read the table."""
        return words.notes(self, self.told)

    def to_json(self) -> str:
        """Return rows, notes and provenance as JSON; what is not finite becomes null."""
        return self._json(notes=[{"note": note} for note in self.notes()])

    def __str__(self) -> str:
        lines = [
            *self.cautions,
            self.headline(),
            "",
            plain(self.table(), indent="  "),
            "",
        ]
        return "\n".join([*lines, *self.notes(), str(self.provenance)])

    __repr__ = __str__

    def _parts(self) -> Iterator[Part]:
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
        *words.dealing_notes(dealing),
        *words.subject_notes([s.name for s in subjects], problems),
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
