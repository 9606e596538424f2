"""What can be said of the printed numbers without running anything."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from curvewise.stats import counts
from curvewise_papers.claims import Claim
from curvewise_papers.study import Figure, Results, Runner, columns, printed
from curvewise_papers.xue2025.blocks import METRICS
from curvewise_papers.xue2025.forecasts import printed_f1, widest
from curvewise_papers.xue2025.tables import LEARNERS, WORDS, wins_of

MATRICES = ((40, 12, 9, 60, 1.0), (5, 3, 2, 3, 1.0), (200, 30, 40, 157, 0.5))
_IMAGES = (
    "Images and deep networks: the data, the networks' settings and ten replications are "
    "not to be had from the paper."
)
_LINK = (
    "2 Phi(IL / (2 RMSE)) - 1: a band that is right in its middle, and normal noise. "
    "Errors are those of DoC and RMSE over 1,000 replications; gap: half of the last digit "
    "of DoC, and what half of the last digit of IL and of RMSE is worth."
)


def run(runner: Runner) -> Results:  # noqa: ARG001  every study has one
    """Return DoC as it follows from lengths and RMSE, beside the printed one."""
    rows = [
        {"learner": learner, "method": row} | link
        for learner in LEARNERS
        for row in ("POW3", "matrices")
        for link in _links(row, learner)
    ]
    return Results(tables={"doc": columns(rows)})


def claims(results: Results) -> Sequence[Claim]:
    """Return what follows from the print, beside the print."""
    return [
        *_doc(results),
        *_lengths(),
        *_words(),
        *_formulas(),
        *_sizes(),
        *_images(),
    ]


def figures(results: Results) -> Sequence[Figure]:  # noqa: ARG001
    """Return none: the numbers say it."""
    return []


def _links(row: str, learner: str) -> Iterator[dict[str, float]]:
    """Yield for each size: printed DoC, the one that follows, its error and its gap."""
    table2, table3 = (printed("xue2025").tables[name] for name in ("table2", "table3"))
    times = table3["replications"]
    every = zip(
        table3["sizes"],
        table3[row]["doc"][learner],
        table3[row]["il"][learner],
        table2[row]["error"][learner],
        strict=True,
    )
    for n, doc, length, missed in every:
        half = 10 * length / (2 * missed)  # IL in tenths, RMSE in hundredths
        slope = 2 * np.exp(-(half**2) / 2) / np.sqrt(2 * np.pi) * half
        # The relative error of a root mean square of J normal numbers is 1/sqrt(2 J).
        error = np.hypot(np.sqrt(doc * (1 - doc) / times), slope / np.sqrt(2 * times))
        gap = 0.005 + slope * (0.005 / length + 0.005 / missed)
        ours = float(2 * ndtr(half) - 1)
        yield {"n": n, "printed": doc, "ours": ours, "error": error, "gap": gap}


def _doc(results: Results) -> Iterator[Claim]:
    links = results.tables["doc"].values()
    for learner, row, n, theirs, ours, error, gap in zip(*links, strict=True):
        yield Claim(
            "Table 3, DoC from IL and RMSE",
            f"{learner}, {row}",
            str(n),
            float(theirs),
            float(ours),
            printed_error=float(error),
            gap=float(gap),
            reason=_LINK,
            why=f"{abs(ours - theirs):.3f} apart: what is missed is not quite normal, or "
            f"its mean is not 0.",
            digits=2,
        )


def _lengths() -> Iterator[Claim]:
    """Yield the longest that intervals can be beside those of Tables 4 and 5."""
    for name, title in (("table4", "Table 4"), ("table5", "Table 5")):
        table = printed("xue2025").tables[name]
        most = widest(np.array(table["sizes"]) / 3)
        for n, theirs, ours in zip(
            table["sizes"], table["matrices"]["il"], most.tolist(), strict=True
        ):
            yield Claim(
                f"{title}, IL, and the longest possible",
                "length of 95 % intervals of the error",
                str(n),
                theirs / 10,
                ours,
                gap=0.0005,
                reason="Gap: half of the last digit. Ours is Eq. (10) with N/3 examples, "
                "half of them wrong, where it is longest.",
                why=f"{theirs / 10 / ours:.1f} times as long as Eq. (10) can be with N/3 "
                f"examples, whatever the error.",
                digits=3,
            )


def _words() -> Iterator[Claim]:
    """Yield what Section 3.3.1 says of Tables 4 and 5, counted from them."""
    for name, title in (("table4", "Table 4"), ("table5", "Table 5")):
        table = printed("xue2025").tables[name]
        means = {
            metric: [float(np.mean(table[row][metric])) for row in ("POW3", "matrices")]
            for metric in METRICS
        }
        rates = METRICS[1:]
        numbers = ", ".join(
            f"{WORDS[m]} {means[m][1]:.2f} against {means[m][0]:.2f}" for m in rates
        )
        wins = wins_of(int(name[-1]))
        yield Claim(
            "Section 3.3.1: precision, recall and F1 are slightly better",
            f"{title}: of three metrics, those with the lower mean RMSE",
            "",
            len(rates),
            sum(means[m][1] < means[m][0] for m in rates),
            why=f"Mean RMSE over sizes, matrices against POW3: {numbers}. Of all cells, "
            f"{wins['better']} are better and {wins['worse']} worse.",
            digits=0,
        )
    table = printed("xue2025").tables["table4"]
    worst = max(table["matrices"][m][-1] / table["POW3"][m][-1] for m in METRICS)
    yield Claim(
        "Section 3.3.1: precision, recall and F1 are slightly better",
        "Table 4, N = 40,000, 'slightly worse': RMSE of matrices over POW3's, at most",
        "",
        1.0,
        worst,
        why=f"RMSE is up to {worst:.1f} times as large, which is not slight.",
        digits=1,
    )


def _formulas() -> Iterator[Claim]:
    """Yield intervals by Eqs. (28) and (10) beside those that hold."""
    for tp, fp, fn, tn, prior in MATRICES:
        row = f"TP, FP, FN, TN = {tp}, {fp}, {fn}, {tn}"
        right = counts.f1_interval(tp, fp, fn, prior=prior)
        point = 2 * tp / (2 * tp + fp + fn)
        for end, theirs, ours in zip(
            ("lower", "upper"),
            printed_f1(tp, fp, fn, prior),
            (right.lower, right.upper),
            strict=True,
        ):
            yield Claim(
                "Eq. (28) as printed, and with its 1/2: 95 % intervals of F1",
                row,
                end,
                float(theirs),
                float(ours),
                why=f"Eq. (28) lacks a 1/2; F1 is {point:.4f}, and the printed interval is "
                f"that of TP/(TP + FP + FN) = {tp / (tp + fp + fn):.4f}.",
                digits=4,
            )
        coherent = counts.error_interval(tp, fp, fn, tn, prior=prior)
        # Eq. (10) adds lambda to two sums, as half of it in each cell would.
        apart = counts.error_interval(tp, fp, fn, tn, prior=prior / 2)
        for end in ("lower", "upper"):
            yield Claim(
                "Eq. (10) as printed, and with one prior: 95 % intervals of the error",
                row,
                end,
                float(getattr(apart, end)),
                float(getattr(coherent, end)),
                why="With lambda in each cell of the matrix, as precision, recall and F1 "
                "have it, the error has 2 lambda on either side.",
                digits=4,
            )


def _sizes() -> Iterator[Claim]:
    for name, step, last, sample in (
        ("Cat VS Dog", 625, 4, 20_000),
        ("gender", 125, 5, 2_000),
    ):
        yield Claim(
            "Section 3.1, largest training set",
            name,
            "",
            step * 2**last,
            sample,
            why=f"{step} 2^i ends at i = {last}; all of the sample, which the largest size "
            f"is, are {sample:,} images. The last exponents, 4 and 5, are swapped.",
            digits=0,
        )


def _images() -> Iterator[Claim]:
    """Yield what is left of Tables 4 and 5, in few numbers: it cannot be checked."""
    for name, title in (("table4", "Table 4"), ("table5", "Table 5")):
        table: Any = printed("xue2025").tables[name]
        for row in ("POW3", "matrices"):
            numbers = table[row]
            yield Claim(
                f"{title}, the rest",
                row,
                "mean RMSE",
                float(np.mean([numbers[m] for m in METRICS])),
                None,
                why=_IMAGES,
                digits=2,
            )
            yield Claim(
                f"{title}, the rest",
                row,
                "mean DoC",
                float(np.mean(numbers["doc"])),
                None,
                why=_IMAGES,
                digits=2,
            )
