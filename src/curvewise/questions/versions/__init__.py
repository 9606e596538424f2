"""Is the new version of an algorithm worse? A verdict for whoever merges it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from curvewise.answer import Answer, Provenance
from curvewise.errors import CurvewiseError, whole
from curvewise.metrics import Metric
from curvewise.questions.base import rows_of, table_of
from curvewise.questions.sampling import (
    are_paired,
    cluster_cautions,
    failed_score,
    plain_setting,
    samples,
    unit_of,
)
from curvewise.questions.versions import text
from curvewise.questions.versions.fit import (
    BASE,
    NEW,
    Change,
    Margin,
    MarginAsked,
    Side,
    Verdict,
    changes_of,
    ends_apart,
    have_same_seeds,
    margin_of,
    matched,
    metric_of_both,
    pair_of,
    together,
)
from curvewise.review.check import MOST_CAUTIONS, gate
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.validation import checked_confidence
from curvewise.text import Cell, Piece, Table, plain
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed

__all__ = [
    "Change",
    "Margin",
    "Side",
    "Versions",
    "compare_versions",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Versions(Answer):
    """The answer of `compare_versions`: a verdict, and one change per algorithm and task.

    Parameters
    ----------
    metric : Metric
    margin : Margin
        How much worse is not worse.
    confidence : float
        Of each claim: the level of a wrong "no worse", and of a wrong "worse", is the rest.
    looks : int
        How many looks share that level.
    changes : tuple of Change
    removed, added : tuple of str
        What only the base and only the new version has, which is not compared.
    is_same : bool
        Whether both hold the same trials.
    ends : tuple of str
        On which tasks curves end at different steps.
    failed_score : str
        What a failed trial scores.
    provenance : Provenance
    unit : str
        What each score is of: a trial, a setting or another cluster of runs.
    """

    metric: Metric
    margin: Margin
    confidence: float
    looks: int
    changes: tuple[Change, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    is_same: bool
    ends: tuple[str, ...]
    failed_score: str
    provenance: Provenance
    unit: str = "trial"

    @property
    def verdict(self) -> Verdict:
        """Worse if any change is, no worse if all are, and open otherwise."""
        verdicts = {change.verdict for change in self.changes}
        if "worse" in verdicts:
            return "worse"
        return "cannot tell" if "cannot tell" in verdicts else "no worse"

    @property
    def each(self) -> float:
        """The confidence of each limit, at each of the looks."""
        return shared_confidence(self.confidence, self.looks)

    def of(self, verdict: Verdict) -> tuple[Change, ...]:
        """Return the changes with this verdict."""
        return tuple(change for change in self.changes if change.verdict == verdict)

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per algorithm and task.

        ``gain`` is the new mean less that of the base, its sign turned where lower is
        better: above 0, the new version is better. Each of ``gain_lower`` and
        ``gain_upper`` is a one-sided limit. ``room`` is what is left to the margin:
        ``room_lower`` of 0 or more is no worse. ``more_if_equal``, ``more_if_as_seen`` and
        ``more_of_new`` say how many more trials would tell: 0 where it is told, empty for
        more than 1,000 or where nobody knows.
        """
        return rows_of(text.columns(self), self.changes)

    def table(self) -> list[dict[str, Cell]]:
        """Return the changes with headings for people."""
        return table_of(text.columns(self), self.changes)

    def headline(self) -> str:
        """Return the verdict in one line, with how sure it is."""
        return text.headline(self)

    def notes(self) -> list[str]:
        """Return what a reader must know to read the verdict."""
        return [*text.notes(self), *filter(None, [self.metric.assumption])]

    def _below(self) -> tuple[str, ...]:
        """Return what stands below the answer's tables, wherever they are pasted."""
        return tuple(filter(None, [*self.cautions, self.metric.assumption]))

    def comment(self) -> str:
        """Return verdict, table and method as Markdown for a pull request."""
        return text.comment(self)

    def to_json(self) -> str:
        """Return verdict, rows, notes and provenance as JSON; not finite becomes null."""
        fields = {
            "verdict": self.verdict,
            "headline": self.headline(),
            "removed": self.removed,
            "added": self.added,
            "notes": self.notes(),
            **json.loads(Answer.to_json(self)),
        }
        return json.dumps(fields, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        lines = [*self.cautions, self.headline(), ""]
        if len(self.changes) > 1:
            lines += [plain(self.table(), indent="  "), ""]
        return "\n".join([*lines, *self.notes(), str(self.provenance)])

    def _parts(self) -> Iterator[Piece]:
        yield self.headline()
        yield Table(self.table(), f"New version against base, {self.metric}")


def compare_versions(
    base: Trials,
    new: Trials,
    metric: str | None = None,
    *,
    margin: MarginAsked = None,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    paired: bool | None = None,
    looks: int = 1,
    anyway: bool = False,
) -> Versions:
    r"""Return whether the new version of an algorithm is worse than the base.

    Parameters
    ----------
    base, new : Trials
        Of the version that is there, and of the one that is to replace it. What has the
        same names in both is compared; two algorithms of different names are, where each
        version has only one.
    metric : str, optional
        May be left out where both have only one in common.
    margin : float or str, optional
        How much worse is not worse: a number in units of the metric, or a share of the
        base's mean, such as ``"2%"``. If left out, 1 % of the range of a metric that has
        one, and 5 % of the base's mean otherwise.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores. With ``"worst"``, more failures are a regression.
    confidence : float
        Of each claim.
    paired : bool, optional
        Whether to compare trials of the same number (seed) in pairs. If left out, where
        both versions have the same numbers and these were given, not merely counted. True
        leaves out trials without a partner, and says how many.
    looks : int
        How often you will have looked in the end, each time with more trials, until there
        is a verdict: they share the level.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Returns
    -------
    Versions

    See Also
    --------
    curvewise.difference : Where whole curves differ.
    curvewise.performance : Whole distributions of scores, both tails, every quantile.

    Notes
    -----
    With d the new mean less that of the base, higher is better, and m the margin,

    .. math:: \text{no worse: } L \ge -m, \qquad \text{worse: } U < -m

    where L and U are one-sided limits of `curvewise.stats.noninferiority`, so that either
    claim is wrong in ``1 - confidence`` of the cases at most; between them the answer is
    "cannot tell", with the number of trials that would. A margin of 5 % asks for the new
    mean less 95 % of the base's, so that the base's own uncertainty counts. Over several
    algorithms and tasks, "no worse" needs all of them and no correction [1]_; "worse" needs
    one of them, corrected for their number [2]_.

    How often the limits hold was measured: see the page on comparing versions.

    References
    ----------
    .. [1] R. L. Berger. "Multiparameter hypothesis testing and acceptance sampling."
       Technometrics 24, 1982.
    .. [2] S. Holm. "A simple sequentially rejective multiple test procedure."
       Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> import curvewise as cw
    >>> def version(gain):
    ...     return cw.Trials(
    ...         cw.Trial("moons", "svm", i, {"accuracy": 0.9 + gain + 0.01 * (i % 3)})
    ...         for i in range(12)
    ...     )
    >>> answer = cw.compare_versions(version(0.0), version(-0.05))
    >>> answer.verdict, answer.changes[0].difference.is_exact
    ('worse', True)
    >>> cw.compare_versions(version(0), version(0.01), paired=False).verdict
    'no worse'
    """
    meant = metric_of_both(base, new, metric)
    checked_confidence(confidence)
    looks = whole(looks, "looks")
    if paired is not None and not isinstance(paired, bool):
        raise CurvewiseError(
            f"paired is {paired!r}. Pass True or False, or nothing.",
            argument="paired",
            value=paired,
        )
    tolerance = margin_of(margin, meant)
    cautions = dict.fromkeys(
        line
        for one in (base, new)
        for line in gate(one, "versions", metric=meant.name, anyway=anyway)
    )
    matches = matched(base, new)
    trials = together(base, new)
    by_task = samples(trials, meant.name, at, failed, crossed=True)
    pairs = []
    for names in matches.both:
        if names.task not in by_task:  # a caution says so
            continue
        cells = by_task[names.task]
        both = cells[f"{BASE}{names.base}"], cells[f"{NEW}{names.new}"]
        is_paired = paired
        if paired is None:
            is_paired = are_paired(*both) and have_same_seeds(base, new, names)
        pairs.append(pair_of(names, *both, meant, paired=bool(is_paired)))
    settings: dict[str, Cell] = {
        "metric": meant.name,
        "margin": margin,
        "at": plain_setting(at),
        "failed": plain_setting(failed),
        "confidence": confidence,
        "paired": paired,
        "looks": looks,
    }
    return Versions(
        metric=meant,
        margin=tolerance,
        confidence=confidence,
        looks=looks,
        changes=changes_of(pairs, tolerance, shared_confidence(confidence, looks)),
        removed=matches.removed,
        added=matches.added,
        is_same=base == new,
        ends=tuple(ends_apart(base, new, [n.task for n in matches.both]))
        if isinstance(at, str)
        else (),
        failed_score=failed_score(meant, failed),
        provenance=_provenance(
            base, new, trials, settings, tuple(cautions)[:MOST_CAUTIONS]
        ),
        unit=unit_of(trials),
    )


def _provenance(
    base: Trials,
    new: Trials,
    trials: Trials,
    settings: dict[str, Cell],
    cautions: tuple[str, ...],
) -> Provenance:
    source = "; ".join(
        f"{version}{one.origin}"
        for version, one in ((BASE, base), (NEW, new))
        if one.origin
    )
    # What the name alone says is among the notes: the verdict comes first.
    return Provenance(
        "compare_versions",
        settings,
        None,
        trials.digest(),
        source=source,
        cautions=(*cautions, *cluster_cautions(trials)),
    )
