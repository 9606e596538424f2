"""Run until certain: what is promised holds, whoever looks, stops, resumes or extends."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from support import refused

import curvewise
import curvewise as cw
from curvewise import (
    Algorithm,
    CurvewiseError,
    CurvewiseWarning,
    Experiment,
    Metric,
    Task,
    Trial,
    Trials,
    store,
)
from curvewise.flow.run import InMemory
from curvewise.flow.until import GRAMMAR, stopping, until
from curvewise.flow.until.looks import Budget, Pair, Ranks
from curvewise.flow.until.stopping import numbered_below, plans_before
from curvewise.metrics import find
from curvewise.questions.sampling import Sample
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import Interval

ACCURACY = find("accuracy")


def beta(rng, n):
    return rng.beta(8, 2, n)


def tied(rng, n):
    return np.round(20 * rng.beta(8, 2, n)) / 20


def failing(rng, n):
    return np.where(rng.random(n) < 0.05, 0, rng.beta(30, 4, n))


def at_the_ends(rng, n):
    return (rng.random(n) < 0.5).astype(float)


# --- budgets and verdicts ----------------------------------------------------------------


def test_all_looks_at_all_plans_spend_delta_at_most():
    cells, looks = 7, 5
    spent = sum(
        cells * looks * (1 - Budget(0.05, looks, before).confidence(cells))
        for before in range(60)
    )
    assert spent == pytest.approx(0.05)
    assert Budget(0.05, 5, 3, anytime=True).confidence(2) == 0.975


def pair(lower, upper):
    return Pair("t", "a", "b", 10, Interval(lower, upper, "", ""))


@pytest.mark.parametrize(
    ("lower", "upper", "sign", "words"),
    [
        (0.1, 0.3, 1, "a is better"),
        (0.1, 0.3, -1, "b is better"),
        (-0.3, -0.1, 1, "b is better"),
        (-0.3, -0.1, -1, "a is better"),
        (-0.01, 0.02, 1, "closer than 0.02"),
        (0.001, 0.002, 1, "a is better"),
        (-0.01, 0.03, 1, "undecided"),
        (-0.03, 0.0, 1, "undecided"),
        (-math.inf, math.inf, 1, "undecided"),
    ],
)
def test_what_is_said_of_a_pair(lower, upper, sign, words):
    assert pair(lower, upper).verdict(0.02, sign) == words


def test_lower_is_better_is_turned_round():
    """An error of .1 is an accuracy of .9: the same trials, the same decision."""
    rng = np.random.default_rng(1)
    z = rng.beta(8, 2, 300)

    def look(text, metric, scores):
        asked = until(text)
        found = {("t", "a"): Sample(scores, np.arange(300), 0)}
        return asked.look(found, find(metric), asked.budget()).members[0].interval

    for text in ("cvar 0.3 +- 1", "cvar 0.3 +- 1 tail lower", "mean +- 1"):
        one, other = look(text, "accuracy", z), look(text, "error", 1 - z)
        assert other.lower == pytest.approx(1 - one.upper)
        assert other.upper == pytest.approx(1 - one.lower)
    # A quantile is that of the scores as they are.
    one = look("quantile 0.9 +- 1", "error", z)
    assert one.value == Functional("quantile", 0.9).value(z)


def test_the_band_is_chosen_by_the_number_of_trials_not_by_the_scores():
    asked = until("mean +- 0.1").question(ACCURACY)
    assert asked.band_for(100, 0.999) == "equal_local_levels"
    assert asked.band_for(10**9, 0.999) == "kolmogorov"
    own = until("mean +- 0.1 band dkw").question(ACCURACY)
    assert own.band_for(100, 0.999) == "dkw"


# --- real runs ---------------------------------------------------------------------------

TASK = Task("t", lambda rng: rng.random())


def scoring(law):
    def run(params, data, rng):
        yield 0, {"accuracy": float(law(rng, 1)[0])}

    return run


GOOD = Algorithm("good", {}, scoring(failing))
BAD = Algorithm("bad", {}, scoring(beta))


def experiment(trials=400, algorithms=(GOOD, BAD), **options):
    return Experiment(TASK, algorithms, trials, 3, **options)


def ran(plan=None, criterion="mean +- 0.1", **options):
    options = {"executor": "serial", "progress": False} | options
    return curvewise.run(plan or experiment(), until=criterion, **options)


def test_a_run_stops_when_what_was_asked_for_is_known(tmp_path):
    path = tmp_path / "runs.db"
    asked = until("mean", half_width=0.1)
    found = ran(criterion=asked, store=path)
    assert len(found) == 2 * 100
    assert not asked(found.where(number=range(50)))
    assert asked(found)
    reached = asked.reached(experiment(), path)
    assert (reached.number, reached.size, reached.looks) == (3, 100, 5)
    assert reached.is_enough
    assert [row["trials"] for row in reached.rows()] == [100, 100]
    assert max(row["half_width"] for row in reached.rows()) <= 0.1
    assert ran(criterion=asked) == found


def test_an_algorithm_without_trials_on_a_task_is_not_known(tmp_path):
    """Three cells of four are as sharp as they can be, and nothing is known of one."""
    found = Trials(
        Trial(t, a, i, {"accuracy": i / 2000})
        for t, a in (("t", "a"), ("t", "b"), ("u", "a"))
        for i in range(2000)
    )
    one = Trials([Trial("u", "b", 0, {"accuracy": 0.5})])
    for text in ("mean +- 0.1", "ranking mean within 0.2"):
        asked = until(text)
        assert not asked(found)
        assert not asked(Trials.concat([found, one]))
        assert asked(found.where(task="t"))
    keeper = InMemory()
    keeper.introduce("t", ["good", "bad"])
    keeper.write(ran(criterion=None).where(algorithm="good"))
    assert not stopping.asker(until("mean +- 0.9"), experiment(), keeper).ask(400)


def test_a_ranking_of_one_algorithm_is_refused_and_never_enough():
    found = ran(criterion=None).where(algorithm="good")
    assert refused(until("ranking"), found) == ("algorithms", 1)
    assert not Ranks((), 0.1, 0.95, 1).is_enough


def test_a_ranking_stops_when_all_pairs_are_decided():
    asked = until("ranking", of="mean", margin=0.3)
    found = ran(criterion=asked)
    reached = asked.reached(experiment(), found)
    assert reached.is_enough
    assert len(found) < 2 * 400
    (row,) = reached.rows()
    assert (row["first"], row["second"]) == ("good", "bad")
    assert row["verdict"] == "closer than 0.3"


def test_what_is_not_reached_says_so_and_how_many_trials_it_would_take():
    asked = until("mean +- 0.02")
    found = ran(criterion=asked)
    assert len(found) == 800
    reached = asked.reached(experiment(), found)
    assert not reached.is_enough
    seen = reached.number, reached.looks, reached.size, reached.trials
    assert seen == (5, 5, 400, 400)
    assert reached.verdict() in str(reached)
    # About so many do, and a third of them does not.
    for n, enough in ((reached.needed, True), (reached.needed // 3, False)):
        rng = np.random.default_rng(5)
        drawn = {
            ("t", name): Sample(law(rng, n), np.arange(n), 0)
            for name, law in (("good", failing), ("bad", beta))
        }
        look = asked.look(drawn, ACCURACY, asked.budget(5, 1))
        assert (look.widest < 0.02 * 1.2) == enough


def test_an_answer_says_what_is_promised():
    asked = until("cvar 0.5 +- 0.1")
    reached = asked.reached(experiment(), ran(criterion=asked))
    text = str(reached)
    for words in (
        "until cvar 0.5 +- 0.1 of accuracy",
        "Reached with",
        "2 intervals of the mean of the best 0.5 of all trials",
        "with at least 95 % confidence all hold at once, at each of the 5 looks",
        "(equal local levels, 99.75 % each)",
    ):
        assert words in text
    assert reached.provenance.settings["until"] == "cvar 0.5 +- 0.1 of accuracy"
    assert "half_width" in reached.to_json()


def test_a_run_that_was_stopped_and_resumed_ends_where_an_undisturbed_one_ends(
    tmp_path,
):
    path = tmp_path / "runs.db"
    store.write(ran(criterion=None).where(number=[*range(30), 77, 399]), path)
    found = ran(store=path)
    undisturbed = ran()
    assert found.where(number=range(100)) == undisturbed
    assert {t.number for t in found} == {*range(100), 399}


def test_a_store_that_has_more_trials_is_looked_at_as_if_it_had_not(tmp_path):
    """All 400 are there, and the look at 100 is the one that counts."""
    path = tmp_path / "runs.db"
    ran(criterion=None, store=path)
    ran(store=path)
    asked = until("mean +- 0.1")
    assert asked.reached(experiment(), path).size == 100
    ran(store=tmp_path / "undisturbed.db")
    assert str(asked.reached(experiment(), path)) == str(
        asked.reached(experiment(), tmp_path / "undisturbed.db")
    )


def test_trials_of_other_algorithms_in_the_store_do_not_count(tmp_path):
    path = tmp_path / "runs.db"
    other = Algorithm("other", {}, scoring(at_the_ends))
    ran(experiment(400, [GOOD, BAD, other]), None, store=path)
    ran(store=path)
    reached = until("mean +- 0.1").reached(experiment(), path)
    assert [row["algorithm"] for row in reached.rows()] == ["good", "bad"]
    assert reached.size == 100


def test_trials_are_chosen_by_cell_and_number():
    trials = Trials(
        Trial(t, a, i, {"accuracy": 0.5})
        for t in "tu"
        for a in "ab"
        for i in (-1, 0, 9)
    )
    chosen = numbered_below(trials, [("t", "a"), ("u", "b"), ("x", "y")], 5)
    assert {(t.task, t.algorithm, t.number) for t in chosen} == {
        *(("t", "a", 0), ("u", "b", 0))
    }
    assert len(numbered_below(Trials(), [("t", "a")], 5)) == 0


# --- plans that are extended -------------------------------------------------------------


def before(path, plan, text="mean +- 0.1"):
    asked = until(text).for_trials(store.read(path))
    with store.open(path) as opened:
        return plans_before(asked, plan, opened, keep=False)


def test_the_same_plan_again_spends_nothing_new(tmp_path):
    path = tmp_path / "runs.db"
    first = ran(store=path)
    for _ in range(3):
        assert ran(store=path) == first
    assert before(path, experiment()) == 0
    assert until("mean +- 0.1").reached(experiment(), path).before == 0


def test_a_plan_that_is_extended_gets_half_of_what_is_left(tmp_path):
    path = tmp_path / "runs.db"
    ran(store=path)
    ran(experiment(1000), store=path)
    ran(experiment(2000), store=path)
    assert [before(path, experiment(n)) for n in (400, 1000, 2000)] == [0, 1, 2]
    asked = until("mean +- 0.1")
    levels = [
        asked.reached(experiment(n), path).look.confidence for n in (400, 1000, 2000)
    ]
    assert levels == pytest.approx([1 - 0.05 / (d * 5 * 2) for d in (2, 4, 8)])
    assert asked.reached(experiment(2000), path).before == 2


def test_trials_without_their_store_say_that_they_do_not_know_of_earlier_plans(
    tmp_path,
):
    """Asked before at 400 trials: the store halves its budget again, trials cannot."""
    path, asked = tmp_path / "runs.db", until("mean +- 0.001")
    for n in (400, 1000):
        found = ran(experiment(n), asked, store=path)
    known = asked.reached(experiment(1000), path)
    guessed = asked.reached(experiment(1000), found)
    assert (known.before, guessed.before) == (1, None)
    assert guessed.look.confidence < known.look.confidence
    said = (
        "Trials do not know in which plans they were asked before: this holds if it was "
        "the first. Pass the store of the run, which does know."
    )
    assert said in guessed.notes()
    assert said not in known.notes()
    anytime = until("mean +- 0.2 band anytime").reached(experiment(1000), found)
    assert len(anytime.notes()) == 1  # earlier plans cost it nothing


def test_another_algorithm_is_another_plan(tmp_path):
    path = tmp_path / "runs.db"
    ran(store=path)
    more = experiment(400, [GOOD, BAD, Algorithm("third", {}, scoring(tied))])
    ran(more, store=path)
    assert before(path, more) == 1


def test_how_well_is_no_part_of_what_is_asked(tmp_path):
    """The intervals are the same: only when they are enough is another question."""
    path = tmp_path / "runs.db"
    ran(store=path)
    ran(criterion="mean +- 0.05", store=path)
    ran(criterion="ranking mean", store=path)  # read off the same intervals
    assert before(path, experiment(1000), "mean +- 0.02") == 1
    # Another number is another promise.
    assert before(path, experiment(1000), "cvar 0.5 +- 0.02") == 0
    assert before(path, experiment(1000), "mean +- 0.02 confidence 0.9") == 0


def test_what_holds_at_any_time_needs_no_history(tmp_path):
    path = tmp_path / "runs.db"
    for n in (100, 200):
        ran(experiment(n), "mean +- 0.2 band anytime", store=path)
    assert before(path, experiment(400), "mean +- 0.2 band anytime") == 0


def test_a_plan_that_was_never_looked_at_costs_nothing(tmp_path):
    path = tmp_path / "runs.db"
    ran(criterion=None, store=path)
    assert before(path, experiment(1000)) == 0


# --- failures ----------------------------------------------------------------------------


def shaky(params, data, rng):
    if rng.random() < 0.2:
        raise ValueError("diverged")
    yield 0, {"accuracy": rng.beta(30, 4)}


SHAKY = Algorithm("shaky", {}, shaky)


def test_where_failures_have_no_score_the_run_goes_on_to_its_end_and_says_so_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ran(experiment(200, [SHAKY]))
    assert len(found) == 200
    (warning,) = caught
    assert warning.category is CurvewiseWarning
    text = str(warning.message)
    assert "ValueError: diverged" in text
    fix = {"until": "mean +- 0.1 of accuracy failed worst"}
    assert warning.message.args[0].fixes[-1] == fix
    assert warning.filename == __file__


def test_failures_with_a_score_are_part_of_the_distribution():
    found = ran(experiment(2000, [SHAKY]), "mean +- 0.1 failed worst")
    assert len(found) < 2000
    reached = until("mean +- 0.1 failed 0.5").reached(experiment(2000, [SHAKY]), found)
    assert reached.rows()[0]["value"] > 0.7


def diverging(params, data, rng):
    if rng.random() < 0.2:
        raise ValueError("diverged")
    yield 0, {"return": rng.normal()}


UNBOUNDED = experiment(
    400, [Algorithm("a", {}, diverging)], metrics=[Metric("return", "higher")]
)


@pytest.mark.parametrize("method", ["", " method asymptotic"])
def test_the_worst_so_far_is_no_score_of_a_failure(method, tmp_path):
    """It moves from look to look: the promise would be about another number at each."""
    what = "quantile 0.05 +- 0.01" if not method else "cvar 0.5 +- 0.01"
    text = f"{what} of return failed worst{method}"
    with pytest.raises(
        CurvewiseError,
        match=r"^'return' ranges from -inf to inf, and has no worst score that is the "
        r"same at every look\. Pass failed=<score of a failed run>; as a text, "
        rf"'{what.replace('+', '[+]')} of return failed 0{method}'\.$",
    ):
        ran(UNBOUNDED, text, store=tmp_path / "runs.db")
    assert list(tmp_path.iterdir()) == []  # before anything is run


def test_the_worst_so_far_is_refused_with_the_first_trials_where_nobody_named_the_metric(
    tmp_path,
):
    path, text = tmp_path / "runs.db", "quantile 0.05 +- 0.01 failed worst"
    assert refused(ran, UNBOUNDED, text, store=path) == ("failed", "worst")
    assert len(store.read(path)) < 400
    found = ran(UNBOUNDED, None)
    for ask in (until(text), lambda found: until(text).reached(UNBOUNDED, found)):
        assert refused(ask, found) == ("failed", "worst")


def test_only_the_bad_end_of_the_range_makes_a_worst_score():
    asked = until("quantile 0.5 +- 0.1 failed worst")
    asked.refuse_unbounded(Metric("reward", "higher", (0, math.inf)))
    rmse = Metric("rmse", "lower", (0, math.inf))
    assert refused(asked.refuse_unbounded, rmse) == ("failed", "worst")


def test_a_failure_with_a_number_will_do_without_bounds():
    plan = replace(UNBOUNDED, trials=2000)
    assert len(ran(plan, "quantile 0.5 +- 0.3 failed -10")) < 2000


def test_who_is_told_to_score_failures_is_not_told_what_will_be_refused():
    with pytest.warns(CurvewiseWarning) as caught:
        ran(UNBOUNDED, "quantile 0.5 +- 0.3")
    (warning,) = caught
    fix = {"until": "quantile 0.5 +- 0.3 of return failed 0"}
    assert warning.message.args[0].fixes[-1] == fix


def test_if_all_fail_nobody_asks():
    def fails(params, data, rng):
        raise ValueError

    assert len(ran(experiment(50, [Algorithm("a", {}, fails)]))) == 50


# --- refused before anything is run ------------------------------------------------------


def lossy(params, data, rng):
    yield 0, {"loss": rng.random(), "accuracy": rng.random()}


@pytest.mark.parametrize(
    ("criterion", "argument", "value"),
    [
        ("mean +- 0.1 of loss", "metric", "loss"),
        ("cvar 0.5 +- 0.1 of rmse tail lower", "metric", "rmse"),
        ("ranking mean of loss method asymptotic", "margin", None),
        (3, "until", 3),
    ],
)
def test_what_cannot_be_promised_is_refused_before_anything_is_run(
    criterion, argument, value, tmp_path
):
    store = tmp_path / "runs.db"
    assert refused(ran, criterion=criterion, store=store) == (argument, value)
    assert list(tmp_path.iterdir()) == []


def test_a_range_that_is_declared_is_enough():
    plan = experiment(
        100, [Algorithm("a", {}, lossy)], metrics=[Metric("loss", "lower", (0, 1))]
    )
    assert len(ran(plan, "mean +- 0.4 of loss")) < 100
    assert len(ran(plan, "cvar 0.5 +- 0.4 of loss")) < 100


def test_the_good_end_of_the_range_is_enough_for_the_best_trials():
    """The best half of an error that has no largest value."""
    plan = experiment(
        400,
        [Algorithm("a", {}, lossy)],
        metrics=[Metric("loss", "lower", (0, math.inf))],
    )
    assert len(ran(plan, "cvar 0.5 +- 0.4 of loss")) < 400


def test_no_range_is_needed_for_a_quantile_and_for_what_is_asymptotic():
    plan = experiment(2000, [Algorithm("a", {}, lossy)])
    for text in (
        "quantile 0.5 +- 0.1 of loss",
        "mean +- 0.1 of loss method asymptotic",
    ):
        assert len(ran(plan, text)) < 2000


def test_which_metric_is_asked_as_soon_as_trials_have_several(tmp_path):
    path = tmp_path / "runs.db"
    plan = experiment(400, [Algorithm("a", {}, lossy)])
    assert refused(ran, plan, store=path) == ("metric", None)
    assert len(store.read(path)) < 400  # and what was run is kept


def test_a_metric_that_trials_do_not_have_is_refused_with_the_first_of_them(tmp_path):
    path = tmp_path / "runs.db"
    criterion = "mean +- 0.1 of acuracy"
    assert refused(ran, criterion=criterion, store=path) == ("metric", "acuracy")
    assert len(store.read(path)) < 800


def test_an_unbounded_metric_that_is_not_named_is_refused_with_the_first_trials():
    def only_loss(params, data, rng):
        yield 0, {"loss": rng.random()}

    plan = experiment(400, [Algorithm("a", {}, only_loss)])
    assert refused(ran, plan) == ("metric", "loss")


def test_a_crossed_design_is_refused():
    plan = experiment(None, cross={"params": 4, "seed": 5})
    assert refused(ran, plan) == ("cross", {"params": 4, "seed": 5})


def test_a_ranking_needs_two():
    assert refused(ran, experiment(100, [GOOD]), "ranking") == ("algorithms", 1)


def test_what_was_not_run_has_reached_nothing(tmp_path):
    asked = until("mean +- 0.1")
    assert refused(asked.reached, experiment(), Trials()) == ("trials", None)
    few = ran(criterion=None).where(number=range(10))
    assert refused(asked.reached, experiment(), few) == ("trials", 25)


# --- arguments and texts -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "arguments", "keywords"),
    [
        ("cvar 0.5 +- 0.01", ("cvar", 0.5), {"half_width": 0.01}),
        ("cvar 0.5 ± 0.01", ("cvar",), {"half_width": 0.01}),
        ("cvar 0.5+-0.01", ("cvar",), {"share": 0.5, "half_width": 0.01}),
        ("CVaR +/- .01", ("cvar",), {"half_width": 0.01}),
        ("mean +- 0.01", ("mean",), {"half_width": 0.01}),
        ("quantile 0.9 +- 2", ("quantile", 0.9), {"half_width": 2}),
        ("ranking", ("ranking",), {}),
        ("ranking mean", ("ranking",), {"of": "mean"}),
        ("ranking within 0.01", ("ranking",), {"margin": 0.01}),
        (
            "ranking cvar 0.25 within 0.01 of 'val acc'",
            ("ranking",),
            {"of": "cvar", "share": 0.25, "margin": 0.01, "metric": "val acc"},
        ),
        (
            "cvar 0.1 +- 0.02 of error tail lower failed worst at best",
            ("cvar", 0.1),
            {
                "half_width": 0.02,
                "metric": "error",
                "tail": "lower",
                "failed": "worst",
                "at": "best",
            },
        ),
        (
            "mean +- 1 at 100 failed -5 confidence 0.99 band dkw method guaranteed",
            ("mean",),
            {
                "half_width": 1,
                "at": 100,
                "failed": -5,
                "confidence": 0.99,
                "band": "dkw",
            },
        ),
    ],
)
def test_a_text_asks_for_the_same_as_arguments(text, arguments, keywords):
    assert until(text) == until(*arguments, **keywords)
    assert until(str(until(text))) == until(text)  # what is printed can be typed


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "it is empty"),
        ("cva 0.5 +- 0.1", "it begins with 'cva'"),
        ("cvar 0.5", "it does not say '+-' and how well"),
        ("cvar 0.5 within 0.1", "it does not say '+-' and how well"),
        ("mean +-", "nothing follows '+-'"),
        ("mean +- little", "'little' is no number"),
        ("ranking within", "nothing follows 'within'"),
        ("mean +- 0.1 of", "nothing follows 'of'"),
        ("mean +- 0.1 kind dkw", "nobody knows what 'kind' is"),
        ("mean +- 0.1 accuracy", "nobody knows what 'accuracy' is"),
        ("mean +- 0.1 of a of b", "it says 'of' twice"),
        ("mean +- 0.1 of 'a", "no closing quotation"),
    ],
)
def test_a_text_that_says_something_else_is_taught_the_grammar(text, what):
    with pytest.raises(CurvewiseError) as caught:
        until(text)
    assert (caught.value.argument, caught.value.value) == ("until", text)
    assert str(caught.value) == f"until is {text!r}, and {what}. {GRAMMAR}"


@pytest.mark.parametrize(
    ("what", "given", "argument", "value"),
    [
        ("cvar", {}, "half_width", None),
        ("mean", {"half_width": 0}, "half_width", 0),
        ("mean", {"share": 0.5, "half_width": 1}, "share", 0.5),
        ("quantile", {"half_width": 1}, "share", None),
        ("cvar", {"share": 1.5, "half_width": 1}, "alpha", 1.5),
        ("ranking", {"half_width": 1}, "half_width", 1),
        ("mean", {"half_width": 1, "margin": 1}, "margin", 1),
        ("mean", {"half_width": 1, "of": "cvar"}, "of", "cvar"),
        ("ranking", {"margin": 0}, "margin", 0),
        (
            "quantile",
            {"share": 0.5, "half_width": 1, "method": "asymptotic"},
            "method",
            "asymptotic",
        ),
        ("mean", {"half_width": 1, "band": "x"}, "band", "x"),
        ("mean", {"half_width": 1, "method": "x"}, "method", "x"),
        ("mean", {"half_width": 1, "confidence": 2}, "confidence", 2),
        ("mean +- 0.1", {"metric": "accuracy"}, "until", "mean +- 0.1"),
        ("mean +- 0.1", {"confidence": 0.99}, "until", "mean +- 0.1"),
        ("mean +- 0.1", {"failed": "worst"}, "until", "mean +- 0.1"),
        ("mean +- 0.1", {"method": "asymptotic"}, "until", "mean +- 0.1"),
        ("mean +- 0.1", {"at": "best"}, "until", "mean +- 0.1"),
        ("mean +- 0.1 failed wrst", {}, "failed", "wrst"),
        ("mean +- 0.1 at first", {}, "at", "first"),
    ],
)
def test_bad_arguments_are_refused(what, given, argument, value):
    assert refused(until, what, **given) == (argument, value)


def test_a_metric_has_a_name_when_it_is_known():
    with pytest.raises(CurvewiseError) as caught:
        until("mean", half_width=1).name  # noqa: B018
    assert caught.value.argument == "metric"


def test_one_thing_has_one_name():
    """A share is no alpha, and a band is no kind."""
    for old in ({"alpha": 0.5}, {"kind": "dkw"}):
        with pytest.raises(TypeError, match=next(iter(old))):
            until("cvar", half_width=0.01, **old)


# --- how far it is -----------------------------------------------------------------------


class Clock:
    """Time that passes when told, and a little whenever somebody asks."""

    def __init__(self, cost=0.0):
        self.now, self.cost = 100.0, cost

    def monotonic(self):
        self.now += self.cost
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(stopping, "time", made)
    return made


class Counted(InMemory):
    """A keeper that counts how often it is read."""

    reads = 0

    def read(self):
        self.reads += 1
        return super().read()


def kept(trials):
    keeper = Counted()
    keeper.introduce(["t"], ["good", "bad"])
    for name in trials.algorithms:
        keeper.write(trials.where(algorithm=name))
    return keeper


def test_a_glance_says_how_wide_the_widest_interval_is(clock):
    trials = ran(criterion=None).where(number=range(123))
    keeper = kept(trials)
    asker = stopping.asker(until("mean +- 0.01"), experiment(), keeper)
    asker.meet(trials)
    asker.glance()
    assert asker.said == ""  # not in the first seconds
    clock.now += 3
    asker.glance()
    number = float(asker.said.removeprefix("± ").removesuffix(" of 0.01"))
    asked = until("mean +- 0.01 of accuracy")
    rounded = trials.where(number=range(120))
    cells = [("t", "good"), ("t", "bad")]
    look = asked.look(asked.samples(rounded, cells), ACCURACY, asked.budget())
    assert number == pytest.approx(look.widest, rel=1e-2)


def test_a_glance_counts_undecided_pairs(clock):
    trials = ran(criterion=None).where(number=range(30))
    asker = stopping.asker(until("ranking within 0.001"), experiment(), kept(trials))
    asker.meet(trials)
    clock.now += 3
    asker.glance()
    assert asker.said == "1 of 1 pair undecided"


def test_glances_take_a_twentieth_of_the_time_at_most(clock):
    trials = ran(criterion=None).where(number=range(30))
    keeper = kept(trials)
    asker = stopping.asker(until("mean +- 0.01"), experiment(), keeper)
    asker.meet(trials)
    clock.cost = 0.1  # a glance looks at the clock twice: it takes a tenth of a second
    for _ in range(1000):
        asker.glance()  # each call lets 0.1 s pass at least
    passed = clock.now - 100
    assert 0.1 * keeper.reads <= passed / 20 + 0.2
    assert keeper.reads > 20
    clock.cost, begin = 5.0, clock.now
    keeper.reads = 0
    for _ in range(100):
        asker.glance()
    assert 5 * keeper.reads <= (clock.now - begin) / 20 + 5


def test_a_glance_before_all_algorithms_have_begun_says_nothing(clock):
    trials = ran(criterion=None).where(algorithm="good")
    keeper = Counted()
    keeper.introduce(["t"], ["good", "bad"])
    keeper.write(trials)
    asker = stopping.asker(until("mean +- 0.01"), experiment(), keeper)
    asker.meet(trials)
    clock.now += 3
    asker.glance()
    assert (asker.said, keeper.reads) == ("", 1)


def test_what_a_glance_cannot_tell_is_a_question_mark(clock):
    """Too few trials for a bound on the best half of a loss without a largest value."""
    plan = experiment(
        400,
        [Algorithm("a", {}, lossy)],
        metrics=[Metric("loss", "lower", (0, math.inf))],
    )
    trials = ran(plan, None)
    few = trials.where(number=range(3))
    keeper = Counted()
    keeper.introduce(["t"], ["a"])
    keeper.write(few)
    asker = stopping.asker(until("cvar 0.5 +- 0.01 of loss"), plan, keeper)
    asker.meet(few)
    clock.now += 3
    asker.glance()
    assert asker.said == "± ? of 0.01"


def test_the_end_of_a_run_says_how_far_it_got(capsys, monkeypatch):
    monkeypatch.setattr("curvewise.flow.progress._SILENT", 0.0)
    ran(progress=None)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("curvewise: 200 of 800 trials in 0 s; ± 0.0")
    assert last.endswith(" of 0.1")


def test_a_failure_that_scores_what_cannot_be_is_refused_with_the_first_trial():
    ran = []

    def score(params, data, rng):
        ran.append(1)
        yield 0, {"accuracy": rng.random()}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None), cw.Algorithm("a", {}, score), 400
    )
    how = {"executor": "serial", "progress": False}
    text = "mean +- 0.1 of accuracy failed 2"
    assert refused(cw.run, experiment, until=text, **how) == ("failed", 2)
    assert len(ran) < 100
