"""The table in Figure 2 beside ours: order, ratios and tests of its six rows."""

from collections.abc import Iterator

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.claim import Claim
from curvewise.papers.hoiem2021 import printed_curves as table3
from curvewise.papers.hoiem2021.measuring import SHARES
from curvewise.papers.printed import printed
from curvewise.stats.learning import LeftOut

OURS = "Other learners on other data"


def jackknife(missed: Floats) -> tuple[Floats, Floats]:
    """Return RMSE of each model over that of the first, and its standard error.

    Parameters
    ----------
    missed : ndarray, shape (model, curve, size)
        What was missed.

    Returns
    -------
    ratio, error : ndarray, shape (model, size + 1)
        The last column is of the average over sizes.

    Examples
    --------
    >>> missed = np.ones((2, 4, 3)) * [[[1.0]], [[2.0]]]
    >>> [x.tolist() for x in jackknife(missed)][0]
    [[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]]
    """
    squares = missed**2
    n = squares.shape[1]
    without = (squares.sum(axis=1, keepdims=True) - squares) / (n - 1)
    told = _relative(np.sqrt(without))
    spread = ((told - told.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    whole = _relative(np.sqrt(squares.mean(axis=1, keepdims=True)))[:, 0]
    return whole, np.sqrt((n - 1) / n * spread)


def _relative(rmse: Floats) -> Floats:
    full = np.concatenate([rmse, rmse.mean(axis=-1, keepdims=True)], axis=-1)
    return np.asarray(full / full[:1])


def _printed() -> tuple[list[str], Floats]:
    """Return the rows of Figure 2, and their RMSE with the average in the last column."""
    told = printed("hoiem2021").tables["figure2"]
    return told["label"], np.column_stack([told["rmse"], told["average"]])


def order(by_set: dict[str, LeftOut]) -> Iterator[Claim]:
    """Return whether the six rows come in the printed order."""
    table = "Figure 2, order of its six rows by average RMSE"
    stated = _printed()[1][:, -1]
    for name, found in by_set.items():
        ours = found.average
        first, second = np.triu_indices(len(stated), 1)
        same = np.sign(ours[first] - ours[second]) == np.sign(
            stated[first] - stated[second]
        )
        told = ", ".join(f"{x:.2f}" for x in ours)
        why = f"{OURS}: over {len(found.curves)} curves the averages are {told}."
        yield Claim(
            table,
            "pairs of 15 in the printed order",
            name,
            15,
            int(same.sum()),
            why=why,
            digits=0,
        )
        rank = 1 + int((ours < ours[0]).sum())
        yield Claim(table, "rank of the first row", name, 1, rank, why=why, digits=0)


def ratios(found: LeftOut) -> Iterator[Claim]:
    """Return the RMSE of each row over that of the first, size by size."""
    labels, stated = _printed()
    ours, error = jackknife(found.predicted - found.observed)
    places = [f"{share:g}/400 of N" for share in SHARES]
    for m, label in enumerate(labels[1:], 1):
        for i, place in enumerate(places):
            ratio, gap = ratio_of(stated[m, i], stated[0, i])
            yield Claim(
                "Figure 2, RMSE over that of the first row, letter",
                label,
                place,
                ratio,
                float(ours[m, i]),
                error=float(error[m, i]),
                gap=gap,
                reason="Jackknife over curves; rounding of the two printed numbers.",
                why=f"{OURS}: the two miss {found.rmse[m, i]:.2f} and "
                f"{found.rmse[0, i]:.2f} points.",
                digits=2,
            )


def averages(by_set: dict[str, LeftOut]) -> Iterator[Claim]:
    """Return the average RMSE of each row over that of the first, and R2."""
    labels, stated = _printed()
    told = printed("hoiem2021").tables["figure2"]
    for name, found in by_set.items():
        ours, error = jackknife(found.predicted - found.observed)
        for m, label in enumerate(labels[1:], 1):
            ratio, gap = ratio_of(stated[m, -1], stated[0, -1])
            yield Claim(
                "Figure 2, average RMSE over that of the first row",
                label,
                name,
                ratio,
                float(ours[m, -1]),
                error=float(error[m, -1]),
                gap=gap,
                reason="Jackknife over curves; rounding of the two printed numbers.",
                why=f"{OURS}: the two miss {found.average[m]:.2f} and "
                f"{found.average[0]:.2f} points on average.",
                digits=2,
            )
        for m, label in enumerate(labels):
            yield Claim(
                "Figure 2, R²",
                label,
                name,
                told["r2"][m],
                float(found.r2[m]),
                error=_r2_error(found, m),
                gap=0.0005,
                reason="Jackknife over curves; half of the last printed digit.",
                why=f"{OURS}: R² is a share of the spread of errors between curves and "
                f"sizes, whose standard deviation is {found.observed.std():.1f} points "
                f"here.",
            )


def ratio_of(one: float, other: float) -> tuple[float, float]:
    """Return a ratio of printed numbers, and how far rounding may take it.

    >>> [round(x, 3) for x in ratio_of(1.10, 1.04)]
    [1.058, 0.01]
    """
    half = table3.HALF
    return one / other, (one + half) / (other - half) - one / other


def _r2_error(found: LeftOut, m: int) -> float:
    n = len(found.curves)
    told = []
    for c in range(n):
        kept = np.delete(np.arange(n), c)
        one = LeftOut(
            found.sizes,
            found.models[m : m + 1],
            tuple(found.curves[k] for k in kept),
            found.observed[kept],
            found.predicted[m : m + 1, kept],
        )
        told.append(float(one.r2[0]))
    each = np.array(told)
    return float(np.sqrt((n - 1) / n * ((each - each.mean()) ** 2).sum()))


def tested(by_set: dict[str, LeftOut]) -> Iterator[Claim]:
    """Return whether the first row is better by the paper's test."""
    labels, _ = _printed()
    stated = printed("hoiem2021").tables["figure2"]["p"]
    for name, found in by_set.items():
        for m, label in enumerate(labels[1:], 1):
            p = found.p(found.models[m], found.models[0])
            by_curves = found.p(found.models[m], found.models[0], over="curves")
            is_worse = found.average[m] > found.average[0]
            yield Claim(
                "Figure 2, is the first row better, p < .05",
                label,
                name,
                int(stated[m] < 0.05),
                int(is_worse and p < 0.05),
                why=f"p = {p:.2g} by the paper's test, over {len(found.curves)} curves at "
                f"five sizes ({by_curves:.2g} with one number for each curve), and the "
                f"first row is {'' if is_worse else 'not '}the better one.",
                digits=0,
            )
