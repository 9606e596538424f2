"""How many trials: what is printed is what the statistics say, for bands and for pilots."""

import json
import math

import numpy as np
import pytest

import curvewise as cw
from curvewise.questions import plan
from curvewise.stats.anova.planning import lines_for_power
from curvewise.stats.bands import half_width
from curvewise.stats.planning import (
    trials_for_band,
    trials_for_cvar,
    trials_for_mean,
    what_trials_tell,
)

SEARCH = cw.example("search")


def pilot(metric, *values, name="a"):
    return cw.Trials(
        (
            cw.Trial("t", name, i, {metric.name: float(value)})
            for i, value in enumerate(values)
        ),
        [metric],
    )


# --- bands -------------------------------------------------------------------------------


def test_a_band_takes_the_tabulated_numbers_of_trials():
    found = plan.trials(half_width=0.05)
    assert (found.dkw, found.exact, found.one_sided) == (738, 731, 600)
    assert found.planned == trials_for_band(0.05, confidence=0.99) == 1053
    assert found.anytime == trials_for_band(0.05, kind="anytime", start=46)
    assert [row["trials"] for row in found.rows()] == [
        *(731, 738, 600, found.planned, found.anytime)
    ]


def test_a_band_plan_says_what_it_means():
    text = str(plan.trials(0.05))
    for words in (
        "Trials for a band of half-width 0.05 (95 % confidence)",
        "one look at the end, exact                 731",
        "one side of the band only (DKW)            600",
        "5 planned looks                           1053",
        "known to within 0.05, at all scores at once, with 95 % confidence",
    ):
        assert words in text
    assert repr(plan.trials(0.05)) == text


def test_widths_are_for_the_picture():
    found = plan.trials(0.05, looks=3)
    widths = found.widths([100, 731])
    assert list(widths) == [
        "one look at the end",
        "3 planned looks",
        "looks at any time",
    ]
    assert widths["one look at the end"].tolist() == [half_width(100), half_width(731)]
    sizes = found.sizes()
    assert sizes[0] < 100
    assert sizes[-1] >= 2 * found.anytime - 1
    for values in found.widths(sizes).values():
        assert (np.diff(values) <= 0).all()


# --- means, CVaR, quantiles --------------------------------------------------------------


def test_a_pilot_gives_one_row_per_task_and_algorithm():
    found = plan.trials(
        0.02, of="cvar", alpha=0.5, pilot=SEARCH, metric="accuracy", failed="worst"
    )
    rows = found.rows()
    assert [(r["task"], r["algorithm"]) for r in rows] == [
        (t, a) for t in ("rings", "waves") for a in ("net", "forest", "svm")
    ]
    own = SEARCH.where(task="waves").scores("accuracy", failed="worst")["svm"]
    expected = {
        method: trials_for_cvar(0.02, pilot=own, support=(0, 1), method=method)
        for method in ("guaranteed", "asymptotic")
    }
    for method, need in expected.items():
        found_ends = [rows[-1][f"{method}{end}"] for end in ("", "_lower", "_upper")]
        assert found_ends == [need.trials, need.lower, need.upper]
    assert rows[-1]["pilot"] == len(own)


def test_the_numbers_hold_together_if_asked_for():
    one, all_six = (
        plan.trials(
            0.02,
            of="mean",
            pilot=SEARCH,
            metric="accuracy",
            failed="worst",
            family=family,
        )
        for family in (False, True)
    )
    assert all_six.confidence == pytest.approx(1 - 0.05 / 6)
    assert all(
        b["guaranteed"] > a["guaranteed"]
        for a, b in zip(one.rows(), all_six.rows(), strict=True)
    )


def test_a_loss_is_turned_round():
    rng = np.random.default_rng(1)
    z = rng.beta(8, 2, 50)
    found = [
        plan.trials(0.05, of="cvar", alpha=0.3, tail=tail, pilot=pilot(metric, *values))
        for tail in ("upper", "lower")
        for metric, values in (
            (cw.Metric("score", "higher", (0, 1)), z),
            (cw.Metric("score", "lower", (0, 1)), 1 - z),
        )
    ]
    numbers = [answer.rows()[0]["guaranteed"] for answer in found]
    assert numbers[0] == numbers[1]
    assert numbers[2] == numbers[3]
    assert numbers[0] != numbers[2]


def test_without_a_pilot_it_is_the_worst_case_of_the_metrics_range():
    found = plan.trials(0.05, of="mean", metric="accuracy")
    assert found.rows()[0]["guaranteed"] == 731
    assert found.widths([731])["at worst"][0] == pytest.approx(half_width(731))
    twice = plan.trials(0.1, of="mean", metric="mcc")  # from -1 to 1
    assert twice.rows()[0]["guaranteed"] == 731


def test_what_has_no_bound_has_an_asymptotic_number_only():
    rng = np.random.default_rng(2)
    trials = pilot(cw.Metric("loss", "lower"), *rng.normal(size=40))
    found = plan.trials(0.2, of="mean", pilot=trials)
    (row,) = found.rows()
    assert row["guaranteed"] is None
    assert (
        row["asymptotic"]
        == trials_for_mean(
            0.2, pilot=-trials.scores("loss")["a"], method="asymptotic"
        ).trials
    )
    assert math.isfinite(found.widths([100])["t, a"][0])


def test_what_does_not_vary_has_a_guaranteed_number_only():
    trials = pilot(cw.Metric("accuracy", "higher", (0, 1)), *[0.5] * 20)
    found = plan.trials(0.1, of="mean", pilot=trials)
    (row,) = found.rows()
    assert row["asymptotic"] is None
    assert row["guaranteed"] > 1


def test_one_trial_is_no_pilot_and_says_so_by_a_question_mark():
    trials = pilot(cw.Metric("accuracy", "higher", (0, 1)), 0.5)
    text = str(plan.trials(0.1, of="mean", pilot=trials))
    assert "?" in text


def test_a_quantile_has_no_asymptotic_number():
    found = plan.trials(
        0.05, of="quantile", alpha=0.9, pilot=SEARCH, metric="accuracy", failed="worst"
    )
    assert all(row["asymptotic"] is None for row in found.rows())
    assert "asymptotic" not in str(found)
    assert "(order statistics)" in str(found)


def test_widths_of_a_pilot_reach_the_aim_at_the_number_that_is_told():
    found = plan.trials(
        0.05, of="cvar", pilot=SEARCH, metric="accuracy", failed="worst"
    )
    for row in found.rows():
        n = row["guaranteed"]
        width = found.widths([n])[f"{row['task']}, {row['algorithm']}"][0]
        assert width <= 0.05


# --- what a number of trials tells -------------------------------------------------------


def test_what_200_trials_tell():
    found = plan.tell(200)
    told = what_trials_tell(200)
    values = {row["quantity"]: row["value"] for row in found.rows()}
    assert values["half_width"] == told.half_width
    assert values["top"] == values["failures"] == told.top
    assert values["half_width_planned_looks"] == half_width(200, confidence=0.99)
    text = str(found)
    for words in (
        "What 200 trials can tell",
        "known to within   0.0952",
        "1.49 %",
        "1.83 % to 98.17 %",
    ):
        assert words in text


def test_what_few_and_many_trials_tell():
    assert "none" in str(plan.tell(5))
    assert "99.999631 %" in str(plan.tell(1_000_000))  # and not 100 %


def test_the_top():
    found = plan.top(0.05)
    assert found.trials == 59
    assert found.rows() == [{"share": 0.05, "confidence": 0.95, "trials": 59}]


# --- lines -------------------------------------------------------------------------------

CURVES = cw.example("curves")
HILL = CURVES.where(task="hill", algorithm=["slow", "fast"])
STATED = plan.lines(HILL, shift=50)


def test_lines_have_one_row_per_task_and_pair(monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    found = plan.lines(CURVES, "return")
    rows = found.rows()
    assert [(r["task"], r["one"], r["other"]) for r in rows] == [
        (task, *pair)
        for task in ("hill", "swamp")
        for pair in (("slow", "fast"), ("slow", "early"), ("fast", "early"))
    ]
    for row in rows:
        lines = CURVES.where(task=row["task"]).lines("return")
        apart = lines[row["one"]].mean(axis=0) - lines[row["other"]].mean(axis=0)
        assert row["difference"] == pytest.approx(apart.mean())
        assert row["shape_difference"] == pytest.approx(apart.std())
        assert (row["lines_one"], row["lines_other"]) == (8, 8)
        assert row["lines_least"] == 4
        assert row["lines_lower"] <= row["lines"]
        assert row["lines_upper"] is None or row["lines"] <= row["lines_upper"]
    weak = rows[-1]  # two that are close on the noisier task
    assert weak["power_now"] < 0.6
    assert weak["lines"] > 12
    text = str(found)
    for words in (
        "return (higher is better), lines for a power of 0.8 at level 0.05",
        "slow - fast",
        "8 and 8",
        "lines for 0.8: with so many lines (runs) of each algorithm",
        "if the difference is as large as the pilot suggests",
        "better plan for a stated shift, the smallest one worth finding.",
        "With fewer than 4 lines of each no result could be significant",
        "whoever tests all 3 of a task plans with level 0.017",
        "21 steps from 0 to 100,000, as recorded",
    ):
        assert words in text
    assert repr(found) == text
    assert text.endswith(str(found.provenance))
    assert {row["lines_if_one"] for row in rows} == {None}
    assert "first / second" not in text
    # Notes are read by those who type options, too: no keyword in them.
    assert not any("=" in note for note in found.notes())


@pytest.mark.slow
def test_lines_for_a_stated_difference_are_what_the_statistics_say(monkeypatch):
    (row,) = STATED.rows()
    lines = HILL.lines("return")
    found = lines_for_power(
        {"slow": lines["slow"], "fast": lines["fast"]},
        shift=50,
        simulations=600,
        rng=np.random.default_rng(0),
    )
    assert row["lines"] == found.lines
    assert row["lines_lower"] == found.interval.lower
    assert row["power_now"] == found.now
    assert (row["lines_if_other"], row["lines_if_one"]) == found.directions
    assert row["lines"] == max(found.directions)
    text = str(STATED)
    assert "if one is 50 above the other at every step, whichever it is, and" in text
    assert "first / second above: lines for either direction; the larger" in text
    assert STATED.table()[0]["first / second above"] == (
        f"{row['lines_if_one']} / {row['lines_if_other']}"
    )
    assert "what the pilot leaves open about noise" in text
    assert "Each pair by itself" not in text  # there is only one
    assert STATED.provenance.seed == 0
    settings = STATED.provenance.settings
    assert (settings["shift"], settings["fill"], settings["grid"]) == (
        50,
        "error",
        None,
    )
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    one, again, other = (
        plan.lines(HILL, shift=50, seed=seed).rows() for seed in (2, 2, 3)
    )
    assert again == one
    assert other != one


def test_lines_come_on_a_grid_and_say_how(monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    found = plan.lines(HILL, shift=50, grid=8)
    assert found.provenance.settings["fill"] == "linear"
    assert "8 steps from 0 to 100,000, " in str(found)
    found = plan.lines(HILL, shift=50, grid=[0, 40_000, 90_000], fill="last")
    assert found.provenance.settings["fill"] == "last"
    assert found.provenance.settings["grid"] == "3 given steps"
    assert "3 steps from 0 to 90,000" in str(found)


def curves(of, **keywords):
    """Return trials of algorithms a and b from arrays of shape (line, step)."""
    return cw.Trials(
        cw.Trial(
            *("t", name, i, {"reward": line}),
            **{key: value(name, i) for key, value in keywords.items()},
        )
        for name, lines in of.items()
        for i, line in enumerate(lines)
    )


def test_where_a_pilot_shows_nothing_that_is_said(monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    lines = HILL.lines("return")["slow"]
    same = curves({"a": lines, "b": lines + 1e-9})
    found = plan.lines(same)
    (row,) = found.rows()
    assert (row["lines"], row["lines_upper"], row["power_now"]) == (None, None, None)
    text = str(found)
    assert "cannot be said" in text
    assert "more than" not in text
    assert json.loads(found.to_json())["rows"][0]["lines"] is None


def test_more_lines_than_are_computed_are_said_to_be():
    found = plan.lines(HILL, shift=1e-4)
    (row,) = found.table()
    assert row["lines for 0.8"] == row["from to"] == "more than 1,000,000"
    text = str(found)
    assert "cannot be said" not in text
    assert "?" not in text
    assert found.rows()[0]["lines"] is None
    assert found.rows()[0]["power_now"] < 0.2


def test_a_task_with_one_algorithm_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    rng = np.random.default_rng(5)
    trials = cw.Trials(
        cw.Trial(task, name, i, {"reward": rng.normal(size=4)}, steps=range(4))
        for task, name in (("t", "a"), ("t", "b"), ("u", "a"))
        for i in range(5)
    )
    found = plan.lines(trials, shift=2)
    assert [row["task"] for row in found.rows()] == ["t"]
    assert found.alone == ("u",)
    whole = plan.lines(trials.where(task="t"), shift=2)
    assert whole.rows() == found.rows()
    assert whole.alone == ()


def test_failed_lines_are_counted_and_crossed_ones_refused(monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    lines = dict(
        zip("ab", np.random.default_rng(4).normal(size=(2, 8, 5)), strict=True)
    )

    def status(name, i):
        return "failed" if (name, i) == ("b", 3) else "ok"

    broken = curves(lines, status=status)
    with pytest.raises(cw.CurvewiseError, match="failed"):
        plan.lines(broken)
    found = plan.lines(broken, failed=-5.0, shift=1)
    assert found.failed == 1
    crossed = curves(lines, labels=lambda _, i: {"params": i // 4, "seed": i % 4})
    with pytest.raises(cw.CurvewiseError, match="crossed"):
        plan.lines(crossed)


def test_lines_of_shapes_and_of_both(monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    shape = plan.lines(HILL, effect="interaction")
    assert "that the shapes of their lines differ" in str(shape)
    assert "strays from its mean" in str(shape)
    both = plan.lines(HILL, effect="either")
    assert "tested at half the level each" in str(both)
    assert both.rows()[0]["lines_least"] == 5
    assert "better plan for a stated stretch" in str(shape)


@pytest.mark.slow
def test_lines_for_a_stated_stretch(monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
    found = plan.lines(HILL, effect="interaction", stretch=1.2)
    text = str(found)
    assert "if the mean line of one is 1.2 times that of the other, whichever" in text
    assert "first / second stretched" in found.table()[0]
    assert "what the pilot leaves open about noise" in text
    assert found.provenance.settings["stretch"] == 1.2
    assert found.pairs[0].plan.stretch == 1.2
    more = plan.lines(HILL, effect="interaction", stretch=1.1)
    assert more.rows()[0]["lines"] > 2 * found.rows()[0]["lines"]


# --- all of them -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        plan.trials(0.1),
        plan.trials(0.1, of="mean", metric="accuracy"),
        plan.tell(50),
        plan.top(0.1),
        STATED,
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_answers_are_tables_in_every_language(answer):
    content = json.loads(answer.to_json())
    assert content["provenance"]["method"] == "plan"
    assert len(content["rows"]) == len(answer.rows())
    assert answer.to_markdown()
    assert answer.to_latex()
    assert "<table" in answer._repr_html_()
    assert len(answer.to_frame("pandas")) == len(answer.rows())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan.trials(0), r"half_width is 0\. Pass one above 0\."),
        (lambda: plan.trials(0.1, of="median"), r"of is 'median'\. Pass one of band,"),
        (lambda: plan.trials(0.1, band="x"), r"band is 'x'\. Pass one of kolmogorov"),
        (
            lambda: plan.trials(0.1, pilot=SEARCH),
            r"A band takes as many trials whatever the scores\. Leave pilot= and metric= "
            r"out, or pass of='mean', 'cvar' or 'quantile'\.",
        ),
        (
            lambda: plan.trials(0.1, of="mean"),
            r"No metric is given, so the range of its scores is not known\. Pass a known",
        ),
        (
            lambda: plan.trials(0.1, of="mean", metric="zorp"),
            r"Nobody knows 'zorp', so the range of its scores is not known\.",
        ),
        (
            lambda: plan.trials(0.1, of="mean", metric="loss"),
            r"No number of trials guarantees the mean of all trials if scores have no",
        ),
        (
            lambda: plan.trials(0.1, of="cvar", pilot=SEARCH, metric="accuracy"),
            r"9 of 360 trials have no score|\d+ of \d+ trials have no score",
        ),
        (
            lambda: plan.trials(0.1, of="cvar", pilot="results.csv"),
            r"Trials were asked for, and str came\.",
        ),
        (
            lambda: plan.trials(0.1, of="mean", pilot=cw.Trials()),
            r"There are no trials to judge\.",
        ),
        (lambda: plan.lines("x.csv"), r"Trials were asked for, and str came\."),
        (lambda: plan.lines(cw.Trials()), r"There are no trials to judge\."),
        (
            lambda: plan.lines(HILL.where(algorithm="slow")),
            r"No task of the pilot has lines of two algorithms to tell apart\. Pass runs "
            r"of two or more that met the same task\.",
        ),
        (
            lambda: plan.lines(HILL.where(number=[0, 1, 2])),
            r"The pilot has 3 lines of 'slow', too few to judge noise from\.",
        ),
        (lambda: plan.lines(HILL, fill="x"), r"fill is 'x'\. Pass 'error', 'last'"),
        (lambda: plan.lines(HILL, seed=-1), r"seed is -1"),
        (
            lambda: plan.lines(HILL, effect="interaction", shift=1),
            r"shift moves whole lines, .* Pass stretch=, or effect='algorithm'\.",
        ),
        (
            lambda: plan.lines(HILL, shift=-20),
            r"shift is -20\. Pass the size of a difference in units of the scores, above",
        ),
        (lambda: plan.lines(HILL, shift=1, stretch=2), r"Both shift and stretch are"),
        (
            lambda: plan.lines(curves({"a": np.eye(8, 5), "b": np.eye(1, 5)})),
            r"The pilot has 1 line of 'b', too few",
        ),
        (lambda: plan.lines(HILL, power=2), r"power is 2\. Pass one between 0 and 1\."),
        (lambda: plan.tell(0), r"n is 0\. Pass a number of trials, at least 1\."),
        (lambda: plan.top(1), r"share is 1\. Pass one strictly between 0 and 1"),
    ],
)
def test_bad_input_is_refused_with_what_to_pass(call, message):
    with pytest.raises(cw.CurvewiseError, match=f"^(?:{message})"):
        call()
