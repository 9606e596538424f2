"""A paper of three lines, for tests of what all papers share."""

import numpy as np

import curvewise as cw
from curvewise.figures.chart import Chart, Series, no_band
from curvewise_papers.claims import Claim
from curvewise_papers.study import Erratum, Figure, Paper, Printed, Results, Study

PRINTED = Printed(
    "On coins",
    ("Ann Author", "Bo Writer"),
    1999,
    "Journal of Coins",
    "",
    {"heads": [0.5, 0.8]},
    (Erratum("Table 1", "0.8", "0.5", "a | b", "proved", "`toss`"),),
)
NUMBERS = {"quick": 20, "kept": 40, "full": 400}


def toss(params, data, rng):
    yield 0, {"accuracy": float(rng.random() < 0.5)}


def run(runner):
    coin = cw.Experiment(
        [cw.Task("coin", lambda rng: None)],
        [cw.Algorithm("toss", {}, toss)],
        NUMBERS[runner.scale],
        seed=3,
    )
    trials = runner.trials(coin, "tosses")
    heads = trials.scores("accuracy")["toss"]
    half = heads.std() / len(heads) ** 0.5
    steps = list(runner.each([1, 2, 3], "counting"))
    summary = {"mean": [heads.mean()], "error": [half], "steps": [len(steps)]}
    return Results({"tosses": trials}, {"summary": summary})


def claims(results):
    (mean,), (error,) = (results.tables["summary"][key] for key in ("mean", "error"))
    told = {"error": float(error), "reason": "the trials here.", "digits": 2}
    return [
        Claim("Table 1", "heads", "fair", 0.5, float(mean), **told),
        Claim("Table 1", "heads", "bent", 1.8, float(mean), why="Over 1.", **told),
        Claim("Table 1", "tails", "fair", 0.4, None, why="Nobody looked."),
        Claim("Section 2", "coins", "", 1, 1.0, digits=0),
    ]


def figures(results):
    x = np.arange(3.0)
    line = Series("tosses", x, x, *no_band(x))
    chart = Chart("Tosses", "toss", "heads", (line,), "Heads.", axis="linear")
    return [Figure("figure-1", "Figure 1: tosses", (chart, chart, chart), "All.", 2)]


STUDY = Study(
    "tosses",
    "Table 1: tosses",
    "A coin is tossed.",
    ("The coin is ours.",),
    {scale: f"{n} tosses" for scale, n in NUMBERS.items()},
    run,
    claims,
    figures,
)
LACKING = Study(
    "lacking",
    "Table 2: gold",
    "A gold coin is tossed.",
    (),
    dict.fromkeys(NUMBERS, "a coin"),
    run,
    claims,
    figures,
    lambda: "a gold coin",
)
PAPER = Paper("toy", "It tosses coins.", (STUDY, LACKING))
