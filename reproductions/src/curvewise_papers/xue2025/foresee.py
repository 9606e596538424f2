"""Every size from the five others, by every method, for all replications at once."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise import metrics
from curvewise.papers.xue2025.answers import METRICS, Answers
from curvewise.papers.xue2025.bands import corrected_bands, printed_bands
from curvewise.papers.xue2025.blocks import SIZES, TEST
from curvewise.stats.confusion import Examples, fit_confusion_curves
from curvewise.stats.confusion.validation import ForeseenSizes, leave_one_size_out
from curvewise.stats.forms import FORMS
from curvewise.stats.powerlaw import fit_power_laws

Floats: TypeAlias = NDArray[np.float64]
# (value, lower or upper; metric, replication, size)
Told: TypeAlias = Floats
Target: TypeAlias = Literal["observed", "mean"]

PRINTED, ENTERED, CORRECTED = "as printed", "entered at 2N/3", "corrected"
CALIBRATED: Literal["calibrated"] = "calibrated"
DRIFT: Literal["drift"] = "drift"
POW3, POW3_CORRECTED = "POW3", "POW3 corrected"
N = np.array(SIZES)
VALIDATED = N / 3  # n^(v) of the paper
# BNSL1 has six parameters, and five sizes are seen.
OTHER_FORMS = tuple(f for f in FORMS if FORMS[f].size < len(SIZES))


def by_matrix(own: Answers, method: str) -> Told:
    """Return what the paper's method foresees, with its band or with the corrected one.

    As printed, a model that was validated is entered at the size N of its block, of which
    two thirds trained it; else, at the number of examples that trained it.
    """
    entered = N if method == PRINTED else own.trained_on
    band = corrected_bands if method == CORRECTED else printed_bands

    def told(kept: NDArray[np.int64], at: int) -> Floats:
        curves = fit_confusion_curves(
            entered[kept], own.summed[:, kept], method="paper"
        )
        rates = curves.rates([SIZES[at]])[:, 0]
        return np.stack([metrics_of(rates), *band(rates * VALIDATED[at])])

    return _folds(told)


def exponents(own: Answers) -> dict[str, list[float]]:
    """Return how often the exponent is -1/2, where the penalty draws it, by size."""
    found = [
        np.concatenate([part.gamma for part in _fits(own, kept)])
        for kept, _ in _left_out()
    ]
    return {
        "n": list(SIZES),
        "share": [round(float((g == -0.5).mean()), 4) for g in found],
        "median": [round(float(np.median(g)), 3) for g in found],
    }


def by_library(
    own: Answers, method: Literal["calibrated", "drift"]
) -> dict[Target, Told]:
    """Return what a method of this library foresees, by what it is asked for."""
    found: dict[Target, list[Floats]] = {"observed": [], "mean": []}
    asked: dict[str, dict[str, Any]] = {name: {} for name in METRICS}
    for kept, at in _left_out():
        curves = fit_confusion_curves(
            N[kept],
            [[own.validated[k][j] for k in kept] for j in range(len(own))],
            trained_on=own.trained_on[kept],
            method=method,
            examples=[_at_sizes(examples, kept) for examples in own.examples],
        )
        for target, told in found.items():
            is_tested = target == "observed"
            bands = curves.bands(
                asked,
                [SIZES[at]],
                target=target,
                test_size=TEST if is_tested else None,
                runs=SIZES[-1] // SIZES[at] if is_tested else None,
            )
            every = [bands[name] for name in METRICS]
            told.append(
                np.stack(
                    [[b.value[:, 0], b.lower[:, 0], b.upper[:, 0]] for b in every], 1
                )
            )
    return {target: np.stack(each, axis=-1) for target, each in found.items()}


def by_power_law(own: Answers, is_corrected: bool) -> Told:
    """Return what the fit of Hoiem et al. foresees of each metric by itself.

    The error, or what a rate lacks of 1, of each block is one run of their model.
    """
    entered = own.trained_on if is_corrected else N
    means, spread = moments(own)  # (metric * replication, size)
    runs = N[-1] // N

    def told(kept: NDArray[np.int64], at: int) -> Floats:
        laws = fit_power_laws(
            entered[kept], means[:, kept], runs[kept], spread[:, kept], method="paper"
        )
        ends = (laws.error([SIZES[at]]), *laws.interval([SIZES[at]]))
        value, low, high = (e[:, 0].reshape(len(METRICS), -1) for e in ends)
        is_rate = np.array([name != "error" for name in METRICS])[:, None]
        return np.where(
            is_rate, 1 - np.stack([value, high, low]), np.stack([value, low, high])
        )

    return _folds(told)


def by_form(own: Answers, form: str) -> Told:
    """Return what a form of a learning curve foresees, without bands."""
    found = leave_one_size_out(
        N,
        own.summed,
        dict(zip(METRICS, own.truth, strict=True)),
        method=form,
        metrics=METRICS,
        trained_on=own.trained_on,
    )
    return np.stack([found.value, found.lower, found.upper])


def judged(told: Told, truth: Floats, method: str, target: Target) -> ForeseenSizes:
    """Return what was foreseen beside what was true."""
    every = np.arange(len(N))
    return ForeseenSizes(
        method,
        target,
        0.95,
        N.astype(float),
        tuple(N[every != k].astype(float) for k in every),
        METRICS,
        np.broadcast_to(truth, told.shape[1:]),
        *told,
    )


def _left_out() -> Iterator[tuple[NDArray[np.int64], int]]:
    every = np.arange(len(N))
    return ((np.delete(every, k), k) for k in every.tolist())


def _folds(told: Callable[[NDArray[np.int64], int], Floats]) -> Told:
    return np.stack([told(kept, at) for kept, at in _left_out()], axis=-1)


def _at_sizes(examples: Examples, kept: NDArray[np.int64]) -> Examples:
    return replace(examples, right=examples.right[kept], asked=examples.asked[kept])


def _fits(own: Answers, kept: NDArray[np.int64]) -> tuple[Any, ...]:
    summed = own.summed[:, kept]
    return fit_confusion_curves(own.trained_on[kept], summed, method="paper").parts


def metrics_of(matrices: Floats) -> Floats:
    """Return error, precision, recall and F1 of matrices, shape (metric, ...)."""
    return np.stack([getattr(metrics, name)(matrices) for name in METRICS])


def moments(own: Answers) -> tuple[Floats, Floats]:
    """Return means and variances over blocks, shape (metric * replication, size)."""
    values = [metrics_of(v) for v in own.validated]  # (metric, replication, block)
    lacking = [np.concatenate([v[:1], 1 - v[1:]]) for v in values]
    means = np.stack([v.mean(-1) for v in lacking], axis=-1)
    spread = np.stack(
        [v.var(-1, ddof=1) if v.shape[-1] > 1 else 0 * v[..., 0] for v in lacking],
        axis=-1,
    )
    return means.reshape(-1, len(N)), spread.reshape(-1, len(N))
