"""Until when to run: a precision or a ranking that holds in spite of the looking."""

import math
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from curvewise.answer import Answer, Provenance
from curvewise.engine.experiment import Experiment
from curvewise.errors import CurvewiseError, Keyword, Verbatim, listed, shortened
from curvewise.flow.until.looks import (
    LOOKS,
    Budget,
    HalfWidth,
    Look,
    Question,
    Ranking,
    Ranks,
    Samples,
    rounded_up,
)
from curvewise.metrics import Metric
from curvewise.questions.sampling import Sample, metric_of, samples
from curvewise.stats.bands import KINDS, NAMES, Kind
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import METHODS, Method, Tail
from curvewise.stats.validation import checked_confidence, checked_half_width, one_of
from curvewise.store.locks import Cell
from curvewise.text import Cell as TableCell
from curvewise.text import Piece, Table, count, percent, plain, shown
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At, Failed, declared_score, scored

__all__ = [
    "Reached",
    "Until",
    "until",
]


What: TypeAlias = Literal["mean", "cvar", "quantile", "ranking"]
QUESTIONS = ("mean", "cvar", "quantile", "ranking")
_MARGIN = 0.01  # of the metric's range, if nobody says how close is close


@dataclass(frozen=True, slots=True)
class Until:
    """What a run is to find out before it ends; made by `until`.

    Called with trials, it returns whether they are enough, as one of five planned looks.

    Parameters
    ----------
    functional : Functional
        The number that is asked for.
    half_width : float or None
        How well every cell is to be known; None for a ranking.
    margin : float or None
        How close two algorithms may be and need not be told apart.
    metric : str or None
        The only one there is, if None.
    at, failed
        As in `curvewise.Trials.scores`.
    confidence : float
        Of all intervals of all cells at all looks together.
    band : {"kolmogorov", "dkw", "equal_local_levels", "anytime"} or None
    method : {"guaranteed", "asymptotic"}
    """

    functional: Functional
    half_width: float | None
    margin: float | None
    metric: str | None
    at: At
    failed: Failed
    confidence: float
    band: Kind | None
    method: Method

    @property
    def is_ranking(self) -> bool:
        """Whether algorithms are compared."""
        return self.half_width is None

    def __call__(self, trials: Trials) -> bool:
        """Return whether these trials are enough, as one of five planned looks.

        They are not if an algorithm has none on a task.
        """
        must_be_trials(trials)
        until = self.for_trials(trials)
        until.refuse_alone(len(trials.algorithms))
        cells = [(t, a) for t in trials.tasks for a in trials.algorithms]
        scores = until.samples(trials, cells)
        if len(scores) < len(cells):
            return False
        return until.look(scores, trials.metric(until.name), until.budget()).is_enough

    @property
    def name(self) -> str:
        """The name of the metric, once it is known."""
        if self.metric is None:
            raise CurvewiseError(
                "Which metric? Pass ",
                {"metric": ...},
                " to until.",
                argument="metric",
            )
        return self.metric

    def for_trials(self, trials: Trials) -> "Until":
        """Return the same with the metric of these trials; refuse what cannot be."""
        scores = scored(trials)
        if self.metric is None and len(scores) != 1:
            raise CurvewiseError(
                f"Until what is known of which metric? These trials have "
                f"{listed(scores)}. Name one: '{self} of {scores[0]}'."
                if scores
                else "These trials have no metric to judge by. Leave until out.",
                argument="metric",
            )
        name = metric_of(trials, self.metric)
        until = replace(self, metric=name)
        until.refuse_unbounded(trials.metric(name))
        return until

    def refuse_alone(self, algorithms: int) -> None:
        """Raise if a ranking has fewer than two algorithms to compare."""
        if self.is_ranking and algorithms < 2:
            raise CurvewiseError(
                f"A ranking needs two algorithms, and there is {algorithms}. Add "
                "one, or ask for a half-width, such as ",
                {"until": "cvar 0.5 +- 0.01"},
                ".",
                argument="algorithms",
                value=algorithms,
            )

    def refuse_unbounded(self, metric: Metric) -> None:
        """Raise if a metric has no bounds, and what is asked for needs them.

        Or if a failure is to score what is outside of those that it has.
        """
        declared_score(metric, self.failed)
        ends = self.question(metric).lacks
        if self.method == "guaranteed" and ends:
            name, low, high = metric.name, *metric.range
            raise CurvewiseError(
                f"'{name}' ranges from {low:g} to {high:g}, and nothing can be "
                f"guaranteed about {self.functional.estimand} without a bound "
                f"{' and '.join(ends)}. Declare its range, such as Metric({name!r}, "
                f"{metric.direction!r}, (0, 100)), or pass ",
                {"method": "asymptotic"},
                f"; as a text, '{self} method asymptotic'.",
                argument="metric",
                value=name,
            )
        if self.failed == "worst" and math.isinf(metric.worst):
            # It would be the worst of those seen so far: another one at every look.
            raise CurvewiseError(
                f"'{metric.name}' ranges from {metric.range[0]:g} to "
                f"{metric.range[1]:g}, and has no worst score that is the same at "
                "every look. Pass ",
                {"failed": Verbatim("<score of a failed run>")},
                f"; as a text, '{replace(self, failed=0)}'.",
                argument="failed",
                value=self.failed,
            )
        if self.is_ranking and self.margin is None and math.isinf(_length(metric)):
            raise CurvewiseError(
                f"'{metric.name}' has no range that could say how close is close. "
                "Pass ",
                {"margin": Verbatim("<difference that does not matter>")},
                ".",
                argument="margin",
            )

    def question(self, metric: Metric) -> Question:
        """Return what is asked of every cell."""
        return Question(self.functional, metric, self.band, self.method)

    def goal(self, metric: Metric) -> HalfWidth | Ranking:
        """Return when a look is enough."""
        if self.half_width is not None:
            return HalfWidth(self.half_width)
        if self.margin is not None:
            return Ranking(self.margin)
        return Ranking(_MARGIN * _length(metric))

    def budget(self, looks: int = LOOKS, before: int = 0) -> Budget:
        """Return what a look may spend of delta."""
        return Budget(1 - self.confidence, looks, before, self.band == "anytime")

    def samples(self, trials: Trials, cells: Iterable[Cell]) -> dict[Cell, Sample]:
        """Return the scores of those cells that have any, in this order."""
        # Crossed designs are refused before they are run.
        by_task = samples(trials, self.name, self.at, self.failed, crossed=True)
        by_cell = {
            (task, a): s for task, each in by_task.items() for a, s in each.items()
        }
        return {cell: by_cell[cell] for cell in cells if cell in by_cell}

    def look(self, found: Samples, metric: Metric, budget: Budget) -> Look:
        """Return what these scores tell."""
        return self.goal(metric).look(self.question(metric), found, budget)

    def reached(self, experiment: Experiment, found: Trials | str | Path) -> "Reached":
        """Return what a run until this has reached: the look at which it ended.

        Nothing is remembered from the run: the same looks are taken again.
        """
        from curvewise.flow.until.stopping import reached

        return reached(self, experiment, found)

    def __str__(self) -> str:

        return written(self)


def _length(metric: Metric) -> float:
    """Return the length of a metric's range."""
    low, high = metric.range
    return high - low


def until(
    what: What | str,
    share: float | None = None,
    *,
    half_width: float | None = None,
    of: Literal["mean", "cvar", "quantile"] | None = None,
    margin: float | None = None,
    metric: str | None = None,
    at: At = "last",
    failed: Failed = "raise",
    tail: Tail = "upper",
    confidence: float = 0.95,
    band: Kind | None = None,
    method: Method = "guaranteed",
) -> Until:
    r"""Return until when to run: ``curvewise.run(experiment, until=until(...))``.

    Parameters
    ----------
    what : {"mean", "cvar", "quantile", "ranking"} or str
        ``"ranking"``: until every pair of algorithms on every task is told apart, or
        shown to be closer than `margin`. Also all of it as a text, as on the command line:
        ``"cvar 0.5 +- 0.01 of accuracy"``.
    share : float, optional
        Where CVaR cuts (0.5 if left out), or which quantile.
    half_width : float
        How well the number is to be known for every algorithm on every task.
    of : {"cvar", "mean", "quantile"}
        What a ranking is by, ``"cvar"`` if left out.
    margin : float, optional
        Of a ranking: a difference that does not matter; 1 % of the metric's range if left
        out.
    metric : str, optional
        May be left out where trials have only one.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores. If it is not said and one does fail, the run says so
        and goes on to its last trial. ``"worst"`` needs a metric with a worst score: the
        worst one so far would move from look to look.
    tail : {"upper", "lower"}
        Of CVaR: the best ``1 - share`` of the trials, or the worst ``share``.
    confidence : float
        Of all intervals together.
    band : {"equal_local_levels", "kolmogorov", "dkw", "anytime"}, optional
        The band that guaranteed intervals are read off. If left out, the first of these,
        or the second for more trials than the first is known for: at the confidences of a
        single look the first was 0.3 to 1.07 times as wide as the second.
    method : {"guaranteed", "asymptotic"}
        ``"guaranteed"`` holds for every distribution on the metric's range and any number
        of trials. ``"asymptotic"`` is shorter and needs no range, and does not stop before
        100 trials are in the tail. In simulated runs it held in 97.7 % and more, but in
        71 % where one trial in a hundred fails and the others are nearly equal: what was
        not met yet has no variance.

    Notes
    -----
    *What is promised.* With the stated confidence the intervals of all cells (tasks x
    algorithms) contain the truth, all of them and at each of the looks, so also at the
    one at which the run ends. To stop at the first look that pleases is to choose; each of
    K looks at C cells therefore gets

    .. math:: \frac{\delta}{2^{e+1}\,K\,C}

    where e counts the plans before this one in which the same was asked of the same store
    (a larger number of trials, another algorithm): over all plans that ever follow, the
    sum is :math:`\delta` at most. To be allowed to extend a plan costs 13 % more trials.
    The same plan again looks at the same trials and spends nothing.

    A look at n trials of each cell sees the trials numbered below n, whatever else is
    there: a run that was stopped, resumed or shared ends where an undisturbed one ends.

    ``band="anytime"`` holds at every number of trials at once [1]_ and needs no division
    by looks and plans; for five looks it is wider all the same.

    References
    ----------
    .. [1] S. Howard, A. Ramdas. "Sequential estimation of quantiles with applications to
       A/B testing and best-arm identification." Bernoulli 28, 2022.

    Examples
    --------
    >>> print(until("cvar", 0.5, half_width=0.01, metric="accuracy"))
    cvar 0.5 +- 0.01 of accuracy
    >>> until("ranking mean within 0.02") == until("ranking", of="mean", margin=0.02)
    True
    """
    if isinstance(what, str) and (" " in what.strip() or what not in QUESTIONS):
        beside = (share, half_width, of, margin, metric, band)
        usual = ("last", "raise", "upper", 0.95, "guaranteed")
        is_bare = (at, failed, tail, confidence, method) == usual
        if not is_bare or any(value is not None for value in beside):
            raise CurvewiseError(
                f"until is {what!r}, and more beside it. Say all of it in the text, or "
                f"pass one of {', '.join(QUESTIONS)} first.",
                argument="until",
                value=what,
            )
        return parsed(what)
    if what == "ranking":
        functional = _functional(of or "cvar", share, tail)
        if half_width is not None:
            raise CurvewiseError(
                f"half_width is {half_width!r}, and a ranking has none. Pass ",
                {"margin": ...},
                " for how close is close.",
                argument="half_width",
                value=half_width,
            )
        close = None if margin is None else _checked_margin(margin)
    else:
        functional = _functional(what, share, tail)
        if of is not None or margin is not None:
            raise CurvewiseError(
                Keyword("of"),
                " and ",
                Keyword("margin"),
                " belong to a ranking. Leave them out.",
                argument="margin" if of is None else "of",
                value=margin if of is None else of,
            )
        if half_width is None:
            raise CurvewiseError(
                f"Until the {what} is how well known? Pass ",
                {"half_width": ...},
                ".",
                argument="half_width",
            )
        half_width, close = checked_half_width(half_width), None
    if isinstance(at, str):
        one_of("at", at, ("last", "mean", "best"))
    if isinstance(failed, str):
        one_of("failed", failed, ("raise", "worst"))
    if band is not None:
        one_of("band", band, KINDS)
    one_of("method", method, METHODS)
    if functional.of == "quantile" and method == "asymptotic":
        raise CurvewiseError(
            "A quantile needs no asymptotic interval: order statistics are exact. "
            "Leave ",
            Keyword("method"),
            " out.",
            argument="method",
            value=method,
        )
    level = checked_confidence(confidence)
    return Until(
        functional=functional,
        half_width=half_width,
        margin=close,
        metric=metric,
        at=at,
        failed=failed,
        confidence=level,
        band=band,
        method=method,
    )


def _functional(of: Any, share: float | None, tail: Tail) -> Functional:
    if of == "mean":
        if share is not None:
            raise CurvewiseError(
                f"A mean has no share, and {share!r} is given. Leave it out.",
                argument="share",
                value=share,
            )
        return Functional("mean")
    if of == "quantile" and share is None:
        raise CurvewiseError(
            "Which quantile? Pass a share, such as 0.9.", argument="share"
        )
    return Functional(of, 0.5 if share is None else share, tail)


def _checked_margin(margin: Any) -> float:
    try:
        return checked_half_width(margin)
    except CurvewiseError:
        raise CurvewiseError(
            f"margin is {margin!r}. Pass one above 0.", argument="margin", value=margin
        ) from None


# --- What a run until something is known has reached -----------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reached(Answer):
    """What a run has reached, at the look at which it ended.

    Parameters
    ----------
    until : Until
        What was asked for.
    metric : Metric
    look : Widths or Ranks
        What it saw.
    number, looks : int
        Which look that was, and how many were planned.
    size, trials : int
        How many trials of each cell it saw, and how many were planned.
    before : int or None
        In how many other plans the same was asked before; None where only trials were
        passed, which do not know.
    needed : int or None
        How many trials of each would probably be enough, if they were not.
    """

    until: Until
    metric: Metric
    look: Look
    number: int
    looks: int
    size: int
    trials: int
    before: int | None
    needed: int | None
    provenance: Provenance

    @property
    def is_enough(self) -> bool:
        """Whether what was asked for is known."""
        return self.look.is_enough

    def rows(self) -> list[dict[str, TableCell]]:
        """Return one row per task and algorithm; of a ranking, per task and pair."""
        return self.look.rows()

    def verdict(self) -> str:
        """Return in words whether it was reached, and when."""
        at = f"{self.size:,} of {count(self.trials, 'trial')} of each"
        look = f"look {self.number} of {self.looks}"
        if self.is_enough:
            return f"Reached with {at} ({look})."
        text = f"Not reached with {at} ({look}): {self.look}."
        if self.needed is not None:
            text += f" About {rounded_up(self.needed):,} of each would probably do."
        return text

    def table(self) -> list[dict[str, TableCell]]:
        """Return the rows with headings for people."""
        out = []
        for row in self.rows():
            low, high = row.pop("lower"), row.pop("upper")
            rest = {"half-width": row.pop("half_width")} if "half_width" in row else {}
            verdict = {"verdict": row.pop("verdict")} if "verdict" in row else {}
            out.append(row | {"interval": _span(low, high)} | rest | verdict)
        return out

    def notes(self) -> list[str]:
        """Return what is promised, and what a reader must know."""
        u, many = self.until, count(len(self.look.members), "interval")
        level = percent(u.confidence)
        each = f"{100 * self.look.confidence:.6g} % each"
        if u.method == "asymptotic":
            promise = (
                f"{many} of {self._what()}, to hold at once with {level} confidence, at "
                f"each of the {self.looks} looks; for many independent trials (Student, "
                f"{each}), without a guarantee: what is rare may not have been met yet."
            )
        else:
            how = "order statistics" if self._by_rank else NAMES[self._band]
            when = (
                "at any number of trials"
                if u.band == "anytime"
                else (f"at each of the {self.looks} looks")
            )
            promise = (
                f"{many} of {self._what()}: with at least {level} confidence all hold at "
                f"once, {when}, for independent trials of any distribution ({how}, "
                f"{each})."
            )
        return [promise, *self._earlier()]

    def _earlier(self) -> list[str]:
        """Return what earlier plans mean for the promise, if there can be any."""
        if self.until.band == "anytime":
            return []
        if self.before is None:
            return [
                "Trials do not know in which plans they were asked before: this holds if "
                "it was the first. Pass the store of the run, which does know."
            ]
        if self.before == 0:
            return []
        return [
            f"The same was asked in {count(self.before, 'plan')} before: this one has "
            f"1/{2 ** (self.before + 1)} of what may go wrong."
        ]

    @property
    def _band(self) -> Kind:
        question = self.until.question(self.metric)
        return question.band_for(self.size, self.look.confidence)

    @property
    def _by_rank(self) -> bool:
        return self.until.functional.of == "quantile" and self.until.band != "anytime"

    def _what(self) -> str:
        gap = "the difference in " if isinstance(self.look, Ranks) else ""
        return f"{gap}{self.until.functional.estimand}"

    def __str__(self) -> str:
        head = f"until {self.until}\n{self.verdict()}"
        parts = [*self.cautions, head, "", plain(self.table()), "", *self.notes()]
        return "\n".join(parts)

    def _parts(self) -> Iterator[Piece]:
        yield Table(self.table(), f"until {self.until}")
        yield self.verdict()


def _span(low: Any, high: Any) -> str:
    return " to ".join(shown(e) if math.isfinite(e) else "?" for e in (low, high))


# --- Until when to run, as one writes it on the command line and in a file -------------


_PLUS_MINUS = re.compile(r"\+/-|\+-|±")
_WORDS = ("of", "failed", "at", "tail", "confidence", "band", "method")
GRAMMAR = (
    "Write what to know and how well, such as 'cvar 0.5 +- 0.01', 'mean +- 0.01', "
    "'quantile 0.9 +- 0.02', or 'ranking', 'ranking cvar 0.5 within 0.01'. If need be, add "
    f"'of METRIC', 'failed worst', or {', '.join(_WORDS[2:])} with its value."
)


def parsed(text: str) -> "Until":
    """Return what a text asks for.

    >>> parsed("quantile 0.9 ± 0.02 of loss failed worst").half_width
    0.02
    """
    try:
        words = shlex.split(_PLUS_MINUS.sub(" +- ", text))
    except ValueError as problem:
        raise _mistake(text, f"{problem}".lower()) from None
    reader = _Words(text, words)
    what = reader.what()
    arguments: dict[str, Any] = {}
    if what == "ranking":
        if reader.next_is("cvar", "mean", "quantile"):
            arguments["of"] = reader.take()
            arguments |= reader.share()
        if reader.next_is("within"):
            reader.take()
            arguments["margin"] = reader.number("within")
    else:
        arguments |= reader.share()
        if not reader.next_is("+-"):
            raise _mistake(text, "it does not say '+-' and how well")
        reader.take()
        arguments["half_width"] = reader.number("+-")
    arguments |= reader.options()
    return until(what, **arguments)


class _Words:
    """Reads one word after the other."""

    def __init__(self, text: str, words: list[str]) -> None:
        self._text, self._words = text, words

    def next_is(self, *words: str) -> bool:
        return bool(self._words) and self._words[0].lower() in words

    def take(self) -> str:
        return self._words.pop(0).lower()

    def what(self) -> str:
        if not self.next_is("cvar", "mean", "quantile", "ranking"):
            first = (
                f"it begins with {self._words[0]!r}" if self._words else "it is empty"
            )
            raise _mistake(self._text, first)
        return self.take()

    def share(self) -> dict[str, float]:
        """Return where CVaR cuts, or which quantile, if a number follows."""
        if not self._words or _number(self._words[0]) is None:
            return {}
        return {"share": self.number("")}

    def number(self, after: str) -> float:
        if not self._words:
            raise _mistake(self._text, f"nothing follows {after!r}")
        word = self._words.pop(0)
        value = _number(word)
        if value is None:
            raise _mistake(self._text, f"{word!r} is no number")
        return value

    def options(self) -> dict[str, Any]:
        """Return the pairs of words that are left."""
        options: dict[str, Any] = {}
        while self._words:
            key = self.take()
            if key not in _WORDS:
                raise _mistake(self._text, f"nobody knows what {key!r} is")
            if not self._words:
                raise _mistake(self._text, f"nothing follows {key!r}")
            name = "metric" if key == "of" else key
            if name in options:
                raise _mistake(self._text, f"it says {key!r} twice")
            word = self._words.pop(0)
            number = _number(word) if key in ("at", "failed", "confidence") else None
            options[name] = word if number is None else number
        return options


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _mistake(text: str, what: str) -> CurvewiseError:
    return CurvewiseError(
        f"until is {shortened(repr(text))}, and {what}. {GRAMMAR}",
        argument="until",
        value=text,
    )


def written(asked: "Until") -> str:
    """Return the text that asks for the same."""
    f = asked.functional
    number = f.of if f.of == "mean" else f"{f.of} {f.alpha:g}"
    if asked.half_width is not None:
        words = [number, f"+- {asked.half_width:g}"]
    else:
        words = [f"ranking {number}"]
        if asked.margin is not None:
            words.append(f"within {asked.margin:g}")
    usual = {
        "of": None,
        "at": "last",
        "failed": "raise",
        "tail": "upper",
        "confidence": 0.95,
        "band": None,
        "method": "guaranteed",
    }
    chosen = {
        "of": asked.metric,
        "at": asked.at,
        "failed": asked.failed,
        "tail": f.tail,
        "confidence": asked.confidence,
        "band": asked.band,
        "method": asked.method,
    }
    for key, value in chosen.items():
        if value != usual[key]:
            text = value if isinstance(value, str) else f"{value:g}"
            words += [key, shlex.quote(text)]
    return " ".join(words)
