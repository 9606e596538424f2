"""Quantile slices: who is chosen, that reruns are fresh, kept, and resumed."""

import numpy as np
import pytest
from support import refused

from curvewise import (
    Algorithm,
    CurvewiseError,
    Experiment,
    Metric,
    Task,
    Trial,
    Trials,
    choice,
    run,
    store,
    uniform,
)
from curvewise.engine.workers.local import Serial
from curvewise.errors import UnknownDirection
from curvewise.flow.slices import _another_seed, _rerun_plan, quantile_slices

TASK = Task("t", lambda rng: rng.random())
QUIET = {"executor": "serial", "progress": False}


def net(params, data, rng):
    """A score that hangs on the hyperparameter, and a little on chance."""
    for step in range(4):
        yield (
            step,
            {"loss": (params["lr"] - 0.3) ** 2 * (4 - step) + 0.01 * rng.random()},
        )


NET = Algorithm("net", {"lr": uniform(0, 1), "width": [16, 32]}, net)


def search(trials=60, algorithms=NET, tasks=TASK, **options):
    return Experiment(tasks, algorithms, trials, 3, **options)


@pytest.fixture(scope="module")
def trials():
    return run(search(), **QUIET)


def sliced(trials, plan=None, **options):
    return quantile_slices(
        trials, plan or search(), **{"trials_each": 10, **QUIET, **options}
    )


class Counting(Serial):
    """An executor that counts the trials it was asked to run."""

    def __init__(self):
        self.count = 0

    def run(self, payload, queue, limits, stop):
        for finished in super().run(payload, queue, limits, stop):
            self.count += len(finished.core.number)
            yield finished


# --- who is chosen -----------------------------------------------------------------------


def test_the_trials_at_the_percentiles_are_chosen_best_last(trials):
    """Lower is better: percentile 100 is the smallest loss, 0 the largest."""
    answer = sliced(trials, percentiles=(0, 10, 50, 100))
    scores = np.sort(trials.scores("loss")["net"])[::-1]
    assert [s.chosen.score for s in answer.slices] == [
        scores[0],
        scores[5],
        scores[29],
        scores[59],
    ]
    assert [s.chosen.name for s in answer.slices] == [
        *("net p0", "net p10", "net p50", "net p100")
    ]


def test_hyperparameters_are_those_of_the_chosen_trials(trials):
    for one in sliced(trials).slices:
        (trial,) = trials.where(number=one.chosen.number)
        assert trial.params == one.chosen.params
        reruns = sliced(trials).trials.where(algorithm=one.chosen.name)
        assert all(t.params == trial.params for t in reruns)


def test_higher_is_better_turns_the_order(trials):
    up = Trials(
        [
            Trial(
                "t",
                "net",
                t.number,
                {"accuracy": 1 - t.metrics["loss"][-1]},
                params=t.params,
            )
            for t in trials
        ]
    )
    chosen = [
        s.chosen.number for s in sliced(up, metric="accuracy", plan=accurate()).slices
    ]
    assert chosen == [s.chosen.number for s in sliced(trials).slices]


def accurate():
    def score(params, data, rng):
        yield 0, {"accuracy": 1 - (params["lr"] - 0.3) ** 2}

    return search(algorithms=Algorithm("net", NET.space, score))


def test_of_ties_the_lower_number_comes_first():
    ties = Trials(
        Trial("t", "net", i, {"loss": [0.5, 0.1][i % 2]}, params={"lr": i / 10})
        for i in range(10)
    )
    answer = sliced(ties, percentiles=(10, 50, 60))
    assert [s.chosen.number for s in answer.slices] == [0, 8, 1]


def test_a_failed_trial_can_be_chosen_and_its_hyperparameters_run_again(trials):
    some = [
        Trial("t", "net", t.number, params=t.params, status="failed", error="nan")
        if t.number in (4, 5)
        else t
        for t in trials
    ]
    answer = sliced(Trials(some), percentiles=(1, 99), failed="worst")
    assert answer.original.failed == 2
    assert len(answer.trials) == 20


# --- the reruns --------------------------------------------------------------------------


def test_reruns_are_fresh_and_follow_from_the_seed(trials):
    one, again = sliced(trials), sliced(trials)
    assert one.trials == again.trials
    assert one.provenance.seed == _another_seed(3) != 3
    assert sliced(trials, seed=5).trials != one.trials
    assert sliced(trials, seed=5).provenance.seed == 5
    assert len(one.trials) == 40
    assert one.trials.algorithms == ("net p1", "net p50", "net p95", "net p99")


def test_slices_meet_the_same_data_and_have_seeds_of_their_own():
    def told(params, data, rng):
        yield 0, {"loss": float(data), "return": rng.random()}

    plan = search(algorithms=Algorithm("net", {"lr": uniform(0, 1)}, told))
    answer = sliced(run(plan, **QUIET), plan, metric="loss")
    data = answer.trials.scores("loss")
    seeds = answer.trials.scores("return")
    first, *others = data
    for name in others:
        np.testing.assert_array_equal(data[name], data[first])
        assert not np.intersect1d(seeds[name], seeds[first]).size
    original = run(plan, **QUIET).scores("loss")["net"]
    assert not np.intersect1d(data[first], original).size


def test_a_store_keeps_reruns_and_the_same_call_goes_on(trials, tmp_path):
    path, counting = tmp_path / "slices.db", Counting()
    first = sliced(trials, store=path, executor=counting)
    assert counting.count == 40
    assert sliced(trials, store=path, executor=counting).trials == first.trials
    assert counting.count == 40
    more = sliced(trials, store=path, trials_each=15, executor=counting)
    assert counting.count == 60
    assert len(more.trials) == 60
    assert len(sliced(trials, store=path).trials) == 40  # of more, those asked for
    assert len(store.read(path)) == 60


def test_the_store_of_the_search_is_refused(trials, tmp_path):
    path = tmp_path / "search.db"
    run(search(), store=path, **QUIET)
    assert refused(sliced, trials, store=path)[0] == "streams"


def test_what_is_crossed_or_frozen_is_drawn_anew_where_it_must_be():
    frozen = search(vary=["params"])
    chosen = sliced(run(frozen, **QUIET), frozen)
    plan = _rerun_plan(frozen, "t", "net", [s.chosen for s in chosen.slices], 5)
    assert set(plan.vary) == {"params", "seed"}
    crossed = Experiment(TASK, NET, cross={"data": 4, "params": 15}, vary=["params"])
    plan = _rerun_plan(crossed, "t", "net", [s.chosen for s in chosen.slices], 5)
    assert set(plan.vary) == {"params", "train", "test", "seed"}
    assert not plan.cross


def test_metrics_that_an_experiment_declares_keep_their_meaning():
    def gain(params, data, rng):
        yield 0, {"zorp": params["lr"]}

    plan = search(
        algorithms=Algorithm("net", {"lr": uniform(0, 1)}, gain),
        metrics=[Metric("zorp", "lower", (0, 1))],
    )
    answer = sliced(run(plan, **QUIET), plan)
    assert answer.metric.direction == "lower"
    assert answer.at(99).chosen.score < answer.at(1).chosen.score


# --- crossings ---------------------------------------------------------------------------


def gamble(params, data, rng):
    """Bold hyperparameters are best, but diverge in one trial of ten."""
    bold = params["style"] == "bold"
    is_lost = bold and rng.random() < 0.1
    for step in range(3):
        skill = {"bold": 0.9, "safe": 0.8, "poor": 0.4}[params["style"]]
        value = 0.05 if is_lost and step else skill * (step + 1) / 3
        yield step, {"accuracy": value + 0.05 * rng.random()}


GAMBLE = Algorithm(
    "agent", {"style": choice(["poor", "safe", "bold"], weights=[60, 37, 3])}, gamble
)


@pytest.fixture(scope="module")
def crossing():
    plan = search(300, GAMBLE)
    return sliced(run(plan, **QUIET), plan, trials_each=400)


def test_the_best_percentile_can_be_the_one_that_diverges(crossing):
    """Jordan et al. (2018), Appendix C: better in most trials, and lost in some."""
    by = {(c.one, c.other): c for c in crossing.comparisons}
    bold = by["agent p99", "agent p95"]
    assert bold.crosses
    ((start, end),) = bold.better
    assert start < 0.2
    assert end > 0.9
    ((start, end),) = bold.worse
    assert start < 0.05
    assert 0.05 < end < 0.15
    text = crossing.verdict()
    assert "agent p99 and agent p95 cross: agent p99 is better from the" in text
    assert "but worse from the" in text


def test_equal_hyperparameters_do_not_cross(crossing):
    """The negative control: percentiles 1 and 50 are the same poor style."""
    by = {(c.one, c.other): c for c in crossing.comparisons}
    same = by["agent p50", "agent p1"]
    assert not same.crosses
    assert not same.better
    assert not same.worse
    assert "Not told apart at any quantile: agent p50 and agent p1" in str(crossing)


# --- what is wrong -----------------------------------------------------------------------


def shaky(params, data, rng):
    yield 0, {"loss": params["lr"]}
    if rng.random() < 0.3:
        raise ValueError("diverged")
    yield 1, {"loss": params["lr"] / 2}


def test_failed_reruns_need_a_score_and_are_not_lost():
    plan = search(algorithms=Algorithm("net", {"lr": uniform(0, 1)}, shaky))
    fine = run(plan, **QUIET).where(status="ok")
    with pytest.raises(CurvewiseError, match=r"have no score of 'loss'") as caught:
        sliced(fine, plan)
    assert len(caught.value.trials) == 40
    answer = sliced(fine, plan, failed=1.0)
    assert sum(s.distribution.failed for s in answer.slices) > 0
    assert "failed trial" in str(answer)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"percentiles": (99, 99.5)},
            r"Percentiles 99 and 99\.5 of 60 trials are the sa",
        ),
        ({"percentiles": ()}, r"percentiles is \(\)\. Pass numbers from 0 to 100"),
        ({"percentiles": (101,)}, r"percentiles is \(101,\)\."),
        ({"percentiles": "x"}, r"percentiles is 'x'\."),
        ({"percentiles": (np.nan,)}, r"percentiles is \(nan,\)\."),
        ({"trials_each": 0}, r"trials_each is 0\. Pass a whole number from 1"),
        ({"algorithm": "nat"}, r"no algorithm 'nat'\. Did you mean 'net'"),
        ({"task": "u"}, r"no task 'u'"),
        ({"metric": "los"}, r"no metric 'los'"),
        ({"seed": -1}, r"seed is -1\."),
        ({"confidence": 2}, r"confidence is 2\."),
        ({"workers": 0}, r"workers is 0"),
    ],
)
def test_bad_input_is_named(trials, options, words):
    with pytest.raises(CurvewiseError, match=words):
        sliced(trials, **options)


def test_several_tasks_and_algorithms_need_a_choice(trials):
    plan = search(
        20, [NET, Algorithm("other", NET.space, net)], [TASK, Task("u", TASK.sample)]
    )
    both = run(plan, **QUIET)
    with pytest.raises(
        CurvewiseError, match=r"Which task\? These trials have 't', 'u'"
    ):
        sliced(both, plan)
    with pytest.raises(CurvewiseError, match=r"Which algorithm\?.*Pass algorithm="):
        sliced(both, plan, task="t")
    answer = sliced(both, plan, task="u", algorithm="other", percentiles=(5, 95))
    assert (answer.task, answer.algorithm) == ("u", "other")
    assert answer.trials.tasks == ("u",)


def valued(params, data, rng):
    yield 0, {"value": params["lr"] + 0.01 * rng.random()}


@pytest.mark.filterwarnings("ignore:No direction")
@pytest.mark.parametrize(
    ("said", "declared", "kind"),
    [
        ("higher", [Metric("value", "lower")], CurvewiseError),
        ("lower", [Metric("value", "higher")], CurvewiseError),
        ("lower", [], UnknownDirection),
    ],
)
def test_reruns_that_would_be_judged_otherwise_are_not_run(said, declared, kind):
    """The trials say one direction, and the experiment another one, or none."""
    plan = search(algorithms=Algorithm("net", {"lr": uniform(0, 1)}, valued))
    found = run(plan, **QUIET).with_metrics({"value": said})
    other = search(algorithms=plan.algorithms, metrics=declared)
    counting = Counting()
    with pytest.raises(kind, match=f"trials say that {said} 'value' is better") as seen:
        sliced(found, other, executor=counting)
    assert counting.count == 0
    assert f"metrics=[Metric('value', '{said}')]" in str(seen.value)
    same = search(algorithms=plan.algorithms, metrics=[Metric("value", said)])
    assert sliced(found, same, percentiles=(50,)).metric.direction == said


@pytest.mark.filterwarnings("ignore:No direction")
def test_without_a_direction_nothing_is_run():
    plan = search(algorithms=Algorithm("net", {"lr": uniform(0, 1)}, valued))
    counting = Counting()
    with pytest.raises(UnknownDirection):
        sliced(run(plan, **QUIET), plan, executor=counting)
    assert counting.count == 0


def test_an_algorithm_without_hyperparameters_is_refused():
    plan = search(algorithms=Algorithm("net", {}, lambda p, d, r: {"loss": r.random()}))
    assert refused(sliced, run(plan, **QUIET), plan) == ("algorithm", "net")


def test_trials_without_hyperparameters_are_refused(trials):
    bare = Trials(Trial("t", "net", t.number, t.metrics) for t in trials)
    assert refused(sliced, bare) == ("params", {})


def test_trials_of_another_experiment_are_refused(trials):
    other = search(algorithms=Algorithm("net", {"rate": uniform(0, 1)}, net))
    assert refused(sliced, trials, other) == ("hyperparameter", "lr")
    other = search(algorithms=Algorithm("x", NET.space, net))
    assert refused(sliced, trials, other) == ("algorithm", "net")


def test_it_needs_an_experiment_and_trials(trials):
    assert refused(quantile_slices, trials, "plan.toml") == ("experiment", "plan.toml")
    assert refused(quantile_slices, "x.db", search()) == ("trials", "x.db")
