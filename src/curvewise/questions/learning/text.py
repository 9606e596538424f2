"""What `Learning` says: its tables, its verdicts, its notes, and all in one sentence."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from curvewise.errors import CurvewiseError, listed
from curvewise.questions.lead import Lead, lead_on
from curvewise.questions.learning.concerns import concerns_of
from curvewise.questions.learning.fit import (
    MOST_IN_PAIRS,
    Advice,
    CurveFit,
    CurvePair,
    CurveTask,
    advised,
)
from curvewise.questions.sentences import (
    MOST_NAMED,
    Gain,
    at_tasks,
    chance_cell,
    confidently,
    estimate,
    failed_notes,
    failures,
    interval_cell,
    number_cell,
    said,
    sentence,
    signed_cell,
    size_cell,
    some,
    some_pairs,
    span,
    with_ends,
    would_bring,
)
from curvewise.questions.sizes import do_grow, point_of
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.learning import Crossing
from curvewise.text import Cell, count, joined, percent, short_names, step

if TYPE_CHECKING:
    from curvewise.questions.learning import Learning


_NOTHING = 1e-12  # what is below is a rounding error


def fit_row(task: str, fit: CurveFit, confidence: float) -> dict[str, Cell]:
    """Return one curve for programs."""
    law, counts = fit.law, fit.measured.counts
    parameters = law.parameters(confidence)
    row: dict[str, Cell] = {
        "task": task,
        "algorithm": fit.algorithm,
        "sizes": len(counts),
        "runs": sum(counts),
        "failed": fit.measured.failed,
        "smallest": float(fit.measured.sizes[0]),
        "largest": fit.largest,
        "size": float(law.size),
    }
    for name, key in _KEYS.items():
        row |= {
            name: parameters[key].value,
            f"{name}_lower": parameters[key].lower,
            f"{name}_upper": parameters[key].upper,
        }
    return row | {
        "amplitude": float(law.eta),
        "r_squared": float(law.r_squared),
        "rises": fit.shape.is_nonmonotone,
        "is_convex": not fit.shape.is_nonconvex,
    }


_KEYS = {
    "error": "e_N",
    "reliance": "beta_N",
    "exponent": "gamma",
    "asymptote": "alpha",
}


def fit_table(task: CurveTask, confidence: float) -> list[dict[str, Cell]]:
    """Return the curves of one task, as they are printed."""
    size, out = step(task.size), []
    for fit in task.fits:
        parameters = fit.law.parameters(confidence)
        beyond = fit.law.extrapolation_limit
        row: dict[str, Cell] = {
            "algorithm": fit.algorithm,
            "sizes": len(fit.measured.sizes),
            "runs": _runs(fit.measured.counts),
            f"error at {size}": interval_cell(parameters["e_N"]),
            "data-reliance": interval_cell(_rounded(parameters["beta_N"])),
            "exponent": _exponent(parameters["gamma"]),
            "with 4 times the data": at_cell(fit.forecast.interval(beyond, confidence)),
        }
        if fit.measured.failed:
            row["failed"] = fit.measured.failed
        out.append(row)
    return out


def _exponent(exponent: Interval) -> str:
    """Return an exponent, of which two digits are more than is known."""
    return f"{exponent.value:.2f} [{exponent.lower:.2f}, {exponent.upper:.2f}]"


def _rounded(interval: Interval, places: int = 4) -> Interval:
    """Return an interval as it is read: nobody needs a reliance of 4.152e-06."""
    if interval.half_width > 1:
        return interval  # a loss has a scale of its own
    if interval.half_width > _NOTHING:  # small ones keep two digits
        places = max(places, 1 - math.floor(math.log10(interval.half_width)))
    numbers = (interval.lower, interval.upper, interval.value)
    # Adding 0 makes 0 of -0.
    low, high, value = (round(x, places) + 0.0 for x in numbers)
    return Interval(low, high, interval.estimand, interval.guarantee, value)


def _runs(counts: list[int]) -> str:
    """Return how many runs there are at the sizes: 10, or 16 to 1."""
    first, last = counts[0], counts[-1]
    low, high = min(counts), max(counts)
    if low == high:
        return str(low)
    return f"{first} to {last}" if {first, last} == {low, high} else f"{low} to {high}"


def at_cell(band: CurveBand) -> str:
    """Return the first point of a band in one cell of a table."""
    return interval_cell(point_of(band))


def size_rows(task: str, fit: CurveFit, confidence: float) -> list[dict[str, Cell]]:
    """Return the sizes of one curve for programs: what was observed, and the fit."""
    measured = fit.measured
    band = fit.band(measured.sizes, confidence)
    columns = (measured.sizes, measured.errors, band.value, band.lower, band.upper)
    return [
        {
            "task": task,
            "algorithm": fit.algorithm,
            "size": float(n),
            "runs": len(errors),
            "error": float(errors.mean()),
            "sd": float(errors.std(ddof=1)) if len(errors) > 1 else None,
            "fitted": float(fitted),
            "band_lower": float(lower),
            "band_upper": float(upper),
        }
        for n, errors, fitted, lower, upper in zip(*columns, strict=True)
    ]


def beyond_table(task: CurveTask, confidence: float) -> list[dict[str, Cell]]:
    """Return what more data would buy, as it is printed."""
    out: list[dict[str, Cell]] = []
    for fit in task.fits:
        times = np.array(_TIMES)
        band = fit.forecast.interval(times * fit.largest, confidence)
        row: dict[str, Cell] = {
            "algorithm": fit.algorithm,
            "now": number_cell(float(fit.forecast.predict(fit.largest)[0])),
        }
        for i, factor in enumerate(_TIMES):
            row[f"with {factor} times the data"] = interval_cell(point_of(band, i))
        out.append(row)
    return out


_TIMES = (2, 4, 10)
_MANY_TIMES = 1000  # beyond, the factor itself means nothing


def pair_row(task: str, size: float, pair: CurvePair) -> dict[str, Cell]:
    """Return one pair of curves for programs."""
    at = pair.crossing.at[0] if pair.crossing.at else None
    factor = pair.multiplier
    return {
        "task": task,
        "first": pair.one,
        "second": pair.other,
        "size": size,
        "error_difference": pair.error.value,
        "error_difference_lower": pair.error.lower,
        "error_difference_upper": pair.error.upper,
        "reliance_difference": pair.reliance.value,
        "reliance_difference_lower": pair.reliance.lower,
        "reliance_difference_upper": pair.reliance.upper,
        "crossings": len(pair.crossing.at),
        "crossing": None if at is None else at.value,
        "crossing_lower": None if at is None else at.lower,
        "crossing_upper": None if at is None else at.upper,
        "multiplier": float(factor.value[0]),
        "multiplier_lower": float(factor.lower[0]),
        "multiplier_upper": float(factor.upper[0]),
        "noise_correlation": pair.correlation,
    }


def pair_table(task: CurveTask) -> list[dict[str, Cell]]:
    """Return the pairs of one task, as they are printed."""
    return [
        {
            "first": pair.one,
            "second": pair.other,
            f"difference in error at {step(task.size)}": signed_cell(
                _rounded(pair.error)
            ),
            "in data-reliance": signed_cell(_rounded(pair.reliance)),
            "they cross at": crossing_cell(pair.crossing),
            "second needs": multiplier_cell(pair),
        }
        for pair in task.pairs
    ]


def crossing_cell(crossing: Crossing) -> str:
    """Return where two curves cross in one cell of a table."""
    if not crossing.at:
        return f"not up to {size_cell(float(crossing.sizes[-1]))}"
    return "; ".join(
        f"{places} [{_end(low)}, {_end(high)}]"
        if low > 0 or math.isfinite(high)
        else "cannot be told"
        for places, low, high in crossing_places(crossing)
    )


def crossing_places(crossing: Crossing) -> list[tuple[str, float, float]]:
    """Return where two curves cross, and the sizes at which that cannot be told.

    Crossings between which nobody is surely better share these sizes.
    """
    together: dict[tuple[float, float], list[str]] = {}
    for at in crossing.at:
        together.setdefault((at.lower, at.upper), []).append(size_cell(at.value))
    return [(joined(places), *ends) for ends, places in together.items()]


def multiplier_cell(pair: CurvePair) -> str:
    """Return how many times the data the second of a pair needs."""
    multiplier = pair.multiplier
    middle, low, high = (
        float(x[0]) for x in (multiplier.value, multiplier.lower, multiplier.upper)
    )
    ends = f"[{_times(low)}, {_times(high)}]"
    if middle == 0:
        return "less than was tried" if high == 0 else f"less than was tried {ends}"
    if math.isinf(middle):
        return f"never enough {ends}"
    return f"{_times(middle)} times the data {ends}"


def _times(factor: float) -> str:
    if not 0 < factor < math.inf:
        return "?"
    return f"{factor:.3g}" if factor < _MANY_TIMES else f"over {_MANY_TIMES:,}"


def _end(n: float) -> str:
    return size_cell(n) if 0 < n < math.inf else "?"


def tables_heading(label: str, confidence: float) -> str:
    """Return what the tables are of."""
    return (
        f"{label} against the size of the training set, {percent(confidence)} intervals"
    )


# --- What curves of error against data say, in words -----------------------------------


_APART = 0.25  # of what is gained: so far apart may two ways to know the error be
_NO_GAIN = 5e-4  # of the error itself: nobody would write it down


def fit_verdict(task: CurveTask, fit: CurveFit, confidence: float) -> str:
    """Return in words how good an algorithm is, and what more data would buy."""
    law = fit.law
    error = law.parameters(confidence)["e_N"]
    now, beyond, surely = _ahead(fit, confidence)
    when = _when(task, fit, now.value, now.value - beyond.value)
    return (
        f"{fit.algorithm}: error {with_ends(error)} at {step(task.size)} examples"
        f"{_but_observed(fit, error)}. "
        f"Four times the data that it had, {step(law.extrapolation_limit)}, would bring "
        f"{with_ends(beyond)}: {_gain(now, beyond, when, surely)}."
    )


def _ahead(fit: CurveFit, confidence: float) -> tuple[Interval, Interval, bool]:
    """Return the error now, that with four times the data, and whether it surely falls."""
    law = fit.law
    beyond = point_of(fit.forecast.interval(law.extrapolation_limit, confidence))
    now = point_of(fit.forecast.interval(fit.largest, confidence))
    # How well the curve is known where it ends, by the runs.
    lowest = float(law.interval(fit.largest, confidence).lower[0])
    return now, beyond, beyond.upper < min(now.lower, lowest)


def with_more_data(fit: CurveFit, confidence: float) -> tuple[Interval, Gain]:
    """Return the error with four times the data, and whether that is a gain."""
    now, beyond, surely = _ahead(fit, confidence)
    gain = now.value - beyond.value
    if abs(gain) <= _NO_GAIN * now.value:
        return beyond, "none"
    if surely:
        return beyond, "gain"
    return beyond, "none" if gain < 0 else "perhaps"


def _but_observed(fit: CurveFit, fitted: Interval) -> str:
    """Return what the runs themselves had, where the power law misses it."""
    measured = fit.measured
    for n, mean in zip(measured.sizes, measured.means, strict=True):
        if n == fit.law.size and not fitted.lower <= mean <= fitted.upper:
            return (
                f" by the power law, which misses the {number_cell(mean)} of its runs"
            )
    return ""


def _when(task: CurveTask, fit: CurveFit, now: float, gain: float) -> str:
    """Return what "now" is, with its error where that is not what was just told."""
    when = "now" if task.size == fit.largest else f"now, with {step(fit.largest)}"
    if abs(fit.law.e_N - now) > _APART * abs(gain) or task.size != fit.largest:
        return f"{when} ({number_cell(now)} by the same forecast)"
    return when


def _gain(now: Interval, beyond: Interval, when: str, surely: bool) -> str:
    """Return what is gained, with how sure that is."""
    gain = now.value - beyond.value
    if abs(gain) <= _NO_GAIN * now.value:
        return f"no change from {when}, as far as these runs can tell"
    if surely:
        return f"{number_cell(gain)} less than {when}"
    if gain < 0:
        return f"no less than {when}, as far as these runs can tell"
    return f"{number_cell(gain)} less than {when}, or nothing: that cannot be told yet"


def pair_verdict(task: CurveTask, pair: CurvePair) -> str:
    """Return in words which of two is better, and whether that will change."""
    return f"{_who(task, pair)} {_crosses(pair)}"


def _who(task: CurveTask, pair: CurvePair) -> str:
    size, error = step(task.size), pair.error
    finding = pair.finding(task.task)
    if finding.surety == "sure":
        ends = sorted(abs(end) for end in (error.lower, error.upper))
        return (
            f"{finding.ahead} is better than {finding.behind} at {size} examples, by "
            f"{number_cell(abs(error.value))} ({number_cell(ends[0])} to "
            f"{number_cell(ends[1])})."
        )
    low, middle, high = (
        _signed(x, error.half_width) for x in (error.lower, error.value, error.upper)
    )
    return (
        f"{pair.one} and {pair.other} cannot be told apart at {size} examples: the error "
        f"of the first is {middle} ({low} to {high}) that of the second."
    )


def _signed(value: float, beside: float) -> str:
    return f"{number_cell(abs(value), beside)} {'above' if value >= 0 else 'below'}"


def _crosses(pair: CurvePair) -> str:
    crossing = pair.crossing
    first, last = (size_cell(float(n)) for n in crossing.sizes[[0, -1]])
    if not crossing.at:
        chance = float(crossing.chance[-1])
        ahead = pair.one if chance > 0.5 else pair.other
        sure = chance_cell(max(chance, 1 - chance))
        return (
            f"Their curves are not seen to cross from {first} to {last} examples; at the "
            f"end, {ahead} is better with probability {sure}."
        )
    end = float(crossing.chance[-1])
    ahead = pair.one if end > 0.5 else pair.other
    sure = chance_cell(max(end, 1 - end))
    then = f"at {last}, {ahead} is better with probability {sure}."
    if all(at.lower <= 0 and math.isinf(at.upper) for at in crossing.at):
        return (
            f"Whether and where their curves cross from {first} to {last} examples cannot "
            f"be told; {then}"
        )
    places = joined([_place(*place) for place in crossing_places(crossing)])
    return f"Their curves cross at about {places} examples; {then}"


def _place(places: str, low: float, high: float) -> str:
    ends = f"{size_cell(low) if low > 0 else 'any size'} to "
    ends += size_cell(high) if math.isfinite(high) else "any size beyond"
    return f"{places} ({ends})"


def concern_lines(task: CurveTask) -> list[str]:
    """Return what may be wrong with the curves of a task, each with whose curves."""
    whose: dict[str, list[str]] = {}
    for fit in task.fits:
        for text in concerns_of(fit):
            whose.setdefault(text, []).append(fit.algorithm)
    return [f"{some(names, most=MOST_NAMED)}: {text}" for text, names in whose.items()]


# --- What a reader must know to read the tables of `Learning` --------------------------


def notes_of(answer: "Learning") -> list[str]:
    """Return what a reader must know to read the tables."""
    notes = [
        _steps(answer),
        _zero(answer),
        f"error, data-reliance, exponent: of the power law that fits the observed sizes, "
        f"{percent(answer.confidence)} intervals{_kind(answer)}, each by itself, for "
        f"curves that are power laws. Data-reliance: how much of the error hangs on the "
        f"amount of data; were the exponent -0.5, four times the data would take off half "
        f"of it.",
        f"with 4 times the data: of the largest size; {_guarantee(answer)}.",
        _pairs(answer),
        _many(answer),
        *_left_out(answer),
    ]
    notes += failed_notes(answer.failed, answer.failed_score)
    return [note for note in notes if note]


def _steps(answer: "Learning") -> str:
    for fit in (fit for task in answer.found for fit in task.fits):
        if not do_grow(fit.measured.sizes):
            return (
                f"Steps were taken for sizes of training sets, and the "
                f"{len(fit.measured.sizes)} of {fit.algorithm} are close to each other, as "
                f"epochs are. If they are epochs, nothing here holds."
            )
    return ""


def _zero(answer: "Learning") -> str:
    if not answer.scale.is_assumed:
        return ""
    return (
        f"Nobody said how good '{answer.metric.name}' can be: 0 was taken for the best, as "
        f"no score is below."
    )


def _kind(answer: "Learning") -> str:
    if answer.found[0].fits[0].law.method != "paper":
        return ""
    return " as published, which take the exponent for known and hold less often"


def _guarantee(answer: "Learning") -> str:
    fit = answer.found[0].fits[0]
    return fit.forecast.interval(fit.largest, answer.confidence).guarantee


def _pairs(answer: "Learning") -> str:
    if not any(task.pairs for task in answer.found):
        return ""
    return (
        "differences: of the power laws, first minus second, for all pairs of the task at "
        "once; what runs on the same data share cancels. they cross at: where the better "
        "one changes by the forecasts, with the sizes at which that cannot be told. second "
        "needs: how many times the data, to be as good as the first. Forecasts are taken "
        "to err independently."
    )


def _many(answer: "Learning") -> str:
    if not any(len(task.fits) > MOST_IN_PAIRS for task in answer.found):
        return ""
    return (
        f"With more than {MOST_IN_PAIRS} algorithms, each is compared with the "
        f"best one only, that of the lowest error here."
    )


def _left_out(answer: "Learning") -> list[str]:
    notes = [
        f"Left out on {task.task}, with fewer than three sizes: {listed(task.left_out)}."
        for task in answer.found
        if task.left_out
    ]
    if answer.left_out:
        tasks = ", ".join(answer.left_out)
        notes.append(f"Left out: {tasks}, with fewer than three sizes.")
    return notes


# --- Whose error is lowest and what more data would buy, in one sentence ---------------


_MOST_TASKS = 3  # that are told one by one


def leads(answer: "Learning") -> tuple[Lead, ...]:
    """Return whose error is lowest on each task."""
    return tuple(
        lead_on(
            task.task,
            {fit.algorithm: -fit.law.e_N for fit in task.fits},
            [pair.finding(task.task) for pair in task.pairs],
        )
        for task in answer.found
    )


def headline(answer: "Learning") -> str:
    """Return in one sentence whose error is lowest, and what more data would buy."""
    if len(answer.found) > _MOST_TASKS:
        return _counted(answer)
    tasks = short_names(answer.tasks)
    parts = [
        f"{at_tasks([lead.task], tasks)}{_clause(answer, lead, is_first=i == 0)}"
        for i, lead in enumerate(leads(answer))
    ]
    return sentence(f"{'; '.join(parts)}.")


def _clause(answer: "Learning", lead: Lead, *, is_first: bool) -> str:
    task = answer.of(lead.task)
    names, fit = short_names(task.algorithms), task.first
    error = fit.law.parameters(answer.confidence)["e_N"]
    sure = f" {confidently(answer.confidence, sure=False)}" if is_first else ""
    how = f"{_error(answer)} {estimate(error)}, {span(error)}{sure}"
    at = f"with {step(task.size)} examples"
    who = names[lead.leader]
    beyond = would_bring("four times the data", *with_more_data(fit, answer.confidence))
    if lead.standing == "alone":
        return f"{who} has {how}, {at}; {beyond}"
    if not lead.open:
        return f"{who} is better than {lead.whom(names)} {at} ({how}); {beyond}"
    return (
        f"there is no clear winner: {who} is in front {at} ({how}), but "
        f"{lead.not_from(names)}; {beyond}"
    )


def _error(answer: "Learning") -> str:
    label = answer.scale.label
    return label if label == answer.metric.label else f"error ({label})"


def _counted(answer: "Learning") -> str:
    """Return on how many tasks somebody is better, and where more data would help."""
    per_task = leads(answer)
    names = short_names(lead.leader for lead in per_task)
    first, times = Counter(lead.leader for lead in per_task).most_common(1)[0]
    contested = [lead for lead in per_task if lead.standing != "alone"]
    clear = sum(not lead.open for lead in contested)
    gains = sum(
        with_more_data(task.first, answer.confidence)[1] == "gain"
        for task in answer.found
    )
    parts = [f"{names[first]} has the lowest {_error(answer)} most often, on {times}"]
    if contested:
        sure = confidently(answer.confidence)
        # The tests of a task know nothing of the other tasks.
        luck = said(len(contested) * (1 - answer.confidence), 2)
        chance = f" (of equal ones about {luck} would be, by chance)" if clear else ""
        parts.append(
            f"the lowest one is told apart from all others on {clear or 'none'}, each "
            f"task judged by itself {sure}{chance}"
        )
    parts.append(
        f"four times the data would probably lower it on {gains}, perhaps on the others"
        if gains
        else "on none is it sure that four times the data would lower it"
    )
    return f"Of {count(len(per_task), 'task')}, {'; '.join(parts)}."


# --- What would change it --------------------------------------------------------------


def would_change(answer: "Learning") -> str:
    """Return which run would tell most about more data, and what the answer rests on."""
    parts = [_next(answer)]
    tasks, several = short_names(answer.tasks), len(answer.found) > 1
    pairs = []
    for task, lead in zip(answer.found, leads(answer), strict=True):
        names = short_names(task.algorithms)
        where = f" on {tasks[task.task]}" if several else ""
        pairs += [f"{names[lead.leader]} and {names[n]}{where}" for n in lead.open]
    if pairs:
        parts.append(f"More runs at each size may tell apart {some_pairs(pairs)}.")
    parts.append(
        "A forecast takes it that the curve goes on as it began: a turn that has not begun "
        "cannot be foreseen."
    )
    if answer.failed:
        parts.append(failures(answer.failed, answer.failed_score, "the curves"))
    return " ".join(filter(None, parts))


def most_telling(
    tasks: Sequence[CurveTask], unit: Literal["fraction", "loss"], confidence: float
) -> Advice | None:
    """Return the run that tells most of what four times the data would bring."""

    def width(task: CurveTask) -> float:
        to = task.first.law.extrapolation_limit
        return point_of(task.first.forecast.interval(to, confidence)).half_width

    widest = max(tasks, key=width)
    to = float(widest.first.law.extrapolation_limit)
    try:
        # Examples are counted: how long they take is not known of all.
        advice = advised(widest, to, None, None, unit, is_known=False)
    except CurvewiseError:  # so few runs that nothing is known of their noise
        return None
    return next(one for one in advice if one.algorithm == widest.first.algorithm)


def _next(answer: "Learning") -> str:
    if answer.advice is None:
        return ""
    task, run = answer.of(answer.advice.task), answer.advice.run
    to = answer.curve(answer.advice.algorithm, task.task).law.extrapolation_limit
    name = short_names(task.algorithms)[answer.advice.algorithm]
    several = len(answer.found) > 1
    on = f" on {short_names(answer.tasks)[task.task]}" if several else ""
    return (
        f"Of what could be trained next, {count(run.best.repeats, 'more run')} of "
        f"{name}{on} with {size_cell(run.best.size)} examples would tell most: the "
        f"error with {step(to)} would be known to within {said(run.best.half_width)} "
        f"instead of {said(run.half_width)}, were the curve a power law."
    )
