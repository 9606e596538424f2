"""How many trials or lines are enough? What they tell, and what it takes to know more."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError, Keyword, Phrase, Verbatim
from curvewise.metrics import Floats, Metric, find
from curvewise.questions.plan.line_plan import LinesPlan, PairPlan, lines_plan
from curvewise.questions.plan.score_plan import (
    BandPlan,
    CellPlan,
    Plan,
    ScorePlan,
    Telling,
    TopPlan,
    functional_sign,
    support_of,
)
from curvewise.questions.sampling import (
    Inquiry,
    failed_score,
    plain_setting,
    samples,
    unit_of,
)
from curvewise.stats.anova.planning import Effect
from curvewise.stats.bands import KINDS, Kind
from curvewise.stats.comparison import shared_confidence
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import Method, Tail
from curvewise.stats.planning import (
    looks_cost,
    trials_for,
    trials_for_band,
    trials_for_top,
    what_trials_tell,
)
from curvewise.stats.validation import checked_confidence, one_of
from curvewise.text import Cell
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed, Fill

__all__ = [
    "BandPlan",
    "CellPlan",
    "LinesPlan",
    "PairPlan",
    "Plan",
    "ScorePlan",
    "Telling",
    "TopPlan",
    "lines",
    "tell",
    "top",
    "trials",
]


Of: TypeAlias = Literal["band", "mean", "cvar", "quantile"]
_OF = ("band", "mean", "cvar", "quantile")


def trials(
    half_width: float,
    *,
    of: Of = "band",
    alpha: float = 0.5,
    tail: Tail = "upper",
    pilot: Trials | None = None,
    metric: str | None = None,
    at: At = "last",
    failed: Failed = "raise",
    confidence: float = 0.95,
    family: bool = False,
    band: Kind = "kolmogorov",
    looks: int = 5,
    anyway: bool = False,
) -> Plan:
    """Return how many trials it takes to know something to a half-width.

    Parameters
    ----------
    half_width : float
        For a band a share of the trials, otherwise in units of the metric.
    of : {"band", "mean", "cvar", "quantile"}
        What is to be known: the whole distribution, or one number of it.
    alpha : float
        Where CVaR cuts, or which quantile.
    tail : {"upper", "lower"}
        Of CVaR: the best ``1 - alpha`` of the trials, or the worst ``alpha``.
    pilot : Trials, optional
        A few trials to judge from; one row per task and algorithm. Without them numbers
        are for the worst distribution on the metric's range.
    metric : str, optional
        May be left out where the pilot has only one.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores.
    confidence : float
    family : bool
        Whether the intervals of all algorithms on all tasks are to hold together, and not
        each for itself.
    band : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        What guaranteed intervals are read off; equal local levels often take fewer
        trials for a mean or CVaR.
    looks : int
        With how many planned looks a band is compared.
    anyway : bool
        Whether to plan from a pilot in spite of what `curvewise.check` objects to.

    Returns
    -------
    Plan
        A `BandPlan`, or a `ScorePlan` for one number of the distribution.

    See Also
    --------
    curvewise.until : Let a run decide by itself.

    Examples
    --------
    >>> import curvewise as cw
    >>> trials(half_width=0.05).exact
    731
    >>> answer = trials(0.02, of="cvar", pilot=cw.example("search"), metric="accuracy",
    ...                 failed="worst")
    >>> [row["guaranteed"] for row in answer.rows()][:2]
    [53, 57]
    """
    one_of("of", of, _OF)
    one_of("band", band, KINDS)
    level = checked_confidence(confidence)
    if of == "band":
        if pilot is not None or metric is not None:
            raise CurvewiseError(
                "A band takes as many trials whatever the scores. Leave ",
                Phrase("pilot=", "SOURCE"),
                " and ",
                Keyword("metric"),
                " out, or pass ",
                {"of": "mean"},
                ", 'cvar' or 'quantile'.",
            )
        return _band_plan(half_width, level, looks)
    functional = Functional(of, alpha, tail)
    settings: dict[str, Cell] = {
        "of": of,
        "alpha": alpha,
        "tail": tail,
        "half_width": half_width,
        "confidence": level,
        "family": family,
        "band": band,
    }
    if pilot is None:
        meant = _known(metric)
        cell = _cell(functional, half_width, meant, level, band, np.empty(0))
        source = Provenance("plan", settings | {"metric": meant.name}, None, "")
        return ScorePlan(
            half_width=half_width,
            functional=functional,
            metric=meant,
            confidence=level,
            band=band,
            cells=(cell,),
            failed_score="",
            provenance=source,
        )
    inquiry = Inquiry.of(pilot, metric, "plan", anyway=anyway)
    meant = inquiry.metric
    pilots = [
        (task, algorithm, sample)
        for task, each in samples(pilot, meant.name, at, failed).items()
        for algorithm, sample in each.items()
    ]
    each = shared_confidence(level, len(pilots)) if family else level
    sign = functional_sign(meant, functional)
    cells = tuple(
        _cell(
            functional,
            half_width,
            meant,
            each,
            band,
            sign * sample.scores,
            (task, algorithm, sample.failed),
        )
        for task, algorithm, sample in pilots
    )
    settings |= {
        "metric": meant.name,
        "at": plain_setting(at),
        "failed": plain_setting(failed),
    }
    return ScorePlan(
        half_width=half_width,
        functional=functional,
        metric=meant,
        confidence=each,
        band=band,
        cells=cells,
        failed_score=failed_score(meant, failed),
        provenance=inquiry.provenance("plan", settings),
        unit=unit_of(pilot),
    )


def _band_plan(half_width: float, confidence: float, looks: int) -> BandPlan:
    exact = trials_for_band(half_width, confidence=confidence)
    cost = looks_cost(exact, looks, confidence=confidence)
    each = shared_confidence(confidence, cost.looks)
    first = -(-exact // 16)
    settings: dict[str, Cell] = {
        "half_width": half_width,
        "confidence": confidence,
        "looks": looks,
    }
    return BandPlan(
        half_width=float(half_width),
        confidence=confidence,
        looks=cost.looks,
        exact=exact,
        dkw=trials_for_band(half_width, confidence=confidence, kind="dkw"),
        one_sided=trials_for_band(
            half_width, confidence=confidence, kind="dkw", side="lower"
        ),
        planned=trials_for_band(half_width, confidence=each),
        anytime=trials_for_band(
            half_width, confidence=confidence, kind="anytime", start=first
        ),
        provenance=Provenance("plan", settings, None, ""),
    )


def _known(metric: str | None) -> Metric:
    meant = None if metric is None else find(metric)
    if meant is None:
        what = "No metric is given" if metric is None else f"Nobody knows '{metric}'"
        raise CurvewiseError(
            f"{what}, so the range of its scores is not known. Pass a known one, "
            "such as ",
            {"metric": "accuracy"},
            ", or ",
            {"pilot": Verbatim("<a few trials>")},
            ".",
        )
    return meant


def _cell(
    functional: Functional,
    half_width: float,
    metric: Metric,
    confidence: float,
    band: Kind,
    pilot: Floats,
    labels: tuple[str, str, int] = ("", "", 0),
) -> CellPlan:
    def need(method: Method) -> tuple[int, int, int] | None:
        if method == "asymptotic" and (functional.of == "quantile" or not len(pilot)):
            return None
        size = trials_for(
            functional,
            half_width,
            pilot=pilot if len(pilot) else None,
            support=support_of(metric, functional),
            confidence=confidence,
            kind=band,
            method=method,
        )
        return size.trials, size.lower, size.upper

    if not len(pilot):
        return CellPlan(
            task="",
            algorithm="",
            pilot=pilot,
            failed=0,
            guaranteed=need("guaranteed"),
            asymptotic=None,
        )
    task, algorithm, failed = labels
    can = len(pilot) > 1 and not functional.lacks(support_of(metric, functional))
    varies = len(pilot) > 1 and functional.varies(pilot)
    return CellPlan(
        task=task,
        algorithm=algorithm,
        pilot=pilot,
        failed=failed,
        guaranteed=need("guaranteed") if can else None,
        asymptotic=need("asymptotic") if varies else None,
    )


def lines(
    pilot: Trials,
    metric: str | None = None,
    *,
    power: float = 0.8,
    level: float = 0.05,
    effect: Effect = "algorithm",
    shift: float | None = None,
    stretch: float | None = None,
    grid: int | ArrayLike | None = None,
    fill: Fill | None = None,
    failed: Failed = "raise",
    seed: int = 0,
    anyway: bool = False,
) -> LinesPlan:
    """Return how many lines of each algorithm it takes to tell their curves apart.

    Parameters
    ----------
    pilot : Trials
        A few lines (runs that recorded a curve) of each algorithm to judge from: 4 or
        more, better 8. One row per task and pair of algorithms; tasks with one algorithm
        are left out.
    metric : str, optional
        May be left out where the pilot has only one.
    power : float
        How often the difference is to be found.
    level : float
        Of the test.
    effect : {"algorithm", "interaction", "either"}
        What is to be found: that means of lines differ, that their shapes do, or any of
        both.
    shift : float, optional
        The difference that is worth finding: its size in units of the metric, at every
        step, in either direction. Where the directions take different numbers of lines
        the larger one counts. If left out, and `stretch` too, it is the observed one,
        which few lines say little about.
    stretch : float, optional
        The same as a factor: the mean line of one algorithm, whichever it is, is so many
        times that of the other. Above 0, not 1; the way to state a difference of shapes.
    grid : int or array_like of float, optional
        Steps to bring all lines on, or how many; see `curvewise.Trials.lines`.
    fill : {"error", "last", "linear"}, optional
        What a line has at a step where it has no value. If left out: an error without a
        grid, interpolation with one.
    failed : {"raise", "worst"} or float
        What a failed trial scores from where its curve breaks off.
    seed : int
        Of the simulated experiments.
    anyway : bool
        Whether to plan in spite of what `curvewise.check` objects to.

    Returns
    -------
    LinesPlan

    See Also
    --------
    curvewise.stats.anova.planning.lines_for_power : How it is computed, and from what.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = lines(cw.example("curves").where(task="hill"), shift=50)
    >>> [(row["one"], row["other"], row["lines"]) for row in answer.rows()]
    [('slow', 'fast', 7), ('slow', 'early', 7), ('fast', 'early', 9)]
    """
    return lines_plan(
        pilot,
        metric,
        power=power,
        level=level,
        effect=effect,
        shift=shift,
        stretch=stretch,
        grid=grid,
        fill=fill,
        failed=failed,
        seed=seed,
        anyway=anyway,
    )


def tell(n: int, *, confidence: float = 0.95, looks: int = 5) -> Telling:
    """Return what a number of trials can tell, before anybody has run them.

    Parameters
    ----------
    n : int
        Number of trials.
    confidence : float
    looks : int
        How many looks are planned.

    Examples
    --------
    >>> round(tell(200).told.half_width, 4)
    0.0952
    """
    settings: dict[str, Cell] = {"n": n, "confidence": confidence, "looks": looks}
    return Telling(
        what_trials_tell(n, confidence=confidence),
        looks_cost(n, looks, confidence=confidence),
        Provenance("plan", settings, None, ""),
    )


def top(share: float, *, confidence: float = 0.95) -> TopPlan:
    """Return how many trials it takes until the best of them is among the top of all.

    Parameters
    ----------
    share : float
        0.05 for the top 5 %.
    confidence : float

    Examples
    --------
    >>> print(top(0.05))
    The best of 59 independent trials is in the top 5 % of all that there could be, with \
95 % confidence.
    """
    n = trials_for_top(share, confidence=confidence)
    settings: dict[str, Cell] = {"share": share, "confidence": confidence}
    return TopPlan(share, confidence, n, Provenance("plan", settings, None, ""))
