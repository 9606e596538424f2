"""Xue, Wang, Cao, Yang and Li (2025): learning curves from confusion matrices."""

from curvewise_papers.study import Paper, Study
from curvewise_papers.xue2025 import arithmetic, figures, forecasts, tables

__all__ = ["PAPER"]

_TABLES = Study(
    "tables",
    "Tables 2 and 3: how far curves miss, and how often their bands hold",
    "A sample of 1,280 is cut into all disjoint blocks of 40, 80, ..., 1280 examples. Each "
    "block trains a learner on two thirds and validates it on the rest; another, trained "
    "on all of it, is tested on 320 examples. Each size is left out in turn and foreseen "
    "from the five others: by power laws on the logits of a confusion matrix, which is the "
    "paper's method, to the letter and corrected; by POW3 as Hoiem et al. fit it; by all "
    "other forms; by the bands of this library. A trial is one such replication. Six "
    "learners, on *simple* and on a stand-in for *Exp2*, of which the paper prints no "
    "number.",
    (
        "*simple* is N(0, I) against N(0.5, 2 I) in ten dimensions, half of each. The "
        "paper says 'two conditional Gaussian distributions'; these were calibrated on the "
        "lengths of bands in its Table 3.",
        "*Exp2* is two classes with curved borders in the plane, our own: `exp2_task`.",
        "Learners have scikit-learn's defaults: logistic regression with C = 1, trees that "
        "grow to the end, forests of 100, a network of one layer of 100.",
        "A block of N validates on N // 3 examples, drawn at random, and trains on the "
        "rest. Classes are not stratified.",
        "The print is compared with models entered at the number of examples that trained "
        "them. To the letter they are entered at N; what comes of that has a table of its "
        "own.",
        "The truth is the mean of each model's metric over the models of a size, on one "
        "test set. A precision of 0/0 counts as 0.",
        "POW3 is fitted as Hoiem et al. do, with their noise model and band; each block is "
        "a run, and precision, recall and F1 are fitted as what they lack of 1. The other "
        "forms are fitted to metrics of counts that are summed over blocks.",
        "Bands 'as printed' are Eqs. (25) to (28) with N/3 virtual examples and lambda = "
        "1; 'entered at 2N/3' are the same from the curve that is entered rightly; "
        "'corrected' ones have one prior for all metrics and the 1/2 of F1, too.",
        "In bold in the print is the lower RMSE, both where they are alike, and DoC above "
        ".95. Here a star says so, beside the printed number and, by the same rule, ours.",
    ),
    {
        "quick": "3 minutes on 2 cores",
        "kept": "13 minutes on 16 cores, then 13 on one for the fits",
        "full": "22 core-hours, nearly all of it forests and networks",
    },
    forecasts.run,
    tables.claims,
    figures.figures,
)

_PRINTED = Study(
    "printed",
    "Tables 2 to 5: what the printed numbers say by themselves",
    "Arithmetic on what is printed: DoC follows from IL and RMSE; no interval can be as "
    "long as those of Tables 4 and 5; what is in bold, counted; two formulas beside those "
    "that hold.",
    (
        "Tables 4 and 5 are of deep networks on images and are not run: settings, splits "
        "and ten seeds are in a supplement that we have not.",
    ),
    {"quick": "no time", "kept": "no time", "full": "no time"},
    arithmetic.run,
    arithmetic.claims,
    arithmetic.figures,
)

PAPER = Paper(
    "xue2025",
    "Precision, recall and F1 come from one matrix, so let the matrix have the learning "
    "curve: the paper models how logits of its rates move with training data, and reads "
    "metrics and their confidence bands off it.",
    (_TABLES, _PRINTED),
)
