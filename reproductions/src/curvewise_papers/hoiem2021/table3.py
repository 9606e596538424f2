"""Study `table3`: what the printed numbers say of each other, and four curves again."""

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from curvewise.figures.chart import Chart, Mark
from curvewise.metrics import Floats
from curvewise.stats.learning import average_rmse, leave_one_size_out, point_multiplier
from curvewise.stats.powerlaw import PowerLaw, fit_power_law, light_fit
from curvewise_papers.claims import Claim
from curvewise_papers.hoiem2021 import curves
from curvewise_papers.hoiem2021.curves import SIZES, laws
from curvewise_papers.hoiem2021.validation import jackknife, ratio_of
from curvewise_papers.study import (
    Figure,
    Results,
    Runner,
    Study,
    Table,
    columns,
    line,
    printed,
)

TABLE = "Figures 3 to 8 in words, counted in Table 3"
_LOST = "The rows after six ResNet-18 are not readable in the text that we have."


def statements() -> Iterator[Claim]:
    """Return one claim for each statement that Table 3 can speak to."""
    yield from _architecture()
    yield from _pretraining()
    yield from _sources()
    yield from _depth()
    yield from _width()
    yield from _ensembles()
    yield from _augmentation()


def _of(block: str, *labels: str) -> list[PowerLaw]:
    return [laws()[block, label] for label in labels]


def _claim(
    figure: str, row: str, printed: int, ours: int | None, why: str = ""
) -> Claim:
    return Claim(TABLE, f"{figure}: {row}", "", printed, ours, why=why, digits=0)


def _falls(values: Iterable[float]) -> int:
    """Return how often a value is below the one before it."""
    return sum(b < a for a, b in pairwise(values))


def _architecture() -> Iterator[Claim]:
    block = "ARCHITECTURES_IN2CIFAR"
    fits = _of(block, "AlexNet", "VGG-16(bn)", "ResNet-50")
    row = "of the 2 steps AlexNet, VGG, ResNet-50"
    error, reliance = _falls(x.e_N for x in fits), _falls(x.beta_N for x in fits)
    yield _claim("Figure 3", f"{row}: lower error", 2, error)
    yield _claim("Figure 3", f"{row}: lower data-reliance", 2, reliance)
    plain, next_ = _of(block, "ResNet-50", "ResNeXt-50(32x4d)")
    lower = int(next_.e_N < plain.e_N)
    yield _claim("Figure 3", "ResNeXt has a lower error than ResNet", 1, lower)


def _pretraining() -> Iterator[Claim]:
    for figure, block in (
        ("Figure 5a", "PRETRAIN_IN2CIFAR"),
        ("Figure 5b", "PRETRAIN_IN2PLACES"),
    ):
        names = ("No Pretr; Linear", "Pretr; Linear")
        raw, learnt = (law.error(SIZES) for law in _of(block, *names))
        lower = int((learnt < raw).sum())
        row = "sizes of 5 at which pre-training lowers the error, last layer only"
        yield _claim(figure, row, 5, lower)
        raw_law, law = _of(block, "No Pretr; Finetune", "Pretr; Finetune")
        both = int(law.e_N < raw_law.e_N) + int(law.beta_N < raw_law.beta_N)
        row = "of error and data-reliance, lower by pre-training when fine-tuned"
        yield _claim(figure, row, 2, both)


def _sources() -> Iterator[Claim]:
    block = "PRETRAIN_IN_PLACES_MOCO2CIFAR"
    fits = _of(
        block,
        *("Pretr on Imagenet", "Pretr on Imagenet with MOCO"),
        *("Pretr on Places", "No Pretr"),
    )
    pairs = list(combinations(fits, 2))
    row = "pairs of 6 in the order ImageNet, MOCO, Places, random"
    error = sum(a.e_N < b.e_N for a, b in pairs)
    reliance = sum(a.beta_N < b.beta_N for a, b in pairs)
    yield _claim("Figure 6", f"{row}: error", 6, error)
    yield _claim("Figure 6", f"{row}: data-reliance", 6, reliance)


def _depth() -> Iterator[Claim]:
    names = ("Resnet-18", "Resnet-34", "Resnet-50", "Resnet-101")
    tuned, frozen = _of("DEPTH_FT", *names), _of("DEPTH_LINEAR", *names)
    for figure, fits in (("Figure 7a", tuned), ("Figure 7d", frozen)):
        row = "of the 3 steps in depth: lower error"
        yield _claim(figure, row, 3, _falls(law.e_N for law in fits))
    lower = sum(law.beta_N <= tuned[0].beta_N for law in tuned[1:])
    row = "deeper networks of 3 without more data-reliance than ResNet-18"
    yield _claim("Figure 7a", row, 3, lower)
    lower = sum(law.beta_N <= frozen[0].beta_N for law in frozen[1:])
    jump = frozen[2].beta_N - frozen[1].beta_N
    yield _claim(
        "Figure 7d",
        row,
        3,
        lower,
        "ResNet-50 and ResNet-101 have more: the text itself mentions a jump after "
        f"ResNet-34, which is {jump:+.2f}, and calls the curves nearly parallel.",
    )


def _width() -> Iterator[Claim]:
    pairs = (("Resnet-50", "2xWide-Resnet-50"), ("Resnet-101", "2xWide-Resnet-101"))
    tuned = [_of("WIDTH_FT", *pair) for pair in pairs]
    frozen = [_of("WIDTH_LINEAR", *pair) for pair in pairs]
    lower = sum(wide.e_N < narrow.e_N for narrow, wide in tuned)
    yield _claim("Figure 7b", "of 2 networks, better when twice as wide", 2, lower)
    less = sum(wide.beta_N < narrow.beta_N for narrow, wide in frozen)
    row = "of 2 networks, less data-reliance when twice as wide"
    yield _claim("Figure 7e", row, 2, less)
    no_better = sum(wide.e_N >= narrow.e_N - 0.25 for narrow, wide in frozen)
    row = "of 2 networks, no better (by .25) when twice as wide"
    yield _claim("Figure 7e", row, 2, no_better)


def _ensembles() -> Iterator[Claim]:
    (six,) = _of("ENSEMBLE", "6xResnet-18")
    (one,) = _of("ENSEMBLE", "1xResnet-18")
    others = _of("WIDTH_FT", "Resnet-101", "2xWide-Resnet-50", "2xWide-Resnet-101")
    better = int(six.e_N < one.e_N)
    yield _claim("Figure 7c", "six ResNet-18 are better than one", 1, better)
    row = "larger networks of 3 that beat six ResNet-18"
    error = sum(law.e_N < six.e_N for law in others)
    reliance = sum(law.beta_N < six.beta_N for law in others)
    yield _claim("Figure 7c", f"{row}: error", 3, error)
    yield _claim("Figure 7c", f"{row}: data-reliance", 3, reliance)
    row = "three ResNet-50 are worse at 400 than a wide one, and better with less data"
    yield _claim("Figure 7c", row, 2, None, _LOST)


def _augmentation() -> Iterator[Claim]:
    blocks = ("AUG_NO_PRETR_FT", "AUG_PRETR_FT", "AUG_PRETR_LINEAR")
    names = ("Resnet-18 w/ Data-Aug", "Resnet-18 w/o Data-Aug")
    lower = 0
    for block in blocks:
        with_it, without = (law.error(SIZES) for law in _of(block, *names))
        lower += int((with_it < without).sum())
    row = "of 3 curves at 5 sizes, better with augmentation"
    yield _claim("Figure 8", row, 15, lower)
    changes = [
        abs(a.beta_N - b.beta_N) / b.beta_N
        for a, b in (_of(block, *names) for block in blocks[:2])
    ]
    row = "of 2 fine-tuned curves, data-reliance changed by less than a tenth"
    yield _claim("Figure 8", row, 2, sum(change < 0.1 for change in changes))


# --- the four curves whose errors the authors publish ------------------------------------


LEARNERS = {
    "no_pretr_linear": "No Pretr; Linear",
    "no_pretr_ft": "No Pretr; Finetune",
    "pretr_linear": "Pretr; Linear",
    "pretr_ft": "Pretr; Finetune",
}
_FILE = Path("learning_curves", "hoiem_cifar100.csv")

Runs = tuple[list[int], list[Floats]]


def public_file() -> Path | None:
    """Return the file with the errors, None where there is none."""
    folder = os.environ.get("CURVEWISE_DATA")
    file = Path(folder or os.devnull) / _FILE
    return file if file.is_file() else None


def public_curves(file: Path) -> dict[str, Runs]:
    """Return sizes and errors in percent of each learner, by its label in Table 3."""
    errors: dict[str, dict[int, list[float]]] = {}
    with file.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            by_size = errors.setdefault(LEARNERS[row["learner"]], {})
            by_size.setdefault(int(row["n_per_class"]), []).append(
                float(row["error_percent"])
            )
    return {
        label: (
            sorted(errors[label]),
            [np.array(errors[label][n]) for n in sorted(errors[label])],
        )
        for label in LEARNERS.values()
        if label in errors
    }


def fitted(curves: dict[str, Runs]) -> Table:
    """Return a row for each curve: what Table 3 has columns for, both fits."""
    rows = []
    for label, (sizes, errors) in curves.items():
        law = fit_power_law(sizes, errors, unit="percent", method="paper")
        straight = light_fit(sizes, errors, unit="percent", method="paper")
        rows.append(
            {
                "label": label,
                "alpha": law.alpha,
                "eta": law.eta,
                "gamma": law.gamma,
                "e400": law.e_N,
                "beta400": law.beta_N,
                "light_alpha": straight.alpha,
                "light_eta": straight.eta,
                "light_e400": straight.e_N,
                "light_beta400": straight.beta_N,
            }
        )
    return columns(rows)


def left_out(curves: dict[str, Runs]) -> Table:
    """Return a row for each model of Figure 2: what it misses on the public curves."""
    models = printed("hoiem2021").tables["figure2"]["model"]
    sizes = next(iter(curves.values()))[0]
    check = leave_one_size_out(
        sizes, {k: e for k, (_, e) in curves.items()}, models, unit="percent"
    )
    ratio, error = jackknife(check.predicted - check.observed)
    return {
        "model": models,
        "average": check.average.tolist(),
        "ratio": ratio[:, -1].tolist(),
        "error": error[:, -1].tolist(),
    }


# --- the study ---------------------------------------------------------------------------


_ROUNDED = "All numbers are rounded to two decimals, the exponent is exact."
_HALF = "Half of the last printed digit."
_LACKING = (
    "The errors are not there: learning_curves/hoiem_cifar100.csv in the folder that the "
    "environment variable CURVEWISE_DATA names."
)
_PAIRS = {
    "from scratch": "AUG_NO_PRETR_FT",
    "pre-trained": "AUG_PRETR_FT",
    "pre-trained, last layer": "AUG_PRETR_LINEAR",
}


def run(_runner: Runner) -> Results:
    """Return the fits of the four public curves, where their file is there."""
    file = public_file()
    if file is None:
        return Results(tables={"public": {"label": []}, "left_out": {"model": []}})
    runs = public_curves(file)
    return Results(tables={"public": fitted(runs), "left_out": left_out(runs)})


def claims(results: Results) -> Sequence[Claim]:
    """Return all claims of the study."""
    return [
        *_identities(),
        *_public(results.tables["public"]),
        *_light(),
        *_table2(),
        *_predictor(),
        *_averages(),
        *_left_out(results.tables["left_out"]),
        *_multipliers(),
        *statements(),
    ]


def _identities() -> Iterator[Claim]:
    table = "Table 3, its 42 readable rows"
    for name, fit in (("power law", curves.full()), ("light fit", curves.light())):
        for what, off, rounding in (
            ("e_400 = alpha + eta 400^gamma", fit.error_off, fit.error_rounding),
            (
                "beta_400 = -2 eta gamma 400^gamma",
                fit.reliance_off,
                fit.reliance_rounding,
            ),
        ):
            within = int((np.abs(off) <= rounding + 1e-9).sum())
            yield Claim(
                table, f"rows with {what}, within rounding", name, 42, within, digits=0
            )
            yield Claim(
                table,
                f"largest deviation from {what}",
                name,
                0.0,
                float(np.abs(off).max()),
                gap=float(rounding.max()),
                reason=_ROUNDED,
                digits=4,
            )
    fit = curves.full()
    turned = curves.Columns(
        fit.alpha, fit.eta, -fit.gamma, fit.error, fit.reliance
    ).error_off
    yield Claim(
        table,
        "rows with e_400 = alpha + eta 400^(-gamma), as the caption has it",
        "power law",
        42,
        int((np.abs(turned) <= 0.0105).sum()),
        why="The caption has the wrong sign: the printed exponents are below 0, so that "
        f"errors would be {np.abs(turned).min():,.0f} points off at least.",
        digits=0,
    )


def _public(table: Table) -> Iterator[Claim]:
    theirs = printed("hoiem2021").tables["table3"]
    names = (
        *("alpha", "eta", "gamma", "e400", "beta400"),
        *("light_alpha", "light_eta", "light_e400", "light_beta400"),
    )
    of_law = ("alpha", "eta", "gamma", "e_400", "beta_400")
    heads = (*of_law, *(f"light {h}" for h in of_law if h != "gamma"))
    labels = list(table["label"])
    for label in LEARNERS.values():
        row = theirs["label"].index(label)
        for name, head in zip(names, heads, strict=True):
            ours = float(table[name][labels.index(label)]) if label in labels else None
            yield Claim(
                "Table 3, from the four public curves",
                label,
                head,
                theirs[name][row],
                ours,
                gap=curves.HALF,
                reason=_HALF,
                why=_LACKING,
                digits=2,
            )


def _light() -> Iterator[Claim]:
    theirs = printed("hoiem2021").tables["light"]
    table = "Appendix D, light fit less full fit"
    for column, right in (("as printed", False), ("two rows put right", True)):
        error, reliance = curves.apart(curves.light(put_right=right), curves.full())
        for row, value, ours in (
            ("RMS of e_400", theirs["e400"], error),
            ("RMS of beta_400", theirs["beta400"], reliance),
        ):
            yield Claim(
                table,
                row,
                column,
                value,
                ours,
                gap=curves.HALF,
                reason=_HALF,
                why="The light columns of 'Pretr on Places' and 'MOCO' are swapped in "
                "print (e_400 18.82 and 20.61, full fits 20.49 and 18.74). Put right, "
                f"the light fit is better than the paper says: {ours:.2f}.",
                digits=2,
            )


def _table2() -> Iterator[Claim]:
    theirs = printed("hoiem2021").tables["table2"]
    rows = zip(theirs["e_N"], theirs["beta_N"], theirs["gamma"], strict=True)
    laws = [PowerLaw.from_summary(*row, 400, unit="percent") for row in rows]
    for number, law in enumerate(laws, 1):
        yield Claim(
            "Table 2",
            f"model {number}",
            "asymptote alpha",
            None,
            law.alpha,
            why="The paper prints e_N, beta_N and gamma; alpha = e_N + beta_N/(2 gamma).",
            digits=2,
        )
    far = 1e6
    yield Claim(
        "Table 2",
        "which model is better with more data",
        "number",
        2,
        1 + int(laws[1].error(far) < laws[0].error(far)),
        digits=0,
    )


def _predictor() -> Iterator[Claim]:
    laws = curves.laws().values()
    for row, times, printed_at in (
        ("with 4 times the data", 4.0, -0.5),
        ("with a quarter of the data", 0.25, 1.0),
        ("with unlimited data", np.inf, -1.0),
    ):
        changes = [
            float((law.linear_predictor(times) - law.e_N) / law.beta_N) for law in laws
        ]
        yield Claim(
            "Section 2.3, Eq. 1",
            row,
            "change of the error in beta_N, mean of 42 rows",
            printed_at,
            float(np.mean(changes)),
            digits=1,
        )


def _averages() -> Iterator[Claim]:
    theirs = printed("hoiem2021").tables["figure2"]
    rows = zip(theirs["label"], theirs["rmse"], theirs["average"], strict=True)
    for label, rmse, average in rows:
        yield Claim(
            "Figure 2, averages of its own columns",
            label,
            "average RMSE",
            average,
            float(average_rmse(rmse)),
            gap=2 * curves.HALF,
            reason="The average and each of the five numbers are rounded to two decimals.",
            digits=2,
        )


def _left_out(table: Table) -> Iterator[Claim]:
    theirs = printed("hoiem2021").tables["figure2"]
    averages = theirs["average"]
    models = list(table["model"])
    for label, model, average in zip(
        theirs["label"][1:], theirs["model"][1:], averages[1:], strict=True
    ):
        stated, gap = ratio_of(average, averages[0])
        i = models.index(model) if model in models else None
        ours = None if i is None else float(table["ratio"][i])
        why = _LACKING
        if i is not None:
            missed, first = (float(table["average"][k]) for k in (i, 0))
            why = f"Here it misses {missed:.2f} points, the first row {first:.2f}."
        yield Claim(
            "Figure 2, on the four public curves",
            label,
            "average RMSE over that of the first row",
            stated,
            ours,
            error=0.0 if i is None else float(table["error"][i]),
            gap=gap,
            reason="Jackknife over the four public curves; rounding of the print.",
            why=why,
            digits=2,
        )


def multipliers() -> dict[str, list[float]]:
    """Return what augmentation is worth in data at each size, by the printed curves.

    >>> [round(m, 2) for m in multipliers()["pre-trained"]]
    [1.51, 1.6, 1.73, 1.91, 2.16]
    """
    laws = curves.laws()
    return {
        name: point_multiplier(
            laws[block, "Resnet-18 w/ Data-Aug"].error,
            laws[block, "Resnet-18 w/o Data-Aug"].error,
            curves.SIZES,
        ).tolist()
        for name, block in _PAIRS.items()
    }


def _multipliers() -> Iterator[Claim]:
    stated = printed("hoiem2021").tables["text"]["multiplier"]
    for name, times in multipliers().items():
        low, high = min(times), max(times)
        for n, m in zip(curves.SIZES, times, strict=True):
            yield Claim(
                "Section 4.2, data that augmentation is worth",
                name,
                f"n = {n}",
                stated,
                m,
                gap=0.05,
                reason=_HALF,
                why=f"No constant: {low:.2f} to {high:.2f} by the printed curves.",
                digits=1,
            )


def figures(_results: Results) -> Sequence[Figure]:
    """Return Figure 8 from the printed numbers, and what augmentation is worth."""
    return [_figure_8()]


def _figure_8() -> Figure:
    n = np.geomspace(25, 1600, 60)
    series = []
    for look, (name, block) in enumerate(_PAIRS.items()):
        for label, which in (("with", "w/"), ("without", "w/o")):
            law = curves.laws()[block, f"Resnet-18 {which} Data-Aug"]
            words = f"{name}, {label}"
            at = 2 * look + (label == "without")
            series.append(line(words, n, law.error(n), at))
    chart = Chart(
        title="Augmentation on Places365",
        x_label="images of each class, drawn at n^(-1/2)",
        y_label="error in percent",
        series=tuple(series),
        caption="The curves of Table 3, ResNet-18, with and without augmentation.",
        axis="root",
        shape="line",
        marks=(Mark(1600.0, "4 times the data"),),
        ticks=(25.0, 1600.0, 400.0, 100.0),
    )
    sizes = np.array(curves.SIZES, dtype=np.float64)
    worth = Chart(
        title="What it is worth in data",
        x_label="images of each class",
        y_label="times the data",
        series=tuple(
            line(name, sizes, np.array(times), 2 * look)
            for look, (name, times) in enumerate(multipliers().items())
        ),
        caption="m with e(n) with augmentation = e(m n) without; the paper says 1.8.",
        axis="log",
        shape="line",
        level=1.8,
        ticks=tuple(sizes.tolist()),
    )
    return Figure(
        "figure-8-printed",
        "Figure 8, from the printed numbers",
        (chart, worth),
        "Augmentation lowers the error at every size. What it is worth in data is no "
        "constant: it grows with the size for networks that are trained as a whole, and "
        "the paper's 1.8 is about the middle.",
        columns=2,
    )


STUDY = Study(
    "table3",
    "Table 3, its arithmetic, and four curves from their errors",
    "No trials: printed numbers against each other, through error, data-reliance and "
    "exponent; and the four CIFAR-100 curves whose errors the authors publish, fitted by "
    '`fit_power_law(method="paper")` and `light_fit`.',
    (
        "The last row of Table 3 repeats the one before it, and what follows it is not "
        "readable: 42 rows are used.",
        "The noise floor is 0.02 squared percentage points.",
    ),
    {"quick": "a second", "kept": "a second", "full": "a second"},
    run,
    claims,
    figures,
)
