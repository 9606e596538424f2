"""What a reader must know to read the tables of `Learning`."""

from typing import TYPE_CHECKING

from curvewise._text import count, percent
from curvewise.analyses._curve_asking import do_grow
from curvewise.analyses._curve_fits import MOST_IN_PAIRS
from curvewise.errors import listed

if TYPE_CHECKING:
    from curvewise.analyses.learning import Learning


def notes_of(answer: "Learning") -> list[str]:
    """Return what a reader must know to read the tables."""
    told = [
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
    if answer.failed:
        told.append(
            f"{count(answer.failed, 'failed trial')} counted with score "
            f"{answer.failed_score}."
        )
    return [note for note in told if note]


def _steps(answer: "Learning") -> str:
    for fit in (fit for one in answer.found for fit in one.fits):
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
    if not any(one.pairs for one in answer.found):
        return ""
    return (
        "differences: of the power laws, first minus second, for all pairs of the task at "
        "once; what runs on the same data share cancels. they cross at: where the better "
        "one changes by the forecasts, with the sizes at which that cannot be told. second "
        "needs: how many times the data, to be as good as the first. Forecasts are taken "
        "to err independently."
    )


def _many(answer: "Learning") -> str:
    if not any(len(one.fits) > MOST_IN_PAIRS for one in answer.found):
        return ""
    return (
        f"With more than {MOST_IN_PAIRS} algorithms, each is compared with the "
        f"best one only, that of the lowest error here."
    )


def _left_out(answer: "Learning") -> list[str]:
    told = [
        f"Left out on {one.task}, with fewer than three sizes: {listed(one.left_out)}."
        for one in answer.found
        if one.left_out
    ]
    if answer.left_out:
        tasks = ", ".join(answer.left_out)
        told.append(f"Left out: {tasks}, with fewer than three sizes.")
    return told
