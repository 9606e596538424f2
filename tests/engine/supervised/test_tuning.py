import gc
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
from support import assert_rate, refused

from curvewise.engine.definitions import definition
from curvewise.engine.experiment import Algorithm
from curvewise.engine.recording import Record
from curvewise.engine.spaces import uniform
from curvewise.engine.supervised.data import from_sets, split
from curvewise.engine.supervised.tuning import leaky, tune_then_test, tuned
from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric


def rng(seed=0):
    return np.random.default_rng(seed)


def data(n=60, seed=0, test=0.5):
    return split(np.arange(n), rng(seed).integers(0, 2, n), rng=rng(seed), test=test)


def algorithm(run, space=None):
    return Algorithm("net", space or {"p": uniform(0, 1)}, run)


def ran(algorithm, data, seed=0):
    record = Record(0)
    for item in algorithm.run({}, data, rng(seed)):
        record.add(item)
    return record


def score_is_p(params, data, rng):
    yield 0, {"accuracy": 0.0}
    yield 1, {"accuracy": params["p"]}


MAKERS = (tuned, tune_then_test, leaky)


# --- what is chosen ----------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_the_best_of_the_drawn_configurations_is_kept_as_the_params(make):
    record = ran(make(algorithm(score_is_p), configs=20), data())
    assert record.params["p"] > 0.8
    assert record.values["accuracy"] == [0.0, record.params["p"]]
    assert record.steps == [0, 1]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("metric", "low"), [("loss", True), ("accuracy", False), (None, True)]
)
def test_the_metric_says_which_way_is_better(make, metric, low):
    def run(params, data, rng):
        yield 0, {"trained_on": 7, "loss": params["p"], "accuracy": params["p"]}

    record = ran(make(algorithm(run), configs=20, metric=metric), data())
    assert (record.params["p"] < 0.2) == low


def test_counts_are_turned_into_the_metric_and_accuracy_without_one():
    """p = 0 has accuracy .90 and finds no positive; p = 1 has .89 and finds most."""

    def run(params, data, rng):
        return {
            "counts": [[90, 0], [10, 0]] if params["p"] == 0 else [[80, 10], [1, 9]]
        }

    for metric, best in ((None, 0), ("error", 0), ("recall", 1), ("f1", 1)):
        own = algorithm(run, {"p": [0, 1]})
        assert ran(tuned(own, configs=10, metric=metric), data()).params["p"] == best


def test_the_first_of_equals_wins():
    def run(params, data, rng):
        return {"accuracy": 0.5}

    own = algorithm(run)
    record = ran(tuned(own, configs=9), data())
    first = own.draw(rng(0).spawn(4)[0])
    assert record.params == first


# --- how it is scored --------------------------------------------------------------------


def watched(seen):
    def run(params, data, rng):
        held = tuple(data.test_ids.tolist())
        seen.append((params["p"], data.sizes, held, rng.random()))
        yield 0, {"accuracy": params["p"]}

    return algorithm(run)


def test_all_configurations_meet_the_same_folds_which_are_a_partition():
    seen, given = [], data()
    ran(tuned(watched(seen), configs=5, folds=3), given)
    assert len(seen) == 5 * 3 + 1
    by_config = [[held for _, _, held, _ in seen[i : i + 3]] for i in range(0, 15, 3)]
    assert all(folds == by_config[0] for folds in by_config)
    assert sorted(sum(by_config[0], ())) == sorted(given.order)
    assert seen[-1][2] == tuple(given.test_ids)  # and then the test set, once
    assert len({chance for *_, chance in seen}) == 16  # each fit has its own stream


def test_tune_then_test_validates_on_random_splits_that_overlap():
    seen, given = [], data()
    ran(tune_then_test(watched(seen), configs=4, splits=6, parts=3), given)
    splits = [held for _, _, held, _ in seen[:6]]
    assert all(len(held) == 10 for held in splits)
    assert len(set(splits)) == 6
    assert len(set().union(*splits)) < 60
    assert set().union(*splits) <= set(given.order)
    assert [held for _, _, held, _ in seen[6:12]] == splits


def test_leaky_looks_at_the_test_set_and_runs_nothing_twice():
    seen, given = [], data()
    ran(leaky(watched(seen), configs=4), given)
    assert len(seen) == 4
    assert all(held == tuple(given.test_ids) for _, _, held, _ in seen)


def test_a_configuration_drawn_twice_is_scored_once():
    seen = []
    own = Algorithm("net", {"p": [1, 2]}, watched(seen).run)
    ran(tuned(own, configs=30, folds=2), data())
    assert len(seen) == 2 * 2 + 1


def test_more_configurations_or_folds_change_neither_the_first_nor_the_final_fit():
    few, more, folds = [], [], []
    ran(tuned(watched(few), configs=3, folds=2), data())
    ran(tuned(watched(more), configs=6, folds=2), data())
    ran(tuned(watched(folds), configs=3, folds=3), data())
    assert few[:6] == more[:6]
    assert few[-1][3] == more[-1][3] == folds[-1][3]
    assert [p for p, *_ in few[:6:2]] == [p for p, *_ in folds[:9:3]]


def test_a_tuned_curve_has_all_sizes_and_folds_have_one():
    seen = []
    given = split(np.arange(60), [0, 1] * 30, rng=rng(), sizes=[9, 18, 36])
    ran(tuned(watched(seen), configs=2, folds=3), given)
    assert [sizes for _, sizes, *_ in seen] == [(24,)] * 6 + [(9, 18, 36)]


# --- failures ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("how", ["raises", "yields nothing", "is nan", "is odd"])
def test_a_configuration_that_fails_loses(make, how):
    def run(params, data, rng):
        if params["p"] > 0.5:
            if how == "raises":
                raise FloatingPointError("too much")
            if how == "yields nothing":
                return
            yield 0, {"accuracy": np.nan if how == "is nan" else "?"}
        else:
            yield 0, {"accuracy": params["p"]}

    record = ran(make(algorithm(run), configs=20), data())
    assert 0.3 < record.params["p"] <= 0.5


@pytest.mark.parametrize("make", MAKERS)
def test_if_all_fail_the_trial_does_with_the_last_cause(make):
    def run(params, data, rng):
        raise FloatingPointError("too much")

    with pytest.raises(
        CurvewiseError,
        match="All of 4 configurations of 'net' failed, the "
        "last with FloatingPointError: too much",
    ) as raised:
        ran(make(algorithm(run), configs=4), data())
    assert isinstance(raised.value.__cause__, FloatingPointError)


def test_a_time_limit_is_not_a_failed_configuration():
    class Limit(BaseException):
        pass

    def run(params, data, rng):
        raise Limit

    with pytest.raises(Limit):
        ran(tuned(algorithm(run)), data())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tuned("svm"), "str svm is to be tuned. Pass an Algorithm"),
        (
            lambda: tuned(Algorithm("lda", {}, score_is_p)),
            "'lda' has no hyperparameters to tune. Give it a space",
        ),
        (
            lambda: tuned(algorithm(score_is_p), metric="zorp"),
            "No direction is declared for 'zorp'",
        ),
        (lambda: tuned(algorithm(score_is_p), configs=0), "configs is 0. Pass a whole"),
        (
            lambda: tuned(algorithm(score_is_p), folds=1),
            "folds is 1. Pass a whole numb",
        ),
        (lambda: tune_then_test(algorithm(score_is_p), splits=0), "splits is 0. Pass"),
        (
            lambda: tune_then_test(algorithm(score_is_p), parts=1),
            "parts is 1. Pass a whole number from 2 on",
        ),
        (
            lambda: tuned(algorithm(score_is_p), metric=3),
            "metric is 3. Pass the name of a metric or a Metric",
        ),
        (
            lambda: ran(tuned(algorithm(score_is_p), metric="loss"), data()),
            "no metric to tune by 'loss'. There are: 'accuracy'",
        ),
        (
            lambda: ran(tuned(algorithm(lambda *_: {"zorp": 1})), data()),
            "No direction is declared for 'zorp'",
        ),
    ],
)
def test_what_cannot_be_tuned_says_why(call, message):
    with pytest.raises(CurvewiseError, match=message):
        call()


def test_a_metric_that_is_not_there_is_no_reason_to_try_every_configuration():
    seen = []
    algorithm = tuned(watched(seen), configs=50, metric="loss")
    assert refused(ran, algorithm, data()) == ("metric", "loss")
    assert len(seen) == 1


@pytest.mark.slow
def test_the_leaky_search_keeps_only_what_the_best_run_yielded():
    yielded, alive = [], []

    def run(params, data, rng):
        gc.collect()
        alive.append(sum(ref() is not None for ref in yielded))
        correct = np.ones(1000, bool)
        yielded.append(weakref.ref(correct))
        yield 0, {"accuracy": params["p"], "correct": correct}

    ran(leaky(algorithm(run), configs=20), data())
    assert len(alive) == 20
    assert max(alive) <= 2  # the best, and the one before


# --- names and definitions ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (tuned, "net tuned"),
        (tune_then_test, "net tune-then-test"),
        (leaky, "net leaky"),
    ],
)
def test_they_have_names_no_space_and_a_definition_that_holds_their_settings(
    make, name
):
    one, other = (make(algorithm(score_is_p), configs=c) for c in (5, 6))
    assert one.name == name
    assert one.space == {}
    assert definition(one.run) != definition(other.run)
    assert "configs=5" in definition(one.run)
    copy = pickle.loads(pickle.dumps(one))
    assert definition(copy.run) == definition(one.run)


# --- the bias ----------------------------------------------------------------------------


def guess(params, data, rng):
    """Labels that only the params decide: none is better than any other."""
    X, y = data.test
    called = np.random.default_rng(params["key"]).integers(0, 2, 1000)[X]
    yield 0, {"accuracy": float((called == y).mean())}


def test_the_leaky_search_is_too_good_on_labels_of_pure_noise_and_the_honest_is_not():
    """The best of 20 coins on 50 examples is right in .5 + 1.87 sqrt(.25/50) = .63."""
    guesser = Algorithm("guess", {"key": list(range(1000))}, guess)
    sums = {}
    trials, n = 60, 50
    for make in MAKERS:
        own = make(guesser, configs=20)
        hits = 0
        for i in range(trials):
            given = data(2 * n, seed=i)
            hits += ran(own, given, seed=i).values["accuracy"][-1] * n
        sums[make] = round(hits)
    assert_rate(sums[tuned], trials * n, 0.5)
    assert_rate(sums[tune_then_test], trials * n, 0.5)
    assert sums[leaky] / (trials * n) > 0.6
    with pytest.raises(AssertionError, match="p = "):
        assert_rate(sums[leaky], trials * n, 0.5)


def test_the_tuner_uses_only_what_any_supervised_data_have():
    """Somebody's own data object: train, test, sizes, folds."""

    class Own:
        sizes, test = (4,), (np.zeros(2), np.zeros(2))

        def train(self, n=None):
            return np.zeros(4), np.zeros(4)

        def folds(self, k, rng):
            return [Own() for _ in range(k)]

    for make in MAKERS:
        assert ran(make(algorithm(score_is_p), configs=3), Own()).status == "ok"


@pytest.mark.parametrize("make", MAKERS)
def test_numbers_of_numpy_become_plain_ones(make):
    """They are in the definition, which a store compares."""
    number = "parts" if make is tune_then_test else "folds"
    beside = {} if make is leaky else {number: np.int64(4)}
    one = make(algorithm(score_is_p), configs=np.int64(5), **beside)
    plain = {key: int(value) for key, value in beside.items()}
    assert definition(one.run) == definition(
        make(algorithm(score_is_p), configs=5, **plain).run
    )


WORKER = """
import pickle, sys
import numpy as np
run = pickle.loads(sys.stdin.buffer.read())
rng = np.random.default_rng(0)
from curvewise.engine.supervised.data import from_sets
data = from_sets((np.arange(6), [0, 1] * 3), (np.arange(6), [0, 1] * 3))
print(next(iter(run({}, data, rng)))[1]["chosen"])
"""


def zorps(params, data, rng):
    yield 0, {"val_zorp": params["p"]}


@pytest.mark.parametrize("make", MAKERS)
def test_a_metric_that_only_the_driver_registered_travels(make, monkeypatch):
    from curvewise.metrics import meaning

    monkeypatch.setattr(meaning, "REGISTRY", dict(meaning.REGISTRY))
    meaning.register(Metric("zorp", "lower", range=(0, 5)))
    import cloudpickle

    space = {"p": [1.0, 2.0, 3.0]}
    search = make(Algorithm("a", space, zorps), configs=20, metric="val_zorp")
    assert search.run.metric == Metric("val_zorp", "lower", range=(0, 5))
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        sent = cloudpickle.dumps(search.run)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=sent, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "{'p': 1.0}"


def test_a_metric_that_nobody_registered_can_be_passed():
    def run(params, data, rng):
        yield 0, {"zorp": params["p"]}

    data = from_sets((np.arange(6), [0, 1] * 3), (np.arange(6), [0, 1] * 3))
    space = {"p": [1.0, 2.0, 3.0]}
    for direction, best in (("lower", 1.0), ("higher", 3.0)):
        metric = Metric("zorp", direction)
        search = tuned(Algorithm("a", space, run), configs=20, metric=metric)
        items = list(search.run({}, data, np.random.default_rng(0)))
        assert items[0] == (None, {"chosen": {"p": best}})
