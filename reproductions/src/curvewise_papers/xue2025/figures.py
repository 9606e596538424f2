"""What Tables 2 and 3 look like, and one replication as the paper draws it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from curvewise.figures.chart import Chart, Series
from curvewise_papers.study import Figure, Results, line, printed
from curvewise_papers.xue2025.blocks import SIZES
from curvewise_papers.xue2025.forecasts import (
    CALIBRATED,
    CORRECTED,
    DRIFT,
    ENTERED,
    POW3,
    POW3_CORRECTED,
    PRINTED,
    SHOWN,
    TESTED,
    VALIDATED,
    Floats,
)
from curvewise_papers.xue2025.tables import WORDS, Kept

# Each method has one look in all figures.
LOOKS = {
    "in print": 6,
    PRINTED: 1,
    ENTERED: 2,
    CORRECTED: 3,
    CALIBRATED: 0,
    DRIFT: 4,
    POW3: 6,
    POW3_CORRECTED: 5,
}
NAMES = {
    PRINTED: "matrices, to the letter",
    ENTERED: "matrices, entered at 2N/3",
    CORRECTED: "matrices, corrected",
    POW3: "POW3",
    POW3_CORRECTED: "POW3, entered at 2N/3",
}
_BEST = 4
_N = np.array(SIZES, dtype=float)
_TICKS = tuple(float(n) for n in SIZES)


def figures(results: Results) -> Sequence[Figure]:
    """Return RMSE, coverage, forms and one replication, drawn."""
    kept = Kept.of(results)
    return [
        Figure(
            "rmse",
            "Table 2, drawn: how far curves miss the error of a size that was left out",
            tuple(chart for task in kept.tasks() for chart in _missed_each(kept, task)),
            "Root mean square of what is missed, in percentage points. In print (grey) and "
            "by matrices entered at 2N/3 the numbers go together; to the letter, with "
            "models entered at N, small sizes are missed by more. Between matrices and "
            "POW3 there is little; most of all of it is the noise of 320 test examples.",
            columns=3,
        ),
        Figure(
            "coverage",
            "Table 3, drawn: how often 95 % bands of the error hold",
            tuple(chart for task in kept.tasks() for chart in _held_each(kept, task)),
            "Bands as printed hold always where N is small, and too seldom at 1280, "
            "whatever is corrected in their formulas: their length is that of one "
            "validation set. Those of POW3 are too short. Calibrated ones stay near .95, "
            "except where the curve is no power law.",
            columns=3,
        ),
        Figure(
            "length",
            "Table 3, drawn: how long those bands are",
            tuple(chart for task in kept.tasks() for chart in _length_each(kept, task)),
            "Dashed: 3.92 times the RMSE of the curve, which is what a 95 % band would "
            "need. The printed ones have another slope.",
            columns=3,
        ),
        Figure(
            "forms",
            "The other forms: RMSE of the error, mean over learners",
            tuple(_forms(kept, task) for task in kept.tasks()),
            "The paper has these in a supplement. Named are matrices, POW3, LAST1 and the "
            "best four on average. Between sizes that were seen no form is much better "
            "than POW3; at the ends, forms of four parameters through five sizes go "
            "astray.",
            columns=2,
        ),
        Figure(
            "one-replication",
            "One replication, as the paper draws it",
            tuple(_curves(results)),
            "Circles, green: what models of whole blocks showed on the test set; pink: "
            "what was validated, at the number of examples that trained. Bands as printed "
            "narrow with N as if all that were known was one validation set, and that of "
            "F1, Eq. (28), lies beside the curve; the calibrated one is for one model on "
            "320 test examples.",
            columns=2,
        ),
    ]


def _missed_each(kept: Kept, task: str) -> Iterator[Chart]:
    for learner in kept.learners(task):
        series = []
        theirs = printed("xue2025").tables["table2"]["matrices"]["error"].get(learner)
        if task == "simple" and theirs:
            values = np.array(theirs)
            series.append(line("in print, matrices", _N, values, LOOKS["in print"]))
        for method in (PRINTED, ENTERED, POW3_CORRECTED, CALIBRATED, DRIFT):
            cell = kept.cell(learner, method, task=task)
            if cell is None:
                continue
            series.append(_series(method, cell.rmse, 2 * cell.rmse_error))
        yield _chart(f"{task}, {learner}", "RMSE of the error, points", series)


def _held_each(kept: Kept, task: str) -> Iterator[Chart]:
    for learner in kept.learners(task):
        series = []
        for method in (PRINTED, CORRECTED, CALIBRATED, DRIFT, POW3_CORRECTED):
            cell = kept.cell(learner, method, task=task)
            if cell is None:
                continue
            series.append(_series(method, cell.covered, 2 * cell.covered_error))
        yield _chart(
            f"{task}, {learner}", "share of bands that hold", series, level=0.95
        )


def _length_each(kept: Kept, task: str) -> Iterator[Chart]:
    for learner in kept.learners(task):
        cells = {
            method: kept.cell(learner, method, task=task)
            for method in (PRINTED, CORRECTED, CALIBRATED, DRIFT, POW3_CORRECTED)
        }
        series = [
            _series(method, cell.length, None)
            for method, cell in cells.items()
            if cell is not None
        ]
        calibrated = cells[CALIBRATED]
        if calibrated is not None:
            needed = 3.92 * calibrated.rmse / 100
            series.append(line("3.92 RMSE of calibrated", _N, needed, 7))
        yield _chart(f"{task}, {learner}", "length", series, y_axis="log")


def _forms(kept: Kept, task: str) -> Chart:
    """Return a chart with a name for matrices, LAST1 and the best; others are faint."""
    rmse = {
        method.removesuffix(" alone"): np.mean(
            [
                cell.rmse
                for learner in kept.learners(task)
                if (cell := kept.cell(learner, method, task=task)) is not None
            ],
            axis=0,
        )
        for method in kept.methods()
        if method.endswith(" alone") or method == ENTERED
    }
    best = sorted(rmse, key=lambda name: float(rmse[name].mean()))[:_BEST]
    series = [
        line(
            NAMES.get(name, name),
            _N,
            values,
            is_faint=name not in (*best, ENTERED, "LAST1", "POW3"),
        )
        for name, values in rmse.items()
    ]
    return _chart(task, "RMSE of the error, points", series, y_axis="log")


def _curves(results: Results) -> Iterator[Chart]:
    columns = {k: np.asarray(v) for k, v in results.tables["curves"].items()}
    for learner in dict.fromkeys(columns["learner"].tolist()):
        for metric in SHOWN:
            is_own = (columns["task"] == "simple") & (columns["learner"] == learner)
            is_own &= columns["metric"] == metric
            if not is_own.any():
                continue
            series = []
            for method in (PRINTED, CALIBRATED, POW3, TESTED, VALIDATED):
                rows = is_own & (columns["method"] == method)
                x, y, low, high = (
                    columns[name][rows].astype(float)
                    for name in ("n", "value", "lower", "upper")
                )
                is_seen = method in (TESTED, VALIDATED)
                series.append(
                    Series(
                        NAMES.get(method, method),
                        *(x, y, low, high),
                        look=LOOKS.get(method, 3 if method == VALIDATED else 2),
                        is_dots=is_seen,
                    )
                )
            yield _chart(f"simple, {learner}", WORDS[metric], series)


def _series(method: str, values: Floats, reach: Floats | None) -> Series:
    # Where all have bands, none can be seen.
    name = NAMES.get(method, method)
    if reach is None or method not in (PRINTED, CALIBRATED):
        return line(name, _N, values, LOOKS[method])
    return Series(name, _N, values, values - reach, values + reach, LOOKS[method])


def _chart(title: str, label: str, series: Sequence[Series], **how: Any) -> Chart:
    return Chart(
        title=title,
        x_label="N, size of the block",
        y_label=label,
        series=tuple(series),
        caption="Bands of two standard errors."
        if "RMSE" in label or "share" in label
        else "",
        axis="log",
        shape="line",
        ticks=_TICKS,
        **how,
    )
